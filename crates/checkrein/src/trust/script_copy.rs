//! Verified copies of approved scripts. Hooks run the copies.
//!
//! A script is read once before a run. If its hash is the approved one, the bytes are stored as a copy that only the user
//! can write. A later change of the script does not affect the run. The copy is inside of a mirror of the script's
//! directories, so that the script finds the files around it: all other entries of the mirror are links to the real files.
//!
//! A script whose bytes are not approved must never be copied.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use checkrein_dialects::VerifiedScript;

use super::identity::Identity;
use super::permissions::{is_private, owned, replace};
use crate::append_file::make_private_directory;
use crate::hash::{hex, sha256};
use crate::real_path::real_path;
use crate::regular_file::{self, open, open_no_link};

/// Maximum size of a script, in bytes.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Size in bytes from which on checking the metadata is faster than reading the file.
const LARGE: u64 = 1024 * 1024;

/// Coarsest timestamp of file systems. A younger change may be followed by another one with the same timestamp.
const TICK: Duration = Duration::from_millis(50);

const ONE_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Reason why a script does not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotVerified {
    #[error("{} has changed since it was approved", .0.display())]
    Changed(PathBuf),
    #[error("{} did not exist when the hook was approved, and exists now", .0.display())]
    Appeared(PathBuf),
    #[error("{} was approved and is missing now", .0.display())]
    Gone(PathBuf),
    #[error("cannot compare {} with the approved script: {}", .0.display(), .1)]
    Unreadable(PathBuf, io::Error),
    #[error("the command would run {}, but {} was approved", .0.display(), .1.display())]
    Elsewhere(PathBuf, PathBuf),
    #[error("cannot store a verified copy of {}: {}", .0.display(), .1)]
    NoCopy(PathBuf, String),
}

/// Reads a file. Fails if it is not a regular file or too large.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    Ok(regular_file::read(path, LARGEST)?)
}

fn bytes(file: &mut File, size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    regular_file::read_opened(file, size, LARGEST, &mut bytes)?;
    Ok(bytes)
}

/// Returns the path of a script's copy, which may not exist. For a script without approved bytes, returns a path at which
/// no file is ever created.
pub fn copy_of(script: &VerifiedScript, store: &Path) -> PathBuf {
    let nothing = || store.join("verified/nothing").join(script.path.file_name().unwrap_or_default());
    ScriptCopy::new(script, store).map_or_else(nothing, |copy| copy.path())
}

/// `true` if another file has the approved bytes of a script.
pub fn is_as_approved(script: &VerifiedScript, file: &Path) -> bool {
    script.sha256.is_some_and(|approved| read(file).is_ok_and(|bytes| sha256(&bytes) == approved))
}

/// Returns the mirror of the script's base directory, which contains the copy.
pub(crate) fn mirror_of(script: &VerifiedScript, store: &Path) -> Option<PathBuf> {
    ScriptCopy::new(script, store).map(|copy| copy.mirror)
}

