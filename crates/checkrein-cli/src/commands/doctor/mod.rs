//! `checkrein doctor`: answers whether the user is protected, with an exit code.
//!
//! The checks are in `checkrein_tools::doctor`. `repair` does the safe fixes. Changes nothing without `--fix`, except for a
//! token of the self-test, which is removed again.

mod repair;

use std::io::Write;
use std::path::PathBuf;

use anyhow::Result;
use checkrein_tools::doctor::{Check, Doctor, Level, Report, Section};
use owo_colors::{OwoColorize, Style};
use serde_json::{Value, json};

use self::repair::Repair;
use super::check::findings_of_agents;
use super::config::directory;
use super::dialect::DialectName;
use super::install::installer;
use super::visible::visible_json;
use super::{pluralize, printable, shorten_paths, terminal};
use crate::exit::{self, Exit};

/// Check that your agents are protected, and show fixes
///
/// Checks the program, its directories, managed files and the audit log; the hooks and their approvals; and for each agent the
/// entries, the trust of the agent, settings that switch hooks off, and hooks without an entry. A self-test sends a harmless
/// tool call through each installed command, with few variables, and expects a denial. Agents are not started.
///
/// A check that cannot run is a problem. Without --require, an agent without entries is a warning.
///
/// --fix writes missing and changed entries of checkrein again. It approves no hooks, and changes no other settings.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   protected: without problems, and checkrein is installed in an
      agent, or in all agents of --require
  1   not protected, or a check could not run
  64  usage error

Example:
  checkrein doctor
  checkrein doctor --fix
  checkrein doctor --require claude,codex --json")]
pub struct Arguments {
    /// Agents that must be protected; ignore problems of others
    #[arg(long, value_name = "AGENTS", value_delimiter = ',')]
    require: Vec<DialectName>,
    /// Write missing and changed entries of checkrein again
    #[arg(long)]
    fix: bool,
    /// Start directory of the agents
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let dir = directory(&arguments.dir)?;
    let installer = installer(&dir, None)?;
    let mut doctor = Doctor {
        installer: &installer,
        dir: &dir,
        required: arguments.require.iter().map(|agent| agent.0).collect(),
        findings_of_agents: Vec::new(),
    };
    let repairs = if arguments.fix { repair::repair(&doctor) } else { Vec::new() };
    doctor.findings_of_agents = findings_of_agents(&dir)?;
    let mut report = doctor.examine();
    if let Some(setup) = report.sections.first_mut() {
        setup.checks.push(super::serve::check());
    }
    let exit = if report.is_fine() { exit::SUCCESS } else { exit::FAILURE };
    let mut out = anstream::stdout().lock();
    let showing = match arguments.json {
        true => {
            writeln!(out, "{}", visible_json(&format!("{:#}", as_json(&report, &repairs, &dir)))).map_err(Into::into)
        }
        false => show(&mut out, &report, &repairs),
    };
    super::finish_output(exit, showing)
}

fn show(out: &mut impl Write, report: &Report, repairs: &[Repair]) -> Result<()> {
    if !repairs.is_empty() {
        writeln!(out, "{}", "fixes".bold())?;
        for repair in repairs {
            let (word, style) = match &repair.failure {
                None => ("fixed", Style::new().green()),
                Some(_) => ("failed", Style::new().red().bold()),
            };
            line(out, word, style, repair.agent, &repair.text())?;
        }
    }
    for section in &report.sections {
        writeln!(out, "{}", section.title.bold())?;
        for check in &section.checks {
            show_check(out, check)?;
        }
    }
    writeln!(out)?;
    show_summary(out, report)
}

/// Width of the word for the result and of the name of a check.
const LEVEL_WIDTH: usize = 7;
const NAME_WIDTH: usize = 11;
/// Column of the texts.
const COLUMN: usize = 2 + LEVEL_WIDTH + 2 + NAME_WIDTH + 2;

fn show_check(out: &mut impl Write, check: &Check) -> Result<()> {
    let style = match check.level {
        Level::Ok => Style::new().green(),
        Level::Warning => Style::new().yellow().bold(),
        Level::Problem => Style::new().red().bold(),
        _ => Style::new().dimmed(),
    };
    line(out, check.level.label(), style, check.name, &check.text)?;
    match check.fix.as_deref() {
        Some(fix) if !fix.is_empty() => Ok(writeln!(out, "{:COLUMN$}{}", "", wrapped(&format!("fix: {fix}")))?),
        _ => Ok(()),
    }
}

fn line(out: &mut impl Write, word: &str, style: Style, name: &str, text: &str) -> Result<()> {
    let padding = LEVEL_WIDTH.saturating_sub(word.len()) + 2;
    let word = word.style(style);
    Ok(writeln!(out, "  {word}{:padding$}{name:<NAME_WIDTH$}  {}", "", wrapped(text))?)
}

/// A text whose lines start at the column of texts. It is wrapped on a terminal only.
fn wrapped(text: &str) -> String {
    match terminal::width() {
        Some(width) => terminal::wrap(&shown(text), COLUMN, COLUMN, width),
        None => shown(text),
    }
}

fn shown(text: &str) -> String {
    shorten_paths(&printable(text))
}

/// Prints the answer to the question.
fn show_summary(out: &mut impl Write, report: &Report) -> Result<()> {
    let (problems, warnings) = (report.count(Level::Problem), report.count(Level::Warning));
    let numbers = format!("{}, {}", pluralize(problems, "problem"), pluralize(warnings, "warning"));
    writeln!(out, "{numbers}")?;
    let (protected, others) = (report.protected(), report.not_protected());
    if !protected.is_empty() {
        writeln!(out, "{} {}", "protected:".green().bold(), protected.join(", "))?;
    }
    if !others.is_empty() {
        let others: Vec<_> = others.iter().map(|(agent, why)| format!("{agent} ({why})")).collect();
        writeln!(out, "{} {}", "not protected:".red().bold(), others.join(", "))?;
    }
    if protected.is_empty() && others.is_empty() {
        writeln!(out, "{} no agent was found on this machine", "not protected:".red().bold())?;
    }
    Ok(())
}

fn as_json(report: &Report, repairs: &[Repair], dir: &std::path::Path) -> Value {
    let check = |check: &Check| json!({ "check": check.name, "level": check.level.label(), "text": check.text, "fix": check.fix });
    let section = |section: &Section| {
        json!({
            "title": section.title,
            "agent": section.is_agent,
            "installed": section.is_installed,
            "version": section.version,
            "checks": section.checks.iter().map(check).collect::<Vec<_>>(),
        })
    };
    let others = report.not_protected();
    json!({
        "directory": dir.to_string_lossy(),
        "fine": report.is_fine(),
        "protected": report.protected(),
        "not_protected": others.iter().map(|(agent, why)| json!({ "agent": agent, "why": why })).collect::<Vec<_>>(),
        "required": report.required,
        "problems": report.count(Level::Problem),
        "warnings": report.count(Level::Warning),
        "fixes": repairs.iter().map(Repair::as_json).collect::<Vec<_>>(),
        "sections": report.sections.iter().map(section).collect::<Vec<_>>(),
    })
}
