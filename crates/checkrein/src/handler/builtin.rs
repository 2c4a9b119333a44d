//! Hooks that are functions in the process.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use checkrein_core::{Event, Failure, FailureKind, HookInfo, Opinion, Reply};

use super::{Call, Handler, HandlerEnv, HandlerFactory, HandlerFuture};
use checkrein_dialects::{HandlerSpec, HookSpec};

/// What a function of the registry is called with.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct BuiltinCall<'a> {
    /// The event.
    pub event: &'a Event,
    /// The hook.
    pub hook: &'a HookInfo,
    /// The hook's arguments.
    pub args: &'a [String],
    /// What the host has for handlers.
    pub env: &'a HandlerEnv,
}

impl BuiltinCall<'_> {
    /// The directory that the event happens in.
    pub fn cwd(&self) -> PathBuf {
        match &self.event.envelope.cwd {
            Some(cwd) => self.env.cwd.join(cwd),
            None => self.env.cwd.clone(),
        }
    }
}

type BuiltinFuture<'a> = Pin<Box<dyn Future<Output = Result<Opinion, Failure>> + Send + 'a>>;
type Function = Arc<dyn for<'a> Fn(BuiltinCall<'a>) -> BuiltinFuture<'a> + Send + Sync>;
type Preparation = Arc<dyn Fn(&[String]) -> Result<Builtin, ArgumentError> + Send + Sync>;

/// Invalid arguments of a [`Builtin`]. The text reads on from the name of the builtin: "takes one argument".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ArgumentError(String);

impl From<String> for ArgumentError {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for ArgumentError {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

/// An asynchronous function of the event and the hook's arguments, put in a [`Registry`](crate::Registry) by
/// [`register_builtin`](crate::Registry::register_builtin).
///
/// ```
/// use checkrein::handler::{Builtin, BuiltinDoc};
/// use checkrein::Opinion;
///
/// let be = Builtin::immediate(|call| Ok(Opinion::context(format!("be {}", call.args[0]))))
///     .checked(|args| match args {
///         [_] => Ok(()),
///         _ => Err("takes one argument"),
///     })
///     .described(BuiltinDoc::new("Tells the model what to be.").args("what to be"));
/// assert!(be.check(&["kind".to_owned()]).is_ok());
/// assert_eq!(be.check(&[]).unwrap_err().to_string(), "takes one argument");
/// ```
#[derive(Clone)]
pub struct Builtin {
    work: Work,
    doc: BuiltinDoc,
    rewrites: bool,
}

#[derive(Clone)]
enum Work {
    Ready(Function),
    /// Made once per hook, from its arguments.
    Prepare(Preparation),
}

/// What a [`Builtin`] is for, in words for its users.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuiltinDoc {
    /// What it does.
    pub summary: &'static str,
    /// What it takes.
    pub args: &'static str,
    /// Where it makes sense.
    pub events: &'static str,
}

impl BuiltinDoc {
    /// Says what it does.
    pub const fn new(summary: &'static str) -> Self {
        Self { summary, args: "", events: "" }
    }

    /// Says what it takes.
    #[must_use]
    pub const fn args(mut self, args: &'static str) -> Self {
        self.args = args;
        self
    }

    /// Says where it makes sense.
    #[must_use]
    pub const fn events(mut self, events: &'static str) -> Self {
        self.events = events;
        self
    }
}

impl Builtin {
    /// From a function that gives a future.
    pub fn new<F>(function: F) -> Self
    where
        F: for<'a> Fn(BuiltinCall<'a>) -> BuiltinFuture<'a> + Send + Sync + 'static,
    {
        Self::of(Work::Ready(Arc::new(function)))
    }

