//! Files that are changed as a whole or not at all, by one at a time.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::InstallError;

/// The file that a path leads to, and what it says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Read {
    /// Where it really is: a link stays one, what it leads to is changed.
    pub(super) real: PathBuf,
    /// `None`: it is not there.
    pub(super) text: Option<String>,
}

/// Reads a file that may not be there.
pub(super) fn read(path: &Path) -> Result<Read, InstallError> {
    let is_link = path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    let real = match path.canonicalize() {
        Ok(real) => real,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return match is_link {
                true => Err(InstallError::Dangling { path: path.to_owned() }),
                false => Ok(Read { real: path.to_owned(), text: None }),
            };
        }
        Err(error) => return Err(InstallError::io("read", path)(error)),
    };
    let bytes = fs::read(&real).map_err(InstallError::io("read", path))?;
    let text = String::from_utf8(bytes).map_err(|_| InstallError::NotText { path: path.to_owned() })?;
    Ok(Read { real, text: Some(text) })
}

/// While this is held, no other checkrein changes files of the directory.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

impl Lock {
    /// Waits until nobody else has it. It goes with the process that holds it, however that ends.
    pub(super) fn of(directory: &Path) -> Result<Self, InstallError> {
        let lock = || -> io::Result<File> {
            // A directory can be locked itself where it can be opened; nothing is left beside the file then.
            #[cfg(unix)]
            let file = File::open(directory)?;
            #[cfg(not(unix))]
            let file =
                OpenOptions::new().create(true).truncate(false).write(true).open(directory.join(".checkrein-lock"))?;
            fs4::FileExt::lock(&file)?;
            Ok(file)
        };
        Ok(Self { _file: lock().map_err(InstallError::io("lock", directory))? })
    }
}

/// Writes a file beside the place where it goes, and moves it there when all of it is on the disk. One that is there keeps its
/// owner and its permissions.
pub(super) fn replace(path: &Path, text: &str, executable: bool) -> Result<(), InstallError> {
    let there = path.metadata().ok();
    if there.as_ref().is_some_and(|there| there.permissions().readonly()) {
        return Err(InstallError::ReadOnly { path: path.to_owned() });
    }
    write(path, text, there.as_ref(), executable)
}

fn write(path: &Path, text: &str, like: Option<&fs::Metadata>, executable: bool) -> Result<(), InstallError> {
    remove_stale(path);
    let beside = beside(path, &format!("{:016x}", RandomState::new().hash_one(0_u8)));
    let write = || -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        // Who may not read the one must not read the other, not even for a moment.
        #[cfg(unix)]
        let mode = if like.is_some() { 0o600 } else { 0o666 };
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, if executable { mode | 0o111 } else { mode });
        #[cfg(not(unix))]
        let _ = executable;
        let mut file = options.open(&beside)?;
        file.write_all(text.as_bytes())?;
        if let Some(like) = like {
            #[cfg(unix)]
            keep_owner(&file, like);
            file.set_permissions(like.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&beside, path)?;
        sync(directory_of(path))
    };
    write().map_err(|error| {
        let _ = fs::remove_file(&beside);
        InstallError::io("write", path)(error)
    })
}

/// Keeps a copy of what a file says, and tells where. What is kept already is not touched; the same text is not kept twice.
pub(super) fn keep(path: &Path, text: &str) -> Result<PathBuf, InstallError> {
    for number in 1_u32.. {
        let copy = numbered(path, number);
        match fs::read(&copy) {
            Ok(kept) if kept == text.as_bytes() && newest_kept(path).is_some_and(|newest| newest == copy) => {
                return Ok(copy);
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                write(&copy, text, path.metadata().ok().as_ref(), false)?;
                return Ok(copy);
            }
            Err(error) => return Err(InstallError::io("read", &copy)(error)),
        }
    }
    Err(InstallError::io("write", path)(io::Error::other("too many copies")))
}

/// The copy that was kept last.
pub(super) fn newest_kept(path: &Path) -> Option<PathBuf> {
    let there = |number: &u32| numbered(path, *number).symlink_metadata().is_ok();
    let last = (1_u32..).take_while(there).last()?;
    Some(numbered(path, last))
}

fn numbered(path: &Path, number: u32) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".checkrein-backup");
    if number > 1 {
        name.push(format!("-{number}"));
    }
    path.with_file_name(name)
}

/// Takes a file away.
pub(super) fn remove(path: &Path) -> Result<(), InstallError> {
    if path.metadata().is_ok_and(|there| there.permissions().readonly()) {
        return Err(InstallError::ReadOnly { path: path.to_owned() });
    }
    fs::remove_file(path).and_then(|()| sync(directory_of(path))).map_err(InstallError::io("remove", path))
}

pub(super) fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."))
}

const PREFIX: &str = ".checkrein-";

fn beside(path: &Path, random: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{PREFIX}{random}-{name}"))
}

/// Takes away what one that was killed has left. Who holds the lock is alone.
fn remove_stale(path: &Path) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let is_stale = |found: &str| {
        let random = found.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(&name)?.strip_suffix('-'));
        random.is_some_and(|random| random.len() == 16 && random.bytes().all(|byte| byte.is_ascii_hexdigit()))
    };
    for found in fs::read_dir(directory_of(path)).into_iter().flatten().flatten() {
        if found.file_name().to_str().is_some_and(is_stale) {
            let _ = fs::remove_file(found.path());
        }
    }
}

/// A file that another user owns stays theirs, if the system lets it.
#[cfg(unix)]
fn keep_owner(file: &File, there: &fs::Metadata) {
    use std::os::unix::fs::MetadataExt;
    let own = file.metadata().ok();
    if own.is_none_or(|own| (own.uid(), own.gid()) != (there.uid(), there.gid())) {
        let _ = std::os::unix::fs::fchown(file, Some(there.uid()), Some(there.gid()));
    }
}

/// The move itself is on the disk.
fn sync(directory: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(directory)?.sync_all()?;
    #[cfg(not(unix))]
    let _ = directory;
    Ok(())
}
