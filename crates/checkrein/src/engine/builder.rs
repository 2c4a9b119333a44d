//! Builder of the engine.
//!
//! Hosts configure hooks, rules, limits and observers here. Building reads the hook files and blocks meanwhile.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use arc_swap::ArcSwap;
use checkrein_core::runner::{Fire, IntoReply};
use checkrein_core::{Compat, Envelope, Event, EventKind, Rules};
use checkrein_dialects::agents::native;
use checkrein_dialects::{Dialect, HookSpec};
use tokio::sync::Semaphore;

use super::background::Background;
use super::blocking::Blocking;
use super::hooks::LoadedHooks;
use super::reload::FromFiles;
use super::rule_source::RuleSource;
use super::stop_limit::StopLimit;
use super::{Engine, EnvelopeFactory, LoadError, Shared};
use crate::approver::{self, Approver};
use crate::handler::HandlerEnv;
use crate::handler::warm::WarmInterpreters;
use crate::hook_files::Sources;
use crate::observer::Observer;
use crate::registry::Registry;
use crate::session_store::{MemorySessionStore, SessionStore};

/// Maximum preallocated capacity for environment variables.
const MAX_VARS_CAPACITY: usize = 4096;

/// Default limit of handlers that run at the same time.
const DEFAULT_AT_ONCE: usize = 16;

/// Default limit of background hooks that run at the same time.
const DEFAULT_BACKGROUND: usize = 8;

/// Maximum length of the queue of background hooks.
const BACKGROUND_QUEUE: usize = 256;

/// Settings of an [`Engine`].
pub struct EngineBuilder {
    hooks: Vec<HookSpec>,
    sources: Sources,
    registry: Registry,
    trusts_variables: bool,
    agent: Option<Arc<str>>,
    records_history: bool,
    program: Option<PathBuf>,
    interpreters: Option<Arc<dyn WarmInterpreters>>,
    cwd: Option<PathBuf>,
    vars: Option<Vec<(OsString, OsString)>>,
    rules: RuleSource,
    observers: Vec<Arc<dyn Observer>>,
    approver: Option<Arc<dyn Approver>>,
    approver_timeout: Duration,
    envelope: Option<EnvelopeFactory>,
    at_once: usize,
    background: usize,
    stop_cap: Option<u32>,
    sessions: Option<Arc<dyn SessionStore>>,
    compat: Option<Compat>,
    #[cfg(feature = "audit")]
    audit: Option<crate::audit::AuditLog>,
}

impl EngineBuilder {
    pub(super) fn new() -> Self {
        Self {
            hooks: Vec::new(),
            sources: Sources::default(),
            registry: Registry::new(),
            trusts_variables: true,
            agent: None,
            records_history: false,
            program: None,
            interpreters: None,
            cwd: None,
            vars: None,
            rules: RuleSource::Dialect(&native::DIALECT),
            observers: Vec::new(),
            approver: None,
            approver_timeout: approver::DEFAULT_TIMEOUT,
            envelope: None,
            at_once: DEFAULT_AT_ONCE,
            background: DEFAULT_BACKGROUND,
            stop_cap: None,
            sessions: None,
            compat: None,
            #[cfg(feature = "audit")]
            audit: None,
        }
    }

    /// Adds a hook after those added before.
    #[must_use]
    pub fn hook(mut self, hook: HookSpec) -> Self {
        self.hooks.push(hook);
        self
    }

