//! The first processes of all runs of this host that are under way.
//!
//! Their ids are ours until their status is taken, so whoever has one of them belongs to no other run. With many runs at
//! once this is mostly all there is to know, and `/proc` need not be asked.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::Pid;

static LEADERS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

pub(super) fn add(leader: Pid) {
    lock().push(leader);
}

/// Must come before the status is taken: afterwards the id may be anybody's.
pub(super) fn remove(leader: Pid) {
    let mut leaders = lock();
    if let Some(at) = leaders.iter().position(|&one| one == leader) {
        leaders.swap_remove(at);
    }
}

/// Those of these ids that belong to nobody here.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "processes can't be listed"))]
pub(super) fn others(ids: impl Iterator<Item = i32>) -> impl Iterator<Item = i32> {
    let leaders = lock().clone();
    ids.filter(move |&id| Pid::from_raw(id).is_none_or(|id| !leaders.contains(&id)))
}

fn lock() -> MutexGuard<'static, Vec<Pid>> {
    LEADERS.lock().unwrap_or_else(PoisonError::into_inner)
}
