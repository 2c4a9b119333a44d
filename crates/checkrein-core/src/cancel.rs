//! [`CancelToken`]: the flag with which a host cancels an event while its hooks run.
//!
//! Hosts pass it to [`Runner::fire_until`](crate::Runner::fire_until). The runner checks it between two callbacks, and
//! callbacks can check it themselves. Setting it never interrupts a running callback.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Flag with which a host cancels an event while its callbacks run. Clones share one state.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Creates a token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the flag. This cannot be undone.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// `true` if the host has cancelled.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
