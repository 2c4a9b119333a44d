//! checkrein's own dialect: payloads and replies.
#![allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]

use checkrein_core::payload::{JsonPiece, Prompt, SessionStart, ToolCall};
use checkrein_core::{
    Captured, Decision, Event, Failure, FailureKind, HttpReply, Opinion, ProcessExit, ProcessReply, RawJson, Reply,
    Target,
};
use checkrein_dialects::agents::native::DIALECT;

fn read(event: &Event, reply: Reply) -> Result<Opinion, Failure> {
    DIALECT.read(event, reply, false)
}

fn answer(text: &str) -> Result<Opinion, Failure> {
    read(&gate(), process(0, text, ""))
}

fn text(event: &Event, original: Option<&Event>) -> String {
    let bytes = DIALECT.payload(event, original).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
    String::from_utf8(bytes).unwrap()
}

fn gate() -> Event {
    Event::pre_tool_use(ToolCall::new("Bash", RawJson::default()))
}

fn process(code: i32, stdout: &str, stderr: &str) -> Reply {
    Reply::Process(ProcessReply::new(ProcessExit::Code(code)).stdout(stdout).stderr(stderr))
}

fn outcome(event: &Event, reply: Reply) -> (Decision, Option<FailureKind>, String) {
    match read(event, reply) {
        Ok(opinion) => (opinion.decision(), None, opinion.reason().unwrap_or_default().to_owned()),
        Err(failure) => (Decision::NoOpinion, Some(failure.kind), failure.message),
    }
}

