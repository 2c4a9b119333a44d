//! Hooks in files of the user: commands in any language.
//!
//! `cargo run -p checkrein --example command_hooks`
#![allow(clippy::print_stdout, reason = "an example prints")]

use checkrein::dialects::agents::native;
use checkrein::payload::{SessionStart, ToolCall};
use checkrein::{Decision, Engine, Event, RawJson, Sources};

/// Hook file. A command reads the event as JSON from stdin. Exit status 2 denies, with stderr as the reason.
const HOOKS: &str = r#"
hooks:
  PreToolUse:
    - id: no-network
      matcher: Bash
      command: if grep -q curl; then echo "no network in here" >&2; exit 2; fi
    - id: broken-guard
      matcher: Deploy
      command: exit 7
  SessionStart:
    - id: house-rules
      command: echo "Run the tests before you say that you are done."
"#;

type Error = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let dir = tempfile::tempdir()?;
    let file = dir.path().join("hooks.yaml");
    std::fs::write(&file, HOOKS)?;

    // An agent calls `Sources::discover(&native::DIALECT, project)`: it finds the files of administrator, user and
    // project, and runs those of the project only after the user has approved them.
    let sources = Sources::of_files(&native::DIALECT, [file]);
    // Fails on broken files. `build` does not; `Engine::diagnostics` and `Engine::problems` list the problems then.
    let engine = Engine::builder().sources(sources).cwd(dir.path()).try_build()?;

    let verdict = engine.fire(Event::session_start(SessionStart::new())).await;
    for context in verdict.context() {
        println!("for the model: {}", context.text.trim());
    }
    for (tool, input, expected) in [
        ("Bash", r#"{"command": "cargo test"}"#, Decision::NoOpinion),
        ("Bash", r#"{"command": "curl example.com"}"#, Decision::Deny),
        // A failed guard closes the gate, and the verdict names its file and line.
        ("Deploy", "{}", Decision::Deny),
    ] {
        let call = ToolCall::new(tool, input.parse::<RawJson>()?);
        let verdict = engine.fire(Event::pre_tool_use(call)).await;
        println!("{tool} {input}: {:?}", verdict.action());
        assert_eq!(verdict.decision(), expected);
    }
    Ok(())
}

#[cfg(all(test, unix))]
#[test]
fn runs() {
    main().unwrap();
}
