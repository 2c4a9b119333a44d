//! Claude Code, whose format most other agents use.
//!
//! `claude` is the current Claude Code. `claude@sender` is the sender of a test agent with an older and smaller form of the
//! protocol ([`SENDER`]).

mod events;
mod like;
mod sender;

pub(crate) use like::CLAUDE_LIKE;
pub use sender::SENDER;

use std::time::Duration;

use checkrein_core::{Decision, EventKind, FailurePolicy, Scope, Target};

use crate::config::{
    Attribute, ConfigTable, DedupKey, FileFormat, FileRow, HandlerRow, HookFileLayout, HookKey, PathBase, PluginTable,
    TimeUnit,
};
use crate::install::{InstallTable, SettingsPath, SwitchRow};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{
    AnswerDetection, EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, ReasonSource, ReplyTable,
};
use crate::table::{
    ApprovalTable, Cwd, Data, Dialect, Environment, ExitReason, HeadlessSign, HostTable, ProcessTable, TimeTable,
    ToolRow, VariableRow,
};

/// Dialect of Claude Code.
pub static DIALECT: Dialect = CLAUDE;

const CLAUDE: Dialect = Dialect {
    name: "claude",
    evidence: crate::agents::evidence::CLAUDE,
    facts: Some(crate::agents::evidence::CLAUDE_FACTS),
    title: "Claude Code",
    events: events::EVENTS,
    tools: TOOLS,
    payload: PayloadTable::fields(COMMON),
    reply: ReplyTable {
        trigger: AnswerDetection::Braces,
        keys: KEYS,
        exits: EXITS,
        text_cap: Some(10_000),
        ..CLAUDE_LIKE.reply
    },
    process: ProcessTable {
        // The agent removes the variables of its own telemetry.
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
        format: FileFormat::Layout(&LAYOUT),
        plugin: Some(PLUGIN),
        dedup_key: DedupKey::Handler,
        ..ConfigTable::BASE
    },
    host: HostTable {
        failure_switch: Some(("onFailure", "\"block\"")),
        missing_program_blocks_prompts: true,
        exit_reason: ExitReason::WithCommandLine,
        not_observable: &["in print mode, a turn that ended with an error of the service"],
        calls_each_entry: true,
        approvals: ApprovalTable {
            headless: Some(HeadlessSign { variable: "CLAUDE_CODE_ENTRYPOINT", values: &["sdk-cli"] }),
            holds_requests: true,
            ..ApprovalTable::USUAL
        },
        ..HostTable::FAILS_OPEN
    },
    install: Some(
        InstallTable::new(
            &["claude"],
            &[SettingsPath::new(PathBase::Variable("CLAUDE_CONFIG_DIR", ".claude"), "")],
            &[SettingsPath::new(PathBase::Variable("CLAUDE_CONFIG_DIR", ".claude"), "settings.json")],
            &[SettingsPath::new(PathBase::Project, ".claude/settings.json")],
        )
        .switch_since("2.1.295")
        .switches(&[
            SwitchRow::flag(Scope::Managed, MANAGED, "allowManagedHooksOnly", true),
            SwitchRow::flag(Scope::Managed, MANAGED_PARTS, "allowManagedHooksOnly", true),
            SwitchRow::flag(Scope::Managed, MANAGED_PARTS, "disableAllHooks", true),
            SwitchRow::flag(Scope::Managed, MANAGED, "disableAllHooks", true),
            SwitchRow::flag(
                Scope::Local,
                SettingsPath::new(PathBase::Repository, ".claude/settings.local.json"),
                "disableAllHooks",
                true,
            ),
            SwitchRow::flag(
                Scope::Project,
                SettingsPath::new(PathBase::Project, ".claude/settings.json"),
                "disableAllHooks",
                true,
            ),
            SwitchRow::flag(
                Scope::User,
                SettingsPath::new(PathBase::Variable("CLAUDE_CONFIG_DIR", ".claude"), "settings.json"),
                "disableAllHooks",
                true,
            ),
        ])
        .package("@anthropic-ai/claude-code")
        .prints_version(),
    ),
    ..CLAUDE_LIKE
};

const TOOLS: &[ToolRow] = &[
    ToolRow::same("Agent").observed(),
    ToolRow::same("AskUserQuestion"),
    ToolRow::same("Bash").observed(),
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
    ToolRow::same("Read").observed(),
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
    ToolRow::same("Write").observed(),
];

const EMPTY: &str = "\"\"";

const COMMON: &[FieldRow] = &[
    FieldRow::same("session_id").or(EMPTY),
    FieldRow::same("transcript_path").or(EMPTY),
    FieldRow::same("cwd").or(EMPTY),
    FieldRow::same("permission_mode"),
    // Since 2.1.326, in every payload that belongs to a prompt.
    FieldRow::same("prompt_id"),
    FieldRow::same("agent_id"),
    FieldRow::same("agent_type"),
];

