//! Behaviour of agents that call a hook program.

use std::time::Duration;

/// Behaviour of an agent that calls a hook program. `install` and `status` report it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostTable {
    /// Key of a hook in its file that makes failures block, and its value as JSON. `None`: there is no such key.
    pub failure_switch: Option<(&'static str, &'static str)>,
    /// Effect on a tool call if the program is missing.
    pub missing_program: HostBehavior,
    /// `true` if prompts are blocked too whenever tools are blocked because the program is missing.
    pub missing_program_blocks_prompts: bool,
    /// Effect on a tool call if the program is killed.
    pub killed: HostBehavior,
    /// Effect on a tool call if the program exceeds its timeout.
    pub on_hook_timeout: HostBehavior,
    /// Reason of a denial by exit code, as the model sees it.
    pub exit_reason: ExitReason,
    /// `true` if the agent shows no messages of hooks to its user, or shows them only in one of its modes.
    pub hides_messages: bool,
    /// Descriptions of actions for which hooks are not called.
    pub not_observable: &'static [&'static str],
    /// Names of tools that start a sub-agent whose tools run without any hook.
    pub unguarded_subagents: &'static [&'static str],
    /// `true` if the agent calls the entries of the user's and of the project's settings, each for the same event.
    pub calls_each_entry: bool,
    /// Names of the agent's program, if checkrein cannot edit its settings. All other agents have them in their install table.
    pub programs: &'static [&'static str],
    /// Calls that can wait for an approval.
    pub approvals: ApprovalTable,
    /// Descriptions of uncertain facts, besides those of its events.
    pub uncertain: &'static [&'static str],
}

/// Calls of an agent that can wait for the user's approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApprovalTable {
    /// Time between the end of the wait and the agent's timeout for its hook. checkrein answers in it.
    pub margin: Duration,
    /// `true` if a call waits also at permission requests. An agent that calls hooks before its own dialog shows no dialog meanwhile.
    pub holds_requests: bool,
    /// Sign of a session without a user at the agent's own dialog. `None`: such a session cannot be recognized.
    pub headless: Option<HeadlessSign>,
}

/// Variable of the environment by which a session without a user is recognized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeadlessSign {
    /// Name of the variable.
    pub variable: &'static str,
    /// Its values in such a session.
    pub values: &'static [&'static str],
}

/// Effect of a failed hook on a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostBehavior {
    /// The tool runs.
    Runs,
    /// The tool is blocked.
    Blocked,
    /// Not known.
    Unknown,
}

/// Reason of a denial by exit code, as the model sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitReason {
    /// Unchanged.
    Plain,
    /// After the hook's whole command line.
    WithCommandLine,
    /// Not visible.
    Lost,
    /// Not known.
    Unknown,
}
