//! Counting what a sandbox holds.
//!
//! The system's own limits count what a user has (and root has as much as it likes), or what one process has. So somebody
//! looks now and then. Nobody in a sandbox can leave its group, so the group is all there is.

use std::fs::File;
use std::io::Read as _;
use std::time::Duration;

use rustix::process::Pid;
use tokio::time;

use super::super::procfs;
use crate::sandbox::{LimitExceeded, Sandbox};

/// Most processes are gone before the first look.
const FIRST_LOOK: Duration = Duration::from_millis(5);
const NEXT_LOOK: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub(in super::super) struct UsageMonitor {
    leader: Pid,
    processes: Option<u32>,
    memory: Option<u64>,
}

impl UsageMonitor {
    /// None, if there is nothing to count.
    pub(in super::super) fn new(leader: Pid, sandbox: &Sandbox) -> Option<Self> {
        let counts = sandbox.processes.is_some() || sandbox.memory.is_some();
        counts.then_some(Self { leader, processes: sandbox.processes, memory: sandbox.memory })
    }

    /// Waits until there is too much of something.
    pub(in super::super) async fn over(&self) -> LimitExceeded {
        let mut pause = FIRST_LOOK;
        loop {
            time::sleep(pause).await;
            if let Some(over) = self.sample() {
                return over;
            }
            pause = NEXT_LOOK;
        }
    }

    fn sample(&self) -> Option<LimitExceeded> {
        let members = self.members();
        let count = u32::try_from(members.len()).unwrap_or(u32::MAX);
        if let Some(most) = self.processes.filter(|&most| count > most) {
            return Some(LimitExceeded::Processes(most));
        }
        let most = self.memory?;
        let used: u64 = members.iter().map(|&pid| memory(pid).unwrap_or_default()).sum();
        (used > most).then_some(LimitExceeded::Memory(most))
    }

    /// All of the group, or one more than there may be: where they multiply, there is no time to see them all.
    fn members(&self) -> Vec<i32> {
        let leader = self.leader.as_raw_nonzero().get();
        // Ids are given out in turn: as long as none has been since the leader's own, it is alone.
        if procfs::last_pid() == Some(leader) {
            return vec![leader];
        }
        let enough = self.processes.and_then(|most| usize::try_from(most).ok()?.checked_add(1)).unwrap_or(usize::MAX);
        procfs::pids().filter(|&pid| procfs::group(pid) == leader).take(enough).collect()
    }
}

/// The bytes of memory that a process has, without what it only shares with a file.
fn memory(pid: i32) -> Option<u64> {
    let mut text = String::new();
    File::open(format!("/proc/{pid}/status")).ok()?.read_to_string(&mut text).ok()?;
    // What is shared counts once for each: the one who shares it may be gone before the other.
    let of = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    let kibibytes = ["RssAnon:", "RssShmem:"].into_iter().filter_map(of).sum::<u64>();
    Some(kibibytes.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_has_some_memory() {
        let me = i32::try_from(std::process::id()).unwrap();
        assert!(memory(me).unwrap() > 100 * 1024);
        assert_eq!(memory(i32::MAX), None);
    }
}
