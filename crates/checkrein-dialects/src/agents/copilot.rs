//! GitHub Copilot CLI, with event names in camelCase.
//!
//! The spelling of an event in a file selects one of two payload formats: `preToolUse` is this one, `PreToolUse` is that of
//! [`copilot_pascal`]. Payloads of this format do not contain the name of the event. Every exit code but 0 before a tool
//! blocks the tool, but a timeout does not.

use checkrein_core::{ChainEnd, ConcurrentRewrites, Decision, EventKind, Grammar, RunOrder, Scope, Target};

use crate::agents::claude::CLAUDE_LIKE;
use crate::agents::copilot_pascal;
use crate::config::{
    Attribute, ConfigTable, FileFormat, FileRow, HandlerRow, HookFileLayout, HookKey, PathBase, PluginTable, TimeUnit,
};
use crate::input::patch::seen_in_patch;
use crate::input::{InputRow, McpNames};
use crate::install::{FolderTrust, InstallTable, SettingsPath, SwitchRow};
use crate::payload::{FieldEncoding, FieldRow, PayloadTable};
use crate::reply::{EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, ReasonSource, ReplyTable};
use crate::table::{
    Cwd, Data, Dialect, Environment, EventRow, ExitReason, HostBehavior, HostTable, ProcessTable, TimeTable, ToolRow,
    VariableRow,
};

/// Dialect of GitHub Copilot CLI with its own event names.
pub static DIALECT: Dialect = Dialect {
    config: ConfigTable { format: FileFormat::Layout(&LAYOUT), ..COPILOT.config },
    other_generations: &[("session_id", &copilot_pascal::DIALECT)],
    install: Some(
        InstallTable::new(
            &["copilot"],
            &[SettingsPath::new(PathBase::Variable("COPILOT_HOME", ".copilot"), "")],
            &[SettingsPath::new(PathBase::Variable("COPILOT_HOME", ".copilot"), "hooks/checkrein.json")],
            &[SettingsPath::new(PathBase::Project, ".github/hooks/checkrein.json")],
        )
        // VS Code reads the same files, and its payloads are similar to those of this format.
        .through(&copilot_pascal::DIALECT)
        .switches(&[
            SwitchRow::flag(
                Scope::User,
                SettingsPath::new(PathBase::Variable("COPILOT_HOME", ".copilot"), "settings.json"),
                "disableAllHooks",
                true,
            )
            .ignored(),
            SwitchRow::flag(
                Scope::Project,
                SettingsPath::new(PathBase::Project, ".github/copilot/settings.json"),
                "disableAllHooks",
                true,
            )
            .ignored(),
        ])
        .folders(FolderTrust {
            file: SettingsPath::new(PathBase::Variable("COPILOT_HOME", ".copilot"), "config.json"),
            key: "trustedFolders",
        })
        .package("@github/copilot")
        .prints_version()
        .then(&["a project file applies only in folders that Copilot trusts"]),
    ),
    ..COPILOT
};

pub(crate) const COPILOT: Dialect = Dialect {
    name: "copilot",
    evidence: crate::agents::evidence::COPILOT,
    facts: Some(crate::agents::evidence::COPILOT_FACTS),
    title: "Copilot CLI",
    events: EVENTS,
    tools: TOOLS,
    mcp: McpNames::new("", "-"),
    matcher: Grammar::REGEX_WHOLE,
    payload: PayloadTable { event: "", ..PayloadTable::fields(COMMON) },
    reply: ReplyTable { keys: KEYS, exits: EXITS, ..ReplyTable::LENIENT },
    process: ProcessTable {
        environment: Environment::AllBut(&["COPILOT_PROVIDER_"]),
        variables: &[
            VariableRow::new("COPILOT_CLI", Data::Fixed("1")),
            VariableRow::new("COPILOT_PROJECT_DIR", Data::ProjectDir),
            VariableRow::new("CLAUDE_PROJECT_DIR", Data::ProjectDir),
        ],
        cwd: Cwd::EventOrHost,
        output_cap: 10 << 20,
        leaves_background: true,
        ..CLAUDE_LIKE.process
    },
    time: TimeTable::seconds(30),
    rules: CLAUDE_LIKE
        .rules
        .order(RunOrder::Sequential)
        .chain_end(ChainEnd::Never)
        .concurrent_rewrites(ConcurrentRewrites::LastInOrder),
    stop_cap: 8,
    config: ConfigTable { files: FILES, plugin: Some(PluginTable::new("PLUGIN_ROOT")), ..ConfigTable::BASE },
    host: HostTable {
        hides_messages: true,
        missing_program: HostBehavior::Blocked,
        killed: HostBehavior::Blocked,
        exit_reason: ExitReason::Lost,
        not_observable: &[
            "all events, for project files in a folder that is not trusted (they are silently skipped)",
            "general-purpose sub-agents, except for the tools that they use",
        ],
        ..HostTable::FAILS_OPEN
    },
    ..CLAUDE_LIKE
};

