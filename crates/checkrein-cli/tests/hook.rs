//! `checkrein hook` with payloads of real agents.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::path::{Path, PathBuf};
use std::process::Stdio;

use checkrein::dialects::agents::claude;
use checkrein::dialects::{self, Dialect};
use checkrein::handler::{ProcessExit, ProcessReply, Reply};
use checkrein::{Decision, EventKind, RawJson};
use common::{Place, Ran};

const BASH: &str =
    r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;

fn guarded(hook: &str) -> Place {
    Place::with(&[(".checkrein/hooks.yaml", &format!("hooks:\n  - {{id: h, event: PreToolUse, {hook}}}\n"))])
}

/// The decision that an agent reads in an answer.
fn heard(agent: &'static Dialect, event: &checkrein::Event, ran: &Ran) -> Decision {
    let reply = ProcessReply::new(ProcessExit::Code(ran.code)).stdout(ran.stdout.as_str()).stderr(ran.stderr.as_str());
    agent.read(event, Reply::Process(reply), false).map_or(Decision::NoOpinion, |opinion| opinion.decision())
}

/// Captured payloads of real agents before a tool call.
fn captured() -> Vec<(&'static Dialect, String, RawJson)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../checkrein-dialects/tests/captures");
    let files = |folder: &Path| -> Vec<PathBuf> {
        let mut all: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        all.sort();
        all
    };
    let mut all = Vec::new();
    for folder in files(&folder) {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let agent = dialects::ALL.iter().copied().find(|dialect| dialect.name.replace('@', "-") == name).unwrap();
        for file in files(&folder) {
            let capture = RawJson::parse(std::fs::read_to_string(&file).unwrap()).unwrap();
            let event = capture.field("event").unwrap().as_text().unwrap().into_owned();
            if agent.kind_named(&event).is_ok_and(|kind| kind == EventKind::PreToolUse) {
                all.push((agent, event, capture.field("stdin").unwrap()));
            }
        }
    }
    all
}

fn asked(place: &Place, agent: &Dialect, event: &str, sent: &str) -> Ran {
    let kind = agent.kind_named(event).unwrap();
    let mut words = vec!["hook", agent.name];
    if !agent.names_event(&kind) {
        words.extend(["--event", event]);
    }
    // Hooks run in the directory of the payload, which must exist.
    place.run_with(&words, &sent.replace("/home/dev/project", &place.dir.path().to_string_lossy()))
}

#[test]
fn every_agent_gets_a_deny_or_no_opinion() {
    let deny = guarded("command: 'echo not today >&2; exit 2'");
    let ask = guarded(r#"command: 'echo "{\"decision\":\"ask\",\"reason\":\"sure?\"}"'"#);
    let fails = guarded("command: 'echo oops >&2; exit 7'");
    let nothing = guarded("matcher: NoSuchTool, command: 'exit 2'");
    let mut agents = std::collections::BTreeSet::new();
    for (agent, name, sent) in captured() {
        agents.insert(agent.name);
        let event = agent.event(&sent, Some(&name)).unwrap();
        let quiet = asked(&nothing, agent, &name, sent.as_str());
        assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""), "{} {name}", agent.name);
        for (place, at_least) in [(&deny, Decision::Deny), (&ask, Decision::Ask), (&fails, Decision::Deny)] {
            let ran = asked(place, agent, &name, sent.as_str());
            let decision = heard(agent, &event, &ran);
            assert!(decision >= at_least, "{} {name}: {decision:?} {} {}", agent.name, ran.stdout, ran.stderr);
            let said = format!("{}{}", ran.stdout, ran.stderr);
            let reason = ["not today", "sure?", "oops"].iter().any(|reason| said.contains(reason));
            assert!(reason, "{} hears no reason: {said}", agent.name);
            assert!(RawJson::parse(ran.stderr.trim()).is_err(), "{}: JSON on standard error", agent.name);
        }
    }
    assert!(agents.len() >= 8, "{agents:?}");
}

