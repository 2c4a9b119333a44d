//! An agent that answers the questions of hooks itself: with an approval, a changed input, or a denial.
//!
//! `cargo run -p checkrein --example approver`
#![allow(clippy::print_stdout, reason = "an example prints")]

use std::time::Duration;

use checkrein::approver::{Approver, ApproverFuture, Question, Resolution};
use checkrein::payload::ToolCall;
use checkrein::{Action, Engine, Event, EventKind, Opinion, RawJson};

/// Stands for a dialog, a chat message or a queue of the host.
struct Desk;

impl Approver for Desk {
    fn resolve<'a>(&'a self, question: &'a Question) -> ApproverFuture<'a> {
        Box::pin(async move {
            let input = question.input.as_ref().map(ToString::to_string).unwrap_or_default();
            for reason in &question.reasons {
                println!("{} asks: {} {input}", reason.hook.id, reason.text);
            }
            if input.contains("--force") {
                return Ok(Resolution::Deny("never force".to_owned()));
            }
            // The hooks judge the changed input before it is used.
            if input.contains("origin main") {
                return Ok(Resolution::ApproveWith(input.replace("origin main", "origin review").parse::<RawJson>()?));
            }
            Ok(Resolution::Approve)
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::builder()
        .on(EventKind::PreToolUse, "ask-push", |fire| {
            match fire.event.tool_input().is_some_and(|input| input.as_str().contains("git push")) {
                true => Opinion::ask("pushes to a remote"),
                false => Opinion::none(),
            }
        })
        .approver(Desk)
        .approver_timeout(Duration::from_secs(60))
        .build();

    for (command, expected) in [
        ("ls", "runs: ls"),
        ("git push origin dev", "runs: git push origin dev"),
        ("git push origin main", "runs: git push origin review"),
        ("git push --force", "refused: never force"),
    ] {
        let input = format!(r#"{{"command":"{command}"}}"#).parse::<RawJson>()?;
        let verdict = engine.fire(Event::pre_tool_use(ToolCall::new("Bash", input))).await;
        let answer = match verdict.action() {
            Action::Proceed => {
                let changed = verdict.effective_input().and_then(|input| input.field("command"));
                let changed = changed.and_then(|text| text.as_text().map(std::borrow::Cow::into_owned));
                format!("runs: {}", changed.unwrap_or_else(|| command.to_owned()))
            }
            Action::Refuse { reason } => format!("refused: {reason}"),
            other => format!("{other:?}"),
        };
        println!("{answer}");
        assert_eq!(answer, expected);
    }
    Ok(())
}

#[cfg(test)]
#[test]
fn runs() {
    main().unwrap();
}
