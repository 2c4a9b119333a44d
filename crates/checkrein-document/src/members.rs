//! Keys that come twice.

use super::node::{Member, Span};
use crate::error::DocumentProblem;

/// Which of several members with one key stays.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DuplicatePolicy {
    /// The first, as with YAML's merge keys.
    #[cfg_attr(not(feature = "yaml"), expect(dead_code, reason = "only YAML has merge keys"))]
    First,
    /// The last, as with keys that are written twice.
    Last,
}

/// Takes out all but one of the members with the same key. Tells of each that goes: its key, its place, and the place
/// of the one that stays.
pub(super) fn make_distinct(
    members: &mut Vec<Member<'_>>,
    keep: DuplicatePolicy,
    mut tell: impl FnMut(&str, Span, Span),
) {
    // Most objects are small, and looking at all pairs needs no memory.
    const SMALL: usize = 8;
    if members.len() <= SMALL {
        let mut rest = members.as_slice();
        let has_duplicate = std::iter::from_fn(|| {
            let (first, others) = rest.split_first()?;
            rest = others;
            Some(others.iter().any(|other| other.key == first.key))
        })
        .any(|found| found);
        if !has_duplicate {
            return;
        }
    }
    let mut order: Vec<(&str, usize, Span)> =
        members.iter().enumerate().map(|(at, member)| (&*member.key, at, member.key_span)).collect();
    order.sort_unstable();
    let mut goes = vec![false; members.len()];
    for same in order.chunk_by(|one, other| one.0 == other.0) {
        let (kept, others) = match keep {
            DuplicatePolicy::First => same.split_first(),
            DuplicatePolicy::Last => same.split_last(),
        }
        .unzip();
        for (key, at, span) in others.into_iter().flatten() {
            if let (Some(goes), Some((_, _, used))) = (goes.get_mut(*at), kept) {
                *goes = true;
                tell(key, *span, *used);
            }
        }
    }
    let mut goes = goes.into_iter();
    members.retain(|_| goes.next() != Some(true));
}

/// [`make_distinct`] for what is written twice by mistake.
pub(super) fn report_duplicates(members: &mut Vec<Member<'_>>, problems: &mut Vec<DocumentProblem>) {
    make_distinct(members, DuplicatePolicy::Last, |key, ignored, used| {
        problems.push(DocumentProblem::DuplicateKey { key: key.to_owned(), ignored, used });
    });
}
