//! Questions of hooks under agents that cannot ask: the call waits for the user's approval, or is denied with its id.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use checkrein::Engine;
use checkrein::hook_files::Loaded;
use checkrein::internal::sha256_hex;
use checkrein_core::{
    ApprovalRecord, Event, EventKind, HookInfo, Opinion, RawJson, Record, Rules, Scope, Settlement, Source, Target,
    Verdict,
};
use tokio::runtime::Runtime;

use super::{AgentAdapter, Phase};
use crate::approvals::{self, Answer, Approval, ApprovalState, ApprovalStore, Call, EditedOutcome, Grant, NewApproval};

/// Pauses between two looks at an approval.
const PAUSES: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(50)];

/// A judged event, with everything that is needed to judge it again.
pub(super) struct Judged<'e> {
    pub(super) event: &'e Event,
    pub(super) engine: &'e Engine,
    pub(super) runtime: &'e Runtime,
    pub(super) loaded: &'e Loaded,
    pub(super) dir: &'e Path,
    /// Time at which the event arrived.
    pub(super) start: Instant,
}

/// A verdict after the user's answer.
pub(super) struct Answered {
    pub(super) verdict: Verdict,
    /// Command with which the user can approve the call.
    pub(super) confirm_with: Option<String>,
    /// `true` if a grant was used, so the answer applies to this call only.
    pub(super) is_confirmed: bool,
}

impl Answered {
    fn new(verdict: Verdict) -> Self {
        Self { verdict, confirm_with: None, is_confirmed: false }
    }

    fn used(verdict: Verdict) -> Self {
        Self { is_confirmed: true, ..Self::new(verdict) }
    }
}

impl AgentAdapter {
    /// Lets an approved call pass the questions of hooks, if the agent cannot ask them. Another call waits for its approval, or gets
    /// its id. `None`: interrupted.
    pub(super) fn answer_questions(
        &self,
        judged: &Judged<'_>,
        verdict: Verdict,
        record: &mut Record,
        notes: &mut Vec<String>,
    ) -> Option<Answered> {
        let kind = judged.event.kind();
        let Some(store) = &self.approvals else { return Some(Answered::new(verdict)) };
        let is_headless = judged.loaded.approvals_wait && self.is_headless();
        if self.phase == Phase::Background || !self.agent.is_gate(&kind) || (self.agent.can_ask(&kind) && !is_headless)
        {
            return Some(Answered::new(verdict));
        }
        let Some(call) = self.call_of(judged, judged.event, &verdict) else { return Some(Answered::new(verdict)) };
        if self.is_trial {
            return Some(Answered { confirm_with: Some("checkrein approve ID".to_owned()), ..Answered::new(verdict) });
        }
        let log = self.audit_log(judged.loaded, judged.dir);
        let locations = self.locations.clone().unwrap_or_default();
        let deadline = self.hold(&kind, judged);
        loop {
            match approvals::take(store, log.as_ref(), &call) {
                Ok(Some(Grant::Pass(approval))) => {
                    record.approval = Some(used(&approval));
                    let text = format!("the user approved this call, with the id {}", approval.id);
                    if is_headless {
                        // The agent's dialog would have allowed the call. Its own permissions cannot ask now.
                        return Some(Answered::used(permission(judged.event, &verdict, text)));
                    }
                    return Some(Answered::used(verdict.with_decision_dropped(text)));
                }
                Ok(Some(Grant::Edited(approval, input))) => {
                    let edited = self.judge_edited(judged, &call, (&approval, &input), record, notes);
                    let outcome = match &edited {
                        Some((_, outcome)) => outcome.clone(),
                        None => not_passed("the edited call was denied: checkrein was interrupted"),
                    };
                    if let Err(error) = store.set_edited_outcome(&approval.id, &outcome) {
                        notes.push(format!("cannot store the result of the edited call: {error}"));
                    }
                    let (answered, outcome) = edited?;
                    if outcome.has_passed {
                        record.approval = Some(used(&approval));
                    }
                    return Some(answered);
                }
                Ok(Some(Grant::Denied(approval))) => {
                    let reason = approval.winner().and_then(|answer| answer.reason.as_deref());
                    let text = match reason {
                        Some(reason) => format!("the user denied this call: {reason}"),
                        None => "the user denied this call".to_owned(),
                    };
                    return Some(Answered::new(denial(judged.event, text)));
                }
                Ok(None) => {}
                Err(error) => notes.push(format!("cannot use an approval: {error}")),
            }
            // Nothing else may run while agents wait, so this also ends what has expired.
            if let Err(error) = approvals::expire_if_due(store, &locations) {
                notes.push(format!("cannot end old approvals: {error}"));
            }
            let waits = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let new = NewApproval::new(call.clone()).waiting(waits);
            let approval = match approvals::request(store, log.as_ref(), new) {
                Ok(approval) => approval,
                Err(error) => {
                    notes.push(format!("cannot offer `checkrein approve` for this call: {error}"));
                    return Some(Answered::new(verdict));
                }
            };
            match self.wait(store, &approval, deadline, judged.runtime) {
                Waited::Changed => {}
                Waited::TooLong => {
                    let command = format!("checkrein approve {}", approval.id);
                    if is_headless {
                        let reason = verdict.reason().unwrap_or("a hook asks").to_owned();
                        let text = format!(
                            "Needs the user's confirmation, and no answer came in time: tell the user to run `{command}` in a \
                             terminal, then repeat exactly this call; never run that command yourself. ({reason})"
                        );
                        return Some(Answered::new(denial(judged.event, text)));
                    }
                    return Some(Answered { confirm_with: Some(command), ..Answered::new(verdict) });
                }
                Waited::Interrupted => {
                    // The agent has given up, so an answer would have no effect.
                    let _ = approvals::cancel(store, &locations, &approval.id);
                    let text = "the question was cancelled: checkrein was interrupted before the user answered";
                    return Some(Answered::new(denial(judged.event, text.to_owned())));
                }
            }
        }
    }

