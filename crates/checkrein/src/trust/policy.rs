//! What the user and the administrator say about trust in their own files.

use std::path::{Path, PathBuf};

use checkrein_core::Scope;
use checkrein_dialects::config::Settings;

use super::project_roots::ProjectRoots;
use crate::real_path::real_path;

/// Whom and what the user trusts without having approved it.
#[derive(Debug, Default)]
pub(super) struct Policy {
    /// Directories, without links.
    pub(super) paths: Vec<PathBuf>,
    /// Public keys.
    pub(super) keys: Vec<String>,
    /// What is wrong with it: a file and what it says.
    pub(super) problems: Vec<(PathBuf, String)>,
}

impl Policy {
    /// What these files say: those of the user and the administrator.
    pub(super) fn of(files: Vec<(PathBuf, Scope, Settings)>, home: Option<&Path>, project: &ProjectRoots) -> Self {
        let mut policy = Self::default();
        for (file, scope, settings) in files {
            let says = settings.trusted_paths.is_some() || settings.trusted_keys.is_some();
            if scope == Scope::User && says && project.has(&file) {
                let why = "it lies in the project, which could write it itself: what it trusts does not count";
                policy.problems.push((file, why.to_owned()));
                continue;
            }
            for path in settings.trusted_paths.into_iter().flatten() {
                let meant = match (path.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/')), home)
                {
                    (Some(rest), Some(home)) => home.join(rest.trim_start_matches('/')),
                    _ => PathBuf::from(&path),
                };
                match real_path(&meant) {
                    _ if !meant.is_absolute() => {
                        let why = format!(
                            "`{path}` in `trusted_paths` should start with `/` or `~/`: nothing is trusted by it"
                        );
                        policy.problems.push((file.clone(), why));
                    }
                    Ok(real) => policy.paths.push(real),
                    // What is not there has no projects.
                    Err(_) => {}
                }
            }
            policy.keys.extend(settings.trusted_keys.into_iter().flatten());
        }
        policy
    }

    /// The directory that covers a file.
    pub(super) fn covers(&self, file: &Path) -> Option<&PathBuf> {
        let real = real_path(file).ok()?;
        self.paths.iter().find(|path| real.starts_with(path))
    }
}
