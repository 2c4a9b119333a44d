use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;
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

/// A program that was found, ready to run any number of times. Made by [`Program::prepare`].
#[derive(Debug, Clone)]
pub struct ResolvedCommand {
    program: HookCommand,
    route: Resolution,
    place: ExecContext,
}

#[derive(Debug, Clone)]
struct Resolution {
    /// The program, or the shell.
    first: ResolvedProgram,
    direct: Option<DirectExec>,
}

impl Resolution {
    fn choose(program: &HookCommand, place: &ExecContext) -> Result<Self, ResolveError> {
        match &program.0 {
            Kind::Argv(argv) => Ok(Self {
                first: ResolvedProgram::find(argv.first().ok_or(ResolveError::Empty)?, place)?,
                direct: None,
            }),
            Kind::Text { shell, text } => Ok(Self {
                first: ResolvedProgram::find(shell.program(), place)?,
                direct: DirectExec::read(shell, text, place),
            }),
        }
    }

    /// Whether what was found for one place holds for another.
    fn holds(&self, found_at: &ExecContext, place: &ExecContext) -> bool {
        let same_path = found_at.var("PATH") == place.var("PATH");
        let cwd_matters = self.first.depends_on_cwd() || self.direct.is_some();
        same_path && (!cwd_matters || found_at.cwd() == place.cwd())
    }

    /// The same without a shell, if it needs none.
    fn without_a_shell<'a>(&'a self, launch: &SpawnSpec<'a>) -> Option<SpawnSpec<'a>> {
        let direct = self.direct.as_ref().filter(|_| no_shell::is_plain_environment(launch.place))?;
        let (arg0, args) = direct.words.split_first()?;
        let pwd = direct.pwd(launch.place);
        Some(SpawnSpec { program: &direct.program, arg0, args: Args::List(args), pwd, ..*launch })
    }
}

impl ResolvedCommand {
    pub(crate) fn new(program: HookCommand, place: &ExecContext) -> Result<Self, ResolveError> {
        let route = Resolution::choose(&program, place)?;
        Ok(Self { program, route, place: place.clone() })
    }

    /// What is run.
    pub fn program(&self) -> &HookCommand {
        &self.program
    }

    /// The executable that was found: the program, or the shell of a text.
    pub fn executable(&self) -> &ResolvedProgram {
        &self.route.first
    }

    /// Runs it once.
    ///
    /// The place may differ from the one it was prepared for; where that could mean another program, it is found anew.
    ///
    /// Dropping the future ends everything that the run has started, at once.
    ///
    /// # Errors
    ///
    /// When the process could not be started. What happens after the start is a [`Reply`].
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with I/O and time switched on.
    pub async fn run(&self, place: &ExecContext, stdin: &Stdin, limits: &Limits) -> Result<RunOutput, RunError> {
        let begun = Instant::now();
        let route = if self.route.holds(&self.place, place) {
            Cow::Borrowed(&self.route)
        } else {
            Cow::Owned(Resolution::choose(&self.program, place)?)
        };
        let not_caged = |problem| RunError::Sandbox { program: route.first.path().into(), problem };
        // It lives as long as the run.
        let temporary = sys::temporary(place).map_err(not_caged)?;
        let marker = Marker::new();
        let path = temporary.as_ref().map(sys::Temporary::path);
        let whole = self.launch(&route, place, &marker, path, limits.stdout_closed)?;
        let plain = route.without_a_shell(&whole);
        let mut direct = plain.as_ref();
        let started = loop {
            let launch = direct.unwrap_or(&whole);
            match sys::start(launch, stdin) {
                Ok(started) => break started,
                // Whatever is wrong, a missing program or a script without `#!`: what the shell makes of it is right.
                Err(failed) if !failed.ran && direct.is_some() => direct = None,
                Err(failed) => return Err(RunError::from_start(failed, launch)),
            }
        };
        let lost = |source| RunError::Lost { program: route.first.path().into(), source };
        let mut reply = supervise::run_to_completion(started, stdin, limits, begun).await.map_err(lost)?;
        reply.ran_without_shell = direct.is_some();
        if let Some(temporary) = temporary
            && reply.leftovers.iter().all(|left| left.ended)
        {
            temporary.give_back();
        }
        reply.limit_exceeded =
            reply.limit_exceeded.or_else(|| LimitExceeded::by_signal(reply.exit, place.sandboxed()?));
        Ok(reply)
    }

    fn launch<'a>(
        &'a self,
        route: &'a Resolution,
        place: &'a ExecContext,
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
        Ok(SpawnSpec { program: route.first.path(), arg0, args, place, pwd: None, marker, temporary, stdout_closed })
    }
}
