//! Every agent reads the entries that `install` writes, and blocks with them.

use std::collections::BTreeMap;

use checkrein::HookSpec;
use checkrein::dialects::{self, Dialect, PlainTextUse};
use checkrein::event::TimeClass;
use checkrein::hook::{CommandLine, HandlerSpec};
use checkrein_tools::install::Installer;

use super::*;

/// Settings of agents before the installation. Other agents have no file.
const BEFORE: &[(&str, &str, &str)] = &[
    ("claude", CLAUDE, SETTINGS),
    (
        "codex",
        "home/.codex/hooks.json",
        "{\n    \"hooks\": {\n        \"PreToolUse\": [\n            {\"matcher\": \"^Bash$\", \"hooks\": [{\"type\": \"command\", \"command\": \"python3 ~/.codex/policy.py\", \"timeout\": 30}]}\n        ]\n    }\n}",
    ),
    (
        "gemini",
        "home/.gemini/settings.json",
        "{\n\t// how it looks\n\t\"ui\": { \"theme\": \"GitHub\" },\n\t\"hooks\": {\n\t\t\"BeforeTool\": [\n\t\t\t{ \"matcher\": \"write_file\", \"hooks\": [ { \"type\": \"command\", \"command\": \"./fmt.sh\" } ] }, // mine\n\t\t],\n\t},\n}\n",
    ),
    ("qwen", "home/.qwen/settings.json", "\u{feff}{\r\n  \"$version\": 3, /* kept */\r\n  \"hooks\": {}\r\n}\r\n"),
    ("letta", "home/.letta/settings.json", "{\"pinnedAgents\":[\"a\"],\"hooks\":{\"Stop\":[]}}"),
    (
        "cursor",
        "home/.cursor/hooks.json",
        "{ \"version\": 1,\n  \"hooks\": { \"stop\": [ { \"command\": \"./audit.sh\" } ] } }\n",
    ),
    ("windsurf", "home/.codeium/windsurf/hooks.json", "{\n  \"hooks\": {\n    \"pre_run_command\": []\n  }\n}\n"),
    ("crush", "home/.config/crush/crush.json", "{\n  \"options\": {\"tui\": {}}\n}\n"),
    ("factory", "home/.factory/hooks.json", "{\n  \"hooks\": {\n  }\n}\n"),
    ("augment", "home/.augment/settings.json", ""),
    ("evva", "home/.evva/settings.json", "{\n  \"hooks\": null\n}\n"),
];

/// Hook that denies at every event before a tool.
const GUARD: &str = r#"{ "hooks": [
  { "id": "guard", "events": ["pre_tool_use", "pre_shell"], "command": "echo not in this house >&2; exit 2" }
] }"#;

fn place() -> Place {
    let place = Place::with(&[(".checkrein/hooks.json", GUARD)]);
    for (_, path, text) in BEFORE {
        place.write(path, text);
    }
    place
}

