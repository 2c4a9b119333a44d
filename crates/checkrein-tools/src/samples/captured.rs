//! Captured payloads of real agents.

use checkrein_core::{Event, EventKind, RawJson};
use checkrein_dialects::Dialect;

/// One capture per line: the dialect, its name for the event, and the payload. `tests/samples.rs` writes the file.
const CAPTURES: &str = include_str!("captures.tsv");

/// Captured event of this dialect and kind: for this tool if there is a capture, else for another tool.
pub(super) fn find(dialect: &'static Dialect, kind: &EventKind, tool: Option<&str>) -> Option<Event> {
    let name = dialect.name_of(kind)?;
    let sent = CAPTURES.lines().filter_map(|line| {
        let rest = line.strip_prefix(dialect.name)?.strip_prefix('\t')?;
        let json = rest.strip_prefix(name)?.strip_prefix('\t')?;
        // Skips captures that the dialect's table cannot decode.
        dialect.event(&RawJson::parse(json).ok()?, Some(name)).ok()
    });
    let mut all: Vec<_> = sent.filter(|event| event.kind() == *kind).collect();
    let wanted = all.iter().position(|event| match tool {
        Some(tool) => event.tool_name() == Some(tool),
        // Prefers a command, because most hooks check commands.
        None => event.tool_input().is_some_and(|input| input.field("command").is_some()),
    });
    (!all.is_empty()).then(|| all.swap_remove(wanted.unwrap_or_default()))
}
