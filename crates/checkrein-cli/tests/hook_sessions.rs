//! Facts that `checkrein hook` tracks about agents: hooks that the agent runs itself, the form of its payloads, and blocked
//! stops.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use common::Place;

const CLAUDE_DENIES: &str =
    r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"echo by claude >&2; exit 2"}]}]}}"#;
const BASH: &str =
    r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
const START: &str = r#"{"session_id":"s","hook_event_name":"SessionStart","source":"startup"}"#;

#[test]
fn hooks_of_the_agents_own_files_are_skipped() {
    let place = |include: &str| {
        Place::with(&[
            (".checkrein/hooks.yaml", &format!("include: [{include}]\n")),
            (".claude/settings.json", CLAUDE_DENIES),
            ("other.json", CLAUDE_DENIES),
        ])
    };
    let gemini = r#"{"session_id":"s","hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"ls"}}"#;
    for (include, under_claude) in [
        ("claude", false),
        ("{dialect: claude, path: ../.claude/settings.json}", false),
        // Claude Code does not read this file.
        ("{dialect: claude, path: ../other.json}", true),
        ("{dialect: claude, under_own_agent: true}", true),
    ] {
        let place = place(include);
        let ran = place.run_with(&["hook", "claude"], BASH);
        assert_eq!(ran.stdout.contains("by claude"), under_claude, "{include}: {ran:?}");
        assert!(place.run_with(&["hook", "gemini"], gemini).stdout.contains("by claude"), "{include}");
        // The note is sent once.
        let start = place.run_with(&["hook", "claude"], START);
        assert_eq!(start.stdout.contains("runs those hooks itself"), !under_claude, "{include}: {start:?}");
        assert!(!ran.stderr.contains("itself"), "{include}: {ran:?}");
    }
    // A link leads to the same file.
    let linked = place("{dialect: claude, path: ../link.json}");
    std::os::unix::fs::symlink(".claude/settings.json", linked.dir.path().join("link.json")).unwrap();
    assert_eq!(linked.run_with(&["hook", "claude"], BASH).stdout, "");
}

/// Copilot's payloads have two forms, depending on the spelling of events in its settings. Only one contains the event.
#[test]
fn both_payload_forms_of_copilot_are_parsed() {
    let place = Place::with(&[(
        ".checkrein/hooks.yaml",
        "hooks: [{id: h, event: PreToolUse, input: {file_path: a.txt}, command: 'echo no >&2; exit 2'}]",
    )]);
    let pascal = r#"{"hook_event_name":"PreToolUse","session_id":"s","timestamp":"2026-11-15T19:01:36.255Z","cwd":"","tool_name":"Write","tool_input":{"path":"a.txt","file_text":"x"}}"#;
    let ran = place.run_with(&["hook", "copilot"], pascal);
    assert!(ran.stdout.contains(r#""hookSpecificOutput""#) && ran.stdout.contains("deny"), "{ran:?}");
    let camel =
        r#"{"sessionId":"s","timestamp":1,"cwd":"","toolName":"create","toolArgs":{"path":"a.txt","file_text":"x"}}"#;
    let ran = place.run_with(&["hook", "copilot", "--event", "preToolUse"], camel);
    assert!(!ran.stdout.contains("hookSpecificOutput") && ran.stdout.contains("deny"), "{ran:?}");
}

/// Letta's payloads have no session id.
#[test]
fn blocked_stops_are_counted_without_a_session() {
    let place =
        Place::with(&[(".checkrein/hooks.yaml", "hooks: [{id: h, event: Stop, command: 'echo more >&2; exit 2'}]")]);
    let dir = place.dir.path().to_string_lossy().into_owned();
    let stop = format!(r#"{{"event_type":"Stop","working_directory":"{dir}","stop_reason":"end_turn"}}"#);
    let refused = || place.run_with(&["hook", "letta"], &stop).code == 2;
    let before = (0..20).take_while(|_| refused()).count();
    assert_eq!(before, 8, "the default limit");
    assert!(refused(), "the count starts again");
    // A prompt other than the reason of a blocked stop also resets the count.
    let prompt =
        format!(r#"{{"event_type":"UserPromptSubmit","working_directory":"{dir}","prompt":"p","agent_id":"a"}}"#);
    for _ in 0..2 {
        place.run_with(&["hook", "letta"], &prompt);
    }
    assert_eq!((0..20).take_while(|_| refused()).count(), 8);
    // Another directory has its own count.
    let other = stop.replace(&dir, "/");
    assert_eq!(place.run_with(&["hook", "letta"], &other).code, 2);
}

/// Messages that the agent shows are not repeated on standard error.
#[test]
fn problems_are_reported_once() {
    let place =
        Place::with(&[(".checkrein/hooks.yaml", "hooks: [{id: h, event: SessionStart, matcher: '(', command: 'x'}]")]);
    let start = place.run_with(&["hook", "claude"], START);
    assert_eq!(start.stdout.matches("bad-matcher").count(), 1, "{start:?}");
    assert_eq!(start.stderr, "");
    let goose = r#"{"event":"SessionStart","session_id":"s","matcher_context":null}"#;
    let start = place.run_with(&["hook", "goose"], goose);
    assert_eq!((start.stdout.as_str(), start.stderr.matches("bad-matcher").count()), ("", 1), "{start:?}");
}
