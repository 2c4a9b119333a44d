//! Paths without symbolic links.

use std::io;
use std::path::{Path, PathBuf};

/// Resolves all links of a path, as [`Path::canonicalize`] does. On Linux the kernel resolves them in one step, where the
/// library looks at one part after the other.
///
/// # Errors
/// The path does not exist, or cannot be read.
pub(crate) fn real_path(path: &Path) -> io::Result<PathBuf> {
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
        // Without free file descriptors, the library still works.
        let name = opened.and_then(|opened| std::fs::read_link(format!("/proc/self/fd/{}", opened.as_raw_fd())).ok());
        // The name of a file that is deleted by now, or outside of this mount namespace, is not a path.
        if let Some(real) = name
            && real.is_absolute()
            && !real.as_os_str().as_encoded_bytes().ends_with(b" (deleted)")
        {
            return Ok(real);
        }
    }
    path.canonicalize()
}

/// The same, or the path as it is if it cannot be resolved.
pub(crate) fn real_path_or_same(path: &Path) -> PathBuf {
    real_path(path).unwrap_or_else(|_| path.to_owned())
}

/// Resolves links in as much of a path as exists. Returns that part and the rest.
pub(crate) fn real_ancestor(path: &Path) -> Option<(PathBuf, &Path)> {
    path.ancestors().find_map(|ancestor| Some((real_path(ancestor).ok()?, path.strip_prefix(ancestor).ok()?)))
}

/// `true` if a path is spelled as a real path is: absolute, without empty parts, `.` and `..`.
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
    fn a_real_path_is_what_the_library_says() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::create_dir_all(at("a/b")).unwrap();
        std::fs::write(at("a/file"), "").unwrap();
        std::os::unix::fs::symlink("a", at("link")).unwrap();
        std::os::unix::fs::symlink("nowhere", at("broken")).unwrap();
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
            let (ours, theirs) = (real_path(&at(name)), at(name).canonicalize());
            assert_eq!(ours.as_ref().ok(), theirs.as_ref().ok(), "{name}: {ours:?} {theirs:?}");
        }
        for path in ["/", "//", "/..", ".", "..", "/proc/self", "/proc/self/cwd", ""] {
            let path = Path::new(path);
            assert_eq!(real_path(path).ok(), path.canonicalize().ok(), "{}", path.display());
        }
    }

    #[test]
    fn what_does_not_exist_is_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("a")).unwrap();
        std::os::unix::fs::symlink("a", real.join("link")).unwrap();
        assert_eq!(real_ancestor(&real.join("link/x/y")), Some((real.join("a"), Path::new("x/y"))));
        assert_eq!(real_path_or_same(&real.join("link/x")), real.join("link/x"));
        assert_eq!(real_path_or_same(&real.join("link")), real.join("a"));
    }
}
