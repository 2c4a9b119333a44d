//! Agents that also read the hook files of other agents: Grok calls entries of Claude Code and Cursor with its own payload.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::io::Write as _;
use std::process::Stdio;

use common::{Place, Ran};

const USER: &str = "home/.config/checkrein/hooks.yaml";
const GUARD: &str = "hooks:
  - {id: g, event: PreToolUse, matcher: Bash, input: {command: '^rm'}, command: 'echo run >> \"$HOME/runs\"; echo no >&2; exit 2'}
";

fn payload(time: &str, input: &str, is_cut: bool) -> String {
    format!(
        r#"{{"hookEventName":"pre_tool_use","hook_event_name":"PreToolUse","sessionId":"s","cwd":"/","workspaceRoot":"/","timestamp":"{time}","toolName":"run_terminal_command","toolUseId":"call-1234567890abcdef","toolInput":{input},"toolInputTruncated":{is_cut}}}"#
    )
}

/// Runs `checkrein hook` as Grok does.
fn run_under_grok(place: &Place, agent: &str, payload: &str) -> Ran {
    let mut command = place.command(&["hook", agent]);
    command.env("GROK_SESSION_ID", "s").env("GROK_HOOK_EVENT", "pre_tool_use");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    place.ran(child.wait_with_output().unwrap())
}

fn runs(place: &Place) -> usize {
    std::fs::read_to_string(place.home.path().join("runs")).unwrap_or_default().lines().count()
}

#[test]
fn entry_of_another_agent_answers_grok_in_all_its_spellings() {
    for agent in ["claude", "cursor", "grok"] {
        let place = Place::with(&[(USER, GUARD)]);
        let ran = run_under_grok(&place, agent, &payload("1", r#"{"command":"rm -rf /"}"#, false));
        assert_eq!(ran.code, 2, "{agent}: {ran:?}");
        let answer: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(answer["decision"], "deny", "{agent}: {ran:?}");
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "deny", "{agent}: {ran:?}");
        assert!(ran.stderr.contains("no"), "{agent}: {ran:?}");
        let ran = run_under_grok(&place, agent, &payload("2", r#"{"command":"ls"}"#, false));
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{agent}: {ran:?}");
    }
}

/// Claude Code that Grok started inherits the variable, but sends its own payload.
#[test]
fn claude_code_under_grok_gets_its_own_answer() {
    let place = Place::with(&[(USER, GUARD)]);
    let claudes =
        r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm x"}}"#;
    let ran = run_under_grok(&place, "claude", claudes);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains(r#""permissionDecision":"deny""#) && !ran.stdout.contains(r#""decision":"deny""#));
    let ran = run_under_grok(&place, "claude", "{");
    assert_eq!(ran.code, 2, "an invalid payload is denied for both: {ran:?}");
    assert!(ran.stdout.contains(r#""permissionDecision":"deny""#), "{ran:?}");
}

/// Grok calls the entries in its own file and in that of Claude Code.
#[test]
fn hooks_run_once_for_entries_in_files_of_two_agents() {
    let place = Place::with(&[(USER, GUARD)]);
    let first = run_under_grok(&place, "grok", &payload("1", r#"{"command":"rm x"}"#, false));
    let second = run_under_grok(&place, "claude", &payload("2", r#"{"command":"rm x"}"#, false));
    assert_eq!((&first.stdout, first.code), (&second.stdout, second.code));
    assert_eq!(runs(&place), 1);
}

/// Both entries arrive at once, several times each.
#[test]
fn parallel_entries_of_two_agents_run_hooks_once() {
    let place = Place::with(&[(USER, &GUARD.replace("echo run", "sleep 0.2; echo run"))]);
    let ran: Vec<Ran> = std::thread::scope(|scope| {
        let run = |(number, agent): (usize, &'static str)| {
            let place = &place;
            let sent = payload(&number.to_string(), r#"{"command":"rm x"}"#, false);
            scope.spawn(move || run_under_grok(place, agent, &sent))
        };
        let all: Vec<_> = ["grok", "claude", "cursor", "claude", "grok"].into_iter().enumerate().map(run).collect();
        all.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(ran.iter().all(|one| one.code == 2 && one.stdout == ran[0].stdout), "{ran:?}");
    assert_eq!(runs(&place), 1);
}

/// The rest of the input could be anything.
#[test]
fn cut_input_is_denied_if_a_hook_would_judge_it() {
    let cut = payload("1", r#""{\"command\":\"ls; ""#, true);
    let place = Place::with(&[(USER, GUARD)]);
    let ran = run_under_grok(&place, "grok", &cut);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stderr.contains("only the start of the tool's input"), "{ran:?}");
    let others = [
        "hooks: [{id: g, event: PreToolUse, matcher: Write, command: 'exit 2'}]",
        "hooks: [{id: g, event: PreToolUse, async: true, command: 'true'}]",
        "hooks: []",
    ];
    for hooks in others {
        let place = Place::with(&[(USER, hooks)]);
        let ran = run_under_grok(&place, "grok", &cut);
        assert_eq!(ran.code, 0, "{hooks}: {ran:?}");
    }
    // After the call there is nothing to refuse, so hooks run.
    let place = Place::with(&[(USER, "hooks: [{id: a, event: PostToolUse, command: 'echo run >> \"$HOME/runs\"'}]")]);
    let done = cut.replace("pre_tool_use", "post_tool_use").replace("PreToolUse", "PostToolUse");
    assert_eq!((run_under_grok(&place, "grok", &done).code, runs(&place)), (0, 1));
}

/// A name of a tool is unknown only if the agent of the file does not have it.
#[test]
fn own_files_are_judged_by_the_tools_of_their_agent() {
    let hook = r#"{"type":"command","command":"true"}"#;
    let groups = |names: &[&str]| {
        let group = |name: &&str| format!(r#"{{"matcher":"{name}","hooks":[{hook}]}}"#);
        format!(r#"{{"PreToolUse":[{}]}}"#, names.iter().map(group).collect::<Vec<_>>().join(","))
    };
    let grok = format!(r#"{{"hooks":{}}}"#, groups(&["run_terminal_command", "Bash", "search_replace", "Edit"]));
    let antigravity = format!(r#"{{"guard":{}}}"#, groups(&["run_command", "write_to_file"]));
    let place = Place::with(&[(".grok/hooks/a.json", &grok), (".agents/hooks.json", &antigravity)]);
    let ran = place.run(&["check", "--strict"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("Grok: 4 hooks") && ran.stdout.contains("Antigravity: 2 hooks"), "{ran:?}");
    let wrong = grok.replace("search_replace", "run_command");
    let place = Place::with(&[(".grok/hooks/a.json", &wrong)]);
    let ran = place.run(&["check", "--strict"]);
    assert!(ran.code != 0 && format!("{}{}", ran.stdout, ran.stderr).contains("no tool of Grok"), "{ran:?}");
}
