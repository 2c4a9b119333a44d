//! The action of every decision at every kind of event.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test reports its cause by panicking"
)]

use checkrein_core::payload::{Stop, ToolCall};
use checkrein_core::{
    Action, BlockEffect, CancelToken, Decision, Event, EventKind, Opinion, RawJson, Rules, Runner, Verdict, testing,
};

/// Returns an event with the required fields of its kind.
fn event(kind: &EventKind) -> Event {
    let fields: String = kind
        .fields()
        .iter()
        .filter(|field| field.required)
        .map(|field| {
            let value = match field.json {
                "a string" => "\"x\"",
                "a whole number" => "7",
                "true or false" => "true",
                "an object" => r#"{"name":"n"}"#,
                "any JSON" => "{}",
                other => panic!("{other}"),
            };
            format!(",\"{}\":{value}", field.name)
        })
        .collect();
    Event::from_json(&format!(r#"{{"event":"{kind}"{fields}}}"#)).unwrap_or_else(|error| panic!("{kind}: {error}"))
}

const PROCEED: Action<'_> = Action::Proceed;
const ASK: Action<'_> = Action::Ask { reason: "why" };
const REFUSE: Action<'_> = Action::Refuse { reason: "why" };
const FEEDBACK: Action<'_> = Action::Feedback { reason: "why" };
const CONTINUE: Action<'_> = Action::Continue { reason: "why" };
const END_LOOP: Action<'_> = Action::EndLoop { reason: "why" };

/// Effect of a block, `true` if a hook can halt, and the actions for no opinion, allow, ask, defer, deny and halt.
const TABLE: [(BlockEffect, bool, [Action<'_>; 6]); 10] = [
    (BlockEffect::Ignored, false, [PROCEED, PROCEED, PROCEED, PROCEED, PROCEED, PROCEED]),
    (BlockEffect::Ignored, true, [PROCEED, PROCEED, PROCEED, PROCEED, PROCEED, END_LOOP]),
    (BlockEffect::Refuse, false, [PROCEED, PROCEED, ASK, ASK, REFUSE, REFUSE]),
    (BlockEffect::Refuse, true, [PROCEED, PROCEED, ASK, ASK, REFUSE, END_LOOP]),
    (BlockEffect::Feedback, false, [PROCEED, PROCEED, PROCEED, PROCEED, FEEDBACK, FEEDBACK]),
    (BlockEffect::Feedback, true, [PROCEED, PROCEED, PROCEED, PROCEED, FEEDBACK, END_LOOP]),
    (BlockEffect::EndLoop, false, [PROCEED, PROCEED, PROCEED, PROCEED, END_LOOP, END_LOOP]),
    (BlockEffect::EndLoop, true, [PROCEED, PROCEED, PROCEED, PROCEED, END_LOOP, END_LOOP]),
    (BlockEffect::Continue, false, [PROCEED, PROCEED, PROCEED, PROCEED, CONTINUE, END_LOOP]),
    (BlockEffect::Continue, true, [PROCEED, PROCEED, PROCEED, PROCEED, CONTINUE, END_LOOP]),
];

#[test]
fn every_decision_at_every_kind() {
    for kind in EventKind::ALL {
        let contract = kind.contract();
        let row = TABLE.iter().find(|(block, halt, _)| (*block, *halt) == (contract.block, contract.halt));
        let (_, _, actions) = row.unwrap_or_else(|| panic!("{kind}"));
        for (decision, action) in Decision::ALL.into_iter().zip(actions) {
            let runner = Runner::builder().discard_log().build();
            let opinion = if decision == Decision::NoOpinion {
                Opinion::none()
            } else {
                Opinion::from_decision(decision).with_reason("why")
            };
            runner.on(kind.clone(), "h", testing::answer(opinion));
            let verdict = runner.fire(&event(kind));
            assert_eq!(verdict.action(), *action, "{decision} at {kind}");
            let is_dropped = decision > Decision::Allow && *action == PROCEED;
            assert_eq!(!verdict.warnings().is_empty(), is_dropped, "{decision} at {kind} is dropped with a warning");
        }
    }
}

#[test]
fn without_hooks_the_host_proceeds() {
    assert_eq!(Verdict::default().action(), Action::Proceed);
    assert_eq!(size_of::<Verdict>(), 2 * size_of::<usize>());
}

#[test]
fn a_block_always_has_a_reason_and_an_ask_may_have_none() {
    let fire = |decision| {
        let runner = testing::fixed_runner(EventKind::PreToolUse, Opinion::from_decision(decision));
        runner.fire(&Event::pre_tool_use(ToolCall::new("Bash", RawJson::default())))
    };
    let denied = fire(Decision::Deny);
    let Action::Refuse { reason } = denied.action() else { panic!("{denied:?}") };
    assert!(reason.ends_with("returned `deny` without a reason"), "{reason}");
    assert_eq!(fire(Decision::Ask).action(), Action::Ask { reason: "" });
}

#[test]
fn a_cancelled_fire_decides_nothing() {
    let cancel = CancelToken::new();
    cancel.cancel();
    let verdict = Runner::new().fire_until(&Event::stop(Stop::new()), &cancel);
    assert_eq!(verdict.action(), Action::Cancelled);
}

#[test]
fn rules_that_ignore_a_deny_have_no_action_for_it() {
    let runner = Runner::builder().discard_log().rules(Rules::FIRST_DECISION).build();
    runner.on(EventKind::Stop, "h", testing::deny("why"));
    assert_eq!(runner.fire(&Event::stop(Stop::new())).action(), Action::Proceed);
}
