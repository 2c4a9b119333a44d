//! The database of OpenCode: tables `session`, `message` and `part`. A part of type `tool` has a call and its result.
//!
//! Observed with 1.18.33.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::super::builder::{Builder, NewCall, Odd, known_status, millis, name};
use super::super::call::{Outcome, Session, Subagent};
use super::{Format, sqlite};

/// Columns of sessions. Versions without sub-agents of several types have no column `agent`.
const SESSION: &[&str] = &["id", "version", "directory", "parent_id", "time_created"];

/// Parts in the order in which they were written. The size of each one is known before its text is read.
const PARTS: &str = "SELECT session_id, CASE WHEN length(data) <= ?1 THEN data END FROM part";

/// Start of the error of a call that the plugin of checkrein denied, in JSON.
const DENIED: &str = "\"Denied by checkrein: ";

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
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    time: Option<Times>,
}

#[derive(Deserialize)]
struct Times {
    start: Option<i64>,
}

/// Facts about a session that its calls have.
#[derive(Default)]
struct About {
    created: Option<i64>,
    subagent: Option<Subagent>,
}

pub(super) fn read(path: &Path, format: &'static Format) -> Result<Vec<Session>, String> {
    let database = sqlite::Database::open(path)?;
    database.check("session", SESSION)?;
    database.check("part", &["session_id", "data"])?;
    let agent = if database.check("session", &["agent"]).is_ok() { "agent" } else { "NULL" };
    let mut sessions = sqlite::Sessions::default();
    let mut about: HashMap<String, About> = HashMap::new();
    let rows = database.rows(&format!("SELECT {}, {agent} FROM session", SESSION.join(", ")), |row| {
        let texts = (row.get::<_, String>(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?);
        Ok((
            texts,
            row.get::<_, Option<String>>(3)?,
            row.get::<_, Option<i64>>(4).unwrap_or_default(),
            row.get::<_, Option<String>>(5)?,
        ))
    })?;
    for ((id, version, directory), parent, created, kind) in rows {
        let mut found = Builder::new(format);
        found.id(&id);
        found.version(&version);
        found.project(&directory);
        // Hooks of a sub-agent get the id of its own session.
        let subagent =
            parent.map(|_| Subagent { id: Some(found.session.id.clone()), kind: kind.map(|kind| name(&kind)) });
        about.insert(id.clone(), About { created, subagent });
        sessions.add(id, found);
    }
    database.each(PARTS, |row| {
        let id: String = row.get(0)?;
        let (Some(found), Some(about)) = (sessions.find(&id), about.get(&id)) else { return Ok(()) };
        let read = match row.get::<_, Option<String>>(1) {
            Ok(Some(data)) => part(&data, about, found),
            _ => Err(Odd::Broken),
        };
        found.count(read);
        Ok(())
    })?;
    Ok(sessions.finish())
}

fn part(data: &str, about: &About, found: &mut Builder) -> Result<(), Odd> {
    let part: Part<'_> = serde_json::from_str(data)?;
    match &*part.kind {
        "tool" => {
            let state = part.state.ok_or(Odd::Broken)?;
            let id = part.call_id.as_deref().ok_or(Odd::Broken)?;
            let start = state.time.and_then(|time| time.start).or(about.created);
            let subagent = about.subagent.clone();
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
                "error" if state.error.is_some_and(|error| error.get().starts_with(DENIED)) => Outcome::Denied,
                "error" => Outcome::Failed,
                "pending" | "running" => Outcome::Pending,
                _ => Outcome::Unknown,
            };
            found.outcome(agent.as_deref(), id, outcome);
            known_status(outcome, Some(&state.status))
        }
        other if OTHER_PARTS.contains(&other) => Ok(()),
        other => Err(Odd::UnknownBlock(format!("part {other}"))),
    }
}
