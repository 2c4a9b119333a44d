//! The family of a process, as `/proc` has it.

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal, test_kill_process};

use super::active_pids;
use super::exit_wait;
use super::procfs::{self, HasMarker, Stat};
use crate::marker::Marker;

/// With more new process ids than this since the start, all processes are listed instead.
const FEW: i32 = 64;
/// How often a process that is just becoming another program is looked at again at once.
const LOOKS: usize = 20;

/// One process, told from all others by its id and its start.
#[derive(Debug, Clone)]
pub(super) struct ProcEntry(Stat);

/// Whether provably nobody is left but the leader, which has exited and whose status is not taken.
///
/// Ids are given out in turn, so whoever the leader started, or they in their turn, has one between the leader's and the
/// last. Mostly there is none at all.
pub(super) fn has_no_descendants(leader: Pid, marker: &Marker) -> bool {
    let first = number(leader);
    let adopts = adopts_orphans();
    let mut checked = first;
    loop {
        let Some(last) = procfs::last_pid() else { return false };
        if last < checked || last - first > FEW {
            let (living, unclear) = find_alive(leader, marker, &[]);
            return living.is_empty() && !unclear;
        }
        if last == checked {
            return true;
        }
        if active_pids::others(checked + 1..=last).any(|pid| may_belong(pid, leader, marker, adopts)) {
            return false;
        }
        // One that was gone when it was looked at may have started another just before, with an id behind the last.
        checked = last;
    }
}

/// Whether a process lives and may belong to the leader's family.
fn may_belong(pid: i32, leader: Pid, marker: &Marker, adopts: bool) -> bool {
    let Some(id) = Pid::from_raw(pid) else { return false };
    // Children of the host itself are not the leader's, and those that are gone are nobody's. To ask for that is a
    // hundred times cheaper than to read files.
    if (!adopts && exit_wait::has_exited(id).is_ok()) || test_kill_process(id) == Err(Errno::SRCH) {
        return false;
    }
    Stat::of(pid).is_some_and(|stat| {
        let ours = || stat.group == number(leader) || procfs::is_marked(pid, marker) != HasMarker::No;
        stat.is_alive() && ours()
    })
}

/// Whether processes that have lost their parent become children of this one.
fn adopts_orphans() -> bool {
    std::process::id() == 1 || rustix::process::child_subreaper().map_or(true, |subreaper| subreaper.is_some())
}

/// All that live and belong to the leader's family, but for the leader; and whether there are others of whom it can't be
/// told yet, because they are just becoming another program.
pub(super) fn find_alive(leader: Pid, marker: &Marker, known: &[ProcEntry]) -> (Vec<ProcEntry>, bool) {
    let first = number(leader);
    let me = std::process::id().cast_signed();
    // Without the leader its group may be another's by now; only the mark counts then.
    let (since, group) = Stat::of(first).map_or((0, None), |stat| (stat.start, Some(first)));

    let mut ours = Vec::new();
    let mut others = Vec::new();
    let mut unclear = false;
    for pid in procfs::pids().filter(|&pid| pid != me && pid != first) {
        let Some(stat) = Stat::of(pid).filter(|stat| stat.start >= since && stat.is_alive()) else {
            continue;
        };
        let is_known = || known.iter().any(|known| known.is(&stat));
        if group == Some(stat.group) || is_known() {
            ours.push(stat);
            continue;
        }
        match is_marked(pid, marker) {
            HasMarker::Yes => ours.push(stat),
            HasMarker::No => others.push(stat),
            HasMarker::Unclear => {
                unclear = true;
                others.push(stat);
            }
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
    (ours.into_iter().map(ProcEntry).collect(), unclear)
}

/// All of the leader's group that live, but for the leader, whose status is not taken.
pub(super) fn living_in_group(leader: Pid) -> Vec<ProcEntry> {
    let first = number(leader);
    let found = procfs::pids().filter(|&pid| pid != first && procfs::group(pid) == first).filter_map(Stat::of);
    found.filter(Stat::is_alive).map(ProcEntry).collect()
}

fn is_marked(pid: i32, marker: &Marker) -> HasMarker {
    for _ in 0..LOOKS {
        match procfs::is_marked(pid, marker) {
            HasMarker::Unclear => std::thread::yield_now(),
            clear => return clear,
        }
    }
    HasMarker::Unclear
}

fn number(pid: Pid) -> i32 {
    pid.as_raw_nonzero().get()
}

impl ProcEntry {
    fn is(&self, stat: &Stat) -> bool {
        (self.0.pid, self.0.start) == (stat.pid, stat.start)
    }

    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.is(&other.0)
    }

    /// Whether it is there now: it may have left since it was found.
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
