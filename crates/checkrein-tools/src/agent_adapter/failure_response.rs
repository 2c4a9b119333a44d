//! Answer to an agent when checkrein itself fails, and its entry in the audit log.
//!
//! A failure at a gate must never look like an answer that lets the agent continue, unless the caller chose
//! [`FailurePolicy::Open`].

use std::path::Path;
use std::sync::Arc;

use checkrein::audit::{AuditEntry, AuditLog};
use checkrein::hook_files::{Loaded, Locations, Sources};
use checkrein_core::{
    EventFilter, EventKind, Failure, FailureKind, FailurePolicy, HookInfo, Rules, Scope, Settlement, Source,
};
use checkrein_dialects::agents::native;
use checkrein_dialects::{Answer, AnswerExtras};

use super::{AgentAdapter, AgentResponse};
use crate::samples;

impl AgentAdapter {
    /// Denies the event with `why` as the reason, if the agent lets hooks block it. An unknown event is treated as a gate.
    /// `loaded` holds the hook files and their directory, if they are loaded already.
    pub(super) fn fail(&self, kind: Option<EventKind>, why: &str, loaded: Option<(&Loaded, &Path)>) -> AgentResponse {
        let Some(kind) = kind else { return self.fail_unknown_event(why, loaded) };
        let event = samples::event(&kind);
        let hook = Arc::new(HookInfo::new("checkrein", Source::for_scope(Scope::Code)));
        let effect = if self.agent.is_gate(&kind) { self.on_failure } else { FailurePolicy::Open };
        let failure = Failure::new(FailureKind::Error, why).with_effect(effect);
        let mut settlement = Settlement::new(&Rules::NATIVE, &event);
        let _ = settlement.push_failure(0, &hook, &failure);
        let verdict = settlement.finish();
        // The agent shows the reason of a block, so a note would repeat it.
        let shown = if verdict.decision().is_block() { vec![] } else { vec![format!("checkrein failed: {why}")] };
        let answer = self.agent.render_verdict_with(
            &event,
            &verdict,
            AnswerExtras { messages: &shown, ..AnswerExtras::default() },
        );
        let mut notes = vec![why.to_owned()];
        if verdict.decision().is_block() {
            let log = match loaded {
                Some((loaded, dir)) => self.audit_log(loaded, dir),
                None => self.load_audit_log(&kind),
            };
            notes.extend(log.and_then(|log| append(&log, AuditEntry::refusal(Some(&kind), why))));
        }
        let undelivered = notes
            .iter()
            .filter(|note| !(answer.user_message_included && *note == why))
            .chain(&answer.notes)
            .cloned()
            .collect();
        notes.extend(answer.notes.iter().cloned());
        AgentResponse { answer, notes, undelivered_notes: undelivered, has_failed: true, ..AgentResponse::default() }
    }

    /// Response to a payload whose event is unknown. Any event could be a gate, so every dialect denies it in all spellings.
    fn fail_unknown_event(&self, why: &str, loaded: Option<(&Loaded, &Path)>) -> AgentResponse {
        if self.on_failure == FailurePolicy::Open {
            let notes = vec![format!("checkrein failed: {why}")];
            let undelivered_notes = notes.clone();
            return AgentResponse { undelivered_notes, notes, has_failed: true, ..AgentResponse::default() };
        }
        let log = match loaded {
            Some((loaded, dir)) => self.audit_log(loaded, dir),
            None => self.load_audit_log(&EventKind::PreToolUse),
        };
        let undelivered: Vec<_> =
            log.and_then(|log| append(&log, AuditEntry::refusal(None, why))).into_iter().collect();
        let notes = [vec![why.to_owned()], undelivered.clone()].concat();
        AgentResponse {
            answer: Answer::deny_everywhere(why),
            notes,
            undelivered_notes: undelivered,
            has_failed: true,
            ..AgentResponse::default()
        }
    }

    pub(super) fn load_audit_log(&self, kind: &EventKind) -> Option<AuditLog> {
        let dir = self.dir.clone().map_or_else(std::env::current_dir, Ok).ok()?;
        let filter = EventFilter::for_event(&samples::event(kind));
        self.audit_log(&self.sources_in(&dir).only(&filter).load(), &dir)
    }

    /// Audit log of the loaded files. `None` if they configure no audit log, or for `checkrein try`.
    pub(super) fn audit_log(&self, loaded: &Loaded, dir: &Path) -> Option<AuditLog> {
        if self.is_trial {
            return None;
        }
        let settings = loaded.audit.as_ref()?;
        Some(AuditLog::from_settings(settings).on_behalf_of(self.agent.name, dir))
    }
}

/// Records in the audit log that checkrein denied the call of an unknown agent, if the user's files configure a log. Returns a
/// note for the user if that fails.
pub fn record_refusal(why: &str, locations: Locations) -> Option<String> {
    let dir = std::env::current_dir().ok()?;
    let loaded = Sources::discover_in(&native::DIALECT, &dir, locations).load();
    let log = AuditLog::from_settings(loaded.audit.as_ref()?);
    let project = dir.to_string_lossy();
    append(&log, AuditEntry::refusal(None, why).from_agent(None, Some(&project)))
}

pub(super) fn append(log: &AuditLog, entry: AuditEntry) -> Option<String> {
    log.append(entry).err().map(|error| format!("cannot write to the audit log: {error}"))
}
