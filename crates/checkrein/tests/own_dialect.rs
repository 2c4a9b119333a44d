//! A dialect that a host defines in its own crate.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]

use std::fs;
use std::path::Path;

use checkrein::dialects::agents::native;
use checkrein::dialects::config::{ConfigTable, FileFormat, FileRow, PathBase};
use checkrein::dialects::{Dialect, EventRow, InputRow, ToolRow};
use checkrein::handler::DialectNameError;
use checkrein::hook::{CommandSpec, HandlerSpec, HookState};
use checkrein::hook_files::Locations;
use checkrein::{Decision, Engine, Event, EventKind, RawJson, Registry, Scope, Sources, Trust};

static LUMEN: Dialect = Dialect {
    tools: &[ToolRow::new("run", &["Bash"]).takes(&[InputRow::named("cmd", "command")])],
    config: ConfigTable {
        files: &[FileRow::new(Scope::Project, PathBase::Project, ".lumen/hooks.json")],
        format: FileFormat::Layout(&native::LAYOUT),
        ..ConfigTable::BASE
    },
    ..Dialect::named("lumen", EVENTS)
};

const EVENTS: &[EventRow] = &[EventRow::new("before_tool", EventKind::PreToolUse).matched().blocks()];

static NAMELESS: Dialect = Dialect::BASE;
static SECOND_CLAUDE: Dialect = Dialect::named("claude", EVENTS);

const DENY: &str = r#"{"hooks": {"before_tool": [{"matcher": "run", "hooks": [{"command": "exit 2"}]}]}}"#;

fn call(command: &str) -> Event {
    let json = format!(
        r#"{{"hook_event_name": "before_tool", "tool_name": "run", "tool_input": {{"cmd": {}}}}}"#,
        RawJson::string(command)
    );
    LUMEN.event(&RawJson::parse(json).unwrap(), None).unwrap()
}

/// checkrein's own file, which includes one of Lumen.
fn including(dir: &Path) -> Sources {
    fs::write(dir.join("lumen.json"), DENY).unwrap();
    fs::write(dir.join("hooks.yaml"), "include: [{dialect: lumen, path: lumen.json}]\n").unwrap();
    Sources::of_files_in(&native::DIALECT, [dir.join("hooks.yaml")], dir, Locations::new(dir).home(dir.join("home")))
}

#[test]
fn a_dialect_is_registered_under_a_free_name() {
    let mut registry = Registry::new();
    assert_eq!(registry.register_dialect(&LUMEN), Ok(()));
    assert_eq!(registry.register_dialect(&LUMEN), Err(DialectNameError::Taken("lumen")));
    assert_eq!(registry.register_dialect(&SECOND_CLAUDE), Err(DialectNameError::Taken("claude")));
    assert_eq!(registry.register_dialect(&NAMELESS), Err(DialectNameError::Empty));
    assert_eq!(registry.dialects().map(|dialect| dialect.name).collect::<Vec<_>>(), ["lumen"]);
    assert!(std::ptr::eq(registry.dialect("lumen").unwrap(), &LUMEN));
    assert_eq!(
        registry.dialect("claude").unwrap().tools.len(),
        checkrein::dialects::find("claude").unwrap().tools.len()
    );
}

#[tokio::test]
async fn a_file_includes_a_registered_dialect_by_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let mut registry = Registry::new();
    registry.register_dialect(&LUMEN).unwrap();
    let engine = Engine::builder().registry(registry).sources(including(dir.path())).build();
    assert!(engine.diagnostics().is_empty(), "{:?}", engine.diagnostics());
    assert_eq!(engine.fire(call("ls")).await.decision(), Decision::Deny);
    // Also after a reload.
    fs::write(dir.path().join("lumen.json"), "{}").unwrap();
    assert!(engine.reload().diagnostics.is_empty());
    assert_eq!(engine.fire(call("ls")).await.decision(), Decision::NoOpinion);
}

#[test]
fn sources_find_a_dialect_without_an_engine() {
    let dir = tempfile::tempdir().unwrap();
    let unknown = including(dir.path()).load();
    assert_eq!(unknown.diagnostics[0].code, "unknown-dialect");
    let known = including(dir.path()).dialect(&LUMEN).load();
    assert!(known.diagnostics.is_empty(), "{:?}", known.diagnostics);
    assert_eq!(known.hooks[0].dialect.name, "lumen");
}

/// An unknown dialect name closes the gates that the file could have.
#[tokio::test]
async fn an_unregistered_dialect_closes_gates() {
    let dir = tempfile::tempdir().unwrap();
    let engine = Engine::builder().sources(including(dir.path())).build();
    assert_eq!(engine.fire(call("ls")).await.decision(), Decision::Deny);
}

#[test]
fn hooks_of_a_project_need_approval_in_every_dialect() {
    let dir = tempfile::tempdir().unwrap();
    let project = dir.path().join("project");
    fs::create_dir_all(project.join(".lumen")).unwrap();
    fs::write(project.join(".lumen/hooks.json"), DENY).unwrap();
    let place = Locations::new(dir.path()).home(dir.path().join("home"));
    let sources = Sources::discover_in(&LUMEN, &project, place).trust(Trust::in_dir(dir.path().join("state")));
    assert_eq!(sources.load().hooks[0].state, HookState::Untrusted);
    assert_eq!(sources.review().hooks.len(), 1);
}

/// The builtin reads `command`, which Lumen calls `cmd`.
#[tokio::test]
async fn builtins_read_the_input_of_its_tools() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("hooks.yaml");
    fs::write(&file, "hooks: [{event: PreToolUse, matcher: Bash, builtin: block_dangerous_commands}]\n").unwrap();
    let place = Locations::new(dir.path()).home(dir.path().join("home"));
    let sources = Sources::of_files_in(&native::DIALECT, [file], dir.path(), place);
    let engine = Engine::builder().sources(sources).build();
    assert_eq!(engine.fire(call("ls")).await.decision(), Decision::NoOpinion);
    assert_eq!(engine.fire(call("rm -rf /")).await.decision(), Decision::Deny);
}

/// The host's dialect reads what it writes.
#[test]
fn hooks_are_written_in_the_format_of_the_dialect() {
    let dir = tempfile::tempdir().unwrap();
    let known = including(dir.path()).dialect(&LUMEN).load();
    let hooks: Vec<_> = known.hooks.iter().collect();
    let text = LUMEN.encode(&hooks).unwrap().text;
    let read = LUMEN.decode("lumen.json", Scope::User, &text, checkrein::document::Format::Json);
    assert_eq!(read.hooks[0].handler, HandlerSpec::Command(CommandSpec::shell("exit 2")));
    assert!(text.contains("before_tool"), "{text}");
}
