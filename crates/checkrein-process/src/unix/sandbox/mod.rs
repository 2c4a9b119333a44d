//! Sandboxes on Linux: Landlock for files, seccomp for the network and for escapes, resource limits, and a monitor of the
//! limits that the kernel does not have.
//!
//! The host prepares everything, since it can allocate. The child only makes system calls ([`spawn()`]), so it can share
//! the memory of the host until it executes its program, as with `posix_spawn`. A fork would copy the page tables.

mod disk_usage;
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

/// Prepared sandbox of one process.
pub(super) struct PreparedSandbox {
    ruleset: Option<OwnedFd>,
    filters: Vec<BpfProgram>,
    limits: Vec<(Resource, Rlimit)>,
    capabilities: CapabilitySets,
}

impl PreparedSandbox {
    pub(super) fn new(sandbox: &Sandbox, spec: &SpawnSpec<'_>) -> Result<Self, SandboxError> {
        let needed = landlock::RuntimePaths {
            program: spec.program,
            context: spec.context,
            temporary: spec.temporary,
            network: sandbox.network,
        };
        Ok(Self {
            ruleset: landlock::ruleset(sandbox.files.as_ref(), &needed)?,
            filters: seccomp::programs(sandbox)?,
            limits: limits::resource_limits(sandbox),
            capabilities: limits::kept_capabilities()?,
        })
    }
}

/// The error of a step that the system rejected. The step is a verb phrase.
fn refused(part: &'static str) -> impl Fn(std::io::Error) -> SandboxError {
    move |source| SandboxError::Refused { part, source }
}
