//! `checkrein trust`: which hooks of a project may run.

mod approve;
mod check;
mod list;
mod lock;
mod revoke;
mod show;

use std::path::Path;

use anyhow::Result;
use checkrein::trust::{Review, Reviewed};

use super::config::ConfigArguments;
use crate::exit::{Exit, UsageErrorExt};

/// Shows which hooks of a project await your approval, and approves them.
///
/// Hooks that come with a repository run only after you have approved them: the entry as it is, and the contents of the
/// scripts that it names. What changes asks again.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Example:\n  checkrein trust\n  checkrein trust approve guard\n  checkrein trust check --json"
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

/// The hooks that need approval. Files that are named need it here as well: they are what is looked at.
fn review(config: &ConfigArguments) -> Result<Review> {
    if config.trust_all {
        return Err(anyhow::anyhow!("with --trust-all nothing awaits approval, so there is nothing to tell"))
            .usage_error();
    }
    let review = config.sources()?.as_of_project().review();
    for diagnostic in &review.diagnostics {
        super::print_note(&diagnostic.to_string());
    }
    Ok(review)
}

/// Whether a hook stands in this file.
fn is_in(hook: &Reviewed, file: &Path) -> bool {
    let same =
        |own: &Path| own == file || own.canonicalize().ok().zip(file.canonicalize().ok()).is_some_and(|(a, b)| a == b);
    hook.hook.source.file.as_deref().is_some_and(|own| same(Path::new(own))) || Path::new(&hook.file) == file
}
