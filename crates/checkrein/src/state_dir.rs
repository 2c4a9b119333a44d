//! Path of the user's state directory, which contains approvals, session state, the audit log and recordings.
//!
//! This module only computes the path. Callers create the directory.

use std::path::PathBuf;

use crate::hook_files::Locations;

/// Returns `$XDG_STATE_HOME/checkrein`, or else `~/.local/state/checkrein`. `None` if the user has no home directory.
pub fn directory() -> Option<PathBuf> {
    Locations::default().state_dir()
}