    /// Adds a callback: short for [`hook`](Self::hook) with [`HookSpec::callback`], which also takes a matcher, a timeout
    /// or a failure policy.
    ///
    /// ```
    /// use checkrein::payload::ToolCall;
    /// use checkrein::{Decision, Engine, Event, EventKind, Opinion, RawJson};
    ///
    /// let engine = Engine::builder()
    ///     .on(EventKind::PreToolUse, "read-only", |fire| match fire.event.tool_name() {
    ///         Some("Write" | "Edit") => Opinion::deny("this agent only reads"),
    ///         _ => Opinion::none(),
    ///     })
    ///     .build();
    /// let verdict = engine.fire_blocking(Event::pre_tool_use(ToolCall::new("Write", RawJson::default())));
    /// assert_eq!(verdict.decision(), Decision::Deny);
    /// ```
    #[must_use]
    #[track_caller]
    pub fn on<F, R>(self, kind: EventKind, id: impl Into<String>, callback: F) -> Self
    where
        F: Fn(&Fire<'_>) -> R + Send + Sync + 'static,
        R: IntoReply,
    {
        self.hook(HookSpec::callback(id, kind, callback))
    }

    /// Adds a callback that returns a future: short for [`hook`](Self::hook) with [`HookSpec::async_callback`].
    ///
    /// ```
    /// use checkrein::{Engine, EventKind, Opinion};
    ///
    /// # async fn is_frozen(_branch: &str) -> Result<bool, std::io::Error> { Ok(true) }
    /// let engine = Engine::builder()
    ///     .on_async(EventKind::PreToolUse, "freeze", |event| async move {
    ///         if event.tool_name() == Some("Deploy") && is_frozen("main").await? {
    ///             return Ok(Opinion::ask("the branch is frozen"));
    ///         }
    ///         Ok::<_, std::io::Error>(Opinion::none())
    ///     })
    ///     .build();
    /// assert!(engine.has(&EventKind::PreToolUse));
    /// ```
    #[must_use]
    #[track_caller]
    pub fn on_async<F, T>(self, kind: EventKind, id: impl Into<String>, callback: F) -> Self
    where
        F: Fn(Arc<Event>) -> T + Send + Sync + 'static,
        T: Future + Send + 'static,
        T::Output: IntoReply,
    {
        self.hook(HookSpec::async_callback(id, kind, callback))
    }

    /// Adds hooks after those added before.
    #[must_use]
    pub fn hooks(mut self, hooks: impl IntoIterator<Item = HookSpec>) -> Self {
        let hooks = hooks.into_iter();
        self.hooks.reserve_exact(hooks.size_hint().0);
        self.hooks.extend(hooks);
        self
    }

    /// Adds hook files after those of earlier sources.
    ///
    /// They are read when the engine is built, and again by [`Engine::reload`]. Hooks that are added in code come after
    /// all hooks from files.
    #[must_use]
    pub fn sources(mut self, sources: Sources) -> Self {
        self.sources = self.sources.and(sources);
        self
    }

    /// Sets the registry of handler kinds, functions and dialects.
    #[must_use]
    pub fn registry(mut self, registry: Registry) -> Self {
        self.registry = registry;
        self
    }

    /// Sets the working directory for hooks of events without one. Default: the current directory.
    #[must_use]
    pub fn cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// Sets the host's environment variables. Default: those of the process.
    #[must_use]
    pub fn vars<N: Into<OsString>, V: Into<OsString>>(mut self, vars: impl IntoIterator<Item = (N, V)>) -> Self {
        let vars = vars.into_iter();
        // The upper bound, because a filtered iterator has no useful lower one.
        let mut all = Vec::with_capacity(vars.size_hint().1.unwrap_or(0).min(MAX_VARS_CAPACITY));
        all.extend(vars.map(|(name, value)| (name.into(), value.into())));
        self.vars = Some(all);
        self
    }

    /// Settles by these rules at all events and for all hooks. Default: checkrein's own rules.
    #[must_use]
    pub fn rules(mut self, rules: Rules) -> Self {
        self.rules = RuleSource::Custom(rules);
        self
    }

    /// Settles by the rules of another agent. The failure policy comes from each hook's own dialect.
    #[must_use]
    pub fn settle_as(mut self, dialect: &'static Dialect) -> Self {
        self.rules = RuleSource::Dialect(dialect);
        self
    }

    /// Sets whether an agent's rules apply even where they let a later allow cancel a deny. Takes precedence over files.
    #[must_use]
    pub fn compat(mut self, compat: Compat) -> Self {
        self.compat = Some(compat);
        self
    }

    /// Logs every fire with hooks, and every refusal, in addition to the log that files name.
    ///
    /// The fire waits for the write. A write takes some tens of microseconds unless another process holds the log's lock.
    #[cfg(feature = "audit")]
    #[must_use]
    pub fn audit(mut self, log: crate::audit::AuditLog) -> Self {
        self.audit = Some(log);
        self
    }

    /// Adds an observer of runs. It is called after those added before.
    #[must_use]
    pub fn observer(mut self, observer: impl Observer) -> Self {
        self.observers.push(Arc::new(observer));
        self
    }

    /// Sets the approver, which resolves the questions of hooks. Default: none, so such a verdict is ask.
    #[must_use]
    pub fn approver(mut self, approver: impl Approver) -> Self {
        self.approver = Some(Arc::new(approver));
        self
    }

    /// Sets the time that the approver gets for a question. Default: [`approver::DEFAULT_TIMEOUT`](crate::approver::DEFAULT_TIMEOUT).
    #[must_use]
    pub fn approver_timeout(mut self, timeout: Duration) -> Self {
        self.approver_timeout = timeout;
        self
    }

    /// Sets the name of the agent, for the fact `agent` of rules. The default is the dialect of [`settle_as`](Self::settle_as).
    #[must_use]
    pub fn agent(mut self, name: impl Into<Arc<str>>) -> Self {
        self.agent = Some(name.into());
        self
    }

    /// Records events for the fact `history`, also if no hook of this engine uses it.
    #[doc(hidden)]
    #[must_use]
    pub fn record_history(mut self, is_recorded: bool) -> Self {
        self.records_history = is_recorded;
        self
    }

    /// Ignores variables of the process that select trusted certificates (`SSL_CERT_FILE`, `SSL_CERT_DIR`), because a project may
    /// have set them. For programs that an agent starts.
    #[must_use]
    pub fn distrust_variables(mut self) -> Self {
        self.trusts_variables = false;
        self
    }

    /// Lets commands call this program: they get its absolute path in `CHECKREIN_BIN`, and its directory as the last entry of
    /// their `PATH`. The entry is left out if the directory is inside the project or if other users can write it.
    ///
    /// For the program `checkrein`, whose hooks call `checkrein get` and `checkrein say`.
    #[must_use]
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = Some(program.into());
        self
    }

