//! Cursor: one event for all tools, further events for some kinds of tools, and a failure policy per hook.
//!
//! Source: copies of its documentation. Uncertain: the order of the hooks of an event; whether `allow` at `preToolUse` skips
//! the permission prompt; whether a new input replaces or extends the old one; the default timeout; the handling of a file
//! with an unknown event.
//!
//! Cursor accepts `ask` everywhere, but asks only before shell commands and MCP tools; elsewhere checkrein denies instead. A
//! new output applies only to MCP tools, so checkrein never sends one.

use checkrein_core::{
    Decision, EventKind, FailureKind, FailurePolicy, FailureTable, Grammar, Rules, RunOrder, Scope, Target,
};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{
    Attribute, ConfigTable, FileFormat, FileRow, HandlerRow, HookFileLayout, HookKey, PathBase, PluginTable, TimeUnit,
};
use crate::input::{InputRow, McpNames};
use crate::install::{InstallTable, SettingsPath};
use crate::payload::{FieldEncoding, FieldRow, PayloadTable};
use crate::reply::{EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, ReasonSource, ReplyTable};
use crate::table::{Cwd, Data, Dialect, EventRow, ExitReason, HostTable, ProcessTable, ToolRow, VariableRow};

/// Dialect of Cursor.
pub static DIALECT: Dialect = Dialect {
    name: "cursor",
    evidence: crate::agents::evidence::CURSOR,
    title: "Cursor",
    events: EVENTS,
    tools: TOOLS,
    mcp: McpNames::UNKNOWN,
    matcher: Grammar::REGEX_SEARCH,
    payload: PayloadTable::fields(COMMON),
    reply: ReplyTable {
        keys: KEYS,
        exits: &[
            ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
            ExitRule::new(
                ExitCodeMatch::Is(2),
                ExitAction::Decide(Decision::Deny, &[ReasonSource::Answer, ReasonSource::Stderr]),
            )
            .at(REFUSING),
            ExitRule::new(ExitCodeMatch::Any, ExitAction::Fail),
        ],
        ..CLAUDE_LIKE.reply
    },
    process: ProcessTable {
        variables: &[
            VariableRow::new("CURSOR_PROJECT_DIR", Data::ProjectDir),
            VariableRow::new("CLAUDE_PROJECT_DIR", Data::ProjectDir),
            VariableRow::new("CURSOR_VERSION", Data::Field("cursor_version")),
            VariableRow::new("CURSOR_USER_EMAIL", Data::Field("user_email")),
            VariableRow::new("CURSOR_TRANSCRIPT_PATH", Data::Field("transcript_path")),
        ],
        // The agent runs hooks of the user in `~/.cursor`, which is not the project that they check.
        cwd: Cwd::Host,
        ..CLAUDE_LIKE.process
    },
    rules: Rules::NATIVE.order(RunOrder::Parallel).failures(
        FailureTable::open()
            .at_gates(FailureKind::Parse, FailurePolicy::Closed)
            .at_gates(FailureKind::Schema, FailurePolicy::Closed)
            .at_gates(FailureKind::OutputCap, FailurePolicy::Closed),
    ),
    stop_cap: 5,
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::Managed, PathBase::Root, "etc/cursor/hooks.json"),
            FileRow::new(Scope::Project, PathBase::Project, ".cursor/hooks.json"),
            FileRow::new(Scope::User, PathBase::Home, ".cursor/hooks.json"),
        ],
        format: FileFormat::Layout(&LAYOUT),
        plugin: Some(PluginTable::new("CURSOR_PLUGIN_ROOT")),
        ..ConfigTable::BASE
    },
    host: HostTable {
        failure_switch: Some(("failClosed", "true")),
        exit_reason: ExitReason::Unknown,
        not_observable: &[
            "a file before it is written, except as a tool call",
            "in the cloud: hooks of the user, `stop` and `subagentStop`",
            "on the command line: some events, which are not documented",
        ],
        uncertain: &[
            "the order of the hooks of an event, and their default timeout",
            "`allow` for a tool call: documented, and reported to have no effect",
            "the payload for hooks in `.claude/settings.json`, which the command line also reads",
            "whether a new input replaces the old one",
            "the handling of a file with an unknown event",
        ],
        ..HostTable::FAILS_OPEN
    },
    install: Some(InstallTable::new(
        &["cursor-agent", "cursor"],
        &[SettingsPath::new(PathBase::Home, ".cursor")],
        &[SettingsPath::new(PathBase::Home, ".cursor/hooks.json")],
        &[SettingsPath::new(PathBase::Project, ".cursor/hooks.json")],
    )),
    ..CLAUDE_LIKE
};