#[test]
fn matchers_accept_common_and_native_tool_names() {
    let shells = [("goose", "shell"), ("gemini", "run_shell_command"), ("copilot", "bash"), ("codex", "Bash")];
    for (name, own) in shells {
        let of_agent = captured().into_iter().filter(|(agent, ..)| agent.name == name);
        let mut shell = of_agent.filter(|(agent, event, sent)| {
            agent.event(sent, Some(event)).is_ok_and(|event| event.tool_name() == Some(own))
        });
        let (agent, event, sent) = shell.next().unwrap_or_else(|| panic!("{name} has no capture of {own}"));
        for matcher in ["Bash", own, "Edit|Bash"] {
            let place = guarded(&format!("matcher: '{matcher}', command: 'echo no >&2; exit 2'"));
            let ran = asked(&place, agent, &event, sent.as_str());
            assert!(ran.stdout.contains("no"), "{name} {matcher}: {} {}", ran.stdout, ran.stderr);
        }
        let ran = asked(&guarded("matcher: Write, command: 'exit 2'"), agent, &event, sent.as_str());
        assert_eq!(ran.stdout, "", "{name}");
    }
}

#[test]
fn payload_has_both_names_of_a_tool() {
    let place = guarded("matcher: Bash, command: 'cat > seen.json'");
    let goose =
        captured().into_iter().find(|(agent, _, sent)| agent.name == "goose" && sent.as_str().contains("\"shell\""));
    let (agent, event, sent) = goose.unwrap();
    asked(&place, agent, &event, sent.as_str());
    let seen = std::fs::read_to_string(place.dir.path().join("seen.json")).unwrap();
    assert!(seen.contains(r#""tool_name":"shell""#) && seen.contains(r#""common_tool_name":"Bash""#), "{seen}");
}

#[test]
fn a_hook_of_one_agent_runs_unchanged_under_another() {
    let settings = r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"tee seen.json > /dev/null; echo '{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"by a hook of Claude Code\"}}'"}]}]}}"#;
    let place = Place::with(&[(".checkrein/hooks.yaml", "include: [claude]\n"), (".claude/settings.json", settings)]);
    for (agent, event, sent) in captured() {
        let of = agent.event(&sent, Some(&event)).unwrap();
        let is_shell = of.tool_name() == Some("Bash") || of.tool_aliases().any(|alias| alias == "Bash");
        // Claude Code runs this hook itself.
        if !is_shell || agent.name == "claude" {
            continue;
        }
        let ran = asked(&place, agent, &event, sent.as_str());
        assert!(heard(agent, &of, &ran) >= Decision::Deny, "{}: {} {}", agent.name, ran.stdout, ran.stderr);
        assert!(format!("{}{}", ran.stdout, ran.stderr).contains("by a hook of Claude Code"), "{}", agent.name);
        let seen = RawJson::parse(std::fs::read_to_string(place.dir.path().join("seen.json")).unwrap()).unwrap();
        let text = |field: &str| seen.field(field).and_then(|field| field.as_text().map(std::borrow::Cow::into_owned));
        assert_eq!(text("hook_event_name").as_deref(), Some("PreToolUse"), "{}", agent.name);
        assert_eq!(text("tool_name").as_deref(), Some("Bash"), "{}", agent.name);
        assert!(seen.field("tool_input").is_some_and(|input| input.entries().is_some()), "{}: {seen}", agent.name);
    }
}

