//! claw-code-go's shell hooks: files, payloads and replies.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::time::Duration;

use checkrein_core::payload::{Prompt, ToolCall, ToolFailure, ToolOutcome};
use checkrein_core::{
    ChainStep, Compat, Decision, Event, EventKind, Failure, FailureKind, HookInfo, HookResult, HookState, Matcher,
    Opinion, ProcessExit, ProcessReply, RawJson, Reply, Rules, Scope, Settlement, Source, Verdict, settle,
};
use checkrein_dialects::HookSpec;
use checkrein_dialects::agents::claw::{BLOCKED, DIALECT, default_message, feedback, messages};
use checkrein_dialects::config::Decoded;
use checkrein_document::Format;

fn decode(text: &str) -> Decoded {
    DIALECT.decode("settings.json", Scope::User, text, Format::Json)
}

fn codes(decoded: &Decoded) -> Vec<&'static str> {
    decoded.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

fn json(text: &str) -> RawJson {
    text.parse().unwrap()
}

fn call() -> Event {
    Event::pre_tool_use(ToolCall::new("Bash", json(r#"{"command": "ls", "n": 9007199254740993}"#)))
}

fn post() -> Event {
    Event::post_tool_use(ToolOutcome::new("Bash", json("{}")).tool_response(RawJson::string("done")))
}

fn failed() -> Event {
    Event::post_tool_failure(ToolFailure::new("Bash", json("{}"), "boom"))
}

fn payload(event: &Event) -> String {
    let bytes = DIALECT.payload(event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
    String::from_utf8(bytes).unwrap()
}

fn read(event: &Event, code: i32, stdout: &str, stderr: &str) -> Result<Opinion, Failure> {
    let reply = ProcessReply::new(ProcessExit::Code(code)).program("./guard").stdout(stdout).stderr(stderr);
    DIALECT.read(event, Reply::Process(reply), false)
}

fn answer(text: &str) -> Opinion {
    read(&call(), 0, text, "").unwrap()
}

fn hook() -> std::sync::Arc<HookInfo> {
    HookInfo::new("h", Source::here()).into()
}

fn settled(rules: &Rules, event: &Event, results: &[Result<Opinion, Failure>]) -> Verdict {
    let hook = hook();
    let outcomes: Vec<_> = results.iter().map(|result| HookResult { hook: &hook, result: result.as_ref() }).collect();
    settle(rules, event, &outcomes)
}

const FULL: &str = r#"{
  "model": "x",
  "hooks": {
    "PreToolUse": ["./guard.sh", "echo 'a b'"],
    "PostToolUse": ["./format.sh"],
    "PostToolUseFailure": ["./report.sh"]
  }
}"#;

#[test]
fn file_is_decoded() {
    let decoded = decode(FULL);
    assert_eq!(codes(&decoded), [""; 0]);
    let kinds: Vec<_> = decoded.hooks.iter().map(|spec| spec.kinds[0].name()).collect();
    assert_eq!(kinds, ["pre_tool_use", "pre_tool_use", "post_tool_use", "post_tool_failure"]);
    assert_eq!(decoded.hooks[0].timeout_for(&EventKind::PreToolUse), Duration::from_secs(600));
    for empty in ["", "{}", r#"{"hooks":{}}"#, r#"{"hooks":null}"#, r#"{"hooks":{"PreToolUse":[]}}"#] {
        assert!(decode(empty).hooks.is_empty() && decode(empty).diagnostics.is_empty(), "{empty}");
    }
}

/// BUG of the agent: only the last file is used.
#[test]
fn files_are_merged_and_duplicates_run_once() {
    let one = decode(r#"{"hooks":{"PreToolUse":["a","b"]}}"#);
    let two = DIALECT.decode("other", Scope::Project, r#"{"hooks":{"PreToolUse":["b","c"]}}"#, Format::Json);
    let identities: std::collections::BTreeSet<_> =
        one.hooks.iter().chain(&two.hooks).map(|spec| spec.identity.clone().unwrap()).collect();
    assert_eq!(identities.len(), 3);
    let scopes: Vec<_> = DIALECT.config.files.iter().map(|file| file.scope).collect();
    assert_eq!(scopes, [Scope::User, Scope::Project, Scope::Local]);
}

/// BUG of the agent: the whole file was skipped silently.
#[test]
fn claude_code_layout_is_reported() {
    let text = r#"{"hooks":{"PreToolUse":["./guard.sh",{"matcher":"Bash","hooks":[]},{"matcher":"x","hooks":[]}]}}"#;
    let decoded = decode(text);
    assert_eq!(codes(&decoded), ["claude-form", "claude-form"]);
    assert_eq!(decoded.hooks.len(), 1, "its neighbours run, and nothing is closed");
    assert!(decoded.diagnostics[0].help.as_ref().unwrap().contains("`claude`"));
}

#[test]
fn invalid_entries_are_reported_and_close_gates() {
    for (text, code, closes) in [
        (r#"{"hooks":{"PreToolUse":["ok", 7]}}"#, "wrong-type", true),
        (r#"{"hooks":{"PreToolUse":["ok", " "]}}"#, "bad-command", true),
        (r#"{"hooks":{"PostToolUse":["ok", 7]}}"#, "wrong-type", false),
        (r#"{"hooks":{"PreToolUse":"./guard.sh"}}"#, "wrong-type", true),
        (r#"{"hooks":["./guard.sh"]}"#, "wrong-type", true),
        (r#"["./guard.sh"]"#, "wrong-type", true),
        (r#"{"hooks":"#, "not-readable", true),
        (r#"{"hooks":{"PreToolUsee":["x"]}}"#, "unknown-event", true),
        (r#"{"PreToolUse":["x"]}"#, "misplaced", true),
        (r#"{"Hooks":{"PreToolUse":["x"]}}"#, "unknown-key", true),
        (r#"{"hooks":{"Stop":["x"]}}"#, "unknown-event", false),
    ] {
        let decoded = decode(text);
        assert!(codes(&decoded).contains(&code), "{text}: {:?}", codes(&decoded));
        let broken = decoded.hooks.iter().find(|spec| matches!(spec.state, HookState::Broken(_)));
        assert_eq!(broken.is_some(), closes, "{text}");
        let gates = [EventKind::PreToolUse];
        assert!(broken.is_none_or(|spec| spec.kinds == gates), "{text}: only where such files have hooks");
    }
}

#[test]
fn payload_has_the_event() {
    assert_eq!(
        payload(&call()),
        r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command": "ls", "n": 9007199254740993},"tool_input_json":"{\"command\": \"ls\", \"n\": 9007199254740993}","tool_output":null,"tool_result_is_error":false}"#
    );
    assert_eq!(
        payload(&post()),
        r#"{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{},"tool_input_json":"{}","tool_output":"done","tool_result_is_error":false}"#
    );
    let bare = Event::post_tool_use(ToolOutcome::new("Bash", json("{}")).is_error(true));
    assert!(payload(&bare).ends_with(r#""tool_output":null,"tool_result_is_error":true}"#));
    assert_eq!(
        payload(&failed()),
        r#"{"hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{},"tool_input_json":"{}","tool_error":"boom","tool_result_is_error":true}"#
    );
    let odd = payload(&Event::pre_tool_use(ToolCall::new("Bash", RawJson::string("no json"))));
    assert!(odd.contains(r#""tool_input":{"raw":"no json"},"tool_input_json":"no json""#), "{odd}");
    // Only text that is no JSON is put into an object.
    for (input, sent) in [("[1,2]", "[1,2]"), ("7", "7"), ("null", "null"), ("true", "true")] {
        let event = Event::pre_tool_use(ToolCall::new("Bash", json(input)));
        let payload = payload(&event);
        assert!(payload.contains(&format!(r#""tool_input":{sent},"tool_input_json":"{input}""#)), "{payload}");
        assert_eq!(DIALECT.event(&json(&payload), None).unwrap().tool_input(), event.tool_input());
    }
    for event in [call(), post()] {
        assert_eq!(DIALECT.event(&json(&payload(&event)), None).unwrap().tool_input(), event.tool_input());
    }
}

#[test]
fn plain_text_is_for_the_model() {
    let table: [(&str, &[&str]); 10] = [
        (r#"{"hookSpecificOutput":{"additionalContext":"c"},"reason":"b","systemMessage":"a"}"#, &["a", "b", "c"]),
        ("  plain text \n", &["plain text"]),
        ("", &[]),
        (" \n", &[]),
        ("{}", &[]),
        (r#"{"continue":true}"#, &[]),
        (r#"{"errors":[1],"files":2}"#, &[r#"{"errors":[1],"files":2}"#]),
        ("[1, 2]", &["[1, 2]"]),
        ("{not json", &["{not json"]),
        (r#"{"reason":"only this"}"#, &["only this"]),
    ];
    for (text, expected) in table {
        let opinion = answer(text);
        assert_eq!(
            (opinion.decision(), opinion.contexts()),
            (Decision::NoOpinion, expected.iter().map(|&text| text.to_owned()).collect::<Vec<_>>().as_slice()),
            "{text}"
        );
    }
}

#[test]
fn decisions_are_parsed() {
    use Decision::{Allow, Ask, Deny, NoOpinion};
    for (text, decision, reason, blocked) in [
        (r#"{"continue":false}"#, Deny, None, true),
        (r#"{"continue":false,"systemMessage":"m"}"#, Deny, Some("m"), true),
        (r#"{"decision":"block","reason":"r","systemMessage":"m"}"#, Deny, Some("r"), true),
        (r#"{"decision":"approve"}"#, NoOpinion, None, false),
        (r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#, Allow, None, false),
        (
            r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"d"}}"#,
            Deny,
            Some("d"),
            false,
        ),
        (r#"{"hookSpecificOutput":{"permissionDecision":"ask"}}"#, Ask, None, false),
    ] {
        let opinion = answer(text);
        let marked = opinion.metadata().any(|(name, _)| name == BLOCKED);
        assert_eq!((opinion.decision(), opinion.reason(), marked), (decision, reason, blocked), "{text}");
    }
    let opinion = answer(r#"{"hookSpecificOutput":{"updatedInput":{"n":18446744073709551615}}}"#);
    assert_eq!(opinion.rewrites()[0].value.as_str(), r#"{"n":18446744073709551615}"#);
}

/// Bug of the agent: a reply with an invalid field is text, and text allows the tool.
#[test]
fn invalid_answers_do_not_open_the_gate() {
    for text in [
        r#"{"continue":"false"}"#,
        r#"{"decision":7}"#,
        r#"{"decision":"Block"}"#,
        r#"{"decison":"block"}"#,
        r#"{"continue":false,"hookSpecificOutput":"x"}"#,
        r#"{"hookSpecificOutput":{"permissionDecision":"denied"}}"#,
        r#"{"decision":7,}"#,
    ] {
        let result = read(&call(), 0, text, "");
        assert!(result.is_err(), "{text}: {result:?}");
        assert_eq!(settled(&DIALECT.rules_at(&EventKind::PreToolUse), &call(), &[result]).decision(), Decision::Deny);
    }
}

#[test]
fn exit_2_denies_with_its_reason() {
    for (stdout, stderr, reason) in [
        ("text", "err", "text"),
        ("", " err\n", "err"),
        (r#"{"reason":"r"}"#, "err", "r"),
        (r#"{"systemMessage":"m"}"#, "", "m"),
        (r#"{"continue":true}"#, "err", "err"),
    ] {
        let result = read(&call(), 2, stdout, stderr);
        let verdict = settled(&DIALECT.rules_at(&EventKind::PreToolUse), &call(), &[result]);
        assert_eq!((verdict.decision(), verdict.reason()), (Decision::Deny, Some(reason)), "{stdout} {stderr}");
        assert_eq!(messages(&verdict), [reason], "{stdout} {stderr}");
    }
}

#[test]
fn other_failures_close_and_make_tool_results_errors() {
    for event in [call(), post(), failed()] {
        let rules = DIALECT.rules_at(&event.kind());
        for kind in [FailureKind::Spawn, FailureKind::Timeout, FailureKind::Signal, FailureKind::Exit] {
            let verdict = settled(&rules, &event, &[Err(Failure::new(kind, "x"))]);
            assert_eq!(verdict.decision(), Decision::Deny, "{} {kind}", event.kind());
        }
        let said = settled(&rules, &event, &[read(&event, 1, r#"{"reason":"lint"}"#, "noise")]);
        assert_eq!(said.reason(), Some("lint"));
        let silent = settled(&rules, &event, &[read(&event, 3, "", "trace")]);
        assert!(silent.reason().unwrap().contains("exit code 3: trace"));
        let cancelled = settled(&rules, &event, &[Err(Failure::new(FailureKind::Cancelled, "x"))]);
        assert!(cancelled.is_cancelled() && !cancelled.decision().is_block());
    }
}

#[test]
fn chain_ends_at_a_block_or_a_failure() {
    let event = call();
    let rules = DIALECT.rules_at(&EventKind::PreToolUse);
    let push = |result: Result<Opinion, Failure>| match result {
        Ok(opinion) => Settlement::new(&rules, &event).push(0, &hook(), &opinion),
        Err(failure) => Settlement::new(&rules, &event).push_failure(0, &hook(), &failure),
    };
    assert_eq!(push(read(&event, 2, "", "")), ChainStep::End);
    assert_eq!(push(Ok(answer(r#"{"continue":false}"#))), ChainStep::End);
    assert_eq!(push(read(&event, 1, "", "")), ChainStep::End);
    assert_eq!(push(Ok(answer("text"))), ChainStep::Next);
    assert_eq!(push(Ok(answer(r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#))), ChainStep::Next);
}

/// Bug of the agent: a later allow cancels a deny.
#[test]
fn later_allow_does_not_cancel_a_deny() {
    let rules = DIALECT.rules_at(&EventKind::PreToolUse);
    let word = |word: &str| answer(&format!(r#"{{"hookSpecificOutput":{{"permissionDecision":"{word}"}}}}"#));
    let both = || [Ok(word("deny")), Ok(word("allow"))];
    assert_eq!(settled(&rules, &call(), &both()).decision(), Decision::Deny);
    assert_eq!(settled(&rules.compat(Compat::Exact), &call(), &both()).decision(), Decision::Allow);
    let rewrite = |n: u8| Ok(answer(&format!(r#"{{"hookSpecificOutput":{{"updatedInput":{{"n":{n}}}}}}}"#)));
    let verdict = settled(&rules, &call(), &[rewrite(1), rewrite(2)]);
    assert_eq!(verdict.effective_input().unwrap().as_str(), r#"{"n":2}"#, "the last one applies");
}

#[test]
fn feedback_is_appended_to_the_output() {
    let none: [&str; 0] = [];
    for (output, messages, is_error, expected) in [
        ("out", &none[..], false, "out"),
        ("out", &none, true, "out"),
        ("", &none, false, ""),
        ("out", &["a", "b"], false, "out\n\nHook feedback:\na\nb"),
        ("out", &["a"], true, "out\n\nHook feedback (error):\na"),
        ("", &["a"], false, "Hook feedback:\na"),
        (" \n", &["a"], true, "Hook feedback (error):\na"),
    ] {
        assert_eq!(feedback(output, messages, is_error), expected);
    }
    assert_eq!(default_message(&call()), "PreToolUse hook denied tool `Bash`");
    assert_eq!(default_message(&Event::prompt_submit(Prompt::new("x"))), "UserPromptSubmit denied by hook");
}

#[test]
fn written_files_round_trip() {
    let decoded = decode(FULL);
    let encoded = DIALECT.encode(&decoded.hooks.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(encoded.lost, []);
    let all = |decoded: &Decoded| {
        decoded.hooks.iter().map(|spec| (spec.definition(), spec.kinds.clone())).collect::<Vec<_>>()
    };
    assert_eq!(all(&decode(&encoded.text)), all(&decoded), "{}", encoded.text);
    assert_eq!(codes(&decode(&DIALECT.encode(&[]).unwrap().text)), [""; 0]);
}

#[test]
fn conversion_losses_are_reported() {
    let gate = EventKind::PreToolUse;
    let table: [(HookSpec, &[&str], bool); 6] = [
        (HookSpec::argv("a", gate.clone(), ["./x", "it's"]), &[], true),
        (HookSpec::shell("a", gate.clone(), "x").matching(Matcher::names(["Bash"])), &["its matcher `Bash`"], true),
        (HookSpec::shell("a", gate.clone(), "x").timeout(Duration::from_secs(5)), &["its timeout"], true),
        (HookSpec::http("a", gate.clone(), "http://x/"), &["claw has no `http` hooks"], false),
        (HookSpec::shell("a", EventKind::Stop, "x"), &["claw has no shell hooks at `stop`"], false),
        (HookSpec::shell("a", gate, "x").disabled(), &["it is disabled"], false),
    ];
    for (spec, lost, written) in table {
        let encoded = DIALECT.encode(&[&spec]).unwrap();
        let found: Vec<_> = encoded.lost.iter().map(|lost| lost.what.as_str()).collect();
        assert!(found.len() == lost.len() && found.iter().zip(lost).all(|(a, b)| a.starts_with(b)), "{found:?}");
        assert_eq!(decode(&encoded.text).hooks.len(), usize::from(written), "{}", encoded.text);
    }
}

#[test]
fn empty_words_are_no_decision() {
    for answer in [r#"{"decision":""}"#, r#"{"hookSpecificOutput":{"permissionDecision":""}}"#] {
        for exit in [0, 2] {
            let opinion = read(&call(), exit, answer, "").unwrap();
            let expected = if exit == 0 { Decision::NoOpinion } else { Decision::Deny };
            assert_eq!((opinion.decision(), opinion.messages().len()), (expected, 0), "{answer}");
        }
    }
}
