//! What runs is what was approved: scripts are run from copies whose bytes were hashed.
//!
//! A script is read once. If what was read is what was approved, it is kept as a copy that nobody else can write to, and the
//! copy is what runs: whoever changes the file afterwards, or between two looks at it, changes nothing that is run. So that
//! a script finds what lies beside it, its copy lies in a shadow of the directories above it, in which all other entries are
//! links to the real ones.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes};
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use checkrein_dialects::VerifiedScript;

use super::approvals::{open, open_no_link};
use super::identity::Identity;
use super::permissions::{is_private, owned, replace};
use crate::append_file::make_private_directory;
use crate::hash::{hex, sha256};
use crate::real_path::real_path;

/// The largest script that is run.
const LARGEST: u64 = 256 * 1024 * 1024;

/// From this size on, reading a file takes longer than looking whether it is still the same.
const LARGE: u64 = 1024 * 1024;

/// Clocks of file systems tick at most this slowly: what was changed later than this ago may change again unseen.
const TICK: Duration = Duration::from_millis(50);

const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Why a script does not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotVerified {
    #[error("{} has changed since it was approved", .0.display())]
    Changed(PathBuf),
    #[error("{} was not there when the hook was approved, and now it is", .0.display())]
    Appeared(PathBuf),
    #[error("{} was approved and is gone", .0.display())]
    Gone(PathBuf),
    #[error("{} cannot be read, so nobody knows whether it is what was approved: {}", .0.display(), .1)]
    Unreadable(PathBuf, io::Error),
    #[error("it would run {}, and {} was approved", .0.display(), .1.display())]
    Elsewhere(PathBuf, PathBuf),
    #[error("no copy of {} can be kept to run it from: {}", .0.display(), .1)]
    NoCopy(PathBuf, String),
}

/// What a file says, if it is one that can be run.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = open(path)?;
    let metadata = file.metadata()?;
    check(&metadata)?;
    bytes(&mut file, metadata.len())
}

fn check(metadata: &fs::Metadata) -> io::Result<()> {
    if !metadata.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"));
    }
    if metadata.len() > LARGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {LARGEST} bytes")));
    }
    Ok(())
}

fn bytes(file: &mut File, size: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0).saturating_add(1));
    // It may grow while it is read.
    file.take(LARGEST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LARGEST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {LARGEST} bytes")));
    }
    Ok(bytes)
}

/// The path that the copy of a script has, whether it is there or not. For a script that has no bytes which were approved,
/// one at which nothing ever is.
pub fn copy_of(script: &VerifiedScript, store: &Path) -> PathBuf {
    let nothing = || store.join("verified/nothing").join(script.path.file_name().unwrap_or_default());
    ScriptCopy::of(script, store).map_or_else(nothing, |shadow| shadow.copy())
}

/// Whether another file has what was approved of a script.
pub fn is_as_approved(script: &VerifiedScript, file: &Path) -> bool {
    script.sha256.is_some_and(|approved| read(file).is_ok_and(|bytes| sha256(&bytes) == approved))
}

/// The directory around the copy.
pub(crate) fn around(script: &VerifiedScript, store: &Path) -> Option<PathBuf> {
    ScriptCopy::of(script, store).map(|shadow| shadow.path)
}

/// Sees to it that the copy of a script is there, is what was approved, and that the script itself still is. `cwd` is where
/// the command runs.
pub(crate) fn verify(script: &VerifiedScript, store: &Path, cwd: &Path) -> Result<(), NotVerified> {
    let path = &script.path;
    // A relative path means another file elsewhere. If there is one, that is what the command means.
    if script.named.is_relative() {
        let meant = cwd.join(&script.named);
        let is_same = || match (real_path(&meant), real_path(path)) {
            (Ok(meant), Ok(path)) => meant == path,
            (meant, _) => meant.is_err(),
        };
        if meant != *path && !is_same() {
            return Err(NotVerified::Elsewhere(meant, path.clone()));
        }
    }
    let Some(approved) = script.sha256 else {
        return match path.symlink_metadata() {
            Ok(_) => Err(NotVerified::Appeared(path.clone())),
            Err(_) => Ok(()),
        };
    };
    let Some(shadow) = ScriptCopy::of(script, store) else {
        return Err(NotVerified::NoCopy(path.clone(), "it lies in no directory".to_owned()));
    };
    let unreadable = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => NotVerified::Gone(path.clone()),
        _ => NotVerified::Unreadable(path.clone(), error),
    };
    let mut file = open(path).map_err(unreadable)?;
    let metadata = file.metadata().map_err(unreadable)?;
    check(&metadata).map_err(unreadable)?;
    let no_copy = |why: String| NotVerified::NoCopy(path.clone(), why);
    let is_there = is_private(store).map_err(no_copy)?;
    let known = || Identity::is_known(&shadow.identity(), &metadata, &shadow.copy());
    if metadata.len() < LARGE || !is_there || !known() {
        let contents = bytes(&mut file, metadata.len()).map_err(unreadable)?;
        if sha256(&contents) != approved {
            return Err(NotVerified::Changed(path.clone()));
        }
        shadow.keep(&contents, &approved).map_err(|error| no_copy(error.to_string()))?;
        if metadata.len() >= LARGE {
            // Only the next run is slower without it.
            let _ = Identity::remember(&shadow.identity(), &metadata, &shadow.copy());
        }
    }
    shadow.refresh().map_err(|error| no_copy(error.to_string()))
}

