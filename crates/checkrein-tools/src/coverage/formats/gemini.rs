//! Chats of Gemini CLI: a head, and one line per message. A message with tool calls is written again when they are done.
//!
//! Observed with 0.61.0. The file has no version, so its head must have exactly the known fields. Hooks get no ids of calls. The calls of
//! a sub-agent are only in the display of its result, which may list the last ones only.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::builder::{Builder, NewCall, Odd, known_status, time, unknown_line};
use super::super::call::{Outcome, Subagent};
use super::super::places::Root;
use super::{Format, LineReader, MILLISECONDS, Reader, SubagentRecords};

pub(super) const FORMAT: Format = Format {
    agent: "gemini",
    title: "Gemini CLI",
    roots: &[Root {
        below_home: ".gemini",
        variable: None,
        below_variable: "",
        patterns: &["tmp/*/chats/session-*.jsonl", "tmp/*/chats/session-*.json"],
    }],
    versions: &["chat lines"],
    tools: &[],
    subagent_records: SubagentRecords::Unnamed,
    time_unit: MILLISECONDS,
    reader: Reader::Lines(|| Box::<Gemini>::default()),
};

/// Kinds of messages without tool calls.
const OTHER_MESSAGES: &[&str] = &["error", "info", "user", "warning"];

/// Start of the result of a call that a hook denied.
const BLOCKED: &str = "Tool execution blocked: ";

/// Statuses of calls without a result.
const PENDING: &[&str] = &["awaiting_approval", "executing", "running", "scheduled", "validating"];

/// Number of activities from which the display of a sub-agent may be incomplete.
const MANY_ACTIVITIES: usize = 50;

#[derive(Debug, Default)]
struct Gemini {
    has_head: bool,
    /// Ids of calls that were added. A message is written several times.
    seen: std::collections::HashSet<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    #[serde(borrow)]
    session_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    project_hash: Option<Cow<'a, str>>,
    #[serde(borrow)]
    start_time: Option<Cow<'a, str>>,
    /// Messages of a file of an older version, which is one document.
    #[serde(borrow)]
    messages: Option<&'a RawValue>,
    #[serde(rename = "$set", borrow)]
    set: Option<&'a RawValue>,
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    tool_calls: Vec<Call<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Call<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    args: &'a RawValue,
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    timestamp: Option<Cow<'a, str>>,
    #[serde(borrow)]
    agent_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    result_display: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Progress<'a> {
    #[serde(borrow)]
    agent_name: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    recent_activity: Vec<Activity<'a>>,
}

#[derive(Deserialize)]
struct Activity<'a> {
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<Cow<'a, str>>,
    #[serde(borrow)]
    args: Option<Cow<'a, str>>,
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
}

impl LineReader for Gemini {
    fn line(&mut self, line: &[u8], found: &mut Builder) -> Result<(), Odd> {
        let row: Row<'_> = match serde_json::from_slice(line) {
            Ok(row) => row,
            // Older versions wrote one document of several lines.
            Err(_) if !self.has_head => {
                found.version("one document");
                return Err(Odd::Broken);
            }
            Err(error) => return Err(error.into()),
        };
        if !self.has_head {
            self.has_head = true;
            let id = row.session_id.as_deref().ok_or(Odd::Broken);
            let is_known = row.project_hash.is_some() && row.start_time.is_some() && row.kind.is_none();
            found.version(match row.messages {
                Some(_) => "one document",
                None if is_known && id.is_ok() => "chat lines",
                None => "without a head",
            });
            found.id(id?);
            return Ok(());
        }
        match row.kind.as_deref() {
            Some("gemini") => self.calls(&row, found),
            Some(other) if OTHER_MESSAGES.contains(&other) => Ok(()),
            Some(other) => Err(unknown_line(other, !row.tool_calls.is_empty())),
            None if row.set.is_some() || row.session_id.is_some() => Ok(()),
            None => Err(Odd::Unknown("line without a type".to_owned())),
        }
    }
}

impl Gemini {
    fn calls(&mut self, row: &Row<'_>, found: &mut Builder) -> Result<(), Odd> {
        let mut known = Ok(());
        for call in &row.tool_calls {
            let when = call.timestamp.as_deref().or(row.timestamp.as_deref()).and_then(time);
            if self.seen.insert(call.id.clone().into_owned()) {
                found.call(NewCall {
                    id: Some(&call.id),
                    tool: &call.name,
                    input: call.args.get(),
                    time: when,
                    subagent: None,
                });
            }
            let display = call.result_display.map_or("", RawValue::get);
            let outcome = outcome(call.status.as_deref(), display.trim_start_matches('"'));
            found.outcome(None, &call.id, outcome);
            known = known.and(known_status(outcome, call.status.as_deref()));
            if call.agent_id.is_some() && display.starts_with('{') {
                known = known.and(self.subagent(call, display, when, found));
            }
        }
        known
    }

    fn subagent(
        &mut self,
        call: &Call<'_>,
        display: &str,
        when: Option<jiff::Timestamp>,
        found: &mut Builder,
    ) -> Result<(), Odd> {
        let progress: Progress<'_> = serde_json::from_str(display)?;
        let id = call.agent_id.as_deref();
        let subagent = Subagent { id: id.map(str::to_owned), kind: progress.agent_name.map(Cow::into_owned) };
        if progress.recent_activity.len() >= MANY_ACTIVITIES {
            let kind = subagent.kind.as_deref().unwrap_or("unknown");
            found.session.notes.push(format!("the file lists only recent calls of sub-agent `{kind}`"));
        }
        // The text of a denial follows its call.
        let mut known = Ok(());
        let mut activities = progress.recent_activity.iter().peekable();
        while let Some(activity) = activities.next() {
            if activity.kind.as_deref() != Some("tool_call") {
                continue;
            }
            let own = activity.id.as_deref().unwrap_or_default();
            if !self.seen.insert(format!("{}\0{own}", id.unwrap_or_default())) {
                continue;
            }
            found.call(NewCall {
                id: activity.id.as_deref(),
                tool: activity.content.as_deref().ok_or(Odd::Broken)?,
                input: activity.args.as_deref().unwrap_or("null"),
                time: when,
                subagent: Some(subagent.clone()),
            });
            let next = activities.peek().and_then(|next| next.content.as_deref()).unwrap_or_default();
            let outcome = outcome(activity.status.as_deref(), next.trim_start_matches("Error: "));
            if let Some(call) = found.last() {
                call.outcome = outcome;
            }
            known = known.and(known_status(outcome, activity.status.as_deref()));
        }
        known
    }
}

fn outcome(status: Option<&str>, display: &str) -> Outcome {
    match status {
        Some("success" | "completed") => Outcome::Ran,
        Some("cancelled") => Outcome::Denied,
        Some("error") if display.starts_with(BLOCKED) => Outcome::Denied,
        // The tool ran and returned an error, or its result was blocked.
        Some("error") => Outcome::Ran,
        Some(status) if PENDING.contains(&status) => Outcome::Pending,
        _ => Outcome::Unknown,
    }
}
