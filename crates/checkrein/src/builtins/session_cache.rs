//! What builtins remember of sessions, within bounds.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;

use crate::sync::lock;

/// How many sessions are remembered. The one that was made first goes first.
const SESSIONS: usize = 1024;

/// Something for each session.
#[derive(Debug)]
pub(super) struct Sessions<T> {
    kept: Mutex<SessionCache<T>>,
}

#[derive(Debug)]
struct SessionCache<T> {
    by_key: HashMap<String, T>,
    order: VecDeque<String>,
}

impl<T> Default for Sessions<T> {
    fn default() -> Self {
        Self { kept: Mutex::new(SessionCache { by_key: HashMap::new(), order: VecDeque::new() }) }
    }
}

impl<T: Default> Sessions<T> {
    /// Works with what is remembered under the key.
    pub(super) fn with<R>(&self, key: &str, work: impl FnOnce(&mut T) -> R) -> R {
        // What a panic left half done is still within bounds.
        let mut kept = lock(&self.kept);
        if !kept.by_key.contains_key(key) {
            if kept.order.len() >= SESSIONS
                && let Some(oldest) = kept.order.pop_front()
            {
                kept.by_key.remove(&oldest);
            }
            kept.order.push_back(key.to_owned());
        }
        work(kept.by_key.entry(key.to_owned()).or_default())
    }

    /// Forgets what is remembered under the key, and gives it back.
    pub(super) fn forget(&self, key: &str) -> Option<T> {
        let mut kept = lock(&self.kept);
        kept.order.retain(|other| other != key);
        kept.by_key.remove(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_bounded() {
        let sessions = Sessions::<u32>::default();
        for n in 0..SESSIONS + 10 {
            sessions.with(&n.to_string(), |count| *count += 1);
        }
        assert_eq!(sessions.kept.lock().unwrap().by_key.len(), SESSIONS);
        assert_eq!(sessions.with(&(SESSIONS + 9).to_string(), |count| *count), 1);
        assert_eq!(sessions.with("0", |count| *count), 0);
        assert_eq!(sessions.forget("0"), Some(0));
        assert_eq!(sessions.forget("0"), None);
    }
}
