//! Handlers: run the work of hooks as processes, HTTP requests, builtins and callbacks.
//!
//! The engine calls them. A host adds its own kinds with [`Handler`] and [`HandlerFactory`]. A handler returns a reply and never
//! a verdict: the hook's dialect parses the reply.

mod builtin;
mod callback;
mod command;
mod environment;
mod event_env;
#[cfg(feature = "http")]
pub(crate) mod http;
mod sandbox;
mod shell;
mod var_expand;
mod verified_command;
pub mod warm;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use checkrein_core::payload::JsonPiece;
use checkrein_core::{Event, HookInfo, Opinion};
use checkrein_dialects::Dialect;

use crate::facts::{FactContext, Facts};
use crate::policy::SessionHistory;
use crate::session_store::SessionStore;
use crate::trust::ProjectRoots;
pub(crate) use builtin::BuiltinFactory;
pub use builtin::{ArgumentError, Builtin, BuiltinCall, BuiltinDoc};
pub(crate) use callback::CallbackHandler;
#[doc(hidden)]
pub use command::CommandFactory;
#[doc(hidden)]
pub use environment::{DEPTH, is_usual, variables_of};
#[cfg(feature = "http")]
pub(crate) use http::UrlPattern;
#[cfg(feature = "http")]
pub use http::{BadHttpSetting, HttpFactory};

pub use crate::registry::{DialectNameError, RegisterError, Registry};
pub use checkrein_core::{Captured, Failure, HttpReply, Panic, ProcessExit, ProcessReply, Reply};

use checkrein_dialects::HookSpec;

/// Future of a handler's reply.
pub type HandlerFuture<'a> = Pin<Box<dyn Future<Output = Result<Reply, Failure>> + Send + 'a>>;

/// Runs the work of one hook. A [`HandlerFactory`] creates it once, when the hook is loaded.
///
/// A handler needs no timeout of its own: the engine drops its future at the deadline. Dropping the future must end
/// everything that it started.
pub trait Handler: Send + Sync + 'static {
    /// Handles one event.
    fn call<'a>(&'a self, call: &'a Call) -> HandlerFuture<'a>;

    /// Handles one event without waiting for anything. `None`: the engine uses [`call`](Self::call).
    ///
    /// The engine does not limit the time of such a call, so the handler must limit its own work.
    fn call_now(&self, call: &Call) -> Option<Result<Opinion, Failure>> {
        let _ = call;
        None
    }

    /// `true` if [`call_now`](Self::call_now) handles every event.
    fn is_immediate(&self) -> bool {
        false
    }

    /// Extra time after the deadline before the future is dropped. For handlers that check [`Call::deadline`] themselves and
    /// need time to end something properly.
    fn shutdown_grace(&self) -> Duration {
        Duration::ZERO
    }

    /// `true` if calls are subject to the limit of parallel runs. For handlers that wait for something outside the process.
    fn is_limited(&self) -> bool {
        true
    }

    /// Names of environment variables that the hook's agent would pass on and that checkrein withholds: they look like secrets
    /// or make programs load other code, and the hook does not ask for them.
    fn withheld_env(&self) -> &[String] {
        &[]
    }

    /// Problems of a handler that can be called anyway. [`Engine::problems`](crate::Engine::problems) reports them.
    fn problems(&self) -> &[HandlerProblem] {
        &[]
    }
}

/// Problem of a handler that can be called anyway.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct HandlerProblem {
    /// Description of the problem, to follow the name of the hook: "sends `$TOKEN` empty".
    pub message: String,
    /// `true` if the hook fails or has no effect until its config is fixed.
    pub is_fatal: bool,
}

impl HandlerProblem {
    /// Creates a problem with this text.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_fatal: false }
    }

    /// Creates a problem with this text that makes the hook fail or have no effect.
    pub fn fatal(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_fatal: true }
    }
}

/// Creates handlers of one kind. Registered in a [`Registry`].
pub trait HandlerFactory: Send + Sync + 'static {
    /// Checks a hook and creates its handler.
    ///
    /// # Errors
    /// The hook cannot run. It then fails with this failure at every matching event.
    fn build(&self, hook: &HookSpec, env: &HandlerEnv) -> Result<Arc<dyn Handler>, Failure>;
}

