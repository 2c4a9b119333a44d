//! Approvals of calls: an agent gets no more than the user has seen and approved.

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

/// The id in a denial.
fn id(ran: &Ran) -> String {
    let (_, rest) = ran.stdout.split_once("checkrein approve ").unwrap_or_else(|| panic!("{ran:?}"));
    rest[..11].to_owned()
}

fn is_denied(ran: &Ran) -> bool {
    let denials =
        [r#""permissionDecision":"deny""#, r#""decision":"deny""#, r#""decision":"block""#, r#""cancel":true"#];
    denials.iter().any(|text| ran.stdout.contains(text)) || ran.code == 2
}

/// The user approves an id at a terminal.
fn approve(place: &Place, id: &str, typed: &str) -> (i32, String) {
    let command = place.command(&["approve", id]);
    terminal::talk(command, 100, &[("[y/N]", Does::Types(typed))])
}

fn files(place: &Place) -> Vec<PathBuf> {
    let dir = place.home.path().join(".local/state/checkrein/approvals");
    std::fs::read_dir(dir)
        .map(|entries| {
            entries
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.extension().is_some_and(|end| end == "json"))
                .collect()
        })
        .unwrap_or_default()
}

#[test]
fn approved_call_passes_once_and_no_other_call() {
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
        let id = id(&text);
        assert!(is_denied(&answer(&place, agent, &call)), "{agent}: not approved yet");
        let (exit, shown) = approve(&place, &id, "n\n");
        assert_eq!(exit, 1, "{shown}");
        let (exit, shown) = approve(&place, &id.to_lowercase(), "y\n");
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
        let again = approve_without_question(&place, &id);
        assert!(again.1.contains("was approved") && again.0 == 1, "{again:?}");
    }
    let log = place.run(&["audit", "tail", "-n", "100"]).stdout;
    assert!(log.contains("waits") && log.contains("approved") && log.contains("passed"), "{log}");
}

/// A kept answer would let the same call pass a second time.
#[test]
fn answer_of_an_approved_call_is_not_kept() {
    let place = Place::with(&[(USER, ASK)]);
    let call = |id: &str| {
        let mut payload: Value = serde_json::from_str(&push()).unwrap();
        payload["tool_use_id"] = json!(id);
        payload.to_string()
    };
    let denied = answer(&place, "codex", &call("a"));
    assert!(is_denied(&denied), "{denied:?}");
    let (exit, shown) = approve(&place, &id(&denied), "y\n");
    assert_eq!(exit, 0, "{shown}");
    let kept = || {
        let answers = place.home.path().join(".local/state/checkrein/sessions/answers");
        std::fs::read_dir(answers).map(Iterator::count).unwrap_or_default()
    };
    let before = kept();
    assert_eq!(before, 1, "the answer of the denied call");
    let passed = answer(&place, "codex", &call("b"));
    assert!(!is_denied(&passed), "{passed:?}");
    assert_eq!(kept(), before, "the answer of the approved call is kept");
    assert!(is_denied(&answer(&place, "codex", &call("b"))), "the approval was used twice");
}

fn approve_without_question(place: &Place, id: &str) -> (i32, String) {
    terminal::talk(place.command(&["approve", id, "--yes"]), 100, &[])
}

