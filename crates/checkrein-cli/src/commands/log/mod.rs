//! `checkrein log`: shows the decision log.
//!
//! Never writes to the log.

mod show;

use std::collections::VecDeque;
use std::io::{IsTerminal, Write};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use checkrein::audit::LogTime;
use checkrein::hook_files::Locations;
use checkrein_tools::decision_log::{DecisionEntry, DecisionLog, EntryKind};

use super::dialect::DialectName;
use super::visible::visible_json;
use crate::exit::{self, Exit};

/// Show recent decisions
///
/// Shows one line per event that `checkrein hook` answered: local time, agent, tool, command, answer, duration and deciding hook. The
/// log is on by default and has the last few thousand events. `log: false` in your hooks file turns it off.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   success
  1   no log
  64  usage error

Example:
  checkrein log -n 20
  checkrein log --follow --denied
  checkrein log --agent claude --since 1h --json")]
pub struct Arguments {
    /// Number of events
    #[arg(short = 'n', long, value_name = "N", default_value = "50")]
    lines: usize,
    /// Wait for new events until interrupted; with --json, as JSON lines
    #[arg(short, long)]
    follow: bool,
    /// Only events that were denied
    #[arg(long)]
    denied: bool,
    /// Only events for which this hook ran
    #[arg(long, value_name = "ID")]
    hook: Option<String>,
    /// Only sessions whose id starts with this text
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only events of this agent
    #[arg(long, value_name = "NAME")]
    agent: Option<DialectName>,
    /// Only events at this time or later: 1h, today, 2026-01-31
    #[arg(long, value_name = "TIME")]
    since: Option<LogTime>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// Returns `true` if an entry is shown.
    fn takes(&self, entry: &DecisionEntry) -> bool {
        let is_recent = match (self.since, entry.time.parse::<LogTime>()) {
            (Some(since), Ok(time)) => time >= since,
            (Some(_), Err(_)) => false,
            (None, _) => true,
        };
        let agent = entry.agent.split('@').next().unwrap_or_default();
        entry.kind == EntryKind::Event
            && is_recent
            && (!self.denied || entry.answer().is_block())
            && self.hook.as_ref().is_none_or(|id| entry.hooks.contains(id) || entry.by.as_ref() == Some(id))
            && self.session.as_deref().is_none_or(|id| entry.session.as_deref().unwrap_or_default().starts_with(id))
            && self.agent.is_none_or(|name| name.0.name == agent || name.0.name == entry.agent)
    }
}

/// Interval at which `--follow` reads new entries.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let state = Locations::default().state_dir().context("no state directory; set HOME or XDG_STATE_HOME")?;
    let log = DecisionLog::in_state_directory(&state);
    // Opened before the present lines are read, so that none is lost. A line in between is shown twice at most.
    let mut follow = log.follow();
    let mut last = VecDeque::new();
    let mut lines = log.read().with_context(|| format!("cannot read {}", log.path().display()))?;
    let mut is_empty = true;
    for entry in lines.by_ref() {
        let entry = entry.with_context(|| format!("cannot read {}", log.path().display()))?;
        is_empty = false;
        if arguments.takes(&entry) {
            last.push_back(entry);
            if last.len() > arguments.lines {
                last.pop_front();
            }
        }
    }
    if lines.skipped > 0 {
        super::print_note(&format!("{} lines of the log are damaged and were skipped", lines.skipped));
    }
    if is_empty && !arguments.follow {
        bail!(
            "no decisions at {}: no agent has called checkrein yet, or `log: false` turns the log off; \
             `checkrein status` shows which agents call it",
            log.path().display()
        );
    }
    let mut out = anstream::stdout().lock();
    if !arguments.follow {
        if arguments.json {
            writeln!(out, "{}", visible_json(&serde_json::to_string_pretty(&last)?))?;
        } else {
            show::entries(&mut out, last.iter(), std::io::stdout().is_terminal())?;
            if last.is_empty() {
                super::print_note("no entry matches");
            }
        }
        return Ok(exit::SUCCESS);
    }
    let mut entries: Vec<_> = last.into_iter().collect();
    let mut has_head = std::io::stdout().is_terminal();
    loop {
        match arguments.json {
            true => entries.iter().try_for_each(|entry| {
                let json = serde_json::to_string(entry)?;
                writeln!(out, "{}", visible_json(&json))
            })?,
            false => show::entries(&mut out, entries.iter(), has_head)?,
        }
        has_head &= entries.is_empty();
        out.flush()?;
        std::thread::sleep(POLL_INTERVAL);
        entries = follow.poll()?.into_iter().filter(|entry| arguments.takes(entry)).collect();
    }
}
