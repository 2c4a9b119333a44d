//! Adds the last git commits to the model's context, one line each. Adds nothing without commits and outside of a git
//! repository.
//!
//! - **Arguments**: none for the last 10, or the number of commits.
//! - **Events**: all that accept context; `session_start` is sufficient.
//!
//! Example: `add_recent_commits 20`

use checkrein_core::{Failure, Opinion};

use super::args::count;
use super::{AT_CONTEXT, failure, git, text};
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

const COMMITS: usize = 10;
const BYTES: usize = 16 * 1024;

pub(super) fn builtin() -> Builtin {
    Builtin::new(|call| Box::pin(run(call)))
        .checked(|args| number(args).map(drop))
        .works_at(super::accepts_context)
        .described(
            BuiltinDoc::new("Adds the last 10 git commits to the model's context, one line each.")
                .args("the number of commits")
                .events(AT_CONTEXT),
        )
}

fn number(args: &[String]) -> Result<usize, String> {
    match args {
        [] => Ok(COMMITS),
        [number] => count(number, "number of commits"),
        _ => Err("takes at most one argument, the number of commits; remove the others".to_owned()),
    }
}

async fn run(call: BuiltinCall<'_>) -> Result<Opinion, Failure> {
    let limit = format!("--max-count={}", number(call.args).map_err(failure)?);
    // `git log` fails on a branch without commits, which has no HEAD.
    let head = git::run(&call, &["rev-parse", "--verify", "--quiet", "HEAD"]).await?;
    if head.is_none_or(|head| head.trim().is_empty()) {
        return Ok(Opinion::none());
    }
    let commits = git::run(&call, &["log", &limit, "--no-color", "--format=%h %ad %s", "--date=short"]).await?;
    match commits.as_deref().map(str::trim_end) {
        None | Some("") => Ok(Opinion::none()),
        Some(commits) => Ok(Opinion::context(format!("Recent commits:\n{}", text::capped(commits, BYTES)))),
    }
}
