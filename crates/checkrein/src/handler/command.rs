//! Handler of commands: hooks that run as processes.
//!
//! Approved scripts of a project never run from their original path: [`verified_command`] runs verified copies.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use checkrein_core::payload::JsonPiece;
use checkrein_core::{Captured, Failure, FailureKind, ProcessExit, ProcessReply, Reply, Scope};
use checkrein_process::{
    CapturedStream, Chunk, ExecContext, Exit, HookCommand, Leftovers, Limits, ResolvedCommand, RunError, RunOutput,
    Shell, Stdin,
};

use super::environment::{self, ChildEnv};
use super::event_env::{Variables, filled};
#[cfg(target_os = "linux")]
use super::warm::{self, WarmInterpreters};
use super::{Call, Handler, HandlerEnv, HandlerFactory, HandlerFuture};
use super::{sandbox, shell, var_expand, verified_command};
#[cfg(target_os = "linux")]
use checkrein_dialects::Warm;
use checkrein_dialects::{
    self as dialects, CommandLine, CommandSpec, Cwd, Dialect, HandlerSpec, HookSpec, VerifiedScripts,
};

/// Time between SIGTERM and SIGKILL.
const TERM_GRACE: Duration = Duration::from_millis(500);

/// Time for the end of a process after the grace period, before the engine drops the run.
const KILL_GRACE: Duration = Duration::from_secs(2);

/// Creates handlers for commands.
#[derive(Debug)]
pub struct CommandFactory;

impl HandlerFactory for CommandFactory {
    fn build(&self, hook: &HookSpec, env: &HandlerEnv) -> Result<Arc<dyn Handler>, Failure> {
        let HandlerSpec::Command(spec) = &hook.handler else {
            return Err(Failure::new(FailureKind::UnknownHandler, "not a command"));
        };
        spec.check().map_err(|error| Failure::new(FailureKind::Spawn, error.to_string()))?;
        let pinned_spec = match &spec.verified_scripts {
            Some(pins) => Some(verified_command::command(spec, pins)),
            None => verified_command::in_script_dir(hook, spec, env),
        };
        let as_written = spec;
        let spec = pinned_spec.as_ref().unwrap_or(spec);
        let dialect = hook.dialect;
        let scope = hook.info.source.scope;
        let mut refused = None;
        let program = program(spec, dialect, scope, env, &mut refused)?;
        let expands = dialect.process.expands;
        let own_cwd = match &spec.cwd {
            Some(cwd) if expands => var_expand::directory(&cwd.to_string_lossy(), env),
            cwd => cwd.clone(),
        };
        let own_cwd = match (own_cwd, &spec.script_dir) {
            (Some(cwd), Some(dir)) => Some(dir.join(cwd)),
            (cwd, _) => cwd,
        };
        let cwd = match &own_cwd {
            Some(cwd) => env.cwd.join(cwd),
            None => env.cwd.clone(),
        };
        let ChildEnv { variables, mut withheld, broken } = environment::child_env(spec, dialect, scope, env);
        if let Some(name) = broken.first() {
            let message = format!(
                "the command uses `${name}`, and the value of that variable leads into the project, which could have set \
                 it; write the path itself, or add `{name}` to `env_allow` in your own hooks file"
            );
            return Err(Failure::new(FailureKind::Untrusted, message));
        }
        withheld.extend(refused.map(str::to_owned));
        let mut place = ExecContext::new(cwd).env(variables);
        if let Some(pins) = &spec.verified_scripts {
            place = place.add_env(verified_command::variables(pins));
        }
        if let Some(own) = &spec.sandbox {
            place = place.sandbox(sandbox::sandbox(own, spec, env));
        }
        let process = &dialect.process;
        let leaves = spec.leave_background.unwrap_or(process.leaves_background);
        Ok(Arc::new(CommandHandler {
            // A missing program is no error yet: it may exist when the hook runs. Copies of scripts are created at the first
            // run.
            prepared: match spec.verified_scripts {
                None => program.clone().prepare(&place).map_or_else(|_| OnceLock::new(), OnceLock::from),
                Some(_) => OnceLock::new(),
            },
            pins: spec.verified_scripts.clone(),
            name: match &as_written.run {
                CommandLine::Shell { text, .. } => text.clone(),
                CommandLine::Argv(argv) => argv.first().cloned().unwrap_or_default(),
            },
            program,
            dialect,
            own_cwd,
            host_cwd: env.cwd.clone(),
            project: spec.script_dir.as_ref().unwrap_or(&env.cwd).clone(),
            place,
            withheld,
            #[cfg(target_os = "linux")]
            warm: env.interpreters.clone().map(|pool| (pool, spec.warm.unwrap_or_default())),
            limits: Limits::new(Duration::ZERO)
                .output_cap(spec.output_cap.unwrap_or(process.output_cap))
                .term_grace(TERM_GRACE)
                .leftovers(if leaves { Leftovers::Leave } else { Leftovers::End }),
        }))
    }
}

