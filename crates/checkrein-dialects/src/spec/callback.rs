//! Callbacks: hooks that are functions of the host program. The engine calls them; files cannot contain them.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use checkrein_core::runner::{Fire, HandlerError, IntoReply};
use checkrein_core::{Event, EventKind, Opinion};

use super::{HandlerSpec, HookSpec};

/// Future result of a [`Callback`].
pub type CallbackFuture = Pin<Box<dyn Future<Output = Result<Opinion, HandlerError>> + Send>>;

type Immediate = dyn Fn(&Fire<'_>) -> Result<Opinion, HandlerError> + Send + Sync;
type Async = dyn Fn(Arc<Event>) -> CallbackFuture + Send + Sync;

/// A function of the host that is a hook. [`HookSpec::callback`] and [`HookSpec::async_callback`] create it.
#[derive(Clone)]
pub struct Callback(Function);

#[derive(Clone)]
enum Function {
    Immediate(Arc<Immediate>),
    Async(Arc<Async>),
}

impl Callback {
    /// Calls the function.
    pub fn call(&self, event: &Arc<Event>) -> CallbackFuture {
        match &self.0 {
            Function::Immediate(function) => Box::pin(std::future::ready(function(&Fire::new(event)))),
            Function::Async(function) => function(Arc::clone(event)),
        }
    }

    /// Returns the address of the function, which identifies the callback.
    fn address(&self) -> *const () {
        match &self.0 {
            Function::Immediate(function) => Arc::as_ptr(function).cast(),
            Function::Async(function) => Arc::as_ptr(function).cast(),
        }
    }
}

/// Two callbacks are equal if they are clones of one.
impl PartialEq for Callback {
    fn eq(&self, other: &Self) -> bool {
        self.address() == other.address()
    }
}

impl Eq for Callback {}

impl fmt::Debug for Callback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Callback({:p})", self.address())
    }
}

impl HookSpec {
    /// A hook that calls a function of the host.
    ///
    /// Callbacks run one after the other, before all hooks that cannot rewrite. Each sees the rewrites of those
    /// before it. A callback that panics or returns an error fails closed at a gate. The function must not block for
    /// long: use [`async_callback`](Self::async_callback) for one that waits.
    ///
    /// ```
    /// use checkrein_core::{EventKind, Matcher, Opinion};
    /// use checkrein_dialects::HookSpec;
    ///
    /// let guard = HookSpec::callback("no-shell", EventKind::PreToolUse, |_| Opinion::deny("no shell in here"))
    ///     .matching(Matcher::names(["Bash"]));
    /// assert_eq!(guard.info.id, "no-shell");
    /// ```
    #[track_caller]
    pub fn callback<F, R>(id: impl Into<String>, kind: EventKind, callback: F) -> Self
    where
        F: Fn(&Fire<'_>) -> R + Send + Sync + 'static,
        R: IntoReply,
    {
        let function = move |fire: &Fire<'_>| callback(fire).into_reply();
        Self::new(id, kind, HandlerSpec::Callback(Callback(Function::Immediate(Arc::new(function))))).rewrites()
    }

    /// As [`callback`](Self::callback), for a function that returns a future. The future is dropped at the hook's
    /// timeout.
    #[track_caller]
    pub fn async_callback<F, T>(id: impl Into<String>, kind: EventKind, callback: F) -> Self
    where
        F: Fn(Arc<Event>) -> T + Send + Sync + 'static,
        T: Future + Send + 'static,
        T::Output: IntoReply,
    {
        let function = move |event: Arc<Event>| -> CallbackFuture {
            let reply = callback(event);
            Box::pin(async move { reply.await.into_reply() })
        };
        Self::new(id, kind, HandlerSpec::Callback(Callback(Function::Async(Arc::new(function))))).rewrites()
    }
}
