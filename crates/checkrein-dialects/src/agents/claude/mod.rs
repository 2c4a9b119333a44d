//! Claude Code, whose shape most others imitate.
//!
//! `claude` is Claude Code as it is today. `claude@sender` is the sender of a test agent that speaks the same language in
//! an older and smaller form ([`SENDER`]).

mod events;
mod like;
mod sender;

pub(crate) use like::CLAUDE_LIKE;
pub use sender::SENDER;

use std::time::Duration;

use checkrein_core::{Decision, EventKind, FailurePolicy, Scope, Target};

use crate::config::{
    Attribute, Base, ConfigTable, FileFormat, FileRow, HandlerRow, HookKey, PluginTable, Same, Shape, TimeUnit,
};
use crate::install::{InstallTable, Spot};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{At, Code, ExitRule, From, Key, Means, ReplyTable, Then, Trigger};
use crate::table::{
    Cwd, Data, Dialect, Environment, ExitReason, HostTable, ProcessTable, TimeTable, ToolRow, VariableRow,
};

/// The table.
pub static DIALECT: Dialect = CLAUDE;

const CLAUDE: Dialect = Dialect {
    name: "claude",
    events: events::EVENTS,
    tools: TOOLS,
    payload: PayloadTable::fields(COMMON),
    reply: ReplyTable {
        trigger: Trigger::Braces,
        keys: KEYS,
        exits: EXITS,
        text_cap: Some(10_000),
        ..CLAUDE_LIKE.reply
    },
    process: ProcessTable {
        // Those of its own telemetry are not its hooks' business.
        environment: Environment::AllBut(&["OTEL_"]),
        variables: &[
            VariableRow::new("CLAUDE_PROJECT_DIR", Data::ProjectDir),
            VariableRow::new("CLAUDE_CODE_SESSION_ID", Data::Field("session_id")),
            VariableRow::new("CLAUDECODE", Data::Fixed("1")),
        ],
        cwd: Cwd::EventOrHost,
        newline: true,
        leaves_background: true,
        ..CLAUDE_LIKE.process
    },
    time: TimeTable {
        handlers: &[("prompt", Duration::from_secs(30)), ("agent", Duration::from_secs(60))],
        ..TimeTable::seconds(600)
    },
    stop_cap: 8,
    config: ConfigTable {
        files: FILES,
        format: FileFormat::Layout(&SHAPE),
        plugin: Some(PLUGIN),
        same: Same::Handler,
        ..ConfigTable::BASE
    },
    host: HostTable {
        failure_switch: Some(("onFailure", "\"block\"")),
        exit_reason: ExitReason::WithCommandLine,
        unseen: &["in print mode, a turn that an error of the service ended"],
        ..HostTable::FAILS_OPEN
    },
    install: Some(
        InstallTable::new(
            &["claude"],
            &[Spot::new(Base::Variable("CLAUDE_CONFIG_DIR", ".claude"), "")],
            &[Spot::new(Base::Variable("CLAUDE_CONFIG_DIR", ".claude"), "settings.json")],
            &[Spot::new(Base::Project, ".claude/settings.json")],
        )
        .switch_since("2.1.295"),
    ),
    ..CLAUDE_LIKE
};

const TOOLS: &[ToolRow] = &[
    ToolRow::same("Agent"),
    ToolRow::same("AskUserQuestion"),
    ToolRow::same("Bash"),
    ToolRow::same("BashOutput"),
    ToolRow::same("Edit"),
    ToolRow::same("EnterPlanMode"),
    ToolRow::same("ExitPlanMode"),
    ToolRow::same("Glob"),
    ToolRow::same("Grep"),
    ToolRow::same("KillShell"),
    ToolRow::same("LSP"),
    ToolRow::same("MultiEdit"),
    ToolRow::same("NotebookEdit"),
    ToolRow::same("NotebookRead"),
    ToolRow::same("PowerShell"),
    ToolRow::same("Read"),
    ToolRow::same("SendMessage"),
    ToolRow::same("Skill"),
    ToolRow::same("SlashCommand"),
    ToolRow::same("Task"),
    ToolRow::same("TaskCreate"),
    ToolRow::same("TaskGet"),
    ToolRow::same("TaskList"),
    ToolRow::same("TaskUpdate"),
    ToolRow::same("TodoWrite"),
    ToolRow::same("ToolSearch"),
    ToolRow::same("WebFetch"),
    ToolRow::same("WebSearch"),
    ToolRow::same("Write"),
];

