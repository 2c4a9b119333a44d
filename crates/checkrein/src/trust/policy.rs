//! What the user and the administrator say about trust in their own files.

use std::path::{Path, PathBuf};

use checkrein_core::Scope;
use checkrein_dialects::config::Settings;

use crate::sources::repository;

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
    pub(super) fn of(files: Vec<(PathBuf, Scope, Settings)>, home: Option<&Path>, root: &Path) -> Self {
        let mut policy = Self::default();
        for (file, scope, settings) in files {
            let says = settings.trusted_paths.is_some() || settings.trusted_keys.is_some();
            if scope == Scope::User && says && is_foreign(&file, root) {
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
                match meant.canonicalize() {
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
        let real = file.canonicalize().ok()?;
        self.paths.iter().find(|path| real.starts_with(path))
    }
}

/// Whether a file that should be the user's own lies in the project. Variables say where the user's files are, and a project's
/// settings can set variables.
pub(super) fn is_foreign(file: &Path, root: &Path) -> bool {
    file.canonicalize().is_ok_and(|real| lies_in_project(&real, root))
}

/// Whether a path lies in the project that an agent works in which was started in this directory.
pub(crate) fn is_in_project(path: &Path, dir: &Path) -> bool {
    let Ok(real) = path.canonicalize() else { return false };
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_owned());
    lies_in_project(&real, repository(&dir).unwrap_or(&dir))
}

/// Whether a path, links resolved, lies in the project at this root, or in a repository that the project is a part of: both
/// may have come with it.
pub(super) fn lies_in_project(real: &Path, root: &Path) -> bool {
    let holds = |dir: &&Path| real.starts_with(dir) && (*dir == root || repository(dir) == Some(dir));
    root.ancestors().filter(holds).any(|dir| !holds_home(dir))
}

/// Whether a directory is this user's home, as the system has it, or above it. People keep their settings in a repository
/// there, and start agents there or in `/`; nobody has cloned that.
fn holds_home(dir: &Path) -> bool {
    dir.parent().is_none() || homes().iter().any(|home| home.starts_with(dir))
}

#[cfg(unix)]
fn homes() -> Vec<PathBuf> {
    let me = rustix::process::geteuid().as_raw().to_string();
    let users = std::fs::read("/etc/passwd").unwrap_or_default();
    let users = String::from_utf8_lossy(&users);
    let home = |line: &str| {
        let fields: Vec<_> = line.split(':').collect();
        let home = fields.get(5).filter(|_| fields.get(2) == Some(&me.as_str()))?;
        Path::new(home).canonicalize().ok()
    };
    users.lines().filter_map(home).collect()
}

#[cfg(not(unix))]
fn homes() -> Vec<PathBuf> {
    std::env::home_dir().and_then(|home| home.canonicalize().ok()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_around_the_project_is_part_of_it() {
        let dir = tempfile::tempdir().unwrap();
        let outer = dir.path().canonicalize().unwrap();
        let inner = outer.join("a/inner");
        std::fs::create_dir_all(inner.join(".git")).unwrap();
        assert!(lies_in_project(&inner.join("x"), &inner));
        assert!(!lies_in_project(&outer.join("x"), &inner));
        std::fs::create_dir(outer.join(".git")).unwrap();
        assert!(lies_in_project(&outer.join("x"), &inner));
        assert!(!lies_in_project(Path::new("/etc/x"), &inner));
    }

    #[test]
    fn what_holds_a_home_is_no_project() {
        let mut above: Vec<_> = homes();
        above.push(PathBuf::from("/"));
        for home in above {
            for dir in home.ancestors() {
                assert!(!lies_in_project(&home.join("x"), dir), "{}", dir.display());
            }
        }
    }
}