/// Checks that a script is unchanged since its approval, and creates or refreshes its copy. `cwd` is the working directory
/// of the command.
pub(crate) fn verify(script: &VerifiedScript, store: &Path, cwd: &Path) -> Result<(), NotVerified> {
    let path = &script.path;
    // In another directory a relative path may name another file, which is not approved.
    if script.named.is_relative() {
        let named = cwd.join(&script.named);
        let is_same = || match (real_path(&named), real_path(path)) {
            (Ok(named), Ok(path)) => named == path,
            (named, _) => named.is_err(),
        };
        if named != *path && !is_same() {
            return Err(NotVerified::Elsewhere(named, path.clone()));
        }
    }
    let Some(approved) = script.sha256 else {
        return match path.symlink_metadata() {
            Ok(_) => Err(NotVerified::Appeared(path.clone())),
            Err(_) => Ok(()),
        };
    };
    let Some(copy) = ScriptCopy::new(script, store) else {
        return Err(NotVerified::NoCopy(path.clone(), "its path has no directory".to_owned()));
    };
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => NotVerified::Gone(path.clone()),
        _ => NotVerified::Unreadable(path.clone(), error),
    };
    let mut file = open(path).map_err(|error| unreadable(error.into()))?;
    let metadata = file.metadata().map_err(unreadable)?;
    let no_copy = |why: String| NotVerified::NoCopy(path.clone(), why);
    let store_exists = is_private(store).map_err(no_copy)?;
    let is_known = || Identity::is_known(&copy.identity(), &metadata, &copy.path());
    if metadata.len() < LARGE || !store_exists || !is_known() {
        let contents = bytes(&mut file, metadata.len()).map_err(unreadable)?;
        if sha256(&contents) != approved {
            return Err(NotVerified::Changed(path.clone()));
        }
        copy.store(&contents, &approved, is_executable(&metadata)).map_err(|error| no_copy(error.to_string()))?;
        if metadata.len() >= LARGE {
            // Without the identity only the next run is slower.
            let _ = Identity::remember(&copy.identity(), &metadata, &copy.path());
        }
    }
    copy.refresh().map_err(|error| no_copy(error.to_string()))
}

#[cfg(unix)]
fn is_executable(metadata: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    metadata.permissions().mode() & 0o111 != 0
}

/// Accepts every file: these systems have no mode for it.
#[cfg(not(unix))]
fn is_executable(_: &fs::Metadata) -> bool {
    true
}

/// Removes the copy of a script that is no longer approved.
pub(super) fn forget(script: &VerifiedScript, store: &Path) {
    if let Some(directory) = mirror_of(script, store).and_then(|mirror| mirror.parent().map(Path::to_owned)) {
        // A copy that cannot be removed never runs: its bytes are no longer approved.
        let _ = fs::remove_dir_all(directory);
    }
}

/// Copy of a script inside of a mirror of its directories.
struct ScriptCopy<'a> {
    /// Mirror of the script's base directory.
    mirror: PathBuf,
    base: &'a Path,
    /// Path of the script, relative to its base.
    relative: &'a Path,
}

impl<'a> ScriptCopy<'a> {
    fn new(script: &'a VerifiedScript, store: &Path) -> Option<Self> {
        let relative = script.path.strip_prefix(&script.base).ok()?;
        let is_plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_plain || relative.as_os_str().is_empty() {
            return None;
        }
        let mut key = script.sha256?.to_vec();
        key.extend_from_slice(script.path.as_os_str().as_encoded_bytes());
        let mut key = hex(&sha256(&key));
        key.truncate(32);
        let project = super::approvals::key_of(&script.base);
        // The mirror has the name of the base, for scripts that print the name of their directory.
        let name = script.base.file_name().unwrap_or(OsStr::new("root"));
        Some(Self { mirror: store.join("verified").join(project).join(key).join(name), base: &script.base, relative })
    }

    fn path(&self) -> PathBuf {
        self.mirror.join(self.relative)
    }

    fn identity(&self) -> PathBuf {
        self.mirror.with_file_name(".identity")
    }

    /// Creates the copy unless it exists with these bytes. It is executable if the script is, so that a script runs the same
    /// from its copy and from its own path.
    fn store(&self, contents: &[u8], approved: &[u8; 32], executable: bool) -> io::Result<()> {
        let copy = self.path();
        let is_valid = |copy: &Path| {
            let mut file = open_no_link(copy)?;
            let metadata = file.metadata()?;
            let is_own = owned(copy, &metadata, false).is_ok() && metadata.len() == contents.len() as u64;
            Ok::<_, io::Error>(
                is_own
                    && is_executable(&metadata) == executable
                    && sha256(&bytes(&mut file, metadata.len())?) == *approved,
            )
        };
        if is_valid(&copy).unwrap_or(false) {
            return Ok(());
        }
        if let Some(parent) = copy.parent() {
            make_private_directory(parent)?;
        }
        replace(&copy, contents, if executable { 0o500 } else { 0o400 })?;
        if is_valid(&copy)? { Ok(()) } else { Err(io::Error::other("the written copy has other bytes")) }
    }

