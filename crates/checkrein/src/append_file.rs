//! Files to which several processes append whole lines: audit logs, approvals and recordings.
//!
//! Each writer holds a file lock for one write. No caller waits for a lock without limit.

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use fs4::TryLockError;

use crate::regular_file::type_name;

/// Maximum wait for the lock. Other processes hold it for one write.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// Opens a file for appending. Creates it and missing directories, readable only by the user.
pub fn open(path: &Path) -> io::Result<File> {
    private(path, OpenOptions::new().read(true).append(true))
}

/// As [`open`]. Returns the size of the file too, which is known from the check of its type.
pub fn open_with_size(path: &Path) -> io::Result<(File, u64)> {
    let (file, found) = private_with_metadata(path, OpenOptions::new().read(true).append(true))?;
    Ok((file, found.len()))
}

/// As [`open`], for writing at any position.
pub fn open_to_write(path: &Path) -> io::Result<File> {
    private(path, OpenOptions::new().read(true).write(true))
}

/// Opens a file that only its user can read, and creates it if it does not exist.
///
/// # Errors
/// The file cannot be opened, or it is no regular file: a symbolic link, a FIFO or a device could lose what is written.
pub fn private(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    private_with_metadata(path, options).map(|(file, _)| file)
}

fn private_with_metadata(path: &Path, options: &mut OpenOptions) -> io::Result<(File, Metadata)> {
    options.create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    let opened = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(directory) = path.parent() {
                make_private_directory(directory)?;
            }
            options.open(path)
        }
        opened => opened,
    };
    let found = match &opened {
        Ok(file) => Some(file.metadata()?),
        Err(_) => path.symlink_metadata().ok(),
    };
    match (opened, found) {
        (_, Some(found)) if !found.is_file() => {
            let text = format!("this is {}, not a regular file; remove it", type_name(found.file_type()));
            Err(io::Error::new(io::ErrorKind::InvalidInput, text))
        }
        (Ok(file), Some(found)) => Ok((file, found)),
        (Ok(_), None) => Err(io::ErrorKind::NotFound.into()),
        (Err(error), _) => Err(error),
    }
}

/// Creates a directory that only the user can read, and its missing parents. An existing directory stays unchanged.
pub fn make_private_directory(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Locks a file exclusively until it is closed.
///
/// Fails after the timeout: a process that was suspended during a write must not block all others.
pub fn lock(file: &File, timeout: Duration) -> io::Result<()> {
    wait_for(timeout, || fs4::FileExt::try_lock(file))
}

/// Locks a file for reading until it is closed. Fails after the timeout.
pub fn lock_shared(file: &File, timeout: Duration) -> io::Result<()> {
    wait_for(timeout, || fs4::FileExt::try_lock_shared(file))
}

fn wait_for(timeout: Duration, mut try_lock: impl FnMut() -> Result<(), TryLockError>) -> io::Result<()> {
    let start = Instant::now();
    let mut pause = Duration::from_micros(20);
    loop {
        match try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if start.elapsed() < timeout => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(5));
            }
            Err(TryLockError::WouldBlock) => {
                let text = format!("another process has held the lock of the file for {} s", timeout.as_secs());
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Returns `true` if the last line has no line break, as after a write that was interrupted. Moves the file position.
pub fn is_cut(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Appends one line, which must not contain a line break. Starts a new line if the last one was cut.
pub fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = open(path)?;
    lock(&file, PATIENCE)?;
    let mut bytes = Vec::with_capacity(line.len() + 2);
    if is_cut(&mut file)? {
        bytes.push(b'\n');
    }
    bytes.extend_from_slice(line.as_bytes());
    bytes.push(b'\n');
    file.write_all(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn append_starts_a_new_line_after_a_cut_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/lines");
        append(&path, "one").unwrap();
        std::fs::write(&path, "one\ntw").unwrap();
        append(&path, "three").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntw\nthree\n");
    }

    #[cfg(unix)]
    #[test]
    fn new_files_are_readable_only_by_the_user() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/lines");
        append(&path, "one").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }

    #[cfg(unix)]
    #[test]
    fn only_regular_files_are_written() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("target"), "").unwrap();
        std::fs::create_dir(path("directory")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path("fifo"), rustix::fs::Mode::RWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        for target in ["target", "directory", "fifo", "socket", "missing", "/dev/null", "/dev/tty"] {
            let link = path(&format!("link-{}", target.replace('/', "-")));
            std::os::unix::fs::symlink(path(target), &link).unwrap();
            let error = append(&link, "one").unwrap_err().to_string();
            assert_eq!(error, "this is a symbolic link, not a regular file; remove it", "{target}");
        }
        for (other, name) in [
            (path("fifo"), "a named pipe"),
            (path("socket"), "a socket"),
            (path("directory"), "a directory"),
            ("/dev/null".into(), "a device"),
        ] {
            let error = append(&other, "one").unwrap_err().to_string();
            assert_eq!(error, format!("this is {name}, not a regular file; remove it"));
        }
        assert_eq!(std::fs::read_to_string(path("target")).unwrap(), "");
        assert!(!path("missing").exists());
    }

    #[test]
    fn lock_fails_after_the_timeout() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        let held = open(&path).unwrap();
        held.lock().unwrap();
        let error = lock(&open(&path).unwrap(), Duration::ZERO).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