#[test]
fn failures_deny_at_gates() {
    let place = guarded("command: 'true'");
    place.write("broken.json", "{ \"hooks\": ");
    let stop = r#"{"hook_event_name":"SessionEnd","reason":"other"}"#;
    for (words, sent, says) in [
        (&["hook", "claude"][..], "", "not valid JSON"),
        (&["hook", "claude"], "{\"hook_event_name\":\"PreToolUse\",", "not valid JSON"),
        (&["hook", "claude"], r#"{"hook_event_name":"Unheard","tool_name":"Bash"}"#, "Unheard"),
        (&["hook", "claude"], r#"{"tool_name":"Bash","tool_input":{}}"#, "does not name its event"),
        (&["hook", "claude", "--config", "none.json"], BASH, "none.json"),
        (&["hook", "claude", "--config", "broken.json"], BASH, "broken.json"),
        (&["hook", "claude", "--evnt", "x"], BASH, "--evnt"),
        (&["hook", "claude", "--event"], BASH, "--event"),
    ] {
        let ran = place.run_with(words, sent);
        let event = claude::DIALECT.event(&RawJson::parse(BASH).unwrap(), None).unwrap();
        assert_eq!(heard(&claude::DIALECT, &event, &ran), Decision::Deny, "{words:?}: {} {}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(says), "{words:?}: {}", ran.stdout);
        let open = place.run_with(&[words, &["--fail-open"]].concat(), sent);
        // Here the word would be the name of the event.
        let is_name = words.ends_with(&["--event"]);
        assert!(is_name || !open.stdout.contains("\"deny\""), "{words:?}: {}", open.stdout);
    }
    // An event that is not a gate cannot be denied, so the output must not look like an answer.
    let ran = place.run_with(&["hook", "claude", "--config", "none.json"], stop);
    assert!(ran.code == 0 && !ran.stdout.contains("deny"), "{}", ran.stdout);
    assert!(ran.stdout.contains("none.json"), "{} {}", ran.stdout, ran.stderr);
}

#[test]
fn unknown_agent_gets_a_deny_in_all_formats() {
    let ran = guarded("command: 'true'").run_with(&["hook", "clade"], BASH);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("did you mean `claude`?"), "{}", ran.stderr);
    for (agent, name, sent) in captured() {
        let event = agent.event(&sent, Some(&name)).unwrap();
        // Codex rejects unknown keys, and then uses the exit code.
        assert!(heard(agent, &event, &ran) >= Decision::Deny, "{}", agent.name);
    }
}

#[test]
fn failed_allocation_denies() {
    let place = guarded("command: 'true'");
    let program = place.command(&[]).get_program().to_owned();
    let script = r#"ulimit -v 300000; head -c 400000000 /dev/zero | "$0" hook claude"#;
    let mut shell = std::process::Command::new("sh");
    let output = shell.args(["-c", script]).arg(program).current_dir(place.dir.path()).output().unwrap();
    let ran = place.ran(output);
    assert!(ran.stdout.contains("\"deny\""), "{} {} {}", ran.code, ran.stdout, ran.stderr);
}

#[test]
fn background_hooks_outlive_the_answer() {
    let place = guarded("async: true, command: 'cat > seen; echo over > fifo'");
    rustix::fs::mkfifoat(rustix::fs::CWD, place.dir.path().join("fifo"), 0o600.into()).unwrap();
    let ran = place.run_with(&["hook", "claude"], BASH);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    // Waits until the hook has opened the file.
    assert_eq!(std::fs::read_to_string(place.dir.path().join("fifo")).unwrap(), "over\n");
    assert!(std::fs::read_to_string(place.dir.path().join("seen")).unwrap().contains("\"ls\""));
}

#[test]
fn once_hook_runs_once_per_session() {
    let place = guarded("once: true, command: 'echo ran >> count'");
    let count = || std::fs::read_to_string(place.dir.path().join("count")).unwrap_or_default().lines().count();
    for (session, expected) in [("s", 1), ("s", 1), ("t", 2), ("s", 2)] {
        place.run_with(&["hook", "claude"], &BASH.replace("\"s\"", &format!("\"{session}\"")));
        assert_eq!(count(), expected, "{session}");
    }
}

#[test]
fn stop_is_blocked_at_most_a_few_times() {
    let hook = "hooks:\n  - {id: more, event: Stop, command: 'echo one more thing >&2; exit 2'}\n";
    let place = Place::with(&[(".checkrein/hooks.yaml", hook)]);
    let stop = r#"{"session_id":"s","hook_event_name":"Stop","stop_hook_active":true}"#;
    let refused = |sent: &str| place.run_with(&["hook", "claude"], sent).stdout.contains("\"block\"");
    assert!(refused(&stop.replace("true", "false")));
    let again = (0..20).take_while(|_| refused(stop)).count();
    assert_eq!(again, 7, "eight times in a row");
    // The count starts again in the next turn.
    assert!(refused(&stop.replace("true", "false")));
}

#[test]
fn recursion_of_checkrein_is_limited() {
    let place = guarded("command: 'x'");
    let program = place.command(&[]).get_program().to_owned();
    let text = format!(
        "hooks:\n  - {{id: h, event: PreToolUse, command: 'echo x >> count; {} hook claude --home \"$HOME\"'}}\n",
        program.to_string_lossy()
    );
    place.write(".checkrein/hooks.yaml", &text);
    let ran = place.run_with(&["hook", "claude"], BASH);
    assert!(ran.stdout.contains("levels deep"), "{} {}", ran.stdout, ran.stderr);
    assert_eq!(std::fs::read_to_string(place.dir.path().join("count")).unwrap().lines().count(), 5);
}

#[test]
fn skip_variables_need_allow_skip_of_the_user() {
    let place = guarded("command: 'echo no >&2; exit 2'");
    let ask = |name: &str, value: &str| {
        let mut command = place.command(&["hook", "claude"]);
        let child = command.env(name, value).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), BASH.as_bytes()).unwrap();
        place.ran(child.wait_with_output().unwrap())
    };
    for (name, value) in [("CHECKREIN", "0"), ("CHECKREIN_SKIP", "h")] {
        assert!(ask(name, value).stdout.contains("\"deny\""));
    }
    // A project file cannot set `allow_skip`.
    let hooks = std::fs::read_to_string(place.dir.path().join(".checkrein/hooks.yaml")).unwrap();
    place.write(".checkrein/hooks.yaml", &format!("allow_skip: true\n{hooks}"));
    assert!(ask("CHECKREIN", "0").stdout.contains("\"deny\""));
    place.write("home/.config/checkrein/hooks.yaml", "allow_skip: true\n");
    for (name, value) in [("CHECKREIN", "0"), ("CHECKREIN_SKIP", "h")] {
        let ran = ask(name, value);
        assert!(!ran.stdout.contains("\"deny\""), "{}", ran.stdout);
        assert!(ran.stdout.contains("is skipped"), "{} {}", ran.stdout, ran.stderr);
    }
}

