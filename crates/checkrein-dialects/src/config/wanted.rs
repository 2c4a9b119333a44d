//! Hooks that may run at one event, for who needs no others.

use checkrein_core::{Event, EventKind, Matcher};

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
}

impl Wanted {
    /// Hooks that may run at events of this kind, if their subject has these names.
    pub fn new(kind: EventKind, subjects: Vec<String>) -> Self {
        Self { kind, subjects }
    }

    /// Hooks that may run at this event.
    pub fn at(event: &Event) -> Self {
        let kind = event.kind();
        let subject = match event.subject() {
            Some(subject) => Some(subject.into_owned()),
            // It has none, but should.
            None => kind.contract().matched_on.as_ref().map(|_| String::new()),
        };
        let others = event.other_names.iter().filter(|_| subject.is_some()).map(|name| (*name).to_owned());
        let subjects = subject.iter().cloned().chain(others).collect();
        Self { kind, subjects }
    }

    /// Whether matchers are compared with nothing but the subject.
    pub(super) fn is_compared(&self, dialect: &Dialect, kind: &EventKind) -> bool {
        let other = |row: &crate::table::EventRow| row.normal_subject.is_some() || row.compares.is_some();
        !self.subjects.is_empty() && dialect.is_matched(kind) && !dialect.row(kind).is_some_and(other)
    }

    /// Whether hooks of this dialect with this matcher may run.
    pub(crate) fn fits(&self, dialect: &Dialect, kind: &EventKind, matcher: &Matcher) -> bool {
        self.kind == *kind
            && (!self.is_compared(dialect, kind) || self.subjects.iter().any(|subject| matcher.matches(subject)))
    }

    /// Whether a pattern certainly fits nothing that is wanted.
    pub(super) fn rules_out(&self, dialect: &Dialect, pattern: &str) -> bool {
        self.is_compared(dialect, &self.kind)
            && self.subjects.iter().all(|subject| dialect.matcher.rules_out(pattern, subject))
    }
}
