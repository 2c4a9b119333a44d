//! `checkrein status`.

use super::*;

fn status(place: &Place, agent: &str) -> (i32, Value) {
    let (code, json) = place.run_json(&["status", agent, "--json", "--no-versions"]);
    (code, json["agents"][0].clone())
}

#[test]
fn status_reports_changed_entries() {
    for (from, to, told) in [
        (
            "\"timeout\": 600,\n            \"onFailure\": \"block\"",
            "\"timeout\": 5",
            "the entry for PreToolUse is modified or outdated",
        ),
        ("/checkrein hook claude", "/gone/checkrein hook claude", "/gone/checkrein` not found"),
    ] {
        let place = Place::with(&[(CLAUDE, SETTINGS)]);
        place.fine(&["install", "claude"]);
        let text = place.read(CLAUDE);
        let changed = text.replace(from, to);
        assert_ne!(text, changed, "{from}");
        place.write(CLAUDE, &changed);
        let (code, agent) = status(&place, "claude");
        assert_eq!(code, 1);
        let drift = agent["places"][0]["drift"].to_string();
        assert!(drift.contains(told), "{drift}");
        // `install` fixes it.
        place.fine(&["install", "claude"]);
        assert_eq!(status(&place, "claude").0, 0);
        place.fine(&["uninstall", "claude"]);
        assert_eq!(place.read(CLAUDE), SETTINGS);
    }
}