const TOOLS: &[ToolRow] = &[
    ToolRow::new("Shell", &["Bash"]).takes(&[InputRow::named("working_directory", "cwd")]),
    ToolRow::new("Write", &["Edit"]),
    ToolRow::same("Read"),
    ToolRow::same("Grep"),
    ToolRow::same("Delete"),
    ToolRow::new("Task", &["Agent"]),
    ToolRow::new("TabRead", &["Read"]),
    ToolRow::new("TabWrite", &["Write", "Edit"]),
];

const COMMON: &[FieldRow] = &[
    FieldRow::named("conversation_id", "session_id").or("\"\""),
    FieldRow::same("generation_id"),
    FieldRow::same("model"),
    FieldRow::same("cursor_version"),
    FieldRow::same("workspace_roots"),
    FieldRow::named("workspace_roots", "cwd").form(FieldEncoding::First),
    FieldRow::same("transcript_path").or("null"),
];

const TOOL: [FieldRow; 4] =
    [FieldRow::same("tool_name"), FieldRow::same("tool_input"), FieldRow::same("tool_use_id"), FieldRow::same("cwd")];
const DURATION: FieldRow = FieldRow::named("duration", "duration_ms");
const SHELL: FieldRow = FieldRow::implied("tool_name", "\"Shell\"");
const COMMAND: FieldRow = FieldRow::named("command", "tool_input.command");
const FILE: FieldRow = FieldRow::named("file_path", "tool_input.file_path");
const EDITS: FieldRow = FieldRow::named("edits", "tool_input.edits");
/// The input is a string at these events.
const MCP: [FieldRow; 2] = [TOOL[0], FieldRow::same("tool_input").form(FieldEncoding::JsonText)];

