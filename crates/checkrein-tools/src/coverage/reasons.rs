//! Reasons why a call has no record, as far as the logs, the session files and the settings tell them.
//!
//! A reason states only what these files show. Without evidence, the text says no more than that no record exists.

use std::rc::Rc;
use std::sync::Arc;

use checkrein_core::EventKind;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::call::{HookFailure, Outcome, Session, ToolCall};
use super::formats::Format;
use super::join::Tools;
use super::records::{Rec, RecordedEvent, Source};
use super::report::{Known, State};
use super::settings::AgentSettings;
use crate::install::is_older;

/// A reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Reason {
    /// Code for programs.
    pub code: &'static str,
    /// Text for people.
    #[serde(serialize_with = "as_text")]
    #[schemars(with = "String")]
    pub text: Arc<str>,
}

pub(super) fn as_text<S: serde::Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

/// Codes of reasons, in the order of the documentation.
pub const REASON_CODES: &[&str] = &[
    "no_records",
    "before_log",
    "before_agent",
    "before_first_event",
    "agent_version",
    "hook_failed",
    "hook_timeout",
    "hook_cancelled",
    "hooks_skipped",
    "not_installed",
    "settings_unreadable",
    "switched_off",
    "entry_missing",
    "not_trusted",
    "program_missing",
    "matcher",
    "entry_changed",
    "other_surface",
    "settings_changed",
    "session_unseen",
    "event_not_hooked",
    "subagent_unseen",
    "tool_unseen",
    "call_unseen",
    "other_agent",
    "rejected_by_agent",
    "ran_anyway",
    "not_asked",
    "answers_differ",
    "other_input",
    "rotated",
    "audit_only",
    "log_off",
    "no_log",
    "no_time",
    "not_listed",
    "session",
    "result_unknown",
];

pub(super) fn reason(code: &'static str, text: impl Into<String>) -> Reason {
    Reason { code, text: Arc::from(text.into()) }
}

/// Longest time from the start of a session to the first event of it.
const START: SignedDuration = SignedDuration::from_secs(60);

/// Everything that is known about a session without a record for some call.
pub(super) struct Evidence<'a> {
    agent: &'static str,
    id: String,
    version: Option<String>,
    surface: Option<String>,
    started: Option<Timestamp>,
    title: &'static str,
    /// Unit of the times of calls.
    time_unit: SignedDuration,
    known: &'a Known<'a>,
    own: Vec<&'a Rec>,
    tools: Tools,
    settings: Option<Rc<AgentSettings>>,
}

impl<'a> Evidence<'a> {
    pub(super) fn new(session: &Session, title: &'static str, known: &'a Known<'a>) -> Self {
        Self {
            agent: session.agent,
            id: session.id.clone(),
            version: session.version.clone(),
            surface: session.surface.clone(),
            started: session.started,
            title,
            time_unit: Format::of(session.agent).map_or(SignedDuration::ZERO, |format| format.time_unit),
            known,
            own: known.records.of_session(session.agent, &session.id).iter().map(|rec| &**rec).collect(),
            tools: Tools::new(session.agent),
            settings: known.settings.of(known.setup, session, title),
        }
    }

    /// Returns the state of a call without a record.
    pub(super) fn missing(&self, call: &ToolCall) -> (State, Reason) {
        if let Some(text) = call.unclear {
            return (State::CannotTell, reason("not_listed", text));
        }
        if call.outcome == Outcome::Rejected {
            return (State::Rejected, reason("rejected_by_agent", "the agent rejected the call; it never ran"));
        }
        if let Some(failure) = call.hook_failure {
            return (State::NotJudged, self.failed(failure));
        }
        if let Some(reason) = self.old_version() {
            return (State::NotJudged, reason);
        }
        let window = self.known.records.window;
        let is_before =
            |time: Option<Timestamp>| window.first.zip(time).is_some_and(|(first, time)| self.is_before(time, first));
        let is_seen = self.own.iter().any(|rec| rec.source == Source::Log);
        if call.time.is_none() && self.may_be_before_records(is_seen) {
            let text =
                "the session file has no time of the call, which may be older than the first record of checkrein";
            return (State::CannotTell, reason("no_time", text));
        }
        if is_seen {
            if is_before(call.time) && !window.has_start {
                return (State::CannotTell, self.rotated());
            }
            return (State::NotJudged, self.seen_session(call));
        }
        if !self.own.is_empty() && (is_before(call.time) || !window.has_log) {
            let text = "only the audit log covers this call, and it has no line for calls that no hook matched";
            return (State::CannotTell, reason("audit_only", text));
        }
        if !self.known.setup.log_is_on {
            return (State::CannotTell, reason("log_off", "the decision log is off (`log: false`)"));
        }
        if let Some(other) = self.known.records.other_agent(self.agent, &self.id) {
            let text =
                format!("no record for {}; checkrein recorded a session with this id for agent `{other}`", self.title);
            return (State::NotJudged, reason("other_agent", text));
        }
        if !window.has_log && !window.has_audit {
            let text = "checkrein has recorded nothing: it was not installed, or no agent called it";
            return (State::NotJudged, reason("no_records", text));
        }
        if is_before(call.time) {
            return match window.has_start {
                true => (State::NotJudged, reason("before_log", "checkrein had recorded nothing before that time")),
                false => (State::CannotTell, self.rotated()),
            };
        }
        if !window.has_log {
            let text = "the decision log has no lines, and the audit log has none of this session";
            return (State::CannotTell, reason("no_log", text));
        }
        (State::NotJudged, self.unseen_session(call))
    }

