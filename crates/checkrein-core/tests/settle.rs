//! Tests of settling: each rule, then properties that hold for all opinions.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test reports its cause by panicking"
)]

use std::sync::Arc;

use checkrein_core::payload::{Prompt, SessionStart, Stop, ToolCall, ToolOutcome};
use checkrein_core::{
    BlockScope, ChainEnd, ChainStep, Compat, ConcurrentRewrites, Decision, DecisionRule, Event, EventKind, Failure,
    FailureKind, FailurePolicy, FailureTable, HookInfo, HookResult, Opinion, RawJson, Rewrite, Rules, RunOrder,
    Settlement, Source, Target, Verdict, settle,
};
use proptest::prelude::*;

use Decision::{Allow, Ask, Defer, Deny, Halt, NoOpinion};

fn json(text: &str) -> RawJson {
    text.parse().unwrap()
}

fn tool_call(input: &str) -> Event {
    Event::pre_tool_use(ToolCall::new("Bash", json(input)))
}

fn hook(position: usize) -> Arc<HookInfo> {
    let mut info =
        HookInfo::new(format!("h{position}"), Source::in_file(checkrein_core::Scope::User, "hooks.json", 7, 3));
    info.declares_rewrites = true;
    Arc::new(info)
}

fn settled(rules: &Rules, event: &Event, replies: &[Result<Opinion, Failure>]) -> Verdict {
    let hooks: Vec<_> = (0..replies.len()).map(hook).collect();
    let outcomes: Vec<_> =
        replies.iter().zip(&hooks).map(|(reply, hook)| HookResult { hook, result: reply.as_ref() }).collect();
    settle(rules, event, &outcomes)
}

fn decisions(rules: &Rules, decisions: &[Decision]) -> Verdict {
    let replies: Vec<_> = decisions
        .iter()
        .enumerate()
        .map(|(index, decision)| Ok(Opinion::from_decision(*decision).with_reason(format!("r{index}"))))
        .collect();
    settled(rules, &tool_call("{}"), &replies)
}

#[test]
fn each_rule_picks_its_winner() {
    let strongest = Rules::NATIVE;
    let first = Rules::NATIVE.settle(DecisionRule::FirstDecision).chain_end(ChainEnd::FirstDecision);
    let deny_or_last = Rules::NATIVE.settle(DecisionRule::AnyDenyElseLastAllow);
    let any_block = Rules::NATIVE.settle(DecisionRule::AnyBlock);
    let last = Rules::NATIVE.settle(DecisionRule::LastWriter).compat(Compat::Exact);
    let safe_last = Rules::NATIVE.settle(DecisionRule::LastWriter);
    let table: [(&Rules, &[Decision], Decision, Option<&str>); 22] = [
        (&strongest, &[], NoOpinion, None),
        (&strongest, &[NoOpinion, NoOpinion], NoOpinion, None),
        (&strongest, &[Allow, Deny, Halt, Ask], Halt, Some("r2")),
        (&strongest, &[Allow, Defer, Ask], Defer, Some("r1")),
        (&strongest, &[Deny, Allow, Deny], Deny, Some("r0")),
        (&strongest, &[NoOpinion, Allow], Allow, Some("r1")),
        (&first, &[NoOpinion, Allow, Deny], Allow, Some("r1")),
        (&first, &[Deny, Allow], Deny, Some("r0")),
        (&deny_or_last, &[Allow, Deny, Allow], Deny, Some("r1")),
        (&deny_or_last, &[Allow, Ask, Allow], Allow, Some("r2")),
        (&deny_or_last, &[Ask], NoOpinion, None),
        (&any_block, &[Allow, Ask], NoOpinion, None),
        (&any_block, &[Allow, Deny, Deny], Deny, Some("r1")),
        (&last, &[Deny, Allow], Allow, Some("r1")),
        (&last, &[Deny, NoOpinion], Deny, Some("r0")),
        (&last, &[Allow, Ask], Ask, Some("r1")),
        (&safe_last, &[Deny, Allow], Deny, Some("r0")),
        (&safe_last, &[Ask, Allow], Allow, Some("r1")),
        (&safe_last, &[Allow, Deny], Deny, Some("r1")),
        (&safe_last, &[Halt, Deny], Halt, Some("r0")),
        (&safe_last, &[Deny, Halt], Halt, Some("r1")),
        (&safe_last, &[], NoOpinion, None),
    ];
    for (rules, returned, decision, reason) in table {
        let verdict = decisions(rules, returned);
        assert_eq!((verdict.decision(), verdict.reason()), (decision, reason), "{:?} {returned:?}", rules.settle);
    }
    let verdict = decisions(&safe_last, &[Deny, Allow]);
    assert_eq!(
        verdict.warnings()[0].to_string(),
        "hook `h1` (hooks.json:7): returned `allow`, which in this agent would cancel the `deny` of hook `h0` \
          (hooks.json:7); the `deny` is kept (compat = \"exact\" follows the agent)"
    );
}