#[test]
fn exit_codes_and_output_of_a_process() {
    use Decision::{Allow, Deny, Halt, NoOpinion};
    use FailureKind::{Exit, Parse};
    const MIXED: &str = "its output contains an answer between other text; print only the JSON object";
    let allow = r#"{"decision":"allow"}"#;
    for (code, stdout, stderr, expected) in [
        (0, "", "", (NoOpinion, None, "")),
        (0, " \n", "noise", (NoOpinion, None, "")),
        (0, "hello", "", (NoOpinion, None, "")),
        (0, allow, "", (Allow, None, "")),
        (0, r#"{"decision":"deny","reason":"no"}"#, "", (Deny, None, "no")),
        (0, r#"{"continue":false,"stopReason":"enough"}"#, "", (Halt, None, "enough")),
        (
            0,
            "{\"decision\":",
            "",
            (NoOpinion, Some(Parse), "the JSON text ends too early, expected a value at line 1 column 13"),
        ),
        (0, "{} {}", "", (NoOpinion, Some(Parse), "text after the end of the JSON value at line 1 column 4")),
        (0, "welcome!\n{\"decision\":\"deny\",\"reason\":\"no\"}\n", "", (Deny, None, "no")),
        (0, "\u{feff}{\"decision\":\"deny\",\"reason\":\"no\"}", "", (Deny, None, "no")),
        (0, "hi\n  {\"decision\":\"deny\",\"reason\":\"no\"}", "", (Deny, None, "no")),
        (0, "hi\n{\"decision\":\"deny\",\"reason\":\"no\"}\nbye", "", (Deny, None, "no")),
        (0, "hi\n{\"decision\":\"allow\"}\nbye", "", (NoOpinion, Some(Parse), MIXED)),
        (0, "debug: {\"decision\":\"deny\"}", "", (NoOpinion, Some(Parse), MIXED)),
        (0, "[{\"decision\":\"deny\"}]", "", (NoOpinion, Some(Parse), MIXED)),
        (2, "", "not now\n", (Deny, None, "not now")),
        (2, allow, "not now", (Deny, None, "not now")),
        (2, r#"{"decision":"deny","reason":"json"}"#, "stderr", (Deny, None, "json")),
        (2, r#"{"continue":false}"#, "", (Halt, None, "")),
        (2, "{broken", "why", (Deny, None, "why")),
        (1, allow, "Traceback\nmore", (NoOpinion, Some(Exit), "exit code 1: Traceback")),
        (127, "", "", (NoOpinion, Some(Exit), "exit code 127")),
    ] {
        let (decision, failure, text) = expected;
        assert_eq!(outcome(&gate(), process(code, stdout, stderr)), (decision, failure, text.to_owned()), "{stdout}");
    }
    let signal = Reply::Process(ProcessReply::new(ProcessExit::Signal(11)));
    assert_eq!(outcome(&gate(), signal), (NoOpinion, Some(FailureKind::Signal), "ended by signal 11".to_owned()));
}

#[test]
fn last_printed_object_is_the_reply() {
    let log: String = (0..200).map(|n| format!("{{\"level\":\"info\",\"n\":{n}}}\n")).collect();
    let text = format!("banner\n{log}{{\"decision\":\"deny\",\"reason\":\"no\"}}");
    assert_eq!(outcome(&gate(), process(0, &text, "")).0, Decision::Deny);
    let cut = Captured::new(b"plain text".to_vec(), 2_000_000);
    let reply = Reply::Process(ProcessReply::new(ProcessExit::Code(0)).stdout(cut));
    assert_eq!(outcome(&gate(), reply).1, Some(FailureKind::OutputCap), "the answer may be in what is missing");
    let broken = read(&gate(), process(2, "{\"continue\":false,}", "why")).unwrap();
    assert!(broken.warnings()[0].contains("its answer is damaged"));
    let broken = read(&gate(), process(2, "{\"continue\":true,}", "why")).unwrap();
    assert!(broken.messages()[0].contains("its output is invalid"));
}

#[test]
fn plain_text_is_context_at_some_events() {
    let start = Event::session_start(SessionStart::new());
    let opinion = read(&start, process(0, "  be kind \n", "")).unwrap();
    assert_eq!(opinion.contexts(), ["be kind"]);
}

#[test]
fn truncated_reply_is_a_failure() {
    let stdout = Captured::new(b"{\"decision\":\"allow\"}".to_vec(), 5000);
    let reply = Reply::Process(ProcessReply::new(ProcessExit::Code(0)).stdout(stdout));
    let (_, kind, message) = outcome(&gate(), reply);
    assert_eq!((kind, message.as_str()), (Some(FailureKind::OutputCap), "printed 5000 bytes, but only 20 are read"));
}

#[test]
fn invalid_bytes_are_failures_or_text_and_never_panic() {
    let bytes = |bytes: &[u8]| Reply::Process(ProcessReply::new(ProcessExit::Code(0)).stdout(bytes.to_vec()));
    assert_eq!(outcome(&gate(), bytes(b"{\"a\":\"\xff\"}")).1, Some(FailureKind::Parse));
    assert_eq!(outcome(&gate(), bytes(b"\xff\xfe\0\0")), (Decision::NoOpinion, None, String::new()));
    assert_eq!(outcome(&gate(), bytes(b"{\"a\0\":1}")).1, Some(FailureKind::Parse));
    let deep = "{\"a\":".repeat(200) + "1" + &"}".repeat(200);
    assert_eq!(outcome(&gate(), bytes(deep.as_bytes())).1, Some(FailureKind::Parse));
    let flood = "\n{".repeat(100_000) + "}";
    let _ = outcome(&gate(), bytes(flood.as_bytes()));
}

#[test]
fn http_responses_are_parsed() {
    use FailureKind::{HttpStatus, OutputCap, Parse};
    for (status, body, decision, failure) in [
        (200, "", Decision::NoOpinion, None),
        (204, " ", Decision::NoOpinion, None),
        (200, r#"{"decision":"deny","reason":"x"}"#, Decision::Deny, None),
        (200, "OK", Decision::NoOpinion, Some(Parse)),
        (302, "{}", Decision::NoOpinion, Some(HttpStatus)),
        (404, r#"{"decision":"allow"}"#, Decision::NoOpinion, Some(HttpStatus)),
        (500, "", Decision::NoOpinion, Some(HttpStatus)),
    ] {
        let (found, kind, _) = outcome(&gate(), Reply::Http(HttpReply::new(status, body)));
        assert_eq!((found, kind), (decision, failure), "{status} {body}");
    }
    let cut = HttpReply::new(200, Captured::new(b"{}".to_vec(), 9));
    let (_, kind, message) = outcome(&gate(), Reply::Http(cut));
    assert_eq!((kind, &*message), (Some(OutputCap), "the answer exceeds the limit of 2 bytes"));
    // Only redirects that could be followed have the hint.
    for (status, is_redirect) in [(301, true), (302, true), (303, false), (304, false), (307, true), (308, true)] {
        let (_, kind, message) = outcome(&gate(), Reply::Http(HttpReply::new(status, "")));
        assert!(kind == Some(HttpStatus) && message.contains("not followed") == is_redirect, "{message}");
    }
}

#[test]
fn every_reply_key_is_parsed() {
    let opinion = answer(
        r#"{"systemMessage":"m","suppressOutput":true,"stopReason":"s","hookSpecificOutput":{
            "hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"r",
            "additionalContext":"c","updatedInput":{"n":9007199254740993},"metadata":{"k":[1]}}}"#,
    )
    .unwrap();
    assert_eq!(opinion.decision(), Decision::Ask);
    assert_eq!(opinion.reason(), Some("r"));
    assert_eq!((opinion.contexts(), opinion.messages()), (&["c".to_owned()][..], &["m".to_owned()][..]));
    assert_eq!(opinion.rewrites()[0].value.as_str(), r#"{"n":9007199254740993}"#);
    assert_eq!(opinion.stop_reason(), Some("s"));
    assert!(opinion.suppresses_output());
    assert_eq!(opinion.metadata().next().unwrap().0, "k");
}

#[test]
fn all_forms_of_decisions_are_parsed() {
    for (text, decision) in [
        (r#"{}"#, Decision::NoOpinion),
        (r#"{"continue":true}"#, Decision::NoOpinion),
        (r#"{"decision":"approve"}"#, Decision::Allow),
        (r#"{"decision":"block"}"#, Decision::Deny),
        (r#"{"decision":null}"#, Decision::NoOpinion),
        (r#"{"permissionDecision":"deny"}"#, Decision::Deny),
        (r#"{"decision":"allow","hookSpecificOutput":{"permissionDecision":"deny"}}"#, Decision::Deny),
        (r#"{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"x"}}}"#, Decision::Deny),
        (r#"{"hookSpecificOutput":{"decision":{"behavior":"deny","interrupt":true}}}"#, Decision::Halt),
        (r#"{"continue":false,"decision":"allow"}"#, Decision::Halt),
    ] {
        assert_eq!(answer(text).unwrap().decision(), decision, "{text}");
    }
}

#[test]
fn invalid_answers_fail_with_exact_messages() {
    for (text, message) in [
        (r#"{"continue":"false"}"#, "`continue` should be true or false, but is a string"),
        (r#"{"decision":"denny"}"#, "`decision`: unknown decision `denny`, did you mean `deny`?"),
        (
            r#"{"hookSpecificOutput":{"decision":{"behaviour":"deny"}}}"#,
            "unknown key `hookSpecificOutput.decision.behaviour`, did you mean `behavior`?",
        ),
        (r#"{"decison":"deny"}"#, "unknown key `decison`, did you mean `decision`?"),
        (r#"{"decision":7}"#, "`decision` should be a string, but is a number"),
        (r#"{"hookSpecificOutput":[]}"#, "`hookSpecificOutput` should be an object, but is an array"),
        (
            r#"{"hookSpecificOutput":{"hookEventName":"Stop"}}"#,
            "the answer is for the event `Stop`, but this is `pre_tool_use`",
        ),
    ] {
        let failure = answer(text).unwrap_err();
        assert_eq!((failure.kind, failure.message.as_str()), (FailureKind::Schema, message), "{text}");
    }
    let failure = read(&gate(), Reply::Http(HttpReply::new(200, "[]"))).unwrap_err();
    assert_eq!(failure.message, "the answer should be an object, but is an array");
}

#[test]
fn unknown_keys_are_reported() {
    let opinion = answer(r#"{"x-trace":"deny"}"#).unwrap();
    assert_eq!(opinion.messages(), ["its answer has an unknown key `x-trace`"]);
}

#[test]
fn payload_has_the_event_and_its_claude_name() {
    let input: RawJson = r#"{"command": "ls", "n": 1.50}"#.parse().unwrap();
    let event = Event::pre_tool_use(ToolCall::new("Bash", input));
    let text = text(&event, None);
    assert_eq!(
        text,
        r#"{"hook_event_name":"PreToolUse","event":"pre_tool_use","tool_name":"Bash","tool_input":{"command": "ls", "n": 1.50}}"#
    );
    assert!(RawJson::parse(text).is_ok());
}

#[test]
fn large_input_is_not_copied() {
    let input = RawJson::string(&"x".repeat(64 * 1024));
    let pieces = DIALECT.payload(&Event::pre_tool_use(ToolCall::new("Write", input)), None);
    assert!(matches!(&pieces[..], [JsonPiece::Text(_), JsonPiece::Shared(_), JsonPiece::Text(_)]));
}

#[test]
fn payload_has_original_values_of_rewrites() {
    let before = Event::prompt_submit(Prompt::new("one"));
    let after = before.rewritten(Target::Prompt, &RawJson::string("two")).unwrap();
    assert_eq!(
        text(&after, Some(&before)),
        r#"{"hook_event_name":"UserPromptSubmit","original_prompt":"one","event":"prompt_submit","prompt":"two"}"#
    );
    assert!(!text(&before, Some(&before)).contains("original"));
}
