//! `checkrein status`: how things stand with each agent.

mod effective;
mod version;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use checkrein_tools::install::{Installed, Installer, State, Status};
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::dialect::DialectName;
use super::install::installer;
use crate::exit::{self, Exit};

/// Shows for each agent on this machine whether checkrein is in front of it: where, at which events, what has changed
/// since, and what no hook can do anything about.
///
/// With --effective, shows what is in force in a directory instead: each file that was looked at with its hash and, if it is
/// an administrator's, who may write it; settings for all hooks and where they stand; each hook, why it does not run, and
/// what is done when it fails. With --json, the same on two machines is the same text.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Without an agent, all are shown that are on this machine or have checkrein in their settings.\n\nExit codes:\n  0  all is as it would be installed now, or not installed    1  something is not    64  a wrong call\n\nExample:\n  checkrein status\n  checkrein status claude --json\n  checkrein status --effective --json"
)]
pub struct Arguments {
    /// The agents
    agents: Vec<DialectName>,
    /// Shows which files, settings and hooks are in force
    #[arg(long, conflicts_with_all = ["agents", "all", "no_versions"])]
    effective: bool,
    /// Shows also agents that are not here
    #[arg(long)]
    all: bool,
    /// Where the agent would be started
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Does not run the agents to ask for their version
    #[arg(long)]
    no_versions: bool,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    if arguments.effective {
        return effective::run(&arguments.dir, arguments.json);
    }
    let installer = installer(&arguments.dir, None)?;
    let mut agents: Vec<_> = arguments.agents.iter().map(|agent| agent.0).collect();
    let named = !agents.is_empty();
    if !named {
        agents = Installer::agents().collect();
    }
    let statuses: Vec<_> = agents
        .into_iter()
        .map(|agent| installer.status(agent))
        .filter(|status| named || arguments.all || is_here(status))
        .collect();
    let programs: Vec<_> = statuses.iter().map(|status| status.found.program.clone()).collect();
    let versions = if arguments.no_versions { vec![None; programs.len()] } else { version::of_all(programs) };
    let shown: Vec<_> = statuses.iter().zip(versions).collect();
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let all: Vec<_> = shown.iter().map(|(status, version)| as_json(status, version.as_deref())).collect();
        writeln!(out, "{:#}", json!({ "agents": all }))?;
    } else if shown.is_empty() {
        writeln!(out, "no agent was found on this machine; `checkrein status --all` shows those that are known")?;
    } else {
        for (status, version) in &shown {
            show(&mut out, status, version.as_deref())?;
        }
    }
    let fine = statuses.iter().flat_map(|status| &status.places).all(Installed::is_fine);
    Ok(if fine { exit::SUCCESS } else { exit::FAILURE })
}

fn is_here(status: &Status) -> bool {
    status.found.is_here() || status.places.iter().any(|place| place.state != State::Absent)
}

fn show(out: &mut impl Write, status: &Status, version: Option<&str>) -> Result<()> {
    let found = match (&status.found.program, status.found.directories.first()) {
        (Some(program), _) => format!("{} {}", program.display(), version.unwrap_or("(version not known)")),
        (None, Some(directory)) => format!("{} is there, its program is not on PATH", directory.display()),
        (None, None) => "not found on this machine".to_owned(),
    };
    writeln!(out, "{}  {}", status.agent.bold(), found.dimmed())?;
    for place in &status.places {
        show_place(out, place)?;
    }
    if let Some(by_hand) = &status.by_hand {
        writeln!(out, "  not written by checkrein: {by_hand}")?;
    }
    let killed = match status.stays_open_with(version) {
        Some(true) => "tools run (stays open)".yellow().to_string(),
        Some(false) => "tools are blocked".to_owned(),
        None => "not known".to_owned(),
    };
    writeln!(out, "  if checkrein is killed: {killed}")?;
    if let Some(since) = status.switch_since {
        writeln!(out, "  before {since} it overlooks the switch that blocks tools then")?;
    }
    if status.blocked_without_program {
        writeln!(out, "  if the program is gone: {}; uninstall before you remove it", "tools are blocked".yellow())?;
    }
    for unseen in status.unseen {
        writeln!(out, "  no hook hears of: {unseen}")?;
    }
    Ok(())
}

fn show_place(out: &mut impl Write, place: &Installed) -> Result<()> {
    let (scope, path) = (place.scope, place.path.display());
    match &place.state {
        State::Absent => return Ok(writeln!(out, "  {scope:<8} {}  {path}", "not installed".dimmed())?),
        State::Broken(why) => return Ok(writeln!(out, "  {scope:<8} {}  {path}: {why}", "broken".red())?),
        _ if place.is_fine() => writeln!(out, "  {scope:<8} {}  {path}", "installed".green())?,
        _ => writeln!(out, "  {scope:<8} {}  {path}", "installed, with drift".red())?,
    }
    writeln!(out, "           at {}", place.covered.join(", "))?;
    if !place.missing.is_empty() {
        writeln!(out, "           {} {}", "missing:".red(), place.missing.join(", "))?;
    }
    for drift in &place.drift {
        writeln!(out, "           {} {drift}", "drift:".red())?;
    }
    if !place.left_out.is_empty() {
        writeln!(out, "           left out: {}", place.left_out.join(", "))?;
    }
    if place.fails_open {
        writeln!(out, "           tools run if checkrein fails, as --fail-open asked for")?;
    }
    if !place.also_read_by.is_empty() {
        writeln!(out, "           read as well by {}", place.also_read_by.join(", "))?;
    }
    if !place.is_fine() {
        writeln!(out, "           `checkrein install` writes it anew")?;
    }
    Ok(())
}

fn as_json(status: &Status, version: Option<&str>) -> Value {
    let place = |place: &Installed| {
        let (state, why) = match &place.state {
            State::Absent => ("absent", None),
            State::Broken(why) => ("broken", Some(why)),
            _ => ("installed", None),
        };
        json!({
            "scope": place.scope,
            "path": place.path.to_string_lossy(),
            "state": state,
            "why": why,
            "fine": place.is_fine(),
            "covered": place.covered,
            "missing": place.missing,
            "left_out": place.left_out,
            "drift": place.drift,
            "fails_open": place.fails_open,
            "also_read_by": place.also_read_by,
        })
    };
    json!({
        "agent": status.agent,
        "found": {
            "program": status.found.program.as_ref().map(|path| path.to_string_lossy()),
            "version": version,
            "directories": status.found.directories.iter().map(|path| path.to_string_lossy()).collect::<Vec<_>>(),
        },
        "places": status.places.iter().map(place).collect::<Vec<_>>(),
        "by_hand": status.by_hand,
        "stays_open": status.stays_open_with(version),
        "blocked_without_program": status.blocked_without_program,
        "unseen": status.unseen,
    })
}
