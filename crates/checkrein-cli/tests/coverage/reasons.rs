//! Reasons of calls without a record. Each is built from a session that has its evidence, and is absent without it.

use serde_json::{Value, json};

use super::common::Place;
use super::{Agent, LATER, SESSION, TIME, USER, call, look, place};

const SETTINGS: &str = "home/.claude/settings.json";

const LOG: &str = "home/.local/state/checkrein/decisions.jsonl";

/// A place whose log has another session of the agent, from long ago.
fn used(agent: &str) -> Place {
    let place = place();
    start(&place, agent, "another-session");
    place.write(LOG, &place.read(LOG).replace("2026-", "2020-"));
    place
}

fn start(place: &Place, agent: &str, session: &str) {
    let event = json!({"session_id": session, "hook_event_name": "SessionStart", "source": "startup", "model": "m",
        "permission_mode": "default"});
    place.run_with(&["hook", agent], &event.to_string());
}

/// Writes a session of an agent with one call that ran and reached no hook.
fn miss(place: &Place, agent: &str) -> &'static Agent {
    let agent = Agent::named(agent);
    agent.write(place, &[call("a", "ls", 0, true)]);
    agent.edit(place, TIME, LATER);
    agent
}

fn install(agent: &str) -> Place {
    let place = used(agent);
    if agent == "codex" {
        place.write("home/.codex/config.toml", "");
    } else {
        place.write(SETTINGS, "{}\n");
    }
    let ran = place.run(&["install", agent]);
    assert_eq!(ran.code, 0, "{ran:?}");
    place
}

fn edit(place: &Place, path: &str, change: impl FnOnce(&mut Value)) {
    let mut json: Value = serde_json::from_str(&place.read(path)).unwrap();
    change(&mut json);
    place.write(path, &format!("{json:#}"));
}

/// Code and text of the reason of the only call.
fn reason(place: &Place) -> (String, String) {
    let (_, report) = look(place, &[]);
    let call = &report["calls"][0];
    assert_eq!(call["state"], "not-judged", "{report:#}");
    let text = |name: &str| call["reason"][name].as_str().unwrap().to_owned();
    (text("code"), text("text"))
}

#[track_caller]
fn has(place: &Place, code: &str, text: &str) {
    let found = reason(place);
    assert!(found.0 == code && found.1.contains(text), "{found:?}");
    let shown = place.run(&["coverage", "--since", "2026-11-01"]).stdout;
    assert!(shown.lines().any(|line| line.starts_with("not judged (1): ") && line.contains(text)), "{shown}");
}

#[test]
fn nothing_was_recorded() {
    let place = place();
    miss(&place, "claude");
    has(&place, "no_records", "checkrein has recorded nothing");
}

#[test]
fn call_is_older_than_the_log() {
    let place = place();
    miss(&place, "claude").edit(&place, LATER, TIME);
    start(&place, "claude", "another-session");
    has(&place, "before_log", "nothing before that time");
}

#[test]
fn call_is_older_than_the_first_event_of_the_agent() {
    let place = used("codex");
    start(&place, "claude", "another-session");
    miss(&place, "claude").edit(&place, LATER, "2026-11-17T15:48:12.425Z");
    has(&place, "before_agent", "recorded the first event of Claude Code at 2");
}

#[test]
fn call_is_older_than_the_first_event_of_the_session() {
    let place = used("claude");
    start(&place, "claude", SESSION);
    miss(&place, "claude").edit(&place, LATER, TIME);
    has(&place, "before_first_event", "first event of this session at 2");
}

#[test]
fn settings_have_no_entry() {
    let place = used("claude");
    miss(&place, "claude");
    has(&place, "not_installed", "no entry in the settings of Claude Code now; run `checkrein install claude`");
}

#[test]
fn settings_have_no_entry_for_tools() {
    let place = install("claude");
    miss(&place, "claude");
    edit(&place, SETTINGS, |json| drop(json["hooks"].as_object_mut().unwrap().remove("PreToolUse")));
    has(&place, "entry_missing", "no entry of checkrein for `PreToolUse` now");
    // The same, if other events of the session arrived.
    start(&place, "claude", SESSION);
    has(&place, "entry_missing", "no entry of checkrein for `PreToolUse` now");
}

