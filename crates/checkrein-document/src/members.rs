//! Removal of duplicate keys from an object.
//!
//! The JSON and YAML parsers use it. The keys of an object in a tree must be distinct.

use super::node::{Member, Span};
use crate::error::DocumentProblem;

/// The member to keep of several with the same key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum DuplicatePolicy {
    /// The first, for YAML merge keys.
    #[cfg_attr(not(feature = "yaml"), expect(dead_code, reason = "only YAML has merge keys"))]
    First,
    /// The last, for duplicate keys in the text.
    Last,
}

/// Removes all but one of the members with the same key. Reports each removed one: its key, its span, and the span of the
/// kept one.
pub(super) fn remove_duplicates(
    members: &mut Vec<Member<'_>>,
    policy: DuplicatePolicy,
    mut report: impl FnMut(&str, Span, Span),
) {
    // Most objects are small, and a comparison of all pairs needs no memory.
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
        members.iter().enumerate().map(|(index, member)| (&*member.key, index, member.key_span)).collect();
    order.sort_unstable();
    let mut removed = vec![false; members.len()];
    for same in order.chunk_by(|one, other| one.0 == other.0) {
        let (kept, others) = match policy {
            DuplicatePolicy::First => same.split_first(),
            DuplicatePolicy::Last => same.split_last(),
        }
        .unzip();
        for (key, index, span) in others.into_iter().flatten() {
            if let (Some(removed), Some((_, _, used))) = (removed.get_mut(*index), kept) {
                *removed = true;
                report(key, *span, *used);
            }
        }
    }
    let mut removed = removed.into_iter();
    members.retain(|_| removed.next() != Some(true));
}

/// Keeps the last of duplicate keys and reports the others as problems.
pub(super) fn report_duplicates(members: &mut Vec<Member<'_>>, problems: &mut Vec<DocumentProblem>) {
    remove_duplicates(members, DuplicatePolicy::Last, |key, ignored, used| {
        problems.push(DocumentProblem::DuplicateKey { key: key.to_owned(), ignored, used });
    });
}
