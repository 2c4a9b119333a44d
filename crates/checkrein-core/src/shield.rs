//! Foreign code that may panic.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs foreign code.
///
/// # Errors
/// What it panicked with, in words, if it did.
///
/// Nothing that the code could have left half changed must be used afterwards.
pub fn shielded<R>(foreign: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(foreign)).map_err(describe_panic)
}

/// What was thrown, in words.
pub(crate) fn describe_panic(panic: Box<dyn Any + Send>) -> String {
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
