//! Texts about decisions that an agent does not support. [`VerdictRenderer`] uses them.
//!
//! A reason is for the model: it names the next step. A note is for the user.

use checkrein_core::Decision;

use super::VerdictRenderer;

impl VerdictRenderer<'_> {
    /// Returns the reason of a decision that replaces an unsupported one.
    pub(super) fn replaced_reason(&self, wanted: Decision, supported: Decision, reason: &str) -> String {
        let cannot = match wanted {
            // The agent asks the user, with the same reason.
            Decision::Defer if supported == Decision::Ask => return reason.to_owned(),
            Decision::Ask | Decision::Defer => return self.confirmation_needed(reason),
            Decision::Halt => format!("{}; stop and tell the user", self.cannot(wanted)),
            // The block is as strong, so the model needs no explanation.
            _ => return reason.to_owned(),
        };
        if reason.is_empty() { cannot } else { format!("{reason} ({cannot})") }
    }

    /// Returns the reason of a denial in place of a question to the user.
    fn confirmation_needed(&self, reason: &str) -> String {
        let title = self.dialect.title();
        let place = self.place_of(Decision::Ask);
        let next = match (self.extras.confirm_with, self.event.tool_name().is_some()) {
            (Some(command), _) => format!(
                ": tell the user to run `{command}` in a terminal, then repeat exactly this call; never run that command yourself"
            ),
            (None, true) => ": tell the user to run it".to_owned(),
            // The user reads the reason.
            (None, false) => String::new(),
        };
        let text = format!("Needs the user's confirmation, and {title} hooks cannot ask for it{place}{next}.");
        if reason.is_empty() { text } else { format!("{text} ({reason})") }
    }

    /// Returns the note for the user about a decision that replaces an unsupported one.
    pub(super) fn replaced_note(&self, wanted: Decision, supported: Decision) -> String {
        let effect = match supported {
            Decision::Ask => "the user is asked",
            Decision::Deny => "this was denied",
            Decision::Halt => "the agent was stopped",
            Decision::NoOpinion | Decision::Allow | Decision::Defer => "the answer differs",
        };
        format!("{}, so {effect}", self.cannot(wanted))
    }

    /// Returns `AGENT hooks cannot DECIDE`, with the event if the agent supports the decision elsewhere.
    pub(super) fn cannot(&self, decision: Decision) -> String {
        format!("{} hooks cannot {decision}{}", self.dialect.title(), self.place_of(decision))
    }

    /// Returns the event, for a decision that the agent supports at other events. Otherwise empty.
    fn place_of(&self, decision: Decision) -> String {
        let is_said_elsewhere = self.dialect.reply.keys.iter().any(|key| key.says(decision));
        let name = self.dialect.name_of(self.kind).unwrap_or(self.kind.name());
        if is_said_elsewhere { format!(" at {name}") } else { String::new() }
    }
}
