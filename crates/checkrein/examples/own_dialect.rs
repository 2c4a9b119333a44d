//! An agent with its own hook dialect: names of events and tools, and hook files with these names.
//!
//! A dialect is a static table. The agent `lumen` of this example calls its events `before_tool` and `after_tool`, its shell
//! tool `run`, and the shell command `cmd`. With that in a table, hooks that its users write for Lumen, hooks in checkrein's
//! own format and checkrein's builtins all work with Lumen's events.
//!
//! `cargo run -p checkrein --example own_dialect`
#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::fs;
use std::path::Path;

use checkrein::dialects::agents::native;
use checkrein::dialects::config::{Attribute, ConfigTable, FileFormat, HandlerRow, HookFileLayout, HookKey, TimeUnit};
use checkrein::dialects::{Dialect, EventRow, InputRow, ToolRow};
use checkrein::{Engine, EventKind, RawJson, Registry, Sources, Verdict};

type Error = Box<dyn std::error::Error + Send + Sync>;

/// Lumen's table. Columns that are not set have their defaults; a nested table ends in its own `BASE`.
static LUMEN: Dialect = Dialect {
    // The second name is Claude Code's, which all dialects share: a hook for `Bash` runs for `run` as well. The last part maps
    // a field of the tool's input to the name that Claude Code has for it.
    tools: &[
        ToolRow::new("run", &["Bash"]).takes(&[InputRow::named("cmd", "command")]),
        ToolRow::new("save", &["Write"]).takes(&[InputRow::named("path", "file_path")]),
    ],
    config: ConfigTable { format: FileFormat::Layout(&LAYOUT), ..ConfigTable::BASE },
    ..Dialect::named("lumen", EVENTS)
};

/// Events. `matched`: hooks can have a matcher for the name of the tool. `blocks`: a hook can refuse the call.
const EVENTS: &[EventRow] = &[
    EventRow::new("before_tool", EventKind::PreToolUse).matched().blocks(),
    EventRow::new("after_tool", EventKind::PostToolUse).matched(),
];

/// Layout of Lumen's hook files: groups of hooks under the name of their event, as in Claude Code's settings.
const LAYOUT: HookFileLayout = HookFileLayout {
    keys: &[
        HookKey::new("command", Attribute::ShellCommand),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::Seconds)),
    ],
    handlers: &[HandlerRow::new("command", "command", &["command"])],
    infers_type: true,
    ..HookFileLayout::USUAL
};

/// A hook file of a Lumen user.
const LUMEN_FILE: &str = r#"{
  "hooks": {
    "before_tool": [
      {"matcher": "save", "hooks": [{"command": "echo 'no files today' >&2; exit 2"}]}
    ]
  }
}"#;

/// A file in checkrein's own format: it includes the file above by the name of its dialect, and guards the shell tool.
const CHECKREIN_FILE: &str = "
include: [{dialect: lumen, path: lumen.json}]
hooks: [{event: PreToolUse, matcher: Bash, builtin: block_dangerous_commands}]
";

fn engine(dir: &Path) -> Result<Engine, Error> {
    fs::write(dir.join("lumen.json"), LUMEN_FILE)?;
    fs::write(dir.join("hooks.yaml"), CHECKREIN_FILE)?;
    let mut registry = Registry::new();
    registry.register_dialect(&LUMEN)?;
    let sources = Sources::of_files(&native::DIALECT, [dir.join("hooks.yaml")]);
    Ok(Engine::builder().registry(registry).sources(sources).build())
}

/// Fires the event that Lumen writes as this JSON.
async fn fire(engine: &Engine, json: &str) -> Result<Verdict, Error> {
    Ok(engine.fire(LUMEN.event(&RawJson::parse(json)?, None)?).await)
}

const CALLS: [&str; 3] = [
    r#"{"hook_event_name": "before_tool", "tool_name": "run", "tool_input": {"cmd": "ls"}}"#,
    r#"{"hook_event_name": "before_tool", "tool_name": "run", "tool_input": {"cmd": "rm -rf /"}}"#,
    r#"{"hook_event_name": "before_tool", "tool_name": "save", "tool_input": {"path": "notes.md"}}"#,
];

#[tokio::main]
async fn main() -> Result<(), Error> {
    let dir = tempfile::tempdir()?;
    let engine = engine(dir.path())?;
    for call in CALLS {
        let verdict = fire(&engine, call).await?;
        println!("{call}\n  {}: {}", verdict.decision(), verdict.reason().unwrap_or("no reason"));
    }
    Ok(())
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]
mod tests {
    use checkrein::Decision;

    use super::*;

    #[tokio::test]
    async fn hooks_of_both_files_apply_to_lumens_tools() {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path()).unwrap();
        assert!(engine.diagnostics().is_empty(), "{:?}", engine.diagnostics());
        let mut decisions = Vec::new();
        for call in CALLS {
            decisions.push(fire(&engine, call).await.unwrap().decision());
        }
        assert_eq!(decisions, [Decision::NoOpinion, Decision::Deny, Decision::Deny]);
        assert_eq!(fire(&engine, CALLS[2]).await.unwrap().reason(), Some("no files today"));
    }
}
