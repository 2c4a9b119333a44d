//! Qwen Code: the implementation of Gemini CLI with the names of Claude Code.
//!
//! The output of a hook applies with every exit code but 2, which blocks with standard error as the reason. Contrary to its
//! documentation, a new input applies only at permission requests, and hooks before a tool cannot add context.

use std::time::Duration;

use checkrein_core::{Decision, DecisionRule, EventKind, Grammar, NameList, RunOrder, Scope, Syntax, Target};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{
    Attribute, ConfigTable, DedupKey, FileFormat, FileRow, HandlerRow, HookFileLayout, HookKey, PathBase, PluginTable,
    TimeUnit,
};
use crate::input::InputRow;
use crate::install::{InstallTable, SettingsPath, SwitchRow};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{
    Defect, EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, ReasonSource, ReplyTable,
};
use crate::table::{
    Cwd, Data, Dialect, EventRow, HostTable, PlainTextUse, ProcessTable, TimeTable, ToolRow, VariableRow,
};

/// Dialect of Qwen Code.
pub static DIALECT: Dialect = Dialect {
    name: "qwen",
    evidence: crate::agents::evidence::QWEN,
    facts: Some(crate::agents::evidence::QWEN_FACTS),
    title: "Qwen Code",
    events: EVENTS,
    // Matchers also match the names that the agent displays.
    tools: &[
        ToolRow::new("run_shell_command", &["Bash", "Shell"])
            .observed()
            .aliases(&["Shell"])
            .takes(&[InputRow::named("directory", "cwd")]),
        ToolRow::new("write_file", &["Write", "WriteFile"]).observed().aliases(&["WriteFile"]),
        ToolRow::new("edit", &["Edit"]).aliases(&["Edit"]),
        ToolRow::new("read_file", &["Read", "ReadFile"])
            .observed()
            .aliases(&["ReadFile"])
            // The second name is that of older versions.
            .takes(&[InputRow::same("file_path"), InputRow::named("absolute_path", "file_path")]),
        ToolRow::new("glob", &["Glob"]).aliases(&["Glob"]),
        ToolRow::new("grep_search", &["Grep"]).aliases(&["Grep"]),
        ToolRow::new("list_directory", &["LS"]).aliases(&["ListFiles"]),
        ToolRow::new("web_fetch", &["WebFetch"]).aliases(&["WebFetch"]),
        ToolRow::new("todo_write", &["TodoWrite"]).aliases(&["TodoWrite"]),
        ToolRow::new("agent", &["Agent"]).observed().aliases(&["Agent"]),
    ],
    matcher: Grammar::new(&["*"], Some(NameList { also: "", separators: "|", trim: true }), Syntax::RegexSearch),
    payload: PayloadTable::fields(COMMON),
    reply: ReplyTable {
        tolerates: &[Defect::InvalidUtf8, Defect::ByteOrderMark, Defect::DuplicateKey, Defect::JsonString],
        keys: KEYS,
        exits: &[
            ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
            ExitRule::new(ExitCodeMatch::Is(2), ExitAction::Decide(Decision::Deny, &[ReasonSource::Stderr]))
                .at(STOPPABLE)
                .needs_stderr(),
            ExitRule::new(ExitCodeMatch::Is(2), ExitAction::Fail),
            ExitRule::new(ExitCodeMatch::Any, ExitAction::ReadOrFail),
        ],
        stderr_answers: true,
        ..ReplyTable::LENIENT
    },
    process: ProcessTable {
        variables: &[
            VariableRow::new("GEMINI_PROJECT_DIR", Data::ProjectDir),
            VariableRow::new("CLAUDE_PROJECT_DIR", Data::ProjectDir),
            VariableRow::new("QWEN_PROJECT_DIR", Data::ProjectDir),
            VariableRow::new("QWEN_CODE_SESSION_ID", Data::Field("session_id")),
            VariableRow::new("QWEN_CODE_AGENT_ID", Data::Field("agent_id")).or(""),
        ],
        cwd: Cwd::EventOrHost,
        leaves_background: true,
        ..CLAUDE_LIKE.process
    },
    time: TimeTable {
        handlers: &[("http", Duration::from_secs(600)), ("prompt", Duration::from_secs(30))],
        ..TimeTable::seconds(60)
    },
    // Hooks of a group with `sequential` run first, each on the result of the previous one.
    rules: CLAUDE_LIKE.rules.order(RunOrder::Phased),
    stop_cap: 8,
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::Project, PathBase::Project, ".qwen/settings.json"),
            FileRow::new(Scope::User, PathBase::Home, ".qwen/settings.json"),
            // The exact location was not observed.
            FileRow::new(Scope::Managed, PathBase::Root, "etc/qwen-code/settings.json"),
        ],
        comments: true,
        format: FileFormat::Layout(&LAYOUT),
        plugin: Some(PluginTable::new("extensionPath")),
        dedup_key: DedupKey::EverythingAndName,
        ..ConfigTable::BASE
    },
    host: HostTable {
        hides_messages: true,
        not_observable: &["the end of a session without a terminal"],
        calls_each_entry: true,
        ..HostTable::FAILS_OPEN
    },
    install: Some(
        InstallTable::new(&["qwen"], &[SettingsPath::new(PathBase::Home, ".qwen")], &[USER], &[PROJECT])
            .switches(&[
                SwitchRow::flag(
                    Scope::Managed,
                    SettingsPath::new(PathBase::Root, "etc/qwen-code/settings.json"),
                    "disableAllHooks",
                    true,
                ),
                SwitchRow::flag(Scope::Project, PROJECT, "disableAllHooks", true),
                SwitchRow::flag(Scope::User, USER, "disableAllHooks", true),
            ])
            .package("@qwen-code/qwen-code")
            .prints_version(),
    ),
    ..CLAUDE_LIKE
};

