//! ub: files, payloads and exit codes.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::time::Duration;

use checkrein_core::payload::{ToolCall, ToolOutcome, UserTurn};
use checkrein_core::{
    ChainStep, Decision, Envelope, Event, EventKind, Failure, FailureKind, FailurePolicy, HookResult, HookState,
    Matcher, Opinion, ProcessExit, ProcessReply, RawJson, Reply, Scope, settle,
};
use checkrein_dialects::agents::ub::DIALECT;
use checkrein_dialects::config::{Decoded, Severity};
use checkrein_dialects::{CommandLine, HandlerSpec, HookSpec};
use checkrein_document::Format;

fn decode(text: &str) -> Decoded {
    DIALECT.decode("config.yaml", Scope::User, text, Format::Yaml)
}

/// Codes of the diagnostics, in order.
fn codes(decoded: &Decoded) -> Vec<&'static str> {
    decoded.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

fn call() -> Event {
    let input: RawJson = r#"{"path":"a.go","n":9007199254740993}"#.parse().unwrap();
    let call = ToolCall::new("write", input).tool_use_id("t-1");
    Event::pre_tool_use(call).within(Envelope::new().session_id("s-1").turn(3_u64))
}

fn payload(event: &Event) -> String {
    let bytes = DIALECT.payload(event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
    String::from_utf8(bytes).unwrap()
}

fn read(event: &Event, exit: ProcessExit, stdout: &str, stderr: &str) -> Result<Opinion, Failure> {
    let reply = ProcessReply::new(exit).program("guard").stdout(stdout).stderr(stderr);
    DIALECT.read(event, Reply::Process(reply), false)
}

const FULL: &str = r#"
model: claude
hooks:
  pre_tool_call:
    - command: [./guard, --strict, "a b"]
      tools: [write, edit]
      timeout: 1m30s
      on_failure: block
      env: [TOKEN, TOKEN]
    - command: [audit]
      on_failure: warn
  post_tool_call:
    - command: [gofmt]
      tools: [write]
      timeout: 500ms
  pre_user_turn:
    - command: [hello]
  post_user_turn:
    - command: [bye]
"#;

#[test]
fn file_is_decoded() {
    let decoded = decode(FULL);
    assert_eq!(codes(&decoded), ["cut-time"]);
    let guard = &decoded.hooks[0];
    assert_eq!(decoded.hooks.len(), 5);
    assert_eq!(guard.info.on_failure, Some(FailurePolicy::Closed));
    assert_eq!(guard.timeout, Some(Duration::from_secs(90)));
    assert_eq!(guard.timeout_for(&EventKind::PreToolUse), Duration::from_secs(60), "the agent's cap");
    let HandlerSpec::Command(command) = &guard.handler else { panic!() };
    assert_eq!(command.run, CommandLine::Argv(["./guard", "--strict", "a b"].map(str::to_owned).to_vec()));
    assert_eq!(command.env_allow, ["TOKEN"]);
    assert_eq!(decoded.hooks[1].info.on_failure, Some(FailurePolicy::Open));
    assert_eq!(decoded.hooks[2].timeout_for(&EventKind::PostToolUse), Duration::from_millis(500));
    assert_eq!(decoded.hooks[3].timeout_for(&EventKind::UserTurnStart), Duration::from_secs(10), "the usual time");
}

#[test]
fn numbers_in_commands_are_words() {
    let decoded =
        decode("hooks: {pre_tool_call: [{command: [head, -n, 5, true, 1.50], on_failure: block, tools: [7]}]}");
    assert_eq!(codes(&decoded), [""; 0]);
    let HandlerSpec::Command(command) = &decoded.hooks[0].handler else { panic!() };
    let words = ["head", "-n", "5", "true", "1.50"].map(str::to_owned).to_vec();
    assert_eq!(command.run, CommandLine::Argv(words));
    assert!(decoded.hooks[0].matcher.matches("7"));
    assert_eq!(
        codes(&decode("hooks: {pre_tool_call: [{command: [head, [5]], on_failure: block}]}")),
        ["wrong-type", "closed-gate"]
    );
}

#[test]
fn empty_files_have_no_hooks() {
    for text in
        ["", "model: x\n", "hooks:\n", "hooks: {}\n", "hooks:\n  pre_tool_call:\n", "hooks: {pre_tool_call: []}"]
    {
        let decoded = decode(text);
        assert!(decoded.hooks.is_empty() && decoded.diagnostics.is_empty(), "{text}: {:?}", decoded.diagnostics);
    }
}

#[test]
fn tools_are_exact_names() {
    for (tools, tool, fits) in [
        ("[write]", "write", true),
        ("[write]", "Write", false),
        ("[write]", "write_file", false),
        ("[write, edit]", "edit", true),
        ("[]", "anything", true),
        ("['*']", "anything", false),
        ("['write|edit']", "write", false),
        ("[mcp.db/x]", "mcp.db/x", true),
    ] {
        let decoded = decode(&format!("hooks: {{pre_tool_call: [{{command: [x], tools: {tools}}}]}}"));
        assert_eq!(decoded.hooks[0].matcher.matches(tool), fits, "{tools} {tool}");
        let odd = tools.contains(['*', '|']);
        assert_eq!(codes(&decoded), if odd { vec!["no-pattern"] } else { vec![] }, "{tools}");
    }
}

#[test]
fn user_turns_ignore_tools() {
    let decoded = decode("hooks: {pre_user_turn: [{command: [x], tools: [write]}]}");
    assert_eq!(codes(&decoded), ["matcher-ignored"]);
    assert!(decoded.hooks[0].matcher.is_everything());
}

#[test]
fn invalid_entries_are_reported_and_close_gates() {
    let gate = |entry: &str| format!("hooks: {{pre_tool_call: [{{command: [good]}}, {entry}]}}");
    for (entry, code, closes) in [
        // Bug of the agent: it treats the first three as `warn`.
        ("{command: [x], on_failure: blok}", "unknown-value", true),
        ("{command: [x], on_failure: [block]}", "wrong-type", true),
        ("{command: [x], onfailure: block}", "unknown-key", true),
        // Bug of the agent: an empty command never blocks.
        ("{command: [], on_failure: block}", "bad-command", true),
        ("{command: [''], on_failure: block}", "bad-command", true),
        ("{command: []}", "bad-command", false),
        ("{tools: [write], on_failure: block}", "missing-key", true),
        ("{command: ./guard.sh, on_failure: block}", "wrong-type", true),
        ("{command: [x], on_failure: block, timeout: soon}", "bad-time", true),
        ("{command: [x], on_failure: block, timeout: 10}", "bad-time", true),
        ("{command: [x], timeout: 10}", "bad-time", false),
        ("{command: [x], on_failure: block, tools: write}", "wrong-type", true),
        ("{command: [x], on_failure: block, env: {A: b}}", "wrong-type", true),
        ("{command: [x], on_failure: block, env: ['A=b']}", "bad-command", true),
        ("just text", "wrong-type", true),
    ] {
        let decoded = decode(&gate(entry));
        assert!(codes(&decoded).contains(&code), "{entry}: {:?}", codes(&decoded));
        assert_eq!(codes(&decoded).contains(&"closed-gate"), closes, "{entry}");
        assert_eq!(decoded.hooks.len(), 1 + usize::from(closes), "{entry}: the other hooks are read");
        if closes {
            assert!(matches!(decoded.hooks[1].state, HookState::Broken(_)), "{entry}");
        }
    }
    let decoded = decode("hooks:\n  pre_tool_call:\n    - command: [x]\n      on_failure: blok\n");
    let told = decoded.diagnostics.iter().find(|diagnostic| diagnostic.code == "unknown-value").unwrap();
    assert_eq!(
        told.to_string(),
        "config.yaml:4:19: error[unknown-value]: unknown value of `on_failure` `blok`\n  |\n4 |       on_failure: blok\n  |                   ^^^^\n  = did you mean `block`?"
    );
}

#[test]
fn broken_gate_closes_only_for_its_tools() {
    let decoded = decode("hooks: {pre_tool_call: [{command: [], tools: [write], on_failure: block}]}");
    assert!(decoded.hooks[0].matcher.matches("write") && !decoded.hooks[0].matcher.matches("read"));
}

#[test]
fn invalid_timeouts_become_the_default() {
    for (timeout, codes_of) in [("0", &[][..]), ("0s", &[]), ("-5s", &["bad-time"])] {
        let decoded = decode(&format!("hooks: {{pre_tool_call: [{{command: [x], timeout: {timeout}}}]}}"));
        assert_eq!((decoded.hooks[0].timeout, codes(&decoded).as_slice()), (None, codes_of), "{timeout}");
    }
}

#[test]
fn block_policy_at_other_events_is_reported() {
    for event in ["post_tool_call", "pre_user_turn", "post_user_turn"] {
        let decoded = decode(&format!("hooks: {{{event}: [{{command: [x], on_failure: block}}]}}"));
        assert_eq!(codes(&decoded), ["no-effect"], "{event}");
        assert_eq!(decoded.diagnostics[0].severity, Severity::Warning);
        assert_eq!(decoded.hooks[0].info.on_failure, None);
    }
}

#[test]
fn unreadable_files_block() {
    for text in ["hooks: [", "hooks: 7", "- a\n- b\n", "hooks: {pre_tool_call: {command: [x]}}"] {
        let decoded = decode(text);
        assert!(matches!(decoded.hooks[0].state, HookState::Broken(_)), "{text}");
        assert!(decoded.hooks[0].kinds.contains(&EventKind::PreToolUse));
    }
    let decoded = decode("hooks: {pre_tool_cal: [{command: [x]}], stop: [{command: [x]}]}");
    assert_eq!(codes(&decoded), ["unknown-event", "closed-gate", "unknown-event"]);
    assert!(decoded.diagnostics[0].message.contains("did you mean `pre_tool_call`?"));
}

/// BUG of the agent: variables were replaced in the text of the whole file, whatever their value and their hook.
#[test]
fn only_allowed_variables_are_expanded_in_words() {
    let entry = |command: &str, env: &str| format!("hooks: {{pre_tool_call: [{{command: {command}, env: {env}}}]}}");
    let words = |decoded: &Decoded| match &decoded.hooks[0].handler {
        HandlerSpec::Command(command) => {
            let host = |name: &str| Some(format!("<{name}>, on_failure: warn"));
            let CommandLine::Argv(words) = &command.run else { panic!() };
            words.iter().map(|word| command.expanded(word, host)).collect::<Vec<_>>()
        }
        _ => panic!(),
    };
    let decoded = decode(&entry("['${HOME}/x', '${TOKEN:-none}', '$$5', '$lower']", "[TOKEN]"));
    assert_eq!(codes(&decoded), [""; 0]);
    let expected = ["<HOME>, on_failure: warn/x", "<TOKEN>, on_failure: warn", "$5", "$lower"];
    assert_eq!(words(&decoded), expected, "a value stays one word");
    let decoded = decode(&entry("[x, '$$5']", "[]"));
    assert_eq!(words(&decoded), ["x", "$5"]);
    let decoded = decode(&entry("[x, '${SECRET}']", "[TOKEN]"));
    assert_eq!(codes(&decoded), ["foreign-variable"]);
    assert!(decoded.hooks.is_empty());
    let decoded = decode("hooks: {pre_tool_call: [{command: [x], timeout: '${T}'}]}");
    assert_eq!(codes(&decoded), ["bad-time"], "nothing is filled in elsewhere");
}

#[test]
fn payload_has_the_event() {
    assert_eq!(
        payload(&call()),
        r#"{"event":"pre_tool_call","session_id":"s-1","turn":3,"tool":{"name":"write","use_id":"t-1","args":{"path":"a.go","n":9007199254740993}}}"#
    );
    let done =
        ToolOutcome::new("write", "{}".parse::<RawJson>().unwrap()).tool_response(RawJson::string("ok")).is_error(true);
    assert_eq!(
        payload(&Event::post_tool_use(done)),
        r#"{"event":"post_tool_call","session_id":"","turn":0,"tool":{"name":"write","use_id":"","args":{}},"result":{"content":"ok","is_error":true}}"#
    );
    let turn = Event::user_turn_start(UserTurn::new().prompt("not for hooks"));
    assert_eq!(payload(&turn), r#"{"event":"pre_user_turn","session_id":"","turn":0}"#);
}

#[test]
fn payloads_of_the_agent_are_read() {
    let event = DIALECT.event(&payload(&call()).parse().unwrap(), None).unwrap();
    assert_eq!(event, call());
    let bare = r#"{"event":"pre_tool_call","tool":{"name":"write"}}"#.parse().unwrap();
    assert_eq!(DIALECT.event(&bare, None).unwrap().tool_input().unwrap().as_str(), "{}");
}

#[test]
fn only_exit_codes_decide() {
    let deny = r#"{"decision":"deny","continue":false}"#;
    for (exit, stdout, stderr, failure) in [
        (ProcessExit::Code(0), "", "", None),
        (ProcessExit::Code(0), deny, "noise", None),
        (ProcessExit::Code(7), "", " no \n", Some((FailureKind::Exit, "no"))),
        (ProcessExit::Code(2), deny, "", Some((FailureKind::Exit, "hook guard exit 2"))),
        (ProcessExit::Code(1), "out", "", Some((FailureKind::Exit, "hook guard exit 1"))),
        (ProcessExit::Signal(9), "", "", Some((FailureKind::Signal, "hook guard ended by signal 9"))),
    ] {
        match (read(&call(), exit, stdout, stderr), failure) {
            (Ok(opinion), None) => assert!(opinion.is_none()),
            (Err(found), Some((kind, reason))) => {
                assert_eq!((found.kind, found.reason.as_deref()), (kind, Some(reason)), "{exit:?}");
            }
            (found, _) => panic!("{exit:?} {found:?}"),
        }
    }
}

/// Verdict of the hooks of a file with these exit codes.
fn verdict(text: &str, event: &Event, exits: &[i32]) -> checkrein_core::Verdict {
    let decoded = decode(text);
    let replies: Vec<_> = exits
        .iter()
        .map(|code| read(event, ProcessExit::Code(*code), "", &format!("hook exited with {code}")))
        .collect();
    let outcomes: Vec<_> = decoded
        .hooks
        .iter()
        .zip(&replies)
        .map(|(spec, reply)| HookResult { hook: &spec.info, result: reply.as_ref() })
        .collect();
    settle(&DIALECT.rules_at(&event.kind()), event, &outcomes)
}

#[test]
fn failure_blocks_with_that_policy() {
    let block = "{command: [x], on_failure: block}";
    let warn = "{command: [x]}";
    let post = Event::post_tool_use(ToolOutcome::new("write", RawJson::default()));
    for (hooks, event, exits, decision, reason) in [
        (block, &call(), &[0][..], Decision::NoOpinion, None),
        (block, &call(), &[7], Decision::Deny, Some("hook exited with 7")),
        (warn, &call(), &[7], Decision::NoOpinion, None),
        ("{command: [x], on_failure: warn}", &call(), &[7], Decision::NoOpinion, None),
        (&format!("{block}, {block}, {warn}"), &call(), &[3, 4, 5], Decision::Deny, Some("hook exited with 3")),
        (&format!("{warn}, {block}"), &call(), &[3, 4], Decision::Deny, Some("hook exited with 4")),
        (block, &post, &[7], Decision::NoOpinion, None),
    ] {
        let name = DIALECT.name_of(&event.kind()).unwrap();
        let verdict = verdict(&format!("hooks: {{{name}: [{hooks}]}}"), event, exits);
        assert_eq!((verdict.decision(), verdict.reason()), (decision, reason), "{hooks} {exits:?}");
        let failed = exits.iter().filter(|code| **code != 0).count();
        assert_eq!(verdict.warnings().len(), failed, "every failure is reported, and every hook has run");
    }
}

#[test]
fn all_kinds_of_failures_have_the_same_effect() {
    let decoded = decode("hooks: {pre_tool_call: [{command: [x], on_failure: block}, {command: [x]}]}");
    let event = call();
    for kind in [FailureKind::Timeout, FailureKind::Spawn, FailureKind::Signal, FailureKind::Exit] {
        for (spec, decision) in decoded.hooks.iter().zip([Decision::Deny, Decision::NoOpinion]) {
            let failure = Failure::new(kind, "x");
            let outcome = HookResult { hook: &spec.info, result: Err(&failure) };
            let verdict = settle(&DIALECT.rules_at(&event.kind()), &event, &[outcome]);
            assert_eq!(verdict.decision(), decision, "{kind}");
        }
    }
    let rules = DIALECT.rules_at(&EventKind::PreToolUse);
    let mut settlement = checkrein_core::Settlement::new(&rules, &event);
    let step = settlement.push_failure(0, &decoded.hooks[0].info, &Failure::new(FailureKind::Exit, "7"));
    assert_eq!(step, ChainStep::Next, "later hooks run");
}

#[test]
fn written_files_round_trip() {
    let text = "hooks: {pre_tool_call: [{command: [x, '${HOME}', '$5'], env: [A]}, {command: [y, '$${HOME}'], on_failure: warn}]}";
    for text in [FULL, text] {
        let decoded = decode(text);
        let encoded = DIALECT.encode(&decoded.hooks.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!(encoded.lost, [], "{}", encoded.text);
        let again = decode(&encoded.text);
        let all = |decoded: &Decoded| {
            let one = |spec: &HookSpec| (spec.definition(), format!("{:?} {:?}", spec.kinds, spec.matcher));
            decoded.hooks.iter().map(one).collect::<Vec<_>>()
        };
        assert_eq!(all(&decoded), all(&again), "{}", encoded.text);
    }
    assert_eq!(DIALECT.encode(&[]).unwrap().text, "hooks: {}\n");
}

#[test]
fn conversion_losses_are_reported() {
    let gate = EventKind::PreToolUse;
    let pattern = Matcher::compile(&checkrein_core::Grammar::REGEX_SEARCH, Some("^w")).unwrap();
    let table: [(HookSpec, &[&str], bool); 8] = [
        (HookSpec::shell("a", gate.clone(), "echo $HOME"), &["its output and its exit codes"], true),
        (HookSpec::shell("a", EventKind::UserTurnEnd, "x").once(), &["that it runs once"], true),
        (HookSpec::shell("a", EventKind::Stop, "x"), &["ub has no event for `stop`"], false),
        (HookSpec::builtin("a", gate.clone(), "x"), &["ub has no `builtin` hooks"], false),
        (
            HookSpec::argv("a", EventKind::PostToolUse, ["x"]).matching(pattern),
            &["ub cannot express its matcher `^w`"],
            false,
        ),
        (
            HookSpec::argv("a", gate.clone(), ["x"]).dialect(&DIALECT).on_failure(FailurePolicy::Ask),
            &["that a failure asks the user"],
            true,
        ),
        (HookSpec::argv("a", gate.clone(), ["x"]).dialect(&DIALECT).disabled(), &["it is disabled"], false),
        (HookSpec::argv("a", gate, ["x"]).dialect(&DIALECT).in_background(), &["that it runs in the background"], true),
    ];
    for (spec, lost, written) in table {
        let encoded = DIALECT.encode(&[&spec]).unwrap();
        let found: Vec<_> = encoded.lost.iter().map(|lost| lost.what.as_str()).collect();
        assert!(found.len() == lost.len() && found.iter().zip(lost).all(|(a, b)| a.starts_with(b)), "{found:?}");
        assert_eq!(decode(&encoded.text).hooks.len(), usize::from(written), "{}", encoded.text);
    }
    // A blocking hook of another agent must not become a hook that only warns.
    let guard = HookSpec::shell("a", EventKind::PreToolUse, "echo $HOME");
    let decoded = decode(&DIALECT.encode(&[&guard]).unwrap().text);
    assert_eq!(decoded.hooks[0].info.on_failure, Some(FailurePolicy::Closed));
    let HandlerSpec::Command(command) = &decoded.hooks[0].handler else { panic!() };
    assert_eq!(command.run, CommandLine::Argv(["sh", "-c", "echo $HOME"].map(str::to_owned).to_vec()));
}
