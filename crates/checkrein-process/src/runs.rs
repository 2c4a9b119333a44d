//! How many runs of this host are under way.

use std::sync::atomic::{AtomicUsize, Ordering};

static RUNS: AtomicUsize = AtomicUsize::new(0);

/// One of them, as long as it is kept.
pub(crate) struct Run(());

impl Run {
    pub(crate) fn begin() -> Self {
        RUNS.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        RUNS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How many there are.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "nobody asks"))]
pub(crate) fn count() -> usize {
    RUNS.load(Ordering::Relaxed)
}
