//! The database of OpenCode: tables `session`, `message` and `part`. A part of type `tool` has a call and its result.
//!
//! Known from the documents of other readers, not observed.

use std::borrow::Cow;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::builder::{Builder, NewCall, Odd, millis};
use super::super::call::{Outcome, Session, Subagent};
use super::super::lines::MAX_LINE;
use super::{Format, sqlite};

/// Sessions with their parts. The size of each part is known before its text is read.
const QUERY: &str = "SELECT s.id, s.version, s.directory, s.parent_id, s.time_created, length(p.data),
    CASE WHEN length(p.data) <= ?1 THEN p.data END
    FROM session s JOIN part p ON p.session_id = s.id ORDER BY s.id, p.id";

/// Types of parts without tool calls.
const OTHER_PARTS: &[&str] = &[
    "agent",
    "compaction",
    "file",
    "patch",
    "reasoning",
    "retry",
    "snapshot",
    "step-finish",
    "step-start",
    "subtask",
    "text",
];

#[derive(Deserialize)]
struct Part<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    tool: Option<Cow<'a, str>>,
    #[serde(rename = "callID", borrow)]
    call_id: Option<Cow<'a, str>>,
    #[serde(borrow)]
    state: Option<State<'a>>,
}

#[derive(Deserialize)]
struct State<'a> {
    #[serde(borrow)]
    status: Cow<'a, str>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    time: Option<Times>,
}

#[derive(Deserialize)]
struct Times {
    start: Option<i64>,
}

pub(super) fn read(path: &Path, format: &'static Format) -> Result<Vec<Session>, String> {
    let failed = |error: rusqlite::Error| error.to_string();
    let connection = sqlite::open(path)?;
    sqlite::check_columns(&connection, "session", &["id", "version", "directory", "parent_id", "time_created"])?;
    sqlite::check_columns(&connection, "part", &["id", "session_id", "data"])?;
    let mut statement = connection.prepare(QUERY).map_err(failed)?;
    let mut rows = statement.query([i64::try_from(MAX_LINE).unwrap_or(i64::MAX)]).map_err(failed)?;
    let mut sessions = Vec::new();
    let mut current: Option<(String, Builder)> = None;
    while let Some(row) = rows.next().map_err(failed)? {
        let id: String = row.get(0).map_err(failed)?;
        if current.as_ref().is_none_or(|(open, _)| *open != id) {
            sessions.extend(current.take().map(|(_, found)| found.finish()));
            let mut found = Builder::new(format);
            let parent: Option<String> = row.get(3).map_err(failed)?;
            // Hooks of a sub-agent get the id of its own session.
            found.id(&id);
            if parent.is_some() {
                found.session.notes.push("session of a sub-agent".to_owned());
            }
            found.version(&row.get::<_, String>(1).map_err(failed)?);
            found.project(&row.get::<_, String>(2).map_err(failed)?);
            current = Some((id, found));
        }
        let Some((_, found)) = &mut current else { continue };
        let (created, data) = (row.get::<_, Option<i64>>(4).unwrap_or_default(), row.get::<_, Option<String>>(6));
        let read = match data {
            Ok(Some(data)) => part(&data, created, row.get::<_, Option<String>>(3).ok().flatten().as_deref(), found),
            _ => Err(Odd::Broken),
        };
        found.count(read);
    }
    sessions.extend(current.map(|(_, found)| found.finish()));
    Ok(sessions)
}

fn part(data: &str, created: Option<i64>, parent: Option<&str>, found: &mut Builder) -> Result<(), Odd> {
    let part: Part<'_> = serde_json::from_str(data)?;
    match &*part.kind {
        "tool" => {
            let state = part.state.ok_or(Odd::Broken)?;
            let id = part.call_id.as_deref().ok_or(Odd::Broken)?;
            let start = state.time.and_then(|time| time.start).or(created);
            let own = found.session.id.clone();
            let subagent = parent.map(|_| Subagent { id: Some(own), kind: None });
            let agent = subagent.as_ref().and_then(|subagent| subagent.id.clone());
            found.call(NewCall {
                id: Some(id),
                tool: part.tool.as_deref().ok_or(Odd::Broken)?,
                input: state.input.map_or("null", RawValue::get),
                time: start.and_then(millis),
                subagent,
            });
            let outcome = match &*state.status {
                "completed" => Outcome::Ran,
                // A denial of a plugin is an error, too.
                "error" => Outcome::Failed,
                "pending" | "running" => Outcome::Pending,
                other => return Err(Odd::Unknown(format!("tool status {other}"))),
            };
            found.outcome(agent.as_deref(), id, outcome);
            Ok(())
        }
        other if OTHER_PARTS.contains(&other) => Ok(()),
        other => Err(Odd::Unknown(format!("part {other}"))),
    }
}