    /// From a function that is done at once.
    pub fn immediate<F>(function: F) -> Self
    where
        F: Fn(BuiltinCall<'_>) -> Result<Opinion, Failure> + Send + Sync + 'static,
    {
        let function = Arc::new(function);
        Self::new(move |call| {
            let function = Arc::clone(&function);
            Box::pin(async move { function(call) })
        })
    }

    /// Makes the function when a hook is loaded, from the hook's arguments: for what is checked and compiled once. An
    /// error says what is wrong with the arguments; the hook is broken then.
    pub fn prepared<F>(prepare: F) -> Self
    where
        F: Fn(&[String]) -> Result<Self, ArgumentError> + Send + Sync + 'static,
    {
        Self::of(Work::Prepare(Arc::new(prepare)))
    }

    fn of(work: Work) -> Self {
        Self { work, doc: BuiltinDoc::default(), rewrites: false }
    }

    /// Checks the arguments when a hook is loaded. An error says what is wrong with them; the hook is broken then.
    #[must_use]
    pub fn checked<F, E>(self, check: F) -> Self
    where
        F: Fn(&[String]) -> Result<(), E> + Send + Sync + 'static,
        E: Into<ArgumentError>,
    {
        let (doc, rewrites) = (self.doc, self.rewrites);
        let checked = Self::prepared(move |args| {
            check(args).map_err(Into::into)?;
            Ok(self.clone())
        });
        Self { doc, rewrites, ..checked }
    }

    /// Says what it is for.
    #[must_use]
    pub fn described(mut self, doc: BuiltinDoc) -> Self {
        self.doc = doc;
        self
    }

    /// Declares that it rewrites, for every hook that uses it: see [`HookSpec::rewrites`].
    #[must_use]
    pub fn rewriting(mut self) -> Self {
        self.rewrites = true;
        self
    }

    /// What it is for.
    pub fn doc(&self) -> BuiltinDoc {
        self.doc
    }

    /// Whether hooks that use it declare that they rewrite.
    pub fn is_rewriting(&self) -> bool {
        self.rewrites
    }

    /// Checks the arguments of a hook.
    ///
    /// # Errors
    /// The arguments are invalid.
    pub fn check(&self, args: &[String]) -> Result<(), ArgumentError> {
        self.ready(args).map(drop)
    }

    fn ready(&self, args: &[String]) -> Result<Function, ArgumentError> {
        match &self.work {
            Work::Ready(function) => Ok(Arc::clone(function)),
            Work::Prepare(prepare) => prepare(args)?.ready(args),
        }
    }
}

impl fmt::Debug for Builtin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builtin").field("doc", &self.doc).finish_non_exhaustive()
    }
}

/// Makes handlers for functions of the registry.
#[derive(Debug)]
pub(crate) struct BuiltinFactory;

impl HandlerFactory for BuiltinFactory {
    fn build(&self, hook: &HookSpec, env: &HandlerEnv) -> Result<Arc<dyn Handler>, Failure> {
        let HandlerSpec::Builtin(spec) = &hook.handler else {
            return Err(Failure::new(FailureKind::UnknownHandler, "not a builtin"));
        };
        let builtin = env.registry.builtin(&spec.name).ok_or_else(|| {
            let hint = checkrein_core::closest_match(&spec.name, env.registry.builtin_names())
                .map(|name| format!(", did you mean `{name}`?"))
                .unwrap_or_default();
            Failure::new(FailureKind::UnknownHandler, format!("there is no builtin `{}`{hint}", spec.name))
        })?;
        let function = builtin
            .ready(&spec.args)
            .map_err(|wrong| Failure::new(FailureKind::Schema, format!("the builtin `{}` {wrong}", spec.name)))?;
        Ok(Arc::new(BuiltinHandler { function, args: spec.args.clone(), env: env.clone() }))
    }
}

struct BuiltinHandler {
    function: Function,
    args: Vec<String>,
    env: HandlerEnv,
}

impl Handler for BuiltinHandler {
    fn call<'a>(&'a self, call: &'a Call) -> HandlerFuture<'a> {
        let call = BuiltinCall { event: call.event(), hook: &call.hook, args: &self.args, env: &self.env };
        let done = (self.function)(call);
        Box::pin(async move { done.await.map(Reply::Opinion) })
    }

    fn is_limited(&self) -> bool {
        false
    }
}
