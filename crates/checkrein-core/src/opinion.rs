//! [`Opinion`]: the answer of one hook to one event.
//!
//! Callbacks return opinions, and dialects read them from replies. [`Settlement`](crate::Settlement) combines them.

use std::collections::BTreeMap;
use std::fmt;

use crate::contract::Target;
use crate::decision::Decision;
use crate::json::RawJson;

/// Answer of one hook to one event. The default is empty.
///
/// ```
/// use checkrein_core::{Decision, Opinion};
///
/// let opinion = Opinion::deny("no network on Fridays").with_context("try the local mirror");
/// assert_eq!(opinion.decision(), Decision::Deny);
/// assert_eq!(opinion.reason(), Some("no network on Fridays"));
/// assert!(Opinion::none().is_none());
/// ```
// One pointer wide: most opinions are empty, and their size is their cost.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Opinion(Option<Box<Parts>>);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Parts {
    decision: Decision,
    reason: Option<String>,
    context: Vec<String>,
    messages: Vec<String>,
    warnings: Vec<String>,
    stop_reason: Option<String>,
    suppress_output: bool,
    first_user_message: Option<String>,
    rewrites: Vec<Rewrite>,
    metadata: BTreeMap<String, RawJson>,
}

/// Change of a part of the event.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rewrite {
    /// Part of the event.
    pub target: Target,
    /// Replace or merge.
    pub mode: RewriteMode,
    /// New value, or the fields to merge into the old one.
    pub value: RawJson,
    /// Texts about the rewrite, if the hook gave some.
    pub texts: Option<RewriteTexts>,
}

/// Texts about a rewrite. The host uses one of them, because not every agent can apply every rewrite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewriteTexts {
    /// Message for the user if the rewrite is applied: `redacted 1 AWS access key in the output`.
    pub done: String,
    /// Cause, as a clause: `the output contains an AWS access key`.
    pub cause: String,
    /// Next step if the rewrite cannot be applied, as a clause: `remove the key`.
    pub remedy: String,
}

/// Way in which a rewrite is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RewriteMode {
    /// The value replaces the old one.
    Replace,
    /// The fields of the value replace those of the old one. Both must be objects.
    Merge,
}

impl Rewrite {
    /// Creates a rewrite that replaces the value.
    pub fn replace(target: Target, value: RawJson) -> Self {
        Self { target, mode: RewriteMode::Replace, value, texts: None }
    }

    /// Creates a rewrite that merges the fields of `patch` into the value.
    pub fn merge(target: Target, patch: RawJson) -> Self {
        Self { target, mode: RewriteMode::Merge, value: patch, texts: None }
    }

    /// Adds texts about the rewrite. A message with [`Opinion::with_message`] would claim it even if the agent cannot apply it.
    #[must_use]
    pub fn with_texts(mut self, texts: RewriteTexts) -> Self {
        self.texts = Some(texts);
        self
    }
}

impl Opinion {
    /// Creates an empty opinion: the host proceeds as if the hook did not exist.
    pub const fn none() -> Self {
        Self(None)
    }

    /// Creates an allow: proceed without asking the user.
    pub fn allow() -> Self {
        Self::from_decision(Decision::Allow)
    }

