//! The functions that every [`Registry`](crate::Registry) contains: guards, context for the model, and rewriters of tool
//! results.
//!
//! Hooks name a builtin and pass arguments. Builtins run inside the process; they must not block the runtime's threads.
//! `docs/builtins.md` lists all of them.
//!
//! ```
//! use checkrein::payload::ToolCall;
//! use checkrein::{Decision, Engine, Event, EventKind, HookSpec, RawJson};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), checkrein::JsonError> {
//! let engine = Engine::builder()
//!     .hook(HookSpec::builtin("guard", EventKind::PreToolUse, "block_dangerous_commands"))
//!     .hook(HookSpec::builtin("keep-off", EventKind::PreToolUse, "protect_paths").args([".env", ".git"]))
//!     .build();
//!
//! let input: RawJson = r#"{"command": "sudo rm -rf /"}"#.parse()?;
//! let verdict = engine.fire(Event::pre_tool_use(ToolCall::new("Bash", input))).await;
//! assert_eq!(verdict.decision(), Decision::Deny);
//! # Ok(())
//! # }
//! ```

pub mod add_context;
pub mod add_date;
pub mod add_directory_listing;
pub mod add_environment_info;
pub mod add_git_diff;
pub mod add_git_status;
pub mod add_prompt_files;
pub mod add_recent_commits;
pub mod add_user_info;
mod args;
pub mod block_dangerous_commands;
pub(crate) mod commands;
pub(crate) mod doubt;
pub mod elide_repeated_tool_results;
mod find_command;
mod git;
pub(crate) mod global_options;
pub mod http_post;
pub(crate) mod json_strings;
pub mod limit_large_tool_results;
pub mod log;
pub mod max_iterations;
pub(crate) mod option_names;
pub(crate) mod options;
pub(crate) mod patch;
pub(crate) mod paths;
pub mod protect_paths;
pub mod protect_self;
pub mod redact_secrets;
mod secret_formats;
pub(crate) mod secrets;
mod session_cache;
#[doc(hidden)]
pub mod shell;
pub(crate) mod text;
pub mod unsupported;

use checkrein_core::{ContextUse, EventKind, Failure, FailureKind};

use crate::handler::Builtin;
#[doc(hidden)]
pub use shell::exercise_shell;

/// Returns all builtins with their names, in the order of the documentation.
pub fn all() -> Vec<(&'static str, Builtin)> {
    let mut all = vec![
        ("block_dangerous_commands", block_dangerous_commands::builtin()),
        ("protect_paths", protect_paths::builtin()),
        ("protect_self", protect_self::builtin()),
        ("redact_secrets", redact_secrets::builtin()),
        ("limit_large_tool_results", limit_large_tool_results::builtin()),
        ("elide_repeated_tool_results", elide_repeated_tool_results::builtin()),
        ("max_iterations", max_iterations::builtin()),
        ("log", log::builtin()),
        ("http_post", http_post::builtin()),
        ("add_context", add_context::builtin()),
        ("add_date", add_date::builtin()),
        ("add_environment_info", add_environment_info::builtin()),
        ("add_user_info", add_user_info::builtin()),
        ("add_prompt_files", add_prompt_files::builtin()),
        ("add_directory_listing", add_directory_listing::builtin()),
        ("add_git_status", add_git_status::builtin()),
        ("add_git_diff", add_git_diff::builtin()),
        ("add_recent_commits", add_recent_commits::builtin()),
    ];
    all.extend(unsupported::builtins());
    all
}

/// Events that accept context for the model, for the documentation.
const AT_CONTEXT: &str = "`session_start`, `turn_start`, `prompt_submit` and others that accept context";

/// `true` for events before a tool call, at which a guard can decide. Custom events may have any data.
fn is_before_tool(kind: &EventKind) -> bool {
    let known = [
        EventKind::PreToolUse,
        EventKind::ToolGuard,
        EventKind::PermissionRequest,
        EventKind::PreShell,
        EventKind::PreFileWrite,
        EventKind::PreMcp,
        EventKind::ToolInputTransform,
    ];
    known.contains(kind) || matches!(kind, EventKind::Custom(_))
}

/// `true` for events that accept context for the model.
fn accepts_context(kind: &EventKind) -> bool {
    kind.contract().context != ContextUse::None
}

/// Runs blocking work on a thread outside of the runtime. At the hook's timeout the work continues and its result is
/// discarded. Therefore it must be short and start no process.
async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| Failure::new(FailureKind::Panic, format!("the builtin stopped early: {error}")))
}

fn failure(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Error, message)
}
