//! Augment (auggie): the format of Claude Code, with timeouts in milliseconds and a setting for the content of payloads.
//!
//! Source: parts of its documentation, its change log and a plugin of its vendor. Uncertain: support of `allow` and `ask`, so
//! checkrein never sends them; the key of a new input (since 0.27), so checkrein denies instead; the names of MCP tools that
//! `mcp:*` matches.

use checkrein_core::{Decision, EventKind, Grammar, Scope, Target};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{
    Attribute, ConfigTable, FileFormat, FileRow, HandlerRow, HookFileLayout, HookKey, PathBase, PluginTable, TimeUnit,
};
use crate::input::{InputRow, McpNames};
use crate::install::{InstallTable, SettingsPath};
use crate::payload::{FieldEncoding, FieldRow, PayloadTable};
use crate::reply::{EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, ReasonSource, ReplyTable};
use crate::table::{Data, Dialect, EventRow, HostBehavior, HostTable, ProcessTable, ToolRow, VariableRow};

/// Dialect of Augment.
pub static DIALECT: Dialect = Dialect {
    name: "augment",
    evidence: crate::agents::evidence::AUGMENT,
    title: "Augment",
    events: EVENTS,
    tools: &[
        ToolRow::new("launch-process", &["Bash"]).takes(&[InputRow::same("cwd")]),
        ToolRow::new("save-file", &["Write"])
            .takes(&[InputRow::named("path", "file_path"), InputRow::named("file_content", "content")]),
        ToolRow::new("str-replace-editor", &["Edit"]).takes(&[
            InputRow::named("path", "file_path"),
            InputRow::named("old_str_1", "old_string"),
            InputRow::named("old_str", "old_string"),
            InputRow::named("new_str_1", "new_string"),
            InputRow::named("new_str", "new_string"),
        ]),
        ToolRow::new("view", &["Read"]).takes(&[InputRow::named("path", "file_path")]),
        ToolRow::same("remove-files"),
    ],
    mcp: McpNames::UNKNOWN,
    matcher: Grammar::REGEX_SEARCH,
    payload: PayloadTable::fields(&[
        FieldRow::named("conversation_id", "session_id").or("\"\""),
        FieldRow::same("workspace_roots"),
        FieldRow::named("workspace_roots", "cwd").form(FieldEncoding::First),
    ]),
    reply: ReplyTable {
        keys: KEYS,
        exits: &[
            ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
            ExitRule::new(
                ExitCodeMatch::Is(2),
                ExitAction::Decide(Decision::Deny, &[ReasonSource::Stderr, ReasonSource::Answer]),
            )
            .at(TOOL_CALL),
            ExitRule::new(ExitCodeMatch::Any, ExitAction::Fail),
        ],
        ..CLAUDE_LIKE.reply
    },
    process: ProcessTable {
        variables: &[
            VariableRow::new("AUGMENT_PROJECT_DIR", Data::ProjectDir),
            VariableRow::new("AUGMENT_CONVERSATION_ID", Data::Field("session_id")),
            VariableRow::new("AUGMENT_HOOK_EVENT", Data::EventName),
            VariableRow::new("AUGMENT_TOOL_NAME", Data::Field("tool_name")),
        ],
        ..CLAUDE_LIKE.process
    },
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::Managed, PathBase::Root, "etc/augment/settings.json"),
            FileRow::new(Scope::Local, PathBase::Project, ".augment/settings.local.json"),
            FileRow::new(Scope::Project, PathBase::Project, ".augment/settings.json"),
            FileRow::new(Scope::User, PathBase::Home, ".augment/settings.json"),
        ],
        format: FileFormat::Layout(&LAYOUT),
        plugin: Some(PluginTable::new("AUGMENT_PLUGIN_ROOT")),
        pattern: Some(mcp_pattern),
        ..ConfigTable::BASE
    },
    host: HostTable {
        killed: HostBehavior::Unknown,
        on_hook_timeout: HostBehavior::Unknown,
        not_observable: &[
            "actions of sub-agents, before 0.30",
            "permission requests",
            "conversations, unless a group requests them",
        ],
        uncertain: &["support of `allow` and `ask`", "the key of a new input, since 0.27", "the names of MCP tools"],
        ..HostTable::FAILS_OPEN
    },
    install: Some(InstallTable::new(
        &["auggie"],
        &[SettingsPath::new(PathBase::Home, ".augment")],
        &[SettingsPath::new(PathBase::Home, ".augment/settings.json")],
        &[SettingsPath::new(PathBase::Project, ".augment/settings.json")],
    )),
    ..CLAUDE_LIKE
};