#[test]
fn agent_cannot_approve_its_own_call() {
    let place = Place::with(&[(USER, ASK)]);
    let id = id(&answer(&place, "codex", &push()));
    let calls = [
        ("Bash", json!({ "command": format!("checkrein approve {id}") })),
        ("Bash", json!({ "command": "checkrein approve X" })),
        ("Bash", json!({ "command": format!("cd /tmp && /usr/local/bin/checkrein -q approve {id} --yes") })),
        ("Bash", json!({ "command": format!("yes | script -qec 'checkrein approve {id}' /dev/null") })),
        ("Bash", json!({ "command": format!("sh -c 'echo y | checkrein approve {id}'") })),
        ("Bash", json!({ "command": "npx checkrein approve X" })),
        ("Bash", json!({ "command": "checkrein appro''ve X" })),
        ("Bash", json!({ "command": "c=approve; checkrein $c X" })),
        ("Bash", json!({ "command": format!("c=checkrein; $c approve {}", id.to_lowercase()) })),
        ("Bash", json!({ "command": format!("python3 x.py {}", id.replace('-', "")) })),
        ("Write", json!({ "file_path": "x.sh", "content": format!("checkrein approve {id}") })),
        ("Edit", json!({ "file_path": "x.sh", "old_string": "a", "new_string": id })),
        ("mcp__term__run", json!({ "line": id })),
        ("Bash", json!({ "command": "script -qc 'checkrein --color always approve -y X' /dev/null" })),
        ("Bash", json!({ "command": "./k --color always approve -y $(cat id)" })),
        ("Bash", json!({ "command": "cd ~/.local/state/checkrein/approvals && ls" })),
        ("Bash", json!({ "command": "cd ~/.local/state/checkrein; for f in approvals/*; do mv $f x; done" })),
        ("Bash", json!({ "command": "sed -i s/pending/approved/ ~/.local/state/checkrein/*/x.json  # approvals" })),
        ("Bash", json!({ "command": format!("checkrein deny {id}") })),
        ("Bash", json!({ "command": "checkrein approvals --json" })),
        ("Bash", json!({ "command": "checkrein live" })),
        ("Bash", json!({ "command": "npx checkrein serve --detach" })),
        ("Bash", json!({ "command": "nc -U $XDG_RUNTIME_DIR/checkrein/socket" })),
        ("Bash", json!({ "command": "cat ~/.local/state/checkrein/run/page.port" })),
        ("Read", json!({ "file_path": "/home/ann/.local/state/checkrein/run/page.port" })),
        ("Write", json!({ "file_path": "/home/ann/.local/state/checkrein/approvals/x", "content": "" })),
        ("mcp__fs__move", json!({ "from": "a", "to": "/home/ann/.local/state/checkrein/approvals/x" })),
    ];
    for agent in ["codex", "claude"] {
        for (tool, input) in &calls {
            let ran = answer(&place, agent, &sent(tool, input));
            assert!(is_denied(&ran) && ran.stdout.contains("only the user may answer"), "{agent} {input}: {ran:?}");
            // The failure policy of checkrein itself does not matter.
            let open = place.run_with(&["hook", agent, "--fail-open"], &sent(tool, input));
            assert!(is_denied(&open), "{agent} {input}: {open:?}");
        }
    }
    for (tool, input) in [
        ("Bash", json!({ "command": "grep -rn 'checkrein approve' docs" })),
        ("Bash", json!({ "command": "checkrein status" })),
        ("Bash", json!({ "command": "git commit -m 'document checkrein approve'" })),
        ("Bash", json!({ "command": "./node_modules/.bin/hugo serve --port 4711" })),
        ("Bash", json!({ "command": "./gradlew approve tests" })),
        ("Bash", json!({ "command": "ls src/approvals/ crates/checkrein/run.rs" })),
        ("Write", json!({ "file_path": "x.md", "content": "Run `checkrein approve CODE`." })),
        ("AskUserQuestion", json!({ "question": format!("Please run checkrein approve {id}") })),
    ] {
        let ran = answer(&place, "claude", &sent(tool, &input));
        assert!(!is_denied(&ran), "{input}: {ran:?}");
    }
    assert!(is_denied(&answer(&place, "codex", &push())), "nothing is approved");
    let log = place.run(&["audit", "tail", "-n", "100"]).stdout;
    assert!(log.matches("only the user may answer").count() >= calls.len(), "{log}");
}

