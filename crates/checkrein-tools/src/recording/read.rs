//! Reader of recordings, one entry at a time.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use checkrein::internal::regular_file;
use checkrein_core::RawJson;

use super::entry::Entry;

/// Longest entry, in bytes.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum rest of a longer line that is skipped, in bytes.
const MAX_SKIPPED: u64 = 4 * MAX_BYTES;

/// Line without a valid entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, serde::Serialize, schemars::JsonSchema)]
#[error("{file}:{line}: {why}")]
#[non_exhaustive]
pub struct BadLine {
    /// File.
    pub file: String,
    /// Line, from 1.
    pub line: u64,
    /// Problem.
    pub why: String,
}

/// Opens a recording. Also accepts the output of `run --json`: one record or a list, on one or several lines.
///
/// # Errors
/// The file cannot be opened.
pub fn read(path: &Path) -> io::Result<Lines> {
    Ok(Lines {
        path: path.to_owned(),
        input: BufReader::new(regular_file::open_argument(path)?),
        line: 0,
        ready: Vec::new(),
        ended: false,
    })
}

/// Entries of a recording, in order. An invalid line yields an error, and reading continues with the next line.
#[derive(Debug)]
pub struct Lines {
    path: PathBuf,
    input: BufReader<File>,
    line: u64,
    /// Remaining entries of a list, in reverse order.
    ready: Vec<Result<Entry, BadLine>>,
    ended: bool,
}

impl Lines {
    fn bad(&self, line: u64, why: impl Into<String>) -> BadLine {
        BadLine { file: self.path.display().to_string(), line, why: why.into() }
    }

    /// Next line without its line break. `None` at the end of the file.
    fn next_line(&mut self) -> Result<Option<Vec<u8>>, BadLine> {
        let mut bytes = Vec::new();
        let length = (&mut self.input).take(MAX_BYTES).read_until(b'\n', &mut bytes);
        self.line += 1;
        match length {
            Err(error) => {
                self.ended = true;
                Err(self.bad(self.line, format!("cannot read the line: {error}")))
            }
            Ok(0) => Ok(None),
            Ok(_) if bytes.last() == Some(&b'\n') => {
                bytes.pop();
                Ok(Some(bytes))
            }
            Ok(length) if length as u64 == MAX_BYTES => {
                let skipped = (&mut self.input).take(MAX_SKIPPED).skip_until(b'\n');
                // A file without line breaks is no recording.
                self.ended = !skipped.is_ok_and(|skipped| (skipped as u64) < MAX_SKIPPED);
                Err(self.bad(self.line, too_long()))
            }
            Ok(_) => Ok(Some(bytes)),
        }
    }

    /// Text of the entry that starts with this line: the line itself, or all lines up to the closing bracket.
    fn text(&mut self, first: Vec<u8>) -> Result<Vec<u8>, BadLine> {
        let closing: &[u8] = match first.trim_ascii_end() {
            b"{" => b"}",
            b"[" => b"]",
            _ => return Ok(first),
        };
        let start = self.line;
        let mut text = first;
        while let Some(line) = self.next_line()? {
            text.push(b'\n');
            text.extend_from_slice(&line);
            if line.trim_ascii_end() == closing {
                return Ok(text);
            }
            if text.len() as u64 > MAX_BYTES {
                return Err(self.bad(start, too_long()));
            }
        }
        Err(self.bad(start, "the closing bracket is missing"))
    }

    fn read(&mut self, line: u64, text: &[u8]) -> Result<Entry, BadLine> {
        let json = RawJson::parse_bytes(text).map_err(|error| self.bad(line, format!("invalid JSON: {error}")))?;
        let Some(items) = json.items() else {
            return Entry::from_json(line, &json).map_err(|why| self.bad(line, why));
        };
        let all: Vec<_> = items
            .map(|item| RawJson::parse(item).map_err(|error| error.to_string()))
            .map(|item| item.and_then(|json| Entry::from_json(line, &json)).map_err(|why| self.bad(line, why)))
            .collect();
        self.ready = all.into_iter().rev().collect();
        self.ready.pop().unwrap_or_else(|| Err(self.bad(line, "the list is empty")))
    }
}

fn too_long() -> String {
    format!("the entry is longer than {} MiB", MAX_BYTES / 1024 / 1024)
}

impl Iterator for Lines {
    type Item = Result<Entry, BadLine>;

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(ready) = self.ready.pop() {
            return Some(ready);
        }
        while !self.ended {
            let first = match self.next_line() {
                Ok(Some(line)) => line,
                Ok(None) => return None,
                Err(bad) => return Some(Err(bad)),
            };
            if first.trim_ascii().is_empty() {
                continue;
            }
            let line = self.line;
            return Some(self.text(first).and_then(|text| self.read(line, &text)));
        }
        None
    }
}
