//! Tests of rules: each test is one call with the wanted effect, in the key `tests` of a rule.
//!
//! `checkrein test` runs them. A test evaluates one rule alone: no other hook runs, and no file, repository or session of the user
//! is read.

mod case;
mod mutate;

use std::fmt;

use checkrein::facts::Facts;
use checkrein::policy::{Rule, RuleError};
use checkrein_core::{Decision, FailurePolicy, Opinion};
use checkrein_dialects::{HandlerSpec, HookSpec, RuleSpec, RuleTest};
use serde::Serialize;

pub use case::{CaseError, TEST_KEYS, TestCase};
pub use mutate::{Mutant, Mutation};

use crate::hook_tests::{CaseOutcome, CaseReport, Mismatch};

/// Result of the tests of one rule.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RuleReport {
    /// Id of the rule.
    pub rule: String,
    /// File of the rule. A rule of a pack has the name of the file in the program.
    pub file: Option<String>,
    /// Line of the rule in its file.
    pub line: u32,
    /// The rule cannot be compiled.
    pub error: Option<RuleError>,
    /// Results of its tests, in order.
    pub tests: Vec<TestResult>,
    /// Changes of the condition that no test notices.
    pub survivors: Vec<Mutant>,
    /// Number of changes that were tried.
    pub mutants: usize,
}

impl RuleReport {
    /// `true` if the rule compiles and all tests pass.
    pub fn is_passed(&self) -> bool {
        self.error.is_none() && self.tests.iter().all(TestResult::is_passed)
    }

    /// Number of tests that wanted an effect.
    pub fn applied(&self) -> usize {
        self.tests.iter().filter(|test| test.want != Effect::None).count()
    }
}

impl RuleReport {
    /// Returns the results as cases of a test report. A rule that does not compile is one case.
    pub fn cases(&self) -> Vec<CaseReport> {
        let file = self.file.clone().unwrap_or_default();
        let case = |name: String, line: u32, mismatches: Vec<Mismatch>, error: Option<String>| {
            let outcome = match (&error, mismatches.is_empty()) {
                (Some(_), _) => CaseOutcome::Error,
                (None, true) => CaseOutcome::Passed,
                (None, false) => CaseOutcome::Failed,
            };
            CaseReport { name, file: file.clone(), line, outcome, duration_ms: 0, mismatches, error, record: None }
        };
        if let Some(error) = &self.error {
            return vec![case(self.rule.clone(), self.line, Vec::new(), Some(error.to_string()))];
        }
        let mut cases: Vec<CaseReport> = Vec::new();
        for test in &self.tests {
            let name = format!("{}: {}", self.rule, test.call);
            let mut mismatches = Vec::new();
            if let Ok((got, text)) = &test.got
                && *got != test.want
            {
                let text = text.as_deref().map(|text| format!(": {text}")).unwrap_or_default();
                let sentence = format!("expected {}, but the rule {}{text}", test.want, got.verb());
                mismatches.push(mismatch("want", test.line, test.want.to_string(), got.to_string(), sentence));
            }
            if let (Some(wanted), Ok((_, reason))) = (&test.missing_text, &test.got) {
                let reason = reason.clone().unwrap_or_default();
                let sentence = format!("expected a text with `{wanted}`, but the text is: {reason}");
                mismatches.push(mismatch("text", test.line, wanted.clone(), reason, sentence));
            }
            cases.push(case(name, test.line, mismatches, test.got.as_ref().err().cloned()));
        }
        for Mutant { key, part, mutation } in &self.survivors {
            let part = part.split_whitespace().collect::<Vec<_>>().join(" ");
            let change = match mutation {
                Mutation::Negated => "negated",
                Mutation::Dropped => "dropped",
            };
            let name = format!("{}: no test notices that `{part}` of `{key}` is {change}", self.rule);
            let (expected, actual) = ("a failed test".to_owned(), "all tests pass".to_owned());
            let wanted = mismatch(MUTANT, self.line, expected, actual, "all tests pass".to_owned());
            cases.push(case(name, self.line, vec![wanted], None));
        }
        cases
    }
}

/// Field of the mismatch of a mutant that no test notices.
pub const MUTANT: &str = "mutant";

fn mismatch(field: &str, line: u32, expected: String, actual: String, sentence: String) -> Mismatch {
    Mismatch { field: field.to_owned(), line, expected, actual, diff: vec![sentence] }
}

/// Result of one test.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct TestResult {
    /// Line in the file.
    pub line: u32,
    /// Short description of the call.
    pub call: String,
    /// Wanted effect.
    pub want: Effect,
    /// Effect of the rule, with its text, or the reason why the test could not run.
    pub got: Result<(Effect, Option<String>), String>,
    /// Text that the reason must contain, if the reason does not.
    pub missing_text: Option<String>,
}

impl TestResult {
    /// `true` if the effect is the wanted one.
    pub fn is_passed(&self) -> bool {
        self.missing_text.is_none() && self.got.as_ref().is_ok_and(|(got, _)| *got == self.want)
    }
}

