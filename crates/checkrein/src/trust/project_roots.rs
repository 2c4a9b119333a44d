//! What came with a project.
//!
//! Variables say where the user's files and programs are, and a project's settings can set variables.

use std::path::{Path, PathBuf};

use super::script_refs::SYSTEM;
use crate::hook_files::repository;
use crate::real_path::{real_path, real_path_or_same};

/// Where the system's own programs are, and nobody puts anything else.
const PROGRAMS: &[&str] = &["/usr/bin", "/usr/sbin", "/bin", "/sbin"];

/// The directories that came with a project: its own, and those of the repositories that it is a part of.
#[derive(Debug)]
pub(crate) struct ProjectRoots {
    /// Without links.
    dirs: Vec<PathBuf>,
    /// Whether one of them lies among the files of the system.
    is_of_system: bool,
}

impl ProjectRoots {
    /// Of the project that an agent works in which was started in this directory.
    pub(crate) fn around(dir: &Path) -> Self {
        let dir = real_path_or_same(dir);
        Self::at(repository(&dir).unwrap_or(&dir))
    }

    /// Of the project with this root, in which there are no links.
    pub(super) fn at(root: &Path) -> Self {
        let came = |dir: &&Path| *dir == root || dir.join(".git").symlink_metadata().is_ok();
        let below_all = root.ancestors().filter(|dir| dir.parent().is_some());
        Self::of(below_all.filter(came).map(Path::to_owned).collect())
    }

    fn of(dirs: Vec<PathBuf>) -> Self {
        let is_of_system = |dir: &PathBuf| SYSTEM.iter().any(|place| dir.starts_with(place));
        Self { is_of_system: dirs.iter().any(is_of_system), dirs }
    }

    /// Whether a path leads there.
    pub(crate) fn has(&self, path: &Path) -> bool {
        !self.is_clear_of(path) && real_path(path).is_ok_and(|real| self.has_real(&real))
    }

    /// The same for a path without links.
    pub(super) fn has_real(&self, real: &Path) -> bool {
        self.dirs.iter().any(|dir| real.starts_with(dir) && !holds_home(dir))
    }

    /// Whether that can be told without a look at the disk, as of most of a `PATH`. Only of these very directories: what lies
    /// in places of the system may be a link that somebody made to what is none, as `/usr/tmp` is.
    fn is_clear_of(&self, path: &Path) -> bool {
        // Some of the system's places are links to others.
        !self.is_of_system && PROGRAMS.iter().any(|place| path.as_os_str() == *place)
    }
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
        assert!(ProjectRoots::at(&inner).has_real(&inner.join("x")));
        assert!(!ProjectRoots::at(&inner).has_real(&outer.join("x")));
        std::fs::create_dir(outer.join(".git")).unwrap();
        assert!(ProjectRoots::at(&inner).has_real(&outer.join("x")));
        assert!(!ProjectRoots::at(&inner).has_real(Path::new("/etc/x")));
    }

    #[test]
    fn what_holds_a_home_is_no_project() {
        let mut above: Vec<_> = homes();
        above.push(PathBuf::from("/"));
        for home in above {
            for dir in home.ancestors() {
                assert!(!ProjectRoots::at(dir).has_real(&home.join("x")), "{}", dir.display());
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_and_steps_up_lead_into_the_project() {
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().canonicalize().unwrap().join("project");
        std::fs::create_dir_all(project.join("bin")).unwrap();
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(project.join("bin"), &link).unwrap();
        let around = ProjectRoots::around(&project);
        let from_system = PathBuf::from(format!("/usr/bin/../..{}", project.join("bin").display()));
        for (path, lies_there) in [
            (link.as_path(), true),
            (&from_system, true),
            (&project, true),
            (dir.path(), false),
            (Path::new("/usr/bin"), false),
            (Path::new("/no/such"), false),
        ] {
            assert_eq!(around.has(path), lies_there, "{}", path.display());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_project_among_the_files_of_the_system_is_one_all_the_same() {
        let around = ProjectRoots::of(vec![PathBuf::from("/usr/share")]);
        assert!(around.has(Path::new("/usr/share/doc")));
        assert!(!around.has(Path::new("/usr/bin")));
    }

    /// Administrators make links, and so do package managers and those who develop with them: `/usr/tmp`,
    /// `/usr/local/lib/node_modules/x`. A project can name what they lead to.
    #[cfg(unix)]
    #[test]
    fn links_among_the_files_of_the_system_lead_into_the_project() {
        let places = ["/", "/etc", "/etc/alternatives", "/usr", "/usr/bin", "/usr/lib", "/usr/local"];
        let entries = places.iter().filter_map(|place| std::fs::read_dir(place).ok()).flatten().flatten();
        let links = entries.map(|entry| entry.path()).filter(|path| path.is_symlink());
        for link in links {
            let Ok(real) = link.canonicalize() else { continue };
            let Some(dir) = real.parent().filter(|dir| !holds_home(dir) && !dir.starts_with("/proc")) else { continue };
            let around = ProjectRoots::of(vec![dir.to_owned()]);
            assert!(around.has(&link), "{} is {}", link.display(), real.display());
            assert_eq!(around.has(&link.join(".")), real.is_dir(), "{} is {}", link.display(), real.display());
        }
    }

    /// In a process of its own, since the limit is the whole process's.
    #[cfg(target_os = "linux")]
    #[test]
    fn what_leads_into_the_project_does_so_without_descriptors_left() {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        const ALONE: &str = "CHECKREIN_TEST_ALONE";
        const NAME: &str = "trust::project_roots::tests::what_leads_into_the_project_does_so_without_descriptors_left";
        if std::env::var_os(ALONE).is_none() {
            let mut own = std::process::Command::new(std::env::current_exe().unwrap());
            let ran = own.args(["--exact", NAME]).env(ALONE, "1").output().unwrap();
            let said = String::from_utf8_lossy(&ran.stdout);
            assert!(ran.status.success() && said.contains("1 passed"), "{said}");
            return;
        }
        let dir = tempfile::tempdir().unwrap();
        let project = dir.path().canonicalize().unwrap().join("project");
        std::fs::create_dir_all(project.join("bin")).unwrap();
        let around = ProjectRoots::around(&project);
        let before = getrlimit(Resource::Nofile);
        setrlimit(Resource::Nofile, Rlimit { current: Some(0), ..before }).unwrap();
        let (is_full, is_there) = (std::fs::File::open("/dev/null").is_err(), around.has(&project.join("bin")));
        setrlimit(Resource::Nofile, before).unwrap();
        assert!(is_full && is_there, "{is_full} {is_there}");
    }
}