    /// Creates a deny: refuse the operation.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::from_decision(Decision::Deny).with_reason(reason)
    }

    /// Creates an ask: ask the user.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::from_decision(Decision::Ask).with_reason(reason)
    }

    /// Creates a defer: wait for an external answer.
    pub fn defer(reason: impl Into<String>) -> Self {
        Self::from_decision(Decision::Defer).with_reason(reason)
    }

    /// Creates a halt: refuse the operation and stop the agent.
    pub fn halt(reason: impl Into<String>) -> Self {
        Self::from_decision(Decision::Halt).with_reason(reason)
    }

    /// Creates an opinion with this decision and without a reason.
    pub fn from_decision(decision: Decision) -> Self {
        Self::none().edit(|parts| parts.decision = decision)
    }

    /// Creates an opinion that replaces the tool input.
    pub fn rewrite_input(value: RawJson) -> Self {
        Self::none().with_rewrite(Rewrite::replace(Target::Input, value))
    }

    /// Creates an opinion that merges these fields into the tool input.
    pub fn merge_input(patch: RawJson) -> Self {
        Self::none().with_rewrite(Rewrite::merge(Target::Input, patch))
    }

    /// Creates an opinion that replaces the tool output for the model.
    pub fn rewrite_output(value: RawJson) -> Self {
        Self::none().with_rewrite(Rewrite::replace(Target::Output, value))
    }

    /// Creates an opinion that replaces the prompt.
    pub fn rewrite_prompt(prompt: &str) -> Self {
        Self::none().with_rewrite(Rewrite::replace(Target::Prompt, RawJson::string(prompt)))
    }

    /// Creates an opinion with context for the model.
    pub fn context(text: impl Into<String>) -> Self {
        Self::none().with_context(text)
    }

    /// Sets the decision.
    #[must_use]
    pub fn with_decision(self, decision: Decision) -> Self {
        self.edit(|parts| parts.decision = decision)
    }

    /// Sets the reason.
    #[must_use]
    pub fn with_reason(self, reason: impl Into<String>) -> Self {
        self.edit(|parts| parts.reason = Some(reason.into()))
    }

    /// Adds context for the model.
    #[must_use]
    pub fn with_context(self, text: impl Into<String>) -> Self {
        self.edit(|parts| parts.context.push(text.into()))
    }

    /// Adds a message for the user.
    #[must_use]
    pub fn with_message(self, text: impl Into<String>) -> Self {
        self.edit(|parts| parts.messages.push(text.into()))
    }

    /// Adds a warning about the hook. The text does not name the hook.
    #[must_use]
    pub fn with_warning(self, text: impl Into<String>) -> Self {
        self.edit(|parts| parts.warnings.push(text.into()))
    }

    /// Sets the text that the user sees when the agent stops.
    #[must_use]
    pub fn with_stop_reason(self, text: impl Into<String>) -> Self {
        self.edit(|parts| parts.stop_reason = Some(text.into()))
    }

    /// Hides the hook's output from the user.
    #[must_use]
    pub fn suppress_output(self) -> Self {
        self.edit(|parts| parts.suppress_output = true)
    }

    /// Sets the first user message of the session.
    #[must_use]
    pub fn with_first_user_message(self, text: impl Into<String>) -> Self {
        self.edit(|parts| parts.first_user_message = Some(text.into()))
    }

    /// Adds a rewrite.
    #[must_use]
    pub fn with_rewrite(self, rewrite: Rewrite) -> Self {
        self.edit(|parts| parts.rewrites.push(rewrite))
    }

    /// Sets the summary that a compaction puts in place of dropped messages.
    #[must_use]
    pub fn with_summary(self, text: &str) -> Self {
        self.with_rewrite(Rewrite::replace(Target::Summary, RawJson::string(text)))
    }

    /// Adds metadata for the host, by name.
    #[must_use]
    pub fn with_metadata(self, name: impl Into<String>, value: RawJson) -> Self {
        self.edit(|parts| {
            parts.metadata.insert(name.into(), value);
        })
    }

    /// Applies a function to each text for the model or the user: contexts, messages, and the first user message.
    #[must_use]
    pub fn map_texts(self, mut change: impl FnMut(String) -> String) -> Self {
        let Some(mut parts) = self.0 else { return self };
        for text in parts.context.iter_mut().chain(&mut parts.messages).chain(&mut parts.first_user_message) {
            *text = change(std::mem::take(text));
        }
        Self(Some(parts))
    }

    fn edit(mut self, change: impl FnOnce(&mut Parts)) -> Self {
        change(self.0.get_or_insert_default());
        self
    }

    /// `true` if the opinion is empty.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// `true` if the opinion has a decision or a rewrite.
    pub fn is_decision(&self) -> bool {
        self.decision() != Decision::NoOpinion || !self.rewrites().is_empty()
    }

    /// Returns the decision.
    pub fn decision(&self) -> Decision {
        self.0.as_ref().map_or(Decision::NoOpinion, |parts| parts.decision)
    }

    /// Returns the reason.
    pub fn reason(&self) -> Option<&str> {
        self.0.as_ref()?.reason.as_deref()
    }

    /// Returns the contexts for the model.
    pub fn contexts(&self) -> &[String] {
        self.0.as_ref().map_or(&[], |parts| &parts.context)
    }

    /// Returns the messages for the user.
    pub fn messages(&self) -> &[String] {
        self.0.as_ref().map_or(&[], |parts| &parts.messages)
    }

    /// Returns the warnings about the hook.
    pub fn warnings(&self) -> &[String] {
        self.0.as_ref().map_or(&[], |parts| &parts.warnings)
    }

    /// Returns the text that the user sees when the agent stops.
    pub fn stop_reason(&self) -> Option<&str> {
        self.0.as_ref()?.stop_reason.as_deref()
    }

    /// `true` if the hook's output must be hidden from the user.
    pub fn suppresses_output(&self) -> bool {
        self.0.as_ref().is_some_and(|parts| parts.suppress_output)
    }

    /// Returns the first user message of the session.
    pub fn first_user_message(&self) -> Option<&str> {
        self.0.as_ref()?.first_user_message.as_deref()
    }

    /// Returns the rewrites.
    pub fn rewrites(&self) -> &[Rewrite] {
        self.0.as_ref().map_or(&[], |parts| &parts.rewrites)
    }

    /// Returns the metadata for the host, by name.
    pub fn metadata(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.0.iter().flat_map(|parts| parts.metadata.iter().map(|(name, value)| (name.as_str(), value)))
    }
}

impl fmt::Debug for Opinion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("Opinion::none()"),
            Some(parts) => f.debug_tuple("Opinion").field(parts).finish(),
        }
    }
}