/// Removes the copy of a script that is approved no longer.
pub(super) fn forget(script: &VerifiedScript, store: &Path) {
    if let Some(around) = around(script, store).and_then(|path| path.parent().map(Path::to_owned)) {
        // What cannot be removed is never run: its bytes are not approved any more.
        let _ = fs::remove_dir_all(around);
    }
}

/// A shadow of the directories above a script.
struct ScriptCopy<'a> {
    /// The directory that stands for the script's base.
    path: PathBuf,
    base: &'a Path,
    /// The script, from its base.
    relative: &'a Path,
}

impl<'a> ScriptCopy<'a> {
    fn of(script: &'a VerifiedScript, store: &Path) -> Option<Self> {
        let relative = script.path.strip_prefix(&script.base).ok()?;
        let is_plain = relative.components().all(|part| matches!(part, Component::Normal(_)));
        if !is_plain || relative.as_os_str().is_empty() {
            return None;
        }
        let mut told = script.sha256?.to_vec();
        told.extend_from_slice(script.path.as_os_str().as_encoded_bytes());
        let mut key = hex(&sha256(&told));
        key.truncate(32);
        let project = super::approvals::key_of(&script.base);
        // Scripts that say what they are called or show the directory that they are in have a name to show.
        let name = script.base.file_name().unwrap_or(OsStr::new("root"));
        Some(Self { path: store.join("verified").join(project).join(key).join(name), base: &script.base, relative })
    }

    fn copy(&self) -> PathBuf {
        self.path.join(self.relative)
    }

    fn identity(&self) -> PathBuf {
        self.path.with_file_name(".identity")
    }

    /// Sees to it that the copy is there and has these bytes.
    fn keep(&self, contents: &[u8], approved: &[u8; 32]) -> io::Result<()> {
        let copy = self.copy();
        let is_good = |copy: &Path| {
            let mut file = open_no_link(copy)?;
            let metadata = file.metadata()?;
            check(&metadata)?;
            let is_mine = owned(copy, &metadata, false).is_ok() && metadata.len() == contents.len() as u64;
            Ok::<_, io::Error>(is_mine && sha256(&bytes(&mut file, metadata.len())?) == *approved)
        };
        if is_good(&copy).unwrap_or(false) {
            return Ok(());
        }
        if let Some(parent) = copy.parent() {
            make_private_directory(parent)?;
        }
        replace(&copy, contents, 0o500)?;
        if is_good(&copy)? { Ok(()) } else { Err(io::Error::other("what was written is not what was to be written")) }
    }

    /// Sees to it that what lies beside the script and above it lies beside its copy.
    fn refresh(&self) -> io::Result<()> {
        let mut parts: Vec<_> = self.relative.components().map(Component::as_os_str).collect();
        parts.reverse();
        let (mut real, mut mirror) = (self.base.to_owned(), self.path.clone());
        while let Some(next) = parts.pop() {
            mirrored(&real, &mirror, next)?;
            real.push(next);
            mirror.push(next);
        }
        Ok(())
    }
}

/// Links all entries of a directory into its mirror, but this one. A mirror that is up to date has a time which says so.
fn mirrored(real: &Path, mirror: &Path, without: &OsStr) -> io::Result<()> {
    let changed = real.metadata()?.modified()?;
    // A mirror that was made just now may well have the time of its directory: a day earlier it has none by itself.
    let stamp = changed.checked_sub(A_DAY);
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
    let settled = SystemTime::now().duration_since(changed).is_ok_and(|age| age > TICK);
    if let Some(stamp) = stamp.filter(|_| settled) {
        File::open(mirror)?.set_times(FileTimes::new().set_modified(stamp))?;
    }
    Ok(())
}

