//! Letta Code: exit codes decide, and replies only rewrite or add context.
//!
//! At a permission request, exit code 0 always allows. A hook without an opinion must fail there.

use std::time::Duration;

use checkrein_core::{ChainEnd, ConcurrentRewrites, Decision, EventKind, Grammar, RunOrder, Scope, Target};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{
    Attribute, ConfigTable, Decoder, FileFormat, FileRow, HandlerRow, HookFileLayout, HookKey, PathBase, TimeUnit,
};
use crate::install::{InstallTable, SettingsPath, SwitchRow};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, ReasonSource, ReplyTable};
use crate::table::{
    Cwd, Data, Dialect, EventRow, ExitReason, HostTable, PlainTextUse, ProcessTable, TimeTable, ToolRow, VariableRow,
};
use checkrein_document::Node;

/// Dialect of Letta Code.
pub static DIALECT: Dialect = Dialect {
    name: "letta",
    evidence: crate::agents::evidence::LETTA,
    facts: Some(crate::agents::evidence::LETTA_FACTS),
    title: "Letta Code",
    events: EVENTS,
    tools: &[
        ToolRow::same("Bash").observed(),
        ToolRow::same("Write").observed(),
        ToolRow::same("Edit"),
        ToolRow::same("MultiEdit"),
        ToolRow::same("Read").observed(),
        ToolRow::same("Grep"),
        ToolRow::same("Glob"),
        ToolRow::same("LS"),
        ToolRow::same("Task"),
        ToolRow::same("TodoWrite"),
    ],
    matcher: Grammar::REGEX_WHOLE,
    payload: PayloadTable { event: "event_type", ..PayloadTable::fields(COMMON) },
    reply: ReplyTable {
        keys: &[
            Key::new(&["hookSpecificOutput.hookEventName"], KeyMeaning::Nothing).parse_only(),
            Key::new(&["hookSpecificOutput.updatedInput"], KeyMeaning::Replace(Target::Input))
                .at(EventScope::Kinds(&[EventKind::PreToolUse])),
            Key::new(&["hookSpecificOutput.additionalContext", "additionalContext"], KeyMeaning::Context)
                .at(EventScope::Kinds(&[EventKind::PostToolUse, EventKind::PostToolFailure])),
        ],
        exits: &[
            ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Decide(Decision::Allow, &[])).at(REQUEST),
            ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
            ExitRule::new(ExitCodeMatch::Is(2), ExitAction::Decide(Decision::Deny, &[ReasonSource::Stderr]))
                .at(EventScope::Blocking),
            ExitRule::new(ExitCodeMatch::Any, ExitAction::Fail),
        ],
        ..ReplyTable::LENIENT
    },
    process: ProcessTable {
        variables: &[
            VariableRow::new("LETTA_HOOK_EVENT", Data::EventName),
            VariableRow::new("LETTA_WORKING_DIR", Data::Field("cwd")),
            VariableRow::new("USER_CWD", Data::ProjectDir),
            VariableRow::new("LETTA_AGENT_ID", Data::Field("agent_id")),
            VariableRow::new("AGENT_ID", Data::Field("agent_id")),
        ],
        cwd: Cwd::EventOrHost,
        leaves_background: true,
        ..CLAUDE_LIKE.process
    },
    time: TimeTable { handlers: &[("prompt", Duration::from_secs(30))], ..TimeTable::seconds(60) },
    rules: CLAUDE_LIKE
        .rules
        .order(RunOrder::Sequential)
        .chain_end(ChainEnd::FirstBlock)
        .concurrent_rewrites(ConcurrentRewrites::FirstInOrder),
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::Local, PathBase::Project, ".letta/settings.local.json"),
            FileRow::new(Scope::Project, PathBase::Project, ".letta/settings.json"),
            FileRow::new(Scope::User, PathBase::Home, ".letta/settings.json"),
        ],
        format: FileFormat::Custom { decode, encode: |dialect, hooks| LAYOUT.encode(dialect, hooks) },
        ..ConfigTable::BASE
    },
    host: HostTable {
        exit_reason: ExitReason::WithCommandLine,
        not_observable: &["prompts, sessions and stops, if there is no terminal"],
        calls_each_entry: true,
        ..HostTable::FAILS_OPEN
    },
    install: Some(
        InstallTable::new(
            &["letta"],
            &[SettingsPath::new(PathBase::Home, ".letta")],
            &[SettingsPath::new(PathBase::Home, ".letta/settings.json")],
            &[SettingsPath::new(PathBase::Project, ".letta/settings.json")],
        )
        // Otherwise the agent prints the command line and output of each hook before its own output.
        .entry_keys(&[("quiet", "true")])
        .switches(&[
            SwitchRow::flag(
                Scope::Local,
                SettingsPath::new(PathBase::Project, ".letta/settings.local.json"),
                "hooks.disabled",
                true,
            ),
            SwitchRow::flag(
                Scope::Project,
                SettingsPath::new(PathBase::Project, ".letta/settings.json"),
                "hooks.disabled",
                true,
            )
            .ignored(),
            SwitchRow::flag(
                Scope::User,
                SettingsPath::new(PathBase::Home, ".letta/settings.json"),
                "hooks.disabled",
                true,
            ),
        ])
        // The program rewrites its settings at each start, also for its version.
        .package("@letta-ai/letta-code"),
    ),
    ..CLAUDE_LIKE
};