const EMPTY: &str = "\"\"";

const COMMON: &[FieldRow] = &[
    FieldRow::same("session_id").or(EMPTY),
    FieldRow::same("transcript_path").or(EMPTY),
    FieldRow::same("cwd").or(EMPTY),
    FieldRow::same("permission_mode"),
    FieldRow::same("agent_id"),
    FieldRow::same("agent_type"),
];

const PERMISSION: &[(&str, Decision)] =
    &[("allow", Decision::Allow), ("deny", Decision::Deny), ("ask", Decision::Ask), ("defer", Decision::Defer)];
const BEHAVIOR: &[(&str, Decision)] = &[("allow", Decision::Allow), ("deny", Decision::Deny)];
const LEGACY: &[(&str, Decision)] = &[("block", Decision::Deny), ("approve", Decision::Allow)];

/// Where the old, outer form of a decision counts.
const OUTER: At = At::Kinds(&[
    EventKind::PromptSubmit,
    EventKind::PromptExpansion,
    EventKind::PostToolUse,
    EventKind::PostToolFailure,
    EventKind::PostToolBatch,
    EventKind::Stop,
    EventKind::SubagentStop,
    EventKind::ConfigChange,
    EventKind::PreCompact,
    EventKind::TaskCreated,
    EventKind::PreModelSwitch,
    EventKind::PreToolUse,
]);

const CONTEXT: At = At::Kinds(&[
    EventKind::SessionStart,
    EventKind::Setup,
    EventKind::PromptSubmit,
    EventKind::PromptExpansion,
    EventKind::PreToolUse,
    EventKind::PostToolUse,
    EventKind::PostToolFailure,
    EventKind::PostToolBatch,
    EventKind::Stop,
    EventKind::SubagentStop,
    EventKind::SubagentStart,
    EventKind::PostModelSwitch,
]);

const REQUEST: At = At::Kinds(&[EventKind::PermissionRequest]);
const ELICITATION: At = At::Kinds(&[EventKind::Elicitation, EventKind::ElicitationResult]);
const WATCHED: At = At::Kinds(&[EventKind::SessionStart, EventKind::CwdChanged, EventKind::FileChanged]);