impl<F> HandlerFactory for F
where
    F: Fn(&HookSpec, &HandlerEnv) -> Result<Arc<dyn Handler>, Failure> + Send + Sync + 'static,
{
    fn build(&self, hook: &HookSpec, env: &HandlerEnv) -> Result<Arc<dyn Handler>, Failure> {
        self(hook, env)
    }
}

/// Environment of the host for handlers.
#[derive(Clone)]
#[non_exhaustive]
pub struct HandlerEnv {
    /// Working directory for events without one.
    pub cwd: PathBuf,
    /// Environment variables of the host. Hooks get a part of them.
    pub vars: Arc<[(OsString, OsString)]>,
    /// Registry of handlers and functions.
    pub registry: Registry,
    /// `false` if a project may have set the variables of the process. HTTP hooks then ignore `SSL_CERT_FILE`.
    pub trusts_variables: bool,
    /// Program that commands can call. See [`EngineBuilder::program`](crate::engine::EngineBuilder::program).
    pub program: Option<PathBuf>,
    /// Name of the agent. See [`EngineBuilder::agent`](crate::engine::EngineBuilder::agent).
    pub agent: Option<Arc<str>>,
    /// Pool of warm interpreters. See [`EngineBuilder::interpreters`](crate::engine::EngineBuilder::interpreters).
    pub(crate) interpreters: Option<Arc<dyn warm::WarmInterpreters>>,
    /// Store of facts about sessions.
    pub(crate) sessions: Option<Arc<dyn SessionStore>>,
}

impl fmt::Debug for HandlerEnv {
    // Without values, which may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.vars.iter().map(|(name, _)| name).collect();
        f.debug_struct("HandlerEnv").field("cwd", &self.cwd).field("vars", &names).finish_non_exhaustive()
    }
}

impl HandlerEnv {
    /// Creates an environment as an engine passes it to factories. For tests of a [`HandlerFactory`].
    pub fn new(
        cwd: impl Into<PathBuf>,
        vars: impl IntoIterator<Item = (OsString, OsString)>,
        registry: Registry,
    ) -> Self {
        Self {
            cwd: cwd.into(),
            vars: vars.into_iter().collect(),
            registry,
            trusts_variables: true,
            program: None,
            agent: None,
            interpreters: None,
            sessions: None,
        }
    }

    /// Sets the pool of warm interpreters.
    #[must_use]
    pub fn interpreters(mut self, pool: Arc<dyn warm::WarmInterpreters>) -> Self {
        self.interpreters = Some(pool);
        self
    }

    /// Returns the roots of the project. A project that contains the home directory is the user's own.
    pub(crate) fn project_roots(&self) -> ProjectRoots {
        // A host that does not trust its variables has set this one itself. Without an account entry, no other source exists.
        let is_home_known = !self.trusts_variables || checkrein_process::user_home().is_none();
        let home = if is_home_known { self.var_os("HOME").map(Path::new) } else { None };
        ProjectRoots::for_dir(&self.cwd).with_home(home)
    }

    /// Returns a variable of the host's environment. If the name occurs twice, the last value applies.
    pub fn var_os(&self, name: &str) -> Option<&OsStr> {
        let same = |have: &OsStr| if cfg!(windows) { have.eq_ignore_ascii_case(name) } else { have == name };
        self.vars.iter().rev().find(|(have, _)| same(have)).map(|(_, value)| value.as_os_str())
    }

    /// Returns a variable as text. `None` if it is empty. Invalid UTF-8 is replaced.
    pub fn var(&self, name: &str) -> Option<String> {
        self.var_os(name).filter(|value| !value.is_empty()).map(|value| value.to_string_lossy().into_owned())
    }
}