/// Project files apply only in trusted folders. The documentation also lists `.claude/settings.json`, whose hooks did not
/// fire.
pub(crate) const FILES: &[FileRow] = &[
    FileRow::new(Scope::Managed, PathBase::Root, "etc/github-copilot/policy.d/*").with(&["json"]),
    FileRow::new(Scope::User, PathBase::Variable("COPILOT_HOME", ".copilot"), "hooks/*").with(&["json"]),
    FileRow::new(Scope::User, PathBase::Variable("COPILOT_HOME", ".copilot"), "settings.json"),
    FileRow::new(Scope::Project, PathBase::Project, ".github/hooks/*").with(&["json"]),
    FileRow::new(Scope::Project, PathBase::Project, ".github/copilot/settings.json"),
    FileRow::new(Scope::Local, PathBase::Project, ".github/copilot/settings.local.json"),
];

const TOOLS: &[ToolRow] = &[
    ToolRow::new("bash", &["Bash"]).observed(),
    ToolRow::new("powershell", &["PowerShell"]),
    ToolRow::new("create", &["Write"]).observed().takes(CREATE),
    ToolRow::new("edit", &["Edit"]).takes(EDIT),
    ToolRow::new("str_replace_editor", &["Edit"]).takes(EDIT),
    ToolRow::new("apply_patch", &["Edit", "Write"]).takes(seen_in_patch!("input")),
    ToolRow::new("view", &["Read"]).observed().takes(VIEW),
    ToolRow::new("grep", &["Grep"]),
    ToolRow::new("rg", &["Grep"]),
    ToolRow::new("glob", &["Glob"]),
    ToolRow::new("task", &["Agent", "Task"]).observed().takes(TASK),
    ToolRow::new("web_fetch", &["WebFetch"]),
    ToolRow::new("web_search", &["WebSearch"]),
    ToolRow::new("ask_user", &["AskUserQuestion"]),
];

pub(crate) const COMMON: &[FieldRow] = &[
    FieldRow::named("sessionId", "session_id").or("\"\""),
    FieldRow::same("timestamp"),
    FieldRow::same("cwd").or("\"\""),
    FieldRow::named("transcriptPath", "transcript_path"),
    FieldRow::named("agentId", "agent_id"),
    FieldRow::named("agentType", "agent_type"),
    FieldRow::named("parentAgentId", "parentAgentId"),
];
const CALL: [FieldRow; 2] = [
    FieldRow::named("toolName", "tool_name"),
    FieldRow::named("toolArgs", "tool_input").form(FieldEncoding::OrJsonText),
];
pub(crate) const REQUEST: &[FieldRow] = &[
    FieldRow::named("toolName", "tool_name"),
    FieldRow::named("toolInput", "tool_input").form(FieldEncoding::OrJsonText),
    FieldRow::named("permissionSuggestions", "permission_suggestions").or("[]"),
];
const AGENT: [FieldRow; 3] = [
    FieldRow::named("agentName", "agentName"),
    FieldRow::named("agentDisplayName", "display_name"),
    FieldRow::named("agentDescription", "description"),
];

const PATH: InputRow = InputRow::named("path", "file_path");
pub(crate) const CREATE: &[InputRow] = &[PATH, InputRow::named("file_text", "content")];
pub(crate) const EDIT: &[InputRow] = &[
    PATH,
    InputRow::named("old_str", "old_string"),
    InputRow::named("new_str", "new_string"),
    InputRow::named("file_text", "content"),
];
pub(crate) const VIEW: &[InputRow] = &[PATH];
pub(crate) const TASK: &[InputRow] = &[InputRow::named("agent_type", "subagent_type")];

