//! Handler of builtins: functions of the [`Registry`](crate::Registry) that hook files call by name.
//!
//! checkrein's own builtins and those of hosts use [`Builtin`].

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;

use checkrein_core::{Event, EventKind, Failure, FailureKind, HookInfo, Opinion, Reply};

use super::{Call, EventView, Handler, HandlerEnv, HandlerFactory, HandlerFuture, HandlerProblem};
use checkrein_dialects::{HandlerSpec, HookSpec};

/// Arguments of one call of a builtin.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct BuiltinCall<'a> {
    /// The event.
    pub event: &'a Event,
    /// The hook.
    pub hook: &'a HookInfo,
    /// The hook's arguments.
    pub args: &'a [String],
    /// Environment of the host.
    pub env: &'a HandlerEnv,
    /// The event with its facts.
    pub(crate) view: &'a EventView,
}

impl BuiltinCall<'_> {
    /// Returns the working directory of the event.
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

/// Invalid arguments of a [`Builtin`]. The text follows the name of the builtin: "takes one argument".
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

/// An asynchronous function of the event and the hook's arguments, for
/// [`Registry::register_builtin`](crate::Registry::register_builtin).
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
    /// Returns `true` for events at which it has an effect. `None`: all.
    works_at: Option<fn(&EventKind) -> bool>,
}

#[derive(Clone)]
enum Work {
    Ready(Function),
    /// Creates the function once per hook, from its arguments.
    Prepare(Preparation),
}

/// Documentation of a [`Builtin`] for users.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BuiltinDoc {
    /// Purpose, as a sentence.
    pub summary: &'static str,
    /// Arguments.
    pub args: &'static str,
    /// Events that it is useful at.
    pub events: &'static str,
}

impl BuiltinDoc {
    /// Creates a documentation with this summary.
    pub const fn new(summary: &'static str) -> Self {
        Self { summary, args: "", events: "" }
    }

    /// Sets the description of arguments.
    #[must_use]
    pub const fn args(mut self, args: &'static str) -> Self {
        self.args = args;
        self
    }

    /// Sets the description of events.
    #[must_use]
    pub const fn events(mut self, events: &'static str) -> Self {
        self.events = events;
        self
    }
}

impl Builtin {
    /// Creates a builtin from a function that returns a future.
    pub fn new<F>(function: F) -> Self
    where
        F: for<'a> Fn(BuiltinCall<'a>) -> BuiltinFuture<'a> + Send + Sync + 'static,
    {
        Self::with_work(Work::Ready(Arc::new(function)))
    }

    /// Creates a builtin from a synchronous function.
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

    /// Creates the function from the hook's arguments when the hook is loaded, so that arguments are compiled once. With an
    /// error the hook is broken.
    pub fn prepared<F>(prepare: F) -> Self
    where
        F: Fn(&[String]) -> Result<Self, ArgumentError> + Send + Sync + 'static,
    {
        Self::with_work(Work::Prepare(Arc::new(prepare)))
    }

    fn with_work(work: Work) -> Self {
        Self { work, doc: BuiltinDoc::default(), rewrites: false, works_at: None }
    }

    /// Adds a check of the arguments when a hook is loaded. With an error the hook is broken.
    #[must_use]
    pub fn checked<F, E>(self, check: F) -> Self
    where
        F: Fn(&[String]) -> Result<(), E> + Send + Sync + 'static,
        E: Into<ArgumentError>,
    {
        let (doc, rewrites, works_at) = (self.doc, self.rewrites, self.works_at);
        let checked = Self::prepared(move |args| {
            check(args).map_err(Into::into)?;
            Ok(self.clone())
        });
        Self { doc, rewrites, works_at, ..checked }
    }

    /// Sets the documentation.
    #[must_use]
    pub fn described(mut self, doc: BuiltinDoc) -> Self {
        self.doc = doc;
        self
    }

    /// Declares that the builtin rewrites, for every hook that uses it: see [`HookSpec::rewrites`].
    #[must_use]
    pub fn rewriting(mut self) -> Self {
        self.rewrites = true;
        self
    }

    /// Limits the builtin to events for which this function returns `true`. A hook that has no such event is reported: see
    /// [`Engine::problems`](crate::Engine::problems).
    #[must_use]
    pub fn works_at(mut self, works_at: fn(&EventKind) -> bool) -> Self {
        self.works_at = Some(works_at);
        self
    }

    /// Returns the documentation.
    pub fn doc(&self) -> BuiltinDoc {
        self.doc
    }

    /// Returns `true` if hooks that use the builtin declare that they rewrite.
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

/// Number of builtins from which a message does not list them.
const MANY: usize = 6;

/// Returns the builtin that a name could mean, or the place of a list.
fn unknown_name_hint(name: &str, env: &HandlerEnv) -> String {
    let names: Vec<_> = env.registry.builtin_names().collect();
    match checkrein_core::closest_match(name, names.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None if names.len() < MANY => format!("known: {}", names.join(", ")),
        None => format!("docs/builtins.md lists the {} builtins", names.len()),
    }
}

/// Creates handlers for functions of the registry.
#[derive(Debug)]
pub(crate) struct BuiltinFactory;

impl HandlerFactory for BuiltinFactory {
    fn build(&self, hook: &HookSpec, env: &HandlerEnv) -> Result<Arc<dyn Handler>, Failure> {
        let HandlerSpec::Builtin(spec) = &hook.handler else {
            return Err(Failure::new(FailureKind::UnknownHandler, "not a builtin"));
        };
        let builtin = env.registry.builtin(&spec.name).ok_or_else(|| {
            let hint = unknown_name_hint(&spec.name, env);
            Failure::new(FailureKind::UnknownHandler, format!("unknown builtin `{}`; {hint}", spec.name))
        })?;
        let function = builtin
            .ready(&spec.args)
            .map_err(|error| Failure::new(FailureKind::Schema, format!("builtin `{}` {error}", spec.name)))?;
        let mut problems = Vec::new();
        if let Some(works_at) = builtin.works_at
            && !hook.kinds.is_empty()
            && !hook.kinds.iter().any(works_at)
        {
            let events: Vec<_> = hook.kinds.iter().map(|kind| format!("`{kind}`")).collect();
            let (name, useful) = (&spec.name, builtin.doc.events);
            let text = format!("builtin `{name}` has no effect at {}; use it at {useful}", events.join(", "));
            problems.push(HandlerProblem::fatal(text));
        }
        Ok(Arc::new(BuiltinHandler { function, args: spec.args.clone(), env: env.clone(), problems }))
    }
}

struct BuiltinHandler {
    function: Function,
    args: Vec<String>,
    env: HandlerEnv,
    problems: Vec<HandlerProblem>,
}

impl Handler for BuiltinHandler {
    fn call<'a>(&'a self, call: &'a Call) -> HandlerFuture<'a> {
        let call =
            BuiltinCall { event: call.event(), hook: &call.hook, args: &self.args, env: &self.env, view: &call.view };
        let opinion = (self.function)(call);
        Box::pin(async move { opinion.await.map(Reply::Opinion) })
    }

    fn is_limited(&self) -> bool {
        false
    }

    fn problems(&self) -> &[HandlerProblem] {
        &self.problems
    }
}
