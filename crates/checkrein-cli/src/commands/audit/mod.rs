//! `checkrein audit`: shows, verifies and exports the audit log.
//!
//! `show` prints entries for people. Never writes to the log.

mod show;

use std::collections::VecDeque;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use checkrein::Sources;
use checkrein::audit::{AuditLog, DryRunReport, Head, LogLine, LogTime, Verification};
use checkrein::dialects::agents::native;

use super::config::directory;
use crate::exit::{self, Exit};

/// Show and verify the audit log
///
/// The key `audit` in your user config or in a managed config turns the log on and sets its path. The log contains every
/// event for which hooks ran, and every refusal by checkrein itself.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   success
  1   no log, or no such entry; verify: the log was changed
  64  usage error

Example:
  checkrein audit tail -n 20
  checkrein audit tail --follow
  checkrein audit show 17
  checkrein audit dry-runs
  checkrein audit verify
  checkrein audit export --since 2026-01-01 --until 2026-02-01 > january.jsonl")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
    /// Log to use instead of the configured one
    #[arg(long, value_name = "FILE", global = true)]
    file: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Show the last entries
    Tail {
        /// Number of entries
        #[arg(short = 'n', long, value_name = "N", default_value = "10")]
        lines: usize,
        /// Wait for new entries until interrupted; with --json, as JSON lines
        #[arg(short, long)]
        follow: bool,
    },
    /// Show one entry in full
    Show {
        /// Number of the entry
        seq: u64,
    },
    /// Show what dry-run hooks would have done
    DryRuns {
        /// Number of recent examples per hook
        #[arg(long, value_name = "N", default_value = "3")]
        examples: usize,
        /// Only entries at this time or later: 2026-01-31, 2026-01-31T09:00:00+01:00, 7d, yesterday
        #[arg(long, value_name = "TIME")]
        since: Option<LogTime>,
    },
    /// Verify that the log is unchanged
    Verify {
        /// Entry that must exist, from an earlier `verify`
        #[arg(long, value_name = "SEQ:HASH")]
        expect: Option<Head>,
    },
    /// Print all entries as JSON lines, oldest first
    Export {
        /// Only entries at this time or later: 2026-01-31, 2026-01-31T09:00:00+01:00, 7d, yesterday
        #[arg(long, value_name = "TIME")]
        since: Option<LogTime>,
        /// Only entries before this time
        #[arg(long, value_name = "TIME")]
        until: Option<LogTime>,
    },
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let log = open_log(arguments)?;
    match &arguments.action {
        Action::Tail { lines, follow: false } => tail(&log, *lines, arguments.json),
        Action::Tail { lines, follow: true } => follow(&log, *lines, arguments.json),
        Action::DryRuns { examples, since } => dry_runs(&log, *examples, *since, arguments.json),
        Action::Show { seq } => show_entry(&log, *seq, arguments.json),
        Action::Verify { expect } => verify(&log, expect.as_ref(), arguments.json),
        Action::Export { since, until } => export(&log, *since, *until, arguments.json),
    }
}

fn open_log(arguments: &Arguments) -> Result<AuditLog> {
    if let Some(file) = &arguments.file {
        file.metadata().with_context(|| format!("cannot read {}", file.display()))?;
        return Ok(AuditLog::new(file));
    }
    let loaded = Sources::discover(&native::DIALECT, directory(std::path::Path::new("."))?).load();
    let log = loaded.audit.as_ref().map_or_else(AuditLog::for_user, AuditLog::from_settings);
    // `tail --follow` waits for the first entry.
    let waits = matches!(arguments.action, Action::Tail { follow: true, .. }) && loaded.audit.is_some();
    let is_missing = !log.path().exists();
    // Older files of the log can exist, and can be shown, also if no entry can be added.
    if is_missing
        && loaded.audit.is_some()
        && let Err(error) = log.check_writable()
        && !log.lines().is_ok_and(|mut lines| lines.next().is_some())
    {
        bail!("no audit log: it is on, but it cannot be written: {error}");
    }
    if !waits && is_missing && log.lines()?.next().is_none() {
        let hint = match loaded.audit {
            Some(_) => "it is on, and its first entry follows the next event",
            None => "to turn it on, set `audit: true` in your own hooks file (~/.config/checkrein/hooks.yaml)",
        };
        bail!("no audit log at {}: {hint}", log.path().display());
    }
    Ok(log)
}

/// Interval at which `tail --follow` reads new entries.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

