//! Names of the tools of MCP servers.
//!
//! The shared name is Claude Code's: `mcp__SERVER__TOOL`. Events carry it as an alias, so a matcher for it matches under every
//! agent. A name that can be split in several ways has an alias for each.

use std::borrow::Cow;

use checkrein_core::Event;

use crate::table::Dialect;

/// Maximum number of ways to split a name. The server is the first part, so the first splits include the true one.
const MAX_SPLITS: usize = 256;

/// Names of the tools of MCP servers in an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct McpNames {
    /// Text before the name of the server.
    pub prefix: &'static str,
    /// Text between the names of the server and the tool.
    pub separator: &'static str,
    /// Fields of the payload with the names of the server and the tool. `None`: payloads have only the whole name.
    pub fields: Option<(&'static str, &'static str)>,
}

impl McpNames {
    /// Shared names: `mcp__SERVER__TOOL`.
    pub const SHARED: Self = Self::new("mcp__", "__");

    /// Names of a form that is not known, or that does not contain the server.
    pub const UNKNOWN: Self = Self::new("", "");

    /// Names of this form.
    pub const fn new(prefix: &'static str, separator: &'static str) -> Self {
        Self { prefix, separator, fields: None }
    }

    /// Sets the fields of the payload with the names of the server and the tool.
    #[must_use]
    pub const fn in_fields(mut self, server: &'static str, tool: &'static str) -> Self {
        self.fields = Some((server, tool));
        self
    }

    /// `true` if the form is known.
    pub const fn is_known(&self) -> bool {
        !self.separator.is_empty()
    }

    /// Returns the name of another agent for a tool of an MCP server: one for each way to split the name. Empty: it is no such
    /// tool, or a form is not known.
    pub fn translate(&self, name: &str, to: &Self) -> Vec<String> {
        if !to.is_known() || !name.starts_with(self.prefix) {
            return Vec::new();
        }
        let renamed = |(server, tool): (&str, &str)| format!("{}{server}{}{tool}", to.prefix, to.separator);
        self.splits(name).map(renamed).collect()
    }

    fn splits<'n>(&self, name: &'n str) -> impl Iterator<Item = (&'n str, &'n str)> + use<'n> {
        let separator = self.separator;
        let rest = name.strip_prefix(self.prefix).filter(|_| self.is_known()).unwrap_or_default();
        let places = rest.char_indices().map(|(at, _)| at).filter(move |at| rest[*at..].starts_with(separator));
        let parts = places.map(move |at| (&rest[..at], &rest[at + separator.len()..]));
        parts.filter(|(server, tool)| !server.is_empty() && !tool.is_empty()).take(MAX_SPLITS)
    }
}

/// Returns the shared name. Other characters than letters, digits, `_` and `-` become `_`, as in Claude Code.
fn shared_name(server: &str, tool: &str) -> String {
    let is_other = |c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_');
    format!("mcp__{}__{}", server.replace(is_other, "_"), tool.replace(is_other, "_"))
}

impl Dialect {
    /// Returns the shared names of a tool, if its agent names it like a tool of an MCP server. `field` returns a field of the
    /// payload as text. Tools in the table are no such tools.
    pub(crate) fn mcp_aliases<'f>(&self, tool: &str, field: impl Fn(&str) -> Option<Cow<'f, str>>) -> Vec<String> {
        let shared = McpNames::SHARED;
        let is_shared = || tool.starts_with(shared.prefix) && shared.splits(tool).next().is_some();
        if self.mcp == shared || self.tool(tool).is_some() || is_shared() {
            return Vec::new();
        }
        let named = self.mcp.fields.and_then(|(server, tool)| Some(shared_name(&field(server)?, &field(tool)?)));
        match named {
            Some(name) => vec![name],
            None => {
                let mut names: Vec<_> = self.mcp.splits(tool).map(|(server, tool)| shared_name(server, tool)).collect();
                names.dedup();
                names
            }
        }
    }

    /// Returns the name that this dialect's agent would have for the MCP tool of another agent's event. `None`: it is no such
    /// tool, or the event is this agent's own.
    pub(crate) fn native_mcp_name(&self, event: &Event) -> Option<String> {
        if self.has_sent(event) {
            return None;
        }
        let shared = McpNames::SHARED;
        let mut names = event.tool_aliases().chain(event.tool_name());
        let (server, tool) = names.find_map(|name| shared.splits(name).next())?;
        let own = if self.mcp.is_known() { self.mcp } else { shared };
        Some(format!("{}{server}{}{tool}", own.prefix, own.separator))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(names: McpNames, name: &str) -> Vec<String> {
        names.splits(name).map(|(server, tool)| shared_name(server, tool)).collect()
    }

    #[test]
    fn names_are_split_in_every_way() {
        for (names, name, expected) in [
            (McpNames::new("", "__"), "fake__touch_it", &["mcp__fake__touch_it"][..]),
            (McpNames::new("", "__"), "a___b", &["mcp__a___b", "mcp__a___b"]),
            (McpNames::new("", "-"), "my-fs-read", &["mcp__my__fs-read", "mcp__my-fs__read"]),
            (McpNames::new("mcp_", "_"), "mcp_fake_touch_it", &["mcp__fake__touch_it", "mcp__fake_touch__it"]),
            (McpNames::new("mcp_", "_"), "read_file", &[]),
            (McpNames::new("", "-"), "-x-", &[]),
            (McpNames::new("", "-"), "é-b.x", &["mcp_____b_x"]),
        ] {
            assert_eq!(split(names, name).iter().map(String::as_str).collect::<Vec<_>>(), expected, "{name}");
        }
        assert_eq!(shared_name("my server", "do.it"), "mcp__my_server__do_it");
        assert_eq!(McpNames::new("", "-").splits(&"a-".repeat(100_000)).count(), MAX_SPLITS);
    }
}
