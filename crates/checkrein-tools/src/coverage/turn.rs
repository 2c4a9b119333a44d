//! The check at the end of a turn: tool calls of this session that checkrein did not see.
//!
//! `checkrein hook` runs it at stop events, so it reads only the end of the files.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use checkrein::internal::regular_file;
use jiff::Timestamp;

use super::call::{Outcome, Session, ToolCall};
use super::formats::{Format, Reader};
use super::join::join;
use super::places;
use super::records::{Interest, RecordedEvent, Records};
use super::report::{State, judged};
use crate::decision_log::DecisionLog;

/// Numbers of bytes that are read at the end of the session file, until a call before the turn is found.
const TAILS: &[u64] = &[256 << 10, 2 << 20, 16 << 20];

/// Number of bytes that are read at the end of each sub-agent's file.
const SUBAGENT_TAIL: u64 = 256 << 10;

/// Maximum size of the decision log that is read, in bytes.
const MAX_LOG: u64 = 16 << 20;

/// Maximum number of files of sub-agents.
const MAX_FILES: usize = 8;

/// Maximum number of calls in the text.
const MAX_NAMED: usize = 3;

/// Returns a text about tool calls of this session that were not judged or not obeyed since its last turn. `None`: there are none, or
/// the files do not tell.
pub fn missed_in_turn(agent: &str, session: &str, transcript: &Path, log: &DecisionLog) -> Option<String> {
    let format = Format::of(agent)?;
    if !matches!(format.reader, Reader::Lines(_)) {
        return None;
    }
    let records = records_of(log, session)?;
    let own = records.of_session(format.agent, session);
    // Before its first line in this session, the log may have been off.
    let first = own.iter().filter_map(|rec| rec.time).min()?;
    let last_turn = own.iter().filter(|rec| rec.event == RecordedEvent::TurnEnd).filter_map(|rec| rec.time).max();
    let since = last_turn.unwrap_or(first);
    let mut all = Session { agent: format.agent, id: session.to_owned(), ..Session::default() };
    let mut is_whole_turn = false;
    for tail in TAILS {
        all.calls.clear();
        read(format, transcript, *tail, &mut all);
        let is_whole_file = transcript.symlink_metadata().is_ok_and(|found| found.len() <= *tail);
        let is_before = |call: &ToolCall| call.time.is_some_and(|time| time <= since);
        is_whole_turn = is_whole_file || all.calls.iter().any(is_before);
        if is_whole_turn {
            break;
        }
    }
    for file in subagent_files(transcript) {
        read(format, &file, SUBAGENT_TAIL, &mut all);
    }
    let matches = join(&all, &records);
    let is_recent = |call: &ToolCall| call.time.is_some_and(|time: Timestamp| time > since);
    let (mut missed, mut disobeyed) = (Vec::new(), Vec::new());
    for (call, found) in all.calls.iter().zip(&matches) {
        if call.outcome != Outcome::Ran || call.unclear.is_some() || !is_recent(call) {
            continue;
        }
        match found {
            None => missed.push(call),
            Some(found) if judged(call, found, false).0 == State::NotObeyed => disobeyed.push(call),
            Some(_) => {}
        }
    }
    if missed.is_empty() && disobeyed.is_empty() {
        return None;
    }
    let parts = [
        part(&missed, "was not judged by checkrein", "were not judged by checkrein"),
        part(&disobeyed, "ran against the answer of checkrein", "ran against the answer of checkrein"),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    let rest = if is_whole_turn { "" } else { " (only the end of this long turn was checked)" };
    Some(format!("{}{rest}; run `checkrein coverage --session {session}` for the reasons", parts.join("; ")))
}

/// Adds the calls at the end of a session file.
fn read(format: &'static Format, file: &Path, tail: u64, all: &mut Session) {
    for found in format.read_file(file, Some(tail)) {
        // The end of a file may lack the version.
        let is_unknown = found.problem.is_some() && found.version.is_some();
        if found.id == all.id && !is_unknown {
            all.calls.extend(found.calls);
        }
    }
}

/// Describes some calls. `None`: there are none.
fn part(calls: &[&ToolCall], one: &str, many: &str) -> Option<String> {
    if calls.is_empty() {
        return None;
    }
    let named: Vec<_> = calls.iter().take(MAX_NAMED).map(|call| describe(call)).collect();
    let more = calls.len().saturating_sub(MAX_NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    let (noun, verb) = if calls.len() == 1 { ("tool call", one) } else { ("tool calls", many) };
    Some(format!("{} {noun} of this turn {verb}: {}{rest}", calls.len(), named.join(", ")))
}

fn describe(call: &ToolCall) -> String {
    let command = call.command.as_deref().map(|command| format!(" `{}`", command.chars().take(60).collect::<String>()));
    let subagent = call.subagent.as_ref().map(|subagent| {
        let name = subagent.kind.as_deref().or(subagent.id.as_deref()).unwrap_or("unknown");
        format!(" (sub-agent `{name}`)")
    });
    format!("{}{}{}", call.tool, command.unwrap_or_default(), subagent.unwrap_or_default())
}

/// Reads the lines of a session in the decision log.
fn records_of(log: &DecisionLog, session: &str) -> Option<Records> {
    let file = regular_file::open_no_link(log.path()).ok()?;
    let mut bytes = Vec::new();
    file.take(MAX_LOG).read_to_end(&mut bytes).ok()?;
    let interest = Interest::in_sessions(&[Session { id: session.to_owned(), ..Session::default() }]);
    let mut records = Records::default();
    let finder = memchr::memmem::Finder::new(session.as_bytes());
    for line in bytes.split(|byte| *byte == b'\n').filter(|line| finder.find(line).is_some()) {
        if let Ok(entry) = serde_json::from_slice(line) {
            records.add_entry(entry, &interest);
        }
    }
    Some(records)
}

/// Lists the files of sub-agents beside a session file, as Claude Code writes them.
fn subagent_files(transcript: &Path) -> Vec<PathBuf> {
    let mut files = places::find(&transcript.with_extension(""), "subagents/*.jsonl").files;
    files.sort_by_key(|file| std::cmp::Reverse(file.symlink_metadata().and_then(|found| found.modified()).ok()));
    files.truncate(MAX_FILES);
    files
}
