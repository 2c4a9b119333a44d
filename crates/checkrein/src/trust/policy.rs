//! `trusted_paths` and `trusted_keys` in the files of the user and the administrator.
//!
//! The evaluation uses them for hooks without approval. A file inside of the project must not set them.

use std::path::{Path, PathBuf};

use checkrein_core::Scope;
use checkrein_dialects::config::Settings;

use super::project_roots::ProjectRoots;
use crate::real_path::real_path;

/// Paths and keys that the user trusts.
#[derive(Debug, Default)]
pub(super) struct Policy {
    /// Trusted directories, with links resolved.
    pub(super) paths: Vec<PathBuf>,
    /// Trusted public keys.
    pub(super) keys: Vec<String>,
    /// Settings without effect: the file and the reason.
    pub(super) problems: Vec<(PathBuf, String)>,
}

impl Policy {
    /// Collects the settings of the user's and the administrator's files.
    pub(super) fn new(files: Vec<(PathBuf, Scope, Settings)>, home: Option<&Path>, project: &ProjectRoots) -> Self {
        let mut policy = Self::default();
        for (file, scope, settings) in files {
            let has_trust = settings.trusted_paths.is_some() || settings.trusted_keys.is_some();
            if scope == Scope::User && has_trust && project.contains(&file) {
                let why = "`trusted_paths` and `trusted_keys` are ignored: this file is inside of the project";
                policy.problems.push((file, why.to_owned()));
                continue;
            }
            for path in settings.trusted_paths.into_iter().flatten() {
                let in_home = path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
                let absolute = match (in_home, home) {
                    (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
                    _ => PathBuf::from(&path),
                };
                if !absolute.is_absolute() {
                    let why = format!("`{path}` in `trusted_paths` is ignored: start it with `/` or `~/`");
                    policy.problems.push((file.clone(), why));
                } else if let Ok(real) = real_path(&absolute) {
                    // A missing directory contains no projects.
                    policy.paths.push(real);
                }
            }
            policy.keys.extend(settings.trusted_keys.into_iter().flatten());
        }
        policy
    }

    /// Returns the trusted directory that contains a file.
    pub(super) fn covers(&self, file: &Path) -> Option<&PathBuf> {
        let real = real_path(file).ok()?;
        self.paths.iter().find(|path| real.starts_with(path))
    }
}
