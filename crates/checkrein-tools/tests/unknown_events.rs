//! Payloads whose event is unknown are denied in every dialect, in all spellings.
#![allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]

use checkrein::Sources;
use checkrein::dialects::agents::native;
use checkrein_core::FailurePolicy;
use checkrein_dialects::ALL;
use checkrein_tools::agent_adapter::AgentAdapter;

/// Nested more deeply than the parser allows, behind text of a model that names an event without effect.
fn deep() -> Vec<u8> {
    let nested = format!("{}{}", "[".repeat(2000), "]".repeat(2000));
    format!(
        r#"{{"tool_input":{{"hook_event_name":"SessionStart","event":"SessionStart","agent_action_name":"post_run_command","d":{nested}}},"hook_event_name":"PreToolUse","tool_name":"Bash"}}"#
    )
    .into_bytes()
}

fn payloads() -> Vec<(&'static str, Vec<u8>)> {
    let utf16: Vec<u8> = r#"{"hook_event_name":"PreToolUse"}"#.encode_utf16().flat_map(u16::to_le_bytes).collect();
    vec![
        ("empty", Vec::new()),
        ("no JSON", b"rm -rf /".to_vec()),
        ("half", br#"{"hook_event_name":"PreToolUse","#.to_vec()),
        ("UTF-16", utf16),
        ("no event", br#"{"tool_name":"Bash"}"#.to_vec()),
        ("array", br#"[{"hook_event_name":"PreToolUse"}]"#.to_vec()),
        (
            "unknown event",
            br#"{"hook_event_name":"PreTolUse","hookEventName":"x","event":"x","event_type":"x","agent_action_name":"x","hookName":"x"}"#.to_vec(),
        ),
        ("deep", deep()),
    ]
}

fn adapter(dialect: &'static checkrein_dialects::Dialect, dir: &std::path::Path) -> AgentAdapter {
    let sources = Sources::of_files(&native::DIALECT, std::iter::empty::<&str>());
    AgentAdapter::new(dialect).sources(sources).dir(dir).state(dir)
}

#[test]
fn every_dialect_denies_events_that_are_unknown() {
    let dir = tempfile::tempdir().unwrap();
    for dialect in ALL {
        for (name, payload) in payloads() {
            let answer = adapter(dialect, dir.path()).answer(&payload).answer;
            let case = format!("{}: {name}", dialect.name);
            assert_eq!(answer.exit, 2, "{case}");
            assert!(!answer.stderr.is_empty(), "{case}");
            for spelling in [r#""permissionDecision":"deny""#, r#""decision":"block""#, r#""cancel":true"#] {
                assert!(answer.stdout.contains(spelling), "{case}: {}", answer.stdout);
            }
        }
    }
}

#[test]
fn fail_open_lets_unknown_events_pass_with_a_note() {
    let dir = tempfile::tempdir().unwrap();
    for dialect in ALL {
        let response = adapter(dialect, dir.path()).on_failure(FailurePolicy::Open).answer(b"no JSON");
        assert_eq!((response.answer.exit, response.answer.stdout.as_str()), (0, ""), "{}", dialect.name);
        assert_eq!(response.undelivered_notes.len(), 1, "{}", dialect.name);
    }
}
