//! Readers of the decision log. Lines that are cut, too long or not valid are skipped and counted.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use checkrein::internal::regular_file;

use super::entry::DecisionEntry;

/// Maximum length of a line, in bytes. No writer writes a longer one.
const MAX_LINE: usize = 64 << 10;

/// Iterator over the lines of the log, the oldest first.
#[derive(Debug)]
pub struct Decisions {
    files: std::vec::IntoIter<BufReader<File>>,
    current: Option<BufReader<File>>,
    /// Number of lines that are not valid.
    pub skipped: u64,
}

impl Decisions {
    /// Opens the current file and the one before it. The current one is opened first: if another process renames it meanwhile, it is
    /// opened twice, and no line between both is lost.
    pub(super) fn open(current: &Path, previous: &Path) -> io::Result<Self> {
        let open = |path: &Path| match regular_file::open_no_link(path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(io::Error::from(error)),
        };
        let current = open(current)?;
        let previous = open(previous)?;
        let is_same = current.as_ref().zip(previous.as_ref()).is_some_and(|(one, other)| is_same_file(one, other));
        let files = [previous.filter(|_| !is_same), current].into_iter().flatten();
        let files: Vec<_> = files.map(|file| BufReader::with_capacity(MAX_LINE, file)).collect();
        Ok(Self { files: files.into_iter(), current: None, skipped: 0 })
    }
}

impl Iterator for Decisions {
    type Item = io::Result<DecisionEntry>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if self.current.is_none() {
                self.current = Some(self.files.next()?);
            }
            let mut line = Vec::new();
            match read_line(self.current.as_mut()?, &mut line) {
                Ok(0) => self.current = None,
                Ok(_) => match serde_json::from_slice(&line) {
                    Ok(entry) => return Some(Ok(entry)),
                    Err(_) => self.skipped += 1,
                },
                Err(error) => {
                    self.current = None;
                    return Some(Err(error));
                }
            }
        }
    }
}

#[cfg(unix)]
fn is_same_file(one: &File, other: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let (Ok(one), Ok(other)) = (one.metadata(), other.metadata()) else { return false };
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Without inode numbers, both files are read.
#[cfg(not(unix))]
fn is_same_file(_: &File, _: &File) -> bool {
    false
}

/// Reads a line. Returns its length with the line break, or 0 at the end. Only the start of a line that is too long is kept.
fn read_line(file: &mut BufReader<File>, line: &mut Vec<u8>) -> io::Result<usize> {
    let mut length = 0;
    loop {
        let part = file.fill_buf()?;
        if part.is_empty() {
            return Ok(length);
        }
        let end = part.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(part.len(), |end| end + 1);
        if line.len() <= MAX_LINE {
            line.extend_from_slice(&part[..end.unwrap_or(part.len())]);
        }
        file.consume(taken);
        length += taken;
        if end.is_some() {
            return Ok(length);
        }
    }
}

/// Follows the log: returns lines as they are written.
#[derive(Debug)]
pub struct Follow {
    path: PathBuf,
    open: Option<(BufReader<File>, u64)>,
    /// `true` until the first poll, which skips the present lines.
    is_new: bool,
}

impl Follow {
    pub(super) fn new(path: &Path) -> Self {
        let mut follow = Self { path: path.to_owned(), open: None, is_new: true };
        let _ = follow.poll();
        follow
    }

    /// Returns the entries since the last call, without waiting.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn poll(&mut self) -> io::Result<Vec<DecisionEntry>> {
        let mut found = Vec::new();
        if let Some((file, offset)) = &mut self.open {
            read_new(file, offset, &mut found)?;
        }
        if !self.is_current() {
            self.open = match regular_file::open_no_link(&self.path) {
                Ok(file) => Some((BufReader::with_capacity(MAX_LINE, file), 0)),
                Err(error) if error.is_missing() => None,
                Err(error) => return Err(error.into()),
            };
            if let Some((file, offset)) = &mut self.open {
                if self.is_new {
                    *offset = file.seek(SeekFrom::End(0))?;
                } else {
                    read_new(file, offset, &mut found)?;
                }
            }
        }
        self.is_new = false;
        Ok(found)
    }

    /// Returns `true` if the path still names the open file.
    fn is_current(&self) -> bool {
        let Some((file, offset)) = &self.open else { return false };
        let (Ok(own), Ok(found)) = (file.get_ref().metadata(), self.path.symlink_metadata()) else { return false };
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            if (own.dev(), own.ino()) != (found.dev(), found.ino()) {
                return false;
            }
        }
        #[cfg(not(unix))]
        let _ = own;
        found.len() >= *offset
    }
}

/// Reads whole lines from the offset on. The start of an unfinished line is read again later.
fn read_new(file: &mut BufReader<File>, offset: &mut u64, found: &mut Vec<DecisionEntry>) -> io::Result<()> {
    file.seek(SeekFrom::Start(*offset))?;
    loop {
        let mut line = Vec::new();
        let length = read_line(file, &mut line)?;
        if length == 0 || length == line.len() {
            return Ok(());
        }
        *offset += length as u64;
        found.extend(serde_json::from_slice(&line).ok());
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::super::DecisionLog;
    use super::*;

    #[test]
    fn invalid_lines_are_counted() {
        let dir = tempfile::tempdir().unwrap();
        let log = DecisionLog::in_state_directory(dir.path());
        log.append(DecisionEntry::start()).unwrap();
        let mut file = std::fs::OpenOptions::new().append(true).open(log.path()).unwrap();
        file.write_all(b"\xff\xfe\n{\"time\":1}\n\n").unwrap();
        file.write_all(&vec![b'['; MAX_LINE * 3]).unwrap();
        file.write_all(b"\n").unwrap();
        drop(file);
        log.append(DecisionEntry::start()).unwrap();
        let mut lines = log.read().unwrap();
        assert_eq!(lines.by_ref().filter(Result::is_ok).count(), 3);
        assert_eq!(lines.skipped, 4);
    }

    #[cfg(unix)]
    #[test]
    fn file_that_is_renamed_meanwhile_is_read_once() {
        let dir = tempfile::tempdir().unwrap();
        let log = DecisionLog::in_state_directory(dir.path());
        log.append(DecisionEntry::start()).unwrap();
        // The state after a rotation between both calls of `open`.
        std::fs::hard_link(log.path(), log.previous()).unwrap();
        assert_eq!(log.read().unwrap().count(), 2);
    }

    #[test]
    fn follow_returns_new_lines_also_after_a_rotation() {
        let dir = tempfile::tempdir().unwrap();
        let log = DecisionLog::in_state_directory(dir.path()).max_size(300);
        let entry = |call: &str| DecisionEntry { call: Some(call.to_owned()), ..DecisionEntry::start() };
        log.append(entry("before")).unwrap();
        let mut follow = log.follow();
        assert!(follow.poll().unwrap().is_empty());
        let mut seen = Vec::new();
        for number in 0..20 {
            log.append(entry(&number.to_string())).unwrap();
            seen.extend(follow.poll().unwrap().into_iter().filter_map(|entry| entry.call));
        }
        assert_eq!(seen, (0..20).map(|number| number.to_string()).collect::<Vec<_>>());
    }
}