    /// `true` if no user is at the agent's own dialog.
    fn is_headless(&self) -> bool {
        self.agent
            .host
            .approvals
            .headless
            .is_some_and(|sign| std::env::var(sign.variable).is_ok_and(|value| sign.values.contains(&value.as_str())))
    }

    /// Returns the time until which a call waits. `None`: it does not wait.
    fn hold(&self, kind: &EventKind, judged: &Judged<'_>) -> Option<Instant> {
        if !judged.loaded.approvals_wait {
            return None;
        }
        judged.start.checked_add(self.agent.approval_wait(kind)?)
    }

    /// Waits until an approval changes.
    fn wait(&self, store: &ApprovalStore, approval: &Approval, deadline: Option<Instant>, runtime: &Runtime) -> Waited {
        let Some(deadline) = deadline else { return Waited::TooLong };
        let look = async {
            let mut pause = PAUSES[0];
            loop {
                match store.find(&approval.id) {
                    Ok(found) if found.state == ApprovalState::Pending => {}
                    _ => return Waited::Changed,
                }
                if Instant::now() >= deadline {
                    return Waited::TooLong;
                }
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(PAUSES[1]);
            }
        };
        let _inside = runtime.enter();
        let look = std::pin::pin!(look);
        runtime.block_on(self.cancel.run_or_cancel(look)).unwrap_or(Waited::Interrupted)
    }

