//! An asynchronous callback with a matcher and a timeout.
//!
//! `cargo run -p checkrein --example async_callback`
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::io;
use std::sync::Arc;
use std::time::Duration;

use checkrein::payload::ToolCall;
use checkrein::{Decision, Engine, Event, EventKind, FailurePolicy, HookSpec, Matcher, Opinion, RawJson};

/// Simulates a request to a service.
async fn is_frozen(branch: &str) -> io::Result<bool> {
    tokio::time::sleep(Duration::from_millis(20)).await;
    match branch {
        "main" => Ok(true),
        "gone" => Err(io::Error::other("the service does not know this branch")),
        _ => Ok(false),
    }
}

/// Asks before deployments of a frozen branch. An error closes the gate, like a panic or a timeout.
async fn freeze(event: Arc<Event>) -> io::Result<Opinion> {
    let branch = event.tool_input().and_then(|input| input.field("branch"));
    let branch = branch.as_ref().and_then(RawJson::as_text).unwrap_or_default();
    Ok(if is_frozen(&branch).await? { Opinion::ask("the branch is frozen") } else { Opinion::none() })
}

#[tokio::main]
async fn main() -> Result<(), checkrein::JsonError> {
    let engine = Engine::builder()
        // Short form: no matcher, the default timeout.
        .on_async(EventKind::SessionStart, "greeting", |_| async { Opinion::context("Answer in short sentences.") })
        // Long form: all settings of a hook.
        .hook(
            HookSpec::async_callback("freeze", EventKind::PreToolUse, freeze)
                .matching(Matcher::names(["Deploy"]))
                .timeout(Duration::from_secs(2))
                .on_timeout(FailurePolicy::Ask),
        )
        .build();

    for (input, expected) in [
        (r#"{"branch": "topic"}"#, Decision::NoOpinion),
        (r#"{"branch": "main"}"#, Decision::Ask),
        (r#"{"branch": "gone"}"#, Decision::Deny),
    ] {
        let call = ToolCall::new("Deploy", input.parse::<RawJson>()?);
        let verdict = engine.fire(Event::pre_tool_use(call)).await;
        println!("{input}: {:?}", verdict.action());
        assert_eq!(verdict.decision(), expected);
    }
    Ok(())
}

#[cfg(test)]
#[test]
fn runs() {
    main().unwrap();
}
