//! Error of [`EngineBuilder::try_build`](super::EngineBuilder::try_build), for hosts that stop on broken config.

use std::fmt;

use checkrein_dialects::config::{Diagnostic, Severity};

use super::{Engine, Problem, ProblemKind};

/// Hooks that cannot be loaded. Returned by [`EngineBuilder::try_build`](super::EngineBuilder::try_build).
///
/// The text lists every error with file and line.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoadError {
    /// Errors in hook files, without warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// Hooks that cannot be loaded and have no diagnostic.
    pub problems: Vec<Problem>,
}

impl LoadError {
    /// Returns the errors of an engine, if it has any.
    pub(super) fn from_engine(engine: &Engine) -> Option<Self> {
        let mut diagnostics = engine.diagnostics();
        diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
        let mut problems = engine.problems();
        problems.retain(|problem| {
            matches!(problem.kind, ProblemKind::NotLoaded(_)) && !problem.is_reported_in(&diagnostics)
        });
        if diagnostics.is_empty() && problems.is_empty() { None } else { Some(Self { diagnostics, problems }) }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.diagnostics.len() + self.problems.len();
        write!(f, "hooks cannot be loaded: {count} {}", if count == 1 { "error" } else { "errors" })?;
        self.diagnostics.iter().try_for_each(|diagnostic| write!(f, "\n{diagnostic}"))?;
        self.problems.iter().try_for_each(|problem| write!(f, "\n{problem}"))
    }
}

impl std::error::Error for LoadError {}