#[test]
fn entry_was_changed() {
    let place = install("claude");
    miss(&place, "claude");
    edit(&place, SETTINGS, |json| json["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] = json!(1));
    has(&place, "entry_changed", "the entry for PreToolUse is modified or outdated");
}

#[test]
fn program_of_the_entry_is_missing() {
    let place = install("claude");
    miss(&place, "claude");
    let text = place.read(SETTINGS);
    let command: Value = serde_json::from_str(&text).unwrap();
    let command = command["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let program = command.split_once(" hook ").unwrap().0;
    place.write(SETTINGS, &text.replace(program, "/nowhere/checkrein"));
    has(&place, "program_missing", "the entry calls /nowhere/checkrein, which does not exist");
}

#[test]
fn matcher_of_the_entry_excludes_the_tool() {
    let place = install("claude");
    miss(&place, "claude");
    edit(&place, SETTINGS, |json| json["hooks"]["PreToolUse"][0]["matcher"] = json!("Write|Edit"));
    has(&place, "matcher", "the matcher of the entry for `PreToolUse` does not match `Bash`");
    // The same, if calls of another tool arrived.
    let write = json!({"session_id": SESSION, "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": {"file_path": "/p/x", "content": ""}, "tool_use_id": "w"});
    place.run_with(&["hook", "claude"], &write.to_string());
    has(&place, "matcher", "does not match `Bash`");
    // The matcher of an installation matches all tools.
    place.run(&["install", "claude"]);
    has(&place, "tool_unseen", "for other tools of this session only");
}

#[test]
fn settings_are_not_readable() {
    let place = used("claude");
    miss(&place, "claude");
    place.write(SETTINGS, "{\"hooks\": ");
    has(&place, "settings_unreadable", "settings.json");
}

#[test]
fn hooks_are_switched_off() {
    let place = install("claude");
    miss(&place, "claude");
    edit(&place, SETTINGS, |json| json["disableAllHooks"] = json!(true));
    has(&place, "switched_off", "`disableAllHooks: true`");
}

#[test]
fn agent_does_not_trust_the_entry() {
    let place = install("codex");
    miss(&place, "codex");
    has(&place, "not_trusted", "Codex does not trust the entry of checkrein");
}

#[test]
fn agent_does_not_trust_the_folder() {
    let place = used("copilot");
    let folder = place.dir.path().canonicalize().unwrap().display().to_string();
    place.write(LOG, &place.read(LOG).replace("\"claude\"", "\"copilot\""));
    place.write("home/.copilot/config.json", r#"{"trustedFolders": ["/elsewhere"]}"#);
    assert_eq!(place.run(&["install", "copilot", "--project"]).code, 0);
    miss(&place, "copilot").edit(&place, "\"/p\"", &format!("{folder:?}"));
    has(&place, "not_trusted", "Copilot CLI does not trust this folder");
    place.write("home/.copilot/config.json", &format!(r#"{{"trustedFolders": [{folder:?}]}}"#));
    assert_ne!(reason(&place).0, "not_trusted");
}

#[test]
fn later_change_of_settings_is_told() {
    let place = install("claude");
    let past = "2026-11-17T15:48:12.425Z";
    miss(&place, "claude").edit(&place, LATER, past);
    has(&place, "settings_changed", "the settings of Claude Code changed after this call, at 2");
    place.write(SETTINGS, "{}");
    has(&place, "not_installed", "; the settings changed after this call, at 2");
}

#[test]
fn entry_is_in_place_and_nothing_explains_the_call() {
    let place = install("claude");
    miss(&place, "claude");
    has(&place, "session_unseen", "no event of this session reached checkrein");
    start(&place, "claude", SESSION);
    has(&place, "event_not_hooked", "for other events of this session only");
}

#[test]
fn version_of_the_agent_lacks_the_event() {
    let place = install("claude");
    let claude = miss(&place, "claude");
    claude.edit(&place, "2.1.325", "1.0.37");
    has(&place, "agent_version", "Claude Code 1.0.37 has no event `PreToolUse`; it exists since 1.0.38");
    claude.edit(&place, "1.0.37", "1.0.38");
    assert_eq!(reason(&place).0, "session_unseen");
}

#[test]
fn session_ran_on_another_surface() {
    let place = install("claude");
    let claude = miss(&place, "claude");
    claude.edit(&place, "\"cwd\"", "\"entrypoint\":\"claude-desktop\",\"cwd\"");
    has(&place, "session_unseen", "no event of this session reached checkrein");
    // Another session, in the terminal, was judged.
    let other = "0ther000-0000-4000-8000-000000000002";
    let seen =
        place.read(claude.file).replace("claude-desktop", "cli").replace(SESSION, other).replace("\"a\"", "\"b\"");
    place.write("home/.claude/projects/-p/other.jsonl", &seen);
    let payload = (claude.payload)(&call("b", "ls", 1, true)).to_string().replace(SESSION, other);
    place.run_with(&["hook", "claude"], &payload);
    has(&place, "other_surface", "ran in `claude-desktop`; checkrein recorded sessions of Claude Code in `cli` only");
    // A judged session on the same surface refutes it.
    let payload = payload.replace(other, "third").replace("\"b\"", "\"c\"");
    place.run_with(&["hook", "claude"], &payload);
    let seen = seen.replace("\"cli\"", "\"claude-desktop\"").replace(other, "third").replace("\"b\"", "\"c\"");
    place.write("home/.claude/projects/-p/third.jsonl", &seen);
    assert_eq!(reason(&place).0, "session_unseen");
}

/// Adds what Claude Code writes about a hook of the call.
fn report(place: &Place, attachment: &Value) {
    let claude = Agent::named("claude");
    let line = json!({"type": "attachment", "sessionId": SESSION, "version": "2.1.325", "timestamp": LATER,
        "attachment": attachment});
    // After the line of the call.
    let mut lines: Vec<_> = place.read(claude.file).lines().map(str::to_owned).collect();
    lines.insert(2, line.to_string());
    place.write(claude.file, &(lines.join("\n") + "\n"));
}

#[test]
fn agent_reports_the_end_of_the_hook() {
    let own = "/home/ann/.local/bin/checkrein hook claude";
    let attachment = |kind: &str, command: &str, more: &Value| {
        let mut report = json!({"type": kind, "hookName": "PreToolUse:Bash", "hookEvent": "PreToolUse", "toolUseID": "a",
            "command": command, "durationMs": 10});
        report.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        report
    };
    for (kind, command, more, code, text) in [
        (
            "hook_cancelled",
            own,
            json!({"timedOut": true, "timeoutMs": 60_000}),
            "hook_timeout",
            "at the timeout of 60 s",
        ),
        ("hook_cancelled", own, json!({"timedOut": true}), "hook_timeout", "at the timeout of its entry"),
        ("hook_cancelled", own, json!({}), "hook_cancelled", "before it answered"),
        ("hook_non_blocking_error", own, json!({"exitCode": 127, "stderr": "x"}), "hook_failed", "its hook failed"),
        // Reports about hooks of others, or about other calls, are no evidence.
        ("hook_cancelled", "guard.sh", json!({"timedOut": true}), "session_unseen", ""),
        ("hook_non_blocking_error", "other hook claude", json!({"exitCode": 1}), "session_unseen", ""),
        ("hook_cancelled", own, json!({"timedOut": true, "toolUseID": "b"}), "session_unseen", ""),
        ("hook_cancelled", own, json!({"timedOut": true, "hookEvent": "PostToolUse"}), "session_unseen", ""),
        ("hook_cancelled", own, json!({"timedOut": "yes"}), "session_unseen", ""),
    ] {
        let place = install("claude");
        miss(&place, "claude");
        report(&place, &attachment(kind, command, &more));
        has(&place, code, text);
    }
}

#[test]
fn log_that_is_off_hides_the_reason() {
    let place = install("claude");
    place.write(USER, "log: false\nhooks: []\n");
    miss(&place, "claude");
    assert_eq!(look(&place, &[]).1["calls"][0]["reason"]["code"], "log_off");
}
