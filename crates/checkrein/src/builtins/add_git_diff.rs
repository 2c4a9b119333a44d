//! Adds the git diff since the last commit, staged or not, to the model's context. Adds nothing without changes and
//! outside of a git repository.
//!
//! At most 4 KiB are added, cut at the end of a line with a note. Diff programs in the repository's settings do not run.
//!
//! - **Arguments**: none, or `--full` for up to 256 KiB.
//! - **Events**: all that accept context.
//!
//! Example: `add_git_diff --full`

use checkrein_core::{Failure, Opinion};

use super::args::unknown_option;
use super::{AT_CONTEXT, git, text};
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

const BYTES: usize = 4 * 1024;
const FULL_BYTES: usize = 256 * 1024;
const FULL: &str = "--full";

pub(super) fn builtin() -> Builtin {
    Builtin::new(|call| Box::pin(run(call))).checked(check).works_at(super::accepts_context).described(
        BuiltinDoc::new("Adds the git diff since the last commit to the model's context, at most 4 KiB.")
            .args("`--full` for up to 256 KiB")
            .events(AT_CONTEXT),
    )
}

fn check(args: &[String]) -> Result<(), String> {
    match args.iter().find(|arg| *arg != FULL) {
        Some(arg) => Err(unknown_option(arg, &[FULL])),
        None => Ok(()),
    }
}

async fn run(call: BuiltinCall<'_>) -> Result<Opinion, Failure> {
    const DIFF: &[&str] = &["diff", "--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty"];
    // Without a commit, only the index can be compared.
    let head = git::run(&call, &["rev-parse", "--verify", "--quiet", "HEAD"]).await?;
    let compared: &[&str] = match head.as_deref().map(str::trim) {
        None => return Ok(Opinion::none()),
        Some("") => &["--cached"],
        Some(_) => &["HEAD"],
    };
    let Some(diff) = git::run(&call, &[DIFF, compared].concat()).await?.filter(|diff| !diff.trim().is_empty()) else {
        return Ok(Opinion::none());
    };
    let bytes = if call.args.is_empty() { BYTES } else { FULL_BYTES };
    Ok(Opinion::context(format!("Git diff:\n{}", text::capped(diff.trim_end(), bytes))))
}