    /// Returns `true` if a call was made before an event. Files with coarse times have the start of the unit in which it was made.
    fn is_before(&self, call: Timestamp, event: Timestamp) -> bool {
        event.duration_since(call) >= self.time_unit
    }

    /// Returns `true` if the session began before the first record that could have been made of it.
    fn may_be_before_records(&self, is_seen: bool) -> bool {
        let records = &self.known.records;
        let first = match is_seen {
            true => self.own.iter().filter_map(|rec| rec.time).min(),
            false => records.first_of_agent(self.agent).or(records.window.first),
        };
        self.started.zip(first).is_some_and(|(started, first)| first.duration_since(started) > START)
    }

    fn rotated(&self) -> Reason {
        let first = self.known.records.window.first.map(|first| format!("{first:.0}")).unwrap_or_default();
        reason("rotated", format!("the decision log starts at {first}; older lines were removed"))
    }

    /// The agent reports that it called checkrein, and that it got no answer.
    fn failed(&self, failure: HookFailure) -> Reason {
        let title = self.title;
        match failure {
            HookFailure::Failed => {
                reason("hook_failed", format!("{title} reports that its hook failed; checkrein gave no answer"))
            }
            HookFailure::TimedOut { limit } => {
                let limit = limit.map(|limit| format!(" of {} s", limit / 1000)).unwrap_or_default();
                reason(
                    "hook_timeout",
                    format!("{title} reports that it ended checkrein at the timeout{limit} of its entry"),
                )
            }
            HookFailure::Cancelled => {
                let text = format!("{title} reports that it ended checkrein before it answered, and names no timeout");
                reason("hook_cancelled", text)
            }
        }
    }

    /// The version of the agent has no event before tools.
    fn old_version(&self) -> Option<Reason> {
        let row = checkrein_dialects::find(self.agent)?.row(&EventKind::PreToolUse)?;
        let (since, version) = (row.since?, self.version.as_deref()?);
        if !is_older(version, since) {
            return None;
        }
        let text = format!("{} {version} has no event `{}`; it exists since {since}", self.title, row.name);
        Some(reason("agent_version", text))
    }

    /// checkrein was called in this session, but not for this call.
    fn seen_session(&self, call: &ToolCall) -> Reason {
        let first = self.own.iter().filter_map(|rec| rec.time).min();
        if let Some(first) = first.filter(|first| call.time.is_some_and(|time| self.is_before(time, *first))) {
            let text = format!("checkrein recorded the first event of this session at {first:.0}, after this call");
            return reason("before_first_event", text);
        }
        let gates = || self.own.iter().filter(|rec| rec.event == RecordedEvent::Gate);
        if gates().next().is_none() {
            return self.settings.as_ref().and_then(|settings| settings.reason(call)).unwrap_or_else(|| {
                let text = format!("{} called checkrein for other events of this session only", self.title);
                reason("event_not_hooked", text)
            });
        }
        if let Some(subagent) = &call.subagent {
            let is_seen = subagent.id.as_deref().is_some_and(|id| {
                gates().any(|rec| rec.subagent.as_deref() == Some(id))
                    || !self.known.records.of_session(self.agent, id).is_empty()
            });
            if !is_seen {
                let kind = subagent.kind.as_deref().or(subagent.id.as_deref()).unwrap_or("unknown");
                let text = format!("{} called no hook for sub-agent `{kind}`", self.title);
                return reason("subagent_unseen", text);
            }
        }
        if !gates().any(|rec| self.tools.are_same(&call.tool, rec.tool.as_deref())) {
            return self.settings.as_ref().and_then(|settings| settings.matcher_reason(call)).unwrap_or_else(|| {
                let text = format!("{} called checkrein for other tools of this session only", self.title);
                reason("tool_unseen", text)
            });
        }
        let text =
            format!("{} called checkrein for other calls of this tool, and no record of this one exists", self.title);
        reason("call_unseen", text)
    }

    /// checkrein was never called in this session.
    fn unseen_session(&self, call: &ToolCall) -> Reason {
        let title = self.title;
        let first = self.known.records.first_of_agent(self.agent);
        let is_before = first.zip(call.time).is_some_and(|(first, time)| self.is_before(time, first));
        if let Some(first) = first.filter(|_| is_before && self.known.records.window.has_start) {
            let text = format!("checkrein recorded the first event of {title} at {first:.0}, after this call");
            return reason("before_agent", text);
        }
        if let Some(found) = self.settings.as_ref().and_then(|settings| settings.reason(call)) {
            return found;
        }
        if let Some(surface) = &self.surface
            && let Some(seen) = self.known.surfaces.get(self.agent)
            && !seen.is_empty()
            && !seen.contains(surface)
        {
            let seen: Vec<_> = seen.iter().map(|name| format!("`{name}`")).collect();
            let text = format!(
                "this session ran in `{surface}`; checkrein recorded sessions of {title} in {} only",
                seen.join(", ")
            );
            return reason("other_surface", text);
        }
        if let Some(changed) = self.settings.as_ref().and_then(|settings| settings.changed_after(call)) {
            let text = format!(
                "no event of this session reached checkrein; the settings of {title} changed after this call, at {changed:.0}"
            );
            return reason("settings_changed", text);
        }
        reason("session_unseen", format!("no event of this session reached checkrein; {title} did not call its hooks"))
    }
}
