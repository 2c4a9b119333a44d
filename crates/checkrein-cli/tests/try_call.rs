//! `checkrein try`: the verdict and the answer under each agent, without a trace.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use common::Place;

const HOOKS: &str = r#"hooks:
  - {id: commands, event: PreToolUse, builtin: block_dangerous_commands, args: [--ask=git_push]}
  - {id: files, event: PreToolUse, builtin: protect_paths, args: [.env]}
  - {id: counted, event: PreToolUse, matcher: Bash, command: 'echo x >> "$HOME/ran"'}
"#;

fn place() -> Place {
    Place::with(&[("home/.config/checkrein/hooks.yaml", HOOKS)])
}

#[test]
fn each_agent_shows_its_verdict_hook_and_answer() {
    let place = place();
    let ran = place.run(&["try", "git push --force"]);
    assert_eq!(ran.stderr, "checkrein: no agent was found on this machine; claude and codex are examples\n");
    insta::assert_snapshot!(ran.stdout);
    assert_eq!(ran.code, 3);
    let ran = place.run(&["try", "rm -rf ~/", "--as", "gemini,claude"]);
    let told = "deny  commands ~/.config/checkrein/hooks.yaml:2\n        denied; the model reads: this deletes a system \
                directory or the home directory; delete only named files and directories of the project (rule rm_root)\n";
    assert!(
        ran.stdout.contains(&format!("gemini  {told}")) && ran.stdout.contains(&format!("claude  {told}")),
        "{ran:?}"
    );
    assert_eq!(ran.code, 2);
    let ran = place.run(&["try", "ls", "--as", "claude"]);
    assert!(ran.stdout.starts_with("claude  no opinion\n        continues as it would without hooks\n"), "{ran:?}");
}

#[test]
fn tools_and_files_have_the_names_of_each_agent() {
    let place = place();
    for call in [
        &["try", "--path", ".env"][..],
        &["try", "--tool", "Write", "--path", ".env"],
        &["try", "--tool", "Edit", "--path", ".env"],
    ] {
        let (code, json) = place.run_json(&[call, &["--json"]].concat());
        let tools: Vec<_> = json["agents"].as_array().unwrap().iter().map(|agent| &agent["tool"]).collect();
        let own = if call.contains(&"Edit") { "Edit" } else { "Write" };
        assert_eq!(tools, [own, "apply_patch"], "{json:#}");
        assert!(json["agents"].as_array().unwrap().iter().all(|agent| agent["hook"]["id"] == "files"), "{json:#}");
        assert_eq!(code, 2);
    }
    let ran = place.run(&["try", "--tool", "Read", "--path", "a"]);
    assert!(ran.stdout.ends_with("codex   skipped (codex has no tool for `Read`)\n"), "{ran:?}");
    let input = r#"{"url": "https://x.test"}"#;
    assert_eq!(place.run(&["try", "--tool", "WebFetch", "--input", input, "--as", "claude"]).code, 0);
    // The name of another agent's tool.
    let ran = place.run(&["try", "--tool", "run_shell_command", "ls", "--as", "gemini,claude"]);
    assert!(ran.stdout.contains("claude  skipped (claude has no tool for `run_shell_command`)\n"), "{ran:?}");
    for tool in ["mcp__files__list", "deploy_everything"] {
        assert_eq!(place.run(&["try", "--tool", tool, "--input", input, "--as", "claude"]).code, 0, "{tool}");
    }
}

/// Removes the code of `checkrein approve`, which a trial does not have.
fn without_code(answer: &str) -> String {
    let mut parts = answer.trim().split("checkrein approve ");
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |text, part| text + "checkrein approve " + part.trim_start_matches(|c: char| c != '`'))
}

