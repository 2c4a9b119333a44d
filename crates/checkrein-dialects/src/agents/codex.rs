//! Codex CLI: the format of Claude Code, parsed strictly.
//!
//! An unknown key invalidates a reply, and so does a block without a reason. The tool then runs, as after every other failure.
//! Hooks cannot ask the user: `ask` is an error, and so is `allow` without a new input.

use checkrein_core::{Decision, DecisionRule, EventKind, Grammar, NameList, Scope, Syntax, Target};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{
    Attribute, ConfigTable, Decoder, FileFormat, FileRow, HandlerRow, HookFileLayout, HookKey, PathBase, PluginTable,
    TimeUnit,
};
use crate::input::InputRow;
use crate::input::patch::seen_in_patch;
use crate::install::{InstallTable, ProjectTrust, SettingsPath, SwitchRow, TrustTable};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{
    Defect, EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, ReasonSource, ReplyTable, UnknownPolicy,
};
use crate::table::{
    Cwd, Dialect, Environment, EventRow, HostTable, PlainTextUse, ProcessTable, Shell, TimeTable, ToolRow,
};
use checkrein_document::Node;

/// Dialect of Codex CLI.
pub static DIALECT: Dialect = Dialect {
    name: "codex",
    evidence: crate::agents::evidence::CODEX,
    facts: Some(crate::agents::evidence::CODEX_FACTS),
    title: "Codex",
    events: EVENTS,
    tools: &[
        ToolRow::same("Bash").observed().takes(&[InputRow::named("workdir", "cwd")]),
        // The patch is in the field `command`.
        ToolRow::new("apply_patch", &["Edit", "Write"])
            .observed()
            .aliases(&["Edit", "Write"])
            .takes(seen_in_patch!("command")),
        ToolRow::new("spawn_agent", &["Agent"]).aliases(&["Agent"]).takes(AGENT),
        // Names of tools with a namespace have no separator between namespace and name.
        ToolRow::new("collaborationspawn_agent", &["Agent"]).observed().aliases(&["Agent"]).takes(AGENT),
    ],
    matcher: Grammar::new(&["*"], Some(NameList { also: "", separators: "|", trim: false }), Syntax::RegexSearch),
    payload: PayloadTable::fields(COMMON),
    reply: ReplyTable {
        // Duplicate keys make an answer invalid.
        tolerates: &[Defect::InvalidUtf8],
        unknown_keys: UnknownPolicy::Failure,
        keys: KEYS,
        exits: &[
            ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
            ExitRule::new(ExitCodeMatch::Is(2), ExitAction::Decide(Decision::Deny, &[ReasonSource::Stderr]))
                .at(STOPPABLE)
                .needs_stderr(),
            ExitRule::new(ExitCodeMatch::Any, ExitAction::Fail),
        ],
        ..CLAUDE_LIKE.reply
    },
    process: ProcessTable {
        // The agent itself uses a login shell.
        shell: Shell::User,
        environment: Environment::AllBut(&[
            "CODEX_EXEC_SERVER_NOISE_AUTH_TOKEN",
            "NODE_REPL_AUTH_TOKEN",
            "OPENAI_FEDERATION_RULE_ID",
            "OPENAI_IDENTITY_TOKEN_FILE",
            "OPENAI_WORKLOAD_IDENTITY_CONTEXT",
        ]),
        cwd: Cwd::EventOrHost,
        leaves_background: true,
        ..CLAUDE_LIKE.process
    },
    time: TimeTable::seconds(600),
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::Managed, PathBase::Root, "etc/codex/requirements.toml"),
            FileRow::new(Scope::Managed, PathBase::Root, "etc/codex/hooks.json"),
            FileRow::new(Scope::Managed, PathBase::Root, "etc/codex/config.toml"),
            FileRow::new(Scope::User, PathBase::Variable("CODEX_HOME", ".codex"), "hooks.json"),
            FileRow::new(Scope::User, PathBase::Variable("CODEX_HOME", ".codex"), "config.toml"),
            FileRow::new(Scope::Project, PathBase::Project, ".codex/hooks.json"),
            FileRow::new(Scope::Project, PathBase::Project, ".codex/config.toml"),
        ],
        format: FileFormat::Custom { decode, encode: |dialect, hooks| LAYOUT.encode(dialect, hooks) },
        plugin: Some(PluginTable::new("PLUGIN_ROOT")),
        rejects_unknown_keys: true,
        ..ConfigTable::BASE
    },
    host: HostTable {
        hides_messages: true,
        not_observable: &[
            "all events, until the user has trusted the hook (`exec --json` skips it silently)",
            "input for a running shell (`write_stdin`), and waiting in code mode",
            "the end of a sub-agent's session",
        ],
        calls_each_entry: true,
        ..HostTable::FAILS_OPEN
    },
    install: Some(
        InstallTable::new(
            &["codex"],
            &[SettingsPath::new(PathBase::Variable("CODEX_HOME", ".codex"), "")],
            &[SettingsPath::new(PathBase::Variable("CODEX_HOME", ".codex"), "hooks.json")],
            &[SettingsPath::new(PathBase::Project, ".codex/hooks.json")],
        )
        .switches(&[
            SwitchRow::flag(
                Scope::Managed,
                SettingsPath::new(PathBase::Root, "etc/codex/requirements.toml"),
                "allow_managed_hooks_only",
                true,
            ),
            SwitchRow::flag(
                Scope::Project,
                SettingsPath::new(PathBase::Project, ".codex/config.toml"),
                "features.hooks",
                false,
            )
            .if_trusted(ProjectTrust {
                file: USER_CONFIG,
                table: "projects",
                key: "trust_level",
                value: "trusted",
            }),
            SwitchRow::flag(Scope::User, USER_CONFIG, "features.hooks", false),
        ])
        .trust(TrustTable { file: USER_CONFIG, table: "hooks.state", trusted: "trusted_hash", enabled: "enabled" })
        .package("@openai/codex")
        .prints_version()
        .then(&["next: start codex and trust the new hooks; until then Codex silently skips them"]),
    ),
    ..CLAUDE_LIKE
};