const EVENTS: &[EventRow] = &[
    EventRow::new("sessionStart", EventKind::SessionStart)
        .fields(&[FieldRow::same("source"), FieldRow::named("initialPrompt", "initial_prompt")])
        .observed(),
    EventRow::new("sessionEnd", EventKind::SessionEnd).fields(&[FieldRow::same("reason")]).observed(),
    EventRow::new("userPromptSubmitted", EventKind::PromptSubmit).fields(&[FieldRow::same("prompt")]).observed(),
    EventRow::new("userPromptTransformed", EventKind::PromptExpansion)
        .fields(&[FieldRow::same("prompt"), FieldRow::named("transformedPrompt", "transformed_prompt")])
        .observed(),
    EventRow::new("preToolUse", EventKind::PreToolUse).matched().blocks().fields(&CALL).observed(),
    EventRow::new("permissionRequest", EventKind::PermissionRequest)
        .matched()
        .blocks()
        .event_field("hookName", "permissionRequest")
        .fields(REQUEST)
        .observed(),
    EventRow::new("postToolUse", EventKind::PostToolUse)
        .matched()
        .fields(&[CALL[0], CALL[1], FieldRow::named("toolResult", "tool_response")])
        .observed(),
    EventRow::new("postToolUseFailure", EventKind::PostToolFailure)
        .matched()
        .fields(&[CALL[0], CALL[1], FieldRow::same("error")])
        .observed(),
    // Only in the change log. Hooks can change the metadata of the request and cannot block it.
    EventRow::new("preMcpToolCall", EventKind::McpRequest)
        .fields(&[
            FieldRow::named("toolCallId", "tool_use_id"),
            FieldRow::named("serverName", "mcp_server"),
            FieldRow::named("toolName", "tool_name"),
            FieldRow::named("arguments", "tool_input"),
            FieldRow::same("_meta"),
        ])
        .uncertain(),
    EventRow::new("notification", EventKind::Notification)
        .matched()
        .event_field("hook_event_name", "Notification")
        .fields(&[FieldRow::same("message"), FieldRow::same("title"), FieldRow::same("notification_type")])
        .observed(),
    EventRow::new("agentStop", EventKind::Stop)
        .blocks()
        .fields(&[FieldRow::named("stopReason", "reason"), FieldRow::same("stop_hook_active").or("false")])
        .observed(),
    EventRow::new("errorOccurred", EventKind::Error)
        .fields(&[
            FieldRow::named("errorContext", "error_type"),
            FieldRow::same("recoverable"),
            FieldRow::named("error.message", "error"),
            FieldRow::named("error.name", "error_name"),
            FieldRow::named("error.stack", "error_details"),
        ])
        .observed(),
    EventRow::new("subagentStart", EventKind::SubagentStart).subject_field("agentName").fields(&AGENT).observed(),
    EventRow::new("subagentStop", EventKind::SubagentStop)
        .subject_field("agentName")
        .blocks()
        .fields(&[AGENT[0], AGENT[1], AGENT[2], FieldRow::same("response"), FieldRow::named("stopReason", "status")])
        .observed(),
    EventRow::new("preCompact", EventKind::PreCompact)
        .matched()
        .fields(&[FieldRow::same("trigger"), FieldRow::named("customInstructions", "custom_instructions")])
        .observed(),
];

const CALL_ONLY: EventScope = EventScope::Kinds(&[EventKind::PreToolUse]);
const REQUEST_ONLY: EventScope = EventScope::Kinds(&[EventKind::PermissionRequest]);
const STOPS: EventScope = EventScope::Kinds(&[EventKind::Stop, EventKind::SubagentStop]);
pub(crate) const CONTEXT: EventScope = EventScope::Kinds(&[
    EventKind::SessionStart,
    EventKind::SubagentStart,
    EventKind::PreToolUse,
    EventKind::PostToolUse,
    EventKind::PostToolFailure,
    EventKind::Notification,
]);

/// Texts of results: of both formats of this agent, and of Claude Code, whose hooks return the shape of its own tools.
pub(crate) const RESULT_TEXT: &[&str] =
    &["textResultForLlm", "text_result_for_llm", "stdout", "file.content", "content", "result"];

pub(crate) const WORDS: &[(&str, Decision)] =
    &[("allow", Decision::Allow), ("deny", Decision::Deny), ("ask", Decision::Ask)];