fn spoken(agent: &'static Dialect) -> &'static Dialect {
    agent.install.and_then(|table| table.through).unwrap_or(agent)
}

/// Entries of checkrein that the agent's decoder finds in all files of the user.
fn found(place: &Place, agent: &'static Dialect) -> Vec<HookSpec> {
    let dialect = spoken(agent);
    let home = checkrein::hook_files::Locations::new("/nowhere").home(place.path("home"));
    let loaded = checkrein::Sources::discover_in(dialect, place.dir.path(), home).load();
    let mut hooks = loaded.hooks;
    // checkrein disables hooks that call checkrein, but the agent runs them.
    hooks.retain(|hook| command(place, hook).is_some_and(|text| text.contains(&format!("hook {}", dialect.name))));
    hooks
}

/// Command of a hook, or of its script.
fn command(place: &Place, hook: &HookSpec) -> Option<String> {
    let HandlerSpec::Command(command) = &hook.handler else { return None };
    match &command.run {
        CommandLine::Shell { text, .. } => Some(text.clone()),
        CommandLine::Argv(argv) => {
            let script = std::fs::read_to_string(place.dir.path().join(&argv[0])).ok()?;
            Some(script.lines().find_map(|line| line.strip_prefix("exec "))?.to_owned())
        }
    }
}

#[test]
fn installed_entries_are_read_by_the_agent_and_block() {
    // Hooks of the others are code, which has tests of its own.
    for agent in Installer::agents().filter(|agent| agent.config.format.code().is_none()) {
        let place = place();
        place.fine(&["install", agent.name]);
        let dialect = spoken(agent);
        let hooks = found(&place, agent);
        let by_event: BTreeMap<_, _> =
            hooks.iter().map(|hook| (dialect.name_of(&hook.kinds[0]).unwrap(), hook)).collect();
        for row in dialect.events {
            let costly = row.opt_in || row.kind.contract().time == TimeClass::Display;
            let wanted = !costly && row.plain != PlainTextUse::LastLine;
            assert_eq!(by_event.contains_key(row.name), wanted, "{} {}", agent.name, row.name);
            let Some(hook) = by_event.get(row.name) else { continue };
            assert!(hook.matcher.is_everything(), "{} {}", agent.name, row.name);
            // Events that can be blocked have the agent's own switch.
            let closes = hook.info.on_failure == Some(checkrein::FailurePolicy::Closed);
            let switch = agent.host.failure_switch.is_some() && dialect.is_gate(&row.kind);
            assert_eq!(closes, switch, "{} {}", agent.name, row.name);
        }
        let gates = ["pre_tool_use", "pre_shell"];
        let gate = hooks.iter().find(|hook| gates.contains(&hook.kinds[0].name())).unwrap();
        let name = dialect.name_of(&gate.kinds[0]).unwrap();
        let (_, event) = place.run_json(&["events", name, "--as", dialect.name, "--json"]);
        let here = place.dir.path().display().to_string();
        let payload = event["payload"].to_string().replace("/home/ann/project", &here);
        let mut shell = std::process::Command::new("sh");
        let home = place.path("home");
        shell.current_dir(place.dir.path()).env("HOME", &home).env("XDG_CONFIG_HOME", home.join(".config"));
        shell.arg("-c").arg(command(&place, gate).unwrap());
        shell.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        shell.stderr(std::process::Stdio::piped());
        let mut child = shell.spawn().unwrap();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), payload.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(said.contains("not in this house"), "{}: {said}", agent.name);
        let exit = event["answer"]["exit"].as_i64().unwrap();
        assert_eq!(i64::from(output.status.code().unwrap()), exit, "{}: {said}", agent.name);
    }
}

#[test]
fn install_is_idempotent_and_uninstall_restores() {
    for agent in Installer::agents() {
        let place = place();
        let before = BEFORE.iter().find(|(name, ..)| *name == agent.name);
        place.fine(&["install", agent.name]);
        let installed = snapshot(&place);
        let again = place.fine(&["install", agent.name]);
        assert!(again.stderr.contains("already installed"), "{again:?}");
        assert_eq!(again.stdout, "");
        assert_eq!(snapshot(&place), installed, "{}", agent.name);
        trust_entries(&place, agent.name);
        let ran = place.fine(&["status", agent.name, "--no-versions"]);
        assert!(ran.stdout.contains("  user     installed  "), "{ran:?}");
        if let Some((_, path, text)) = before {
            // Every existing line is kept.
            let now = place.read(path);
            for line in text.lines().filter(|line| line.contains("//") || line.contains("command")) {
                assert!(now.contains(line.trim_end_matches([',', ' ', '}', ']'])), "{path}: {line}\n{now}");
            }
        }
        place.fine(&["uninstall", agent.name]);
        for (name, path, text) in BEFORE {
            assert_eq!(place.read(path), *text, "{name}");
        }
        let left = snapshot(&place);
        let own: Vec<_> =
            left.keys().filter(|path| path.contains("checkrein") && !path.contains(".checkrein/")).collect();
        let own: Vec<_> = own.into_iter().filter(|path| *path != common::POLICY).collect();
        assert!(own.is_empty(), "{}: {own:?}", agent.name);
        assert!(left.values().all(|text| calls(text) == 0), "{}", agent.name);
        assert!(place.fine(&["uninstall", agent.name]).stderr.contains("not installed"));
    }
}

/// Texts of all files, by path.
fn snapshot(place: &Place) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![place.dir.path().to_owned()];
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(place.dir.path()).unwrap().display().to_string();
                found.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    found
}