const TOOL: [FieldRow; 4] = [
    FieldRow::same("tool_name"),
    FieldRow::same("tool_input"),
    FieldRow::same("tool_use_id"),
    FieldRow::same("is_mcp_tool"),
];

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart).fields(&[FieldRow::same("source")]),
    EventRow::new("SessionEnd", EventKind::SessionEnd).fields(&[FieldRow::same("reason")]),
    EventRow::new("PromptSubmit", EventKind::PromptSubmit)
        .blocks()
        .uncertain()
        .fields(&[FieldRow::named("user_prompt", "prompt")]),
    EventRow::new("PreToolUse", EventKind::PreToolUse).matched().blocks().fields(&TOOL),
    EventRow::new("PostToolUse", EventKind::PostToolUse).matched().fields(&[
        TOOL[0],
        TOOL[1],
        TOOL[2],
        TOOL[3],
        FieldRow::same("tool_response"),
        FieldRow::same("file_changes"),
    ]),
    EventRow::new("Notification", EventKind::Notification)
        .fields(&[FieldRow::same("notification_type"), FieldRow::named("notification_message", "message")]),
    EventRow::new("Stop", EventKind::Stop).blocks().fields(&[FieldRow::same("stop_hook_active")]),
];

const TOOL_CALL: EventScope = EventScope::Kinds(&[EventKind::PreToolUse]);
const AT_STOP: EventScope = EventScope::Kinds(&[EventKind::Stop]);

const KEYS: &[Key] = &[
    Key::new(&["hookSpecificOutput.hookEventName"], KeyMeaning::EventName),
    Key::new(
        &["hookSpecificOutput.permissionDecision"],
        KeyMeaning::Decision(&[("deny", Decision::Deny), ("allow", Decision::Allow), ("ask", Decision::Ask)]),
    )
    .at(TOOL_CALL)
    .never_says(&[Decision::Allow, Decision::Ask]),
    Key::new(&["hookSpecificOutput.permissionDecisionReason"], KeyMeaning::Reason).at(TOOL_CALL),
    Key::new(&["decision"], KeyMeaning::Decision(&[("block", Decision::Deny)])).at(AT_STOP),
    Key::new(&["reason"], KeyMeaning::Reason).at(AT_STOP),
    Key::new(&["continue"], KeyMeaning::Flag(false, Decision::Halt)),
    Key::new(&["stopReason"], KeyMeaning::StopReason),
    Key::new(&["hookSpecificOutput.updatedInput"], KeyMeaning::Replace(Target::Input)).at(TOOL_CALL).parse_only(),
    Key::new(&["hookSpecificOutput.additionalContext"], KeyMeaning::Context).at(EventScope::Kinds(&[
        EventKind::SessionStart,
        EventKind::PromptSubmit,
        EventKind::PreToolUse,
        EventKind::PostToolUse,
    ])),
    Key::new(&["systemMessage"], KeyMeaning::Message),
];

/// Translates `mcp:*`, which is no regular expression and means all tools of MCP servers.
fn mcp_pattern(pattern: &str) -> Option<String> {
    (pattern == "mcp:*").then(|| "^mcp".to_owned())
}

const LAYOUT: HookFileLayout = HookFileLayout {
    keys: &[
        HookKey::new("type", Attribute::Type),
        HookKey::new("command", Attribute::Command),
        HookKey::new("args", Attribute::Args),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::Milliseconds)),
    ],
    // The agent itself applies the setting for the content of payloads.
    group: &[HookKey::new("metadata", Attribute::Elsewhere)],
    handlers: &[HandlerRow::new("command", "command", &["command"])],
    ..HookFileLayout::USUAL
};