    /// Updates the links to the files beside the script and above it.
    fn refresh(&self) -> io::Result<()> {
        let mut parts: Vec<_> = self.relative.components().map(Component::as_os_str).collect();
        parts.reverse();
        let (mut real, mut mirror) = (self.base.to_owned(), self.mirror.clone());
        while let Some(next) = parts.pop() {
            update_mirror(&real, &mirror, next)?;
            real.push(next);
            mirror.push(next);
        }
        Ok(())
    }
}

/// Links all entries of a directory into its mirror, except one. The timestamp of the mirror shows that it is current.
fn update_mirror(real: &Path, mirror: &Path, without: &OsStr) -> io::Result<()> {
    let changed = real.metadata()?.modified()?;
    // The timestamp is one day before the directory's: a new mirror can have the directory's timestamp by chance.
    let stamp = changed.checked_sub(ONE_DAY);
    if stamp == Some(mirror.metadata()?.modified()?) {
        return Ok(());
    }
    let mut found = std::collections::HashSet::new();
    for entry in fs::read_dir(real)? {
        let name = entry?.file_name();
        if name == without {
            continue;
        }
        let (target, link) = (real.join(&name), mirror.join(&name));
        if let Err(error) = symlink(&target, &link)
            && error.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(error);
        }
        found.insert(name);
    }
    for entry in fs::read_dir(mirror)?.flatten() {
        let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
        if is_link && !found.contains(&entry.file_name()) {
            let _ = fs::remove_file(entry.path());
        }
    }
    let is_settled = SystemTime::now().duration_since(changed).is_ok_and(|age| age > TICK);
    if is_settled && let Some(stamp) = stamp {
        File::open(mirror)?.set_times(FileTimes::new().set_modified(stamp))?;
    }
    Ok(())
}

#[cfg(unix)]
fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

