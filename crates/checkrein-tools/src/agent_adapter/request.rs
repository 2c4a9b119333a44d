//! Payload of an agent, parsed once.
//!
//! Some agents also call entries in the files of other agents, so the payload decides which agent sent it.
//! An invalid payload also yields a [`Request`]: the denial must have the format of the agent's event.

use std::borrow::Cow;

use checkrein_core::{EventKind, JsonError, RawJson};

use super::AgentAdapter;

/// A payload and the adapter that answers it.
pub(super) struct Request<'p> {
    /// Adapter for the agent that sent the payload, and its generation.
    pub(super) adapter: Cow<'p, AgentAdapter>,
    pub(super) json: Result<RawJson, JsonError>,
}

impl AgentAdapter {
    /// Parses a payload, recognizes an agent that reads the files of this one, and selects the agent's generation by its fields.
    pub(super) fn read<'p>(&'p self, payload: &'p [u8]) -> Request<'p> {
        let json = RawJson::parse_bytes(payload);
        let has = |field: &str| match &json {
            Ok(json) => json.field(field).is_some(),
            Err(_) => find_bytes(payload, &format!("\"{field}\"")),
        };
        let mut adapter = Cow::Borrowed(self);
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if let Some(borrower) = self.agent.borrower(json.as_ref().ok(), is_set) {
            // The entry names the event of the other agent.
            let own = Self { agent: borrower, event: None, ..self.clone() };
            return Request { adapter: Cow::Owned(own), json };
        }
        if self.event.is_none()
            && let Some((_, agent)) = self.agent.other_generations.iter().find(|(field, _)| has(field))
        {
            adapter.to_mut().agent = agent;
        }
        Request { adapter, json }
    }
}

impl Request<'_> {
    /// Kind of the event: named by the caller or by the payload. `None`: unknown.
    pub(super) fn kind(&self) -> Option<EventKind> {
        let agent = self.adapter.agent;
        if let Some(name) = &self.adapter.event {
            return agent.kind_named(name).ok();
        }
        if let Ok(json) = &self.json
            && let Some(name) = agent.event_name(json)
        {
            return agent.kind_named(&name).ok();
        }
        // Invalid JSON names no event: text of a model in it could name another one.
        None
    }
}

fn find_bytes(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}
