//! Tells the model where it works: the directory, whether that is part of a git repository, the system, the shell.
//!
//! - **Arguments**: none.
//! - **Events**: those that take context; `session_start` is enough.
//!
//! Example: `add_environment_info` says
//!
//! ```text
//! Working directory: /home/ann/project
//! Git repository: yes
//! System: linux
//! Architecture: x86_64
//! Shell: /bin/zsh
//! ```

use std::path::Path;

use checkrein_core::{Failure, Opinion};

use super::{AT_CONTEXT, args, off_thread};
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

pub(super) fn builtin() -> Builtin {
    Builtin::new(|call| Box::pin(run(call))).checked(args::none).described(
        BuiltinDoc::new(
            "Tells the model the working directory, whether it is in a git repository, system, architecture, shell.",
        )
        .args("none")
        .events(AT_CONTEXT),
    )
}

async fn run(call: BuiltinCall<'_>) -> Result<Opinion, Failure> {
    let cwd = call.cwd();
    let looked_at = cwd.clone();
    let in_git = off_thread(move || is_in_git(&looked_at)).await?;
    let shell = call.env.var("SHELL").or_else(|| call.env.var("ComSpec")).unwrap_or_else(|| "unknown".into());
    Ok(Opinion::context(format!(
        "Working directory: {}\nGit repository: {}\nSystem: {}\nArchitecture: {}\nShell: {shell}",
        cwd.display(),
        if in_git { "yes" } else { "no" },
        std::env::consts::OS,
        std::env::consts::ARCH,
    )))
}

/// `.git` is a directory, or in work trees and submodules a file.
fn is_in_git(cwd: &Path) -> bool {
    cwd.ancestors().any(|directory| directory.join(".git").exists())
}