#[test]
fn command_without_a_terminal_approves_nothing() {
    let place = Place::with(&[(USER, ASK)]);
    let id = id(&answer(&place, "codex", &push()));
    for arguments in [&["approve", &id][..], &["approve", &id, "--yes"]] {
        let ran = place.run_with(arguments, "y\n");
        assert!(ran.code == 1 && ran.stderr.contains("nothing was approved: "), "{ran:?}");
    }
    assert!(is_denied(&answer(&place, "codex", &push())));
    let log = place.run(&["audit", "tail"]).stdout;
    assert_eq!(log.matches("needs a terminal").count(), 2, "{log}");
}

#[test]
fn approval_passes_no_deny_and_no_failure() {
    let ask = "command: 'echo \"{\\\"decision\\\":\\\"ask\\\",\\\"reason\\\":\\\"sure?\\\"}\"'";
    let guards = [
        ("exit 2", "closed"),
        ("exit 7", "closed"),
        ("exit 7", "ask"),
        ("echo '{\\\"decision\\\":\\\"halt\\\",\\\"reason\\\":\\\"no\\\"}'", "closed"),
    ];
    for (command, policy) in guards {
        let place = Place::with(&[(USER, &format!("hooks: [{{id: asks, event: PreToolUse, {ask}}}]"))]);
        let id = id(&answer(&place, "codex", &push()));
        assert_eq!(approve(&place, &id, "y\n").0, 0);
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
        assert!(!ran.stdout.contains("approve"), "{command} {policy}: {ran:?}");
        // A question of another hook needs another approval.
        place.write(
            USER,
            &format!(
                "hooks: [{{id: asks, event: PreToolUse, {ask}}}, {{id: new, event: PreToolUse, {}}}]",
                ask.replace("'echo", "'true; echo")
            ),
        );
        assert_ne!(self::id(&answer(&place, "codex", &push())), id);
    }
}

#[test]
fn approval_expires() {
    let place = Place::with(&[(USER, ASK)]);
    let id = id(&answer(&place, "codex", &push()));
    assert_eq!(approve(&place, &id, "y\n").0, 0);
    let file = files(&place).remove(0);
    let mut stored: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    for time in ["created", "expires"] {
        stored["approval"][time] = json!(stored["approval"][time].as_u64().unwrap() - 15 * 60 * 1000 - 1);
    }
    std::fs::write(&file, stored.to_string()).unwrap();
    let ran = answer(&place, "codex", &push());
    assert!(is_denied(&ran) && self::id(&ran) != id, "{ran:?}");
    let (exit, shown) = approve_without_question(&place, &id);
    assert!(exit == 1 && shown.contains("has expired"), "{shown}");
}

