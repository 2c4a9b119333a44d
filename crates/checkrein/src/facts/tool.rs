//! The tool of a call.

use checkrein_core::payload::Field as PayloadField;
use checkrein_core::{Event, EventKind};
use checkrein_dialects::is_common_tool;
use checkrein_expression::{Schema, Type, Value};

use super::field;
use super::formats;
use super::record::Record;

const KINDS: &[&str] = &["read", "edit", "delete", "execute", "fetch", "search", "mcp", "agent", "other"];

/// Kinds of tools, by their common names.
const TABLE: &[(&str, &[&str])] = &[
    ("read", &["Read", "NotebookRead", "BashOutput", "LS"]),
    ("edit", &["Write", "Edit", "MultiEdit", "NotebookEdit"]),
    ("execute", &["Bash", "PowerShell", "KillShell"]),
    ("fetch", &["WebFetch"]),
    ("search", &["Grep", "Glob", "LSP", "WebSearch", "ToolSearch"]),
    ("agent", &["Agent", "Task", "SendMessage"]),
];

/// Words in the names of other tools, and the kind that they suggest. The first match applies.
const WORDS: &[(&str, &[&str])] =
    &[("delete", &["delete", "remove"]), ("execute", &["shell", "exec", "terminal", "bash", "run_command"])];

pub(super) static TOOL: Schema = Schema {
    name: "tool",
    doc: "The tool of a call.",
    fields: &[
        field("name", Type::String, "The agent's own name."),
        field(
            "common_name",
            Type::Format(&formats::COMMON_TOOL),
            "Name that all agents share, such as `Bash`, `Write` or `mcp__SERVER__TOOL`.",
        ),
        field(
            "kind",
            Type::OneOf(KINDS),
            "Use of the tool: `read`, `edit`, `delete`, `execute`, `fetch`, `search`, `mcp`, `agent` or `other`.",
        ),
        field("mcp", Type::nullable(&Type::Object(&MCP)), "Server and tool of an MCP tool; null for others."),
    ],
    methods: &[],
};

static MCP: Schema = Schema {
    name: "mcp",
    doc: "A tool of an MCP server.",
    fields: &[
        field("server", Type::String, "Name of the server."),
        field("tool", Type::String, "Name of the tool on the server."),
    ],
    methods: &[],
};

/// Returns the tool of an event.
pub(super) fn value(event: &Event) -> Value {
    let name = event.tool_name().unwrap_or_default();
    let server = match event.field("mcp_server") {
        Some(PayloadField::Json(server)) => server.as_text().map(std::borrow::Cow::into_owned),
        Some(PayloadField::Text(server)) => Some(server.to_owned()),
        _ => None,
    };
    let names = || std::iter::once(name).chain(event.tool_aliases());
    let shared = names().find(|name| is_common_tool(name) || split(name).is_some());
    let common = match (&server, shared) {
        (Some(server), None) if matches!(event.kind(), EventKind::PreMcp | EventKind::PostMcp) => {
            format!("mcp__{server}__{name}")
        }
        (_, shared) => shared.unwrap_or(name).to_owned(),
    };
    let mcp = match (split(&common), server) {
        (Some((_, tool)), Some(server)) => Record::value(&MCP, [server.into(), tool.into()]),
        (Some((server, tool)), None) => Record::value(&MCP, [server.into(), tool.into()]),
        (None, _) => Value::Null,
    };
    let kind = if matches!(mcp, Value::Null) { kind(&event.kind(), &common) } else { "mcp" };
    Record::value(&TOOL, [name.into(), common.into(), kind.into(), mcp])
}

fn split(name: &str) -> Option<(&str, &str)> {
    name.strip_prefix("mcp__")?.split_once("__").filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
}

fn kind(event: &EventKind, common: &str) -> &'static str {
    if let Some((kind, _)) = TABLE.iter().find(|(_, names)| names.contains(&common)) {
        return kind;
    }
    match event {
        EventKind::PreShell | EventKind::PostShell | EventKind::ShellEnvironment => return "execute",
        EventKind::PreFileRead | EventKind::PostFileRead | EventKind::PreTabRead => return "read",
        EventKind::PreFileWrite | EventKind::PostFileWrite | EventKind::PostTabEdit => return "edit",
        EventKind::PreMcp | EventKind::PostMcp | EventKind::McpRequest => return "mcp",
        _ => {}
    }
    if is_common_tool(common) {
        return "other";
    }
    let lower = common.to_ascii_lowercase();
    let word = WORDS.iter().find(|(_, words)| words.iter().any(|word| lower.contains(word)));
    word.map_or("other", |(kind, _)| kind)
}
