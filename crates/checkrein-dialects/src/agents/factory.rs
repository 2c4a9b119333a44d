//! Factory droid: the format of Claude Code with droid's own tools.
//!
//! Source: its documentation. Uncertain: `commandRegex` beside a matcher, which only third parties describe; and `hooks.json`,
//! since users report that only `settings.json` is read.

use checkrein_core::{Decision, EventKind, Scope, Target};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{
    Attribute, ConfigTable, DedupKey, FileFormat, FileRow, HandlerRow, HookFileLayout, HookKey, PathBase, PluginTable,
    TimeUnit,
};
use crate::input::patch::seen_in_patch;
use crate::input::{InputForm, InputRow};
use crate::install::{InstallTable, SettingsPath};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{EventScope, Key, KeyMeaning, ReplyTable};
use crate::table::{Data, Dialect, EventRow, HostTable, PlainTextUse, ProcessTable, ToolRow, VariableRow};

/// Dialect of Factory droid.
pub static DIALECT: Dialect = Dialect {
    name: "factory",
    evidence: crate::agents::evidence::FACTORY,
    title: "Factory",
    events: EVENTS,
    tools: &[
        ToolRow::new("Execute", &["Bash"]),
        ToolRow::new("Create", &["Write"]),
        ToolRow::same("Edit")
            .takes(&[InputRow::named("old_str", "old_string"), InputRow::named("new_str", "new_string")]),
        ToolRow::new("ApplyPatch", &["Edit", "Write"]).takes(seen_in_patch!("input")),
        ToolRow::same("Read"),
        ToolRow::same("Grep").takes(&[InputRow::named("glob_pattern", "glob")]),
        ToolRow::same("Glob")
            .takes(&[InputRow::named("patterns", "pattern").form(InputForm::Lines), InputRow::named("folder", "path")]),
        ToolRow::new("Task", &["Agent"]),
        ToolRow::new("FetchUrl", &["WebFetch"]),
        ToolRow::same("WebSearch"),
    ],
    payload: PayloadTable::fields(&[
        FieldRow::same("session_id").or("\"\""),
        FieldRow::same("transcript_path").or("\"\""),
        FieldRow::same("cwd").or("\"\""),
        FieldRow::same("permission_mode"),
    ]),
    reply: ReplyTable { keys: KEYS, ..CLAUDE_LIKE.reply },
    process: ProcessTable {
        variables: &[VariableRow::new("FACTORY_PROJECT_DIR", Data::ProjectDir)],
        ..CLAUDE_LIKE.process
    },
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::User, PathBase::Home, ".factory/hooks.json"),
            FileRow::new(Scope::User, PathBase::Home, ".factory/settings.json"),
            FileRow::new(Scope::User, PathBase::Home, ".factory/hooks/hooks.json"),
            FileRow::new(Scope::Project, PathBase::Project, ".factory/hooks.json"),
            FileRow::new(Scope::Project, PathBase::Project, ".factory/settings.json"),
            FileRow::new(Scope::Project, PathBase::Project, ".factory/hooks/hooks.json"),
        ],
        format: FileFormat::Layout(&LAYOUT),
        plugin: Some(PluginTable::new("DROID_PLUGIN_ROOT")),
        dedup_key: DedupKey::Handler,
        ..ConfigTable::BASE
    },
    host: HostTable {
        not_observable: &[
            "permission requests",
            "failed tools",
            "the start of sub-agents",
            "turns that the user interrupted",
        ],
        uncertain: &["`commandRegex` beside a matcher", "`hooks.json`: users report that only `settings.json` is read"],
        ..HostTable::FAILS_OPEN
    },
    install: Some(
        InstallTable::new(
            &["droid"],
            &[SettingsPath::new(PathBase::Home, ".factory")],
            &[
                SettingsPath::new(PathBase::Home, ".factory/hooks.json"),
                SettingsPath::new(PathBase::Home, ".factory/settings.json"),
            ],
            &[
                SettingsPath::new(PathBase::Project, ".factory/hooks.json"),
                SettingsPath::new(PathBase::Project, ".factory/settings.json"),
            ],
        )
        .then(&["next: restart droid, which reads its hooks at start and may ask you to review them"]),
    ),
    ..CLAUDE_LIKE
};

