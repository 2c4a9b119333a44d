//! Bounded memory of builtins, by session.
//!
//! Builtins that count or compare events keep their state here. The memory is lost with the process.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use crate::sync::lock;

/// Maximum number of sessions. The oldest one is removed first.
const SESSIONS: usize = 1024;

/// One value for each session.
#[derive(Debug)]
pub(super) struct Sessions<T> {
    cache: Mutex<SessionCache<T>>,
}

#[derive(Debug)]
struct SessionCache<T> {
    by_key: HashMap<String, T>,
    order: VecDeque<String>,
}

impl<T> Default for Sessions<T> {
    fn default() -> Self {
        Self { cache: Mutex::new(SessionCache { by_key: HashMap::new(), order: VecDeque::new() }) }
    }
}

impl<T: Default> Sessions<T> {
    /// Calls `work` with the value of the session.
    pub(super) fn with<R>(&self, key: &str, work: impl FnOnce(&mut T) -> R) -> R {
        // A panic in `work` leaves the cache within its bounds.
        let mut cache = lock(&self.cache);
        if !cache.by_key.contains_key(key) {
            if cache.order.len() >= SESSIONS
                && let Some(oldest) = cache.order.pop_front()
            {
                cache.by_key.remove(&oldest);
            }
            cache.order.push_back(key.to_owned());
        }
        work(cache.by_key.entry(key.to_owned()).or_default())
    }

    /// Removes and returns the value of the session.
    pub(super) fn forget(&self, key: &str) -> Option<T> {
        let mut cache = lock(&self.cache);
        cache.order.retain(|other| other != key);
        cache.by_key.remove(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_session_is_removed_at_the_limit() {
        let sessions = Sessions::<u32>::default();
        for n in 0..SESSIONS + 10 {
            sessions.with(&n.to_string(), |count| *count += 1);
        }
        assert_eq!(sessions.cache.lock().unwrap().by_key.len(), SESSIONS);
        assert_eq!(sessions.with(&(SESSIONS + 9).to_string(), |count| *count), 1);
        assert_eq!(sessions.with("0", |count| *count), 0);
        assert_eq!(sessions.forget("0"), Some(0));
        assert_eq!(sessions.forget("0"), None);
    }
}
