//! What an agent is told when checkrein itself fails.

use std::sync::Arc;

use checkrein_core::{Effect, EventKind, Failure, FailureKind, HookInfo, Rules, Scope, Settlement, Source};

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
        notes.extend(answer.notes.iter().cloned());
        Fronted { answer, notes, ..Fronted::default() }
    }

    /// Which event a payload is about that may not be readable: by what the caller said, else by what can be seen of it.
    pub(super) fn kind_of(&self, payload: &[u8]) -> Option<EventKind> {
        if let Some(name) = &self.event {
            return self.agent.kind_named(name).ok();
        }
        let text = String::from_utf8_lossy(payload);
        let key = self.agent.payload.event.rsplit('.').next()?;
        let behind = &text[text.find(&format!("\"{key}\""))? + key.len() + 2..];
        let name = behind.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
        self.agent.kind_named(name.split('"').next()?).ok()
    }
}
