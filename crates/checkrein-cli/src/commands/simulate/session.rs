//! The session that is played: somebody asks an agent to repair a test.

use anyhow::{Context, Result};
use checkrein::payload::{Compaction, Prompt, SessionEnd, SessionStart, Stop, ToolCall, ToolFailure, ToolOutcome};
use checkrein::{Envelope, Event, RawJson};

/// The events, in order.
pub fn events() -> Result<Vec<Event>> {
    let run_tests = || json(r#"{"command": "cargo test", "run_id": 9007199254740993}"#);
    let events = vec![
        Event::session_start(SessionStart::new().source("startup")),
        Event::prompt_submit(Prompt::new("Repair the failing test. The token is tok_4f9a2c71.")),
        Event::pre_tool_use(ToolCall::new("Read", json(r#"{"file_path": "src/lib.rs"}"#)?)),
        Event::pre_tool_use(ToolCall::new("Bash", json(r#"{"command": "rm -rf target"}"#)?)),
        Event::pre_tool_use(ToolCall::new("Bash", run_tests()?)),
        Event::post_tool_failure(ToolFailure::new("Bash", run_tests()?, "exit code 101")),
        Event::permission_request(ToolCall::new("Write", json(r#"{"file_path": "src/lib.rs", "content": "…"}"#)?)),
        Event::post_tool_use(
            ToolOutcome::new("Write", json(r#"{"file_path": "src/lib.rs"}"#)?)
                .tool_response(RawJson::string("written")),
        ),
        Event::pre_compact(Compaction::new().trigger("auto").message_count(42_u64)),
        Event::stop(Stop::new().last_assistant_message("The test passes now.")),
        Event::session_end(SessionEnd::new().reason("prompt_input_exit")),
    ];
    let envelope = Envelope::new().session_id("simulated-session").cwd("/home/ann/project");
    Ok(events.into_iter().map(|event| event.within(envelope.clone())).collect())
}

fn json(text: &str) -> Result<RawJson> {
    text.parse().with_context(|| format!("in the built-in session: {text}"))
}
