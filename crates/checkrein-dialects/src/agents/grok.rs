//! Grok (`grok`, Grok Build): the format of Claude Code with camel-case payloads, and answers that changed between versions.
//!
//! Source: code of August 2026, and the documentation inside of the program 1.0.41. The older code reads only `decision` and treats
//! a denial in the format of Claude Code as an allow. The newer program prefers `permissionDecision`. So a denial has all
//! spellings. `ask` is an allow in the older code, so checkrein denies instead.
//!
//! Grok also calls the hooks in files of Claude Code and Cursor, with its own payloads: see [`Dialect::borrows`].
//!
//! A tool input above 128 KiB arrives as the start of its text. Hooks cannot judge it, so checkrein denies it at a gate.

use checkrein_core::{ChainEnd, ConcurrentRewrites, Decision, EventKind, Grammar, RunOrder, Scope, Target};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{
    Attribute, ConfigTable, DedupKey, FileFormat, FileRow, HandlerRow, HookFileLayout, HookKey, PathBase, PluginTable,
    TimeUnit,
};
use crate::input::{InputRow, McpNames};
use crate::install::{InstallTable, SettingsPath, SwitchRow};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{
    EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, ReasonSource, ReplyTable, UnknownPolicy,
};
use crate::table::{BorrowedFiles, Data, Dialect, EventRow, HostTable, ProcessTable, TimeTable, ToolRow, VariableRow};

/// Dialect of Grok.
pub static DIALECT: Dialect = Dialect {
    name: "grok",
    evidence: crate::agents::evidence::GROK,
    title: "Grok",
    events: EVENTS,
    tools: TOOLS,
    mcp: McpNames::new("", "__"),
    matcher: Grammar::REGEX_SEARCH,
    payload: PayloadTable {
        event: "hookEventName",
        cut_input: Some("toolInputTruncated"),
        ..PayloadTable::fields(COMMON)
    },
    reply: ReplyTable {
        bad_values: UnknownPolicy::Failure,
        keys: KEYS,
        exits: &[
            ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
            ExitRule::new(
                ExitCodeMatch::Is(2),
                ExitAction::Decide(Decision::Deny, &[ReasonSource::Answer, ReasonSource::Stderr]),
            )
            .at(EventScope::Blocking),
            // A denial in an answer has an effect with every exit code.
            ExitRule::new(ExitCodeMatch::Any, ExitAction::ReadOrFail),
        ],
        all_spellings: Some(REFUSING),
        ..ReplyTable::LENIENT
    },
    process: ProcessTable {
        variables: &[
            VariableRow::new("GROK_HOOK_EVENT", Data::SentEventName),
            VariableRow::new("GROK_SESSION_ID", Data::Field("session_id")),
            VariableRow::new("GROK_WORKSPACE_ROOT", Data::ProjectDir),
            VariableRow::new("CLAUDE_PROJECT_DIR", Data::ProjectDir),
        ],
        ..CLAUDE_LIKE.process
    },
    time: TimeTable::seconds(5),
    rules: CLAUDE_LIKE
        .rules
        .order(RunOrder::Sequential)
        .chain_end(ChainEnd::FirstBlock)
        .concurrent_rewrites(ConcurrentRewrites::LastInOrder),
    stop_cap: 8,
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::Managed, PathBase::Root, "etc/grok/requirements.toml"),
            FileRow::new(Scope::Managed, PathBase::Root, "etc/grok/managed_config.toml"),
            FileRow::new(Scope::User, HOME, "hooks/*").with(&["json"]),
            FileRow::new(Scope::User, HOME, "config.toml"),
            FileRow::new(Scope::User, HOME, "managed_config.toml"),
            FileRow::new(Scope::User, HOME, "requirements.toml"),
            FileRow::new(Scope::Project, PathBase::Project, ".grok/hooks/*").with(&["json"]),
        ],
        format: FileFormat::Layout(&LAYOUT),
        plugin: Some(PluginTable::new("GROK_PLUGIN_ROOT")),
        dedup_key: DedupKey::Handler,
        ..ConfigTable::BASE
    },
    host: HostTable {
        hides_messages: true,
        not_observable: &[
            "all events, for project files in a folder that is not trusted (they are silently skipped)",
            "the part of a tool input above 128 KiB",
        ],
        calls_each_entry: true,
        uncertain: &[
            "the first version that blocks prompts, and that reads answers after a tool: 1.0.41 does, code of August 2026 does not",
            "names of the fields of a tool's input, except for `command`",
            "scripts with a relative path: Grok starts them in the directory of the hook file, and checkrein in the working directory",
        ],
        ..HostTable::FAILS_OPEN
    },
    install: Some(
        InstallTable::new(
            &["grok"],
            &[SettingsPath::new(HOME, "")],
            &[SettingsPath::new(HOME, "hooks/checkrein.json")],
            &[SettingsPath::new(PathBase::Project, ".grok/hooks/checkrein.json")],
        )
        .switches(&[
            SwitchRow::flag(Scope::Managed, REQUIREMENTS, "allow_managed_hooks_only", true),
            SwitchRow::flag(Scope::Managed, MANAGED, "allow_managed_hooks_only", true),
        ])
        .package("@xai-official/grok")
        .then(&["next: in a project, trust the folder with `/hooks-trust`; until then Grok silently skips its hooks"]),
    ),
    borrows: Some(BorrowedFiles { agents: &["claude", "cursor"], variable: "GROK_SESSION_ID" }),
    ..CLAUDE_LIKE
};

