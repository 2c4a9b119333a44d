//! The event's side of matching: the kinds whose hooks run at an event, and the names that their matchers are compared with.
//!
//! [`HookSet`](super::HookSet) uses it to select and explain. Readers of config files use it to omit hooks that cannot
//! match. It must never reject a hook that [`HookSet::select`](super::HookSet::select) would select.

use std::borrow::Cow;

use crate::event::Event;
use crate::kind::EventKind;

/// Filter for hooks that can match an event, by kinds and matchers. States and conditions of hooks are ignored.
///
/// ```
/// use checkrein_core::payload::ToolCall;
/// use checkrein_core::{Event, EventFilter, EventKind, Matcher, RawJson};
///
/// let filter = EventFilter::for_event(&Event::pre_tool_use(ToolCall::new("Bash", RawJson::default())));
/// let matcher = Matcher::names(["Edit"]);
/// assert!(!filter.can_match(&[EventKind::PreToolUse], |name| matcher.matches(name)));
/// assert!(!filter.has_kind(&EventKind::Stop));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventFilter {
    own: KindFilter,
    /// The kind whose hooks run as well. See [`Event::runs_parent_hooks`].
    parent: Option<KindFilter>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct KindFilter {
    kind: EventKind,
    /// The subject and its other names. `None`: matchers are ignored.
    names: Option<Vec<String>>,
}

impl EventFilter {
    /// Creates a filter for events of a kind whose subject has these names. Without names, matchers are ignored.
    pub fn new(kind: EventKind, names: Vec<String>) -> Self {
        let names = if names.is_empty() { None } else { Some(names) };
        Self { own: KindFilter { kind, names }, parent: None }
    }

    /// Creates the filter for an event.
    pub fn for_event(event: &Event) -> Self {
        let parent = super::parent_event(event);
        Self { own: KindFilter::for_event(event), parent: parent.map(|parent| KindFilter::for_event(&parent)) }
    }

    /// Returns the kind of the event.
    pub fn kind(&self) -> &EventKind {
        &self.own.kind
    }

    /// `true` if hooks for this kind run at the event.
    pub fn has_kind(&self, kind: &EventKind) -> bool {
        self.parts().any(|part| part.kind == *kind)
    }

    /// `true` if a hook for these kinds can match. `accepts` must return `true` if the matcher accepts a name.
    pub fn can_match(&self, kinds: &[EventKind], mut accepts: impl FnMut(&str) -> bool) -> bool {
        self.parts().filter(|part| kinds.contains(&part.kind)).any(|part| match &part.names {
            None => true,
            Some(names) => names.iter().any(|name| accepts(name)),
        })
    }

    /// Replaces the names of each kind. `None`: matchers of the kind are ignored.
    #[must_use]
    pub fn map_names(&self, mut map: impl FnMut(&EventKind, Vec<String>) -> Option<Vec<String>>) -> Self {
        let mut mapped = self.clone();
        for part in [Some(&mut mapped.own), mapped.parent.as_mut()].into_iter().flatten() {
            part.names = part.names.take().and_then(|names| map(&part.kind, names));
        }
        mapped
    }

    /// Returns the first name that matchers of a hook for these kinds are compared with.
    pub(super) fn subject(&self, kinds: &[EventKind]) -> &str {
        let part = self.parts().find(|part| kinds.contains(&part.kind));
        part.and_then(|part| part.names.as_ref()?.first()).map_or("", String::as_str)
    }

    fn parts(&self) -> impl Iterator<Item = &KindFilter> {
        std::iter::once(&self.own).chain(&self.parent)
    }
}

impl KindFilter {
    fn for_event(event: &Event) -> Self {
        let names = match Names::for_event(event) {
            Names::Ignored => None,
            Names::Compared { subject, .. } => {
                let aliases = event.tool_aliases().map(str::to_owned);
                Some(std::iter::once(subject.into_owned()).chain(aliases).collect())
            }
        };
        Self { kind: event.kind(), names }
    }
}

/// Names that matchers of hooks for an event's own kind are compared with.
pub(super) enum Names<'e> {
    /// The kind has no subject: matchers are ignored.
    Ignored,
    Compared {
        /// Empty if the event lacks the subject that its kind has.
        subject: Cow<'e, str>,
        /// The event, if its tool has further names.
        aliased: Option<&'e Event>,
    },
}

impl<'e> Names<'e> {
    pub(super) fn for_event(event: &'e Event) -> Self {
        let aliased = if event.has_tool_aliases() { Some(event) } else { None };
        match event.subject() {
            Some(subject) => Self::Compared { subject, aliased },
            None if event.payload.contract().matched_on.is_some() => {
                Self::Compared { subject: Cow::Borrowed(""), aliased }
            }
            None => Self::Ignored,
        }
    }
}
