//! Reports of test cases and of whole runs, as `checkrein test --json` prints them.

use std::time::Duration;

use checkrein_core::Record;
use serde::Serialize;

use super::case::Case;
use super::probes::HookProbes;
use crate::rule_tests::RuleCoverage;

/// Report of a case.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct CaseReport {
    /// Name of the case.
    pub name: String,
    /// File of the case.
    pub file: String,
    /// First line of the case.
    pub line: u32,
    /// Outcome.
    pub outcome: CaseOutcome,
    /// Duration of the event, including background hooks.
    pub duration_ms: u64,
    /// Differences from the expected results.
    pub mismatches: Vec<Mismatch>,
    /// Error that prevented the run, or the reason why it proves nothing.
    pub error: Option<String>,
    /// Record of the event, if the case ran.
    pub record: Option<Record>,
}

/// Outcome of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CaseOutcome {
    /// All results are as expected.
    Passed,
    /// A result differs from the expected one.
    Failed,
    /// The case could not run, or no hook of it did.
    Error,
    /// The case did not run, because another one failed first.
    Skipped,
}

impl CaseOutcome {
    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Error => "error",
            Self::Skipped => "skipped",
        }
    }
}

/// Difference from an expected result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Mismatch {
    /// Expected field: `decision`, `hooks.guard.exit_code`.
    pub field: String,
    /// Line of the expectation.
    pub line: u32,
    /// Expected value.
    pub expected: String,
    /// Actual value.
    pub actual: String,
    /// Line diff: `- ` before expected lines, `+ ` before actual lines.
    pub diff: Vec<String>,
}

/// Report of all cases and probes.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct TestReport {
    /// Number of cases that passed.
    pub passed: usize,
    /// Number of cases that failed.
    pub failed: usize,
    /// Number of cases that could not run.
    pub errors: usize,
    /// Number of cases that did not run, because another one failed first.
    pub skipped: usize,
    /// Duration of the whole run.
    pub duration_ms: u64,
    /// Problems of the hook files and the test files, and hooks that were not tested.
    pub problems: Vec<String>,
    /// Number of changed conditions that were tried with the tests of their rules.
    pub mutants: usize,
    /// Rules with the kinds of their cases. Empty with `--filter`.
    pub rules: Vec<RuleCoverage>,
    /// Cases, in the order of their files.
    pub cases: Vec<CaseReport>,
    /// Probed hooks.
    pub contract: Vec<HookProbes>,
}

impl TestReport {
    /// Report of these cases and probes.
    pub fn new(cases: Vec<CaseReport>, contract: Vec<HookProbes>, took: Duration) -> Self {
        let count = |outcome| cases.iter().filter(|case| case.outcome == outcome).count();
        Self {
            passed: count(CaseOutcome::Passed),
            failed: count(CaseOutcome::Failed),
            errors: count(CaseOutcome::Error),
            skipped: count(CaseOutcome::Skipped),
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            problems: Vec::new(),
            mutants: 0,
            rules: Vec::new(),
            cases,
            contract,
        }
    }

    /// Adds problems of the test files, and hooks that were not tested.
    #[must_use]
    pub fn with_problems(mut self, problems: Vec<String>) -> Self {
        self.problems = problems;
        self
    }

    /// Sets the number of changed conditions that were tried.
    #[must_use]
    pub fn with_mutants(mut self, mutants: usize) -> Self {
        self.mutants = mutants;
        self
    }

    /// Sets the coverage of rules.
    #[must_use]
    pub fn with_rules(mut self, rules: Vec<RuleCoverage>) -> Self {
        self.rules = rules;
        self
    }

    /// Returns `true` if all cases passed, no probe has a finding and there is no other problem.
    pub fn is_fine(&self) -> bool {
        self.problems.is_empty()
            && self.cases.iter().all(CaseReport::is_passed)
            && !self.contract.iter().any(HookProbes::has_findings)
    }
}

impl CaseReport {
    /// Returns `true` if the case passed.
    pub fn is_passed(&self) -> bool {
        self.outcome == CaseOutcome::Passed
    }

    fn new(case: &Case, outcome: CaseOutcome) -> Self {
        Self {
            name: case.name.clone(),
            file: case.file.display().to_string(),
            line: case.line,
            outcome,
            duration_ms: 0,
            mismatches: Vec::new(),
            error: None,
            record: None,
        }
    }

    pub(super) fn ran(case: &Case, took: Duration, record: Record, mismatches: Vec<Mismatch>) -> Self {
        let outcome = if mismatches.is_empty() { CaseOutcome::Passed } else { CaseOutcome::Failed };
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        Self { duration_ms, mismatches, record: Some(record), ..Self::new(case, outcome) }
    }

    /// Report of a case whose expectations hold only because every selected hook failed.
    pub(super) fn proves_nothing(case: &Case, took: Duration, record: Record, why: String) -> Self {
        let ran = Self::ran(case, took, record, Vec::new());
        Self { outcome: CaseOutcome::Error, error: Some(why), ..ran }
    }

    pub(super) fn error(case: &Case, why: impl Into<String>) -> Self {
        Self { error: Some(why.into()), ..Self::new(case, CaseOutcome::Error) }
    }

    /// Report of a case that does not run, because another one failed first.
    pub fn skipped(case: &Case) -> Self {
        Self::new(case, CaseOutcome::Skipped)
    }
}
