//! [`Plan`]: the explanation of a selection, for users.
//!
//! `checkrein explain` and `checkrein run` show it. A plan must have the same selected hooks as
//! [`HookSet::select`](super::HookSet::select).

use std::borrow::Cow;
use std::fmt;

use super::{EventFilter, HookSet, is_preferred};
use crate::event::Event;
use crate::hook::{HookSelector, HookState};
use crate::kind::EventKind;

/// Explanation of the selection for one event.
#[derive(Debug)]
#[non_exhaustive]
pub struct Plan<'a> {
    /// Kind of the event.
    pub kind: EventKind,
    /// Subject that matchers were compared with.
    pub subject: Option<String>,
    /// All hooks, in config order.
    pub entries: Vec<PlanEntry<'a>>,
}

/// One hook of a plan.
#[derive(Debug)]
#[non_exhaustive]
pub struct PlanEntry<'a> {
    /// Hook.
    pub hook: &'a HookSelector,
    /// Position in config order.
    pub position: usize,
    /// Reason why the hook is not selected. `None`: it is selected.
    pub skip_reason: Option<SkipReason>,
}

/// Reason why a hook is not selected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkipReason {
    /// The hook is for other kinds of events.
    OtherKind,
    /// The hook is disabled.
    Disabled,
    /// The hook is skipped by a variable or an option.
    Skipped {
        /// Cause.
        why: String,
    },
    /// The matcher does not match.
    NoMatch {
        /// Pattern of the matcher.
        pattern: String,
        /// Subject of the event.
        subject: String,
    },
    /// An identical hook runs instead.
    DuplicateOf {
        /// Id of that hook.
        id: String,
    },
    /// The condition is false.
    Condition {
        /// Text of the condition.
        text: String,
    },
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherKind => f.write_str("for other events"),
            Self::Disabled => f.write_str("disabled"),
            Self::Skipped { why } => write!(f, "skipped: {why}"),
            Self::NoMatch { pattern, subject } => write!(f, "matcher `{pattern}` does not match `{subject}`"),
            Self::DuplicateOf { id } => write!(f, "duplicate of hook `{id}`"),
            Self::Condition { text } => write!(f, "condition `{text}` is false"),
        }
    }
}

impl<'a> Plan<'a> {
    pub(super) fn new(set: &'a HookSet, event: &'a Event) -> Self {
        let (kind, subject) = (event.kind(), event.subject().map(Cow::into_owned));
        let filter = EventFilter::for_event(event);
        let parent = super::parent_event(event);
        let check = |hook: &HookSelector| match &parent {
            Some(parent) if !hook.kinds.contains(&kind) => mismatch(hook, parent, &filter),
            _ => mismatch(hook, event, &filter),
        };
        let mismatches: Vec<_> = set.hooks.iter().map(check).collect();
        let entries = set
            .hooks
            .iter()
            .zip(mismatches.iter().cloned())
            .enumerate()
            .map(|(position, (hook, mismatch))| {
                let skip_reason = mismatch.or_else(|| {
                    let duplicate = (0..mismatches.len()).find(|&other| {
                        mismatches[other].is_none()
                            && set.identities[position].is_some()
                            && set.identities[other] == set.identities[position]
                            && is_preferred(&set.hooks, other, position)
                    })?;
                    Some(SkipReason::DuplicateOf { id: set.hooks[duplicate].info.id.clone() })
                });
                PlanEntry { hook, position, skip_reason }
            })
            .collect();
        Self { kind, subject, entries }
    }

    /// Returns the selected hooks.
    pub fn chosen(&self) -> impl Iterator<Item = &PlanEntry<'a>> {
        self.entries.iter().filter(|entry| entry.skip_reason.is_none())
    }
}

/// Returns the reason why a hook does not match the event. Ignores duplicates.
fn mismatch(hook: &HookSelector, event: &Event, filter: &EventFilter) -> Option<SkipReason> {
    if !hook.kinds.iter().any(|kind| filter.has_kind(kind)) {
        return Some(SkipReason::OtherKind);
    }
    match &hook.state {
        HookState::Disabled => return Some(SkipReason::Disabled),
        HookState::Skipped(why) => return Some(SkipReason::Skipped { why: why.clone() }),
        HookState::Ready | HookState::Untrusted | HookState::Changed(_) | HookState::Broken(_) => {}
    }
    if !filter.can_match(&hook.kinds, |name| hook.matcher.matches(name)) {
        let subject = filter.subject(&hook.kinds).to_owned();
        return Some(SkipReason::NoMatch { pattern: hook.matcher.pattern().to_owned(), subject });
    }
    let failing = hook.condition.as_ref()?.failing(event)?;
    let text = failing.text().to_owned();
    Some(match failing.is_matcher() {
        true => SkipReason::NoMatch { pattern: text, subject: filter.subject(&hook.kinds).to_owned() },
        false => SkipReason::Condition { text },
    })
}