/// The answer is that of `checkrein hook`, for the same payload.
#[test]
fn the_answer_is_that_of_hook() {
    let place = place();
    for line in ["git push", "rm -rf /", "ls"] {
        for agent in ["claude", "codex", "gemini", "copilot", "cline"] {
            let (_, json) = place.run_json(&["try", line, "--as", agent, "--json"]);
            let tool = json["agents"][0]["tool"].as_str().unwrap().to_owned();
            let event = checkrein::dialects::find(agent).unwrap();
            let input = checkrein::RawJson::parse(serde_json::json!({ "command": line }).to_string()).unwrap();
            let call = checkrein_tools::AgentCall::tool(
                event,
                &checkrein::EventKind::PreToolUse,
                "Bash",
                &input,
                &place.dir.path().canonicalize().unwrap(),
            );
            let call = call.unwrap();
            assert_eq!(call.event.tool_name(), Some(tool.as_str()));
            let mut words = vec!["hook", agent];
            words.extend(call.event_name.iter().flat_map(|name| ["--event", name]));
            let ran = place.run_with(&words, std::str::from_utf8(&call.payload).unwrap());
            let answer = &json["agents"][0]["answer"];
            let told = without_code(&ran.stdout);
            assert_eq!(without_code(answer["stdout"].as_str().unwrap()), told, "{agent} {line}");
            assert_eq!(answer["exit"], ran.code, "{agent} {line}");
        }
    }
}

#[test]
fn no_state_changes_and_hooks_run() {
    let hooks = "audit: true\nhooks:\n  - {id: once, event: PreToolUse, once: true, command: 'echo no >&2; exit 2'}\n  - {id: \
                 stop, event: Stop, command: 'echo more >&2; exit 2'}\n";
    let place = Place::with(&[("home/.config/checkrein/hooks.yaml", hooks)]);
    for _ in 0..3 {
        // A hook that runs once per session runs in each trial.
        assert_eq!(place.run(&["try", "ls", "--as", "claude"]).code, 2);
    }
    for _ in 0..12 {
        // The limit for refused stops is not reached.
        let ran = place.run(&["try", "--event", "Stop", "--as", "claude"]);
        assert!(ran.code == 2 && ran.stdout.contains("more"), "{ran:?}");
    }
    let state = place.home.path().join(".local/state/checkrein");
    for trace in ["sessions", "audit.jsonl", "audit"] {
        assert!(!state.join(trace).exists(), "{trace}");
    }
    let tail = place.run(&["audit", "tail"]);
    assert!(!tail.stdout.contains("pre_tool_use"), "{tail:?}");
}

#[test]
fn agents_that_do_not_call_checkrein_are_named() {
    let place = place();
    place.write("home/.claude/settings.json", "{}\n");
    let ran = place.run(&["try", "ls"]);
    assert!(ran.stdout.contains("note: claude does not call checkrein yet: `checkrein install claude`"), "{ran:?}");
    assert!(!ran.stdout.contains("codex"), "{ran:?}");
    place.run(&["install", "claude", "--yes"]);
    let ran = place.run(&["try", "ls"]);
    assert_eq!(ran.stdout, "claude  no opinion\n        continues as it would without hooks\n", "{ran:?}");
    // An agent is shown once.
    assert_eq!(place.run(&["try", "ls", "--as", "claude,claude"]).stdout, ran.stdout);
    // `checkrein install` does not know this one.
    let ran = place.run(&["try", "ls", "--as", "native"]);
    assert!(ran.code == 0 && !ran.stdout.contains("checkrein install"), "{ran:?}");
}

#[test]
fn failures_and_missing_hooks_are_reported() {
    let place = Place::with(&[(
        "home/.config/checkrein/hooks.yaml",
        "hooks:\n  - {id: f, event: PreToolUse, command: exit 7}\n",
    )]);
    let ran = place.run(&["try", "ls", "--as", "claude"]);
    assert!(
        ran.code == 4 && ran.stdout.starts_with("claude  deny  f ~/.config/checkrein/hooks.yaml:2 failed\n"),
        "{ran:?}"
    );
    let ran = Place::with(&[]).run(&["try", "ls", "--as", "claude"]);
    assert!(ran.code == 0 && ran.stderr.contains("no checkrein hooks here; `checkrein init` writes some"), "{ran:?}");
    // Hooks of a project need approval.
    let place =
        Place::untrusted(&[(".checkrein/hooks.yaml", "hooks:\n  - {id: f, event: PreToolUse, command: exit 2}\n")]);
    let ran = place.run(&["try", "ls", "--as", "claude"]);
    assert!(ran.code == 0 && ran.stdout.contains("not approved"), "{ran:?}");
    assert_eq!(place.run(&["try", "ls", "--as", "claude", "--trust-all"]).code, 2);
}

