//! How opinions settle: the rules one by one, then what must hold whatever the opinions.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that fails may say so")]

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
    let mut info = HookInfo::new(format!("h{position}"), Source::at(checkrein_core::Scope::User, "hooks.json", 7, 3));
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
        .map(|(at, decision)| Ok(Opinion::of(*decision).with_reason(format!("r{at}"))))
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
    for (rules, said, decision, reason) in table {
        let verdict = decisions(rules, said);
        assert_eq!((verdict.decision(), verdict.reason()), (decision, reason), "{:?} {said:?}", rules.settle);
    }
    let verdict = decisions(&safe_last, &[Deny, Allow]);
    assert_eq!(
        verdict.warnings()[0].to_string(),
        "hook `h1` (hooks.json:7): said allow, which in this agent would cancel the deny of hook `h0` (hooks.json:7); \
         the deny stands (compat = \"exact\" follows the agent)"
    );
}

#[test]
fn all_that_hooks_say_is_kept_in_config_order() {
    let event = Event::session_start(SessionStart::new());
    let said = |n: &str| {
        Opinion::context(format!("c{n}"))
            .with_message(format!("m{n}"))
            .with_stop_reason(format!("s{n}"))
            .with_first_user_message(format!("f{n}"))
            .with_metadata("k", json(n))
    };
    let mut settlement = Settlement::new(&Rules::NATIVE, &event);
    for position in [1, 0] {
        let opinion = said(&position.to_string());
        assert_eq!(settlement.push(position, &hook(position), &opinion), ChainStep::Next);
    }
    let _ = settlement.push(2, &hook(2), &Opinion::none().suppress_output());
    let verdict = settlement.finish();
    let texts = |said: &[checkrein_core::HookMessage]| said.iter().map(|said| said.text.clone()).collect::<Vec<_>>();
    assert_eq!(texts(verdict.context()), ["c0", "c1"]);
    assert_eq!(texts(verdict.messages()), ["m0", "m1"]);
    assert_eq!(verdict.stop_reason(), Some("s0"));
    assert_eq!(verdict.first_user_message(), Some("f0\nf1"));
    assert_eq!(verdict.metadata().next().unwrap().1.as_str(), "1", "of one name the last counts");
    assert!(verdict.suppresses_output());
    assert_eq!(verdict.decision(), NoOpinion);
}

#[test]
fn what_the_event_has_no_use_for_is_a_warning() {
    let start = Event::session_start(SessionStart::new());
    let stop = Event::stop(Stop::new());
    for (event, opinion, text) in [
        (&start, Opinion::deny("x"), "said deny, but at session_start nothing is left to stop; ignored"),
        (&start, Opinion::ask("x"), "said ask, but at session_start nobody waits for leave; ignored"),
        (&stop, Opinion::ask("x"), "said ask, but at stop nobody waits for leave; ignored"),
        (
            &stop,
            Opinion::none().with_first_user_message("x"),
            "speaks as the user, but stop has no place for it; dropped",
        ),
        (
            &tool_call("{}"),
            Opinion::rewrite_prompt("x"),
            "failed (schema: rewrote the prompt, which pre_tool_use does not allow); the hook fails closed",
        ),
    ] {
        let verdict = settled(&Rules::NATIVE, event, &[Ok(opinion)]);
        assert_eq!(verdict.warnings()[0].text, text);
    }
    let verdict = settled(&Rules::NATIVE, &start, &[Ok(Opinion::halt("enough"))]);
    assert_eq!((verdict.decision(), verdict.reason()), (Halt, Some("enough")));
    // A deny at a stop has a meaning: go on.
    assert_eq!(settled(&Rules::NATIVE, &stop, &[Ok(Opinion::deny("tests fail"))]).decision(), Deny);
    let gates_only = Rules::NATIVE.blocks(BlockScope::Gates);
    assert_eq!(settled(&gates_only, &stop, &[Ok(Opinion::deny("tests fail"))]).decision(), NoOpinion);
}

