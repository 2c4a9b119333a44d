//! Resource limits and capabilities of a sandboxed process. They must never exceed those of the host.

use std::fs::File;
use std::io::Read as _;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, getrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities};

use super::refused;
use crate::sandbox::{Sandbox, SandboxError};

/// Threads per process. The kernel counts threads as processes, a user does not.
const THREADS: u64 = 8;

/// Resource limits of a sandbox. None is above the limit of the host.
pub(super) fn resource_limits(sandbox: &Sandbox) -> Vec<(Resource, Rlimit)> {
    let mut all = vec![limit(Resource::Core, 0, 0)];
    if let Some(time) = sandbox.cpu {
        // The soft limit sends SIGXCPU, which identifies the cause. The hard limit sends KILL, which cannot be ignored.
        let seconds = whole_seconds(time);
        all.push(limit(Resource::Cpu, seconds, seconds.saturating_add(1)));
    }
    if let Some(bytes) = sandbox.memory {
        // Not the address space: some programs reserve far more than they use.
        all.push(limit(Resource::Data, bytes, bytes));
    }
    if let Some(count) = sandbox.open_files {
        all.push(limit(Resource::Nofile, count, count));
    }
    if let Some(bytes) = sandbox.file_size {
        all.push(limit(Resource::Fsize, bytes, bytes));
    }
    // The kernel counts the threads of the user, not of the sandbox. So this limit only applies between two samples of the
    // usage monitor. All current threads of the system are an upper bound of those of the user.
    if let Some(count) = sandbox.processes
        && let Some(now) = threads()
    {
        let most = u64::from(count).saturating_mul(THREADS).saturating_add(now);
        all.push(limit(Resource::Nproc, most, most));
    }
    all
}

/// Rounds up to whole seconds, at least one. A limit of 0 would mean no limit.
pub(super) fn whole_seconds(time: Duration) -> u64 {
    (time.as_secs() + u64::from(time.subsec_nanos() > 0)).max(1)
}

fn limit(resource: Resource, soft: u64, hard: u64) -> (Resource, Rlimit) {
    let hard = hard.min(getrlimit(resource).maximum.unwrap_or(u64::MAX));
    (resource, Rlimit { current: Some(soft.min(hard)), maximum: Some(hard) })
}

/// Number of threads of the system.
fn threads() -> Option<u64> {
    let mut text = String::new();
    File::open("/proc/loadavg").ok()?.read_to_string(&mut text).ok()?;
    text.split_ascii_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

/// The capabilities that a process keeps: those for file owners. So root can use the files that the rules allow, and
/// nothing else.
pub(super) fn kept_capabilities() -> Result<CapabilitySets, SandboxError> {
    let of_files = CapabilitySet::CHOWN
        | CapabilitySet::DAC_OVERRIDE
        | CapabilitySet::DAC_READ_SEARCH
        | CapabilitySet::FOWNER
        | CapabilitySet::FSETID;
    let now = capabilities(None).map_err(|error| refused("read the capabilities")(error.into()))?;
    let kept = now.permitted & of_files;
    Ok(CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_not_above_those_of_the_host() {
        let sandbox = Sandbox::new().open_files(u64::MAX).cpu(Duration::from_millis(1)).processes(5);
        let all = resource_limits(&sandbox);
        let find = |resource: Resource| all.iter().find(|limit| limit.0 == resource).unwrap().1;
        let host = getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX);
        assert_eq!(find(Resource::Nofile).maximum, Some(host));
        assert_eq!((find(Resource::Cpu).current, find(Resource::Cpu).maximum), (Some(1), Some(2)));
        assert_eq!(find(Resource::Core).current, Some(0));
        assert!(find(Resource::Nproc).current > Some(5 * THREADS));
    }

    #[test]
    fn whole_seconds_are_at_least_one() {
        for (time, seconds) in [(0, 1), (1, 1), (1000, 1), (1001, 2), (60_000, 60)] {
            assert_eq!(whole_seconds(Duration::from_millis(time)), seconds, "{time}");
        }
    }
}
