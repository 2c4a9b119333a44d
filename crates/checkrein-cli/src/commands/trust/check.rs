//! `checkrein trust check`.

use std::io::Write;

use anyhow::{Result, bail};
use serde_json::json;

use super::{review, show};
use crate::commands::config::ConfigArguments;
use crate::commands::pluralize;
use crate::exit::{self, Exit};

/// Tells whether all hooks of the project may run, for CI.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes:\n  0  all may run    1  some may not\n\nExample:\n  checkrein trust check\n  checkrein trust check --lock --json"
)]
pub struct Arguments {
    /// Compares them with checkrein.lock instead of what you have approved, whoever has signed it
    #[arg(long)]
    lock: bool,
    #[command(flatten)]
    config: ConfigArguments,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let review = review(&arguments.config)?;
    let awaiting = match (arguments.lock, review.hooks.is_empty()) {
        (false, _) | (true, true) => review.awaiting(),
        (true, false) => match review.not_locked() {
            Some(not_locked) => not_locked,
            None => bail!("there is no checkrein.lock at the root of the project: `checkrein trust lock` writes one"),
        },
    };
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let hooks: Vec<_> = awaiting.iter().map(|hook| show::as_json(hook)).collect();
        writeln!(out, "{:#}", json!({ "awaiting": awaiting.len(), "hooks": hooks }))?;
    } else {
        for hook in &awaiting {
            show::briefly(&mut out, hook)?;
        }
        let all = pluralize(review.hooks.len(), "hook");
        let what = if arguments.lock { "not in checkrein.lock as it is now" } else { "not approved" };
        writeln!(out, "{} of {all}: {what}", awaiting.len())?;
    }
    Ok(if awaiting.is_empty() { exit::SUCCESS } else { exit::FAILURE })
}
