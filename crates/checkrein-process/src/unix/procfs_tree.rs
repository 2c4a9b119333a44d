//! Search for the descendants of a process in `/proc`. [`ProcessTree`](super::process_tree::ProcessTree) uses it.
//!
//! A process must never be signalled on the basis of its id alone: the kernel may have reused it.

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal, test_kill_process};

use super::active_pids;
use super::exit_wait;
use super::procfs::{self, HasMarker, Stat};
use crate::marker::Marker;

/// Maximum number of new process ids to check one by one. Above it, all processes are listed.
const MAX_PIDS_TO_SCAN: i32 = 64;
/// Number of immediate retries for a process in the middle of `execve`.
const RETRIES: usize = 20;

/// A process, identified by its id and start time.
#[derive(Debug, Clone)]
pub(super) struct ProcEntry(Stat);

/// Returns `true` if it is certain that only the leader, which has exited and is not reaped, is left.
///
/// Ids are assigned in sequence, so every descendant has one between the id of the leader and the last one. Usually there
/// is none. `since`: the last id before the leader could start any process, if that is later than its own id.
pub(super) fn has_no_descendants(leader: Pid, marker: &Marker, since: Option<i32>) -> bool {
    let first = since.unwrap_or(number(leader));
    let adopts = adopts_orphans();
    let mut checked = first;
    loop {
        let Some(last) = procfs::last_pid() else { return false };
        if last < checked || last - first > MAX_PIDS_TO_SCAN {
            let (living, ambiguous) = find_alive(leader, marker, &[]);
            return living.is_empty() && !ambiguous;
        }
        if last == checked {
            return true;
        }
        if active_pids::others(checked + 1..=last).any(|pid| may_belong(pid, leader, marker, adopts)) {
            return false;
        }
        // A process that had exited when it was checked may have started another one before, with an id above `last`.
        checked = last;
    }
}

/// Returns `true` if a process is alive and may be a descendant of the leader.
fn may_belong(pid: i32, leader: Pid, marker: &Marker, adopts: bool) -> bool {
    let Some(id) = Pid::from_raw(pid) else { return false };
    // Children of the host are no descendants of the leader. These system calls are a hundred times cheaper than a read of
    // `/proc`.
    if (!adopts && exit_wait::has_exited(id).is_ok()) || test_kill_process(id) == Err(Errno::SRCH) {
        return false;
    }
    Stat::read(pid).is_some_and(|stat| {
        let ours = || stat.group == number(leader) || procfs::has_marker(pid, marker) != HasMarker::No;
        stat.is_alive() && ours()
    })
}

/// Returns `true` if orphaned processes become children of this one.
fn adopts_orphans() -> bool {
    std::process::id() == 1 || rustix::process::child_subreaper().map_or(true, |subreaper| subreaper.is_some())
}

/// Returns all living descendants of the leader, and `true` if others are ambiguous because they are in the middle of
/// `execve`.
pub(super) fn find_alive(leader: Pid, marker: &Marker, known: &[ProcEntry]) -> (Vec<ProcEntry>, bool) {
    let first = number(leader);
    let me = std::process::id().cast_signed();
    // After the leader is reaped, its group id may be reused. Only the marker identifies processes then.
    let (since, group) = Stat::read(first).map_or((0, None), |stat| (stat.start, Some(first)));

    let mut ours = Vec::new();
    let mut others = Vec::new();
    let mut ambiguous = false;
    for pid in procfs::pids().filter(|&pid| pid != me && pid != first) {
        let Some(stat) = Stat::read(pid).filter(|stat| stat.start >= since && stat.is_alive()) else {
            continue;
        };
        let is_known = || known.iter().any(|known| known.is(&stat));
        if group == Some(stat.group) || is_known() {
            ours.push(stat);
            continue;
        }
        match has_marker(pid, marker) {
            HasMarker::Yes => ours.push(stat),
            HasMarker::No => others.push(stat),
            HasMarker::Unknown => {
                ambiguous = true;
                others.push(stat);
            }
        }
    }
    // Children of the leader and of the found processes, repeatedly.
    let mut parents: Vec<i32> = ours.iter().map(|stat| stat.pid).chain(group).collect();
    while let Some(parent) = parents.pop() {
        for child in others.extract_if(.., |stat| stat.parent == parent) {
            parents.push(child.pid);
            ours.push(child);
        }
    }
    (ours.into_iter().map(ProcEntry).collect(), ambiguous)
}

/// Returns the living members of the leader's group, without the leader, which is not reaped.
pub(super) fn find_alive_in_group(leader: Pid) -> Vec<ProcEntry> {
    let first = number(leader);
    let found = procfs::pids().filter(|&pid| pid != first && procfs::group(pid) == first).filter_map(Stat::read);
    found.filter(Stat::is_alive).map(ProcEntry).collect()
}

fn has_marker(pid: i32, marker: &Marker) -> HasMarker {
    for _ in 0..RETRIES {
        match procfs::has_marker(pid, marker) {
            HasMarker::Unknown => std::thread::yield_now(),
            answer => return answer,
        }
    }
    HasMarker::Unknown
}

fn number(pid: Pid) -> i32 {
    pid.as_raw_nonzero().get()
}

impl ProcEntry {
    pub(super) fn new(stat: Stat) -> Self {
        Self(stat)
    }

    fn is(&self, stat: &Stat) -> bool {
        (self.0.pid, self.0.start) == (stat.pid, stat.start)
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.is(&other.0)
    }

    /// Returns `true` if the process is in the group now. It may have left since it was found.
    pub(super) fn is_in_group(&self, leader: Pid) -> bool {
        procfs::group(self.0.pid) == number(leader)
    }

    pub(super) fn pid(&self) -> i32 {
        self.0.pid
    }

    pub(super) fn name(&self) -> &str {
        &self.0.name
    }

    pub(super) fn is_alive(&self) -> bool {
        Stat::read(self.0.pid).is_some_and(|stat| self.is(&stat) && stat.is_alive())
    }

    pub(super) fn signal(&self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.0.pid) else { return };
        // A pidfd always refers to the same process. A check after it was opened is true of that process.
        let descriptor = pidfd_open(pid, PidfdFlags::empty());
        if !self.is_alive() {
            return;
        }
        // An error means that the process has exited or belongs to another user.
        let _ = match descriptor {
            Ok(descriptor) => pidfd_send_signal(descriptor, signal),
            Err(_) => kill_process(pid, signal),
        };
    }
}
