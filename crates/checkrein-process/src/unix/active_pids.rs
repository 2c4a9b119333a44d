//! Ids of the first processes of all active runs of this host.
//!
//! The kernel does not reuse these ids until the processes are reaped, so they belong to no other run. With many parallel
//! runs, this usually answers the check for descendants without a read of `/proc`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::process::Pid;

static LEADERS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

pub(super) fn add(leader: Pid) {
    lock().push(leader);
}

/// Must be called before the process is reaped: afterwards the kernel may reuse the id.
pub(super) fn remove(leader: Pid) {
    let mut leaders = lock();
    if let Some(index) = leaders.iter().position(|&other| other == leader) {
        leaders.swap_remove(index);
    }
}

/// Removes the ids of active runs from a sequence.
#[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "processes can't be listed"))]
pub(super) fn others(ids: impl Iterator<Item = i32>) -> impl Iterator<Item = i32> {
    let leaders = lock().clone();
    ids.filter(move |&id| Pid::from_raw(id).is_none_or(|id| !leaders.contains(&id)))
}

fn lock() -> MutexGuard<'static, Vec<Pid>> {
    LEADERS.lock().unwrap_or_else(PoisonError::into_inner)
}
