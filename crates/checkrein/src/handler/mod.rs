//! Handlers: what does the work of hooks. A host adds its own kinds here.

mod builtin;
mod callback;
mod command;
mod environment;
mod event_env;
#[cfg(feature = "http")]
mod http;
mod sandbox;
mod shell;
mod var_expand;
mod verified_command;

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use checkrein_core::payload::JsonPiece;
use checkrein_core::{Event, HookInfo};
use checkrein_dialects::Dialect;

pub(crate) use builtin::BuiltinFactory;
pub use builtin::{ArgumentError, Builtin, BuiltinCall, BuiltinDoc};
pub(crate) use callback::CallbackHandler;
#[doc(hidden)]
pub use command::CommandFactory;
#[doc(hidden)]
pub use environment::{DEPTH, is_usual};
#[cfg(feature = "http")]
pub(crate) use http::UrlPattern;
#[cfg(feature = "http")]
pub use http::{BadHttpSetting, HttpFactory};

pub use crate::registry::{DialectNameError, RegisterError, Registry};
pub use checkrein_core::{Captured, Failure, HttpReply, Panic, ProcessExit, ProcessReply, Reply};

use checkrein_dialects::HookSpec;

/// What a handler gives back in time.
pub type HandlerFuture<'a> = Pin<Box<dyn Future<Output = Result<Reply, Failure>> + Send + 'a>>;

/// Does the work of one hook. Made once, when the hook is loaded, by a [`HandlerFactory`].
///
/// A handler does not look at the clock: the engine drops its future when the hook's time is over, and whatever the
/// future holds must end then.
pub trait Handler: Send + Sync + 'static {
    /// Handles one event.
    fn call<'a>(&'a self, call: &'a Call) -> HandlerFuture<'a>;

    /// How long the handler takes to end by itself when its time is over, before its future is dropped. For those that
    /// heed [`Call::deadline`] because they have something to end in good order.
    fn shutdown_grace(&self) -> Duration {
        Duration::ZERO
    }

    /// Whether calls count against the limit of what runs at once. For handlers that wait for others.
    fn is_limited(&self) -> bool {
        true
    }

    /// Names of the host's variables that its agent would pass on and that it does not get, because they look like secrets or
    /// make programs load something else, and nobody has asked for them.
    fn withheld_env(&self) -> &[String] {
        &[]
    }

    /// What is wrong with it though it can be called. [`Engine::problems`](crate::Engine::problems) reports it when the
    /// hook is loaded.
    fn problems(&self) -> &[HandlerProblem] {
        &[]
    }
}

/// Something that is wrong with a handler that can be called anyway.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct HandlerProblem {
    /// What is wrong, as the end of a sentence about the hook.
    pub message: String,
}

impl HandlerProblem {
    /// A problem in these words.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}

/// Makes handlers of one kind. Registered in a [`Registry`].
pub trait HandlerFactory: Send + Sync + 'static {
    /// Checks a hook and makes its handler.
    ///
    /// # Errors
    /// Why it cannot be made. The hook is broken then: it fails whenever it is chosen.
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

/// What the host has for handlers.
#[derive(Clone)]
#[non_exhaustive]
pub struct HandlerEnv {
    /// The directory for events that have none.
    pub cwd: PathBuf,
    /// The host's environment, from which hooks get what they may have.
    pub vars: Arc<[(OsString, OsString)]>,
    /// Where other handlers and functions are found.
    pub registry: Registry,
    /// Of each variable, whether it is passed on only to who asks for it. Found out when somebody wants to know.
    pub(crate) suspects: Arc<OnceLock<Vec<bool>>>,
}

impl fmt::Debug for HandlerEnv {
    // The values of variables may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.vars.iter().map(|(name, _)| name).collect();
        f.debug_struct("HandlerEnv").field("cwd", &self.cwd).field("vars", &names).finish_non_exhaustive()
    }
}

impl HandlerEnv {
    /// An environment for handlers, as an engine passes it to factories. For tests of a [`HandlerFactory`].
    pub fn new(
        cwd: impl Into<PathBuf>,
        vars: impl IntoIterator<Item = (OsString, OsString)>,
        registry: Registry,
    ) -> Self {
        Self { cwd: cwd.into(), vars: vars.into_iter().collect(), registry, suspects: Arc::default() }
    }

    /// A variable of the host's environment. Of a name that comes twice, the last value counts.
    pub fn var_os(&self, name: &str) -> Option<&OsStr> {
        let same = |have: &OsStr| if cfg!(windows) { have.eq_ignore_ascii_case(name) } else { have == name };
        self.vars.iter().rev().find(|(have, _)| same(have)).map(|(_, value)| value.as_os_str())
    }

    /// The same as text, if it is not empty. What is not UTF-8 is replaced.
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
    /// When its time is over.
    pub deadline: Instant,
    /// Whose language the hook speaks.
    pub dialect: &'static Dialect,
    /// Whether nobody reads what a process prints.
    pub(crate) stdout_closed: bool,
    pub(crate) moment: Arc<EventView>,
}

impl Call {
    /// A call as an engine makes it. For tests of a [`Handler`].
    pub fn new(hook: Arc<HookInfo>, dialect: &'static Dialect, event: Event, deadline: Instant) -> Self {
        let moment = Arc::new(EventView::new(Arc::new(event), None));
        Self { hook, deadline, dialect, stdout_closed: false, moment }
    }

    /// Replaces the payload, and closes stdout if `unheard`.
    #[doc(hidden)]
    pub fn with_payload(mut self, pieces: Vec<JsonPiece>, unheard: bool) -> Self {
        self.moment = Arc::new(EventView::with_payload((*self.moment.event).clone(), self.dialect, pieces));
        self.stdout_closed = unheard;
        self
    }

    /// The event, with what hooks before this one have rewritten.
    pub fn event(&self) -> &Event {
        &self.moment.event
    }

    /// The event as JSON, as the hook's dialect writes it. Written once, however many hooks read it.
    pub fn payload(&self) -> &[JsonPiece] {
        self.moment.payload(self.dialect)
    }
}

/// An event as some of its hooks see it.
#[derive(Debug)]
pub(crate) struct EventView {
    pub(crate) event: Arc<Event>,
    /// As it was fired, if hooks have rewritten it since.
    pub(crate) original: Option<Arc<Event>>,
    payloads: Payloads,
}

/// The event as JSON, once for each dialect that asked for it: a list that only grows.
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
        Self { event, original, payloads: Payloads::default() }
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

    /// With another payload than the event's own.
    pub(crate) fn with_payload(event: Event, dialect: &'static Dialect, pieces: Vec<JsonPiece>) -> Self {
        let written = PayloadCache { dialect: dialect.name, pieces, next: Payloads::default() };
        Self { event: Arc::new(event), original: None, payloads: Payloads(OnceLock::from(Box::new(written))) }
    }
}
