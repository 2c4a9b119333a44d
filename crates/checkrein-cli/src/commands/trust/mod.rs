//! `checkrein trust`: shows, approves and revokes the hooks of a project.
//!
//! A hook of a project runs only after its user has approved it. Each subcommand has a file.

mod approve;
mod check;
mod list;
mod lock;
mod revoke;
mod show;

use std::path::Path;

use anyhow::Result;
use checkrein::dialects::config::Severity;
use checkrein::trust::{Review, Reviewed};

use super::config::ConfigArguments;
use crate::exit::{Exit, UsageErrorExt};

/// Review and approve the hooks of a project
///
/// Hooks of a repository run only after you have approved them. An approval covers the entry and the contents of the scripts
/// that it names; every change needs a new approval. Without a subcommand, the same as `trust list`.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Exit codes:
  0   success
  1   an operation failed; see `checkrein trust COMMAND --help`
  64  usage error

Example:
  checkrein trust
  checkrein trust approve guard
  checkrein trust check --json"
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    list: list::Arguments,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Arguments),
    Approve(approve::Arguments),
    Revoke(revoke::Arguments),
    Check(check::Arguments),
    Lock(lock::Arguments),
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    match &arguments.command {
        None => list::run(&arguments.list),
        Some(Command::List(arguments)) => list::run(arguments),
        Some(Command::Approve(arguments)) => approve::run(arguments),
        Some(Command::Revoke(arguments)) => revoke::run(arguments),
        Some(Command::Check(arguments)) => check::run(arguments),
        Some(Command::Lock(arguments)) => lock::run(arguments),
    }
}

/// Returns the hooks that need approval. Hooks of files that --config names need it here as well.
fn review(config: &ConfigArguments) -> Result<Review> {
    reject_trust_all(config)?;
    let review = config.sources()?.as_of_project().review();
    for diagnostic in &review.diagnostics {
        super::print_failure(&diagnostic.to_string());
    }
    Ok(review)
}

/// `true` if a hook file has errors, so that some of its hooks are unknown.
fn has_errors(review: &Review) -> bool {
    review.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}

/// Text for a project whose hook files could not be read completely.
const NOT_READ: &str = "not all hooks were read: fix the errors in the hook files first";

/// Rejects `--trust-all`: it ignores the approvals that these commands report and change.
fn reject_trust_all(config: &ConfigArguments) -> Result<()> {
    if config.trust_all {
        return Err(anyhow::anyhow!("`trust` does not take --trust-all: it reports which hooks need approval"))
            .usage_error();
    }
    Ok(())
}

/// `true` if the hook is in this file.
fn is_in(hook: &Reviewed, file: &Path) -> bool {
    let same =
        |own: &Path| own == file || own.canonicalize().ok().zip(file.canonicalize().ok()).is_some_and(|(a, b)| a == b);
    hook.hook.source.file.as_deref().is_some_and(|own| same(Path::new(own))) || Path::new(&hook.file) == file
}
