//! Verifies the hash chain of a log and reports each difference.

use std::io;
use std::path::Path;

use serde::Serialize;

use super::chain_head::Head;
use super::entry::{AuditEntry, EntryKind};
use super::{files, hash_chain};

/// Result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Verification {
    /// Number of files.
    pub files: usize,
    /// Number of intact entries.
    pub lines: u64,
    /// The last entry. Store it elsewhere to detect a rewritten log.
    pub last: Option<Head>,
    /// Partial lines of writers that were killed. They are no sign of tampering.
    pub cuts: Vec<Finding>,
    /// Signs of tampering.
    pub findings: Vec<Finding>,
}

/// A difference between the log and what was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Finding {
    /// Kind of the finding.
    pub kind: FindingKind,
    /// The file.
    pub file: String,
    /// Line number in the file, from 1.
    pub line: u64,
    /// Description.
    pub text: String,
}

/// Kind of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FindingKind {
    /// A line is incomplete because its writer was killed.
    Cut,
    /// A line was changed or inserted.
    Altered,
    /// Entries are missing.
    Removed,
    /// An entry is in the wrong place.
    Reordered,
    /// Entries are missing at the end.
    Truncated,
    /// The head is missing, or belongs to another log.
    Head,
    /// A writer found that the log did not end as the previous writer left it.
    Broken,
    /// The expected entry is missing or has another hash.
    NotExpected,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.text)
    }
}

impl Verification {
    /// `true` if there are no findings. Cut lines are allowed.
    pub fn is_intact(&self) -> bool {
        self.findings.is_empty()
    }
}

/// A line that is not an entry. The next entry may mark it as cut.
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
    corrupt: Option<CorruptRange>,
    expected: Option<&'a Head>,
    head: Option<Head>,
    /// Hash of the entry with the number of the head.
    hash_of_head: Option<String>,
    /// Hash of the entry with the number of the expected one.
    hash_of_expected: Option<String>,
}

pub(super) fn verify(log: &Path, expected: Option<&Head>) -> io::Result<Verification> {
    let (head, opened) = files::all(log)?;
    let mut walker = LogWalker {
        found: Verification { files: opened.len(), ..Verification::default() },
        file: log.display().to_string(),
        line: 0,
        before: Head::start(),
        corrupt: None,
        expected,
        head,
        hash_of_head: None,
        hash_of_expected: None,
    };
    for file in opened {
        walker.file = file.path.display().to_string();
        let is_last = file.path == log;
        walker.file(file, is_last)?;
    }
    walker.end();
    Ok(walker.found)
}