const HOME: PathBase = PathBase::Variable("GROK_HOME", ".grok");
const REQUIREMENTS: SettingsPath = SettingsPath::new(PathBase::Root, "etc/grok/requirements.toml");
const MANAGED: SettingsPath = SettingsPath::new(PathBase::Root, "etc/grok/managed_config.toml");

const FILE: &[InputRow] =
    &[InputRow::named("target_file", "file_path"), InputRow::named("path", "file_path"), InputRow::same("file_path")];
const PATH: &[InputRow] = &[InputRow::named("path", "file_path"), InputRow::same("file_path")];

const TOOLS: &[ToolRow] = &[
    ToolRow::new("run_terminal_command", &["Bash"]).aliases(&["Bash"]),
    // The name in older versions.
    ToolRow::new("run_terminal_cmd", &["Bash"]).aliases(&["Bash"]),
    ToolRow::new("read_file", &["Read"]).aliases(&["Read"]).takes(FILE),
    ToolRow::new("search_replace", &["Edit", "Write", "MultiEdit"]).aliases(&["Edit", "Write", "MultiEdit"]),
    ToolRow::new("grep", &["Grep"]).aliases(&["Grep"]),
    ToolRow::new("list_dir", &["LS", "Glob"])
        .aliases(&["Glob", "ListDir"])
        .takes(&[InputRow::named("target_directory", "path")]),
    ToolRow::new("web_search", &["WebSearch"])
        .aliases(&["WebSearch"])
        .takes(&[InputRow::same("query"), InputRow::named("search_term", "query")]),
    ToolRow::new("spawn_subagent", &["Agent", "Task"]).aliases(&["Task"]),
    // Names that session files of the agent have with some models.
    ToolRow::new("Shell", &["Bash"]).aliases(&["Bash"]),
    ToolRow::same("Read").takes(PATH),
    ToolRow::same("Write").takes(PATH),
    ToolRow::new("StrReplace", &["Edit"]).aliases(&["Edit"]).takes(PATH),
];

/// The name of the event in the spelling of Claude Code, which newer versions add.
const fn alias(name: &'static str) -> FieldRow {
    FieldRow::named("hook_event_name", "").or(name)
}

// Newer versions repeat some fields in the spelling of Claude Code.
const COMMON: &[FieldRow] = &[
    FieldRow::named("sessionId", "session_id").or("\"\""),
    FieldRow::same("session_id").or("\"\""),
    FieldRow::same("cwd").or("\"\""),
    FieldRow::named("workspaceRoot", "workspace_root"),
    FieldRow::same("timestamp"),
    FieldRow::named("transcriptPath", "transcript_path"),
    FieldRow::same("transcript_path"),
    FieldRow::named("clientIdentifier", "client_identifier"),
    FieldRow::named("promptId", "prompt_id"),
    FieldRow::named("permissionMode", "permission_mode"),
    FieldRow::same("permission_mode"),
    FieldRow::named("subagentType", "agent_type"),
];
const CALL: [FieldRow; 7] = [
    FieldRow::named("toolName", "tool_name"),
    FieldRow::same("tool_name"),
    FieldRow::named("toolUseId", "tool_use_id"),
    FieldRow::same("tool_use_id"),
    FieldRow::named("toolInput", "tool_input"),
    FieldRow::same("tool_input"),
    FieldRow::named("toolInputTruncated", "tool_input_truncated").or("false"),
];
const DURATION: [FieldRow; 2] = [FieldRow::named("durationMs", "duration_ms"), FieldRow::same("duration_ms")];
const LAST: FieldRow = FieldRow::named("lastAssistantMessage", "last_assistant_message");
const ACTIVE: FieldRow = FieldRow::named("stopHookActive", "stop_hook_active").or("false");
const SUBAGENT: [FieldRow; 2] = [FieldRow::named("subagentId", "agent_id"), FieldRow::same("description")];
const COMPACTION: FieldRow = FieldRow::named("source", "trigger");

