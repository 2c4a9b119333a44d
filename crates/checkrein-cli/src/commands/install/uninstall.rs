//! `checkrein uninstall`: removes the entries that `checkrein install` has written.

use anyhow::Result;
use checkrein_tools::install::Installer;

use super::apply::Action;
use super::{Targets, installer};
use crate::exit::{self, Exit};

/// Remove checkrein from the settings of your agents
///
/// Removes only what `checkrein install` has written. Without AGENTS, all agents with entries are used. Shows the changes
/// first, and asks on a terminal. Some agents block tools if a program in their settings is missing: uninstall before you
/// delete checkrein.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   removed, or not installed
  1   an entry was not removed
  64  usage error

Example:
  checkrein uninstall --dry-run
  checkrein uninstall claude
  checkrein uninstall --project --yes")]
pub struct Arguments {
    #[command(flatten)]
    which: Targets,
}

/// Runs the command.
pub fn run(Arguments { which }: &Arguments) -> Result<Exit> {
    let installer = installer(&which.dir, None)?;
    let mut agents: Vec<_> = which.agents.iter().map(|agent| agent.0).collect();
    let scope = which.scope();
    if agents.is_empty() {
        // A file that cannot be read may contain entries, so that its error is reported.
        let has = |plan: Result<checkrein_tools::install::Plan, _>| plan.map_or(true, |plan| plan.is_needed());
        agents = Installer::agents().filter(|agent| has(installer.plan_removal(agent, scope))).collect();
        if agents.is_empty() && !which.json {
            crate::commands::print_note(&format!("nothing to do: no agent calls checkrein in its {scope} settings"));
            return Ok(exit::SUCCESS);
        }
    }
    which.act(&installer, &agents, Action::Uninstall)
}
