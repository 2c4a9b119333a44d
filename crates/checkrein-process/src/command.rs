//! [`HookCommand`] and [`Shell`]: a command as the caller specifies it.
//!
//! [`HookCommand::prepare`] finds the program and returns a [`ResolvedCommand`], which runs. Nothing here starts a process.

use std::ffi::OsString;
use std::fmt;

use crate::exec_context::ExecContext;
use crate::resolve::ResolveError;
use crate::resolved_command::ResolvedCommand;

/// A command to run: a text for a shell, or a program with its arguments.
///
/// ```
/// use checkrein_process::HookCommand;
///
/// let text = HookCommand::shell("jq -r .tool_name >> tools.log");
/// let argv = HookCommand::argv(["python3", "check.py", "--strict"]);
/// assert_eq!(argv.to_string(), "python3 check.py --strict");
/// # let _ = text;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookCommand(pub(crate) Kind);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Text { shell: Shell, text: String },
    Argv(Vec<OsString>),
}

impl HookCommand {
    /// A text for the default [`Shell`].
    ///
    /// A text that needs no shell runs without one, with the same result. See
    /// [`RunOutput::ran_without_shell`](crate::RunOutput::ran_without_shell).
    pub fn shell(text: impl Into<String>) -> Self {
        Self::shell_with(Shell::default(), text)
    }

    /// A text for this shell.
    pub fn shell_with(shell: Shell, text: impl Into<String>) -> Self {
        Self(Kind::Text { shell, text: text.into() })
    }

    /// A program and its arguments. A program without a slash in its name is searched in the `PATH` of the [`ExecContext`].
    pub fn argv<A: Into<OsString>>(argv: impl IntoIterator<Item = A>) -> Self {
        Self(Kind::Argv(argv.into_iter().map(Into::into).collect()))
    }

    /// Finds the program, once for many runs.
    ///
    /// # Errors
    ///
    /// The program or the shell does not exist or is not executable. A program inside a shell text is not checked: the
    /// run then exits with 127 or 126, as in the shell.
    pub fn prepare(self, context: &ExecContext) -> Result<ResolvedCommand, ResolveError> {
        ResolvedCommand::new(self, context)
    }
}

impl fmt::Display for HookCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Text { text, .. } => f.write_str(text),
            Kind::Argv(argv) => {
                for (index, arg) in argv.iter().enumerate() {
                    let space = if index == 0 { "" } else { " " };
                    write!(f, "{space}{}", arg.display())?;
                }
                Ok(())
            }
        }
    }
}

/// A shell and its arguments before the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shell {
    program: OsString,
    args: Vec<OsString>,
}

impl Shell {
    /// A shell by name or path. A name without a slash is searched in the `PATH` of the [`ExecContext`].
    ///
    /// ```
    /// use checkrein_process::Shell;
    ///
    /// let bash = Shell::new("bash", ["-c"]);
    /// # let _ = bash;
    /// ```
    pub fn new<A: Into<OsString>>(program: impl Into<OsString>, args: impl IntoIterator<Item = A>) -> Self {
        Self { program: program.into(), args: args.into_iter().map(Into::into).collect() }
    }

    /// The shell's name or path.
    pub fn program(&self) -> &OsString {
        &self.program
    }

    /// The arguments that come before the text.
    pub fn args(&self) -> &[OsString] {
        &self.args
    }
}

/// `/bin/sh -c`, on Windows `cmd /D /S /C`. Never a login shell: it would read its profile on every run.
impl Default for Shell {
    fn default() -> Self {
        if cfg!(windows) { Self::new("cmd.exe", ["/D", "/S", "/C"]) } else { Self::new("/bin/sh", ["-c"]) }
    }
}
