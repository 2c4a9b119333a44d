//! Devin CLI: the format of Claude Code with fewer reply keys.
//!
//! Source: parts of its documentation. Uncertain: the keys for context and a new input, which the documentation mentions but
//! does not name, so checkrein never sends them; the default timeout; the precedence of several hooks. In older versions
//! every exit code but 0 denied, in newer ones only 2. Devin also reads the files of Claude Code; events that it does not have
//! are skipped.

use checkrein_core::{Decision, EventKind, Grammar, Scope};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{
    Attribute, ConfigTable, FileFormat, FileRow, HandlerRow, HookFileLayout, HookKey, PathBase, PluginTable, TimeUnit,
};
use crate::install::{InstallTable, SettingsPath};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{EventScope, Key, KeyMeaning, ReplyTable};
use crate::table::{Data, Dialect, EventRow, HostBehavior, HostTable, ProcessTable, ToolRow, VariableRow};

/// Dialect of Devin CLI.
pub static DIALECT: Dialect = Dialect {
    name: "devin",
    evidence: crate::agents::evidence::DEVIN,
    title: "Devin",
    events: EVENTS,
    tools: &[
        ToolRow::new("exec", &["Bash"]),
        ToolRow::new("write", &["Write"]),
        ToolRow::new("edit", &["Edit"]),
        ToolRow::new("apply_patch", &["Edit", "Write"]),
        ToolRow::new("notebook_edit", &["NotebookEdit"]),
        ToolRow::new("webfetch", &["WebFetch"]),
    ],
    matcher: Grammar::REGEX_SEARCH,
    payload: PayloadTable::fields(&[
        FieldRow::same("session_id").or("\"\""),
        FieldRow::same("prompt_id"),
        FieldRow::same("cwd"),
    ]),
    reply: ReplyTable { keys: KEYS, ..CLAUDE_LIKE.reply },
    process: ProcessTable {
        variables: &[VariableRow::new("DEVIN_PROJECT_DIR", Data::ProjectDir)],
        ..CLAUDE_LIKE.process
    },
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::User, PathBase::Config, "devin/config.json"),
            FileRow::new(Scope::User, PathBase::Home, ".claude/settings.json"),
            FileRow::new(Scope::User, PathBase::Home, ".claude.json"),
            FileRow::new(Scope::Project, PathBase::Project, ".devin/hooks.v1.json"),
            FileRow::new(Scope::Project, PathBase::Project, ".devin/config.json"),
            FileRow::new(Scope::Project, PathBase::Project, ".claude/settings.json"),
            FileRow::new(Scope::Local, PathBase::Project, ".claude/settings.local.json"),
        ],
        format: FileFormat::Layout(&LAYOUT),
        plugin: Some(PluginTable::new("DEVIN_PLUGIN_ROOT")),
        ..ConfigTable::BASE
    },
    host: HostTable {
        killed: HostBehavior::Unknown,
        on_hook_timeout: HostBehavior::Unknown,
        not_observable: &["anything in cloud sessions and in restricted mode", "sub-agents"],
        uncertain: &[
            "the keys for context and a new input, which the documentation does not name",
            "the default timeout, and the precedence of several hooks",
            "exit codes: in older versions every code but 0 denied",
        ],
        ..HostTable::FAILS_OPEN
    },
    install: Some(InstallTable::new(
        &["devin"],
        &[SettingsPath::new(PathBase::Config, "devin")],
        &[SettingsPath::new(PathBase::Config, "devin/config.json")],
        &[SettingsPath::new(PathBase::Project, ".devin/config.json")],
    )),
    ..CLAUDE_LIKE
};

const TOOL: [FieldRow; 3] = [FieldRow::same("tool_name"), FieldRow::same("tool_input"), FieldRow::same("tool_use_id")];

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart).fields(&[FieldRow::same("source")]),
    EventRow::new("SessionEnd", EventKind::SessionEnd).fields(&[FieldRow::same("reason")]),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit).blocks().uncertain().fields(&[FieldRow::same("prompt")]),
    EventRow::new("PreToolUse", EventKind::PreToolUse).matched().blocks().fields(&TOOL),
    EventRow::new("PostToolUse", EventKind::PostToolUse).matched().fields(&[
        TOOL[0],
        TOOL[1],
        TOOL[2],
        FieldRow::same("tool_response"),
    ]),
    EventRow::new("PermissionRequest", EventKind::PermissionRequest).matched().blocks().fields(&TOOL),
    EventRow::new("Stop", EventKind::Stop)
        .blocks()
        .fields(&[FieldRow::same("last_assistant_message"), FieldRow::same("stop_hook_active").or("false")]),
    EventRow::new("PostCompaction", EventKind::PostCompact).fields(&[FieldRow::same("trigger")]),
];

const REQUEST: EventScope = EventScope::Kinds(&[EventKind::PermissionRequest]);
const OTHERS: EventScope = EventScope::Kinds(&[EventKind::PromptSubmit, EventKind::PreToolUse, EventKind::Stop]);

const KEYS: &[Key] = &[
    Key::new(
        &["decision"],
        KeyMeaning::Decision(&[("block", Decision::Deny), ("deny", Decision::Deny), ("approve", Decision::Allow)]),
    )
    .at(REQUEST),
    // `allow` applies only to permission requests.
    Key::new(
        &["decision"],
        KeyMeaning::Decision(&[("block", Decision::Deny), ("deny", Decision::Deny), ("approve", Decision::NoOpinion)]),
    )
    .at(OTHERS),
    Key::new(&["reason"], KeyMeaning::Reason).at(EventScope::Blocking),
];

const LAYOUT: HookFileLayout = HookFileLayout {
    keys: &[
        HookKey::new("type", Attribute::Type),
        HookKey::new("command", Attribute::ShellCommand),
        HookKey::new("prompt", Attribute::Setting),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::Seconds)),
        // Keys of Claude Code's files. Their effect in Devin is unknown.
        HookKey::new("async", Attribute::Elsewhere),
        HookKey::new("if", Attribute::Elsewhere),
        HookKey::new("statusMessage", Attribute::Elsewhere),
        HookKey::new("onFailure", Attribute::Elsewhere),
    ],
    handlers: &[HandlerRow::new("command", "command", &["command"]), HandlerRow::new("prompt", "prompt", &["prompt"])],
    bare: true,
    beside: &[
        "Setup",
        "SubagentStart",
        "SubagentStop",
        "PreCompact",
        "PostCompact",
        "Notification",
        "PostToolUseFailure",
        "PostToolBatch",
        "PermissionDenied",
        "StopFailure",
    ],
    ..HookFileLayout::USUAL
};
