//! Questions that the host's [`Approver`] resolves.

use std::sync::Arc;
use std::time::Instant;

use checkrein_core::{
    Decision, Event, Failure, FailureKind, HookInfo, Opinion, Reason, Rewrite, Rules, Scope, Settlement, Source,
    Target, Verdict,
};

use super::dispatch::{fire_with, in_code};
use super::execute::CatchPanic;
use super::{PreparedEvent, Shared};
use crate::approver::{Approver, Question, Resolution};

/// Returns the verdict after the answer of the approver. After a failure of the approver, it is still ask.
pub(super) async fn resolve(
    shared: &Arc<Shared>,
    rules: &Rules,
    event: &Arc<Event>,
    verdict: Verdict,
    approver: &Arc<dyn Approver>,
) -> Verdict {
    if !event.kind().contract().is_gate() {
        return verdict;
    }
    let Some(reasons) = verdict.questions().map(|reasons| reasons.cloned().collect::<Vec<_>>()) else {
        return verdict;
    };
    let timeout = shared.approver_timeout;
    let input = verdict.effective_input().or(event.tool_input()).cloned();
    let Some(deadline) = Instant::now().checked_add(timeout) else { return verdict };
    let question = Question { event: Arc::clone(event), reasons, input, deadline };
    // The call itself may panic too, before there is a future.
    let answer = CatchPanic::new(async { approver.resolve(&question).await });
    let failure = match tokio::time::timeout_at(deadline.into(), answer).await {
        Ok(Ok(Ok(resolution))) => return apply(shared, rules, &question, verdict, resolution).await,
        Ok(Ok(Err(error))) => Failure::new(FailureKind::Error, error.to_string()),
        Ok(Err(panic)) => Failure::from(panic),
        Err(_) => Failure::new(FailureKind::Timeout, format!("the approver timed out after {timeout:?}")),
    };
    verdict.with_observer_failure(in_code("approver"), failure)
}

async fn apply(
    shared: &Arc<Shared>,
    rules: &Rules,
    question: &Question,
    verdict: Verdict,
    resolution: Resolution,
) -> Verdict {
    match resolution {
        Resolution::Approve => verdict.with_decision_dropped("the approver approved this"),
        Resolution::Deny(reason) => with_opinion(rules, question, &verdict, Opinion::deny(reason)),
        Resolution::Leave => verdict,
        Resolution::ApproveWith(input) => {
            let Some(event) = question.event.rewritten(Target::Input, &input) else {
                let failure = Failure::new(FailureKind::Error, "the approver gave an input that the event cannot have");
                return verdict.with_observer_failure(in_code("approver"), failure);
            };
            let prepared = PreparedEvent { event: Arc::new(event), without_envelope: None };
            let again = Box::pin(fire_with(shared, prepared, None, None)).await;
            if again.decision().is_block() {
                let reason = again.reason().unwrap_or("no reason given");
                let text = format!("a hook denies the input of the approver: {reason}");
                return with_opinion(rules, question, &again, Opinion::deny(text));
            }
            if !asks_the_same(&again, &question.reasons) {
                let failure =
                    Failure::new(FailureKind::Error, "hooks have another question about the approver's input");
                return verdict.with_observer_failure(in_code("approver"), failure);
            }
            let input = again.effective_input().cloned().unwrap_or(input);
            let rewrite = Opinion::none().with_rewrite(Rewrite::replace(Target::Input, input));
            with_opinion(rules, question, &again, rewrite)
        }
    }
}

/// `true` if a verdict has no question beyond these.
fn asks_the_same(verdict: &Verdict, known: &[Reason]) -> bool {
    let is_known = |reason: &Reason| known.iter().any(|own| own.hook.id == reason.hook.id && own.text == reason.text);
    match verdict.questions() {
        Some(mut questions) => questions.all(is_known),
        None => verdict.decision() != Decision::Ask,
    }
}

/// Returns the verdict with this opinion, and with the contexts and messages of the hooks.
fn with_opinion(rules: &Rules, question: &Question, verdict: &Verdict, opinion: Opinion) -> Verdict {
    let hook = Arc::new(HookInfo::new("approver", Source::for_scope(Scope::Code)).rewrites());
    let opinion = verdict.context().iter().fold(opinion, |opinion, context| opinion.with_context(&context.text));
    let opinion = verdict.messages().iter().fold(opinion, |opinion, message| opinion.with_message(&message.text));
    let mut settlement = Settlement::new(rules, &question.event);
    let _ = settlement.push(0, &hook, &opinion);
    settlement.finish()
}
