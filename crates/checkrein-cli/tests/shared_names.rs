//! `checkrein hook`: one name for a tool under every agent, and what agents send besides.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use common::{Place, Ran};

const USER: &str = "home/.config/checkrein/hooks.yaml";

fn is_denied(ran: &Ran) -> bool {
    ran.code == 2 || ran.stdout.contains("\"deny\"") || ran.stdout.contains("\"block\"")
}

/// Calls of the tool `touch_it` of the MCP server `fake`.
const MCP_CALLS: &[(&str, &str)] = &[
    ("claude", r#"{"hook_event_name":"PreToolUse","tool_name":"mcp__fake__touch_it","tool_input":{}}"#),
    ("codex", r#"{"hook_event_name":"PreToolUse","tool_name":"mcp__fake__touch_it","tool_input":{},"cwd":"/"}"#),
    ("qwen", r#"{"hook_event_name":"PreToolUse","tool_name":"mcp__fake__touch_it","tool_input":{}}"#),
    (
        "gemini",
        r#"{"hook_event_name":"BeforeTool","tool_name":"mcp_fake_touch_it","tool_input":{},"mcp_context":{"server_name":"fake","tool_name":"touch_it"}}"#,
    ),
    ("gemini", r#"{"hook_event_name":"BeforeTool","tool_name":"mcp_fake_touch_it","tool_input":{}}"#),
    ("copilot", r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"fake-touch_it","tool_input":{}}"#),
    ("goose", r#"{"event":"PreToolUse","session_id":"s","tool_name":"fake__touch_it","tool_input":{}}"#),
    ("crush", r#"{"event":"PreToolUse","session_id":"s","tool_name":"mcp_fake_touch_it","tool_input":{}}"#),
    ("opencode", r#"{"hook_event_name":"tool.execute.before","tool_name":"fake_touch_it","tool_input":{}}"#),
];

#[test]
fn guards_for_mcp_tools_match_under_every_agent() {
    let native = |matcher: &str| {
        let hook =
            format!("hooks:\n  - {{id: g, event: PreToolUse, matcher: '{matcher}', command: 'echo no >&2; exit 2'}}\n");
        Place::with(&[(USER, &hook)])
    };
    let included = |matcher: &str| {
        // The guard reads the tool's name itself, as scripts of Claude Code do.
        let command = "grep -q '\\\"tool_name\\\":\\\"mcp__fake__touch_it\\\"' && { echo no >&2; exit 2; }; exit 0";
        let settings = format!(
            r#"{{"hooks": {{"PreToolUse": [{{"matcher": "{matcher}", "hooks": [{{"type": "command", "command": "{command}"}}]}}]}}}}"#
        );
        Place::with(&[(USER, "include: [claude]\n"), ("home/.claude/settings.json", &settings)])
    };
    for matcher in ["mcp__fake__touch_it", "mcp__.*", "mcp__fake__.*"] {
        let (native, included) = (native(matcher), included(matcher));
        for (agent, payload) in MCP_CALLS {
            let ran = native.run_with(&["hook", agent], payload);
            assert!(is_denied(&ran), "{matcher} {agent}: {ran:?}");
            // Claude Code runs the hooks of its own file itself.
            if *agent != "claude" {
                let ran = included.run_with(&["hook", agent], payload);
                assert!(is_denied(&ran), "included {matcher} {agent}: {ran:?}");
            }
        }
    }
    let other = native("mcp__other__.*");
    for (agent, payload) in MCP_CALLS {
        let ran = other.run_with(&["hook", agent], payload);
        assert!(!is_denied(&ran), "{agent}: {ran:?}");
    }
}

#[test]
fn ambiguous_mcp_names_match_every_split() {
    let payload =
        r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"my-files-read-all","tool_input":{}}"#;
    for (matcher, denied) in [
        ("mcp__my__files-read-all", true),
        ("mcp__my-files__read-all", true),
        ("mcp__my-files-read__all", true),
        ("mcp__files__read", false),
    ] {
        let hook = format!(
            "hooks:\n  - id: g\n    event: PreToolUse\n    matcher: {matcher}\n    command: |\n      cat > seen.json; exit 2\n"
        );
        let place = Place::with(&[(USER, &hook)]);
        let ran = place.run_with(&["hook", "copilot"], payload);
        assert_eq!(is_denied(&ran), denied, "{matcher}: {ran:?}");
        if denied {
            // The hook gets the name that its matcher accepts.
            let seen = std::fs::read_to_string(place.dir.path().join("seen.json")).unwrap();
            assert!(seen.contains(&format!(r#""common_tool_name":"{matcher}""#)), "{seen}");
        }
    }
}

#[test]
fn ordinary_tools_are_no_mcp_tools() {
    let place =
        Place::with(&[(USER, "hooks:\n  - {id: g, event: PreToolUse, matcher: 'mcp__.*', command: 'exit 2'}\n")]);
    for (agent, payload) in [
        ("goose", r#"{"event":"PreToolUse","session_id":"s","tool_name":"developer__shell","tool_input":{}}"#),
        ("goose", r#"{"event":"PreToolUse","session_id":"s","tool_name":"shell","tool_input":{}}"#),
        ("opencode", r#"{"hook_event_name":"tool.execute.before","tool_name":"apply_patch","tool_input":{}}"#),
        ("gemini", r#"{"hook_event_name":"BeforeTool","tool_name":"read_file","tool_input":{}}"#),
        ("copilot", r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#),
        ("claude", r#"{"hook_event_name":"PreToolUse","tool_name":"my-tool__x","tool_input":{}}"#),
    ] {
        let ran = place.run_with(&["hook", agent], payload);
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{agent} {payload}");
    }
}

#[test]
fn tools_of_opencode_have_shared_names() {
    for (tool, input, matcher, field) in [
        ("bash", r#"{"command":"ls"}"#, "Bash", "command: ls"),
        ("write", r#"{"filePath":"/a/b","content":"x"}"#, "Write", "file_path: /a/b"),
        ("read", r#"{"filePath":"/a/b"}"#, "Read", "file_path: /a/b"),
        ("edit", r#"{"filePath":"/a","oldString":"o","newString":"n"}"#, "Edit", "new_string: n"),
        ("glob", r#"{"pattern":"x"}"#, "Glob", "pattern: x"),
        ("grep", r#"{"pattern":"x"}"#, "Grep", "pattern: x"),
        ("webfetch", r#"{"url":"u"}"#, "WebFetch", "url: u"),
        ("task", r#"{"prompt":"p"}"#, "Agent", "prompt: p"),
        ("task", r#"{"prompt":"p"}"#, "Task", "prompt: p"),
        ("todowrite", r#"{"todos":"t"}"#, "TodoWrite", "todos: t"),
        ("patch", r#"{"patchText":"*** Begin Patch\n*** Add File: /n\n+x\n"}"#, "Write", "file_path: /n"),
    ] {
        let hook = format!(
            "hooks:\n  - {{id: g, event: PreToolUse, matcher: {matcher}, input: {{{field}}}, command: 'echo no >&2; exit 2'}}\n"
        );
        let place = Place::with(&[(USER, &hook)]);
        let payload =
            format!(r#"{{"hook_event_name":"tool.execute.before","tool_name":"{tool}","tool_input":{input}}}"#);
        let ran = place.run_with(&["hook", "opencode"], &payload);
        assert_eq!((ran.code, ran.stderr.trim()), (2, "no"), "{tool} {matcher}");
    }
}

#[test]
fn opencode_is_found_and_gets_a_plugin() {
    let place = Place::with(&[("bin/opencode", "#!/bin/sh\nexit 1\n")]);
    let path = format!("{}:{}", place.dir.path().join("bin").display(), common::SYSTEM_PATH);
    let ran = place.ran(place.command(&["status", "opencode"]).env("PATH", path).output().unwrap());
    assert!(ran.stdout.contains("bin/opencode"), "{ran:?}");
    let ran = place.run(&["install", "opencode", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.contains("~/.config/opencode/plugin/checkrein.js"), "{said}");
}

fn patch(text: &str) -> String {
    format!(
        r#"{{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/usr","tool_name":"apply_patch","tool_input":{{"command":"*** Begin Patch\n{text}*** End Patch\n"}}}}"#
    )
}

/// Payloads of a Claude Code guard and of a native guard for a patch of Codex.
fn seen_by_guards(matcher: &str, payload: &str) -> (serde_json::Value, serde_json::Value) {
    let settings = format!(
        r#"{{"hooks": {{"PreToolUse": [{{"matcher": "{matcher}", "hooks": [{{"type": "command", "command": "cat > \"$HOME/claude.json\""}}]}}]}}}}"#
    );
    let own = format!(
        "include: [claude]\nhooks:\n  - {{id: g, event: PreToolUse, matcher: '{matcher}', command: 'cat > \"$HOME/native.json\"'}}\n"
    );
    let place = Place::with(&[(USER, &own), ("home/.claude/settings.json", &settings)]);
    let ran = place.run_with(&["hook", "codex"], payload);
    assert_eq!(ran.code, 0, "{ran:?}");
    let read = |name: &str| {
        let text =
            std::fs::read_to_string(place.home.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        serde_json::from_str(&text).unwrap()
    };
    (read("claude.json"), read("native.json"))
}

#[test]
fn new_file_of_a_patch_is_a_write_with_an_absolute_path() {
    let add = "*** Add File: src/new.rs\\n+hello\\n";
    let update = "*** Update File: src/old.rs\\n@@\\n-a\\n+b\\n";
    let both = format!("{update}{add}");
    for (matcher, text, tool, paths) in [
        ("Write", add, "Write", "/usr/src/new.rs"),
        ("Edit|Write", add, "Write", "/usr/src/new.rs"),
        ("Edit", update, "Edit", "/usr/src/old.rs"),
        ("Edit|Write", update, "Edit", "/usr/src/old.rs"),
        ("Write", &both, "Write", "/usr/src/old.rs\n/usr/src/new.rs"),
        ("Edit", &both, "Edit", "/usr/src/old.rs\n/usr/src/new.rs"),
    ] {
        let (claude, native) = seen_by_guards(matcher, &patch(text));
        assert_eq!(claude["tool_name"], tool, "{matcher} {text}");
        assert_eq!(native["common_tool_name"], tool, "{matcher} {text}");
        assert_eq!(native["tool_name"], "apply_patch");
        for seen in [&claude, &native] {
            assert_eq!(seen["tool_input"]["file_path"], paths, "{matcher} {text}");
        }
    }
}

#[test]
fn repeated_prompts_of_qwen_are_no_prompts() {
    let hooks = "hooks:\n  - {id: p, event: UserPromptSubmit, command: 'echo ran >> \"$HOME/prompts\"; echo context'}\n  \
                 - {id: s, event: Stop, command: 'echo again >&2; exit 2'}\n";
    let place = Place::with(&[(USER, hooks)]);
    let real = r#"{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"hi","submitted_prompt":"hi"}"#;
    let stop = r#"{"session_id":"s","hook_event_name":"Stop","stop_hook_active":true,"last_assistant_message":"done"}"#;
    assert!(place.run_with(&["hook", "qwen"], real).stdout.contains("context"));
    let mut refused = 0;
    // Only the first stop of a turn follows no refusal.
    while is_denied(
        &place.run_with(&["hook", "qwen"], &stop.replace("true", if refused == 0 { "false" } else { "true" })),
    ) {
        refused += 1;
        assert!(refused < 20, "a repeated prompt must not reset the count of refused stops");
        for prompt in ["", "again"] {
            let again = format!(r#"{{"session_id":"s","hook_event_name":"UserPromptSubmit","prompt":"{prompt}"}}"#);
            let ran = place.run_with(&["hook", "qwen"], &again);
            assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
        }
    }
    assert_eq!(refused, 8);
    assert_eq!(std::fs::read_to_string(place.home.path().join("prompts")).unwrap(), "ran\n");
}

const DELEGATE: &str =
    r#"{"event":"PreToolUse","session_id":"s","tool_name":"delegate","tool_input":{"instructions":"do it"}}"#;

#[test]
fn unguarded_sub_agents_need_a_confirmation_if_tools_are_guarded() {
    let guard = "hooks:\n  - {id: g, event: PreToolUse, matcher: Bash, command: 'exit 2'}\n";
    let watcher = "hooks:\n  - {id: w, event: PostToolUse, command: 'true'}\n";
    let dry = "hooks:\n  - {id: g, event: PreToolUse, matcher: Bash, dry_run: true, command: 'exit 2'}\n";
    let allow = "unguarded_subagents: allow\n";
    let ask = "unguarded_subagents: ask\n";
    for (user, project, denied) in [
        (guard, None, true),
        (watcher, None, false),
        (dry, None, false),
        ("", Some(guard), true),
        (&*format!("{allow}{guard}"), None, false),
        (&*format!("{ask}{guard}"), None, true),
        // A project cannot open the way around the user's guards.
        (guard, Some(allow), true),
        ("unguarded_subagents: yes-please\n", Some(guard), true),
    ] {
        let place = Place::with(&[(USER, user)]);
        if let Some(project) = project {
            place.write(".checkrein/hooks.yaml", project);
        }
        for agent_payload in [("goose", DELEGATE), ("crush", &*DELEGATE.replace("delegate", "agent"))] {
            let (agent, payload) = agent_payload;
            let ran = place.run_with(&["hook", agent], payload);
            let said = format!("{}{}", ran.stdout, ran.stderr);
            assert_eq!(is_denied(&ran), denied, "{agent} {user} {project:?}: {said}");
            if denied {
                assert!(said.contains("unguarded_subagents: allow") && said.contains("sub-agents"), "{said}");
            }
        }
        // Agents whose sub-agents are guarded, and other tools.
        let task = r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Task","tool_input":{}}"#;
        assert_eq!(place.run_with(&["hook", "claude"], task).stdout, "");
        let write = r#"{"event":"PreToolUse","session_id":"s","tool_name":"write","tool_input":{"path":"x"}}"#;
        assert_eq!(place.run_with(&["hook", "goose"], write).code, 0);
    }
}

#[test]
fn delegate_of_goose_is_an_agent() {
    for matcher in ["Agent", "Task", "delegate"] {
        let hook = format!(
            "unguarded_subagents: allow\nhooks:\n  - {{id: g, event: PreToolUse, matcher: {matcher}, input: {{prompt: do it}}, command: 'echo none >&2; exit 2'}}\n"
        );
        let place = Place::with(&[(USER, &hook)]);
        let ran = place.run_with(&["hook", "goose"], DELEGATE);
        assert!(is_denied(&ran), "{matcher}: {ran:?}");
    }
    let status = Place::with(&[]).run(&["status", "goose"]);
    assert!(status.stdout.contains("their tools run without any hook"), "{}", status.stdout);
}
