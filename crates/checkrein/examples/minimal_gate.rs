//! The smallest useful engine: one callback that guards tool calls.
//!
//! `cargo run -p checkrein --example minimal_gate`
#![allow(clippy::print_stdout, reason = "an example prints")]

use checkrein::payload::ToolCall;
use checkrein::{Action, Engine, Event, EventKind, JsonError, Opinion, RawJson};

#[tokio::main]
async fn main() -> Result<(), JsonError> {
    // Built once, when the agent starts. A callback that panics or returns an error closes the gate.
    let engine = Engine::builder()
        .on(EventKind::PreToolUse, "read-only", |fire| match fire.event.tool_name() {
            Some("Write" | "Edit") => Opinion::deny("this agent only reads"),
            Some("Read") => Opinion::allow(),
            // No opinion is not an allow: the agent's own rules apply.
            _ => Opinion::none(),
        })
        .build();

    for (tool, expected) in
        [("Read", r#"called with {"file_path": "a.txt"}"#), ("Write", "refused: this agent only reads")]
    {
        let answer = call_tool(&engine, tool, r#"{"file_path": "a.txt"}"#.parse()?).await;
        println!("{tool}: {answer}");
        assert_eq!(answer, expected);
    }
    Ok(())
}

/// Fires the event before a tool call. Returns the text for the model.
async fn call_tool(engine: &Engine, tool: &str, input: RawJson) -> String {
    let verdict = engine.fire(Event::pre_tool_use(ToolCall::new(tool, input.clone()))).await;
    match verdict.action() {
        Action::Refuse { reason } | Action::EndLoop { reason } => format!("refused: {reason}"),
        Action::Ask { reason } => format!("needs the user's confirmation: {reason}"),
        Action::Cancelled => "cancelled".to_owned(),
        // A deny is feedback after a tool and a reason to continue at a stop; neither happens before a tool.
        Action::Proceed | Action::Feedback { .. } | Action::Continue { .. } => {
            // A hook may have rewritten the input.
            let input = verdict.effective_input().unwrap_or(&input);
            format!("called with {input}")
        }
    }
}

#[cfg(test)]
#[test]
fn runs() {
    main().unwrap();
}
