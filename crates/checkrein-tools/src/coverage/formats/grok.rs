//! Session files of Grok: `chat_history.jsonl`, the log that the model gets, and `summary.json` beside it.
//!
//! Known from the documents of other readers (0.2.114, `chat_format_version` 1), not observed. The log has no times.

use std::borrow::Cow;
use std::io::Read as _;
use std::path::Path;

use checkrein::internal::regular_file;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::builder::{Builder, NewCall, Odd, time};
use super::super::call::Outcome;
use super::super::places::Root;
use super::{Format, LineReader, Reader};

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
    reader: Reader::Lines(|| Box::<Grok>::default()),
};

/// Maximum size of `summary.json`, in bytes.
const MAX_SUMMARY: u64 = 1 << 20;

/// Kinds of lines without tool calls.
const OTHER_LINES: &[&str] = &["reasoning", "system", "user"];

#[derive(Debug, Default)]
struct Grok {
    created: Option<jiff::Timestamp>,
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
        self.created = summary.created_at.as_deref().and_then(time);
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
                        time: self.created,
                        subagent: None,
                    });
                }
            }
            "tool_result" => {
                let id = row.tool_call_id.as_deref().ok_or(Odd::Broken)?;
                let content = row.content.map_or("", RawValue::get);
                // The log does not mark errors, so the text decides.
                let is_denied = content.contains("denied by") || content.contains("blocked by");
                found.outcome(None, id, if is_denied { Outcome::Denied } else { Outcome::Failed });
            }
            other if OTHER_LINES.contains(&other) => {}
            other => return Err(Odd::Unknown(other.to_owned())),
        }
        Ok(())
    }
}