#[cfg(unix)]
fn symlink(target: &Path, link: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(target, link)
}

/// Links are not everybody's to make there; a script finds only itself then.
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

    struct CopyLocation {
        dir: tempfile::TempDir,
        script: VerifiedScript,
    }

    impl CopyLocation {
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
    fn a_copy_finds_what_lies_around_the_script() {
        let place = CopyLocation::new("one");
        let copy = place.verify().unwrap();
        assert_eq!(fs::read_to_string(&copy).unwrap(), "one");
        assert_eq!(fs::read_to_string(copy.with_file_name("lib.sh")).unwrap(), "lib");
        assert_eq!(fs::read_to_string(copy.parent().unwrap().join("../above")).unwrap(), "above");
        // What comes and goes later is found, and not found.
        let beside = place.script.path.with_file_name("new.sh");
        fs::write(&beside, "new").unwrap();
        fs::remove_file(place.script.path.with_file_name("lib.sh")).unwrap();
        place.verify().unwrap();
        assert_eq!(fs::read_to_string(copy.with_file_name("new.sh")).unwrap(), "new");
        assert!(copy.with_file_name("lib.sh").symlink_metadata().is_err());
    }

    #[test]
    fn what_has_changed_does_not_run() {
        let place = CopyLocation::new("one");
        place.verify().unwrap();
        fs::write(&place.script.path, "two").unwrap();
        assert!(matches!(place.verify(), Err(NotVerified::Changed(_))));
        fs::remove_file(&place.script.path).unwrap();
        assert!(matches!(place.verify(), Err(NotVerified::Gone(_))));
        fs::create_dir(&place.script.path).unwrap();
        assert!(matches!(place.verify(), Err(NotVerified::Unreadable(..))));
    }

    #[test]
    fn a_copy_that_was_tampered_with_is_made_again() {
        use std::os::unix::fs::PermissionsExt as _;

        let place = CopyLocation::new("one");
        let copy = place.verify().unwrap();
        assert_eq!(copy.metadata().unwrap().permissions().mode() & 0o777, 0o500);
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
    fn a_large_file_is_read_again_when_it_is_another() {
        let large = "x".repeat(usize::try_from(LARGE).unwrap());
        let place = CopyLocation::new(&large);
        let old = SystemTime::now() - Duration::from_secs(60);
        let copy = place.verify().unwrap();
        File::open(&place.script.path).unwrap().set_times(FileTimes::new().set_modified(old)).unwrap();
        place.verify().unwrap();
        // The same size and time, other bytes: the time of the change gives it away.
        fs::write(&place.script.path, "y".repeat(large.len())).unwrap();
        File::open(&place.script.path).unwrap().set_times(FileTimes::new().set_modified(old)).unwrap();
        assert!(matches!(place.verify(), Err(NotVerified::Changed(_))));
        assert_eq!(fs::read_to_string(&copy).unwrap(), large);
    }

    #[test]
    fn a_relative_name_means_another_file_elsewhere() {
        let place = CopyLocation::new("one");
        let elsewhere = place.dir.path().join("elsewhere");
        fs::create_dir_all(elsewhere.join("a/b")).unwrap();
        assert!(verify(&place.script, &place.store(), &elsewhere).is_ok(), "nothing else is meant there");
        fs::write(elsewhere.join("a/b/x.sh"), "other").unwrap();
        assert!(matches!(verify(&place.script, &place.store(), &elsewhere), Err(NotVerified::Elsewhere(..))));
    }

    #[test]
    fn what_was_not_there_must_not_appear() {
        let mut place = CopyLocation::new("one");
        place.script.sha256 = None;
        assert!(matches!(verify(&place.script, &place.store(), &place.script.base), Err(NotVerified::Appeared(_))));
        fs::remove_file(&place.script.path).unwrap();
        assert!(verify(&place.script, &place.store(), &place.script.base).is_ok());
    }

    #[test]
    fn a_store_that_others_can_write_to_is_not_used() {
        use std::os::unix::fs::PermissionsExt as _;

        let place = CopyLocation::new("one");
        place.verify().unwrap();
        fs::set_permissions(place.store(), fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(place.verify(), Err(NotVerified::NoCopy(..))));
    }
}
