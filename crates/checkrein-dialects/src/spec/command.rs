//! Commands of hooks: the command line, its environment, its directory and its limits.

use std::fmt;
use std::path::PathBuf;

use checkrein_core::property::Properties;

use super::{SandboxSpec, VerifiedScripts};

/// A process.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandSpec {
    /// What is run.
    pub run: CommandLine,
    /// Where. Relative to the event's directory; `None`: there.
    pub cwd: Option<PathBuf>,
    /// Names of the host's variables that it gets besides the usual ones.
    pub env_allow: Vec<String>,
    /// Whether it gets all of the host's variables. `None`: as its dialect says.
    pub env_all: Option<bool>,
    /// Variables that it gets with these values.
    pub env_set: Vec<(String, String)>,
    /// Lists of names that bound what it gets of the host's variables, besides the usual ones: a name must be in each of them.
    /// One that ends in `*` stands for all that begin so.
    pub env_bounds: Vec<Vec<String>>,
    /// Whether `${NAME}`, `${NAME:-default}` and `$$` in its words stand for variables that it gets, and for a dollar.
    pub expands: bool,
    /// How much of each output stream is kept, in bytes. `None`: as its dialect says.
    pub output_cap: Option<usize>,
    /// Whether what it leaves behind in the background is left alone rather than ended. `None`: as its dialect says.
    pub leave_background: Option<bool>,
    /// What it may do. `None`: all that the host may.
    pub sandbox: Option<SandboxSpec>,
    /// The scripts that it runs only with contents that were approved. `None`: whatever they are.
    pub verified_scripts: Option<Box<VerifiedScripts>>,
}

impl fmt::Debug for CommandSpec {
    // The values of variables may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env_set.iter().map(|(name, _)| name).collect();
        f.debug_struct("CommandSpec")
            .field("run", &self.run)
            .field("cwd", &self.cwd)
            .field("env_allow", &self.env_allow)
            .field("env_set", &names)
            .field("sandbox", &self.sandbox)
            .finish_non_exhaustive()
    }
}

/// What a process is started with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// A text for a shell.
    Shell {
        /// The text.
        text: String,
        /// The shell and its arguments, if it is not the usual one.
        shell: Option<Vec<String>>,
    },
    /// A program and its arguments.
    Argv(Vec<String>),
}

/// A command that could never be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// There is nothing to run.
    #[error("the command is empty")]
    Empty,
    /// A variable to pass on or to set has a name that no variable can have.
    #[error("`{0}` cannot be the name of a variable")]
    VariableName(String),
}

impl CommandSpec {
    pub(super) fn list_properties(&self, path: &dyn Fn(&str) -> String, properties: &mut Properties) {
        let Self {
            run,
            cwd,
            env_allow,
            env_all,
            env_set,
            // Left out: an administrator's files set it.
            env_bounds: _,
            expands,
            output_cap,
            leave_background,
            sandbox,
            // Left out: approvals set it.
            verified_scripts: _,
        } = self;
        let yes_or_no = |flag: bool| if flag { "yes" } else { "no" };
        match run {
            CommandLine::Shell { text, shell } => {
                properties.add("command", text);
                properties.add_each("shell", shell.iter().flatten());
            }
            CommandLine::Argv(words) => properties.add_each("word", words.iter().map(|word| path(word))),
        }
        properties.add_set("cwd", cwd.as_ref().map(|cwd| path(&cwd.to_string_lossy())));
        properties.add_each("variable", env_set.iter().map(|(name, value)| format!("{name}={}", path(value))));
        properties.add_each("gets variable", env_allow);
        properties.add_set("gets all variables", env_all.map(yes_or_no));
        properties.add_flag("variables in words", *expands);
        properties.add_set("output cap", *output_cap);
        properties.add_set("leaves processes behind", leave_background.map(yes_or_no));
        if let Some(sandbox) = sandbox {
            sandbox.list_properties(properties);
        }
    }

