//! Reads recordings, one event after the other.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use checkrein_core::RawJson;

use super::entry::Entry;

/// Longer lines are not read: no event is that large.
const LONGEST: u64 = 64 * 1024 * 1024;

/// A line that is no event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, serde::Serialize, schemars::JsonSchema)]
#[error("{file}:{line}: {why}")]
#[non_exhaustive]
pub struct BadLine {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub why: String,
}

/// The events of a recording. Also reads records as `run --json` prints them, one or a list, over several lines or not.
///
/// # Errors
/// The file cannot be opened.
pub fn read(path: &Path) -> io::Result<Lines> {
    Ok(Lines {
        path: path.to_owned(),
        input: BufReader::new(File::open(path)?),
        line: 0,
        ready: Vec::new(),
        ended: false,
    })
}

/// The events of a recording, in its order. Lines that are none are told, and what follows is read all the same.
#[derive(Debug)]
pub struct Lines {
    path: PathBuf,
    input: BufReader<File>,
    line: u64,
    /// What one text had besides, the last first.
    ready: Vec<Result<Entry, BadLine>>,
    ended: bool,
}

impl Lines {
    fn bad(&self, line: u64, why: impl Into<String>) -> BadLine {
        BadLine { file: self.path.display().to_string(), line, why: why.into() }
    }

    /// The next line without its end; `None` at the end of the file.
    fn next_line(&mut self) -> Result<Option<Vec<u8>>, BadLine> {
        let mut bytes = Vec::new();
        let length = (&mut self.input).take(LONGEST).read_until(b'\n', &mut bytes);
        self.line += 1;
        match length {
            Err(error) => {
                self.ended = true;
                Err(self.bad(self.line, format!("cannot be read: {error}")))
            }
            Ok(0) => Ok(None),
            Ok(_) if bytes.last() == Some(&b'\n') => {
                bytes.pop();
                Ok(Some(bytes))
            }
            Ok(length) if length as u64 == LONGEST => {
                if let Err(error) = self.input.skip_until(b'\n') {
                    return Err(self.bad(self.line, format!("cannot be read: {error}")));
                }
                Err(self.bad(self.line, format!("it is longer than {} MiB", LONGEST / 1024 / 1024)))
            }
            Ok(_) => Ok(Some(bytes)),
        }
    }

    /// What starts in this line: itself, or if it only opens something, all up to the line that closes it.
    fn text(&mut self, first: Vec<u8>) -> Result<Vec<u8>, BadLine> {
        let closing: &[u8] = match first.trim_ascii_end() {
            b"{" => b"}",
            b"[" => b"]",
            _ => return Ok(first),
        };
        let begun = self.line;
        let mut text = first;
        while let Some(line) = self.next_line()? {
            text.push(b'\n');
            text.extend_from_slice(&line);
            if line.trim_ascii_end() == closing {
                return Ok(text);
            }
            if text.len() as u64 > LONGEST {
                return Err(self.bad(begun, format!("it is longer than {} MiB", LONGEST / 1024 / 1024)));
            }
        }
        Err(self.bad(begun, "what starts here has no end"))
    }

    fn read(&mut self, line: u64, text: &[u8]) -> Result<Entry, BadLine> {
        let json = RawJson::parse_bytes(text).map_err(|error| self.bad(line, format!("it is no JSON: {error}")))?;
        let Some(items) = json.items() else {
            return Entry::of_json(line, &json).map_err(|why| self.bad(line, why));
        };
        let all: Vec<_> = items
            .map(|item| RawJson::parse(item).map_err(|error| error.to_string()))
            .map(|item| item.and_then(|json| Entry::of_json(line, &json)).map_err(|why| self.bad(line, why)))
            .collect();
        self.ready = all.into_iter().rev().collect();
        self.ready.pop().unwrap_or_else(|| Err(self.bad(line, "the list is empty")))
    }
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
