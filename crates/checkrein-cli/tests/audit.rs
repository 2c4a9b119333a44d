//! `checkrein audit` and the log that hooks write.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use common::Place;

const HOOKS: &str =
    "hooks: [{id: no-rm, event: PreToolUse, matcher: Bash, command: 'grep -q rm && echo no >&2 && exit 2; exit 0'}]";
const LOG: &str = "home/.local/state/checkrein/audit.jsonl";
const SHOWN_LOG: &str = "~/.local/state/checkrein/audit.jsonl";

fn place() -> Place {
    Place::with(&[(".checkrein/hooks.yaml", HOOKS), ("home/.config/checkrein/hooks.yaml", "audit: true\nhooks: []\n")])
}

fn hook(place: &Place, command: &str) {
    let sent = format!(
        r#"{{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"{command}","n":123456789012345678901234567890}}}}"#
    );
    let ran = place.run_with(&["hook", "claude"], &sent);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn concurrent_writers_lose_no_entry() {
    let place = place();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let place = &place;
            scope.spawn(move || (0..5).for_each(|at| hook(place, &format!("ls {writer} {at}"))));
        }
    });
    hook(&place, "rm x");
    // An event without hooks is not logged.
    place.run_with(&["hook", "claude"], r#"{"hook_event_name":"Stop"}"#);
    let ran = place.run(&["audit", "verify"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("intact: 21 entries in 1 file\nlast entry 21:"), "{}", ran.stdout);
    let ran = place.run(&["audit", "tail", "-n", "1"]).stdout;
    assert!(
        ran.starts_with("    21  20") && ran.ends_with("  claude  pre_tool_use Bash  deny: no (by no-rm)\n"),
        "{ran}"
    );
    let ran = place.run(&["audit", "show", "21"]);
    assert!(
        ran.stdout.contains("\"command\": \"rm x\",\n        \"n\": 123456789012345678901234567890\n")
            && ran.stdout.contains(&format!("{SHOWN_LOG}:21")),
        "{ran:?}"
    );
    assert!(place.run(&["audit", "show", "99"]).stderr.contains("the audit log has no entry 99"));
    let all = place.command(&["audit", "export"]).output().unwrap().stdout;
    assert_eq!(all, std::fs::read(place.dir.path().join(LOG)).unwrap());
    assert_eq!(place.run(&["audit", "export", "--since", "2999-01-01"]).stdout, "");
    for time in
        ["tomorrow", "2026-13-01", "2026-01-31T08:00", "2999", "2026-1-1", "20260131", "", "11/17/2026", "7 days"]
    {
        let ran = place.run(&["audit", "export", "--since", time]);
        assert!(ran.code == 64 && ran.stderr.contains("write a time with its offset"), "{time}: {ran:?}");
    }
    let first = place.run(&["audit", "export"]).stdout;
    let second = first.split_once(r#""time":""#).unwrap().1[..19].to_owned();
    assert_eq!(place.run(&["audit", "export", "--since", &format!("{second}Z")]).stdout, first);
    assert_eq!(place.run(&["audit", "export", "--until", "2000-01-01"]).stdout, "");
    // Times with an offset and ages are compared as times, not as text.
    for time in ["yesterday", "7d", "24h", "2000-01-01", "2000-01-01T23:00:00+14:00"] {
        assert_eq!(place.run(&["audit", "export", "--since", time]).stdout, first, "{time}");
        assert_eq!(place.run(&["audit", "export", "--until", time]).stdout, "", "{time}");
    }
    let ahead = format!("{second}-12:00");
    assert_eq!(place.run(&["audit", "export", "--since", &ahead]).stdout, "", "{ahead} is in the future");
}

#[test]
fn verify_reports_changed_entries() {
    let place = place();
    for command in ["ls", "rm x", "ls"] {
        hook(&place, command);
    }
    let (_, found) = place.run_json(&["audit", "verify", "--json"]);
    let last = format!("{}:{}", found["last"]["seq"], found["last"]["hash"].as_str().unwrap());
    assert_eq!(place.run(&["audit", "verify", "--expect", &last]).code, 0);
    let path = place.dir.path().join(LOG);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replace("\"deny\"", "\"allow\"")).unwrap();
    let ran = place.run(&["audit", "verify"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains(&format!("changed: {SHOWN_LOG}:2: entry 2 was changed")), "{}", ran.stdout);
    // A log that was rewritten with its head is intact. Only an entry that was stored elsewhere shows the difference.
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    (0..3).for_each(|_| hook(&place, "ls"));
    assert_eq!(place.run(&["audit", "verify"]).code, 0);
    let ran = place.run(&["audit", "verify", "--expect", &last]);
    assert!(ran.code == 1 && ran.stdout.contains("entry 3 is missing or differs from the expected one"), "{ran:?}");
    assert_eq!(place.run(&["audit", "verify", "--expect", "3"]).code, 64);
}

#[test]
fn project_cannot_turn_on_the_audit_log() {
    let place = Place::with(&[(".checkrein/hooks.yaml", &format!("audit: {{path: here.jsonl}}\n{HOOKS}"))]);
    hook(&place, "rm x");
    assert!(!place.dir.path().join(".checkrein/here.jsonl").exists());
    let ran = place.run(&["check"]);
    assert!(ran.stdout.contains("`audit` is ignored in a project file; move it to a user or managed file"), "{ran:?}");
    let ran = place.run(&["audit", "tail"]);
    assert!(ran.code == 1 && ran.stderr.contains("to turn it on, set `audit: true`"), "{ran:?}");
}

#[test]
fn audit_failure_blocks_only_if_closed() {
    let place = place();
    std::os::unix::fs::symlink("/dev/full", place.dir.path().join("full")).unwrap();
    let sent = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    for (on_failure, denies) in [("open", false), ("closed", true)] {
        let config = format!("audit: {{path: {}, on_failure: {on_failure}}}", place.dir.path().join("full").display());
        place.write("home/.config/checkrein/hooks.yaml", &config);
        let ran = place.run_with(&["hook", "claude"], sent);
        assert_eq!(ran.stdout.contains("deny"), denies, "{ran:?}");
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(told.contains("cannot write to the audit log"), "{ran:?}");
    }
}

/// Calls that fail before any hook runs are logged as well.
#[test]
fn every_refused_call_is_logged() {
    let place = place();
    let sent = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#;
    for (arguments, sent, why) in [
        (&["hook", "claude", "--event", "PreToolUse"][..], "{bad", "is not valid JSON"),
        (&["hook", "claude", "--evnt", "x"], sent, "invalid arguments of `checkrein hook`"),
        (&["hook", "claude", "--config", "none.yaml"], sent, "cannot read the config file none.yaml"),
        (&["hook", "clade"], sent, "unknown agent `clade`"),
    ] {
        let ran = place.run_with(arguments, sent);
        assert!(ran.code == 2 || ran.stdout.contains("\"deny\""), "{ran:?}");
        let last = place.run(&["audit", "tail", "-n", "1"]).stdout;
        assert!(last.contains("blocked: ") && last.contains(why), "{arguments:?}: {last}");
    }
    assert!(place.run(&["audit", "verify"]).stdout.starts_with("intact: 4 entries in 1 file\n"));
}

#[test]
fn closed_pipe_keeps_the_exit_code_of_verify() {
    let place = place();
    hook(&place, "rm x");
    let log = place.dir.path().join(LOG);
    let changed = std::fs::read_to_string(&log).unwrap().replace("\"deny\"", "\"allow\"");
    std::fs::write(&log, changed).unwrap();
    for json in [&[][..], &["--json"]] {
        let arguments = [&["audit", "verify"][..], json].concat();
        assert_eq!(place.run(&arguments).code, 1);
        let mut command = place.command(&arguments);
        let mut child =
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ran = place.ran(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.stderr.as_str()), (1, ""), "{arguments:?}");
    }
}

#[test]
fn log_that_cannot_be_written_is_reported() {
    let place = place();
    place.write("home/file", "");
    let log = place.dir.path().join("home/file/audit.jsonl");
    let config = format!("audit: {{path: {}}}\nhooks: []\n", log.display());
    place.write("home/.config/checkrein/hooks.yaml", &config);
    for arguments in [&["audit", "verify"][..], &["audit", "tail"], &["audit", "tail", "--follow"]] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, 1, "{ran:?}");
        assert!(
            ran.stderr.contains("it is on, but it cannot be written") && ran.stderr.contains("is not a directory"),
            "{arguments:?}: {ran:?}"
        );
    }
}

