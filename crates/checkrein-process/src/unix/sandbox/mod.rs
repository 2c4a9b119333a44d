//! Sandboxes on Linux: Landlock for files, seccomp for the network and for ways out, resource limits, and a look now and
//! then at what no such limit can count.
//!
//! All is prepared in the host, which can allocate. The child only makes system calls ([`spawn()`]), so that it can share the host's
//! memory until it executes its program, as with `posix_spawn`: a fork would copy the host's page tables.

mod landlock;
mod limits;
mod seccomp;
mod spawn;
mod temporary;
mod usage_monitor;

pub(super) use spawn::spawn;
pub(crate) use temporary::{Temporary, wait_for_removal};
pub(super) use usage_monitor::UsageMonitor;

use std::os::fd::OwnedFd;

use rustix::process::{Resource, Rlimit};
use rustix::thread::CapabilitySets;
use seccompiler::BpfProgram;

use crate::launch::SpawnSpec;
use crate::sandbox::{Sandbox, SandboxError};

/// A sandbox, ready for one process.
pub(super) struct PreparedSandbox {
    ruleset: Option<OwnedFd>,
    filters: Vec<BpfProgram>,
    limits: Vec<(Resource, Rlimit)>,
    capabilities: CapabilitySets,
}

impl PreparedSandbox {
    pub(super) fn new(sandbox: &Sandbox, launch: &SpawnSpec<'_>) -> Result<Self, SandboxError> {
        let needed = landlock::RuntimePaths {
            program: launch.program,
            place: launch.place,
            temporary: launch.temporary,
            network: sandbox.network,
        };
        Ok(Self {
            ruleset: landlock::ruleset(sandbox.files.as_ref(), &needed)?,
            filters: seccomp::programs(sandbox)?,
            limits: limits::of(sandbox),
            capabilities: limits::kept_capabilities()?,
        })
    }
}

fn refused(part: &'static str) -> impl Fn(std::io::Error) -> SandboxError {
    move |source| SandboxError::Refused { part, source }
}
