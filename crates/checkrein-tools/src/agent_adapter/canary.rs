//! Answer to the call of a self-test: always a denial. See [`self_test`](crate::self_test).

use std::path::Path;
use std::sync::Arc;

use checkrein::audit::AuditEntry;
use checkrein_core::{Event, HookInfo, Opinion, Rules, Scope, Settlement, Source};
use checkrein_dialects::AnswerExtras;

use super::failure_response::append;
use super::{AgentAdapter, AgentResponse};
use crate::self_test;

impl AgentAdapter {
    /// Returns the issued token in a payload. `None` for all calls of agents.
    pub(super) fn canary_in<'p>(&self, payload: &'p str) -> Option<&'p str> {
        self_test::issued_token(payload, self.canaries.as_deref()?)
    }

    /// Denies the call of a self-test. Loads all hooks, and runs none of them.
    pub(super) fn deny_canary(&self, event: &Event, token: &str, dir: &Path) -> AgentResponse {
        let loaded = self.sources_in(dir).called_by(self.agent).load();
        let why = self_test::reason(token, &loaded.hooks);
        let hook = Arc::new(HookInfo::new("checkrein", Source::for_scope(Scope::Code)));
        let mut settlement = Settlement::new(&Rules::NATIVE, event);
        let _ = settlement.push(0, &hook, &Opinion::deny(why.as_str()));
        let answer = self.agent.render_verdict_with(event, &settlement.finish(), AnswerExtras::default());
        let entry = AuditEntry::refusal(Some(&event.kind()), &why);
        let mut notes: Vec<_> = self.audit_log(&loaded, dir).and_then(|log| append(&log, entry)).into_iter().collect();
        notes.extend(answer.notes.iter().cloned());
        AgentResponse { answer, undelivered_notes: notes.clone(), notes, ..AgentResponse::default() }
    }
}
