//! Resource limits and capabilities.

use std::fs::File;
use std::io::Read as _;
use std::time::Duration;

use super::refused;
use crate::sandbox::{Sandbox, SandboxError};

/// One limit, as the system takes it.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct ResourceLimit {
    pub(in super::super) resource: u32,
    pub(in super::super) value: libc::rlimit64,
}

// As the kernel has them. C libraries differ in the type.
const CPU: u32 = 0;
const FSIZE: u32 = 1;
const DATA: u32 = 2;
const CORE: u32 = 4;
const NPROC: u32 = 6;
const NOFILE: u32 = 7;

/// Threads for each process. The system counts them as processes, people don't.
const THREADS: u64 = 8;

/// The limits of a sandbox. None is above what the host itself has.
pub(super) fn of(sandbox: &Sandbox) -> Result<Vec<ResourceLimit>, SandboxError> {
    let mut all = vec![limit(CORE, 0, 0)?];
    if let Some(time) = sandbox.cpu {
        // The first signal can be told from others, the second cannot be ignored.
        let seconds = whole_seconds(time);
        all.push(limit(CPU, seconds, seconds.saturating_add(1))?);
    }
    if let Some(bytes) = sandbox.memory {
        // What is only reserved does not count: some programs reserve far more than they ever use.
        all.push(limit(DATA, bytes, bytes)?);
    }
    if let Some(count) = sandbox.open_files {
        all.push(limit(NOFILE, count, count)?);
    }
    if let Some(bytes) = sandbox.file_size {
        all.push(limit(FSIZE, bytes, bytes)?);
    }
    // The system counts what the user has, not what the sandbox has. So this only bounds what can happen between two
    // looks of the census; of all threads there are now, the user has no more.
    if let Some(count) = sandbox.processes
        && let Some(now) = threads()
    {
        let most = u64::from(count).saturating_mul(THREADS).saturating_add(now);
        all.push(limit(NPROC, most, most)?);
    }
    Ok(all)
}

/// A limit of 0 seconds would be none at all.
pub(super) fn whole_seconds(time: Duration) -> u64 {
    (time.as_secs() + u64::from(time.subsec_nanos() > 0)).max(1)
}

fn limit(resource: u32, soft: u64, hard: u64) -> Result<ResourceLimit, SandboxError> {
    let mut now = libc::rlimit64 { rlim_cur: 0, rlim_max: 0 };
    let none = std::ptr::null::<libc::rlimit64>();
    // SAFETY: the structure is there to be written.
    #[expect(unsafe_code, reason = "limits of every kind have no other way")]
    let done = unsafe { libc::syscall(libc::SYS_prlimit64, 0, resource, none, &raw mut now) };
    if done != 0 {
        return Err(refused("a limit")(std::io::Error::last_os_error()));
    }
    let hard = hard.min(now.rlim_max);
    Ok(ResourceLimit { resource, value: libc::rlimit64 { rlim_cur: soft.min(hard), rlim_max: hard } })
}

/// All threads of the system.
fn threads() -> Option<u64> {
    let mut text = String::new();
    File::open("/proc/loadavg").ok()?.read_to_string(&mut text).ok()?;
    text.split_ascii_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

/// What root is left with: it may read and write whatever file the rules leave it, and nothing else.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(in super::super) struct Capabilities {
    pub(in super::super) header: Header,
    pub(in super::super) sets: [Sets; 2],
}

#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub(in super::super) struct Header {
    version: u32,
    pid: i32,
}

#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(in super::super) struct Sets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// `_LINUX_CAPABILITY_VERSION_3`.
const VERSION: u32 = 0x2008_0522;
/// Those about the owners of files: `CAP_CHOWN` to `CAP_FSETID`.
const OF_FILES: u32 = 0b1_1111;

impl Capabilities {
    pub(super) fn kept() -> Result<Self, SandboxError> {
        let mut all = Self { header: Header { version: VERSION, pid: 0 }, sets: [Sets::default(); 2] };
        // SAFETY: both structures are those of this version.
        #[expect(unsafe_code, reason = "a system call that nobody wraps")]
        let done = unsafe { libc::syscall(libc::SYS_capget, &raw mut all.header, &raw mut all.sets) };
        if done != 0 {
            return Err(refused("to tell its capabilities")(std::io::Error::last_os_error()));
        }
        let kept = all.sets[0].permitted & OF_FILES;
        all.sets = [Sets { effective: kept, permitted: kept, inheritable: 0 }, Sets::default()];
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_never_rise_above_those_of_the_host() {
        let all = of(&Sandbox::new().open_files(u64::MAX).cpu(Duration::from_millis(1)).processes(5)).unwrap();
        let of = |resource: u32| all.iter().find(|limit| limit.resource == resource).unwrap().value;
        let host = limit(NOFILE, u64::MAX, u64::MAX).unwrap().value;
        assert_eq!(of(NOFILE).rlim_max, host.rlim_max);
        assert_eq!((of(CPU).rlim_cur, of(CPU).rlim_max), (1, 2));
        assert_eq!(of(CORE).rlim_cur, 0);
        assert!(of(NPROC).rlim_cur > 5 * THREADS);
    }

    #[test]
    fn whole_seconds_are_at_least_one() {
        for (time, seconds) in [(0, 1), (1, 1), (1000, 1), (1001, 2), (60_000, 60)] {
            assert_eq!(whole_seconds(Duration::from_millis(time)), seconds, "{time}");
        }
    }
}
