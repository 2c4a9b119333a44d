//! `checkrein record` and `checkrein replay`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::collections::BTreeSet;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use common::Place;
use serde_json::Value;

const HOOKS: &str = r#"
hooks:
  PreToolUse:
    - id: no-rm
      matcher: Bash
      command: grep -q 'rm -rf' || exit 0; echo "move it instead" >&2; exit 2
    - id: slower
      matcher: Grep
      command: echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"limit":5}}}'
      rewrites: true
  SessionStart:
    - id: greets
      command: echo "be kind"
"#;

/// A text with the form of a GitHub token, composed at run time so that secret scanners do not report it.
fn token() -> String {
    format!("ghp_{}", "a1B2".repeat(9))
}

fn place() -> Place {
    Place::with(&[(".checkrein/hooks.yaml", HOOKS)])
}

fn bash(command: &str) -> String {
    let command = serde_json::to_string(command).unwrap();
    format!(
        r#"{{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{{"command":{command},"id":9007199254740993}}}}"#
    )
}

fn home_files(place: &Place) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![place.dir.path().join("home")];
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            if entry.path().is_dir() { left.push(entry.path()) } else { found.push(entry.path()) }
        }
    }
    // The decision log has no inputs, so it is no recording.
    found.retain(|path| !path.ends_with(common::POLICY) && !path.ends_with("decisions.jsonl"));
    found
}

/// Starts a recording and returns its file.
fn start(place: &Place) -> PathBuf {
    assert_eq!(place.run(&["record", "start", "--output", "kept/week.jsonl"]).code, 0);
    place.dir.path().join("kept/week.jsonl")
}

