//! docker-agent, once cagent.
//!
//! Two generations: `docker-agent` is the newest, and `docker-agent@g2` the one of twelve events that agents were first
//! built on. What differs is in the tables:
//!
//! | | newest | g2 |
//! |---|---|---|
//! | hooks that may rewrite the same thing | run one on the result of the other | run side by side |
//! | exit 2 | blocks, where hooks can block | the same |
//! | any other exit but 0 | a failure | nothing |
//! | an answer that is no JSON | a failure | text |
//! | a failure | closes `pre_tool_use` and `tool_guard`, elsewhere as `on_error` says | closes `pre_tool_use` |
//!
//! The agent itself waits for whoever holds a hook's output open, whatever the timeout says, and reads output without
//! limit. Here a hook ends in time, and a mebibyte of each stream is read; what a hook leaves in the background is left
//! alone, and named.

mod answer;
mod event;
mod file;
mod flags;
mod write;

use checkrein_core::{FailureTable, Grammar, Rules, RunOrder, SideBySide};

use crate::config::{Base, ConfigTable, FileRow, Reach, Same};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{Malformed, ReplyTable, Trigger, Unknown};
use crate::table::{Cwd, Dialect, Environment, HostTable, HttpTable, ProcessTable, Shell, TimeTable};
use checkrein_core::Scope;

pub use flags::{FLAGS, UnknownFlag, hooks_from_flags};

/// The table of the newest generation.
pub static DIALECT: Dialect = Dialect {
    name: "docker-agent",
    events: event::NEWEST,
    has_all_events: false,
    tools: &[],
    matcher: Grammar::REGEX_WHOLE,
    payload: PayloadTable { event: "hook_event_name", fields: NEWEST_FIELDS, everything: false, originals: false },
    reply: ReplyTable {
        trigger: Trigger::Brace,
        malformed: Malformed::Failure,
        unknown_keys: Unknown::Told,
        bad_values: Unknown::Failure,
        exact_case: true,
        keys: answer::NEWEST_KEYS,
        exits: answer::NEWEST_EXITS,
        stderr_answers: false,
        text_cap: None,
    },
    process: PROCESS,
    http: NO_HTTP,
    time: TimeTable::seconds(60),
    // Only summaries are rewritten side by side, and of those the first counts.
    rules: Rules::NATIVE
        .order(RunOrder::Parallel)
        .side_by_side(SideBySide::FirstInOrder)
        .failures(FailureTable::open()),
    declares_rewrites: false,
    stop_cap: 8,
    config: ConfigTable {
        files: FILES,
        scripts: false,
        comments: false,
        decode: file::decode_newest,
        encode: Some(file::encode_newest),
        plugin: None,
        reach: Reach::Everybody,
        same: Same::EverythingAndName,
        skim: None,
        pattern: None,
        by_hand: Some("the YAML file of your agent, with its name in place of `root`"),
    },
    host: HostTable::UNKNOWN,
    kin: &[],
    install: None,
};

/// The table of the generation with twelve events.
pub static G2: Dialect = Dialect {
    name: "docker-agent@g2",
    events: event::G2,
    has_all_events: false,
    tools: &[],
    matcher: Grammar::REGEX_WHOLE,
    payload: PayloadTable { event: "hook_event_name", fields: ALWAYS, everything: false, originals: false },
    reply: ReplyTable {
        trigger: Trigger::Brace,
        malformed: Malformed::Text,
        unknown_keys: Unknown::Told,
        bad_values: Unknown::Told,
        exact_case: true,
        keys: answer::G2_KEYS,
        exits: answer::G2_EXITS,
        stderr_answers: false,
        text_cap: None,
    },
    process: PROCESS,
    http: NO_HTTP,
    time: TimeTable::seconds(60),
    // The agent lets the later of two values win; here they are a conflict, unless they are the same.
    rules: Rules::NATIVE.order(RunOrder::Parallel).side_by_side(SideBySide::Compose).failures(FailureTable::open()),
    declares_rewrites: false,
    stop_cap: 8,
    config: ConfigTable {
        files: FILES,
        scripts: false,
        comments: false,
        decode: file::decode_g2,
        encode: Some(file::encode_g2),
        plugin: None,
        reach: Reach::Everybody,
        same: Same::Handler,
        skim: None,
        pattern: None,
        by_hand: Some("the YAML file of your agent, with its name in place of `root`"),
    },
    host: HostTable::UNKNOWN,
    kin: &[],
    install: None,
};

const ALWAYS: &[FieldRow] = &[FieldRow::same("session_id").or("\"\""), FieldRow::same("cwd").or("\"\"")];

const NEWEST_FIELDS: &[FieldRow] = &[
    FieldRow::same("session_id").or("\"\""),
    FieldRow::same("cwd").or("\"\""),
    FieldRow::named("agent_name", "agent_type").unless_empty(),
];

const PROCESS: ProcessTable = ProcessTable {
    shell: Shell::User,
    environment: Environment::All,
    variables: &[],
    cwd: Cwd::Event,
    expands: true,
    newline: false,
    output_cap: 1 << 20,
    leaves_background: true,
};

/// Its hooks are never endpoints; the builtin `http_post` posts what it is told to, and hears nothing.
const NO_HTTP: HttpTable =
    HttpTable { success_below: 300, decides: false, in_background: false, variables: false, response_cap: 64 * 1024 };

const CONFIG_DIR: Base = Base::FirstVariable(&["DOCKER_AGENT_CONFIG_DIR", "CAGENT_CONFIG_DIR"], ".config/cagent");

/// The agent's own file is named by whoever starts it, and comes before these.
const FILES: &[FileRow] = &[
    FileRow::new(Scope::User, CONFIG_DIR, "config.yaml"),
    FileRow::new(Scope::User, CONFIG_DIR, "hooks.d/*").with(&["yaml", "yml"]),
];
