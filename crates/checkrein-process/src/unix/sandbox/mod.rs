//! Sandboxes on Linux: Landlock for files, seccomp for the network and for ways out, resource limits, and a look now and
//! then at what no such limit can count.
//!
//! All is prepared in the host, which can allocate. The child only makes system calls ([`spawn()`]), so that it can share the host's
//! memory until it executes its program, as with `posix_spawn`: a fork would copy the host's page tables.

mod census;
mod filter;
mod landlock;
mod limits;
mod spawn;
mod temporary;

pub(super) use census::Census;
pub(super) use spawn::spawn;
pub(crate) use temporary::{Temporary, wait_for_removal};

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use self::filter::Filter;
use rustix::process::{Resource, Rlimit};
use rustix::thread::CapabilitySets;

use crate::launch::Launch;
use crate::sandbox::{Sandbox, SandboxError};

/// A sandbox, ready for one process.
pub(super) struct PreparedSandbox {
    ruleset: Option<Arc<OwnedFd>>,
    filter: Filter,
    limits: Vec<(Resource, Rlimit)>,
    capabilities: CapabilitySets,
}

impl PreparedSandbox {
    pub(super) fn new(sandbox: &Sandbox, launch: &Launch<'_>) -> Result<Self, SandboxError> {
        let temporary = launch.temporary.map(PathBuf::from);
        let ruleset = landlock::ruleset(sandbox.files.as_ref(), landlock::version(), || landlock::Needed {
            program: launch.program,
            place: launch.place,
            temporary: temporary.as_deref(),
            network: sandbox.network,
        })?;
        Ok(Self {
            ruleset,
            filter: Filter::new(sandbox)?,
            limits: limits::of(sandbox),
            capabilities: limits::kept_capabilities()?,
        })
    }
}

fn refused(part: &'static str) -> impl Fn(std::io::Error) -> SandboxError {
    move |source| SandboxError::Refused { part, source }
}
