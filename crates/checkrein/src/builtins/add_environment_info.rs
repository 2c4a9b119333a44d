//! Adds the environment to the model's context: working directory, git repository, system, architecture and shell.
//!
//! - **Arguments**: none.
//! - **Events**: all that accept context; `session_start` is sufficient.
//!
//! Example: `add_environment_info` adds
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
    Builtin::new(|call| Box::pin(run(call))).checked(args::none).works_at(super::accepts_context).described(
        BuiltinDoc::new(
            "Adds the working directory, whether it is in a git repository, the system, architecture and shell to the \
             model's context.",
        )
        .args("none")
        .events(AT_CONTEXT),
    )
}

async fn run(call: BuiltinCall<'_>) -> Result<Opinion, Failure> {
    let cwd = call.cwd();
    let directory = cwd.clone();
    let in_git = off_thread(move || is_in_git(&directory)).await?;
    let shell = call.env.var("SHELL").or_else(|| call.env.var("ComSpec")).unwrap_or_else(|| "unknown".into());
    Ok(Opinion::context(format!(
        "Working directory: {}\nGit repository: {}\nSystem: {}\nArchitecture: {}\nShell: {shell}",
        cwd.display(),
        if in_git { "yes" } else { "no" },
        std::env::consts::OS,
        std::env::consts::ARCH,
    )))
}

/// `true` if the directory or one above it has a `.git`: a directory, or a file in work trees and submodules.
fn is_in_git(cwd: &Path) -> bool {
    cwd.ancestors().any(|directory| directory.join(".git").exists())
}
