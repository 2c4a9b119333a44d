//! An approval covers the whole entry: a change of any relevant key requires a new approval.

use checkrein::dialects::agents::native;
use checkrein::hook::HookState;

use super::common::*;

const RULE: &str = "event: PreToolUse, when: 'false', deny: no";
const COMMAND: &str = "event: PreToolUse, command: 'true'";
const URL: &str = "event: PreToolUse, url: 'http://127.0.0.1:9/'";
const PROMPT: &str = "event: PreToolUse, type: prompt, prompt: x";

/// State of the hook after a change.
#[derive(Debug, PartialEq)]
enum After {
    /// The hook needs a new approval.
    Changed,
    /// The hook is still approved: the key has no effect on the run.
    Ready,
    /// The entry disables the hook.
    Off,
}
use After::{Changed, Off, Ready};

/// Every key of a hook: an entry without it, or with one value, and with another.
const KEYS: &[(&str, &str, &str, After)] = &[
    ("id", COMMAND, "id: renamed, event: PreToolUse, command: 'true'", Ready),
    ("description", COMMAND, "description: x", Ready),
    ("type", PROMPT, "event: PreToolUse, type: agent, prompt: x", Changed),
    ("command", COMMAND, "event: PreToolUse, command: 'false'", Changed),
    ("args", COMMAND, "args: [x]", Changed),
    ("shell", COMMAND, "shell: bash", Changed),
    ("url", URL, "event: PreToolUse, url: 'http://127.0.0.1:10/'", Changed),
    ("method", URL, "method: PUT", Changed),
    ("headers", URL, "headers: {a: b}", Changed),
    ("allowedEnvVars", URL, "allowedEnvVars: [A]", Changed),
    ("secret", URL, "secret: x", Changed),
    ("require_signed_reply", URL, "secret: x, require_signed_reply: true", Changed),
    ("ca_file", URL, "ca_file: /etc/ca.pem", Changed),
    ("builtin", "event: PreToolUse, builtin: log", "event: PreToolUse, builtin: confirm_dangerous", Changed),
    ("if", COMMAND, "if: 'Bash(git *)'", Changed),
    ("input", COMMAND, "input: {command: x}", Changed),
    ("timeout", COMMAND, "timeout: 5", Changed),
    ("async", COMMAND, "async: true", Changed),
    ("asyncRewake", COMMAND, "asyncRewake: true", Changed),
    ("once", COMMAND, "once: true", Changed),
    ("enabled", COMMAND, "enabled: false", Off),
    ("on_failure", COMMAND, "on_failure: open", Changed),
    ("on_timeout", COMMAND, "on_timeout: open", Changed),
    ("env", COMMAND, "env: {A: b}", Changed),
    ("env_allow", COMMAND, "env_allow: [A]", Changed),
    ("cwd", COMMAND, "cwd: sub", Changed),
    ("sandbox", COMMAND, "sandbox: true", Changed),
    ("warm", COMMAND, "warm: false", Changed),
    ("order", COMMAND, "order: 5", Changed),
    ("rewrites", COMMAND, "rewrites: true", Changed),
    ("strict", COMMAND, "strict: true", Changed),
    ("dry_run", COMMAND, "dry_run: true", Changed),
    ("when", RULE, "event: PreToolUse, when: 'true', deny: no", Changed),
    ("vars", RULE, "vars: {a: '1'}", Changed),
    ("params", RULE, "params: {a: 1}", Changed),
    ("deny", RULE, "event: PreToolUse, when: 'false', deny: never", Changed),
    ("ask", RULE, "event: PreToolUse, when: 'false', ask: no", Changed),
    ("allow", RULE, "event: PreToolUse, when: 'false', allow: no", Changed),
    ("halt", RULE, "event: PreToolUse, when: 'false', halt: no", Changed),
    ("context", RULE, "context: x", Changed),
    ("message", RULE, "message: x", Changed),
    ("label", RULE, "label: x", Changed),
    ("rewrite", RULE, "rewrite: {command: ls}", Changed),
    ("unknown", RULE, "unknown: open", Changed),
    ("tests", RULE, "tests: [{command: ls, want: none}]", Ready),
    ("statusMessage", COMMAND, "statusMessage: x", Ready),
    ("prompt", PROMPT, "event: PreToolUse, type: prompt, prompt: y", Changed),
    ("model", PROMPT, "model: x", Changed),
    ("server", "event: PreToolUse, server: a, tool: t", "event: PreToolUse, server: b, tool: t", Changed),
    ("tool", "event: PreToolUse, server: a, tool: t", "event: PreToolUse, server: a, tool: u", Changed),
    ("settings", PROMPT, "settings: {a: 1}", Changed),
];

fn file(entry: &str) -> String {
    let id = if entry.contains("id: ") { "" } else { "id: guard, " };
    format!("hooks: [{{{id}{entry}}}]\n")
}

#[test]
fn change_of_any_relevant_key_requires_a_new_approval() {
    let known: Vec<_> = native::LAYOUT.keys.iter().map(|key| key.name).collect();
    let rows: Vec<_> = KEYS.iter().map(|(key, ..)| *key).collect();
    assert_eq!(rows, known, "a new key of a hook needs a row");
    let other_events =
        [("event", COMMAND, "event: Stop, command: 'true'", Changed), ("matcher", COMMAND, "matcher: Bash", Changed)];
    for (key, one, other, after) in KEYS.iter().chain(&other_events) {
        let whole = if other.contains("event: ") { (*other).to_owned() } else { format!("{one}, {other}") };
        // Both directions: the key is added, and the key is removed.
        for (approved, now) in [(*one, whole.as_str()), (whole.as_str(), *one)] {
            let world = World::with(&[(FILE, &file(approved))]);
            world.approve();
            assert!(matches!(world.state(), HookState::Ready | HookState::Disabled), "{key}: {approved}");
            world.write(FILE, &file(now));
            let expected = match after {
                Off if now == *one => HookState::Untrusted,
                Off => HookState::Disabled,
                Ready => HookState::Ready,
                Changed => match world.state() {
                    HookState::Changed(changes) => HookState::Changed(changes),
                    _ => HookState::Changed("this".to_owned()),
                },
            };
            assert_eq!(world.state(), expected, "{key}: approved {approved}, now {now}");
        }
    }
}

#[test]
fn approval_covers_the_settings_of_an_include() {
    let claude = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#;
    for more in ["dry_run: true", "on_failure: closed", "env_allow: [A]"] {
        let with = format!("include: [{{dialect: claude, {more}}}]\n");
        for (approved, now) in [(with.as_str(), "include: [claude]\n"), ("include: [claude]\n", with.as_str())] {
            let world = World::with(&[("project/.claude/settings.json", claude), (FILE, approved)]);
            world.approve();
            assert_eq!(world.state(), HookState::Ready, "{approved}");
            world.write(FILE, now);
            assert!(matches!(world.state(), HookState::Changed(_)), "{approved} {now}: {:?}", world.state());
        }
    }
}
