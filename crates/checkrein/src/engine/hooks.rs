//! Hooks that are loaded: checked, with their handlers made.

use std::sync::Arc;

use checkrein_core::{
    Compat, EventKind, Failure, FailureKind, FailurePolicy, HookInfo, HookSelector, HookSet, HookState,
};

use super::conditions::with_conditions;
use crate::handler::{CallbackHandler, Handler, HandlerEnv, HandlerProblem};
use crate::session_store::SessionStore;
use crate::trust::approve_hint;
use checkrein_dialects::config::Diagnostic;
use checkrein_dialects::{HandlerSpec, HookSpec};

/// Something that is wrong with a hook, found when it was loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{hook}: {kind}")]
#[non_exhaustive]
pub struct Problem {
    /// The hook.
    pub hook: Arc<HookInfo>,
    /// What is wrong, and what comes of it.
    pub kind: ProblemKind,
}

/// The ways in which a hook can be wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The hook cannot run at all: it fails whenever it is chosen.
    #[error("cannot be loaded ({0}); it fails whenever it is chosen")]
    NotLoaded(Failure),
    /// The user has not approved the hook, or it has changed since.
    #[error("does not run: {}", .0.message)]
    NotApproved(Failure),
    /// The handler runs, and reports a problem.
    #[error("{0}")]
    Handler(HandlerProblem),
    /// The hook runs in the background at a gate.
    #[error("runs in the background at a gate, so it cannot stop anything there")]
    BackgroundGate,
    /// The timeout is zero.
    #[error("has no time to run: its timeout is zero, leave it out for the usual one")]
    NoTime,
    /// A condition on tool input at a kind of event that is about no tool.
    #[error("asks what a tool is called with, so it never runs at `{0}`, where none is")]
    NeverRuns(EventKind),
}

impl Problem {
    /// `true` if one of these diagnostics is about the same entry of the same file.
    pub fn is_reported_in(&self, diagnostics: &[Diagnostic]) -> bool {
        let source = &self.hook.source;
        diagnostics.iter().any(|diagnostic| {
            let line = diagnostic.at.as_ref().map(|at| at.place.line);
            source.file.as_ref() == Some(&diagnostic.file) && line == source.line
        })
    }
}

/// A set of hooks, as one generation of config has it.
pub(super) struct LoadedHooks {
    pub(super) set: HookSet,
    /// By the position in the set.
    loaded: Vec<Arc<LoadedHook>>,
    /// Whether an administrator has set any of them.
    pub(super) has_managed: bool,
    pub(super) problems: Vec<Problem>,
    /// What files say about rules that are not safe.
    pub(super) compat: Option<Compat>,
    /// Where files say that what hooks decide is written down.
    #[cfg(feature = "audit")]
    pub(super) audit: Option<Arc<crate::audit::AuditLog>>,
}

/// What files say about all hooks.
#[derive(Debug, Default)]
pub(super) struct FileSettings {
    pub(super) compat: Option<Compat>,
    #[cfg_attr(not(feature = "audit"), expect(dead_code, reason = "nothing is written down"))]
    pub(super) audit: Option<checkrein_dialects::config::AuditSettings>,
}

/// A hook and what does its work.
pub(super) struct LoadedHook {
    pub(super) spec: Arc<HookSpec>,
    /// The handler, or why there is none.
    pub(super) handler: Result<Arc<dyn Handler>, Failure>,
    /// The key of its one run in a session, if it runs only once in each.
    once_key: Option<String>,
}

impl LoadedHook {
    /// Claims the one run that a session has. `None`: it is taken. Every other hook may always run.
    pub(super) fn claim(self: &Arc<Self>, store: &Arc<dyn SessionStore>, session: Option<&str>) -> Option<Claim> {
        let Some(key) = &self.once_key else { return Some(Claim { hook: Arc::clone(self), once: None }) };
        if !store.claim(session, key) {
            return None;
        }
        let once = OnceClaim { store: Arc::clone(store), session: session.map(str::to_owned), key: key.clone() };
        Some(Claim { hook: Arc::clone(self), once: Some(once) })
    }
}

/// The right to run a hook. A hook that runs once and came to no opinion may run again.
pub(super) struct Claim {
    pub(super) hook: Arc<LoadedHook>,
    once: Option<OnceClaim>,
}

struct OnceClaim {
    store: Arc<dyn SessionStore>,
    session: Option<String>,
    key: String,
}

impl Claim {
    /// The hook has come to an opinion.
    pub(super) fn spend(mut self) {
        self.once = None;
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(once) = &self.once {
            once.store.release(once.session.as_deref(), &once.key);
        }
    }
}

impl LoadedHooks {
    /// Loads hooks.
    pub(super) fn load(specs: Vec<HookSpec>, env: &HandlerEnv) -> Self {
        let mut specs: Vec<_> = specs.into_iter().map(|spec| with_conditions(declaring(spec, env), env)).collect();
        // As the set does, so that positions there are positions here.
        specs.sort_by_key(HookSpec::rank);
        let mut problems = Vec::new();
        let set = HookSet::new(specs.iter().map(selector).collect());
        let loaded = specs
            .into_iter()
            .map(|spec| {
                let loaded = load(Arc::new(spec), env);
                let info = &loaded.spec.info;
                let mut problem = |kind| problems.push(Problem { hook: Arc::clone(info), kind });
                match &loaded.handler {
                    Ok(handler) => {
                        handler.problems().iter().cloned().map(ProblemKind::Handler).for_each(&mut problem);
                    }
                    Err(failure) if failure.kind == FailureKind::Untrusted => {
                        problem(ProblemKind::NotApproved(failure.clone()));
                    }
                    Err(failure) => problem(ProblemKind::NotLoaded(failure.clone())),
                }
                if loaded.spec.background && loaded.spec.kinds.iter().any(|kind| kind.contract().is_gate()) {
                    problem(ProblemKind::BackgroundGate);
                }
                if loaded.spec.timeout.is_some_and(|timeout| timeout.is_zero()) {
                    problem(ProblemKind::NoTime);
                }
                let asks = asks_for_tools(&loaded.spec);
                if let Some(kind) = loaded.spec.kinds.iter().find(|kind| asks && !has_tool(kind)) {
                    problem(ProblemKind::NeverRuns(kind.clone()));
                }
                Arc::new(loaded)
            })
            .collect();
        let has_managed = set.hooks().iter().any(|hook| hook.info.is_managed());
        Self {
            set,
            loaded,
            has_managed,
            problems,
            compat: None,
            #[cfg(feature = "audit")]
            audit: None,
        }
    }

