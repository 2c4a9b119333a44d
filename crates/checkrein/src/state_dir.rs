//! Path of the user's state directory, which contains approvals, session state, the audit log and recordings.
//!
//! This module only computes the path. Callers create the directory.

use std::path::PathBuf;

/// Returns `$XDG_STATE_HOME/checkrein`, or else `~/.local/state/checkrein`. `None` if the user has no home directory.
pub fn directory() -> Option<PathBuf> {
    // The XDG specification ignores a relative path.
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|state| state.is_absolute());
    let home = || std::env::home_dir().filter(|home| home.is_absolute());
    Some(state.or_else(|| Some(home()?.join(".local/state")))?.join("checkrein"))
}
