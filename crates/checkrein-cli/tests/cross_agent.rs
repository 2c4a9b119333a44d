//! Hooks of one agent in front of another: they are given their own agent's words, and answer in them.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails may say so")]

mod common;

use checkrein::RawJson;
use common::Place;

const COPILOT_CREATE: &str =
    r#"{"sessionId":"s","cwd":"","toolName":"create","toolArgs":{"path":"/w/a.txt","file_text":"hello\n","n":1.50}}"#;

/// A hook of Claude Code that looks at the path of a file and changes it.
const CLAUDE_MOVES: &str = r#"{"hooks":{"PreToolUse":[{"matcher":"Write","hooks":[{"type":"command","command":"sed 's/.*\"file_path\":\"\\([^\"]*\\)\".*/{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"allow\",\"updatedInput\":{\"file_path\":\"\\/safe\\1\",\"content\":\"x\"}}}/'"}]}]}}"#;

#[test]
fn a_rewrite_goes_back_in_the_words_of_the_agent() {
    let place =
        Place::with(&[(".checkrein/hooks.yaml", "include: [claude]\n"), (".claude/settings.json", CLAUDE_MOVES)]);
    let ran = place.run_with(&["hook", "copilot", "--event", "preToolUse"], COPILOT_CREATE);
    let said = RawJson::parse(ran.stdout.trim()).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let told = RawJson::parse(r#"{"path":"/safe/w/a.txt","file_text":"x"}"#).unwrap();
    assert!(said.field("modifiedArgs").unwrap().semantically_eq(&told), "{said}");
}

/// The matcher of another agent's hook is for its own agent's names.
#[test]
fn hooks_fit_tools_of_others_by_their_own_names_for_them() {
    let settings = r#"{"hooks":{"BeforeTool":[{"matcher":"write_file|replace","hooks":[{"type":"command","command":"cat > seen.json; echo no >&2; exit 2"}]}]}}"#;
    let place = Place::with(&[(".checkrein/hooks.yaml", "include: [gemini]\n"), (".gemini/settings.json", settings)]);
    let ran = place.run_with(&["hook", "copilot", "--event", "preToolUse"], COPILOT_CREATE);
    assert!(ran.stdout.contains(r#""permissionDecision":"deny""#), "{ran:?}");
    let seen = RawJson::parse(std::fs::read_to_string(place.dir.path().join("seen.json")).unwrap()).unwrap();
    assert_eq!(seen.field("tool_name").unwrap().as_str(), r#""write_file""#);
    assert_eq!(seen.field("tool_input").unwrap().as_str(), r#"{"file_path":"/w/a.txt","content":"hello\n","n":1.50}"#);
    let claude = |tool: &str| {
        format!(r#"{{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"{tool}","tool_input":{{}}}}"#)
    };
    assert!(place.run_with(&["hook", "claude"], &claude("Edit")).stdout.contains("deny"));
    assert_eq!(place.run_with(&["hook", "claude"], &claude("Bash")).stdout, "");
}

/// Under its own agent a matcher fits what it did: Gemini has two tools that read.
#[test]
fn matchers_fit_no_more_under_their_own_agent() {
    let settings = r#"{"hooks":{"BeforeTool":[{"matcher":"read_many_files","hooks":[{"type":"command","command":"echo no >&2; exit 2"}]}]}}"#;
    let place = Place::with(&[
        (".checkrein/hooks.yaml", "include: [{dialect: gemini, path: ../g.json}]\n"),
        ("g.json", settings),
    ]);
    let read = |tool: &str| {
        format!(r#"{{"hook_event_name":"BeforeTool","session_id":"s","tool_name":"{tool}","tool_input":{{}}}}"#)
    };
    assert_eq!(place.run_with(&["hook", "gemini"], &read("read_file")).stdout, "");
    assert!(place.run_with(&["hook", "gemini"], &read("read_many_files")).stdout.contains("no"));
    let claude =
        r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Read","tool_input":{"file_path":"a"}}"#;
    assert!(place.run_with(&["hook", "claude"], claude).stdout.contains("deny"));
}

#[test]
fn conditions_see_files_wherever_an_agent_names_them() {
    let place = Place::with(&[(
        ".checkrein/hooks.yaml",
        "hooks: [{id: env, event: PreToolUse, input: {file_path: '\\.env$'}, command: 'echo no >&2; exit 2'}]\n",
    )]);
    let replaces = |one: &str, other: &str| {
        format!(
            r#"{{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"multi_replace_string_in_file","tool_input":{{"explanation":"e","replacements":[{{"filePath":"{one}","oldString":"a","newString":"b"}},{{"filePath":"{other}","oldString":"a","newString":"b"}}]}}}}"#
        )
    };
    assert!(place.run_with(&["hook", "vscode"], &replaces("/w/.env", "/w/b")).stdout.contains("deny"));
    assert!(place.run_with(&["hook", "vscode"], &replaces("/w/b", "/w/.env")).stdout.contains("deny"));
    assert_eq!(place.run_with(&["hook", "vscode"], &replaces("/w/b", "/w/c")).stdout, "");
}

const WINDSURF: &[(&str, &str)] = &[
    (
        "Bash",
        r#"{"agent_action_name":"pre_run_command","trajectory_id":"t","tool_info":{"command_line":"ls","cwd":""}}"#,
    ),
    ("Read", r#"{"agent_action_name":"pre_read_code","trajectory_id":"t","tool_info":{"file_path":"/w/a"}}"#),
    (
        "Write",
        r#"{"agent_action_name":"pre_write_code","trajectory_id":"t","tool_info":{"file_path":"/w/a","edits":[{"old_string":"a","new_string":"b"}]}}"#,
    ),
    (
        "mcp__github__search",
        r#"{"agent_action_name":"pre_mcp_tool_use","trajectory_id":"t","tool_info":{"mcp_server_name":"github","mcp_tool_name":"search","mcp_tool_arguments":{"q":1}}}"#,
    ),
];

/// An agent that has no event for all tools.
#[test]
fn hooks_for_all_tools_run_where_there_are_only_events_for_some() {
    for (tool, sent) in WINDSURF {
        let hook = |matcher: &str| {
            let text = format!(
                "hooks: [{{id: all, event: PreToolUse, matcher: '{matcher}', command: 'cat > seen.json; echo not today >&2; exit 2'}}]"
            );
            Place::with(&[(".checkrein/hooks.yaml", &text)])
        };
        let place = hook(tool);
        let ran = place.run_with(&["hook", "windsurf"], sent);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{tool}: {ran:?}");
        assert!(ran.stderr.contains("not today"), "{tool}: {ran:?}");
        let seen = std::fs::read_to_string(place.dir.path().join("seen.json")).unwrap();
        assert!(seen.contains(r#""hook_event_name":"PreToolUse""#), "{seen}");
        assert!(seen.contains(&format!("\"{tool}\"")), "{seen}");
        let ran = hook("WebFetch").run_with(&["hook", "windsurf"], sent);
        assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""), "{tool}");
    }
}

/// The strongest of both kinds counts, and a hook that is for both runs once.
#[test]
fn a_hook_for_both_kinds_runs_once() {
    let place = Place::with(&[(
        ".checkrein/hooks.yaml",
        "hooks:
  - {id: both, events: [PreToolUse, pre_shell], command: 'echo x >> both'}
  - {id: general, event: PreToolUse, command: 'echo x >> general'}
  - {id: narrow, event: pre_shell, command: 'echo x >> narrow; echo narrowly >&2; exit 2'}
",
    )]);
    let ran = place.run_with(&["hook", "windsurf"], WINDSURF[0].1);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("narrowly"), "{ran:?}");
    for file in ["both", "general", "narrow"] {
        assert_eq!(std::fs::read_to_string(place.dir.path().join(file)).unwrap(), "x\n", "{file}");
    }
    // Cursor has events for all tools and for some; each hook runs at its own.
    let shell = r#"{"hook_event_name":"beforeShellExecution","conversation_id":"c","command":"ls","cwd":""}"#;
    place.run_with(&["hook", "cursor"], shell);
    assert_eq!(std::fs::read_to_string(place.dir.path().join("general")).unwrap(), "x\n");
}

/// A script of Claude Code's in front of an agent that has no event for all tools.
#[test]
fn a_hook_of_claude_guards_what_windsurf_writes() {
    let settings = r#"{"hooks":{"PreToolUse":[{"matcher":"Edit|Write","hooks":[{"type":"command","command":"grep -q '\"file_path\":\"/w/a\"' && echo guarded >&2 && exit 2"}]}]}}"#;
    let place = Place::with(&[(".checkrein/hooks.yaml", "include: [claude]\n"), (".claude/settings.json", settings)]);
    let ran = place.run_with(&["hook", "windsurf"], WINDSURF[2].1);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("guarded"), "{ran:?}");
}
