//! [`HookSet`]: selection of the hooks that run at an event.
//!
//! Engines call [`HookSet::select`] for every event. Its cost depends on the number of selected hooks, not on the number
//! of all hooks. [`HookSet::explain`] is for users: it checks each hook and gives the reason why it is not selected. Both
//! must always select the same hooks.

mod filter;
mod index;
mod plan;

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::HashMap;

use crate::event::Event;
use crate::hook::{HookSelector, HookState};
use crate::kind::EventKind;
pub use filter::EventFilter;
use filter::Names;
use index::{Candidates, KindIndex};
pub use plan::{Plan, PlanEntry, SkipReason};

/// Hooks, indexed by kind and name. Built once, when the config is loaded.
///
/// ```
/// use checkrein_core::payload::ToolCall;
/// use checkrein_core::{Event, EventKind, HookSelector, HookInfo, HookSet, Matcher, RawJson, Source};
///
/// let hook = |id, tool| {
///     HookSelector::for_kind(HookInfo::new(id, Source::here()), EventKind::PreToolUse).matching(Matcher::names([tool]))
/// };
/// let hooks = HookSet::new(vec![hook("shell-guard", "Bash"), hook("format", "Write")]);
///
/// let event = Event::pre_tool_use(ToolCall::new("Bash", RawJson::default()));
/// let chosen: Vec<_> = hooks.select(&event).map(|(_, hook)| hook.info.id.as_str()).collect();
/// assert_eq!(chosen, ["shell-guard"]);
/// ```
#[derive(Debug)]
pub struct HookSet {
    hooks: Vec<HookSelector>,
    /// Number of each hook's identity, if it has one.
    identities: Vec<Option<u32>>,
    /// Indexes by kind, up to the last kind with hooks.
    named: Box<[Option<KindIndex>]>,
    custom: HashMap<String, KindIndex>,
}

impl HookSet {
    /// Indexes the hooks. Their positions are those after sorting by [`HookSelector::rank`].
    pub fn new(mut hooks: Vec<HookSelector>) -> Self {
        hooks.sort_by_key(HookSelector::rank);
        let mut named: Vec<Vec<u32>> = Vec::new();
        let mut custom: HashMap<String, Vec<u32>> = HashMap::new();
        for (position, hook) in (0..).zip(&hooks) {
            if matches!(hook.state, HookState::Disabled | HookState::Skipped(_)) {
                continue;
            }
            for kind in &hook.kinds {
                let hooks_of_kind = match kind.index() {
                    Some(index) => {
                        named.resize(named.len().max(index + 1), Vec::new());
                        &mut named[index]
                    }
                    None => custom.entry(kind.name().to_owned()).or_default(),
                };
                // A hook can list a kind twice.
                if hooks_of_kind.last() != Some(&position) {
                    hooks_of_kind.push(position);
                }
            }
        }
        let index = |positions: Vec<u32>| (!positions.is_empty()).then(|| KindIndex::new(&hooks, &positions));
        let named = named.into_iter().map(index).collect();
        let custom = custom.into_iter().filter_map(|(name, positions)| Some((name, index(positions)?))).collect();
        let identities = number_identities(&hooks);
        Self { hooks, identities, named, custom }
    }

    /// Returns all hooks, in config order.
    pub fn hooks(&self) -> &[HookSelector] {
        &self.hooks
    }

    /// `true` if a hook can be selected for events of this kind.
    #[inline]
    pub fn has(&self, kind: &EventKind) -> bool {
        self.index_of(kind).is_some()
    }

    /// Returns the hooks that match the event, in config order, each with its position. They include untrusted, changed and
    /// broken hooks, which fail instead of running.
    pub fn select<'a>(&'a self, event: &'a Event) -> Selected<'a> {
        if let Some(parent) = parent_event(event) {
            let (own, other) = (self.candidates(event), self.candidates(&parent));
            return Selected { set: self, event, candidates: own.with(&other), parent: Some(parent), next: (0, 0) };
        }
        Selected { set: self, event, parent: None, candidates: self.candidates(event), next: (0, 0) }
    }