#[test]
fn a_block_without_a_reason_gets_one() {
    let verdict = settled(&Rules::NATIVE, &tool_call("{}"), &[Ok(Opinion::of(Deny)), Ok(Opinion::deny("  "))]);
    assert_eq!(verdict.reason(), Some("hook `h0` (hooks.json:7) said deny and gave no reason"));
    assert_eq!(verdict.reasons().len(), 2);
    assert_eq!(settled(&Rules::NATIVE, &tool_call("{}"), &[Ok(Opinion::allow())]).reason(), None);
}

#[test]
fn failures_do_what_the_table_says_unless_the_hook_says_otherwise() {
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
        assert!(verdict.warnings()[0].to_string().starts_with("hook `h0` (hooks.json:7): failed ("), "{row}");
    }
    let verdict = settled(&Rules::NATIVE, &gate, &[Err(Failure::new(FailureKind::Timeout, "took 5 s"))]);
    let reason = "hook `h0` (hooks.json:7) failed (timeout: took 5 s); the hook fails closed \
                  (`checkrein check` and `checkrein run pre_tool_use` tell more)";
    assert_eq!(verdict.reason(), Some(reason));
    let worded = Failure::new(FailureKind::Exit, "exit code 7").with_reason("not on a Friday");
    let verdict = settled(&Rules::NATIVE, &gate, &[Err(worded)]);
    assert_eq!(verdict.reason(), Some("not on a Friday"));
    assert!(
        verdict.warnings()[0].to_string().contains("failed (exit: exit code 7)"),
        "what happened is told all the same"
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
        assert_eq!(verdict.reasons().len(), usize::from(!before.is_none()), "what was said is kept");
    }
}

