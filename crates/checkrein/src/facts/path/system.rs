//! Directories of the operating system.

use std::path::Path;

use super::PathContext;

/// Directories of the operating system.
const SYSTEM: &[&str] = &[
    "/Applications",
    "/Library",
    "/System",
    "/bin",
    "/boot",
    "/cores",
    "/dev",
    "/efi",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix",
    "/opt",
    "/private/etc",
    "/private/var",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/snap",
    "/srv",
    "/sys",
    "/usr",
    "/var",
    "C:\\Program Files",
    "C:\\Program Files (x86)",
    "C:\\ProgramData",
    "C:\\Windows",
];

/// Directories in them for temporary data.
const TEMPORARY: &[&str] =
    &["/dev/shm", "/private/var/folders", "/private/var/tmp", "/run/user", "/var/folders", "/var/tmp"];

/// `true` if an absolute path is the root or is in a directory of the system. A home directory or a project in such a directory
/// is not a part of the system.
pub(super) fn is_system(path: &Path, context: &PathContext) -> bool {
    if path.parent().is_none() {
        return true;
    }
    let Some(directory) = SYSTEM.iter().find(|directory| path.starts_with(directory)) else { return false };
    let is_own = |own: &Path| own != Path::new(directory) && own.starts_with(directory) && path.starts_with(own);
    let is_home = |home: &str| {
        !home.is_empty() && (is_own(Path::new(home)) || Path::new(home) == Path::new("/root") && path.starts_with(home))
    };
    !TEMPORARY.iter().any(|temporary| path.starts_with(temporary))
        && !is_own(&context.project)
        && !context.home.as_deref().is_some_and(is_home)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn project_and_home_are_no_part_of_the_system() {
        let context = |home: &str, project: &str| PathContext {
            cwd: project.into(),
            project: project.into(),
            home: Some(home.to_owned()),
            files: None,
        };
        for (path, home, project, expected) in [
            ("/", "/home/a", "/home/a/p", true),
            ("/etc/hosts", "/home/a", "/home/a/p", true),
            ("/usr", "/home/a", "/home/a/p", true),
            ("/usrlocal", "/home/a", "/home/a/p", false),
            ("/tmp/x", "/home/a", "/home/a/p", false),
            ("/var/tmp/x", "/home/a", "/home/a/p", false),
            ("/var/lib/x", "/home/a", "/home/a/p", true),
            ("/home/a/.bashrc", "/home/a", "/home/a/p", false),
            ("/root/.bashrc", "/root", "/root/p", false),
            ("/root/.bashrc", "/home/a", "/home/a/p", true),
            ("/usr/src/app/x", "/root", "/usr/src/app", false),
            ("/usr/src/other", "/root", "/usr/src/app", true),
            ("/etc/passwd", "/", "/", true),
            ("/var/home/a/x", "/var/home/a", "/var/home/a/p", false),
        ] {
            assert_eq!(is_system(Path::new(path), &context(home, project)), expected, "{path} {home} {project}");
        }
    }
}
