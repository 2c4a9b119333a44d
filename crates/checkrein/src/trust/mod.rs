//! Nothing from a repository runs unapproved.
//!
//! Files that come with a repository can run commands on the machine of whoever opens it. So a hook of a project runs only
//! after its user has approved it: the entry as it is, and the contents of the scripts that it names. Approvals are kept in
//! the user's state directory, where no project can write them.
//!
//! - A hook that was never approved does not run and stands in nobody's way: its failure is open, with a warning.
//! - One that has changed since it was approved does not run either, and what it guards is closed.
//! - What runs is what was approved: scripts are run from copies whose bytes were hashed, so that nobody can change them
//!   between the look and the run.
//!
//! Files of the user and the administrator need no approval, nor do those that the caller names.
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
mod interpreters;
mod lockfile;
mod permissions;
mod policy;
mod project_roots;
mod review;
#[doc(hidden)]
pub mod script_copy;
mod script_refs;
#[cfg(feature = "lockfile")]
mod signature;

use std::io;
use std::path::PathBuf;

pub use checkrein_core::property::Property;
pub(crate) use evaluate::{Evaluation, FileUnderReview, Origin, judge};
pub use lockfile::{LOCKFILE, SIGNATURE};
pub(crate) use project_roots::ProjectRoots;
pub(crate) use review::revoke;
pub use review::{Content, Review, Reviewed, ReviewedScript, Status};
pub(crate) use script_refs::is_system;

/// Returns the end of a message about a hook that does not run: the command that approves it.
pub(crate) fn approve_hint(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,".contains(c);
    if !id.is_empty() && id.chars().all(is_plain) {
        format!("review and approve it: `checkrein trust approve {id}`")
    } else {
        format!("review and approve it: `checkrein trust approve '{}'`", id.replace('\'', r"'\''"))
    }
}

/// Whose word counts for the hooks of projects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trust(Kind);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Kind {
    #[default]
    Usual,
    InDir(PathBuf),
    Everything,
}

impl Trust {
    /// What the user has approved, in the user's directory for state. This is what all [`Sources`](crate::Sources) have if
    /// nothing else is said.
    pub fn usual() -> Self {
        Self(Kind::Usual)
    }

    /// What was approved in this directory, which must belong to the user, and not be writable by others.
    pub fn in_dir(dir: impl Into<PathBuf>) -> Self {
        Self(Kind::InDir(dir.into()))
    }

    /// Everything: for hosts that have asked their user themselves, and for those who accept the risk.
    pub fn everything() -> Self {
        Self(Kind::Everything)
    }

    fn is_everything(&self) -> bool {
        self.0 == Kind::Everything
    }

    /// The directory. `None`: nobody has one.
    fn store(&self) -> Option<approvals::Store> {
        match &self.0 {
            Kind::Usual => crate::state_dir::directory().map(approvals::Store::new),
            Kind::InDir(dir) => Some(approvals::Store::new(dir.clone())),
            Kind::Everything => None,
        }
    }
}

/// Why something could not be approved.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// There is no directory to keep approvals in.
    #[error("there is no directory to keep approvals in: neither XDG_STATE_HOME nor a home directory is known")]
    NoDirectory,
    /// Approvals would lie where others can write them.
    #[error("nothing can be approved: {0}")]
    NotPrivate(String),
    /// A script cannot be read, so nobody knows what would be approved.
    #[error("hook `{id}` cannot be approved: {} cannot be read: {why}", .path.display())]
    Script {
        /// The hook.
        id: String,
        /// The script.
        path: PathBuf,
        /// What is wrong.
        why: String,
    },
    /// What is to be locked was not approved.
    #[error("hook `{0}` is not approved, so it cannot be put into a lockfile")]
    NotApproved(String),
    /// A file cannot be read or written.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
