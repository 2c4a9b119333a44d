//! Loaded hooks: checked specs with their handlers.
//!
//! The engine loads one set per generation of config. A hook that cannot be loaded stays in the set and fails whenever it is
//! selected; loading never drops a hook.

use std::sync::Arc;

use checkrein_core::{
    Compat, EventKind, Failure, FailureKind, FailurePolicy, HookInfo, HookSelector, HookSet, HookState, Opinion,
};

use super::conditions::with_conditions;
use crate::handler::{CallbackHandler, Handler, HandlerEnv, HandlerProblem};
use crate::session_store::SessionStore;
use crate::trust::{changed_failure, unapproved_failure};
use checkrein_dialects::config::Diagnostic;
use checkrein_dialects::{HandlerSpec, HookSpec};

/// A problem of a hook, found when it was loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{hook}: {kind}")]
#[non_exhaustive]
pub struct Problem {
    /// The hook.
    pub hook: Arc<HookInfo>,
    /// The kind of the problem.
    pub kind: ProblemKind,
}

/// Kinds of problems of a hook.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The hook cannot run: it fails at every matching event.
    #[error("cannot be loaded ({0}); it fails at every matching event until it is fixed")]
    NotLoaded(Failure),
    /// The hook is not approved, or changed since.
    #[error("does not run: {}", .0.message)]
    NotApproved(Failure),
    /// The handler runs, and reports a problem.
    #[error("{0}")]
    Handler(HandlerProblem),
    /// The hook runs in the background at a gate.
    #[error("runs in the background, so it cannot block anything; run it in the foreground to make it block")]
    BackgroundGate,
    /// The timeout is zero.
    #[error("`timeout` is 0, so it always times out; omit it to use the default")]
    NoTime,
    /// A condition on tool input at a kind of event without a tool.
    #[error("has a condition on tool input, which `{0}` does not have; it never runs there")]
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

/// The hooks of one generation of config.
pub(super) struct LoadedHooks {
    pub(super) set: HookSet,
    /// Indexed by the position in the set.
    loaded: Vec<Arc<LoadedHook>>,
    /// `true` if one of the hooks is an administrator's.
    pub(super) has_managed: bool,
    pub(super) problems: Vec<Problem>,
    /// `true` if a rule uses the history of its session, so that events are recorded.
    pub(super) uses_history: bool,
    /// Choice of the files about unsafe rules of agents.
    pub(super) compat: Option<Compat>,
    /// Audit log that the files name.
    #[cfg(feature = "audit")]
    pub(super) audit: Option<Arc<crate::audit::AuditLog>>,
}

/// Settings of files that apply to all hooks.
#[derive(Debug, Default)]
pub(super) struct FileSettings {
    pub(super) compat: Option<Compat>,
    /// `true` if a rule of a file uses the history, also one for other events.
    pub(super) uses_history: bool,
    #[cfg_attr(not(feature = "audit"), expect(dead_code, reason = "used by the audit log only"))]
    pub(super) audit: Option<checkrein_dialects::config::AuditSettings>,
}

/// A hook with its handler.
pub(super) struct LoadedHook {
    pub(super) spec: Arc<HookSpec>,
    /// The handler, or the failure of every run.
    pub(super) handler: Result<Arc<dyn Handler>, Failure>,
    /// Key of the claim, if the hook runs once per session.
    once_key: Option<String>,
}

impl LoadedHook {
    /// Claims a run. Returns `None` if the hook runs once per session and has run in this one.
    pub(super) fn claim(self: &Arc<Self>, store: &Arc<dyn SessionStore>, session: Option<&str>) -> Option<Claim> {
        let Some(key) = &self.once_key else { return Some(Claim { hook: Arc::clone(self), once: None }) };
        if !store.claim(session, key) {
            return None;
        }
        let once = OnceClaim { store: Arc::clone(store), session: session.map(str::to_owned), key: key.clone() };
        Some(Claim { hook: Arc::clone(self), once: Some(once) })
    }
}

