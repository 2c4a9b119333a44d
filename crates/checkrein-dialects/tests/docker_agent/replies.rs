//! Reading of replies.

use checkrein_core::{
    Captured, Decision, EventKind, Failure, FailureKind, Opinion, ProcessExit, ProcessReply, Reply, RewriteMode, Target,
};
use checkrein_dialects::Dialect;
use checkrein_dialects::agents::docker_agent::{DIALECT, G2};

use crate::event;

fn process(code: i32, stdout: &str, stderr: &str) -> Reply {
    Reply::Process(ProcessReply::new(ProcessExit::Code(code)).stdout(stdout).stderr(stderr))
}

fn read(dialect: &Dialect, name: &str, reply: Reply, strict: bool) -> Result<Opinion, Failure> {
    dialect.read(&event(dialect.kind_of(name).unwrap()), reply, strict)
}

fn printed(dialect: &Dialect, name: &str, stdout: &str) -> Result<Opinion, Failure> {
    read(dialect, name, process(0, stdout, ""), false)
}

type Read = (Decision, String, Option<FailureKind>);

fn outcome(read: Result<Opinion, Failure>) -> Read {
    match read {
        Ok(opinion) => (opinion.decision(), opinion.reason().unwrap_or_default().to_owned(), None),
        Err(failure) => (Decision::NoOpinion, failure.message, Some(failure.kind)),
    }
}

