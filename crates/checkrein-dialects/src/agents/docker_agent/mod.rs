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

use checkrein_core::{ConcurrentRewrites, Grammar};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{ConfigTable, DedupKey, FileFormat, FileRow, PathBase};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{MalformedPolicy, ReplyTable, UnknownPolicy};
use crate::table::{Dialect, HttpTable, ProcessTable, Shell};
use checkrein_core::Scope;

pub use flags::{FLAGS, UnknownFlag, hooks_from_flags};

/// The table of the newest generation.
pub static DIALECT: Dialect = Dialect {
    name: "docker-agent",
    events: event::NEWEST,
    matcher: Grammar::REGEX_WHOLE,
    payload: PayloadTable::fields(NEWEST_FIELDS),
    reply: ReplyTable { keys: answer::NEWEST_KEYS, exits: answer::NEWEST_EXITS, ..CLAUDE_LIKE.reply },
    process: PROCESS,
    http: NO_HTTP,
    // Only summaries are rewritten side by side, and of those the first counts.
    rules: CLAUDE_LIKE.rules.concurrent_rewrites(ConcurrentRewrites::FirstInOrder),
    stop_cap: 8,
    config: ConfigTable {
        files: FILES,
        format: FileFormat::Custom {
            decode: |decoder, root| file::NEWEST.decode(decoder, root),
            encode: |dialect, hooks| file::NEWEST.encode(dialect, hooks),
        },
        dedup_key: DedupKey::EverythingAndName,
        by_hand: Some("the YAML file of your agent, with its name in place of `root`"),
        ..ConfigTable::BASE
    },
    ..CLAUDE_LIKE
};

/// The table of the generation with twelve events.
pub static G2: Dialect = Dialect {
    name: "docker-agent@g2",
    events: event::G2,
    matcher: Grammar::REGEX_WHOLE,
    payload: PayloadTable::fields(ALWAYS),
    reply: ReplyTable {
        malformed: MalformedPolicy::Text,
        bad_values: UnknownPolicy::Told,
        keys: answer::G2_KEYS,
        exits: answer::G2_EXITS,
        ..CLAUDE_LIKE.reply
    },
    process: PROCESS,
    http: NO_HTTP,
    // The agent lets the later of two values win; here they are a conflict, unless they are the same.
    rules: CLAUDE_LIKE.rules.concurrent_rewrites(ConcurrentRewrites::Compose),
    stop_cap: 8,
    config: ConfigTable {
        files: FILES,
        format: FileFormat::Custom {
            decode: |decoder, root| file::G2.decode(decoder, root),
            encode: |dialect, hooks| file::G2.encode(dialect, hooks),
        },
        dedup_key: DedupKey::Handler,
        by_hand: Some("the YAML file of your agent, with its name in place of `root`"),
        ..ConfigTable::BASE
    },
    ..CLAUDE_LIKE
};

const ALWAYS: &[FieldRow] = &[FieldRow::same("session_id").or("\"\""), FieldRow::same("cwd").or("\"\"")];

const NEWEST_FIELDS: &[FieldRow] = &[
    FieldRow::same("session_id").or("\"\""),
    FieldRow::same("cwd").or("\"\""),
    FieldRow::named("agent_name", "agent_type").unless_empty(),
];

const PROCESS: ProcessTable =
    ProcessTable { shell: Shell::User, expands: true, leaves_background: true, ..CLAUDE_LIKE.process };

/// Its hooks are never endpoints; the builtin `http_post` posts what it is told to, and hears nothing.
const NO_HTTP: HttpTable = HttpTable { decides: false, variables: false, ..HttpTable::BASE };

const CONFIG_DIR: PathBase =
    PathBase::FirstVariable(&["DOCKER_AGENT_CONFIG_DIR", "CAGENT_CONFIG_DIR"], ".config/cagent");

/// The agent's own file is named by whoever starts it, and comes before these.
const FILES: &[FileRow] = &[
    FileRow::new(Scope::User, CONFIG_DIR, "config.yaml"),
    FileRow::new(Scope::User, CONFIG_DIR, "hooks.d/*").with(&["yaml", "yml"]),
];
