//! Amazon Q Developer CLI, which became Kiro CLI 2. Hooks belong to the file of one agent, and their output is context.
//!
//! Source: its code. Uncertain: its two events for files, of which no payload was observed.
//!
//! checkrein does not implement its cache of hook output: the cache key has no tool input, so a permission for one call would
//! apply to all others.

use checkrein_core::{Decision, EventKind, Grammar, Scope, Syntax};

use crate::agents::claude::CLAUDE_LIKE;
use crate::config::{
    Attribute, ConfigTable, Decoder, FileFormat, FileRow, HandlerRow, HookFileLayout, HookKey, PathBase, TimeUnit,
};
use crate::input::{InputRow, McpNames};
use crate::payload::{FieldRow, PayloadTable};
use crate::reply::{EventScope, ExitAction, ExitCodeMatch, ExitRule, ReasonSource, ReplyTable};
use crate::table::{
    Data, Dialect, EventRow, HostTable, PlainTextUse, ProcessTable, Shell, TimeTable, ToolRow, VariableRow,
};
use checkrein_document::Node;

/// Dialect of Amazon Q Developer CLI.
pub static DIALECT: Dialect = Dialect {
    name: "amazon-q",
    evidence: crate::agents::evidence::AMAZON_Q,
    title: "Amazon Q",
    events: EVENTS,
    tools: TOOLS,
    mcp: McpNames::UNKNOWN,
    matcher: Grammar::new(&["*"], None, Syntax::Glob),
    payload: PAYLOAD,
    reply: ReplyTable { exits: EXITS, ..ReplyTable::BASE },
    process: PROCESS,
    time: TimeTable::seconds(30),
    config: ConfigTable {
        files: &[
            FileRow::new(Scope::User, PathBase::Home, ".aws/amazonq/cli-agents/*").with(&["json"]),
            FileRow::new(Scope::User, PathBase::Home, ".kiro/agents/*").with(&["json"]),
            FileRow::new(Scope::Project, PathBase::Project, ".amazonq/cli-agents/*").with(&["json"]),
            FileRow::new(Scope::Project, PathBase::Project, ".kiro/agents/*").with(&["json"]),
        ],
        format: FileFormat::Custom { decode, encode: |dialect, hooks| LAYOUT.encode(dialect, hooks) },
        pattern: Some(server_pattern),
        by_hand: Some(
            "the file of each of your agents, in ~/.aws/amazonq/cli-agents, ~/.kiro/agents or the same folders of the project",
        ),
        ..ConfigTable::BASE
    },
    host: HostTable {
        not_observable: &["the end of a session", "permission requests", "sub-agents"],
        ..HostTable::FAILS_OPEN
    },
    ..CLAUDE_LIKE
};

const WRITE: &[InputRow] = &[
    InputRow::named("path", "file_path"),
    InputRow::named("old_str", "old_string"),
    InputRow::named("new_str", "new_string"),
    InputRow::named("file_text", "content"),
];
/// Newer versions read several files at once.
const READ: &[InputRow] = &[InputRow::named("path", "file_path"), InputRow::seen_in("operations", "path", "file_path")];

pub(crate) const TOOLS: &[ToolRow] = &[
    ToolRow::new("execute_bash", &["Bash"]),
    ToolRow::new("shell", &["Bash"]),
    ToolRow::new("fs_write", &["Write", "Edit"]).takes(WRITE),
    ToolRow::new("write", &["Write", "Edit"]).takes(WRITE),
    ToolRow::new("fs_read", &["Read"]).takes(READ),
    ToolRow::new("read", &["Read"]).takes(READ),
];

pub(crate) const PAYLOAD: PayloadTable = PayloadTable::fields(&[FieldRow::same("cwd").or("\"\"")]);

pub(crate) const PROCESS: ProcessTable = ProcessTable {
    shell: Shell::Bash,
    variables: &[VariableRow::new("USER_PROMPT", Data::Field("prompt"))],
    output_cap: 10 * 1024,
    ..CLAUDE_LIKE.process
};

const EXITS: &[ExitRule] = &[
    ExitRule::new(ExitCodeMatch::Is(0), ExitAction::Read),
    ExitRule::new(
        ExitCodeMatch::Is(2),
        ExitAction::Decide(Decision::Deny, &[ReasonSource::Stderr, ReasonSource::Stdout]),
    )
    .at(EventScope::Blocking),
    ExitRule::new(ExitCodeMatch::Any, ExitAction::Fail),
];

pub(crate) const PROMPT: &[FieldRow] = &[FieldRow::same("prompt")];
pub(crate) const CALL: &[FieldRow] = &[FieldRow::same("tool_name"), FieldRow::same("tool_input")];
pub(crate) const DONE: &[FieldRow] =
    &[FieldRow::same("tool_name"), FieldRow::same("tool_input"), FieldRow::same("tool_response")];

const EVENTS: &[EventRow] = &[
    EventRow::new("agentSpawn", EventKind::SessionStart).plain(PlainTextUse::Context),
    EventRow::new("userPromptSubmit", EventKind::PromptSubmit).plain(PlainTextUse::Context).fields(PROMPT),
    EventRow::new("preToolUse", EventKind::PreToolUse).matched().blocks().fields(CALL),
    EventRow::new("postToolUse", EventKind::PostToolUse).matched().fields(DONE),
    EventRow::new("stop", EventKind::Stop),
    EventRow::new("fileCreated", EventKind::FileCreated).uncertain().fields(&[FieldRow::same("file_path")]),
    EventRow::new("fileEdited", EventKind::FileSaved).uncertain().fields(&[FieldRow::same("file_path")]),
];

/// Translates `@SERVER` (all tools of a server) and `@builtin` (all tools without a server).
fn server_pattern(pattern: &str) -> Option<String> {
    match pattern.strip_prefix('@')? {
        "builtin" => Some("[!@]*".to_owned()),
        server if !server.contains('/') => Some(format!("{{@{server},@{server}/*}}")),
        _ => None,
    }
}

const LAYOUT: HookFileLayout = HookFileLayout {
    keys: &[
        HookKey::new("command", Attribute::ShellCommand),
        HookKey::new("timeout_ms", Attribute::Timeout(TimeUnit::Milliseconds)),
        HookKey::new("max_output_size", Attribute::OutputCap),
        HookKey::new(
            "cache_ttl_seconds",
            Attribute::Nothing(
                "checkrein runs hooks every time, since a cached result would apply to other tool calls",
            ),
        ),
    ],
    handlers: &[HandlerRow::new("command", "command", &["command"])],
    infers_type: true,
    direct: true,
    ..HookFileLayout::USUAL
};

/// Decodes the file of one agent. Skips it if another agent is selected.
fn decode(decoder: &mut Decoder<'_>, root: &Node<'_>) {
    let name = root.get("name").and_then(Node::as_str);
    let selected = decoder.options().agent.as_deref();
    if name.zip(selected).is_none_or(|(name, selected)| name == selected) {
        LAYOUT.decode(decoder, root);
    }
}
