//! The reader of files that a project or a user controls.
//!
//! All commands read such files through it. It reads regular files up to a size limit. It must never wait for a pipe, open a
//! device, or read without a limit.

use std::fmt;
use std::fs::{File, FileType, Metadata};
use std::io::{self, Read as _};
use std::path::Path;

/// Reason why a file is not read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The path names something else, such as "a named pipe".
    NotRegular(&'static str),
    /// The file has more bytes than the limit. The size is unknown if the file grew during the read.
    TooLarge {
        /// Size of the file.
        size: Option<u64>,
        /// Limit of the caller.
        limit: u64,
    },
    /// The file is not UTF-8 from this byte on.
    NotText(usize),
    /// The path is a symbolic link in a loop of links.
    LinkLoop,
    /// The path is a symbolic link to a file that does not exist.
    DeadLink,
    /// The user may not read the file.
    NoPermission,
    /// Any other error of the system.
    Io(io::Error),
}

impl ReadError {
    /// Error of the system for a path.
    pub fn new(path: &Path, error: io::Error) -> Self {
        if is_loop(&error) {
            return Self::LinkLoop;
        }
        match error.kind() {
            io::ErrorKind::PermissionDenied => Self::NoPermission,
            io::ErrorKind::NotFound if path.is_symlink() => Self::DeadLink,
            _ => Self::Io(error),
        }
    }

    /// Returns `true` if the path does not exist. A dead link exists.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory))
    }

    /// Code of the error in diagnostics.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotRegular(_) => "not-a-file",
            Self::TooLarge { .. } => "too-large",
            Self::NotText(_) => "not-utf8",
            Self::LinkLoop => "link-loop",
            Self::DeadLink => "dead-link",
            Self::NoPermission => "no-permission",
            Self::Io(_) => "io-error",
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRegular(kind) => write!(f, "this is {kind}, not a file"),
            Self::TooLarge { size: Some(size), limit } => write!(f, "the file has {size} bytes; the limit is {limit}"),
            Self::TooLarge { size: None, limit } => {
                write!(f, "the file has more than {limit} bytes; the limit is {limit}")
            }
            Self::NotText(valid) => write!(f, "the file is not valid UTF-8 (byte {valid})"),
            Self::LinkLoop => f.write_str("the symbolic link is part of a loop"),
            Self::DeadLink => f.write_str("the symbolic link points to a file that does not exist"),
            Self::NoPermission => f.write_str("no permission to read the file"),
            Self::Io(error) => write!(f, "the file cannot be read: {error}"),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<ReadError> for io::Error {
    fn from(error: ReadError) -> Self {
        let kind = match error {
            ReadError::Io(error) => return error,
            ReadError::NotRegular(_) | ReadError::LinkLoop => io::ErrorKind::InvalidInput,
            ReadError::TooLarge { .. } => io::ErrorKind::FileTooLarge,
            ReadError::NotText(_) => io::ErrorKind::InvalidData,
            ReadError::DeadLink => io::ErrorKind::NotFound,
            ReadError::NoPermission => io::ErrorKind::PermissionDenied,
        };
        Self::new(kind, error)
    }
}

/// Reads a file.
///
/// # Errors
/// The file cannot be read, is no regular file, or has more bytes than the limit.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    read_into(path, false, limit, &mut bytes)?;
    Ok(bytes)
}

/// Reads a text file.
///
/// # Errors
/// As [`read`], or the file is not UTF-8.
pub fn read_text(path: &Path, limit: u64) -> Result<String, ReadError> {
    let bytes = read(path, limit)?;
    String::from_utf8(bytes).map_err(|error| ReadError::NotText(error.utf8_error().valid_up_to()))
}

/// Reads a file into a buffer. `is_regular`: the caller knows that it is a regular file.
pub(crate) fn read_into(path: &Path, is_regular: bool, limit: u64, buffer: &mut Vec<u8>) -> Result<(), ReadError> {
    let failed = |error| ReadError::new(path, error);
    let mut file = if is_regular { open_checked(path, true)? } else { open(path)? };
    let size = file.metadata().map_err(failed)?.len();
    read_opened(&mut file, size, limit, buffer).map_err(|error| match error {
        ReadError::Io(error) => failed(error),
        other => other,
    })
}

/// Opens a regular file for reading. Follows symbolic links.
///
/// # Errors
/// The file cannot be opened, or is no regular file.
pub fn open(path: &Path) -> Result<File, ReadError> {
    // The open of a device may have side effects, so the type is checked first.
    check_type(&path.metadata().map_err(|error| ReadError::new(path, error))?)?;
    open_checked(path, true)
}

/// As [`open`], for a path that a user has typed. Also opens the descriptor that a shell passes for `<(command)`.
///
/// # Errors
/// As [`open`].
pub fn open_argument(path: &Path) -> Result<File, ReadError> {
    if path.parent() == Some(Path::new("/dev/fd")) || path == Path::new("/dev/stdin") {
        return File::open(path).map_err(|error| ReadError::new(path, error));
    }
    open(path)
}

/// As [`open`], but a symbolic link is an error.
pub fn open_no_link(path: &Path) -> Result<File, ReadError> {
    let found = path.symlink_metadata().map_err(|error| ReadError::new(path, error))?;
    check_type(&found)?;
    open_checked(path, false)
}