/// Effect of a rule on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// The rule does not apply.
    None,
    /// The call is denied.
    Deny,
    /// The user is asked.
    Ask,
    /// The call is allowed.
    Allow,
    /// The agent is halted.
    Halt,
    /// The tool input changes.
    Rewrite,
    /// The model gets context.
    Context,
    /// The user gets a message.
    Message,
    /// The session gets a label.
    Label,
}

impl Effect {
    /// All effects with their names in tests.
    pub const NAMES: &[(&str, Self)] = &[
        ("none", Self::None),
        ("deny", Self::Deny),
        ("ask", Self::Ask),
        ("allow", Self::Allow),
        ("halt", Self::Halt),
        ("rewrite", Self::Rewrite),
        ("context", Self::Context),
        ("message", Self::Message),
        ("label", Self::Label),
    ];

    /// Returns the effect as a verb.
    fn verb(self) -> &'static str {
        match self {
            Self::None => "does not apply",
            Self::Deny => "denies",
            Self::Ask => "asks",
            Self::Allow => "allows",
            Self::Halt => "halts the agent",
            Self::Rewrite => "rewrites the input",
            Self::Context => "adds context",
            Self::Message => "shows a message",
            Self::Label => "sets a label",
        }
    }

    /// Returns the effect of an opinion. `applies`: the condition of the rule is true.
    fn of_opinion(opinion: &Opinion, applies: bool, has_label: bool) -> Self {
        match opinion.decision() {
            Decision::Deny => Self::Deny,
            Decision::Ask | Decision::Defer => Self::Ask,
            Decision::Allow => Self::Allow,
            Decision::Halt => Self::Halt,
            Decision::NoOpinion if !opinion.rewrites().is_empty() => Self::Rewrite,
            Decision::NoOpinion if !opinion.contexts().is_empty() => Self::Context,
            Decision::NoOpinion if !opinion.messages().is_empty() => Self::Message,
            Decision::NoOpinion if applies && has_label => Self::Label,
            Decision::NoOpinion => Self::None,
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::NAMES.iter().find(|(_, effect)| effect == self).map_or("none", |(name, _)| *name);
        f.pad(name)
    }
}

/// Kind of effect that a test wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// The rule applies.
    Effect,
    /// The rule does not apply.
    None,
}

/// `true` if a rule has a test that wants this.
pub fn has_test(spec: &RuleSpec, wanted: Wanted) -> bool {
    spec.tests.iter().any(|test| {
        let want = test.json.field("want").and_then(|want| want.as_text().map(std::borrow::Cow::into_owned));
        want.is_some_and(|want| (want == "none") == (wanted == Wanted::None))
    })
}

/// Tests that a rule has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct RuleCoverage {
    /// Id of the rule.
    pub rule: String,
    /// File of the rule.
    pub file: String,
    /// Line of the rule in its file.
    pub line: u32,
    /// `true` if a case wants that the rule applies.
    pub applies: bool,
    /// `true` if a case wants that the rule does not apply.
    pub silent: bool,
}

impl RuleCoverage {
    /// Coverage of a rule. `None` if the hook is no rule.
    pub fn new(hook: &HookSpec) -> Option<Self> {
        let HandlerSpec::Rule(spec) = &hook.handler else { return None };
        Some(Self {
            rule: hook.info.id.clone(),
            file: file(hook, spec).unwrap_or_default(),
            line: hook.info.source.line.unwrap_or(1),
            applies: has_test(spec, Wanted::Effect),
            silent: has_test(spec, Wanted::None),
        })
    }

    /// `true` if the rule has both kinds of cases.
    pub fn is_complete(&self) -> bool {
        self.applies && self.silent
    }
}

/// Returns the file of a rule. A rule of a pack has the name of the file in the program.
fn file(hook: &HookSpec, spec: &RuleSpec) -> Option<String> {
    match spec.pack_rule.as_deref().and_then(|id| id.split('.').next()) {
        Some(pack) => Some(format!("{pack}.yaml")),
        None => hook.info.source.file.clone(),
    }
}

/// Returns a short description of the call of a test.
pub fn describe(test: &RuleTest) -> String {
    TestCase::parse(&test.json).map_or_else(|_| test.json.to_string(), |case| case.describe())
}

/// Keys that are not part of the state around the call.
const CALL: &[&str] = &["command", "tool", "input", "path", "url", "prompt", "want", "text"];

/// Returns the keys of a test that set the state around its call, with their values.
pub fn scene(test: &RuleTest) -> Vec<(String, String)> {
    let shown = |value: checkrein_core::RawJson| {
        let item = |item: &str| {
            checkrein_core::RawJson::text_of(item).map_or_else(|| item.to_owned(), std::borrow::Cow::into_owned)
        };
        match value.items() {
            Some(items) => items.map(item).collect::<Vec<_>>().join(", "),
            None => item(value.as_str()),
        }
    };
    let entries = test.json.entries().into_iter().flatten();
    let around = entries.filter(|entry| !CALL.contains(&entry.key().as_ref()));
    around.map(|entry| (entry.key().into_owned(), shown(entry.to_json()))).collect()
}

