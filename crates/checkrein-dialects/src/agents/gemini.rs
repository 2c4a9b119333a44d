//! Gemini CLI: its own event names, timeouts in milliseconds, and output that overrides the exit code.
//!
//! JSON on standard output, or on standard error if there is no other output, replaces the exit code. Without JSON, codes 0
//! and 1 allow, and every other code blocks if the hook printed text. `ask` lets the tool run without a terminal, so checkrein
//! never sends it.

use checkrein_core::{Decision, EventKind, Grammar, RunOrder, Scope, Target};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{
    Attribute, ConfigTable, Decoder, DedupKey, FileFormat, FileRow, HandlerRow, HookFileLayout, HookKey, PathBase,
    PluginTable, TimeUnit,
};
use crate::input::{InputForm, InputRow, McpNames};
use crate::install::{InstallTable, SettingsPath, SwitchRow};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{
    Defect, EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, ReasonSource, ReplyTable,
};
use crate::table::{
    Cwd, Data, Dialect, EventRow, HostBehavior, HostTable, PlainTextUse, ProcessTable, ToolRow, VariableRow,
};
use checkrein_document::Node;

/// Dialect of Gemini CLI.
pub static DIALECT: Dialect = GEMINI;

pub(crate) const GEMINI: Dialect = Dialect {
    name: "gemini",
    evidence: crate::agents::evidence::GEMINI,
    facts: Some(crate::agents::evidence::GEMINI_FACTS),
    title: "Gemini CLI",
    events: EVENTS,
    tools: &[
        ToolRow::new("run_shell_command", &["Bash"]).observed().takes(&[InputRow::named("dir_path", "cwd")]),
        ToolRow::new("write_file", &["Write"]).observed(),
        ToolRow::new("replace", &["Edit"]),
        ToolRow::new("read_file", &["Read"])
            .observed()
            // The second name is that of older versions.
            .takes(&[InputRow::same("file_path"), InputRow::named("absolute_path", "file_path")]),
        ToolRow::new("read_many_files", &["Read"]).takes(&[
            InputRow::named("include", "file_path").form(InputForm::Lines),
            InputRow::named("paths", "file_path").form(InputForm::Lines),
        ]),
        ToolRow::new("glob", &["Glob"]).takes(DIRECTORY),
        ToolRow::new("grep_search", &["Grep"]).takes(&[
            InputRow::named("dir_path", "path"),
            InputRow::named("include_pattern", "glob"),
            InputRow::named("include", "glob"),
        ]),
        ToolRow::new("list_directory", &["LS"]).takes(DIRECTORY),
        ToolRow::new("web_fetch", &["WebFetch"]),
        ToolRow::new("google_web_search", &["WebSearch"]),
        ToolRow::new("write_todos", &["TodoWrite"]),
        ToolRow::new("invoke_agent", &["Agent"]).takes(&[InputRow::named("agent_name", "subagent_type")]),
    ],
    mcp: McpNames::new("mcp_", "_").in_fields("mcp_context.server_name", "mcp_context.tool_name"),
    matcher: Grammar::REGEX_SEARCH,
    payload: PayloadTable::fields(COMMON),
    reply: ReplyTable {
        tolerates: &[Defect::InvalidUtf8, Defect::ByteOrderMark, Defect::DuplicateKey, Defect::JsonString],
        keys: KEYS,
        exits: &[
            ExitRule::new(ExitCodeMatch::AtLeast(0), ExitAction::Read).if_answer(),
            ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
            ExitRule::new(
                ExitCodeMatch::AtLeast(2),
                ExitAction::Decide(Decision::Deny, &[ReasonSource::Stdout, ReasonSource::Stderr]),
            )
            .at(EventScope::Blocking)
            .needs_text(),
            ExitRule::new(ExitCodeMatch::Any, ExitAction::Fail),
        ],
        stderr_answers: true,
        // Text that is no JSON is shown to the user.
        ..ReplyTable::LENIENT
    },
    process: ProcessTable {
        variables: &[
            VariableRow::new("GEMINI_PROJECT_DIR", Data::ProjectDir),
            VariableRow::new("GEMINI_CWD", Data::Field("cwd")),
            VariableRow::new("GEMINI_SESSION_ID", Data::Field("session_id")),
            VariableRow::new("CLAUDE_PROJECT_DIR", Data::ProjectDir),
        ],
        cwd: Cwd::EventOrHost,
        leaves_background: true,
        ..CLAUDE_LIKE.process
    },
    // Hooks of a group with `sequential` run first, each on the result of the previous one.
    rules: CLAUDE_LIKE.rules.order(RunOrder::Phased),
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::Managed, PathBase::Root, "etc/gemini-cli/settings.json"),
            FileRow::new(Scope::User, PathBase::Home, ".gemini/settings.json"),
            FileRow::new(Scope::Project, PathBase::Project, ".gemini/settings.json"),
        ],
        comments: true,
        format: FileFormat::Custom { decode, encode: |dialect, hooks| LAYOUT.encode(dialect, hooks) },
        plugin: Some(PluginTable::new("extensionPath")),
        dedup_key: DedupKey::EverythingAndName,
        ..ConfigTable::BASE
    },
    host: HostTable {
        missing_program: HostBehavior::Blocked,
        missing_program_blocks_prompts: true,
        not_observable: &["sub-agents, except for the tools that they use"],
        calls_each_entry: true,
        ..HostTable::FAILS_OPEN
    },
    install: Some(
        InstallTable::new(&["gemini"], &[SettingsPath::new(PathBase::Home, ".gemini")], &[USER], &[PROJECT])
            .switches(&[
                SwitchRow::flag(Scope::Managed, SYSTEM, "hooksConfig.enabled", false),
                SwitchRow::flag(Scope::Project, PROJECT, "hooksConfig.enabled", false),
                SwitchRow::flag(Scope::User, USER, "hooksConfig.enabled", false),
                SwitchRow::list(Scope::Managed, SYSTEM, "hooksConfig.disabled", "checkrein"),
                SwitchRow::list(Scope::Project, PROJECT, "hooksConfig.disabled", "checkrein"),
                SwitchRow::list(Scope::User, USER, "hooksConfig.disabled", "checkrein"),
            ])
            // The program leaves temporary files if it is started for its version.
            .package("@google/gemini-cli"),
    ),
    ..CLAUDE_LIKE
};

