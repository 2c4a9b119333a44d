//! HTTP hooks, against a server that misbehaves in many ways.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test reports its cause by panicking"
)]

mod addresses;
mod agents;
mod answers;
mod headers;
mod keep_alive;
mod limits;
mod post;
mod redirects;
mod runtimes;
mod secrets;
mod server;
mod signatures;
mod tls;

use std::time::Duration;

use checkrein::handler::HttpFactory;
use checkrein::hook::HttpSpec;
use checkrein::payload::ToolCall;
use checkrein::{Engine, Event, EventKind, FailureKind, HookSpec, RawJson, Registry, Verdict};

/// Timeout of hooks, far longer than any test needs.
const PATIENCE: Duration = Duration::from_secs(60);

const ALLOW: &str = r#"{"decision":"allow"}"#;

fn event() -> Event {
    let input: RawJson = r#"{"command":"ls"}"#.parse().unwrap();
    Event::pre_tool_use(ToolCall::new("Bash", input))
}

fn hook(url: impl Into<String>, change: impl FnOnce(HttpSpec) -> HttpSpec) -> HookSpec {
    HookSpec::http("guard", EventKind::PreToolUse, url).timeout(PATIENCE).request(change)
}

fn engine(url: impl Into<String>, change: impl FnOnce(HttpSpec) -> HttpSpec) -> Engine {
    Engine::builder().hook(hook(url, change)).build()
}

/// An engine with other settings for all HTTP hooks.
fn engine_with(factory: HttpFactory, url: impl Into<String>) -> Engine {
    let mut registry = Registry::new();
    registry.register("http", factory).unwrap();
    Engine::builder().registry(registry).hook(hook(url, |http| http)).build()
}

async fn fire(url: impl Into<String>, change: impl FnOnce(HttpSpec) -> HttpSpec) -> Verdict {
    engine(url, change).fire(event()).await
}

/// The only failure of a verdict.
fn failure(verdict: &Verdict) -> (FailureKind, String) {
    let failures: Vec<_> = verdict.failures().collect();
    match failures[..] {
        [(_, failure)] => (failure.kind, failure.message.clone()),
        _ => panic!("not one failure: {verdict:?}"),
    }
}

#[track_caller]
fn assert_fails(verdict: &Verdict, kind: FailureKind, text: &str) {
    let (found, message) = failure(verdict);
    assert!(found == kind && message.contains(text), "{found}: {message}");
    assert!(verdict.decision().is_block(), "a failure closes the gate");
}
