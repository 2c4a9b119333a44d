//! `checkrein run`, `explain` and `list` report truthfully which hooks run, which do not, and why.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use common::{Place, Ran};

fn fine(ran: Ran) -> String {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr, "");
    ran.stdout
}

/// Hooks of all states, in a repository after a clone.
const STATES: &str = "hooks:
  - {id: misspelt, event: PreToolUsed, matcher: Edit, command: 'true'}
  - {id: push, event: PreToolUse, matcher: Bash, if: Bash(git push *), command: 'true'}
  - {id: rm, event: PreToolUse, matcher: Bash, input: {command: ^rm}, command: 'true'}
  - {id: edits, event: PreToolUse, matcher: Bash, if: Edit(*.rs), command: 'true'}
  - {id: lower, event: PreToolUse, matcher: bash, command: 'true'}
  - {id: off, event: PreToolUse, matcher: Bash, enabled: false, command: 'true'}
  - {id: late, event: PreToolUse, matcher: Bash, async: true, command: exit 2}
  - {id: breaks, event: PreToolUse, matcher: Bash, command: 'echo oops >&2; exit 7'}
";

#[test]
fn explain_decides_no_condition_by_sample_input() {
    let place = Place::with(&[(".checkrein/hooks.yaml", STATES)]);
    let line_of = |arguments: &[&str], id: &str| {
        let ran = fine(place.run(arguments));
        ran.lines().find(|line| line.contains(&format!("  {id} "))).unwrap_or_default().trim().to_owned()
    };
    let without = &["explain", "PreToolUse", "--tool", "Bash"][..];
    for (id, said) in [
        (
            "push",
            "may run  push .checkrein/hooks.yaml:3 (condition `Bash(git push *)` depends on the input (pass --input or --command))",
        ),
        (
            "rm",
            "may run  rm .checkrein/hooks.yaml:4 (condition `input.command: ^rm` depends on the input (pass --input or --command))",
        ),
        ("edits", "skip     edits .checkrein/hooks.yaml:5 (condition `Edit(*.rs)` is false)"),
        (
            "lower",
            "skip     lower .checkrein/hooks.yaml:6 (matcher `bash` does not match `Bash`; letter case matters, write `Bash`)",
        ),
        ("off", "skip     off .checkrein/hooks.yaml:7 (disabled by `enabled: false`)"),
        (
            "late",
            "run      late .checkrein/hooks.yaml:8 (matcher `Bash` matches; starts in the background (cannot block))",
        ),
        ("misspelt", "skip     misspelt .checkrein/hooks.yaml:2 (matcher `Edit` does not match `Bash`)"),
    ] {
        assert_eq!(line_of(without, id), said);
    }
    let push = &["explain", "PreToolUse", "--tool", "Bash", "--command", "git push origin"][..];
    let said = "run      push .checkrein/hooks.yaml:3 (matcher `Bash` matches; condition `Bash(git push *)` is true)";
    assert_eq!(line_of(push, "push"), said);
    assert!(line_of(push, "rm").starts_with("skip     rm"));
    let edit = line_of(&["explain", "PreToolUse", "--tool", "Edit"], "misspelt");
    assert!(edit.starts_with("not run  misspelt") && edit.contains("did you mean `PreToolUse`?"), "{edit}");
    let (_, json) = place.run_json(&[without, &["--json"]].concat());
    let hook = |id: &str| json["hooks"].as_array().unwrap().iter().find(|hook| hook["id"] == id).unwrap();
    assert!(hook("push")["runs"].is_null() && hook("push")["depends"].is_string(), "{json}");
    assert!(hook("late")["runs"] == true && hook("late")["depends"].is_null(), "{json}");
}

