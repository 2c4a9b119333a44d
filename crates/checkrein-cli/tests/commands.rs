//! Output and exit codes of the commands that read hooks and events.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use common::{Place, Ran};

const HOOKS: &str = r#"{
  // what a project has
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [
        { "id": "no-rm", "command": "grep -q 'rm -rf' || exit 0; echo 'move it instead' >&2; exit 2" },
        { "id": "ask-curl", "command": "grep -q curl && echo '{\"decision\":\"ask\",\"reason\":\"network\"}'; true" },
        { "id": "off", "command": "exit 2", "enabled": false }
      ] },
      { "matcher": "Write", "hooks": [{ "id": "breaks", "command": "echo oops >&2; exit 1" }] }
    ],
    "SessionStart": [{ "hooks": [{ "id": "greets", "command": "echo be kind" }] }]
  }
}
"#;

fn place() -> Place {
    Place::with(&[(".checkrein/hooks.json", HOOKS)])
}

#[track_caller]
fn fine(ran: Ran) -> String {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(ran.stderr, "");
    ran.stdout
}

#[test]
fn run_exits_with_the_code_of_the_verdict() {
    let place = place();
    for (arguments, code, last) in [
        (&["run", "PreToolUse", "--tool", "Bash"][..], 0, "=> no_opinion"),
        (
            &["run", "PreToolUse", "--tool", "Bash", "--input", r#"{"command":"rm -rf /"}"#],
            2,
            "=> deny: move it instead",
        ),
        (&["run", "pre_tool_use", "--input", r#"{"command":"curl x"}"#], 3, "=> ask: network"),
        (&["run", "PreToolUse", "--tool", "Write"], 4, "=> deny: hook `breaks`"),
        (&["run", "SessionStart"], 0, "   context for the model: be kind"),
        (&["run", "PreToolUse", "--set", "tool_input.command=rm -rf x"], 2, "=> deny: move it instead"),
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {}{}", ran.stdout, ran.stderr);
        assert!(ran.stdout.contains(last), "{arguments:?}:\n{}", ran.stdout);
    }
}

#[test]
fn run_reports_hooks_and_verdict() {
    insta::assert_snapshot!(place().run(&["run", "PreToolUse", "--input", r#"{"command":"rm -rf /"}"#]).stdout);
}

#[test]
fn run_prints_one_record_as_json() {
    let ran = place().run(&["run", "PreToolUse", "--tool", "Write", "--json"]);
    assert_eq!(ran.code, 4);
    insta::assert_snapshot!(ran.stdout);
}

#[test]
fn run_compares_the_rules_of_several_agents() {
    let ran = place().run(&["run", "PreToolUse", "--tool", "Write", "--as", "native", "--as", "claude"]);
    assert!(ran.stdout.contains("with the rules of claude"), "{}", ran.stdout);
    assert!(ran.stdout.contains("all rules give the same verdict"), "{}", ran.stdout);
    let hooks = "hooks:\n  PreToolUse:\n    - {command: 'echo no >&2; exit 2'}\n    - {command: 'echo {\\\"decision\\\":\\\"allow\\\"}'}\n";
    let place = Place::with(&[(".checkrein/hooks.yaml", hooks)]);
    let ran = place.run(&["run", "PreToolUse", "--as", "native", "--as", "claude", "--as", "claw"]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(ran.stdout.contains("with the rules of claw") && ran.stdout.contains("=> allow"), "{}", ran.stdout);
    assert!(ran.stdout.ends_with("\ndiffers from native: claw\n"), "{}", ran.stdout);
}

#[test]
fn payload_and_input_are_read_from_files_and_stdin() {
    let place = place();
    let payload = r#"{"tool_name":"Bash","tool_input":{"command":"rm -rf z"}}"#;
    assert_eq!(place.run_with(&["run", "PreToolUse", "--payload", "-"], payload).code, 2);
    assert_eq!(place.run_with(&["run", "PreToolUse", "--input", "-"], r#"{"command":"rm -rf z"}"#).code, 2);
    place.write("input.json", r#"{"command":"rm -rf z"}"#);
    assert_eq!(place.run(&["run", "PreToolUse", "--input", "@input.json"]).code, 2);
}

#[test]
fn usage_errors_name_the_cause() {
    let place = place();
    for (arguments, code, said) in [
        (&["run"][..], 64, "<EVENT>"),
        (&["run", "PreToolUsee"], 64, "did you mean `PreToolUse`?"),
        (&["run", "PreToolUse", "--as", "cluade"], 64, "did you mean `claude`?"),
        (&["run", "PreToolUse", "--input", "{"], 64, "`--input` must be JSON"),
        (&["run", "PreToolUse", "--input", "@none.json"], 64, "cannot read none.json"),
        (&["run", "PreToolUse", "--payload", "none.json"], 64, "cannot read none.json"),
        (&["run", "PreToolUse", "--set", "x"], 64, "has no `=`; write PATH=VALUE"),
        (&["run", "Stop", "--tool", "Bash"], 64, "`Stop` has no tool"),
        (&["run", "PreToolUse", "--config", "none.json"], 64, "cannot read none.json"),
        (&["list", "--dir", "none"], 64, "cannot open the directory none"),
        (&["check", "--explain", "exit1"], 64, "did you mean `exit-1`?"),
        (&["check", "none.json"], 64, "cannot read none.json"),
        (&["convert", "--from", "native", "--to", "claude", "none.json"], 64, "cannot read none.json"),
        (&["init", "--from", "claude", "none.json"], 64, "cannot read none.json"),
        (&["bench", "--tool", "Bash"], 64, "event data without an event"),
        (&["say", "deny", "no", "--event", "PreToolUsee"], 64, "did you mean `PreToolUse`?"),
        (&["say", "rewrite", "{"], 64, "TEXT must be the new tool input as JSON"),
        (&["say", "rewrite", "{}", "--event", "Stop"], 64, "hooks cannot rewrite anything"),
        (&["say", "context", "x", "--event", "SessionEnd"], 64, "does not support"),
        (&["nonsense"], 64, "unrecognized subcommand"),
    ] {
        let ran = place.run(arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(said), "{arguments:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{arguments:?}");
    }
}

#[test]
fn explain_and_list_show_hooks() {
    let place = place();
    insta::assert_snapshot!("explain", fine(place.run(&["explain", "PreToolUse", "--tool", "Bash"])));
    insta::assert_snapshot!("list", fine(place.run(&["list"])));
    let list: serde_json::Value = serde_json::from_str(&fine(place.run(&["list", "--json"]))).unwrap();
    assert_eq!(list["hooks"].as_array().unwrap().len(), 5);
    let nowhere = Place::with(&[]);
    assert!(fine(nowhere.run(&["list"])).starts_with("no hooks. Create some: checkrein init [--user]\n"));
}

#[test]
fn check_finds_problems() {
    let place = Place::with(&[(
        ".checkrein/hooks.yaml",
        "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - command: ./guard.sh\n          timout: 5\n",
    )]);
    let ran = place.run(&["check"]);
    assert_eq!(ran.code, 1);
    insta::assert_snapshot!(ran.stdout);
    let sarif: serde_json::Value = serde_json::from_str(&place.run(&["check", "--sarif"]).stdout).unwrap();
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "unknown-key");
    place.write("guard.sh", "#!/bin/sh\ntrue\n");
    place.write(".checkrein/hooks.yaml", "hooks:\n  PreToolUse:\n    - command: ./guard.sh\n");
    assert_eq!(fine(place.run(&["check", "--strict"])), "1 hook in 1 file: 0 errors, 0 warnings\n");
}

#[test]
fn skipped_hooks_are_reported() {
    let place = place();
    let arguments = ["run", "PreToolUse", "--input", r#"{"command":"rm -rf /"}"#];
    for (name, value) in [("CHECKREIN", "0"), ("CHECKREIN_SKIP", "no-rm")] {
        let ran = place.ran(place.command(&arguments).env(name, value).output().unwrap());
        assert_eq!(ran.code, 0, "{name}: {}", ran.stdout);
        assert!(ran.stderr.contains(&format!("is skipped ({name}={value})")), "{}", ran.stderr);
    }
}

#[test]
fn helpers_for_scripts() {
    let place = Place::with(&[]);
    let payload = r#"{"tool_input":{"command":"ls","edits":[{"path":"a"}]},"n":null}"#;
    for (arguments, code, out) in [
        (&["get", "tool_input.command"][..], 0, "ls\n"),
        (&["get", "tool_input.edits.0"], 0, "{\"path\":\"a\"}\n"),
        (&["get", "n"], 1, ""),
        (&["get", "none", "--default", "x"], 0, "x\n"),
        (&["get", "tool_input.command", "--json"], 0, "\"ls\"\n"),
    ] {
        let ran = place.run_with(arguments, payload);
        assert_eq!((ran.code, ran.stdout.as_str()), (code, out), "{arguments:?} {}", ran.stderr);
    }
    for (arguments, code, stdout, stderr) in [
        (
            &["say", "deny", "no", "--as", "claude"][..],
            0,
            "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"no\"}}\n",
            "",
        ),
        (&["say", "deny", "no", "--as", "ub"], 1, "", "no\n"),
        (
            &["say", "ask", "sure", "--as", "claude", "--event", "UserPromptSubmit"],
            0,
            "{\"decision\":\"block\",\"reason\":\"Needs the user's confirmation, and Claude Code hooks cannot ask for it at UserPromptSubmit. (sure)\"}\n",
            "checkrein: Claude Code hooks cannot ask at UserPromptSubmit, so this was denied\n",
        ),
        (&["say", "deny"], 64, "", "error"),
    ] {
        let ran = place.run(arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (code, stdout), "{arguments:?} {}", ran.stderr);
        assert!(ran.stderr.starts_with(stderr), "{arguments:?} {}", ran.stderr);
    }
}

#[test]
fn events_schemas_completions_and_manuals() {
    let place = Place::with(&[]);
    insta::assert_snapshot!(fine(place.run(&["events", "PreToolUse", "--as", "claude"])));
    let listed = fine(place.run(&["events", "--as", "evva"]));
    let (events, sources) = listed.split_once("\n\nsources:\n").unwrap();
    assert_eq!((events.lines().count(), sources.lines().count()), (6, 1));
    let (_, event) = place.run_json(&["events", "PreModelRequest", "--as", "codex", "--json"]);
    assert_eq!((&event["evidence"]["known"], &event["evidence"]["version"]), (&"uncertain".into(), &"0.169.0".into()));
    for what in ["config", "event", "answer", "record", "test-cases", "test-report"] {
        let schema: serde_json::Value = serde_json::from_str(&fine(place.run(&["schema", what]))).unwrap();
        assert!(schema["$schema"].is_string(), "{what}");
    }
    for shell in ["bash", "zsh", "fish"] {
        assert!(fine(place.run(&["completions", shell])).contains("checkrein"));
    }
    assert!(fine(place.run(&["man"])).contains(".TH checkrein 1"));
    fine(place.run(&["man", "--dir", "pages"]));
    assert!(place.dir.path().join("pages/checkrein-run.1").is_file());
}

#[test]
fn convert_lists_losses_and_refuses_to_lose_blocking_hooks() {
    let place = place();
    let text = fine(place.run(&["convert", "--from", "native", "--to", "native"]));
    assert!(text.contains("\"id\": \"no-rm\""), "{text}");
    let ran = place.run(&["convert", "--from", "native", "--to", "claude"]);
    assert_eq!(ran.code, 1, "a hook that is off cannot be written there: {}", ran.stderr);
    assert!(ran.stderr.contains("nothing written: ") && ran.stdout.is_empty(), "{}", ran.stderr);
    let ran = place.run(&["convert", "--from", "native", "--to", "claude", "--force", "--output", "out.json"]);
    assert_eq!(ran.code, 1, "hooks are lost: {}", ran.stderr);
    let ran = place.run(&[
        "run",
        "PreToolUse",
        "--as",
        "claude",
        "--config",
        "out.json",
        "--input",
        r#"{"command":"rm -rf /"}"#,
    ]);
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    let again = place.run(&["convert", "--from", "native", "--to", "native", "--output", "out.json"]);
    assert!(again.code == 1 && again.stderr.contains("`out.json` already exists"), "{}", again.stderr);
}

/// Runs the program with a closed pipe as standard output.
fn unread(place: &Place, arguments: &[&str]) -> Ran {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    place.ran(place.command(arguments).stdin(std::process::Stdio::null()).stdout(writer).output().unwrap())
}

#[test]
fn exit_code_is_kept_if_output_is_not_read() {
    let place = place();
    place.write("bad.json", "{");
    place.write("it.test.yaml", "cases: [{name: x, event: PreToolUse, expect: {decision: deny}}]");
    for (arguments, code) in [
        (&["run", "PreToolUse", "--set", "tool_input.command=rm -rf x"][..], 2),
        (&["run", "PreToolUse", "--set", "tool_input.command=curl x", "--json"], 3),
        (&["check", "bad.json"], 1),
        (&["check", "bad.json", "--sarif"], 1),
        (&["test", "it.test.yaml"], 1),
        (&["list"], 0),
        (&["events"], 0),
    ] {
        let ran = unread(&place, arguments);
        assert_eq!(ran.code, code, "{arguments:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("pipe"), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn say_exits_with_2_if_its_output_is_not_read() {
    for (what, text, code) in [("deny", "no", 2), ("ask", "well", 2), ("halt", "enough", 2), ("rewrite", "{}", 2)] {
        let ran = unread(&place(), &["say", what, text, "--as", "claude"]);
        assert_eq!(ran.code, code, "{what}: {}", ran.stderr);
    }
    assert_eq!(unread(&place(), &["say", "context", "red", "--as", "claude"]).code, 1);
}

#[test]
fn skipped_hooks_are_in_record_explain_and_list() {
    let place = place();
    let skipping = |arguments: &[&str]| {
        place.ran(place.command(arguments).env("CHECKREIN_SKIP", "no-rm").output().unwrap()).stdout
    };
    let record: serde_json::Value =
        serde_json::from_str(&skipping(&["run", "PreToolUse", "--json"]).replace(": N", ": 0")).unwrap();
    let first = &record["hooks"][0];
    assert_eq!(
        (&first["id"], &first["outcome"], &first["detail"]),
        (&"no-rm".into(), &"skipped".into(), &"CHECKREIN_SKIP=no-rm".into())
    );
    assert_eq!(record["hooks"][1]["id"], "ask-curl");
    let run = skipping(&["run", "PreToolUse"]);
    assert!(run.contains("  skipped no-rm") && run.contains("      CHECKREIN_SKIP=no-rm"), "{run}");
    let explain = skipping(&["explain", "PreToolUse"]);
    assert!(explain.contains("skipped: CHECKREIN_SKIP=no-rm"), "{explain}");
    let list = skipping(&["list"]);
    assert!(list.contains("[skipped: CHECKREIN_SKIP=no-rm]"), "{list}");
}

#[test]
fn run_shows_stream_sizes_and_reasons() {
    let hooks = "hooks:\n  SessionStart:\n    - id: talks\n      command: printf %020000d 0; printf %017000d 0 >&2\n    - id: elsewhere\n      matcher: resume\n      command: 'true'\n";
    let ran = Place::with(&[(".checkrein/hooks.yaml", hooks)]).run(&["run", "SessionStart"]);
    for said in [
        "stdout (20000 bytes, of which 16384 were kept):",
        "stderr (17000 bytes, of which 16384 were kept):",
        "ran: no matcher",
        "skip elsewhere .checkrein/hooks.yaml:5 (matcher `resume` does not match `startup`)",
    ] {
        assert!(ran.stdout.contains(said), "{said}: {}", ran.stdout);
    }
}

#[test]
fn run_uses_the_hooks_of_the_named_agent() {
    let hook =
        |command: &str| format!("{{hooks: {{pre_tool_use: [{{hooks: [{{type: command, command: '{command}'}}]}}]}}}}");
    let file = format!("agents:\n  root: {}\n  guard: {}\n", hook("true"), hook("echo no >&2; exit 2"));
    let place = Place::with(&[("team.yaml", &file)]);
    for (agent, code) in [("root", 0), ("guard", 2)] {
        let ran =
            place.run(&["run", "pre_tool_use", "--as", "docker-agent", "--config", "team.yaml", "--agent", agent]);
        assert_eq!(ran.code, code, "{agent}: {}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn events_with_effects_have_an_example_answer() {
    for dialect in checkrein::dialects::ALL {
        let (code, events) = place().run_json(&["events", "--json", "--as", dialect.name]);
        assert_eq!(code, 0);
        for event in events.as_array().unwrap() {
            let answer = &event["answer"];
            let says_something = !answer["stdout"].is_null() || answer["exit"] != 0;
            let may = !event["may"].as_array().unwrap().is_empty();
            assert_eq!(says_something, may, "{} {}: {answer}", dialect.name, event["name"]);
        }
    }
    let text = fine(place().run(&["events", "SessionStart", "--as", "kiro"]));
    assert!(text.ends_with("\nexample answer (standard output):\nthe build is red\n"), "{text}");
}

#[test]
fn comment_silences_every_lint() {
    let hooks = "hooks:\n  PreToolUse:\n    - {id: late, async: true, command: 'true'}\n";
    let place = Place::with(&[("a.yaml", hooks), ("b.yaml", &format!("# checkrein: allow background-gate\n{hooks}"))]);
    let found = |file: &str| place.run(&["check", "--strict", "--config", file]);
    assert_eq!(found("a.yaml").code, 1);
    assert!(found("a.yaml").stdout.contains("warning[background-gate]"), "{}", found("a.yaml").stdout);
    assert_eq!(fine(found("b.yaml")), "1 hook in 1 file: 0 errors, 0 warnings\n");
    let ran = place.run(&["check", "b.yaml", "--allow", "exit1"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.contains("unknown lint `exit1`, did you mean `exit-1`?"), "{}", ran.stderr);
}

#[test]
fn sarif_locations_are_valid_uris() {
    let hooks = "hooks:\n  PreToolUse:\n    - command: './no such.sh'\n";
    let place = Place::with(&[("a b/ü.yaml", hooks)]);
    let elsewhere = Place::with(&[("else where.yaml", hooks)]);
    let (_, report) = place.run_json(&["check", "--sarif", "a b/ü.yaml"]);
    let file = |report: &serde_json::Value| {
        report["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"].clone()
    };
    assert_eq!(file(&report), serde_json::json!({ "uri": "a%20b/%C3%BC.yaml", "uriBaseId": "%SRCROOT%" }));
    let root = &report["runs"][0]["originalUriBaseIds"]["%SRCROOT%"]["uri"];
    assert_eq!(root, &format!("file://{}/", place.dir.path().canonicalize().unwrap().display()));
    let other = elsewhere.dir.path().canonicalize().unwrap().join("else where.yaml");
    let (_, report) = place.run_json(&["check", "--sarif", &other.to_string_lossy()]);
    assert_eq!(file(&report)["uri"], format!("file://{}", other.display()).replace(' ', "%20"));
}

#[test]
fn hook_that_cannot_be_loaded_is_reported_once_with_its_id() {
    let hooks = "hooks:\n  PreToolUse:\n    - id: guard\n      matcher: 'Ba(sh'\n      command: 'true'\n    - id: late\n      async: true\n      command: 'true'\n";
    let ran = Place::with(&[(".checkrein/hooks.yaml", hooks)]).run(&["run", "PreToolUse"]);
    assert_eq!(ran.code, 4);
    assert!(ran.stdout.contains("  not run guard .checkrein/hooks.yaml:3 "), "{}", ran.stdout);
    for told in ["unclosed group", "started in the background (cannot block)"] {
        assert_eq!(ran.stdout.matches(told).count(), 1, "{told}: {}", ran.stdout);
    }
    assert_eq!(ran.stderr, "", "the report has everything");
}

#[test]
fn missing_hooks_hint_at_other_agents() {
    let settings = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#;
    let claude = Place::with(&[(".claude/settings.json", settings)]);
    let none = Place::with(&[("empty.yaml", "hooks: {}\n")]);
    for arguments in [&["run", "PreToolUse"][..], &["explain", "PreToolUse"], &["list"]] {
        let ran = claude.run(arguments);
        assert_eq!(
            (ran.code, ran.stderr.as_str()),
            (0, "checkrein: no checkrein hooks here; other agents have some: Claude Code (--as claude)\n")
        );
        assert_eq!(claude.run(&[arguments, &["--as", "claude"]].concat()).stderr, "", "{arguments:?}");
        let ran = none.run(arguments);
        let hints = ran.stderr.contains("`checkrein list -v` shows the searched files");
        assert_eq!((ran.code, hints), (0, arguments != ["list"]), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn get_prints_the_whole_payload_for_a_dot() {
    assert_eq!(place().run_with(&["get", "."], "{\"a\": 1}\n").stdout, "{\"a\": 1}\n");
}

#[test]
fn run_shows_the_status_of_an_endpoint() {
    use std::io::{Read, Write};

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut request = [0; 64 * 1024];
        let _ = stream.read(&mut request).unwrap();
        stream.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}").unwrap();
        // Closing with unread input would discard the answer.
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let _ = stream.read_to_end(&mut Vec::new());
    });
    let hooks = format!("hooks:\n  PreToolUse:\n    - {{id: asks, url: '{url}'}}\n");
    let ran = Place::with(&[(".checkrein/hooks.yaml", &hooks)]).run(&["run", "PreToolUse"]);
    assert!(ran.stdout.contains("(project, http, status 202, N ms)"), "{}{}", ran.stdout, ran.stderr);
    server.join().unwrap();
}

#[test]
fn list_and_explain_show_the_sandbox() {
    let hooks = r#"{ "hooks": { "PreToolUse": [{ "hooks": [
        { "id": "caged", "command": "true", "sandbox": { "network": true, "read": ["~/rules"] } },
        { "id": "free", "command": "true" }
    ] }] } }"#;
    let place = Place::with(&[(".checkrein/hooks.json", hooks)]);
    let said = "project read, outside none, reads ~/rules, network";
    let listed = fine(place.run(&["list"]));
    assert_eq!(listed.matches("sandbox: ").count(), 1, "{listed}");
    assert!(listed.contains(&format!("    sandbox: {said}\n")), "{listed}");
    assert!(fine(place.run(&["explain", "PreToolUse"])).contains("(no matcher; in a sandbox)\n"));
    for command in [&["list", "--json"][..], &["explain", "PreToolUse", "--json"]] {
        let found: serde_json::Value = serde_json::from_str(&fine(place.run(command))).unwrap();
        assert_eq!(found["hooks"][0]["sandbox"], said, "{command:?}");
        assert!(found["hooks"][1]["sandbox"].is_null(), "{command:?}");
    }
}

/// `list` reports the effect of a failure that `run` then has, also at events that are no gates.
#[test]
fn list_and_run_agree_on_failures() {
    let place = Place::with(&[(
        ".claude/settings.json",
        r#"{"hooks":{"PreToolUse":["exit 1"],"PostToolUse":["exit 1"],"PostToolUseFailure":["exit 1"]}}"#,
    )]);
    let list: serde_json::Value = serde_json::from_str(&fine(place.run(&["list", "--as", "claw", "--json"]))).unwrap();
    for hook in list["hooks"].as_array().unwrap() {
        let event = &hook["events"][0];
        assert_eq!(event["on_failure"], "closed", "{hook}");
        let ran = place.run(&["run", event["name"].as_str().unwrap(), "--as", "claw", "--json"]);
        assert!(ran.stdout.contains(r#""decision": "deny""#), "{}", ran.stdout);
    }
    let listed = fine(place.run(&["list", "--as", "claw"]));
    assert_eq!(listed.matches("failure -> block").count(), 3, "{listed}");
}
