//! Assertions of testagent's tests about its sender, row by row, except those in `claude.rs`.
#![allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]

use std::sync::Arc;

use checkrein_core::payload::{Compaction, Notification, Prompt, SessionEnd, Stop, ToolCall, ToolOutcome};
use checkrein_core::{
    Decision, Envelope, Event, EventKind, Failure, FailureKind, FailurePolicy, HookInfo, HookResult, HookSet,
    HookState, HttpReply, Matcher, Opinion, ProcessExit, ProcessReply, RawJson, Reply, Scope, Source, Verdict, settle,
};
use checkrein_dialects::agents::claude::SENDER;
use checkrein_dialects::config::Decoded;
use checkrein_document::Format;

use Decision::{Allow, Ask, Deny, NoOpinion};

fn call() -> ToolCall {
    ToolCall::new("Bash", "{}".parse::<RawJson>().unwrap())
}

fn gate() -> Event {
    Event::pre_tool_use(call())
}

fn request() -> Event {
    Event::permission_request(call())
}

fn read(event: &Event, code: i32, stdout: &str, stderr: &str) -> Result<Opinion, Failure> {
    let reply = ProcessReply::new(ProcessExit::Code(code)).stdout(stdout).stderr(stderr);
    SENDER.read(event, Reply::Process(reply), false)
}

fn settled(event: &Event, results: &[Result<Opinion, Failure>]) -> Verdict {
    let hook: Arc<HookInfo> = HookInfo::new("h", Source::here()).into();
    let outcomes: Vec<_> = results.iter().map(|result| HookResult { hook: &hook, result: result.as_ref() }).collect();
    settle(&SENDER.rules_at(&event.kind()), event, &outcomes)
}

fn decode(text: &str) -> Decoded {
    SENDER.decode("settings.json", Scope::User, text, Format::Json)
}

