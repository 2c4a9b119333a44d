//! Mutation of conditions: a change of a condition that no test notices shows a missing test.

use checkrein::policy::Rule;
use checkrein_dialects::{HookSpec, RuleSpec};
use checkrein_expression::{Expression, PartRole, Span};

use super::case::TestCase;
use super::{RuleReport, effect};

/// A change of an expression of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mutant {
    /// Key of the expression: `when` or `vars.NAME`.
    pub key: String,
    /// Changed part.
    pub part: String,
    /// The change.
    pub mutation: Mutation,
}

/// Kind of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutation {
    /// The part is negated.
    Negated,
    /// The operand of `&&` or `||` is dropped.
    Dropped,
}

/// Maximum number of changes of one rule.
const MAX_MUTANTS: usize = 200;

/// Tries all changes of the expressions of a rule whose tests pass.
pub(super) fn run(spec: &RuleSpec, hook: &HookSpec, report: &mut RuleReport) {
    let cases: Vec<TestCase> = spec.tests.iter().filter_map(|test| TestCase::parse(&test.json).ok()).collect();
    for (mutant, changed) in mutants(spec).into_iter().take(MAX_MUTANTS) {
        // A change that does not compile would be noticed before any event.
        let Ok(rule) = Rule::compile(&changed, &hook.kinds) else { continue };
        report.mutants += 1;
        let is_noticed = cases.iter().any(|case| {
            let got = effect(&rule, &changed, hook, case);
            got.map_or(true, |(got, _)| got != case.want)
        });
        if !is_noticed {
            report.survivors.push(mutant);
        }
    }
}

/// Returns the rule with each of its changes.
fn mutants(spec: &RuleSpec) -> Vec<(Mutant, RuleSpec)> {
    let mut all = Vec::new();
    let mut add = |key: String, text: &str, put: &dyn Fn(String) -> RuleSpec| {
        for (span, role) in Expression::boolean_parts(text) {
            let Some(part) = text.get(span.start as usize..span.end as usize) else { continue };
            let replaced = |new: &str| put(replace(text, span, new));
            let mutant = |mutation| Mutant { key: key.clone(), part: part.to_owned(), mutation };
            all.push((mutant(Mutation::Negated), replaced(&format!("!({part})"))));
            match role {
                PartRole::AndOperand => all.push((mutant(Mutation::Dropped), replaced("true"))),
                PartRole::OrOperand => all.push((mutant(Mutation::Dropped), replaced("false"))),
                PartRole::Other => {}
            }
        }
    };
    add("when".to_owned(), &spec.when, &|text| {
        let mut changed = spec.clone();
        changed.when = text;
        changed
    });
    for (index, (name, text)) in spec.vars.iter().enumerate() {
        add(format!("vars.{name}"), text, &|text| {
            let mut changed = spec.clone();
            changed.vars[index].1 = text;
            changed
        });
    }
    all
}

fn replace(text: &str, span: Span, new: &str) -> String {
    let (start, end) = (span.start as usize, span.end as usize);
    format!("{}{new}{}", text.get(..start).unwrap_or_default(), text.get(end..).unwrap_or_default())
}
