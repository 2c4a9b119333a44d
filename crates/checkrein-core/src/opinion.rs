use std::collections::BTreeMap;
use std::fmt;

use crate::contract::Target;
use crate::decision::Decision;
use crate::json::RawJson;

/// What one hook says of one event. The default says nothing.
///
/// ```
/// use checkrein_core::{Decision, Opinion};
///
/// let opinion = Opinion::deny("no network on Fridays").with_context("try the local mirror");
/// assert_eq!(opinion.decision(), Decision::Deny);
/// assert_eq!(opinion.reason(), Some("no network on Fridays"));
/// assert!(Opinion::none().is_none());
/// ```
// One pointer wide, because hooks that say nothing are the common case and pay for every byte.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Opinion(Option<Box<Parts>>);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Parts {
    decision: Decision,
    reason: Option<String>,
    context: Vec<String>,
    messages: Vec<String>,
    stop_reason: Option<String>,
    suppress_output: bool,
    first_user_message: Option<String>,
    rewrites: Vec<Rewrite>,
    metadata: BTreeMap<String, RawJson>,
}

/// What an opinion puts in place of what the event carries.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rewrite {
    /// What is rewritten.
    pub target: Target,
    /// How.
    pub mode: RewriteMode,
    /// The new value, or the fields to lay over the old one.
    pub value: RawJson,
}

/// How a rewrite is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RewriteMode {
    /// The value takes the place of the old one.
    Replace,
    /// The value's fields are laid over those of the old one. Both must be objects.
    Merge,
}

impl Rewrite {
    /// Puts `value` in place of what was there.
    pub fn replace(target: Target, value: RawJson) -> Self {
        Self { target, mode: RewriteMode::Replace, value }
    }

    /// Lays the fields of `patch` over those that were there.
    pub fn merge(target: Target, patch: RawJson) -> Self {
        Self { target, mode: RewriteMode::Merge, value: patch }
    }
}

impl Opinion {
    /// Says nothing: the host goes on as if the hook did not exist.
    pub const fn none() -> Self {
        Self(None)
    }

    /// It may happen, without asking the user.
    pub fn allow() -> Self {
        Self::of(Decision::Allow)
    }

    /// It may not happen.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::of(Decision::Deny).with_reason(reason)
    }

    /// The user shall be asked.
    pub fn ask(reason: impl Into<String>) -> Self {
        Self::of(Decision::Ask).with_reason(reason)
    }

    /// It shall wait for an answer from elsewhere.
    pub fn defer(reason: impl Into<String>) -> Self {
        Self::of(Decision::Defer).with_reason(reason)
    }

    /// It may not happen, and the agent shall stop.
    pub fn halt(reason: impl Into<String>) -> Self {
        Self::of(Decision::Halt).with_reason(reason)
    }

    /// This decision, without a reason yet.
    pub fn of(decision: Decision) -> Self {
        Self::none().edit(|parts| parts.decision = decision)
    }

    /// The tool shall be called with this instead.
    pub fn rewrite_input(value: RawJson) -> Self {
        Self::none().with_rewrite(Rewrite::replace(Target::Input, value))
    }

    /// The tool shall be called with these fields in place of its own.
    pub fn merge_input(patch: RawJson) -> Self {
        Self::none().with_rewrite(Rewrite::merge(Target::Input, patch))
    }

    /// The model shall see this instead of what the tool gave back.
    pub fn rewrite_output(value: RawJson) -> Self {
        Self::none().with_rewrite(Rewrite::replace(Target::Output, value))
    }

    /// The user shall have said this instead.
    pub fn rewrite_prompt(prompt: &str) -> Self {
        Self::none().with_rewrite(Rewrite::replace(Target::Prompt, RawJson::string(prompt)))
    }

    /// The model shall be told this.
    pub fn context(text: impl Into<String>) -> Self {
        Self::none().with_context(text)
    }

    /// Adds a decision, or replaces the one there is.
    #[must_use]
    pub fn with_decision(self, decision: Decision) -> Self {
        self.edit(|parts| parts.decision = decision)
    }

    /// Says why.
    #[must_use]
    pub fn with_reason(self, reason: impl Into<String>) -> Self {
        self.edit(|parts| parts.reason = Some(reason.into()))
    }

    /// Adds something to tell the model.
    #[must_use]
    pub fn with_context(self, text: impl Into<String>) -> Self {
        self.edit(|parts| parts.context.push(text.into()))
    }

    /// Adds something to tell the user.
    #[must_use]
    pub fn with_message(self, text: impl Into<String>) -> Self {
        self.edit(|parts| parts.messages.push(text.into()))
    }

    /// Says what the user reads when the agent stops.
    #[must_use]
    pub fn with_stop_reason(self, text: impl Into<String>) -> Self {
        self.edit(|parts| parts.stop_reason = Some(text.into()))
    }

    /// Keeps the hook's output from the user.
    #[must_use]
    pub fn suppress_output(self) -> Self {
        self.edit(|parts| parts.suppress_output = true)
    }

    /// Speaks as the user, first of all.
    #[must_use]
    pub fn with_first_user_message(self, text: impl Into<String>) -> Self {
        self.edit(|parts| parts.first_user_message = Some(text.into()))
    }

    /// Adds a rewrite.
    #[must_use]
    pub fn with_rewrite(self, rewrite: Rewrite) -> Self {
        self.edit(|parts| parts.rewrites.push(rewrite))
    }

    /// Writes the summary that stands for what compaction drops.
    #[must_use]
    pub fn with_summary(self, text: &str) -> Self {
        self.with_rewrite(Rewrite::replace(Target::Summary, RawJson::string(text)))
    }

    /// Adds something for the host, by name.
    #[must_use]
    pub fn with_metadata(self, name: impl Into<String>, value: RawJson) -> Self {
        self.edit(|parts| {
            parts.metadata.insert(name.into(), value);
        })
    }

    /// The same with each text for the model or the user as the function has it: contexts, messages, and what the user
    /// says first.
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

    /// Whether it says nothing at all.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }

    /// Whether it decides or rewrites something, rather than just adding to it.
    pub fn is_decision(&self) -> bool {
        self.decision() != Decision::NoOpinion || !self.rewrites().is_empty()
    }

    /// The decision.
    pub fn decision(&self) -> Decision {
        self.0.as_ref().map_or(Decision::NoOpinion, |parts| parts.decision)
    }

    /// Why.
    pub fn reason(&self) -> Option<&str> {
        self.0.as_ref()?.reason.as_deref()
    }

    /// What to tell the model.
    pub fn contexts(&self) -> &[String] {
        self.0.as_ref().map_or(&[], |parts| &parts.context)
    }

    /// What to tell the user.
    pub fn messages(&self) -> &[String] {
        self.0.as_ref().map_or(&[], |parts| &parts.messages)
    }

    /// What the user reads when the agent stops.
    pub fn stop_reason(&self) -> Option<&str> {
        self.0.as_ref()?.stop_reason.as_deref()
    }

    /// Whether the hook's output shall be kept from the user.
    pub fn suppresses_output(&self) -> bool {
        self.0.as_ref().is_some_and(|parts| parts.suppress_output)
    }

    /// What to say as the user, first of all.
    pub fn first_user_message(&self) -> Option<&str> {
        self.0.as_ref()?.first_user_message.as_deref()
    }

    /// What it rewrites.
    pub fn rewrites(&self) -> &[Rewrite] {
        self.0.as_ref().map_or(&[], |parts| &parts.rewrites)
    }

    /// What it tells the host, by name.
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
