//! Rewrites: taken one by one, or brought together.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Settlement;
use crate::contract::Target;
use crate::decision::Decision;
use crate::failure::{Failure, FailureKind};
use crate::json::{Change, FieldSet, JsonType, RawJson, merge_shallow, with_changes};
use crate::opinion::{Rewrite, RewriteMode};
use crate::rules::{ConcurrentRewrites, RunOrder};
use crate::source::HookInfo;

/// What one hook made of the original.
#[derive(Debug)]
pub(super) struct PendingRewrite {
    position: usize,
    hook: Arc<HookInfo>,
    target: Target,
    value: RawJson,
    /// If it did so by fields alone, these.
    patch: Option<RawJson>,
}

/// What the rewrites of one opinion make of one target.
pub(super) struct ComposedRewrite {
    value: RawJson,
    patch: Option<RawJson>,
}

/// Names of fields, not too many of them.
fn listed(fields: &[String]) -> String {
    const SHOWN: usize = 3;
    let names: Vec<_> = fields.iter().take(SHOWN).map(|field| format!("`{field}`")).collect();
    let names = names.join(", ");
    match fields.len() {
        1 => format!("field {names}"),
        count if count <= SHOWN => format!("fields {names}"),
        count => format!("fields {names} and {} more", count - SHOWN),
    }
}

