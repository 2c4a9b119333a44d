//! What a hook is, as it is configured: when it runs, what does its work, and under which limits.

mod callback;
mod expand;
mod http;
mod pins;
mod rule;
mod sandbox;

use std::fmt::{self, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use checkrein_core::property::{Properties, Property};
use checkrein_core::{EventKind, Hook, HookInfo, Matcher, RawJson, Source};

pub use callback::{Callback, CallbackFuture};
pub(crate) use expand::{escaped, has_variables, plain, shell_text};
pub use http::HttpSpec;
pub use pins::{PinnedScript, PinnedWord, Pins};
pub use rule::{BadRule, PermissionRule};
pub use sandbox::{FileAccess, SandboxSpec};

use crate::agents::native;
use crate::table::Dialect;

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
    /// Whose language it speaks: what it is given, how its reply is read, what is done when it fails.
    pub dialect: &'static Dialect,
    /// Whether nothing is overlooked in its answers, whatever its dialect usually does.
    pub strict: bool,
    /// Whether it wakes the agent if it runs in the background and has something to say.
    pub rewake: bool,
    /// The rule that a tool call must fit.
    pub rule: Option<PermissionRule>,
    /// Patterns that fields of the tool's input must fit.
    pub input: Vec<InputPattern>,
    /// What the user is shown while it runs.
    pub status: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What has switched it off, in words, if it is not its own entry.
    pub off_by: Option<String>,
    /// What else its file says of it and its handler has no use for: names, and values as JSON.
    pub unused: Vec<(String, String)>,
}

