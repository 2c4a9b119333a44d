//! Agents that are known from documentation: tables of payloads, rendered verdicts, replies and files.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod amazon_q;
mod antigravity;
mod augment;
mod crush;
mod cursor;
mod devin;
mod factory;
mod grok;
mod kiro;
mod vscode;
mod windsurf;

use checkrein_core::payload::{Prompt, SessionStart, Stop, SubagentStop, ToolCall, ToolOutcome};
use checkrein_core::{
    Decision, Event, EventKind, FailureKind, FailurePolicy, HookInfo, HookResult, Matcher, Opinion, ProcessExit,
    ProcessReply, RawJson, Reply, Scope, Source, settle,
};
use checkrein_dialects::config::Decoded;
use checkrein_dialects::{Answer, Dialect, HookSpec};
use checkrein_document::Format;

fn json(text: &str) -> RawJson {
    text.parse().unwrap()
}

/// Reads a payload as an event of this kind, and checks that the event becomes the same payload.
#[track_caller]
fn assert_payload_round_trip(dialect: &'static Dialect, kind: &EventKind, payload: &str) -> Event {
    let sent = json(payload);
    let event = dialect.event(&sent, None).unwrap_or_else(|error| panic!("{}: {error}: {payload}", dialect.name));
    assert_eq!(event.kind(), *kind, "{}: {payload}", dialect.name);
    let bytes: Vec<u8> = dialect.payload(&event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
    let again = RawJson::parse_bytes(&bytes).unwrap();
    assert!(again.semantically_eq(&sent), "{}:\n{again}\n{sent}", dialect.name);
    event
}

fn gate() -> Event {
    Event::pre_tool_use(ToolCall::new("Shell", json(r#"{"command":"ls"}"#)))
}

fn done() -> Event {
    Event::post_tool_use(ToolOutcome::new("Shell", json(r#"{"command":"ls"}"#)))
}

fn prompt() -> Event {
    Event::prompt_submit(Prompt::new("hi"))
}

fn start() -> Event {
    Event::session_start(SessionStart::new())
}

fn stop() -> Event {
    Event::stop(Stop::new())
}

/// Answer to the agent for an opinion.
fn render(dialect: &Dialect, event: &Event, opinion: &Opinion) -> Answer {
    let hook = HookInfo::new("h", Source::for_scope(Scope::Code)).rewrites().into();
    dialect.render_verdict(
        event,
        &settle(&dialect.rules_at(&event.kind()), event, &[HookResult { hook: &hook, result: Ok(opinion) }]),
    )
}

/// A rendered verdict in one line: standard output, `!` and standard error if any, and the exit code if it is not 0.
fn line(answer: &Answer) -> String {
    let mut line = answer.stdout.clone();
    if !answer.stderr.is_empty() {
        line = format!("{line}!{}", answer.stderr);
    }
    if answer.exit != 0 {
        line = format!("{line} [{}]", answer.exit);
    }
    line
}

/// Checks rendered opinions: event, opinion, answer and number of notes.
#[track_caller]
fn assert_rendered(dialect: &Dialect, rows: &[(&Event, Opinion, &str, usize)]) {
    for (event, opinion, expected, notes) in rows {
        let answer = render(dialect, event, opinion);
        assert_eq!(line(&answer), *expected, "{} at {}: {opinion:?}", dialect.name, event.kind());
        assert_eq!(answer.notes.len(), *notes, "{} at {}: {:?}", dialect.name, event.kind(), answer.notes);
    }
}

/// Result of a hook: a decision, or a failure and its policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HookEffect {
    To(Decision),
    Fails(FailureKind, FailurePolicy),
}

/// Returns the result of a hook with this exit code and output.
fn effect(dialect: &Dialect, event: &Event, code: i32, stdout: &str, stderr: &str) -> HookEffect {
    let reply = ProcessReply::new(ProcessExit::Code(code)).stdout(stdout).stderr(stderr);
    match dialect.read(event, Reply::Process(reply), false) {
        Ok(opinion) => HookEffect::To(opinion.decision()),
        Err(failure) => HookEffect::Fails(failure.kind, dialect.failure_effect(&event.kind(), failure.kind)),
    }
}

/// Exit codes as in Claude Code: 2 denies if hooks can block the event, and every other code but 0 is a failure.
#[track_caller]
fn assert_claude_exits(dialect: &Dialect) {
    let failed = HookEffect::Fails(FailureKind::Exit, FailurePolicy::Open);
    for (event, code, expected) in [
        (&gate(), 0, HookEffect::To(Decision::NoOpinion)),
        (&gate(), 2, HookEffect::To(Decision::Deny)),
        (&prompt(), 2, HookEffect::To(Decision::Deny)),
        (&stop(), 2, HookEffect::To(Decision::Deny)),
        (&gate(), 1, failed),
        (&start(), 2, failed),
    ] {
        assert_eq!(effect(dialect, event, code, "", "why"), expected, "{} {code} at {}", dialect.name, event.kind());
    }
}

/// Verdicts on a tool call and feedback on its result have the format of Claude Code.
#[track_caller]
fn assert_claude_replies(dialect: &Dialect) {
    let permission = |decision: &str| {
        format!(r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":{decision}}}}}"#)
    };
    assert_rendered(
        dialect,
        &[
            (&gate(), Opinion::none(), "", 0),
            (&gate(), Opinion::allow(), &permission(r#""allow""#), 0),
            (&gate(), Opinion::deny("no"), &permission(r#""deny","permissionDecisionReason":"no""#), 0),
            (&gate(), Opinion::ask("?"), &permission(r#""ask","permissionDecisionReason":"?""#), 0),
            (
                &gate(),
                Opinion::rewrite_input(json(r#"{"command":"x"}"#)),
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"x"}}}"#,
                0,
            ),
            (&gate(), Opinion::halt("enough"), r#"{"continue":false,"stopReason":"enough"}"#, 0),
            (&gate(), Opinion::none().with_message("m"), r#"{"systemMessage":"m"}"#, 0),
            (&done(), Opinion::deny("wrong"), r#"{"decision":"block","reason":"wrong"}"#, 0),
            (
                &Event::subagent_stop(SubagentStop::new()),
                Opinion::deny("go on"),
                r#"{"decision":"block","reason":"go on"}"#,
                0,
            ),
        ],
    );
}

/// Returns the opinion of a hook with exit code 0 and this output.
fn read(dialect: &Dialect, event: &Event, stdout: &str) -> Opinion {
    dialect.read(event, Reply::Process(ProcessReply::new(ProcessExit::Code(0)).stdout(stdout)), false).unwrap()
}

fn decode(dialect: &'static Dialect, text: &str) -> Decoded {
    dialect.decode("hooks.json", Scope::Project, text, Format::Json)
}

/// Diagnostics of a file: code and line, sorted by code.
fn problems(decoded: &Decoded) -> Vec<(&'static str, u32)> {
    let problem = |diagnostic: &checkrein_dialects::config::Diagnostic| {
        (diagnostic.code, diagnostic.at.as_ref().unwrap().place.line)
    };
    let mut problems: Vec<_> = decoded.diagnostics.iter().map(problem).collect();
    problems.sort_unstable();
    problems
}

/// Checks the diagnostics of each file, in any order.
#[track_caller]
fn assert_problems<const N: usize>(dialect: &'static Dialect, rows: [(&str, &[(&'static str, u32)]); N]) {
    for (text, codes) in rows {
        let mut codes = codes.to_vec();
        codes.sort_unstable();
        assert_eq!(problems(&decode(dialect, text)), codes, "{}: {text}", dialect.name);
    }
}

/// Checks that a file round-trips.
#[track_caller]
fn assert_round_trip(dialect: &'static Dialect, text: &str) {
    let decoded = decode(dialect, text);
    let hooks: Vec<_> = decoded.hooks.iter().collect();
    let encoded = dialect.encode(&hooks).unwrap();
    assert_eq!(encoded.lost, [], "{}", dialect.name);
    let again = decode(dialect, &encoded.text);
    assert_eq!(problems(&again), [], "{}", encoded.text);
    let all = |hooks: &[HookSpec]| -> Vec<_> {
        hooks.iter().map(|hook| (hook.kinds.clone(), pattern(&hook.matcher), hook.definition())).collect()
    };
    assert_eq!(all(&again.hooks), all(&decoded.hooks), "{}", encoded.text);
}

fn pattern(matcher: &Matcher) -> String {
    matcher.pattern().to_owned()
}