#[test]
fn empty_and_invalid_bodies() {
    for (body, decision, reason) in [
        (r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#, Allow, None),
        (r#"{"hookSpecificOutput":{"permissionDecision":"Allow"}}"#, NoOpinion, None),
        (r#"{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}"#, Allow, None),
        (r#"{"hookSpecificOutput":{"decision":{"behavior":"ask"}}}"#, NoOpinion, None),
        (r#"{"permission":"allow","agent_message":"a"}"#, Allow, Some("a")),
        (r#"{"decision":"Block"}"#, NoOpinion, None),
        (r#"{"continue":false}"#, NoOpinion, None),
        ("null", NoOpinion, None),
        ("[]", NoOpinion, None),
        ("plain text", NoOpinion, None),
    ] {
        let opinion = read(&gate(), 0, body, "").unwrap();
        assert_eq!((opinion.decision(), opinion.reason()), (decision, reason), "{body}");
        assert!(opinion.contexts().is_empty() && opinion.rewrites().is_empty(), "{body}");
    }
    // No decision, as in the agent, but with a message.
    for body in ["{", r#"{"decision":"approve""#] {
        let result = read(&gate(), 0, body, "");
        assert_eq!(result.as_ref().unwrap_err().kind, FailureKind::Parse, "{body}");
        let verdict = settled(&gate(), &[result]);
        assert_eq!((verdict.decision(), verdict.warnings().len()), (NoOpinion, 1), "{body}");
    }
    // Stricter than the agent.
    let verdict = settled(&gate(), &[read(&gate(), 0, r#"{"decision":"block""#, "")]);
    assert_eq!((verdict.decision(), verdict.warnings().len()), (Deny, 1));
}

#[test]
fn exit_codes_and_output_of_commands() {
    let deny = r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"json"}}"#;
    for (code, stdout, stderr, decision, reason) in [
        (0, "", "noise", NoOpinion, None),
        (0, deny, "", Deny, Some("json")),
        (2, "", " why \n", Deny, Some("why")),
        (2, deny, "why", Deny, Some("why")),
        // The agent drops it.
        (2, deny, "", Deny, Some("json")),
    ] {
        let opinion = read(&gate(), code, stdout, stderr).unwrap();
        assert_eq!((opinion.decision(), opinion.reason()), (decision, reason), "{code} {stdout}{stderr}");
    }
    for code in [1, 127] {
        let verdict = settled(&gate(), &[read(&gate(), code, deny, "")]);
        assert_eq!((verdict.decision(), verdict.warnings().len()), (NoOpinion, 1), "{code}");
    }
    // The verdict has a reason even if the block has none.
    assert!(!settled(&gate(), &[read(&gate(), 2, "", "")]).reason().unwrap().is_empty());
}

#[test]
fn opinions_of_several_hooks_settle() {
    const FAILS: Decision = Decision::Defer;
    let table: &[(Event, &[Decision], Decision, Option<&str>)] = &[
        (gate(), &[], NoOpinion, None),
        (gate(), &[NoOpinion, NoOpinion], NoOpinion, None),
        (gate(), &[Allow], Allow, Some("r0")),
        (gate(), &[Allow, Allow], Allow, Some("r0")),
        (gate(), &[Allow, Ask, Ask], Ask, Some("r1")),
        (gate(), &[Allow, Deny, Allow], Deny, Some("r1")),
        (gate(), &[Deny, Allow], Deny, Some("r0")),
        (gate(), &[Ask, Deny, Deny], Deny, Some("r1")),
        (gate(), &[FAILS, Deny], Deny, Some("r1")),
        (gate(), &[Allow, FAILS], Allow, Some("r0")),
        (request(), &[], NoOpinion, None),
        (request(), &[Allow, Allow], Allow, Some("r1")),
        (request(), &[Allow, Deny, Deny, Allow], Deny, Some("r1")),
        (request(), &[Ask], NoOpinion, None),
        (request(), &[Allow, Ask], Allow, Some("r0")),
        (Event::stop(Stop::new()), &[Deny, Allow], NoOpinion, None),
        (Event::prompt_submit(Prompt::new("p")), &[Deny], NoOpinion, None),
        (Event::post_tool_use(ToolOutcome::new("Bash", RawJson::default())), &[Deny], NoOpinion, None),
    ];
    for (event, decisions, decision, reason) in table {
        let answer = |(at, word): (usize, &Decision)| {
            let reply = |word: &str| {
                let reason = format!(r#""permissionDecision":"{word}","permissionDecisionReason":"r{at}""#);
                read(event, 0, &format!(r#"{{"hookSpecificOutput":{{{reason}}}}}"#), "")
            };
            match *word {
                FAILS => Err(Failure::new(FailureKind::Timeout, "too slow")),
                NoOpinion => read(event, 0, "{}", ""),
                word => reply(&word.to_string()),
            }
        };
        let results: Vec<_> = decisions.iter().enumerate().map(answer).collect();
        let verdict = settled(event, &results);
        assert_eq!((verdict.decision(), verdict.reason()), (*decision, *reason), "{} {decisions:?}", event.kind());
        let failed = decisions.iter().filter(|word| **word == FAILS).count();
        assert_eq!(verdict.failures().count(), failed, "failures are reported with the verdict");
    }
}

#[test]
fn matchers_match_as_in_the_agent() {
    for (pattern, subject, fits) in [
        ("", "", true),
        ("*", "", true),
        ("Bash|Edit|Write", "Edit", true),
        ("Bash|Edit", "edit", false),
        ("Bash|Edit", "BashEdit", false),
        ("Bash|", "Bash", true),
        ("Bash.*", "BashOutput", true),
        ("Edit$", "MultiEdit", true),
        ("^(Edit|Write)$", "Write", true),
        ("^(Edit|Write)$", "Writer", false),
        ("[BE]", "Edit", true),
        (r"mcp__\w+__read", "mcp__fs__read", true),
        ("idle_prompt", "permission_prompt", false),
        // The agent never ran a hook whose pattern matches only an empty part of the name. Here the guard runs.
        ("x*", "Bash", true),
        ("(x)?", "Bash", true),
        ("^$", "Bash", false),
    ] {
        let matcher = Matcher::compile(&SENDER.matcher, Some(pattern)).unwrap();
        assert_eq!(matcher.matches(subject), fits, "{pattern} {subject}");
    }
}

fn one_hook(event: &str, matcher: &str) -> Decoded {
    let hook = r#"{"type":"command","command":"x"}"#;
    decode(&format!(r#"{{"hooks":{{"{event}":[{{"matcher":"{matcher}","hooks":[{hook}]}}]}}}}"#))
}

#[test]
fn only_tools_and_notifications_have_matchers() {
    let told = |about: &str| Event::notification(Notification::new().message("m").notification_type(about));
    for (name, matcher, event, runs) in [
        ("Notification", "idle_prompt", told("idle_prompt"), true),
        ("Notification", "idle_prompt", told("permission_prompt"), false),
        ("Notification", "", told("permission_prompt"), true),
        ("Notification", "", Event::notification(Notification::new().message("m")), true),
        ("PermissionRequest", "Edit", request(), false),
        ("PermissionRequest", "Bash|Edit", request(), true),
        ("PostToolUse", "Edit", Event::post_tool_use(ToolOutcome::new("Bash", RawJson::default())), false),
        ("UserPromptSubmit", "Edit", Event::prompt_submit(Prompt::new("p")), true),
        ("Stop", "Edit", Event::stop(Stop::new()), true),
        ("PreCompact", "Edit", Event::pre_compact(Compaction::new().trigger("auto")), true),
        ("SessionEnd", "Edit", Event::session_end(SessionEnd::new().reason("other")), true),
    ] {
        let set = HookSet::new(one_hook(name, matcher).hooks.into_iter().map(|spec| spec.selector()).collect());
        assert_eq!(set.select(&event).count() == 1, runs, "{name} {matcher}");
    }
}

#[test]
fn payloads_of_other_events() {
    let envelope = || Envelope::new().session_id("s").cwd("/w").transcript_path("/t").permission_mode("default");
    let common = r#""cwd":"/w","session_id":"s","transcript_path":"/t""#;
    for (event, rest) in [
        (Event::session_end(SessionEnd::new().reason("logout")), r#""hook_event_name":"SessionEnd","reason":"logout""#),
        (
            Event::post_compact(Compaction::new().trigger("manual")),
            r#""hook_event_name":"PostCompact","trigger":"manual""#,
        ),
        (Event::session_end(SessionEnd::new()), r#""hook_event_name":"SessionEnd","reason":"""#),
    ] {
        let kind = event.kind();
        let pieces = SENDER.payload(&event.within(envelope()), None);
        let bytes: Vec<u8> = pieces.iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
        let expected: RawJson = format!("{{{common},{rest}}}").parse().unwrap();
        let found = RawJson::parse_bytes(&bytes).unwrap();
        assert!(found.semantically_eq(&expected), "{kind}:\n{found}\n{expected}");
    }
}

/// The agent treats a 3xx response and a cut response as no decision.
#[test]
fn responses_of_endpoints_are_parsed() {
    let allow = r#"{"decision":"approve"}"#;
    for (status, body, decision, failure) in [
        (200, "", NoOpinion, None),
        (204, "", NoOpinion, None),
        (200, allow, Allow, None),
        (200, r#"{"decision":"block","reason":"r"}"#, Deny, None),
        (302, allow, NoOpinion, Some(FailureKind::HttpStatus)),
        (304, "", NoOpinion, Some(FailureKind::HttpStatus)),
        (400, allow, NoOpinion, Some(FailureKind::HttpStatus)),
        (500, r#"{"decision":"block"}"#, NoOpinion, Some(FailureKind::HttpStatus)),
    ] {
        let read = SENDER.read(&gate(), Reply::Http(HttpReply::new(status, body)), false);
        assert_eq!(read.as_ref().map(Opinion::decision).unwrap_or_default(), decision, "{status} {body}");
        assert_eq!(read.err().map(|failure| failure.kind), failure, "{status} {body}");
    }
}

#[test]
fn timeouts_are_parsed() {
    for (kind, seconds) in
        [(EventKind::PreToolUse, 10), (EventKind::SessionEnd, 10), (EventKind::PermissionRequest, 120)]
    {
        for handler in ["command", "http"] {
            assert_eq!(SENDER.timeout(&kind, handler).as_secs(), seconds, "{kind} {handler}");
        }
        let name = SENDER.name_of(&kind).unwrap();
        let text = |timeout: &str| {
            format!(
                r#"{{"hooks":{{"{name}":[{{"hooks":[{{"type":"http","url":"http://x/","timeout":{timeout}}}]}}]}}}}"#
            )
        };
        assert_eq!(decode(&text("0")).hooks[0].timeout_for(&kind).as_secs(), seconds, "none given is the usual one");
        assert_eq!(decode(&text("300")).hooks[0].timeout_for(&kind).as_secs(), 300, "no client cuts it short");
    }
}

#[test]
fn diagnostics_cover_the_validate_command() {
    let hook = |hook: &str| format!(r#"{{"hooks":{{"PreToolUse":[{{"hooks":[{hook}]}}]}}}}"#);
    let good = r#"{"type":"command","command":"x"}"#;
    for (text, code, closes) in [
        (hook(good), None, false),
        (r#"{"hooks":{},"model":"x"}"#.to_owned(), None, false),
        (hook(r#"{"type":"command","command":"x","timout":1}"#), Some("unknown-key"), false),
        (hook(r#"{"type":"lua","command":"x"}"#), Some("unknown-handler"), true),
        (hook(r#"{"type":"http"}"#), Some("missing-key"), true),
        (hook(r#"{"type":"command"}"#), Some("missing-key"), true),
        (hook(r#"{"type":"command","command":7}"#), Some("wrong-type"), true),
        (format!(r#"{{"hooks":{{"PreTooluse":[{{"hooks":[{good}]}}]}}}}"#), Some("unknown-event"), true),
        (r#"{"hooks":{"PreToolUse":{}}}"#.to_owned(), Some("wrong-type"), true),
        (r#"{"hooks":"x"}"#.to_owned(), Some("wrong-type"), true),
        (r#"{"hooks":"#.to_owned(), Some("not-readable"), true),
        // The agent never matched it, so the guard had no effect.
        (
            format!(r#"{{"hooks":{{"PreToolUse":[{{"matcher":"Bash(","hooks":[{good}]}}]}}}}"#),
            Some("bad-matcher"),
            true,
        ),
    ] {
        let decoded = decode(&text);
        let codes: Vec<_> = decoded.diagnostics.iter().map(|told| told.code).collect();
        assert!(code.map_or(codes.is_empty(), |code| codes.contains(&code)), "{text}: {codes:?}");
        let broken = decoded.hooks.iter().find(|spec| matches!(spec.state, HookState::Broken(_)));
        assert_eq!(broken.is_some(), closes, "{text}: {codes:?}");
        assert!(broken.is_none_or(|spec| spec.info.on_failure == Some(FailurePolicy::Closed)), "{text}");
    }
}