#[test]
fn texts_of_hooks_are_kept_in_config_order() {
    let event = Event::session_start(SessionStart::new());
    let opinion = |n: &str| {
        Opinion::context(format!("c{n}"))
            .with_message(format!("m{n}"))
            .with_stop_reason(format!("s{n}"))
            .with_first_user_message(format!("f{n}"))
            .with_metadata("k", json(n))
    };
    let mut settlement = Settlement::new(&Rules::NATIVE, &event);
    for position in [1, 0] {
        let opinion = opinion(&position.to_string());
        assert_eq!(settlement.push(position, &hook(position), &opinion), ChainStep::Next);
    }
    let _ = settlement.push(2, &hook(2), &Opinion::none().suppress_output());
    let verdict = settlement.finish();
    let texts = |messages: &[checkrein_core::HookMessage]| {
        messages.iter().map(|message| message.text.clone()).collect::<Vec<_>>()
    };
    assert_eq!(texts(verdict.context()), ["c0", "c1"]);
    assert_eq!(texts(verdict.messages()), ["m0", "m1"]);
    assert_eq!(verdict.stop_reason(), Some("s0"));
    assert_eq!(verdict.first_user_message(), Some("f0\nf1"));
    assert_eq!(verdict.metadata().next().unwrap().1.as_str(), "1", "the last value of a name is used");
    assert!(verdict.suppresses_output());
    assert_eq!(verdict.decision(), NoOpinion);
}

#[test]
fn unsupported_parts_of_an_opinion_are_warnings() {
    let start = Event::session_start(SessionStart::new());
    let stop = Event::stop(Stop::new());
    for (event, opinion, text) in [
        (&start, Opinion::deny("x"), "returned `deny`, but `session_start` cannot be blocked; ignored"),
        (&start, Opinion::ask("x"), "returned `ask`, which `session_start` does not support; ignored"),
        (&stop, Opinion::ask("x"), "returned `ask`, which `stop` does not support; ignored"),
        (
            &stop,
            Opinion::none().with_first_user_message("x"),
            "returned a first user message, which `stop` does not support; dropped",
        ),
        (
            &tool_call("{}"),
            Opinion::rewrite_prompt("x"),
            "failed: rewrote the prompt, which pre_tool_use does not allow; blocked (on_failure: closed)",
        ),
    ] {
        let verdict = settled(&Rules::NATIVE, event, &[Ok(opinion)]);
        assert_eq!(verdict.warnings()[0].text, text);
    }
    let verdict = settled(&Rules::NATIVE, &start, &[Ok(Opinion::halt("enough"))]);
    assert_eq!((verdict.decision(), verdict.reason()), (Halt, Some("enough")));
    // A deny at a stop makes the agent continue.
    assert_eq!(settled(&Rules::NATIVE, &stop, &[Ok(Opinion::deny("tests fail"))]).decision(), Deny);
    let gates_only = Rules::NATIVE.blocks(BlockScope::Gates);
    assert_eq!(settled(&gates_only, &stop, &[Ok(Opinion::deny("tests fail"))]).decision(), NoOpinion);
}

#[test]
fn a_block_without_a_reason_gets_one() {
    let verdict =
        settled(&Rules::NATIVE, &tool_call("{}"), &[Ok(Opinion::from_decision(Deny)), Ok(Opinion::deny("  "))]);
    assert_eq!(verdict.reason(), Some("hook `h0` (hooks.json:7) returned `deny` without a reason"));
    assert_eq!(verdict.reasons().len(), 2);
    assert_eq!(settled(&Rules::NATIVE, &tool_call("{}"), &[Ok(Opinion::allow())]).reason(), None);
}

