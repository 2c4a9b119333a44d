//! Tells the model the branch and which files have changed. Says nothing outside of a git repository.
//!
//! - **Arguments**: none.
//! - **Events**: those that take context. At `turn_start` the model sees what changed meanwhile.
//!
//! Example: `add_git_status` says `Git status:` and what `git status --short --branch` prints, at most 8 KiB of it.

use checkrein_core::{Failure, Opinion};

use super::{AT_CONTEXT, args, git, text};
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

const BYTES: usize = 8 * 1024;

pub(super) fn builtin() -> Builtin {
    Builtin::new(|call| Box::pin(run(call))).checked(args::none).described(
        BuiltinDoc::new("Tells the model the git branch and which files have changed.").args("none").events(AT_CONTEXT),
    )
}

async fn run(call: BuiltinCall<'_>) -> Result<Opinion, Failure> {
    let Some(status) = git::ask(&call, &["status", "--short", "--branch", "--ignore-submodules=dirty"]).await? else {
        return Ok(Opinion::none());
    };
    Ok(Opinion::context(format!("Git status:\n{}", text::capped(status.trim_end(), BYTES))))
}
