//! Hook files of agents: their locations, and the environment of their hooks.

use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use checkrein::dialects::{self, Dialect};
use checkrein::hook_files::{Loaded, Sources};
use checkrein::{Decision, Engine, EventKind, RawJson, Scope, Trust};

use crate::common::{World, found};

fn load(world: &World, dialect: &'static Dialect) -> Loaded {
    Sources::discover_in(dialect, world.path("project"), world.place()).trust(Trust::everything()).load()
}

fn scopes(loaded: &Loaded) -> Vec<Scope> {
    loaded.hooks.iter().map(|spec| spec.info.source.scope).collect()
}

fn group(event: &str, command: &str) -> String {
    format!(r#"{{"hooks":{{"{event}":[{{"hooks":[{{"type":"command","command":"{command}"}}]}}]}}}}"#)
}

#[test]
fn files_are_in_the_order_of_each_agent() {
    let stop = group("Stop", "x");
    let world = World::with(&[
        (
            "root/etc/codex/requirements.toml",
            "[[hooks.Stop]]\n[[hooks.Stop.hooks]]\ntype = \"command\"\ncommand = \"x\"\n",
        ),
        ("home/.codex/hooks.json", &stop),
        ("home/.codex/config.toml", "model = \"m\"\n"),
        ("project/.codex/hooks.json", &stop),
        ("home/.gemini/settings.json", &group("AfterAgent", "x")),
        ("project/.gemini/settings.json", &group("AfterAgent", "y")),
        ("home/.copilot/hooks/a.json", &group("agentStop", "x")),
        ("project/.github/hooks/b.json", &group("Stop", "x")),
        ("project/.qwen/settings.json", &stop),
        ("home/.qwen/settings.json", &group("Stop", "y")),
        ("project/.letta/settings.local.json", &stop),
        ("project/.letta/settings.json", &stop),
        ("home/.letta/settings.json", &stop),
    ]);
    for (dialect, expected) in [
        (&dialects::agents::codex::DIALECT, vec![Scope::Managed, Scope::User, Scope::Project]),
        (&dialects::agents::gemini::DIALECT, vec![Scope::User, Scope::Project]),
        (&dialects::agents::copilot::DIALECT, vec![Scope::User, Scope::Project]),
        (&dialects::agents::qwen::DIALECT, vec![Scope::Project, Scope::User]),
        (&dialects::agents::letta::DIALECT, vec![Scope::Local, Scope::Project, Scope::User]),
    ] {
        let loaded = load(&world, dialect);
        assert_eq!(world.codes(&loaded), [""; 0], "{}", dialect.name);
        assert_eq!(scopes(&loaded), expected, "{}", dialect.name);
    }
    let copilot = load(&world, &dialects::agents::copilot::DIALECT);
    let spoken: Vec<_> = copilot.hooks.iter().map(|spec| spec.dialect.name).collect();
    assert_eq!(spoken, ["copilot", "copilot@pascal"], "the case of an event's name chooses");
}

#[tokio::test]
async fn goose_plugin_gets_its_directory() {
    let guard = r#"{"hooks":{"PreToolUse":[{"matcher":"shell","hooks":[{"type":"command","command":"echo \"from $PLUGIN_ROOT\" >&2; exit 2"}]}]}}"#;
    let world = World::with(&[
        ("home/.agents/plugins/mine/hooks/hooks.json", guard),
        ("home/.agents/plugins/empty/readme.txt", "nothing"),
        ("home/.agents/plugins/loose.json", "not a directory"),
    ]);
    let loaded = load(&world, &dialects::agents::goose::DIALECT);
    assert_eq!(world.codes(&loaded), [""; 0]);
    assert_eq!(found(&loaded), ["hooks.json"]);
    let sources = Sources::discover_in(&dialects::agents::goose::DIALECT, world.path("project"), world.place())
        .trust(Trust::everything());
    let engine = Engine::builder().sources(sources).build();
    let sent = r#"{"event":"PreToolUse","session_id":"s","matcher_context":"shell","tool_name":"shell","tool_input":{"command":"ls"}}"#;
    let event = dialects::agents::goose::DIALECT.event(&sent.parse::<RawJson>().unwrap(), None).unwrap();
    let verdict = engine.fire(event).await;
    let home = world.path("home/.agents/plugins/mine");
    assert_eq!(
        (verdict.decision(), verdict.reason()),
        (Decision::Deny, Some(format!("from {}", home.display()).as_str()))
    );
}

#[tokio::test]
async fn cline_program_is_a_hook_by_its_file_name() {
    let world = World::new();
    let script = world.write(
        "project/.clinerules/hooks/PreToolUse",
        "#!/bin/sh\ngrep -q '\"preToolUse\"' || exit 0\nprintf '{\"cancel\":true,\"errorMessage\":\"no\"}'\n",
    );
    world.write("project/.clinerules/hooks/README.md", "about them");
    let closed = load(&world, &dialects::agents::cline::DIALECT);
    assert_eq!(world.codes(&closed).len(), 2, "not executable, so closed: {:?}", world.codes(&closed));
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let loaded = load(&world, &dialects::agents::cline::DIALECT);
    assert_eq!(world.codes(&loaded), [""; 0]);
    assert_eq!(loaded.hooks[0].timeout_for(&EventKind::PreToolUse), Duration::from_secs(120));
    let sources = Sources::discover_in(&dialects::agents::cline::DIALECT, world.path("project"), world.place())
        .trust(Trust::everything());
    let engine = Engine::builder().sources(sources).build();
    let event = crate::common::tool_call("run_commands", r#"{"commands":["ls"]}"#);
    let verdict = engine.fire(event).await;
    assert_eq!((verdict.decision(), verdict.reason()), (Decision::Halt, Some("no")));
}

/// A matcher for `Bash` matches the shell tool of every agent.
#[test]
fn one_matcher_matches_the_shell_of_every_agent() {
    let world = World::with(&[(
        crate::common::PROJECT,
        r#"{"hooks":[{"id":"g","event":"PreToolUse","matcher":"Bash","if":"Bash(ls*)","command":"x"}]}"#,
    )]);
    let engine = Engine::builder().sources(world.sources()).build();
    for (dialect, name, sent) in [
        (
            &dialects::agents::gemini::DIALECT,
            None,
            r#"{"hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"ls"}}"#,
        ),
        (
            &dialects::agents::copilot::DIALECT,
            Some("preToolUse"),
            r#"{"sessionId":"s","toolName":"bash","toolArgs":{"command":"ls"}}"#,
        ),
        (
            &dialects::agents::goose::DIALECT,
            None,
            r#"{"event":"PreToolUse","tool_name":"shell","tool_input":{"command":"ls"}}"#,
        ),
        (
            &dialects::agents::codex::DIALECT,
            None,
            r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
        ),
    ] {
        let event = dialect.event(&sent.parse::<RawJson>().unwrap(), name).unwrap();
        assert_eq!(
            engine.explain(&event).iter().filter(|planned| planned.why_not.is_none()).count(),
            1,
            "{}",
            dialect.name
        );
    }
}
