//! `checkrein uninstall`.

use anyhow::Result;
use checkrein_tools::install::Installer;

use super::apply::Action;
use super::{Targets, installer};
use crate::exit::{self, Exit};

/// Takes out of agents' settings what `checkrein install` has put in, and nothing else.
///
/// Shows what changes, and asks on a terminal. A file that was made for it is removed. Some agents block tools if a program
/// that they are told to call is gone: uninstall before you remove checkrein.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without an agent, all are meant that have checkrein in their settings.\n\nExit codes:\n  0  taken out, or not there    1  something was not taken out, and why    64  a wrong call\n\nExample:\n  checkrein uninstall --dry-run\n  checkrein uninstall claude\n  checkrein uninstall --project --yes"
)]
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
        // What cannot be read may have it, and is told.
        let has = |plan: Result<checkrein_tools::install::Plan, _>| plan.map_or(true, |plan| plan.is_needed());
        agents = Installer::agents().filter(|agent| has(installer.plan_removal(agent, scope))).collect();
        if agents.is_empty() && !which.json {
            crate::commands::print_note(&format!("no agent has checkrein in the {scope}'s settings"));
            return Ok(exit::SUCCESS);
        }
    }
    which.act(&installer, &agents, Action::Uninstall)
}
