//! The family of a process, as `/proc` has it.

use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use super::proc::{self, Marked, Stat};
use crate::marker::Marker;

/// With more new process ids than this since the start, all processes are listed instead.
const FEW: i32 = 64;
/// How often a process that is just becoming another program is looked at again.
const LOOKS: usize = 100;

/// One process, told from all others by its id and its start.
#[derive(Debug, Clone)]
pub(super) struct Listed(Stat);

/// Whether provably nobody is left but the leader, which has exited and whose status is not taken.
///
/// Ids are given out in turn, so whoever the leader started, or they in their turn, has one between the leader's and the
/// last. Mostly there is none at all.
pub(super) fn is_alone(leader: Pid, marker: &Marker) -> bool {
    let first = number(leader);
    let Some(last) = proc::last_pid() else { return false };
    if last < first || last - first > FEW {
        return living(leader, marker, &[]).is_empty();
    }
    !(first + 1..=last).any(|pid| {
        Stat::of(pid).is_some_and(|stat| {
            let ours = || stat.group == first || proc::is_marked(pid, marker) != Marked::No;
            stat.is_alive() && ours()
        })
    })
}

/// All that live and belong to the leader's family, but for the leader.
pub(super) fn living(leader: Pid, marker: &Marker, known: &[Listed]) -> Vec<Listed> {
    let first = number(leader);
    let me = std::process::id().cast_signed();
    // Without the leader its group may be another's by now; only the mark counts then.
    let (since, group) = Stat::of(first).map_or((0, None), |stat| (stat.start, Some(first)));

    let mut ours = Vec::new();
    let mut others = Vec::new();
    for pid in proc::pids().filter(|&pid| pid != me && pid != first) {
        let Some(stat) = Stat::of(pid).filter(|stat| stat.start >= since && stat.is_alive()) else {
            continue;
        };
        let is_known = || known.iter().any(|known| known.is(&stat));
        if group == Some(stat.group) || is_known() || is_marked(pid, marker) {
            ours.push(stat);
        } else {
            others.push(stat);
        }
    }
    // Children of the leader and of those found, until there are no more.
    let mut parents: Vec<i32> = ours.iter().map(|stat| stat.pid).chain(group).collect();
    while let Some(parent) = parents.pop() {
        for child in others.extract_if(.., |stat| stat.parent == parent) {
            parents.push(child.pid);
            ours.push(child);
        }
    }
    ours.into_iter().map(Listed).collect()
}

fn is_marked(pid: i32, marker: &Marker) -> bool {
    for _ in 0..LOOKS {
        match proc::is_marked(pid, marker) {
            Marked::Yes => return true,
            Marked::No => return false,
            Marked::Unclear => std::thread::yield_now(),
        }
    }
    false
}

fn number(pid: Pid) -> i32 {
    pid.as_raw_nonzero().get()
}

impl Listed {
    fn is(&self, stat: &Stat) -> bool {
        (self.0.pid, self.0.start) == (stat.pid, stat.start)
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.is(&other.0)
    }

    pub(super) fn is_in_group(&self, leader: Pid) -> bool {
        self.0.group == number(leader)
    }

    pub(super) fn pid(&self) -> i32 {
        self.0.pid
    }

    pub(super) fn name(&self) -> &str {
        &self.0.name
    }

    pub(super) fn is_alive(&self) -> bool {
        Stat::of(self.0.pid).is_some_and(|stat| self.is(&stat) && stat.is_alive())
    }

    pub(super) fn signal(&self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.0.pid) else { return };
        // The descriptor stays with one process. What is checked after it was opened is true of that process.
        let descriptor = pidfd_open(pid, PidfdFlags::empty());
        if !self.is_alive() {
            return;
        }
        // An error means that it is gone, or another user's.
        let _ = match descriptor {
            Ok(descriptor) => pidfd_send_signal(descriptor, signal),
            Err(_) => kill_process(pid, signal),
        };
    }
}
