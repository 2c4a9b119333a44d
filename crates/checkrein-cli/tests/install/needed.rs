//! `checkrein install --needed`: entries only for events that hooks use, and reports of hooks without an entry.

use super::*;

const HOOKS: &str = "home/.config/checkrein/hooks.yaml";

/// Hooks of the user, one for each event, in YAML.
fn hooks(events: &[&str]) -> String {
    let hook = |event: &&str| format!("  - {{ id: at-{event}, event: {event}, command: 'true' }}\n");
    format!("hooks:\n{}", events.iter().map(hook).collect::<String>())
}

fn covered(place: &Place, agent: &str) -> Vec<String> {
    let (_, json) = place.run_json(&["status", agent, "--json", "--no-versions"]);
    let user = &json["agents"][0]["places"][0];
    assert_eq!(user["needed"], true, "{user:#}");
    user["covered"].as_array().unwrap().iter().map(|event| event.as_str().unwrap().to_owned()).collect()
}

#[test]
fn needed_events_are_those_of_hooks_the_session_start_and_the_tool_gate() {
    let rule = "hooks:\n  - { id: rule, when: 'history.count(\"Bash\") > 100', deny: too many }\n";
    for (agent, text, events) in [
        ("claude", String::new(), &["SessionStart", "PreToolUse"][..]),
        ("claude", hooks(&["PreToolUse"]), &["SessionStart", "PreToolUse"]),
        ("claude", hooks(&["PostToolUse"]), &["SessionStart", "PreToolUse", "PostToolUse"]),
        // A prompt resets the number of refused stops, and the history counts prompts.
        ("claude", hooks(&["Stop"]), &["SessionStart", "UserPromptSubmit", "PreToolUse", "Stop"]),
        ("claude", rule.to_owned(), &["SessionStart", "UserPromptSubmit", "PreToolUse"]),
        ("claude", "packs: [docker]\n".to_owned(), &["SessionStart", "PreToolUse"]),
        (
            "claude",
            "hooks: [{ id: a, event: Stop, command: 'true', enabled: false }]\n".to_owned(),
            &["SessionStart", "PreToolUse"],
        ),
        ("gemini", hooks(&["PostToolUse", "PreCompact"]), &["SessionStart", "PreCompress", "BeforeTool", "AfterTool"]),
        (
            "windsurf",
            hooks(&["PreToolUse"]),
            &["pre_read_code", "pre_write_code", "pre_run_command", "pre_mcp_tool_use"],
        ),
        ("cline", hooks(&["PostToolUse"]), &["TaskStart", "PreToolUse", "PostToolUse"]),
    ] {
        let place = Place::untrusted(&[(HOOKS, &text)]);
        place.fine(&["install", agent, "--needed"]);
        let mut found = covered(&place, agent);
        let mut wanted: Vec<_> = events.iter().map(|event| (*event).to_owned()).collect();
        found.sort();
        wanted.sort();
        assert_eq!(found, wanted, "{agent}: {text}");
        if agent != "cline" {
            place.fine(&["status", agent, "--no-versions"]);
        }
        place.fine(&["install", agent, "--needed"]);
    }
}

#[test]
fn status_lists_the_events_of_needed_entries() {
    let place = Place::untrusted(&[(HOOKS, &hooks(&["Stop"]))]);
    place.fine(&["install", "claude", "--needed"]);
    let shown = place.fine(&["status", "claude", "--no-versions"]).stdout;
    assert!(shown.contains("called at: SessionStart, UserPromptSubmit, Stop, PreToolUse"), "{shown}");
    assert!(shown.contains("installed with --needed"), "{shown}");
}

#[test]
fn needed_entries_are_removed_byte_for_byte() {
    let place = Place::untrusted(&[(HOOKS, &hooks(&["Stop"])), (CLAUDE, SETTINGS)]);
    place.fine(&["install", "claude", "--needed"]);
    assert!(place.read(CLAUDE).contains("checkrein hook claude --needed"));
    place.fine(&["uninstall", "claude"]);
    assert_eq!(place.read(CLAUDE), SETTINGS);
    // From one kind of installation to the other, and back.
    place.fine(&["install", "claude"]);
    let all = place.read(CLAUDE);
    place.fine(&["install", "claude", "--needed"]);
    place.fine(&["install", "claude"]);
    assert_eq!(place.read(CLAUDE), all);
    place.fine(&["install", "claude", "--needed"]);
    place.fine(&["uninstall", "claude"]);
    assert_eq!(place.read(CLAUDE), SETTINGS);
}

