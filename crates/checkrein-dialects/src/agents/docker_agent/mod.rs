//! docker-agent, formerly cagent.
//!
//! Two generations: `docker-agent` is the newest, and `docker-agent@g2` the one with twelve events that agents were first
//! built on. Their differences:
//!
//! | | newest | g2 |
//! |---|---|---|
//! | hooks that rewrite the same value | run in sequence, each on the result of the previous one | run in parallel |
//! | exit 2 | blocks, if hooks can block the event | same |
//! | any other exit code but 0 | failure | reported and ignored |
//! | reply that is no JSON | failure | text |
//! | failure | blocks `pre_tool_use` and `tool_guard`, elsewhere `on_error` applies | blocks `pre_tool_use` |
//!
//! The agent waits for every process that holds the output of a hook open, even after the timeout, and reads output without
//! a limit. checkrein applies the timeout and reads at most 1 MiB of each stream. Background processes of a hook keep running
//! and are reported.

mod answer;
mod event;
mod file;
mod flags;
mod write;

use checkrein_core::{ConcurrentRewrites, Grammar};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{ConfigTable, DedupKey, FileFormat, FileRow, PathBase};
use crate::input::{InputForm, InputRow, McpNames};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{Defect, MalformedPolicy, ReplyTable, UnknownPolicy};
use crate::table::{Dialect, HttpTable, ProcessTable, Shell, ToolRow};
use checkrein_core::Scope;

pub use flags::{FLAGS, UnknownFlag, hooks_from_flags};

/// Dialect of the newest generation.
pub static DIALECT: Dialect = Dialect {
    name: "docker-agent",
    evidence: crate::agents::evidence::DOCKER_AGENT,
    events: event::NEWEST,
    tools: TOOLS,
    mcp: McpNames::UNKNOWN,
    matcher: Grammar::REGEX_WHOLE,
    payload: PayloadTable::fields(NEWEST_FIELDS),
    reply: ReplyTable {
        tolerates: Defect::GO_STRUCT,
        keys: answer::NEWEST_KEYS,
        exits: answer::NEWEST_EXITS,
        ..CLAUDE_LIKE.reply
    },
    process: PROCESS,
    http: NO_HTTP,
    // Only summaries are rewritten in parallel, and the first one applies.
    rules: CLAUDE_LIKE.rules.concurrent_rewrites(ConcurrentRewrites::FirstInOrder),
    stop_cap: 8,
    config: ConfigTable {
        files: FILES,
        format: FileFormat::Custom {
            decode: |decoder, root| file::NEWEST.decode(decoder, root),
            encode: |dialect, hooks| file::NEWEST.encode(dialect, hooks),
        },
        dedup_key: DedupKey::EverythingAndName,
        by_hand: Some("the YAML file of your agent, with its name instead of `root`"),
        rejects_unknown_keys: true,
        ..ConfigTable::BASE
    },
    ..CLAUDE_LIKE
};

/// Dialect of the generation with twelve events.
pub static G2: Dialect = Dialect {
    name: "docker-agent@g2",
    evidence: crate::agents::evidence::DOCKER_AGENT_G2,
    events: event::G2,
    tools: TOOLS,
    mcp: McpNames::UNKNOWN,
    matcher: Grammar::REGEX_WHOLE,
    payload: PayloadTable::fields(ALWAYS),
    reply: ReplyTable {
        malformed: MalformedPolicy::Text,
        bad_values: UnknownPolicy::Reported,
        tolerates: Defect::GO_STRUCT,
        keys: answer::G2_KEYS,
        exits: answer::G2_EXITS,
        ..CLAUDE_LIKE.reply
    },
    process: PROCESS,
    http: NO_HTTP,
    // In the agent the later of two values wins. Here different values are a conflict.
    rules: CLAUDE_LIKE.rules.concurrent_rewrites(ConcurrentRewrites::Compose),
    stop_cap: 8,
    config: ConfigTable {
        files: FILES,
        format: FileFormat::Custom {
            decode: |decoder, root| file::G2.decode(decoder, root),
            encode: |dialect, hooks| file::G2.encode(dialect, hooks),
        },
        dedup_key: DedupKey::Handler,
        by_hand: Some("the YAML file of your agent, with its name instead of `root`"),
        rejects_unknown_keys: true,
        ..ConfigTable::BASE
    },
    ..CLAUDE_LIKE
};

/// Tools of the toolsets `shell` and `filesystem`. An agent can have others.
const TOOLS: &[ToolRow] = &[
    ToolRow::new("shell", &["Bash"]).takes(&[InputRow::named("cmd", "command"), InputRow::same("cwd")]),
    ToolRow::new("write_file", &["Write"]).takes(PATH),
    ToolRow::new("edit_file", &["Edit"]).takes(&[
        InputRow::named("path", "file_path"),
        InputRow::named("edits", "edits").form(InputForm::Each(REPLACEMENT)),
        InputRow::seen_in("edits", "oldText", "old_string"),
        InputRow::seen_in("edits", "newText", "new_string"),
    ]),
    ToolRow::new("read_file", &["Read"]).takes(PATH),
    ToolRow::new("read_multiple_files", &["Read"])
        .takes(&[InputRow::named("paths", "file_path").form(InputForm::Lines)]),
    ToolRow::new("list_directory", &["LS"]),
];
const PATH: &[InputRow] = &[InputRow::named("path", "file_path")];
const REPLACEMENT: &[InputRow] = &[InputRow::named("oldText", "old_string"), InputRow::named("newText", "new_string")];

const ALWAYS: &[FieldRow] = &[FieldRow::same("session_id").or("\"\""), FieldRow::same("cwd").or("\"\"")];

const NEWEST_FIELDS: &[FieldRow] = &[
    FieldRow::same("session_id").or("\"\""),
    FieldRow::same("cwd").or("\"\""),
    FieldRow::named("agent_name", "agent_type").unless_empty(),
];

const PROCESS: ProcessTable =
    ProcessTable { shell: Shell::User, expands: true, leaves_background: true, ..CLAUDE_LIKE.process };

/// The agent has no HTTP hooks. Its builtin `http_post` sends a request and ignores the response.
const NO_HTTP: HttpTable = HttpTable { decides: false, variables: false, ..HttpTable::BASE };

const CONFIG_DIR: PathBase =
    PathBase::FirstVariable(&["DOCKER_AGENT_CONFIG_DIR", "CAGENT_CONFIG_DIR"], ".config/cagent");

/// The file of the agent is an argument of its command line, and comes before these.
const FILES: &[FileRow] = &[
    FileRow::new(Scope::User, CONFIG_DIR, "config.yaml"),
    FileRow::new(Scope::User, CONFIG_DIR, "hooks.d/*").with(&["yaml", "yml"]),
];
