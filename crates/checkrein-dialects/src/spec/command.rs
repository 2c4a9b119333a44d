//! Commands of hooks: command line, environment, working directory and limits.

use std::fmt;
use std::path::PathBuf;

use checkrein_core::property::Properties;

use super::{SandboxSpec, VerifiedScripts};

/// A command that runs as a process.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CommandSpec {
    /// Command line.
    pub run: CommandLine,
    /// Working directory, relative to `script_dir` or else to the event's directory. `None`: the event's directory.
    pub cwd: Option<PathBuf>,
    /// Directory of the scripts that the command names by relative paths. `None`: its working directory.
    pub script_dir: Option<PathBuf>,
    /// Names of the host's variables that it gets besides the default ones.
    pub env_allow: Vec<String>,
    /// `true` if it gets all variables of the host. `None`: the default of its dialect.
    pub env_all: Option<bool>,
    /// Variables to set, with their values.
    pub env_set: Vec<(String, String)>,
    /// Lists of permitted host variables. Apart from the default ones, it gets only variables that are in every list. A `*` at
    /// the end of a name matches any ending.
    pub env_bounds: Vec<Vec<String>>,
    /// `true` if `${NAME}` and `${NAME:-default}` in its words are replaced by variables that it gets, and `$$` by a dollar.
    pub expands: bool,
    /// Limit of each output stream in bytes. `None`: the default of its dialect.
    pub output_cap: Option<usize>,
    /// `true` if its background processes continue after it exits. `None`: the default of its dialect.
    pub leave_background: Option<bool>,
    /// Use of a warm interpreter. `None`: [`Warm::Auto`].
    pub warm: Option<Warm>,
    /// Sandbox. `None`: the command has the rights of the host.
    pub sandbox: Option<SandboxSpec>,
    /// Scripts that run only with their approved contents. `None`: scripts are not verified.
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

/// Use of an interpreter that is already started, if the resident process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Warm {
    /// If the script shows no sign that the result could differ.
    #[default]
    Auto,
    /// If the command is recognised.
    On,
    /// Never.
    Off,
}

impl Warm {
    /// The value in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::On => "true",
            Self::Off => "false",
        }
    }
}

/// Command line of a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandLine {
    /// Text for a shell.
    Shell {
        /// The text.
        text: String,
        /// Shell and its arguments. `None`: the default shell of the dialect.
        shell: Option<Vec<String>>,
    },
    /// Program and its arguments.
    Argv(Vec<String>),
}

/// Reason why a command can never be started.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The command is empty.
    #[error("the command is empty")]
    Empty,
    /// A variable has an invalid name.
    #[error("`{0}` is not a valid name of a variable")]
    VariableName(String),
}

impl CommandSpec {
    pub(super) fn list_properties(&self, path: &dyn Fn(&str) -> String, properties: &mut Properties) {
        let Self {
            run,
            cwd,
            // Omitted: the location of the hook file sets it.
            script_dir: _,
            env_allow,
            env_all,
            env_set,
            // Omitted: an administrator's files set it.
            env_bounds: _,
            expands,
            output_cap,
            leave_background,
            warm,
            sandbox,
            // Omitted: approvals set it.
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
        properties.add_set("warm interpreter", warm.map(Warm::name));
        if let Some(sandbox) = sandbox {
            sandbox.list_properties(properties);
        }
    }

    /// Restricts the variables of the host to these and the default ones.
    #[must_use]
    pub fn bounded_by(mut self, names: &[String]) -> Self {
        self.env_bounds.push(names.to_vec());
        self
    }

    /// `true` if no restriction excludes this variable of the host.
    pub fn may_get(&self, name: &str) -> bool {
        let fits = |allowed: &String| match allowed.strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => allowed == name,
        };
        self.env_bounds.iter().all(|names| names.iter().any(fits))
    }

    /// A command text for the default shell.
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
            script_dir: None,
            env_allow: Vec::new(),
            env_all: None,
            env_set: Vec::new(),
            env_bounds: Vec::new(),
            expands: false,
            output_cap: None,
            leave_background: None,
            warm: None,
            sandbox: None,
            verified_scripts: None,
        }
    }

    /// Checks the command without starting it.
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

    /// Sets the text of the command, before or after its arguments.
    pub(crate) fn put_text(&mut self, command: String) {
        match &mut self.run {
            CommandLine::Shell { text, .. } => *text = command,
            CommandLine::Argv(argv) => argv.insert(0, command),
        }
    }

    /// Sets arguments, which makes the command a program. The text of the command may follow later.
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

    /// Sets the shell: a program and its arguments before the text.
    #[must_use]
    pub fn with_shell<A: Into<String>>(mut self, argv: impl IntoIterator<Item = A>) -> Self {
        if let CommandLine::Shell { shell, .. } = &mut self.run {
            *shell = Some(argv.into_iter().map(Into::into).collect());
        }
        self
    }

    /// Sets the working directory.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Passes on this variable of the host.
    #[must_use]
    pub fn allow_env(mut self, name: impl Into<String>) -> Self {
        self.env_allow.push(name.into());
        self
    }

    /// Passes on all variables of the host, including secrets.
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

    /// Sets the limit of each output stream.
    #[must_use]
    pub fn output_cap(mut self, bytes: usize) -> Self {
        self.output_cap = Some(bytes);
        self
    }

    /// Sets the use of a warm interpreter.
    #[must_use]
    pub fn warm(mut self, warm: Warm) -> Self {
        self.warm = Some(warm);
        self
    }

    /// Runs it in a sandbox.
    #[must_use]
    pub fn sandbox(mut self, sandbox: SandboxSpec) -> Self {
        self.sandbox = Some(sandbox);
        self
    }

    /// Lets its background processes continue after it exits.
    #[must_use]
    pub fn leave_background(mut self) -> Self {
        self.leave_background = Some(true);
        self
    }
}