#[test]
fn the_policy_of_a_hook_overrides_the_failure_table() {
    let gate = tool_call("{}");
    let notice = Event::session_start(SessionStart::new());
    let after = Event::post_tool_use(ToolOutcome::new("Bash", RawJson::default()));
    let stop = Event::stop(Stop::new());
    type Row<'a> = (&'a Event, Option<FailurePolicy>, Option<FailurePolicy>, FailureKind, Decision);
    let table: [Row<'_>; 12] = [
        (&gate, None, None, FailureKind::Timeout, Deny),
        (&gate, None, None, FailureKind::Spawn, Deny),
        (&gate, Some(FailurePolicy::Open), None, FailureKind::Spawn, NoOpinion),
        (&gate, Some(FailurePolicy::Ask), None, FailureKind::Exit, Ask),
        (&gate, Some(FailurePolicy::Open), Some(FailurePolicy::Closed), FailureKind::Timeout, Deny),
        (&gate, Some(FailurePolicy::Open), Some(FailurePolicy::Closed), FailureKind::Exit, NoOpinion),
        (&notice, None, None, FailureKind::Timeout, NoOpinion),
        (&notice, Some(FailurePolicy::Closed), None, FailureKind::Timeout, NoOpinion),
        (&after, None, None, FailureKind::Exit, NoOpinion),
        (&after, Some(FailurePolicy::Closed), None, FailureKind::Exit, Deny),
        (&after, Some(FailurePolicy::Ask), None, FailureKind::Exit, NoOpinion),
        (&stop, Some(FailurePolicy::Closed), None, FailureKind::Exit, NoOpinion),
    ];
    for (event, on_failure, on_timeout, kind, decision) in table {
        let mut info = HookInfo::clone(&hook(0));
        (info.on_failure, info.on_timeout) = (on_failure, on_timeout);
        let mut settlement = Settlement::new(&Rules::NATIVE, event);
        let _ = settlement.push_failure(0, &Arc::new(info), &Failure::new(kind, "took 5 s"));
        let verdict = settlement.finish();
        let row = format!("{} {on_failure:?} {on_timeout:?} {kind}", event.kind());
        assert_eq!(verdict.decision(), decision, "{row}");
        assert_eq!(verdict.failures().count(), 1, "{row}: never silent");
        assert!(verdict.warnings()[0].to_string().starts_with("hook `h0` (hooks.json:7) "), "{row}");
    }
    let verdict = settled(&Rules::NATIVE, &gate, &[Err(Failure::new(FailureKind::Timeout, "took 5 s"))]);
    let reason = "hook `h0` (hooks.json:7) took 5 s; blocked (on_timeout: closed); ask the user to fix the \
                                hook (details: `checkrein check`, `checkrein run pre_tool_use`)";
    assert_eq!(verdict.reason(), Some(reason));
    let worded = Failure::new(FailureKind::Exit, "exit code 7").with_reason("not on a Friday");
    let verdict = settled(&Rules::NATIVE, &gate, &[Err(worded)]);
    assert_eq!(verdict.reason(), Some("not on a Friday"));
    assert!(
        verdict.warnings()[0].to_string().contains("failed with exit code 7"),
        "the warning still names the failure"
    );
    let forced = Failure::new(FailureKind::Untrusted, "never approved").with_effect(FailurePolicy::Open);
    assert_eq!(settled(&Rules::NATIVE, &gate, &[Err(forced)]).decision(), NoOpinion);
    let asks = Rules::NATIVE.failures(FailureTable::native().at_gates(FailureKind::Parse, FailurePolicy::Ask));
    assert_eq!(settled(&asks, &gate, &[Err(Failure::new(FailureKind::Parse, "x"))]).decision(), Ask);
}

#[test]
fn cancelled_is_neither_a_deny_nor_an_allow() {
    let cancelled = || Err(Failure::new(FailureKind::Cancelled, "the host gave up"));
    for before in [Opinion::allow(), Opinion::deny("no"), Opinion::none()] {
        let verdict = settled(&Rules::NATIVE, &tool_call("{}"), &[Ok(before.clone()), cancelled()]);
        assert!(verdict.is_cancelled());
        assert_eq!(verdict.decision(), NoOpinion);
        assert_eq!(verdict.reason(), None);
        assert_eq!(verdict.reasons().len(), usize::from(!before.is_none()), "earlier decisions are kept");
    }
}

#[test]
fn chains_end_by_the_rules() {
    let failure = || Err(Failure::new(FailureKind::Exit, "1"));
    let rewrite = || Ok(Opinion::rewrite_input(json("{}")));
    let tagged = || Ok(Opinion::deny("no").with_metadata("blocked", json("true")));
    let (allow, deny, none) = (|| Ok(Opinion::allow()), || Ok(Opinion::deny("no")), || Ok(Opinion::none()));
    let open = Rules::NATIVE.failures(FailureTable::open());
    for (rules, end, reply, step) in [
        (open, ChainEnd::Never, deny(), ChainStep::Next),
        (open, ChainEnd::Never, failure(), ChainStep::Next),
        (open, ChainEnd::FirstDecision, none(), ChainStep::Next),
        (open, ChainEnd::FirstDecision, allow(), ChainStep::End),
        (open, ChainEnd::FirstDecision, rewrite(), ChainStep::End),
        (open, ChainEnd::FirstDecision, failure(), ChainStep::Next),
        (open, ChainEnd::FirstBlock, allow(), ChainStep::Next),
        (open, ChainEnd::FirstBlock, deny(), ChainStep::End),
        (open, ChainEnd::FirstBlock, failure(), ChainStep::Next),
        (Rules::NATIVE, ChainEnd::FirstBlock, failure(), ChainStep::End),
        (open, ChainEnd::FirstBlockOrFailure, failure(), ChainStep::End),
        (open, ChainEnd::FirstBlockOrFailure, deny(), ChainStep::End),
        (open, ChainEnd::FirstBlockOrFailure, allow(), ChainStep::Next),
        (open, ChainEnd::FirstTagged("blocked"), deny(), ChainStep::Next),
        (open, ChainEnd::FirstTagged("blocked"), tagged(), ChainStep::End),
        (open, ChainEnd::FirstTagged("blocked"), failure(), ChainStep::Next),
        (Rules::NATIVE, ChainEnd::FirstTagged("blocked"), failure(), ChainStep::End),
        (open, ChainEnd::FirstTaggedOrFailure("blocked"), deny(), ChainStep::Next),
        (open, ChainEnd::FirstTaggedOrFailure("blocked"), failure(), ChainStep::End),
    ] {
        let event = tool_call("{}");
        let rules = rules.chain_end(end);
        let mut settlement = Settlement::new(&rules, &event);
        let found = match &reply {
            Ok(opinion) => settlement.push(0, &hook(0), opinion),
            Err(failure) => settlement.push_failure(0, &hook(0), failure),
        };
        assert_eq!(found, step, "{end:?} {reply:?}");
    }
}

