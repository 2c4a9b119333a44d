//! Hooks that are functions in the process.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use checkrein_core::{Event, Failure, FailureKind, Opinion, Reply};

use super::{Call, Handler, HandlerEnv, HandlerFactory, HandlerFuture};
use crate::spec::{HandlerSpec, HookSpec};

/// What a function of the registry is called with.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct BuiltinCall<'a> {
    /// The event.
    pub event: &'a Event,
    /// The hook's arguments.
    pub args: &'a [String],
    /// What the host has for handlers.
    pub env: &'a HandlerEnv,
}

type BuiltinFuture<'a> = Pin<Box<dyn Future<Output = Result<Opinion, Failure>> + Send + 'a>>;

/// An asynchronous function of the event and the hook's arguments. Made from functions by
/// [`Registry::register_builtin`](crate::Registry::register_builtin).
#[derive(Clone)]
pub struct Builtin(Arc<dyn for<'a> Fn(BuiltinCall<'a>) -> BuiltinFuture<'a> + Send + Sync>);

impl Builtin {
    /// From a function that gives a future.
    pub fn new<F>(function: F) -> Self
    where
        F: for<'a> Fn(BuiltinCall<'a>) -> BuiltinFuture<'a> + Send + Sync + 'static,
    {
        Self(Arc::new(function))
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
}

impl fmt::Debug for Builtin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Builtin")
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
        let function = env.registry.builtin(&spec.name).ok_or_else(|| {
            let hint = checkrein_core::closest(&spec.name, env.registry.builtin_names())
                .map(|name| format!(", did you mean `{name}`?"))
                .unwrap_or_default();
            Failure::new(FailureKind::UnknownHandler, format!("there is no builtin `{}`{hint}", spec.name))
        })?;
        Ok(Arc::new(BuiltinHandler { function, args: spec.args.clone(), env: env.clone() }))
    }
}

struct BuiltinHandler {
    function: Builtin,
    args: Vec<String>,
    env: HandlerEnv,
}

impl Handler for BuiltinHandler {
    fn call<'a>(&'a self, call: &'a Call) -> HandlerFuture<'a> {
        let call = BuiltinCall { event: call.event(), args: &self.args, env: &self.env };
        let done = (self.function.0)(call);
        Box::pin(async move { done.await.map(Reply::Opinion) })
    }

    fn is_limited(&self) -> bool {
        false
    }
}
