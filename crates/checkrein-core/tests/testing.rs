//! Tests of the test helpers for embedders.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test reports its cause by panicking"
)]

use std::panic::catch_unwind;

use checkrein_core::payload::{Stop, ToolCall};
use checkrein_core::testing::{self, Recorder};
use checkrein_core::{Decision, Event, EventKind, Opinion, RawJson};

fn tool_call() -> Event {
    Event::pre_tool_use(ToolCall::new("Bash", RawJson::default()))
}

#[test]
fn a_recorder_keeps_every_fire_with_its_event_and_verdict() {
    let recorder = Recorder::new();
    let runner = recorder.runner();
    runner.on(EventKind::PreToolUse, "guard", testing::deny("no"));
    runner.fire(&tool_call());
    runner.fire(&Event::stop(Stop::new()));
    recorder.assert_sequence(&[EventKind::PreToolUse, EventKind::Stop]);
    recorder.assert_count(EventKind::Stop, 1);
    recorder.assert_decision(EventKind::PreToolUse, Decision::Deny);
    let fired = recorder.fired();
    assert_eq!(fired[0].event, tool_call());
    assert_eq!(fired[0].verdict.reason(), Some("no"));
}

#[test]
fn failed_assertions_list_the_fired_events() {
    let recorder = Recorder::new();
    let runner = recorder.runner();
    runner.on(EventKind::PreToolUse, "guard", testing::deny("no"));
    runner.fire(&tool_call());
    runner.fire(&Event::stop(Stop::new()));
    type Check = (fn(&Recorder), &'static str);
    let checks: [Check; 6] = [
        (|r| r.assert_fired(EventKind::Error), "no error event was fired"),
        (|r| r.assert_not_fired(EventKind::Stop), "a stop event was fired"),
        (|r| r.assert_count(EventKind::Stop, 2), "1 stop events were fired, not 2"),
        (|r| r.assert_sequence(&[EventKind::Stop]), "the events were not stop"),
        (|r| r.assert_decision(EventKind::Error, Decision::Deny), "no error event was fired"),
        (
            |r| r.assert_decision(EventKind::PreToolUse, Decision::Allow),
            "the decision of the last pre_tool_use event was deny, not allow",
        ),
    ];
    for (check, expected) in checks {
        let recorder = recorder.clone();
        let panic = catch_unwind(move || check(&recorder)).unwrap_err();
        let message = panic.downcast_ref::<String>().unwrap();
        assert_eq!(
            *message,
            format!("{expected}\nfired events:\n  1. pre_tool_use Bash: deny (no)\n  2. stop: no_opinion\n")
        );
    }
    assert_eq!(Recorder::new().transcript(), "  none\n");
}

#[test]
fn any_text_is_safe_in_a_fixed_answer() {
    for text in ["it's \"quoted\" $(rm -rf /) `x` \\ \n\0 é \u{202e}", ""] {
        let runner = testing::fixed_runner(EventKind::PreToolUse, Opinion::ask(text));
        let verdict = runner.fire(&tool_call());
        assert_eq!(verdict.decision(), Decision::Ask);
        assert_eq!(verdict.reasons()[0].text, text);
    }
    for opinion in [Opinion::none(), Opinion::allow(), Opinion::deny("r"), Opinion::ask("r")] {
        let expected = opinion.decision();
        let runner = testing::fixed_runner(EventKind::PreToolUse, opinion);
        assert_eq!(runner.fire(&tool_call()).decision(), expected);
        assert_eq!(runner.fire(&tool_call()).decision(), expected, "each time");
    }
}

#[test]
fn fuzz_targets_do_not_panic_in_a_short_run() {
    let seeds: &[&[u8]] = &[
        br#"{"event":"pre_tool_use","tool_name":"Bash","tool_input":{"a":[1,2.50,"\u00e9"]},"turn":3,"x":null}"#,
        br#"{"event":"post_plugin_install","plugin":{"name":"n","more":1}}"#,
        br#"{"event":"stop","stop_hook_active":true}"#,
        b"mcp__.*|a(b|c)[d-f]{2,3}\nmcp__x",
        b"{a,b}/**/*.rs\nsrc/x.rs",
    ];
    // A deterministic generator: the same bytes in every run, on every machine.
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as usize
    };
    for round in 0..1_500 {
        let mut bytes = seeds[round % seeds.len()].to_vec();
        for _ in 0..random() % 8 {
            let index = random() % (bytes.len() + 1);
            match random() % 4 {
                0 => bytes.insert(index, random() as u8),
                1 if index < bytes.len() => drop(bytes.remove(index)),
                2 if index < bytes.len() => bytes[index] = b"{}[]\",:\\0-e*|()?"[random() % 16],
                _ => bytes.truncate(index),
            }
        }
        testing::exercise_event(&bytes);
        testing::exercise_matcher(&bytes);
    }
}
