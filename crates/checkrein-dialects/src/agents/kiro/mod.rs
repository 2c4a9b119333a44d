//! Kiro, hooks of version 1: a list of hooks, each with a trigger and an action.
//!
//! Source: parts of its documentation, and third parties. Uncertain: the default timeout; whether hooks can block a stop; the
//! events whose hook output reaches the model. The older `.kiro.hook` files are not read. Hooks with a prompt for the agent
//! have the handler type `agent`.

use checkrein_core::{Decision, EventKind, Grammar, RunOrder, Scope};

use crate::agents::amazon_q::{CALL, DONE, PAYLOAD, PROCESS, PROMPT, TOOLS};
use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{ConfigTable, FileFormat, FileRow, PathBase};
use crate::input::McpNames;
use crate::install::{InstallTable, SettingsPath};
use crate::payload::FieldRow;
use crate::reply::{
    AnswerDetection, EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, MalformedPolicy, ReasonSource,
    ReplyTable,
};
use crate::table::{Dialect, EventRow, HostTable, PlainTextUse};

mod file;

/// Dialect of Kiro.
pub static DIALECT: Dialect = Dialect {
    name: "kiro",
    evidence: crate::agents::evidence::KIRO,
    title: "Kiro",
    events: EVENTS,
    tools: TOOLS,
    mcp: McpNames::UNKNOWN,
    matcher: Grammar::REGEX_SEARCH,
    payload: PAYLOAD,
    reply: ReplyTable {
        trigger: AnswerDetection::OwnObject,
        malformed: MalformedPolicy::Text,
        keys: &[
            Key::new(&["decision"], KeyMeaning::Decision(&[("block", Decision::Deny)])).at(AT_STOP),
            Key::new(&["reason"], KeyMeaning::Reason).at(AT_STOP),
        ],
        exits: &[
            ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
            ExitRule::new(
                ExitCodeMatch::Is(2),
                ExitAction::Decide(Decision::Deny, &[ReasonSource::Stderr, ReasonSource::Stdout]),
            )
            .at(REFUSING),
            ExitRule::new(ExitCodeMatch::Any, ExitAction::Fail),
        ],
        ..CLAUDE_LIKE.reply
    },
    process: PROCESS,
    rules: CLAUDE_LIKE.rules.order(RunOrder::Sequential),
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::User, PathBase::Home, ".kiro/hooks/*").with(&["json"]),
            FileRow::new(Scope::Project, PathBase::Project, ".kiro/hooks/*").with(&["json"]),
        ],
        format: FileFormat::Custom { decode: file::decode, encode: file::encode },
        ..ConfigTable::BASE
    },
    host: HostTable {
        not_observable: &[
            "the end of a session",
            "permission requests",
            "sub-agents",
            "the input of a tool, in older versions",
        ],
        uncertain: &[
            "the default timeout",
            "whether hooks can block a stop",
            "the events whose hook output reaches the model",
        ],
        ..HostTable::FAILS_OPEN
    },
    install: Some(InstallTable::new(
        &["kiro-cli", "kiro"],
        &[SettingsPath::new(PathBase::Home, ".kiro")],
        &[SettingsPath::new(PathBase::Home, ".kiro/hooks/checkrein.json")],
        &[SettingsPath::new(PathBase::Project, ".kiro/hooks/checkrein.json")],
    )),
    ..CLAUDE_LIKE
};

const AT_STOP: EventScope = EventScope::Kinds(&[EventKind::Stop]);
const REFUSING: EventScope =
    EventScope::Kinds(&[EventKind::PreToolUse, EventKind::PromptSubmit, EventKind::PreSpecTask]);
const FILE: &[FieldRow] = &[FieldRow::same("file_path")];

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart).plain(PlainTextUse::Context),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit).blocks().plain(PlainTextUse::Context).fields(PROMPT),
    EventRow::new("PreToolUse", EventKind::PreToolUse).matched().blocks().fields(CALL),
    EventRow::new("PostToolUse", EventKind::PostToolUse)
        .matched()
        .plain(PlainTextUse::Context)
        .uncertain()
        .fields(DONE),
    EventRow::new("Stop", EventKind::Stop).blocks().uncertain(),
    EventRow::new("PostFileCreate", EventKind::FileCreated)
        .matched()
        .plain(PlainTextUse::Context)
        .uncertain()
        .fields(FILE),
    EventRow::new("PostFileSave", EventKind::FileSaved).matched().plain(PlainTextUse::Context).uncertain().fields(FILE),
    EventRow::new("PostFileDelete", EventKind::FileDeleted)
        .matched()
        .plain(PlainTextUse::Context)
        .uncertain()
        .fields(FILE),
    EventRow::new("PreTaskExec", EventKind::PreSpecTask).blocks().plain(PlainTextUse::Context).uncertain(),
    EventRow::new("PostTaskExec", EventKind::PostSpecTask).plain(PlainTextUse::Context).uncertain(),
    EventRow::new("Manual", EventKind::Manual).plain(PlainTextUse::Context).uncertain(),
];
