//! `checkrein status`: shows which agents call checkrein, and differences from a fresh installation.
//!
//! `effective` shows the files, settings and hooks of a directory instead. Changes nothing.

mod effective;
mod version;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use checkrein_tools::install::{Installed, Installer, State, Status};
use owo_colors::{OwoColorize, Style};
use serde_json::{Value, json};

use super::dialect::DialectName;
use super::install::installer;
use super::{display_path, is_verbose, layout, pluralize, printable, shorten_paths};
use crate::exit::{self, Exit};

/// Show which agents call checkrein, and which entries changed
///
/// Shows for each agent the settings file, the events, later changes of the entries, settings that keep the entries from having
/// an effect, and limits of the agent. Without AGENTS, shows all agents that are on this machine or have entries.
///
/// With --effective, shows the files, settings and hooks that are in force in a directory instead: file hashes, managed files
/// and their permissions, reasons why hooks do not run, and failure policies. Its JSON is the same on two machines with the
/// same configuration.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   checkrein is installed, and its entries are current and active
  1   not installed in any agent or in a named one; an entry is
      outdated, modified, not trusted or switched off;
      --effective: a file has a problem
  64  usage error

Example:
  checkrein status
  checkrein status claude --json
  checkrein status --effective --json")]
pub struct Arguments {
    /// Agents to show
    agents: Vec<DialectName>,
    /// Show the files, settings and hooks that are in force
    #[arg(long, conflicts_with_all = ["agents", "all", "no_versions"])]
    effective: bool,
    /// Include agents that are not on this machine
    #[arg(long)]
    all: bool,
    /// Start directory of the agent
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Do not start agents to get their versions
    #[arg(long)]
    no_versions: bool,
    /// Print JSON
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
    let versions = version::of_all(statuses.iter().map(|status| &status.found), !arguments.no_versions);
    let shown: Vec<_> = statuses.iter().zip(versions).collect();
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let all: Vec<_> = shown.iter().map(|(status, version)| as_json(status, version.as_deref())).collect();
        writeln!(out, "{:#}", json!({ "agents": all }))?;
    } else if shown.is_empty() {
        writeln!(
            out,
            "no agents found on this machine; `checkrein status --all` lists the agents that checkrein supports"
        )?;
    } else {
        for (status, version) in &shown {
            show(&mut out, status, version.as_deref())?;
        }
    }
    if !arguments.json && named {
        // Other agents may call checkrein.
        for Status { agent, .. } in statuses.iter().filter(|status| is_absent(status)) {
            super::print_note(&format!("{agent} does not call checkrein; run `checkrein install {agent}`"));
        }
    } else if !arguments.json && !shown.is_empty() && !statuses.iter().any(Status::is_installed) {
        super::print_note("no agent calls checkrein; run `checkrein install`");
    }
    let is_installed = match named {
        true => statuses.iter().all(Status::is_installed),
        false => statuses.iter().any(Status::is_installed),
    };
    let fine = is_installed && statuses.iter().all(Status::is_fine);
    Ok(if fine { exit::SUCCESS } else { exit::FAILURE })
}

fn is_here(status: &Status) -> bool {
    status.found.is_here() || status.places.iter().any(|place| place.state != State::Absent)
}

/// `true` if `checkrein install` can add entries, and there are none.
fn is_absent(status: &Status) -> bool {
    status.by_hand.is_none() && status.places.iter().all(|place| place.state == State::Absent)
}

fn show(out: &mut impl Write, status: &Status, version: Option<&str>) -> Result<()> {
    let found = match (&status.found.program, status.found.directories.first()) {
        (Some(program), _) => format!("{} {}", display_path(program), version.unwrap_or("(version unknown)")),
        (None, Some(_)) => format!("config found, `{}` not on PATH", status.agent),
        (None, None) => "not found on this machine".to_owned(),
    };
    writeln!(out, "{}  {}", status.agent.bold(), found.dimmed())?;
    for place in &status.places {
        show_place(out, status.agent, place)?;
    }
    if let Some(note) = status.called_twice() {
        writeln!(out, "  {note}")?;
    }
    if let Some(by_hand) = &status.by_hand {
        writeln!(out, "  not installed by checkrein: {by_hand}")?;
    }
    for switch in &status.switched_off {
        let fix = match switch.scope {
            checkrein::Scope::Managed => "only the administrator can change it",
            _ => "fix: remove it there, because `checkrein install` does not change it",
        };
        writeln!(out, "  {} {}; {fix}", "switched off:".red(), shorten_paths(&printable(&switch.to_string())))?;
    }
    if status.is_installed() {
        show_failures(out, status, version)?;
    }
    for unseen in status.unseen {
        writeln!(out, "  hooks are not called for: {unseen}")?;
    }
    Ok(())
}

