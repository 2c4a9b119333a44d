//! Lines as they are written.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::files::{LogLine, LogLines, line};

/// Follows a log: gives each line once, also when a full file is put away meanwhile. Made by
/// [`AuditLog::follow`](super::AuditLog::follow).
#[derive(Debug)]
pub struct Follow {
    log: PathBuf,
    /// The number of the last line that was given.
    last: u64,
    /// The file that is written to, and up to where it was read. `None`: it must be looked for anew.
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

    /// What was written since the last call. Comes back at once; nothing is also an answer.
    ///
    /// # Errors
    /// A file cannot be read. The next call begins anew behind the last line that was given.
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
        let is_same = self.open.as_ref().map(|open| open.is_still(&self.log)).transpose()?.unwrap_or(false);
        if !is_same {
            // Full files may have been put away, more than one of them. What comes between this and the first read of the new
            // file has numbers of its own.
            self.open = Open::new(&self.log)?;
            for line in LogLines::of(&self.log)? {
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
        match File::open(log) {
            Ok(file) => Ok(Some(Self { text: BufReader::new(file), offset: 0, lines: 0 })),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads whole lines; one that is being written is left for the next time.
    fn read(&mut self, log: &Path, found: &mut Vec<LogLine>) -> io::Result<()> {
        self.text.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        loop {
            bytes.clear();
            let length = self.text.read_until(b'\n', &mut bytes)?;
            if bytes.pop() != Some(b'\n') {
                return Ok(());
            }
            self.offset += length as u64;
            self.lines += 1;
            found.extend(line(log, self.lines, &bytes));
        }
    }

    /// Whether it is what the log's name stands for, and nobody has cut it.
    fn is_still(&self, log: &Path) -> io::Result<bool> {
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
        // Elsewhere a new file is shorter than the one that was full.
        #[cfg(not(unix))]
        let same = own.created().ok() == named.created().ok();
        Ok(same && named.len() >= self.offset)
    }
}