#[test]
fn programs_of_other_events_are_removed() {
    let place = Place::untrusted(&[(HOOKS, &hooks(&["PreToolUse"]))]);
    place.fine(&["install", "cline"]);
    let directory = "home/.cline/hooks";
    assert!(place.names(directory).len() > 1);
    place.write(&format!("{directory}/PostToolUse"), "#!/bin/sh\nexit 0\n");
    place.fine(&["install", "cline", "--needed"]);
    assert_eq!(place.names(directory), ["PostToolUse", "PreToolUse", "TaskStart"]);
}

#[test]
fn hook_without_an_entry_is_an_error_everywhere() {
    let place = Place::untrusted(&[(HOOKS, &hooks(&["PreToolUse"]))]);
    place.fine(&["install", "claude", "--needed"]);
    for command in ["check", "list", "doctor"] {
        place.fine(&[command]);
    }
    place.write(HOOKS, &hooks(&["PreToolUse", "PostToolUse"]));
    for command in ["check", "list", "doctor"] {
        let ran = place.run(&[command]);
        let all = ran.stdout + &ran.stderr;
        let text = "hook `at-PostToolUse`: does not run at `PostToolUse` of claude";
        assert!(ran.code == 1 && all.contains(text), "{command}: {all}");
        assert!(all.contains("run `checkrein install claude --needed`"), "{command}: {all}");
        assert!(!all.contains("`checkrein install claude`"), "{command}: {all}");
    }
    assert_eq!(place.run(&["status", "claude", "--no-versions"]).code, 1);
    // Named files are not those that are in force.
    place.fine(&["check", HOOKS]);
    let repaired = place.fine(&["doctor", "--fix"]).stdout;
    assert!(repaired.contains("fixed") && repaired.ends_with("protected: claude\n"), "{repaired}");
    for command in ["check", "list", "doctor"] {
        place.fine(&[command]);
    }
}

#[test]
fn session_start_reports_hooks_without_an_entry() {
    for (agent, channel) in [("claude", "systemMessage"), ("codex", "additionalContext")] {
        let place = Place::untrusted(&[(HOOKS, &hooks(&["PreToolUse"]))]);
        place.fine(&["install", agent, "--needed"]);
        let start = r#"{"hook_event_name":"SessionStart","session_id":"s","source":"startup","cwd":"/"}"#;
        let quiet = place.run_with(&["hook", agent, "--needed"], start);
        assert_eq!((quiet.code, quiet.stdout.as_str()), (0, ""), "{quiet:?}");
        place.write(HOOKS, &hooks(&["PreToolUse", "PostToolUse"]));
        let ran = place.run_with(&["hook", agent, "--needed"], start);
        let text = format!("does not run at `PostToolUse` of {agent}");
        assert!(ran.stdout.contains(channel) && ran.stdout.contains(&text), "{agent}: {ran:?}");
        assert!(ran.stdout.contains(&format!("checkrein install {agent}")), "{agent}: {ran:?}");
        // Entries for all events serve every hook.
        let ran = place.run_with(&["hook", agent], start);
        assert!(!ran.stdout.contains("does not run"), "{agent}: {ran:?}");
    }
}

#[test]
fn event_on_request_is_a_warning() {
    let place = Place::untrusted(&[(HOOKS, &hooks(&["PreCompact"]))]);
    place.fine(&["install", "gemini"]);
    let ran = place.fine(&["check"]);
    assert!(ran.stdout.contains("warning[no-entry]"), "{ran:?}");
    assert!(ran.stdout.contains("run `checkrein install gemini --all-events`"), "{ran:?}");
    place.fine(&["install", "gemini", "--all-events"]);
    assert!(!place.fine(&["check"]).stdout.contains("no-entry"));
}

#[test]
fn hooks_that_the_agent_runs_itself_need_no_entry() {
    let place = Place::untrusted(&[
        (HOOKS, "include: [claude]\n"),
        (CLAUDE, r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#),
    ]);
    place.fine(&["install", "claude", "codex", "--needed"]);
    assert_eq!(covered(&place, "claude"), ["SessionStart", "PreToolUse"]);
    assert_eq!(covered(&place, "codex"), ["PreToolUse", "SessionStart", "UserPromptSubmit", "Stop"]);
    assert!(!place.run(&["check"]).stdout.contains("no-entry"));
}

#[test]
fn agent_without_a_session_start_has_a_note() {
    let note = "the agent has no event at the start of a session";
    for (agent, has_note) in [("windsurf", true), ("claude", false)] {
        let place = Place::untrusted(&[(HOOKS, &hooks(&["PreToolUse"]))]);
        let ran = place.fine(&["install", agent, "--needed"]);
        assert_eq!(ran.stderr.contains(note), has_note, "{agent}: {ran:?}");
        assert!(ran.stderr.contains("run `checkrein install --needed` again"), "{agent}: {ran:?}");
    }
}