const TOOL: [FieldRow; 3] = [FieldRow::same("tool_name"), FieldRow::same("tool_input"), FieldRow::same("tool_use_id")];
const STOP: &[FieldRow] = &[FieldRow::same("stop_hook_active").or("false")];

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart)
        .matched()
        .plain(PlainTextUse::Context)
        .fields(&[FieldRow::same("source")]),
    EventRow::new("SessionEnd", EventKind::SessionEnd).fields(&[FieldRow::same("reason")]),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit)
        .blocks()
        .plain(PlainTextUse::Context)
        .fields(&[FieldRow::same("prompt")]),
    EventRow::new("PreToolUse", EventKind::PreToolUse).matched().blocks().fields(&TOOL),
    EventRow::new("PostToolUse", EventKind::PostToolUse).matched().blocks().fields(&[
        TOOL[0],
        TOOL[1],
        TOOL[2],
        FieldRow::same("tool_response"),
    ]),
    EventRow::new("Notification", EventKind::Notification).fields(&[FieldRow::same("message")]),
    EventRow::new("Stop", EventKind::Stop).blocks().fields(STOP),
    EventRow::new("SubagentStop", EventKind::SubagentStop).blocks().fields(STOP),
    EventRow::new("PreCompact", EventKind::PreCompact)
        .matched()
        .fields(&[FieldRow::same("trigger"), FieldRow::same("custom_instructions")]),
];

const TOOL_CALL: EventScope = EventScope::Kinds(&[EventKind::PreToolUse]);
const OUTER: EventScope =
    EventScope::Kinds(&[EventKind::PromptSubmit, EventKind::PostToolUse, EventKind::Stop, EventKind::SubagentStop]);

const KEYS: &[Key] = &[
    Key::new(&["hookSpecificOutput.hookEventName"], KeyMeaning::EventName),
    Key::new(
        &["hookSpecificOutput.permissionDecision"],
        KeyMeaning::Decision(&[("allow", Decision::Allow), ("deny", Decision::Deny), ("ask", Decision::Ask)]),
    )
    .at(TOOL_CALL),
    Key::new(&["hookSpecificOutput.permissionDecisionReason"], KeyMeaning::Reason).at(TOOL_CALL),
    Key::new(&["decision"], KeyMeaning::Decision(&[("block", Decision::Deny), ("approve", Decision::Allow)]))
        .at(TOOL_CALL)
        .parse_only(),
    Key::new(&["reason"], KeyMeaning::Reason).at(TOOL_CALL).parse_only(),
    Key::new(&["decision"], KeyMeaning::Decision(&[("block", Decision::Deny)])).at(OUTER),
    Key::new(&["reason"], KeyMeaning::Reason).at(OUTER),
    Key::new(&["continue"], KeyMeaning::Flag(false, Decision::Halt)),
    Key::new(&["stopReason"], KeyMeaning::StopReason),
    // The changed fields.
    Key::new(&["hookSpecificOutput.updatedInput"], KeyMeaning::Merge(Target::Input))
        .at(TOOL_CALL)
        .keeps(&["description"]),
    Key::new(&["hookSpecificOutput.additionalContext"], KeyMeaning::Context).at(EventScope::Kinds(&[
        EventKind::SessionStart,
        EventKind::PromptSubmit,
        EventKind::PostToolUse,
    ])),
    Key::new(&["systemMessage"], KeyMeaning::Message),
    Key::new(&["suppressOutput"], KeyMeaning::Suppress),
];

const LAYOUT: HookFileLayout = HookFileLayout {
    keys: &[
        HookKey::new("type", Attribute::Type),
        HookKey::new("command", Attribute::ShellCommand),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::Seconds)),
    ],
    group: &[HookKey::new("commandRegex", Attribute::InputField("command"))],
    handlers: &[HandlerRow::new("command", "command", &["command"])],
    bare: true,
    ..HookFileLayout::USUAL
};
