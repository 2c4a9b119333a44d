//! Conditions of the rules of packs for one call.

use std::collections::HashMap;
use std::sync::LazyLock;

use checkrein_core::{EventKind, Failure, FailureKind, FailurePolicy};
use checkrein_dialects::{HandlerSpec, packs};
use checkrein_expression::Object;

use super::rules::RULES;
use crate::policy::{Condition, Rule};

/// The rules of packs that the table names, by id. They are compiled once.
static COMPILED: LazyLock<HashMap<String, Result<Rule, String>>> = LazyLock::new(|| {
    let is_used = |id: &str| RULES.iter().any(|row| row.packs.contains(&id) || row.unknown.contains(&id));
    let all =
        ["filesystem", "git", "packages"].iter().filter_map(|name| packs::find(name)).flat_map(packs::Pack::rules);
    let mut compiled = HashMap::new();
    for hook in all.filter(|hook| is_used(&hook.info.id)) {
        if let HandlerSpec::Rule(spec) = &hook.handler {
            let rule = Rule::compile(spec, &[EventKind::PreToolUse]).map_err(|error| error.to_string());
            compiled.insert(hook.info.id.clone(), rule);
        }
    }
    compiled
});

/// The rules of packs for the facts of one call. Each condition is evaluated at most once.
pub(super) struct Conditions<'f> {
    facts: &'f dyn Object,
    known: HashMap<&'static str, Condition>,
}

impl<'f> Conditions<'f> {
    pub(super) fn new(facts: &'f dyn Object) -> Self {
        Self { facts, known: HashMap::new() }
    }

    /// Returns the condition of a rule.
    pub(super) fn get(&mut self, id: &'static str) -> Result<Condition, Failure> {
        if let Some(known) = self.known.get(id) {
            return Ok(known.clone());
        }
        let condition = rule(id)?.condition(self.facts)?;
        self.known.insert(id, condition.clone());
        Ok(condition)
    }

    /// Returns the reason of a rule whose condition holds.
    pub(super) fn reason(&self, id: &'static str) -> Result<String, Failure> {
        let opinion = rule(id)?.opinion(id, self.facts, FailurePolicy::Open)?;
        Ok(opinion.reason().unwrap_or_default().to_owned())
    }
}

fn rule(id: &str) -> Result<&'static Rule, Failure> {
    match COMPILED.get(id) {
        Some(Ok(rule)) => Ok(rule),
        Some(Err(why)) => Err(Failure::new(FailureKind::Schema, format!("the rule `{id}` is not valid: {why}"))),
        None => Err(Failure::new(FailureKind::Schema, format!("no pack has the rule `{id}`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_of_the_table_is_in_a_pack() {
        for id in RULES.iter().flat_map(|row| row.packs.iter().chain(row.unknown)) {
            assert!(rule(id).is_ok(), "{id}: {:?}", rule(id).err());
        }
    }
}