const USER_CONFIG: SettingsPath = SettingsPath::new(PathBase::Variable("CODEX_HOME", ".codex"), "config.toml");

const COMMON: &[FieldRow] = &[
    FieldRow::same("session_id"),
    FieldRow::same("turn_id"),
    FieldRow::same("transcript_path").or("null"),
    FieldRow::same("cwd"),
    FieldRow::same("model"),
    FieldRow::same("permission_mode"),
    FieldRow::same("agent_id"),
    FieldRow::same("agent_type"),
];
const COMPACTION: &[FieldRow] = &[
    FieldRow::same("session_id"),
    FieldRow::same("turn_id"),
    FieldRow::same("transcript_path").or("null"),
    FieldRow::same("cwd"),
    FieldRow::same("model"),
    FieldRow::same("trigger"),
    FieldRow::same("agent_id"),
    FieldRow::same("agent_type"),
];
const START: &[FieldRow] = &[
    FieldRow::same("session_id"),
    FieldRow::same("transcript_path").or("null"),
    FieldRow::same("cwd"),
    FieldRow::same("model"),
    FieldRow::same("permission_mode"),
    FieldRow::same("source"),
];
const INTERRUPT: &[FieldRow] = &[
    FieldRow::same("session_id"),
    FieldRow::same("turn_id"),
    FieldRow::same("transcript_path").or("null"),
    FieldRow::same("cwd"),
    FieldRow::same("model"),
    FieldRow::same("permission_mode"),
];
const CLOSING: &[FieldRow] = &[
    FieldRow::same("session_id"),
    FieldRow::same("transcript_path").or("null"),
    FieldRow::same("cwd"),
    FieldRow::same("reason"),
];
const CALL: [FieldRow; 3] = [FieldRow::same("tool_name"), FieldRow::same("tool_input"), FieldRow::same("tool_use_id")];
const STOP: [FieldRow; 2] =
    [FieldRow::same("stop_hook_active").or("false"), FieldRow::same("last_assistant_message").or("null")];

const AGENT: &[InputRow] = &[InputRow::named("message", "prompt"), InputRow::named("task_name", "description")];