const EVENTS: &[EventRow] = &[
    sent(EventRow::new("SessionStart", EventKind::SessionStart), "session_start").matched().fields(&[
        alias("\"SessionStart\""),
        FieldRow::same("source"),
        FieldRow::named("modelId", "model"),
        FieldRow::same("agentType"),
    ]),
    sent(EventRow::new("UserPromptSubmit", EventKind::PromptSubmit), "user_prompt_submit")
        .blocks()
        .within_ms(30_000)
        .fields(&[alias("\"UserPromptSubmit\""), FieldRow::same("prompt")])
        .uncertain(),
    sent(EventRow::new("PreToolUse", EventKind::PreToolUse), "pre_tool_use").matched().blocks().fields(&[
        alias("\"PreToolUse\""),
        CALL[0],
        CALL[1],
        CALL[2],
        CALL[3],
        CALL[4],
        CALL[5],
        CALL[6],
    ]),
    sent(EventRow::new("PostToolUse", EventKind::PostToolUse), "post_tool_use")
        .matched()
        .blocks()
        .within_ms(600_000)
        .fields(&[
            alias("\"PostToolUse\""),
            CALL[0],
            CALL[1],
            CALL[2],
            CALL[3],
            CALL[4],
            CALL[5],
            CALL[6],
            FieldRow::named("toolResult", "tool_response"),
            FieldRow::same("tool_response"),
            FieldRow::named("toolResultTruncated", "tool_response_truncated").or("false"),
            DURATION[0],
            DURATION[1],
            FieldRow::named("isBackgrounded", "is_backgrounded").or("false"),
        ])
        .uncertain(),
    sent(EventRow::new("PostToolUseFailure", EventKind::PostToolFailure), "post_tool_use_failure").matched().fields(&[
        alias("\"PostToolUseFailure\""),
        CALL[0],
        CALL[1],
        CALL[2],
        CALL[3],
        CALL[4],
        CALL[5],
        CALL[6],
        FieldRow::same("error"),
        DURATION[0],
        DURATION[1],
        FieldRow::named("isInterrupt", "is_interrupt"),
        FieldRow::same("is_interrupt"),
    ]),
    sent(EventRow::new("PermissionDenied", EventKind::PermissionDenied), "permission_denied").matched().fields(&[
        alias("\"PermissionDenied\""),
        CALL[0],
        CALL[1],
        CALL[2],
        CALL[3],
        CALL[4],
        CALL[5],
        CALL[6],
        FieldRow::same("reason"),
    ]),
    sent(EventRow::new("Stop", EventKind::Stop), "stop").blocks().within_ms(600_000).fields(&[
        alias("\"Stop\""),
        FieldRow::same("reason"),
        ACTIVE,
        LAST,
        FieldRow::named("backgroundTasks", "background_tasks"),
        FieldRow::named("sessionCrons", "session_crons"),
    ]),
    sent(EventRow::new("StopFailure", EventKind::StopFailure), "stop_failure").matched().fields(&[
        alias("\"StopFailure\""),
        FieldRow::named("error", "error_type"),
        FieldRow::named("errorDetails", "error_details"),
        LAST,
    ]),
    sent(EventRow::new("StopCancelled", EventKind::TurnCancelled), "stop_cancelled").matched().fields(&[
        alias("\"StopCancelled\""),
        FieldRow::same("reason"),
        FieldRow::named("cancelledBy", "cancelled_by"),
        FieldRow::named("cancelTrigger", "cancel_trigger"),
        FieldRow::named("reasonDetails", "reason_details"),
        LAST,
    ]),
    sent(EventRow::new("Notification", EventKind::Notification), "notification").matched().fields(&[
        alias("\"Notification\""),
        FieldRow::named("notificationType", "notification_type"),
        FieldRow::same("message"),
        FieldRow::same("title"),
        FieldRow::same("level"),
    ]),
    sent(EventRow::new("SubagentStart", EventKind::SubagentStart), "subagent_start").matched().fields(&[
        alias("\"SubagentStart\""),
        SUBAGENT[0],
        SUBAGENT[1],
    ]),
    sent(EventRow::new("SubagentStop", EventKind::SubagentStop), "subagent_stop")
        .matched()
        .blocks()
        .within_ms(600_000)
        .fields(&[
            alias("\"SubagentStop\""),
            SUBAGENT[0],
            SUBAGENT[1],
            FieldRow::same("phase"),
            FieldRow::same("reason"),
            ACTIVE,
            LAST,
        ]),
    sent(EventRow::new("PreCompact", EventKind::PreCompact), "pre_compact")
        .matched()
        .fields(&[alias("\"PreCompact\""), COMPACTION]),
    sent(EventRow::new("PostCompact", EventKind::PostCompact), "post_compact")
        .matched()
        .fields(&[alias("\"PostCompact\""), COMPACTION]),
    sent(EventRow::new("SessionEnd", EventKind::SessionEnd), "session_end").matched().fields(&[
        alias("\"SessionEnd\""),
        FieldRow::same("reason"),
        FieldRow::named("turnCount", "turn_count"),
        FieldRow::named("toolCallCount", "tool_call_count"),
    ]),
];

