//! HTTP hooks in a build without the feature `http`.
#![cfg(not(feature = "http"))]

use checkrein::payload::ToolCall;
use checkrein::{Engine, Event, EventKind, FailureKind, HookSpec};

#[test]
fn http_hook_reports_the_missing_feature() {
    let engine = Engine::builder().hook(HookSpec::http("guard", EventKind::PreToolUse, "http://localhost/")).build();
    assert!(engine.problems()[0].to_string().contains("need the cargo feature `http`"), "{:?}", engine.problems());
    let verdict = engine.fire_blocking(Event::pre_tool_use(ToolCall::default()));
    let kinds: Vec<_> = verdict.failures().map(|(_, failure)| failure.kind).collect();
    assert_eq!((kinds, verdict.decision().is_block()), (vec![FailureKind::UnknownHandler], true));
}
