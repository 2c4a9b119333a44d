//! Reasons why a call has no record, as far as the logs and the settings tell them.

use checkrein_dialects::Dialect;
use jiff::Timestamp;
use serde::Serialize;

use super::call::{Session, ToolCall};
use super::join::Tools;
use super::records::{Rec, RecordedEvent, Records, Source};
use super::report::{Setup, State};

/// A reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct Reason {
    /// Code for programs.
    pub code: &'static str,
    /// Text for people.
    pub text: String,
}

pub(super) fn reason(code: &'static str, text: impl Into<String>) -> Reason {
    Reason { code, text: text.into() }
}

/// Everything that is known about a session without a record for some call.
pub(super) struct Evidence<'a> {
    agent: &'static str,
    id: String,
    pub(super) title: &'static str,
    pub(super) records: &'a Records,
    pub(super) setup: &'a Setup,
    pub(super) own: Vec<&'a Rec>,
    pub(super) tools: Tools,
}

impl<'a> Evidence<'a> {
    pub(super) fn new(session: &Session, title: &'static str, records: &'a Records, setup: &'a Setup) -> Self {
        let own = records.of_session(session.agent, &session.id).iter().collect();
        Self {
            agent: session.agent,
            id: session.id.clone(),
            title,
            records,
            setup,
            own,
            tools: Tools::new(session.agent),
        }
    }

    /// Returns the state of a call without a record.
    pub(super) fn missing(&self, call: &ToolCall) -> (State, Reason) {
        if let Some(text) = call.unclear {
            return (State::CannotTell, reason("not_listed", text));
        }
        if call.hook_failed {
            let text = format!("{} reports that its hook failed; checkrein gave no answer", self.title);
            return (State::NotJudged, reason("hook_failed", text));
        }
        let window = self.records.window;
        let is_before = |time: Option<Timestamp>| window.first.zip(time).is_some_and(|(first, time)| time < first);
        if self.own.iter().any(|rec| rec.source == Source::Log) {
            if is_before(call.time) && !window.has_start {
                return (State::CannotTell, self.rotated());
            }
            return (State::NotJudged, self.seen_session(call));
        }
        if !self.own.is_empty() && (is_before(call.time) || !window.has_log) {
            let text = "only the audit log covers this call, and it has no line for calls that no hook matched";
            return (State::CannotTell, reason("audit_only", text));
        }
        if !self.setup.log_is_on {
            return (State::CannotTell, reason("log_off", "the decision log is off (`log: false`)"));
        }
        if let Some(other) = self.records.other_agent(self.agent, &self.id) {
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
        (State::NotJudged, self.unseen_session())
    }

    fn rotated(&self) -> Reason {
        let first = self.records.window.first.map(|first| format!("{first:.0}")).unwrap_or_default();
        reason("rotated", format!("the decision log starts at {first}; older lines were removed"))
    }

    /// checkrein was called in this session, but not for this call.
    fn seen_session(&self, call: &ToolCall) -> Reason {
        let gates = || self.own.iter().filter(|rec| rec.event == RecordedEvent::Gate);
        if gates().next().is_none() {
            let text = format!(
                "{} called checkrein for other events only: its settings have no entry for tool calls",
                self.title
            );
            return reason("event_not_hooked", text);
        }
        if let Some(subagent) = &call.subagent {
            let is_seen = subagent.id.as_deref().is_some_and(|id| {
                gates().any(|rec| rec.subagent.as_deref() == Some(id))
                    || !self.records.of_session(self.agent, id).is_empty()
            });
            if !is_seen {
                let kind = subagent.kind.as_deref().or(subagent.id.as_deref()).unwrap_or("unknown");
                let text = format!("{} called no hook for sub-agent `{kind}`", self.title);
                return reason("subagent_unseen", text);
            }
        }
        if !gates().any(|rec| self.tools.are_same(&call.tool, rec.tool.as_deref())) {
            let text = format!(
                "{} called checkrein for other tools only: the matcher of its entry, or a tool without hooks",
                self.title
            );
            return reason("tool_unseen", text);
        }
        let text =
            format!("{} did not call checkrein for this call, or ended it before it answered (timeout)", self.title);
        reason("call_unseen", text)
    }

    /// checkrein was never called in this session.
    fn unseen_session(&self) -> Reason {
        let dialect: Option<&'static Dialect> = checkrein_dialects::find(self.agent);
        match dialect.and_then(|dialect| self.setup.is_installed(dialect.name)) {
            Some(false) => {
                let text = format!(
                    "checkrein has no entry in the settings of {} now; run `checkrein install {}`",
                    self.title, self.agent
                );
                reason("not_installed", text)
            }
            _ => {
                let text = format!(
                    "no event of this session reached checkrein: {} did not trust or load its entry, or the session ran on \
                     another surface",
                    self.title
                );
                reason("session_unseen", text)
            }
        }
    }
}
