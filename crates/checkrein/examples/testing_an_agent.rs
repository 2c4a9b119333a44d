//! Tests of an agent: it fires its events and follows the decisions of its hooks.
//!
//! `cargo test -p checkrein --example testing_an_agent`
#![allow(clippy::print_stdout, reason = "an example prints")]

use checkrein::payload::{Stop, ToolCall, ToolOutcome};
use checkrein::{Action, Event, EventKind, RawJson, Runner};

/// An agent that uses one tool and stops. The hooks are a field, so a test can pass its own.
struct Agent {
    hooks: Runner,
    /// Messages for the model.
    conversation: Vec<String>,
}

impl Agent {
    fn turn(&mut self, command: &str) {
        let input = || RawJson::string(command);
        let verdict = self.hooks.fire(&Event::pre_tool_use(ToolCall::new("Bash", input())));
        match verdict.action() {
            Action::Refuse { reason } | Action::EndLoop { reason } => self.conversation.push(reason.to_owned()),
            _ => {
                self.conversation.push(format!("output of {command}"));
                self.hooks.fire(&Event::post_tool_use(ToolOutcome::new("Bash", input())));
            }
        }
        let verdict = self.hooks.fire(&Event::stop(Stop::new()));
        if let Action::Continue { reason } = verdict.action() {
            self.conversation.push(reason.to_owned());
        }
    }
}

fn main() {
    let hooks = Runner::new();
    let mut agent = Agent { hooks: hooks.clone(), conversation: Vec::new() };
    hooks.on(EventKind::Stop, "tests", |_| checkrein::Opinion::deny("run the tests first"));
    agent.turn("ls");
    println!("{}", agent.conversation.join("\n"));
}

#[cfg(test)]
mod tests {
    use checkrein::testing::{self, Recorder};
    use checkrein::{Decision, EventKind};

    use super::*;

    #[test]
    fn fires_every_event_in_order() {
        let recorder = Recorder::new();
        Agent { hooks: recorder.runner(), conversation: Vec::new() }.turn("ls");
        recorder.assert_sequence(&[EventKind::PreToolUse, EventKind::PostToolUse, EventKind::Stop]);
    }

    #[test]
    fn denied_tool_does_not_run() {
        let recorder = Recorder::new();
        let mut agent = Agent { hooks: recorder.runner(), conversation: Vec::new() };
        agent.hooks.on(EventKind::PreToolUse, "guard", testing::deny("not today"));
        agent.turn("ls");
        assert_eq!(agent.conversation, ["not today"]);
        recorder.assert_not_fired(EventKind::PostToolUse);
        recorder.assert_decision(EventKind::PreToolUse, Decision::Deny);
    }

    #[test]
    fn failed_guard_stops_the_tool() {
        let mut agent = Agent { hooks: Recorder::new().runner(), conversation: Vec::new() };
        agent.hooks.on(EventKind::PreToolUse, "guard", testing::fail("the list cannot be read"));
        agent.turn("ls");
        assert!(agent.conversation[0].contains("the list cannot be read"), "{:?}", agent.conversation);
    }

    #[test]
    fn runs() {
        main();
    }
}
