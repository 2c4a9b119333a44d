//! What came of a case.

use std::time::Duration;

use checkrein_core::Record;
use serde::Serialize;

use super::case::Case;
use super::probes::HookProbes;

/// What came of a case.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct CaseReport {
    /// The case's name.
    pub name: String,
    /// The file that it stands in.
    pub file: String,
    /// The line that it starts in.
    pub line: u32,
    /// How it went.
    pub outcome: CaseOutcome,
    /// How long the event took, hooks in the background included.
    pub duration_ms: u64,
    /// What was otherwise than expected.
    pub mismatches: Vec<Mismatch>,
    /// Why it could not run.
    pub error: Option<String>,
    /// What happened, if it ran.
    pub record: Option<Record>,
}

/// How a case went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CaseOutcome {
    /// All is as expected.
    Passed,
    /// Something is otherwise than expected.
    Failed,
    /// It could not run.
    Error,
    /// It was not run, since another had failed.
    Skipped,
}

impl CaseOutcome {
    /// The name, as in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Error => "error",
            Self::Skipped => "skipped",
        }
    }
}

/// Something that is otherwise than expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Mismatch {
    /// What it is about: `decision`, `hooks.guard.exit_code`.
    pub field: String,
    /// The line that expects it.
    pub line: u32,
    /// What was expected.
    pub expected: String,
    /// What there was.
    pub actual: String,
    /// Both, line by line: `- ` in front of what was expected, `+ ` in front of what there was.
    pub diff: Vec<String>,
}

/// What came of all cases and probes.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct TestReport {
    /// How many cases are as expected.
    pub passed: usize,
    /// How many are not.
    pub failed: usize,
    /// How many could not run.
    pub errors: usize,
    /// How many were not run, since another had failed.
    pub skipped: usize,
    /// How long all of it took.
    pub duration_ms: u64,
    /// What is wrong with the files that cases stand in.
    pub problems: Vec<String>,
    /// The cases, in the order of their files.
    pub cases: Vec<CaseReport>,
    /// The hooks that were probed.
    pub contract: Vec<HookProbes>,
}

impl TestReport {
    /// Of these, which took so long.
    pub fn new(cases: Vec<CaseReport>, contract: Vec<HookProbes>, took: Duration) -> Self {
        let count = |outcome| cases.iter().filter(|case| case.outcome == outcome).count();
        Self {
            passed: count(CaseOutcome::Passed),
            failed: count(CaseOutcome::Failed),
            errors: count(CaseOutcome::Error),
            skipped: count(CaseOutcome::Skipped),
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            problems: Vec::new(),
            cases,
            contract,
        }
    }

    /// The same with what is wrong with the files that cases stand in.
    #[must_use]
    pub fn with_problems(mut self, problems: Vec<String>) -> Self {
        self.problems = problems;
        self
    }

    /// Whether nothing is wrong.
    pub fn is_fine(&self) -> bool {
        self.problems.is_empty()
            && self.cases.iter().all(CaseReport::is_passed)
            && !self.contract.iter().any(HookProbes::has_findings)
    }
}

impl CaseReport {
    /// Whether all is as expected.
    pub fn is_passed(&self) -> bool {
        self.outcome == CaseOutcome::Passed
    }

    fn of(case: &Case, outcome: CaseOutcome) -> Self {
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
        Self { duration_ms, mismatches, record: Some(record), ..Self::of(case, outcome) }
    }

    pub(super) fn error(case: &Case, why: impl Into<String>) -> Self {
        Self { error: Some(why.into()), ..Self::of(case, CaseOutcome::Error) }
    }

    pub(super) fn skipped(case: &Case) -> Self {
        Self::of(case, CaseOutcome::Skipped)
    }
}
