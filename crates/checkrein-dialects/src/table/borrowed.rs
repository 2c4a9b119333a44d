//! Agents that also read the hook files of other agents.
//!
//! Such an agent calls `checkrein hook OTHER` with its own payload, and expects its own answers. The agent adapter recognizes it
//! by a variable and by the payload, and never by the place of the entry.

use checkrein_core::RawJson;

use super::Dialect;

/// Files of other agents that an agent also reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BorrowedFiles {
    /// Names of the other agents.
    pub agents: &'static [&'static str],
    /// Variable that the agent sets for each hook. A child process of the agent inherits it, so it is not sufficient alone.
    pub variable: &'static str,
}

impl Dialect {
    /// Returns the agent that really sent a payload to an entry for this agent: one that reads this agent's files, whose variable is
    /// set, and which names an event of its own in the payload. `None`: this agent.
    ///
    /// `payload` is `None` if it is not JSON: then the variable decides.
    pub fn borrower(&self, payload: Option<&RawJson>, is_set: impl Fn(&str) -> bool) -> Option<&'static Self> {
        crate::ALL.iter().copied().find(|agent| {
            let Some(files) = agent.borrows else { return false };
            files.agents.contains(&self.name)
                && is_set(files.variable)
                && payload.is_none_or(|json| agent.event_name(json).is_some())
        })
    }
}
