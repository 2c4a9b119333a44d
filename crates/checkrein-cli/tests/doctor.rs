//! `checkrein doctor`: finds planted faults, repairs entries, and agrees with the commands that show details.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::os::unix::fs::PermissionsExt as _;

use common::Place;
use serde_json::Value;

const CLAUDE: &str = "home/.claude/settings.json";
const HOOKS: &str = "home/.config/checkrein/hooks.yaml";
const GUARD: &str = "hooks:\n  - { id: guard, event: PreToolUse, matcher: Bash, command: 'echo no >&2; exit 2' }\n";

/// A home with a hook of the user and an agent that calls checkrein.
fn protected() -> Place {
    let place = Place::untrusted(&[(HOOKS, GUARD), (CLAUDE, "{}\n")]);
    let ran = place.run(&["install", "claude"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    place
}

fn doctor(place: &Place, arguments: &[&str]) -> (i32, Value) {
    place.run_json(&[&["doctor", "--json"], arguments].concat())
}

/// The checks of a section with this name.
fn checks<'r>(report: &'r Value, section: &str, name: &str) -> Vec<&'r Value> {
    let sections = report["sections"].as_array().unwrap();
    let section = sections.iter().find(|found| found["title"] == section).unwrap_or_else(|| panic!("{report:#}"));
    section["checks"].as_array().unwrap().iter().filter(|check| check["check"] == name).collect()
}

/// Asserts that the doctor finds a problem with this text and a fix, and that nothing is protected.
#[track_caller]
fn finds(place: &Place, section: &str, name: &str, text: &str) {
    let (code, report) = doctor(place, &[]);
    assert_eq!((code, &report["fine"], &report["protected"]), (1, &false.into(), &serde_json::json!([])), "{report:#}");
    let found = checks(&report, section, name);
    let is_meant = |check: &&&Value| check["level"] == "problem" && check["text"].as_str().unwrap().contains(text);
    let check = found.iter().find(is_meant).unwrap_or_else(|| panic!("{section} {name} {text}: {report:#}"));
    assert!(check["fix"].as_str().is_some_and(|fix| !fix.is_empty()), "{check:#}");
    let shown = place.run(&["doctor"]);
    assert!(shown.code == 1 && shown.stdout.contains("not protected: claude ("), "{shown:?}");
}

fn edit(place: &Place, path: &str, change: impl FnOnce(&mut Value)) {
    let path = place.dir.path().join(path);
    let mut json: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    change(&mut json);
    std::fs::write(path, format!("{json:#}")).unwrap();
}

