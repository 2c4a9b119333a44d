//! What an agent does with hooks.

/// What an agent does with a program that it calls as a hook, for who puts one in front of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostTable {
    /// What is written beside a hook in its file so that its failures block: a key and its value as JSON. `None`: there is
    /// no such thing.
    pub failure_switch: Option<(&'static str, &'static str)>,
    /// What it does with a tool call if the program is not there.
    pub missing_program: HostBehavior,
    /// What it does with a tool call if the program is killed.
    pub killed: HostBehavior,
    /// What it does with a tool call if the program takes too long.
    pub on_hook_timeout: HostBehavior,
    /// How its denial by exit code reads for the model.
    pub exit_reason: ExitReason,
    /// What hooks never hear of, in words.
    pub not_observable: &'static [&'static str],
    /// What is not certain of it besides what its events say, in words.
    pub uncertain: &'static [&'static str],
}

/// What an agent does with a tool call when its hook fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostBehavior {
    /// The tool runs.
    Runs,
    /// It does not.
    Blocked,
    /// Nobody knows.
    Unknown,
}

/// How the reason of a denial by exit code reads for the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitReason {
    /// As it is.
    Plain,
    /// With the hook's whole command line in front.
    WithCommandLine,
    /// It is lost.
    Lost,
    /// Nobody knows.
    Unknown,
}
