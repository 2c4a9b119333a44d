use std::borrow::Cow;
use std::fmt;

use super::{EventFilter, HookSet, comes_before};
use crate::event::Event;
use crate::hook::{HookSelector, HookState};
use crate::kind::EventKind;

/// The hooks that will run for one event, and why each other hook will not.
#[derive(Debug)]
#[non_exhaustive]
pub struct Plan<'a> {
    /// The kind of the event.
    pub kind: EventKind,
    /// What matchers were compared with.
    pub subject: Option<String>,
    /// Every hook, in config order.
    pub entries: Vec<PlanEntry<'a>>,
}

/// One hook of a plan.
#[derive(Debug)]
#[non_exhaustive]
pub struct PlanEntry<'a> {
    /// The hook.
    pub hook: &'a HookSelector,
    /// Its position in config order.
    pub position: usize,
    /// Why it is not chosen. `None`: it is.
    pub skip_reason: Option<SkipReason>,
}

/// Why a hook is not chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SkipReason {
    /// It is for other kinds of events.
    OtherKind,
    /// It is switched off.
    Disabled,
    /// It is left out this time.
    Skipped {
        /// What says so.
        why: String,
    },
    /// Its matcher does not fit.
    NoMatch {
        /// The matcher's pattern.
        pattern: String,
        /// What it was compared with.
        subject: String,
    },
    /// The same as a hook before it.
    DuplicateOf {
        /// What that is called.
        id: String,
    },
    /// Its condition does not hold.
    Condition {
        /// The condition's words.
        text: String,
    },
}

impl fmt::Display for SkipReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OtherKind => f.write_str("it is for other events"),
            Self::Disabled => f.write_str("it is disabled"),
            Self::Skipped { why } => write!(f, "it is skipped: {why}"),
            Self::NoMatch { pattern, subject } => write!(f, "its matcher `{pattern}` does not fit `{subject}`"),
            Self::DuplicateOf { id } => write!(f, "it is the same as hook `{id}`"),
            Self::Condition { text } => write!(f, "its condition `{text}` does not hold"),
        }
    }
}

impl<'a> Plan<'a> {
    pub(super) fn of(set: &'a HookSet, event: &'a Event) -> Self {
        let (kind, subject) = (event.kind(), event.subject().map(Cow::into_owned));
        let filter = EventFilter::for_event(event);
        let general = super::general_of(event);
        let fit = |hook: &HookSelector| match &general {
            Some(general) if !hook.kinds.contains(&kind) => unfit(hook, general, &filter),
            _ => unfit(hook, event, &filter),
        };
        let fits: Vec<_> = set.hooks.iter().map(fit).collect();
        let entries = set
            .hooks
            .iter()
            .zip(fits.iter().cloned())
            .enumerate()
            .map(|(position, (hook, unfit))| {
                let why_not = unfit.or_else(|| {
                    let twin = (0..fits.len()).filter(|&twin| fits[twin].is_none()).find(|&twin| {
                        set.identities[position].is_some()
                            && set.identities[twin] == set.identities[position]
                            && comes_before(&set.hooks, twin, position)
                    })?;
                    Some(SkipReason::DuplicateOf { id: set.hooks[twin].info.id.clone() })
                });
                PlanEntry { hook, position, skip_reason: why_not }
            })
            .collect();
        Self { kind, subject, entries }
    }

    /// The chosen hooks.
    pub fn chosen(&self) -> impl Iterator<Item = &PlanEntry<'a>> {
        self.entries.iter().filter(|entry| entry.skip_reason.is_none())
    }
}

/// Why a hook does not fit the event, its twins aside.
fn unfit(hook: &HookSelector, event: &Event, filter: &EventFilter) -> Option<SkipReason> {
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
    hook.condition
        .as_ref()
        .filter(|condition| !condition.holds(event))
        .map(|condition| SkipReason::Condition { text: condition.text().to_owned() })
}
