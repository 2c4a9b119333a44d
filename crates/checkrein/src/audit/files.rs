//! Files of a log: the current one and the full ones, and the iteration over their entries.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use checkrein_core::RawJson;

use super::chain_head::{self, Head};
use super::entry::AuditEntry;
use super::hash_chain;
use crate::regular_file;

/// Maximum length of a line, in bytes. A longer one is an error: no writer writes it.
pub(super) const MAX_LINE: u64 = 256 * 1024 * 1024;

/// Returns the name of a full file: the name of the log and the number of the file's last entry.
pub(super) fn full(log: &Path, last: u64) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(format!(".{last:012}"));
    PathBuf::from(name)
}

/// Returns the full files, the oldest first.
pub(super) fn all_full(log: &Path) -> io::Result<Vec<PathBuf>> {
    let (Some(directory), Some(name)) = (log.parent(), log.file_name()) else { return Ok(Vec::new()) };
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let file = entry?.file_name();
        let rest = file.as_encoded_bytes().strip_prefix(name.as_encoded_bytes());
        let number = rest.and_then(|rest| std::str::from_utf8(rest.strip_prefix(b".")?).ok()?.parse::<u64>().ok());
        if let Some(number) = number {
            found.push((number, directory.join(file)));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, path)| path).collect())
}

type Text = BufReader<io::Take<File>>;

/// An open file of a log, limited to its length at that time. Later entries are not read.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) path: PathBuf,
    pub(super) text: Text,
}

/// Opens all files of a log, the oldest first, and reads its head. No writer changes them in between.
pub(super) fn all(log: &Path) -> io::Result<(Option<Head>, Vec<Opened>)> {
    chain_head::with_shared_lock(log, || {
        let mut paths = all_full(log)?;
        if log.symlink_metadata().is_ok() {
            paths.push(log.to_owned());
        }
        let open = |path: PathBuf| {
            let file = regular_file::open(&path)?;
            let length = file.metadata()?.len();
            Ok(Opened { path, text: BufReader::new(file.take(length)) })
        };
        paths.into_iter().map(open).collect()
    })
}

/// An entry of a log with its position.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LogLine {
    /// The file of the entry.
    pub file: PathBuf,
    /// Line number in the file, from 1.
    pub line: u64,
    /// Position in the chain, as the entry states it.
    pub head: Head,
    /// The entry.
    pub entry: AuditEntry,
    /// The whole line as JSON.
    pub text: RawJson,
}

/// Iterator over the entries of all files. Invalid lines are skipped; `verify` reports them.
#[derive(Debug)]
pub struct LogLines {
    files: std::vec::IntoIter<Opened>,
    open: Option<(PathBuf, u64, Text)>,
}

impl LogLines {
    pub(super) fn open(log: &Path) -> io::Result<Self> {
        Ok(Self { files: all(log)?.1.into_iter(), open: None })
    }
}

impl Iterator for LogLines {
    type Item = io::Result<LogLine>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.open.is_none() {
                let Opened { path, text } = self.files.next()?;
                self.open = Some((path, 0, text));
            }
            let (path, number, text) = self.open.as_mut()?;
            *number += 1;
            let mut bytes = Vec::new();
            match read_line(text, &mut bytes) {
                Ok(0) => self.open = None,
                Ok(_) => {
                    bytes.pop_if(|last| *last == b'\n');
                    if let Some(line) = line(path, *number, &bytes) {
                        return Some(Ok(line));
                    }
                }
                Err(error) => {
                    self.open = None;
                    return Some(Err(error));
                }
            }
        }
    }
}

/// Reads a line with its line break. Returns its length, or 0 at the end.
pub(super) fn read_line(text: &mut impl BufRead, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let length = text.take(MAX_LINE + 1).read_until(b'\n', bytes)?;
    if length as u64 > MAX_LINE { Err(too_long()) } else { Ok(length) }
}

pub(super) fn too_long() -> io::Error {
    let text = format!("a line has more than {MAX_LINE} bytes, so this is no audit log; move the file away");
    io::Error::new(io::ErrorKind::FileTooLarge, text)
}

pub(super) fn line(path: &Path, line: u64, bytes: &[u8]) -> Option<LogLine> {
    let head = hash_chain::end(bytes)?;
    let text = RawJson::parse_bytes(bytes).ok()?;
    let entry = text.read().ok()?;
    Some(LogLine { file: path.to_owned(), line, head, entry, text })
}