#[test]
fn repository_cannot_approve_calls() {
    let place = Place::with(&[(USER, ASK)]);
    let id = id(&answer(&place, "codex", &push()));
    assert_eq!(approve(&place, &id, "y\n").0, 0);
    // A project brings the approved call along, and its settings name that directory.
    let file = files(&place).remove(0);
    let text = std::fs::read_to_string(&file).unwrap();
    let name = file.file_name().unwrap().to_str().unwrap();
    for state in ["state/checkrein/approvals", ".local/state/checkrein/approvals", ".checkrein/approvals"] {
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

/// Starts a hook that waits, and returns the id of its approval.
fn waiting(place: &Place, agent: &str, payload: &str, vars: &[(&str, &str)]) -> (std::process::Child, String) {
    let before: Vec<_> = files(place);
    let mut command = place.command(&["hook", agent]);
    let pipe = std::process::Stdio::piped;
    let mut child = command.envs(vars.iter().copied()).stdin(pipe()).stdout(pipe()).stderr(pipe()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), payload.as_bytes()).unwrap();
    for _ in 0..3000 {
        if let Some(new) = files(place).into_iter().find(|file| !before.contains(file)) {
            let name = new.file_name().unwrap().to_str().unwrap().to_owned();
            return (child, format!("{}-{}", &name[..5], &name[5..10]));
        }
        if let Some(status) = child.try_wait().unwrap() {
            panic!("the call does not wait: {status} {:?}", place.ran(child.wait_with_output().unwrap()));
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    child.kill().unwrap();
    panic!("no approval was requested");
}

fn finished(place: &Place, child: std::process::Child) -> Ran {
    place.ran(child.wait_with_output().unwrap())
}

fn waiting_place() -> Place {
    Place::with(&[(USER, &format!("approvals: wait\n{ASK}"))])
}

#[test]
fn waiting_call_gets_the_answer_of_the_user() {
    let place = waiting_place();
    for (agent, call, vars) in calls() {
        let (child, id) = waiting(&place, agent, &call, vars);
        let listed = place.run(&["approvals", "--json"]).stdout;
        let listed: Value = serde_json::from_str(&listed).unwrap();
        assert_eq!(listed[0]["id"], json!(id), "{listed}");
        let waits = listed[0]["waits_until"].as_u64().unwrap() - listed[0]["created"].as_u64().unwrap();
        assert!((1_000..=900_000).contains(&waits), "{agent}: {listed}");
        let text = place.run(&["approvals"]).stdout;
        assert!(text.contains("the agent waits for the answer: "), "{text}");
        let (exit, shown) = approve(&place, &id, "y\n");
        assert_eq!(exit, 0, "{shown}");
        assert!(shown.contains("git push origin main") && shown.contains("hooks.yaml"), "{shown}");
        assert!(shown.contains("the agent waits for the answer, "), "{shown}");
        let passed = finished(&place, child);
        assert!(!is_denied(&passed) && !passed.stdout.contains(r#""ask""#), "{agent}: {passed:?}");
        let (child, id) = waiting(&place, agent, &call, vars);
        let (exit, shown) = terminal::talk(place.command(&["deny", &id, "--reason", "use a branch"]), 100, &[]);
        assert_eq!(exit, 0, "{shown}");
        let denied = finished(&place, child);
        let text = format!("{}{}", denied.stdout, denied.stderr);
        assert!(is_denied(&denied) && text.contains("the user denied this call: use a branch"), "{agent}: {denied:?}");
        // The denial also applies to the repeated call.
        assert!(is_denied(&answer_with(&place, agent, &call, vars)));
    }
}

/// Agent, payload, and variables of the agent's process.
type AgentCall = (&'static str, String, &'static [(&'static str, &'static str)]);

/// Calls of four agents, with the variables of their environment. The session of Claude Code has no user.
fn calls() -> Vec<AgentCall> {
    let of = |agent: &str| {
        let mut payload: Value = serde_json::from_str(&push()).unwrap();
        (payload["event"], payload["working_dir"]) = (json!("PreToolUse"), json!("/tmp"));
        if agent == "gemini" {
            payload["hook_event_name"] = json!("BeforeTool");
            payload["tool_name"] = json!("run_shell_command");
        }
        payload.to_string()
    };
    vec![
        ("codex", of("codex"), &[]),
        ("gemini", of("gemini"), &[]),
        ("goose", of("goose"), &[]),
        ("claude", of("claude"), &[("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")]),
    ]
}

fn answer_with(place: &Place, agent: &str, payload: &str, vars: &[(&str, &str)]) -> Ran {
    let mut command = place.command(&["hook", agent]);
    let pipe = std::process::Stdio::piped;
    let mut child = command.envs(vars.iter().copied()).stdin(pipe()).stdout(pipe()).stderr(pipe()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), payload.as_bytes()).unwrap();
    finished(place, child)
}

#[test]
fn agent_with_a_dialog_uses_it() {
    let place = waiting_place();
    let ran = answer_with(&place, "claude", &push(), &[("CLAUDE_CODE_ENTRYPOINT", "cli")]);
    assert!(ran.stdout.contains(r#""permissionDecision":"ask""#) && files(&place).is_empty(), "{ran:?}");
}

#[test]
fn repository_cannot_make_calls_wait() {
    let place = Place::with(&[(USER, ASK), (crate::PROJECT, "approvals: wait\nhooks: []")]);
    assert!(is_denied(&answer(&place, "codex", &push())));
}

#[test]
fn interrupted_wait_denies_and_cancels() {
    let place = waiting_place();
    let (child, id) = waiting(&place, "codex", &push(), &[]);
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let ran = finished(&place, child);
    assert!(is_denied(&ran) && ran.stdout.contains("the question was cancelled"), "{ran:?}");
    let (exit, shown) = approve_without_question(&place, &id);
    assert!(exit == 1 && shown.contains("was cancelled"), "{shown}");
    assert!(!std::fs::read_to_string(&files(&place)[0]).unwrap().contains("approved\""));
}

#[test]
fn edited_input_is_judged_again() {
    let place = Place::with(&[(
        USER,
        "approvals: wait\nhooks:\n- {id: ask-push, event: PreToolUse, matcher: 'Bash|run_shell_command', if: 'Bash(git push *)', command:          'echo \"{\\\"decision\\\":\\\"ask\\\",\\\"reason\\\":\\\"pushes\\\"}\"'}\n- {id: no-force, event: PreToolUse, matcher:          'Bash', if: 'Bash(git push --force *)', command: 'echo no force >&2; exit 2'}",
    )]);
    let edit = |agent: &str, call: &str, vars, to: &str| {
        let (child, id) = waiting(&place, agent, call, vars);
        let mut command = place.command(&["approve", &id, "--edit"]);
        command.env("EDITOR", format!("sed -i 's/git push origin main/{to}/'")).env_remove("VISUAL");
        let (exit, shown) = terminal::talk(command, 100, &[("[y/N]", Does::Types("y\n"))]);
        assert_eq!(exit, 0, "{shown}");
        let is_changed =
            shown.contains("- command: git push origin main") && shown.contains(&format!("+ command: {to}"));
        assert!(is_changed, "{shown}");
        let ran = finished(&place, child);
        let listed = place.run(&["approvals", "--all", "--json"]).stdout;
        let all: Vec<Value> = serde_json::from_str(&listed).unwrap();
        let outcome = all.iter().find(|one| one["id"] == id).unwrap()["edited_outcome"].clone();
        assert_eq!(outcome["has_passed"], !is_denied(&ran), "{agent}: {outcome}");
        assert_eq!(outcome["text"].as_str().unwrap().contains("no force"), to.contains("--force"), "{outcome}");
        // The agent waits, so the user learns the result.
        let text = outcome["text"].as_str().unwrap();
        assert!(shown.contains(&format!("edited; {text}")), "{shown}");
        ran
    };
    for (agent, call, vars) in calls() {
        let forced = edit(agent, &call, vars, "git push --force x");
        let text = format!("{}{}", forced.stdout, forced.stderr);
        assert!(is_denied(&forced) && text.contains("no force"), "{agent}: {forced:?}");
        let changed = edit(agent, &call, vars, "git push origin dev");
        let text = format!("{}{}", changed.stdout, changed.stderr);
        assert!(text.contains("git push origin dev"), "{agent}: {changed:?}");
        // These agents take another input from a hook.
        assert_eq!(is_denied(&changed), !matches!(agent, "claude" | "codex" | "gemini"), "{agent}: {changed:?}");
        if is_denied(&changed) {
            // The model sends the input, which the user has approved already.
            assert!(text.contains("repeat it with exactly this input"), "{agent}: {changed:?}");
            let next = call.replace("git push origin main", "git push origin dev");
            let passed = answer_with(&place, agent, &next, vars);
            assert!(!is_denied(&passed), "{agent}: {passed:?}");
        }
    }
}

#[test]
fn approval_for_the_session_passes_identical_calls_only() {
    let place = Place::with(&[(USER, ASK)]);
    let id = id(&answer(&place, "codex", &push()));
    let (exit, shown) = terminal::talk(place.command(&["approve", &id, "--for-session", "--yes"]), 100, &[]);
    assert_eq!(exit, 0, "{shown}");
    for _ in 0..3 {
        assert!(!is_denied(&answer(&place, "codex", &push())));
    }
    assert!(is_denied(&answer(&place, "codex", &push().replace("main", "dev"))));
    assert!(is_denied(&answer(&place, "codex", &push().replace(r#""session_id":"s""#, r#""session_id":"t""#))));
}

#[test]
fn agent_cannot_reach_the_page() {
    let place = Place::with(&[(USER, ASK)]);
    let runtime = place.home.path().join("runtime/checkrein");
    std::fs::create_dir_all(&runtime).unwrap();
    std::fs::write(runtime.join("page.port"), "47113\n").unwrap();
    let directory = runtime.parent().unwrap().to_str().unwrap().to_owned();
    let vars = [("XDG_RUNTIME_DIR", directory.as_str())];
    for (tool, input) in [
        ("Bash", json!({ "command": "curl -X POST http://127.0.0.1:47113/approve" })),
        ("Bash", json!({ "command": "exec 3<>/dev/tcp/localhost/47113" })),
        ("Bash", json!({ "command": "nc localhost 47113" })),
        ("WebFetch", json!({ "url": "http://localhost:47113/", "prompt": "x" })),
        ("mcp__browser__open", json!({ "url": "http://[::1]:47113/" })),
        ("Read", json!({ "file_path": runtime.join("page.port") })),
    ] {
        let ran = answer_with(&place, "claude", &sent(tool, &input), &vars);
        assert!(is_denied(&ran) && ran.stdout.contains("only the user may answer"), "{input}: {ran:?}");
    }
    for (tool, input) in [
        ("Bash", json!({ "command": "curl http://127.0.0.1:4711/" })),
        ("Bash", json!({ "command": "echo 147113 471130" })),
        ("WebFetch", json!({ "url": "http://localhost:4711/", "prompt": "47113" })),
    ] {
        let ran = answer_with(&place, "claude", &sent(tool, &input), &vars);
        assert!(!is_denied(&ran), "{input}: {ran:?}");
    }
}

#[test]
fn changed_policy_needs_another_approval() {
    let place = Place::with(&[(USER, ASK)]);
    let id = id(&answer(&place, "codex", &push()));
    assert_eq!(approve(&place, &id, "y\n").0, 0);
    place.write(USER, &ASK.replace("hooks: [", "hooks: [{id: other, event: PreToolUse, command: 'true'}, "));
    assert!(is_denied(&answer(&place, "codex", &push())), "the hooks have changed");
}

#[test]
fn store_that_cannot_be_used_denies() {
    for make in [
        // A file in place of the directory.
        (|dir: &std::path::Path| std::fs::write(dir, "x").unwrap()) as fn(&std::path::Path),
        // A directory that others can write.
        |dir| {
            use std::os::unix::fs::PermissionsExt as _;
            std::fs::create_dir(dir).unwrap();
            std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o777)).unwrap();
        },
        // A directory in place of the lock.
        |dir| std::fs::create_dir_all(dir.join("lock")).unwrap(),
    ] {
        let place = waiting_place();
        let state = place.home.path().join(".local/state/checkrein");
        std::fs::create_dir_all(&state).unwrap();
        make(&state.join("approvals"));
        let ran = answer(&place, "codex", &push());
        assert!(is_denied(&ran) && !ran.stdout.contains("run `checkrein approve"), "{ran:?}");
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(told.contains("cannot offer `checkrein approve`"), "{ran:?}");
    }
}

#[test]
fn of_parallel_processes_one_call_passes() {
    let place = Place::with(&[(USER, ASK)]);
    let id = id(&answer(&place, "codex", &push()));
    assert_eq!(approve(&place, &id, "y\n").0, 0);
    let passed = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..6).map(|_| scope.spawn(|| !is_denied(&answer(&place, "codex", &push())))).collect();
        threads.into_iter().filter_map(|thread| thread.join().unwrap().then_some(())).count()
    });
    assert_eq!(passed, 1);
}
