//! [`CancelToken`]: the flag with which a host cancels a fire.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells handlers and fires that the host has cancelled the event. Clones share one state.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Creates a token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels. This cannot be undone.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// `true` if the host has cancelled.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