#[test]
fn status_reports_missing_events() {
    let place = Place::with(&[]);
    place.fine(&["install", "gemini"]);
    let path = "home/.gemini/settings.json";
    let mut json = place.json(path);
    json["hooks"].as_object_mut().unwrap().remove("BeforeTool");
    place.write(path, &json.to_string());
    let (code, agent) = status(&place, "gemini");
    let user = &agent["places"][0];
    assert_eq!((code, &user["missing"]), (1, &serde_json::json!(["BeforeTool"])));
    assert!(user["covered"].as_array().unwrap().contains(&"AfterTool".into()));
    assert_eq!(
        user["left_out"],
        serde_json::json!(["PreCompress", "BeforeModel", "AfterModel", "BeforeToolSelection"])
    );
    assert_eq!((&agent["stays_open"], &agent["blocked_without_program"]), (&true.into(), &true.into()));
    let shown = place.run(&["status", "gemini", "--no-versions"]).stdout;
    for line in [
        "missing: BeforeTool",
        "if checkrein is killed: tools run",
        "if checkrein is missing: tools are blocked",
        "hooks are not called for: sub-agents",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
}

#[test]
fn status_reports_unreadable_settings() {
    let place = Place::with(&[(CLAUDE, "{ \"hooks\": ")]);
    let (code, agent) = status(&place, "claude");
    let user = &agent["places"][0];
    assert_eq!((code, user["state"].as_str()), (1, Some("broken")));
    assert!(user["why"].as_str().unwrap().contains("settings.json:1:"), "{user}");
}

#[test]
fn status_shows_versions_of_agents_on_path() {
    let place = Place::with(&[
        ("bin/claude", "#!/bin/sh\n[ \"$1\" = --version ] && echo '2.1.325 (Claude Code)'\n"),
        ("bin/codex", "#!/bin/sh\nexit 3\n"),
    ]);
    let mut command = place.command(&["status", "--json"]);
    command.env("PATH", place.path("bin"));
    let output = command.output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found: Vec<_> = json["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| (agent["agent"].as_str().unwrap(), agent["found"]["version"].clone()))
        .collect();
    assert_eq!(found, [("claude", "2.1.325".into()), ("codex", Value::Null)]);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn status_reports_disabled_hooks() {
    for (agent, path, text) in [
        ("claude", CLAUDE, "{\"disableAllHooks\": true}"),
        ("gemini", "home/.gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}}"),
        ("claude", ".claude/settings.json", "{\"disableAllHooks\": true}"),
    ] {
        let place = Place::with(&[(path, text)]);
        let told = format!("{} disables all hooks", path.replace("home/", "~/"));
        assert!(place.fine(&["install", agent]).stderr.contains(&told), "{path}");
        let ran = place.run(&["status", agent, "--no-versions"]);
        assert!(ran.code == 1 && ran.stdout.contains(&told), "{ran:?}");
    }
}

#[test]
fn status_reports_a_single_disabled_hook() {
    let place = Place::with(&[("home/.gemini/settings.json", "{\"hooksConfig\": {\"disabled\": [\"checkrein\"]}}")]);
    place.fine(&["install", "gemini"]);
    let ran = place.run(&["status", "gemini", "--no-versions"]);
    assert!(ran.code == 1 && ran.stdout.contains("changed: the entry for BeforeTool is disabled"), "{ran:?}");
}

#[test]
fn entry_in_an_unused_file_is_moved() {
    let (settings, hooks) = ("home/.factory/settings.json", "home/.factory/hooks.json");
    let place = Place::with(&[(settings, "{\"a\": 1}")]);
    place.fine(&["install", "factory"]);
    assert!(calls(&place.read(settings)) > 0 && !place.path(hooks).exists());
    // The agent ignores hooks of the other file if this one exists.
    place.write(hooks, "{}");
    let ran = place.run(&["status", "factory", "--no-versions"]);
    assert!(ran.code == 1 && ran.stdout.contains("the agent reads ~/.factory/hooks.json instead"), "{ran:?}");
    place.fine(&["install", "factory"]);
    assert!(calls(&place.read(hooks)) > 0);
    assert_eq!(place.read(settings), "{\"a\": 1}");
    place.fine(&["status", "factory", "--no-versions"]);
    place.fine(&["uninstall", "factory"]);
    assert_eq!((place.read(hooks).as_str(), place.read(settings).as_str()), ("{}", "{\"a\": 1}"));
}

#[test]
fn old_versions_ignore_on_failure() {
    for (version, open) in [("2.1.294", true), ("2.1.295", false), ("2.2.0", false), ("2.1.1000", false)] {
        let place = Place::with(&[("bin/claude", &format!("#!/bin/sh\necho '{version} (Claude Code)'\n"))]);
        place.fine(&["install", "claude"]);
        let output = place.command(&["status", "claude", "--json"]).env("PATH", place.path("bin")).output().unwrap();
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["agents"][0]["stays_open"], open, "{version}");
    }
}

#[test]
fn uninstall_warns_of_remaining_entries() {
    let place = Place::with(&[]);
    place.fine(&["install", "gemini"]);
    place.fine(&["install", "gemini", "--project"]);
    let ran = place.fine(&["uninstall", "gemini"]);
    let warning = ".gemini/settings.json still calls checkrein, and tools are blocked if checkrein is missing";
    assert!(ran.stderr.contains(warning), "{ran:?}");
    let ran = place.fine(&["uninstall", "gemini", "--project"]);
    assert!(!ran.stderr.contains("still calls"), "{ran:?}");
}

#[test]
fn effective_status_shows_conditions_and_hooks_that_cannot_block() {
    let place = Place::with(&[(
        "home/.config/checkrein/hooks.yaml",
        "audit: {path: ~/log.jsonl, on_failure: closed, max_age: 30d}
hooks:
  - {id: guard, event: PreToolUse, matcher: Bash, if: Bash(git push *), input: {command: ^git}, command: exit 0, sandbox: {network: false}}
  - {id: trial, event: PreToolUse, command: exit 0, dry_run: true}
  - {id: later, event: PreToolUse, command: exit 0, async: true}
",
    )]);
    let text = place.fine(&["status", "--effective"]).stdout;
    for line in [
        "  audit: ~/log.jsonl; failure -> block; new file after 30 days  ~/.config/checkrein/hooks.yaml:1 (user)",
        "           on Bash  if Bash(git push *)  if command matches ^git",
        "           sandbox: ",
        "           failure -> block at pre_tool_use",
        "           dry run: cannot block",
        "           in the background: cannot block",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let (_, json) = place.run_json(&["status", "--effective", "--json"]);
    assert_eq!((&json["audit"]["on_failure"], &json["audit"]["max_age_s"]), (&"closed".into(), &2_592_000.into()));
    let hooks = json["hooks"].as_array().unwrap();
    let field = |name: &str| hooks.iter().map(|hook| hook[name].clone()).collect::<Vec<_>>();
    assert_eq!(field("can_block"), [true, false, false]);
    assert_eq!(field("dry_run"), [false, true, false]);
    assert_eq!(field("waited_for"), [true, true, false]);
    assert_eq!(hooks.iter().map(|hook| &hook["events"][0]["gate"]).collect::<Vec<_>>(), [true, false, false]);
    assert_eq!(hooks[0]["if"], "Bash(git push *)");
    assert_eq!(hooks[0]["input"], serde_json::json!([{"field": "command", "pattern": "^git"}]));
    assert!(hooks[0]["sandbox"].is_string());
}
