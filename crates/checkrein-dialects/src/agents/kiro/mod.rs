//! Kiro, its hooks of version 1: a list of hooks, each with a trigger and an action.
//!
//! Known from parts of its documentation, and from others. Not certain: how long hooks may take that do not say, that a
//! stop can be answered, and at which events what hooks print reaches the model. Hooks in the older `.kiro.hook` files are
//! not read. Hooks whose action is a prompt for the agent have the kind `agent`.

use checkrein_core::{Decision, EventKind, Grammar, RunOrder, Scope};

use crate::agents::amazon_q::{CALL, DONE, PAYLOAD, PROCESS, PROMPT, TOOLS};
use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{ConfigTable, FileFormat, FileRow, PathBase};
use crate::install::{InstallTable, SettingsPath};
use crate::payload::FieldRow;
use crate::reply::{
    AnswerDetection, EventScope, ExitAction, ExitCodeMatch, ExitRule, Key, KeyMeaning, MalformedPolicy, ReasonSource,
    ReplyTable,
};
use crate::table::{Dialect, EventRow, HostTable, PlainTextUse};

mod file;

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "kiro",
    events: EVENTS,
    tools: TOOLS,
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
            "requests for permission",
            "sub-agents",
            "in older versions, a tool's input",
        ],
        uncertain: &[
            "how long a hook may take that does not say",
            "whether a stop can be answered",
            "at which events what a hook prints reaches the model",
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