/// Does nothing: symbolic links need privileges on these systems. A script does not find the files around it there.
#[cfg(not(unix))]
fn symlink(_: &Path, _: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::path::PathBuf;

    use checkrein_dialects::VerifiedWord;

    use super::*;

    struct ScriptFixture {
        dir: tempfile::TempDir,
        script: VerifiedScript,
    }

    impl ScriptFixture {
        fn new(text: &str) -> Self {
            let dir = tempfile::tempdir().unwrap();
            let base = dir.path().join("project");
            fs::create_dir_all(base.join("a/b")).unwrap();
            fs::write(base.join("a/b/x.sh"), text).unwrap();
            fs::write(base.join("a/b/lib.sh"), "lib").unwrap();
            fs::write(base.join("a/above"), "above").unwrap();
            let script = VerifiedScript {
                word: VerifiedWord::Argv(0),
                named: "a/b/x.sh".into(),
                path: base.join("a/b/x.sh"),
                base,
                sha256: Some(sha256(text.as_bytes())),
            };
            Self { dir, script }
        }

        fn store(&self) -> PathBuf {
            self.dir.path().join("state")
        }

        fn verify(&self) -> Result<PathBuf, NotVerified> {
            verify(&self.script, &self.store(), &self.script.base)?;
            Ok(copy_of(&self.script, &self.store()))
        }
    }

    #[test]
    fn copy_finds_the_files_around_the_script() {
        let place = ScriptFixture::new("one");
        let copy = place.verify().unwrap();
        assert_eq!(fs::read_to_string(&copy).unwrap(), "one");
        assert_eq!(fs::read_to_string(copy.with_file_name("lib.sh")).unwrap(), "lib");
        assert_eq!(fs::read_to_string(copy.parent().unwrap().join("../above")).unwrap(), "above");
        // A new file is found, and a removed one is not.
        let beside = place.script.path.with_file_name("new.sh");
        fs::write(&beside, "new").unwrap();
        fs::remove_file(place.script.path.with_file_name("lib.sh")).unwrap();
        place.verify().unwrap();
        assert_eq!(fs::read_to_string(copy.with_file_name("new.sh")).unwrap(), "new");
        assert!(copy.with_file_name("lib.sh").symlink_metadata().is_err());
    }

    #[test]
    fn changed_or_missing_script_is_rejected() {
        let place = ScriptFixture::new("one");
        place.verify().unwrap();
        fs::write(&place.script.path, "two").unwrap();
        assert!(matches!(place.verify(), Err(NotVerified::Changed(_))));
        fs::remove_file(&place.script.path).unwrap();
        assert!(matches!(place.verify(), Err(NotVerified::Gone(_))));
        fs::create_dir(&place.script.path).unwrap();
        assert!(matches!(place.verify(), Err(NotVerified::Unreadable(..))));
    }

    #[test]
    fn modified_copy_is_replaced() {
        use std::os::unix::fs::PermissionsExt as _;

        let place = ScriptFixture::new("one");
        let copy = place.verify().unwrap();
        assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o400);
        fs::set_permissions(&place.script.path, fs::Permissions::from_mode(0o755)).unwrap();
        place.verify().unwrap();
        assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o500, "executable as the script");
        fs::remove_file(&copy).unwrap();
        fs::write(&copy, "evil").unwrap();
        place.verify().unwrap();
        assert_eq!(fs::read_to_string(&copy).unwrap(), "one");
        fs::remove_file(&copy).unwrap();
        std::os::unix::fs::symlink(&place.script.path, &copy).unwrap();
        place.verify().unwrap();
        assert!(copy.symlink_metadata().unwrap().is_file());
    }

    #[test]
    fn changed_large_script_is_rejected() {
        let large = "x".repeat(usize::try_from(LARGE).unwrap());
        let place = ScriptFixture::new(&large);
        let old = SystemTime::now() - Duration::from_secs(60);
        let copy = place.verify().unwrap();
        File::open(&place.script.path).unwrap().set_times(FileTimes::new().set_modified(old)).unwrap();
        place.verify().unwrap();
        // Equal size and modification time, other bytes: the change time differs.
        fs::write(&place.script.path, "y".repeat(large.len())).unwrap();
        File::open(&place.script.path).unwrap().set_times(FileTimes::new().set_modified(old)).unwrap();
        assert!(matches!(place.verify(), Err(NotVerified::Changed(_))));
        assert_eq!(fs::read_to_string(&copy).unwrap(), large);
    }

    #[test]
    fn relative_path_to_another_file_is_rejected() {
        let place = ScriptFixture::new("one");
        let elsewhere = place.dir.path().join("elsewhere");
        fs::create_dir_all(elsewhere.join("a/b")).unwrap();
        assert!(verify(&place.script, &place.store(), &elsewhere).is_ok(), "no other file has this name");
        fs::write(elsewhere.join("a/b/x.sh"), "other").unwrap();
        assert!(matches!(verify(&place.script, &place.store(), &elsewhere), Err(NotVerified::Elsewhere(..))));
    }

    #[test]
    fn script_that_was_missing_at_approval_is_rejected() {
        let mut place = ScriptFixture::new("one");
        place.script.sha256 = None;
        assert!(matches!(verify(&place.script, &place.store(), &place.script.base), Err(NotVerified::Appeared(_))));
        fs::remove_file(&place.script.path).unwrap();
        assert!(verify(&place.script, &place.store(), &place.script.base).is_ok());
    }

    #[test]
    fn store_that_others_can_write_is_rejected() {
        use std::os::unix::fs::PermissionsExt as _;

        let place = ScriptFixture::new("one");
        place.verify().unwrap();
        fs::set_permissions(place.store(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(place.verify(), Err(NotVerified::NoCopy(..))));
    }
}
