//! Looks whether a log is as it was written.

use std::io::{self, BufRead as _};
use std::path::Path;

use serde::Serialize;

use super::chain_head::Head;
use super::entry::{AuditEntry, EntryKind};
use super::{files, hash_chain};

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Verification {
    /// How many files there are.
    pub files: usize,
    /// How many lines are as they were written.
    pub lines: u64,
    /// The last line, to be kept elsewhere.
    pub last: Option<Head>,
    /// Lines that were cut because their writer was ended. No sign of a hand.
    pub cuts: Vec<Finding>,
    /// What is not as it was written.
    pub findings: Vec<Finding>,
}

/// Something that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Finding {
    /// What it is.
    pub kind: FindingKind,
    /// The file.
    pub file: String,
    /// The line of the file, from 1.
    pub line: u64,
    /// In words.
    pub text: String,
}

/// What can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FindingKind {
    /// A line was cut because its writer was ended.
    Cut,
    /// A line is not what was written, or was put in.
    Altered,
    /// Lines are missing.
    Removed,
    /// A line stands where it does not belong.
    Reordered,
    /// Lines are missing at the end.
    Truncated,
    /// The head is missing, or is that of another log.
    Head,
    /// A writer had found that the log was not as it was left.
    Broken,
    /// The line that was kept elsewhere is not there, or another.
    NotExpected,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.text)
    }
}

impl Verification {
    /// Whether all is as it was written, but for lines that were cut.
    pub fn is_fine(&self) -> bool {
        self.findings.is_empty()
    }
}

/// Bytes that are no line of a log. A note behind them may say that they were cut.
struct CorruptRange {
    line: u64,
    bytes: u64,
    sha256: String,
}

struct LogWalker<'a> {
    found: Verification,
    file: String,
    line: u64,
    before: Head,
    torn: Option<CorruptRange>,
    expected: Option<&'a Head>,
    head: Option<Head>,
    /// The hash that the line with the head's number has.
    at_head: Option<String>,
    at_expected: Option<String>,
}

pub(super) fn verify(log: &Path, expected: Option<&Head>) -> io::Result<Verification> {
    let (head, opened) = files::all(log)?;
    let mut walk = LogWalker {
        found: Verification { files: opened.len(), ..Verification::default() },
        file: log.display().to_string(),
        line: 0,
        before: Head::start(),
        torn: None,
        expected,
        head,
        at_head: None,
        at_expected: None,
    };
    for file in opened {
        walk.file = file.path.display().to_string();
        let is_last = file.path == log;
        walk.file(file, is_last)?;
    }
    walk.end();
    Ok(walk.found)
}

