//! `checkrein install` and `checkrein uninstall`: the entry in an agent's settings that calls checkrein.

mod apply;
pub mod uninstall;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use checkrein::Scope;
use checkrein::dialects::Dialect;
use checkrein::hook_files::Locations;
use checkrein_tools::install::{Installer, Program};

use self::apply::{Action, Applier};
use super::config::directory;
use super::dialect::DialectName;
use crate::exit::Exit;

/// Puts checkrein in front of agents: writes into their settings that they call `checkrein hook`.
///
/// Shows what changes, and asks on a terminal. All else in the settings stays as it is, to the last byte, and a copy from
/// before is kept beside them. Done twice, it changes nothing the second time.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without an agent, all that are on this machine are meant.\n\nThe entry calls checkrein by its path; in a project's settings, which others share, by its name. It is called at all\nevents of an agent but those that come for each piece of text or have whole conversations with them.\n\nExit codes:\n  0  installed, or there already    1  something was not written, and why    64  a wrong call\n\nExample:\n  checkrein install --dry-run\n  checkrein install claude codex\n  checkrein install gemini --project --yes"
)]
pub struct Arguments {
    #[command(flatten)]
    which: Targets,
    /// Lets tools run if checkrein itself fails, and does not set the agent's own switch against that
    #[arg(long)]
    fail_open: bool,
    /// Also at events that come for each piece of text, or have whole conversations with them
    #[arg(long)]
    all_events: bool,
    /// Calls this program instead of the one that is running
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
}

/// Whose settings, and how.
#[derive(Debug, clap::Args)]
struct Targets {
    /// The agents
    agents: Vec<DialectName>,
    /// The user's own settings; that is what is meant if nothing is said
    #[arg(long, conflicts_with = "project")]
    user: bool,
    /// The settings of the project, which all who work on it share
    #[arg(long)]
    project: bool,
    /// Where the agent would be started; the project's settings are at the root of the repository there
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Shows what would change, and changes nothing
    #[arg(long)]
    dry_run: bool,
    /// Does not ask
    #[arg(long, short)]
    yes: bool,
    /// Prints what was done as JSON, and does not ask
    #[arg(long)]
    json: bool,
}

impl Targets {
    fn scope(&self) -> Scope {
        if self.project { Scope::Project } else { Scope::User }
    }

    /// Does it to these agents.
    fn act(&self, installer: &Installer, agents: &[&'static Dialect], act: Action) -> Result<Exit> {
        let asks = !self.yes && !self.json && apply::is_watched();
        Applier { installer, scope: self.scope(), act, dry_run: self.dry_run, asks, json: self.json }.run(agents)
    }
}

/// Who writes the settings of agents that are started in this directory, by this program.
pub fn installer(dir: &Path, program: Option<&Path>) -> Result<Installer> {
    let dir = directory(dir)?;
    let root = dir.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok()).unwrap_or(&dir);
    let named = match program {
        Some(path) => std::path::absolute(path).map(Program::new),
        None => Program::running(&Locations::default()),
    };
    let named = named.context("nobody knows where this program is")?;
    if let Some(why) = named.unfit() {
        bail!("{why}");
    }
    let installer = Installer::new(root, named.clone());
    Ok(if program.is_some() { installer.shared(named) } else { installer })
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let Arguments { which, fail_open, all_events, program } = arguments;
    let installer = installer(&which.dir, program.as_deref())?.fail_open(*fail_open).all_events(*all_events);
    let mut agents: Vec<_> = which.agents.iter().map(|agent| agent.0).collect();
    if agents.is_empty() {
        agents = Installer::agents().filter(|agent| installer.found(agent).is_here()).collect();
        if agents.is_empty() {
            let names: Vec<_> = Installer::agents().map(|agent| agent.name).collect();
            bail!("no agent was found on this machine; name one of {}", names.join(", "));
        }
    }
    which.act(&installer, &agents, Action::Install)
}
