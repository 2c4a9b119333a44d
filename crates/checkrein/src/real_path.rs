//! Paths with all symbolic links resolved.
//!
//! Approvals, hook files and path guards compare files by these paths. Otherwise a link could hide a file from a guard.

use std::io;
use std::path::{Path, PathBuf};

/// Resolves all links of a path, as [`Path::canonicalize`] does. On Linux the kernel resolves them in one system call; the C
/// library needs one per component.
///
/// # Errors
/// The path does not exist, or is not accessible.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
        use rustix::io::Errno;
        use std::os::fd::AsRawFd as _;
        let open = |follow| rustix::fs::openat2(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty(), follow);
        // Most paths have no links, and this call is cheaper than the one that follows them.
        match open(ResolveFlags::NO_SYMLINKS) {
            Ok(_) if is_plain(path) => return Ok(path.to_owned()),
            Err(Errno::NOENT) => return Err(Errno::NOENT.into()),
            _ => {}
        }
        let opened = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok();
        // Without free file descriptors, `canonicalize` below still works.
        let name = opened.and_then(|opened| std::fs::read_link(format!("/proc/self/fd/{}", opened.as_raw_fd())).ok());
        // The link text of a deleted file, or of one outside this mount namespace, is not a path.
        if let Some(real) = name
            && real.is_absolute()
            && !real.as_os_str().as_encoded_bytes().ends_with(b" (deleted)")
        {
            return Ok(real);
        }
    }
    path.canonicalize()
}

/// Resolves all links of a path. Returns the path unchanged if it cannot be resolved.
pub(crate) fn real_path_or_same(path: &Path) -> PathBuf {
    real_path(path).unwrap_or_else(|_| path.to_owned())
}

/// Resolves links in the existing part of a path. Returns that part and the rest.
pub fn real_ancestor(path: &Path) -> Option<(PathBuf, &Path)> {
    path.ancestors().find_map(|ancestor| Some((real_path(ancestor).ok()?, path.strip_prefix(ancestor).ok()?)))
}

/// Returns the real path of a file that lies in `root` by its name and outside of it after all links are resolved. The file
/// need not exist.
pub fn leads_out_of(root: &Path, path: &Path) -> Option<PathBuf> {
    let (existing, rest) = real_ancestor(path)?;
    let is_inside = real_path(root).is_ok_and(|root| existing.starts_with(root));
    match is_inside {
        true => None,
        // An empty rest would add a slash.
        false if rest.as_os_str().is_empty() => Some(existing),
        false => Some(existing.join(rest)),
    }
}

/// `true` if a path is written like a real path: absolute, without empty components, `.` and `..`.
#[cfg(target_os = "linux")]
fn is_plain(path: &Path) -> bool {
    let parts = path.as_os_str().as_encoded_bytes().strip_prefix(b"/");
    parts.is_some_and(|parts| {
        parts.is_empty() || parts.split(|&byte| byte == b'/').all(|part| !matches!(part, b"" | b"." | b".."))
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn real_path_equals_canonicalize() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(path("a/b")).unwrap();
        std::fs::write(path("a/file"), "").unwrap();
        std::os::unix::fs::symlink("a", path("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", path("broken")).unwrap();
        for name in [
            "a",
            "a/b",
            "a/b/",
            "a//b",
            "a/./b",
            "a/b/..",
            "a/b/.",
            "a/file",
            "a/file/",
            "link",
            "link/b",
            "link/b/..",
            "link/..",
            "broken",
            "missing",
            "missing/..",
            "",
        ] {
            let (ours, theirs) = (real_path(&path(name)), path(name).canonicalize());
            assert_eq!(ours.as_ref().ok(), theirs.as_ref().ok(), "{name}: {ours:?} {theirs:?}");
        }
        for path in ["/", "//", "/..", ".", "..", "/proc/self", "/proc/self/cwd", ""] {
            let path = Path::new(path);
            assert_eq!(real_path(path).ok(), path.canonicalize().ok(), "{}", path.display());
        }
    }

    #[test]
    fn missing_parts_of_a_path_stay_unchanged() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("a")).unwrap();
        std::os::unix::fs::symlink("a", real.join("link")).unwrap();
        assert_eq!(real_ancestor(&real.join("link/x/y")), Some((real.join("a"), Path::new("x/y"))));
        assert_eq!(real_path_or_same(&real.join("link/x")), real.join("link/x"));
        assert_eq!(real_path_or_same(&real.join("link")), real.join("a"));
    }
}
