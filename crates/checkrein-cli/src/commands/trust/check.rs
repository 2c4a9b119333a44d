//! `checkrein trust check`: fails if a hook of the project is not approved, for CI.

use std::io::Write;

use anyhow::{Result, bail};
use serde_json::json;

use super::{NOT_READ, has_errors, review, show};
use crate::commands::config::ConfigArguments;
use crate::commands::{layout, pluralize};
use crate::exit::{self, Exit};

/// Check that all hooks of the project are approved, for CI
#[derive(Debug, clap::Args)]
#[command(mut_arg("trust_all", |arg| arg.hide(true)))]
#[command(after_help = "Exit codes:
  0   all hooks are approved
  1   a hook is not approved, or a hook file has errors
  64  usage error

Example:
  checkrein trust check
  checkrein trust check --lock --json")]
pub struct Arguments {
    /// Compare with checkrein.lock instead of your approvals, regardless of its signature
    #[arg(long)]
    lock: bool,
    #[command(flatten)]
    config: ConfigArguments,
    /// Print JSON
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
            None => bail!("the project has no checkrein.lock; create it with `checkrein trust lock`"),
        },
    };
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let hooks: Vec<_> = awaiting.iter().map(|hook| show::as_json(hook)).collect();
        writeln!(out, "{:#}", json!({ "awaiting": awaiting.len(), "hooks": hooks }))?;
    } else {
        show::each_briefly(&mut out, &awaiting)?;
        if !(review.hooks.is_empty() && has_errors(&review)) {
            let summary = summary(show::count(&review.hooks), show::count(&awaiting), arguments.lock);
            layout::paragraph(&mut out, 0, &summary)?;
        }
        if has_errors(&review) {
            writeln!(out, "{NOT_READ}")?;
        }
    }
    Ok(if awaiting.is_empty() && !has_errors(&review) { exit::SUCCESS } else { exit::FAILURE })
}

fn summary(all: usize, awaiting: usize, lock: bool) -> String {
    match (all, awaiting, lock) {
        (0, ..) => "no hooks here need approval".to_owned(),
        (1, 0, false) => "the hook is approved".to_owned(),
        (_, 0, false) => format!("all {all} hooks are approved"),
        (_, 0, true) => format!("checkrein.lock is up to date ({})", pluralize(all, "hook")),
        (_, _, false) => {
            let approved = all.saturating_sub(awaiting);
            format!("{approved} approved, {awaiting} waiting - approve with: checkrein trust approve --all")
        }
        (_, _, true) => format!(
            "checkrein.lock is out of date for {awaiting} of {} - update it with: checkrein trust lock",
            pluralize(all, "hook")
        ),
    }
}
