//! Hooks that are loaded: checked, with their handlers made.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use checkrein_core::{Effect, Failure, FailureKind, HookInfo, HookSet, HookState};

use crate::handler::{Handler, HandlerEnv};
use checkrein_dialects::{HandlerSpec, HookSpec};

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
    /// The sessions in which it has run or runs now, if it runs only once in each.
    ran_in: Mutex<HashSet<Option<String>>>,
}

/// Sessions beyond this many are forgotten, all at once.
const SESSIONS: usize = 4096;

impl LoadedHook {
    /// Claims the one run that a session has. `None`: it is taken. Every other hook may always run.
    pub(super) fn claim(self: &Arc<Self>, session: Option<&String>) -> Option<Claim> {
        if self.spec.once {
            let mut ran_in = self.ran_in.lock().unwrap_or_else(PoisonError::into_inner);
            if ran_in.len() >= SESSIONS {
                ran_in.clear();
            }
            if !ran_in.insert(session.cloned()) {
                return None;
            }
        }
        Some(Claim { hook: Arc::clone(self), session: session.cloned(), done: false })
    }
}

/// The right to run a hook. A hook that runs only once and did not come to an opinion may run again.
pub(super) struct Claim {
    pub(super) hook: Arc<LoadedHook>,
    session: Option<String>,
    done: bool,
}

impl Claim {
    /// It has had its say.
    pub(super) fn spend(mut self) {
        self.done = true;
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if self.hook.spec.once && !self.done {
            self.hook.ran_in.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.session);
        }
    }
}

impl LoadedHooks {
    pub(super) fn load(specs: Vec<HookSpec>, env: &HandlerEnv) -> Self {
        let mut specs: Vec<_> = specs.into_iter().map(|spec| declaring(spec, env)).collect();
        // As the set does, so that positions there are positions here.
        specs.sort_by_key(|spec| spec.hook.order);
        let mut problems = Vec::new();
        let set = HookSet::new(specs.iter().map(|spec| spec.hook.clone()).collect());
        let loaded = specs
            .into_iter()
            .map(|spec| {
                let loaded = load(Arc::new(spec), env);
                let info = &loaded.spec.hook.info;
                let mut problem = |text| problems.push(Problem { hook: Arc::clone(info), text });
                if let Err(failure) = &loaded.handler {
                    problem(format!("cannot be loaded ({failure}); it fails whenever it is chosen"));
                }
                if loaded.spec.background && loaded.spec.hook.kinds.iter().any(|kind| kind.contract().is_gate()) {
                    problem("runs in the background at a gate, so it cannot stop anything there".to_owned());
                }
                Arc::new(loaded)
            })
            .collect();
        Self { set, loaded, problems }
    }

    pub(super) fn get(&self, position: usize) -> &Arc<LoadedHook> {
        &self.loaded[position]
    }

    pub(super) fn specs(&self) -> impl Iterator<Item = &Arc<HookSpec>> {
        self.loaded.iter().map(|loaded| &loaded.spec)
    }
}

/// Adds what its handler says of itself.
fn declaring(spec: HookSpec, env: &HandlerEnv) -> HookSpec {
    let rewrites = match &spec.handler {
        HandlerSpec::Builtin(named) => env.registry.builtin(&named.name).is_some_and(|builtin| builtin.is_rewriting()),
        _ => false,
    };
    let mut spec = if rewrites { spec.rewrites() } else { spec };
    Arc::make_mut(&mut spec.hook.info).may_rewrite = !spec.dialect.declares_rewrites;
    spec
}

fn load(spec: Arc<HookSpec>, env: &HandlerEnv) -> LoadedHook {
    let handler = match &spec.hook.state {
        // It never was the user's gate, so a cloned repository cannot lock its reader out with it.
        HookState::Untrusted => {
            Err(Failure::new(FailureKind::Untrusted, "its user has not approved it").with_effect(Effect::Open))
        }
        HookState::Broken(reason) => Err(Failure::new(FailureKind::Schema, reason)),
        _ => build(&spec, env),
    };
    LoadedHook { spec, handler, ran_in: Mutex::default() }
}

fn build(spec: &HookSpec, env: &HandlerEnv) -> Result<Arc<dyn Handler>, Failure> {
    let kind = spec.handler.kind();
    match env.registry.handler(kind) {
        // A factory is foreign code: what it breaks is its own hook.
        Some(factory) => checkrein_core::shielded(|| factory.build(spec, env))
            .unwrap_or_else(|panic| Err(Failure::new(FailureKind::Panic, panic))),
        None if kind == "http" && cfg!(not(feature = "http")) => Err(Failure::new(
            FailureKind::UnknownHandler,
            "HTTP hooks need checkrein's feature `http`, and this program is built without it",
        )),
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