const EVENTS: &[EventRow] = &[
    EventRow::new("sessionStart", EventKind::SessionStart)
        .fields(&[FieldRow::same("session_id"), FieldRow::same("is_background_agent")]),
    EventRow::new("sessionEnd", EventKind::SessionEnd).fields(&[
        FieldRow::same("session_id"),
        FieldRow::same("reason"),
        FieldRow::same("duration_ms"),
        FieldRow::named("error_message", "error"),
    ]),
    // Older versions may reject a whole file because of an unknown event.
    EventRow::new("workspaceOpen", EventKind::WorkspaceOpen).opt_in().uncertain(),
    EventRow::new("beforeSubmitPrompt", EventKind::PromptSubmit)
        .fixed_subject("UserPromptSubmit")
        .blocks()
        .fields(&[FieldRow::same("prompt"), FieldRow::same("attachments")]),
    EventRow::new("preToolUse", EventKind::PreToolUse).matched().blocks().fields(&TOOL),
    EventRow::new("postToolUse", EventKind::PostToolUse).matched().fields(&[
        TOOL[0],
        TOOL[1],
        TOOL[2],
        TOOL[3],
        FieldRow::named("tool_output", "tool_response").form(FieldEncoding::JsonText),
        DURATION,
    ]),
    EventRow::new("postToolUseFailure", EventKind::PostToolFailure).matched().fields(&[
        TOOL[0],
        TOOL[1],
        TOOL[2],
        TOOL[3],
        FieldRow::named("error_message", "error"),
        FieldRow::same("failure_type"),
        DURATION,
        FieldRow::same("is_interrupt"),
    ]),
    EventRow::new("beforeShellExecution", EventKind::PreShell)
        .subject_field("tool_input.command")
        .blocks()
        .fields(&[SHELL, COMMAND, TOOL[3]]),
    EventRow::new("afterShellExecution", EventKind::PostShell).subject_field("tool_input.command").fields(&[
        SHELL,
        COMMAND,
        FieldRow::named("output", "tool_response"),
        DURATION,
    ]),
    EventRow::new("beforeMCPExecution", EventKind::PreMcp).blocks().fields(&MCP),
    EventRow::new("afterMCPExecution", EventKind::PostMcp).fields(&[
        MCP[0],
        MCP[1],
        FieldRow::named("result_json", "tool_response").form(FieldEncoding::JsonText),
        DURATION,
    ]),
    EventRow::new("beforeReadFile", EventKind::PreFileRead)
        .fixed_subject("Read")
        .blocks()
        .fields(&[FieldRow::implied("tool_name", "\"Read\""), FILE]),
    EventRow::new("afterFileEdit", EventKind::PostFileWrite).fixed_subject("Write").fields(&[
        FieldRow::implied("tool_name", "\"Write\""),
        FILE,
        EDITS,
    ]),
    EventRow::new("stop", EventKind::Stop)
        .fixed_subject("Stop")
        .blocks()
        .fields(&[FieldRow::named("status", "reason"), FieldRow::same("loop_count")]),
    EventRow::new("subagentStart", EventKind::SubagentStart).uncertain().matched().blocks().fields(&[
        FieldRow::named("subagent_id", "agent_id"),
        FieldRow::named("subagent_type", "agent_type"),
        FieldRow::same("task"),
        FieldRow::named("parent_conversation_id", "parent_session_id"),
    ]),
    EventRow::new("subagentStop", EventKind::SubagentStop).matched().blocks().fields(&[
        FieldRow::named("subagent_type", "agent_type"),
        FieldRow::same("status"),
        FieldRow::named("summary", "last_assistant_message"),
        FieldRow::named("result", "response"),
        FieldRow::same("duration_ms"),
        FieldRow::same("loop_count"),
        FieldRow::same("agent_transcript_path").or("null"),
    ]),
    EventRow::new("preCompact", EventKind::PreCompact).fields(&[
        FieldRow::same("trigger"),
        FieldRow::same("context_tokens"),
        FieldRow::named("context_window_size", "context_limit"),
        FieldRow::same("message_count"),
        FieldRow::same("messages_to_compact"),
    ]),
    EventRow::new("afterAgentResponse", EventKind::AgentResponse)
        .fixed_subject("AgentResponse")
        .fields(&[FieldRow::same("text")]),
    EventRow::new("afterAgentThought", EventKind::AgentThought)
        .opt_in()
        .fixed_subject("AgentThought")
        .fields(&[FieldRow::same("text"), FieldRow::same("duration_ms")]),
    EventRow::new("beforeTabFileRead", EventKind::PreTabRead)
        // Fires for each inline completion.
        .opt_in()
        .fixed_subject("TabRead")
        .blocks()
        .fields(&[FieldRow::implied("tool_name", "\"TabRead\""), FILE]),
    EventRow::new("afterTabFileEdit", EventKind::PostTabEdit).opt_in().fixed_subject("TabWrite").fields(&[
        FieldRow::implied("tool_name", "\"TabWrite\""),
        FILE,
        EDITS,
    ]),
];

