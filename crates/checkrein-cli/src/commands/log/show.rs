//! Output of `log` for people: one aligned line per event.

use std::io::{self, Write};

use checkrein_tools::decision_log::{DecisionEntry, local_time};
use owo_colors::OwoColorize;

use super::super::colours;
use super::super::layout::one_line;

/// Maximum number of characters of each column.
const AGENT: usize = 14;
const TOOL: usize = 24;
const COMMAND: usize = 60;

/// Parts of a line.
struct Parts {
    agent: String,
    tool: String,
    command: String,
    verdict: String,
}

impl Parts {
    fn new(entry: &DecisionEntry) -> Self {
        let tool = entry.tool.as_deref().unwrap_or(&entry.event);
        let answer = entry.answer().name().replace('_', " ");
        let verdict = match entry.told {
            Some(_) => format!("{} → {answer}", entry.verdict.name().replace('_', " ")),
            None => answer,
        };
        Self {
            agent: one_line(&entry.agent, AGENT),
            tool: one_line(tool, TOOL),
            command: one_line(entry.command.as_deref().unwrap_or_default(), COMMAND),
            verdict,
        }
    }
}

/// Writes entries, on a terminal below a line with the names of the columns.
pub fn entries<'a>(
    out: &mut impl Write,
    entries: impl Iterator<Item = &'a DecisionEntry>,
    has_head: bool,
) -> io::Result<()> {
    let all: Vec<_> = entries.map(|entry| (entry, Parts::new(entry))).collect();
    let width = |part: fn(&Parts) -> &str, least: usize| {
        all.iter().map(|(_, parts)| part(parts).chars().count()).max().unwrap_or_default().max(least)
    };
    let agent = width(|parts| &parts.agent, 6);
    let tool = width(|parts| &parts.tool, 4);
    let command = width(|parts| &parts.command, 20);
    let verdict = width(|parts| &parts.verdict, 10);
    if has_head && !all.is_empty() {
        write!(out, "{:<19}  {:<agent$}  {:<tool$}  ", "time", "agent", "tool")?;
        writeln!(out, "{:<command$}  {:<verdict$}  {:>9}  hook", "command", "answer", "duration")?;
    }
    for (entry, parts) in &all {
        let style = colours::for_decision(entry.answer());
        write!(out, "{}  {:<agent$}  ", local_time(&entry.time).dimmed(), parts.agent)?;
        write!(out, "{:<tool$}  {:<command$}  ", parts.tool, parts.command)?;
        write!(out, "{:<verdict$}  ", parts.verdict.style(style))?;
        write!(out, "{:>9}", duration(entry.us))?;
        if let Some(hook) = &entry.by {
            write!(out, "  {}", one_line(hook, 60))?;
        }
        if !entry.skipped.is_empty() {
            write!(out, "  {}", one_line(&format!("skipped: {}", entry.skipped.join(", ")), 60).yellow())?;
        }
        if entry.repeat {
            write!(out, "  {}", "repeat".dimmed())?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn duration(us: u64) -> String {
    match us {
        0..10_000 => format!("{}.{:02} ms", us / 1000, us % 1000 / 10),
        10_000..10_000_000 => format!("{} ms", us / 1000),
        _ => format!("{} s", us / 1_000_000),
    }
}
