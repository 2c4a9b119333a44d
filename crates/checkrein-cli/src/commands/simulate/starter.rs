//! The hooks that the session is played against.

use checkrein::runner::Fire;
use checkrein::{EventKind, Opinion, RawJson, Rewrite, Runner, Target};

/// What one of the hooks panics with, to show that nothing comes of it.
const PANIC: &str = "index out of bounds: the metrics are empty";

/// A runner with the hooks.
pub fn runner() -> Runner {
    hush_expected_panic();
    let runner = Runner::builder().discard_log().build();
    runner.on(EventKind::SessionStart, "house-rules", |_| {
        Opinion::context("Run the tests before you say that you are done.")
    });
    runner.on(EventKind::PromptSubmit, "redact-tokens", redact_tokens);
    runner.on(EventKind::PreToolUse, "reading-is-fine", |fire| match fire.event.tool_name() {
        Some("Read" | "Grep" | "Glob") => Opinion::allow(),
        _ => Opinion::none(),
    });
    runner.on(EventKind::PreToolUse, "no-deleting", |fire| match command(fire) {
        Some(command) if command.starts_with("rm ") => Opinion::deny("deleting files is for people; move them instead"),
        _ => Opinion::none(),
    });
    runner.on(EventKind::PreToolUse, "test-timeout", test_timeout);
    runner.on(EventKind::PostToolFailure, "metrics", broken);
    runner.on(EventKind::PostToolFailure, "hint", |_| {
        Opinion::context("Failing tests are listed at the end of the output.")
    });
    runner.on(EventKind::PermissionRequest, "ask-before-writing", |_| Opinion::ask("this file has no owner"));
    runner.on(EventKind::PreCompact, "not-now", |_| Opinion::deny("a change is half done"));
    runner.on(EventKind::PreCompact, "archive", |_| Opinion::none());
    runner.on(EventKind::Stop, "one-more-thing", |_| Opinion::deny("update the changelog first"));
    runner
}

#[expect(clippy::panic, reason = "part of the show")]
fn broken(_: &Fire<'_>) -> Opinion {
    std::panic::panic_any(PANIC)
}

fn redact_tokens(fire: &Fire<'_>) -> Opinion {
    let Some(prompt) = fire.event.prompt() else {
        return Opinion::none();
    };
    // Everything from `tok_` to the end of the word.
    let redacted = prompt.split("tok_").enumerate().fold(String::new(), |text, (at, part)| {
        let rest = if at == 0 { part } else { part.trim_start_matches(|c: char| c.is_ascii_alphanumeric()) };
        let mark = if at == 0 { "" } else { "[redacted]" };
        text + mark + rest
    });
    if redacted == prompt { Opinion::none() } else { Opinion::rewrite_prompt(&redacted) }
}

fn test_timeout(fire: &Fire<'_>) -> Result<Opinion, checkrein::JsonError> {
    match command(fire) {
        Some(command) if command == "cargo test" => {
            let patch: RawJson = r#"{"timeout_ms": 600000}"#.parse()?;
            Ok(Opinion::none().with_rewrite(Rewrite::merge(Target::Input, patch)))
        }
        _ => Ok(Opinion::none()),
    }
}

fn command(fire: &Fire<'_>) -> Option<String> {
    let command = fire.event.tool_input()?.field("command")?;
    command.as_text().map(Into::into)
}

/// Keeps the one panic that is part of the show off standard error. All others are reported as ever.
fn hush_expected_panic() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if panic.payload().downcast_ref::<&str>() != Some(&PANIC) {
            report(panic);
        }
    }));
}
