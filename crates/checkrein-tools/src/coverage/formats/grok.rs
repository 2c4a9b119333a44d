//! Session files of Grok: `chat_history.jsonl`, the log that the model gets, and `summary.json` beside it.
//!
//! Known from the documents of other readers (0.2.114, `chat_format_version` 1), not observed. The log has no times and marks no errors:
//! `updates.jsonl`, the log for the screen, has both. Some sessions lack it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Read as _;
use std::path::Path;

use checkrein::internal::regular_file;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::builder::{Builder, NewCall, Odd, millis, time, unknown_line};
use super::super::call::Outcome;
use super::super::lines::{self, Line};
use super::super::places::Root;
use super::{Format, LineReader, MILLISECONDS, Reader, SubagentRecords};

pub(super) const FORMAT: Format = Format {
    agent: "grok",
    title: "Grok",
    roots: &[Root {
        below_home: ".grok",
        variable: Some("GROK_HOME"),
        below_variable: "",
        patterns: &["sessions/*/*/chat_history.jsonl"],
    }],
    versions: &["chat 1"],
    tools: &[],
    subagent_records: SubagentRecords::Unnamed,
    time_unit: MILLISECONDS,
    reader: Reader::Lines(|| Box::<Grok>::default()),
};

/// Maximum size of `summary.json`, in bytes.
const MAX_SUMMARY: u64 = 1 << 20;

/// Maximum number of bytes of `updates.jsonl` that are read.
const MAX_UPDATES: u64 = 1 << 30;

/// Maximum number of calls of `updates.jsonl` that are kept.
const MAX_CALLS: usize = 50_000;

/// Kinds of lines without tool calls.
const OTHER_LINES: &[&str] = &["reasoning", "system", "user"];

/// Starts of results of calls that were denied, in JSON.
const DENIED: &[&str] = &["\"Tool call denied by", "\"Tool call blocked by", "\"Denied by", "\"Blocked by"];

#[derive(Debug, Default)]
struct Grok {
    /// Calls in the log for the screen, by their ids.
    updates: HashMap<String, Seen>,
}

/// A call in the log for the screen.
#[derive(Debug, Default)]
struct Seen {
    time: Option<jiff::Timestamp>,
    has_completed: bool,
}

#[derive(Deserialize)]
struct UpdateLine<'a> {
    #[serde(borrow)]
    params: Params<'a>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    update: Update<'a>,
    #[serde(rename = "_meta")]
    meta: Option<UpdateMeta>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a> {
    #[serde(borrow)]
    session_update: Cow<'a, str>,
    #[serde(borrow)]
    tool_call_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UpdateMeta {
    agent_timestamp_ms: Option<i64>,
}

#[derive(Deserialize)]
struct Summary {
    info: Option<Info>,
    created_at: Option<String>,
    chat_format_version: Option<u64>,
}

#[derive(Deserialize)]
struct Info {
    id: Option<String>,
    cwd: Option<String>,
}

#[derive(Deserialize)]
struct Row<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(default, borrow)]
    tool_calls: Vec<Call<'a>>,
    #[serde(borrow)]
    tool_call_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Cow<'a, str>,
}

impl LineReader for Grok {
    fn start(&mut self, path: &Path, found: &mut Builder) {
        let Some(directory) = path.parent() else { return };
        let mut text = Vec::new();
        let Ok(file) = regular_file::open_no_link(&directory.join("summary.json")) else { return };
        if file.take(MAX_SUMMARY).read_to_end(&mut text).is_err() {
            return;
        }
        let Ok(summary) = serde_json::from_slice::<Summary>(&text) else { return };
        if let Some(version) = summary.chat_format_version {
            found.version(&format!("chat {version}"));
        }
        if let Some(info) = summary.info {
            found.id(info.id.as_deref().unwrap_or_default());
            found.project(info.cwd.as_deref().unwrap_or_default());
        }
        if let Some(directory) = directory.file_name() {
            found.id(&directory.to_string_lossy());
        }
        found.session.started = summary.created_at.as_deref().and_then(time);
        self.read_updates(&directory.join("updates.jsonl"));
    }

    fn line(&mut self, line: &[u8], found: &mut Builder) -> Result<(), Odd> {
        let row: Row<'_> = serde_json::from_slice(line)?;
        match &*row.kind {
            "assistant" => {
                for call in &row.tool_calls {
                    found.call(NewCall {
                        id: Some(&call.id),
                        tool: &call.name,
                        input: &call.arguments,
                        time: self.updates.get(&*call.id).and_then(|seen| seen.time),
                        subagent: None,
                    });
                }
            }
            "tool_result" => {
                let id = row.tool_call_id.as_deref().ok_or(Odd::Broken)?;
                let content = row.content.map_or("", RawValue::get);
                let is_denied = DENIED.iter().any(|start| content.starts_with(start));
                let has_completed = self.updates.get(id).is_some_and(|seen| seen.has_completed);
                found.outcome(
                    None,
                    id,
                    match (is_denied, has_completed) {
                        (true, _) => Outcome::Denied,
                        (false, true) => Outcome::Ran,
                        (false, false) => Outcome::Failed,
                    },
                );
            }
            other if OTHER_LINES.contains(&other) => {}
            other => return Err(unknown_line(other, row.tool_call_id.is_some() || !row.tool_calls.is_empty())),
        }
        Ok(())
    }
}

impl Grok {
    /// Reads the times and states of calls. A line that is not readable is skipped: a call without a line here has no time.
    fn read_updates(&mut self, path: &Path) {
        let Ok(file) = regular_file::open_no_link(path) else { return };
        let _ = lines::for_each(file.take(MAX_UPDATES), |line| {
            if let Line::Whole(text, _) = line {
                self.update(text);
            }
            true
        });
    }

    fn update(&mut self, line: &[u8]) -> Option<()> {
        let params = serde_json::from_slice::<UpdateLine<'_>>(line).ok()?.params;
        if !matches!(&*params.update.session_update, "tool_call" | "tool_call_update") {
            return None;
        }
        let id = params.update.tool_call_id?;
        if self.updates.len() >= MAX_CALLS && !self.updates.contains_key(&*id) {
            return None;
        }
        let seen = self.updates.entry(id.into_owned()).or_default();
        seen.time = seen.time.or_else(|| params.meta?.agent_timestamp_ms.and_then(millis));
        seen.has_completed |= params.update.status.as_deref() == Some("completed");
        Some(())
    }
}