const USER: SettingsPath = SettingsPath::new(PathBase::Home, ".qwen/settings.json");
const PROJECT: SettingsPath = SettingsPath::new(PathBase::Project, ".qwen/settings.json");

const COMMON: &[FieldRow] = &[
    FieldRow::same("session_id").or("\"\""),
    FieldRow::same("transcript_path").or("\"\""),
    FieldRow::same("cwd").or("\"\""),
    FieldRow::same("timestamp"),
    FieldRow::same("permission_mode"),
    FieldRow::same("prompt_id"),
    FieldRow::same("source_type"),
    FieldRow::same("source_id"),
    FieldRow::same("agent_id"),
    FieldRow::same("agent_type"),
];
/// The agent generates the first id; `tool_call_id` comes from the model.
const CALL: [FieldRow; 4] = [
    FieldRow::same("tool_name"),
    FieldRow::same("tool_input"),
    FieldRow::same("tool_use_id"),
    FieldRow::same("tool_call_id"),
];
const STOP: [FieldRow; 2] = [FieldRow::same("stop_hook_active").or("false"), FieldRow::same("last_assistant_message")];
const TODO: &[FieldRow] = &[FieldRow::same("phase"), FieldRow::same("todos")];

const EVENTS: &[EventRow] = &[
    EventRow::new("PreToolUse", EventKind::PreToolUse).matched().blocks().fields(&CALL).observed(),
    EventRow::new("PostToolUse", EventKind::PostToolUse)
        .matched()
        .fields(&[
            CALL[0],
            CALL[1],
            FieldRow::same("tool_response").or("null"),
            CALL[2],
            CALL[3],
            FieldRow::same("duration_ms"),
        ])
        .observed(),
    EventRow::new("PostToolUseFailure", EventKind::PostToolFailure)
        .matched()
        .fields(&[
            CALL[2],
            CALL[3],
            CALL[0],
            CALL[1],
            FieldRow::same("error"),
            FieldRow::same("is_interrupt"),
            FieldRow::same("duration_ms"),
        ])
        .observed(),
    EventRow::new("PostToolBatch", EventKind::PostToolBatch)
        .blocks()
        .fields(&[FieldRow::same("tool_calls")])
        .observed(),
    // Fires before the event of the tool.
    EventRow::new("PermissionRequest", EventKind::PermissionRequest)
        .matched()
        .blocks()
        .settle(DecisionRule::AnyDenyElseLastAllow)
        .fields(&[CALL[0], CALL[1], FieldRow::same("permission_suggestions")])
        .observed(),
    EventRow::new("PermissionDenied", EventKind::PermissionDenied).matched().fields(&[
        CALL[0],
        CALL[1],
        CALL[2],
        FieldRow::same("reason"),
    ]),
    // Fires again after each tool result with an empty prompt, and after a refused stop with the reason. Only prompts of the
    // user have the second field.
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit)
        .blocks()
        .plain(PlainTextUse::Context)
        .fields(&[FieldRow::same("prompt"), FieldRow::same("submitted_prompt")])
        .only_with("submitted_prompt")
        .observed(),
    EventRow::new("UserPromptExpansion", EventKind::PromptExpansion).matched().blocks().fields(&[
        FieldRow::same("prompt"),
        FieldRow::same("command_name"),
        FieldRow::same("command_args"),
    ]),
    EventRow::new("SessionStart", EventKind::SessionStart)
        .matched()
        .plain(PlainTextUse::Context)
        .fields(&[FieldRow::same("source"), FieldRow::same("model")])
        .observed(),
    EventRow::new("SessionEnd", EventKind::SessionEnd).matched().fields(&[FieldRow::same("reason")]).observed(),
    EventRow::new("SessionDelete", EventKind::SessionDelete).fields(&[FieldRow::same("deleted_session_id")]),
    EventRow::new("SubagentStart", EventKind::SubagentStart).matched().observed(),
    EventRow::new("SubagentStop", EventKind::SubagentStop)
        .matched()
        .blocks()
        .fields(&[STOP[0], STOP[1], FieldRow::same("agent_transcript_path")])
        .observed(),
    EventRow::new("PreCompact", EventKind::PreCompact)
        .matched_by(Grammar::EXACT)
        .fields(&[FieldRow::same("trigger"), FieldRow::same("custom_instructions")]),
    EventRow::new("PostCompact", EventKind::PostCompact)
        .matched_by(Grammar::EXACT)
        .fields(&[FieldRow::same("trigger"), FieldRow::named("compact_summary", "summary")]),
    EventRow::new("Notification", EventKind::Notification)
        .matched_by(Grammar::EXACT)
        .fields(&[FieldRow::same("message"), FieldRow::same("notification_type"), FieldRow::same("title")])
        .observed(),
    EventRow::new("Stop", EventKind::Stop)
        .blocks()
        .fields(&[
            STOP[0],
            STOP[1],
            FieldRow::same("background_tasks"),
            FieldRow::named("crons", "session_crons"),
            FieldRow::same("context_usage"),
            FieldRow::same("context_limit"),
            FieldRow::same("input_tokens"),
        ])
        .observed(),
    EventRow::new("StopFailure", EventKind::StopFailure)
        .matched()
        .fields(&[FieldRow::named("error", "error_type"), FieldRow::same("error_details")]),
    EventRow::new("TodoCreated", EventKind::TodoCreated).blocks().fields(TODO),
    EventRow::new("TodoCompleted", EventKind::TodoCompleted).blocks().fields(TODO),
    EventRow::new("InstructionsLoaded", EventKind::InstructionsLoaded)
        .subject_field("file_path")
        .fields(&[FieldRow::same("file_path"), FieldRow::same("memory_type"), FieldRow::same("load_reason")])
        .observed(),
    EventRow::new("MessageDisplay", EventKind::MessageDisplay)
        .fields(&[FieldRow::same("message_id"), FieldRow::named("displayed_text", "text"), FieldRow::same("is_final")])
        .observed(),
    // In its settings, but never observed to fire.
    EventRow::new("QueryEnd", EventKind::UserTurnEnd).fields(&[FieldRow::same("reason")]).uncertain(),
];

