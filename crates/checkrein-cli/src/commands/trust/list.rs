//! `checkrein trust list`.

use std::io::Write;

use anyhow::Result;
use checkrein::trust::Reviewed;
use serde_json::json;

use super::{review, show};
use crate::commands::config::ConfigArguments;
use crate::commands::pluralize;
use crate::exit::{self, Exit};

/// Shows the project's hooks: which may run, and of all others what they would run.
#[derive(Debug, clap::Args)]
#[group(id = "listed")]
#[command(after_help = "Example:\n  checkrein trust list\n  checkrein trust list --as claude --json")]
pub struct Arguments {
    #[command(flatten)]
    config: ConfigArguments,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let review = review(&arguments.config)?;
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let hooks: Vec<_> = review.hooks.iter().map(show::as_json).collect();
        writeln!(out, "{:#}", json!({ "awaiting": review.awaiting().len(), "hooks": hooks }))?;
        return Ok(exit::SUCCESS);
    }
    if review.hooks.is_empty() {
        writeln!(out, "no hooks here need approval")?;
        return Ok(exit::SUCCESS);
    }
    let trusted: Vec<&Reviewed> = review.hooks.iter().filter(|hook| hook.status.is_trusted()).collect();
    let awaiting = review.awaiting();
    for hook in &trusted {
        show::briefly(&mut out, hook)?;
    }
    for hook in &awaiting {
        show::in_full(&mut out, hook)?;
    }
    let [may, may_not] = [pluralize(trusted.len(), "hook"), awaiting.len().to_string()];
    writeln!(out, "{may} may run, {may_not} may not")?;
    if !awaiting.is_empty() {
        writeln!(out, "to approve: checkrein trust approve ID, or --all")?;
    }
    Ok(exit::SUCCESS)
}
