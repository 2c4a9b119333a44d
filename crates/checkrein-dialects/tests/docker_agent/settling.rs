//! Settling of opinions.

use std::sync::Arc;

use checkrein_core::{
    Decision, Event, EventKind, Failure, FailureKind, HookInfo, ProcessExit, ProcessReply, Reply, Settlement, Source,
    Target, Verdict,
};
use checkrein_dialects::Dialect;
use checkrein_dialects::agents::docker_agent::{DIALECT, G2};

use crate::event;

/// Verdict of these answers, one hook each. `!` is a hook that fails.
fn settled(dialect: &Dialect, event: &Event, answers: &[&str]) -> Verdict {
    let kind = event.kind();
    let mut settlement = Settlement::new(&dialect.rules_at(&kind), event);
    for (at, answer) in answers.iter().enumerate() {
        let hook = Arc::new(HookInfo::new(format!("h{at}"), Source::here()));
        let reply = Reply::Process(ProcessReply::new(ProcessExit::Code(0)).stdout(*answer));
        let read = match *answer {
            "!" => Err(Failure::new(FailureKind::Timeout, "too slow")),
            _ => dialect.read(event, reply, false),
        };
        let _ = match read {
            Ok(opinion) => settlement.push(at, &hook, &opinion),
            Err(failure) => settlement.push_failure(at, &hook, &failure),
        };
    }
    settlement.finish()
}

