//! `checkrein serve`: the resident process, and the commands about it.
//!
//! `checkrein hook` calls [`after_answer`]. It must cost nothing if the process does not run, and must not fail.

#[cfg(unix)]
mod foreground;
#[cfg(unix)]
mod on_demand;
#[cfg(unix)]
mod show;
mod unit;

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use checkrein::hook_files::{Locations, UserDirs};
use checkrein_tools::agent_adapter::AgentResponse;
use checkrein_tools::doctor::Check;

use crate::exit::Exit;

/// Start the resident process: live page, approvals, warm hooks
///
/// One optional process per user. It shows what your agents do, takes approvals, and keeps interpreters of hooks warm. Every
/// command works without it, and it never judges an event. It serves until Ctrl-C, or until `checkrein serve stop`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Exit codes:
  0   the process has ended, also by a signal; with --detach: it is ready
  1   it cannot start, for example because it runs already; with --detach
      also: it runs without the page
  64  usage error

Example:
  checkrein serve
  checkrein serve --detach
  checkrein serve status
  checkrein serve stop")]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Start in the background, and return when the process is ready
    #[arg(long)]
    detach: bool,
    /// End after this time without events, page and open approvals
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    idle_exit: Option<u64>,
    /// Show no desktop notifications about open approvals
    #[arg(long)]
    no_desktop: bool,
    /// Export telemetry to this OTLP collector
    ///
    /// Without a URL, the variable OTEL_EXPORTER_OTLP_ENDPOINT names it. The program needs the feature `otel`.
    #[arg(long, value_name = "URL", num_args = 0..=1, default_missing_value = "")]
    otlp: Option<String>,
    /// Leave the terminal; checkrein starts itself this way
    #[arg(long, hide = true, conflicts_with = "detach")]
    detached: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Status(StatusArguments),
    Stop(StopArguments),
    Unit(unit::Arguments),
}

/// Show if the process runs, its version and its page
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   the process runs and answers
  1   it does not run, or does not answer
  64  usage error")]
struct StatusArguments {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Stop the process, and wait for its end
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   the process has ended, or did not run
  1   it has not ended, or does not answer
  64  usage error")]
struct StopArguments {}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    if let Some(Command::Unit(arguments)) = &arguments.command {
        return unit::run(arguments);
    }
    #[cfg(unix)]
    return match &arguments.command {
        Some(Command::Status(StatusArguments { json })) => show::status(*json),
        Some(Command::Stop(StopArguments {})) => show::stop(),
        Some(Command::Unit(_)) => Ok(crate::exit::SUCCESS),
        None => foreground::run(arguments),
    };
    #[cfg(not(unix))]
    {
        let _ = (
            arguments.detach,
            arguments.idle_exit,
            arguments.detached,
            arguments.no_desktop,
            &arguments.otlp,
            state_dir as fn() -> _,
        );
        Err(anyhow!("`checkrein serve` is not available on this system, only on Linux and macOS"))
    }
}

/// The state directory of the user.
fn state_dir() -> Result<PathBuf> {
    checkrein::internal::state::directory()
        .ok_or_else(|| anyhow!("you have no home directory, so the process has no place for its socket; set HOME"))
}

/// Tells the resident process about an answered event, or starts the process if the user wants that.
#[cfg(unix)]
pub fn after_answer(response: &AgentResponse, dirs: &UserDirs, locations: &Locations) {
    on_demand::after_answer(response, dirs, locations);
}

/// There is no resident process.
#[cfg(not(unix))]
pub fn after_answer(_: &AgentResponse, _: &UserDirs, _: &Locations) {}

/// The resident process, for `checkrein doctor`.
pub fn check() -> Check {
    #[cfg(unix)]
    return show::check();
    #[cfg(not(unix))]
    Check::new(checkrein_tools::doctor::Level::Note, "resident", "not available on this system")
}