impl Settlement<'_> {
    /// What the rewrites come to, one value for each target.
    pub(super) fn check_rewrites(
        &self,
        hook: &HookInfo,
        rewrites: &[Rewrite],
    ) -> Result<BTreeMap<Target, ComposedRewrite>, String> {
        let mut folded: BTreeMap<Target, ComposedRewrite> = BTreeMap::new();
        for rewrite in rewrites {
            let target = rewrite.target;
            if !self.contract().rewrites.contains(&target) {
                return Err(format!("rewrote the {target}, which {} does not allow", self.kind));
            }
            let is_text = matches!(target, Target::Prompt | Target::Summary);
            if is_text && rewrite.value.json_type() != JsonType::String {
                return Err(format!("the {target} must be a string, not {}", rewrite.value.json_type()));
            }
            if self.rules.order == RunOrder::Phased && !hook.declares_rewrites && !hook.may_rewrite {
                return Err(format!("rewrote the {target} without declaring that it rewrites"));
            }
            let base = match folded.get(&target) {
                Some(earlier) => Some(earlier.value.clone()),
                None => self.current.get(&target).cloned().or_else(|| self.event.original(target)),
            };
            let value = apply(base.as_ref(), rewrite)?;
            let is_first = !folded.contains_key(&target);
            let patch = (is_first && rewrite.mode == RewriteMode::Merge).then(|| rewrite.value.clone());
            folded.insert(target, ComposedRewrite { value, patch });
        }
        Ok(folded)
    }

    pub(super) fn take_rewrites(
        &mut self,
        position: usize,
        hook: &Arc<HookInfo>,
        rewrites: BTreeMap<Target, ComposedRewrite>,
    ) {
        // Those that declared it run before all others; the rest ran side by side.
        let threaded = match self.rules.order {
            RunOrder::Pipeline => true,
            RunOrder::Phased => hook.declares_rewrites,
            RunOrder::Sequential | RunOrder::Parallel => false,
        };
        for (target, ComposedRewrite { value, patch }) in rewrites {
            if threaded {
                self.current.insert(target, value);
            } else {
                self.pending.push(PendingRewrite { position, hook: Arc::clone(hook), target, value, patch });
            }
        }
    }

    /// Brings rewrites of the same original together.
    pub(super) fn settle_pending(&mut self) {
        if self.pending.is_empty() {
            return;
        }
        let mut pending = std::mem::take(&mut self.pending);
        pending.sort_by_key(|pending| pending.position);
        for target in Target::ALL {
            let rewrites: Vec<_> = pending.iter().filter(|pending| pending.target == target).collect();
            let effective = match self.rules.concurrent_rewrites {
                ConcurrentRewrites::FirstInOrder => rewrites.first().map(|first| first.value.clone()),
                ConcurrentRewrites::LastInOrder => rewrites.last().map(|last| last.value.clone()),
                ConcurrentRewrites::Compose => self.compose(target, &rewrites),
            };
            if let Some(effective) = effective {
                self.current.insert(target, effective);
            }
        }
    }

    fn compose(&mut self, target: Target, rewrites: &[&PendingRewrite]) -> Option<RawJson> {
        if let [only] = rewrites {
            return Some(only.value.clone());
        }
        let base = self.current.get(&target).cloned().or_else(|| self.event.original(target));
        let fields = base.as_ref().and_then(FieldSet::of);
        let changes = fields.as_ref().and_then(|fields| {
            let changes = rewrites.iter().map(|rewrite| match &rewrite.patch {
                Some(patch) => fields.changes_by(patch),
                None => fields.changes_to(&rewrite.value),
            });
            changes.collect::<Option<Vec<_>>>()
        });
        match (&base, changes) {
            (Some(base), Some(changes)) if !rewrites.is_empty() => self.compose_fields(target, base, rewrites, changes),
            _ => self.agree(target, rewrites),
        }
    }

    /// Objects: changes to different fields come together. What hooks that are in conflict made of it does not count.
    fn compose_fields(
        &mut self,
        target: Target,
        base: &RawJson,
        rewrites: &[&PendingRewrite],
        changes: Vec<Vec<(String, Change)>>,
    ) -> Option<RawJson> {
        let mut order = Vec::new();
        let mut composed: BTreeMap<String, (Change, &PendingRewrite)> = BTreeMap::new();
        let mut conflicts: Vec<(&PendingRewrite, &PendingRewrite, Vec<String>)> = Vec::new();
        for (rewrite, changes) in rewrites.iter().copied().zip(changes) {
            for (field, change) in changes {
                match composed.get(&field) {
                    None => {
                        order.push(field.clone());
                        composed.insert(field, (change, rewrite));
                    }
                    Some((earlier, _)) if earlier.same_as(&change) => {}
                    Some((_, first)) => match conflicts.last_mut() {
                        Some((one, other, fields)) if std::ptr::eq(*one, *first) && std::ptr::eq(*other, rewrite) => {
                            fields.push(field);
                        }
                        _ => conflicts.push((first, rewrite, vec![field])),
                    },
                }
            }
        }
        if !conflicts.is_empty() {
            // Who is in conflict has failed as a whole; the others still come together.
            let failed = |rewrite: &PendingRewrite| {
                conflicts.iter().any(|(one, other, _)| std::ptr::eq(*one, rewrite) || std::ptr::eq(*other, rewrite))
            };
            let rest: Vec<_> = rewrites.iter().copied().filter(|rewrite| !failed(rewrite)).collect();
            for (one, other, fields) in conflicts {
                self.conflict(one, other, &format!("the {target}'s {}", listed(&fields)));
            }
            return self.compose(target, &rest);
        }
        let changes: Vec<_> =
            order.into_iter().filter_map(|field| composed.remove(&field).map(|(change, _)| (field, change))).collect();
        with_changes(base, &changes)
    }

    /// Anything else: all must say the same.
    fn agree(&mut self, target: Target, rewrites: &[&PendingRewrite]) -> Option<RawJson> {
        let (first, others) = rewrites.split_first()?;
        let mut agreed = true;
        for other in others.iter().filter(|other| !other.value.semantically_eq(&first.value)) {
            agreed = false;
            self.conflict(first, other, &format!("the {target}"));
        }
        agreed.then(|| first.value.clone())
    }

    /// Both have failed: the one that fails closed must not depend on the other, whichever comes first.
    fn conflict(&mut self, one: &PendingRewrite, other: &PendingRewrite, what: &str) {
        for (own, against) in [(one, other), (other, one)] {
            let message = format!("rewrites {what} in another way than {} does", against.hook);
            self.fail(own.position, &own.hook, Failure::new(FailureKind::Conflict, message));
            // Who allowed what it made of the event has not allowed anything else. A deny stands.
            for decided in &mut self.decided {
                if decided.position == own.position && !decided.by_failing && !decided.decision.is_block() {
                    decided.decision = Decision::NoOpinion;
                }
            }
        }
    }
}

fn apply(base: Option<&RawJson>, rewrite: &Rewrite) -> Result<RawJson, String> {
    match rewrite.mode {
        RewriteMode::Replace => Ok(rewrite.value.clone()),
        RewriteMode::Merge => base.and_then(|base| merge_shallow(base, &rewrite.value)).ok_or_else(|| {
            let found = base.map_or(JsonType::Null, RawJson::json_type);
            let patch = rewrite.value.json_type();
            format!("the {} cannot be merged: it is {found} and the patch is {patch}", rewrite.target)
        }),
    }
}
