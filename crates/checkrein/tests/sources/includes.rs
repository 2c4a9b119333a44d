//! Included files.

use checkrein::dialects::Dialect;
use checkrein::dialects::agents::native;
use checkrein::dialects::config::{FileRow, PathBase};
use checkrein::hook::HookState;
use checkrein::hook_files::Sources;
use checkrein::{EventKind, FailurePolicy, Scope, Trust};

use crate::common::{LOCAL, PROJECT, USER, World, hooks, ids, ready};

fn include(path: &str, more: &str) -> String {
    format!(r#"{{"include": [{{"dialect": "native", "path": "{path}"{more}}}]}}"#)
}

#[test]
fn include_paths_are_relative_to_the_file_or_home() {
    let world = World::with(&[
        (USER, &include("../more.yaml", "")),
        ("home/.config/more.yaml", "hooks: [{id: beside, event: Stop, command: x}]"),
        (PROJECT, &include("~/mine.json", "")),
        ("home/mine.json", &hooks(&["at-home"])),
    ]);
    let loaded = world.load();
    assert_eq!(ids(&loaded.hooks), ["beside", "at-home"]);
    let scopes: Vec<_> = loaded.hooks.iter().map(|spec| spec.info.source.scope).collect();
    assert_eq!(scopes, [Scope::User, Scope::Project], "an included file has the scope of the including one");
    assert_eq!(world.codes(&loaded), [""; 0]);
}

#[test]
fn missing_included_file_closes_its_gates() {
    let world = World::with(&[(PROJECT, &hooks(&["project"])), (LOCAL, &include("none.json", ""))]);
    let loaded = world.load();
    assert_eq!(world.codes(&loaded), ["project/.checkrein/none.json missing-file"]);
    let [project, gone] = &loaded.hooks[..] else { panic!("{:?}", ids(&loaded.hooks)) };
    assert_eq!(project.info.id, "project");
    assert!(matches!(gone.state, HookState::Broken(_)) && gone.kinds.contains(&EventKind::PreToolUse));
}

#[test]
fn include_of_a_dialect_reads_all_files_and_ends_in_cycles() {
    let world = World::with(&[
        (USER, &hooks(&["user"])),
        (PROJECT, &hooks(&["project"])),
        ("x/a.json", r#"{"include": [{"dialect": "native", "path": "b.json"}, "native"], "hooks": []}"#),
        ("x/b.json", &include("a.json", "")),
    ]);
    let files = [world.path("x/a.json")];
    let sources = Sources::of_files_in(&native::DIALECT, files, world.path("project"), world.place());
    let loaded = sources.load();
    assert_eq!(ids(&loaded.hooks), ["user", "project"]);
    assert_eq!(world.codes(&loaded), [""; 0]);
}

#[test]
fn include_depth_is_limited() {
    let world = World::new();
    for number in 0..100 {
        world.write(&format!("x/{number}.json"), include(&format!("{}.json", number + 1), ""));
    }
    let loaded = Sources::of_files(&native::DIALECT, [world.path("x/0.json")]).load();
    assert_eq!(world.codes(&loaded), ["x/17.json too-many-files"]);
    assert!(matches!(loaded.hooks[0].state, HookState::Broken(_)), "the rest is unknown, so gates close");
}

#[test]
fn include_sets_the_failure_policy() {
    let two = r#"{"hooks": [
        {"id": "silent", "event": "Stop", "command": "x"},
        {"id": "own", "event": "Stop", "command": "y", "on_failure": "closed"}]}"#;
    let world = World::with(&[(USER, &include("more.json", r#", "on_failure": "ask""#))]);
    world.write("home/.config/checkrein/more.json", two);
    let loaded = world.load();
    let effects: Vec<_> = loaded.hooks.iter().map(|spec| spec.info.on_failure).collect();
    assert_eq!(
        effects,
        [Some(FailurePolicy::Ask), Some(FailurePolicy::Closed)],
        "the hook's own policy takes precedence"
    );
}

#[test]
fn repository_cannot_weaken_files_of_the_user() {
    // An agent with only a project file, so that it is read before the user's.
    let mut agent = native::DIALECT.clone();
    agent.name = "agent";
    agent.config.files = Box::leak(Box::new([FileRow::new(Scope::Project, PathBase::Project, "agent.json")]));
    let agent: &'static Dialect = Box::leak(Box::new(agent));
    let world = World::with(&[
        (USER, &hooks(&["user"])),
        (PROJECT, &hooks(&["project"])),
        ("project/agent.json", r#"{"include": [{"dialect": "native", "on_failure": "open"}]}"#),
    ]);
    let loaded = Sources::discover_in(agent, world.path("project"), world.place()).trust(Trust::everything()).load();
    let effects: Vec<_> = loaded.hooks.iter().map(|spec| (spec.info.id.as_str(), spec.info.on_failure)).collect();
    assert_eq!(effects, [("user", None), ("project", Some(FailurePolicy::Open))]);
    assert_eq!(world.codes(&loaded), [format!("{USER} scope-not-permitted")]);
}

#[test]
fn included_hook_that_calls_checkrein_is_disabled() {
    let commands = [
        "checkrein hook --as claude",
        "/usr/bin/checkrein hook",
        "cd x && FOO=1 exec checkrein hook",
        "checkrein check",
        "echo checkrein hook",
    ];
    let entry = |command: &&str| format!(r#"{{"id": "{command}", "event": "Stop", "command": "{command}"}}"#);
    let list = commands.iter().map(entry).collect::<Vec<_>>().join(",");
    let argv = r#"{"id": "argv", "event": "Stop", "command": "checkrein", "args": ["hook"]}"#;
    let text = format!(r#"{{"hooks": [{list}, {argv}]}}"#);
    let world = World::with(&[(USER, &include("agent.json", "")), ("home/.config/checkrein/agent.json", &text)]);
    let loaded = world.load();
    assert_eq!(ready(&loaded.hooks), ["checkrein check", "echo checkrein hook"]);
    assert_eq!(world.codes(&loaded), ["home/.config/checkrein/agent.json calls-itself"; 4]);
    let world = World::with(&[(USER, &text)]);
    assert_eq!(ready(&world.load().hooks).len(), 6, "only included hooks are disabled");
}

#[tokio::test]
async fn plugin_gets_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    let hook = |command: &str| format!(r#"{{"type":"command","command":{}}}"#, checkrein::RawJson::string(command));
    let text = format!(
        r#"{{"description":"d","hooks":{{"PreToolUse":[{{"hooks":[{}]}}]}}}}"#,
        hook("\"$CLAUDE_PLUGIN_ROOT\"/guard.sh")
    );
    std::fs::create_dir_all(dir.path().join("hooks")).unwrap();
    std::fs::write(dir.path().join("hooks/hooks.json"), text).unwrap();
    let guard = dir.path().join("guard.sh");
    std::fs::write(&guard, "#!/bin/sh\necho \"no\" >&2\nexit 2\n").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&guard, std::fs::Permissions::from_mode(0o755)).unwrap();
        let sources = Sources::plugin(&checkrein::dialects::agents::claude::DIALECT, dir.path());
        let engine = checkrein::Engine::builder().sources(sources).build();
        assert_eq!(engine.diagnostics(), []);
        assert_eq!(engine.fire(crate::common::tool_call("Bash", "{}")).await.reason(), Some("no"));
        let hook = &engine.hooks_for(&EventKind::PreToolUse)[0];
        assert_eq!(hook.info.source.scope, Scope::Plugin);
    }
}

#[test]
fn hooks_of_one_agent_can_be_selected() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("team.yaml");
    let hooks = |name: &str| {
        format!(
            "  {name}:\n    hooks:\n      pre_tool_use:\n        - hooks:\n            - {{type: command, command: {name}}}\n"
        )
    };
    std::fs::write(&file, format!("agents:\n{}{}", hooks("one"), hooks("two"))).unwrap();
    let sources = || Sources::of_files(&checkrein::dialects::agents::docker_agent::DIALECT, [&file]);
    assert!(sources().load().diagnostics.iter().any(|diagnostic| diagnostic.code == "unknown-agent"));
    let loaded = sources().agent("two").load();
    assert_eq!(loaded.diagnostics, []);
    assert_eq!(loaded.hooks.len(), 1);
}