#[test]
fn failures_are_shown_to_the_user() {
    let place = guarded("on_failure: open, command: 'echo oops >&2; exit 7'");
    let ran = place.run_with(&["hook", "claude"], BASH);
    let said = RawJson::parse(ran.stdout.trim()).unwrap();
    let message = said.field("systemMessage").unwrap().as_text().unwrap().into_owned();
    assert!(message.contains("oops") && message.contains("`h`"), "{message}");
    assert!(said.field("hookSpecificOutput").is_none());
}

#[test]
fn interrupted_call_denies_and_leaves_no_process() {
    let place = guarded("command: 'echo $$ > fifo; exec sleep 1000'");
    rustix::fs::mkfifoat(rustix::fs::CWD, place.dir.path().join("fifo"), 0o600.into()).unwrap();
    let mut command = place.command(&["hook", "claude"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), BASH.as_bytes()).unwrap();
    // The hook writes this file when it starts.
    let hook = std::fs::read_to_string(place.dir.path().join("fifo")).unwrap();
    let pid = |id: u32| rustix::process::Pid::from_raw(id.try_into().unwrap()).unwrap();
    rustix::process::kill_process(pid(child.id()), rustix::process::Signal::TERM).unwrap();
    let ran = place.ran(child.wait_with_output().unwrap());
    assert!(ran.stdout.contains("\"deny\"") && ran.stdout.contains("interrupted"), "{} {}", ran.stdout, ran.stderr);
    assert!(rustix::process::test_kill_process(pid(hook.trim().parse().unwrap())).is_err(), "the hook lives on");
}

