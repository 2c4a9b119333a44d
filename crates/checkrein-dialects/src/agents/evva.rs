//! evva: Claude Code's shape with six events, globs, and hooks that run one after the other.
//!
//! A tool call can be stopped in two ways, and the host hears which:
//!
//! | a hook | comes to | hooks behind it | metadata |
//! |---|---|---|---|
//! | exits with 2, or answers `continue: false` or `decision: "block"` | deny: the call is *blocked* | do not run | `blocked: true` |
//! | answers `permissionDecision: "deny"` | deny: the call is *denied* | run | |
//!
//! The last decision counts, but one that comes later never cancels a deny, unless the agent's rules are followed to the
//! letter ([`Compat::Exact`](checkrein_core::Compat::Exact)). A hook that cannot be started, takes too long or ends with
//! another code stops nothing, as in the agent, and is told of. Output that had to be cut and hooks that cannot be loaded
//! close the gate: the agent knows no such thing as the first, and drops the second.

use std::time::Duration;

use checkrein_core::{
    ChainEnd, ConcurrentRewrites, Decision, DecisionRule, EventKind, FailureKind, FailurePolicy, FailureTable, Grammar,
    Rules, RunOrder, Scope, Target, TimeClass,
};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{Attribute, Base, ConfigTable, FileFormat, FileRow, HandlerRow, HookKey, Shape, TimeUnit};
use crate::install::{InstallTable, Spot};
use crate::payload::{FieldRow, Form, PayloadTable};
use crate::reply::{At, Code, ExitRule, From, Key, Means, ReplyTable, Then, Unknown};
use crate::table::{Cwd, Data, Dialect, EventRow, HttpTable, ProcessTable, Shell, TimeTable, VariableRow};

/// Under which name the host hears that something was blocked, and not denied.
pub const BLOCKED: &str = "blocked";

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "evva",
    events: EVENTS,
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
        unknown_keys: Unknown::Ignored,
        bad_values: Unknown::Told,
        exact_case: false,
        keys: KEYS,
        exits: &[
            ExitRule::new(Code::Is(0), Then::Read),
            ExitRule::new(
                Code::Is(2),
                Then::Decide(Decision::Deny, &[From::Stderr, From::Answer, From::Stdout, From::Fixed("hook exit 2")]),
            )
            .at(At::Blocking)
            .marks(BLOCKED),
            ExitRule::new(Code::Any, Then::Fail),
        ],
        ..CLAUDE_LIKE.reply
    },
    process: ProcessTable {
        shell: Shell::Variable("EVVA_SHELL"),
        variables: &[
            VariableRow::new("EVVA_PROJECT_DIR", Data::ProjectDir),
            VariableRow::new("EVVA_SESSION_ID", Data::Field("session_id")).or(""),
            VariableRow::new("EVVA_AGENT_ID", Data::Field("agent_id")).or(""),
        ],
        cwd: Cwd::Host,
        leaves_background: true,
        ..CLAUDE_LIKE.process
    },
    http: HttpTable { decides: false, in_background: true, variables: false },
    time: TimeTable {
        classes: &[(TimeClass::Tool, Duration::from_secs(60)), (TimeClass::Notice, Duration::from_secs(10))],
        handlers: &[("http", Duration::from_secs(10))],
        in_background: &[("http", Duration::from_secs(30))],
        ..TimeTable::seconds(30)
    },
    rules: Rules::NATIVE
        .settle(DecisionRule::LastWriter)
        .order(RunOrder::Pipeline)
        .chain_end(ChainEnd::FirstTagged(BLOCKED))
        .side_by_side(ConcurrentRewrites::LastInOrder)
        .failures(
            FailureTable::open()
                // The agent goes on after these, against its own documents.
                .at_gates(FailureKind::Timeout, FailurePolicy::Closed)
                .at_gates(FailureKind::Spawn, FailurePolicy::Closed)
                .at_gates(FailureKind::OutputCap, FailurePolicy::Closed)
                .at_gates(FailureKind::Schema, FailurePolicy::Closed),
        ),
    stop_cap: 1,
    config: ConfigTable { files: FILES, format: FileFormat::Layout(&SHAPE), ..ConfigTable::BASE },
    install: Some(InstallTable::new(
        &["evva"],
        &[Spot::new(Base::Variable("APP_HOME", ".evva"), "")],
        &[Spot::new(Base::Variable("APP_HOME", ".evva"), "settings.json")],
        &[Spot::new(Base::Project, ".evva/settings.json")],
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
        FieldRow::same("tool_response").form(Form::Text).or("\"\""),
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

const TOOL_CALL: At = At::Kinds(&[EventKind::PreToolUse]);

/// Leave means something for tool calls only.
const WORDS: &[(&str, Decision)] = &[("block", Decision::Deny), ("approve", Decision::NoOpinion)];

/// A message for the user is the reason as well if there is no other.
const KEYS: &[Key] = &[
    Key::new(&["decision"], Means::Decision(&[("block", Decision::Deny), ("approve", Decision::Allow)]))
        .at(TOOL_CALL)
        .marks(BLOCKED),
    Key::new(&["decision"], Means::Decision(WORDS))
        .at(At::Kinds(&[EventKind::PromptSubmit, EventKind::Stop]))
        .marks(BLOCKED),
    Key::new(&["systemMessage"], Means::Reason).at(At::Blocking).only_read(),
    Key::new(&["reason"], Means::Reason).at(At::Blocking),
    Key::new(&["continue"], Means::Flag(false, Decision::Deny)).at(At::Blocking).marks(BLOCKED).only_read(),
    Key::new(
        &["hookSpecificOutput.permissionDecision"],
        Means::Decision(&[("allow", Decision::Allow), ("deny", Decision::Deny), ("ask", Decision::Ask)]),
    )
    .at(TOOL_CALL),
    Key::new(&["hookSpecificOutput.permissionDecisionReason"], Means::Reason).at(TOOL_CALL),
    Key::new(&["systemMessage"], Means::Message),
    Key::new(&["hookSpecificOutput.updatedInput"], Means::Replace(Target::Input)).at(TOOL_CALL),
    Key::new(&["hookSpecificOutput.additionalContext"], Means::Context)
        .at(At::Except(&[EventKind::Stop, EventKind::Notification])),
    Key::new(&["hookSpecificOutput.initialUserMessage"], Means::FirstMessage).at(At::Kinds(&[EventKind::SessionStart])),
];

const FILES: &[FileRow] = &[
    FileRow::new(Scope::Project, Base::Project, ".evva/settings.json"),
    FileRow::new(Scope::User, Base::Variable("APP_HOME", ".evva"), "settings.json"),
];

const SHAPE: Shape = Shape {
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
    ..Shape::USUAL
};