fn specific(inside: &str) -> String {
    format!(r#"{{"hook_specific_output":{{{inside}}}}}"#)
}

fn verdict_of(word: &str, reason: &str) -> String {
    specific(&format!(r#""permission_decision":"{word}","permission_decision_reason":"{reason}""#))
}

#[test]
fn most_restrictive_decision_wins_with_the_first_reason() {
    for name in ["pre_tool_use", "tool_guard"] {
        let event = event(DIALECT.kind_of(name).unwrap());
        for (answers, decision, reason) in [
            (vec![("allow", "a"), ("ask", "b"), ("deny", "c"), ("deny", "d")], Decision::Deny, "c"),
            (vec![("deny", "a"), ("allow", "b")], Decision::Deny, "a"),
            (vec![("allow", "a"), ("ask", "b"), ("ask", "c")], Decision::Ask, "b"),
            (vec![("allow", "a"), ("allow", "b")], Decision::Allow, "a"),
        ] {
            let answers: Vec<_> = answers.iter().map(|(word, reason)| verdict_of(word, reason)).collect();
            let answers: Vec<_> = answers.iter().map(String::as_str).collect();
            let verdict = settled(&DIALECT, &event, &answers);
            assert_eq!((verdict.decision(), verdict.reason()), (decision, Some(reason)), "{name} {answers:?}");
            assert_eq!(verdict.reasons().len(), answers.len());
        }
    }
}

#[test]
fn patches_are_merged_into_the_whole_input() {
    for (dialect, name) in [(&DIALECT, "pre_tool_use"), (&DIALECT, "tool_input_transform"), (&G2, "pre_tool_use")] {
        let event = event(dialect.kind_of(name).unwrap());
        let (one, two) = (specific(r#""updated_input":{"a":1}"#), specific(r#""updated_input":{"cmd":"pwd"}"#));
        let verdict = settled(dialect, &event, &[&one, &two]);
        // The agent of the second generation passes only the patches to the tool.
        let input = verdict.effective_input().unwrap();
        assert_eq!(input.as_str(), r#"{"cmd":"pwd","n":9007199254740993,"a":1}"#, "{}", dialect.name);
        assert_eq!(verdict.rewritten(Target::Input).unwrap().original.as_ref(), event.tool_input());
        let empty = settled(dialect, &event, &[&specific(r#""updated_input":{}"#)]);
        assert!(empty.effective_input().is_some(), "an empty patch is a rewrite");
        assert!(settled(dialect, &event, &["{}"]).effective_input().is_none());
    }
}

#[test]
fn last_value_wins_in_a_pipeline_and_conflicts_in_parallel() {
    let event = event(&EventKind::PreToolUse);
    let (one, two) = (specific(r#""updated_input":{"cmd":"a"}"#), specific(r#""updated_input":{"cmd":"b"}"#));
    let newest = settled(&DIALECT, &event, &[&one, &two]);
    assert!(newest.effective_input().unwrap().as_str().contains(r#""cmd":"b""#));
    let second = settled(&G2, &event, &[&one, &two]);
    assert_eq!(second.decision(), Decision::Deny);
    assert!(second.failures().all(|(_, failure)| failure.kind == FailureKind::Conflict));
}

#[test]
fn failure_keeps_other_rewrites() {
    let event = event(&EventKind::ToolInputTransform);
    let (one, two) = (specific(r#""updated_input":{"a":1}"#), specific(r#""updated_input":{"b":2}"#));
    let verdict = settled(&DIALECT, &event, &[&one, "!", &two]);
    assert_eq!(verdict.decision(), Decision::NoOpinion);
    assert_eq!(verdict.effective_input().unwrap().as_str(), r#"{"cmd":"ls","n":9007199254740993,"a":1,"b":2}"#);
    assert_eq!(verdict.warnings().len(), 1);
}

#[test]
fn invalid_rewrite_drops_the_reply_but_not_a_deny() {
    let gate = event(&EventKind::PreToolUse);
    let bad = r#"{"decision":"block","reason":"no","hook_specific_output":{"updated_input":7}}"#;
    let verdict = settled(&DIALECT, &gate, &[&specific(r#""updated_input":{"a":1}"#), bad]);
    assert_eq!((verdict.decision(), verdict.reason()), (Decision::Deny, Some("no")));
    assert!(verdict.effective_input().unwrap().as_str().ends_with(r#""a":1}"#));
}

#[test]
fn messages_and_responses_are_piped_and_the_first_summary_applies() {
    for (name, key, values, expected) in [
        ("before_llm_call", "updated_messages", ["[1]", "[2]"], "[2]"),
        ("tool_response_transform", "updated_tool_response", [r#""x""#, r#""""#], r#""""#),
        ("before_compaction", "summary", [r#""one""#, r#""two""#], r#""one""#),
        ("before_compaction", "summary", [r#""""#, r#""two""#], r#""two""#),
    ] {
        let event = event(DIALECT.kind_of(name).unwrap());
        let answers = values.map(|value| specific(&format!(r#""{key}":{value}"#)));
        let verdict = settled(&DIALECT, &event, &[&answers[0], &answers[1]]);
        let rewritten = Target::ALL.iter().find_map(|target| verdict.rewritten(*target)).unwrap();
        assert_eq!(rewritten.effective.as_str(), expected, "{name}");
    }
    let compaction = event(&EventKind::BeforeCompaction);
    assert!(settled(&DIALECT, &compaction, &[r#"{"decision":"block"}"#]).decision().is_block());
}

#[test]
fn texts_are_joined_and_the_last_metadata_applies() {
    let start = event(&EventKind::SessionStart);
    let verdict = settled(&DIALECT, &start, &["one", r#"{"system_message":"m"}"#, "two"]);
    let context: Vec<_> = verdict.context().iter().map(|problems| problems.text.as_str()).collect();
    assert_eq!(context, ["one", "two"]);
    let guard = event(&EventKind::ToolGuard);
    let verdict =
        settled(&DIALECT, &guard, &[&specific(r#""metadata":{"a":1,"b":1}"#), &specific(r#""metadata":{"a":2}"#)]);
    let metadata: Vec<_> = verdict.metadata().map(|(name, value)| format!("{name}={value}")).collect();
    assert_eq!(metadata, ["a=2", "b=1"]);
}

#[test]
fn only_gates_fail_closed() {
    for dialect in [&DIALECT, &G2] {
        for row in dialect.events {
            let verdict = settled(dialect, &event(&row.kind), &["!"]);
            let closed = matches!(row.name, "pre_tool_use" | "tool_guard");
            assert_eq!(verdict.decision().is_block(), closed, "{} {}", dialect.name, row.name);
            assert_eq!(verdict.warnings().len(), 1);
        }
    }
}

#[test]
fn ignored_failure_has_no_warning() {
    let event = event(&EventKind::PostToolUse);
    let failure = Failure::new(FailureKind::Exit, "exit code 1");
    let hook = Arc::new(HookInfo::new("h", Source::here()).quiet());
    let mut settlement = Settlement::new(&DIALECT.rules_at(&event.kind()), &event);
    let _ = settlement.push_failure(0, &hook, &failure);
    let verdict = settlement.finish();
    assert_eq!((verdict.warnings().len(), verdict.failures().count()), (0, 1));
}
