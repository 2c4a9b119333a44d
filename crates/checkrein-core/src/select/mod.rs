//! Which hooks run for an event, and why each other hook does not.
//!
//! [`HookSet::select`] is made for every tool call: it costs about what the chosen hooks cost, however many there
//! are. [`HookSet::explain`] is made for people: it looks at each hook by itself and says why.

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

/// Hooks, indexed by kind and name. Made once, when config is loaded.
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
    /// For each hook: the number of its identity, if it has one.
    identities: Vec<Option<u32>>,
    /// By kind, up to the last that has any.
    named: Box<[Option<KindIndex>]>,
    custom: HashMap<String, KindIndex>,
}

impl HookSet {
    /// Indexes the hooks. Their positions from now on are those after sorting by [`HookSelector::rank`].
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
                // A kind named twice is still one hook.
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

    /// All hooks, in config order.
    pub fn hooks(&self) -> &[HookSelector] {
        &self.hooks
    }

    /// Whether any hook could be chosen for events of this kind.
    #[inline]
    pub fn has(&self, kind: &EventKind) -> bool {
        self.index_of(kind).is_some()
    }

    /// The hooks that fit the event, in config order, each with its position. Hooks that are not
    /// [`Ready`](HookState::Ready) but take part are among them.
    pub fn select<'a>(&'a self, event: &'a Event) -> Selected<'a> {
        if let Some(general) = general_of(event) {
            let (own, other) = (self.chosen(event), self.chosen(&general));
            return Selected { set: self, event, chosen: own.with(&other), general: Some(general), next: (0, 0) };
        }
        Selected { set: self, event, general: None, chosen: self.chosen(event), next: (0, 0) }
    }

    #[inline]
    fn chosen(&self, event: &Event) -> Candidates<'_> {
        let index = match event.payload.kind_index() {
            Some(index) => self.named.get(index).and_then(Option::as_ref),
            None => self.index_of(&event.kind()),
        };
        index.map_or_else(Candidates::none, |index| index.select(&self.hooks, &Names::of(event)))
    }

    /// Whether any hook could be chosen for an event.
    #[inline]
    pub fn has_for(&self, event: &Event) -> bool {
        let general = || event.runs_parent_hooks() && event.kind().parent_kind().is_some_and(|kind| self.has(&kind));
        self.has(&event.kind()) || general()
    }

    /// Whether any hook would be chosen for an event of this kind with this subject, conditions aside.
    pub fn would_select(&self, kind: &EventKind, subject: &str) -> bool {
        let names = match kind.contract().matched_on {
            Some(_) => Names::Compared { subject: Cow::Borrowed(subject), aliases: &[] },
            None => Names::Ignored,
        };
        self.index_of(kind).is_some_and(|index| !index.select(&self.hooks, &names).is_empty())
    }

    /// Every hook of the set, in or out, and why.
    pub fn explain<'a>(&'a self, event: &'a Event) -> Plan<'a> {
        Plan::of(self, event)
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

/// Numbers for identities, so that comparing them is cheap.
fn number_identities(hooks: &[HookSelector]) -> Vec<Option<u32>> {
    let mut numbers: HashMap<&str, u32> = HashMap::new();
    hooks
        .iter()
        .map(|hook| {
            let identity = hook.identity.as_deref()?;
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            Some(*numbers.entry(identity).or_insert(next))
        })
        .collect()
}

/// Of two hooks that are the same, one runs. A hook that can run comes before one that cannot: an unapproved hook does not
/// stand in for an approved one. Then the wider trust level comes first: a hook of a repository has other variables, and
/// does not stand in for one of its user. Then the first.
fn comes_before(hooks: &[HookSelector], one: usize, other: usize) -> bool {
    let rank = |position: usize| {
        let hook = &hooks[position];
        (hook.state != HookState::Ready, Reverse(hook.info.source.scope.trust_level()), position)
    };
    rank(one) < rank(other)
}

/// The event for hooks of the kind for all tools, if those run as well.
fn general_of(event: &Event) -> Option<Box<Event>> {
    event.runs_parent_hooks().then(|| event.as_parent_kind()).flatten().map(Box::new)
}

/// The hooks that fit an event. Made by [`HookSet::select`].
#[derive(Debug)]
pub struct Selected<'a> {
    set: &'a HookSet,
    event: &'a Event,
    /// What hooks see that are not for the event's own kind.
    general: Option<Box<Event>>,
    chosen: Candidates<'a>,
    /// How far both lists have been read.
    next: (usize, usize),
}

impl<'a> Iterator for Selected<'a> {
    type Item = (usize, &'a HookSelector);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let position = self.next_position()?;
            let hook = &self.set.hooks[position];
            if self.holds(position) && !self.has_twin_before(position) {
                return Some((position, hook));
            }
        }
    }
}

impl Selected<'_> {
    #[inline]
    fn holds(&self, position: usize) -> bool {
        let event = match &self.general {
            Some(general) if !self.set.hooks[position].kinds.contains(&self.event.kind()) => general,
            _ => self.event,
        };
        self.set.holds(position, event)
    }

    /// Both lists in one order.
    #[inline]
    fn next_position(&mut self) -> Option<usize> {
        let (one, other) = self.chosen.lists();
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

    /// Whether another hook that is chosen is the same and runs instead.
    #[inline]
    fn has_twin_before(&self, position: usize) -> bool {
        let identity = self.set.identities[position];
        if identity.is_none() {
            return false;
        }
        let (one, other) = self.chosen.lists();
        one.iter().chain(other).map(|twin| *twin as usize).any(|twin| {
            self.set.identities[twin] == identity && comes_before(&self.set.hooks, twin, position) && self.holds(twin)
        })
    }
}
