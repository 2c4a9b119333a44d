//! `checkrein trust approve`: shows hooks in full, asks, and stores approvals.
//!
//! Never approves without an answer or --yes.

use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::{Result, bail};
use checkrein::trust::Reviewed;
use serde_json::json;

use super::{is_in, review, show};
use crate::commands::config::ConfigArguments;
use crate::commands::{pluralize, print_note};
use crate::exit::{self, Exit, UsageErrorExt};

/// Approve hooks of the project
///
/// Shows each hook in full and asks. Without a terminal, --yes approves.
#[derive(Debug, clap::Args)]
#[command(mut_arg("trust_all", |arg| arg.hide(true)))]
#[command(after_help = "Exit codes:
  0   approved, or nothing to approve
  1   a hook was not approved
  64  usage error

Example:
  checkrein trust approve guard
  checkrein trust approve --file .checkrein/hooks.yaml
  checkrein trust approve --all --yes")]
pub struct Arguments {
    /// Ids of hooks to approve
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Approve the waiting hooks of this file; can be repeated
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// Approve all waiting hooks
    #[arg(long, conflicts_with_all = ["ids", "file"])]
    all: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    config: ConfigArguments,
    /// Print the result as JSON; needs --yes
    #[arg(long, requires = "yes")]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    if arguments.ids.is_empty() && arguments.file.is_empty() && !arguments.all {
        return Err(anyhow::anyhow!("name the hooks to approve: IDs, --file FILE, or --all")).usage_error();
    }
    let review = review(&arguments.config)?;
    if let Some(id) = arguments.ids.iter().find(|id| !review.hooks.iter().any(|hook| hook.hook.id == **id)) {
        let known: Vec<_> = review.hooks.iter().map(|hook| hook.hook.id.as_str()).collect();
        let meant =
            checkrein::core::closest_match(id, known.iter().copied()).map(|meant| format!(", did you mean `{meant}`?"));
        let text = format!("no hook of this project has the id `{id}`{}", meant.unwrap_or_default());
        return Err(anyhow::anyhow!(text)).usage_error();
    }
    if let Some(file) = arguments.file.iter().find(|file| !review.hooks.iter().any(|hook| is_in(hook, file))) {
        return Err(anyhow::anyhow!("{} has no hooks that need approval", file.display())).usage_error();
    }
    let is_meant = |hook: &&Reviewed| {
        arguments.all || arguments.ids.contains(&hook.hook.id) || arguments.file.iter().any(|file| is_in(hook, file))
    };
    let meant: Vec<_> = review.awaiting().into_iter().filter(is_meant).collect();
    let asks = !arguments.yes;
    if asks && !meant.is_empty() && !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        bail!("nothing was approved: cannot ask without a terminal; pass --yes to approve without asking");
    }
    let mut chosen = Vec::new();
    let mut out = anstream::stdout().lock();
    let mut answer = if asks { Answer::No } else { Answer::All };
    for hook in &meant {
        if !arguments.json {
            show::in_full(&mut out, hook)?;
            out.flush()?;
        }
        if answer != Answer::All {
            answer = ask(hook)?;
        }
        if answer != Answer::No {
            chosen.push(*hook);
        }
    }
    review.approve(&chosen)?;
    if arguments.json {
        let ids: Vec<_> = chosen.iter().map(|hook| show::place_as_json(hook)).collect();
        writeln!(out, "{:#}", json!({ "done": "approved", "hooks": ids }))?;
    }
    if meant.is_empty() {
        print_note("no hooks need approval");
    } else {
        print_note(&format!("approved {}", pluralize(show::count(&chosen), "hook")));
    }
    Ok(if chosen.len() == meant.len() { exit::SUCCESS } else { exit::FAILURE })
}

/// Answer to the question about one hook.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    /// Approve this hook and all others, which are shown but not asked about.
    All,
}

fn ask(hook: &Reviewed) -> Result<Answer> {
    write!(anstream::stderr(), "checkrein: approve `{}`? [y/N/all] ", crate::commands::printable(&hook.hook.id))?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(match answer.trim().to_ascii_lowercase().as_str() {
        "y" | "yes" => Answer::Yes,
        "a" | "all" => Answer::All,
        _ => Answer::No,
    })
}
