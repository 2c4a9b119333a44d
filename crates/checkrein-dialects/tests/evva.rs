//! evva: files, payloads and replies.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::time::Duration;

use checkrein_core::payload::{Notification, Prompt, SessionStart, Stop, ToolCall, ToolOutcome};
use checkrein_core::{
    ChainStep, Compat, Decision, Envelope, Event, EventKind, Failure, FailureKind, Grammar, HookInfo, HookResult,
    HookState, HttpReply, Matcher, Opinion, ProcessExit, ProcessReply, RawJson, Reply, Rules, Scope, Settlement,
    Source, Target, Verdict, settle,
};
use checkrein_dialects::HookSpec;
use checkrein_dialects::agents::evva::{BLOCKED, DIALECT};
use checkrein_dialects::config::{Decoded, Severity};
use checkrein_document::Format;

fn decode(text: &str) -> Decoded {
    DIALECT.decode("settings.json", Scope::Project, text, Format::Json)
}

fn codes(decoded: &Decoded) -> Vec<&'static str> {
    decoded.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

/// A file with one hook at an event.
fn one(event: &str, matcher: &str, hook: &str) -> Decoded {
    decode(&format!(r#"{{"hooks":{{"{event}":[{{"matcher":"{matcher}","hooks":[{hook}]}}]}}}}"#))
}

fn json(text: &str) -> RawJson {
    text.parse().unwrap()
}

fn call() -> Event {
    Event::pre_tool_use(ToolCall::new("write", json(r#"{"path":"a","n":9007199254740993}"#)).tool_use_id("t-1"))
}

fn events() -> [Event; 6] {
    [
        Event::session_start(SessionStart::new().source("startup")),
        Event::prompt_submit(Prompt::new("hello")),
        call(),
        Event::post_tool_use(ToolOutcome::new("write", json("{}"))),
        Event::stop(Stop::new()),
        Event::notification(Notification::new().message("m")),
    ]
}

fn payload(event: &Event) -> String {
    let bytes = DIALECT.payload(event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
    String::from_utf8(bytes).unwrap()
}

fn read(event: &Event, code: i32, stdout: &str, stderr: &str) -> Result<Opinion, Failure> {
    let reply = ProcessReply::new(ProcessExit::Code(code)).stdout(stdout).stderr(stderr);
    DIALECT.read(event, Reply::Process(reply), false)
}

fn answer(event: &Event, stdout: &str) -> Opinion {
    read(event, 0, stdout, "").unwrap()
}

fn is_blocked(opinion: &Opinion) -> bool {
    opinion.metadata().any(|(name, value)| name == BLOCKED && value.as_bool() == Some(true))
}

fn settled(rules: &Rules, event: &Event, opinions: &[Opinion]) -> Verdict {
    let hooks: Vec<_> = (0..opinions.len()).map(|at| HookInfo::new(format!("h{at}"), Source::here()).into()).collect();
    let outcomes: Vec<_> =
        hooks.iter().zip(opinions).map(|(hook, opinion)| HookResult { hook, result: Ok(opinion) }).collect();
    settle(rules, event, &outcomes)
}

const FULL: &str = r#"{
  "theme": "dark",
  "hooks": {
    "PreToolUse": [
      {"matcher": "{write,edit}", "hooks": [
        {"type": "command", "command": "./guard.sh", "timeout": 5},
        {"type": "HTTP", "url": "https://example.com/x", "method": "PUT", "headers": {"a": "b"}}
      ]},
      {"hooks": [{"type": "Command", "command": "log", "async": true}]}
    ],
    "Stop": [{"hooks": [{"type": "http", "url": "http://127.0.0.1:1/", "async": false}]}]
  }
}"#;

#[test]
fn file_is_decoded() {
    let decoded = decode(FULL);
    assert_eq!(codes(&decoded), ["cannot-decide", "background-gate"]);
    assert!(decoded.diagnostics.iter().all(|told| told.severity == Severity::Warning));
    let seen: Vec<_> =
        decoded.hooks.iter().map(|spec| (spec.handler.kind().name(), spec.background, spec.timeout)).collect();
    let five = Some(Duration::from_secs(5));
    let expected = [("command", false, five), ("http", true, None), ("command", true, None), ("http", false, None)];
    assert_eq!(seen, expected, "endpoints run in the background by default");
}

#[test]
fn globs_match_names_of_tools() {
    for (pattern, tool, fits) in [
        ("", "anything", true),
        ("*", "write", true),
        ("*", "a/b", false),
        ("write", "write", true),
        ("write", "Write", false),
        ("w*", "write", true),
        ("{write,edit}", "edit", true),
        ("{write,edit}{,_file}", "write", true),
        ("{write,edit}{,_file}", "write_file", true),
        ("[we]*", "edit", true),
        ("?rite", "write", true),
        // Bug of the agent: its own examples have this pattern, which never matches.
        ("write|edit", "write", false),
        ("mcp__.*", "mcp__db", false),
    ] {
        let decoded = one("PreToolUse", pattern, r#"{"type":"command","command":"x"}"#);
        assert_eq!(decoded.hooks[0].matcher.matches(tool), fits, "{pattern} {tool}");
    }
    let decoded = one("PreToolUse", "write|edit", r#"{"type":"command","command":"x"}"#);
    assert_eq!(codes(&decoded), ["foreign-pattern"]);
    assert_eq!(decoded.diagnostics[0].help.as_deref(), Some("did you mean `{write,edit}`?"));
    let decoded = one("PreToolUse", "mcp__.*", r#"{"type":"command","command":"x"}"#);
    assert_eq!(decoded.diagnostics[0].help.as_deref(), Some("did you mean `mcp__*`?"));
    let decoded = one("Stop", "main", r#"{"type":"command","command":"x"}"#);
    assert_eq!(codes(&decoded), ["matcher-ignored"]);
}

#[test]
fn invalid_parts_close_only_their_gate() {
    let good = r#"{"type":"command","command":"good"}"#;
    for (hook, code) in [
        (r#"{"type":"lua","command":"x"}"#, "unknown-handler"),
        (r#"{"command":"x"}"#, "missing-key"),
        (r#"{"type":"command"}"#, "missing-key"),
        (r#"{"type":"command","command":" "}"#, "missing-key"),
        (r#"{"type":"http"}"#, "missing-key"),
        (r#"{"type":"http","url":"example.com"}"#, "bad-url"),
        (r#"{"type":"command","command":"x","timeout":601}"#, "bad-time"),
        (r#"{"type":"command","command":"x","timeout":-1}"#, "bad-time"),
        (r#"{"type":"command","command":"x","timeout":"5"}"#, "wrong-type"),
        (r#"{"type":"command","command":"x","timeout":1.5}"#, "wrong-type"),
        ("7", "wrong-type"),
    ] {
        let decoded = one("PreToolUse", "w*", &format!("{good},{hook}"));
        assert!(codes(&decoded).contains(&code), "{hook}: {:?}", codes(&decoded));
        assert_eq!(decoded.hooks.len(), 2, "{hook}: the other hook is read");
        let broken = &decoded.hooks[1];
        assert!(matches!(broken.state, HookState::Broken(_)) && broken.matcher.matches("write"), "{hook}");
        assert!(!broken.matcher.matches("read"), "{hook}: only where it would have run");
        assert_eq!(one("PostToolUse", "w*", &format!("{good},{hook}")).hooks.len(), 1, "{hook}: no gate there");
    }
    for timeout in ["1", "600", "0"] {
        let decoded = one("PreToolUse", "", &format!(r#"{{"type":"command","command":"x","timeout":{timeout}}}"#));
        assert_eq!(codes(&decoded), [""; 0], "{timeout}");
    }
    let decoded = one("PreToolUse", "{a", good);
    assert!(codes(&decoded).contains(&"bad-matcher") && decoded.hooks[0].matcher.is_everything());
    let decoded = decode(r#"{"hooks":{"PreToolUsee":[],"SessionEnd":[],"session_start":[]}}"#);
    assert_eq!(codes(&decoded).iter().filter(|code| **code == "unknown-event").count(), 3);
    assert!(codes(&decoded).contains(&"closed-gate"));
    for (text, code) in [(r#"{"Hooks":{}}"#, "unknown-key"), (r#"{"PreToolUse":[]}"#, "misplaced")] {
        assert!(codes(&decode(text)).contains(&code) && !decode(text).hooks.is_empty(), "{text}");
    }
    let decoded = decode(r#"{"hooks":"#);
    assert!(matches!(decoded.hooks[0].state, HookState::Broken(_)));
    for empty in ["", "{}", r#"{"hooks":{}}"#] {
        assert!(decode(empty).hooks.is_empty() && decode(empty).diagnostics.is_empty(), "{empty}");
    }
}

#[test]
fn project_files_come_first() {
    let scopes: Vec<_> = DIALECT.config.files.iter().map(|file| file.scope).collect();
    assert_eq!(scopes, [Scope::Project, Scope::User]);
}

#[test]
fn timeouts_equal_those_of_the_agent() {
    for (kind, seconds) in [
        (EventKind::PreToolUse, 60),
        (EventKind::PostToolUse, 60),
        (EventKind::SessionStart, 30),
        (EventKind::PromptSubmit, 30),
        (EventKind::Stop, 30),
        (EventKind::Notification, 10),
    ] {
        assert_eq!(DIALECT.timeout(&kind, "command"), Duration::from_secs(seconds), "{kind}");
        assert_eq!(DIALECT.timeout(&kind, "http"), Duration::from_secs(10), "{kind}");
    }
}

#[test]
fn payload_has_the_event() {
    let base = r#""session_id":"","cwd":"""#;
    let of = |event: Event| payload(&event);
    let expected = [
        format!(r#"{{"hook_event_name":"SessionStart",{base},"source":"startup"}}"#),
        format!(r#"{{"hook_event_name":"UserPromptSubmit",{base},"prompt":"hello"}}"#),
        format!(
            r#"{{"hook_event_name":"PreToolUse",{base},"tool_name":"write","tool_input":{{"path":"a","n":9007199254740993}},"tool_use_id":"t-1"}}"#
        ),
        format!(
            r#"{{"hook_event_name":"PostToolUse",{base},"tool_name":"write","tool_input":{{}},"tool_use_id":"","tool_response":"","is_error":false}}"#
        ),
        format!(r#"{{"hook_event_name":"Stop",{base},"stop_hook_active":false}}"#),
        format!(r#"{{"hook_event_name":"Notification",{base},"message":"m"}}"#),
    ];
    for (event, expected) in events().into_iter().zip(expected) {
        assert_eq!(of(event), expected);
    }
    let envelope = Envelope::new().session_id("s").cwd("/w").permission_mode("plan").agent_id("a").agent_type("sub");
    let done = ToolOutcome::new("t", json("{}")).tool_response(json(r#"{"ok":1}"#)).is_error(true);
    assert_eq!(
        of(Event::post_tool_use(done).within(envelope)),
        r#"{"hook_event_name":"PostToolUse","session_id":"s","cwd":"/w","permission_mode":"plan","agent_id":"a","agent_type":"sub","tool_name":"t","tool_input":{},"tool_use_id":"","tool_response":"{\"ok\":1}","is_error":true}"#
    );
    let said = Stop::new().stop_hook_active(true).last_assistant_message("done");
    assert!(of(Event::stop(said)).ends_with(r#""stop_hook_active":true,"last_assistant_message":"done"}"#));
    let told = Notification::new().message("m").title("t").notification_type("iter_limit");
    assert!(of(Event::notification(told)).ends_with(r#""message":"m","title":"t","notification_type":"iter_limit"}"#));
}

#[test]
fn exit_codes_are_parsed() {
    for event in events() {
        let kind = event.kind();
        let blocks = matches!(kind, EventKind::PreToolUse | EventKind::PromptSubmit | EventKind::Stop);
        assert!(read(&event, 0, "", "noise").unwrap().is_none());
        for code in [1, 3, 127] {
            assert_eq!(read(&event, code, "", "").unwrap_err().kind, FailureKind::Exit, "{kind} {code}");
        }
        let two = read(&event, 2, "", "no");
        match two {
            Ok(opinion) if blocks => assert_eq!((opinion.decision(), is_blocked(&opinion)), (Decision::Deny, true)),
            Err(failure) if !blocks => assert_eq!(failure.kind, FailureKind::Exit, "only reported"),
            two => panic!("{kind} {two:?}"),
        }
    }
    for (stdout, stderr, reason) in [
        ("out", " err \n", "err"),
        ("out\n", " ", "out"),
        (r#"{"reason":"json"}"#, "", "json"),
        (r#"{"decision":"approve"}"#, "", "hook exit 2"),
        ("", "", "hook exit 2"),
    ] {
        let opinion = read(&call(), 2, stdout, stderr).unwrap();
        assert_eq!((opinion.decision(), opinion.reason()), (Decision::Deny, Some(reason)), "{stdout}{stderr}");
    }
}

#[test]
fn replies_are_objects_with_exit_0() {
    for text in ["", "  \n", "plain text", "[1]", "null", "\"{}\"", "banner\n{\"decision\":\"block\"}"] {
        assert!(answer(&call(), text).is_none(), "{text}");
    }
    let failure = read(&call(), 0, r#"{"decision":"#, "").unwrap_err();
    let verdict = settle(
        &DIALECT.rules_at(&EventKind::PreToolUse),
        &call(),
        &[HookResult { hook: &HookInfo::new("h", Source::here()).into(), result: Err(&failure) }],
    );
    assert_eq!((failure.kind, verdict.decision()), (FailureKind::Parse, Decision::NoOpinion));
    assert_eq!(verdict.warnings().len(), 1, "ignored as in the agent, but reported");
    let opinion = answer(&call(), r#"{"continue":"false","hookSpecificOutput":{"permissionDecision":"deny"}}"#);
    assert_eq!(opinion.decision(), Decision::Deny, "a field that is wrong does not cost the others");
    assert_eq!(opinion.messages(), ["`continue` should be true or false, but is a string; ignored"]);
}

#[test]
fn replies_to_tool_calls_are_parsed() {
    use Decision::{Allow, Ask, Deny, NoOpinion};
    for (text, decision, reason, blocked) in [
        (r#"{}"#, NoOpinion, None, false),
        (r#"{"continue":true}"#, NoOpinion, None, false),
        (r#"{"continue":false}"#, Deny, None, true),
        (r#"{"continue":false,"reason":"r","systemMessage":"m"}"#, Deny, Some("r"), true),
        (r#"{"continue":false,"systemMessage":"m"}"#, Deny, Some("m"), true),
        (r#"{"continue":false,"reason":"","systemMessage":"m"}"#, Deny, Some("m"), true),
        (r#"{"decision":"BLOCK","reason":"r"}"#, Deny, Some("r"), true),
        (r#"{"decision":"approve"}"#, Allow, None, false),
        (r#"{"decision":"maybe"}"#, NoOpinion, None, false),
        (r#"{"decision":"approve","hookSpecificOutput":{"permissionDecision":"Deny"}}"#, Deny, None, false),
        (r#"{"decision":"block","hookSpecificOutput":{"permissionDecision":"allow"}}"#, Deny, None, true),
        (
            r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"d"}}"#,
            Deny,
            Some("d"),
            false,
        ),
        (r#"{"hookSpecificOutput":{"permissionDecision":"ask"}}"#, Ask, None, false),
        (r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#, Allow, None, false),
    ] {
        let opinion = answer(&call(), text);
        assert_eq!((opinion.decision(), opinion.reason(), is_blocked(&opinion)), (decision, reason, blocked), "{text}");
    }
}

#[test]
fn keys_apply_at_their_events() {
    let all = r#"{"decision":"block","reason":"r","hookSpecificOutput":{"permissionDecision":"ask","updatedInput":{"n":18446744073709551615},"additionalContext":"c","initialUserMessage":"u"}}"#;
    for event in events() {
        let kind = event.kind();
        let opinion = answer(&event, all);
        let blocks = matches!(kind, EventKind::PreToolUse | EventKind::PromptSubmit | EventKind::Stop);
        assert_eq!(opinion.decision() == Decision::Deny, blocks, "{kind}");
        assert_eq!(opinion.contexts().is_empty(), matches!(kind, EventKind::Stop | EventKind::Notification), "{kind}");
        assert_eq!(opinion.rewrites().is_empty(), kind != EventKind::PreToolUse, "{kind}");
        assert_eq!(opinion.first_user_message().is_some(), kind == EventKind::SessionStart, "{kind}");
        let strict = ProcessReply::new(ProcessExit::Code(0)).stdout(r#"{"decision":"block"}"#);
        assert_eq!(DIALECT.read(&event, Reply::Process(strict), true).is_ok(), blocks, "{kind}");
    }
    // Bug of the agent: it converts numbers to floats.
    assert_eq!(answer(&call(), all).rewrites()[0].value.as_str(), r#"{"n":18446744073709551615}"#);
    let approved = answer(&Event::prompt_submit(Prompt::new("x")), r#"{"decision":"approve"}"#);
    assert_eq!(approved.decision(), Decision::NoOpinion, "permissions apply only to tool calls");
}

#[test]
fn endpoints_have_no_decision() {
    let deny = HttpReply::new(200, r#"{"decision":"block"}"#);
    assert!(DIALECT.read(&call(), Reply::Http(deny), false).unwrap().is_none());
    assert!(DIALECT.read(&call(), Reply::Http(HttpReply::new(204, "")), false).unwrap().is_none());
    for status in [302, 404, 500] {
        let failure = DIALECT.read(&call(), Reply::Http(HttpReply::new(status, "")), false).unwrap_err();
        assert_eq!(failure.kind, FailureKind::HttpStatus, "{status}");
    }
}

fn permission(word: &str, reason: &str) -> Opinion {
    let answers =
        format!(r#"{{"hookSpecificOutput":{{"permissionDecision":"{word}","permissionDecisionReason":"{reason}"}}}}"#);
    answer(&call(), &answers)
}

/// Bug of the agent: a later allow cancels a deny, and the reason of a deny is lost.
#[test]
fn later_allow_does_not_cancel_a_deny() {
    let rules = DIALECT.rules_at(&EventKind::PreToolUse);
    let exact = rules.compat(Compat::Exact);
    let [allow, deny, ask] = ["allow", "deny", "ask"].map(|word| permission(word, &format!("why {word}")));
    for (opinions, safe, literal) in [
        (vec![deny.clone(), allow.clone()], "why deny", "why allow"),
        (vec![deny.clone(), ask.clone()], "why deny", "why ask"),
        (vec![allow.clone(), deny.clone()], "why deny", "why deny"),
        (vec![ask.clone(), allow.clone()], "why allow", "why allow"),
        (vec![allow, ask], "why ask", "why ask"),
    ] {
        assert_eq!(settled(&rules, &call(), &opinions).reason(), Some(safe));
        assert_eq!(settled(&exact, &call(), &opinions).reason(), Some(literal));
    }
}

#[test]
fn block_ends_the_chain_but_deny_does_not() {
    let rules = DIALECT.rules_at(&EventKind::PreToolUse);
    let event = call();
    let blocks = [
        answer(&event, r#"{"continue":false}"#),
        answer(&event, r#"{"decision":"block"}"#),
        read(&event, 2, "", "").unwrap(),
    ];
    let hook = HookInfo::new("h", Source::here()).into();
    for opinion in &blocks {
        assert_eq!(Settlement::new(&rules, &event).push(0, &hook, opinion), ChainStep::End);
    }
    assert_eq!(Settlement::new(&rules, &event).push(0, &hook, &permission("deny", "d")), ChainStep::Next);
    let told = |opinions: &[Opinion]| settled(&rules, &event, opinions).metadata().any(|(name, _)| name == BLOCKED);
    assert!(!told(&[permission("deny", "d")]));
    assert!(told(&[permission("deny", "d"), blocks[0].clone()]));
}

#[test]
fn rewrites_are_piped_and_context_is_kept() {
    let rules = DIALECT.rules_at(&EventKind::PreToolUse);
    let event = call();
    let hook = HookInfo::new("h", Source::here()).into();
    let mut settlement = Settlement::new(&rules, &event);
    for (at, text) in [r#"{"a":1}"#, r#"{"a":9007199254740993}"#].iter().enumerate() {
        let answers = format!(r#"{{"hookSpecificOutput":{{"updatedInput":{text},"additionalContext":"c{at}"}}}}"#);
        let _ = settlement.push(at, &hook, &answer(&event, &answers));
        assert_eq!(settlement.current(Target::Input).unwrap().as_str(), *text, "the next one sees it");
    }
    let verdict = settlement.finish();
    assert_eq!(verdict.effective_input().unwrap().as_str(), r#"{"a":9007199254740993}"#);
    assert_eq!(verdict.context().iter().map(|said| said.text.as_str()).collect::<Vec<_>>(), ["c0", "c1"]);
    assert_eq!(verdict.decision(), Decision::NoOpinion);
}

#[test]
fn failures_are_reported_and_failed_guards_close() {
    let rules = DIALECT.rules_at(&EventKind::PreToolUse);
    let hook = HookInfo::new("h", Source::here()).into();
    for (kind, decision) in [
        (FailureKind::Spawn, Decision::Deny),
        (FailureKind::Timeout, Decision::Deny),
        (FailureKind::Exit, Decision::NoOpinion),
        (FailureKind::Signal, Decision::NoOpinion),
        (FailureKind::OutputCap, Decision::Deny),
    ] {
        let failure = Failure::new(kind, "x");
        let verdict = settle(&rules, &call(), &[HookResult { hook: &hook, result: Err(&failure) }]);
        assert_eq!((verdict.decision(), verdict.warnings().len()), (decision, 1), "{kind}");
    }
    assert_eq!(DIALECT.stop_cap, 1);
}

#[test]
fn written_files_round_trip() {
    let decoded = decode(FULL);
    let encoded = DIALECT.encode(&decoded.hooks.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(encoded.lost, []);
    let all = |decoded: &Decoded| {
        let one = |spec: &HookSpec| (spec.definition(), format!("{:?} {:?}", spec.kinds, spec.matcher));
        decoded.hooks.iter().map(one).collect::<Vec<_>>()
    };
    assert_eq!(all(&decode(&encoded.text)), all(&decoded), "{}", encoded.text);
}

#[test]
fn conversion_losses_are_reported() {
    let gate = EventKind::PreToolUse;
    let names = Matcher::compile(&Grammar::NAMES_OR_SEARCH, Some("Edit|Write")).unwrap();
    let search = Matcher::compile(&Grammar::NAMES_OR_SEARCH, Some("^(a|b)+$")).unwrap();
    let table: [(HookSpec, &[&str], bool); 7] = [
        (HookSpec::shell("a", gate.clone(), "x").matching(names), &[], true),
        (
            HookSpec::shell("a", gate.clone(), "x").matching(search),
            &["evva cannot express its matcher `^(a|b)+$`"],
            false,
        ),
        (HookSpec::argv("a", gate.clone(), ["./x", "a b"]), &[], true),
        (HookSpec::shell("a", gate.clone(), "x").timeout(Duration::from_secs(3600)), &["its timeout of 3600s"], true),
        (HookSpec::http("a", gate.clone(), "http://x/"), &["the replies of its endpoint"], true),
        (HookSpec::shell("a", EventKind::PreCompact, "x"), &["evva has no event for `pre_compact`"], false),
        (HookSpec::shell("a", gate, "x").disabled(), &["it is disabled"], false),
    ];
    for (spec, lost, written) in table {
        let encoded = DIALECT.encode(&[&spec]).unwrap();
        let found: Vec<_> = encoded.lost.iter().map(|lost| lost.what.as_str()).collect();
        assert!(found.len() == lost.len() && found.iter().zip(lost).all(|(a, b)| a.starts_with(b)), "{found:?}");
        let again = decode(&encoded.text);
        assert_eq!(again.hooks.len(), usize::from(written), "{}", encoded.text);
        assert!(again.hooks.iter().all(|again| again.background == spec.background), "{}", encoded.text);
    }
    let encoded = DIALECT.encode(&[&HookSpec::argv("a", EventKind::Stop, ["./x", "a b"])]).unwrap();
    assert!(encoded.text.contains(r#""command": "./x 'a b'""#), "{}", encoded.text);
}

/// Time of an async command: 5 minutes. Of an HTTP hook in the background: 30 seconds.
#[test]
fn background_hooks_have_their_own_time() {
    for (event, kind) in [
        ("PreToolUse", EventKind::PreToolUse),
        ("PostToolUse", EventKind::PostToolUse),
        ("Notification", EventKind::Notification),
        ("SessionStart", EventKind::SessionStart),
    ] {
        for (hook, seconds) in [
            (r#"{"type":"command","command":"log","async":true}"#, 300),
            (r#"{"type":"command","command":"log","async":true,"timeout":7}"#, 7),
            (r#"{"type":"http","url":"http://127.0.0.1:1/"}"#, 30),
            (r#"{"type":"http","url":"http://127.0.0.1:1/","async":false}"#, 10),
        ] {
            let decoded = decode(&format!(r#"{{"hooks":{{"{event}":[{{"hooks":[{hook}]}}]}}}}"#));
            assert_eq!(decoded.hooks[0].timeout_for(&kind).as_secs(), seconds, "{event} {hook}");
        }
    }
}
