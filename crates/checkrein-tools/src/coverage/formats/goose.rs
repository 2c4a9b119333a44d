//! The database of goose: tables `sessions` and `messages`, with the content of each message as JSON.
//!
//! Known from its source up to schema version 9, not observed.

use std::borrow::Cow;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::builder::{Builder, NewCall, Odd};
use super::super::call::{Outcome, Session};
use super::super::lines::MAX_LINE;
use super::{Format, sqlite};

/// Newest known version of the schema.
const MAX_SCHEMA: i64 = 9;

const QUERY: &str = "SELECT s.id, s.working_dir, m.created_timestamp,
    CASE WHEN length(m.content_json) <= ?1 THEN m.content_json END
    FROM sessions s JOIN messages m ON m.session_id = s.id ORDER BY s.id, m.id";

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
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult {
    is_error: Option<bool>,
}

pub(super) fn read(path: &Path, format: &'static Format) -> Result<Vec<Session>, String> {
    let failed = |error: rusqlite::Error| error.to_string();
    let connection = sqlite::open(path)?;
    let version: Option<i64> = connection
        .query_row("SELECT max(version) FROM schema_version", [], |row| row.get(0))
        .map_err(|error| format!("the database has no version of its schema: {error}"))?;
    let version = version.filter(|version| (1..=MAX_SCHEMA).contains(version)).ok_or_else(|| {
        let found = version.map_or("none".to_owned(), |version| version.to_string());
        format!("schema version {found} is not known to this version of checkrein")
    })?;
    sqlite::check_columns(&connection, "sessions", &["id", "working_dir"])?;
    sqlite::check_columns(&connection, "messages", &["id", "session_id", "content_json", "created_timestamp"])?;
    let mut statement = connection.prepare(QUERY).map_err(failed)?;
    let mut rows = statement.query([i64::try_from(MAX_LINE).unwrap_or(i64::MAX)]).map_err(failed)?;
    let mut sessions = Vec::new();
    let mut current: Option<Builder> = None;
    while let Some(row) = rows.next().map_err(failed)? {
        let id: String = row.get(0).map_err(failed)?;
        if current.as_ref().is_none_or(|found| found.session.id != id) {
            sessions.extend(current.take().map(Builder::finish));
            let mut found = Builder::new(format);
            found.id(&id);
            found.version(&format!("schema {version}"));
            found.project(&row.get::<_, String>(1).map_err(failed)?);
            current = Some(found);
        }
        let Some(found) = &mut current else { continue };
        let time = row.get::<_, i64>(2).ok().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
        let read = match row.get::<_, Option<String>>(3) {
            Ok(Some(content)) => message(&content, time, found),
            _ => Err(Odd::Broken),
        };
        found.count(read);
    }
    sessions.extend(current.map(Builder::finish));
    Ok(sessions)
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
                let parsed = result.value.and_then(|value| serde_json::from_str::<CallResult>(value.get()).ok());
                let is_error = result.status != "success" || parsed.is_some_and(|result| result.is_error == Some(true));
                // A denial of a hook is an error, too.
                found.outcome(None, id, if is_error { Outcome::Failed } else { Outcome::Ran });
            }
            other if OTHER_CONTENT.contains(&other) => {}
            other => unknown = Err(Odd::Unknown(format!("content {other}"))),
        }
    }
    unknown
}