const STOPPABLE: EventScope = EventScope::Kinds(&[
    EventKind::PreToolUse,
    EventKind::PermissionRequest,
    EventKind::PromptSubmit,
    EventKind::PromptExpansion,
    EventKind::PostToolBatch,
    EventKind::Stop,
    EventKind::SubagentStop,
    EventKind::TodoCreated,
    EventKind::TodoCompleted,
]);
const CALL_ONLY: EventScope = EventScope::Kinds(&[EventKind::PreToolUse]);
const REQUEST: EventScope = EventScope::Kinds(&[EventKind::PermissionRequest]);
const HALTS: EventScope = EventScope::Kinds(&[
    EventKind::PromptSubmit,
    EventKind::PostToolUse,
    EventKind::PostToolBatch,
    EventKind::Stop,
    EventKind::SubagentStop,
]);

const KEYS: &[Key] = &[
    Key::new(&["hookSpecificOutput.hookEventName"], KeyMeaning::EventName),
    Key::new(
        &["hookSpecificOutput.permissionDecision"],
        KeyMeaning::Decision(&[("allow", Decision::Allow), ("deny", Decision::Deny), ("ask", Decision::Ask)]),
    )
    .at(CALL_ONLY),
    Key::new(&["hookSpecificOutput.permissionDecisionReason"], KeyMeaning::Reason).at(CALL_ONLY),
    Key::new(
        &["hookSpecificOutput.decision.behavior"],
        KeyMeaning::Decision(&[("allow", Decision::Allow), ("deny", Decision::Deny)]),
    )
    .at(REQUEST),
    Key::new(&["hookSpecificOutput.decision.message"], KeyMeaning::Reason).at(REQUEST),
    Key::new(&["hookSpecificOutput.decision.interrupt"], KeyMeaning::Flag(true, Decision::Halt))
        .at(REQUEST)
        .parse_only(),
    Key::new(&["hookSpecificOutput.decision.updatedInput"], KeyMeaning::Replace(Target::Input)).at(REQUEST),
    Key::new(
        &["decision"],
        KeyMeaning::Decision(&[
            ("block", Decision::Deny),
            ("deny", Decision::Deny),
            ("allow", Decision::Allow),
            ("approve", Decision::Allow),
            // The agent drops it when it merges replies.
            ("ask", Decision::Ask),
        ]),
    )
    .at(STOPPABLE)
    .never_says(&[Decision::Ask, Decision::Allow]),
    Key::new(&["reason"], KeyMeaning::Reason).at(STOPPABLE),
    // Before a tool it blocks the tool, and the run continues.
    Key::new(&["continue"], KeyMeaning::Flag(false, Decision::Deny)).at(CALL_ONLY).parse_only(),
    Key::new(&["stopReason"], KeyMeaning::Reason).at(CALL_ONLY).parse_only(),
    Key::new(&["continue"], KeyMeaning::Flag(false, Decision::Halt)).at(HALTS),
    Key::new(&["stopReason"], KeyMeaning::StopReason).at(HALTS),
    Key::new(&["hookSpecificOutput.additionalContext"], KeyMeaning::Context).at(EventScope::Kinds(&[
        EventKind::PromptSubmit,
        EventKind::SessionStart,
        EventKind::SubagentStart,
        EventKind::PostToolUse,
        EventKind::PostToolFailure,
        EventKind::PostToolBatch,
    ])),
    Key::new(&["hookSpecificOutput.artifacts"], KeyMeaning::Named("artifacts"))
        .at(EventScope::Kinds(&[EventKind::PostToolUse])),
    Key::new(&["systemMessage"], KeyMeaning::Message),
    Key::new(&["suppressOutput"], KeyMeaning::Suppress),
    Key::new(&["terminalSequence"], KeyMeaning::Named("terminalSequence")),
];