/// Payloads have another name for the event than files.
const fn sent(row: EventRow, name: &'static str) -> EventRow {
    row.event_field("hookEventName", name)
}

const GATE: EventScope = EventScope::Kinds(&[EventKind::PreToolUse]);
const REFUSING: EventScope = EventScope::Kinds(&[EventKind::PreToolUse, EventKind::PromptSubmit]);
const STOPS: EventScope = EventScope::Kinds(&[EventKind::Stop, EventKind::SubagentStop]);

const WORDS: &[(&str, Decision)] = &[
    ("allow", Decision::Allow),
    ("deny", Decision::Deny),
    ("ask", Decision::Ask),
    // Without effect, as a missing answer.
    ("defer", Decision::NoOpinion),
    ("approve", Decision::Allow),
    ("block", Decision::Deny),
];

const KEYS: &[Key] = &[
    Key::new(&["hookSpecificOutput.hookEventName"], KeyMeaning::EventName),
    Key::new(&["decision"], KeyMeaning::Decision(WORDS)).at(GATE).never_says(&[Decision::Ask]),
    Key::new(&["reason"], KeyMeaning::Reason).at(GATE),
    Key::new(&["hookSpecificOutput.permissionDecision"], KeyMeaning::Decision(WORDS))
        .at(GATE)
        .never_says(&[Decision::Ask]),
    Key::new(&["hookSpecificOutput.permissionDecisionReason"], KeyMeaning::Reason).at(GATE),
    Key::new(&["hookSpecificOutput.updatedInput"], KeyMeaning::Replace(Target::Input)).at(GATE),
    Key::new(&["decision"], KeyMeaning::Decision(&[("block", Decision::Deny)])).at(EventScope::Kinds(&[
        EventKind::PromptSubmit,
        EventKind::PostToolUse,
        EventKind::Stop,
        EventKind::SubagentStop,
    ])),
    Key::new(&["reason"], KeyMeaning::Reason).at(EventScope::Kinds(&[
        EventKind::PromptSubmit,
        EventKind::PostToolUse,
        EventKind::Stop,
        EventKind::SubagentStop,
    ])),
    Key::new(&["continue"], KeyMeaning::Flag(false, Decision::Halt)).at(STOPS),
    Key::new(&["stopReason"], KeyMeaning::StopReason).at(STOPS),
    // The agent continues then, so checkrein never sends it at a stop without a block.
    Key::new(&["hookSpecificOutput.additionalContext"], KeyMeaning::Context).at(STOPS).parse_only(),
    Key::new(&["hookSpecificOutput.additionalContext"], KeyMeaning::Context).at(EventScope::Kinds(&[
        EventKind::PreToolUse,
        EventKind::PostToolUse,
        EventKind::PostToolFailure,
    ])),
    // The agent ignores a built-in tool's output of another shape than its own.
    Key::new(
        &["hookSpecificOutput.updatedToolOutput", "hookSpecificOutput.updatedMCPToolOutput"],
        KeyMeaning::Replace(Target::Output),
    )
    .at(EventScope::Kinds(&[EventKind::PostToolUse]))
    .parse_only(),
    Key::new(&["systemMessage", "suppressOutput"], KeyMeaning::Nothing),
];

const LAYOUT: HookFileLayout = HookFileLayout {
    keys: &[
        HookKey::new("type", Attribute::Type),
        HookKey::new("command", Attribute::Command),
        HookKey::new("url", Attribute::Url),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::Seconds)),
        HookKey::new("env", Attribute::Env),
    ],
    handlers: &[HandlerRow::new("command", "command", &["command"]), HandlerRow::new("http", "http", &["url"])],
    names: &[
        ("SubagentEnd", "SubagentStop"),
        // Events of Cursor.
        ("beforeShellExecution", "PreToolUse"),
        ("beforeMCPExecution", "PreToolUse"),
        ("beforeReadFile", "PreToolUse"),
        ("afterShellExecution", "PostToolUse"),
        ("afterMCPExecution", "PostToolUse"),
        ("afterFileEdit", "PostToolUse"),
        ("afterAgentResponse", "PostToolUse"),
        ("afterAgentThought", "PostToolUse"),
        ("beforeSubmitPrompt", "UserPromptSubmit"),
    ],
    loose_names: true,
    ..HookFileLayout::USUAL
};