fn last_entries(log: &AuditLog, count: usize) -> Result<VecDeque<LogLine>> {
    let mut last = VecDeque::new();
    for line in log.lines()? {
        last.push_back(line?);
        // `--follow` continues after the last entry, also with `-n 0`.
        if last.len() > count.max(1) {
            last.pop_front();
        }
    }
    Ok(last)
}

fn follow(log: &AuditLog, count: usize, json: bool) -> Result<Exit> {
    let before = last_entries(log, count)?;
    let after = before.back().map_or(0, |line| line.head.seq);
    let mut follow = log.follow(after);
    let mut lines: Vec<_> = if count > 0 { before.into_iter().collect() } else { Vec::new() };
    let mut out = anstream::stdout().lock();
    loop {
        let widths = show::Widths::new(&lines.iter());
        for line in &lines {
            match json {
                true => writeln!(out, "{}", line.text)?,
                false => show::line(&mut out, line, widths)?,
            }
        }
        out.flush()?;
        std::thread::sleep(POLL_INTERVAL);
        lines = follow.poll()?;
    }
}

fn dry_runs(log: &AuditLog, examples: usize, since: Option<LogTime>, json: bool) -> Result<Exit> {
    let mut report = DryRunReport::default();
    for line in log.lines()? {
        let line = line?;
        if is_between(&line, since, None) {
            report.take(&line, examples);
        }
    }
    let mut out = anstream::stdout().lock();
    if json {
        serde_json::to_writer_pretty(&mut out, &report).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        show::dry_runs(&mut out, &report)?;
    }
    Ok(exit::SUCCESS)
}

fn tail(log: &AuditLog, count: usize, json: bool) -> Result<Exit> {
    let mut last = last_entries(log, count)?;
    last.truncate(count);
    let mut out = anstream::stdout().lock();
    if json {
        return write_json_list(&mut out, last.iter());
    }
    let widths = show::Widths::new(&last.iter());
    for line in &last {
        show::line(&mut out, line, widths)?;
    }
    Ok(exit::SUCCESS)
}

fn show_entry(log: &AuditLog, seq: u64, json: bool) -> Result<Exit> {
    for line in log.lines()? {
        let line = line?;
        if line.head.seq == seq {
            let mut out = anstream::stdout().lock();
            if json {
                return write_json_list(&mut out, std::iter::once(&line));
            }
            show::entry(&mut out, &line)?;
            return Ok(exit::SUCCESS);
        }
    }
    bail!("the audit log has no entry {seq} ({})", log.path().display());
}

fn verify(log: &AuditLog, expected: Option<&Head>, json: bool) -> Result<Exit> {
    let found = log.verify(expected)?;
    let exit = if found.is_intact() { exit::SUCCESS } else { exit::FAILURE };
    super::finish_output(exit, write_verification(&found, json))
}

fn write_verification(found: &Verification, json: bool) -> Result<()> {
    let mut out = anstream::stdout().lock();
    if json {
        serde_json::to_writer_pretty(&mut out, found).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        show::verification(&mut out, found)?;
    }
    Ok(())
}

/// `true` if the entry is in the period. An entry without a valid time is in every period.
fn is_between(line: &LogLine, since: Option<LogTime>, until: Option<LogTime>) -> bool {
    line.time().is_none_or(|time| since.is_none_or(|since| time >= since) && until.is_none_or(|until| time < until))
}

fn export(log: &AuditLog, since: Option<LogTime>, until: Option<LogTime>, json: bool) -> Result<Exit> {
    let wanted = |line: &LogLine| is_between(line, since, until);
    let lines = log.lines()?.filter(|line| line.as_ref().map_or(true, &wanted));
    let mut out = anstream::stdout().lock();
    if json {
        let lines: Vec<_> = lines.collect::<Result<_, _>>()?;
        return write_json_list(&mut out, lines.iter());
    }
    for line in lines {
        writeln!(out, "{}", line?.text)?;
    }
    Ok(exit::SUCCESS)
}

/// Writes entries as one JSON list, each with the text of the log.
fn write_json_list<'a>(out: &mut impl Write, lines: impl Iterator<Item = &'a LogLine>) -> Result<Exit> {
    write!(out, "[")?;
    for (position, line) in lines.enumerate() {
        write!(out, "{}{}", if position == 0 { "\n  " } else { ",\n  " }, line.text)?;
    }
    writeln!(out, "\n]")?;
    Ok(exit::SUCCESS)
}