    /// Judges the input that the user approved instead of the agent's. A denial wins. `None`: interrupted.
    fn judge_edited(
        &self,
        judged: &Judged<'_>,
        call: &Call,
        (approval, input): (&Approval, &RawJson),
        record: &mut Record,
        notes: &mut Vec<String>,
    ) -> Option<(Answered, EditedOutcome)> {
        let Some(event) = judged.event.rewritten(Target::Input, input) else {
            let text = "the user approved another input, which this event cannot have; do not repeat the call";
            let outcome = not_passed("the call was denied: this event cannot have another input");
            return Some((Answered::used(denial(judged.event, text.to_owned())), outcome));
        };
        let fired = {
            let _inside = judged.runtime.enter();
            let fire = std::pin::pin!(judged.engine.fire_recorded(event.clone()));
            judged.runtime.block_on(self.cancel.run_or_cancel(fire))
        };
        let (verdict, again) = fired?;
        *record = again;
        if verdict.decision().is_block() {
            let reason = verdict.reason().unwrap_or("no reason given");
            let text = format!("the user approved another input, and a hook denies it: {reason}");
            let outcome = not_passed(format!("a hook denied the edited call: {reason}"));
            return Some((Answered::used(denial(judged.event, text)), outcome));
        }
        let edited = self.call_of(judged, &event, &verdict);
        let is_question = verdict.decision() == checkrein_core::Decision::Ask;
        let has_same_questions = match &edited {
            Some(edited) => edited.asks.iter().all(|ask| call.asks.contains(ask)),
            None => !is_question,
        };
        if !has_same_questions {
            let reason = verdict.reason().unwrap_or("no reason given");
            let text = format!(
                "the user approved another input, and a hook has another question about it: {reason}; ask the user, then send {input}"
            );
            let outcome = not_passed(format!("a hook has another question about the edited call: {reason}"));
            return Some((Answered::used(denial(judged.event, text)), outcome));
        }
        let input = verdict.effective_input().unwrap_or(input);
        let hook = own_hook();
        let mut settlement = Settlement::new(&Rules::NATIVE, judged.event);
        let _ = settlement.push(0, &hook, &Opinion::rewrite_input(input.clone()));
        let rewrite = settlement.finish();
        if self.agent.render_verdict(judged.event, &rewrite).rewrites.contains_key(&Target::Input) {
            notes.push(format!("the user approved this call with another input, with the id {}", approval.id));
            let outcome = EditedOutcome { has_passed: true, text: "the edited call has passed".to_owned() };
            return Some((Answered::used(rewrite), outcome));
        }
        // The agent cannot take another input from a hook, so the model sends it. The user has approved that call.
        if let (Some(edited), Some(store), Some(winner)) = (edited, &self.approvals, approval.winner()) {
            let log = self.audit_log(judged.loaded, judged.dir);
            let locations = self.locations.clone().unwrap_or_default();
            let granted = approvals::request(store, log.as_ref(), NewApproval::new(edited)).and_then(|next| {
                approvals::decide(store, &locations, &next.id, Answer::approve(winner.via, winner.by.clone()))
            });
            notes.extend(granted.err().map(|error| format!("cannot approve the edited call: {error}")));
        }
        let text =
            format!("the user approved this call with another input: repeat it with exactly this input: {input}");
        let outcome = not_passed("the model must send the edited call, which passes then");
        Some((Answered::used(denial(judged.event, text)), outcome))
    }

    /// Returns the call of an event, if the user's answer is enough for it to pass.
    fn call_of(&self, judged: &Judged<'_>, event: &Event, verdict: &Verdict) -> Option<Call> {
        let kind = event.kind();
        let name = self.agent.name_of(&kind).unwrap_or(kind.name());
        Call::new(self.agent.name, judged.dir, (name, event), verdict, policy_revision(judged.engine, &kind))
    }
}

/// Result of a wait.
enum Waited {
    /// The approval has an answer or has ended.
    Changed,
    /// The agent's timeout is near, or calls do not wait.
    TooLong,
    /// checkrein was interrupted.
    Interrupted,
}

fn not_passed(text: impl Into<String>) -> EditedOutcome {
    EditedOutcome { has_passed: false, text: text.into() }
}

/// The approval of a call that passes, for its record.
fn used(approval: &Approval) -> ApprovalRecord {
    let (by, via) = match approval.winner() {
        Some(answer) => (answer.by.clone(), answer.via.name().to_owned()),
        None => (String::new(), String::new()),
    };
    ApprovalRecord { id: approval.id.to_string(), by, via }
}

/// Digest of the hooks for events of a kind.
fn policy_revision(engine: &Engine, kind: &EventKind) -> String {
    let mut text = String::new();
    for spec in engine.hooks_for(kind) {
        text.push_str(&format!("{:?}\n", spec.info.id));
        for property in spec.properties(&str::to_owned).into_vec() {
            text.push_str(&format!("{:?}={:?}\n", property.label, property.value));
        }
    }
    format!("sha256:{}", sha256_hex(text.as_bytes()))
}

fn own_hook() -> Arc<HookInfo> {
    Arc::new(HookInfo::new("checkrein", Source::for_scope(Scope::Code)).rewrites())
}

/// Allow with this reason, and with the contexts and rewrites of the hooks.
fn permission(event: &Event, verdict: &Verdict, text: String) -> Verdict {
    let opinion = Opinion::allow().with_reason(text);
    let opinion = verdict.context().iter().fold(opinion, |opinion, context| opinion.with_context(&context.text));
    let opinion = match verdict.rewritten(Target::Input) {
        Some(_) => verdict.effective_input().cloned().into_iter().fold(opinion, |opinion, input| {
            opinion.with_rewrite(checkrein_core::Rewrite::replace(Target::Input, input))
        }),
        None => opinion,
    };
    let mut settlement = Settlement::new(&Rules::NATIVE, event);
    let _ = settlement.push(0, &own_hook(), &opinion);
    settlement.finish()
}

fn denial(event: &Event, text: String) -> Verdict {
    let mut settlement = Settlement::new(&Rules::NATIVE, event);
    let _ = settlement.push(0, &own_hook(), &Opinion::deny(text));
    settlement.finish()
}
