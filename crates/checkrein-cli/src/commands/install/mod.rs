//! `checkrein install` and `checkrein uninstall`: add and remove the entries in agents' settings that call checkrein.
//!
//! `apply` shows the changes, asks and writes. Other entries of the settings must not change.

mod apply;
pub mod uninstall;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use checkrein::dialects::Dialect;
use checkrein::dialects::agents::native;
use checkrein::hook_files::{Locations, UserDirError, UserDirs};
use checkrein::{Scope, Sources};
use checkrein_tools::install::{Installer, Program};

use self::apply::{Action, Applier};
use super::config::directory;
use super::dialect::DialectName;
use crate::exit::{self, Exit};

/// Add checkrein to the settings of your agents
///
/// The settings then call `checkrein hook` for every event, except events for each piece of text and events that contain whole
/// conversations. The user's settings call checkrein by its path, a project's settings by its name. Without AGENTS, all
/// agents on this machine are used.
///
/// Shows a summary of the changes first, and asks on a terminal. Other settings stay unchanged, to the byte, and a backup is kept
/// next to the file. A second run changes nothing.
///
/// With --needed, entries are written only for the events that hooks in force use, for the start of a session and for the gate
/// before tools. Each entry costs time at its event, even without hooks. A hook that is added later for another event has no
/// entry: `check`, `list`, `doctor` and the start of a session report it.
///
/// With --project, other users of the project may not have checkrein. Entries then do not block tools if it is missing, unless
/// --fail-closed is given or the agent always does that.
///
/// If HOME, XDG_CONFIG_HOME or XDG_STATE_HOME name other directories than the account database implies, entries of the user
/// name them with --home, --config-home and --state-home: under an agent, checkrein does not trust these variables.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   installed, or already installed
  1   settings of an agent were not written
  64  usage error

Example:
  checkrein install --dry-run --diff
  checkrein install claude codex
  checkrein install qwen --needed
  checkrein install gemini --project --yes")]
pub struct Arguments {
    #[command(flatten)]
    which: Targets,
    /// Allow tools if checkrein itself fails or is missing
    #[arg(long)]
    fail_open: bool,
    /// With --project: block tools if checkrein is killed or missing
    #[arg(long, conflicts_with = "fail_open")]
    fail_closed: bool,
    /// Include events for each piece of text or with whole conversations
    #[arg(long)]
    all_events: bool,
    /// Write entries only for events that your hooks use now
    #[arg(long, conflicts_with = "all_events")]
    needed: bool,
    /// Program to call instead of this one
    #[arg(long, value_name = "PATH")]
    program: Option<PathBuf>,
}

/// Agents, scope and mode of a change.
#[derive(Debug, clap::Args)]
struct Targets {
    /// Agents to change
    agents: Vec<DialectName>,
    /// Change your own settings; this is the default
    #[arg(long, conflicts_with = "project")]
    user: bool,
    /// Change the settings of the project, which its users share
    #[arg(long)]
    project: bool,
    /// Start directory; project settings are at the root of its repository
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Show the summary, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Show the changed lines too
    #[arg(long)]
    diff: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    /// Print the result as JSON, and do not ask
    #[arg(long)]
    json: bool,
}

impl Targets {
    fn scope(&self) -> Scope {
        if self.project { Scope::Project } else { Scope::User }
    }

    /// Applies the action to these agents.
    fn act(&self, installer: &Installer, agents: &[&'static Dialect], act: Action) -> Result<Exit> {
        let asks = !self.yes && !self.json && apply::is_watched();
        let (scope, dry_run, diff) = (self.scope(), self.dry_run, self.diff);
        Applier { installer, scope, act, dry_run, diff, asks, json: self.json }.run(agents)
    }
}

/// Returns the installer for agents that are started in this directory. Entries call `program`, or else this program.
pub fn installer(dir: &Path, program: Option<&Path>) -> Result<Installer> {
    let dir = directory(dir)?;
    let root = dir.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok()).unwrap_or(&dir);
    let named = match program {
        Some(path) => std::path::absolute(path).map(Program::new),
        None => Program::running(&Locations::default()),
    };
    let named = named.context("cannot determine the path of this program; pass it with --program")?;
    if let Some(why) = named.unfit() {
        bail!("{why}");
    }
    // `checkrein hook` does not believe variables, so entries name directories that differ from the usual ones.
    let dirs = UserDirs::differing(&Locations::default());
    let installer = Installer::new(root, named.clone().with_dirs(dirs)).hooks_from(&dir);
    Ok(if program.is_some() { installer.shared(named) } else { installer })
}

/// Checks the user's directories as `checkrein hook` does: it denies all calls if it cannot trust them.
pub fn check_user_dirs() -> Result<()> {
    let dirs = UserDirs::differing(&Locations::default());
    match dirs.locations() {
        Ok(_) => Ok(()),
        // Other commands create missing directories, and the installation creates the home directory.
        Err(UserDirError::Unreadable { path, .. }) if path.symlink_metadata().is_err() => {
            if dirs.home.as_ref() != Some(&path) {
                let shown = super::display_path(&path);
                super::print_note(&format!("{shown} does not exist: checkrein denies all calls until you create it"));
            }
            Ok(())
        }
        Err(error) => bail!(
            "nothing was installed, because `checkrein hook` would deny all calls: {error}; `checkrein install` takes the \
             directories from HOME, XDG_CONFIG_HOME and XDG_STATE_HOME"
        ),
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let Arguments { which, fail_open, fail_closed, all_events, needed, program } = arguments;
    let installer = installer(&which.dir, program.as_deref())?.fail_open(*fail_open).all_events(*all_events);
    let installer = installer.fail_closed(*fail_closed).only_needed(*needed);
    if which.scope() == Scope::User {
        check_user_dirs()?;
    }
    let mut agents: Vec<_> = which.agents.iter().map(|agent| agent.0).collect();
    if agents.is_empty() {
        agents = Installer::agents().filter(|agent| installer.found(agent).is_here()).collect();
        if agents.is_empty() {
            let names: Vec<_> = Installer::agents().map(|agent| agent.name).collect();
            bail!("no agents found on this machine; name one of {}", names.join(", "));
        }
    }
    let exit = which.act(&installer, &agents, Action::Install)?;
    if exit == exit::SUCCESS && Sources::discover(&native::DIALECT, directory(&which.dir)?).load().hooks.is_empty() {
        super::print_note("there are no hooks yet, so nothing is checked: create some with `checkrein init --user`");
    }
    Ok(exit)
}
