//! `checkrein convert`, and commands about the files of one agent.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use common::Place;

const GUARD: &str = r#"{"hooks": {"PreToolUse": [
  {"matcher": "Bash", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}
]}}"#;

#[test]
fn converted_guard_passes_check_and_denies() {
    let place = Place::with(&[(".claude/settings.json", GUARD)]);
    for (agent, event, tool) in [
        ("gemini", "BeforeTool", "run_shell_command"),
        ("codex", "PreToolUse", "Bash"),
        ("cursor", "preToolUse", "Shell"),
        ("copilot", "preToolUse", "bash"),
        ("native", "PreToolUse", "Bash"),
    ] {
        let file = format!("{agent}.json");
        let ran = place.run(&["convert", "--from", "claude", "--to", agent, "--output", &file]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{agent}");
        let ran = place.run(&["check", "--strict", "--as", agent, &file]);
        assert_eq!(ran.code, 0, "{agent}: {}{}", ran.stdout, ran.stderr);
        let ran = place.run(&["run", event, "--as", agent, "--config", &file, "--tool", tool]);
        assert_eq!(ran.code, 2, "{agent}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn lost_hook_is_an_error() {
    let logs = r#"{"matcher": "NotebookEdit", "hooks": [{"type": "command", "command": "true"}]}"#;
    let settings = |event: &str| format!(r#"{{"hooks": {{"{event}": [{logs}]}}}}"#);
    let to_gemini = ["convert", "--from", "claude", "--to", "gemini", "--output", "out.json"];
    // A hook that cannot block: the others are written.
    let place = Place::with(&[(".claude/settings.json", &settings("PostToolUse"))]);
    let ran = place.run(&to_gemini);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(
        ran.stderr.contains("is dropped: checkrein knows no tool of Gemini CLI for `NotebookEdit`"),
        "{}",
        ran.stderr
    );
    assert!(place.dir.path().join("out.json").exists());
    // A blocking hook: nothing is written.
    let place = Place::with(&[(".claude/settings.json", &settings("PreToolUse"))]);
    let ran = place.run(&to_gemini);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("nothing written: 1 blocking hook would no longer block"), "{}", ran.stderr);
    assert!(!place.dir.path().join("out.json").exists());
    let ran = place.run(&[&to_gemini[..], &["--force"]].concat());
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(place.dir.path().join("out.json").exists());
}

#[test]
fn lost_dry_run_is_no_lost_gate() {
    let hooks = "hooks: [{id: tried, event: PreToolUse, matcher: Bash, command: 'exit 2', dry_run: true}]\n";
    let place = Place::with(&[("hooks.yaml", hooks)]);
    let (code, json) = place.run_json(&["convert", "--from", "native", "--to", "claude", "hooks.yaml", "--json"]);
    assert_eq!((code, &json["gates_lost"]), (1, &serde_json::json!(0)), "{json:#}");
    let ran = place.run(&["convert", "--from", "native", "--to", "claude", "hooks.yaml"]);
    assert!(ran.stderr.contains("is dropped: it is a dry run") && !ran.stderr.contains("no longer block"), "{ran:?}");
}

#[test]
fn output_has_the_format_of_its_extension() {
    let hooks = "hooks: [{id: no, event: PreToolUse, matcher: Bash, command: 'exit 2'}]\n";
    let place = Place::with(&[(".claude/settings.json", GUARD), ("hooks.yaml", hooks)]);
    let to_toml = ["convert", "--from", "claude", "--to", "native", "--output", "out.toml"];
    for force in [&[][..], &["--force"]] {
        let ran = place.run(&[&to_toml[..], force].concat());
        assert_eq!(ran.code, 64, "{ran:?}");
        assert!(ran.stderr.contains("are written as JSON; use a file name with `.json` or `.yaml`"), "{ran:?}");
        assert!(!place.dir.path().join("out.toml").exists());
    }
    let ran = place.run(&["convert", "--from", "native", "--to", "ub", "hooks.yaml", "--output", "ub.json"]);
    assert!(ran.code == 64 && ran.stderr.contains("are written as YAML; use a file name with `.yaml`"), "{ran:?}");
}

#[test]
fn installed_entries_are_not_converted() {
    let place = Place::with(&[]);
    place.run(&["install", "claude", "--project", "--yes"]);
    let ran = place.run(&["convert", "--from", "claude", "--to", "native"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("that `checkrein install` added"), "{}", ran.stderr);
    assert!(ran.stderr.contains("no Claude Code hooks to convert"), "{}", ran.stderr);
    // Nor are they hooks that a user might look for.
    let ran = place.run(&["list"]);
    assert!(!ran.stderr.contains("--as claude"), "{}", ran.stderr);
}

/// An agent compares the matchers in its own files with its own names of tools only.
#[test]
fn own_file_is_judged_by_the_agents_own_names() {
    for (agent, event, file, dead, tool) in [
        ("gemini", "BeforeTool", ".gemini/settings.json", "Bash", "run_shell_command"),
        ("cursor", "preToolUse", ".cursor/hooks.json", "bash", "Shell"),
        ("copilot", "preToolUse", ".github/hooks/a.json", "Bash", "bash"),
    ] {
        let text = |matcher: &str| match agent {
            "gemini" => format!(
                r#"{{"hooks": {{"{event}": [{{"matcher": "{matcher}", "hooks": [{{"type": "command", "command": "echo no >&2; exit 2"}}]}}]}}}}"#
            ),
            _ => format!(
                r#"{{"version": 1, "hooks": {{"{event}": [{{"matcher": "{matcher}", "type": "command", "command": "echo no >&2; exit 2"}}]}}}}"#
            ),
        };
        let place = Place::with(&[(file, &text(dead))]);
        let ran = place.run(&["check", "--as", agent]);
        let hint = format!("matcher `{dead}` matches no tool of ");
        assert!(ran.stdout.contains(&hint), "{agent}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(&format!("did you mean `{tool}`?")), "{agent}: {}", ran.stdout);
        let ran = place.run(&["explain", event, "--as", agent, "--tool", tool]);
        assert!(ran.stdout.contains(&format!("matcher `{dead}` does not match `{tool}`")), "{agent}: {}", ran.stdout);
        let run = ["run", event, "--as", agent, "--tool", tool];
        assert_eq!(place.run(&run).code, 0, "{agent}");
        let place = Place::with(&[(file, &text(tool))]);
        assert_eq!(place.run(&run).code, 2, "{agent}");
        assert_eq!(place.run(&["check", "--strict", "--as", agent]).code, 0, "{agent}");
    }
    // One dead name in a list is reported too.
    let text = r#"{"hooks": {"BeforeTool": [{"matcher": "Bash|read_file", "hooks": [{"type": "command", "command": "true"}]}]}}"#;
    let ran = Place::with(&[(".gemini/settings.json", text)]).run(&["check", "--as", "gemini"]);
    assert!(ran.stdout.contains("`Bash` in matcher `Bash|read_file` is not a tool of Gemini CLI"), "{}", ran.stdout);
}

/// Codex itself compares matchers with the common names too.
#[test]
fn aliases_of_an_agent_are_its_own_names() {
    let text = r#"{"hooks": {"PreToolUse": [{"matcher": "Write", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]}}"#;
    let place = Place::with(&[(".codex/hooks.json", text)]);
    assert_eq!(place.run(&["check", "--strict", "--as", "codex"]).code, 0);
    assert_eq!(place.run(&["run", "PreToolUse", "--as", "codex", "--tool", "apply_patch"]).code, 2);
}

const PERMISSIONS: &str = r#"{"permissions": {
  "deny": ["Bash(git push:*)", "Read(./.env)"],
  "ask": ["Edit(src/**)"],
  "allow": ["Bash(npm test)"],
  "defaultMode": "plan"
}}"#;

#[test]
fn permission_rules_become_rules_with_tests() {
    let place = Place::with(&[(".claude/settings.json", PERMISSIONS)]);
    let to_native = ["convert", "--from", "claude", "--to", "native", "--permissions", "--output", "rules.yaml"];
    let ran = place.run(&to_native);
    let note = "checkrein: `permissions.defaultMode` has no counterpart and is left out\n";
    assert_eq!((ran.code, ran.stderr.as_str()), (0, note));
    let ran = place.run(&["check", "--strict", "rules.yaml"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let ran = place.run(&["test", "--config", "rules.yaml"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    let decide = |line: &str| {
        place.run(&["run", "PreToolUse", "--config", "rules.yaml", "--tool", "Bash", "--command", line]).code
    };
    let codes = ["git push", "cat .env", "touch src/a.rs", "npm test", "git status"].map(decide);
    assert_eq!(codes, [2, 2, 3, 0, 0]);
}

#[test]
fn lost_permission_rule_is_an_error_with_its_place() {
    let settings = "{\"permissions\": {\n  \"deny\": [\n    \"Bash(a && b)\"\n  ],\n  \"allow\": [\"Bash(ls)\"]\n}}";
    let place = Place::with(&[(".claude/settings.json", settings)]);
    let to_native = ["convert", "--from", "claude", "--to", "native", "--permissions"];
    let ran = place.run(&to_native);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("settings.json:3: `Bash(a && b)` of `permissions.deny` is dropped: "),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("nothing written: 1 rule would no longer deny or ask"), "{}", ran.stderr);
    let ran = place.run(&[&to_native[..], &["--force"]].concat());
    assert!(ran.code == 1 && ran.stdout.contains("allow-bash-ls"), "{ran:?}");
    let (code, json) = place.run_json(&[&to_native[..], &["--json"]].concat());
    assert_eq!((code, &json["gates_lost"], &json["text"]), (1, &1.into(), &serde_json::Value::Null));
    // Other agents and files without permission rules.
    let ran = place.run(&["convert", "--from", "codex", "--to", "native", "--permissions"]);
    assert!(ran.code == 64 && ran.stderr.contains("--from claude --to native"), "{ran:?}");
    let ran = Place::with(&[(".claude/settings.json", GUARD)]).run(&to_native);
    assert!(ran.code == 1 && ran.stderr.contains("no permission rules to convert"), "{ran:?}");
}