const REQUEST: EventScope = EventScope::Kinds(&[EventKind::PermissionRequest]);

const COMMON: &[FieldRow] = &[
    FieldRow::named("working_directory", "cwd").or("\"\""),
    // In its code, but never sent.
    FieldRow::same("session_id"),
    FieldRow::same("agent_id"),
    FieldRow::same("conversation_id"),
];
const CALL: [FieldRow; 3] =
    [FieldRow::same("tool_name"), FieldRow::same("tool_input"), FieldRow::named("tool_call_id", "tool_use_id")];
/// Reasoning and text of the model before the tool call.
const BEFORE: [FieldRow; 2] = [FieldRow::same("preceding_reasoning"), FieldRow::same("preceding_assistant_message")];

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart)
        .plain(PlainTextUse::Context)
        .fields(&[FieldRow::same("is_new_session"), FieldRow::same("agent_name")])
        .observed(),
    EventRow::new("SessionEnd", EventKind::SessionEnd).fields(&[FieldRow::same("duration_ms")]),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit)
        .blocks()
        .plain(PlainTextUse::Context)
        .fields(&[FieldRow::same("prompt"), FieldRow::same("is_command")])
        .observed(),
    EventRow::new("PreToolUse", EventKind::PreToolUse).matched().blocks().fields(&CALL).observed(),
    EventRow::new("PostToolUse", EventKind::PostToolUse)
        .matched()
        .blocks()
        .order(RunOrder::Parallel)
        .fields(&[CALL[0], CALL[1], CALL[2], FieldRow::named("tool_result", "tool_response"), BEFORE[0], BEFORE[1]])
        .observed(),
    EventRow::new("PostToolUseFailure", EventKind::PostToolFailure)
        .matched()
        .order(RunOrder::Parallel)
        .fields(&[
            CALL[0],
            CALL[1],
            CALL[2],
            FieldRow::named("error_message", "error"),
            FieldRow::named("error_type", "failure_type"),
            BEFORE[0],
            BEFORE[1],
        ])
        .observed(),
    EventRow::new("PermissionRequest", EventKind::PermissionRequest)
        .matched()
        .blocks()
        .fields(&[CALL[0], CALL[1], FieldRow::same("permission"), FieldRow::same("session_permissions")])
        .uncertain(),
    EventRow::new("Notification", EventKind::Notification)
        .order(RunOrder::Parallel)
        .fields(&[FieldRow::same("message"), FieldRow::same("level")])
        .observed(),
    EventRow::new("Stop", EventKind::Stop)
        .blocks()
        .fields(&[
            FieldRow::named("stop_reason", "reason"),
            FieldRow::same("message_count"),
            FieldRow::same("tool_call_count"),
            FieldRow::named("assistant_message", "last_assistant_message"),
            FieldRow::same("user_message"),
            BEFORE[0],
        ])
        .observed(),
    EventRow::new("SubagentStop", EventKind::SubagentStop)
        .blocks()
        .fields(&[
            FieldRow::named("subagent_type", "agent_type"),
            FieldRow::same("subagent_id"),
            FieldRow::same("success"),
        ])
        .uncertain(),
    EventRow::new("PreCompact", EventKind::PreCompact).fields(&[FieldRow::same("trigger")]).uncertain(),
];

const LAYOUT: HookFileLayout = HookFileLayout {
    keys: &[
        HookKey::new("type", Attribute::Type),
        HookKey::new("command", Attribute::ShellCommand),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::Milliseconds)),
        // Setting for the display of the command line and output of a hook.
        HookKey::new("quiet", Attribute::Elsewhere),
        HookKey::new("prompt", Attribute::Setting),
        HookKey::new("model", Attribute::Setting),
    ],
    handlers: &[HandlerRow::new("command", "command", &["command"]), HandlerRow::new("prompt", "prompt", &["prompt"])],
    beside: &["disabled"],
    ..HookFileLayout::USUAL
};

fn decode(decoder: &mut Decoder<'_>, root: &Node<'_>) {
    LAYOUT.decode(decoder, root);
    if let Some(disabled) = root.get("hooks").and_then(|hooks| hooks.get("disabled")) {
        decoder.settings.disable_all = decoder.flag(disabled, "hooks.disabled").ok();
    }
}
