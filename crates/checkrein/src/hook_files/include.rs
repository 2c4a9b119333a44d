//! Includes, and their settings for the hooks of included files.
//!
//! A setting never applies to hooks of a wider scope than the file with the include.

use std::path::Path;
use std::sync::Arc;

use checkrein_core::{FailurePolicy, Scope};
use checkrein_dialects::config::{Diagnostic, Include, Severity};
use checkrein_dialects::{HandlerSpec, HookSpec};

use super::loaded_file::name;

/// Includes that lead to a file, with their settings for its hooks. Every setting comes with the scope of its file: it applies
/// only to hooks that a file of that scope [may change](Scope::may_change).
#[derive(Clone, Default)]
pub(super) struct IncludeChain {
    depth: usize,
    /// Scope of the file with the last include.
    by: Option<Scope>,
    /// Failure policies of hooks. Outermost include first.
    on_failure: Vec<(FailurePolicy, Scope)>,
    /// Variables to pass on to hooks.
    env_allow: Vec<(String, Scope)>,
    /// Widest scope that makes hooks dry runs.
    dry_run: Option<Scope>,
    /// The widest scope that runs hooks also under the agent that the file belongs to.
    under_own_agent: Option<Scope>,
}

impl IncludeChain {
    /// The chain with one more include, which is in a file of this scope. `dry_run`: that file makes all its
    /// hooks dry runs.
    pub(super) fn with(&self, include: &Include, dry_run: bool, by: Scope) -> Self {
        let mut chain = self.clone();
        chain.depth += 1;
        chain.by = Some(by);
        chain.on_failure.extend(include.on_failure.map(|effect| (effect, by)));
        chain.env_allow.extend(include.env_allow.iter().map(|name| (name.clone(), by)));
        if include.dry_run || dry_run {
            chain.dry_run = widest(chain.dry_run, by);
        }
        if include.under_own_agent {
            chain.under_own_agent = widest(chain.under_own_agent, by);
        }
        chain
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Scope of the file with the last include.
    pub(super) fn included_by(&self) -> Option<Scope> {
        self.by
    }

    /// `true` if hooks of this scope are dry runs.
    pub(super) fn is_dry_run(&self, scope: Scope) -> bool {
        self.dry_run.is_some_and(|by| by.may_change(scope))
    }

    /// `true` if hooks of this scope run also under the agent that their file belongs to.
    pub(super) fn under_own_agent(&self, scope: Scope) -> bool {
        self.under_own_agent.is_some_and(|by| by.may_change(scope))
    }

    /// Reports an include that cannot run the hooks of a file under their own agent.
    pub(super) fn refused_under_own_agent(&self, file: &Path, scope: Scope) -> Option<Diagnostic> {
        let by = self.under_own_agent.filter(|by| !by.may_change(scope))?;
        Some(refused(file, scope, by, "run its hooks under the agent that it belongs to"))
    }

    /// Changes the hooks of a file of this scope. Reports what does not apply to them.
    pub(super) fn apply(&self, file: &Path, scope: Scope, hooks: &mut [HookSpec]) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        if hooks.is_empty() {
            return diagnostics;
        }
        let mut refuse = |by: Scope, what: &str| diagnostics.push(refused(file, scope, by, what));
        let mut on_failure: Option<(FailurePolicy, Scope)> = None;
        for (effect, by) in self.on_failure.iter().copied() {
            if !by.may_change(scope) {
                refuse(by, "set the failure policy of its hooks");
            } else if on_failure.is_none_or(|(_, outer)| by.may_change(outer)) {
                on_failure = Some((effect, by));
            }
        }
        if let Some((effect, _)) = on_failure {
            for spec in hooks.iter_mut() {
                // The hook's own setting takes precedence.
                Arc::make_mut(&mut spec.info).on_failure.get_or_insert(effect);
            }
        }
        for (variable, by) in &self.env_allow {
            if by.may_change(scope) {
                hooks.iter_mut().for_each(|spec| allow_env(spec, variable));
            } else {
                refuse(*by, &format!("pass `{variable}` on to its hooks"));
            }
        }
        match self.dry_run {
            Some(by) if by.may_change(scope) => hooks.iter_mut().for_each(HookSpec::set_dry_run),
            Some(by) => refuse(by, "make its hooks dry runs"),
            None => {}
        }
        diagnostics
    }
}

/// The wider of two scopes.
fn widest(outer: Option<Scope>, inner: Scope) -> Option<Scope> {
    match outer {
        Some(outer) if outer.may_change(inner) => Some(outer),
        _ => Some(inner),
    }
}

/// Diagnostic for a setting of an include in a file of scope `by` that does not apply to a file of this scope.
fn refused(file: &Path, scope: Scope, by: Scope, what: &str) -> Diagnostic {
    let text = format!("a {by} file that includes this {scope} file cannot {what}");
    let note = Diagnostic::of_file(Severity::Warning, "scope-not-permitted", name(file), text);
    note.with_help(format!("move the setting to a {scope} file"))
}

/// Passes a variable of the host on to a command.
pub(super) fn allow_env(spec: &mut HookSpec, variable: &str) {
    if let HandlerSpec::Command(command) = &mut spec.handler
        && !command.env_allow.iter().any(|have| have == variable)
    {
        command.env_allow.push(variable.to_owned());
    }
}
