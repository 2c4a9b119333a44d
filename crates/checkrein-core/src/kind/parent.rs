//! Parent kinds: the kind for all tools of each kind that is for some tools.
//!
//! Selection uses them for hosts that have events for some tools only.

use super::{EventKind, Payload};
use crate::event::Event;
use crate::json::RawJson;
use crate::payload::{ToolCall, ToolOutcome};

impl EventKind {
    /// Returns the kind for all tools, if this kind is for some tools. `None` for other kinds.
    pub fn parent_kind(&self) -> Option<Self> {
        match self {
            Self::PreShell | Self::PreMcp | Self::PreFileRead | Self::PreFileWrite => Some(Self::PreToolUse),
            Self::PostShell | Self::PostMcp | Self::PostFileRead | Self::PostFileWrite => Some(Self::PostToolUse),
            _ => None,
        }
    }
}

impl Event {
    /// Returns the event as one of the [parent kind](EventKind::parent_kind), if it has one. The name of an MCP tool then
    /// contains the server: `mcp__SERVER__TOOL`.
    pub fn as_parent_kind(&self) -> Option<Self> {
        let payload = match &self.payload {
            Payload::PreShell(call) | Payload::PreFileRead(call) | Payload::PreFileWrite(call) => {
                Payload::PreToolUse(call.clone())
            }
            Payload::PreMcp(call) => {
                let server = call.mcp_server.as_ref().and_then(RawJson::as_text);
                let name = qualified_name(server.as_deref(), &call.tool_name);
                Payload::PreToolUse(ToolCall { tool_name: name, ..call.clone() })
            }
            Payload::PostShell(call) | Payload::PostFileRead(call) | Payload::PostFileWrite(call) => {
                Payload::PostToolUse(call.clone())
            }
            Payload::PostMcp(call) => {
                let server = self.envelope.extra.get("mcp_server").and_then(RawJson::as_text);
                let name = qualified_name(server.as_deref(), &call.tool_name);
                Payload::PostToolUse(ToolOutcome { tool_name: name, ..call.clone() })
            }
            _ => return None,
        };
        Some(self.with_payload(payload))
    }
}

/// Returns the name of a tool with its MCP server.
fn qualified_name(server: Option<&str>, tool: &str) -> String {
    match server {
        Some(server) if !tool.starts_with("mcp__") => format!("mcp__{server}__{tool}"),
        _ => tool.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_with_a_parent_converts_to_it() {
        for kind in EventKind::ALL {
            let text = format!(r#"{{"event":"{kind}","tool_name":"t","tool_input":{{}},"error":"e"}}"#);
            let Ok(event) = Event::from_json(&text) else { continue };
            assert_eq!(event.as_parent_kind().map(|event| event.kind()), kind.parent_kind(), "{kind}");
        }
    }

    #[test]
    fn parent_events_name_the_mcp_server() {
        let call = ToolCall::new("search", RawJson::default()).mcp_server(RawJson::string("github"));
        assert_eq!(Event::pre_mcp(call).as_parent_kind().unwrap().tool_name(), Some("mcp__github__search"));
        let after = r#"{"event":"post_mcp","tool_name":"search","tool_input":{},"mcp_server":"github"}"#;
        let after = Event::from_json(after).unwrap();
        assert_eq!(after.as_parent_kind().unwrap().tool_name(), Some("mcp__github__search"));
    }
}
