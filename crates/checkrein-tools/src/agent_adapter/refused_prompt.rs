//! Refused prompts of agents whose hooks cannot block prompts: the tools of that turn are denied, until the next prompt.
//!
//! The refusal is in the session store, because every event has its own process.

use std::sync::Arc;

use checkrein::session_store::SessionStore;
use checkrein_core::{Event, EventKind, HookInfo, HookResult, Opinion, Rules, Scope, Source, Verdict, settle};
use checkrein_dialects::Answer;

use super::{AgentAdapter, session};

/// Name of the reason in the session store.
const KEY: &str = "refused prompt";

impl AgentAdapter {
    /// `true` if the agent reports prompts to hooks that cannot block them.
    fn denies_tools_of_prompts(&self) -> bool {
        let row = self.agent.row(&EventKind::PromptSubmit);
        row.is_some_and(|row| !row.always_background) && !self.agent.blocks(&EventKind::PromptSubmit)
    }

    /// `true` if events of this kind are denied after a refused prompt.
    pub(super) fn checks_prompt_at(&self, kind: &EventKind) -> bool {
        *kind != EventKind::PromptSubmit && self.agent.is_gate(kind) && self.denies_tools_of_prompts()
    }

    /// Returns the verdict for a tool of a refused prompt.
    pub(super) fn refused_turn(&self, event: &Event, sessions: &dyn SessionStore) -> Option<Verdict> {
        if !self.checks_prompt_at(&event.kind()) || event.tool_name().is_none() {
            return None;
        }
        let reason = sessions.text(session(event), KEY)?;
        let text = format!(
            "The prompt of this turn was refused, so its tools are denied until the next prompt. Tell the user. ({reason})"
        );
        let hook = Arc::new(HookInfo::new("refused-prompt", Source::for_scope(Scope::Code)));
        Some(settle(&Rules::NATIVE, event, &[HookResult { hook: &hook, result: Ok(&Opinion::deny(text)) }]))
    }

    /// Stores a refused prompt that the agent lets pass, and removes that of the previous turn. Returns a note for the user.
    pub(super) fn keep_refused_prompt(
        &self,
        event: &Event,
        verdict: &Verdict,
        answer: &Answer,
        sessions: &dyn SessionStore,
    ) -> Option<String> {
        if event.kind() != EventKind::PromptSubmit || !self.denies_tools_of_prompts() {
            return None;
        }
        let is_refused = verdict.decision().is_block() && !answer.decision.is_block();
        let reason = verdict.reason().unwrap_or("a hook refused it");
        sessions.set_text(session(event), KEY, is_refused.then_some(reason));
        is_refused.then(|| {
            let title = self.agent.title();
            format!("{title} hooks cannot block prompts, so the tools of this turn are denied: {reason}")
        })
    }
}
