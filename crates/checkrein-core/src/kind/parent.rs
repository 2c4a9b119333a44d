//! Kinds that are for some tools, and the one for all of them.

use super::{EventKind, Payload};
use crate::event::Event;
use crate::json::RawJson;
use crate::payload::{ToolCall, ToolOutcome};

impl EventKind {
    /// The kind that is for all tools, of one that is for some. `None`: it is no such kind.
    pub fn parent_kind(&self) -> Option<Self> {
        match self {
            Self::PreShell | Self::PreMcp | Self::PreFileRead | Self::PreFileWrite => Some(Self::PreToolUse),
            Self::PostShell | Self::PostMcp | Self::PostFileRead | Self::PostFileWrite => Some(Self::PostToolUse),
            _ => None,
        }
    }
}

impl Event {
    /// The same as an event of the [kind for all tools](EventKind::general). A tool of an MCP server has the server in its
    /// name there: `mcp__SERVER__TOOL`.
    pub fn as_parent_kind(&self) -> Option<Self> {
        let payload = match &self.payload {
            Payload::PreShell(call) | Payload::PreFileRead(call) | Payload::PreFileWrite(call) => {
                Payload::PreToolUse(call.clone())
            }
            Payload::PreMcp(call) => {
                let server = call.mcp_server.as_ref().and_then(RawJson::as_text);
                let name = of_server(server.as_deref(), &call.tool_name);
                Payload::PreToolUse(ToolCall { tool_name: name, ..call.clone() })
            }
            Payload::PostShell(call) | Payload::PostFileRead(call) | Payload::PostFileWrite(call) => {
                Payload::PostToolUse(call.clone())
            }
            Payload::PostMcp(call) => {
                let server = self.envelope.extra.get("mcp_server").and_then(RawJson::as_text);
                let name = of_server(server.as_deref(), &call.tool_name);
                Payload::PostToolUse(ToolOutcome { tool_name: name, ..call.clone() })
            }
            _ => return None,
        };
        Some(self.with_payload(payload))
    }
}

fn of_server(server: Option<&str>, tool: &str) -> String {
    match server {
        Some(server) if !tool.starts_with("mcp__") => format!("mcp__{server}__{tool}"),
        _ => tool.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_that_is_part_of_another_can_be_told_as_it() {
        for kind in EventKind::ALL {
            let text = format!(r#"{{"event":"{kind}","tool_name":"t","tool_input":{{}},"error":"e"}}"#);
            let Ok(event) = Event::from_json(&text) else { continue };
            assert_eq!(event.as_parent_kind().map(|event| event.kind()), kind.parent_kind(), "{kind}");
        }
    }

    #[test]
    fn a_server_is_in_the_name() {
        let call = ToolCall::new("search", RawJson::default()).mcp_server(RawJson::string("github"));
        assert_eq!(Event::pre_mcp(call).as_parent_kind().unwrap().tool_name(), Some("mcp__github__search"));
        let after = r#"{"event":"post_mcp","tool_name":"search","tool_input":{},"mcp_server":"github"}"#;
        let after = Event::from_json(after).unwrap();
        assert_eq!(after.as_parent_kind().unwrap().tool_name(), Some("mcp__github__search"));
    }
}
