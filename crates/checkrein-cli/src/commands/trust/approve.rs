//! `checkrein trust approve`.

use std::io::{BufRead, IsTerminal, Write};
use std::path::PathBuf;

use anyhow::{Result, bail};
use checkrein::trust::Reviewed;
use serde_json::json;

use super::{is_in, review, show};
use crate::commands::config::ConfigArguments;
use crate::commands::{pluralize, print_note};
use crate::exit::{self, Exit, UsageErrorExt};

/// Lets hooks of the project run, as they are now.
///
/// Shows each in full and asks. Where nobody can be asked, --yes approves.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes:\n  0  approved, or there was nothing to approve    1  something was not approved    64  a wrong call\n\nExample:\n  checkrein trust approve guard\n  checkrein trust approve --file .checkrein/hooks.yaml\n  checkrein trust approve --all --yes"
)]
pub struct Arguments {
    /// The hooks that are meant
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// All hooks of this file that await approval; may be given several times
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// All hooks that await approval
    #[arg(long, conflicts_with_all = ["ids", "file"])]
    all: bool,
    /// Does not ask
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    config: ConfigArguments,
    /// Prints what was done as JSON, and does not ask: needs --yes
    #[arg(long, requires = "yes")]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    if arguments.ids.is_empty() && arguments.file.is_empty() && !arguments.all {
        return Err(anyhow::anyhow!("say which hooks: by ID, with --file, or --all of them")).usage_error();
    }
    let review = review(&arguments.config)?;
    if let Some(id) = arguments.ids.iter().find(|id| !review.hooks.iter().any(|hook| hook.hook.id == **id)) {
        let known: Vec<_> = review.hooks.iter().map(|hook| hook.hook.id.as_str()).collect();
        let meant =
            checkrein::core::closest_match(id, known.iter().copied()).map(|meant| format!(", did you mean `{meant}`?"));
        let text = format!("no hook here that needs approval is called `{id}`{}", meant.unwrap_or_default());
        return Err(anyhow::anyhow!(text)).usage_error();
    }
    if let Some(file) = arguments.file.iter().find(|file| !review.hooks.iter().any(|hook| is_in(hook, file))) {
        return Err(anyhow::anyhow!("no hook that needs approval is in {}", file.display())).usage_error();
    }
    let is_meant = |hook: &&Reviewed| {
        arguments.all || arguments.ids.contains(&hook.hook.id) || arguments.file.iter().any(|file| is_in(hook, file))
    };
    let meant: Vec<_> = review.awaiting().into_iter().filter(is_meant).collect();
    let asks = !arguments.yes;
    if asks && !meant.is_empty() && !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        bail!("nothing was approved: there is nobody to ask; --yes approves without asking");
    }
    let mut chosen = Vec::new();
    let mut out = anstream::stdout().lock();
    for hook in &meant {
        if !arguments.json {
            show::in_full(&mut out, hook)?;
            out.flush()?;
        }
        if !asks || asked(hook)? {
            chosen.push(*hook);
        }
    }
    review.approve(&chosen)?;
    if arguments.json {
        let ids: Vec<_> = chosen.iter().map(|hook| show::place_as_json(hook)).collect();
        writeln!(out, "{:#}", json!({ "done": "approved", "hooks": ids }))?;
    }
    print_note(&format!("{} approved", pluralize(chosen.len(), "hook")));
    Ok(if chosen.len() == meant.len() { exit::SUCCESS } else { exit::FAILURE })
}

fn asked(hook: &Reviewed) -> Result<bool> {
    write!(anstream::stderr(), "checkrein: let `{}` run? [y/N] ", crate::commands::printable(&hook.hook.id))?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_ascii_lowercase().as_str()))
}