impl LogWalker<'_> {
    fn file(&mut self, file: files::Opened, is_last: bool) -> io::Result<()> {
        let mut input = file.text;
        self.line = 0;
        loop {
            let mut bytes = Vec::new();
            if files::read_line(&mut input, &mut bytes)? == 0 {
                break;
            }
            self.line += 1;
            if bytes.pop_if(|last| *last == b'\n').is_some() {
                self.line(&bytes);
            } else if is_last {
                // No writer has marked the line yet.
                self.report_corrupt();
                if let Some(place) = hash_chain::unseal(&bytes).filter(|place| place.holds) {
                    self.whole(&place, &bytes);
                }
                let text = format!("the last line is incomplete ({} bytes): its writer was killed", bytes.len());
                let cut = self.finding(FindingKind::Cut, self.line, text);
                self.found.cuts.push(cut);
            } else {
                self.line(&bytes);
            }
        }
        // The mark of a cut line is always in the same file.
        self.report_corrupt();
        Ok(())
    }

    fn finding(&self, kind: FindingKind, line: u64, text: impl Into<String>) -> Finding {
        Finding { kind, file: self.file.clone(), line, text: text.into() }
    }

    fn report(&mut self, kind: FindingKind, text: impl Into<String>) {
        let finding = self.finding(kind, self.line, text);
        self.found.findings.push(finding);
    }

    fn line(&mut self, bytes: &[u8]) {
        match hash_chain::unseal(bytes) {
            Some(place) if place.holds => self.whole(&place, bytes),
            Some(place) => {
                self.report_corrupt();
                self.report(FindingKind::Altered, format!("entry {} was changed", place.own.seq));
                // The next entry is compared with this one, so that it is not reported as well.
                if place.own.seq == self.before.seq + 1 {
                    self.before = place.own;
                }
            }
            None => {
                self.report_corrupt();
                let (bytes, sha256) = (bytes.len() as u64, crate::hash::sha256_hex(bytes));
                self.corrupt = Some(CorruptRange { line: self.line, bytes, sha256 });
            }
        }
    }

    /// Reports a corrupt line that no entry marks as cut.
    fn report_corrupt(&mut self) {
        if let Some(corrupt) = self.corrupt.take() {
            let text = "this line is not an entry, and no later entry marks it as incomplete";
            let finding = self.finding(FindingKind::Altered, corrupt.line, text);
            self.found.findings.push(finding);
        }
    }

    /// Checks an entry whose hash matches.
    fn whole(&mut self, place: &hash_chain::ChainPosition, bytes: &[u8]) {
        let (own, before) = (&place.own, self.before.clone());
        if own.seq > before.seq + 1 {
            let text = match own.seq - before.seq {
                2 => format!("entry {} is missing", before.seq + 1),
                _ => format!("entries {} to {} are missing", before.seq + 1, own.seq - 1),
            };
            self.report(FindingKind::Removed, text);
        } else if own.seq <= before.seq {
            self.report(FindingKind::Reordered, format!("entry {} is after entry {}", own.seq, before.seq));
        } else if place.prev != before.hash {
            let text = format!("entry {} was written after another entry {}", own.seq, before.seq);
            self.report(FindingKind::Altered, text);
        }
        self.check_note(bytes);
        self.found.lines += 1;
        if self.head.as_ref().is_some_and(|head| head.seq == own.seq) {
            self.hash_of_head = Some(own.hash.clone());
        }
        if self.expected.is_some_and(|expected| expected.seq == own.seq) {
            self.hash_of_expected = Some(own.hash.clone());
        }
        // The chain does not continue from a reordered entry.
        if own.seq > before.seq {
            self.before = own.clone();
        }
    }

    /// Checks an entry that reports a cut line or a broken log.
    fn check_note(&mut self, bytes: &[u8]) {
        let has_kind = |kind: &str| {
            let field = format!(",\"kind\":\"{kind}\",");
            bytes.windows(field.len()).take(128).any(|window| window == field.as_bytes())
        };
        if !has_kind("cut") && !has_kind("broken") {
            return self.report_corrupt();
        }
        let entry = std::str::from_utf8(bytes).ok().and_then(|text| text.parse::<checkrein_core::RawJson>().ok());
        let Some(entry) = entry.and_then(|json| json.read::<AuditEntry>().ok()) else { return self.report_corrupt() };
        match entry.kind {
            EntryKind::Cut => match self.corrupt.take() {
                Some(cut) if Some(cut.bytes) == entry.bytes && entry.sha256.as_ref() == Some(&cut.sha256) => {
                    let text = format!("the line is incomplete ({} bytes): its writer was killed", cut.bytes);
                    let cut = self.finding(FindingKind::Cut, cut.line, text);
                    self.found.cuts.push(cut);
                }
                _ => self.report(FindingKind::Altered, "the incomplete line before this entry was changed"),
            },
            EntryKind::Broken => {
                let why = entry.reason.unwrap_or_default();
                self.report(FindingKind::Broken, format!("at the time of this entry, {why}"));
            }
            _ => self.report_corrupt(),
        }
    }

    fn end(&mut self) {
        let last = self.before.clone();
        if last.seq > 0 {
            self.found.last = Some(last.clone());
        }
        match self.head.take() {
            None if last.seq == 0 => {}
            None => self.report(FindingKind::Head, "the `.head` file is missing; entries may be missing at the end"),
            Some(head) if head.seq > last.seq => {
                let text = format!("the log ends with entry {}, but entry {} was written", last.seq, head.seq);
                self.report(FindingKind::Truncated, text);
            }
            Some(head) => {
                if self.hash_of_head.take().is_some_and(|hash| hash != head.hash) {
                    self.report(FindingKind::Head, format!("entry {} differs from the `.head` file", head.seq));
                }
            }
        }
        if let Some(expected) = self.expected
            && self.hash_of_expected.as_ref() != Some(&expected.hash)
        {
            let text = format!("entry {} is missing or differs from the expected one", expected.seq);
            self.report(FindingKind::NotExpected, text);
        }
    }
}
