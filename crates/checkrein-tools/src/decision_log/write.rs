//! [`DecisionLog`]: appends lines, and starts a new file when the current one is full.
//!
//! Each line is one write to a file that is open for appending, so lines of several processes do not mix. Nothing waits for the disk.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use checkrein::internal::line_file;

use super::entry::{Answered, DecisionEntry};
use super::read::{Decisions, Follow};
use super::time::now;

/// Name of the current file in the state directory.
const NAME: &str = "decisions.jsonl";

/// Name of the file before it.
const PREVIOUS: &str = "decisions.1.jsonl";

/// Size at which a file is full, in bytes.
const MAX_SIZE: u64 = 4 << 20;

/// Longest wait for another process that starts a new file.
const ROTATION_WAIT: Duration = Duration::from_millis(20);

/// The decision log of a user. No file is opened before the first line.
#[derive(Debug, Clone)]
pub struct DecisionLog {
    path: PathBuf,
    max_size: u64,
}

impl DecisionLog {
    /// Log in the user's state directory.
    pub fn in_state_directory(directory: &Path) -> Self {
        Self { path: directory.join(NAME), max_size: MAX_SIZE }
    }

    /// Sets the size at which a file is full, in bytes.
    #[must_use]
    pub fn max_size(mut self, bytes: u64) -> Self {
        self.max_size = bytes;
        self
    }

    /// The file that receives new lines.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file with the lines before those of [`path`](Self::path).
    pub fn previous(&self) -> PathBuf {
        self.path.with_file_name(PREVIOUS)
    }

    /// Reads all lines, the oldest first.
    ///
    /// # Errors
    /// A file exists and cannot be read.
    pub fn read(&self) -> io::Result<Decisions> {
        Decisions::open(&self.path, &self.previous())
    }

    /// Follows the log from its end.
    pub fn follow(&self) -> Follow {
        Follow::new(&self.path)
    }

    /// Appends the line of an answer, and returns it, also if it could not be written. `None`: the event does not belong in the log.
    pub(crate) fn append_answer(&self, answered: &Answered<'_>, project: Option<String>) -> Option<String> {
        if !answered.is_logged() {
            return None;
        }
        let mut entry = answered.entry(project);
        entry.time = now();
        let line = entry.line();
        // The answer is more important than the log.
        let _ = self.append_line(&line, entry.time);
        Some(line)
    }

    /// Appends an entry. Sets its time.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn append(&self, mut entry: DecisionEntry) -> io::Result<()> {
        entry.time = now();
        let line = entry.line();
        self.append_line(&line, entry.time)
    }

    fn append_line(&self, line: &str, time: String) -> io::Result<()> {
        let (mut file, mut length) = line_file::open_with_size(&self.path)?;
        if length > 0 && length.saturating_add(line.len() as u64) > self.max_size {
            file = self.rotate(file)?;
            length = file.metadata()?.len();
        }
        if length == 0 && !self.previous().exists() {
            let mut start = DecisionEntry::start();
            start.time = time;
            return file.write_all((start.line() + line).as_bytes());
        }
        file.write_all(line.as_bytes())
    }

    /// Starts a new file. Another process may have done that since `full` was opened.
    fn rotate(&self, full: File) -> io::Result<File> {
        if line_file::lock(&full, ROTATION_WAIT).is_err() {
            return Ok(full);
        }
        if is_same_file(&full, &self.path) {
            fs::rename(&self.path, self.previous())?;
        }
        line_file::open(&self.path)
    }
}

/// Returns `true` if the path still names the open file.
#[cfg(unix)]
fn is_same_file(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let (Ok(own), Ok(found)) = (file.metadata(), path.symlink_metadata()) else { return false };
    (own.dev(), own.ino()) == (found.dev(), found.ino())
}

/// Without inode numbers, a file that was just replaced is recognized by its size.
#[cfg(not(unix))]
fn is_same_file(file: &File, path: &Path) -> bool {
    let (Ok(own), Ok(found)) = (file.metadata(), path.symlink_metadata()) else { return false };
    own.len() == found.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision_log::EntryKind;

    fn entry(call: &str) -> DecisionEntry {
        DecisionEntry { kind: EntryKind::Event, call: Some(call.to_owned()), ..DecisionEntry::start() }
    }

    #[test]
    fn log_has_a_start_and_at_most_two_files() {
        let dir = tempfile::tempdir().unwrap();
        let state = dir.path().join("state");
        let log = DecisionLog::in_state_directory(&state).max_size(600);
        log.append(entry("first")).unwrap();
        let first: Vec<_> = log.read().unwrap().map(Result::unwrap).collect();
        assert_eq!(first.iter().map(|entry| entry.kind).collect::<Vec<_>>(), [EntryKind::Start, EntryKind::Event]);
        for number in 0..100 {
            log.append(entry(&number.to_string())).unwrap();
        }
        let files: Vec<_> = fs::read_dir(&state).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert_eq!(files.len(), 2, "{files:?}");
        let calls: Vec<_> = log.read().unwrap().map(|entry| entry.unwrap().call.unwrap()).collect();
        assert_eq!(calls.last().map(String::as_str), Some("99"));
        let numbers: Vec<u32> = calls.iter().map(|call| call.parse().unwrap()).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{numbers:?}");
        for file in files {
            assert!(state.join(&file).metadata().unwrap().len() <= 600, "{file:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn files_are_private_and_links_are_not_followed() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let log = DecisionLog::in_state_directory(dir.path());
        log.append(entry("a")).unwrap();
        assert_eq!(log.path().metadata().unwrap().permissions().mode() & 0o777, 0o600);
        fs::remove_file(log.path()).unwrap();
        std::os::unix::fs::symlink(dir.path().join("elsewhere"), log.path()).unwrap();
        assert!(log.append(entry("a")).is_err());
        assert!(!dir.path().join("elsewhere").exists());
    }

    #[test]
    fn parallel_writers_lose_and_mix_no_lines() {
        let dir = tempfile::tempdir().unwrap();
        // Two files of this size hold all lines, so a lost file is noticed.
        let log = DecisionLog::in_state_directory(dir.path()).max_size(60_000);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let log = log.clone();
                scope.spawn(move || (0..50).for_each(|n| log.append(entry(&format!("{thread}-{n}"))).unwrap()));
            }
        });
        let calls: std::collections::BTreeSet<_> =
            log.read().unwrap().filter_map(|entry| entry.unwrap().call).collect();
        assert_eq!(calls.len(), 400);
    }
}
