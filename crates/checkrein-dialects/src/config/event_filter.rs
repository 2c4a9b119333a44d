//! Filter for the hooks of a dialect that can match an event. Decoders and the prefilter use it.

use checkrein_core::{EventFilter, EventKind};

use crate::spec::HookSpec;
use crate::table::Dialect;

impl Dialect {
    /// `true` if matchers at events of this kind are compared with the event's subject, as it is.
    pub fn compares_subject(&self, kind: &EventKind) -> bool {
        let differs = self.row(kind).is_some_and(|row| {
            row.normalize_subject.is_some() || row.subject_field.is_some() || row.fixed_subject.is_some()
        });
        !differs
    }

    /// Adapts a filter to hooks of this dialect. Their matchers may contain the dialect's own names of tools, and may be
    /// compared with another value than the subject.
    pub(crate) fn adapt_filter(&self, filter: &EventFilter) -> EventFilter {
        filter.map_names(|kind, mut names| {
            if let Some(subject) = self.row(kind).and_then(|row| row.fixed_subject) {
                names = vec![subject.to_owned()];
            } else if !self.is_matched(kind) || !self.compares_subject(kind) {
                return None;
            }
            let own: Vec<_> = self.own_names(&names).map(str::to_owned).collect();
            names.extend(own);
            Some(names)
        })
    }
}

impl HookSpec {
    /// `true` if the hook can match. The filter must be adapted to its dialect.
    pub(crate) fn can_match(&self, filter: &EventFilter) -> bool {
        filter.can_match(&self.kinds, |name| self.matcher.matches(name))
    }
}
