//! Answers to agents claim nothing that the agent does not do: rewrites that it does not support, and texts about them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use checkrein_core::payload::{Prompt, ToolCall, ToolOutcome};
use checkrein_core::{
    Decision, Event, HookInfo, HookResult, Opinion, RawJson, Rewrite, RewriteTexts, Rules, Scope, Source, Target,
    Verdict, settle,
};
use checkrein_dialects::agents::{claude, cline, codex, copilot_pascal, factory, gemini, goose, qwen};
use checkrein_dialects::{Answer, AnswerExtras, Dialect};

fn json(text: &str) -> RawJson {
    RawJson::parse(text).unwrap()
}

fn verdict(event: &Event, opinion: &Opinion) -> Verdict {
    let hook = HookInfo::new("redact-secrets", Source::for_scope(Scope::User)).rewrites().into();
    settle(&Rules::NATIVE, event, &[HookResult { hook: &hook, result: Ok(opinion) }])
}

fn answer(dialect: &Dialect, event: &Event, opinion: &Opinion) -> Answer {
    dialect.render_verdict(event, &verdict(event, opinion))
}

fn bash() -> Event {
    Event::pre_tool_use(ToolCall::new("Bash", json(r#"{"command":"curl x","description":"d"}"#)))
}

fn done(output: &str) -> Event {
    Event::post_tool_use(ToolOutcome::new("Bash", json(r#"{"command":"ls"}"#)).tool_response(json(output)))
}

/// An opinion that replaces a value, with texts about it.
fn redaction(target: Target, value: &str) -> Opinion {
    let texts = RewriteTexts {
        done: format!("redacted 1 AWS access key in the {target}"),
        cause: format!("the {target} contains what looks like an AWS access key"),
        remedy: "remove the key".to_owned(),
    };
    Opinion::none().with_rewrite(Rewrite::replace(target, json(value)).with_texts(texts))
}

#[test]
fn output_has_the_shape_that_the_agent_accepts() {
    let bash = r#"{"stdout":"old","stderr":"warning","interrupted":false}"#;
    let read = r#"{"type":"text","file":{"filePath":"/a","content":"old","numLines":1}}"#;
    let blocks = r#"[{"type":"text","text":"old"},{"type":"image","data":"x"}]"#;
    for (original, new, expected) in [
        (bash, r#""new""#, Some(r#"{"stdout":"new","stderr":"","interrupted":false}"#)),
        (bash, r#"{"stdout":"new"}"#, Some(r#"{"stdout":"new","stderr":"","interrupted":false}"#)),
        (bash, r#"{"stdout":["new"]}"#, None),
        (bash, "3", None),
        (read, r#""new""#, Some(r#"{"type":"text","file":{"filePath":"/a","content":"new","numLines":1}}"#)),
        (blocks, r#""new""#, Some(r#"[{"type":"text","text":"new"}]"#)),
        (r#""old""#, r#""new""#, Some(r#""new""#)),
        (r#"{"files":["a"]}"#, r#""new""#, None),
    ] {
        let answer = answer(&claude::DIALECT, &done(original), &Opinion::rewrite_output(json(new)));
        let told = answer.rewrites.get(&Target::Output);
        assert_eq!(told.map(RawJson::as_str), expected, "{original} {new}");
        match expected {
            Some(expected) => {
                assert!(answer.stdout.contains(&format!("\"updatedToolOutput\":{expected}")), "{answer:?}");
            }
            None => {
                assert_eq!(answer.stdout, "", "{original} {new}");
                assert!(
                    answer.notes[0].starts_with("Claude Code ignores a new output whose shape differs"),
                    "{answer:?}"
                );
            }
        }
    }
}

#[test]
fn message_claims_a_rewrite_only_if_the_agent_receives_it() {
    let output = r#"{"stdout":"AKIA","stderr":""}"#;
    let opinion = redaction(Target::Output, r#"{"stdout":"[redacted]","stderr":""}"#);
    let claude = answer(&claude::DIALECT, &done(output), &opinion);
    assert_eq!(claude.messages, ["redacted 1 AWS access key in the output"]);
    assert!(claude.stdout.contains("redacted 1 AWS access key"), "{claude:?}");

    let codex = answer(&codex::DIALECT, &done(output), &opinion);
    let expected = "The output contains what looks like an AWS access key, and Codex does not let hooks change the output. \
                    (hook redact-secrets, user)";
    assert_eq!(codex.messages, [expected]);
    assert_eq!(codex.stdout, format!("{{\"systemMessage\":{}}}", RawJson::string(expected)));
    assert_eq!((codex.decision, codex.rewrites.len()), (Decision::NoOpinion, 0));

    // A denied call has no message about its rewrite either.
    let denied = answer(&claude::DIALECT, &bash(), &redaction(Target::Input, "{}").with_decision(Decision::Deny));
    assert!(denied.messages.is_empty() && denied.rewrites.is_empty(), "{denied:?}");
}

#[test]
fn blocked_prompt_says_what_was_found_and_what_to_do() {
    let event = Event::prompt_submit(Prompt::new("key AKIA"));
    let opinion = redaction(Target::Prompt, r#""key [redacted]""#);
    for (dialect, title) in
        [(&claude::DIALECT, "Claude Code"), (&codex::DIALECT, "Codex"), (&qwen::DIALECT, "Qwen Code")]
    {
        let answer = answer(dialect, &event, &opinion);
        let expected = format!(
            "Blocked: the prompt contains what looks like an AWS access key. {title} does not let hooks edit prompts; \
             remove the key and send it again. (hook redact-secrets, user)"
        );
        assert_eq!((answer.decision, answer.reason.as_deref()), (Decision::Deny, Some(expected.as_str())));
        assert!(answer.messages.is_empty(), "{answer:?}");
    }
}

#[test]
fn refused_rewrite_names_the_hook_and_the_new_input() {
    let event = bash();
    let opinion = Opinion::rewrite_input(json(r#"{"command":"curl y"}"#));
    for (dialect, limit) in [
        (&qwen::DIALECT, "Qwen Code does not let hooks change the input at PreToolUse"),
        (&goose::DIALECT, "goose does not let hooks change the input"),
    ] {
        let answer = answer(dialect, &event, &opinion);
        let expected = format!(
            "Blocked: hook `redact-secrets` (user) changes the input. {limit}. Call the tool again with this input: \
             {{\"command\":\"curl y\"}}"
        );
        assert_eq!((answer.decision, answer.reason.as_deref()), (Decision::Deny, Some(expected.as_str())));
    }
    // Agents that merge keep a field that only describes.
    for dialect in [&gemini::DIALECT, &factory::DIALECT] {
        let answer = answer(dialect, &event, &opinion);
        let effective = answer.rewrites[&Target::Input].clone();
        assert!(effective.semantically_eq(&json(r#"{"command":"curl y","description":"d"}"#)), "{answer:?}");
    }
    // A secret or a long value is not shown.
    let extras = AnswerExtras { has_secret: Some(|text| text.contains("curl y")), ..AnswerExtras::default() };
    let answer = qwen::DIALECT.render_verdict_with(&event, &verdict(&event, &opinion), extras);
    assert!(
        answer.reason.as_ref().is_some_and(|text| text.contains("a secret") && !text.contains("curl y")),
        "{answer:?}"
    );
    let long = Opinion::rewrite_input(json(&format!(r#"{{"command":"{}"}}"#, "x".repeat(5000))));
    let answer = qwen::DIALECT.render_verdict(&event, &verdict(&event, &long));
    assert!(answer.reason.as_ref().is_some_and(|text| text.contains("too long") && text.len() < 500), "{answer:?}");
}

#[test]
fn denied_question_has_no_rewrite() {
    let opinion = Opinion::ask("sure?").with_rewrite(Rewrite::replace(Target::Input, json(r#"{"command":"pwd"}"#)));
    for dialect in [&codex::DIALECT, &copilot_pascal::DIALECT] {
        let answer = answer(dialect, &bash(), &opinion);
        assert_eq!((answer.decision, answer.rewrites.len()), (Decision::Deny, 0), "{answer:?}");
        assert!(!answer.stdout.contains("updatedInput"), "{answer:?}");
    }
    let claude = answer(&claude::DIALECT, &bash(), &opinion);
    assert_eq!((claude.decision, claude.rewrites.len()), (Decision::Ask, 1));
}

#[test]
fn denied_command_of_cline_prints_the_reason_and_fails() {
    let call = |tool: &str, input: &str| Event::pre_tool_use(ToolCall::new(tool, json(input)));
    let commands = call("run_commands", r#"{"commands":["git push --force"],"timeout":5}"#);
    let extras = AnswerExtras { speaks_by_command: true, ..AnswerExtras::default() };
    let said =
        |event: &Event, opinion: &Opinion| cline::DIALECT.render_verdict_with(event, &verdict(event, opinion), extras);
    let denied = said(&commands, &Opinion::deny("don't push"));
    assert_eq!(
        denied.stdout,
        r#"{"overrideInput":{"timeout":5,"commands":["echo 'Denied by checkrein: donʼt push' >&2; exit 1"]}}"#
    );
    assert_eq!(
        (denied.decision, denied.reason.as_deref(), denied.restricts),
        (Decision::Deny, Some("don't push"), true)
    );
    let asked = said(&commands, &Opinion::ask("sure?"));
    assert!(asked.stdout.contains("Cline hooks cannot ask for it: tell the user to run it. (sure?)"), "{asked:?}");
    // A halt ends the run, other tools have no commands, and the switch is off by default.
    let edit = call("editor", r#"{"path":"a"}"#);
    for answer in [
        said(&commands, &Opinion::halt("stop")),
        said(&edit, &Opinion::deny("no")),
        answer(&cline::DIALECT, &commands, &Opinion::deny("no")),
    ] {
        assert!(answer.stdout.starts_with(r#"{"cancel":true"#), "{answer:?}");
    }
}
