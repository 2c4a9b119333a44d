//! evva: the format of Claude Code with six events, glob matchers, and sequential hooks.
//!
//! A hook can stop a tool call in two ways, and the host can distinguish them:
//!
//! | hook | result | later hooks | metadata |
//! |---|---|---|---|
//! | exits with 2, or replies `continue: false` or `decision: "block"` | deny: the call is *blocked* | do not run | `blocked: true` |
//! | replies `permissionDecision: "deny"` | deny: the call is *denied* | run | |
//!
//! The last decision applies, but a later one never cancels a deny, except with
//! [`Compat::Exact`](checkrein_core::Compat::Exact). A hook that ends with another code blocks nothing, as in the agent, and is
//! reported. These failures block tools and prompts, although the agent ignores them: a hook that cannot be loaded or started,
//! exceeds its timeout, or whose output exceeds the limit.

use std::time::Duration;

use checkrein_core::{
    ChainEnd, ConcurrentRewrites, Decision, DecisionRule, EventKind, FailureKind, FailurePolicy, FailureTable, Grammar,
    Rules, RunOrder, Scope, Target, TimeClass,
};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{
    Attribute, ConfigTable, FileFormat, FileRow, HandlerRow, HookFileLayout, HookKey, PathBase, TimeUnit,
};
use crate::install::{InstallTable, SettingsPath};
use crate::payload::{FieldEncoding, FieldRow, PayloadTable};
use crate::reply::{
    Defect, EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, ReasonSource, ReplyTable, UnknownPolicy,
};
use crate::table::{Cwd, Data, Dialect, EventRow, HttpTable, ProcessTable, Shell, TimeTable, ToolRow, VariableRow};

/// Metadata key that tells the host that the call was blocked, and not denied.
pub const BLOCKED: &str = "blocked";

/// Dialect of evva.
pub static DIALECT: Dialect = Dialect {
    name: "evva",
    evidence: crate::agents::evidence::EVVA,
    events: EVENTS,
    tools: &[
        ToolRow::new("bash", &["Bash"]),
        ToolRow::new("write", &["Write"]),
        ToolRow::new("edit", &["Edit"]),
        ToolRow::new("read", &["Read"]),
        ToolRow::new("grep", &["Grep"]),
        ToolRow::new("glob", &["Glob"]),
        ToolRow::new("notebook_edit", &["NotebookEdit"]),
        ToolRow::new("agent", &["Agent"]),
        ToolRow::new("web_fetch", &["WebFetch"]),
        ToolRow::new("web_search", &["WebSearch"]),
        ToolRow::new("todo_write", &["TodoWrite"]),
    ],
    matcher: Grammar::GLOB,
    payload: PayloadTable::fields(&[
        FieldRow::same("session_id").or("\"\""),
        FieldRow::same("transcript_path").unless_empty(),
        FieldRow::same("cwd").or("\"\""),
        FieldRow::same("permission_mode").unless_empty(),
        FieldRow::same("agent_id").unless_empty(),
        FieldRow::same("agent_type").unless_empty(),
    ]),
    reply: ReplyTable {
        unknown_keys: UnknownPolicy::Ignored,
        bad_values: UnknownPolicy::Reported,
        // The agent decodes into a map, so the case of keys matters.
        tolerates: &[Defect::InvalidUtf8, Defect::DuplicateKey],
        exact_case: false,
        keys: KEYS,
        exits: &[
            ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
            ExitRule::new(
                ExitCodeMatch::Is(2),
                ExitAction::Decide(
                    Decision::Deny,
                    &[
                        ReasonSource::Stderr,
                        ReasonSource::Answer,
                        ReasonSource::Stdout,
                        ReasonSource::Fixed("hook exit 2"),
                    ],
                ),
            )
            .at(EventScope::Blocking)
            .marks(BLOCKED),
            ExitRule::new(ExitCodeMatch::Any, ExitAction::Fail),
        ],
        ..CLAUDE_LIKE.reply
    },
    process: ProcessTable {
        shell: Shell::Variable("EVVA_SHELL"),
        variables: &[
            VariableRow::new("EVVA_PROJECT_DIR", Data::ProjectDir),
            VariableRow::new("EVVA_SESSION_ID", Data::Field("session_id")).or(""),
            VariableRow::new("EVVA_AGENT_ID", Data::Field("agent_id")),
        ],
        cwd: Cwd::Host,
        leaves_background: true,
        ..CLAUDE_LIKE.process
    },
    http: HttpTable { decides: false, in_background: true, variables: false },
    time: TimeTable {
        classes: &[(TimeClass::Tool, Duration::from_secs(60)), (TimeClass::Notice, Duration::from_secs(10))],
        handlers: &[("http", Duration::from_secs(10))],
        in_background: &[("command", Duration::from_secs(300)), ("http", Duration::from_secs(30))],
        ..TimeTable::seconds(30)
    },
    rules: Rules::NATIVE
        .settle(DecisionRule::LastWriter)
        .order(RunOrder::Pipeline)
        .chain_end(ChainEnd::FirstTagged(BLOCKED))
        .concurrent_rewrites(ConcurrentRewrites::LastInOrder)
        .failures(
            FailureTable::open()
                // The agent ignores these.
                .at_gates(FailureKind::Timeout, FailurePolicy::Closed)
                .at_gates(FailureKind::Spawn, FailurePolicy::Closed)
                .at_gates(FailureKind::OutputCap, FailurePolicy::Closed)
                .at_gates(FailureKind::Schema, FailurePolicy::Closed),
        ),
    stop_cap: 1,
    config: ConfigTable { files: FILES, format: FileFormat::Layout(&LAYOUT), ..ConfigTable::BASE },
    install: Some(InstallTable::new(
        &["evva"],
        &[SettingsPath::new(PathBase::Variable("APP_HOME", ".evva"), "")],
        &[SettingsPath::new(PathBase::Variable("APP_HOME", ".evva"), "settings.json")],
        &[SettingsPath::new(PathBase::Project, ".evva/settings.json")],
    )),
    ..CLAUDE_LIKE
};

