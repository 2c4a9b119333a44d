//! Monitor of the processes, the memory and the temporary directory of a sandbox.
//!
//! Kernel limits apply to a user (but not to root) or to one process, not to a group. So the monitor samples the group. No
//! process of a sandbox can leave its group.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::process::Pid;
use tokio::time;

use super::super::procfs;
use super::disk_usage;
use crate::sandbox::{LimitExceeded, Sandbox};

/// Delay of the first sample. Most processes have exited by then.
const FIRST_DELAY: Duration = Duration::from_millis(5);
const INTERVAL: Duration = Duration::from_millis(10);

/// Pause between two measurements of the temporary directory: this time, or this multiple of the time of the last one.
const DISK_INTERVAL: Duration = Duration::from_millis(50);
const DISK_SHARE: u32 = 20;

#[derive(Debug)]
pub(in super::super) struct UsageMonitor {
    leader: Pid,
    processes: Option<u32>,
    memory: Option<u64>,
    /// The temporary directory and its maximum size in bytes.
    temporary: Option<(PathBuf, u64)>,
}

impl UsageMonitor {
    /// `None` for a sandbox without limits of processes, memory and file sizes.
    pub(in super::super) fn new(leader: Pid, sandbox: &Sandbox, temporary: Option<&Path>) -> Option<Self> {
        let temporary = temporary.map(Path::to_owned).zip(sandbox.file_size);
        if sandbox.processes.is_none() && sandbox.memory.is_none() && temporary.is_none() {
            return None;
        }
        Some(Self { leader, processes: sandbox.processes, memory: sandbox.memory, temporary })
    }

    /// Waits until a limit is exceeded.
    pub(in super::super) async fn exceeded(&self) -> LimitExceeded {
        let mut delay = FIRST_DELAY;
        let mut disk_due = Instant::now() + DISK_INTERVAL;
        loop {
            time::sleep(delay).await;
            if let Some(limit) = self.sample() {
                return limit;
            }
            if let Some((directory, most)) = &self.temporary
                && Instant::now() >= disk_due
            {
                let begun = Instant::now();
                if disk_usage::exceeds(directory, &self.members(), *most) {
                    return LimitExceeded::Temporary(*most);
                }
                disk_due = Instant::now() + DISK_INTERVAL.max(begun.elapsed() * DISK_SHARE);
            }
            delay = INTERVAL;
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

    /// The members of the group, at most one more than the limit: a fork bomb leaves no time to list them all.
    fn members(&self) -> Vec<i32> {
        let leader = self.leader.as_raw_nonzero().get();
        // Ids are assigned in sequence: if none is newer than the leader, it is alone.
        if procfs::last_pid() == Some(leader) {
            return vec![leader];
        }
        let enough = self.processes.and_then(|most| usize::try_from(most).ok()?.checked_add(1)).unwrap_or(usize::MAX);
        procfs::pids().filter(|&pid| procfs::group(pid) == leader).take(enough).collect()
    }
}

/// Memory of a process in bytes, without pages of files.
fn memory(pid: i32) -> Option<u64> {
    let mut text = String::new();
    File::open(format!("/proc/{pid}/status")).ok()?.read_to_string(&mut text).ok()?;
    // Shared memory is counted for each process that maps it: one of them may exit before the other.
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_ascii_whitespace().next()?.parse::<u64>().ok()
    };
    let kibibytes = ["RssAnon:", "RssShmem:"].into_iter().filter_map(field).sum::<u64>();
    Some(kibibytes.saturating_mul(1024))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_the_own_process_is_read() {
        let me = i32::try_from(std::process::id()).unwrap();
        assert!(memory(me).unwrap() > 100 * 1024);
        assert_eq!(memory(i32::MAX), None);
    }
}