    /// Runs Python and Node hooks in interpreters of this pool, if it has one that waits.
    #[must_use]
    pub fn interpreters(mut self, pool: Arc<dyn WarmInterpreters>) -> Self {
        self.interpreters = Some(pool);
        self
    }

    /// Sets a function that fills missing envelope fields of events, as [`Engine::for_agent`] does.
    #[must_use]
    pub fn envelope(mut self, envelope: impl Fn() -> Envelope + Send + Sync + 'static) -> Self {
        self.envelope = Some(Arc::new(envelope));
        self
    }

    /// Limits the number of handlers that run at the same time. At least 1.
    ///
    /// Only handlers that wait for something outside the process use a slot: see
    /// [`Handler::is_limited`](crate::Handler::is_limited). If all slots are in use, the next handler is queued; the queue time
    /// is not part of its timeout. A hook that fires this engine keeps its slot, so the limit must leave room for the hooks of
    /// that fire.
    #[must_use]
    pub fn at_once(mut self, at_once: usize) -> Self {
        self.at_once = at_once.max(1);
        self
    }

    /// Limits the background hooks that run at the same time. At least 1.
    #[must_use]
    pub fn background_at_once(mut self, background: usize) -> Self {
        self.background = background.max(1);
        self
    }

    /// Limits how often in a row hooks can refuse a stop. 0: no limit.
    #[must_use]
    pub fn stop_cap(mut self, stop_cap: u32) -> Self {
        self.stop_cap = Some(stop_cap);
        self
    }

    /// Sets the store of session state: hooks that run once, and refused stops. Default: a [`MemorySessionStore`].
    #[must_use]
    pub fn session_store(mut self, store: Arc<dyn SessionStore>) -> Self {
        self.sessions = Some(store);
        self
    }

    /// Builds the engine if all hooks can be loaded. For hosts that stop on broken config.
    ///
    /// Warnings and unapproved hooks are not errors. [`Engine::diagnostics`] and [`Engine::problems`] list them.
    ///
    /// ```
    /// use checkrein::{Engine, EventKind, HookSpec};
    ///
    /// let error = Engine::builder().hook(HookSpec::shell("guard", EventKind::PreToolUse, "")).try_build().unwrap_err();
    /// assert!(error.to_string().contains("cannot be loaded (spawn: the command is empty)"), "{error}");
    /// ```
    ///
    /// # Errors
    /// Errors in hook files, and hooks that cannot be loaded.
    pub fn try_build(self) -> Result<Engine, LoadError> {
        let engine = self.build();
        match LoadError::from_engine(&engine) {
            None => Ok(engine),
            Some(error) => Err(error),
        }
    }

    /// Builds the engine. Reads the files of its sources, and blocks meanwhile.
    ///
    /// A hook that cannot be loaded fails whenever it is selected, which closes the gates it guards. Other hooks run. The
    /// host should show its user [`Engine::diagnostics`] (problems in files) and [`Engine::problems`] (problems of
    /// hooks). [`try_build`](Self::try_build) returns them as an error.
    pub fn build(self) -> Engine {
        let sessions = self.sessions.unwrap_or_else(|| Arc::new(MemorySessionStore::default()));
        let env = HandlerEnv {
            cwd: self.cwd.or_else(|| std::env::current_dir().ok()).unwrap_or_else(|| PathBuf::from("/")),
            vars: self.vars.unwrap_or_else(|| std::env::vars_os().collect()).into(),
            registry: self.registry,
            trusts_variables: self.trusts_variables,
            program: self.program,
            interpreters: self.interpreters,
            agent: self.agent.or_else(|| self.rules.agent().map(Into::into)),
            sessions: Some(Arc::clone(&sessions)),
        };
        let sources = env.registry.dialects().fold(self.sources, Sources::dialect);
        let (files, hooks, mut settings) = FromFiles::load(sources, self.hooks);
        settings.uses_history |= self.records_history;
        Engine {
            shared: Arc::new(Shared {
                hooks: ArcSwap::from_pointee(LoadedHooks::load(hooks, &env).with_file_settings(&settings)),
                files,
                env,
                rules: self.rules,
                compat: self.compat,
                #[cfg(feature = "audit")]
                audit: self.audit,
                observers: self.observers,
                approver: self.approver,
                approver_timeout: self.approver_timeout,
                running: Semaphore::new(self.at_once.min(Semaphore::MAX_PERMITS)),
                next_run: AtomicU64::new(1),
                stops: StopLimit::new(self.stop_cap.unwrap_or(self.rules.stop_cap()), Arc::clone(&sessions)),
                sessions,
                background: Background::new(self.background, BACKGROUND_QUEUE),
                blocking: Blocking::default(),
            }),
            envelope: self.envelope,
        }
    }
}

impl fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineBuilder").field("hooks", &self.hooks.len()).finish_non_exhaustive()
    }
}