#[test]
fn codex_entry_is_stable_across_releases() {
    let place = Place::with(&[]);
    place.fine(&["install", "codex", "--program", "/usr/local/bin/checkrein"]);
    let hooks = place.json("home/.codex/hooks.json");
    // With another text, every user of Codex would have to trust the hooks again. Until then, nothing is guarded.
    let entry = |timeout: u32| serde_json::json!([{ "hooks": [{ "type": "command", "command": "/usr/local/bin/checkrein hook codex", "timeout": timeout }] }]);
    assert_eq!(hooks["hooks"]["PreToolUse"], entry(600));
    assert_eq!(hooks["hooks"]["SessionEnd"], entry(3));
}

#[test]
fn fail_open_is_installed_and_reverted() {
    let place = Place::with(&[(CLAUDE, SETTINGS)]);
    let ran = place.fine(&["install", "claude", "--fail-open"]);
    assert!(ran.stderr.contains("tools run if checkrein fails (--fail-open)"), "{ran:?}");
    let text = place.read(CLAUDE);
    assert!(text.contains("checkrein hook claude --fail-open\"") && !text.contains("onFailure"), "{text}");
    place.fine(&["status", "claude", "--no-versions"]);
    // A second install without the option reverts it.
    place.fine(&["install", "claude"]);
    let text = place.read(CLAUDE);
    assert!(text.contains("onFailure") && !text.contains("--fail-open"), "{text}");
    place.fine(&["uninstall", "claude"]);
    assert_eq!(place.read(CLAUDE), SETTINGS);
}

#[test]
fn all_events_omits_events_that_need_an_answer() {
    let place = Place::with(&[]);
    place.fine(&["install", "claude", "gemini", "--all-events"]);
    let gemini = place.json("home/.gemini/settings.json");
    assert_eq!(gemini["hooks"].as_object().unwrap().len(), dialects::agents::gemini::DIALECT.events.len());
    let claude = place.json(CLAUDE);
    assert!(claude["hooks"]["MessageDisplay"].is_array());
    assert!(claude["hooks"]["WorktreeCreate"].is_null());
    place.fine(&["status", "claude", "gemini", "--no-versions"]);
}

/// Letta prints a line for each hook before its own output, unless the entry is quiet.
#[test]
fn letta_entries_are_quiet() {
    let place = Place::with(&[]);
    place.fine(&["install", "letta"]);
    let settings = place.json("home/.letta/settings.json");
    for (event, groups) in settings["hooks"].as_object().unwrap() {
        assert_eq!(groups[0]["hooks"][0]["quiet"], true, "{event}");
    }
    // Entries of an older release are not quiet, and are replaced.
    place.write(
        "home/.letta/settings.json",
        &place.read("home/.letta/settings.json").replace("\"quiet\": true", "\"quiet\": false"),
    );
    assert_eq!(place.run(&["status", "letta", "--no-versions"]).code, 1);
    place.fine(&["install", "letta"]);
    assert_eq!(place.json("home/.letta/settings.json"), settings);
}

#[test]
fn project_entries_do_not_block_other_users_unless_asked() {
    for (agent, path, key) in [
        ("claude", ".claude/settings.json", "onFailure"),
        ("goose", ".agents/plugins/checkrein/hooks/hooks.json", "on_failure"),
        ("cursor", ".cursor/hooks.json", "failClosed"),
    ] {
        let place = Place::with(&[]);
        let ran = place.fine(&["install", agent, "--project"]);
        assert!(!place.read(path).contains(key), "{agent}");
        let without = "for users of this project without `checkrein` on their PATH, CI included, ";
        assert!(ran.stderr.contains(&format!("{without}tools run unchecked")), "{ran:?}");
        let (_, json) = place.run_json(&["status", agent, "--json", "--no-versions"]);
        let project = &json["agents"][0]["places"][1];
        assert_eq!((&project["blocks_on_failure"], &json["agents"][0]["stays_open"]), (&false.into(), &true.into()));
        assert_eq!(json["agents"][0]["blocked_without_program"], false);
        let ran = place.fine(&["install", agent, "--project", "--fail-closed"]);
        assert!(ran.stderr.contains(&format!("{without}the agent blocks tools")), "{ran:?}");
        assert!(place.read(path).contains(key), "{agent}");
        let (_, json) = place.run_json(&["status", agent, "--json", "--no-versions"]);
        assert_eq!(json["agents"][0]["places"][1]["drift"].to_string().matches("outdated").count(), 0, "{json}");
        assert_eq!(
            (&json["agents"][0]["stays_open"], &json["agents"][0]["blocked_without_program"]),
            (&false.into(), &true.into())
        );
    }
    // Agents without such a key always block.
    let ran = Place::with(&[]).fine(&["install", "gemini", "--project"]);
    assert!(ran.stderr.contains("the agent blocks tools and prompts"), "{ran:?}");
}

