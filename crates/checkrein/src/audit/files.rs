//! The files of a log: the one that is written to, and those that were full.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use checkrein_core::RawJson;

use super::chain_head::{self, Head};
use super::entry::AuditEntry;
use super::hash_chain;

/// The file that a log becomes when it is full: its name, and the number of its last line.
pub(super) fn full(log: &Path, last: u64) -> PathBuf {
    let mut name = log.as_os_str().to_owned();
    name.push(format!(".{last:012}"));
    PathBuf::from(name)
}

/// The files that were full, the oldest first.
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

/// A file of a log as it was at a moment. What is appended later is not read.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) path: PathBuf,
    pub(super) text: Text,
}

/// All files of a log as they are at one moment, the oldest first, and its head.
pub(super) fn all(log: &Path) -> io::Result<(Option<Head>, Vec<Opened>)> {
    chain_head::while_nobody_writes(log, || {
        let mut paths = all_full(log)?;
        if log.exists() {
            paths.push(log.to_owned());
        }
        let open = |path: PathBuf| {
            let file = File::open(&path)?;
            let length = file.metadata()?.len();
            Ok(Opened { path, text: BufReader::new(file.take(length)) })
        };
        paths.into_iter().map(open).collect()
    })
}

/// A line of a log.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LogLine {
    /// The file that it stands in.
    pub file: PathBuf,
    /// The line of the file, from 1.
    pub line: u64,
    /// Its place in the chain, as it says.
    pub head: Head,
    /// What it says.
    pub entry: AuditEntry,
    /// All of it, as it stands there.
    pub text: RawJson,
}

/// One line after the other, over all files. What is no line of a log is passed over; `verify` tells of that.
#[derive(Debug)]
pub struct LogLines {
    files: std::vec::IntoIter<Opened>,
    open: Option<(PathBuf, u64, io::Split<Text>)>,
}

impl LogLines {
    pub(super) fn of(log: &Path) -> io::Result<Self> {
        Ok(Self { files: all(log)?.1.into_iter(), open: None })
    }
}

impl Iterator for LogLines {
    type Item = io::Result<LogLine>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.open.is_none() {
                let Opened { path, text } = self.files.next()?;
                self.open = Some((path, 0, text.split(b'\n')));
            }
            let (path, at, lines) = self.open.as_mut()?;
            *at += 1;
            match lines.next() {
                Some(Ok(bytes)) => {
                    if let Some(line) = line(path, *at, &bytes) {
                        return Some(Ok(line));
                    }
                }
                Some(Err(error)) => {
                    self.open = None;
                    return Some(Err(error));
                }
                None => self.open = None,
            }
        }
    }
}

pub(super) fn line(path: &Path, line: u64, bytes: &[u8]) -> Option<LogLine> {
    let head = hash_chain::end(bytes)?;
    let text = RawJson::parse_bytes(bytes).ok()?;
    let entry = text.read().ok()?;
    Some(LogLine { file: path.to_owned(), line, head, entry, text })
}
