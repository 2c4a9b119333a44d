//! What includes say about the hooks of the files that they include, and what of that applies.

use std::path::Path;
use std::sync::Arc;

use checkrein_core::{Effect, Scope};
use checkrein_dialects::config::{Diagnostic, Include, Severity};
use checkrein_dialects::{HandlerSpec, HookSpec};

use super::loaded_file::name;
use super::shadow;

/// The includes on the way to a file.
#[derive(Clone, Default)]
pub(super) struct IncludeChain {
    depth: usize,
    /// Scope of the file with the last include.
    by: Option<Scope>,
    /// What the last include that says something says about failures, and the scope of its file.
    on_failure: Option<(Effect, Scope)>,
    /// The nearest scope that puts the hooks in the shadow.
    shadow: Option<Scope>,
    /// Variables that the hooks get, and the scopes of the files that say so.
    env_allow: Vec<(String, Scope)>,
    /// `true` if hooks run also under the agent that the file belongs to.
    under_own_agent: bool,
}

impl IncludeChain {
    /// The chain with one more include, which is in a file of this scope. `in_shadow`: that file puts all its hooks in the
    /// shadow.
    pub(super) fn with(&self, include: &Include, in_shadow: bool, by: Scope) -> Self {
        let mut env_allow = self.env_allow.clone();
        env_allow.extend(include.env_allow.iter().map(|name| (name.clone(), by)));
        Self {
            depth: self.depth + 1,
            by: Some(by),
            on_failure: include.on_failure.map(|effect| (effect, by)).or(self.on_failure),
            shadow: shadow::outermost(self.shadow, (include.shadow || in_shadow).then_some(by)),
            env_allow,
            under_own_agent: self.under_own_agent || include.under_own_agent,
        }
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// Scope of the file with the last include.
    pub(super) fn by(&self) -> Option<Scope> {
        self.by
    }

    /// `true` if hooks run also under the agent that the file belongs to.
    pub(super) fn under_own_agent(&self) -> bool {
        self.under_own_agent
    }

    /// `true` if hooks of this scope run in the shadow.
    pub(super) fn in_shadow(&self, scope: Scope) -> bool {
        self.shadow.is_some_and(|by| shadow::may_put(by, scope))
    }

    /// Changes the hooks of a file of this scope. Reports what does not apply to them.
    pub(super) fn apply(&self, file: &Path, scope: Scope, hooks: &mut [HookSpec]) -> Vec<Diagnostic> {
        let mut refused = Vec::new();
        let mut refuse = |by: Scope, what: String| {
            let text = format!("a {by} file includes this one, and cannot {what}");
            let note = Diagnostic::of_file(Severity::Warning, "not-its-to-say", name(file), text);
            refused.push(note.with_help(format!("only a {scope} file can say that")));
        };
        match self.on_failure {
            Some((_, by)) if vouched_for(by) > vouched_for(scope) => {
                refuse(by, "say what is done when its hooks fail".to_owned());
            }
            Some((effect, _)) => {
                // What a hook itself says comes first.
                hooks.iter_mut().for_each(|spec| {
                    Arc::make_mut(&mut spec.hook.info).on_failure.get_or_insert(effect);
                });
            }
            None => {}
        }
        for (variable, by) in &self.env_allow {
            if shadow::may_put(*by, scope) {
                hooks.iter_mut().for_each(|spec| allow_env(spec, variable));
            } else {
                refuse(*by, format!("pass `{variable}` on to its hooks"));
            }
        }
        match self.shadow {
            Some(_) if self.in_shadow(scope) => hooks.iter_mut().for_each(HookSpec::put_in_shadow),
            Some(by) => refuse(by, "put its hooks in the shadow".to_owned()),
            None => {}
        }
        if hooks.is_empty() {
            refused.clear();
        }
        refused
    }
}

/// Passes a variable of the host on to a command.
pub(super) fn allow_env(spec: &mut HookSpec, variable: &str) {
    if let HandlerSpec::Command(command) = &mut spec.handler
        && !command.env_allow.iter().any(|have| have == variable)
    {
        command.env_allow.push(variable.to_owned());
    }
}

/// How far away whoever wrote a file is: a repository must not loosen what its reader or his administrator has set.
fn vouched_for(scope: Scope) -> u8 {
    match scope {
        Scope::Managed => 0,
        Scope::User | Scope::Local | Scope::Code => 1,
        _ => 2,
    }
}
