//! Atomic write of an output file: other processes see the old or the new text, never a part.
//!
//! Must never write through a link of a project to a place outside of it.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};
use checkrein::internal::real_path::leads_out_of;
use checkrein::internal::repository;

/// Writes the file, and creates the directories above it. An existing file is overwritten only if `overwrites`, also if
/// it was created a moment ago. Only the user can read a `private` file.
pub fn write(path: &Path, text: &str, overwrites: bool, private: bool) -> Result<()> {
    check_type(path)?;
    let written = || -> std::io::Result<()> {
        // A symbolic link is kept, and its target is written.
        let path =
            if overwrites { fs::canonicalize(path).unwrap_or_else(|_| path.to_owned()) } else { path.to_owned() };
        let folder = path.parent().unwrap_or_else(|| Path::new("."));
        fs::create_dir_all(folder)?;
        let mut builder = tempfile::Builder::new();
        builder.prefix(".hooks-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(if private { 0o600 } else { 0o644 }));
        }
        #[cfg(not(unix))]
        let _ = private;
        let mut file = builder.tempfile_in(folder)?;
        file.write_all(text.as_bytes())?;
        file.as_file().sync_all()?;
        if overwrites {
            if let Ok(existing) = fs::metadata(&path) {
                #[cfg(unix)]
                keep_owner(file.as_file(), &existing)?;
                file.as_file().set_permissions(existing.permissions())?;
            }
            file.persist(&path)?;
        } else {
            file.persist_noclobber(&path)?;
        }
        Ok(())
    };
    written().with_context(|| format!("cannot write {}", path.display()))
}

/// Gives a file the owner and group of the one that it replaces.
#[cfg(unix)]
fn keep_owner(file: &fs::File, existing: &fs::Metadata) -> std::io::Result<()> {
    use std::os::unix::fs::MetadataExt;
    let (uid, gid) = (existing.uid(), existing.gid());
    let own = file.metadata()?;
    if (own.uid(), own.gid()) == (uid, gid) {
        return Ok(());
    }
    let failed = |error: std::io::Error| {
        std::io::Error::new(error.kind(), format!("cannot keep its owner (uid {uid}, gid {gid}): {error}"))
    };
    std::os::unix::fs::fchown(file, Some(uid), Some(gid)).map_err(failed)
}

/// Fails if a link in the repository of `dir`, or in `dir` itself, leads from `path` to a place outside of it.
pub fn check_inside(path: &Path, dir: &Path) -> Result<()> {
    let (dir, path) = (std::path::absolute(dir)?, std::path::absolute(path)?);
    let root = repository(&dir).unwrap_or(&dir);
    if path.starts_with(root)
        && let Some(real) = leads_out_of(root, &path)
    {
        let (path, real) = (path.display(), real.display());
        bail!("cannot write {path}: it leads out of the project, to {real}; replace the link with a file");
    }
    Ok(())
}

/// Fails for a pipe, a device or a directory. A new file and a link to a missing one are accepted.
fn check_type(path: &Path) -> Result<()> {
    match path.metadata() {
        Ok(found) if !found.is_file() => match checkrein::internal::regular_file::open(path) {
            Err(error) => Err(error).with_context(|| format!("cannot write {}", path.display())),
            Ok(_) => Ok(()),
        },
        _ => Ok(()),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]
mod tests {
    use super::write;

    #[test]
    fn file_created_in_the_meantime_is_not_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/hooks.yaml");
        write(&path, "first", false, false).unwrap();
        let error = write(&path, "second", false, false).unwrap_err();
        assert!(format!("{error:#}").contains("exists"), "{error:#}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "first");
        write(&path, "second", true, false).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "second");
        let left: Vec<_> = std::fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert_eq!(left.len(), 1, "no temporary file remains: {left:?}");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_are_kept() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real.yaml"), dir.path().join("hooks.yaml"));
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        write(&real, "first", false, true).unwrap();
        assert_eq!(mode(&real), 0o600);
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&real, &link).unwrap();
        write(&link, "second", true, true).unwrap();
        assert!(link.is_symlink());
        assert_eq!((std::fs::read_to_string(&real).unwrap().as_str(), mode(&real)), ("second", 0o640));
    }
}