    /// Gets no other variables of the host than these, besides the usual ones.
    #[must_use]
    pub fn bounded_by(mut self, names: &[String]) -> Self {
        self.env_bounds.push(names.to_vec());
        self
    }

    /// Whether nothing keeps this variable of the host from it.
    pub fn may_get(&self, name: &str) -> bool {
        let fits = |allowed: &String| match allowed.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => allowed == name,
        };
        self.env_bounds.iter().all(|names| names.iter().any(fits))
    }

    /// A text for the usual shell.
    pub fn shell(text: impl Into<String>) -> Self {
        Self::new(CommandLine::Shell { text: text.into(), shell: None })
    }

    /// A program and its arguments.
    pub fn argv<A: Into<String>>(argv: impl IntoIterator<Item = A>) -> Self {
        Self::new(CommandLine::Argv(argv.into_iter().map(Into::into).collect()))
    }

    pub(crate) fn new(run: CommandLine) -> Self {
        Self {
            run,
            cwd: None,
            env_allow: Vec::new(),
            env_all: None,
            env_set: Vec::new(),
            env_bounds: Vec::new(),
            expands: false,
            output_cap: None,
            leave_background: None,
            sandbox: None,
            verified_scripts: None,
        }
    }

    /// Checks what can be checked without starting it.
    ///
    /// # Errors
    /// A command that could never be started.
    pub fn check(&self) -> Result<(), CommandError> {
        let first = match &self.run {
            CommandLine::Shell { text, .. } => Some(text),
            CommandLine::Argv(argv) => argv.first(),
        };
        if first.is_none_or(|first| first.trim().is_empty()) {
            return Err(CommandError::Empty);
        }
        let names = self.env_allow.iter().chain(self.env_set.iter().map(|(name, _)| name));
        match names.into_iter().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
            Some(name) => Err(CommandError::VariableName(name.clone())),
            None => Ok(()),
        }
    }

    /// Takes the text of a command, whatever was said before it.
    pub(crate) fn put_text(&mut self, command: String) {
        match &mut self.run {
            CommandLine::Shell { text, .. } => *text = command,
            CommandLine::Argv(argv) => argv.insert(0, command),
        }
    }

    /// Takes arguments: the command is a program then, whether it was read already or not.
    pub(crate) fn put_args(&mut self, args: Vec<String>) {
        let program = match &self.run {
            CommandLine::Shell { text, .. } if !text.is_empty() => Some(text.clone()),
            _ => None,
        };
        self.run = CommandLine::Argv(program.into_iter().chain(args).collect());
    }

    pub(crate) fn put_shell(&mut self, words: Vec<String>) {
        if let CommandLine::Shell { shell, .. } = &mut self.run {
            *shell = Some(words);
        }
    }

    /// Uses another shell: a program and the arguments that stand before the text.
    #[must_use]
    pub fn with_shell<A: Into<String>>(mut self, argv: impl IntoIterator<Item = A>) -> Self {
        if let CommandLine::Shell { shell, .. } = &mut self.run {
            *shell = Some(argv.into_iter().map(Into::into).collect());
        }
        self
    }

    /// Runs there.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Passes this variable of the host on.
    #[must_use]
    pub fn allow_env(mut self, name: impl Into<String>) -> Self {
        self.env_allow.push(name.into());
        self
    }

    /// Passes all variables of the host on, secrets among them.
    #[must_use]
    pub fn allow_all_env(mut self) -> Self {
        self.env_all = Some(true);
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.env_set.push((name.into(), value.into()));
        self
    }

    /// Keeps so much of each output stream.
    #[must_use]
    pub fn output_cap(mut self, bytes: usize) -> Self {
        self.output_cap = Some(bytes);
        self
    }

    /// Keeps it in a sandbox.
    #[must_use]
    pub fn sandbox(mut self, sandbox: SandboxSpec) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Leaves alone what it starts in the background.
    #[must_use]
    pub fn leave_background(mut self) -> Self {
        self.leave_background = Some(true);
        self
    }
}