#[test]
fn answer_that_cannot_be_printed_denies() {
    let place = guarded("command: 'echo no >&2; exit 2'");
    let mut command = place.command(&["hook", "claude"]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let Ok(full) = full else { return };
    let mut child = command.stdin(Stdio::piped()).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), BASH.as_bytes()).unwrap();
    let ran = place.ran(child.wait_with_output().unwrap());
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("could not print"), "{}", ran.stderr);
}

/// A project's settings can set variables for the agent. Secrets and variables that load code are not passed to hooks.
#[test]
fn hooks_get_no_secrets_by_default() {
    let claude = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "env >> $CLAUDE_PROJECT_DIR/claude.env"}]}]}}"#;
    let files = [
        (
            ".checkrein/hooks.yaml",
            "include: [{dialect: claude, under_own_agent: true}]\nhooks: [{event: PreToolUse, command: 'env >> own.env'}]",
        ),
        (".claude/settings.json", claude),
    ];
    let sent = r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    let run = |place: &Place| {
        let mut command = place.command(&["hook", "claude"]);
        command.envs([("GITHUB_TOKEN", "value-1"), ("LD_LIBRARY_PATH", "/tmp/x"), ("COLORTERM", "yes")]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), sent.as_bytes()).unwrap();
        let ran = place.ran(child.wait_with_output().unwrap());
        let read = |name: &str| std::fs::read_to_string(place.dir.path().join(name)).unwrap();
        (ran, read("claude.env"), read("own.env"))
    };
    let place = Place::with(&files);
    let (ran, claude, own) = run(&place);
    assert!(
        claude.contains("COLORTERM=yes") && !claude.contains("GITHUB_TOKEN") && !claude.contains("LD_LIBRARY"),
        "{claude}"
    );
    assert!(!own.contains("COLORTERM") && !own.contains("GITHUB_TOKEN") && own.contains("HOME="), "{own}");
    let told = format!("{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.code, 0);
    assert_eq!(ran.stdout.matches("GITHUB_TOKEN, LD_LIBRARY_PATH").count(), 1, "{told}");
    assert!(!told.contains("value-1"), "{told}");
    place.write("home/.config/checkrein/hooks.yaml", "env_allow: [GITHUB_TOKEN, LD_LIBRARY_PATH]\nhooks: []");
    let (ran, claude, _) = run(&place);
    assert!(claude.contains("GITHUB_TOKEN=value-1"), "{claude}");
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""));
}

/// Notes that apply to every tool call are sent with the first one only.
#[test]
fn persistent_warnings_are_sent_once_per_session() {
    let place =
        Place::untrusted(&[(".checkrein/hooks.yaml", "hooks: [{id: theirs, event: PreToolUse, command: 'true'}]")]);
    let sent = |session: &str| {
        format!(
            r#"{{"hook_event_name":"PreToolUse","session_id":"{session}","tool_name":"Bash","tool_input":{{"command":"ls"}}}}"#
        )
    };
    for (session, tells) in [("one", true), ("one", false), ("two", true), ("one", false)] {
        let ran = place.run_with(&["hook", "claude"], &sent(session));
        assert_eq!(ran.stdout.contains("approved"), tells, "{session}: {ran:?}");
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    }
}

/// Agents may leave descriptors open for all their children, such as a lock.
#[cfg(target_os = "linux")]
#[test]
fn descriptors_of_the_agent_do_not_reach_hooks() {
    let place = guarded("command: 'ls /proc/self/fd > descriptors'");
    let program = place.command(&["hook", "claude"]);
    let agent = std::process::Command::new("sh")
        .args(["-c", r#"exec 9</dev/null; printf %s "$1" | "$0" hook claude --home "$HOME""#])
        .arg(program.get_program())
        .arg(BASH)
        .current_dir(place.dir.path())
        .env("HOME", place.home.path().canonicalize().unwrap())
        .env_remove("XDG_CONFIG_HOME")
        .output()
        .unwrap();
    assert!(agent.status.success(), "{agent:?}");
    // The last one belongs to the directory that is being listed.
    assert_eq!(std::fs::read_to_string(place.dir.path().join("descriptors")).unwrap(), "0\n1\n2\n3\n");
}