const LAYOUT: HookFileLayout = HookFileLayout {
    keys: &[
        HookKey::new("type", Attribute::Type),
        HookKey::new("command", Attribute::ShellCommand),
        HookKey::new("shell", Attribute::Shell),
        HookKey::new("name", Attribute::Id),
        HookKey::new("description", Attribute::Description),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::MillisecondsForCommands)),
        HookKey::new("env", Attribute::Env),
        HookKey::new("async", Attribute::Background),
        HookKey::new("statusMessage", Attribute::Status),
        HookKey::new("url", Attribute::Url),
        HookKey::new("headers", Attribute::Headers),
        HookKey::new("allowedEnvVars", Attribute::HeaderVariables),
        HookKey::new("if", Attribute::Rule),
        HookKey::new("once", Attribute::Once),
        HookKey::new("prompt", Attribute::Setting),
        HookKey::new("model", Attribute::Setting),
    ],
    handlers: &[
        HandlerRow::new("command", "command", &["command"]),
        HandlerRow::new("http", "http", &["url"]),
        HandlerRow::new("prompt", "prompt", &["prompt"]),
    ],
    group: &[HookKey::new("sequential", Attribute::Rewrites)],
    beside: &["enabled", "disabled"],
    ..HookFileLayout::USUAL
};