/// A dry-run hook blocks nothing and sends nothing to the agent. The log has its hypothetical effect.
#[test]
fn audit_dry_runs_shows_hypothetical_effects() {
    let place = place();
    place.write(
        "home/.config/checkrein/hooks.yaml",
        "audit: true\nhooks:\n  - {id: tried, event: PreToolUse, command: 'grep -q x && echo never >&2 && exit 2; exit 0', dry_run: true}\n  - {id: fails, event: PreToolUse, command: 'exit 1', dry_run: true}\n",
    );
    assert!(place.run(&["audit", "dry-runs"]).stderr.contains("it is on, and its first entry follows the next event"));
    for command in ["ls", "ls x", "rm x"] {
        hook(&place, command);
    }
    let sent = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls x"}}"#;
    let ran = place.run_with(&["hook", "claude"], sent);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""), "nothing for the agent");
    let ran = place.run(&["audit", "dry-runs", "--examples", "2"]).stdout;
    let lines: Vec<_> = ran.lines().collect();
    assert!(lines[0].starts_with("tried ~/.config/checkrein/hooks.yaml:3 (user)"), "{ran}");
    assert!(lines[1].starts_with("  ran 4 times, "), "{ran}");
    assert_eq!(lines[2], "  would have denied 3; changed the outcome 2 times");
    assert!(lines[3].ends_with("pre_tool_use Bash  deny: never  (same outcome)"), "{ran}");
    assert!(lines[4].ends_with("pre_tool_use Bash  deny: never"), "{ran}");
    assert!(lines[5].starts_with("fails ") && lines[8] == "  failed 4 times", "{ran}");
    let (_, json) = place.run_json(&["audit", "dry-runs", "--json", "--examples", "1"]);
    let tried = &json["hooks"][0];
    assert_eq!(
        (&tried["id"], &tried["fires"], &tried["denied"], &tried["differs"]),
        (&"tried".into(), &4.into(), &3.into(), &2.into())
    );
    assert_eq!(tried["examples"].as_array().unwrap().len(), 1);
    assert_eq!(json["hooks"][1]["failed"], 4);
    assert_eq!(
        place.run_json(&["audit", "dry-runs", "--json", "--since", "2999-01-01"]).1["hooks"],
        serde_json::json!([])
    );
    let tail = place.run(&["audit", "tail", "-n", "1"]).stdout;
    assert!(tail.contains("(tried: dry run, would be deny, fails: dry run, would be deny)"), "{tail}");

    let shown = place.run(&["run", "PreToolUse", "--tool", "Read", "--input", r#"{"file_path":"x"}"#]).stdout;
    assert!(shown.contains("dry run: the verdict would be deny"), "{shown}");
    assert!(shown.contains("=> no_opinion"), "{shown}");
    assert!(place.run(&["list"]).stdout.contains("dry run: cannot block"));
    assert!(place.run(&["explain", "PreToolUse", "--tool", "Bash"]).stdout.contains("dry run: cannot block"));
    assert!(place.run(&["check"]).stdout.contains("warning[dry-run-gate]"));
}

/// Each entry is printed once, also after the log continues in a new file.
#[test]
fn tail_follow_prints_each_entry_once() {
    let place = place();
    place.write("home/.config/checkrein/hooks.yaml", "audit: {max_size: 2000}\nhooks: []\n");
    let mut command = place.command(&["audit", "tail", "--follow", "--json"]);
    let child = command.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut child = Ended(child);
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.0.stdout.take().unwrap()));
    for at in 1..=12 {
        hook(&place, &format!("ls {at}"));
        let line: serde_json::Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(
            (&line["seq"], &line["record"]["verdict"]["original_input"]["command"]),
            (&at.into(), &format!("ls {at}").into())
        );
    }
    for at in 13..=20 {
        hook(&place, &format!("ls {at}"));
    }
    for at in 13..=20 {
        let line: serde_json::Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(line["seq"], at);
    }
    let full = std::fs::read_dir(place.dir.path().join("home/.local/state/checkrein")).unwrap().count();
    assert!(full > 4, "the log has several files: {full}");
}