const PERMISSION: &[(&str, Decision)] =
    &[("allow", Decision::Allow), ("deny", Decision::Deny), ("ask", Decision::Ask), ("defer", Decision::Defer)];
const BEHAVIOR: &[(&str, Decision)] = &[("allow", Decision::Allow), ("deny", Decision::Deny)];
const LEGACY: &[(&str, Decision)] = &[("block", Decision::Deny), ("approve", Decision::Allow)];

/// Events with the old `decision` at the top level.
const OUTER: EventScope = EventScope::Kinds(&[
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

const CONTEXT: EventScope = EventScope::Kinds(&[
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

const REQUEST: EventScope = EventScope::Kinds(&[EventKind::PermissionRequest]);
const ELICITATION: EventScope = EventScope::Kinds(&[EventKind::Elicitation, EventKind::ElicitationResult]);
const WATCHED: EventScope =
    EventScope::Kinds(&[EventKind::SessionStart, EventKind::CwdChanged, EventKind::FileChanged]);

const KEYS: &[Key] = &[
    Key::new(&["hookSpecificOutput.hookEventName"], KeyMeaning::EventName),
    Key::new(&["hookSpecificOutput.permissionDecision"], KeyMeaning::Decision(PERMISSION))
        .at(EventScope::Kinds(&[EventKind::PreToolUse, EventKind::PreModelSwitch])),
    Key::new(&["hookSpecificOutput.permissionDecisionReason"], KeyMeaning::Reason)
        .at(EventScope::Kinds(&[EventKind::PreToolUse, EventKind::PreModelSwitch])),
    Key::new(&["hookSpecificOutput.decision.behavior"], KeyMeaning::Decision(BEHAVIOR)).at(REQUEST),
    Key::new(&["hookSpecificOutput.decision.message"], KeyMeaning::Reason).at(REQUEST),
    Key::new(&["hookSpecificOutput.decision.interrupt"], KeyMeaning::Flag(true, Decision::Halt))
        .at(REQUEST)
        .parse_only(),
    Key::new(&["hookSpecificOutput.decision.updatedInput"], KeyMeaning::Replace(Target::Input)).at(REQUEST),
    Key::new(&["hookSpecificOutput.decision.updatedPermissions"], KeyMeaning::Named("updatedPermissions")).at(REQUEST),
    Key::new(&["decision"], KeyMeaning::Decision(LEGACY)).at(OUTER),
    Key::new(&["reason"], KeyMeaning::Reason).at(OUTER),
    // Overrides the decision of the event, and ends the run.
    Key::new(&["continue"], KeyMeaning::Flag(false, Decision::Halt))
        .at(EventScope::Except(&[EventKind::PreCompact, EventKind::TaskCreated])),
    Key::new(&["stopReason"], KeyMeaning::StopReason),
    Key::new(&["hookSpecificOutput.additionalContext"], KeyMeaning::Context).at(CONTEXT),
    Key::new(&["hookSpecificOutput.updatedInput"], KeyMeaning::Replace(Target::Input))
        .at(EventScope::Kinds(&[EventKind::PreToolUse])),
    // The agent silently ignores an output of another shape. A shell's output has two texts, a file's is in an object.
    Key::new(&["hookSpecificOutput.updatedToolOutput"], KeyMeaning::Replace(Target::Output))
        .at(EventScope::Kinds(&[EventKind::PostToolUse]))
        .same_shape()
        .text_in(&["stdout", "stderr", "file.content", "content", "result"]),
    Key::new(&["hookSpecificOutput.updatedMCPToolOutput"], KeyMeaning::Replace(Target::Output))
        .at(EventScope::Kinds(&[EventKind::PostToolUse]))
        .parse_only(),
    Key::new(&["hookSpecificOutput.initialUserMessage"], KeyMeaning::FirstMessage)
        .at(EventScope::Kinds(&[EventKind::SessionStart])),
    Key::new(&["hookSpecificOutput.displayContent"], KeyMeaning::Replace(Target::Output))
        .at(EventScope::Kinds(&[EventKind::MessageDisplay])),
    Key::new(&["hookSpecificOutput.worktreePath"], KeyMeaning::Replace(Target::Output))
        .at(EventScope::Kinds(&[EventKind::WorktreeCreate])),
    Key::new(&["hookSpecificOutput.sessionTitle"], KeyMeaning::Named("sessionTitle"))
        .at(EventScope::Kinds(&[EventKind::SessionStart, EventKind::PromptSubmit])),
    Key::new(&["hookSpecificOutput.watchPaths"], KeyMeaning::Named("watchPaths")).at(WATCHED),
    Key::new(&["hookSpecificOutput.reloadSkills"], KeyMeaning::Named("reloadSkills"))
        .at(EventScope::Kinds(&[EventKind::SessionStart])),
    Key::new(&["hookSpecificOutput.suppressOriginalPrompt"], KeyMeaning::Named("suppressOriginalPrompt"))
        .at(EventScope::Kinds(&[EventKind::PromptSubmit])),
    Key::new(&["hookSpecificOutput.retry"], KeyMeaning::Named("retry"))
        .at(EventScope::Kinds(&[EventKind::PermissionDenied])),
    Key::new(&["hookSpecificOutput.action"], KeyMeaning::Named("action")).at(ELICITATION),
    Key::new(&["hookSpecificOutput.content"], KeyMeaning::Named("content")).at(ELICITATION),
    Key::new(&["hookSpecificOutput.classifierContext"], KeyMeaning::Named("classifierContext"))
        .at(EventScope::Kinds(&[EventKind::PostToolUse])),
    Key::new(&["systemMessage"], KeyMeaning::Message).at(EventScope::Except(&[EventKind::PreCompact])),
    Key::new(&["terminalSequence"], KeyMeaning::Named("terminalSequence")),
    // Accepted without effect.
    Key::new(&["suppressOutput", "async", "asyncTimeout"], KeyMeaning::Nothing),
];

const EXITS: &[ExitRule] = &[
    ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
    ExitRule::new(
        ExitCodeMatch::NotZero,
        ExitAction::Decide(Decision::Deny, &[ReasonSource::Answer, ReasonSource::Stderr]),
    )
    .at(EventScope::Kinds(&[EventKind::WorktreeCreate])),
    ExitRule::new(ExitCodeMatch::Is(2), ExitAction::ReadOrFail).at(REQUEST),
    ExitRule::new(
        ExitCodeMatch::Is(2),
        ExitAction::Decide(Decision::Deny, &[ReasonSource::Answer, ReasonSource::Stderr]),
    )
    .at(EventScope::Blocking),
    ExitRule::new(ExitCodeMatch::Any, ExitAction::ReadOrFail),
];

/// Types of notifications in matchers and payloads.
pub mod notification {
    /// The agent asks for permission.
    pub const PERMISSION_PROMPT: &str = "permission_prompt";
    /// The agent waits for the user.
    pub const IDLE_PROMPT: &str = "idle_prompt";
    /// A sign-in succeeded.
    pub const AUTH_SUCCESS: &str = "auth_success";
    /// An MCP server asks the user for input.
    pub const ELICITATION_DIALOG: &str = "elicitation_dialog";
    /// An MCP server asks the user to open a page.
    pub const ELICITATION_URL_DIALOG: &str = "elicitation_url_dialog";
    /// A request of an MCP server is complete.
    pub const ELICITATION_COMPLETE: &str = "elicitation_complete";
    /// The user answered an MCP server.
    pub const ELICITATION_RESPONSE: &str = "elicitation_response";
    /// A background agent needs input.
    pub const AGENT_NEEDS_INPUT: &str = "agent_needs_input";
    /// A background agent has finished.
    pub const AGENT_COMPLETED: &str = "agent_completed";
    /// The run resumed after a usage limit was reset.
    pub const QUOTA_AUTO_RESUME_FIRED: &str = "quota_auto_resume_fired";
    /// The run did not resume: the request was too old.
    pub const QUOTA_AUTO_RESUME_STALE: &str = "quota_auto_resume_stale";
    /// The run did not resume: the setting is off.
    pub const QUOTA_AUTO_RESUME_DISABLED: &str = "quota_auto_resume_disabled";
}

const MANAGED: SettingsPath = SettingsPath::new(PathBase::Root, "etc/claude-code/managed-settings.json");
const MANAGED_PARTS: SettingsPath = SettingsPath::new(PathBase::Root, "etc/claude-code/managed-settings.d/*");

const FILES: &[FileRow] = &[
    FileRow::new(Scope::Managed, PathBase::Root, "etc/claude-code/managed-settings.json"),
    FileRow::new(Scope::Managed, PathBase::Root, "etc/claude-code/managed-settings.d/*").with(&["json"]),
    FileRow::new(Scope::User, PathBase::Variable("CLAUDE_CONFIG_DIR", ".claude"), "settings.json"),
    FileRow::new(Scope::Project, PathBase::Project, ".claude/settings.json"),
    FileRow::new(Scope::Local, PathBase::Repository, ".claude/settings.local.json"),
];

const PLUGIN: PluginTable = PluginTable::new("CLAUDE_PLUGIN_ROOT");

const ON_FAILURE: &[(&str, FailurePolicy)] = &[("continue", FailurePolicy::Open), ("block", FailurePolicy::Closed)];

/// Events that support `prompt` and `agent` hooks.
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

const LAYOUT: HookFileLayout = HookFileLayout {
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
        HookKey::new("rewakeMessage", Attribute::Elsewhere),
        HookKey::new("rewakeSummary", Attribute::Elsewhere),
        HookKey::new("once", Attribute::Nothing("Claude Code supports it only in skills")),
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
    ..HookFileLayout::USUAL
};