/// Prints what the agent does if checkrein fails.
fn show_failures(out: &mut impl Write, status: &Status, version: Option<&str>) -> Result<()> {
    let killed = match status.stays_open_with(version) {
        Some(true) => "tools run".yellow().to_string(),
        Some(false) => "tools are blocked".to_owned(),
        None => "unknown".to_owned(),
    };
    writeln!(out, "  if checkrein is killed: {killed}")?;
    if let Some(since) = status.switch_since {
        writeln!(out, "  versions of {} before {since} run tools if checkrein is killed", status.agent)?;
    }
    if status.blocked_without_program {
        let blocked = match status.prompts_blocked_without_program {
            true => "tools and prompts are blocked",
            false => "tools are blocked",
        };
        let blocked = blocked.yellow();
        writeln!(out, "  if checkrein is missing: {blocked}; run `checkrein uninstall` before you remove it")?;
        for place in status.places.iter().filter(|place| place.state == State::Installed) {
            writeln!(out, "    to uninstall without checkrein, {}", shorten_paths(&printable(&place.removal_by_hand)))?;
        }
    }
    Ok(())
}

fn show_place(out: &mut impl Write, agent: &str, place: &Installed) -> Result<()> {
    let (scope, path) = (place.scope, display_path(&place.path));
    match &place.state {
        State::Absent => return Ok(writeln!(out, "  {scope:<8} {}  {path}", "not installed".dimmed())?),
        State::Broken(why) => {
            // The other lines show the place in the file.
            let why = shorten_paths(&printable(why.lines().next().unwrap_or_default()));
            return Ok(writeln!(out, "  {scope:<8} {}  {path}: {why}", "broken".red())?);
        }
        _ if place.is_outdated() => writeln!(out, "  {scope:<8} {}  {path}", "installed, but outdated".red())?,
        _ if !place.is_fine() => writeln!(out, "  {scope:<8} {}  {path}", "installed, but not trusted yet".red())?,
        _ => writeln!(out, "  {scope:<8} {}  {path}", "installed".green())?,
    }
    const INDENT: usize = 11;
    if place.needed {
        writeln!(out, "{:INDENT$}entries only for events that hooks use (installed with --needed)", "")?;
    }
    match is_verbose() || place.needed {
        true => layout::list(out, INDENT, "called at:", Style::new(), &place.covered)?,
        false => writeln!(out, "{:INDENT$}called at {}", "", pluralize(place.covered.len(), "event"))?,
    }
    if !place.missing.is_empty() {
        layout::list(out, INDENT, "missing:", Style::new().red(), &place.missing)?;
    }
    for drift in &place.drift {
        writeln!(out, "{:INDENT$}{} {}", "", "changed:".red(), shorten_paths(&printable(drift)))?;
    }
    if !place.left_out.is_empty() && (is_verbose() || !place.needed) {
        layout::list(out, INDENT, "not called at:", Style::new(), &place.left_out)?;
    }
    for (option, dir) in place.dirs.options() {
        writeln!(out, "{:INDENT$}called with {option} {}", "", display_path(dir))?;
    }
    if place.fails_open {
        writeln!(out, "{:INDENT$}tools run if checkrein fails (installed with --fail-open)", "")?;
    }
    if !place.also_read_by.is_empty() {
        layout::list(out, INDENT, "also read by", Style::new(), &place.also_read_by)?;
    }
    if place.is_outdated() {
        writeln!(out, "{:INDENT$}fix: run `{}`", "", place.fix(agent))?;
    }
    if !place.untrusted.is_empty() {
        let entries = pluralize(place.untrusted.len(), "event");
        writeln!(out, "{:INDENT$}{agent} skips the entries for {entries} until you start it and trust them", "")?;
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
            "untrusted": place.untrusted,
            "fails_open": place.fails_open,
            "needed": place.needed,
            "blocks_on_failure": place.blocks_on_failure,
            "directories": place.dirs.options().map(|(option, dir)| json!({
                "option": option,
                "path": dir.to_string_lossy(),
            })).collect::<Vec<_>>(),
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
        "installed": status.is_installed(),
        "fine": status.is_fine(),
        "switched_off": status.switched_off.iter().map(|switch| json!({
            "path": switch.path.to_string_lossy(),
            "scope": switch.scope,
            "setting": switch.setting,
        })).collect::<Vec<_>>(),
        "stays_open": status.stays_open_with(version),
        "blocked_without_program": status.blocked_without_program,
        "prompts_blocked_without_program": status.prompts_blocked_without_program,
        "unseen": status.unseen,
    })
}
