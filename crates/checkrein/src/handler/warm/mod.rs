//! Warm interpreters: the interface between command hooks and a pool of interpreters that are already started.
//!
//! A host sets a pool with [`EngineBuilder::interpreters`](crate::engine::EngineBuilder::interpreters). The handler of commands
//! recognises scripts of interpreters and asks the pool. Without an answer the hook runs cold, with the same result.
//!
//! An interpreter of the pool must not run anything of the script before it gets its control message.

mod recognize;

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;

use checkrein_dialects::{CommandSpec, HandlerSpec, HookSpec, Warm};
#[cfg(target_os = "linux")]
use checkrein_process::Handover;
use checkrein_process::{ExecContext, ResolvedCommand};

use super::HandlerEnv;

/// Pool of interpreters that wait before the script of a hook.
pub trait WarmInterpreters: fmt::Debug + Send + Sync + 'static {
    /// Takes an interpreter for a command. `None`: there is none, and the command runs cold.
    ///
    /// Blocks for a few milliseconds at most.
    #[cfg(target_os = "linux")]
    fn take(&self, command: &InterpreterCommand) -> Option<WarmInterpreter>;
}

/// A started interpreter that waits for its control message.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub struct WarmInterpreter {
    /// The process.
    pub handover: Handover,
    /// The control message. It comes before the payload on stdin.
    pub control: Vec<u8>,
}

/// Language of an interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Language {
    /// Python.
    Python,
    /// Node.js.
    Node,
}

impl Language {
    /// The name for messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Python => "Python",
            Self::Node => "Node",
        }
    }
}

/// A command that starts an interpreter with a script.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InterpreterCommand {
    /// Language of the interpreter.
    pub language: Language,
    /// Path of the interpreter: absolute.
    pub program: PathBuf,
    /// Arguments. The first is the name that the process gets.
    pub argv: Vec<String>,
    /// Position of the script in the arguments.
    pub script_index: usize,
    /// Path of the script: absolute.
    pub script: PathBuf,
    /// Working directory of the event.
    pub cwd: PathBuf,
    /// Directory in which the interpreter must start. The event's directory if the script has a relative path.
    pub start_dir: PathBuf,
    /// Variables that an interpreter reads when it starts, sorted by name.
    pub start_env: Vec<(String, String)>,
    /// All variables, sorted by name.
    pub env: Vec<(String, String)>,
}

impl fmt::Debug for InterpreterCommand {
    // The values of variables may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InterpreterCommand")
            .field("program", &self.program)
            .field("argv", &self.argv)
            .finish_non_exhaustive()
    }
}

/// Reason why a command runs cold.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Cold {
    reason: String,
    is_other_program: bool,
}

impl Cold {
    fn because(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), is_other_program: false }
    }

    fn other_program() -> Self {
        Self { reason: "its command is not Python or Node".to_owned(), is_other_program: true }
    }

    /// `true` if the command is another program, or a text for a shell.
    pub fn is_other_program(&self) -> bool {
        self.is_other_program
    }
}

/// Returns the interpreter and script of a prepared command.
///
/// # Errors
/// The reason why the command always runs cold.
pub(super) fn recognize(
    mode: Warm,
    command: &ResolvedCommand,
    context: &ExecContext,
) -> Result<InterpreterCommand, Cold> {
    if mode == Warm::Off {
        return Err(Cold::because("`warm` is `false`"));
    }
    if context.sandboxed().is_some() {
        return Err(Cold::because("it runs in a sandbox"));
    }
    recognize::recognize(mode, command, context)
}

/// Returns the interpreter and script of a hook, for checks. `None` if the hook is not a command.
///
/// # Errors
/// The reason why the hook always runs cold.
pub fn warm_state(hook: &HookSpec, env: &HandlerEnv) -> Option<Result<Language, Cold>> {
    let HandlerSpec::Command(spec) = &hook.handler else { return None };
    Some(warm_state_of(hook, spec, env))
}

fn warm_state_of(hook: &HookSpec, spec: &CommandSpec, env: &HandlerEnv) -> Result<Language, Cold> {
    // The handler sets the sandbox when it runs.
    if spec.sandbox.is_some() {
        return Err(Cold::because("it runs in a sandbox"));
    }
    let scope = hook.info.source.scope;
    let variables = super::environment::child_env(spec, hook.dialect, scope, env).variables;
    let project = spec.script_dir.as_ref().unwrap_or(&env.cwd);
    let of_event = hook.dialect.process.variables.iter().filter(|row| row.from == checkrein_dialects::Data::ProjectDir);
    let of_event = of_event.map(|row| (OsString::from(row.name), project.clone().into_os_string()));
    let context = ExecContext::new(&env.cwd).env(variables).add_env(of_event);
    let program = super::command::program(spec, hook.dialect, scope, env, &mut None);
    let program = program.map_err(|failure| Cold::because(failure.message))?;
    let command = program.prepare(&context).map_err(|error| Cold::because(error.to_string()))?;
    recognize(spec.warm.unwrap_or_default(), &command, &context).map(|command| command.language)
}
