//! `checkrein trust approve`: shows hooks in full, asks, and stores approvals.
//!
//! Never approves without an answer or --yes.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use anyhow::{Result, bail};
use checkrein::trust::Reviewed;
use serde_json::json;

use super::{NOT_READ, has_errors, is_in, review, show};
use crate::commands::ask::choice;
use crate::commands::config::ConfigArguments;
use crate::commands::pager::PagerArguments;
use crate::commands::{pluralize, print_failure, print_note, printable};
use crate::exit::{self, Exit, UsageErrorExt};

/// Approve hooks of the project
///
/// Shows each hook in full and asks: once for --all, otherwise about each hook. Without a terminal, --yes approves.
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
    #[command(flatten)]
    pager: PagerArguments,
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
    let chosen = match (asks, arguments.all && show::count(&meant) > 1) {
        (false, _) => {
            if !arguments.json {
                show_all(arguments, &meant)?;
            }
            meant.clone()
        }
        (true, true) => choose_together(arguments, &meant)?,
        (true, false) => choose_each(arguments, &meant)?,
    };
    review.approve(&chosen)?;
    if arguments.json {
        let ids: Vec<_> = chosen.iter().map(|hook| show::place_as_json(hook)).collect();
        writeln!(anstream::stdout(), "{:#}", json!({ "done": "approved", "hooks": ids }))?;
    }
    let has_errors = has_errors(&review);
    if !meant.is_empty() {
        print_note(&format!("approved {}", pluralize(show::count(&chosen), "hook")));
    } else if !has_errors {
        print_note("no hooks here need approval");
    }
    if has_errors {
        print_failure(NOT_READ);
    }
    Ok(if chosen.len() == meant.len() && !has_errors { exit::SUCCESS } else { exit::FAILURE })
}

/// Shows hooks in full.
fn show_all(arguments: &Arguments, hooks: &[&Reviewed]) -> Result<()> {
    let mut text = Vec::new();
    show::all_in_full(&mut text, hooks)?;
    Ok(arguments.pager.print(&text)?)
}

/// Shows all hooks, and asks once.
fn choose_together<'a>(arguments: &Arguments, hooks: &[&'a Reviewed]) -> Result<Vec<&'a Reviewed>> {
    show_all(arguments, hooks)?;
    // The text of the pager may no longer be on the screen.
    let mut err = anstream::stderr().lock();
    show::each_briefly(&mut err, hooks)?;
    drop(err);
    match ask(&format!("approve all {} hooks", show::count(hooks)), "y/N/each")? {
        Answer::Yes | Answer::All => Ok(hooks.to_vec()),
        Answer::Each => choose_each(arguments, hooks),
        Answer::No => Ok(Vec::new()),
    }
}

/// Shows each hook, and asks about it. The rules of a pack are one question.
fn choose_each<'a>(arguments: &Arguments, hooks: &[&'a Reviewed]) -> Result<Vec<&'a Reviewed>> {
    let mut chosen = Vec::new();
    let mut answer = Answer::No;
    for group in show::groups(hooks) {
        show_all(arguments, group)?;
        if answer != Answer::All {
            let question = match group {
                [hook] => format!("approve `{}`", printable(&hook.hook.id)),
                rules => {
                    let pack = rules.first().and_then(|rule| show::pack(rule)).unwrap_or_default();
                    format!("approve the {} rules of the pack `{}`", show::count(rules), printable(pack))
                }
            };
            answer = ask(&question, "y/N/all")?;
        }
        if matches!(answer, Answer::Yes | Answer::All) {
            chosen.extend(group);
        }
    }
    Ok(chosen)
}

/// Answer to a question about hooks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Yes,
    No,
    /// Approve this hook and all others, which are shown but not asked about.
    All,
    /// Ask about each hook.
    Each,
}

fn ask(question: &str, choices: &str) -> Result<Answer> {
    Ok(match choice(question, choices)?.as_str() {
        "y" | "yes" => Answer::Yes,
        "a" | "all" => Answer::All,
        "e" | "each" => Answer::Each,
        _ => Answer::No,
    })
}