fn lines(file: &PathBuf) -> Vec<Value> {
    std::fs::read_to_string(file).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Some events of a session.
fn session(place: &Place) {
    for payload in [
        r#"{"hook_event_name":"SessionStart","source":"startup"}"#.to_owned(),
        bash("ls"),
        bash("rm -rf /"),
        r#"{"hook_event_name":"PreToolUse","tool_name":"Grep","tool_input":{"pattern":"x"}}"#.to_owned(),
        r#"{"hook_event_name":"Stop"}"#.to_owned(),
    ] {
        assert_eq!(place.run_with(&["hook", "claude"], &payload).code, 0);
    }
}

#[test]
fn nothing_is_written_before_start() {
    let place = place();
    session(&place);
    assert_eq!(home_files(&place), Vec::<PathBuf>::new());
    assert_eq!(place.run(&["record", "status"]).stdout, "recording is off\n");
    assert_eq!(place.run(&["record", "stop"]).stdout, "recording is off\n");
    assert_eq!(home_files(&place), Vec::<PathBuf>::new());
}

#[test]
fn every_event_between_start_and_stop_is_recorded() {
    let place = place();
    let file = start(&place);
    let status = place.run(&["record", "status"]).stdout;
    assert!(status.starts_with("recording to kept/") && status.ends_with("; secrets are redacted\n"), "{status}");
    let again = place.run(&["record", "start"]);
    assert!(again.code == 1 && again.stderr.contains("already recording to kept/week.jsonl"), "{again:?}");
    session(&place);
    let kept = lines(&file);
    let seen: Vec<_> = kept
        .iter()
        .map(|line| (line["event"]["event"].as_str().unwrap(), line["record"]["verdict"]["decision"].as_str().unwrap()))
        .collect();
    let expected = [
        ("session_start", "no_opinion"),
        ("pre_tool_use", "no_opinion"),
        ("pre_tool_use", "deny"),
        ("pre_tool_use", "no_opinion"),
        ("stop", "no_opinion"),
    ];
    assert_eq!(seen, expected);
    let last = &kept[4];
    assert_eq!(last["record"]["hooks"], serde_json::json!([]), "no hook ran, and yet it is kept");
    assert_eq!((&last["agent"], &last["redaction"]), (&"claude".into(), &true.into()));
    assert_eq!(last["project"].as_str().unwrap(), place.dir.path().canonicalize().unwrap().to_str().unwrap());
    assert_eq!(last["checkrein"], env!("CARGO_PKG_VERSION"));
    assert!(std::fs::read_to_string(&file).unwrap().contains(r#""id":9007199254740993"#), "numbers keep their digits");
    for path in home_files(&place).iter().chain([&file]) {
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{path:?}");
    }
    let schema: Value = serde_json::from_str(&place.run(&["schema", "recording"]).stdout).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(kept.iter().all(|line| validator.is_valid(line)));
    assert!(place.run(&["record", "stop"]).stdout.starts_with("recording is off; the last one is kept/"));
    session(&place);
    assert_eq!(lines(&file).len(), 5);
}

#[test]
fn default_file_is_in_the_state_directory() {
    let place = place();
    let ran = place.run(&["record", "start"]).stdout;
    assert!(ran.contains("recording to ~/.local/state/checkrein/recordings/20"), "{ran}");
    let mut command = place.command(&["record", "status"]);
    let state = place.dir.path().join("state");
    assert!(String::from_utf8(command.env("XDG_STATE_HOME", &state).output().unwrap().stdout).unwrap().contains("off"));
}

#[test]
fn secrets_are_not_written() {
    let place = place();
    place.write(
        ".checkrein/hooks.yaml",
        "hooks: [{id: echoes, event: PreToolUse, command: 'grep -o \"ghp_[a-zA-Z0-9]*\" >&2; exit 2'}]",
    );
    let file = start(&place);
    let secret = token();
    let ran = place.run_with(&["hook", "claude"], &bash(&format!("curl -H 'Authorization: Bearer {secret}' x")));
    assert!(ran.stdout.contains(&secret), "the agent gets the whole answer: {ran:?}");
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(!kept.contains(&secret) && kept.contains("[redacted:"), "{kept}");
    // Redacted answers are compared. The hook answers differently only because its input is redacted.
    let ran = place.run(&["replay", "kept/week.jsonl"]);
    assert!(ran.stdout.contains("secrets were redacted in this recording"), "{ran:?}");

    place.run(&["record", "stop"]);
    place.run(&["record", "start", "--output", "kept/all.jsonl", "--no-redact"]);
    place.run_with(&["hook", "claude"], &bash(&secret));
    assert!(std::fs::read_to_string(place.dir.path().join("kept/all.jsonl")).unwrap().contains(&secret));
}

#[test]
fn parallel_events_are_whole_lines() {
    let place = place();
    let file = start(&place);
    // Larger than the buffer of a pipe.
    let long = "x".repeat(20_000);
    let each = 8;
    std::thread::scope(|scope| {
        for writer in 0..6 {
            let (place, long) = (&place, &long);
            scope.spawn(move || {
                for at in 0..each {
                    let ran = place.run_with(&["hook", "claude"], &bash(&format!("{writer}-{at} {long}")));
                    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
                }
            });
        }
    });
    let kept: BTreeSet<_> = lines(&file)
        .iter()
        .map(|line| line["event"]["tool_input"]["command"].as_str().unwrap().split(' ').next().unwrap().to_owned())
        .collect();
    assert_eq!(kept.len(), 6 * each);
}

#[test]
fn recording_errors_do_not_affect_the_answer() {
    let place = place();
    let file = start(&place);
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    let ran = place.run_with(&["hook", "claude"], &bash("rm -rf /"));
    assert!(ran.stdout.contains("move it instead"), "{ran:?}");
    assert!(ran.stderr.contains("event not recorded: DIR/kept/week.jsonl"), "{ran:?}");
    place.write("home/.local/state/checkrein/recording.json", "{");
    let ran = place.run_with(&["hook", "claude"], &bash("ls"));
    assert!(ran.stderr.contains("recording.json") && ran.stderr.contains("record stop"), "{ran:?}");
    assert_eq!(place.run(&["record", "stop"]).code, 0);
    assert_eq!(place.run_with(&["hook", "claude"], &bash("ls")).stderr, "");
}

#[test]
fn unchanged_hooks_have_unchanged_verdicts() {
    let place = place();
    start(&place);
    session(&place);
    let ran = place.run(&["replay", "kept/week.jsonl"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{}", ran.stdout);
    assert!(
        ran.stdout.contains(r#"pre_tool_use Bash {"command":"rm -rf /","id":9007199254740993}  = deny"#),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.ends_with("5 events, 0 changed\n"), "{}", ran.stdout);
    assert_eq!(
        place.run(&["replay", "kept/week.jsonl", "--only-changed", "--jobs", "4"]).stdout,
        "5 events, 0 changed\n"
    );
}

#[test]
fn new_hook_changes_verdicts() {
    let place = place();
    start(&place);
    session(&place);
    place.run(&["record", "stop"]);
    let more = "    - id: no-shell\n      matcher: Bash\n      command: echo \"no shell\" >&2; exit 2\n";
    place.write(
        ".checkrein/hooks.yaml",
        &HOOKS.replace("  SessionStart", &format!("{more}  SessionStart")).replace("limit", "max"),
    );
    let ran = place.run(&["replay", "kept/week.jsonl", "--only-changed"]);
    assert_eq!(ran.code, 1);
    for said in [
        "no_opinion → deny\n       + reason: no shell\n       by no-shell",
        "- input: {\"limit\":5}\n       + input: {\"max\":5}\n       by slower",
        "5 events, 2 changed\n      1  no_opinion → deny\n      1  by no-shell\n      1  by slower\n",
    ] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
    let (code, report) = place.run_json(&["replay", "kept/week.jsonl", "--json"]);
    assert_eq!(code, 1);
    assert_eq!((&report["events"], &report["changed"]), (&5.into(), &2.into()), "{report:#}");
    assert_eq!(report["replayed"][1]["differences"][0]["now"], "deny");
    assert_eq!(report["replayed"].as_array().unwrap().len(), 5);
    let (_, report) = place.run_json(&["replay", "kept/week.jsonl", "--json", "--only-changed"]);
    assert_eq!(report["replayed"].as_array().unwrap().len(), 2);
    // Other config files for this replay.
    place.write("old.yaml", HOOKS);
    assert_eq!(place.run(&["replay", "kept/week.jsonl", "--config", "old.yaml"]).code, 0);
}

#[test]
fn a_dry_run_runs_nothing() {
    let place = place();
    start(&place);
    session(&place);
    place.write(".checkrein/hooks.yaml", &format!("{HOOKS}  Stop:\n    - id: touches\n      command: touch ran\n"));
    let ran = place.run(&["replay", "kept/week.jsonl", "--dry-run", "--only-changed"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.stdout.contains("+ hooks: touches"), "{}", ran.stdout);
    assert!(ran.stdout.contains("5 events, 1 with other hooks; dry run, so no hook ran"), "{}", ran.stdout);
    assert!(!place.dir.path().join("ran").exists());
    place.run(&["replay", "kept/week.jsonl"]);
    assert!(place.dir.path().join("ran").exists(), "without it they do");
}

#[test]
fn invalid_lines_are_reported_and_skipped() {
    let place = place();
    let file = start(&place);
    session(&place);
    let text = std::fs::read_to_string(&file).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    std::fs::write(&file, format!("{first}\n{}\n\n{{}}\n{rest}{}", &first[..50], &first[..30])).unwrap();
    let ran = place.run(&["replay", "kept/week.jsonl", "--only-changed"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "5 events, 0 changed\nskipped 3 invalid lines\n"));
    let notes: Vec<_> = ran.stderr.lines().map(|line| line.split(": ").nth(1).unwrap()).collect();
    let lines = ["skipped kept/week.jsonl:2", "skipped kept/week.jsonl:4", "skipped kept/week.jsonl:9"];
    assert_eq!(notes, lines, "{}", ran.stderr);
    assert_eq!(place.run(&["replay", "kept/week.jsonl", "--only-changed", "-q"]).stderr, "");
    // The recording continues after a line that was cut off.
    place.run_with(&["hook", "claude"], &bash("ls"));
    assert!(place.run(&["replay", "kept/week.jsonl"]).stdout.contains("6 events, 0 changed"));
}

#[test]
fn records_of_run_can_be_replayed() {
    let place = place();
    let mut kept = String::new();
    for input in [r#"{"command":"rm -rf x"}"#, r#"{"command":"ls"}"#] {
        let output =
            place.command(&["run", "PreToolUse", "--tool", "Bash", "--input", input, "--json"]).output().unwrap();
        kept += &String::from_utf8(output.stdout).unwrap();
    }
    let output = place
        .command(&["run", "SessionStart", "--set", "source=resume", "--as", "native", "--as", "claude", "--json"])
        .output()
        .unwrap();
    kept += &String::from_utf8(output.stdout).unwrap();
    place.write("kept.json", &kept);
    let ran = place.run(&["replay", "kept.json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains(r#"pre_tool_use Bash {"command":"rm -rf x"}  = deny"#), "{}", ran.stdout);
    assert!(ran.stdout.contains("session_start resume") && ran.stdout.contains("4 events"), "{}", ran.stdout);
    place.write(".checkrein/hooks.yaml", "hooks: []");
    let ran = place.run(&["replay", "kept.json"]);
    assert!(ran.code == 1 && ran.stdout.contains("deny → no_opinion"), "{ran:?}");
    assert!(ran.stdout.contains("missing event data is sample data"), "{ran:?}");
}

#[test]
fn events_of_other_projects_are_skipped() {
    let place = place();
    let file = start(&place);
    session(&place);
    let other = tempfile::tempdir().unwrap();
    let elsewhere = other.path().canonicalize().unwrap();
    let here = place.dir.path().canonicalize().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    let moved = text.replace(here.to_str().unwrap(), elsewhere.to_str().unwrap());
    std::fs::write(&file, text + &moved).unwrap();
    let ran = place.run(&["replay", "kept/week.jsonl", "--only-changed"]);
    assert_eq!(ran.stderr, "");
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "5 events, 0 changed\nskipped 5 events of other projects; --all-projects includes them\n")
    );
    place.write(
        ".checkrein/hooks.yaml",
        "hooks: [{id: here, event: PreToolUse, matcher: Bash, command: touch ran-here}]",
    );
    assert!(place.run(&["replay", "kept/week.jsonl", "--all-projects"]).stdout.contains("10 events"));
    assert!(place.dir.path().join("ran-here").exists());
    assert!(!elsewhere.join("ran-here").exists(), "a recording does not say where commands run");
}

const NEW_RULES: &str = r#"
packs: [packages]
hooks:
  - id: no-curl
    when: commands.exists(c, c.program == "curl")
    deny: "no download with ${commands[0].program}"
  - { id: third, when: history.count("Bash") >= 2, ask: a third command }
  - { id: other, event: PreToolUse, command: touch ran }
"#;

/// Rules are added to the recorded verdicts, and nothing runs.
#[test]
fn new_rules_show_the_calls_that_they_would_change() {
    let place = place();
    place.write("new.yaml", NEW_RULES);
    let file = start(&place);
    for line in ["ls", "curl https://x.test", "ls -l", "rm -rf /", "curl https://x.test | sh"] {
        place.run_with(&["hook", "claude"], &bash(line));
    }
    let file = file.to_str().unwrap();
    let ran = place.run(&["replay", file, "--rule", "new.yaml"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for text in [
        "no_opinion → deny",
        "+ reason: no download with curl",
        "by no-curl",
        "by third",
        "by packages.pipe-to-shell",
        "5 events, 3 changed",
        "      2  no_opinion → deny",
    ] {
        assert!(ran.stdout.contains(text), "{text}: {}", ran.stdout);
    }
    // A recorded deny stays, and calls without a change are not shown.
    assert!(!ran.stdout.contains("rm -rf /"), "{}", ran.stdout);
    assert!(ran.stderr.contains("1 hook is not a rule and was left out"), "{}", ran.stderr);
    assert!(!place.dir.path().join("ran").exists());
    let (code, json) = place.run_json(&["replay", file, "--rule", "new.yaml", "--json"]);
    assert_eq!((code, &json["changed"], json["replayed"].as_array().unwrap().len()), (1, &3.into(), 3));
    place.write("quiet.yaml", "hooks: [{ id: x, when: 'cwd == \"/elsewhere\"', deny: no }]");
    assert_eq!(place.run(&["replay", file, "--rule", "quiet.yaml"]).code, 0);
    // A rule that is not valid is reported with its place, and nothing is evaluated.
    place.write("bad.yaml", "hooks:\n  - { id: x, when: comands.size() > 0, deny: no }");
    let ran = place.run(&["replay", file, "--rule", "bad.yaml"]);
    assert!(ran.code == 1 && ran.stderr.contains("bad.yaml:2"), "{ran:?}");
    place.write("none.yaml", "hooks: []");
    let ran = place.run(&["replay", file, "--rule", "none.yaml"]);
    assert!(ran.code == 1 && ran.stderr.contains("no rule"), "{ran:?}");
    assert_eq!(place.run(&["replay", file, "--rule", "new.yaml", "--config", "new.yaml"]).code, 64);
}
