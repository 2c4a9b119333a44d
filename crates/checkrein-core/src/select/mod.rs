//! Which hooks run for an event, and why each other hook does not.
//!
//! [`HookSet::select`] is made for every tool call: it costs about what the chosen hooks cost, however many there
//! are. [`HookSet::explain`] is made for people: it looks at each hook by itself and says why.

mod index;
mod plan;

use std::borrow::Cow;
use std::collections::HashMap;

use crate::event::Event;
use crate::hook::{Hook, HookState};
use crate::kind::{EventKind, KIND_COUNT};
use index::{Chosen, KindIndex};
pub use plan::{Plan, PlanEntry, WhyNot};

/// Hooks, indexed by kind and name. Made once, when config is loaded.
///
/// ```
/// use checkrein_core::payload::ToolCall;
/// use checkrein_core::{Event, EventKind, Hook, HookInfo, HookSet, Matcher, RawJson, Source};
///
/// let hook = |id, tool| {
///     Hook::new(HookInfo::new(id, Source::here()), EventKind::PreToolUse).matching(Matcher::names([tool]))
/// };
/// let hooks = HookSet::new(vec![hook("shell-guard", "Bash"), hook("format", "Write")]);
///
/// let event = Event::pre_tool_use(ToolCall::new("Bash", RawJson::default()));
/// let chosen: Vec<_> = hooks.select(&event).map(|(_, hook)| hook.info.id.as_str()).collect();
/// assert_eq!(chosen, ["shell-guard"]);
/// ```
#[derive(Debug)]
pub struct HookSet {
    hooks: Vec<Hook>,
    named: Box<[Option<KindIndex>]>,
    custom: HashMap<String, KindIndex>,
}

impl HookSet {
    /// Indexes the hooks. Their positions from now on are those after sorting by [`Hook::order`].
    pub fn new(mut hooks: Vec<Hook>) -> Self {
        hooks.sort_by_key(|hook| hook.order);
        let mut named: Vec<Vec<u32>> = vec![Vec::new(); KIND_COUNT];
        let mut custom: HashMap<String, Vec<u32>> = HashMap::new();
        for (position, hook) in (0..).zip(&hooks) {
            if hook.state == HookState::Disabled {
                continue;
            }
            for kind in &hook.kinds {
                let hooks_of_kind = match kind.index() {
                    Some(index) => &mut named[index],
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
        Self { hooks, named, custom }
    }

    /// All hooks, in config order.
    pub fn hooks(&self) -> &[Hook] {
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
        let index = match event.payload.kind_index() {
            Some(index) => self.named[index].as_ref(),
            None => self.index_of(&event.kind()),
        };
        Selected {
            hooks: &self.hooks,
            event,
            chosen: index.map_or(Chosen::Known(&[]), |index| index.select_for(&self.hooks, event)),
            at: 0,
        }
    }

    /// Whether any hook would be chosen for an event of this kind with this subject, conditions aside.
    pub fn would_select(&self, kind: &EventKind, subject: &str) -> bool {
        let subject = kind.contract().matched_on.as_ref().map(|_| subject);
        self.index_of(kind).is_some_and(|index| !index.select(&self.hooks, subject).as_slice().is_empty())
    }

    /// Every hook of the set, in or out, and why.
    pub fn explain<'a>(&'a self, event: &'a Event) -> Plan<'a> {
        let kind = event.kind();
        let subject = event.subject().map(Cow::into_owned);
        Plan::of(&self.hooks, event, kind, subject)
    }

    #[inline]
    fn index_of(&self, kind: &EventKind) -> Option<&KindIndex> {
        match kind.index() {
            Some(index) => self.named.get(index)?.as_ref(),
            None => self.custom.get(kind.name()),
        }
    }
}

/// The hooks that fit an event. Made by [`HookSet::select`].
#[derive(Debug)]
pub struct Selected<'a> {
    hooks: &'a [Hook],
    event: &'a Event,
    chosen: Chosen<'a>,
    at: usize,
}

impl<'a> Iterator for Selected<'a> {
    type Item = (usize, &'a Hook);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let position = *self.chosen.as_slice().get(self.at)? as usize;
            self.at += 1;
            let hook = &self.hooks[position];
            if hook.condition.as_ref().is_none_or(|condition| condition.holds(self.event)) {
                return Some((position, hook));
            }
        }
    }
}
