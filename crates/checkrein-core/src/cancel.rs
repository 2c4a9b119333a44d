use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Tells handlers and fires that the host has given up. Clones share one state.
#[derive(Debug, Clone, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Not cancelled yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives up, for good.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether the host has given up.
    #[inline]
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}
