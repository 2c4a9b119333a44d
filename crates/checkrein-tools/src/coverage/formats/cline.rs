//! Session files of Cline: one document of messages per session.
//!
//! Observed with 3.0.65, document version 1.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::builder::{Builder, NewCall, Odd, millis};
use super::super::call::{Outcome, Subagent};
use super::super::places::Root;
use super::{Format, MILLISECONDS, Reader, SubagentRecords};

pub(super) const FORMAT: Format = Format {
    agent: "cline",
    title: "Cline",
    roots: &[Root {
        below_home: ".cline",
        variable: Some("CLINE_DIR"),
        below_variable: "",
        patterns: &["data/sessions/*/*.messages.json"],
    }],
    versions: &["3."],
    tools: &[],
    subagent_records: SubagentRecords::Unnamed,
    time_unit: MILLISECONDS,
    reader: Reader::Document(read),
};

/// Version of the document.
const DOCUMENT_VERSION: u64 = 1;

/// Name of the main agent.
const LEAD: &str = "lead";

/// Starts of lines of a result that checkrein wrote, in JSON.
const DENIED: &[&str] = &["\"Denied by checkrein: ", "\\nDenied by checkrein: "];

/// Content blocks without tool calls.
const OTHER_BLOCKS: &[&str] = &["image", "redacted_thinking", "text", "thinking"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Document<'a> {
    version: u64,
    #[serde(borrow)]
    agent: Option<Cow<'a, str>>,
    #[serde(borrow)]
    session_id: Cow<'a, str>,
    #[serde(borrow)]
    origin: Option<Origin<'a>>,
    #[serde(borrow)]
    messages: Vec<Message<'a>>,
}

#[derive(Deserialize)]
struct Origin<'a> {
    #[serde(borrow)]
    version: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: &'a RawValue,
    ts: Option<i64>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    is_error: Option<bool>,
}

fn read(bytes: &[u8], found: &mut Builder) -> Result<(), Odd> {
    let document: Document<'_> = serde_json::from_slice(bytes)?;
    found.id(&document.session_id);
    if document.version != DOCUMENT_VERSION {
        found.version(&format!("document {}", document.version));
        return Ok(());
    }
    found.version(document.origin.and_then(|origin| origin.version).as_deref().unwrap_or("unknown"));
    let agent = document.agent.as_deref().filter(|agent| *agent != LEAD);
    let subagent = agent.map(|agent| Subagent { id: Some(agent.to_owned()), kind: Some(agent.to_owned()) });
    for message in &document.messages {
        let read = read_message(message, subagent.as_ref(), found);
        found.count(read);
    }
    Ok(())
}

fn read_message(message: &Message<'_>, subagent: Option<&Subagent>, found: &mut Builder) -> Result<(), Odd> {
    if !message.content.get().starts_with('[') {
        return Ok(());
    }
    let mut unknown = Ok(());
    for block in serde_json::from_str::<Vec<Block<'_>>>(message.content.get())? {
        match &*block.kind {
            "tool_use" => found.call(NewCall {
                id: Some(block.id.as_deref().ok_or(Odd::Broken)?),
                tool: block.name.as_deref().ok_or(Odd::Broken)?,
                input: block.input.ok_or(Odd::Broken)?.get(),
                time: message.ts.and_then(millis),
                subagent: subagent.cloned(),
            }),
            "tool_result" => {
                let id = block.tool_use_id.as_deref().ok_or(Odd::Broken)?;
                let content = block.content.map_or("", RawValue::get);
                let has_succeeded = content.contains("\"success\":true") || content.contains("\"success\": true");
                // A denied command is replaced by one that prints the reason and fails, see `deny_by_command`.
                let is_denied = DENIED.iter().any(|start| content.contains(start));
                let outcome = match block.is_error {
                    Some(false) | None if has_succeeded => Outcome::Ran,
                    _ if is_denied => Outcome::Denied,
                    _ => Outcome::Failed,
                };
                found.outcome(subagent.and_then(|subagent| subagent.id.as_deref()), id, outcome);
            }
            other if OTHER_BLOCKS.contains(&other) => {}
            other => unknown = Err(Odd::UnknownBlock(format!("block {other}"))),
        }
    }
    unknown
}
