//! Connections that wait for the next request.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, Id};

use super::link::Link;
use super::target::Origin;

/// How long a connection waits.
const PATIENCE: Duration = Duration::from_secs(90);

/// How many wait at most.
const CAPACITY: usize = 64;

/// Connections that wait for the next request. A connection is woken by the runtime that it was made in, so it is used only
/// there.
#[derive(Default)]
pub(super) struct Pool(Mutex<Vec<Idle>>);

struct Idle {
    runtime: Id,
    origin: Origin,
    since: Instant,
    link: Link,
}

impl Pool {
    /// The connection that has waited the shortest: the one most likely to be still there.
    pub(super) fn take(&self, origin: &Origin) -> Option<Link> {
        let runtime = Handle::try_current().ok()?.id();
        let mut idle = self.lock();
        idle.retain(|idle| idle.since.elapsed() < PATIENCE);
        let at = idle.iter().rposition(|idle| idle.runtime == runtime && idle.origin == *origin)?;
        Some(idle.remove(at).link)
    }

    pub(super) fn put(&self, origin: &Origin, link: Link) {
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let mut idle = self.lock();
        if idle.len() >= CAPACITY {
            idle.remove(0);
        }
        idle.push(Idle { runtime: runtime.id(), origin: origin.clone(), since: Instant::now(), link });
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