const SYSTEM: SettingsPath = SettingsPath::new(PathBase::Root, "etc/gemini-cli/settings.json");
const USER: SettingsPath = SettingsPath::new(PathBase::Home, ".gemini/settings.json");
const PROJECT: SettingsPath = SettingsPath::new(PathBase::Project, ".gemini/settings.json");

const COMMON: &[FieldRow] = &[
    FieldRow::same("session_id").or("\"\""),
    FieldRow::same("transcript_path").or("\"\""),
    FieldRow::same("cwd").or("\"\""),
    FieldRow::same("timestamp"),
];
const CALL: [FieldRow; 4] = [
    FieldRow::same("tool_name"),
    FieldRow::same("tool_input"),
    FieldRow::same("mcp_context"),
    FieldRow::same("original_request_name"),
];
const REQUEST: [FieldRow; 4] = [
    FieldRow::named("llm_request.model", "model"),
    FieldRow::named("llm_request.messages", "messages"),
    FieldRow::named("llm_request.config", "config"),
    FieldRow::named("llm_request.toolConfig", "tool_config"),
];

/// Directory to search or list. Older versions use `path`, like other agents.
const DIRECTORY: &[InputRow] = &[InputRow::named("dir_path", "path")];

const EVENTS: &[EventRow] = &[
    EventRow::new("BeforeTool", EventKind::PreToolUse)
        .matched()
        .blocks()
        .plain(PlainTextUse::Message)
        .fields(&CALL)
        .observed(),
    // Also fires for failed tools.
    EventRow::new("AfterTool", EventKind::PostToolUse)
        .matched()
        .blocks()
        .plain(PlainTextUse::Message)
        .fields(&[CALL[0], CALL[1], FieldRow::same("tool_response").or("null"), CALL[2], CALL[3]])
        .observed(),
    EventRow::new("BeforeAgent", EventKind::PromptSubmit)
        .blocks()
        .plain(PlainTextUse::Message)
        .fields(&[FieldRow::same("prompt")])
        .observed(),
    EventRow::new("AfterAgent", EventKind::Stop)
        .blocks()
        .plain(PlainTextUse::Message)
        .fields(&[
            FieldRow::same("prompt"),
            FieldRow::named("prompt_response", "last_assistant_message"),
            FieldRow::same("stop_hook_active").or("false"),
        ])
        .observed(),
    EventRow::new("Notification", EventKind::Notification)
        .plain(PlainTextUse::Message)
        .fields(&[FieldRow::same("notification_type"), FieldRow::same("message"), FieldRow::same("details")])
        .observed(),
    EventRow::new("SessionStart", EventKind::SessionStart)
        .matched_by(Grammar::EXACT)
        .plain(PlainTextUse::Message)
        .fields(&[FieldRow::same("source")])
        .observed(),
    EventRow::new("SessionEnd", EventKind::SessionEnd)
        .matched_by(Grammar::EXACT)
        .plain(PlainTextUse::Message)
        .fields(&[FieldRow::same("reason")])
        .observed(),
    // Fires before every request to the model, even without compression.
    EventRow::new("PreCompress", EventKind::PreCompact)
        .matched_by(Grammar::EXACT)
        .plain(PlainTextUse::Message)
        .fields(&[FieldRow::same("trigger")])
        // Fires before every request to the model, even without compression.
        .opt_in()
        .observed(),
    // These payloads contain the whole conversation.
    EventRow::new("BeforeModel", EventKind::BeforeModel)
        .opt_in()
        .blocks()
        .plain(PlainTextUse::Message)
        .fields(&REQUEST)
        .observed(),
    // Fires for each chunk of a response.
    EventRow::new("AfterModel", EventKind::AfterModel)
        .opt_in()
        .plain(PlainTextUse::Message)
        .fields(&[REQUEST[0], REQUEST[1], REQUEST[2], REQUEST[3], FieldRow::named("llm_response", "response")])
        .observed(),
    EventRow::new("BeforeToolSelection", EventKind::ToolSelection)
        .opt_in()
        .plain(PlainTextUse::Message)
        .fields(&REQUEST)
        .observed(),
];

