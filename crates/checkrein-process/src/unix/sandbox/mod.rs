//! Sandboxes on Linux: Landlock for files, seccomp for the network and for ways out, resource limits, and a look now and
//! then at what no such limit can count.
//!
//! All is made ready in the host, where memory can be had. What is left to the new process is a row of system calls
//! ([`spawn`](super::spawn)), so that it can borrow the host's memory until it becomes the program, as `posix_spawn` does: with a fork,
//! the host's page tables would be copied.

mod census;
mod filter;
mod landlock;
mod limits;
mod temporary;

pub(super) use census::Census;
pub(crate) use temporary::{Temporary, wait_for_removal};

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;

use self::filter::Filter;
pub(super) use self::limits::{Capabilities, ResourceLimit};
use crate::launch::Launch;
use crate::sandbox::{Sandbox, SandboxError};

/// A sandbox, ready for one process.
pub(super) struct Cage {
    pub(super) ruleset: Option<Arc<OwnedFd>>,
    pub(super) filter: Filter,
    pub(super) limits: Vec<ResourceLimit>,
    pub(super) capabilities: Capabilities,
}

impl Cage {
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
            limits: limits::of(sandbox)?,
            capabilities: Capabilities::kept()?,
        })
    }
}

fn refused(part: &'static str) -> impl Fn(std::io::Error) -> SandboxError {
    move |source| SandboxError::Refused { part, source }
}