/// Returns the program. Sets `refused` to the variable that names a shell which is not accepted.
pub(super) fn program(
    spec: &CommandSpec,
    dialect: &Dialect,
    scope: Scope,
    env: &HandlerEnv,
    refused: &mut Option<&'static str>,
) -> Result<HookCommand, Failure> {
    match &spec.run {
        CommandLine::Shell { text, shell: Some(shell) } => match shell.split_first() {
            Some((first, rest)) => Ok(HookCommand::shell_with(Shell::new(first, rest), text)),
            None => Err(Failure::new(FailureKind::Spawn, "`shell` is empty; omit it to use the default")),
        },
        CommandLine::Shell { text, shell: None } => {
            let mut from_variable = |name: &'static str| match shell::from_variable(name, spec, scope, env) {
                shell::ShellVariable::Shell(shell) => Some(shell),
                shell::ShellVariable::Unusable => None,
                shell::ShellVariable::Refused => {
                    *refused = Some(name);
                    None
                }
            };
            let named = match dialect.process.shell {
                dialects::Shell::Bash => Some("bash".to_owned()),
                dialects::Shell::User => from_variable("SHELL"),
                dialects::Shell::Variable(name) => from_variable(name),
                dialects::Shell::Sh | dialects::Shell::None => None,
            };
            Ok(match named {
                Some(shell) => HookCommand::shell_with(Shell::new(shell, ["-c"]), text),
                None => HookCommand::shell(text),
            })
        }
        CommandLine::Argv(argv) => {
            let project = spec.script_dir.as_ref().unwrap_or(&env.cwd);
            let word = |word: &String| filled(&spec.expanded(word, |name| env.var(name)), dialect, project);
            Ok(HookCommand::argv(argv.iter().map(word)))
        }
    }
}

struct CommandHandler {
    /// Command as in the hook file, for messages.
    name: String,
    program: HookCommand,
    prepared: OnceLock<ResolvedCommand>,
    pins: Option<Box<VerifiedScripts>>,
    dialect: &'static Dialect,
    own_cwd: Option<PathBuf>,
    host_cwd: PathBuf,
    /// Project directory, for variables.
    project: PathBuf,
    place: ExecContext,
    withheld: Vec<String>,
    /// Pool of warm interpreters, and their use by this hook.
    #[cfg(target_os = "linux")]
    warm: Option<(Arc<dyn WarmInterpreters>, Warm)>,
    /// All limits except the timeout.
    limits: Limits,
}

impl Handler for CommandHandler {
    fn call<'a>(&'a self, call: &'a Call) -> HandlerFuture<'a> {
        Box::pin(self.run(call))
    }

    fn shutdown_grace(&self) -> Duration {
        TERM_GRACE + KILL_GRACE
    }

    fn withheld_env(&self) -> &[String] {
        &self.withheld
    }
}

impl CommandHandler {
    async fn run(&self, call: &Call) -> Result<Reply, Failure> {
        let mut own_context = self.context_for(call);
        // Dropped after the run: it removes the files with values that are too long for a variable.
        let variables = Variables::for_event(self.dialect, call.event(), &self.project).map_err(|error| {
            let message = format!("cannot write a temporary file for a value that is too long for a variable: {error}");
            Failure::new(FailureKind::Spawn, message)
        })?;
        if !variables.all.is_empty() {
            let context = own_context.take().unwrap_or_else(|| self.place.clone());
            own_context = Some(context.add_env(variables.all.iter().cloned()));
        }
        let place = own_context.as_ref().unwrap_or(&self.place);
        if let Some(pins) = &self.pins {
            verified_command::verify(&call.hook, pins, place.cwd())?;
        }
        let prepared = match self.prepared.get() {
            Some(prepared) => prepared,
            None => {
                let now = self.program.clone().prepare(place).map_err(|error| self.not_started(&error.into()))?;
                self.prepared.get_or_init(|| now)
            }
        };
        let mut limits = self.limits;
        limits.timeout = call.deadline.saturating_duration_since(Instant::now());
        limits.stdout_closed = call.stdout_closed;
        let stdin = stdin(call.payload(), self.dialect.process.newline);
        #[cfg(target_os = "linux")]
        if let Some(reply) = self.run_warm(prepared, place, &stdin, &limits).await {
            return Ok(self.reply(reply));
        }
        // Of the time, an unsuccessful attempt may have used a part.
        limits.timeout = call.deadline.saturating_duration_since(Instant::now());
        let mut tries = if self.pins.is_some() { verified_command::TRIES } else { 0 };
        let reply = loop {
            match prepared.run(place, &stdin, &limits).await {
                // Another thread forked while the copy was written: the child has the file open until it calls `execve`.
                Err(RunError::Io { source, .. })
                    if tries > 0 && source.kind() == std::io::ErrorKind::ExecutableFileBusy =>
                {
                    tries -= 1;
                    tokio::time::sleep(verified_command::PAUSE).await;
                }
                done => break done.map_err(|error| self.not_started(&error))?,
            }
        };
        if let Some(over) = reply.limit_exceeded {
            let message = format!("exceeded a limit of its sandbox and was killed: {over}");
            return Err(Failure::new(FailureKind::Sandbox, message));
        }
        Ok(self.reply(reply))
    }

