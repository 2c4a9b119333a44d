//! Where the program keeps what it must remember for its user.

use std::path::PathBuf;

/// `$XDG_STATE_HOME/checkrein`, or else `~/.local/state/checkrein`. `None`: the user has no home.
pub fn directory() -> Option<PathBuf> {
    // One that is not absolute is to be ignored, says the specification.
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from).filter(|state| state.is_absolute());
    let home = || std::env::home_dir().filter(|home| home.is_absolute());
    Some(state.or_else(|| Some(home()?.join(".local/state")))?.join("checkrein"))
}
