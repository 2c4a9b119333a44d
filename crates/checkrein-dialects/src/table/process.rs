//! How hooks that are processes run.

/// How processes run.
#[derive(Debug, Clone, Copy)]
pub struct ProcessTable {
    /// The shell for commands that are text.
    pub shell: Shell,
    /// What a hook gets of the host's environment.
    pub environment: Environment,
    /// Variables with data of the event.
    pub variables: &'static [VariableRow],
    /// Where it runs.
    pub cwd: Cwd,
    /// Whether `${env.NAME}` in the values of a hook's own variables stands for a variable of the host, and in its own
    /// directory also `~`, `$NAME` and `${NAME}`.
    pub expands: bool,
    /// Whether the payload ends with a new line.
    pub newline: bool,
    /// How much of each output stream is read, in bytes.
    pub output_cap: usize,
    /// Whether what a hook leaves in the background is left alone, and reported, rather than ended.
    pub leaves_background: bool,
}

/// A shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// `sh -c`.
    Sh,
    /// `bash -c`.
    Bash,
    /// The one that `$SHELL` names, as `-c`.
    User,
    /// The one that this variable names, else `/bin/sh`.
    Variable(&'static str),
    /// There is none: commands are lists of words.
    None,
}

/// What a hook gets of the host's environment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Environment {
    /// Names that every program needs, and what the hook asks for.
    Usual,
    /// Everything.
    All,
    /// Everything but what starts like this.
    AllBut(&'static [&'static str]),
    /// These, and what the hook asks for.
    Only(&'static [&'static str]),
}

/// Where hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cwd {
    /// In the event's directory.
    Event,
    /// There, or in the host's if it is gone.
    EventOrHost,
    /// In the host's.
    Host,
}

/// A variable with data of the event.
#[derive(Debug, Clone, Copy)]
pub struct VariableRow {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub from: Data,
    /// What it holds if the event does not have that. `None`: it is not set then.
    pub absent: Option<&'static str>,
}

/// Where data comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Data {
    /// The dialect's name for the event.
    EventName,
    /// A field, under checkrein's name for it: text as it is, all else as JSON. Dots lead into JSON.
    Field(&'static str),
    /// The same, but `1` and `0` instead of true and false.
    Digit(&'static str),
    /// The first of these fields that the event has, as [`Field`](Self::Field) has it.
    FirstOf(&'static [&'static str]),
    /// `1` if the event is about a tool that failed, by its kind or by what it says, else `0`.
    ToolFailed,
    /// The directory that the host was started in.
    ProjectDir,
    /// This text.
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