pub(crate) const BEHAVIOR: &[(&str, Decision)] = &[("allow", Decision::Allow), ("deny", Decision::Deny)];

const KEYS: &[Key] = &[
    Key::new(&["permissionDecision"], KeyMeaning::Decision(WORDS)).at(CALL_ONLY),
    Key::new(&["permissionDecisionReason"], KeyMeaning::Reason).at(CALL_ONLY),
    Key::new(&["behavior"], KeyMeaning::Decision(BEHAVIOR)).at(REQUEST_ONLY),
    Key::new(&["message"], KeyMeaning::Reason).at(REQUEST_ONLY),
    Key::new(&["interrupt"], KeyMeaning::Flag(true, Decision::Halt)).at(REQUEST_ONLY).parse_only(),
    Key::new(&["decision"], KeyMeaning::Decision(&[("block", Decision::Deny)])).at(STOPS),
    Key::new(&["reason"], KeyMeaning::Reason).at(STOPS),
    // Without a decision it has no effect, and beside `ask` the agent drops it.
    Key::new(&["modifiedArgs"], KeyMeaning::Replace(Target::Input)).at(CALL_ONLY).only_with(&[Decision::Allow]),
    Key::new(&["updatedInput"], KeyMeaning::Replace(Target::Input)).at(CALL_ONLY).parse_only(),
    Key::new(&["modifiedResult"], KeyMeaning::Replace(Target::Output))
        .at(EventScope::Kinds(&[EventKind::PostToolUse]))
        .wrapped_in("textResultForLlm", &[("resultType", "\"success\"")])
        .text_in(RESULT_TEXT),
    Key::new(&["modifiedTransformedPrompt"], KeyMeaning::Replace(Target::Prompt))
        .at(EventScope::Kinds(&[EventKind::PromptExpansion])),
    Key::new(&["modifiedResponse"], KeyMeaning::Replace(Target::Output))
        .at(EventScope::Kinds(&[EventKind::SubagentStop])),
    Key::new(&["metaToUse"], KeyMeaning::Named("metaToUse")).at(EventScope::Kinds(&[EventKind::McpRequest])),
    Key::new(&["additionalContext"], KeyMeaning::Context).at(CONTEXT),
];

/// Before a tool, the exit code overrides the output.
pub(crate) const EXITS: &[ExitRule] = &[
    ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
    ExitRule::new(
        ExitCodeMatch::NotZero,
        ExitAction::Decide(
            Decision::Deny,
            &[ReasonSource::Answer, ReasonSource::Stderr, ReasonSource::Fixed("the hook ended with an error")],
        ),
    )
    .at(CALL_ONLY),
    ExitRule::new(
        ExitCodeMatch::Is(2),
        ExitAction::Decide(Decision::Deny, &[ReasonSource::Answer, ReasonSource::Stderr]),
    )
    .at(REQUEST_ONLY),
    ExitRule::new(ExitCodeMatch::Any, ExitAction::Fail),
];

pub(crate) const BASE_LAYOUT: HookFileLayout = HookFileLayout {
    keys: &[
        HookKey::new("type", Attribute::Type),
        HookKey::new("bash", Attribute::CommandFor("bash")),
        HookKey::new("powershell", Attribute::Elsewhere),
        HookKey::new("command", Attribute::ShellCommand),
        HookKey::new("cwd", Attribute::Cwd),
        HookKey::new("env", Attribute::Env),
        HookKey::new("timeoutSec", Attribute::Timeout(TimeUnit::Seconds)),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::Seconds)),
        HookKey::new("url", Attribute::Url),
        HookKey::new("headers", Attribute::Headers),
        HookKey::new("allowedEnvVars", Attribute::HeaderVariables),
        HookKey::new("prompt", Attribute::Setting),
    ],
    handlers: &[
        HandlerRow::new("command", "command", &[]),
        HandlerRow::new("http", "http", &["url"]),
        HandlerRow::new("prompt", "prompt", &["prompt"]).at(&[EventKind::SessionStart]),
    ],
    infers_type: true,
    direct: true,
    ..HookFileLayout::USUAL
};

// A static, because two constants cannot refer to each other's dialects.
static LAYOUT: HookFileLayout = HookFileLayout { sibling: Some(&copilot_pascal::DIALECT), ..BASE_LAYOUT };
