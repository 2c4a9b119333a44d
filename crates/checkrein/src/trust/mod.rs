//! Approval of hooks that come with a repository.
//!
//! Hook files of a repository can run commands on the user's machine. Therefore a hook of a project runs only after the
//! user has approved it: its entry and the contents of its scripts. Approvals are stored in the user's state directory,
//! where no project can write them.
//!
//! - A hook without approval does not run and blocks nothing: its failure is open, with a warning.
//! - A hook that has changed since its approval does not run either, and the events that it guards are denied.
//! - Scripts run from copies whose bytes match the approved hash. A change between the check and the run has no effect.
//!
//! Files of the user and the administrator need no approval. Neither do files that the caller names.
//!
//! ```
//! use checkrein::dialects::agents::native;
//! use checkrein::hook_files::{Locations, Sources};
//! use checkrein::hook::HookState;
//! use checkrein::Trust;
//! # let dir = tempfile::tempdir()?;
//! # let project = dir.path().join("project");
//! # std::fs::create_dir_all(project.join(".checkrein"))?;
//! std::fs::write(project.join(".checkrein/hooks.yaml"), "hooks: [{id: guard, event: PreToolUse, command: ./guard.sh}]")?;
//! let sources = Sources::discover_in(&native::DIALECT, &project, Locations::new(dir.path()))
//!     .trust(Trust::in_dir(dir.path().join("state")));
//! assert_eq!(sources.load().hooks[0].state, HookState::Untrusted);
//!
//! let review = sources.review();
//! review.approve(&review.awaiting())?;
//! assert_eq!(sources.load().hooks[0].state, HookState::Ready);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod approvals;
mod evaluate;
mod fingerprint;
mod identity;
pub(crate) mod interpreters;
mod lockfile;
mod permissions;
mod policy;
mod project_roots;
mod review;
#[doc(hidden)]
pub use permissions::is_private;
#[doc(hidden)]
pub mod script_copy;
mod script_refs;
#[cfg(feature = "lockfile")]
mod signature;

use std::io;
use std::path::PathBuf;

pub use checkrein_core::property::Property;
use checkrein_core::{Failure, FailureKind, FailurePolicy, HookInfo};
pub(crate) use evaluate::{Evaluation, FileUnderReview, Origin, evaluate};
pub use lockfile::{LOCKFILE, SIGNATURE};
pub(crate) use permissions::is_writable_by_others;
pub(crate) use project_roots::ProjectRoots;
pub(crate) use review::revoke;
pub use review::{Content, Review, Reviewed, ReviewedScript, Status};
pub(crate) use script_refs::{is_system, relative_scripts};

/// Returns the command that approves a hook, for messages.
fn approve_command(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,".contains(c);
    if !id.is_empty() && id.chars().all(is_plain) {
        format!("checkrein trust approve {id}")
    } else {
        format!("checkrein trust approve '{}'", id.replace('\'', r"'\''"))
    }
}

/// Failure of a hook that was never approved. Open: the user never relied on its gate, so a cloned repository cannot lock
/// the user out.
pub(crate) fn unapproved_failure(hook: &HookInfo) -> Failure {
    let command = approve_command(&hook.id);
    let message = format!("you have not approved it; `checkrein trust` shows it, `{command}` approves it");
    Failure::new(FailureKind::Untrusted, message).with_effect(FailurePolicy::Open)
}

/// Failure of a hook that is not what was approved. `what` describes the change.
pub(crate) fn changed_failure(hook: &HookInfo, what: &str) -> Failure {
    let command = approve_command(&hook.id);
    Failure::new(FailureKind::Untrusted, format!("{what}; review and approve it: `{command}`"))
        .with_reason(format!("blocked: {hook}: {what}. Ask the user to review the hook and to run `{command}`."))
}

/// Source of approvals for the hooks of projects. Default: the user's state directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust(Kind);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Kind {
    /// The user's state directory.
    #[default]
    User,
    InDir(PathBuf),
    Everything,
}

impl Trust {
    /// Approvals in this directory. It must belong to the user and not be writable by others.
    pub fn in_dir(dir: impl Into<PathBuf>) -> Self {
        Self(Kind::InDir(dir.into()))
    }

    /// Trusts all hooks without approval. For hosts with their own approval, and for callers that accept the risk.
    pub fn everything() -> Self {
        Self(Kind::Everything)
    }

    fn is_everything(&self) -> bool {
        self.0 == Kind::Everything
    }

    /// Returns the store of approvals, or `None` if there is no directory for it.
    fn store(&self) -> Option<approvals::Store> {
        match &self.0 {
            Kind::User => crate::state_dir::directory().map(approvals::Store::new),
            Kind::InDir(dir) => Some(approvals::Store::new(dir.clone())),
            Kind::Everything => None,
        }
    }
}

/// Error of an approval.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// There is no directory for approvals.
    #[error("no directory for approvals; set HOME or XDG_STATE_HOME")]
    NoDirectory,
    /// Other users or the project can write the directory for approvals.
    #[error("cannot approve hooks: {0}")]
    NotPrivate(String),
    /// A script cannot be read, so its contents cannot be approved.
    #[error("cannot approve hook `{id}`: cannot read {}: {why}", .path.display())]
    Script {
        /// The hook.
        id: String,
        /// The script.
        path: PathBuf,
        /// Reason of the read error.
        why: String,
    },
    /// A hook for the lockfile is not approved.
    #[error(
        "hook `{0}` is not approved, so the lockfile cannot include it; approve it first: `checkrein trust approve {0}`"
    )]
    NotApproved(String),
    /// A file cannot be read or written.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}