/// A pattern for a field of a tool's input.
#[derive(Debug, Clone)]
pub struct InputPattern {
    /// The field; dots lead into objects.
    pub field: String,
    /// What it must fit.
    pub matcher: Matcher,
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
            dialect: &native::DIALECT,
            strict: false,
            rewake: false,
            rule: None,
            input: Vec::new(),
            status: None,
            description: None,
            off_by: None,
            unused: Vec::new(),
        }
    }

    /// Whether it is an HTTP endpoint.
    pub fn is_http(&self) -> bool {
        matches!(self.handler, HandlerSpec::Http(_))
    }

    /// How long it may take at events of this kind.
    pub fn time_at(&self, kind: &EventKind) -> Duration {
        let handler = self.handler.kind().name();
        let mut in_background =
            self.dialect.time.in_background.iter().filter(|(of, _)| self.background && *of == handler);
        let usual = || in_background.next().map_or_else(|| self.dialect.timeout(kind, handler), |(_, time)| *time);
        let time = self.timeout.unwrap_or_else(usual);
        let of_event = self.dialect.row(kind).and_then(|row| row.timeout_cap);
        of_event.or(self.dialect.time.cap).map_or(time, |cap| time.min(cap))
    }

    /// The sandbox of its command, if it has one.
    pub fn sandbox(&self) -> Option<&SandboxSpec> {
        match &self.handler {
            HandlerSpec::Command(command) => command.sandbox.as_ref(),
            _ => None,
        }
    }

    /// Lists all properties that its entry sets, in one form. `path` rewrites texts that can be paths: words, directories and
    /// values of variables.
    ///
    /// This is what an approval is about: a change of any of these asks again. Values can be secrets.
    pub fn properties(&self, path: &dyn Fn(&str) -> String) -> Properties {
        let Self {
            hook,
            handler,
            timeout,
            background,
            once,
            dialect,
            strict,
            rewake,
            rule,
            input,
            // Left out: texts for people, without effect.
            status: _,
            description: _,
            // Left out: it tells why the hook does not run now.
            off_by: _,
            unused,
        } = self;
        let mut properties = Properties::new();
        properties.add("dialect", dialect.name);
        hook.list_properties(&mut properties);
        properties.add_set("if", rule.as_ref());
        for InputPattern { field, matcher } in input {
            properties.add("input", format!("{field}: {}", matcher.pattern()));
        }
        handler.list_properties(path, &mut properties);
        properties.add_set("timeout", timeout.map(|timeout| format!("{} s", timeout.as_secs_f64())));
        properties.add_flag("in the background", *background);
        properties.add_flag("once in a session", *once);
        properties.add_flag("strict", *strict);
        properties.add_flag("wakes the agent", *rewake);
        for (name, value) in unused {
            properties.add(name, value);
        }
        properties
    }

    /// All that its entry says, but for its name, its place, and when it runs: the same text for the same hook. Not for the
    /// eyes of people: it can hold secrets.
    pub fn definition(&self) -> String {
        let mut properties = self.properties(&str::to_owned).into_vec();
        properties.retain(|property| property.label != Hook::EVENT && property.label != Hook::MATCHER);
        text_of(&properties)
    }

    /// Puts it in the shadow: it runs and is recorded, and what it says or that it fails has no effect.
    #[must_use]
    pub fn in_shadow(mut self) -> Self {
        self.put_in_shadow();
        self
    }

    /// The same in place.
    pub fn put_in_shadow(&mut self) {
        std::sync::Arc::make_mut(&mut self.hook.info).shadow = true;
        if self.hook.identity.is_some() {
            self.hook.identity = self.dialect.config.same.identity(self);
        }
    }

    /// Speaks another language.
    #[must_use]
    pub fn speaking(mut self, dialect: &'static Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Runs for events of this kind as well.
    #[must_use]
    pub fn also_for(mut self, kind: EventKind) -> Self {
        self.hook.kinds.push(kind);
        self
    }

    /// Runs only if this holds.
    #[must_use]
    pub fn when(mut self, condition: checkrein_core::Condition) -> Self {
        self.hook.condition = Some(condition);
        self
    }

    /// Runs before those with a higher number, whatever the order in files; 0 if nothing is said.
    #[must_use]
    pub fn order(mut self, order: i32) -> Self {
        self.hook.order = order;
        self
    }

    /// Is there, and does not run.
    #[must_use]
    pub fn disabled(mut self) -> Self {
        self.hook.state = checkrein_core::HookState::Disabled;
        self
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

    /// Declares that it never rewrites: it runs in parallel with other hooks, after all rewrites.
    #[must_use]
    pub fn without_rewrites(self) -> Self {
        self.info(|info| info.declares_rewrites = false)
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
pub enum HandlerSpec {
    /// A process.
    Command(CommandSpec),
    /// An HTTP endpoint.
    Http(HttpSpec),
    /// A function of the registry.
    Builtin(BuiltinSpec),
    /// A function of the host.
    Callback(Callback),
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
    pub fn kind(&self) -> HandlerKind<'_> {
        match self {
            Self::Command(_) => HandlerKind::Command,
            Self::Http(_) => HandlerKind::Http,
            Self::Builtin(_) => HandlerKind::Builtin,
            Self::Callback(_) => HandlerKind::Callback,
            Self::Other { kind, .. } => HandlerKind::Other(kind),
        }
    }

    /// What tells it from other handlers, secrets included: not for the eyes of people.
    pub(crate) fn identity(&self) -> String {
        let mut properties = Properties::new();
        self.list_properties(&str::to_owned, &mut properties);
        text_of(&properties.into_vec())
    }

    fn list_properties(&self, path: &dyn Fn(&str) -> String, properties: &mut Properties) {
        match self {
            Self::Command(command) => command.list_properties(path, properties),
            Self::Http(http) => http.list_properties(properties),
            Self::Builtin(BuiltinSpec { name, args }) => {
                properties.add("builtin", name);
                properties.add_each("argument", args);
            }
            // Callbacks are code of the host: they need no approval, and each is its own.
            Self::Callback(callback) => properties.add("callback", format!("{callback:?}")),
            Self::Other { kind, settings } => {
                properties.add("handler", kind);
                properties.add("settings", settings.as_str());
            }
        }
    }
}

/// The kind of a handler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum HandlerKind<'a> {
    /// A process.
    Command,
    /// An HTTP endpoint.
    Http,
    /// A function of the registry.
    Builtin,
    /// A function of the host.
    Callback,
    /// A kind that the host has registered under this name.
    Other(&'a str),
}

impl<'a> HandlerKind<'a> {
    /// The name, as in files and records.
    pub fn name(self) -> &'a str {
        match self {
            Self::Command => "command",
            Self::Http => "http",
            Self::Builtin => "builtin",
            Self::Callback => "callback",
            Self::Other(name) => name,
        }
    }
}

impl fmt::Display for HandlerKind<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A text that is the same for the same properties, and for no others.
fn text_of(properties: &[Property]) -> String {
    let mut text = String::new();
    for Property { label, value } in properties {
        // With the length, so that no value runs into the next one.
        let _ = writeln!(text, "{label}:{}:{value}", value.len());
    }
    text
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
    pub pins: Option<Box<Pins>>,
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
    fn list_properties(&self, path: &dyn Fn(&str) -> String, properties: &mut Properties) {
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
            pins: _,
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
            pins: None,
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
