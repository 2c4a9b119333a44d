//! Files that many processes append whole lines to.

use std::fs::{File, OpenOptions};
use std::io;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use fs4::TryLockError;

/// How long one waits for others who write to the same file: they hold it for one write.
pub const PATIENCE: Duration = Duration::from_secs(5);

/// Opens a file to append to, and makes it if need be, for its user only. Directories that are missing are made as well.
pub fn open(path: &Path) -> io::Result<File> {
    private(path, OpenOptions::new().read(true).append(true))
}

/// As [`open`], to write anywhere.
pub fn open_to_write(path: &Path) -> io::Result<File> {
    private(path, OpenOptions::new().read(true).write(true))
}

/// Opens a file that only its user can read, and makes it if need be.
pub fn private(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(directory) = path.parent() {
                make_private_directory(directory)?;
            }
            options.open(path)
        }
        opened => opened,
    }
}

/// Makes a directory that only its user can look into, and those above it. One that is there stays as it is.
pub fn make_private_directory(path: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Keeps others from writing until the file is closed. Somebody who was stopped in the middle of a write must not stop all
/// others for good, so this gives up after a while.
pub fn lock(file: &File, patience: Duration) -> io::Result<()> {
    wait_for(patience, || fs4::FileExt::try_lock(file))
}

/// Keeps others from writing, but not from reading, until the file is closed.
pub fn lock_shared(file: &File, patience: Duration) -> io::Result<()> {
    wait_for(patience, || fs4::FileExt::try_lock_shared(file))
}

fn wait_for(patience: Duration, mut try_lock: impl FnMut() -> Result<(), TryLockError>) -> io::Result<()> {
    let begun = Instant::now();
    let mut pause = Duration::from_micros(20);
    loop {
        match try_lock() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if begun.elapsed() < patience => {
                std::thread::sleep(pause);
                pause = (pause * 2).min(Duration::from_millis(5));
            }
            Err(TryLockError::WouldBlock) => {
                let text = format!("another process has held its lock for {} s", patience.as_secs());
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
    }
}

/// Whether the file ends within a line, as when somebody was ended while writing. Where it is read next is left open.
pub fn is_cut(file: &mut File) -> io::Result<bool> {
    if file.seek(SeekFrom::End(0))? == 0 {
        return Ok(false);
    }
    file.seek(SeekFrom::End(-1))?;
    let mut last = [0];
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

/// Appends one line, which has no line break in it. It stands alone also if the line before it was cut.
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
    fn a_line_stands_alone_behind_one_that_was_cut() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/lines");
        append(&path, "one").unwrap();
        std::fs::write(&path, "one\ntw").unwrap();
        append(&path, "three").unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntw\nthree\n");
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("new/lines");
        append(&path, "one").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }

    #[test]
    fn nobody_waits_forever() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        let held = open(&path).unwrap();
        held.lock().unwrap();
        let error = lock(&open(&path).unwrap(), Duration::ZERO).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }
}