const KEYS: &[Key] = &[
    Key::new(&["hookSpecificOutput.hookEventName"], Means::EventName),
    Key::new(&["hookSpecificOutput.permissionDecision"], Means::Decision(PERMISSION))
        .at(At::Kinds(&[EventKind::PreToolUse, EventKind::PreModelSwitch])),
    Key::new(&["hookSpecificOutput.permissionDecisionReason"], Means::Reason)
        .at(At::Kinds(&[EventKind::PreToolUse, EventKind::PreModelSwitch])),
    Key::new(&["hookSpecificOutput.decision.behavior"], Means::Decision(BEHAVIOR)).at(REQUEST),
    Key::new(&["hookSpecificOutput.decision.message"], Means::Reason).at(REQUEST),
    Key::new(&["hookSpecificOutput.decision.interrupt"], Means::Flag(true, Decision::Halt)).at(REQUEST).only_read(),
    Key::new(&["hookSpecificOutput.decision.updatedInput"], Means::Replace(Target::Input)).at(REQUEST),
    Key::new(&["hookSpecificOutput.decision.updatedPermissions"], Means::Named("updatedPermissions")).at(REQUEST),
    Key::new(&["decision"], Means::Decision(LEGACY)).at(OUTER),
    Key::new(&["reason"], Means::Reason).at(OUTER),
    // It beats what is decided at the event, and says more than a deny.
    Key::new(&["continue"], Means::Flag(false, Decision::Halt))
        .at(At::Except(&[EventKind::PreCompact, EventKind::TaskCreated])),
    Key::new(&["stopReason"], Means::StopReason),
    Key::new(&["hookSpecificOutput.additionalContext"], Means::Context).at(CONTEXT),
    Key::new(&["hookSpecificOutput.updatedInput"], Means::Replace(Target::Input))
        .at(At::Kinds(&[EventKind::PreToolUse])),
    Key::new(&["hookSpecificOutput.updatedToolOutput"], Means::Replace(Target::Output))
        .at(At::Kinds(&[EventKind::PostToolUse])),
    Key::new(&["hookSpecificOutput.updatedMCPToolOutput"], Means::Replace(Target::Output))
        .at(At::Kinds(&[EventKind::PostToolUse]))
        .only_read(),
    Key::new(&["hookSpecificOutput.initialUserMessage"], Means::FirstMessage).at(At::Kinds(&[EventKind::SessionStart])),
    Key::new(&["hookSpecificOutput.displayContent"], Means::Replace(Target::Output))
        .at(At::Kinds(&[EventKind::MessageDisplay])),
    Key::new(&["hookSpecificOutput.worktreePath"], Means::Replace(Target::Output))
        .at(At::Kinds(&[EventKind::WorktreeCreate])),
    Key::new(&["hookSpecificOutput.sessionTitle"], Means::Named("sessionTitle"))
        .at(At::Kinds(&[EventKind::SessionStart, EventKind::PromptSubmit])),
    Key::new(&["hookSpecificOutput.watchPaths"], Means::Named("watchPaths")).at(WATCHED),
    Key::new(&["hookSpecificOutput.reloadSkills"], Means::Named("reloadSkills"))
        .at(At::Kinds(&[EventKind::SessionStart])),
    Key::new(&["hookSpecificOutput.suppressOriginalPrompt"], Means::Named("suppressOriginalPrompt"))
        .at(At::Kinds(&[EventKind::PromptSubmit])),
    Key::new(&["hookSpecificOutput.retry"], Means::Named("retry")).at(At::Kinds(&[EventKind::PermissionDenied])),
    Key::new(&["hookSpecificOutput.action"], Means::Named("action")).at(ELICITATION),
    Key::new(&["hookSpecificOutput.content"], Means::Named("content")).at(ELICITATION),
    Key::new(&["hookSpecificOutput.classifierContext"], Means::Named("classifierContext"))
        .at(At::Kinds(&[EventKind::PostToolUse])),
    Key::new(&["systemMessage"], Means::Message).at(At::Except(&[EventKind::PreCompact])),
    Key::new(&["terminalSequence"], Means::Named("terminalSequence")),
    // Accepted, and without effect.
    Key::new(&["suppressOutput", "async", "asyncTimeout"], Means::Nothing),
];

const EXITS: &[ExitRule] = &[
    ExitRule::new(Code::Is(0), Then::Read),
    ExitRule::new(Code::NotZero, Then::Decide(Decision::Deny, &[From::Answer, From::Stderr]))
        .at(At::Kinds(&[EventKind::WorktreeCreate])),
    ExitRule::new(Code::Is(2), Then::ReadOrFail).at(REQUEST),
    ExitRule::new(Code::Is(2), Then::Decide(Decision::Deny, &[From::Answer, From::Stderr])).at(At::Blocking),
    ExitRule::new(Code::Any, Then::ReadOrFail),
];