const EVENTS: &[EventRow] = &[
    EventRow::new("PreToolUse", EventKind::PreToolUse).matched().blocks().fields(&CALL).observed(),
    EventRow::new("PermissionRequest", EventKind::PermissionRequest)
        .matched()
        .blocks()
        .settle(DecisionRule::AnyDenyElseLastAllow)
        .fields(&[FieldRow::same("tool_name"), FieldRow::same("tool_input")])
        .observed(),
    EventRow::new("PostToolUse", EventKind::PostToolUse)
        .matched()
        .blocks()
        .fields(&[CALL[0], CALL[1], FieldRow::same("tool_response").or("null"), CALL[2]])
        .observed(),
    // Only `continue: false` blocks it.
    EventRow::new("PreCompact", EventKind::PreCompact).matched().blocks().replaces_common_fields(COMPACTION).observed(),
    EventRow::new("PostCompact", EventKind::PostCompact).matched().replaces_common_fields(COMPACTION).observed(),
    EventRow::new("SessionStart", EventKind::SessionStart)
        .matched()
        .plain(PlainTextUse::Context)
        .replaces_common_fields(START)
        .observed(),
    EventRow::new("SessionEnd", EventKind::SessionEnd)
        .matched()
        .within_ms(1000)
        .at_most_ms(3000)
        .replaces_common_fields(CLOSING)
        .observed(),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit)
        .blocks()
        .plain(PlainTextUse::Context)
        .fields(&[FieldRow::same("prompt")])
        .observed(),
    EventRow::new("SubagentStart", EventKind::SubagentStart).matched().plain(PlainTextUse::Context).observed(),
    EventRow::new("SubagentStop", EventKind::SubagentStop)
        .matched()
        .blocks()
        .plain(PlainTextUse::Failure)
        .fields(&[STOP[0], STOP[1], FieldRow::same("agent_transcript_path").or("null")])
        .observed(),
    EventRow::new("Stop", EventKind::Stop).blocks().plain(PlainTextUse::Failure).fields(&STOP).observed(),
    // Never observed to fire.
    EventRow::new("Interrupt", EventKind::TurnCancelled).at_most_ms(3000).replaces_common_fields(INTERRUPT),
    // The program has their names and no schemas: hooks can only observe, and the fields are not known.
    EventRow::new("PreModelRequest", EventKind::BeforeModel).since("0.164.0").opt_in().uncertain(),
    EventRow::new("PostModelRequest", EventKind::AfterModel).since("0.164.0").opt_in().uncertain(),
];

/// Events that exit code 2 and a `decision` at the top level block.
const STOPPABLE: EventScope = EventScope::Kinds(&[
    EventKind::PreToolUse,
    EventKind::PermissionRequest,
    EventKind::PostToolUse,
    EventKind::PromptSubmit,
    EventKind::Stop,
    EventKind::SubagentStop,
]);
const OUTER: EventScope = EventScope::Kinds(&[
    EventKind::PreToolUse,
    EventKind::PostToolUse,
    EventKind::PromptSubmit,
    EventKind::Stop,
    EventKind::SubagentStop,
]);
const CALL_ONLY: EventScope = EventScope::Kinds(&[EventKind::PreToolUse]);
const REQUEST: EventScope = EventScope::Kinds(&[EventKind::PermissionRequest]);
const HALTS: EventScope = EventScope::Kinds(&[
    EventKind::SessionStart,
    EventKind::PromptSubmit,
    EventKind::Stop,
    EventKind::SubagentStop,
    EventKind::PreCompact,
    EventKind::PostCompact,
]);