#[test]
fn exit_codes_are_parsed() {
    use Decision::{Deny, NoOpinion};
    const EXIT: Option<FailureKind> = Some(FailureKind::Exit);
    for (code, stdout, stderr, newest, g2) in [
        (0, "", "noise", (NoOpinion, "", None), (NoOpinion, "", None)),
        (2, "", " no\n", (Deny, "no", None), (Deny, "no", None)),
        (2, "", "", (Deny, "", None), (Deny, "", None)),
        // The agent drops a reason in the form of its own documentation.
        (2, r#"{"decision":"block","reason":"json"}"#, "", (Deny, "json", None), (Deny, "json", None)),
        (2, r#"{"decision":"block","reason":"json"}"#, "stderr", (Deny, "stderr", None), (Deny, "stderr", None)),
        (2, "{broken", "why", (Deny, "why", None), (Deny, "why", None)),
        (1, "", "oops", (NoOpinion, "exit code 1: oops", EXIT), (NoOpinion, "", None)),
        (1, r#"{"decision":"block"}"#, "", (NoOpinion, "exit code 1", EXIT), (NoOpinion, "", None)),
        (127, "", "", (NoOpinion, "exit code 127", EXIT), (NoOpinion, "", None)),
    ] {
        for (dialect, (decision, text, failure)) in [(&DIALECT, newest), (&G2, g2)] {
            let found = outcome(read(dialect, "pre_tool_use", process(code, stdout, stderr), false));
            assert_eq!(found, (decision, text.to_owned(), failure), "{} {code} {stdout}", dialect.name);
        }
    }
    let both = read(&DIALECT, "pre_tool_use", process(2, r#"{"system_message":"m"}"#, "no"), false).unwrap();
    assert_eq!((both.reason(), both.messages()), (Some("no"), &["m".to_owned()][..]));
}

#[test]
fn signals_are_failures() {
    let signal = || Reply::Process(ProcessReply::new(ProcessExit::Signal(11)));
    assert_eq!(outcome(read(&DIALECT, "pre_tool_use", signal(), false)).2, Some(FailureKind::Signal));
    assert_eq!(outcome(read(&G2, "pre_tool_use", signal(), false)).2, None);
}

#[test]
fn exit_2_is_a_message_at_events_that_cannot_block() {
    for row in DIALECT.events {
        let opinion = read(&DIALECT, row.name, process(2, "", "careful"), false).unwrap();
        let (decision, messages): (_, &[String]) = match row.blocks {
            true => (Decision::Deny, &[]),
            false => (Decision::NoOpinion, &["careful".to_owned()]),
        };
        assert_eq!((opinion.decision(), opinion.messages()), (decision, messages), "{}", row.name);
    }
}

#[test]
fn blocking_replies_are_parsed() {
    for (stdout, reason) in [
        (r#"{"decision":"block","reason":"r"}"#, "r"),
        (r#"{"continue":false,"stop_reason":"s"}"#, "s"),
        (r#"{"hook_specific_output":{"permission_decision":"deny","permission_decision_reason":"p"}}"#, "p"),
        (r#" {"continue":true,"decision":"block"}"#, ""),
    ] {
        for dialect in [&DIALECT, &G2] {
            let found = outcome(printed(dialect, "pre_tool_use", stdout));
            assert_eq!(found, (Decision::Deny, reason.to_owned(), None), "{stdout}");
        }
    }
}

#[test]
fn permission_decisions_of_both_generations_are_parsed() {
    for (word, newest, g2) in [
        ("allow", Decision::Allow, Decision::NoOpinion),
        ("ask", Decision::Ask, Decision::Ask),
        ("deny", Decision::Deny, Decision::Deny),
        ("", Decision::NoOpinion, Decision::NoOpinion),
    ] {
        let stdout = format!(r#"{{"hook_specific_output":{{"permission_decision":"{word}"}}}}"#);
        for (dialect, expected) in [(&DIALECT, newest), (&G2, g2)] {
            assert_eq!(printed(dialect, "pre_tool_use", &stdout).unwrap().decision(), expected, "{word}");
        }
        assert_eq!(printed(&DIALECT, "tool_guard", &stdout).unwrap().decision(), newest);
        assert_eq!(printed(&DIALECT, "user_prompt_submit", &stdout).unwrap().decision(), Decision::NoOpinion);
    }
}

#[test]
fn invalid_answers_fail_in_the_newest_and_are_reported_in_the_second() {
    use FailureKind::{Parse, Schema};
    for (stdout, kind) in [
        ("{", Parse),
        ("{} {}", Parse),
        (r#"{"decision":"approve"}"#, Schema),
        (r#"{"hook_specific_output":{"permission_decision":"maybe"}}"#, Schema),
        (r#"{"continue":"false"}"#, Schema),
        (r#"{"hook_specific_output":[]}"#, Schema),
    ] {
        assert_eq!(outcome(printed(&DIALECT, "pre_tool_use", stdout)).2, Some(kind), "{stdout}");
        let told = printed(&G2, "pre_tool_use", stdout).unwrap();
        assert_eq!(told.decision(), Decision::NoOpinion, "{stdout}");
        assert_eq!(told.messages().is_empty(), kind == Parse, "{stdout}");
    }
    let context = printed(&G2, "session_start", "{not json").unwrap();
    assert_eq!(context.contexts(), ["{not json"]);
}

#[test]
fn plain_text_is_context_at_some_events() {
    for dialect in [&DIALECT, &G2] {
        for row in dialect.events {
            let heard = printed(dialect, row.name, " be kind\n").unwrap();
            let expected = row.plain == checkrein_dialects::PlainTextUse::Context;
            assert_eq!(heard.contexts() == ["be kind"], expected, "{} {}", dialect.name, row.name);
        }
    }
}

#[test]
fn rewrites_are_parsed() {
    let input = r#"{"hook_specific_output":{"updated_input":{"n":9007199254740993}}}"#;
    for (dialect, name) in [(&DIALECT, "pre_tool_use"), (&DIALECT, "tool_input_transform"), (&G2, "pre_tool_use")] {
        let rewrite = printed(dialect, name, input).unwrap().rewrites()[0].clone();
        assert_eq!((rewrite.target, rewrite.mode), (Target::Input, RewriteMode::Merge));
        assert_eq!(rewrite.value.as_str(), r#"{"n":9007199254740993}"#);
    }
    for (name, key, value, target) in [
        ("pre_tool_use", "updated_input", "{}", Some(Target::Input)),
        ("tool_guard", "updated_input", "{}", None),
        ("before_llm_call", "updated_messages", "[1]", Some(Target::Messages)),
        ("before_llm_call", "updated_messages", "[]", None),
        ("tool_response_transform", "updated_tool_response", r#""""#, Some(Target::Output)),
        ("post_tool_use", "updated_tool_response", r#""x""#, None),
        ("before_compaction", "summary", r#""s""#, Some(Target::Summary)),
        ("before_compaction", "summary", r#""""#, None),
    ] {
        let stdout = format!(r#"{{"hook_specific_output":{{"{key}":{value}}}}}"#);
        let opinion = printed(&DIALECT, name, &stdout).unwrap();
        let found: Vec<_> = opinion.rewrites().iter().map(|rewrite| rewrite.target).collect();
        assert_eq!(found, target.into_iter().collect::<Vec<_>>(), "{name} {stdout}");
    }
}

#[test]
fn other_keys_are_parsed() {
    let start = printed(
        &DIALECT,
        "session_start",
        r#"{"system_message":"m","suppress_output":true,"hook_specific_output":{"hook_event_name":"stop",
            "additional_context":"c","instruction_context":[{"path":"AGENTS.md"}]}}"#,
    )
    .unwrap();
    assert_eq!((start.contexts(), start.messages()), (&["c".to_owned()][..], &["m".to_owned()][..]));
    assert!(!start.suppresses_output(), "the agent reads it and does nothing");
    assert_eq!(start.metadata().next().unwrap().0, "instruction_context");
    let guard = printed(&DIALECT, "tool_guard", r#"{"hook_specific_output":{"metadata":{"risk":3}}}"#).unwrap();
    assert_eq!(guard.metadata().next().unwrap().1.as_str(), "3");
}

#[test]
fn keys_without_effect_are_reported() {
    for (name, stdout, message) in [
        ("stop", r#"{"decision":"block"}"#, "`decision` has no effect at `stop`"),
        ("stop", r#"{"continue":false}"#, "`continue` has no effect at `stop`"),
        (
            "pre_tool_use",
            r#"{"hook_specific_output":{"additional_context":"c"}}"#,
            "`hook_specific_output.additional_context` has no effect at `pre_tool_use`",
        ),
        ("stop", r#"{"x":1}"#, "its answer has an unknown key `x`"),
    ] {
        let opinion = printed(&DIALECT, name, stdout).unwrap();
        assert_eq!((opinion.decision(), opinion.messages()), (Decision::NoOpinion, &[message.to_owned()][..]));
        assert!(opinion.contexts().is_empty());
    }
    for quiet in [r#"{"continue":true}"#, r#"{"decision":""}"#, r#"{"suppress_output":true}"#] {
        assert!(printed(&DIALECT, "stop", quiet).unwrap().is_none(), "{quiet}");
    }
}

#[test]
fn strict_hooks_reject_unknown_keys() {
    for (name, stdout, fails) in [
        ("pre_tool_use", "", false),
        ("pre_tool_use", "{}", false),
        ("pre_tool_use", r#"{"decision":"block"}"#, false),
        ("pre_tool_use", "text", true),
        ("session_start", "text", true),
        ("pre_tool_use", "{} {}", true),
        ("pre_tool_use", r#"{"x":1}"#, true),
        ("pre_tool_use", r#"{"hook_specific_output":{"x":1}}"#, true),
        ("pre_tool_use", r#"{"suppress_output":true}"#, true),
        ("pre_tool_use", r#"{"suppress_output":false}"#, false),
        ("pre_tool_use", r#"{"hook_specific_output":{"hook_event_name":"pre_tool_use"}}"#, false),
        ("pre_tool_use", r#"{"hook_specific_output":{"hook_event_name":"stop"}}"#, true),
        ("pre_tool_use", r#"{"hook_specific_output":{"updated_input":{}}}"#, false),
        ("tool_guard", r#"{"hook_specific_output":{"updated_input":{}}}"#, true),
        ("stop", r#"{"decision":"block"}"#, true),
        ("stop", r#"{"continue":false}"#, true),
        ("stop", r#"{"continue":true}"#, false),
        ("stop", r#"{"hook_specific_output":{"summary":"s"}}"#, true),
        ("stop", r#"{"hook_specific_output":{"summary":""}}"#, false),
        ("stop", r#"{"hook_specific_output":{"metadata":{}}}"#, true),
    ] {
        let found = read(&DIALECT, name, process(0, stdout, ""), true);
        assert_eq!(found.is_err(), fails, "{name} {stdout} {found:?}");
    }
}

#[test]
fn truncated_reply_is_a_failure() {
    for dialect in [&DIALECT, &G2] {
        let cut = Captured::new(br#"{"decision":"block"}"#.to_vec(), 2_000_000);
        let reply = Reply::Process(ProcessReply::new(ProcessExit::Code(0)).stdout(cut));
        assert_eq!(outcome(read(dialect, "pre_tool_use", reply, false)).2, Some(FailureKind::OutputCap));
    }
}

#[test]
fn verdicts_are_rendered() {
    use checkrein_core::{HookInfo, HookResult, Rules, Source, settle};
    let hook = std::sync::Arc::new(HookInfo::new("h", Source::here()));
    for (kind, expected) in [
        (
            EventKind::PreToolUse,
            r#"{"hook_specific_output":{"hook_event_name":"pre_tool_use","permission_decision":"deny","permission_decision_reason":"no"}}"#,
        ),
        (EventKind::PromptSubmit, r#"{"decision":"block","reason":"no"}"#),
    ] {
        let event = event(&kind);
        let deny = Opinion::deny("no");
        let verdict = settle(&Rules::NATIVE, &event, &[HookResult { hook: &hook, result: Ok(&deny) }]);
        assert_eq!(DIALECT.render_verdict(&event, &verdict).stdout, expected);
    }
}
