//! Columns of a dialect for hooks that are processes.

/// Rules for processes.
#[derive(Debug, Clone, Copy)]
pub struct ProcessTable {
    /// Shell for commands that are text.
    pub shell: Shell,
    /// Variables of the host that a hook gets.
    pub environment: Environment,
    /// Variables with data of the event.
    pub variables: &'static [VariableRow],
    /// Working directory.
    pub cwd: Cwd,
    /// Directory of relative paths in project files: scripts that a command runs, and the working directory that a hook sets.
    pub relative_to: RelativeTo,
    /// `true` if `${env.NAME}` in the values of a hook's own variables is replaced by a variable of the host. In its working
    /// directory, `~`, `$NAME` and `${NAME}` are replaced too.
    pub expands: bool,
    /// `true` if the payload ends with a newline.
    pub newline: bool,
    /// Limit of each output stream in bytes.
    pub output_cap: usize,
    /// `true` if background processes of a hook are reported and continue. Otherwise they are ended.
    pub leaves_background: bool,
}

/// A shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// `sh -c`.
    Sh,
    /// `bash -c`.
    Bash,
    /// The shell in `$SHELL`, with `-c`.
    User,
    /// The shell in this variable, or else `/bin/sh`.
    Variable(&'static str),
    /// No shell: commands are lists of words.
    None,
}

/// Variables of the host that a hook gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Environment {
    /// Variables that every program needs, and those that the hook lists.
    Usual,
    /// All variables.
    All,
    /// All variables but those with these prefixes.
    AllBut(&'static [&'static str]),
    /// These variables, and those that the hook lists.
    Only(&'static [&'static str]),
}

/// Working directory of hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cwd {
    /// Directory of the event.
    Event,
    /// Directory of the event, or that of the host if it does not exist.
    EventOrHost,
    /// Directory of the host.
    Host,
}

/// Directory of relative paths in project files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelativeTo {
    /// Working directory of the hook.
    WorkingDirectory,
    /// Directory in which the agent's hook files were found.
    Project,
}

/// A variable with data of the event.
#[derive(Debug, Clone, Copy)]
pub struct VariableRow {
    /// Name.
    pub name: &'static str,
    /// Source of the value.
    pub from: Data,
    /// Value if the event does not have the data. `None`: the variable is not set.
    pub absent: Option<&'static str>,
}

/// Source of the value of a variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// The dialect's name for the event.
    EventName,
    /// The name of the event in payloads.
    SentEventName,
    /// A field, by checkrein's name. Strings stay unchanged; other values are JSON. Dots lead into JSON.
    Field(&'static str),
    /// A field as in [`Field`](Self::Field), with `1` and `0` instead of true and false.
    Digit(&'static str),
    /// The first of these fields that the event has, as in [`Field`](Self::Field).
    FirstOf(&'static [&'static str]),
    /// `1` if the event is about a failed tool, by its kind or its fields. Otherwise `0`.
    ToolFailed,
    /// Directory in which the host was started.
    ProjectDir,
    /// Fixed text.
    Fixed(&'static str),
}

impl VariableRow {
    /// A variable that is set if the event has the data.
    pub const fn new(name: &'static str, from: Data) -> Self {
        Self { name, from, absent: None }
    }

    /// A variable that is always set.
    #[must_use]
    pub const fn or(mut self, absent: &'static str) -> Self {
        self.absent = Some(absent);
        self
    }
}
