//! Rewrites in an answer: those that the agent supports, and texts about those that it does not.
//!
//! A text must never claim a rewrite that the agent did not receive. At a gate, a lost rewrite is a denial that contains the new
//! value, so that the model can call the tool again with it.

use checkrein_core::json::JsonObject;
use checkrein_core::{Decision, HookInfo, RawJson, RewriteTexts, Rewritten, Target, Verdict};

use super::{RewritePlan, VerdictRenderer};
use crate::reply::{Key, KeyMeaning};

/// Longest new value in a text for the model, in bytes.
const MAX_SHOWN: usize = 4000;

/// Rewrite that the agent supports.
pub(super) struct PlannedRewrite {
    target: Target,
    key: &'static Key,
    path: &'static str,
    /// Value in the answer.
    value: RawJson,
    /// Value that the agent then uses.
    effective: RawJson,
}

/// Cause why an agent does not support a rewrite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LossCause {
    /// Hooks cannot change the target here.
    NoKey,
    /// Hooks can only set fields, and the rewrite removes this one.
    Removes(String),
    /// The agent ignores the new value together with this decision, or without one.
    Beside(Decision),
    /// The agent accepts only the shape of the original value.
    Shape,
}

impl VerdictRenderer<'_> {
    /// Determines which rewrites the agent receives. A blocked operation has none.
    pub(super) fn plan_rewrites(&self, verdict: &Verdict) -> RewritePlan {
        let mut plan = RewritePlan::default();
        let decision = self.supported(verdict.decision()).unwrap_or_default();
        if decision.is_block() && self.kind.contract().is_gate() {
            return plan;
        }
        for target in Target::ALL {
            let Some(rewritten) = verdict.rewritten(target) else { continue };
            match self.plan_rewrite(target, rewritten, decision) {
                Ok(planned) => plan.supported.push(planned),
                Err(cause) => plan.lost.push((target, cause)),
            }
        }
        plan
    }

    fn plan_rewrite(
        &self,
        target: Target,
        rewritten: &Rewritten,
        decision: Decision,
    ) -> Result<PlannedRewrite, LossCause> {
        let found = self.keys().find_map(|(_, key)| match key.means {
            KeyMeaning::Replace(own) if own == target => Some((key, key.paths.first()?, false)),
            KeyMeaning::Merge(own) if own == target => Some((key, key.paths.first()?, true)),
            _ => None,
        });
        let Some((key, path, merges)) = found else { return Err(LossCause::NoKey) };
        if key.only_with.is_some_and(|decisions| !decisions.contains(&decision)) {
            return Err(LossCause::Beside(decision));
        }
        let value = key.shaped(rewritten).ok_or(LossCause::Shape)?;
        let mut effective = value.clone();
        if merges && let Some(original) = &rewritten.original {
            if let Some(field) = removed_field(original, &value, key.keeps) {
                return Err(LossCause::Removes(field));
            }
            effective = merged(original, &value).unwrap_or(effective);
        }
        Ok(PlannedRewrite { target, key, path, value, effective })
    }

    /// Adds the supported rewrites to the answer, and a note for each other one.
    pub(super) fn put_rewrites(&mut self, plan: RewritePlan) {
        for PlannedRewrite { target, key, path, value, effective } in plan.supported {
            if self.answer.decision.is_block() && self.kind.contract().is_gate() {
                continue;
            }
            self.put(path, &value);
            if let Some((path, json)) = key.requires_sibling.filter(|(path, _)| !self.tree.has(path))
                && let Ok(json) = RawJson::parse(json)
            {
                self.put(path, &json);
                // The agent reads this allow like that of a hook.
                if self.answer.decision == Decision::NoOpinion && self.is_allow(path, &json) {
                    self.answer.decision = Decision::Allow;
                }
            }
            self.answer.rewrites.insert(target, effective);
        }
    }

    /// `true` if the agent reads this value at this path as an allow.
    fn is_allow(&self, path: &str, value: &RawJson) -> bool {
        self.keys().any(|(_, key)| {
            let KeyMeaning::Decision(words) = key.means else { return false };
            let mut allows = words.iter().filter(|(_, means)| *means == Decision::Allow);
            key.paths.contains(&path) && allows.any(|(word, _)| RawJson::string(word) == *value)
        })
    }

    /// Denies the operation, because the agent cannot receive a rewrite. The reason contains the new value.
    pub(super) fn refuse_lost_rewrites(&mut self, verdict: &Verdict, lost: &[(Target, LossCause)]) {
        let mut reasons = Vec::new();
        for (target, cause) in lost {
            let Some(rewritten) = verdict.rewritten(*target) else { continue };
            reasons.push(self.lost_reason(*target, cause, rewritten));
            let limit = self.limit(*target, cause);
            self.note(format!("{limit}, so this was denied"));
        }
        let reason = reasons.join("\n");
        if !self.decide_by_command(Decision::Deny, &reason)
            && !self.decide(Decision::Deny, &reason)
            && !self.decide(Decision::Halt, &reason)
        {
            self.note(format!("{} hooks cannot block `{}`; the deny is dropped", self.dialect.title(), self.kind));
        }
    }

    /// Returns the reason of a denial for a lost rewrite.
    fn lost_reason(&self, target: Target, cause: &LossCause, rewritten: &Rewritten) -> String {
        let limit = self.limit(target, cause);
        let (hooks, texts) = sources(rewritten);
        let found = match texts {
            Some(texts) if target == Target::Prompt => {
                let (cause, remedy) = (&texts.cause, &texts.remedy);
                return format!("Blocked: {cause}. {limit}; {remedy} and send it again. ({hooks})");
            }
            Some(texts) => format!("{} ({hooks})", texts.cause),
            None => {
                let hooks: Vec<_> = rewritten.by.iter().map(|(hook, _)| hook.to_string()).collect();
                format!("{} changes the {target}", hooks.join(" and "))
            }
        };
        // The new value is last, so that it has no text after it.
        let lead = if target == Target::Prompt { "Send this instead" } else { "Call the tool again with this input" };
        format!("Blocked: {found}. {limit}. {}", self.shown(rewritten, lead))
    }

    /// Returns the new value for the model, if it may be shown.
    fn shown(&self, rewritten: &Rewritten, lead: &str) -> String {
        let value = &rewritten.effective;
        let text = value.as_text().map_or_else(|| value.to_string(), std::borrow::Cow::into_owned);
        if self.extras.has_secret.is_some_and(|has_secret| has_secret(&text)) {
            "The new value contains a secret, so it is not shown here: tell the user.".to_owned()
        } else if text.len() > MAX_SHOWN {
            "The new value is too long to show here: tell the user.".to_owned()
        } else {
            format!("{lead}: {text}")
        }
    }

    /// Returns the limit of the agent, as a sentence without a full stop.
    fn limit(&self, target: Target, cause: &LossCause) -> String {
        let title = self.dialect.title();
        match (cause, target) {
            (LossCause::NoKey, Target::Prompt) => {
                format!("{title} does not let hooks edit prompts")
            }
            (LossCause::NoKey, _) => {
                let is_supported_elsewhere = self.dialect.reply.keys.iter().any(|key| {
                    !key.parse_only
                        && (key.means == KeyMeaning::Replace(target) || key.means == KeyMeaning::Merge(target))
                });
                let name = self.dialect.name_of(self.kind).unwrap_or(self.kind.name());
                let place = if is_supported_elsewhere { format!(" at {name}") } else { String::new() };
                format!("{title} does not let hooks change the {target}{place}")
            }
            (LossCause::Removes(field), _) => {
                format!("{title} lets hooks set fields of the {target}, but not remove `{field}`")
            }
            (LossCause::Beside(Decision::NoOpinion), _) => {
                format!("{title} ignores a new {target} unless a hook also allows the call")
            }
            (LossCause::Beside(Decision::Ask), _) => format!("{title} drops a new {target} when it asks the user"),
            (LossCause::Beside(decision), _) => format!("{title} ignores a new {target} beside `{decision}`"),
            (LossCause::Shape, _) => format!("{title} ignores a new {target} whose shape differs from the original"),
        }
    }

    /// Returns the messages of hooks for the user. A message about a lost rewrite is replaced by its cause and the limit of the
    /// agent. Adds notes about lost rewrites that did not become a denial.
    pub(super) fn messages_about(&mut self, verdict: &Verdict, plan: &RewritePlan) -> Vec<String> {
        let is_gate = self.kind.contract().is_gate();
        let mut replaced = Vec::new();
        for (target, cause) in plan.lost.iter().filter(|_| !is_gate) {
            let Some(rewritten) = verdict.rewritten(*target) else { continue };
            let limit = self.limit(*target, cause);
            let (hooks, texts) = sources(rewritten);
            let text = match texts {
                Some(texts) => capitalized(&format!("{}, and {limit}. ({hooks})", texts.cause)),
                None => format!("{limit}; the change is dropped ({hooks})"),
            };
            if texts.is_some() {
                replaced.push(text.clone());
            }
            self.note(text);
        }
        let is_true = |target: Target| plan.supported.iter().any(|planned| planned.target == target);
        let kept = verdict.messages().iter().filter(|message| message.reports.is_none_or(is_true));
        kept.map(|message| message.text.clone()).chain(replaced).collect()
    }
}

/// Returns the names and places of the hooks that rewrote a value, and the first text about it.
fn sources(rewritten: &Rewritten) -> (String, Option<&RewriteTexts>) {
    let place = |hook: &HookInfo| format!("hook {}, {}", hook.id, hook.source);
    let hooks: Vec<_> = rewritten.by.iter().map(|(hook, _)| place(hook)).collect();
    (hooks.join("; "), rewritten.by.iter().find_map(|(_, texts)| texts.as_ref()))
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Returns the first field of the original that the new value lacks, except for `keeps`.
fn removed_field(original: &RawJson, value: &RawJson, keeps: &[&str]) -> Option<String> {
    let mut fields = original.entries()?.map(|field| field.key().into_owned());
    fields.find(|field| value.field(field).is_none() && !keeps.contains(&field.as_str()))
}

/// Returns the original with the fields of the new value.
fn merged(original: &RawJson, value: &RawJson) -> Option<RawJson> {
    let mut object = JsonObject::new();
    for field in original.entries()?.filter(|field| value.field(&field.key()).is_none()) {
        object.entry(&field.key(), &field);
    }
    for field in value.entries()? {
        object.entry(&field.key(), &field);
    }
    object.finish()
}