/// One call of a handler.
#[derive(Debug)]
#[non_exhaustive]
pub struct Call {
    /// The hook.
    pub hook: Arc<HookInfo>,
    /// End of the hook's time.
    pub deadline: Instant,
    /// Dialect of the hook's payload and reply.
    pub dialect: &'static Dialect,
    /// `true` if stdout of the process is closed: writes fail with EPIPE.
    pub(crate) stdout_closed: bool,
    pub(crate) view: Arc<EventView>,
}

impl Call {
    /// Creates a call as an engine makes it. For tests of a [`Handler`].
    pub fn new(hook: Arc<HookInfo>, dialect: &'static Dialect, event: Event, deadline: Instant) -> Self {
        let view = Arc::new(EventView::new(Arc::new(event), None));
        Self { hook, deadline, dialect, stdout_closed: false, view }
    }

    /// Replaces the payload, and closes stdout if `stdout_closed`.
    #[doc(hidden)]
    pub fn with_payload(mut self, pieces: Vec<JsonPiece>, stdout_closed: bool) -> Self {
        self.view = Arc::new(EventView::with_payload((*self.view.event).clone(), self.dialect, pieces));
        self.stdout_closed = stdout_closed;
        self
    }

    /// Returns the event with the rewrites of earlier hooks.
    pub fn event(&self) -> &Event {
        &self.view.event
    }

    /// Returns the event as JSON in the hook's dialect. Serialized once for all hooks of a dialect.
    pub fn payload(&self) -> &[JsonPiece] {
        self.view.payload(self.dialect)
    }
}

/// An event as some of its hooks see it.
#[derive(Debug)]
pub(crate) struct EventView {
    pub(crate) event: Arc<Event>,
    /// The event before rewrites, if there were any.
    pub(crate) original: Option<Arc<Event>>,
    payloads: Payloads,
    /// Facts for rules, computed when the first rule reads them.
    facts: OnceLock<Arc<Facts>>,
}

/// The event as JSON, once per dialect: a linked list that only grows, so references stay valid.
#[derive(Debug, Default)]
struct Payloads(OnceLock<Box<PayloadCache>>);

#[derive(Debug)]
struct PayloadCache {
    dialect: &'static str,
    pieces: Vec<JsonPiece>,
    next: Payloads,
}

impl EventView {
    pub(crate) fn new(event: Arc<Event>, original: Option<Arc<Event>>) -> Self {
        Self { event, original, payloads: Payloads::default(), facts: OnceLock::new() }
    }

    fn payload(&self, dialect: &'static Dialect) -> &[JsonPiece] {
        let mut payloads = &self.payloads;
        loop {
            let written = payloads.0.get_or_init(|| {
                let pieces = dialect.payload(&self.event, self.original.as_deref());
                Box::new(PayloadCache { dialect: dialect.name, pieces, next: Payloads::default() })
            });
            if written.dialect == dialect.name {
                return &written.pieces;
            }
            payloads = &written.next;
        }
    }

    /// Returns the facts about the event.
    pub(crate) fn facts(&self, env: &HandlerEnv) -> &Arc<Facts> {
        self.facts.get_or_init(|| {
            let history = SessionHistory::before(&self.event, env.sessions.clone());
            let mut context = FactContext::new(match &self.event.envelope.cwd {
                Some(cwd) => env.cwd.join(cwd),
                None => env.cwd.clone(),
            });
            context.agent = env.agent.as_deref().unwrap_or_default().to_owned();
            context.home = env.var_os("HOME").map(PathBuf::from);
            context.start.clone_from(&env.cwd);
            context.user = ["USER", "LOGNAME", "USERNAME"].iter().find_map(|name| env.var(name)).unwrap_or_default();
            context.vars = Arc::clone(&env.vars);
            context.history = Arc::new(history);
            Arc::new(Facts::new(Arc::clone(&self.event), context))
        })
    }

    /// Creates a view with this payload in place of the event's own.
    pub(crate) fn with_payload(event: Event, dialect: &'static Dialect, pieces: Vec<JsonPiece>) -> Self {
        let written = PayloadCache { dialect: dialect.name, pieces, next: Payloads::default() };
        let payloads = Payloads(OnceLock::from(Box::new(written)));
        Self { event: Arc::new(event), original: None, payloads, facts: OnceLock::new() }
    }
}