const HALTS: EventScope = EventScope::Kinds(&[
    EventKind::PreToolUse,
    EventKind::PostToolUse,
    EventKind::PromptSubmit,
    EventKind::Stop,
    EventKind::BeforeModel,
    EventKind::AfterModel,
]);

const KEYS: &[Key] = &[
    Key::new(&["hookSpecificOutput.hookEventName"], KeyMeaning::Nothing).parse_only(),
    // `allow` does not skip the permission prompt.
    Key::new(
        &["decision"],
        KeyMeaning::Decision(&[
            ("deny", Decision::Deny),
            ("block", Decision::Deny),
            ("ask", Decision::Ask),
            ("allow", Decision::NoOpinion),
            ("approve", Decision::NoOpinion),
        ]),
    )
    .at(EventScope::Blocking)
    .never_says(&[Decision::Ask]),
    Key::new(&["reason"], KeyMeaning::Reason).at(EventScope::Blocking),
    Key::new(&["continue"], KeyMeaning::Flag(false, Decision::Halt)).at(HALTS),
    Key::new(&["stopReason"], KeyMeaning::StopReason).at(HALTS),
    Key::new(&["hookSpecificOutput.tool_input"], KeyMeaning::Merge(Target::Input))
        .at(EventScope::Kinds(&[EventKind::PreToolUse]))
        .keeps(&["description"]),
    Key::new(&["hookSpecificOutput.additionalContext"], KeyMeaning::Context).at(EventScope::Kinds(&[
        EventKind::SessionStart,
        EventKind::PromptSubmit,
        EventKind::PostToolUse,
    ])),
    Key::new(&["hookSpecificOutput.tailToolCallRequest"], KeyMeaning::Named("tailToolCallRequest"))
        .at(EventScope::Kinds(&[EventKind::PostToolUse])),
    Key::new(&["hookSpecificOutput.clearContext"], KeyMeaning::Named("clearContext"))
        .at(EventScope::Kinds(&[EventKind::Stop])),
    Key::new(&["hookSpecificOutput.llm_request.messages"], KeyMeaning::Replace(Target::Messages))
        .at(EventScope::Kinds(&[EventKind::BeforeModel])),
    Key::new(&["hookSpecificOutput.llm_request"], KeyMeaning::Named("llm_request"))
        .at(EventScope::Kinds(&[EventKind::BeforeModel]))
        .parse_only(),
    // Before a model request it applies only with a deny.
    Key::new(&["hookSpecificOutput.llm_response"], KeyMeaning::Replace(Target::Output))
        .at(EventScope::Kinds(&[EventKind::BeforeModel]))
        .requires_sibling("decision", "\"deny\""),
    Key::new(&["hookSpecificOutput.llm_response"], KeyMeaning::Replace(Target::Output))
        .at(EventScope::Kinds(&[EventKind::AfterModel])),
    Key::new(&["hookSpecificOutput.toolConfig"], KeyMeaning::Replace(Target::Input))
        .at(EventScope::Kinds(&[EventKind::ToolSelection])),
    Key::new(&["systemMessage"], KeyMeaning::Message),
    Key::new(&["suppressOutput"], KeyMeaning::Suppress),
];

const LAYOUT: HookFileLayout = HookFileLayout {
    keys: &[
        HookKey::new("type", Attribute::Type),
        HookKey::new("command", Attribute::ShellCommand),
        HookKey::new("name", Attribute::Id),
        HookKey::new("description", Attribute::Description),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::Milliseconds)),
        HookKey::new("env", Attribute::Env),
    ],
    handlers: &[HandlerRow::new("command", "command", &["command"])],
    group: &[HookKey::new("sequential", Attribute::Rewrites)],
    // Location of the settings in older versions.
    beside: &["enabled", "disabled", "notifications"],
    ..HookFileLayout::USUAL
};

fn decode(decoder: &mut Decoder<'_>, root: &Node<'_>) {
    LAYOUT.decode(decoder, root);
    if let Some(config) = root.get("hooksConfig") {
        if let Some(enabled) = config.get("enabled") {
            decoder.settings.disable_all = decoder.flag(enabled, "hooksConfig.enabled").ok().map(|enabled| !enabled);
        }
        if let Some(disabled) = config.get("disabled") {
            let nodes = disabled.as_array().unwrap_or_default();
            let spans = nodes.iter().map(|node| node.span);
            let names = decoder.texts(disabled, "hooksConfig.disabled").unwrap_or_default();
            decoder.switch_off(&names.into_iter().zip(spans).collect::<Vec<_>>());
        }
    }
}
