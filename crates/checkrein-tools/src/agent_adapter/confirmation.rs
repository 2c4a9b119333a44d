//! Questions of hooks under agents that cannot ask: codes for the user, and calls that the user has confirmed.
//!
//! See [`allow_once`](crate::allow_once). A call that shows that the agent confirms its own calls is always denied, also without
//! hooks and whatever the failure policy is.

use std::path::Path;
use std::sync::Arc;

use checkrein::audit::{AuditEntry, EntryKind};
use checkrein::hook_files::Loaded;
use checkrein::internal::calls_allow_once;
use checkrein_core::{Event, HookInfo, Opinion, RawJson, Rules, Scope, Settlement, Source, Verdict};
use checkrein_dialects::AnswerExtras;

use super::failure_response::append;
use super::{AgentAdapter, AgentResponse, Phase};
use crate::allow_once::Call;

/// Reason of a denial, for the model.
const ONLY_THE_USER: &str = "only the user may confirm a call with `checkrein allow-once`, and the code is for the user: tell the \
                             user the command, do not run it and do not write it to a file";

/// Tools that can run a command or prepare one, by their shared names.
const TOOLS: &[&str] = &["Bash", "Write", "Edit", "MultiEdit", "NotebookEdit"];

/// `true` if a command or a path names the directory of confirmations, or the name of a confirmed call in it. No tool of an agent
/// needs these files.
fn names_confirmations(event: &Event, input: &RawJson) -> bool {
    let is_shell = event.tool_aliases().chain(event.tool_name()).any(|name| name == "Bash");
    let Some(entries) = input.entries() else { return false };
    entries.filter(|entry| entry.key() != "description").any(|entry| {
        let text = entry.text().unwrap_or_else(|| entry.value().into());
        let is_code = is_shell || !text.contains('\n');
        is_code
            && (text.contains("checkrein/allow-once")
                || (is_shell && (text.contains("allow-once/") || text.contains(".granted"))))
    })
}

impl AgentAdapter {
    /// `true` if a payload may contain a call that [`confirms_itself`](Self::confirms_itself). Most do not, and are not decoded.
    pub(super) fn may_confirm_itself(&self, payload: &str) -> bool {
        payload.contains("checkrein")
            || payload.contains("allow-once")
            || payload.contains(".granted")
            || self.waiting_calls.as_ref().is_some_and(|waiting| waiting.code_in(payload).is_some())
    }

    /// `true` if a tool call runs `checkrein allow-once`, or if a tool gets the code of a call that waits.
    pub(super) fn confirms_itself(&self, event: &Event, dir: &Path) -> bool {
        let (kind, Some(input)) = (event.kind(), event.tool_input()) else { return false };
        if !kind.contract().is_gate() {
            return false;
        }
        let cwd = event.envelope.cwd.as_deref().map_or(dir, Path::new);
        let mut names = event.tool_aliases().chain(event.tool_name());
        let names_files = || names_confirmations(event, input);
        let gets_code = || self.waiting_calls.as_ref().is_some_and(|waiting| waiting.code_in(input.as_str()).is_some());
        calls_allow_once(event, cwd, None)
            || names_files()
            || (names.any(|name| TOOLS.contains(&name) || name.starts_with("mcp__")) && gets_code())
    }

    /// Denies a call that confirms itself, and records the attempt in the audit log.
    pub(super) fn deny_confirmation(&self, event: &Event) -> AgentResponse {
        let kind = event.kind();
        let hook = Arc::new(HookInfo::new("checkrein", Source::for_scope(Scope::Code)));
        let mut settlement = Settlement::new(&Rules::NATIVE, event);
        let _ = settlement.push(0, &hook, &Opinion::deny(ONLY_THE_USER));
        let answer = self.agent.render_verdict_with(event, &settlement.finish(), AnswerExtras::default());
        let entry = AuditEntry::refusal(Some(&kind), ONLY_THE_USER);
        let mut notes: Vec<_> = self.load_audit_log(&kind).and_then(|log| append(&log, entry)).into_iter().collect();
        notes.extend(answer.notes.iter().cloned());
        AgentResponse { answer, undelivered_notes: notes.clone(), notes, ..AgentResponse::default() }
    }

    /// Lets a confirmed call pass the questions of hooks, if the agent cannot ask them. For another call, returns the command with
    /// which the user can confirm it.
    pub(super) fn confirm(
        &self,
        event: &Event,
        verdict: Verdict,
        (loaded, dir): (&Loaded, &Path),
        notes: &mut Vec<String>,
    ) -> (Verdict, Option<String>) {
        let kind = event.kind();
        let Some(waiting) = &self.waiting_calls else { return (verdict, None) };
        if self.phase == Phase::Background || !self.agent.is_gate(&kind) || self.agent.can_ask(&kind) {
            return (verdict, None);
        }
        let name = self.agent.name_of(&kind).unwrap_or(kind.name());
        let Some(call) = Call::new(self.agent.name, dir, name, event, &verdict) else { return (verdict, None) };
        if self.is_trial {
            return (verdict, Some("checkrein allow-once CODE".to_owned()));
        }
        if let Some(code) = waiting.take(&call) {
            let entry = AuditEntry::confirmation(EntryKind::GrantUse, &kind, format!("{code}: {call}"));
            notes.extend(self.audit_log(loaded, dir).and_then(|log| append(&log, entry)));
            let text = format!("the user allowed this call once, with the code {code}");
            return (verdict.with_decision_dropped(text), None);
        }
        match waiting.issue(&call) {
            Ok(code) => (verdict, Some(format!("checkrein allow-once {code}"))),
            Err(error) => {
                notes.push(format!("cannot offer `checkrein allow-once` for this call: {error}"));
                (verdict, None)
            }
        }
    }
}
