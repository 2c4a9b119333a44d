//! Confirmations of calls: an agent gets no more than the user has seen and allowed.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::common::terminal::{self, Does};
use crate::common::{Place, Ran};
use crate::{USER, sent};

/// A hook that asks before a push, and an audit log.
const ASK: &str = "audit: true\nhooks: [{id: ask-push, event: PreToolUse, matcher: Bash, if: 'Bash(git push *)', \
                   command: 'echo \"{\\\"decision\\\":\\\"ask\\\",\\\"reason\\\":\\\"pushes to a remote\\\"}\"'}]";

fn push() -> String {
    sent("Bash", &json!({ "command": "git push origin main" }))
}

fn answer(place: &Place, agent: &str, payload: &str) -> Ran {
    place.run_with(&["hook", agent], payload)
}

/// The code in a denial.
fn code(ran: &Ran) -> String {
    let (_, rest) = ran.stdout.split_once("checkrein allow-once ").unwrap_or_else(|| panic!("{ran:?}"));
    rest[..11].to_owned()
}

fn is_denied(ran: &Ran) -> bool {
    let denials =
        [r#""permissionDecision":"deny""#, r#""decision":"deny""#, r#""decision":"block""#, r#""cancel":true"#];
    denials.iter().any(|text| ran.stdout.contains(text)) || ran.code == 2
}

/// The user confirms a code at a terminal.
fn confirm(place: &Place, code: &str, typed: &str) -> (i32, String) {
    let command = place.command(&["allow-once", code]);
    terminal::talk(command, 100, &[("[y/N]", Does::Types(typed))])
}

fn files(place: &Place) -> Vec<PathBuf> {
    let dir = place.home.path().join(".local/state/checkrein/allow-once");
    std::fs::read_dir(dir).map(|entries| entries.map(|entry| entry.unwrap().path()).collect()).unwrap_or_default()
}

#[test]
fn confirmed_call_passes_once_and_no_other_call() {
    let place = Place::with(&[(USER, ASK)]);
    for agent in ["codex", "gemini", "goose", "letta"] {
        let tool = |command: &str| {
            let mut payload: Value = serde_json::from_str(&push()).unwrap();
            payload["tool_input"]["command"] = json!(command);
            payload["event"] = json!("PreToolUse");
            payload["event_type"] = json!("PreToolUse");
            payload["working_dir"] = json!("/tmp");
            if agent == "gemini" {
                payload["hook_event_name"] = json!("BeforeTool");
                payload["tool_name"] = json!("run_shell_command");
            }
            payload.to_string()
        };
        let call = tool("git push origin main");
        let denied = answer(&place, agent, &call);
        assert!(is_denied(&denied) && denied.stdout.contains("pushes to a remote") || denied.code == 2, "{denied:?}");
        let text = Ran { stdout: format!("{}{}", denied.stdout, denied.stderr), ..denied };
        let code = code(&text);
        assert!(is_denied(&answer(&place, agent, &call)), "{agent}: not confirmed yet");
        let (exit, shown) = confirm(&place, &code, "n\n");
        assert_eq!(exit, 1, "{shown}");
        let (exit, shown) = confirm(&place, &code.to_lowercase(), "y\n");
        assert_eq!(exit, 0, "{shown}");
        for text in ["git push origin main", "ask-push", "pushes to a remote", "15 minutes"] {
            assert!(shown.contains(text), "{shown}");
        }
        let other = tool("git push origin main --force");
        assert!(is_denied(&answer(&place, agent, &other)), "{agent}: another input");
        let session = call.replace(r#""session_id":"s""#, r#""session_id":"t""#);
        assert!(is_denied(&answer(&place, agent, &session)), "{agent}: another session");
        let passed = answer(&place, agent, &call);
        assert!(!is_denied(&passed), "{agent}: {passed:?}");
        assert!(is_denied(&answer(&place, agent, &call)), "{agent}: only once");
        let again = confirm_without_question(&place, &code);
        assert!(again.1.contains("no call waits for the code") && again.0 == 1, "{again:?}");
    }
    let log = place.run(&["audit", "tail"]).stdout;
    assert!(log.contains("allowed once: ") && log.contains("passed: allowed once: "), "{log}");
}

/// A kept answer would let the same call pass a second time.
#[test]
fn answer_of_a_confirmed_call_is_not_kept() {
    let place = Place::with(&[(USER, ASK)]);
    let call = |id: &str| {
        let mut payload: Value = serde_json::from_str(&push()).unwrap();
        payload["tool_use_id"] = json!(id);
        payload.to_string()
    };
    let denied = answer(&place, "codex", &call("a"));
    assert!(is_denied(&denied), "{denied:?}");
    let (exit, shown) = confirm(&place, &code(&denied), "y\n");
    assert_eq!(exit, 0, "{shown}");
    let kept = || {
        let answers = place.home.path().join(".local/state/checkrein/sessions/answers");
        std::fs::read_dir(answers).map(Iterator::count).unwrap_or_default()
    };
    let before = kept();
    assert_eq!(before, 1, "the answer of the denied call");
    let passed = answer(&place, "codex", &call("b"));
    assert!(!is_denied(&passed), "{passed:?}");
    assert_eq!(kept(), before, "the answer of the confirmed call is kept");
    assert!(is_denied(&answer(&place, "codex", &call("b"))), "the confirmation was used twice");
}

fn confirm_without_question(place: &Place, code: &str) -> (i32, String) {
    terminal::talk(place.command(&["allow-once", code, "--yes"]), 100, &[])
}

#[test]
fn agent_cannot_confirm_its_own_call() {
    let place = Place::with(&[(USER, ASK)]);
    let code = code(&answer(&place, "codex", &push()));
    let calls = [
        ("Bash", json!({ "command": format!("checkrein allow-once {code}") })),
        ("Bash", json!({ "command": "checkrein allow-once X" })),
        ("Bash", json!({ "command": format!("cd /tmp && /usr/local/bin/checkrein -q allow-once {code} --yes") })),
        ("Bash", json!({ "command": format!("yes | script -qec 'checkrein allow-once {code}' /dev/null") })),
        ("Bash", json!({ "command": format!("sh -c 'echo y | checkrein allow-once {code}'") })),
        ("Bash", json!({ "command": "npx checkrein allow-once X" })),
        ("Bash", json!({ "command": "checkrein allow-o''nce X" })),
        ("Bash", json!({ "command": "c=allow-once; checkrein $c X" })),
        ("Bash", json!({ "command": format!("c=checkrein; $c allow-once {}", code.to_lowercase()) })),
        ("Bash", json!({ "command": format!("python3 x.py {}", code.replace('-', "")) })),
        ("Write", json!({ "file_path": "x.sh", "content": format!("checkrein allow-once {code}") })),
        ("Edit", json!({ "file_path": "x.sh", "old_string": "a", "new_string": code })),
        ("mcp__term__run", json!({ "line": code })),
        ("Bash", json!({ "command": "script -qc 'checkrein --color always allow-once -y X' /dev/null" })),
        ("Bash", json!({ "command": "./k --color always allow-once -y X" })),
        ("Bash", json!({ "command": "cd ~/.local/state/checkrein/allow-once && ls" })),
        ("Bash", json!({ "command": "cd ~/.local/state/checkrein; for f in allow-once/*; do mv $f x; done" })),
        ("Bash", json!({ "command": "for f in *.pending; do mv $f ${f%.pending}.granted; done" })),
        ("Write", json!({ "file_path": "/home/ann/.local/state/checkrein/allow-once/x", "content": "" })),
        ("mcp__fs__move", json!({ "from": "a", "to": "/home/ann/.local/state/checkrein/allow-once/x" })),
    ];
    for agent in ["codex", "claude"] {
        for (tool, input) in &calls {
            let ran = answer(&place, agent, &sent(tool, input));
            assert!(is_denied(&ran) && ran.stdout.contains("only the user may confirm"), "{agent} {input}: {ran:?}");
            // The failure policy of checkrein itself does not matter.
            let open = place.run_with(&["hook", agent, "--fail-open"], &sent(tool, input));
            assert!(is_denied(&open), "{agent} {input}: {open:?}");
        }
    }
    for (tool, input) in [
        ("Bash", json!({ "command": "grep -rn 'checkrein allow-once' docs" })),
        ("Bash", json!({ "command": "checkrein status" })),
        ("Bash", json!({ "command": "git commit -m 'document checkrein allow-once'" })),
        ("Write", json!({ "file_path": "x.md", "content": "Run `checkrein allow-once CODE`." })),
        ("AskUserQuestion", json!({ "question": format!("Please run checkrein allow-once {code}") })),
    ] {
        let ran = answer(&place, "claude", &sent(tool, &input));
        assert!(!is_denied(&ran), "{input}: {ran:?}");
    }
    assert!(is_denied(&answer(&place, "codex", &push())), "nothing is confirmed");
    let log = place.run(&["audit", "tail", "-n", "100"]).stdout;
    assert!(log.matches("only the user may confirm").count() >= calls.len(), "{log}");
}

#[test]
fn command_without_a_terminal_confirms_nothing() {
    let place = Place::with(&[(USER, ASK)]);
    let code = code(&answer(&place, "codex", &push()));
    for arguments in [&["allow-once", &code][..], &["allow-once", &code, "--yes"]] {
        let ran = place.run_with(arguments, "y\n");
        assert!(ran.code == 1 && ran.stderr.contains("nothing was allowed: "), "{ran:?}");
    }
    assert!(is_denied(&answer(&place, "codex", &push())));
    let log = place.run(&["audit", "tail"]).stdout;
    assert_eq!(log.matches("needs a terminal").count(), 2, "{log}");
}

#[test]
fn confirmation_passes_no_deny_and_no_failure() {
    let ask = "command: 'echo \"{\\\"decision\\\":\\\"ask\\\",\\\"reason\\\":\\\"sure?\\\"}\"'";
    let guards = [
        ("exit 2", "closed"),
        ("exit 7", "closed"),
        ("exit 7", "ask"),
        ("echo '{\\\"decision\\\":\\\"halt\\\",\\\"reason\\\":\\\"no\\\"}'", "closed"),
    ];
    for (command, policy) in guards {
        let place = Place::with(&[(USER, &format!("hooks: [{{id: asks, event: PreToolUse, {ask}}}]"))]);
        let code = code(&answer(&place, "codex", &push()));
        assert_eq!(confirm(&place, &code, "y\n").0, 0);
        // Another hook objects to the same call.
        place.write(
            USER,
            &format!(
                "hooks:\n- {{id: asks, event: PreToolUse, {ask}}}\n- id: other\n  event: PreToolUse\n  \
                 on_failure: {policy}\n  command: \"{command}\"\n"
            ),
        );
        let ran = answer(&place, "codex", &push());
        assert!(is_denied(&ran), "{command} {policy}: {ran:?}");
        assert!(!ran.stdout.contains("allow-once"), "{command} {policy}: {ran:?}");
        // A question of another hook needs another confirmation.
        place.write(
            USER,
            &format!(
                "hooks: [{{id: asks, event: PreToolUse, {ask}}}, {{id: new, event: PreToolUse, {}}}]",
                ask.replace("'echo", "'true; echo")
            ),
        );
        assert_ne!(self::code(&answer(&place, "codex", &push())), code);
    }
}

#[test]
fn confirmation_expires() {
    let place = Place::with(&[(USER, ASK)]);
    let code = code(&answer(&place, "codex", &push()));
    assert_eq!(confirm(&place, &code, "y\n").0, 0);
    let file = files(&place).remove(0);
    let mut stored: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    stored["issued"] = json!(stored["issued"].as_u64().unwrap() - 15 * 60 - 1);
    std::fs::write(&file, stored.to_string()).unwrap();
    let ran = answer(&place, "codex", &push());
    assert!(is_denied(&ran) && self::code(&ran) != code, "{ran:?}");
    let (exit, shown) = confirm_without_question(&place, &code);
    assert!(exit == 1 && shown.contains("no call waits"), "{shown}");
}

#[test]
fn repository_cannot_confirm_calls() {
    let place = Place::with(&[(USER, ASK)]);
    let code = code(&answer(&place, "codex", &push()));
    assert_eq!(confirm(&place, &code, "y\n").0, 0);
    // A project brings the confirmed call along, and its settings name that directory.
    let file = files(&place).remove(0);
    let text = std::fs::read_to_string(&file).unwrap();
    let name = file.file_name().unwrap().to_str().unwrap();
    for state in ["state/checkrein/allow-once", ".local/state/checkrein/allow-once", ".checkrein/allow-once"] {
        place.write(&format!("{state}/{name}"), &text);
    }
    std::fs::remove_file(&file).unwrap();
    let project = place.dir.path().to_str().unwrap().to_owned();
    for variables in [
        vec![],
        vec![("XDG_STATE_HOME", format!("{project}/state"))],
        vec![("HOME", project.clone()), ("XDG_STATE_HOME", String::new())],
    ] {
        let mut command = place.command(&["hook", "codex"]);
        command.envs(variables.iter().map(|(name, value)| (*name, value.as_str())));
        let pipe = std::process::Stdio::piped;
        let mut child = command.stdin(pipe()).stdout(pipe()).stderr(pipe()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), push().as_bytes()).unwrap();
        let ran = place.ran(child.wait_with_output().unwrap());
        assert!(is_denied(&ran), "{variables:?}: {ran:?}");
    }
}
