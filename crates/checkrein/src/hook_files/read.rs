//! Reads one hook file, and turns errors of the reader into diagnostics.

use std::path::Path;

use checkrein_dialects::config::{Diagnostic, Location, Severity};
use checkrein_document::{LineIndex, MAX_SIZE, Span};

use super::FileStatus;
use crate::regular_file;

/// Error of reading a file.
pub(super) struct ReadError {
    pub(super) status: FileStatus,
    pub(super) why: Box<Diagnostic>,
}

/// Reads the text of a file into a buffer. `is_regular`: the caller knows that it is a regular file.
pub(super) fn read<'b>(path: &Path, is_regular: bool, buffer: &'b mut Vec<u8>) -> Result<&'b str, ReadError> {
    let failed = |error: &regular_file::ReadError, location: Option<Location>| {
        let status = match error {
            regular_file::ReadError::TooLarge { .. } => FileStatus::TooLarge,
            _ => FileStatus::Unreadable,
        };
        let file = path.display().to_string();
        let why = Diagnostic::of_file(Severity::Error, error.code(), file, error.to_string());
        ReadError { status, why: Box::new(location.into_iter().fold(why, Diagnostic::at)) }
    };
    regular_file::read_into(path, is_regular, MAX_SIZE as u64, buffer).map_err(|error| failed(&error, None))?;
    std::str::from_utf8(buffer).map_err(|error| {
        let valid = error.valid_up_to();
        let text = String::from_utf8_lossy(buffer);
        let offset = u32::try_from(valid).unwrap_or(u32::MAX);
        let location = Location::of(&LineIndex::new(&text), Span { start: offset, end: offset });
        failed(&regular_file::ReadError::NotText(valid), Some(location))
    })
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