#[test]
fn chains_end_where_the_rules_say() {
    let failure = || Err(Failure::new(FailureKind::Exit, "1"));
    let rewrite = || Ok(Opinion::rewrite_input(json("{}")));
    let marked = || Ok(Opinion::deny("no").with_metadata("blocked", json("true")));
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
        (open, ChainEnd::FirstTagged("blocked"), marked(), ChainStep::End),
        (open, ChainEnd::FirstTagged("blocked"), failure(), ChainStep::Next),
        (Rules::NATIVE, ChainEnd::FirstTagged("blocked"), failure(), ChainStep::End),
        (open, ChainEnd::FirstMarkedOrFailure("blocked"), deny(), ChainStep::Next),
        (open, ChainEnd::FirstMarkedOrFailure("blocked"), failure(), ChainStep::End),
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
    let last = side_by_side.side_by_side(ConcurrentRewrites::LastInOrder);
    let first = side_by_side.side_by_side(ConcurrentRewrites::FirstInOrder);
    let input = r#"{"a":1,"b":2}"#;
    let some = |text: &str| Some(text.to_owned());
    for (rules, replies, expected) in [
        // One on the result of the other.
        (&pipeline, vec![merge(r#"{"a":5}"#), merge(r#"{"c":7}"#)], (NoOpinion, some(r#"{"a":5,"b":2,"c":7}"#))),
        (&pipeline, vec![merge(r#"{"a":5}"#), merge(r#"{"a":6}"#)], (NoOpinion, some(r#"{"a":6,"b":2}"#))),
        (&pipeline, vec![replace("[1]"), replace("{}")], (NoOpinion, some("{}"))),
        // Different fields come together.
        (&side_by_side, vec![merge(r#"{"a":5}"#), merge(r#"{"c":7}"#)], (NoOpinion, some(r#"{"a":5,"b":2,"c":7}"#))),
        (
            &side_by_side,
            vec![replace(r#"{"a":5,"b":2}"#), replace(r#"{"a":1,"b":3}"#)],
            (NoOpinion, some(r#"{"a":5,"b":3}"#)),
        ),
        (&side_by_side, vec![replace(r#"{"a":1}"#), merge(r#"{"a":9}"#)], (NoOpinion, some(r#"{"a":9}"#))),
        (&side_by_side, vec![merge(r#"{"a":5}"#), merge(r#"{"a": 5}"#)], (NoOpinion, some(r#"{"a":5,"b":2}"#))),
        (&side_by_side, vec![replace("[1]"), replace("[ 1 ]")], (NoOpinion, some("[1]"))),
        // Two values for one thing: the gate closes, and what those in conflict made of it does not count.
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
        // What cannot be merged.
        (&pipeline, vec![merge("[]")], (Deny, None)),
    ] {
        assert_eq!(input_after(rules, input, &replies), expected, "{:?} {replies:?}", rules.order);
    }
    let verdict = settled(&side_by_side, &tool_call(input), &[merge(r#"{"a":5}"#), merge(r#"{"a":6}"#)]);
    let conflicts: Vec<_> = verdict.failures().map(|(who, failure)| (who.id.as_str(), failure.to_string())).collect();
    assert_eq!(
        conflicts,
        [
            (
                "h0",
                "conflict: rewrites the input's field `a` in another way than hook `h1` (hooks.json:7) does".to_owned()
            ),
            (
                "h1",
                "conflict: rewrites the input's field `a` in another way than hook `h0` (hooks.json:7) does".to_owned()
            ),
        ]
    );
}

#[test]
fn native_rewrites_must_be_declared() {
    let event = tool_call(r#"{"a":1}"#);
    let quiet = Arc::new(HookInfo::new("quiet", Source::here()));
    let opinion = Opinion::rewrite_input(json("{}"));
    let outcomes =
        [HookResult { hook: &hook(0), result: Ok(&opinion) }, HookResult { hook: &quiet, result: Ok(&opinion) }];
    let verdict = settle(&Rules::NATIVE, &event, &outcomes);
    assert_eq!(verdict.effective_input().unwrap().as_str(), "{}");
    let (who, failure) = verdict.failures().next().unwrap();
    assert_eq!((who.id.as_str(), failure.kind), ("quiet", FailureKind::Schema));
    assert_eq!(verdict.decision(), Deny);
}

#[test]
fn a_rewrite_touches_no_other_number() {
    let event = tool_call(r#"{"id":12345678901234567890123,"ratio":1.500,"a":0}"#);
    let verdict = settled(&Rules::NATIVE, &event, &[merge(r#"{"a":1e2}"#)]);
    assert_eq!(verdict.effective_input().unwrap().as_str(), r#"{"id":12345678901234567890123,"ratio":1.500,"a":1e2}"#);
    assert_eq!(verdict.rewritten(Target::Input).unwrap().original, event.tool_input().cloned());
}

#[test]
fn the_next_hook_sees_what_the_one_before_made_of_it() {
    let event = Event::prompt_submit(Prompt::new("one"));
    let mut settlement = Settlement::new(&Rules::NATIVE, &event);
    assert_eq!(settlement.current(Target::Prompt), None);
    let _ = settlement.push(0, &hook(0), &Opinion::rewrite_prompt("two"));
    assert_eq!(settlement.current(Target::Prompt).unwrap().as_text().unwrap(), "two");
}

#[test]
fn a_conflict_is_judged_by_the_strictest_of_those_in_it() {
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
fn an_opinion_with_a_refused_rewrite_is_a_failure_but_for_its_deny() {
    let refused = |decision| Ok(Opinion::rewrite_prompt("x").with_decision(decision).with_reason("own"));
    for rules in [
        Rules::NATIVE,
        Rules::NATIVE.settle(DecisionRule::LastWriter),
        Rules::NATIVE.settle(DecisionRule::FirstDecision),
    ] {
        for (decision, expected) in [(Allow, Deny), (Ask, Deny), (Deny, Deny), (Halt, Halt)] {
            let verdict = settled(&rules, &tool_call("{}"), &[refused(decision)]);
            assert_eq!(verdict.decision(), expected, "{decision}");
        }
    }
    let exact = Rules::NATIVE.settle(DecisionRule::LastWriter).compat(Compat::Exact);
    assert_eq!(settled(&exact, &tool_call("{}"), &[refused(Allow)]).decision(), Deny);
    // It ends chains as the failure that it is.
    for end in [ChainEnd::FirstBlock, ChainEnd::FirstDecision, ChainEnd::FirstBlockOrFailure] {
        let event = tool_call("{}");
        let rules = Rules::NATIVE.chain_end(end);
        let step = Settlement::new(&rules, &event).push(0, &hook(0), &Opinion::rewrite_prompt("x"));
        assert_eq!(step, ChainStep::End, "{end:?}");
    }
}

#[test]
fn a_hook_that_closes_or_asks_when_it_fails_does_so_under_every_rule() {
    let failure = || Err(Failure::new(FailureKind::Timeout, "x"));
    let mut asks = HookInfo::new("asks", Source::here());
    asks.on_failure = Some(FailurePolicy::Ask);
    for settle_by in [
        DecisionRule::FirstDecision,
        DecisionRule::AnyDenyElseLastAllow,
        DecisionRule::AnyBlock,
        DecisionRule::LastWriter,
    ] {
        let rules = Rules::NATIVE.settle(settle_by);
        let closed = settled(&rules, &tool_call("{}"), &[Ok(Opinion::allow()), failure(), Ok(Opinion::allow())]);
        assert_eq!(closed.decision(), Deny, "{settle_by:?}");
        let event = tool_call("{}");
        let mut settlement = Settlement::new(&rules, &event);
        let _ = settlement.push_failure(0, &Arc::new(asks.clone()), &Failure::new(FailureKind::Exit, "x"));
        let _ = settlement.push(1, &hook(1), &Opinion::allow());
        assert_eq!(settlement.finish().decision(), Ask, "{settle_by:?}");
    }
}

#[test]
fn two_rewrites_of_one_opinion_are_one() {
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
    assert_eq!(verdict.failures().count(), 2, "one for each of the two");
    assert!(verdict.warnings()[0].text.contains("fields `k0`, `k1`, `k2` and 997 more"), "{}", verdict.warnings()[0]);
}

// What must hold whatever the opinions.

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
            .prop_map(|(decision, reason, rewrites, speaks)| {
                let mut opinion = Opinion::of(decision);
                if let Some(reason) = reason {
                    opinion = opinion.with_reason(reason);
                }
                if speaks {
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
                .side_by_side(side)
                .blocks(if gates { BlockScope::Gates } else { BlockScope::Contract })
                .compat(if exact { Compat::Exact } else { Compat::Safe })
        })
}

fn any_event() -> impl Strategy<Value = Event> {
    prop::sample::select(EventKind::ALL).prop_map(|kind| sample_event(&kind))
}

/// An event of any kind, read from JSON that has every required field.
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
    for &at in order {
        let _ = match &replies[at] {
            Ok(opinion) => settlement.push(at, &hook(at), opinion),
            Err(failure) => settlement.push_failure(at, &hook(at), failure),
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
    fn a_deny_that_was_said_stands_whatever_else_is(
        mut replies in prop::collection::vec(any_reply(), 0..6),
        said in prop::sample::select(&[Deny, Halt][..]),
        at in 0_usize..6,
    ) {
        replies.insert(at.min(replies.len()), Ok(Opinion::of(said)));
        for order in [RunOrder::Phased, RunOrder::Parallel, RunOrder::Pipeline, RunOrder::Sequential] {
            let verdict = settled(&Rules::NATIVE.order(order), &tool_call(r#"{"a":0}"#), &replies);
            prop_assert!(verdict.decision() >= said);
        }
    }

    #[test]
    fn what_an_administrator_holds_back_is_held_back_under_all_rules(
        replies in prop::collection::vec(any_reply(), 0..6),
        rules in any_rules(),
        said in prop::sample::select(&[Ask, Defer, Deny, Halt][..]),
    ) {
        let event = tool_call(r#"{"a":0}"#);
        let mut settlement = Settlement::new(&rules, &event);
        let _ = settlement.push(0, &managed(0), &Opinion::of(said));
        for (at, reply) in (1..).zip(&replies) {
            let _ = match reply {
                Ok(opinion) => settlement.push(at, &hook(at), opinion),
                Err(failure) => settlement.push_failure(at, &hook(at), failure),
            };
        }
        let verdict = settlement.finish();
        prop_assert!(verdict.is_cancelled() || verdict.decision() >= said, "{said} became {}", verdict.decision());
    }

    /// Without rewrites: with them, a hook that changes what the next one sees may well mend what was wrong with it.
    #[test]
    fn adding_a_hook_never_weakens_a_verdict(
        decisions in prop::collection::vec((any_decision(), prop::option::of(prop::sample::select(FailureKind::ALL))), 1..6),
        at in 0_usize..6,
    ) {
        let mut replies: Vec<_> = decisions
            .into_iter()
            .map(|(decision, failure)| match failure.filter(|kind| *kind != FailureKind::Cancelled) {
                Some(kind) => Err(Failure::new(kind, "x")),
                None => Ok(Opinion::of(decision)),
            })
            .collect();
        let event = tool_call("{}");
        let with = settled(&Rules::NATIVE, &event, &replies).decision();
        let _ = replies.remove(at.min(replies.len() - 1));
        let without = settled(&Rules::NATIVE, &event, &replies).decision();
        prop_assert!(with >= without, "{without} became {with}");
    }

    #[test]
    fn no_opinion_never_becomes_allow(replies in prop::collection::vec(any_reply(), 0..6), rules in any_rules()) {
        let nobody_allows = replies.iter().all(|reply| reply.as_ref().map_or(true, |o| o.decision() != Allow));
        let verdict = settled(&rules, &tool_call(r#"{"a":0}"#), &replies);
        prop_assert!(!(nobody_allows && verdict.decision() == Allow));
    }

    #[test]
    fn settling_is_total(
        replies in prop::collection::vec(any_reply(), 0..8), rules in any_rules(), event in any_event(),
    ) {
        let verdict = settled(&rules, &event, &replies);
        prop_assert!(!verdict.decision().is_block() || verdict.reason().is_some_and(|reason| !reason.is_empty()));
        for reply in replies.iter().filter(|_| rules.chain_end == ChainEnd::Never) {
            if let Err(failure) = reply {
                prop_assert!(verdict.failures().any(|(_, kept)| kept == failure), "{failure} went missing");
            }
        }
    }

    #[test]
    fn a_chain_of_rewrites_is_the_rewrites_one_by_one(
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
            .map(|(at, patch)| if replaces >> at & 1 == 1 { replace(patch) } else { merge(patch) })
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

/// As [`hook`], set by an administrator.
fn managed(position: usize) -> Arc<HookInfo> {
    let mut info = HookInfo::clone(&hook(position));
    info.source.scope = checkrein_core::Scope::Managed;
    Arc::new(info)
}

#[test]
fn no_rules_let_others_overrule_an_administrator() {
    let rules = [
        Rules::NATIVE.settle(DecisionRule::FirstDecision),
        Rules::NATIVE.settle(DecisionRule::AnyDenyElseLastAllow),
        Rules::NATIVE.settle(DecisionRule::AnyBlock),
        Rules::NATIVE.settle(DecisionRule::LastWriter).compat(Compat::Exact),
        Rules::NATIVE.settle(DecisionRule::LastWriter),
        Rules::NATIVE,
    ];
    for (rules, held) in rules.iter().flat_map(|rules| [(rules, Ask), (rules, Deny), (rules, Halt)]) {
        for guard_at in [0, 1] {
            let (guard, other) = (managed(guard_at), hook(1 - guard_at));
            let (holds, allows) = (Opinion::of(held).with_reason("held"), Opinion::allow());
            let mut outcomes = [
                (guard_at, HookResult { hook: &guard, result: Ok(&holds) }),
                (1 - guard_at, HookResult { hook: &other, result: Ok(&allows) }),
            ];
            outcomes.sort_by_key(|(at, _)| *at);
            let verdict = settle(rules, &tool_call("{}"), &outcomes.map(|(_, outcome)| outcome));
            assert_eq!((verdict.decision(), verdict.reason()), (held, Some("held")), "{:?} {guard_at}", rules.settle);
        }
    }
    let leave = Opinion::allow();
    let allowed = HookResult { hook: &managed(0), result: Ok(&leave) };
    let verdict = settle(&Rules::NATIVE.settle(DecisionRule::AnyBlock), &tool_call("{}"), &[allowed]);
    assert_eq!(verdict.decision(), NoOpinion, "leave is no more than the rules make of it");
}

#[test]
fn what_ran_side_by_side_can_be_brought_together_for_those_behind() {
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