#[test]
fn project_entries_call_checkrein_by_name() {
    let place = Place::with(&[]);
    std::fs::create_dir_all(place.path("deep/down")).unwrap();
    let ran = place.fine_alone(&["install", "claude", "--project", "--dir", "deep/down"]);
    let settings = place.json(".claude/settings.json");
    assert_eq!(settings["hooks"]["Stop"][0]["hooks"][0]["command"], "checkrein hook claude");
    // The note is printed because checkrein is not on PATH here.
    assert!(ran.stderr.contains("`checkrein` not found: the agent cannot call it"), "{ran:?}");
    place.fine(&["uninstall", "claude", "--project"]);
    assert!(!place.path(".claude/settings.json").exists());
}

#[test]
fn agents_without_installer_get_instructions() {
    let place = Place::with(&[]);
    for (agent, help) in [
        ("ub", "add `checkrein hook ub` yourself as a command for each event to one of ~/.config/ub/config.yaml"),
        ("amp", "its hooks are code inside the agent"),
        ("copilot@pascal", "it is a variant of `copilot`; install `copilot` instead"),
        ("native", "this is checkrein's own format, not an agent"),
    ] {
        let ran = place.run(&["install", agent]);
        assert!(ran.code == 1 && ran.stderr.contains(help), "{ran:?}");
    }
}

/// Standard output contains only the entry to add, and the agent's decoder reads it.
#[test]
fn manual_entry_is_valid_for_the_agent() {
    let place = Place::with(&[]);
    for (agent, file, reads) in [
        ("ub", ".ub/config.yaml", "pre_tool_call"),
        ("docker-agent", "agent.yaml", "pre_tool_use"),
        ("amazon-q", ".amazonq/cli-agents/mine.json", "preToolUse"),
        ("claw", ".claude/settings.json", "PreToolUse"),
    ] {
        let ran = place.run(&["install", agent]);
        assert!(ran.code == 1 && ran.stderr.contains("nothing was written"), "{agent}: {ran:?}");
        assert!(ran.stdout.contains(&format!("checkrein hook {agent}")), "{agent}: {ran:?}");
        place.write(file, &ran.stdout);
        let explained = place.run(&["explain", reads, "--as", agent, "--config", file]);
        assert!(explained.stdout.contains("\n  run "), "{agent}: {explained:?} {}", ran.stdout);
        let (_, json) = place.run_json(&["install", agent, "--json"]);
        assert_eq!(json["agents"][0]["paste"].as_str().map(str::trim_end), Some(ran.stdout.trim_end()), "{agent}");
    }
    let shared = place.run(&["install", "claw"]).stderr;
    assert!(shared.contains("read by claude, vscode"), "{shared}");
}

#[test]
fn install_without_names_covers_all_found_agents() {
    let place = Place::with(&[(CLAUDE, "{}"), ("home/.gemini/settings.json", "{}")]);
    place.fine_alone(&["install"]);
    assert!(calls(&place.read(CLAUDE)) > 0 && calls(&place.read("home/.gemini/settings.json")) > 0);
    assert!(!place.path("home/.codex").exists());
    place.fine(&["uninstall"]);
    assert_eq!((place.read(CLAUDE), place.read("home/.gemini/settings.json")), ("{}".to_owned(), "{}".to_owned()));
    let empty = Place::with(&[]);
    let mut command = empty.command(&["install"]);
    let ran = empty.ran(command.env("PATH", "/nowhere").output().unwrap());
    assert!(
        ran.code == 1 && ran.stderr.contains("no agents found on this machine; name one of evva, claude"),
        "{ran:?}"
    );
}
