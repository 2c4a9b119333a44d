//! Assignment of records to calls.
//!
//! A record belongs to a call if the agent, the session and the id of the call are the same. Sub-agents and some model servers use ids
//! such as `call_0` several times, so the digest of the input decides between calls with the same id. Without ids, the session,
//! the digest, the tool and the order decide. That is weaker, and the result says so.
//!
//! Each record is used once. A record that fits no call is ignored: more records than calls never make a call judged. Only records of the
//! event before a tool are joined: a permission request is no evidence that the hooks before the tool ran.

use std::collections::{HashMap, HashSet};

use checkrein_core::Decision;

use super::call::{Session, ToolCall};
use super::formats::{Format, SubagentRecords};
use super::records::{LONG_ID, Rec, RecordedEvent, Records, Source};

/// Records of one call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Match {
    /// Answers to all deliveries of the call, in the order of the log. Never empty.
    pub(super) answers: Vec<Decision>,
    /// `true` if the call was joined without an id.
    pub(super) is_weak: bool,
    /// `true` if the record has another input than the session file.
    pub(super) input_differs: bool,
    /// Hooks that a variable of the user skipped.
    pub(super) skipped: Option<Box<str>>,
}

impl Match {
    fn new(record: &Rec) -> Self {
        Self { answers: vec![record.answer], skipped: record.skipped.clone(), ..Self::default() }
    }
}

/// Returns the records of each call of a session.
pub(super) fn join(session: &Session, records: &Records) -> Vec<Option<Match>> {
    let calls = &session.calls;
    let mut found = vec![None; calls.len()];
    // Hooks of some sub-agents get the id of the sub-agent as the session.
    let mut ids = vec![session.id.as_str()];
    let mut seen = HashSet::from([session.id.as_str()]);
    ids.extend(calls.iter().filter_map(|call| call.subagent.as_ref()?.id.as_deref()).filter(|id| seen.insert(id)));
    let own = |id| records.of_session(session.agent, id).iter().map(move |rec| Candidate { record: rec, session: id });
    let all: Vec<_> = ids.iter().copied().flat_map(own).collect();
    let tools = Tools::new(session.agent);
    for source in [Source::Log, Source::Audit] {
        let is_gate =
            |found: &&Candidate<'_>| found.record.source == source && found.record.event == RecordedEvent::Gate;
        let some: Vec<_> = all.iter().filter(is_gate).copied().collect();
        if !some.is_empty() {
            assign(calls, &some, &tools, &mut found);
        }
    }
    for (call, found) in calls.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
        *found = from_other_session(call, session.agent, records);
    }
    found
}

/// A resumed session contains the calls of the session before it. Their ids are long, so they prove that it is the same call.
fn from_other_session(call: &ToolCall, agent: &str, records: &Records) -> Option<Match> {
    let id = call.id.as_deref().filter(|id| id.len() >= LONG_ID)?;
    let same: Vec<_> = records.with_long_id(agent, id).iter().filter(|rec| has_digest(rec, call)).collect();
    let answers: Vec<_> = same.iter().map(|rec| rec.answer).collect();
    let skipped = same.iter().find_map(|rec| rec.skipped.clone());
    if answers.is_empty() { None } else { Some(Match { answers, skipped, ..Match::default() }) }
}

/// A record, with the session that it names.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    record: &'a Rec,
    session: &'a str,
}

impl std::ops::Deref for Candidate<'_> {
    type Target = Rec;

    fn deref(&self) -> &Rec {
        self.record
    }
}

impl Candidate<'_> {
    /// Returns `true` if the record and a call belong to the same agent or sub-agent. Some hooks get the id of the sub-agent as the
    /// session.
    fn has_subagent(&self, call: &ToolCall) -> bool {
        let own = call.subagent.as_ref().and_then(|subagent| subagent.id.as_deref());
        self.subagent.as_deref() == own || own == Some(self.session)
    }
}

