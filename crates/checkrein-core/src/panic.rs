//! Catching panics of foreign code: callbacks, handlers, observers.
//!
//! Runner and engine use it so that a panic in a hook becomes a [`Failure`] and never unwinds into the host.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::failure::{Failure, FailureKind};

/// A panic of foreign code: a callback, a handler, an observer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Panic {
    message: String,
}

impl Panic {
    /// Returns the panic message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Creates a panic from its payload.
    pub(crate) fn new(payload: Box<dyn Any + Send>) -> Self {
        Self { message: describe(payload) }
    }
}

impl From<Panic> for Failure {
    fn from(panic: Panic) -> Self {
        Self::new(FailureKind::Panic, panic.message)
    }
}

/// Runs foreign code and catches its panic.
///
/// # Errors
/// The panic. The caller must not use state afterwards that the code may have left inconsistent.
#[doc(hidden)]
pub fn catch_panic<R>(foreign: impl FnOnce() -> R) -> Result<R, Panic> {
    catch_unwind(AssertUnwindSafe(foreign)).map_err(Panic::new)
}

fn describe(payload: Box<dyn Any + Send>) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no text message".to_owned());
    // Dropping the payload can panic again. That second payload is leaked.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
    text
}
