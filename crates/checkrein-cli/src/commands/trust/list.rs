//! `checkrein trust list`: shows the hooks of the project, and those that wait for approval in full.

use std::io::Write;

use anyhow::Result;
use checkrein::trust::Reviewed;
use serde_json::json;

use super::{NOT_READ, has_errors, review, show};
use crate::commands::config::ConfigArguments;
use crate::commands::layout;
use crate::commands::pager::PagerArguments;
use crate::exit::{self, Exit};

/// Show the hooks of the project, and commands to approve
#[derive(Debug, clap::Args)]
#[group(id = "listed")]
#[command(mut_arg("trust_all", |arg| arg.hide(true)))]
#[command(after_help = "Exit codes:
  0   success
  1   a hook file has errors
  64  usage error

Example:
  checkrein trust list
  checkrein trust list --as claude --json")]
pub struct Arguments {
    #[command(flatten)]
    config: ConfigArguments,
    #[command(flatten)]
    pager: PagerArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let review = review(&arguments.config)?;
    let exit = if has_errors(&review) { exit::FAILURE } else { exit::SUCCESS };
    let mut out = Vec::new();
    if arguments.json {
        let hooks: Vec<_> = review.hooks.iter().map(show::as_json).collect();
        writeln!(anstream::stdout(), "{:#}", json!({ "awaiting": review.awaiting().len(), "hooks": hooks }))?;
        return Ok(exit);
    }
    if review.hooks.is_empty() {
        let text = if has_errors(&review) { NOT_READ } else { "no hooks here need approval" };
        writeln!(anstream::stdout(), "{text}")?;
        return Ok(exit);
    }
    let trusted: Vec<&Reviewed> = review.hooks.iter().filter(|hook| hook.status.is_trusted()).collect();
    let awaiting = review.awaiting();
    show::each_briefly(&mut out, &trusted)?;
    show::all_in_full(&mut out, &awaiting)?;
    let [approved, waiting] = [show::count(&trusted), show::count(&awaiting)];
    let summary = match waiting {
        0 => format!("{approved} approved"),
        _ => format!("{approved} approved, {waiting} waiting - approve with: checkrein trust approve --all"),
    };
    layout::paragraph(&mut out, 0, &summary)?;
    if has_errors(&review) {
        writeln!(out, "{NOT_READ}")?;
    }
    arguments.pager.print(&out)?;
    Ok(exit)
}