fn assign(calls: &[ToolCall], records: &[Candidate<'_>], tools: &Tools, found: &mut [Option<Match>]) {
    let mut used = vec![false; records.len()];
    // The audit log has no ids of sub-agents.
    let names_subagents = tools.format.map_or(SubagentRecords::Unnamed, |format| format.subagent_records);
    let is_strict = match names_subagents {
        SubagentRecords::Named => records.iter().all(|record| record.source == Source::Log),
        SubagentRecords::OwnSession => true,
        SubagentRecords::Unnamed => records.iter().any(|record| record.subagent.is_some()),
    };
    let may_prove = |record: &Candidate<'_>, call: &ToolCall| !is_strict || record.has_subagent(call);
    by_id(calls, records, tools, &may_prove, found, &mut used);
    by_digest(calls, records, tools, &may_prove, found, &mut used);
}

/// Returns `true` if a record may prove a call of this agent or sub-agent.
type MayProve<'a> = &'a dyn Fn(&Candidate<'_>, &ToolCall) -> bool;

fn by_id(
    calls: &[ToolCall],
    records: &[Candidate<'_>],
    tools: &Tools,
    may_prove: MayProve<'_>,
    found: &mut [Option<Match>],
    used: &mut [bool],
) {
    let mut groups: HashMap<&str, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for (position, record) in records.iter().enumerate() {
        if let Some(id) = record.call.as_deref() {
            groups.entry(id).or_default().1.push(position);
        }
    }
    for (position, call) in calls.iter().enumerate().filter(|(position, _)| found[*position].is_none()) {
        if let Some(group) = call.id.as_deref().and_then(|id| groups.get_mut(id)) {
            group.0.push(position);
        }
    }
    for (calls_of_id, records_of_id) in groups.values() {
        if calls_of_id.is_empty() {
            continue;
        }
        let mut take = |call: usize, fits: &dyn Fn(&Candidate<'_>) -> bool, input_differs: bool| {
            let own = &calls[call];
            // A long id is unique, so it proves that it is the same call.
            let is_unique = own.id.as_deref().is_some_and(|id| id.len() >= LONG_ID);
            let is_free = |position: &usize| {
                let record = &records[*position];
                !used[*position] && fits(record) && (is_unique || may_prove(record, own))
            };
            let free = records_of_id.iter().copied().find(is_free);
            if let (Some(position), None) = (free, &found[call]) {
                used[position] = true;
                found[call] = Some(Match { input_differs, ..Match::new(&records[position]) });
            }
        };
        for call in calls_of_id.iter().copied() {
            let own = &calls[call];
            take(call, &|rec| !rec.repeat && has_digest(rec, own) && rec.has_subagent(own), false);
        }
        for call in calls_of_id.iter().copied() {
            let own = &calls[call];
            take(call, &|rec| !rec.repeat && has_digest(rec, own), false);
        }
        for call in calls_of_id.iter().copied() {
            let own = &calls[call];
            take(call, &|rec| !rec.repeat && tools.are_same(&own.tool, rec.tool.as_deref()), true);
        }
        // The line of the first delivery may be lost.
        for call in calls_of_id.iter().copied() {
            let own = &calls[call];
            take(call, &|rec| has_digest(rec, own), false);
        }
        for position in records_of_id.iter().copied() {
            if !used[position] {
                used[position] = attach(calls, calls_of_id, &records[position], found);
            }
        }
    }
}

fn by_digest(
    calls: &[ToolCall],
    records: &[Candidate<'_>],
    tools: &Tools,
    may_prove: MayProve<'_>,
    found: &mut [Option<Match>],
    used: &mut [bool],
) {
    let mut groups: HashMap<&str, Vec<usize>> = HashMap::new();
    for (position, record) in records.iter().enumerate().filter(|(position, _)| !used[*position]) {
        for digest in record.digests.iter().flatten() {
            groups.entry(digest).or_default().push(position);
        }
    }
    let mut taken: HashMap<&str, Vec<usize>> = HashMap::new();
    for (position, call) in calls.iter().enumerate() {
        if found[position].is_some() {
            continue;
        }
        let fits = |candidate: usize, used: &[bool]| {
            let rec = &records[candidate];
            let lacks_id = rec.call.is_none() || call.id.is_none();
            !used[candidate]
                && !rec.repeat
                && lacks_id
                && may_prove(rec, call)
                && tools.are_same(&call.tool, rec.tool.as_deref())
        };
        let group = groups.get(call.digest.as_str()).map_or(&[][..], Vec::as_slice);
        let free = group.iter().copied().find(|candidate| fits(*candidate, used));
        // The audit log has no secrets, so the digest of such an input is another one.
        let free = free.or_else(|| {
            let command = call.command.as_deref().filter(|command| command.contains("[redacted:"))?;
            let is_same = |candidate: &usize| records[*candidate].command.as_deref() == Some(command);
            (0..records.len()).find(|candidate| is_same(candidate) && fits(*candidate, used))
        });
        if let Some(record) = free {
            used[record] = true;
            found[position] = Some(Match { is_weak: true, ..Match::new(&records[record]) });
            taken.entry(call.digest.as_str()).or_default().push(position);
        }
    }
    // Further deliveries of the same calls.
    for (position, record) in records.iter().enumerate().filter(|(_, record)| record.call.is_none()) {
        if used[position] {
            continue;
        }
        let same = record.digests.iter().flatten().find_map(|digest| taken.get(&**digest));
        if let Some(positions) = same {
            used[position] = attach(calls, positions, record, found);
        }
    }
}

/// Adds a further delivery to a call that has a record.
fn attach(calls: &[ToolCall], positions: &[usize], record: &Rec, found: &mut [Option<Match>]) -> bool {
    let matched = positions.iter().rev().copied().filter(|position| found[*position].is_some());
    let same = { matched }.find(|position| has_digest(record, &calls[*position]));
    let Some(position) = same else { return false };
    if let Some(found) = &mut found[position] {
        found.answers.push(record.answer);
    }
    true
}

fn has_digest(record: &Rec, call: &ToolCall) -> bool {
    record.digests.iter().flatten().any(|digest| **digest == *call.digest)
}

/// Names of an agent's tools in session files and in hooks.
pub(super) struct Tools {
    format: Option<&'static Format>,
    dialect: Option<&'static checkrein_dialects::Dialect>,
}

impl Tools {
    pub(super) fn new(agent: &str) -> Self {
        Self { format: Format::of(agent), dialect: checkrein_dialects::find(agent) }
    }

    /// Returns `true` if both names mean the same tool. A record without a name fits every tool.
    pub(super) fn are_same(&self, in_file: &str, in_record: Option<&str>) -> bool {
        let Some(in_record) = in_record else { return true };
        let own = self.format.map_or(in_file, |format| format.hook_tool(in_file));
        if own.eq_ignore_ascii_case(in_record) || short(own) == in_record {
            return true;
        }
        let common = |name: &str| self.dialect.map_or(&[][..], |dialect| dialect.common_names(name));
        let is_named = |names: &[&str], name: &str| names.iter().any(|other| other.eq_ignore_ascii_case(name));
        is_named(common(own), in_record)
            || is_named(common(in_record), own)
            || common(own).iter().any(|name| is_named(common(in_record), name))
    }
}

/// Returns the name of a tool without its extension: `shell` for `developer__shell`.
fn short(name: &str) -> &str {
    match name.split_once("__") {
        Some((_, tool)) if !tool.contains("__") => tool,
        _ => name,
    }
}
