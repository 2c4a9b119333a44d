//! Denial by a new input, for agents that show no reason of a denial.
//!
//! The denied call becomes a call of the same tool that prints the reason and fails, so that the model reads it and continues.
//! [`ToolRow::speaks`](crate::ToolRow) names the field. The original command must never be a part of the new one.

use checkrein_core::json::JsonObject;
use checkrein_core::{Decision, EventKind, RawJson, Target};

use super::VerdictRenderer;
use crate::reply::KeyMeaning;

/// Longest reason in a command, in characters.
const MAX_REASON: usize = 1000;

impl VerdictRenderer<'_> {
    /// Renders a denial as a new input. Returns `false` if the agent shows reasons, or the tool does not run commands.
    pub(super) fn decide_by_command(&mut self, decision: Decision, reason: &str) -> bool {
        let is_denial = matches!(decision, Decision::Deny | Decision::Ask | Decision::Defer);
        let is_used = self.extras.speaks_by_command && *self.kind == EventKind::PreToolUse && !cfg!(windows);
        if !is_used || !is_denial || self.supported(decision).is_none_or(|supported| !supported.is_block()) {
            return false;
        }
        let tool = self.event.tool_name().and_then(|name| self.dialect.tool(name));
        let Some(field) = tool.and_then(|tool| tool.speaks) else { return false };
        let Some(path) = self.key(|key| key == KeyMeaning::Replace(Target::Input)) else { return false };
        let reason = if decision == Decision::Deny {
            reason.to_owned()
        } else {
            self.replaced_reason(decision, Decision::Deny, reason)
        };
        let commands = RawJson::parse(format!("[{}]", RawJson::string(&command(&reason))));
        let original = self.event.tool_input();
        let (Ok(commands), Some(fields)) = (commands, original.and_then(RawJson::entries)) else { return false };
        let mut input = JsonObject::new();
        for own in fields {
            if !own.is_named(field) {
                input.entry(&own.key(), &own);
            }
        }
        input.field(field, &commands);
        let Some(input) = input.finish() else { return false };
        self.put(path, &input);
        self.answer.decision = Decision::Deny;
        self.answer.reason = Some(reason);
        self.answer.rewrites.insert(Target::Input, input);
        self.note(format!("{} shows no reasons, so a command that fails prints this one", self.dialect.title()));
        true
    }
}

/// Returns a command that prints the reason to standard error and fails.
///
/// The text is in single quotes, without characters that end them or escape in some shell: sh, bash, zsh, fish and PowerShell.
fn command(reason: &str) -> String {
    let safe = |c: char| match c {
        '\'' | '\u{2018}'..='\u{201b}' => '\u{2bc}',
        '\\' => '/',
        c if c.is_control() => ' ',
        c => c,
    };
    let text: String = reason.chars().take(MAX_REASON).map(safe).collect();
    format!("echo 'Denied by checkrein: {text}' >&2; exit 1")
}

#[cfg(test)]
mod tests {
    use super::command;

    #[test]
    fn reason_cannot_leave_its_quotes() {
        for reason in ["it's; rm -rf /", "a\\' ; rm", "\u{2019}; rm", "a\nb", "$(rm) `rm` !! %s"] {
            let command = command(reason);
            let (before, rest) = command.split_once('\'').unwrap();
            let (text, after) = rest.rsplit_once('\'').unwrap();
            assert_eq!((before, after), ("echo ", " >&2; exit 1"));
            assert!(!text.contains(['\'', '\\', '\n', '\u{2019}']), "{text}");
        }
    }
}