impl LogWalker<'_> {
    fn file(&mut self, file: files::Opened, is_last: bool) -> io::Result<()> {
        let mut input = file.text;
        self.line = 0;
        loop {
            let mut bytes = Vec::new();
            if input.read_until(b'\n', &mut bytes)? == 0 {
                break;
            }
            self.line += 1;
            if bytes.pop_if(|last| *last == b'\n').is_some() {
                self.line(&bytes);
            } else if is_last {
                // Nobody has written since.
                self.not_noted();
                if let Some(place) = hash_chain::unseal(&bytes).filter(|place| place.holds) {
                    self.whole(&place, &bytes);
                }
                let text = format!("the last line was cut: {} bytes are left of it", bytes.len());
                let cut = self.finding(FindingKind::Cut, self.line, text);
                self.found.cuts.push(cut);
            } else {
                self.line(&bytes);
            }
        }
        // A note stands in the same file.
        self.not_noted();
        Ok(())
    }

    fn finding(&self, kind: FindingKind, line: u64, text: impl Into<String>) -> Finding {
        Finding { kind, file: self.file.clone(), line, text: text.into() }
    }

    fn tell(&mut self, kind: FindingKind, text: impl Into<String>) {
        let finding = self.finding(kind, self.line, text);
        self.found.findings.push(finding);
    }

    fn line(&mut self, bytes: &[u8]) {
        match hash_chain::unseal(bytes) {
            Some(place) if place.holds => self.whole(&place, bytes),
            Some(place) => {
                self.not_noted();
                self.tell(FindingKind::Altered, format!("line {} is not what was written", place.own.seq));
                // So that what follows is judged by itself.
                if place.own.seq == self.before.seq + 1 {
                    self.before = place.own;
                }
            }
            None => {
                self.not_noted();
                let (bytes, sha256) = (bytes.len() as u64, crate::hash::sha256_hex(bytes));
                self.torn = Some(CorruptRange { line: self.line, bytes, sha256 });
            }
        }
    }

    /// What was torn before, and nobody has noted.
    fn not_noted(&mut self) {
        if let Some(torn) = self.torn.take() {
            let text = "this is no line of the log, and no writer has noted that it was cut";
            let finding = self.finding(FindingKind::Altered, torn.line, text);
            self.found.findings.push(finding);
        }
    }

    /// A line whose hash is right.
    fn whole(&mut self, place: &hash_chain::ChainPosition, bytes: &[u8]) {
        let (own, before) = (&place.own, self.before.clone());
        if own.seq > before.seq + 1 {
            let text = match own.seq - before.seq {
                2 => format!("line {} is missing", before.seq + 1),
                _ => format!("lines {} to {} are missing", before.seq + 1, own.seq - 1),
            };
            self.tell(FindingKind::Removed, text);
        } else if own.seq <= before.seq {
            self.tell(FindingKind::Reordered, format!("line {} stands behind line {}", own.seq, before.seq));
        } else if place.prev != before.hash {
            self.tell(FindingKind::Altered, format!("line {} follows another line {}", own.seq, before.seq));
        }
        self.noted(bytes);
        self.found.lines += 1;
        if self.head.as_ref().is_some_and(|head| head.seq == own.seq) {
            self.at_head = Some(own.hash.clone());
        }
        if self.expected.is_some_and(|expected| expected.seq == own.seq) {
            self.at_expected = Some(own.hash.clone());
        }
        // One that was put back is not where the chain goes on.
        if own.seq > before.seq {
            self.before = own.clone();
        }
    }

    /// What a note says about what stands before it.
    fn noted(&mut self, bytes: &[u8]) {
        let is_note = |word: &str| {
            let word = format!(",\"kind\":\"{word}\",");
            bytes.windows(word.len()).take(128).any(|window| window == word.as_bytes())
        };
        if !is_note("cut") && !is_note("broken") {
            return self.not_noted();
        }
        let entry = std::str::from_utf8(bytes).ok().and_then(|text| text.parse::<checkrein_core::RawJson>().ok());
        let Some(entry) = entry.and_then(|json| json.read::<AuditEntry>().ok()) else { return self.not_noted() };
        match entry.kind {
            EntryKind::Cut => match self.torn.take() {
                Some(torn) if Some(torn.bytes) == entry.bytes && entry.sha256.as_ref() == Some(&torn.sha256) => {
                    let text = format!("a line was cut: {} bytes are left of it", torn.bytes);
                    let cut = self.finding(FindingKind::Cut, torn.line, text);
                    self.found.cuts.push(cut);
                }
                other => {
                    self.torn = other;
                    self.tell(FindingKind::Altered, "what was left of a line that had been cut is not what it was");
                    self.torn = None;
                }
            },
            EntryKind::Broken => {
                let why = entry.reason.unwrap_or_default();
                self.tell(FindingKind::Broken, format!("when this was written, {why}"));
            }
            _ => self.not_noted(),
        }
    }

    fn end(&mut self) {
        let last = self.before.clone();
        self.found.last = (last.seq > 0).then(|| last.clone());
        match self.head.take() {
            None if last.seq == 0 => {}
            None => self.tell(FindingKind::Head, "its head is missing, so lines may be missing at the end"),
            Some(head) if head.seq > last.seq => {
                let text = format!("it ends with line {}, but line {} was written", last.seq, head.seq);
                self.tell(FindingKind::Truncated, text);
            }
            Some(head) => {
                if self.at_head.take().is_some_and(|hash| hash != head.hash) {
                    self.tell(FindingKind::Head, format!("line {} is not the one that its head has", head.seq));
                }
            }
        }
        if let Some(expected) = self.expected
            && self.at_expected.as_ref() != Some(&expected.hash)
        {
            let text = format!("line {} is not there, or is not the one that was kept", expected.seq);
            self.tell(FindingKind::NotExpected, text);
        }
    }
}