/// Runs the tests of a rule. `None` if the hook is no rule. `mutate`: also changes the condition and reports changes that no test
/// notices.
pub fn run(hook: &HookSpec, mutate: bool) -> Option<RuleReport> {
    let HandlerSpec::Rule(spec) = &hook.handler else { return None };
    let mut report = RuleReport {
        rule: hook.info.id.clone(),
        file: file(hook, spec),
        line: hook.info.source.line.unwrap_or(1),
        error: None,
        tests: Vec::new(),
        survivors: Vec::new(),
        mutants: 0,
    };
    let rule = match Rule::compile(spec, &hook.kinds) {
        Ok(rule) => rule,
        Err(error) => {
            report.error = Some(error);
            return Some(report);
        }
    };
    for test in &spec.tests {
        report.tests.push(match TestCase::parse(&test.json) {
            Ok(case) => run_case(&rule, spec, hook, &case, test.line),
            Err(error) => TestResult {
                line: test.line,
                call: test.json.to_string(),
                want: Effect::None,
                got: Err(error.to_string()),
                missing_text: None,
            },
        });
    }
    if mutate && report.is_passed() && !report.tests.is_empty() {
        mutate::run(spec, hook, &mut report);
    }
    Some(report)
}

fn run_case(rule: &Rule, spec: &RuleSpec, hook: &HookSpec, case: &TestCase, line: u32) -> TestResult {
    let got = effect(rule, spec, hook, case);
    let missing_text = case.text.clone().filter(|text| match &got {
        Ok((_, reason)) => !reason.as_deref().unwrap_or_default().contains(text.as_str()),
        Err(_) => false,
    });
    TestResult { line, call: case.describe(), want: case.want, got, missing_text }
}

/// Id of a rule, its effect on a call, and the text of the effect.
pub type RuleEffect<'a> = (&'a str, Effect, Option<String>);

/// Compiled rules, for calls that several rules judge.
#[derive(Debug)]
pub struct RuleSet {
    rules: Vec<(HookSpec, Rule)>,
}

impl RuleSet {
    /// Compiles rules. Other hooks are omitted.
    ///
    /// # Errors
    /// A rule is not valid. The text has its id.
    pub fn compile(hooks: impl IntoIterator<Item = HookSpec>) -> Result<Self, String> {
        let mut rules = Vec::new();
        for hook in hooks {
            let HandlerSpec::Rule(spec) = &hook.handler else { continue };
            let rule = Rule::compile(spec, &hook.kinds).map_err(|error| format!("{}: {error}", hook.info.id))?;
            rules.push((hook, rule));
        }
        Ok(Self { rules })
    }

    /// Returns the effects of all rules that apply to the call of a test, with their ids and texts.
    ///
    /// # Errors
    /// The call is not valid, or a rule cannot be evaluated for it.
    pub fn effects(&self, case: &TestCase) -> Result<Vec<RuleEffect<'_>>, String> {
        let Some((first, _)) = self.rules.first() else { return Ok(Vec::new()) };
        let (event, context) = case.facts(first)?;
        let facts = Facts::new(event, context);
        let mut effects = Vec::new();
        for (hook, rule) in &self.rules {
            let HandlerSpec::Rule(spec) = &hook.handler else { continue };
            let (effect, text) =
                effect_on(&facts, rule, spec, hook).map_err(|why| format!("{}: {why}", hook.info.id))?;
            if effect != Effect::None {
                effects.push((hook.info.id.as_str(), effect, text));
            }
        }
        Ok(effects)
    }
}

/// Returns the effect of a rule on a call.
fn effect(rule: &Rule, spec: &RuleSpec, hook: &HookSpec, case: &TestCase) -> Result<(Effect, Option<String>), String> {
    let (event, context) = case.facts(hook)?;
    effect_on(&Facts::new(event, context), rule, spec, hook)
}

fn effect_on(facts: &Facts, rule: &Rule, spec: &RuleSpec, hook: &HookSpec) -> Result<(Effect, Option<String>), String> {
    let is_gate = hook.kinds.iter().any(|kind| hook.dialect.is_gate(kind));
    let default = if is_gate { FailurePolicy::Ask } else { FailurePolicy::Open };
    let opinion = rule.opinion(&hook.info.id, facts, spec.unknown.unwrap_or(default));
    let opinion = opinion.map_err(|failure| failure.message)?;
    let evaluation = rule.explain(facts).map_err(|failure| failure.message)?;
    let text = opinion.reason().or(opinion.contexts().first().map(String::as_str));
    let text = text.or(opinion.messages().first().map(String::as_str)).map(str::to_owned);
    Ok((Effect::of_opinion(&opinion, evaluation.value == Ok(true), spec.label.is_some()), text))
}