#[test]
fn questions_without_a_meaning_are_usage_errors() {
    let place = place();
    for (call, says) in [
        (&["try"][..], "pass a command"),
        (&["try", " "], "the command is empty"),
        (&["try", "--input", "[]"], "--input must be a JSON object"),
        (&["try", "--input", "{x"], "--input must be JSON"),
        (&["try", "--tool", "Bash", "--path", "x"], "`Bash` has no --path"),
        (&["try", "ls", "--event", "Stop"], "`Stop` has neither a command nor a prompt"),
        (&["try", "--path", "x", "--event", "Stop"], "`Stop` has no tool"),
        (&["try", "ls", "--path", "x"], "cannot be used with"),
        (&["try", "ls", "--as", "claud"], "did you mean `claude`?"),
        (&["try", "--tool", "Bahs", "ls"], "unknown tool `Bahs`; did you mean `Bash`?"),
        (&["try", "--tool", "Zzzz", "ls"], "unknown tool `Zzzz`; common names are `Bash`"),
        (&["try", "--tool", "Wrte", "--path", "x"], "unknown tool `Wrte`; did you mean `Write`?"),
        (&["try", "--tool", "Wrte", "--input", "{}"], "did you mean `Write`?"),
    ] {
        let ran = place.run(call);
        assert!(ran.code == 64 && ran.stderr.contains(says) && ran.stdout.is_empty(), "{call:?}: {ran:?}");
    }
}

/// A deciding rule shows the part of its condition that decided.
#[test]
fn deciding_rule_shows_the_deciding_part() {
    let rules = r#"hooks:
  - id: no-push
    vars: { pushes: 'commands.filter(c, c.program == "git" && c.subcommand == "push")' }
    when: vars.pushes.exists(c, c.git.targets.exists(b, b in ["main", "master"]))
    deny: no push
"#;
    let place = Place::with(&[("home/.config/checkrein/hooks.yaml", rules)]);
    let ran = place.run(&["try", "git push origin HEAD:main", "--as", "claude"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    let because = "because `git push origin HEAD:main`: c.git.targets.exists(b, b in [\"main\", \"master\"]) = true\n";
    assert!(ran.stdout.contains(because), "{}", ran.stdout);
    let (_, json) = place.run_json(&["try", "git push origin HEAD:main", "--as", "claude", "--json"]);
    assert_eq!(json["agents"][0]["rule"]["value"], true, "{json:#}");
    let ran = place.run(&["run", "PreToolUse", "--tool", "Bash", "--command", "git push origin HEAD:main"]);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.stdout.contains(because), "{}", ran.stdout);
    // An unknown part is named.
    let ran = place.run(&["try", "git push origin $X", "--as", "claude"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.stdout.contains("= unknown: "), "{}", ran.stdout);
    // Other calls have no part.
    assert!(!place.run(&["try", "git push origin fix", "--as", "claude"]).stdout.contains("because"));
}

/// checkrein refuses the call by itself: no hook failed.
#[test]
fn refusal_of_an_own_command_is_no_failure() {
    let place = place();
    let command = "checkrein approve 7KQ2M-9XDTR";
    assert_eq!(place.run(&["try", command, "--as", "claude"]).code, 2);
    let (code, json) = place.run_json(&["try", command, "--as", "claude", "--json"]);
    assert_eq!((code, &json["agents"][0]["failed_closed"]), (2, &serde_json::json!(false)), "{json:#}");
}

#[test]
fn decision_about_a_rewritten_call_is_not_explained_with_the_old_input() {
    let place = Place::with(&[(
        "home/.config/checkrein/hooks.yaml",
        "hooks:\n  - { id: change, when: 'commands.exists(c, c.program == \"ls\")', rewrite: { command: rm -rf / } }\n  \
         - { id: guard, when: 'commands.exists(c, c.program == \"rm\")', deny: no }\n",
    )]);
    let ran = place.run(&["try", "ls", "--as", "claude"]);
    let wanted = "because its condition is true for the input that an earlier hook rewrote";
    assert!(ran.code == 2 && ran.stdout.contains(wanted) && !ran.stdout.contains("= false"), "{ran:?}");
}

#[test]
fn agent_with_an_own_event_for_mcp_tools_is_tried() {
    let ran = place().run(&["try", "--tool", "mcp__files__list", "--input", "{}", "--as", "windsurf"]);
    assert!(ran.code == 0 && ran.stdout.starts_with("windsurf  no opinion"), "{ran:?}");
}
