//! Attacks, one test each, through the installed program. `SECURITY.md` names the test of each claim.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod approvals;
mod claims;
mod commands;
#[path = "../common/mod.rs"]
mod common;
mod config;
mod environment;
#[cfg(feature = "http")]
mod http;
mod load;
mod output;
mod page;
mod paths;
mod repository;
mod self_answers;
mod self_test;
mod serve;
mod warm;

use common::{Place, Ran};
use serde_json::{Value, json};

/// Hook file of the user.
const USER: &str = "home/.config/checkrein/hooks.yaml";
/// Hook file of a repository.
const PROJECT: &str = ".checkrein/hooks.yaml";
const LOCAL: &str = ".checkrein/hooks.local.yaml";

/// Guard of the user that denies everything.
const GUARD: &str = "hooks: [{id: guard, event: PreToolUse, command: 'echo the guard says no >&2; exit 2'}]";

/// Payload of Claude Code before a tool.
fn sent(tool: &str, input: &Value) -> String {
    json!({ "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": tool, "tool_input": input }).to_string()
}

fn ask(place: &Place, variables: &[(&str, &str)], payload: &[u8]) -> Ran {
    ask_in(place.dir.path(), place, variables, payload)
}

fn ask_in(dir: &std::path::Path, place: &Place, variables: &[(&str, &str)], payload: &[u8]) -> Ran {
    use std::io::Write as _;
    let mut command = place.command(&["hook", "claude"]);
    command.current_dir(dir).envs(variables.iter().copied());
    let pipe = std::process::Stdio::piped;
    let mut child = command.stdin(pipe()).stdout(pipe()).stderr(pipe()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let payload = payload.to_owned();
    // The program may close its input before all is written.
    let writer = std::thread::spawn(move || drop(stdin.write_all(&payload)));
    let ran = place.ran(child.wait_with_output().unwrap());
    writer.join().unwrap();
    ran
}

/// Answer to Claude Code before a command.
fn asked(place: &Place, variables: &[(&str, &str)]) -> Ran {
    ask(place, variables, sent("Bash", &json!({ "command": "ls" })).as_bytes())
}

/// Answer to Claude Code if the agent works in another directory than its project.
fn asked_in(dir: &std::path::Path, place: &Place, variables: &[(&str, &str)]) -> Ran {
    ask_in(dir, place, variables, sent("Bash", &json!({ "command": "ls" })).as_bytes())
}

/// The decision and its reason, as Claude Code reads them.
fn decided(ran: &Ran) -> (String, String) {
    if ran.stdout.is_empty() {
        return (format!("nothing, exit {}", ran.code), ran.stderr.clone());
    }
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"));
    let own = &answer["hookSpecificOutput"];
    let text = |key: &str| own[key].as_str().unwrap_or_default().to_owned();
    (text("permissionDecision"), text("permissionDecisionReason"))
}

#[track_caller]
fn assert_guarded(ran: &Ran) {
    let (decision, reason) = decided(ran);
    assert_eq!((decision.as_str(), reason.as_str()), ("deny", "the guard says no"), "{ran:?}");
}

#[track_caller]
fn assert_denied(ran: &Ran, why: &str) {
    let (decision, reason) = decided(ran);
    assert!(decision == "deny" && reason.contains(why), "{decision}: {reason}");
}
