//! Foreign code that may panic.

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
    /// The panic's message.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// From what was thrown.
    pub(crate) fn new(thrown: Box<dyn Any + Send>) -> Self {
        Self { message: describe(thrown) }
    }
}

impl From<Panic> for Failure {
    fn from(panic: Panic) -> Self {
        Self::new(FailureKind::Panic, panic.message)
    }
}

/// Runs foreign code.
///
/// # Errors
/// The panic, if the code panicked.
///
/// Nothing that the code could have left half changed must be used afterwards.
#[doc(hidden)]
pub fn catch_panic<R>(foreign: impl FnOnce() -> R) -> Result<R, Panic> {
    catch_unwind(AssertUnwindSafe(foreign)).map_err(Panic::new)
}

fn describe(panic: Box<dyn Any + Send>) -> String {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a value that is no text".to_owned());
    // What was thrown may panic again when it goes; then it is left where it is.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(panic))) {
        std::mem::forget(again);
    }
    text
}
