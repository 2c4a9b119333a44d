//! Output and exit codes of real processes.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test reports its cause by panicking"
)]

use checkrein::payload::ToolCall;
use checkrein::{Decision, Engine, Event, EventKind, FailureKind, HookSpec, RawJson, Verdict};

const GATE: EventKind = EventKind::PreToolUse;

async fn fire_with(text: &str, input: RawJson) -> Verdict {
    let engine = Engine::builder().hook(HookSpec::shell("h", GATE, text)).build();
    engine.fire(Event::pre_tool_use(ToolCall::new("Write", input))).await
}

async fn fire(text: &str) -> Verdict {
    fire_with(text, RawJson::default()).await
}

fn kinds(verdict: &Verdict) -> Vec<FailureKind> {
    verdict.failures().map(|(_, failure)| failure.kind).collect()
}

#[tokio::test]
async fn unusual_output_is_parsed_or_a_failure() {
    let deep = format!("{}1{}", r#"{"a":"#.repeat(200), "}".repeat(200));
    let table: [(String, &[FailureKind], Decision); 10] = [
        (r"printf '\377\376'".into(), &[], Decision::NoOpinion),
        (r"printf '\000\000'".into(), &[], Decision::NoOpinion),
        (r#"printf '{"reason":"\377"}'"#.into(), &[FailureKind::Parse], Decision::Deny),
        (r"printf '{}\000'".into(), &[FailureKind::Parse], Decision::Deny),
        (":".into(), &[], Decision::NoOpinion),
        (r#"echo '{"decision":"allow"}'; echo '{"decision":"allow"}'"#.into(), &[FailureKind::Parse], Decision::Deny),
        (r#"echo 'Welcome to your shell'; echo '{"decision":"deny","reason":"x"}'"#.into(), &[], Decision::Deny),
        (r#"echo 'nvm: v20'; echo '{"decision":"allow"}'"#.into(), &[], Decision::Allow),
        (format!("echo '{deep}'"), &[FailureKind::Parse], Decision::Deny),
        ("echo '[1]'".into(), &[], Decision::NoOpinion),
    ];
    for (text, failures, decision) in table {
        let verdict = fire(&text).await;
        let shown: String = text.chars().take(60).collect();
        assert_eq!((kinds(&verdict).as_slice(), verdict.decision()), (failures, decision), "{shown}");
    }
}

#[tokio::test]
async fn large_payload_does_not_deadlock() {
    let large = || RawJson::string(&"x".repeat(10 << 20));
    // A hook that does not read stdin.
    assert_eq!(fire_with("exit 0", large()).await, Verdict::default());
    // A hook that prints more than a pipe holds before it reads.
    let prints_first = "head -c 1000000 /dev/zero | tr '\\0' ' '; wc -c >&2; exit 2";
    let verdict = fire_with(prints_first, large()).await;
    let seen: usize = verdict.reason().unwrap().parse().unwrap();
    assert!(seen > 10 << 20, "{seen}");
}

#[tokio::test]
async fn excessive_output_is_cut_and_reported() {
    let verdict = fire("printf '{'; head -c 20000000 /dev/zero").await;
    assert_eq!(kinds(&verdict), [FailureKind::OutputCap]);
    let engine = Engine::builder().hook(HookSpec::shell("h", GATE, "head -c 20000000 /dev/zero >&2; exit 2")).build();
    let (verdict, record) = engine.fire_recorded(Event::pre_tool_use(ToolCall::new("T", RawJson::default()))).await;
    assert!(verdict.decision().is_block() && record.hooks[0].truncated);
    assert!(record.hooks[0].stderr.as_ref().unwrap().len() < 100_000, "records stay small");
}

#[tokio::test]
async fn grandchild_with_an_open_stream_is_not_awaited() {
    // Otherwise this would take as long as the sleep.
    let verdict = fire(r#"sleep 1000 & echo '{"decision":"deny","reason":"done"}'"#).await;
    assert_eq!(verdict.reason(), Some("done"));
}

#[tokio::test]
async fn exit_codes_decide() {
    for (code, decision, failures) in [
        (0, Decision::NoOpinion, &[][..]),
        (1, Decision::Deny, &[FailureKind::Exit]),
        (2, Decision::Deny, &[]),
        (126, Decision::Deny, &[FailureKind::Exit]),
        (127, Decision::Deny, &[FailureKind::Exit]),
        (255, Decision::Deny, &[FailureKind::Exit]),
    ] {
        let verdict = fire(&format!("exit {code}")).await;
        assert_eq!((verdict.decision(), kinds(&verdict).as_slice()), (decision, failures), "{code}");
    }
}
