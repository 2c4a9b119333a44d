//! Errors of hooks that an engine finds when it loads them: unknown builtins, wrong arguments, invalid URLs.
//!
//! `checkrein check`, `list` and `status --effective` report them.

use std::collections::HashMap;

use checkrein::engine::{Problem, ProblemKind};
use checkrein_core::{FailureKind, HookState};
use checkrein_dialects::config::{Diagnostic, Severity};
use checkrein_dialects::{Dialect, HandlerSpec, HookSpec};

use super::files::Files;
use super::place::Part;
use super::{distinct, for_hook, is_decoded, rule};

/// Builds an engine from the hooks, as a run does, and returns the problems that `diagnostics` do not have. Runs no hook.
pub fn load_errors(
    dialect: &'static Dialect,
    hooks: &[HookSpec],
    dir: &std::path::Path,
    diagnostics: &[Diagnostic],
) -> Vec<Diagnostic> {
    // An engine does not load unapproved hooks. Their errors are the same after the approval.
    let approved = hooks.iter().filter(|hook| is_decoded(&hook.state)).cloned().map(|mut hook| {
        hook.state = HookState::Ready;
        hook
    });
    let engine = crate::own_program::engine_builder().settle_as(dialect).cwd(dir).hooks(approved).build();
    let problems = engine.problems();
    let files = &Files::default();
    let mut found = Vec::new();
    let by_id = by_id(hooks.iter());
    for problem in problems.iter().filter(|problem| !problem.is_reported_in(diagnostics)) {
        let same = by_id.get(problem.hook.id.as_str()).into_iter().flatten();
        let Some(hook) = same.copied().find(|hook| is_about(problem, hook)) else { continue };
        found.extend(describe(files, problem, hook, dialect));
    }
    distinct(found)
}

/// Returns hooks by their ids.
fn by_id<'h>(hooks: impl Iterator<Item = &'h HookSpec>) -> HashMap<&'h str, Vec<&'h HookSpec>> {
    let mut found: HashMap<_, Vec<_>> = HashMap::new();
    hooks.for_each(|hook| found.entry(hook.info.id.as_str()).or_default().push(hook));
    found
}

/// Builds an engine from the hooks, as a run does, and marks approved hooks that it cannot load as broken. Returns the errors.
/// Runs no hook.
pub fn mark_broken(dialect: &'static Dialect, hooks: &mut [HookSpec], dir: &std::path::Path) -> Vec<Diagnostic> {
    let approved: Vec<_> = hooks.iter().filter(|hook| hook.state == HookState::Ready).cloned().collect();
    let engine = crate::own_program::engine_builder().settle_as(dialect).cwd(dir).hooks(approved).build();
    let files = &Files::default();
    let mut found = Vec::new();
    for problem in engine.problems() {
        let reason = match &problem.kind {
            ProblemKind::NotLoaded(failure) => &failure.message,
            ProblemKind::Handler(problem) if problem.is_fatal => &problem.message,
            _ => continue,
        };
        for hook in hooks.iter_mut().filter(|hook| hook.state == HookState::Ready && is_about(&problem, hook)) {
            let Some(diagnostic) = describe(files, &problem, hook, dialect) else { continue };
            if diagnostic.severity != Severity::Error {
                continue;
            }
            hook.state = HookState::Broken(reason.clone());
            if !found.contains(&diagnostic) {
                found.push(diagnostic);
            }
        }
    }
    found
}

/// `true` if a problem is one of this hook. An engine adds to the declared properties of a hook, so these are not compared.
fn is_about(problem: &Problem, hook: &HookSpec) -> bool {
    let (found, own) = (&problem.hook, &hook.info);
    let is_same = found.id == own.id && found.source == own.source && found.dry_run == own.dry_run;
    // One entry for several events may be several hooks, of which only some are broken.
    is_same && !(matches!(problem.kind, ProblemKind::NotLoaded(_)) && rule::is_valid(hook))
}

fn describe(files: &Files, problem: &Problem, hook: &HookSpec, dialect: &Dialect) -> Option<Diagnostic> {
    match &problem.kind {
        ProblemKind::NotLoaded(failure)
            if failure.kind == FailureKind::UnknownHandler && matches!(hook.handler, HandlerSpec::Other { .. }) =>
        {
            // Its agent runs the hook itself, and other agents do not.
            if hook.dialect.name == dialect.name && !dialect.has_all_events {
                return None;
            }
            let mut diagnostic = for_hook(files, hook, Part::Handler, "not-run-here", &failure.message);
            diagnostic.severity = if hook.dialect.has_all_events { Severity::Error } else { Severity::Warning };
            Some(diagnostic)
        }
        ProblemKind::NotLoaded(failure) => {
            let part = match (&hook.handler, failure.kind) {
                (HandlerSpec::Builtin(_), FailureKind::Schema) => Part::Arguments,
                _ => Part::Handler,
            };
            let diagnostic = match rule::error(files, hook) {
                Some(error) => error,
                None => for_hook(files, hook, part, "not-loaded", &failure.message),
            };
            // An unapproved hook blocks nothing.
            let blocked = hook.kinds.iter().find(|kind| hook.state == HookState::Ready && hook.dialect.is_gate(kind));
            Some(match blocked.filter(|_| !hook.info.dry_run && hook.can_guard()) {
                Some(kind) => {
                    let name = hook.dialect.name_of(kind).unwrap_or(kind.name());
                    diagnostic.with_help(format!("fix or remove the hook; until then, it blocks `{name}`"))
                }
                None => diagnostic,
            })
        }
        ProblemKind::Handler(problem) => {
            let (code, part) = match (problem.is_fatal, &hook.handler) {
                (true, HandlerSpec::Http(_)) => ("not-loaded", Part::CaFile),
                (true, _) => ("not-loaded", Part::Handler),
                (false, _) => ("handler-problem", Part::Handler),
            };
            Some(for_hook(files, hook, part, code, &problem.message))
        }
        ProblemKind::NeverRuns(_) => Some(for_hook(files, hook, Part::Entry, "never-runs", &problem.kind.to_string())),
        ProblemKind::NotApproved(_) | ProblemKind::BackgroundGate | ProblemKind::NoTime => None,
        _ => None,
    }
}