#[test]
fn run_reports_a_failure_once() {
    let place = Place::with(&[(".checkrein/hooks.yaml", STATES)]);
    let ran = place.run(&["run", "PreToolUse", "--command", "ls"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (4, ""), "{ran:?}");
    for said in [
        "  failed breaks .checkrein/hooks.yaml:9 (project, command, exit 7, N ms)\n",
        "exited with 7, which is a failure, not an answer (2 denies, 0 has no opinion); blocked (on_failure: closed)\n",
        "=> deny: hook `breaks` failed\n",
        "exit 2, without effect on the verdict",
    ] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
    assert_eq!(ran.stdout.matches("oops").count(), 1, "{}", ran.stdout);
}

#[test]
fn run_says_that_its_input_is_a_sample() {
    let place = Place::with(&[(".checkrein/hooks.yaml", "hooks: [{id: x, event: PreToolUse, command: 'true'}]\n")]);
    let first = |arguments: &[&str]| place.run(arguments).stdout.lines().next().unwrap_or_default().to_owned();
    let sample = first(&["run", "PreToolUse", "--tool", "Write"]);
    assert!(sample.ends_with("(sample input; set it with --command or --input)"), "{sample}");
    assert!(sample.contains("DIR/src/lib.rs") && !sample.contains("/home/ann"), "{sample}");
    assert_eq!(
        first(&["run", "PreToolUse", "--command", "git \"push\""]),
        r#"PreToolUse Bash {"command":"git \"push\""}"#
    );
    let payload = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    for arguments in [&["run", "--payload", "-"][..], &["run", "--payload", "-", "--as", "claude"]] {
        let ran = place.run_with(arguments, payload);
        assert!(ran.stdout.starts_with("PreToolUse Bash {\"command\":\"ls\"}\n"), "{ran:?}");
    }
    let ran = place.run_with(&["run", "--payload", "-"], "{}");
    assert!(ran.code == 64 && ran.stderr.contains("the payload does not name its event"), "{ran:?}");
    assert_eq!(place.run(&["run"]).code, 64);
}

#[test]
fn run_hints_at_a_guard_that_runs_too_late() {
    let hooks = "hooks: [{id: guard, event: PostToolUse, matcher: Bash, command: exit 2}]\n";
    let place = Place::with(&[(".checkrein/hooks.yaml", hooks)]);
    let ran = place.run(&["run", "PreToolUse", "--command", "ls"]).stdout;
    let hint = "hint: `guard` (.checkrein/hooks.yaml:1) matches, but runs at `PostToolUse`, too late to block; use `PreToolUse`";
    assert!(ran.contains(hint), "{ran}");
    assert!(!place.run(&["run", "PreToolUse", "--tool", "Read"]).stdout.contains("hint"));
}

#[test]
fn unapproved_and_changed_hooks_are_not_run() {
    let place = Place::untrusted(&[(
        ".checkrein/hooks.yaml",
        "hooks: [{id: x, event: PreToolUse, matcher: Bash, command: exit 2}]\n",
    )]);
    let ran = place.run(&["run", "PreToolUse", "--command", "ls"]);
    for said in [
        "  not run x .checkrein/hooks.yaml:1",
        "selected: matcher `Bash` matches",
        "you have not approved it",
        "=> no_opinion",
    ] {
        assert!(ran.stdout.contains(said), "{said}: {ran:?}");
    }
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert_eq!(place.run(&["trust", "approve", "x", "--yes"]).code, 0);
    place.write(".checkrein/hooks.yaml", "hooks: [{id: x, event: PreToolUse, matcher: Bash, command: exit 0}]\n");
    let ran = place.run(&["run", "PreToolUse", "--command", "ls"]);
    for said in [
        "  not run x .checkrein/hooks.yaml:1",
        "`command` changed since it was approved",
        "=> deny: hook `x` cannot run",
    ] {
        assert!(ran.stdout.contains(said), "{said}: {ran:?}");
    }
    let explained = place.run(&["explain", "PreToolUse", "--command", "ls"]).stdout;
    assert!(
        explained.contains("not run  x .checkrein/hooks.yaml:1 (matcher `Bash` matches; `command` changed"),
        "{explained}"
    );
}

#[test]
fn unreadable_file_has_one_message_and_its_own_name() {
    let place = Place::with(&[(".checkrein/hooks.yaml", "hooks:\n  - id: a\n    event: PreToolUse\n   command: x\n")]);
    for (arguments, code) in [
        (&["list"][..], 1),
        (&["trust"], 1),
        (&["trust", "check"], 1),
        (&["trust", "check", "--json"], 1),
        (&["trust", "lock"], 1),
        (&["trust", "approve", "--all", "--yes"], 1),
        (&["run", "PreToolUse"], 4),
        (&["explain", "PreToolUse"], 0),
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {ran:?}");
        let all = ran.stdout + &ran.stderr;
        assert_eq!(all.matches("invalid YAML").count(), 1, "{arguments:?}: {all}");
        assert!(!all.contains("unreadable"), "{arguments:?}: {all}");
    }
    let ran = place.run(&["run", "PreToolUse"]).stdout;
    assert!(ran.contains("  not run hooks.yaml .checkrein/hooks.yaml:4 "), "{ran}");
}

#[test]
fn approval_beside_an_unreadable_file_is_incomplete() {
    let place = Place::untrusted(&[
        (".checkrein/hooks.yaml", "hooks: [{id: a, event: PreToolUse, command: exit 2}]\n"),
        (".checkrein/hooks.local.yaml", "hooks: [\n"),
    ]);
    let ran = place.run(&["trust", "approve", "--all", "--yes"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stderr.contains("approved 1 hook") && ran.stderr.contains("not all hooks were read"), "{ran:?}");
}

#[test]
fn hooks_that_cannot_be_loaded_are_shown_as_broken() {
    for hook in [
        "builtin: no_such_builtin",
        "builtin: block_dangerous_commands, args: [--deny=no_such_rule]",
        "builtin: protect_paths",
    ] {
        let hooks = format!("hooks: [{{id: guard, event: PreToolUse, {hook}}}]\n");
        let place = Place::with(&[(".checkrein/hooks.yaml", &hooks)]);
        let list = place.run(&["list"]);
        let (_, shown) = list.stdout.split_once("Not loaded\n").unwrap_or_else(|| panic!("{list:?}"));
        assert!(shown.contains("  guard  .checkrein/hooks.yaml:1 (project)\n"), "{shown}");
        assert!(shown.ends_with("    blocks PreToolUse\n"), "{shown}");
        assert_eq!(place.run(&["status", "--effective"]).code, 1, "{hook}");
        let (code, json) = place.run_json(&["status", "--effective", "--json"]);
        let guard = json["hooks"].as_array().unwrap().iter().find(|hook| hook["id"] == "guard").unwrap();
        assert_eq!((code, &guard["state"]), (1, &"broken".into()), "{json}");
        let diagnostics = json["diagnostics"].to_string();
        assert!(diagnostics.contains("not-loaded") && guard["why"].is_string(), "{hook}: {diagnostics}");
        // Hooks without approval block nothing.
        let place = Place::untrusted(&[(".checkrein/hooks.yaml", &hooks)]);
        assert!(!place.run(&["list"]).stdout.contains("Not loaded"), "{hook}");
    }
}
