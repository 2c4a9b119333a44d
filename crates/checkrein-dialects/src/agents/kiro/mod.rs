//! Kiro, its hooks of version 1: a list of hooks, each with a trigger and an action.
//!
//! Known from parts of its documentation, and from others. Not certain: how long hooks may take that do not say, that a
//! stop can be answered, and at which events what hooks print reaches the model. Hooks in the older `.kiro.hook` files are
//! not read. Hooks whose action is a prompt for the agent have the kind `agent`.

use checkrein_core::{Decision, EventKind, Grammar, RunOrder, Scope};

use crate::agents::amazon_q::{CALL, DONE, PAYLOAD, PROCESS, PROMPT, TOOLS};
use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{Base, ConfigTable, FileFormat, FileRow};
use crate::install::{InstallTable, Spot};
use crate::payload::FieldRow;
use crate::reply::{At, Code, ExitRule, From, Key, Malformed, Means, ReplyTable, Then, Trigger};
use crate::table::{Dialect, EventRow, HostTable, Plain};

mod file;

/// The table.
pub static DIALECT: Dialect = Dialect {
    name: "kiro",
    events: EVENTS,
    tools: TOOLS,
    matcher: Grammar::REGEX_SEARCH,
    payload: PAYLOAD,
    reply: ReplyTable {
        trigger: Trigger::OwnObject,
        malformed: Malformed::Text,
        keys: &[
            Key::new(&["decision"], Means::Decision(&[("block", Decision::Deny)])).at(AT_STOP),
            Key::new(&["reason"], Means::Reason).at(AT_STOP),
        ],
        exits: &[
            ExitRule::new(Code::Is(0), Then::Read),
            ExitRule::new(Code::Is(2), Then::Decide(Decision::Deny, &[From::Stderr, From::Stdout])).at(REFUSING),
            ExitRule::new(Code::Any, Then::Fail),
        ],
        ..CLAUDE_LIKE.reply
    },
    process: PROCESS,
    rules: CLAUDE_LIKE.rules.order(RunOrder::Sequential),
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::User, Base::Home, ".kiro/hooks/*").with(&["json"]),
            FileRow::new(Scope::Project, Base::Project, ".kiro/hooks/*").with(&["json"]),
        ],
        format: FileFormat::Custom { decode: file::decode, encode: file::encode },
        ..ConfigTable::BASE
    },
    host: HostTable {
        unseen: &["the end of a session", "requests for permission", "sub-agents", "in older versions, a tool's input"],
        uncertain: &[
            "how long a hook may take that does not say",
            "whether a stop can be answered",
            "at which events what a hook prints reaches the model",
        ],
        ..HostTable::FAILS_OPEN
    },
    install: Some(InstallTable::new(
        &["kiro-cli", "kiro"],
        &[Spot::new(Base::Home, ".kiro")],
        &[Spot::new(Base::Home, ".kiro/hooks/checkrein.json")],
        &[Spot::new(Base::Project, ".kiro/hooks/checkrein.json")],
    )),
    ..CLAUDE_LIKE
};

const AT_STOP: At = At::Kinds(&[EventKind::Stop]);
const REFUSING: At = At::Kinds(&[EventKind::PreToolUse, EventKind::PromptSubmit, EventKind::PreSpecTask]);
const FILE: &[FieldRow] = &[FieldRow::same("file_path")];

const EVENTS: &[EventRow] = &[
    EventRow::new("SessionStart", EventKind::SessionStart).plain(Plain::Context),
    EventRow::new("UserPromptSubmit", EventKind::PromptSubmit).blocks().plain(Plain::Context).fields(PROMPT),
    EventRow::new("PreToolUse", EventKind::PreToolUse).matched().blocks().fields(CALL),
    EventRow::new("PostToolUse", EventKind::PostToolUse).matched().plain(Plain::Context).uncertain().fields(DONE),
    EventRow::new("Stop", EventKind::Stop).blocks().uncertain(),
    EventRow::new("PostFileCreate", EventKind::FileCreated).matched().plain(Plain::Context).uncertain().fields(FILE),
    EventRow::new("PostFileSave", EventKind::FileSaved).matched().plain(Plain::Context).uncertain().fields(FILE),
    EventRow::new("PostFileDelete", EventKind::FileDeleted).matched().plain(Plain::Context).uncertain().fields(FILE),
    EventRow::new("PreTaskExec", EventKind::PreSpecTask).blocks().plain(Plain::Context).uncertain(),
    EventRow::new("PostTaskExec", EventKind::PostSpecTask).plain(Plain::Context).uncertain(),
    EventRow::new("Manual", EventKind::Manual).plain(Plain::Context).uncertain(),
];