/// Events at which an action waits for permission.
const REFUSING: EventScope = EventScope::Kinds(&[
    EventKind::PromptSubmit,
    EventKind::PreToolUse,
    EventKind::PreShell,
    EventKind::PreMcp,
    EventKind::PreFileRead,
    EventKind::PreTabRead,
    EventKind::SubagentStart,
]);
const PERMISSION: EventScope = EventScope::Kinds(&[
    EventKind::PreToolUse,
    EventKind::PreShell,
    EventKind::PreMcp,
    EventKind::PreFileRead,
    EventKind::PreTabRead,
    EventKind::SubagentStart,
]);
/// Events at which `ask` asks the user. Other events accept it without effect.
const ASKING: EventScope = EventScope::Kinds(&[EventKind::PreShell, EventKind::PreMcp]);
const NOT_ASKING: EventScope = EventScope::Kinds(&[
    EventKind::PreToolUse,
    EventKind::PreFileRead,
    EventKind::PreTabRead,
    EventKind::SubagentStart,
]);
const TOOL_CALL: EventScope = EventScope::Kinds(&[EventKind::PreToolUse]);
const PROMPT: EventScope = EventScope::Kinds(&[EventKind::PromptSubmit]);
const SESSION: EventScope = EventScope::Kinds(&[EventKind::SessionStart]);

const WORDS: &[(&str, Decision)] = &[("allow", Decision::Allow), ("deny", Decision::Deny), ("ask", Decision::Ask)];

const KEYS: &[Key] = &[
    Key::new(&["permission"], KeyMeaning::Decision(WORDS)).at(ASKING),
    Key::new(&["permission"], KeyMeaning::Decision(WORDS)).at(NOT_ASKING).never_says(&[Decision::Ask]),
    Key::new(&["user_message", "agent_message"], KeyMeaning::Reason).at(PERMISSION).at_all_paths(),
    // From the documentation of early 2026.
    Key::new(&["decision"], KeyMeaning::Decision(WORDS)).at(TOOL_CALL).parse_only(),
    Key::new(&["reason"], KeyMeaning::Reason).at(TOOL_CALL).parse_only(),
    Key::new(&["continue"], KeyMeaning::Flag(false, Decision::Deny)).at(PROMPT),
    Key::new(&["user_message"], KeyMeaning::Reason).at(PROMPT),
    Key::new(&["updated_input"], KeyMeaning::Replace(Target::Input)).at(TOOL_CALL),
    Key::new(&["updated_mcp_tool_output"], KeyMeaning::Replace(Target::Output))
        .at(EventScope::Kinds(&[EventKind::PostToolUse]))
        .parse_only(),
    Key::new(&["additional_context"], KeyMeaning::Context)
        .at(EventScope::Kinds(&[EventKind::SessionStart, EventKind::PostToolUse])),
    Key::new(&["followup_message"], KeyMeaning::Because(Decision::Deny))
        .at(EventScope::Kinds(&[EventKind::Stop, EventKind::SubagentStop])),
    Key::new(&["env"], KeyMeaning::Named("env")).at(SESSION),
    Key::new(&["pluginPaths"], KeyMeaning::Named("pluginPaths")).at(EventScope::Kinds(&[EventKind::WorkspaceOpen])),
    // Accepted. Users report that it has no effect.
    Key::new(&["continue", "user_message"], KeyMeaning::Nothing).at(SESSION),
];

const LAYOUT: HookFileLayout = HookFileLayout {
    file_keys: Some(&["version"]),
    keys: &[
        HookKey::new("type", Attribute::Type),
        HookKey::new("command", Attribute::ShellCommand),
        HookKey::new("prompt", Attribute::Setting),
        HookKey::new("model", Attribute::Setting),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::Seconds)),
        HookKey::new("failClosed", Attribute::FailClosed),
        HookKey::new(
            "loop_limit",
            Attribute::Nothing("checkrein ends loops itself, after as many rounds as Cursor does by default"),
        ),
    ],
    handlers: &[HandlerRow::new("command", "command", &["command"]), HandlerRow::new("prompt", "prompt", &["prompt"])],
    infers_type: true,
    direct: true,
    head: &[("version", "1")],
    ..HookFileLayout::USUAL
};
