//! Observed agents: replies of hooks, rendered verdicts and hook files. Each row names the observed fact.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::expect_used,
    reason = "a failed test reports its cause by panicking"
)]

mod claude;
mod cline;
mod codex;
mod copilot;
mod gemini;
mod goose;
mod letta;
mod observed;
mod qwen;

use checkrein_core::payload::{Compaction, Prompt, SessionStart, Stop, ToolCall, ToolOutcome};
use checkrein_core::{
    Event, FailureKind, FailurePolicy, HookInfo, HookResult, Opinion, ProcessExit, ProcessReply, RawJson, Reply, Rules,
    Scope, Source, Verdict, settle,
};
use checkrein_dialects::Dialect;
use checkrein_dialects::config::Decoded;
use checkrein_document::Format;

fn json(text: &str) -> RawJson {
    text.parse().unwrap()
}

/// A shell command, with the agent's own name for the tool.
fn call(tool: &str) -> Event {
    Event::pre_tool_use(ToolCall::new(tool, json(r#"{"command":"ls","description":"d"}"#)))
}

fn request(tool: &str) -> Event {
    Event::permission_request(ToolCall::new(tool, json(r#"{"command":"ls"}"#)))
}

fn done(tool: &str) -> Event {
    Event::post_tool_use(ToolOutcome::new(tool, json(r#"{"command":"ls"}"#)).tool_response(json("\"out\"")))
}

fn prompt() -> Event {
    Event::prompt_submit(Prompt::new("hello"))
}

fn start() -> Event {
    Event::session_start(SessionStart::new().source("startup"))
}

fn stop() -> Event {
    Event::stop(Stop::new())
}

fn compaction() -> Event {
    Event::pre_compact(Compaction::new())
}

fn verdict(event: &Event, opinion: &Opinion) -> Verdict {
    let hook = HookInfo::new("h", Source::for_scope(Scope::Code)).rewrites().into();
    settle(&Rules::NATIVE, event, &[HookResult { hook: &hook, result: Ok(opinion) }])
}

/// A rendered opinion: the fact, the event, the opinion, standard output, standard error, exit code, and a part of the notes.
type RenderedRow<'a> = (&'a str, Event, Opinion, &'a str, &'a str, i32, &'a str);

fn assert_rendered(dialect: &Dialect, rows: &[RenderedRow<'_>]) {
    for (fact, event, opinion, stdout, stderr, exit, note) in rows {
        let answer = dialect.render_verdict(event, &verdict(event, opinion));
        let rendered = (answer.stdout.as_str(), answer.stderr.as_str(), answer.exit);
        assert_eq!(rendered, (*stdout, *stderr, *exit), "{} {fact}: {:?}", dialect.name, answer.notes);
        let notes = answer.notes.join("; ");
        assert!(notes.contains(note) && notes.is_empty() == note.is_empty(), "{} {fact}: {notes}", dialect.name);
        // The dialect reads the rendered answer as a decision that is not weaker.
        let reply = ProcessReply::new(ProcessExit::Code(*exit)).stdout(*stdout).stderr(*stderr);
        let parsed = dialect.read(event, Reply::Process(reply), false);
        let parsed = parsed.unwrap_or_else(|failure| panic!("{} {fact}: {failure}", dialect.name));
        let lost = note.contains("dropped") || note.contains("as context");
        assert!(lost || !opinion.decision().is_block() || parsed.decision().is_block(), "{} {fact}", dialect.name);
    }
}

/// Exit and output of a hook.
#[derive(Clone, Copy)]
enum End<'a> {
    Exit(i32, &'a str, &'a str),
    Killed,
    Late,
}

/// Returns the reason of a block. `None`: the event proceeds.
fn outcome(dialect: &Dialect, event: &Event, end: End<'_>) -> Option<String> {
    let reply = match end {
        End::Exit(code, stdout, stderr) => ProcessReply::new(ProcessExit::Code(code)).stdout(stdout).stderr(stderr),
        End::Killed => ProcessReply::new(ProcessExit::Signal(9)),
        End::Late => {
            let closed = dialect.failure_effect(&event.kind(), FailureKind::Timeout) == FailurePolicy::Closed;
            return closed.then(String::new);
        }
    };
    match dialect.read(event, Reply::Process(reply), false) {
        Ok(opinion) => opinion.decision().is_block().then(|| opinion.reason().unwrap_or_default().to_owned()),
        Err(failure) => {
            let closed = dialect.failure_effect(&event.kind(), failure.kind) == FailurePolicy::Closed;
            closed.then(|| failure.message.clone())
        }
    }
}

fn decode(dialect: &'static Dialect, file: &str, text: &str) -> Decoded {
    let format = if file.ends_with(".toml") { Format::Toml } else { Format::Json };
    dialect.decode(file, Scope::Project, text, format)
}

/// Codes and locations of the diagnostics of a file.
fn problems(decoded: &Decoded) -> Vec<(&'static str, u32, u32)> {
    let place = |diagnostic: &checkrein_dialects::config::Diagnostic| {
        diagnostic.at.as_ref().map_or((0, 0), |at| (at.place.line, at.place.column))
    };
    let all = decoded.diagnostics.iter();
    all.map(|diagnostic| (diagnostic.code, place(diagnostic).0, place(diagnostic).1)).collect()
}

/// Checks that encoding and decoding yields the same hooks.
fn assert_round_trip(dialect: &'static Dialect, file: &str, decoded: &Decoded) {
    let hooks: Vec<_> = decoded.hooks.iter().collect();
    let encoded = dialect.encode(&hooks).unwrap();
    assert!(encoded.lost.is_empty(), "{}: {:?}", dialect.name, encoded.lost);
    let again = decode(dialect, file, &encoded.text);
    let definitions = |decoded: &Decoded| {
        decoded.hooks.iter().map(|hook| (hook.kinds.clone(), hook.definition())).collect::<Vec<_>>()
    };
    assert_eq!(definitions(&again), definitions(decoded), "{}", encoded.text);
}
