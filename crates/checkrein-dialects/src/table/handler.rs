//! Columns of a dialect for HTTP endpoints and timeouts.

use std::time::Duration;

use checkrein_core::TimeClass;

/// Rules for HTTP endpoints.
#[derive(Debug, Clone, Copy)]
pub struct HttpTable {
    /// `true` if responses are read. Otherwise they are ignored.
    pub decides: bool,
    /// `true` if HTTP hooks run in the background by default.
    pub in_background: bool,
    /// `true` if `$NAME` in headers is replaced by a variable. Otherwise headers are sent unchanged.
    pub variables: bool,
}

/// Default timeouts and their limit.
#[derive(Debug, Clone, Copy)]
pub struct TimeTable {
    /// Default timeout.
    pub usual: Duration,
    /// Default timeouts by class of event.
    pub classes: &'static [(TimeClass, Duration)],
    /// Default timeouts by kind of handler.
    pub handlers: &'static [(&'static str, Duration)],
    /// Default timeouts of hooks in the background, by kind of handler.
    pub in_background: &'static [(&'static str, Duration)],
    /// Maximum timeout. Longer timeouts are reduced to it.
    pub cap: Option<Duration>,
}

impl TimeTable {
    /// One timeout for all events and handlers.
    pub const fn seconds(seconds: u64) -> Self {
        Self { usual: Duration::from_secs(seconds), classes: &[], handlers: &[], in_background: &[], cap: None }
    }
}