fn set_mode(place: &Place, path: &str, mode: u32) {
    std::fs::set_permissions(place.dir.path().join(path), std::fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn protected_setup_has_no_problem() {
    let place = protected();
    let ran = place.run(&["doctor"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(ran.stdout.lines().last(), Some("protected: claude"), "{ran:?}");
    let (code, report) = doctor(&place, &["--require", "claude"]);
    assert_eq!((code, report["problems"].as_u64()), (0, Some(0)), "{report:#}");
    assert_eq!(checks(&report, "claude", "self-test")[0]["level"], "ok");
    // The token of the self-test is removed.
    let tokens = place.home.path().join(".local/state/checkrein/self-test");
    assert_eq!(std::fs::read_dir(tokens).unwrap().count(), 0);
    let home = place.home.path().canonicalize().unwrap();
    let directories = &checks(&report, "checkrein", "directories")[0]["text"];
    assert!(directories.as_str().unwrap().contains(&format!("--home {}", home.display())), "{directories}");
}

#[test]
fn self_test_is_no_event_of_the_agent() {
    let place = protected();
    for _ in 0..2 {
        let (_, report) = doctor(&place, &[]);
        let last = checks(&report, "claude", "last-event")[0];
        assert_eq!(last["level"], "warning", "{last:#}");
        assert!(last["text"].as_str().unwrap().contains("no event has arrived"), "{last:#}");
    }
    let home = place.home.path().to_str().unwrap();
    let payload = r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"a"},"cwd":"/"}"#;
    place.run_with(&["hook", "claude", "--home", home], payload);
    let (_, report) = doctor(&place, &[]);
    assert_eq!(checks(&report, "claude", "last-event")[0]["level"], "ok", "{report:#}");
}

#[test]
fn missing_setup_is_not_protected() {
    let place = Place::untrusted(&[]);
    let ran = place.run(&["doctor"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.ends_with("not protected: no agent was found on this machine\n"), "{ran:?}");
    // An agent without entries is a warning, but nothing is protected.
    let place = Place::untrusted(&[(HOOKS, GUARD), (CLAUDE, "{}\n")]);
    let (code, report) = doctor(&place, &[]);
    assert_eq!((code, report["problems"].as_u64(), report["warnings"].as_u64()), (1, Some(0), Some(1)), "{report:#}");
    assert_eq!(report["not_protected"][0]["why"], "not installed");
    // Entries without hooks protect nothing.
    let place = Place::untrusted(&[(CLAUDE, "{}\n")]);
    place.run(&["install", "claude"]);
    finds(&place, "hooks", "found", "no hook is in force");
}

#[test]
fn required_agents_must_be_protected() {
    let place = protected();
    place.write("home/.codex/config.toml", "");
    place.run(&["install", "codex"]);
    for (required, code) in [("claude", 0), ("codex", 1), ("claude,codex", 1), ("claude,qwen", 1), ("amp", 1)] {
        let (found, report) = doctor(&place, &["--require", required]);
        assert_eq!(found, code, "{required}: {report:#}");
    }
    assert_eq!(place.run(&["doctor", "--require", "none"]).code, 64);
}

#[test]
fn removed_entry_is_found() {
    let place = protected();
    edit(&place, CLAUDE, |json| drop(json["hooks"].as_object_mut().unwrap().remove("PreToolUse")));
    finds(&place, "claude", "entries", "no entry for PreToolUse");
    finds(&place, "claude", "events", "hook `guard`: does not run at `PreToolUse` of claude");
    finds(&place, "claude", "self-test", "no entry for the event before a tool");
    assert_eq!(place.run(&["status", "claude", "--no-versions"]).code, 1);
    for command in ["check", "list"] {
        let ran = place.run(&[command]);
        let all = ran.stdout + &ran.stderr;
        assert!(ran.code == 1 && all.contains("run `checkrein install claude`"), "{command}: {all}");
    }
}

#[test]
fn edited_entry_is_found() {
    let place = protected();
    edit(&place, CLAUDE, |json| json["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] = 1.into());
    finds(&place, "claude", "entries", "the entry for PreToolUse is modified or outdated");
}

/// Edits that keep an entry in place and take its effect away.
#[test]
fn edited_command_is_found_and_repaired() {
    let edits: &[fn(&str) -> String] = &[
        |command| format!("{command} || true"),
        |command| format!("{command}; exit 0"),
        |command| format!("{command} 2>/dev/null"),
        |command| format!("{command} --config /dev/null"),
        |command| format!("true || {command}"),
        |command| format!("exec {command}"),
        |command| format!("env -i {command}"),
        |command| command.replace("hook claude", "hook gemini"),
    ];
    for edited in edits {
        let place = protected();
        let installed = std::fs::read_to_string(place.dir.path().join(CLAUDE)).unwrap();
        let mut shown = String::new();
        edit(&place, CLAUDE, |json| {
            let command = &mut json["hooks"]["PreToolUse"][0]["hooks"][0]["command"];
            shown = edited(command.as_str().unwrap());
            *command = shown.as_str().into();
        });
        finds(&place, "claude", "entries", "entry is edited: `");
        let (code, report) = doctor(&place, &["--fix"]);
        assert_eq!(code, 0, "{shown}: {report:#}");
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let repaired = std::fs::read_to_string(place.dir.path().join(CLAUDE)).unwrap();
        assert_eq!(json(&repaired), json(&installed), "{shown}");
    }
}

#[test]
fn entries_that_are_all_edited_are_one_line_and_replaced() {
    let place = protected();
    let path = place.dir.path().join(CLAUDE);
    let text = std::fs::read_to_string(&path).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    let command = json["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap();
    std::fs::write(&path, text.replace(command, &format!("{command} || true"))).unwrap();
    finds(&place, "claude", "entries", "more; 31 entries are modified or outdated");
    place.run(&["install", "claude", "--yes"]);
    let repaired = std::fs::read_to_string(&path).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&repaired).unwrap(), json);
}

#[test]
fn log_that_cannot_be_read_is_found() {
    let place = protected();
    std::fs::create_dir_all(place.dir.path().join("home/.local/state/checkrein/decisions.jsonl")).unwrap();
    finds(&place, "checkrein", "log", "cannot be read");
    let place = protected();
    place.write(HOOKS, &format!("log: false\n{GUARD}"));
    let (_, report) = doctor(&place, &[]);
    assert_eq!(checks(&report, "checkrein", "log")[0]["level"], "note", "{report:#}");
}

#[test]
fn coverage_that_cannot_look_is_shown() {
    let place = protected();
    place.write("home/.claude/projects/-p/s.jsonl", "not json\n");
    let (_, report) = doctor(&place, &[]);
    let check = checks(&report, "claude", "coverage")[0];
    assert_eq!(check["level"], "warning", "{report:#}");
    assert!(check["text"].as_str().unwrap().contains("s.jsonl"), "{check:#}");
}

#[test]
fn events_of_a_variant_are_events_of_its_agent() {
    let place = protected();
    place.write("home/.copilot/config.json", "{}");
    place.run(&["install", "copilot"]);
    let sent = r#"{"hook_event_name":"PreToolUse","session_id":"s","cwd":"/","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    let own = r#"{"sessionId":"s","toolName":"bash","toolArgs":{"command":"ls"}}"#;
    for (words, sent) in [(&["hook", "copilot", "--event", "preToolUse"][..], own), (&["hook", "copilot@pascal"], sent)]
    {
        place.run_with(words, sent);
        let (_, report) = doctor(&place, &[]);
        assert_eq!(checks(&report, "copilot", "last-event")[0]["level"], "ok", "{words:?}: {report:#}");
        let log = place.dir.path().join("home/.local/state/checkrein/decisions.jsonl");
        let _ = std::fs::remove_file(log);
    }
}

#[test]
fn moved_program_is_found() {
    let place = protected();
    let path = place.dir.path().join(CLAUDE);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("/checkrein hook", "/gone/checkrein hook")).unwrap();
    finds(&place, "claude", "program", "/gone/checkrein does not exist");
    finds(&place, "claude", "self-test", "a test call was not denied");
}

#[test]
fn program_that_does_not_deny_fails_the_self_test() {
    let place = protected();
    let token = r#"$(grep -o 'checkrein-self-test-[0-9a-f]*')"#;
    for (script, text) in [
        ("exit 0", "the answer does not have the token"),
        ("exit 1", "the answer does not have the token (exit code 1"),
        (&format!("echo \"{token} hooks in force: 1\""), "claude would read the denial as `no_opinion`"),
        (&format!("echo \"{token} hooks in force: 7\" >&2; exit 2"), "it sees 7 hooks, and this shell sees 1"),
    ] {
        place.write("fake/checkrein", &format!("#!/bin/sh\n{script}\n"));
        let fake = place.dir.path().canonicalize().unwrap().join("fake/checkrein");
        edit(&place, CLAUDE, |json| {
            let home = place.home.path().canonicalize().unwrap();
            let command = format!("{} hook claude --home {}", fake.display(), home.display());
            json["hooks"]["PreToolUse"][0]["hooks"][0]["command"] = command.into();
        });
        finds(&place, "claude", "self-test", text);
    }
}

#[test]
fn script_that_is_not_executable_is_found() {
    let place = protected();
    place.write("home/guard.sh", "#!/bin/sh\nexit 0\n");
    let script = place.home.path().canonicalize().unwrap().join("guard.sh");
    place.write(HOOKS, &format!("{GUARD}  - {{ id: script, event: PreToolUse, command: '{}' }}\n", script.display()));
    assert_eq!(doctor(&place, &[]).0, 0);
    set_mode(&place, "home/guard.sh", 0o644);
    finds(&place, "hooks", "check", "not-executable");
    assert_eq!(place.run(&["check"]).code, 1);
}

#[test]
fn hook_that_is_not_approved_is_found() {
    let place = protected();
    place.write(".checkrein/hooks.yaml", "hooks: [{ id: new, event: PreToolUse, command: 'true' }]\n");
    finds(&place, "hooks", "approval", "1 hook not approved: `new`");
    assert_eq!(place.run(&["trust", "check"]).code, 1);
    // A repair approves nothing.
    assert_eq!(doctor(&place, &["--fix"]).0, 1);
    place.run(&["trust", "approve", "--all", "--yes"]);
    assert_eq!(doctor(&place, &[]).0, 0);
    assert_eq!(place.run(&["trust", "check"]).code, 0);
}

#[test]
fn broken_hook_file_is_found() {
    let place = protected();
    place.write(HOOKS, "hooks: [{ id: guard, event: PreToolUse\n");
    finds(&place, "hooks", "check", "hooks.yaml");
    assert_eq!(place.run(&["check"]).code, 1);
}

#[test]
fn broken_hooks_that_deny_all_calls_are_no_missing_hooks() {
    let place = protected();
    let payload = r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"cwd":"/"}"#;
    for text in ["hooks: [{ id: guard, event: PreToolUse\n", "hooks: [{ id: guard, event: PreToolUse, comand: x }]\n"] {
        place.write(HOOKS, text);
        let home = place.home.path().to_str().unwrap();
        assert!(place.run_with(&["hook", "claude", "--home", home], payload).stdout.contains("\"deny\""));
        finds(&place, "hooks", "found", "calls at their events are denied");
    }
    place.write(HOOKS, "hooks: []\n");
    finds(&place, "hooks", "found", "nothing is checked");
}

#[test]
fn self_test_of_an_entry_without_a_home_writes_nowhere_else() {
    let place = protected();
    // An entry of a project names no directories, so it uses the home of the account database.
    assert_eq!(place.run(&["install", "copilot", "--project"]).code, 0);
    let report = doctor(&place, &[]).1;
    let test = checks(&report, "copilot", "self-test")[0];
    assert_eq!(test["level"], "problem", "{test:#}");
    assert!(test["text"].as_str().unwrap().starts_with("could not run: the entry names no home"), "{test:#}");
}

#[test]
fn untrusted_codex_entry_is_found() {
    let place = protected();
    place.write("home/.codex/config.toml", "");
    place.run(&["install", "codex"]);
    let (code, report) = doctor(&place, &[]);
    let trust = checks(&report, "codex", "trust")[0];
    assert_eq!((code, trust["level"].as_str()), (1, Some("problem")), "{report:#}");
    assert!(trust["text"].as_str().unwrap().starts_with("codex skips the entries for 1"), "{trust}");
    assert_eq!(report["protected"], serde_json::json!(["claude"]));
    assert_eq!(place.run(&["status", "codex", "--no-versions"]).code, 1);
}

#[test]
fn copilot_folder_without_trust_is_found() {
    let place = protected();
    place.write("home/.copilot/config.json", r#"{"trustedFolders": ["/elsewhere"]}"#);
    place.run(&["install", "copilot", "--project"]);
    let trust = |place: &Place| {
        let report = doctor(place, &[]).1;
        checks(&report, "copilot", "trust").first().map(|check| check["text"].as_str().unwrap().to_owned())
    };
    assert_eq!(trust(&place).as_deref(), Some("copilot does not trust this folder, so it skips its hooks"));
    assert_eq!(place.run(&["status", "copilot", "--no-versions"]).code, 1);
    let folder = place.dir.path().canonicalize().unwrap();
    place.write("home/.copilot/config.json", &format!(r#"{{"trustedFolders": ["{}"]}}"#, folder.display()));
    assert_eq!(trust(&place), None);
}

#[test]
fn program_that_a_hook_needs_is_found() {
    let place = protected();
    place.write("home/guard.sh", "#!/bin/sh\njq -e .tool_name >/dev/null || exit 2\n");
    let script = place.home.path().canonicalize().unwrap().join("guard.sh");
    place.write(HOOKS, &format!("{GUARD}  - {{ id: script, event: PreToolUse, command: '{}' }}\n", script.display()));
    place.write("bin/sh", "");
    let mut command = place.command(&["doctor", "--json"]);
    let output = command.env("PATH", place.dir.path().join("bin")).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = checks(&report, "hooks", "check");
    let is_meant = |check: &&Value| check["level"] == "problem" && check["text"].as_str().unwrap().contains("jq");
    assert!(output.status.code() == Some(1) && found.iter().any(is_meant), "{report:#}");
}

#[test]
fn audit_log_that_cannot_be_written_is_found() {
    let place = protected();
    let log = place.home.path().canonicalize().unwrap().join("log");
    // A directory in place of the log. Root may write to every file.
    std::fs::create_dir(&log).unwrap();
    place.write(HOOKS, &format!("audit: {{ path: '{}' }}\n{GUARD}", log.display()));
    finds(&place, "checkrein", "audit", "cannot be written");
    place.write(HOOKS, &format!("audit: {{ path: '{}/a.jsonl' }}\n{GUARD}", log.display()));
    let (code, report) = doctor(&place, &[]);
    assert_eq!((code, checks(&report, "checkrein", "audit")[0]["level"].as_str()), (0, Some("ok")), "{report:#}");
}

#[test]
fn settings_that_cannot_be_parsed_are_found() {
    let place = protected();
    place.write(CLAUDE, "{ \"hooks\": ");
    finds(&place, "claude", "installed", "cannot read this file");
    // A repair does not touch them.
    assert_eq!(doctor(&place, &["--fix"]).0, 1);
    assert_eq!(std::fs::read_to_string(place.dir.path().join(CLAUDE)).unwrap(), "{ \"hooks\": ");
}

#[test]
fn switched_off_hooks_are_found() {
    let place = protected();
    edit(&place, CLAUDE, |json| json["disableAllHooks"] = true.into());
    finds(&place, "claude", "switches", "disableAllHooks: true");
}

#[test]
fn entry_with_another_home_sees_other_hooks() {
    let place = protected();
    let other = tempfile::tempdir().unwrap();
    let path = place.dir.path().join(CLAUDE);
    let text = std::fs::read_to_string(&path).unwrap();
    let home = place.home.path().canonicalize().unwrap();
    let changed = text.replace(&*home.to_string_lossy(), &other.path().canonicalize().unwrap().to_string_lossy());
    std::fs::write(&path, changed).unwrap();
    // The token is in the state directory of the user, which the entry does not name.
    finds(&place, "claude", "self-test", "the answer does not have the token");
}

#[test]
fn repair_writes_entries_again_and_keeps_everything_else() {
    let own = r#"{"type": "command", "command": "mine.sh"}"#;
    let place = Place::untrusted(&[
        (HOOKS, GUARD),
        (CLAUDE, &format!(r#"{{"model": "opus", "hooks": {{"Stop": [{{"hooks": [{own}]}}]}}}}"#)),
    ]);
    place.run(&["install", "claude", "--fail-open"]);
    let installed = std::fs::read_to_string(place.dir.path().join(CLAUDE)).unwrap();
    edit(&place, CLAUDE, |json| drop(json["hooks"].as_object_mut().unwrap().remove("PreToolUse")));
    let (code, report) = doctor(&place, &["--fix"]);
    assert_eq!((code, report["fixes"][0]["agent"].as_str()), (0, Some("claude")), "{report:#}");
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let repaired = std::fs::read_to_string(place.dir.path().join(CLAUDE)).unwrap();
    assert_eq!(json(&repaired), json(&installed));
    assert!(repaired.contains("mine.sh") && repaired.contains("--fail-open"));
    // There is nothing more to repair.
    assert_eq!(doctor(&place, &["--fix"]).1["fixes"], serde_json::json!([]));
    // An agent that is not required is not installed.
    place.write("home/.gemini/settings.json", "{}\n");
    assert_eq!(doctor(&place, &["--fix"]).1["fixes"], serde_json::json!([]));
    let (code, report) = doctor(&place, &["--fix", "--require", "gemini"]);
    assert_eq!((code, &report["fixes"][0]["agent"]), (0, &"gemini".into()), "{report:#}");
}

#[test]
fn self_test_works_for_every_agent() {
    let place = Place::untrusted(&[(HOOKS, GUARD)]);
    let (_, all) = place.run_json(&["status", "--all", "--no-versions", "--json"]);
    let agents: Vec<_> =
        all["agents"].as_array().unwrap().iter().map(|agent| agent["agent"].as_str().unwrap()).collect();
    assert!(agents.len() > 10, "{agents:?}");
    for agent in &agents {
        place.run(&["install", agent]);
    }
    let (_, report) = doctor(&place, &[]);
    for agent in agents {
        let found = checks(&report, agent, "self-test");
        assert_eq!(found.iter().map(|check| &check["level"]).collect::<Vec<_>>(), ["ok"], "{agent}: {found:?}");
    }
}