/// Opens a file and checks its type again: the path may lead to another file since the first check.
fn open_checked(path: &Path, follows_links: bool) -> Result<File, ReadError> {
    let failed = |error| ReadError::new(path, error);
    let file = open_nonblocking(path, follows_links).map_err(failed)?;
    check_type(&file.metadata().map_err(failed)?)?;
    Ok(file)
}

/// Reads an open file of about this size into a buffer.
///
/// # Errors
/// The file cannot be read, or has more bytes than the limit.
pub(crate) fn read_opened(file: &mut File, size: u64, limit: u64, buffer: &mut Vec<u8>) -> Result<(), ReadError> {
    if size > limit {
        return Err(ReadError::TooLarge { size: Some(size), limit });
    }
    let (size, most) = (usize::try_from(size).unwrap_or(usize::MAX), usize::try_from(limit).unwrap_or(usize::MAX));
    // One byte more, to detect a file that has grown since.
    let capacity = size.min(most).saturating_add(1);
    if buffer.len() < capacity {
        let length = capacity.next_multiple_of(4096);
        buffer.try_reserve(length - buffer.len()).map_err(|error| ReadError::Io(error.into()))?;
        buffer.resize(length, 0);
    }
    let mut filled = 0;
    loop {
        match file.read(buffer.get_mut(filled..).unwrap_or_default()) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(ReadError::Io(error)),
        }
        if filled > most {
            return Err(ReadError::TooLarge { size: None, limit });
        }
        if filled == size {
            break;
        }
        if filled == buffer.len() {
            buffer.resize(filled.saturating_mul(2), 0);
        }
    }
    buffer.truncate(filled);
    Ok(())
}

#[cfg(unix)]
fn open_nonblocking(path: &Path, follows_links: bool) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};

    let mut flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    if !follows_links {
        flags |= OFlags::NOFOLLOW;
    }
    Ok(rustix::io::retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))?.into())
}

/// Symbolic links need privileges on these systems.
#[cfg(not(unix))]
fn open_nonblocking(path: &Path, _: bool) -> io::Result<File> {
    File::open(path)
}

fn check_type(found: &Metadata) -> Result<(), ReadError> {
    if found.is_file() { Ok(()) } else { Err(ReadError::NotRegular(type_name(found.file_type()))) }
}

/// Name of a file type, with its article.
pub(crate) fn type_name(file: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if file.is_fifo() {
            return "a named pipe";
        }
        if file.is_socket() {
            return "a socket";
        }
        if file.is_block_device() || file.is_char_device() {
            return "a device";
        }
    }
    match file {
        directory if directory.is_dir() => "a directory",
        link if link.is_symlink() => "a symbolic link",
        _ => "a special file",
    }
}

#[cfg(unix)]
fn is_loop(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

#[cfg(not(unix))]
fn is_loop(_: &io::Error) -> bool {
    false
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn only_regular_files_up_to_the_limit_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        std::fs::write(path("plain"), "text").unwrap();
        std::fs::write(path("utf16"), b"\xff\xfet\0").unwrap();
        File::create(path("sparse")).unwrap().set_len(1 << 40).unwrap();
        std::fs::create_dir(path("directory")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path("fifo"), rustix::fs::Mode::RWXU).unwrap();
        let _socket = UnixListener::bind(path("socket")).unwrap();
        let links = [
            ("zero", "/dev/zero"),
            ("terminal", "/dev/tty"),
            ("loop", "loop"),
            ("dead", "nothing"),
            ("to-fifo", "fifo"),
            ("good", "plain"),
        ];
        for (name, target) in links {
            symlink(target, path(name)).unwrap();
        }
        for (name, expected) in [
            ("plain", ""),
            ("good", ""),
            ("utf16", "not valid UTF-8 (byte 0)"),
            ("sparse", "the file has 1099511627776 bytes; the limit is 1024"),
            ("directory", "this is a directory"),
            ("fifo", "this is a named pipe"),
            ("to-fifo", "this is a named pipe"),
            ("socket", "this is a socket"),
            ("zero", "this is a device"),
            ("terminal", "this is a device"),
            ("loop", "part of a loop"),
            ("dead", "points to a file that does not exist"),
            ("missing", "cannot be read"),
        ] {
            let read = read_text(&path(name), 1024).map_err(|error| error.to_string());
            match read {
                Ok(text) => assert_eq!((text.as_str(), expected), ("text", ""), "{name}"),
                Err(error) => assert!(!expected.is_empty() && error.contains(expected), "{name}: {error}"),
            }
        }
        assert!(read(&path("missing"), 1).unwrap_err().is_missing());
        assert!(!read(&path("dead"), 1).unwrap_err().is_missing());
        assert!(open_no_link(&path("good")).unwrap_err().to_string().contains("a symbolic link"));
    }

    #[test]
    fn file_that_grows_is_read_up_to_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, vec![b'x'; 5000]).unwrap();
        let mut file = open(&path).unwrap();
        // The size is that of an earlier check.
        let error = read_opened(&mut file, 10, 100, &mut Vec::new()).unwrap_err();
        assert!(matches!(error, ReadError::TooLarge { size: None, limit: 100 }), "{error}");
        // The kernel reports no size for these files.
        assert!(!read("/proc/self/status".as_ref(), 1 << 16).unwrap().is_empty());
    }
}