    /// Runs the command in a warm interpreter. `None`: the command must run cold.
    #[cfg(target_os = "linux")]
    async fn run_warm(
        &self,
        prepared: &ResolvedCommand,
        place: &ExecContext,
        stdin: &Stdin,
        limits: &Limits,
    ) -> Option<RunOutput> {
        let (pool, mode) = self.warm.as_ref()?;
        if limits.stdout_closed {
            return None;
        }
        let command = warm::recognize(*mode, prepared, place).ok()?;
        let taken = pool.take(&command)?;
        let input = stdin.chunks().iter().cloned().fold(Stdin::bytes(taken.control), Stdin::then);
        // The parent of the interpreter may have ended. No process of the run is alive then.
        taken.handover.run(&input, limits).await.ok()
    }

    fn reply(&self, reply: RunOutput) -> Reply {
        let exit = match reply.exit {
            Exit::Exited(code) => ProcessExit::Code(code),
            Exit::Signalled(signal) => ProcessExit::Signal(signal),
        };
        let mut stderr = captured(reply.stderr);
        if let Some(pins) = &self.pins {
            let unseen = stderr.total.saturating_sub(stderr.bytes.len() as u64);
            stderr.bytes = verified_command::name_missing(pins, stderr.bytes);
            stderr.total = stderr.bytes.len() as u64 + unseen;
        }
        let left = reply.leftovers.iter().filter(|left| !left.ended);
        let left = left.map(|left| format!("{} (pid {})", left.name, left.pid)).collect();
        let read = ProcessReply::new(exit).program(&self.name).stdout(captured(reply.stdout)).stderr(stderr);
        let read = if reply.timed_out { read.timed_out() } else { read };
        Reply::Process(read.left_running(left))
    }

    fn not_started(&self, error: &RunError) -> Failure {
        let mut failure = not_started(error);
        if let Some(pins) = &self.pins {
            let message = verified_command::name_missing(pins, failure.message.into_bytes());
            failure.message = String::from_utf8_lossy(&message).into_owned();
        }
        failure
    }

    /// Returns the context for an event in another working directory. `None` if the default one applies.
    fn context_for(&self, call: &Call) -> Option<ExecContext> {
        if self.dialect.process.cwd == Cwd::Host {
            return None;
        }
        // A relative directory is relative to the host's.
        let event_cwd = self.host_cwd.join(call.event().envelope.cwd.as_ref()?);
        let cwd = match &self.own_cwd {
            Some(own) => event_cwd.join(own),
            None => event_cwd,
        };
        if self.dialect.process.cwd == Cwd::EventOrHost && !cwd.is_dir() {
            return None;
        }
        (cwd != self.place.cwd()).then(|| self.place.clone().with_cwd(cwd))
    }
}

fn not_started(error: &RunError) -> Failure {
    let kind = match error {
        RunError::Sandbox { .. } => FailureKind::Sandbox,
        _ => FailureKind::Spawn,
    };
    Failure::new(kind, error.to_string())
}

fn captured(output: CapturedStream) -> Captured {
    Captured::new(output.bytes, output.total)
}

fn stdin(pieces: &[JsonPiece], newline: bool) -> Stdin {
    let newline = newline.then(|| JsonPiece::Text("\n".to_owned()));
    pieces.iter().cloned().chain(newline).map(Chunk::from_owner).collect()
}
