//! `checkrein status`.

use super::*;

fn status(place: &Place, agent: &str) -> (i32, Value) {
    let (code, json) = place.run_json(&["status", agent, "--json", "--no-versions"]);
    (code, json["agents"][0].clone())
}

#[test]
fn drift_is_told() {
    for (from, to, told) in [
        (
            "\"timeout\": 600,\n            \"onFailure\": \"block\"",
            "\"timeout\": 5",
            "the entry for PreToolUse is not as it would be written now",
        ),
        ("/checkrein hook claude", "/gone/checkrein hook claude", "/gone/checkrein is not there"),
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
        // And mended.
        place.fine(&["install", "claude"]);
        assert_eq!(status(&place, "claude").0, 0);
        place.fine(&["uninstall", "claude"]);
        assert_eq!(place.read(CLAUDE), SETTINGS);
    }
}

#[test]
fn events_that_are_missing_are_told() {
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
        "if checkrein is killed: tools run (stays open)",
        "if the program is gone: tools are blocked",
        "no hook hears of: sub-agents as such",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
}

#[test]
fn a_file_that_nobody_can_read_is_told() {
    let place = Place::with(&[(CLAUDE, "{ \"hooks\": ")]);
    let (code, agent) = status(&place, "claude");
    let user = &agent["places"][0];
    assert_eq!((code, user["state"].as_str()), (1, Some("broken")));
    assert!(user["why"].as_str().unwrap().contains("settings.json:1:"), "{user}");
}

#[test]
fn agents_on_path_tell_their_version() {
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
fn hooks_that_are_switched_off_are_told() {
    for (agent, path, text) in [
        ("claude", CLAUDE, "{\"disableAllHooks\": true}"),
        ("gemini", "home/.gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}}"),
        ("claude", ".claude/settings.json", "{\"disableAllHooks\": true}"),
    ] {
        let place = Place::with(&[(path, text)]);
        let told = format!("all hooks are switched off in DIR/{path}");
        assert!(place.fine(&["install", agent]).stderr.contains(&told), "{path}");
        let ran = place.run(&["status", agent, "--no-versions"]);
        assert!(ran.code == 1 && ran.stdout.contains(&told), "{ran:?}");
    }
}

#[test]
fn one_hook_that_is_switched_off_is_told() {
    let place = Place::with(&[("home/.gemini/settings.json", "{\"hooksConfig\": {\"disabled\": [\"checkrein\"]}}")]);
    place.fine(&["install", "gemini"]);
    let ran = place.run(&["status", "gemini", "--no-versions"]);
    assert!(ran.code == 1 && ran.stdout.contains("drift: the entry for BeforeTool is switched off"), "{ran:?}");
}

#[test]
fn an_entry_in_a_file_that_is_not_read_any_more_is_moved() {
    let (settings, hooks) = ("home/.factory/settings.json", "home/.factory/hooks.json");
    let place = Place::with(&[(settings, "{\"a\": 1}")]);
    place.fine(&["install", "factory"]);
    assert!(calls(&place.read(settings)) > 0 && !place.path(hooks).exists());
    // This file takes the place of the hooks in the other one.
    place.write(hooks, "{}");
    let ran = place.run(&["status", "factory", "--no-versions"]);
    assert!(ran.code == 1 && ran.stdout.contains("the agent reads DIR/home/.factory/hooks.json instead"), "{ran:?}");
    place.fine(&["install", "factory"]);
    assert!(calls(&place.read(hooks)) > 0);
    assert_eq!(place.read(settings), "{\"a\": 1}");
    place.fine(&["status", "factory", "--no-versions"]);
    place.fine(&["uninstall", "factory"]);
    assert_eq!((place.read(hooks).as_str(), place.read(settings).as_str()), ("{}", "{\"a\": 1}"));
}

#[test]
fn a_version_that_overlooks_the_switch_stays_open() {
    for (version, open) in [("2.1.294", true), ("2.1.295", false), ("2.2.0", false), ("2.1.1000", false)] {
        let place = Place::with(&[("bin/claude", &format!("#!/bin/sh\necho '{version} (Claude Code)'\n"))]);
        place.fine(&["install", "claude"]);
        let output = place.command(&["status", "claude", "--json"]).env("PATH", place.path("bin")).output().unwrap();
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["agents"][0]["stays_open"], open, "{version}");
    }
}

#[test]
fn who_uninstalls_is_warned_of_what_still_calls() {
    let place = Place::with(&[]);
    place.fine(&["install", "gemini"]);
    place.fine(&["install", "gemini", "--project"]);
    let ran = place.fine(&["uninstall", "gemini"]);
    let warning = ".gemini/settings.json still calls checkrein, and tools are blocked if the program is gone";
    assert!(ran.stderr.contains(warning), "{ran:?}");
    let ran = place.fine(&["uninstall", "gemini", "--project"]);
    assert!(!ran.stderr.contains("still calls"), "{ran:?}");
}
