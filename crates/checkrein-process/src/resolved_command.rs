//! [`ResolvedCommand`]: a command whose program was found, and that can run any number of times.
//!
//! The main type of this crate: [`ResolvedCommand::run`] starts the process and returns its [`RunOutput`]. A run in another
//! context searches the program again if the result could differ.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Instant;

use crate::command::{HookCommand, Kind};
use crate::error::RunError;
use crate::exec_context::ExecContext;
use crate::launch::{Args, SpawnSpec};
use crate::limits::Limits;
use crate::marker::Marker;
use crate::no_shell::{self, DirectExec};
use crate::resolve::{ResolveError, ResolvedProgram};
use crate::run_output::RunOutput;
use crate::sandbox::LimitExceeded;
use crate::stdin::Stdin;
use crate::supervise;
use crate::sys;

/// Start of a command without a shell.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DirectStart {
    /// The program: absolute, or relative to the working directory.
    pub program: PathBuf,
    /// The arguments. The first is the name that the process gets.
    pub argv: Vec<OsString>,
    /// Value of `PWD`, if it must differ from the one in the context.
    pub pwd: Option<OsString>,
}

/// A command whose program was found, for any number of runs. Created by [`HookCommand::prepare`].
#[derive(Debug, Clone)]
pub struct ResolvedCommand {
    program: HookCommand,
    resolution: Resolution,
    context: ExecContext,
}

#[derive(Debug, Clone)]
struct Resolution {
    /// The program, or the shell.
    executable: ResolvedProgram,
    direct: Option<DirectExec>,
    /// `true` if the text of a shell names variables.
    reads_variables: bool,
}

impl Resolution {
    fn new(program: &HookCommand, context: &ExecContext) -> Result<Self, ResolveError> {
        match &program.0 {
            Kind::Argv(argv) => Ok(Self {
                executable: ResolvedProgram::find(argv.first().ok_or(ResolveError::Empty)?, context)?,
                direct: None,
                reads_variables: false,
            }),
            Kind::Text { shell, text } => Ok(Self {
                executable: ResolvedProgram::find(shell.program(), context)?,
                direct: DirectExec::parse(shell, text, context),
                reads_variables: no_shell::reads_variables(text),
            }),
        }
    }

    /// Returns `true` if the resolution for one context is also correct for another.
    fn is_valid_for(&self, resolved_for: &ExecContext, context: &ExecContext) -> bool {
        let same_path = resolved_for.var("PATH") == context.var("PATH");
        let cwd_matters = self.executable.depends_on_cwd() || self.direct.is_some();
        let same_variables = || resolved_for.variables() == context.variables();
        same_path
            && (!cwd_matters || resolved_for.cwd() == context.cwd())
            && (!self.reads_variables || same_variables())
    }

    /// The start without a shell. `None` if the shell is needed.
    fn without_shell<'a>(&'a self, spec: &SpawnSpec<'a>) -> Option<SpawnSpec<'a>> {
        let direct = self.direct.as_ref()?;
        if !no_shell::is_plain_environment(spec.context) {
            return None;
        }
        let (arg0, args) = direct.words.split_first()?;
        let pwd = direct.pwd(spec.context);
        Some(SpawnSpec { program: &direct.program, arg0, args: Args::List(args), pwd, ..*spec })
    }
}

impl ResolvedCommand {
    pub(crate) fn new(program: HookCommand, context: &ExecContext) -> Result<Self, ResolveError> {
        let resolution = Resolution::new(&program, context)?;
        Ok(Self { program, resolution, context: context.clone() })
    }

    /// The command.
    pub fn program(&self) -> &HookCommand {
        &self.program
    }

    /// The executable: the program, or the shell of a text.
    pub fn executable(&self) -> &ResolvedProgram {
        &self.resolution.executable
    }

