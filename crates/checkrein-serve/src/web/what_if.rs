//! "What if": rules that are evaluated for past calls. Nothing runs.

use std::sync::Arc;

use checkrein::dialects::agents::native;
use checkrein::document::Format;
use checkrein_core::{Decision, HookState, Scope};
use checkrein_dialects::HandlerSpec;
use checkrein_tools::recording::{Entry, RuleReplay};
use serde::{Deserialize, Serialize};

use crate::store::{Query, Row, Store};

/// Maximum number of calls.
const MAX_CALLS: usize = 5000;

/// Maximum number of changed calls that are listed.
const MAX_LISTED: usize = 200;

/// Rules, and the number of calls.
#[derive(Debug, Deserialize)]
pub(super) struct Request {
    rules: String,
    last: usize,
}

/// Result for all calls.
#[derive(Debug, Default, Serialize)]
pub(super) struct Report {
    /// Number of calls that were looked at.
    calls: usize,
    /// Number of calls whose input is known, so that rules were evaluated.
    evaluated: usize,
    /// Number of calls whose input is unknown.
    unknown: usize,
    /// Number of calls whose secrets were redacted. Rules that look for secrets find none.
    redacted: usize,
    /// Number of calls with another result.
    changed: usize,
    decisions: Vec<Transition>,
    changes: Vec<Changed>,
    /// Notes about the rules.
    notes: Vec<String>,
}

/// Number of calls with the same change.
#[derive(Debug, Serialize)]
struct Transition {
    then: Decision,
    now: Decision,
    count: usize,
}

/// A call with another result.
#[derive(Debug, Serialize)]
struct Changed {
    id: String,
    time: String,
    agent: String,
    event: String,
    tool: Option<String>,
    command: Option<String>,
    then: &'static str,
    now: &'static str,
    hooks: Vec<String>,
    /// Other differences: name and new text.
    other: Vec<(String, String)>,
}

/// Evaluates rules for the last calls. Problems of the rules are errors.
pub(super) fn evaluate(store: &Store, request: &Request) -> Result<Report, Vec<String>> {
    let decoded = native::DIALECT.decode("rules.yaml", Scope::User, &request.rules, Format::Yaml);
    let problems: Vec<_> = decoded.diagnostics.iter().map(ToString::to_string).collect();
    if decoded.hooks.is_empty() && !problems.is_empty() {
        return Err(problems);
    }
    let broken = decoded.hooks.iter().filter_map(|hook| match &hook.state {
        HookState::Broken(why) => Some(format!("{}: `{}`: {why}", hook.info.source, hook.info.id)),
        _ => None,
    });
    let broken: Vec<_> = broken.collect();
    if !broken.is_empty() {
        return Err(broken);
    }
    let mut report = Report { notes: problems, ..Report::default() };
    let others = decoded.hooks.iter().filter(|hook| !matches!(hook.handler, HandlerSpec::Rule(_))).count();
    if others > 0 {
        report.notes.push(format!("skipped hooks that are not rules: {others}; only rules are evaluated here"));
    }
    let mut replay = RuleReplay::new(decoded.hooks)
        .map_err(|(info, error)| vec![format!("{}: `{}`: {error}", info.source, info.id)])?;
    if replay.rules() == 0 {
        return Err(vec!["there is no rule; a rule is a hook with `when`".to_owned()]);
    }
    let mut rows = calls(store, request.last.clamp(1, MAX_CALLS));
    rows.reverse();
    for row in rows {
        report.calls += 1;
        match entry(store, &row) {
            Some(entry) => report.add(&row, &entry, &mut replay),
            None => report.unknown += 1,
        }
    }
    report.changes.reverse();
    report.decisions.sort_by_key(|transition| std::cmp::Reverse(transition.count));
    Ok(report)
}

/// Returns the last calls that rules can judge, the newest first. A repeated delivery is no second call.
fn calls(store: &Store, last: usize) -> Vec<Arc<Row>> {
    let all = store.page(&Query { limit: usize::MAX, ..Query::default() });
    let is_call = |row: &Arc<Row>| !row.repeat && row.tool.is_some();
    all.events.into_iter().filter(is_call).take(last).collect()
}

fn entry(store: &Store, row: &Row) -> Option<Entry> {
    let json = store.record(row.id).ok().flatten()?.record?;
    Entry::from_json(row.position, &json).ok().filter(|entry| !entry.made_up)
}

impl Report {
    fn add(&mut self, row: &Row, entry: &Entry, replay: &mut RuleReplay) {
        self.evaluated += 1;
        self.redacted += usize::from(entry.lacks_secrets());
        let replayed = replay.evaluate(entry);
        if !replayed.is_changed() {
            return;
        }
        self.changed += 1;
        let (then, now) = (replayed.then, replayed.now);
        match self.decisions.iter_mut().find(|known| (known.then, known.now) == (then, now)) {
            Some(known) => known.count += 1,
            None => self.decisions.push(Transition { then, now, count: 1 }),
        }
        // The newest changes are of interest.
        if self.changes.len() == MAX_LISTED {
            self.changes.remove(0);
        }
        let other = replayed.differences.into_iter().filter(|difference| difference.field != "decision");
        self.changes.push(Changed {
            id: row.id.to_string(),
            time: row.time.to_string(),
            agent: row.agent.to_string(),
            event: row.event.to_string(),
            tool: row.tool.as_ref().map(ToString::to_string),
            command: row.command.as_deref().map(str::to_owned),
            then: then.name(),
            now: now.name(),
            hooks: replayed.changed_hooks,
            other: other.map(|part| (part.field.to_owned(), part.now.unwrap_or_default())).collect(),
        });
    }
}
