//! How endpoints are called, and how long handlers may take.

use std::time::Duration;

use checkrein_core::TimeClass;

/// How HTTP endpoints are called.
#[derive(Debug, Clone, Copy)]
pub struct HttpTable {
    /// Whether what the endpoint answers counts.
    pub decides: bool,
    /// Whether hooks that are endpoints run in the background unless they say otherwise.
    pub in_background: bool,
    /// Whether `$NAME` in headers stands for a variable. Where it does not, headers are sent as they are written.
    pub variables: bool,
}

/// How long hooks may take.
#[derive(Debug, Clone, Copy)]
pub struct TimeTable {
    /// If nothing else is said.
    pub usual: Duration,
    /// The same for events of these classes.
    pub classes: &'static [(TimeClass, Duration)],
    /// The same for kinds of handlers.
    pub handlers: &'static [(&'static str, Duration)],
    /// The same for kinds of handlers that nobody waits for.
    pub in_background: &'static [(&'static str, Duration)],
    /// The most that a hook may ask for; what is more is cut down to it.
    pub cap: Option<Duration>,
}

impl TimeTable {
    /// The same time everywhere.
    pub const fn seconds(seconds: u64) -> Self {
        Self { usual: Duration::from_secs(seconds), classes: &[], handlers: &[], in_background: &[], cap: None }
    }
}
