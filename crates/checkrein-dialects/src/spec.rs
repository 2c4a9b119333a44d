//! What a hook is, as it is configured: when it runs, what does its work, and under which limits.

mod http;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use checkrein_core::{EventKind, Hook, HookInfo, Matcher, RawJson, Source};

pub use http::HttpSpec;

/// One hook as it is configured.
///
/// ```
/// use std::time::Duration;
/// use checkrein_core::{Effect, EventKind, Matcher};
/// use checkrein_dialects::HookSpec;
///
/// let guard = HookSpec::shell("guard", EventKind::PreToolUse, "./guard.sh --strict")
///     .matching(Matcher::names(["Bash"]))
///     .timeout(Duration::from_secs(5))
///     .on_timeout(Effect::Ask);
/// assert_eq!(guard.hook.info.id, "guard");
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookSpec {
    /// When it runs.
    pub hook: Hook,
    /// What does its work.
    pub handler: HandlerSpec,
    /// How long it may take. `None`: as long as its dialect says for the kind of event.
    pub timeout: Option<Duration>,
    /// Whether the host waits for it. A hook in the background cannot decide anything.
    pub background: bool,
    /// Whether it runs only once in each session: the first time that it fits and has its say.
    pub once: bool,
}

impl HookSpec {
    /// A hook for one kind of event.
    #[track_caller]
    pub fn new(id: impl Into<String>, kind: EventKind, handler: HandlerSpec) -> Self {
        Self {
            hook: Hook::new(HookInfo::new(id, Source::here()), kind),
            handler,
            timeout: None,
            background: false,
            once: false,
        }
    }

    /// A hook that runs a shell command.
    #[track_caller]
    pub fn shell(id: impl Into<String>, kind: EventKind, command: impl Into<String>) -> Self {
        Self::new(id, kind, HandlerSpec::Command(CommandSpec::shell(command)))
    }

    /// A hook that runs a program with these arguments, without a shell.
    #[track_caller]
    pub fn argv<A: Into<String>>(id: impl Into<String>, kind: EventKind, argv: impl IntoIterator<Item = A>) -> Self {
        Self::new(id, kind, HandlerSpec::Command(CommandSpec::argv(argv)))
    }

    /// A hook that calls a function of the registry.
    #[track_caller]
    pub fn builtin(id: impl Into<String>, kind: EventKind, name: impl Into<String>) -> Self {
        Self::new(id, kind, HandlerSpec::Builtin(BuiltinSpec { name: name.into(), args: Vec::new() }))
    }

    /// Runs only for subjects that fit.
    #[must_use]
    pub fn matching(mut self, matcher: Matcher) -> Self {
        self.hook.matcher = matcher;
        self
    }

    /// May take this long.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Does this when it fails, whatever its dialect says.
    #[must_use]
    pub fn on_failure(self, effect: checkrein_core::Effect) -> Self {
        self.info(|info| info.on_failure = Some(effect))
    }

    /// Does this when it takes too long, whatever else is said.
    #[must_use]
    pub fn on_timeout(self, effect: checkrein_core::Effect) -> Self {
        self.info(|info| info.on_timeout = Some(effect))
    }

    /// Declares that it rewrites: it runs before all that do not, and they see what it made of the event.
    #[must_use]
    pub fn rewrites(self) -> Self {
        self.info(|info| info.declares_rewrites = true)
    }

    /// Runs in the background: nobody waits for it, and it cannot decide anything.
    #[must_use]
    pub fn in_background(mut self) -> Self {
        self.background = true;
        self
    }

    /// Runs only once in each session: the first time that it fits and has its say.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }

    /// Changes the command, if it is one.
    #[must_use]
    pub fn command(mut self, change: impl FnOnce(CommandSpec) -> CommandSpec) -> Self {
        if let HandlerSpec::Command(command) = self.handler {
            self.handler = HandlerSpec::Command(change(command));
        }
        self
    }

    /// Gives the function these arguments, if it is one.
    #[must_use]
    pub fn args<A: Into<String>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        if let HandlerSpec::Builtin(builtin) = &mut self.handler {
            builtin.args = args.into_iter().map(Into::into).collect();
        }
        self
    }

    fn info(mut self, change: impl FnOnce(&mut HookInfo)) -> Self {
        change(std::sync::Arc::make_mut(&mut self.hook.info));
        self
    }
}

/// What does a hook's work.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum HandlerSpec {
    /// A process.
    Command(CommandSpec),
    /// An HTTP endpoint.
    Http(HttpSpec),
    /// A function of the registry.
    Builtin(BuiltinSpec),
    /// What only the host knows: a kind that it has registered, and settings for it.
    Other {
        /// The kind.
        kind: String,
        /// Its settings.
        settings: RawJson,
    },
}

impl HandlerSpec {
    /// The kind by which the registry finds it.
    pub fn kind(&self) -> &str {
        match self {
            Self::Command(_) => "command",
            Self::Http(_) => "http",
            Self::Builtin(_) => "builtin",
            Self::Other { kind, .. } => kind,
        }
    }
}

/// A function of the registry, and what it is called with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BuiltinSpec {
    /// Its name.
    pub name: String,
    /// Its arguments.
    pub args: Vec<String>,
}

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
    /// Whether it gets all of the host's variables.
    pub env_all: bool,
    /// Variables that it gets with these values.
    pub env_set: Vec<(String, String)>,
    /// How much of each output stream is kept, in bytes.
    pub output_cap: usize,
    /// Whether what it leaves behind in the background is left alone rather than ended.
    pub leave_background: bool,
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

impl CommandSpec {
    /// How much of each output stream is kept if nothing else is said.
    pub const OUTPUT_CAP: usize = 1 << 20;

    /// A text for the usual shell.
    pub fn shell(text: impl Into<String>) -> Self {
        Self::new(CommandLine::Shell { text: text.into(), shell: None })
    }

    /// A program and its arguments.
    pub fn argv<A: Into<String>>(argv: impl IntoIterator<Item = A>) -> Self {
        Self::new(CommandLine::Argv(argv.into_iter().map(Into::into).collect()))
    }

    fn new(run: CommandLine) -> Self {
        Self {
            run,
            cwd: None,
            env_allow: Vec::new(),
            env_all: false,
            env_set: Vec::new(),
            output_cap: Self::OUTPUT_CAP,
            leave_background: false,
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
        self.env_all = true;
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
        self.output_cap = bytes;
        self
    }

    /// Leaves alone what it starts in the background.
    #[must_use]
    pub fn leave_background(mut self) -> Self {
        self.leave_background = true;
        self
    }
}