    /// The program and arguments that a run without a shell starts. `None` if the run needs its shell.
    pub fn direct_start(&self, context: &ExecContext) -> Option<DirectStart> {
        let resolution = self.resolution_for(context).ok()?;
        match &self.program.0 {
            Kind::Argv(argv) => {
                Some(DirectStart { program: resolution.executable.path().into(), argv: argv.clone(), pwd: None })
            }
            Kind::Text { .. } if !no_shell::is_plain_environment(context) => None,
            Kind::Text { .. } => {
                let direct = resolution.direct.as_ref()?;
                let pwd = direct.pwd(context).map(OsStr::to_owned);
                Some(DirectStart { program: direct.program.clone(), argv: direct.words.clone(), pwd })
            }
        }
    }

    /// The resolution for a context: the kept one, or another if the result could differ.
    fn resolution_for(&self, context: &ExecContext) -> Result<Cow<'_, Resolution>, ResolveError> {
        Ok(if self.resolution.is_valid_for(&self.context, context) {
            Cow::Borrowed(&self.resolution)
        } else {
            Cow::Owned(Resolution::new(&self.program, context)?)
        })
    }

    /// Runs the command once.
    ///
    /// The context may differ from the one of [`HookCommand::prepare`]. If that could select another program, the search
    /// is repeated.
    ///
    /// Dropping the future kills all processes of the run.
    ///
    /// # Errors
    ///
    /// The process could not be started, or its exit status was lost. Anything else that happens after the start is part
    /// of the [`RunOutput`].
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with I/O and time enabled.
    pub async fn run(&self, context: &ExecContext, stdin: &Stdin, limits: &Limits) -> Result<RunOutput, RunError> {
        let begun = Instant::now();
        let resolution = self.resolution_for(context)?;
        let sandbox_error = |problem| RunError::Sandbox { program: resolution.executable.path().into(), problem };
        // Removed when the run ends.
        let temporary = sys::temporary(context).map_err(sandbox_error)?;
        let marker = Marker::new();
        let path = temporary.as_ref().map(sys::Temporary::path);
        let full = self.spawn_spec(&resolution, context, &marker, path, limits.stdout_closed)?;
        let shell_less = resolution.without_shell(&full);
        let mut direct = shell_less.as_ref();
        let started = loop {
            let spec = direct.unwrap_or(&full);
            match sys::start(spec, stdin) {
                Ok(started) => break started,
                // The shell handles every failure, such as a missing program or a script without `#!`.
                Err(failed) if !failed.ran && direct.is_some() => direct = None,
                Err(failed) => return Err(RunError::from_start(failed, spec)),
            }
        };
        let lost = |source| RunError::Lost { program: resolution.executable.path().into(), source };
        let mut output = supervise::run_to_completion(started, stdin, limits, begun).await.map_err(lost)?;
        output.ran_without_shell = direct.is_some();
        if let Some(temporary) = temporary
            && output.leftovers.iter().all(|leftover| leftover.ended)
        {
            temporary.give_back();
        }
        output.limit_exceeded =
            output.limit_exceeded.or_else(|| LimitExceeded::from_signal(output.exit, context.sandboxed()?));
        Ok(output)
    }

    fn spawn_spec<'a>(
        &'a self,
        resolution: &'a Resolution,
        context: &'a ExecContext,
        marker: &'a Marker,
        temporary: Option<&'a Path>,
        stdout_closed: bool,
    ) -> Result<SpawnSpec<'a>, RunError> {
        let (arg0, args) = match &self.program.0 {
            Kind::Argv(argv) => {
                let (arg0, args) = argv.split_first().ok_or(ResolveError::Empty)?;
                (arg0, Args::List(args))
            }
            Kind::Text { shell, text } => (shell.program(), Args::Shell(shell.args(), OsStr::new(text))),
        };
        let program = resolution.executable.path();
        Ok(SpawnSpec { program, arg0, args, context, pwd: None, marker, temporary, stdout_closed })
    }
}
