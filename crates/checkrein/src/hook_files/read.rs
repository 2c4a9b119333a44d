//! Reads one file, up to a size limit. It never blocks on a pipe or a device.

use std::fs::{File, FileType, Metadata};
use std::io::{self, Read};
use std::path::Path;

use checkrein_dialects::config::{Diagnostic, Location, Severity};
use checkrein_document::{LineIndex, MAX_SIZE, Span};

use super::FileStatus;

/// Error of reading a file.
pub(super) struct ReadError {
    pub(super) status: FileStatus,
    pub(super) why: Box<Diagnostic>,
}

impl ReadError {
    fn new(status: FileStatus, why: Diagnostic) -> Self {
        Self { status, why: Box::new(why) }
    }
}

/// Reads the text of a file into a buffer. `is_regular`: the caller knows that it is a regular file.
pub(super) fn read<'b>(path: &Path, is_regular: bool, buffer: &'b mut Vec<u8>) -> Result<&'b str, ReadError> {
    let name = path.display().to_string();
    let unreadable = |code, text: String| {
        ReadError::new(FileStatus::Unreadable, Diagnostic::of_file(Severity::Error, code, &name, text))
    };
    let too_large = |size: String| {
        let text = format!("the file has {size} bytes; the limit is {MAX_SIZE}");
        ReadError::new(FileStatus::TooLarge, Diagnostic::of_file(Severity::Error, "too-large", &name, text))
    };
    let failed = |error: &io::Error| {
        let (code, text) = describe(path, error);
        unreadable(code, text)
    };
    let check = |metadata: &Metadata| match metadata {
        // A read from a pipe waits for a writer, and a read from a device may have side effects.
        other if !other.is_file() => {
            let text = format!("this is {}, not a file", type_name(other.file_type()));
            Err(unreadable("not-a-file", text))
        }
        large if large.len() > MAX_SIZE as u64 => Err(too_large(large.len().to_string())),
        _ => Ok(()),
    };
    if !is_regular {
        check(&path.metadata().map_err(|error| failed(&error))?)?;
    }
    let mut file = open(path).map_err(|error| failed(&error))?;
    // The path may lead to another file since the first check.
    let metadata = file.metadata().map_err(|error| failed(&error))?;
    check(&metadata)?;
    fill(&mut file, usize::try_from(metadata.len()).unwrap_or(MAX_SIZE), buffer).map_err(|error| failed(&error))?;
    if buffer.len() > MAX_SIZE {
        return Err(too_large(format!("more than {MAX_SIZE}")));
    }
    std::str::from_utf8(buffer).map_err(|error| {
        let good = error.valid_up_to();
        let text = String::from_utf8_lossy(buffer);
        let offset = u32::try_from(good).unwrap_or(u32::MAX);
        let location = Location::of(&LineIndex::new(&text), Span { start: offset, end: offset });
        let text = format!("the file is not valid UTF-8 (byte {good})");
        ReadError::new(
            FileStatus::Unreadable,
            Diagnostic::of_file(Severity::Error, "not-utf8", &name, text).at(location),
        )
    })
}

/// Reads a file of about this size, up to a little more than the limit.
fn fill(file: &mut File, size: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
    // One byte more, to detect a file that has grown since.
    let capacity = size.min(MAX_SIZE) + 1;
    if buffer.len() < capacity {
        buffer.resize(capacity.next_multiple_of(4096), 0);
    }
    let mut filled = 0;
    loop {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if filled == size {
            break;
        }
        if filled == buffer.len() {
            if filled > MAX_SIZE {
                break;
            }
            buffer.resize(filled * 2, 0);
        }
    }
    buffer.truncate(filled);
    Ok(())
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};

    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(rustix::io::retry_on_intr(|| rustix::fs::open(path, flags, Mode::empty()))?.into())
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// `true` if a file may be executed.
#[cfg(unix)]
pub(super) fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|file| file.permissions().mode() & 0o111 != 0)
}

/// Always `true`: on other systems the file name decides.
#[cfg(not(unix))]
pub(super) fn is_executable(_: &Path) -> bool {
    true
}

fn type_name(file: FileType) -> &'static str {
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
    if file.is_dir() { "a directory" } else { "a special file" }
}

/// Returns a code and a text for an error.
fn describe(path: &Path, error: &io::Error) -> (&'static str, String) {
    if is_loop(error) {
        return ("link-loop", "the symbolic link is part of a loop".to_owned());
    }
    match error.kind() {
        io::ErrorKind::PermissionDenied => ("no-permission", "no permission to read the file".to_owned()),
        io::ErrorKind::NotFound if path.is_symlink() => {
            ("dead-link", "the symbolic link points to a file that does not exist".to_owned())
        }
        _ => ("io-error", format!("the file cannot be read: {error}")),
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