    /// Does what files say about all hooks.
    pub(super) fn with_file_settings(mut self, said: &FileSettings) -> Self {
        self.compat = said.compat;
        #[cfg(feature = "audit")]
        if let Some(settings) = &said.audit {
            self.audit = Some(Arc::new(crate::audit::AuditLog::of_settings(settings)));
        }
        self
    }

    pub(super) fn get(&self, position: usize) -> &Arc<LoadedHook> {
        &self.loaded[position]
    }

    pub(super) fn specs(&self) -> impl Iterator<Item = &Arc<HookSpec>> {
        self.loaded.iter().map(|loaded| &loaded.spec)
    }
}

/// Whether it asks what a tool is called with.
fn asks_for_tools(spec: &HookSpec) -> bool {
    spec.permission_rule.is_some() || !spec.input.is_empty()
}

fn has_tool(kind: &EventKind) -> bool {
    kind.contract().matched_on.as_deref() == Some("tool_name")
}

/// Selector of a hook, without the events at which it never runs.
fn selector(spec: &HookSpec) -> HookSelector {
    let mut selector = spec.selector();
    if asks_for_tools(spec) {
        selector.kinds.retain(has_tool);
    }
    selector
}

/// Adds what its handler says of itself.
fn declaring(spec: HookSpec, env: &HandlerEnv) -> HookSpec {
    let rewrites = match &spec.handler {
        HandlerSpec::Builtin(named) => env.registry.builtin(&named.name).is_some_and(|builtin| builtin.is_rewriting()),
        _ => false,
    };
    let mut spec = if rewrites { spec.rewrites() } else { spec };
    Arc::make_mut(&mut spec.info).may_rewrite = !spec.dialect.declares_rewrites;
    spec
}

/// What makes it the same hook in the next generation.
pub(super) fn key(spec: &HookSpec) -> (&'static str, Option<String>, String, bool) {
    let info = &spec.info;
    // A dry run does not use up the single run of a `once` hook.
    (spec.dialect.name, info.source.file.clone(), info.id.clone(), info.dry_run)
}

/// The key of a hook's one run. It stays the same after a reload and in another process.
fn once_key(spec: &HookSpec) -> String {
    let info = &spec.info;
    format!("{} {} {}", info.source.file.as_deref().unwrap_or_default(), info.id, spec.definition())
}

fn load(spec: Arc<HookSpec>, env: &HandlerEnv) -> LoadedHook {
    let handler = match &spec.state {
        // Open: the user never relied on this gate, so a cloned repository cannot lock the user out.
        HookState::Untrusted => {
            let message = format!("not approved yet; {}", approve_hint(&spec.info.id));
            Err(Failure::new(FailureKind::Untrusted, message).with_effect(FailurePolicy::Open))
        }
        HookState::Changed(what) => {
            let message = format!("{what}; {}", approve_hint(&spec.info.id));
            Err(Failure::new(FailureKind::Untrusted, message))
        }
        // Open for the same reason: no hook of the file was ever approved.
        HookState::Broken(reason) if spec.info.on_failure == Some(FailurePolicy::Open) => {
            Err(Failure::new(FailureKind::Schema, reason).with_effect(FailurePolicy::Open))
        }
        HookState::Broken(reason) => Err(Failure::new(FailureKind::Schema, reason)),
        HookState::Ready | HookState::Disabled | HookState::Skipped(_) => build(&spec, env),
    };
    let once_key = spec.once.then(|| once_key(&spec));
    LoadedHook { spec, handler, once_key }
}

fn build(spec: &HookSpec, env: &HandlerEnv) -> Result<Arc<dyn Handler>, Failure> {
    if let HandlerSpec::Callback(callback) = &spec.handler {
        return Ok(Arc::new(CallbackHandler(callback.clone())));
    }
    let kind = spec.handler.kind().name();
    match env.registry.handler(kind) {
        // A factory is foreign code: what it breaks is its own hook.
        Some(factory) => {
            checkrein_core::catch_panic(|| factory.build(spec, env)).unwrap_or_else(|panic| Err(panic.into()))
        }
        None if kind == "http" && cfg!(not(feature = "http")) => Err(Failure::new(
            FailureKind::UnknownHandler,
            "HTTP hooks need checkrein's feature `http`, and this program is built without it",
        )),
        None => {
            let hint = checkrein_core::closest_match(kind, env.registry.handler_kinds())
                .map(|name| format!(", did you mean `{name}`?"))
                .unwrap_or_default();
            Err(Failure::new(
                FailureKind::UnknownHandler,
                format!("nobody has registered handlers of the kind `{kind}`{hint}"),
            ))
        }
    }
}