// Rewrites.

fn merge(patch: &str) -> Result<Opinion, Failure> {
    Ok(Opinion::none().with_rewrite(Rewrite::merge(Target::Input, json(patch))))
}

fn replace(value: &str) -> Result<Opinion, Failure> {
    Ok(Opinion::rewrite_input(json(value)))
}

fn input_after(rules: &Rules, input: &str, replies: &[Result<Opinion, Failure>]) -> (Decision, Option<String>) {
    let verdict = settled(rules, &tool_call(input), replies);
    (verdict.decision(), verdict.effective_input().map(ToString::to_string))
}

#[test]
fn rewrites_chain_compose_or_conflict() {
    let side_by_side = Rules::NATIVE.order(RunOrder::Parallel);
    let pipeline = Rules::NATIVE.order(RunOrder::Pipeline);
    let last = side_by_side.concurrent_rewrites(ConcurrentRewrites::LastInOrder);
    let first = side_by_side.concurrent_rewrites(ConcurrentRewrites::FirstInOrder);
    let input = r#"{"a":1,"b":2}"#;
    let some = |text: &str| Some(text.to_owned());
    for (rules, replies, expected) in [
        // Each on the result of the previous one.
        (&pipeline, vec![merge(r#"{"a":5}"#), merge(r#"{"c":7}"#)], (NoOpinion, some(r#"{"a":5,"b":2,"c":7}"#))),
        (&pipeline, vec![merge(r#"{"a":5}"#), merge(r#"{"a":6}"#)], (NoOpinion, some(r#"{"a":6,"b":2}"#))),
        (&pipeline, vec![replace("[1]"), replace("{}")], (NoOpinion, some("{}"))),
        // Different fields are combined.
        (&side_by_side, vec![merge(r#"{"a":5}"#), merge(r#"{"c":7}"#)], (NoOpinion, some(r#"{"a":5,"b":2,"c":7}"#))),
        (
            &side_by_side,
            vec![replace(r#"{"a":5,"b":2}"#), replace(r#"{"a":1,"b":3}"#)],
            (NoOpinion, some(r#"{"a":5,"b":3}"#)),
        ),
        (&side_by_side, vec![replace(r#"{"a":1}"#), merge(r#"{"a":9}"#)], (NoOpinion, some(r#"{"a":9}"#))),
        (&side_by_side, vec![merge(r#"{"a":5}"#), merge(r#"{"a": 5}"#)], (NoOpinion, some(r#"{"a":5,"b":2}"#))),
        (&side_by_side, vec![replace("[1]"), replace("[ 1 ]")], (NoOpinion, some("[1]"))),
        // Two values for one field: the failure denies, and the rewrites in conflict are dropped.
        (&side_by_side, vec![merge(r#"{"a":5,"c":1}"#), merge(r#"{"a":6}"#)], (Deny, None)),
        (
            &side_by_side,
            vec![merge(r#"{"a":5}"#), merge(r#"{"a":6}"#), merge(r#"{"c":1}"#)],
            (Deny, some(r#"{"a":1,"b":2,"c":1}"#)),
        ),
        (&side_by_side, vec![replace("[1]"), replace("[2]")], (Deny, None)),
        (&side_by_side, vec![replace(r#"{"a":1}"#), merge(r#"{"b":9}"#)], (Deny, None)),
        // For exact compatibility.
        (&last, vec![merge(r#"{"a":5}"#), merge(r#"{"a":6}"#)], (NoOpinion, some(r#"{"a":6,"b":2}"#))),
        (&first, vec![merge(r#"{"a":5}"#), merge(r#"{"a":6}"#)], (NoOpinion, some(r#"{"a":5,"b":2}"#))),
        // A patch that cannot be merged.
        (&pipeline, vec![merge("[]")], (Deny, None)),
    ] {
        assert_eq!(input_after(rules, input, &replies), expected, "{:?} {replies:?}", rules.order);
    }
    let verdict = settled(&side_by_side, &tool_call(input), &[merge(r#"{"a":5}"#), merge(r#"{"a":6}"#)]);
    let conflicts: Vec<_> = verdict.failures().map(|(hook, failure)| (hook.id.as_str(), failure.to_string())).collect();
    assert_eq!(
        conflicts,
        [
            ("h0", "conflict: rewrites the input's field `a` differently from hook `h1` (hooks.json:7)".to_owned()),
            ("h1", "conflict: rewrites the input's field `a` differently from hook `h0` (hooks.json:7)".to_owned()),
        ]
    );
}

#[test]
fn native_rewrites_must_be_declared() {
    let event = tool_call(r#"{"a":1}"#);
    let undeclared = Arc::new(HookInfo::new("undeclared", Source::here()));
    let opinion = Opinion::rewrite_input(json("{}"));
    let outcomes =
        [HookResult { hook: &hook(0), result: Ok(&opinion) }, HookResult { hook: &undeclared, result: Ok(&opinion) }];
    let verdict = settle(&Rules::NATIVE, &event, &outcomes);
    assert_eq!(verdict.effective_input().unwrap().as_str(), "{}");
    let (failed, failure) = verdict.failures().next().unwrap();
    assert_eq!((failed.id.as_str(), failure.kind), ("undeclared", FailureKind::Schema));
    assert_eq!(verdict.decision(), Deny);
}

#[test]
fn a_rewrite_keeps_the_text_of_other_numbers() {
    let event = tool_call(r#"{"id":12345678901234567890123,"ratio":1.500,"a":0}"#);
    let verdict = settled(&Rules::NATIVE, &event, &[merge(r#"{"a":1e2}"#)]);
    assert_eq!(verdict.effective_input().unwrap().as_str(), r#"{"id":12345678901234567890123,"ratio":1.500,"a":1e2}"#);
    assert_eq!(verdict.rewritten(Target::Input).unwrap().original, event.tool_input().cloned());
}

#[test]
fn the_next_hook_sees_the_rewrite() {
    let event = Event::prompt_submit(Prompt::new("one"));
    let mut settlement = Settlement::new(&Rules::NATIVE, &event);
    assert_eq!(settlement.current(Target::Prompt), None);
    let _ = settlement.push(0, &hook(0), &Opinion::rewrite_prompt("two"));
    assert_eq!(settlement.current(Target::Prompt).unwrap().as_text().unwrap(), "two");
}

#[test]
fn a_conflict_has_the_strictest_policy_of_its_hooks() {
    let event = tool_call(r#"{"command":"curl evil"}"#);
    let rules = Rules::NATIVE.order(RunOrder::Parallel);
    let guard = Arc::new(HookInfo::new("guard", Source::here()));
    let cosmetic = Arc::new(HookInfo::new("cosmetic", Source::here()).on_failure(FailurePolicy::Open));
    let safe = Opinion::rewrite_input(json(r#"{"command":"echo safe"}"#));
    let pretty = Opinion::rewrite_input(json(r#"{"command":"curl -s evil"}"#)).with_decision(Allow);
    for order in [[(&guard, &safe), (&cosmetic, &pretty)], [(&cosmetic, &pretty), (&guard, &safe)]] {
        let outcomes = order.map(|(hook, opinion)| HookResult { hook, result: Ok(opinion) });
        assert_eq!(settle(&rules, &event, &outcomes).decision(), Deny);
    }
}

#[test]
fn an_opinion_with_an_invalid_rewrite_fails_but_keeps_its_deny() {
    let invalid = |decision| Ok(Opinion::rewrite_prompt("x").with_decision(decision).with_reason("own"));
    for rules in [
        Rules::NATIVE,
        Rules::NATIVE.settle(DecisionRule::LastWriter),
        Rules::NATIVE.settle(DecisionRule::FirstDecision),
    ] {
        for (decision, expected) in [(Allow, Deny), (Ask, Deny), (Deny, Deny), (Halt, Halt)] {
            let verdict = settled(&rules, &tool_call("{}"), &[invalid(decision)]);
            assert_eq!(verdict.decision(), expected, "{decision}");
        }
    }
    let exact = Rules::NATIVE.settle(DecisionRule::LastWriter).compat(Compat::Exact);
    assert_eq!(settled(&exact, &tool_call("{}"), &[invalid(Allow)]).decision(), Deny);
    // The failure ends chains like any other.
    for end in [ChainEnd::FirstBlock, ChainEnd::FirstDecision, ChainEnd::FirstBlockOrFailure] {
        let event = tool_call("{}");
        let rules = Rules::NATIVE.chain_end(end);
        let step = Settlement::new(&rules, &event).push(0, &hook(0), &Opinion::rewrite_prompt("x"));
        assert_eq!(step, ChainStep::End, "{end:?}");
    }
}

#[test]
fn failure_policies_apply_under_every_rule() {
    let failure = || Err(Failure::new(FailureKind::Timeout, "x"));
    let mut asks = HookInfo::new("asks", Source::here());
    asks.on_failure = Some(FailurePolicy::Ask);
    for rule in [
        DecisionRule::FirstDecision,
        DecisionRule::AnyDenyElseLastAllow,
        DecisionRule::AnyBlock,
        DecisionRule::LastWriter,
    ] {
        let rules = Rules::NATIVE.settle(rule);
        let closed = settled(&rules, &tool_call("{}"), &[Ok(Opinion::allow()), failure(), Ok(Opinion::allow())]);
        assert_eq!(closed.decision(), Deny, "{rule:?}");
        let event = tool_call("{}");
        let mut settlement = Settlement::new(&rules, &event);
        let _ = settlement.push_failure(0, &Arc::new(asks.clone()), &Failure::new(FailureKind::Exit, "x"));
        let _ = settlement.push(1, &hook(1), &Opinion::allow());
        assert_eq!(settlement.finish().decision(), Ask, "{rule:?}");
    }
}

#[test]
fn two_rewrites_of_one_opinion_are_combined() {
    let rules = Rules::NATIVE.order(RunOrder::Parallel);
    let twice = |one: &str, other: &str| {
        let merge = |patch: &str| Rewrite::merge(Target::Input, json(patch));
        Ok(Opinion::none().with_rewrite(merge(one)).with_rewrite(merge(other)))
    };
    let (decision, input) = input_after(&rules, "{}", &[twice(r#"{"a":1}"#, r#"{"a":2}"#), merge(r#"{"b":3}"#)]);
    assert_eq!((decision, input.as_deref()), (NoOpinion, Some(r#"{"a":2,"b":3}"#)));
}

#[test]
fn a_conflict_over_many_fields_is_one_conflict() {
    let object = |value: u32| {
        let fields: Vec<_> = (0..1000).map(|n| format!("\"k{n}\":{value}")).collect();
        Ok(Opinion::rewrite_input(json(&format!("{{{}}}", fields.join(",")))))
    };
    let verdict = settled(&Rules::NATIVE.order(RunOrder::Parallel), &tool_call("{}"), &[object(1), object(2)]);
    assert_eq!(verdict.failures().count(), 2, "one for each hook");
    assert!(verdict.warnings()[0].text.contains("fields `k0`, `k1`, `k2` and 997 more"), "{}", verdict.warnings()[0]);
}

// Properties that hold for all opinions.

fn any_decision() -> impl Strategy<Value = Decision> {
    prop::sample::select(&Decision::ALL[..])
}

fn any_rewrite() -> impl Strategy<Value = Rewrite> {
    let value = prop::sample::select(
        &[r#"{"a":1}"#, r#"{"a":2}"#, r#"{"b":[1,{}]}"#, "{}", "[1,2]", "null", "\"text\"", "3.50"][..],
    );
    (prop::sample::select(&Target::ALL[..]), value, any::<bool>()).prop_map(|(target, value, merge)| {
        if merge { Rewrite::merge(target, json(value)) } else { Rewrite::replace(target, json(value)) }
    })
}

fn any_reply() -> impl Strategy<Value = Result<Opinion, Failure>> {
    let opinion =
        (any_decision(), prop::option::of("[a-z ]{0,4}"), prop::collection::vec(any_rewrite(), 0..2), any::<bool>())
            .prop_map(|(decision, reason, rewrites, has_texts)| {
                let mut opinion = Opinion::from_decision(decision);
                if let Some(reason) = reason {
                    opinion = opinion.with_reason(reason);
                }
                if has_texts {
                    opinion = opinion.with_context("c").with_message("m").with_stop_reason("s");
                }
                rewrites.into_iter().fold(opinion, Opinion::with_rewrite)
            });
    let failure = prop::sample::select(FailureKind::ALL)
        .prop_filter("cancelled decides nothing", |kind| *kind != FailureKind::Cancelled)
        .prop_map(|kind| Failure::new(kind, "x"));
    prop_oneof![4 => opinion.prop_map(Ok), 1 => failure.prop_map(Err)]
}

fn any_rules() -> impl Strategy<Value = Rules> {
    (
        prop::sample::select(
            &[
                DecisionRule::Strongest,
                DecisionRule::FirstDecision,
                DecisionRule::AnyDenyElseLastAllow,
                DecisionRule::AnyBlock,
                DecisionRule::LastWriter,
            ][..],
        ),
        prop::sample::select(&[RunOrder::Sequential, RunOrder::Parallel, RunOrder::Pipeline, RunOrder::Phased][..]),
        prop::sample::select(
            &[ChainEnd::Never, ChainEnd::FirstDecision, ChainEnd::FirstBlock, ChainEnd::FirstBlockOrFailure][..],
        ),
        prop::sample::select(
            &[ConcurrentRewrites::Compose, ConcurrentRewrites::LastInOrder, ConcurrentRewrites::FirstInOrder][..],
        ),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(settle, order, end, side, gates, exact)| {
            Rules::NATIVE
                .settle(settle)
                .order(order)
                .chain_end(end)
                .concurrent_rewrites(side)
                .blocks(if gates { BlockScope::Gates } else { BlockScope::Contract })
                .compat(if exact { Compat::Exact } else { Compat::Safe })
        })
}

fn any_event() -> impl Strategy<Value = Event> {
    prop::sample::select(EventKind::ALL).prop_map(|kind| sample_event(&kind))
}

/// Returns an event with the required fields of its kind.
fn sample_event(kind: &EventKind) -> Event {
    let mut fields = vec![format!("\"event\":\"{kind}\"")];
    for field in kind.fields().iter().filter(|field| field.required) {
        let value = match field.json {
            "a string" => "\"text\"",
            "an object" => r#"{"name":"n"}"#,
            _ => r#"{"a":0,"z":1.50}"#,
        };
        fields.push(format!("\"{}\":{value}", field.name));
    }
    Event::from_json(&format!("{{{}}}", fields.join(","))).unwrap()
}

fn push_all(rules: &Rules, event: &Event, order: &[usize], replies: &[Result<Opinion, Failure>]) -> Verdict {
    let mut settlement = Settlement::new(rules, event);
    for &position in order {
        let _ = match &replies[position] {
            Ok(opinion) => settlement.push(position, &hook(position), opinion),
            Err(failure) => settlement.push_failure(position, &hook(position), failure),
        };
    }
    settlement.finish()
}

proptest! {
    #[test]
    fn the_verdict_does_not_depend_on_the_order_of_finishing(
        (replies, order) in prop::collection::vec(any_reply(), 0..6).prop_flat_map(|replies| {
            let order: Vec<usize> = (0..replies.len()).collect();
            (Just(replies), Just(order).prop_shuffle())
        }),
        event in any_event(),
    ) {
        let rules = Rules::NATIVE.order(RunOrder::Parallel);
        let in_config_order: Vec<usize> = (0..replies.len()).collect();
        let expected = push_all(&rules, &event, &in_config_order, &replies);
        prop_assert_eq!(push_all(&rules, &event, &order, &replies), expected);
    }

    #[test]
        fn a_deny_is_never_weakened_by_other_hooks(
        mut replies in prop::collection::vec(any_reply(), 0..6),
        returned in prop::sample::select(&[Deny, Halt][..]),
        position in 0_usize..6,
        ) {
        replies.insert(position.min(replies.len()), Ok(Opinion::from_decision(returned)));
        for order in [RunOrder::Phased, RunOrder::Parallel, RunOrder::Pipeline, RunOrder::Sequential] {
            let verdict = settled(&Rules::NATIVE.order(order), &tool_call(r#"{"a":0}"#), &replies);
            prop_assert!(verdict.decision() >= returned);
        }
    }

    #[test]
    fn a_managed_hook_is_not_weakened_under_any_rules(
        replies in prop::collection::vec(any_reply(), 0..6),
        rules in any_rules(),
        returned in prop::sample::select(&[Ask, Defer, Deny, Halt][..]),
    ) {
        let event = tool_call(r#"{"a":0}"#);
        let mut settlement = Settlement::new(&rules, &event);
                let _ = settlement.push(0, &managed(0), &Opinion::from_decision(returned));
                for (position, reply) in (1..).zip(&replies) {
                let _ = match reply {
                Ok(opinion) => settlement.push(position, &hook(position), opinion),
                Err(failure) => settlement.push_failure(position, &hook(position), failure),
            };
        }
        let verdict = settlement.finish();
        let decision = verdict.decision();
        prop_assert!(verdict.is_cancelled() || decision >= returned, "{returned} became {decision}");
    }

    /// Without rewrites: a hook that rewrites the input can fix the failure of the next one.
    #[test]
    fn adding_a_hook_never_weakens_a_verdict(
        decisions in prop::collection::vec((any_decision(), prop::option::of(prop::sample::select(FailureKind::ALL))), 1..6),
        position in 0_usize..6,
        ) {
        let mut replies: Vec<_> = decisions
            .into_iter()
            .map(|(decision, failure)| match failure.filter(|kind| *kind != FailureKind::Cancelled) {
                Some(kind) => Err(Failure::new(kind, "x")),
                None => Ok(Opinion::from_decision(decision)),
            })
            .collect();
        let event = tool_call("{}");
        let with = settled(&Rules::NATIVE, &event, &replies).decision();
        let _ = replies.remove(position.min(replies.len() - 1));
        let without = settled(&Rules::NATIVE, &event, &replies).decision();
        prop_assert!(with >= without, "{without} became {with}");
    }

    #[test]
    fn no_opinion_never_becomes_allow(replies in prop::collection::vec(any_reply(), 0..6), rules in any_rules()) {
        let has_allow = replies.iter().any(|reply| reply.as_ref().is_ok_and(|opinion| opinion.decision() == Allow));
        let verdict = settled(&rules, &tool_call(r#"{"a":0}"#), &replies);
        prop_assert!(has_allow || verdict.decision() != Allow);
    }

    #[test]
    fn every_block_has_a_reason_and_no_failure_is_lost(
        replies in prop::collection::vec(any_reply(), 0..8), rules in any_rules(), event in any_event(),
    ) {
        let verdict = settled(&rules, &event, &replies);
        prop_assert!(!verdict.decision().is_block() || verdict.reason().is_some_and(|reason| !reason.is_empty()));
        for reply in replies.iter().filter(|_| rules.chain_end == ChainEnd::Never) {
            if let Err(failure) = reply {
                prop_assert!(verdict.failures().any(|(_, kept)| kept == failure), "{failure} is lost");
            }
        }
    }

    #[test]
    fn a_pipeline_applies_the_rewrites_one_by_one(
        patches in prop::collection::vec(
            prop::sample::select(
                &[r#"{"a":1}"#, r#"{"b":"x"}"#, r#"{"a":null,"c":[]}"#, "{}", r#"{"z":18446744073709551616}"#][..],
            ),
            0..6,
        ),
        replaces in any::<u8>(),
    ) {
        let rules = Rules::NATIVE.order(RunOrder::Pipeline);
        let rewrites: Vec<_> = patches
            .iter()
            .enumerate()
            .map(|(index, patch)| if replaces >> index & 1 == 1 { replace(patch) } else { merge(patch) })
            .collect();
        let mut expected = r#"{"a":0,"z":1.50}"#.to_owned();
        for rewrite in &rewrites {
            let (_, after) = input_after(&rules, &expected, std::slice::from_ref(rewrite));
            expected = after.unwrap();
        }
        let (_, found) = input_after(&rules, r#"{"a":0,"z":1.50}"#, &rewrites);
        prop_assert_eq!(found, (!rewrites.is_empty()).then_some(expected));
    }
}

/// Returns a managed hook.
fn managed(position: usize) -> Arc<HookInfo> {
    let mut info = HookInfo::clone(&hook(position));
    info.source.scope = checkrein_core::Scope::Managed;
    Arc::new(info)
}

#[test]
fn no_rules_let_others_overrule_a_managed_hook() {
    let rules = [
        Rules::NATIVE.settle(DecisionRule::FirstDecision),
        Rules::NATIVE.settle(DecisionRule::AnyDenyElseLastAllow),
        Rules::NATIVE.settle(DecisionRule::AnyBlock),
        Rules::NATIVE.settle(DecisionRule::LastWriter).compat(Compat::Exact),
        Rules::NATIVE.settle(DecisionRule::LastWriter),
        Rules::NATIVE,
    ];
    for (rules, decision) in rules.iter().flat_map(|rules| [(rules, Ask), (rules, Deny), (rules, Halt)]) {
        for position in [0, 1] {
            let (guard, other) = (managed(position), hook(1 - position));
            let (guarded, allowed) = (Opinion::from_decision(decision).with_reason("guard"), Opinion::allow());
            let mut results = [
                (position, HookResult { hook: &guard, result: Ok(&guarded) }),
                (1 - position, HookResult { hook: &other, result: Ok(&allowed) }),
            ];
            results.sort_by_key(|(position, _)| *position);
            let verdict = settle(rules, &tool_call("{}"), &results.map(|(_, result)| result));
            let expected = (decision, Some("guard"));
            assert_eq!((verdict.decision(), verdict.reason()), expected, "{:?} {position}", rules.settle);
        }
    }
    let allow = Opinion::allow();
    let allowed = HookResult { hook: &managed(0), result: Ok(&allow) };
    let verdict = settle(&Rules::NATIVE.settle(DecisionRule::AnyBlock), &tool_call("{}"), &[allowed]);
    assert_eq!(verdict.decision(), NoOpinion, "an allow of a managed hook follows the rules");
}

#[test]
fn concurrent_rewrites_can_be_composed_for_later_hooks() {
    let event = tool_call(r#"{"command":"ls","timeout":1}"#);
    let other = |position| {
        let mut info = HookInfo::clone(&hook(position));
        (info.declares_rewrites, info.may_rewrite) = (false, true);
        Arc::new(info)
    };
    let rewrite = |text: &str| Opinion::none().with_rewrite(Rewrite::merge(Target::Input, json(text)));
    let mut settlement = Settlement::new(&Rules::NATIVE, &event);
    let _ = settlement.push(1, &other(1), &rewrite(r#"{"command":"rm"}"#));
    let _ = settlement.push(2, &other(2), &rewrite(r#"{"timeout":2}"#));
    assert!(settlement.current(Target::Input).is_none());
    settlement.compose_rewrites();
    assert_eq!(settlement.current(Target::Input).unwrap().as_str(), r#"{"command":"rm","timeout":2}"#);
    let _ = settlement.push(0, &managed(0), &rewrite(r#"{"timeout":3}"#));
    let verdict = settlement.finish();
    assert_eq!(verdict.rewritten(Target::Input).unwrap().effective.as_str(), r#"{"command":"rm","timeout":3}"#);
}