const KEYS: &[Key] = &[
    Key::new(&["hookSpecificOutput.hookEventName"], KeyMeaning::EventName),
    Key::new(
        &["hookSpecificOutput.permissionDecision"],
        KeyMeaning::Decision(&[("allow", Decision::Allow), ("deny", Decision::Deny)]),
    )
    .at(CALL_ONLY)
    .never_says(&[Decision::Allow])
    .needs_reason(),
    Key::new(&["hookSpecificOutput.permissionDecisionReason"], KeyMeaning::Reason).at(CALL_ONLY),
    Key::new(
        &["hookSpecificOutput.decision.behavior"],
        KeyMeaning::Decision(&[("allow", Decision::Allow), ("deny", Decision::Deny)]),
    )
    .at(REQUEST),
    Key::new(&["hookSpecificOutput.decision.message"], KeyMeaning::Reason).at(REQUEST),
    Key::new(&["decision"], KeyMeaning::Decision(&[("block", Decision::Deny)])).at(OUTER).needs_reason(),
    Key::new(&["reason"], KeyMeaning::Reason).at(OUTER),
    Key::new(&["continue"], KeyMeaning::Flag(false, Decision::Halt)).at(HALTS),
    Key::new(&["stopReason"], KeyMeaning::StopReason).at(HALTS),
    // At this event it replaces the output for the model, like a block, and does not end the run.
    Key::new(&["continue"], KeyMeaning::Flag(false, Decision::Deny))
        .at(EventScope::Kinds(&[EventKind::PostToolUse]))
        .parse_only(),
    Key::new(&["stopReason"], KeyMeaning::Reason).at(EventScope::Kinds(&[EventKind::PostToolUse])).parse_only(),
    Key::new(&["hookSpecificOutput.additionalContext"], KeyMeaning::Context).at(EventScope::Kinds(&[
        EventKind::PreToolUse,
        EventKind::PostToolUse,
        EventKind::SessionStart,
        EventKind::SubagentStart,
        EventKind::PromptSubmit,
    ])),
    // A rewrite needs `allow`, which does not skip the permission prompt.
    Key::new(&["hookSpecificOutput.updatedInput"], KeyMeaning::Replace(Target::Input))
        .at(CALL_ONLY)
        .requires_sibling("hookSpecificOutput.permissionDecision", "\"allow\""),
    Key::new(&["systemMessage"], KeyMeaning::Message).at(EventScope::Except(&[
        EventKind::SessionEnd,
        EventKind::BeforeModel,
        EventKind::AfterModel,
    ])),
    Key::new(&["suppressOutput"], KeyMeaning::Suppress).at(HALTS),
];

const LAYOUT: HookFileLayout = HookFileLayout {
    file_keys: Some(&["description"]),
    keys: &[
        HookKey::new("type", Attribute::Type),
        HookKey::new("command", Attribute::ShellCommand),
        HookKey::new("commandWindows", Attribute::Elsewhere),
        HookKey::new("command_windows", Attribute::Elsewhere),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::WholeSecondsFromOne)),
        HookKey::new("async", Attribute::Background),
        HookKey::new("statusMessage", Attribute::Status),
        HookKey::new("additionalContextLimit", Attribute::Elsewhere),
        HookKey::new("server", Attribute::Setting),
        HookKey::new("tool", Attribute::Setting),
        HookKey::new("input", Attribute::Setting),
        HookKey::new("prompt", Attribute::Setting),
    ],
    handlers: &[
        HandlerRow::new("command", "command", &["command"]),
        HandlerRow::new("mcp_tool", "mcp_tool", &["server", "tool"]).at(NOT_AT_THE_END),
        HandlerRow::new("prompt", "prompt", &[]).inert(),
        HandlerRow::new("agent", "agent", &[]).inert(),
    ],
    // The trusted hooks, and the directory of an administrator's scripts.
    beside: &["state", "managed_dir"],
    ..HookFileLayout::USUAL
};

const NOT_AT_THE_END: &[EventKind] = &[
    EventKind::PreToolUse,
    EventKind::PermissionRequest,
    EventKind::PostToolUse,
    EventKind::PreCompact,
    EventKind::PostCompact,
    EventKind::SessionStart,
    EventKind::PromptSubmit,
    EventKind::SubagentStart,
    EventKind::SubagentStop,
    EventKind::Stop,
    EventKind::TurnCancelled,
];

/// Decodes hooks in JSON, or in TOML as a part of the agent's settings.
const SETTINGS: HookFileLayout = HookFileLayout { file_keys: None, ..LAYOUT };

fn decode(decoder: &mut Decoder<'_>, root: &Node<'_>) {
    let shape = if decoder.file().ends_with(".toml") { SETTINGS } else { LAYOUT };
    shape.decode(decoder, root);
}
