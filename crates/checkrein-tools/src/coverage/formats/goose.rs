//! The database of goose: tables `sessions` and `messages`, with the content of each message as JSON.
//!
//! Observed with 1.50.0, schema version 16; older versions are known from its source. Newer versions are accepted if they have all columns.

use std::borrow::Cow;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::builder::{Builder, NewCall, Odd, known_status};
use super::super::call::{Outcome, Session};
use super::{Format, sqlite};

const SESSIONS: &str = "SELECT id, working_dir FROM sessions";

/// Messages in the order in which they were written.
const MESSAGES: &str =
    "SELECT session_id, created_timestamp, CASE WHEN length(content_json) <= ?1 THEN content_json END FROM messages";

/// Text of goose about a call that a hook denied.
const DENIED: &str = "Tool call denied by policy hook ";

/// Types of content without tool calls.
const OTHER_CONTENT: &[&str] = &[
    "actionRequired",
    "contextLengthExceeded",
    "conversationCompacted",
    "frontendToolRequest",
    "image",
    "redactedThinking",
    "summarizationRequested",
    "systemNotification",
    "text",
    "thinking",
    "toolConfirmationRequest",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Content<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    tool_call: Option<Wrapped<'a>>,
    #[serde(borrow)]
    tool_result: Option<Wrapped<'a>>,
}

#[derive(Deserialize)]
struct Wrapped<'a> {
    #[serde(borrow)]
    status: Cow<'a, str>,
    #[serde(borrow)]
    value: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

pub(super) fn read(path: &Path, format: &'static Format) -> Result<Vec<Session>, String> {
    let database = sqlite::Database::open(path)?;
    database.check("schema_version", &["version"])?;
    database.check("sessions", &["id", "working_dir"])?;
    database.check("messages", &["id", "session_id", "content_json", "created_timestamp"])?;
    let version: Option<i64> = database
        .rows("SELECT max(version) FROM schema_version", |row| row.get(0))?
        .pop()
        .ok_or("the database has no version of its schema")?;
    let version = version.ok_or("the database has no version of its schema")?;
    let mut sessions = sqlite::Sessions::default();
    let rows = database.rows(SESSIONS, |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    for (id, directory) in rows {
        let mut found = Builder::new(format);
        found.id(&id);
        found.version(&format!("schema {version}"));
        found.project(&directory);
        sessions.add(id, found);
    }
    database.each(MESSAGES, |row| {
        let id: String = row.get(0)?;
        let Some(found) = sessions.find(&id) else { return Ok(()) };
        let time = row.get::<_, i64>(1).ok().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
        let read = match row.get::<_, Option<String>>(2) {
            Ok(Some(content)) => message(&content, time, found),
            _ => Err(Odd::Broken),
        };
        found.count(read);
        Ok(())
    })?;
    Ok(sessions.finish())
}

fn message(content: &str, time: Option<jiff::Timestamp>, found: &mut Builder) -> Result<(), Odd> {
    let mut unknown = Ok(());
    for content in serde_json::from_str::<Vec<Content<'_>>>(content)? {
        match &*content.kind {
            "toolRequest" => {
                let request = content.tool_call.ok_or(Odd::Broken)?;
                // A call that the model spelled wrongly is never made.
                if request.status != "success" {
                    continue;
                }
                let call: Call<'_> = serde_json::from_str(request.value.ok_or(Odd::Broken)?.get())?;
                found.call(NewCall {
                    id: Some(content.id.as_deref().ok_or(Odd::Broken)?),
                    tool: &call.name,
                    input: call.arguments.map_or("null", RawValue::get),
                    time,
                    subagent: None,
                });
            }
            "toolResponse" => {
                let id = content.id.as_deref().ok_or(Odd::Broken)?;
                let result = content.tool_result.ok_or(Odd::Broken)?;
                // A tool that ran and failed has a result. An error is also written for a call that did not run.
                let is_denied = result.error.is_some_and(|error| {
                    // The text may have a code such as `-32603: ` in front.
                    error
                        .get()
                        .trim_start_matches(|c: char| c.is_ascii_digit() || "\"-: ".contains(c))
                        .starts_with(DENIED)
                });
                let outcome = match &*result.status {
                    "success" => Outcome::Ran,
                    "error" if is_denied => Outcome::Denied,
                    "error" => Outcome::Failed,
                    _ => Outcome::Unknown,
                };
                found.outcome(None, id, outcome);
                unknown = unknown.and(known_status(outcome, Some(&result.status)));
            }
            other if OTHER_CONTENT.contains(&other) => {}
            other => unknown = Err(Odd::UnknownBlock(format!("content {other}"))),
        }
    }
    unknown
}
