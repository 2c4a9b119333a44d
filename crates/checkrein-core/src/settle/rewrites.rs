//! Rewrites of a settlement: checked, applied in a pipeline, or composed.
//!
//! Hooks of a pipeline see each other's rewrites. Rewrites of concurrent hooks are composed when all have finished; a
//! conflict is a failure of both hooks.

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
use crate::verdict::HookMessage;

/// Rewrite of the original by one hook, not composed yet.
#[derive(Debug)]
pub(super) struct PendingRewrite {
    position: usize,
    hook: Arc<HookInfo>,
    target: Target,
    value: RawJson,
    /// Changed fields, if the hook merged instead of replacing.
    patch: Option<RawJson>,
}

/// Result of all rewrites of one target in one opinion.
pub(super) struct ComposedRewrite {
    value: RawJson,
    patch: Option<RawJson>,
}

/// Returns the names of fields for a message, at most three.
fn list_fields(fields: &[String]) -> String {
    const MAX_SHOWN: usize = 3;
    let names: Vec<_> = fields.iter().take(MAX_SHOWN).map(|field| format!("`{field}`")).collect();
    let names = names.join(", ");
    match fields.len() {
        1 => format!("field {names}"),
        count if count <= MAX_SHOWN => format!("fields {names}"),
        count => format!("fields {names} and {} more", count - MAX_SHOWN),
    }
}

impl Settlement<'_> {
    /// Checks the rewrites of one opinion and returns one value per target.
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
                return Err(format!("the rewritten {target} must be a string, not {}", rewrite.value.json_type()));
            }
            if self.rules.order == RunOrder::Phased && !hook.declares_rewrites && !hook.may_rewrite {
                return Err(format!("rewrote the {target} without declaring it; add `rewrites: true` to the hook"));
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
        // Under `Phased`, hooks that declare rewrites run as a pipeline; the others run concurrently.
        let is_pipelined = match self.rules.order {
            RunOrder::Pipeline => true,
            RunOrder::Phased => hook.declares_rewrites,
            RunOrder::Sequential | RunOrder::Parallel => false,
        };
        for (target, ComposedRewrite { value, patch }) in rewrites {
            if is_pipelined {
                self.current.insert(target, value);
            } else {
                self.pending.push(PendingRewrite { position, hook: Arc::clone(hook), target, value, patch });
            }
        }
    }

    /// Stores the hook as a rewriter of each target, and its messages about that.
    pub(super) fn take_rewrite_texts(&mut self, position: usize, hook: &Arc<HookInfo>, rewrites: &[Rewrite]) {
        for rewrite in rewrites {
            let (target, texts) = (rewrite.target, rewrite.texts.clone());
            if let Some(texts) = &texts {
                let text = texts.done.clone();
                let message = HookMessage { hook: Arc::clone(hook), text, reports: Some(target) };
                self.messages.push((position, message));
            }
            self.rewriters.push((position, target, Arc::clone(hook), texts));
        }
    }

    /// Composes the rewrites of the same original.
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
        let fields = base.as_ref().and_then(FieldSet::new);
        let changes = fields.as_ref().and_then(|fields| {
            let changes = rewrites.iter().map(|rewrite| match &rewrite.patch {
                Some(patch) => fields.changes_by(patch),
                None => fields.changes_to(&rewrite.value),
            });
            changes.collect::<Option<Vec<_>>>()
        });
        match (&base, changes) {
            (Some(base), Some(changes)) if !rewrites.is_empty() => self.compose_fields(target, base, rewrites, changes),
            _ => self.require_equal(target, rewrites),
        }
    }

    /// Composes objects: changes of different fields are combined. Rewrites of hooks in conflict are dropped.
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
                    Some((earlier, _)) if earlier.semantically_eq(&change) => {}
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
            // A hook in conflict fails as a whole; the rewrites of the others are still composed.
            let has_failed = |rewrite: &PendingRewrite| {
                conflicts.iter().any(|(one, other, _)| std::ptr::eq(*one, rewrite) || std::ptr::eq(*other, rewrite))
            };
            let rest: Vec<_> = rewrites.iter().copied().filter(|rewrite| !has_failed(rewrite)).collect();
            for (one, other, fields) in conflicts {
                self.conflict(one, other, &format!("the {target}'s {}", list_fields(&fields)));
            }
            return self.compose(target, &rest);
        }
        let changes: Vec<_> =
            order.into_iter().filter_map(|field| composed.remove(&field).map(|(change, _)| (field, change))).collect();
        with_changes(base, &changes)
    }

    /// Composes values that are not objects: all must be equal.
    fn require_equal(&mut self, target: Target, rewrites: &[&PendingRewrite]) -> Option<RawJson> {
        let (first, others) = rewrites.split_first()?;
        let mut all_equal = true;
        for other in others.iter().filter(|other| !other.value.semantically_eq(&first.value)) {
            all_equal = false;
            self.conflict(first, other, &format!("the {target}"));
        }
        if all_equal { Some(first.value.clone()) } else { None }
    }

    /// Records a conflict as a failure of both hooks. A hook that fails closed must do so whichever comes first.
    fn conflict(&mut self, one: &PendingRewrite, other: &PendingRewrite, value: &str) {
        for (own, opposing) in [(one, other), (other, one)] {
            let message = format!("rewrites {value} differently from {}", opposing.hook);
            self.fail(own.position, &own.hook, Failure::new(FailureKind::Conflict, message));
            self.rewriters.retain(|(position, target, ..)| (*position, *target) != (own.position, own.target));
            self.messages
                .retain(|(position, message)| (*position, message.reports) != (own.position, Some(own.target)));
            // The hook allowed its own rewrite and nothing else. A deny is kept.
            for decided in &mut self.decided {
                if decided.position == own.position && !decided.is_failure && !decided.decision.is_block() {
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
            format!("cannot merge {patch} into the {}, which is {found}; both must be objects", rewrite.target)
        }),
    }
}
