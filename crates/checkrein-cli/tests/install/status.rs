//! `checkrein status`.

use super::*;

fn status(place: &Place, agent: &str) -> (i32, Value) {
    let (code, json) = place.run_json(&["status", agent, "--json", "--no-versions"]);
    (code, json["agents"][0].clone())
}

#[test]
fn status_reports_changed_entries() {
    for (from, to, told) in [
        ("\"timeout\": 600,\n            \"onFailure\": \"block\"", "\"timeout\": 5", "modified or outdated"),
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
        "if checkrein is missing: tools and prompts are blocked",
        "to uninstall without checkrein, delete the hooks with the command `checkrein hook gemini` from ~/.gemini/settings.json",
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
    let ran = place.run(&["status", "claude", "--no-versions"]);
    let line = ran.stdout.lines().find(|line| line.contains("broken")).unwrap();
    assert!(line.ends_with("invalid JSON: expected a value, found the end of the file"), "{ran:?}");
    assert!(!ran.stdout.contains("<U+000A>") && !ran.stderr.contains("calls checkrein"), "{ran:?}");
}

/// A program in a package, which must not be started.
const FORBIDDEN: &str = "#!/bin/sh\necho started >> started\necho 9.9.9\n";

#[test]
fn versions_come_from_files_or_from_harmless_programs() {
    let place = Place::with(&[
        ("bin/claude", "#!/bin/sh\n[ \"$1\" = --version ] && echo '2.1.325 (Claude Code)'\n"),
        ("bin/codex", "#!/bin/sh\nexit 3\n"),
        ("bin/copilot", "#!/bin/sh\necho GitHub Copilot CLI 1.0.102.\n"),
        ("lib/letta/package.json", r#"{"name": "@letta-ai/letta-code", "version": "0.32.18"}"#),
        ("lib/letta/dist/package.json", r#"{"type": "module"}"#),
        ("lib/letta/dist/letta.js", FORBIDDEN),
        ("lib/package.json", r#"{"name": "other", "version": "7.7.7"}"#),
        ("lib/gemini.js", FORBIDDEN),
        ("qwen/versions/0.24.4", FORBIDDEN),
    ]);
    for (link, target) in
        [("letta", "lib/letta/dist/letta.js"), ("gemini", "lib/gemini.js"), ("qwen", "qwen/versions/0.24.4")]
    {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(place.path(target), mode).unwrap();
        std::os::unix::fs::symlink(place.path(target), place.path(&format!("bin/{link}"))).unwrap();
    }
    let mut command = place.command(&["status", "--json"]);
    command.env("PATH", place.path("bin"));
    let output = command.output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found: Vec<_> = json["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|agent| (agent["agent"].as_str().unwrap(), agent["found"]["version"].as_str()))
        .collect();
    assert_eq!(
        found,
        [
            ("claude", Some("2.1.325")),
            ("codex", None),
            ("gemini", None),
            ("copilot", Some("1.0.102")),
            ("qwen", Some("0.24.4")),
            ("letta", Some("0.32.18"))
        ]
    );
    assert!(!place.path("started").exists());
    let text = place.command(&["status", "gemini"]).env("PATH", place.path("bin")).output().unwrap().stdout;
    assert!(String::from_utf8_lossy(&text).contains("gemini (version unknown)"));
}

#[test]
fn status_fails_unless_checkrein_is_installed() {
    let place = Place::with(&[("home/.claude/x", ""), ("home/.gemini/x", "")]);
    let ran = place.run(&["status"]);
    assert!(ran.code == 1 && ran.stderr.contains("no agent calls checkrein"), "{ran:?}");
    assert!(!ran.stdout.contains("if checkrein is") && !ran.stdout.contains("uninstall"), "{ran:?}");
    place.fine(&["install", "claude"]);
    place.fine(&["status"]);
    place.fine(&["status", "claude"]);
    let ran = place.run(&["status", "gemini"]);
    let note = "gemini does not call checkrein; run `checkrein install gemini`";
    assert!(ran.code == 1 && ran.stderr.contains(note) && !ran.stderr.contains("no agent calls"), "{ran:?}");
    assert!(place.run(&["status", "claude", "gemini"]).stderr.contains(note));
}

/// In the home directory, the settings of the project are those of the user.
#[test]
fn settings_in_the_home_directory_are_those_of_the_user() {
    let place = Place::with(&[]);
    let home = place.home.path().canonicalize().unwrap();
    let run = |arguments: &[&str]| place.ran(place.command(arguments).current_dir(&home).output().unwrap());
    for arguments in [&["install", "claude", "--project", "--yes"][..], &["install", "claude", "--yes"]] {
        let is_project = arguments.contains(&"--project");
        let ran = run(arguments);
        assert_eq!(ran.code, i32::from(is_project), "{ran:?}");
        let text = ran.stderr.replace('\n', " ");
        let reason = "this is your own settings file; run `checkrein install claude`";
        assert_eq!(text.contains(reason), is_project, "{ran:?}");
        assert!(!text.contains("calls both"), "{ran:?}");
    }
    let before = std::fs::read_to_string(home.join(".claude/settings.json")).unwrap();
    assert_eq!(run(&["install", "claude", "--project", "--yes"]).code, 1);
    assert_eq!(std::fs::read_to_string(home.join(".claude/settings.json")).unwrap(), before);
    for arguments in [&["uninstall", "claude", "--project", "--yes"][..], &["uninstall", "--project", "--yes"]] {
        let ran = run(arguments);
        let reason = "this is your own settings file; run `checkrein uninstall claude`";
        assert!(ran.code == 1 && ran.stderr.replace('\n', " ").contains(reason), "{ran:?}");
        assert_eq!(std::fs::read_to_string(home.join(".claude/settings.json")).unwrap(), before);
    }
    let ran = run(&["status", "claude", "--no-versions"]);
    assert!(ran.code == 0 && ran.stdout.contains("  user     installed"), "{ran:?}");
    assert!(!ran.stdout.contains("  project ") && !ran.stdout.contains("calls both"), "{ran:?}");
}

/// `checkrein hook` would not trust this home directory, and deny all calls.
#[test]
fn install_refuses_a_home_directory_in_a_work_tree() {
    let place = Place::with(&[]);
    std::fs::create_dir(place.home.path().join(".git")).unwrap();
    let ran = place.run(&["install", "claude", "--yes"]);
    let text = ran.stderr.replace('\n', " ");
    assert!(ran.code != 0 && text.contains("is inside of the git work tree"), "{ran:?}");
    assert!(text.contains("--home DIR") && !place.path(CLAUDE).exists(), "{ran:?}");
}

/// Settings that switch hooks off, observed in the agents, and settings that do not.
#[test]
fn status_reports_switched_off_hooks() {
    const TRUSTED: &str = "[projects.\"DIR\"]\ntrust_level = \"trusted\"\n";
    for (agent, files, setting) in [
        ("claude", &[(CLAUDE, "{\"disableAllHooks\": true}")][..], Some("disableAllHooks: true")),
        ("claude", &[(".claude/settings.json", "{\"disableAllHooks\": true}")], Some("disableAllHooks: true")),
        ("claude", &[(".claude/settings.local.json", "{\"disableAllHooks\": true}")], Some("disableAllHooks: true")),
        // The setting of a narrower scope wins.
        (
            "claude",
            &[(CLAUDE, "{\"disableAllHooks\": true}"), (".claude/settings.json", "{\"disableAllHooks\": false}")],
            None,
        ),
        ("qwen", &[("home/.qwen/settings.json", "{\"disableAllHooks\": true}")], Some("disableAllHooks: true")),
        ("qwen", &[(".qwen/settings.json", "{\"disableAllHooks\": true}")], Some("disableAllHooks: true")),
        (
            "gemini",
            &[("home/.gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}}")],
            Some("hooksConfig.enabled: false"),
        ),
        (
            "gemini",
            &[(".gemini/settings.json", "{\"hooksConfig\": {\"enabled\": false}}")],
            Some("hooksConfig.enabled: false"),
        ),
        (
            "gemini",
            &[("home/.gemini/settings.json", "{\"hooksConfig\": {\"disabled\": [\"x\", \"checkrein\"]}}")],
            Some("hooksConfig.disabled: [\"checkrein\"]"),
        ),
        (
            "gemini",
            &[(".gemini/settings.json", "{\"hooksConfig\": {\"disabled\": [\"checkrein\"]}}")],
            Some("hooksConfig.disabled: [\"checkrein\"]"),
        ),
        ("gemini", &[(".gemini/settings.json", "{\"hooksConfig\": {\"disabled\": [\"other\"]}}")], None),
        ("letta", &[(".letta/settings.local.json", "{\"hooks\": {\"disabled\": true}}")], Some("hooks.disabled: true")),
        ("letta", &[(".letta/settings.json", "{\"hooks\": {\"disabled\": true}}")], None),
        ("copilot", &[("home/.copilot/settings.json", "{\"disableAllHooks\": true}")], None),
        ("copilot", &[(".github/copilot/settings.json", "{\"disableAllHooks\": true}")], None),
        ("codex", &[("home/.codex/config.toml", "[features]\nhooks = false\n")], Some("features.hooks: false")),
        ("codex", &[("home/.codex/config.toml", "[features]\nhooks = true\n")], None),
        (
            "codex",
            &[("home/.codex/config.toml", TRUSTED), (".codex/config.toml", "[features]\nhooks = false\n")],
            Some("features.hooks: false"),
        ),
        // Codex does not read this file before the user trusts the project.
        ("codex", &[(".codex/config.toml", "[features]\nhooks = false\n")], None),
    ] {
        let place = Place::with(&[]);
        let dir = place.dir.path().canonicalize().unwrap();
        for (path, text) in files {
            place.write(path, &text.replace("DIR", &dir.to_string_lossy()));
        }
        let installed = place.fine(&["install", agent]);
        let ran = place.run(&["status", agent, "--no-versions"]);
        let (_, json) = place.run_json(&["status", agent, "--no-versions", "--json"]);
        let found = &json["agents"][0]["switched_off"];
        let Some(setting) = setting else {
            assert!(found.as_array().unwrap().is_empty() && !ran.stdout.contains("switched off"), "{files:?} {ran:?}");
            continue;
        };
        let path = files.last().unwrap().0;
        let told = format!("`{setting}` in {} keeps the hooks from running", path.replace("home/", "~/"));
        assert!(installed.stderr.contains(&told), "{told}\n{installed:?}");
        let line =
            format!("  switched off: {told}; fix: remove it there, because `checkrein install` does not change it");
        assert!(ran.code == 1 && ran.stdout.contains(&line), "{line}\n{ran:?}");
        assert!(!ran.stdout.contains("fix: run `checkrein install"), "{ran:?}");
        assert_eq!((&found[0]["setting"], &json["agents"][0]["fine"]), (&setting.into(), &false.into()));
    }
}

#[test]
fn status_reports_entries_that_the_user_has_not_trusted() {
    let place = Place::with(&[(
        "home/.codex/hooks.json",
        r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#,
    )]);
    place.fine(&["install", "codex"]);
    let (code, agent) = status(&place, "codex");
    assert_eq!((code, agent["places"][0]["untrusted"].as_array().unwrap().len()), (1, 12));
    let ran = place.run(&["status", "codex", "--no-versions"]);
    assert!(ran.stdout.contains("installed, but not trusted yet"), "{ran:?}");
    trust_entries(&place, "codex");
    assert_eq!(status(&place, "codex").0, 0);
    // One entry less, and one that is disabled.
    let path = "home/.codex/config.toml";
    let text = place.read(path).replacen(":pre_tool_use:1:0", ":pre_tool_use:0:0", 1);
    place.write(path, &text.replacen("stop:0:0\"]\n", "stop:0:0\"]\nenabled = false\n", 1));
    let (code, agent) = status(&place, "codex");
    assert_eq!((code, &agent["places"][0]["untrusted"]), (1, &serde_json::json!(["PreToolUse"])));
    assert!(agent["switched_off"][0]["setting"].as_str().unwrap().ends_with("stop:0:0\".enabled: false"), "{agent}");
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

#[test]
fn entry_that_changed_since_it_was_trusted_is_not_trusted() {
    let place = Place::untrusted(&[
        ("home/.codex/config.toml", ""),
        ("home/.config/checkrein/hooks.yaml", "hooks: [{ id: a, event: PreToolUse, command: 'true' }]\n"),
    ]);
    place.fine(&["install", "codex"]);
    trust_entries(&place, "codex");
    place.fine(&["status", "codex", "--no-versions"]);
    let ran = place.fine(&["doctor", "--require", "codex"]);
    assert!(ran.stdout.contains("codex trusts the entries"), "{ran:?}");
    // Other options make other entries, so Codex asks again.
    place.fine(&["install", "codex", "--needed"]);
    let (code, agent) = status(&place, "codex");
    assert_eq!((code, &agent["places"][0]["untrusted"]), (1, &serde_json::json!(["PreToolUse", "SessionStart"])));
    assert_eq!(place.run(&["doctor", "--require", "codex"]).code, 1);
    trust_entries(&place, "codex");
    place.fine(&["doctor", "--require", "codex"]);
}
