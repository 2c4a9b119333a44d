//! Adds the git branch and the changed files to the model's context. Adds nothing outside of a git repository.
//!
//! - **Arguments**: none.
//! - **Events**: all that accept context. At `turn_start` the model sees changes since the last turn.
//!
//! Example: `add_git_status` adds `Git status:` and at most 8 KiB of the output of `git status --short --branch`.

use checkrein_core::{Failure, Opinion};

use super::{AT_CONTEXT, args, git, text};
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

const BYTES: usize = 8 * 1024;

pub(super) fn builtin() -> Builtin {
    Builtin::new(|call| Box::pin(run(call))).checked(args::none).works_at(super::accepts_context).described(
        BuiltinDoc::new("Adds the git branch and the changed files to the model's context.")
            .args("none")
            .events(AT_CONTEXT),
    )
}

async fn run(call: BuiltinCall<'_>) -> Result<Opinion, Failure> {
    let Some(status) = git::run(&call, &["status", "--short", "--branch", "--ignore-submodules=dirty"]).await? else {
        return Ok(Opinion::none());
    };
    Ok(Opinion::context(format!("Git status:\n{}", text::capped(status.trim_end(), BYTES))))
}
