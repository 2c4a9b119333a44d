//! The check at the end of a turn: tool calls of this session that checkrein did not see.
//!
//! `checkrein hook` runs it at stop events, so it reads only the end of the files.

use std::collections::HashSet;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use checkrein::internal::regular_file;
use jiff::Timestamp;

use super::call::{Outcome, Session, ToolCall};
use super::formats::{Format, Reader};
use super::join::join;
use super::places;
use super::records::{RecordedEvent, Records};
use crate::decision_log::DecisionLog;

/// Number of bytes that are read at the end of the session file, of each sub-agent's file, and of the decision log.
const TAIL: u64 = 256 << 10;

/// Maximum number of files of sub-agents.
const MAX_FILES: usize = 8;

/// Maximum number of calls in the text.
const MAX_NAMED: usize = 3;

/// Returns a text about tool calls of this session that were not judged since its last turn. `None`: there are none, or the files do
/// not tell.
pub fn missed_in_turn(agent: &str, session: &str, transcript: &Path, log: &DecisionLog) -> Option<String> {
    let format = Format::of(agent)?;
    if !matches!(format.reader, Reader::Lines(_)) {
        return None;
    }
    let records = recent_records(log, session)?;
    let own = records.of_session(format.agent, session);
    // Before its first line in this session, the log may have been off.
    let first = own.iter().filter_map(|rec| rec.time).min()?;
    let last_turn = own.iter().filter(|rec| rec.event == RecordedEvent::TurnEnd).filter_map(|rec| rec.time).max();
    let since = last_turn.unwrap_or(first);
    let mut files = vec![transcript.to_owned()];
    files.extend(subagent_files(transcript));
    let mut all = Session { agent: format.agent, id: session.to_owned(), ..Session::default() };
    for file in files {
        for found in format.read_file(&file, Some(TAIL)) {
            let is_unknown = found.problem.is_some() && found.version.is_some();
            if found.id == session && !is_unknown {
                all.calls.extend(found.calls);
            }
        }
    }
    let matches = join(&all, &records);
    let is_recent = |call: &ToolCall| call.time.is_some_and(|time: Timestamp| time > since);
    let missed: Vec<_> = all
        .calls
        .iter()
        .zip(matches)
        .filter(|(call, found)| {
            found.is_none() && call.outcome == Outcome::Ran && call.unclear.is_none() && is_recent(call)
        })
        .map(|(call, _)| call)
        .collect();
    if missed.is_empty() { None } else { Some(text(&missed, session)) }
}

fn text(missed: &[&ToolCall], session: &str) -> String {
    let named: Vec<_> = missed.iter().take(MAX_NAMED).map(|call| describe(call)).collect();
    let more = missed.len().saturating_sub(MAX_NAMED);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    let (noun, verb) = if missed.len() == 1 { ("tool call", "was") } else { ("tool calls", "were") };
    format!(
        "{} {noun} of this turn {verb} not judged by checkrein: {}{rest}; run `checkrein coverage --session {session}` for the reasons",
        missed.len(),
        named.join(", ")
    )
}

fn describe(call: &ToolCall) -> String {
    let command = call.command.as_deref().map(|command| format!(" `{}`", command.chars().take(60).collect::<String>()));
    let subagent = call.subagent.as_ref().map(|subagent| {
        let name = subagent.kind.as_deref().or(subagent.id.as_deref()).unwrap_or("unknown");
        format!(" (sub-agent `{name}`)")
    });
    format!("{}{}{}", call.tool, command.unwrap_or_default(), subagent.unwrap_or_default())
}

/// Reads the end of the decision log.
fn recent_records(log: &DecisionLog, session: &str) -> Option<Records> {
    let mut file = regular_file::open_no_link(log.path()).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    let sessions = HashSet::from([session.to_owned()]);
    let mut records = Records::default();
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(entry) = serde_json::from_slice(line) {
            records.add_entry(entry, &sessions);
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
