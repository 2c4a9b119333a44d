//! `checkrein approvals`, `approve` and `deny`: questions of hooks that wait for the user.
//!
//! Everything that is shown comes from a model, so it must pass [`printable`] or be shown by the store already.

pub mod answer;
mod edit;
mod show;

use std::io::{IsTerminal as _, Write};
use std::time::Duration;

use anyhow::{Result, anyhow};
use checkrein::hook_files::Locations;
use checkrein_tools::approvals::{self, Approval, ApprovalState, ApprovalStore};

use super::{print_note, terminal};
use crate::exit::{self, Exit};

/// List calls that wait for your approval
///
/// Hooks can ask before a call, but some agents cannot pass the question on. Such a call waits here for `checkrein approve` or
/// `checkrein deny`. An answer is possible for 15 minutes. Calls that an agent holds for the answer are first.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   success
  1   the approvals cannot be read
  64  usage error

Example:
  checkrein approvals
  checkrein approvals --watch
  checkrein approvals --all --json")]
pub struct Arguments {
    /// List answered and expired calls of the last day too
    #[arg(long, short)]
    all: bool,
    /// Keep running, and show each change
    #[arg(long, short, conflicts_with = "json")]
    watch: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Interval at which `--watch` reads the approvals.
const INTERVAL: Duration = Duration::from_millis(250);

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let (store, locations) = store()?;
    let read = || -> Result<Vec<Approval>> {
        approvals::expire(&store, &locations)?;
        let mut all = store.list()?;
        all.retain(|approval| arguments.all || approval.state == ApprovalState::Pending);
        // An agent waits for the answer to one of these.
        all.sort_by_key(|approval| approval.waits().is_none());
        Ok(all)
    };
    let mut listed = read()?;
    let mut out = anstream::stdout().lock();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string_pretty(&listed)?)?;
        return Ok(exit::SUCCESS);
    }
    let is_terminal = std::io::stdout().is_terminal();
    let mut last = None;
    loop {
        // On a terminal, the time that is left is current.
        let shown_time = |approval: &Approval| {
            let waits = approval.waits().is_some();
            (
                waits,
                if is_terminal {
                    show::time_left(approval.waits().unwrap_or_else(|| approval.left()))
                } else {
                    String::new()
                },
            )
        };
        let state: Vec<_> =
            listed.iter().map(|approval| (approval.id.clone(), approval.state, shown_time(approval))).collect();
        if last.as_ref() != Some(&state) {
            if arguments.watch && is_terminal {
                // Clears the screen.
                write!(out, "\x1b[2J\x1b[H")?;
            }
            if listed.is_empty() {
                print_note(if arguments.all {
                    "no approvals in the last day"
                } else {
                    "no call waits for an approval"
                });
            }
            for approval in &listed {
                show::row(&mut out, approval)?;
            }
            out.flush()?;
            last = Some(state);
        }
        if !arguments.watch {
            return Ok(exit::SUCCESS);
        }
        std::thread::sleep(INTERVAL);
        listed = read()?;
    }
}

/// Returns the user's approvals, and the locations of the audit log.
fn store() -> Result<(ApprovalStore, Locations)> {
    let state = checkrein::internal::state::directory()
        .ok_or_else(|| anyhow!("you have no home directory, so no call can wait for an approval"))?;
    Ok((ApprovalStore::in_state_directory(&state), Locations::default()))
}

/// Number of columns of the terminal.
fn width() -> usize {
    terminal::width().unwrap_or(100)
}
