//! Decides whether a path is inside of the project or an enclosing repository.
//!
//! Variables contain the paths of the user's files and programs, and a project's settings can set variables. Therefore
//! files and programs inside of the project must not be treated as the user's.

use std::path::{Path, PathBuf};

use super::script_refs::SYSTEM;
use crate::hook_files::repository;
use crate::real_path::{real_path, real_path_or_same};

/// Directories for the system's programs only.
const PROGRAMS: &[&str] = &["/usr/bin", "/usr/sbin", "/bin", "/sbin"];

/// Root directories of a project and of the repositories that contain it.
#[derive(Debug)]
pub(crate) struct ProjectRoots {
    /// The directories, with links resolved.
    dirs: Vec<PathBuf>,
    /// `true` if one of them is inside of a system directory.
    is_in_system: bool,
    /// Home directory of the user besides that of the account database, with links resolved.
    home: Option<PathBuf>,
}

impl ProjectRoots {
    /// Returns the roots of the project of an agent with this start directory.
    pub(crate) fn for_dir(dir: &Path) -> Self {
        let dir = real_path_or_same(dir);
        Self::for_root(repository(&dir).unwrap_or(&dir))
    }

    /// Returns the roots of the project with this root, which contains no links.
    pub(super) fn for_root(root: &Path) -> Self {
        let is_root = |dir: &&Path| *dir == root || dir.join(".git").symlink_metadata().is_ok();
        let candidates = root.ancestors().filter(|dir| dir.parent().is_some());
        Self::from_dirs(candidates.filter(is_root).map(Path::to_owned).collect())
    }

    fn from_dirs(dirs: Vec<PathBuf>) -> Self {
        let is_in_system = |dir: &PathBuf| SYSTEM.iter().any(|place| dir.starts_with(place));
        Self { is_in_system: dirs.iter().any(is_in_system), dirs, home: None }
    }

    /// Adds a home directory that no project can have named. A project that contains it is the user's own.
    pub(crate) fn with_home(mut self, home: Option<&Path>) -> Self {
        self.home = home.and_then(|home| real_path(home).ok());
        self
    }

    /// `true` if a path is inside of the project after links are resolved.
    pub(crate) fn contains(&self, path: &Path) -> bool {
        !self.is_outside(path) && real_path(path).is_ok_and(|real| self.contains_real(&real))
    }

    /// As [`contains`](Self::contains), for a path without links.
    pub(super) fn contains_real(&self, real: &Path) -> bool {
        let has_home = |dir: &Path| self.home.as_ref().is_some_and(|home| home.starts_with(dir)) || contains_home(dir);
        self.dirs.iter().any(|dir| real.starts_with(dir) && !has_home(dir))
    }

    /// `true` if the path is outside for certain, without reading the disk. Most entries of a `PATH` are. Applies to the
    /// [`PROGRAMS`] only: other system directories contain links to anywhere, such as `/usr/tmp`.
    fn is_outside(&self, path: &Path) -> bool {
        // One of the program directories may be a link to another one.
        !self.is_in_system && PROGRAMS.iter().any(|place| path.as_os_str() == *place)
    }
}

/// `true` if a directory is or contains this user's home, by the account database. Users keep settings in a repository there
/// and start agents there or in `/`. Such a repository is the user's own.
fn contains_home(dir: &Path) -> bool {
    dir.parent().is_none() || homes().iter().any(|home| home.starts_with(dir))
}

#[cfg(unix)]
fn homes() -> Vec<PathBuf> {
    checkrein_process::user_home().and_then(|home| home.canonicalize().ok()).into_iter().collect()
}