const TOOL: [FieldRow; 3] =
    [FieldRow::same("tool_name"), FieldRow::same("tool_input"), FieldRow::same("tool_use_id").or("\"\"")];

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart)
        .fields(&[FieldRow::same("source").or("\"\""), FieldRow::same("model").unless_empty()]),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit).blocks().fields(&[FieldRow::same("prompt")]),
    EventRow::new("PreToolUse", EventKind::PreToolUse).matched().blocks().fields(&TOOL),
    EventRow::new("PostToolUse", EventKind::PostToolUse).matched().fields(&[
        TOOL[0],
        TOOL[1],
        TOOL[2],
        FieldRow::same("tool_response").form(FieldEncoding::Text).or("\"\""),
        FieldRow::same("is_error").or("false"),
    ]),
    EventRow::new("Stop", EventKind::Stop).blocks().fields(&[
        FieldRow::same("stop_hook_active").or("false"),
        FieldRow::same("last_assistant_message").unless_empty(),
    ]),
    EventRow::new("Notification", EventKind::Notification).fields(&[
        FieldRow::same("message").or("\"\""),
        FieldRow::same("title").unless_empty(),
        FieldRow::same("notification_type").unless_empty(),
    ]),
];

const TOOL_CALL: EventScope = EventScope::Kinds(&[EventKind::PreToolUse]);

/// Permissions apply only to tool calls.
const WORDS: &[(&str, Decision)] = &[("block", Decision::Deny), ("approve", Decision::NoOpinion)];

/// A message for the user is also the reason, if there is no other.
const KEYS: &[Key] = &[
    Key::new(&["decision"], KeyMeaning::Decision(&[("block", Decision::Deny), ("approve", Decision::Allow)]))
        .at(TOOL_CALL)
        .tags(BLOCKED),
    Key::new(&["decision"], KeyMeaning::Decision(WORDS))
        .at(EventScope::Kinds(&[EventKind::PromptSubmit, EventKind::Stop]))
        .tags(BLOCKED),
    Key::new(&["systemMessage"], KeyMeaning::Reason).at(EventScope::Blocking).parse_only(),
    Key::new(&["reason"], KeyMeaning::Reason).at(EventScope::Blocking),
    Key::new(&["continue"], KeyMeaning::Flag(false, Decision::Deny))
        .at(EventScope::Blocking)
        .tags(BLOCKED)
        .parse_only(),
    Key::new(
        &["hookSpecificOutput.permissionDecision"],
        KeyMeaning::Decision(&[("allow", Decision::Allow), ("deny", Decision::Deny), ("ask", Decision::Ask)]),
    )
    .at(TOOL_CALL),
    Key::new(&["hookSpecificOutput.permissionDecisionReason"], KeyMeaning::Reason).at(TOOL_CALL),
    Key::new(&["systemMessage"], KeyMeaning::Message),
    Key::new(&["hookSpecificOutput.updatedInput"], KeyMeaning::Replace(Target::Input)).at(TOOL_CALL),
    Key::new(&["hookSpecificOutput.additionalContext"], KeyMeaning::Context)
        .at(EventScope::Except(&[EventKind::Stop, EventKind::Notification])),
    Key::new(&["hookSpecificOutput.initialUserMessage"], KeyMeaning::FirstMessage)
        .at(EventScope::Kinds(&[EventKind::SessionStart])),
];

const FILES: &[FileRow] = &[
    FileRow::new(Scope::Project, PathBase::Project, ".evva/settings.json"),
    FileRow::new(Scope::User, PathBase::Variable("APP_HOME", ".evva"), "settings.json"),
];

const LAYOUT: HookFileLayout = HookFileLayout {
    keys: &[
        HookKey::new("type", Attribute::Type),
        HookKey::new("command", Attribute::Command),
        HookKey::new("url", Attribute::Url),
        HookKey::new("method", Attribute::Method),
        HookKey::new("headers", Attribute::Headers),
        HookKey::new("timeout", Attribute::Timeout(TimeUnit::WholeSeconds)),
        HookKey::new("async", Attribute::Background),
    ],
    handlers: &[HandlerRow::new("command", "command", &["command"]), HandlerRow::new("http", "http", &["url"])],
    timeout_range: Some((Duration::from_secs(1), Duration::from_secs(600))),
    ..HookFileLayout::USUAL
};