    #[inline]
    fn candidates(&self, event: &Event) -> Candidates<'_> {
        let index = match event.payload.kind_index() {
            Some(index) => self.named.get(index).and_then(Option::as_ref),
            None => self.index_of(&event.kind()),
        };
        index.map_or_else(Candidates::none, |index| index.select(&self.hooks, &Names::for_event(event)))
    }

    /// `true` if a hook can be selected for an event of this kind or its parent kind.
    #[inline]
    pub fn has_for(&self, event: &Event) -> bool {
        let has_parent = || event.runs_parent_hooks() && event.kind().parent_kind().is_some_and(|kind| self.has(&kind));
        self.has(&event.kind()) || has_parent()
    }

    /// `true` if a hook would be selected for an event of this kind with this subject. Ignores conditions.
    pub fn would_select(&self, kind: &EventKind, subject: &str) -> bool {
        let names = match kind.contract().matched_on {
            Some(_) => Names::Compared { subject: Cow::Borrowed(subject), aliased: None },
            None => Names::Ignored,
        };
        self.index_of(kind).is_some_and(|index| !index.select(&self.hooks, &names).is_empty())
    }

    /// Returns every hook of the set, with the reason if it is not selected.
    pub fn explain<'a>(&'a self, event: &'a Event) -> Plan<'a> {
        Plan::new(self, event)
    }

    #[inline]
    fn holds(&self, position: usize, event: &Event) -> bool {
        self.hooks[position].condition.as_ref().is_none_or(|condition| condition.holds(event))
    }

    #[inline]
    fn index_of(&self, kind: &EventKind) -> Option<&KindIndex> {
        match kind.index() {
            Some(index) => self.named.get(index)?.as_ref(),
            None => self.custom.get(kind.name()),
        }
    }
}

/// Numbers the identities that several hooks have, so that comparing them is cheap. A hook without a duplicate has no number.
fn number_identities(hooks: &[HookSelector]) -> Vec<Option<u32>> {
    let mut numbers: HashMap<&str, (u32, usize)> = HashMap::new();
    for identity in hooks.iter().filter_map(|hook| hook.identity.as_deref()) {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        numbers.entry(identity).or_insert((next, 0)).1 += 1;
    }
    let number = |hook: &HookSelector| match numbers.get(hook.identity.as_deref()?) {
        Some((number, count)) if *count > 1 => Some(*number),
        _ => None,
    };
    hooks.iter().map(number).collect()
}

/// `true` if hook `one` runs instead of its duplicate `other`.
///
/// A ready hook is preferred, so that an unapproved hook does not replace an approved one. Then the higher trust level is
/// preferred: a repository's hook gets other variables and must not replace the user's. Then the first in config order.
fn is_preferred(hooks: &[HookSelector], one: usize, other: usize) -> bool {
    let rank = |position: usize| {
        let hook = &hooks[position];
        (hook.state != HookState::Ready, Reverse(hook.info.source.scope.trust_level()), position)
    };
    rank(one) < rank(other)
}

/// Returns the event for hooks of the parent kind, if those run as well.
fn parent_event(event: &Event) -> Option<Box<Event>> {
    if event.runs_parent_hooks() { event.as_parent_kind().map(Box::new) } else { None }
}

/// Iterator over the hooks that match an event. Returned by [`HookSet::select`].
#[derive(Debug)]
pub struct Selected<'a> {
    set: &'a HookSet,
    event: &'a Event,
    /// Event for hooks of the parent kind.
    parent: Option<Box<Event>>,
    candidates: Candidates<'a>,
    /// Next index in each of the two candidate lists.
    next: (usize, usize),
}

impl<'a> Iterator for Selected<'a> {
    type Item = (usize, &'a HookSelector);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let position = self.next_position()?;
            let hook = &self.set.hooks[position];
            if self.holds(position) && !self.has_preferred_duplicate(position) {
                return Some((position, hook));
            }
        }
    }
}

impl Selected<'_> {
    #[inline]
    fn holds(&self, position: usize) -> bool {
        let event = match &self.parent {
            Some(parent) if !self.set.hooks[position].kinds.contains(&self.event.kind()) => parent,
            _ => self.event,
        };
        self.set.holds(position, event)
    }

    /// Merges both lists in config order.
    #[inline]
    fn next_position(&mut self) -> Option<usize> {
        let (one, other) = self.candidates.lists();
        let position = match (one.get(self.next.0), other.get(self.next.1)) {
            (Some(first), Some(second)) if second < first => {
                self.next.1 += 1;
                second
            }
            (Some(first), _) => {
                self.next.0 += 1;
                first
            }
            (None, Some(second)) => {
                self.next.1 += 1;
                second
            }
            (None, None) => return None,
        };
        Some(*position as usize)
    }

    /// `true` if an identical hook is selected and runs instead.
    #[inline]
    fn has_preferred_duplicate(&self, position: usize) -> bool {
        let identity = self.set.identities[position];
        if identity.is_none() {
            return false;
        }
        let (one, other) = self.candidates.lists();
        one.iter().chain(other).map(|duplicate| *duplicate as usize).any(|duplicate| {
            self.set.identities[duplicate] == identity
                && is_preferred(&self.set.hooks, duplicate, position)
                && self.holds(duplicate)
        })
    }
}
