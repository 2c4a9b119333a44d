//! What `checkrein hook` knows of the agent that calls it: which hooks it runs itself, which form its payloads have, how often its
//! stop was refused.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails may say so")]

mod common;

use common::Place;

const CLAUDE_DENIES: &str =
    r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"echo by claude >&2; exit 2"}]}]}}"#;
const BASH: &str =
    r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
const START: &str = r#"{"session_id":"s","hook_event_name":"SessionStart","source":"startup"}"#;

#[test]
fn an_agent_runs_the_hooks_of_its_own_files_itself() {
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
        // Claude Code does not read it.
        ("{dialect: claude, path: ../other.json}", true),
        ("{dialect: claude, under_own_agent: true}", true),
    ] {
        let place = place(include);
        let ran = place.run_with(&["hook", "claude"], BASH);
        assert_eq!(ran.stdout.contains("by claude"), under_claude, "{include}: {ran:?}");
        assert!(place.run_with(&["hook", "gemini"], gemini).stdout.contains("by claude"), "{include}");
        // It is told once.
        let start = place.run_with(&["hook", "claude"], START);
        assert_eq!(start.stdout.contains("runs its hooks itself"), !under_claude, "{include}: {start:?}");
        assert!(!ran.stderr.contains("itself"), "{include}: {ran:?}");
    }
    // A link leads to the same file.
    let linked = place("{dialect: claude, path: ../link.json}");
    std::os::unix::fs::symlink(".claude/settings.json", linked.dir.path().join("link.json")).unwrap();
    assert_eq!(linked.run_with(&["hook", "claude"], BASH).stdout, "");
}

/// Copilot's payloads have two forms, by how the events in its settings are spelt. Only one names its event.
#[test]
fn both_forms_of_copilot_are_understood() {
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

/// Letta does not name its sessions.
#[test]
fn refused_stops_are_counted_without_a_session() {
    let place =
        Place::with(&[(".checkrein/hooks.yaml", "hooks: [{id: h, event: Stop, command: 'echo more >&2; exit 2'}]")]);
    let dir = place.dir.path().to_string_lossy().into_owned();
    let stop = format!(r#"{{"event_type":"Stop","working_directory":"{dir}","stop_reason":"end_turn"}}"#);
    let refused = || place.run_with(&["hook", "letta"], &stop).code == 2;
    let before = (0..20).take_while(|_| refused()).count();
    assert_eq!(before, 8, "the cap that checkrein has if nobody says otherwise");
    assert!(refused(), "and then it starts anew");
    // A prompt that is no reason of a refusal starts anew as well.
    let prompt =
        format!(r#"{{"event_type":"UserPromptSubmit","working_directory":"{dir}","prompt":"p","agent_id":"a"}}"#);
    for _ in 0..2 {
        place.run_with(&["hook", "letta"], &prompt);
    }
    assert_eq!((0..20).take_while(|_| refused()).count(), 8);
    // Elsewhere it counts for itself.
    let other = stop.replace(&dir, "/");
    assert_eq!(place.run_with(&["hook", "letta"], &other).code, 2);
}

/// Where the agent shows messages, they are not on standard error as well.
#[test]
fn what_is_wrong_is_told_once() {
    let place =
        Place::with(&[(".checkrein/hooks.yaml", "hooks: [{id: h, event: SessionStart, matcher: '(', command: 'x'}]")]);
    let start = place.run_with(&["hook", "claude"], START);
    assert_eq!(start.stdout.matches("bad-matcher").count(), 1, "{start:?}");
    assert_eq!(start.stderr, "");
    let goose = r#"{"event":"SessionStart","session_id":"s","matcher_context":null}"#;
    let start = place.run_with(&["hook", "goose"], goose);
    assert_eq!((start.stdout.as_str(), start.stderr.matches("bad-matcher").count()), ("", 1), "{start:?}");
}
