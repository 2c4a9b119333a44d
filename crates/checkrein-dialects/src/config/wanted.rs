//! Hooks that may run at one event, for who needs no others.

use checkrein_core::{Event, EventKind, Matcher};

use crate::spec::HookSpec;
use crate::table::Dialect;

/// What is wanted of files: the hooks that may run at an event.
///
/// It sorts out what certainly does not run, and leaves the rest to who chooses hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Wanted {
    /// The kind of the event.
    pub kind: EventKind,
    /// What its subject is called. Empty: it has none, and matchers do not count.
    pub subjects: Vec<String>,
    /// The kind whose hooks run as well. See [`Event::runs_parent_hooks`].
    pub general: Option<EventKind>,
}

impl Wanted {
    /// Hooks that may run at events of this kind, if their subject has these names.
    pub fn new(kind: EventKind, subjects: Vec<String>) -> Self {
        Self { kind, subjects, general: None }
    }

    /// Hooks that may run at this event.
    pub fn at(event: &Event) -> Self {
        let kind = event.kind();
        let subject = match event.subject() {
            Some(subject) => Some(subject.into_owned()),
            // It has none, but should.
            None => kind.contract().matched_on.as_ref().map(|_| String::new()),
        };
        let others = event.tool_aliases().iter().filter(|_| subject.is_some()).map(|name| (*name).to_owned());
        let mut subjects: Vec<String> = subject.iter().cloned().chain(others).collect();
        let general = event.runs_parent_hooks().then(|| event.generally()).flatten();
        if let Some(name) =
            general.as_ref().and_then(Event::tool_name).filter(|name| !subjects.iter().any(|own| own == name))
        {
            subjects.push(name.to_owned());
        }
        Self { kind, subjects, general: general.map(|event| event.kind()) }
    }

    /// Whether hooks for this kind are wanted.
    pub fn is_of(&self, kind: &EventKind) -> bool {
        self.kind == *kind || self.general.as_ref() == Some(kind)
    }

    /// Whether a hook may run.
    pub(crate) fn is_for(&self, spec: &HookSpec) -> bool {
        let kinds = std::iter::once(&self.kind).chain(&self.general);
        let mut kinds = kinds.filter(|kind| spec.hook.kinds.contains(kind));
        kinds.any(|kind| self.fits(spec.dialect, kind, &spec.hook.matcher))
    }

    /// Whether matchers are compared with nothing but the subject.
    pub(super) fn is_compared(&self, dialect: &Dialect, kind: &EventKind) -> bool {
        let other = |row: &crate::table::EventRow| row.normal_subject.is_some() || row.compares.is_some();
        !self.subjects.is_empty() && dialect.is_matched(kind) && !dialect.row(kind).is_some_and(other)
    }

    /// Whether hooks of this dialect with this matcher may run.
    pub(crate) fn fits(&self, dialect: &Dialect, kind: &EventKind, matcher: &Matcher) -> bool {
        self.is_of(kind)
            && (!self.is_compared(dialect, kind) || self.names(dialect).any(|subject| matcher.matches(subject)))
    }

    /// Whether a pattern certainly fits nothing that is wanted.
    pub(super) fn rules_out(&self, dialect: &Dialect, pattern: &str) -> bool {
        std::iter::once(&self.kind).chain(&self.general).all(|kind| self.is_compared(dialect, kind))
            && self.names(dialect).all(|subject| dialect.matcher.rules_out(pattern, subject))
    }

    /// What the subject is called, also by this dialect.
    fn names<'s>(&'s self, dialect: &'s Dialect) -> impl Iterator<Item = &'s str> {
        self.subjects.iter().map(String::as_str).chain(dialect.own_names(&self.subjects).map(|name| -> &str { name }))
    }
}