/// The right to run a hook. Dropping it unsettled gives the one run of a session back, so a failed hook can run again.
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
    /// Keeps the claim if the hook has returned an opinion. An empty opinion of a rule means that the rule does not apply, so the
    /// rule can still run once.
    pub(super) fn settle(mut self, result: &Result<Opinion, Failure>) {
        let is_rule = matches!(self.hook.spec.handler, HandlerSpec::Rule(_));
        if result.as_ref().is_ok_and(|opinion| !is_rule || !opinion.is_none()) {
            self.once = None;
        }
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
        // In the order of the set: positions in both lists must be equal.
        specs.sort_by_key(HookSpec::rank);
        let mut problems = Vec::new();
        let set = HookSet::new(specs.iter().map(selector).collect());
        let loaded: Vec<_> = specs
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
                if needs_tool_input(&loaded.spec)
                    && let Some(kind) = loaded.spec.kinds.iter().find(|kind| !has_tool(kind))
                {
                    problem(ProblemKind::NeverRuns(kind.clone()));
                }
                Arc::new(loaded)
            })
            .collect();
        let uses_history = loaded.iter().any(|hook: &Arc<LoadedHook>| match &hook.spec.handler {
            HandlerSpec::Rule(rule) => rule.uses_history(),
            _ => false,
        });
        let has_managed = set.hooks().iter().any(|hook| hook.info.is_managed());
        Self {
            set,
            loaded,
            has_managed,
            problems,
            uses_history,
            compat: None,
            #[cfg(feature = "audit")]
            audit: None,
        }
    }

    /// Applies the settings of files.
    pub(super) fn with_file_settings(mut self, settings: &FileSettings) -> Self {
        self.compat = settings.compat;
        self.uses_history |= settings.uses_history;
        #[cfg(feature = "audit")]
        if let Some(settings) = &settings.audit {
            self.audit = Some(Arc::new(crate::audit::AuditLog::from_settings(settings)));
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

/// `true` if the hook has a condition on tool input.
fn needs_tool_input(spec: &HookSpec) -> bool {
    spec.permission_rule.is_some() || !spec.input.is_empty()
}

fn has_tool(kind: &EventKind) -> bool {
    kind.contract().matched_on.as_deref() == Some("tool_name")
}

/// Selector of a hook, without the events at which it never runs.
fn selector(spec: &HookSpec) -> HookSelector {
    let mut selector = spec.selector();
    if needs_tool_input(spec) {
        selector.kinds.retain(has_tool);
    }
    selector
}

/// Marks hooks whose handler or dialect rewrites.
fn declaring(spec: HookSpec, env: &HandlerEnv) -> HookSpec {
    let rewrites = match &spec.handler {
        HandlerSpec::Builtin(named) => env.registry.builtin(&named.name).is_some_and(|builtin| builtin.is_rewriting()),
        HandlerSpec::Rule(rule) => !rule.rewrite.is_empty(),
        _ => false,
    };
    let mut spec = if rewrites { spec.rewrites() } else { spec };
    Arc::make_mut(&mut spec.info).may_rewrite = !spec.dialect.declares_rewrites;
    spec
}

/// Identity of a hook across generations of config.
pub(super) fn key(spec: &HookSpec) -> (&'static str, Option<String>, String, bool) {
    let info = &spec.info;
    // A dry run and a hook in force are different hooks.
    (spec.dialect.name, info.source.file.clone(), info.id.clone(), info.dry_run)
}

/// Key of the one run of a hook. It is the same after a reload and in another process.
fn once_key(spec: &HookSpec) -> String {
    let info = &spec.info;
    format!("{} {} {}", info.source.file.as_deref().unwrap_or_default(), info.id, spec.definition())
}

fn load(spec: Arc<HookSpec>, env: &HandlerEnv) -> LoadedHook {
    let handler = match &spec.state {
        HookState::Untrusted => Err(unapproved_failure(&spec.info)),
        HookState::Changed(what) => Err(changed_failure(&spec.info, what)),
        // Open, because no hook of the file was ever approved.
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
        // A factory is foreign code: its panic fails only this hook.
        Some(factory) => {
            checkrein_core::catch_panic(|| factory.build(spec, env)).unwrap_or_else(|panic| Err(panic.into()))
        }
        None if kind == "http" && cfg!(not(feature = "http")) => Err(Failure::new(
            FailureKind::UnknownHandler,
            "HTTP hooks need the cargo feature `http` of checkrein, and this program is built without it",
        )),
        None if matches!(kind, "prompt" | "agent") => Err(Failure::new(
            FailureKind::UnknownHandler,
            format!("`{kind}` hooks need the agent's model; checkrein cannot run them"),
        )),
        None => {
            let hint = match checkrein_core::closest_match(kind, env.registry.handler_kinds()) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("known types: {}", env.registry.handler_kinds().collect::<Vec<_>>().join(", ")),
            };
            Err(Failure::new(FailureKind::UnknownHandler, format!("unknown handler type `{kind}`; {hint}")))
        }
    }
}