/// Types of notifications, as matchers and payloads name them.
pub mod notification {
    /// Leave is asked for.
    pub const PERMISSION_PROMPT: &str = "permission_prompt";
    /// The user is waited for.
    pub const IDLE_PROMPT: &str = "idle_prompt";
    /// A sign-in succeeded.
    pub const AUTH_SUCCESS: &str = "auth_success";
    /// An MCP server asks for something.
    pub const ELICITATION_DIALOG: &str = "elicitation_dialog";
    /// An MCP server asks the user to open a page.
    pub const ELICITATION_URL_DIALOG: &str = "elicitation_url_dialog";
    /// What an MCP server asked for is done.
    pub const ELICITATION_COMPLETE: &str = "elicitation_complete";
    /// The user answered an MCP server.
    pub const ELICITATION_RESPONSE: &str = "elicitation_response";
    /// An agent in the background needs something.
    pub const AGENT_NEEDS_INPUT: &str = "agent_needs_input";
    /// An agent in the background is done.
    pub const AGENT_COMPLETED: &str = "agent_completed";
    /// Work went on after a limit was lifted.
    pub const QUOTA_AUTO_RESUME_FIRED: &str = "quota_auto_resume_fired";
    /// It was too late for that.
    pub const QUOTA_AUTO_RESUME_STALE: &str = "quota_auto_resume_stale";
    /// It was switched off.
    pub const QUOTA_AUTO_RESUME_DISABLED: &str = "quota_auto_resume_disabled";
}

const FILES: &[FileRow] = &[
    FileRow::new(Scope::Managed, Base::Root, "etc/claude-code/managed-settings.json"),
    FileRow::new(Scope::Managed, Base::Root, "etc/claude-code/managed-settings.d/*").with(&["json"]),
    FileRow::new(Scope::User, Base::Variable("CLAUDE_CONFIG_DIR", ".claude"), "settings.json"),
    FileRow::new(Scope::Project, Base::Project, ".claude/settings.json"),
    FileRow::new(Scope::Local, Base::Repository, ".claude/settings.local.json"),
];

const PLUGIN: PluginTable = PluginTable::new("CLAUDE_PLUGIN_ROOT");

const ON_FAILURE: &[(&str, FailurePolicy)] = &[("continue", FailurePolicy::Open), ("block", FailurePolicy::Closed)];

/// Where a model can be asked, by a prompt or by an agent of its own.
const ASKED: &[EventKind] = &[
    EventKind::PermissionDenied,
    EventKind::PermissionRequest,
    EventKind::PostToolBatch,
    EventKind::PostToolUse,
    EventKind::PostToolFailure,
    EventKind::PreToolUse,
    EventKind::Stop,
    EventKind::SubagentStop,
    EventKind::TaskCompleted,
    EventKind::TaskCreated,
    EventKind::TeammateIdle,
    EventKind::PromptExpansion,
    EventKind::PromptSubmit,
];

const SHAPE: Shape = Shape {
    keys: &[
        HookKey::new("type", Attribute::Type),
        HookKey::new("command", Attribute::Command),
        HookKey::new("args", Attribute::Args),
        HookKey::new("shell", Attribute::Shell),
        HookKey::new("url", Attribute::Url),
        HookKey::new("headers", Attribute::Headers),
        HookKey::new("allowedEnvVars", Attribute::HeaderVariables),
        HookKey::new("if", Attribute::Rule),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::Seconds)),
        HookKey::new("async", Attribute::Background),
        HookKey::new("asyncRewake", Attribute::Rewake),
        HookKey::new("once", Attribute::Nothing("Claude Code heeds it only in skills")),
        HookKey::new("statusMessage", Attribute::Status),
        HookKey::new("onFailure", Attribute::OnFailure(ON_FAILURE)),
        HookKey::new("prompt", Attribute::Setting),
        HookKey::new("model", Attribute::Setting),
        HookKey::new("continueOnBlock", Attribute::Setting),
        HookKey::new("server", Attribute::Setting),
        HookKey::new("tool", Attribute::Setting),
        HookKey::new("input", Attribute::Setting),
    ],
    handlers: &[
        HandlerRow::new("command", "command", &["command"]),
        HandlerRow::new("http", "http", &["url"]),
        HandlerRow::new("mcp_tool", "mcp_tool", &["server", "tool"]),
        HandlerRow::new("prompt", "prompt", &["prompt"]).at(ASKED),
        HandlerRow::new("agent", "agent", &["prompt"]).at(ASKED),
    ],
    ..Shape::USUAL
};
