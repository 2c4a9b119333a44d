//! Follows a log: returns new entries as they are written.

use std::fs::File;
use std::io::{self, BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::files::{LogLine, LogLines, line, read_line};
use crate::regular_file;

/// Follows a log. Returns each entry once, also if a full file is renamed in between. Created by
/// [`AuditLog::follow`](super::AuditLog::follow).
#[derive(Debug)]
pub struct Follow {
    log: PathBuf,
    /// Number of the last returned entry.
    last: u64,
    /// The current file and the read position. `None` if it must be opened again.
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    text: BufReader<File>,
    offset: u64,
    lines: u64,
}

impl Follow {
    pub(super) fn new(log: &Path, after: u64) -> Self {
        Self { log: log.to_owned(), last: after, open: None }
    }

    /// Returns the entries since the last call, without waiting. The result may be empty.
    ///
    /// # Errors
    /// Fails if a file cannot be read. The next call continues after the last returned entry.
    pub fn poll(&mut self) -> io::Result<Vec<LogLine>> {
        let found = self.new_lines();
        if found.is_err() {
            self.open = None;
        }
        found
    }

    fn new_lines(&mut self) -> io::Result<Vec<LogLine>> {
        let mut found = Vec::new();
        if let Some(open) = &mut self.open {
            open.read(&self.log, &mut found)?;
        }
        let is_current = match &self.open {
            Some(open) => open.is_current(&self.log)?,
            None => false,
        };
        if !is_current {
            // One or more full files may have been renamed. Entries that are read twice are removed by their numbers.
            self.open = Open::new(&self.log)?;
            for line in LogLines::open(&self.log)? {
                found.push(line?);
            }
        }
        found.retain(|line| {
            let is_new = line.head.seq > self.last;
            self.last = self.last.max(line.head.seq);
            is_new
        });
        Ok(found)
    }
}

impl Open {
    fn new(log: &Path) -> io::Result<Option<Self>> {
        match regular_file::open(log) {
            Ok(file) => Ok(Some(Self { text: BufReader::new(file), offset: 0, lines: 0 })),
            Err(error) if error.is_missing() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads complete lines. A partial line is left for the next call.
    fn read(&mut self, log: &Path, found: &mut Vec<LogLine>) -> io::Result<()> {
        self.text.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            let length = read_line(&mut self.text, &mut bytes)?;
            if bytes.pop() != Some(b'\n') {
                return Ok(());
            }
            self.offset += length as u64;
            self.lines += 1;
            found.extend(line(log, self.lines, &bytes));
        }
    }

    /// `true` if this is still the log's current file and it was not shortened.
    fn is_current(&self, log: &Path) -> io::Result<bool> {
        let own = self.text.get_ref().metadata()?;
        let named = match log.metadata() {
            Ok(named) => named,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(error),
        };
        #[cfg(unix)]
        let same = {
            use std::os::unix::fs::MetadataExt as _;
            (own.dev(), own.ino()) == (named.dev(), named.ino())
        };
        // Other systems have no inode. A new file has another creation time.
        #[cfg(not(unix))]
        let same = own.created().ok() == named.created().ok();
        Ok(same && named.len() >= self.offset)
    }
}
