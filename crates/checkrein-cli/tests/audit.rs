//! The audit log, as its users see it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails may say so")]

mod common;

use common::Place;

const HOOKS: &str =
    "hooks: [{id: no-rm, event: PreToolUse, matcher: Bash, command: 'grep -q rm && echo no >&2 && exit 2; exit 0'}]";
const LOG: &str = "home/.local/state/checkrein/audit.jsonl";

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
fn it_is_written_by_many_at_once_and_shown() {
    let place = place();
    std::thread::scope(|scope| {
        for writer in 0..4 {
            let place = &place;
            scope.spawn(move || (0..5).for_each(|at| hook(place, &format!("ls {writer} {at}"))));
        }
    });
    hook(&place, "rm x");
    // No hook is for it, so nothing is written.
    place.run_with(&["hook", "claude"], r#"{"hook_event_name":"Stop"}"#);
    let ran = place.run(&["audit", "verify"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.starts_with("21 lines in 1 file, all as it was written\nthe last is 21:"), "{}", ran.stdout);
    let ran = place.run(&["audit", "tail", "-n", "1"]).stdout;
    assert!(ran.starts_with("    21  20") && ran.ends_with("  claude  pre_tool_use Bash  deny: no\n"), "{ran}");
    let ran = place.run(&["audit", "show", "21"]);
    assert!(
        ran.stdout.contains("\"command\": \"rm x\",\n        \"n\": 123456789012345678901234567890\n")
            && ran.stdout.contains(&format!("DIR/{LOG}:21")),
        "{ran:?}"
    );
    assert!(place.run(&["audit", "show", "99"]).stderr.contains("there is no line 99"));
    let all = place.command(&["audit", "export"]).output().unwrap().stdout;
    assert_eq!(all, std::fs::read(place.dir.path().join(LOG)).unwrap());
    assert_eq!(place.run(&["audit", "export", "--since", "2999"]).stdout, "");
    assert_eq!(place.run(&["audit", "export", "--until", "2000"]).stdout, "");
}

#[test]
fn what_was_changed_is_told() {
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
    assert!(ran.stdout.contains(&format!("changed: DIR/{LOG}:2: line 2 is not what was written")), "{}", ran.stdout);
    // All of it anew, with its head: only who has kept a line knows.
    std::fs::remove_dir_all(path.parent().unwrap()).unwrap();
    (0..3).for_each(|_| hook(&place, "ls"));
    assert_eq!(place.run(&["audit", "verify"]).code, 0);
    let ran = place.run(&["audit", "verify", "--expect", &last]);
    assert!(ran.code == 1 && ran.stdout.contains("line 3 is not there, or is not the one"), "{ran:?}");
    assert_eq!(place.run(&["audit", "verify", "--expect", "3"]).code, 64);
}

#[test]
fn only_the_user_and_an_administrator_say_so() {
    let place = Place::with(&[(".checkrein/hooks.yaml", &format!("audit: {{path: here.jsonl}}\n{HOOKS}"))]);
    hook(&place, "rm x");
    assert!(!place.dir.path().join(".checkrein/here.jsonl").exists());
    let ran = place.run(&["check"]);
    assert!(ran.stdout.contains("`audit` counts in files of the user or an administrator"), "{ran:?}");
    let ran = place.run(&["audit", "tail"]);
    assert!(ran.code == 1 && ran.stderr.contains("switch it on with `audit: true`"), "{ran:?}");
}

#[test]
fn a_gate_is_closed_where_nothing_can_be_written() {
    let place = place();
    std::os::unix::fs::symlink("/dev/full", place.dir.path().join("full")).unwrap();
    let sent = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    for (on_failure, denies) in [("open", false), ("closed", true)] {
        let config = format!("audit: {{path: {}, on_failure: {on_failure}}}", place.dir.path().join("full").display());
        place.write("home/.config/checkrein/hooks.yaml", &config);
        let ran = place.run_with(&["hook", "claude"], sent);
        assert_eq!(ran.stdout.contains("deny"), denies, "{ran:?}");
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(told.contains("nothing was written to the audit log"), "{ran:?}");
    }
}
