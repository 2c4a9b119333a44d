//! What an agent is told when checkrein itself fails.

use std::borrow::Cow;
use std::sync::Arc;

use checkrein_core::{Effect, EventKind, Failure, FailureKind, HookInfo, RawJson, Rules, Scope, Settlement, Source};
use checkrein_dialects::EventRow;

use super::{Front, Fronted};
use crate::catalogue;

impl Front {
    /// Says no where that can be said, and why. An event that nobody can tell is taken for a gate.
    pub(super) fn failed(&self, kind: Option<&EventKind>, why: &str) -> Fronted {
        let kind = kind.cloned().unwrap_or(EventKind::PreToolUse);
        let event = catalogue::event(&kind);
        let hook = Arc::new(HookInfo::new("checkrein", Source::of(Scope::Code)));
        let effect = if self.agent.is_gate(&kind) { self.on_failure } else { Effect::Open };
        let failure = Failure::new(FailureKind::Error, why).with_effect(effect);
        let mut settlement = Settlement::new(&Rules::NATIVE, &event);
        let _ = settlement.push_failure(0, &hook, &failure);
        let verdict = settlement.finish();
        // Where it is said as a reason, once is enough.
        let told = if verdict.is_block() { vec![] } else { vec![format!("checkrein failed: {why}")] };
        let answer = self.agent.say_with(&event, &verdict, &told);
        let mut notes = vec![why.to_owned()];
        if verdict.is_block() {
            notes.extend(self.refused(&event.kind(), why));
        }
        let untold = notes.iter().filter(|note| !(answer.told && *note == why)).chain(&answer.notes).cloned().collect();
        notes.extend(answer.notes.iter().cloned());
        Fronted { answer, notes, untold, ..Fronted::default() }
    }

    /// Writes down that something was refused. Gives what its user should know if that fails.
    fn refused(&self, kind: &EventKind, why: &str) -> Option<String> {
        let dir = self.dir.clone().map_or_else(std::env::current_dir, Ok).ok()?;
        let wanted = checkrein_dialects::config::Wanted::at(&catalogue::event(kind));
        let log = self.audit_log(&self.sources_in(&dir).only(&wanted).load(), &dir)?;
        let written = log.append(checkrein::audit::AuditEntry::refusal(Some(kind), why));
        written.err().map(|error| format!("nothing was written to the audit log: {error}"))
    }

    /// Where files say that what hooks decide is written down.
    pub(super) fn audit_log(
        &self,
        loaded: &checkrein::sources::Loaded,
        dir: &std::path::Path,
    ) -> Option<checkrein::audit::AuditLog> {
        let settings = loaded.audit.as_ref()?;
        Some(checkrein::audit::AuditLog::of_settings(settings).on_behalf_of(self.agent.name, dir))
    }

    /// Which event a payload is about that may not be readable: by what the caller said, else by what can be seen of it.
    pub(super) fn kind_of(&self, payload: &[u8]) -> Option<EventKind> {
        if let Some(name) = &self.event {
            return self.agent.kind_named(name).ok();
        }
        let agent = self.as_called(payload).agent;
        if let Some(name) = RawJson::parse_bytes(payload).ok().and_then(|json| agent.event_name(&json)) {
            return agent.kind_named(&name).ok();
        }
        let text = String::from_utf8_lossy(payload);
        let said = |path: &str| {
            let key = path.rsplit('.').next().filter(|key| !key.is_empty())?;
            let behind = &text[text.find(&format!("\"{key}\""))? + key.len() + 2..];
            let name = behind.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
            name.split('"').next()
        };
        let named = |row: &&EventRow| row.named.is_some_and(|(path, name)| said(path) == Some(name));
        let row = agent.events.iter().find(named);
        row.map(|row| row.kind.clone()).or_else(|| agent.kind_named(said(agent.payload.event)?).ok())
    }

    /// In front of the generation of the agent that a payload is of, which may not be readable.
    pub(super) fn as_called(&self, payload: &[u8]) -> Cow<'_, Self> {
        if self.agent.kin.is_empty() || self.event.is_some() {
            return Cow::Borrowed(self);
        }
        let has = |field: &str| {
            let key = format!("\"{field}\"");
            payload.windows(key.len()).any(|window| window == key.as_bytes())
        };
        let other = match RawJson::parse_bytes(payload) {
            Ok(json) => self.agent.generation_of(&json),
            Err(_) => {
                self.agent.kin.iter().find(|(field, _)| has(field)).and_then(|(_, name)| checkrein_dialects::find(name))
            }
        };
        other.map_or(Cow::Borrowed(self), |agent| Cow::Owned(Self { agent, ..self.clone() }))
    }
}