/// A process that is killed at the end of the test.
struct Ended(std::process::Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Config with one log for each user below `logs`, and a hook that allows everything.
fn log_per_user(place: &Place) {
    let path = place.dir.path().join("logs/%u/agents.jsonl");
    let text = format!(
        "audit: {{path: {}, on_failure: closed}}\nhooks: [{{id: one, event: PreToolUse, command: exit 0}}]\n",
        path.display()
    );
    place.write("home/.config/checkrein/hooks.yaml", &text);
    place.write("logs/keep", "");
    // Other users read these files.
    set_mode(place, "", 0o755);
    set_mode(place, "home/", 0o755);
}

fn set_mode(place: &Place, path: &str, mode: u32) {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
    std::fs::set_permissions(place.dir.path().join(path), mode).unwrap();
}

/// Sets another user for a command, if this process is root and that user can run the program.
fn switch_user(place: &Place, command: &mut std::process::Command) -> bool {
    use std::os::unix::process::CommandExt as _;
    if !rustix::process::geteuid().is_root() {
        return false;
    }
    command.uid(OTHER).gid(OTHER);
    let mut probe = place.command(&["--version"]);
    probe.uid(OTHER).gid(OTHER).output().is_ok_and(|ran| ran.status.success())
}

/// User id of another user.
const OTHER: u32 = 65534;

#[test]
fn each_user_has_a_log_in_a_shared_directory() {
    use std::os::unix::fs::MetadataExt as _;
    let place = place();
    log_per_user(&place);
    set_mode(&place, "logs", 0o1777);
    place.write(
        "sent.json",
        r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
    );
    let hook = || {
        let mut command = place.command(&["hook", "claude"]);
        command.stdin(std::fs::File::open(place.dir.path().join("sent.json")).unwrap());
        command
    };
    let mut commands = vec![hook()];
    let mut other = hook();
    if switch_user(&place, &mut other) {
        commands.push(other);
    }
    let users = commands.len();
    for mut command in commands {
        let ran = place.ran(command.output().unwrap());
        assert!(ran.code == 0 && !ran.stdout.contains("deny"), "{ran:?}");
    }
    let logs: Vec<_> = std::fs::read_dir(place.dir.path().join("logs"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    assert_eq!(logs.len(), users, "{logs:?}");
    for directory in logs {
        let (directory, log) = (directory.metadata().unwrap(), directory.join("agents.jsonl").metadata().unwrap());
        assert_eq!((directory.mode() & 0o777, log.mode() & 0o777), (0o700, 0o600));
        assert_eq!(directory.uid(), log.uid());
    }
}

#[test]
fn log_that_the_user_cannot_write_is_reported_with_a_fix() {
    let place = place();
    log_per_user(&place);
    set_mode(&place, "logs", 0o555);
    let is_root = rustix::process::geteuid().is_root();
    for arguments in [&["check"][..], &["status", "--effective"]] {
        let mut command = place.command(arguments);
        if is_root && !switch_user(&place, &mut command) {
            return common::skip("unprivileged", "no other user can run the program");
        }
        let ran = place.ran(command.output().unwrap());
        let all = format!("{}{}", ran.stdout, ran.stderr);
        assert!(ran.code == 1 && all.contains("error[audit-not-writable]"), "{ran:?}");
        assert!(all.contains("run as the administrator: chmod 1777 ") && !all.contains("os error"), "{ran:?}");
    }
    set_mode(&place, "logs", 0o755);
}

#[test]
fn log_of_another_user_in_a_shared_directory_is_not_used() {
    let place = place();
    if !rustix::process::geteuid().is_root() {
        return common::skip("root", "only root can create files of other users");
    }
    log_per_user(&place);
    set_mode(&place, "logs", 0o1777);
    place.write("logs/root/keep", "");
    std::os::unix::fs::chown(place.dir.path().join("logs/root"), Some(OTHER), None).unwrap();
    let ran = place.run(&["check"]);
    assert!(ran.code == 1 && ran.stdout.contains(&format!("belongs to user {OTHER}")), "{ran:?}");
    let sent = r#"{"hook_event_name":"PreToolUse","session_id":"s","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    let ran = place.run_with(&["hook", "claude"], sent);
    assert!(ran.stdout.contains("deny") && ran.stdout.contains(&format!("belongs to user {OTHER}")), "{ran:?}");
}