#[cfg(not(unix))]
fn homes() -> Vec<PathBuf> {
    std::env::home_dir().and_then(|home| home.canonicalize().ok()).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn enclosing_repository_is_part_of_the_project() {
        let dir = tempfile::tempdir().unwrap();
        let outer = dir.path().canonicalize().unwrap();
        let inner = outer.join("a/inner");
        std::fs::create_dir_all(inner.join(".git")).unwrap();
        assert!(ProjectRoots::for_root(&inner).contains_real(&inner.join("x")));
        assert!(!ProjectRoots::for_root(&inner).contains_real(&outer.join("x")));
        std::fs::create_dir(outer.join(".git")).unwrap();
        assert!(ProjectRoots::for_root(&inner).contains_real(&outer.join("x")));
        assert!(!ProjectRoots::for_root(&inner).contains_real(Path::new("/etc/x")));
    }

    #[test]
    fn directory_with_the_home_is_no_project() {
        let mut above: Vec<_> = homes();
        above.push(PathBuf::from("/"));
        for home in above {
            for dir in home.ancestors() {
                assert!(!ProjectRoots::for_root(dir).contains_real(&home.join("x")), "{}", dir.display());
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_and_parent_components_are_resolved() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().canonicalize().unwrap().join("project");
        std::fs::create_dir_all(project.join("bin")).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(project.join("bin"), &link).unwrap();
        let roots = ProjectRoots::for_dir(&project);
        let from_system = PathBuf::from(format!("/usr/bin/../..{}", project.join("bin").display()));
        for (path, is_inside) in [
            (link.as_path(), true),
            (&from_system, true),
            (&project, true),
            (dir.path(), false),
            (Path::new("/usr/bin"), false),
            (Path::new("/no/such"), false),
        ] {
            assert_eq!(roots.contains(path), is_inside, "{}", path.display());
        }
    }

    #[cfg(unix)]
    #[test]
    fn project_may_be_in_a_system_directory() {
        let roots = ProjectRoots::from_dirs(vec![PathBuf::from("/usr/share")]);
        assert!(roots.contains(Path::new("/usr/share/doc")));
        assert!(!roots.contains(Path::new("/usr/bin")));
    }

    /// Administrators, package managers and developers create links in system directories: `/usr/tmp`,
    /// `/usr/local/lib/node_modules/x`. Such a link may point into the project.
    #[cfg(unix)]
    #[test]
    fn links_in_system_directories_are_resolved() {
        let places = ["/", "/etc", "/etc/alternatives", "/usr", "/usr/bin", "/usr/lib", "/usr/local"];
        let entries = places.iter().filter_map(|place| std::fs::read_dir(place).ok()).flatten().flatten();
        let links = entries.map(|entry| entry.path()).filter(|path| path.is_symlink());
        for link in links {
            let Ok(real) = link.canonicalize() else { continue };
            let Some(dir) = real.parent() else { continue };
            if contains_home(dir) || dir.starts_with("/proc") {
                continue;
            }
            let roots = ProjectRoots::from_dirs(vec![dir.to_owned()]);
            assert!(roots.contains(&link), "{} is {}", link.display(), real.display());
            assert_eq!(roots.contains(&link.join(".")), real.is_dir(), "{} is {}", link.display(), real.display());
        }
    }

    /// Runs in its own process, because the limit applies to the whole process.
    #[cfg(target_os = "linux")]
    #[test]
    fn project_paths_are_recognized_without_free_descriptors() {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        const ALONE: &str = "CHECKREIN_TEST_ALONE";
        const NAME: &str = "trust::project_roots::tests::project_paths_are_recognized_without_free_descriptors";
        if std::env::var_os(ALONE).is_none() {
            let mut own = std::process::Command::new(std::env::current_exe().unwrap());
            let ran = own.args(["--exact", NAME]).env(ALONE, "1").output().unwrap();
            let output = String::from_utf8_lossy(&ran.stdout);
            assert!(ran.status.success() && output.contains("1 passed"), "{output}");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().canonicalize().unwrap().join("project");
        std::fs::create_dir_all(project.join("bin")).unwrap();
        let roots = ProjectRoots::for_dir(&project);
        let before = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..before }).unwrap();
        let (is_full, is_inside) = (std::fs::File::open("/dev/null").is_err(), roots.contains(&project.join("bin")));
        setrlimit(Resource::Nofile, before).unwrap();
        assert!(is_full && is_inside, "{is_full} {is_inside}");
    }
}
