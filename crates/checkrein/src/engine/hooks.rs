//! Hooks that are loaded: checked, with their handlers made.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use checkrein_core::{Failure, FailureKind, HookInfo, HookSet, HookState};

use crate::handler::{Handler, HandlerEnv};
use crate::spec::HookSpec;

/// Something that is wrong with a hook, found when it was loaded.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Problem {
    /// The hook.
    pub hook: Arc<HookInfo>,
    /// What is wrong, and what comes of it.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.hook, self.text)
    }
}

/// A set of hooks, as one generation of config has it.
pub(super) struct LoadedHooks {
    pub(super) set: HookSet,
    /// By the position in the set.
    loaded: Vec<Arc<LoadedHook>>,
    pub(super) problems: Vec<Problem>,
}

/// A hook and what does its work.
pub(super) struct LoadedHook {
    pub(super) spec: Arc<HookSpec>,
    /// The handler, or why there is none.
    pub(super) handler: Result<Arc<dyn Handler>, Failure>,
    /// Whether it has run, if it runs only once.
    pub(super) has_run: AtomicBool,
}

impl LoadedHooks {
    pub(super) fn load(specs: Vec<HookSpec>, env: &HandlerEnv) -> Self {
        let specs: Vec<_> = specs.into_iter().map(Arc::new).collect();
        let mut problems = Vec::new();
        let mut by_hook = HashMap::new();
        for spec in &specs {
            let loaded = load(spec, env);
            let mut problem = |text| problems.push(Problem { hook: Arc::clone(&spec.hook.info), text });
            if let Err(failure) = &loaded.handler {
                problem(format!("cannot be loaded ({failure}); it fails whenever it is chosen"));
            }
            if spec.background && spec.hook.kinds.iter().any(|kind| kind.contract().is_gate()) {
                problem("runs in the background at a gate, so it cannot stop anything there".to_owned());
            }
            by_hook.insert(Arc::as_ptr(&spec.hook.info), Arc::new(loaded));
        }
        let set = HookSet::new(specs.iter().map(|spec| spec.hook.clone()).collect());
        // The set has sorted them; the info that each carries leads back to what was loaded.
        let loaded = set.hooks().iter().filter_map(|hook| by_hook.get(&Arc::as_ptr(&hook.info)).cloned()).collect();
        Self { set, loaded, problems }
    }

    pub(super) fn get(&self, position: usize) -> &Arc<LoadedHook> {
        &self.loaded[position]
    }

    pub(super) fn specs(&self) -> impl Iterator<Item = &Arc<HookSpec>> {
        self.loaded.iter().map(|loaded| &loaded.spec)
    }
}

fn load(spec: &Arc<HookSpec>, env: &HandlerEnv) -> LoadedHook {
    let handler = match &spec.hook.state {
        HookState::Untrusted => Err(Failure::new(FailureKind::Untrusted, "its user has not approved it")),
        HookState::Broken(reason) => Err(Failure::new(FailureKind::Schema, reason)),
        _ => build(spec, env),
    };
    LoadedHook { spec: Arc::clone(spec), handler, has_run: AtomicBool::new(false) }
}

fn build(spec: &HookSpec, env: &HandlerEnv) -> Result<Arc<dyn Handler>, Failure> {
    let kind = spec.handler.kind();
    match env.registry.handler(kind) {
        // A factory is foreign code: what it breaks is its own hook.
        Some(factory) => checkrein_core::shielded(|| factory.build(spec, env))
            .unwrap_or_else(|panic| Err(Failure::new(FailureKind::Panic, panic))),
        None => {
            let hint = checkrein_core::closest(kind, env.registry.handler_kinds())
                .map(|name| format!(", did you mean `{name}`?"))
                .unwrap_or_default();
            Err(Failure::new(
                FailureKind::UnknownHandler,
                format!("nobody has registered handlers of the kind `{kind}`{hint}"),
            ))
        }
    }
}
