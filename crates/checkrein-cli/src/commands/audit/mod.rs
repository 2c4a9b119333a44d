//! `checkrein audit`: looks at the audit log.

mod show;

use std::collections::VecDeque;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use checkrein::Sources;
use checkrein::audit::{AuditLog, DryRunReport, Head, LogLine};
use checkrein::dialects::agents::native;

use super::config::directory;
use crate::exit::{self, Exit};

/// Shows the audit log, and whether all of it is as it was written.
///
/// It is written if `audit` says so in your own config file or an administrator's: every event for which hooks ran, and every
/// refusal. Which log is meant follows from those files too; --file names another.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0  all is well    1  `verify`: something is not as it was written    64  a wrong call

Example:
  checkrein audit tail -n 20
  checkrein audit tail --follow
  checkrein audit show 17
  checkrein audit dry-runs
  checkrein audit verify
  checkrein audit export --since 2026-01-01T00:00:00Z > january.jsonl")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
    /// The log, if it is another than that of the config files
    #[arg(long, value_name = "FILE", global = true)]
    file: Option<PathBuf>,
    /// Prints JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Shows the last lines, one event each
    Tail {
        /// How many
        #[arg(short = 'n', long, value_name = "N", default_value = "10")]
        lines: usize,
        /// Goes on with each line as it is written, until it is interrupted; with --json as JSON lines
        #[arg(short, long)]
        follow: bool,
    },
    /// Shows all that a line says
    Show {
        /// Its number
        seq: u64,
    },
    /// Show what dry-run hooks would have done
    DryRuns {
        /// How many examples of each are shown, the last ones
        #[arg(long, value_name = "N", default_value = "3")]
        examples: usize,
        /// Only what was written at this time (UTC, as in lines) or later
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
    },
    /// Looks whether all is as it was written
    Verify {
        /// A line that was kept elsewhere, as an earlier `verify` showed it: it must be there
        #[arg(long, value_name = "SEQ:HASH")]
        expect: Option<Head>,
    },
    /// Prints all lines of all files, the oldest first, as JSON lines
    Export {
        /// Only what was written at this time (UTC, as in lines) or later
        #[arg(long, value_name = "TIME")]
        since: Option<String>,
        /// Only what was written before this time
        #[arg(long, value_name = "TIME")]
        until: Option<String>,
    },
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let log = log(arguments)?;
    match &arguments.action {
        Action::Tail { lines, follow: false } => tail(&log, *lines, arguments.json),
        Action::Tail { lines, follow: true } => follow(&log, *lines, arguments.json),
        Action::DryRuns { examples, since } => dry_runs(&log, *examples, since.as_deref(), arguments.json),
        Action::Show { seq } => one(&log, *seq, arguments.json),
        Action::Verify { expect } => verify(&log, expect.as_ref(), arguments.json),
        Action::Export { since, until } => export(&log, since.as_deref(), until.as_deref(), arguments.json),
    }
}

fn log(arguments: &Arguments) -> Result<AuditLog> {
    if let Some(file) = &arguments.file {
        file.metadata().with_context(|| format!("cannot read {}", file.display()))?;
        return Ok(AuditLog::at(file));
    }
    let loaded = Sources::discover(&native::DIALECT, directory(std::path::Path::new("."))?).load();
    let log = loaded.audit.as_ref().map_or_else(AuditLog::of_user, AuditLog::of_settings);
    // Whoever follows it waits for the first line.
    let waits = matches!(arguments.action, Action::Tail { follow: true, .. }) && loaded.audit.is_some();
    if !waits && !log.path().exists() && log.lines()?.next().is_none() {
        let hint = match loaded.audit {
            Some(_) => "nothing has been written yet",
            None => "switch it on with `audit: true` in your own hooks file, see docs/config.md",
        };
        bail!("there is no audit log at {}; {hint}", log.path().display());
    }
    Ok(log)
}

/// How often a log is looked at that somebody follows.
const LOOKS: Duration = Duration::from_millis(200);

fn last(log: &AuditLog, count: usize) -> Result<VecDeque<LogLine>> {
    let mut last = VecDeque::new();
    for line in log.lines()? {
        last.push_back(line?);
        // The last line says where to go on, also for who wants to see none.
        if last.len() > count.max(1) {
            last.pop_front();
        }
    }
    Ok(last)
}

fn follow(log: &AuditLog, count: usize, json: bool) -> Result<Exit> {
    let before = last(log, count)?;
    let after = before.back().map_or(0, |line| line.head.seq);
    let mut follow = log.follow(after);
    let mut lines: Vec<_> = before.into_iter().filter(|_| count > 0).collect();
    let mut out = anstream::stdout().lock();
    loop {
        for line in &lines {
            match json {
                true => writeln!(out, "{}", line.text)?,
                false => show::line(&mut out, line)?,
            }
        }
        out.flush()?;
        std::thread::sleep(LOOKS);
        lines = follow.poll()?;
    }
}

fn dry_runs(log: &AuditLog, examples: usize, since: Option<&str>, json: bool) -> Result<Exit> {
    let mut report = DryRunReport::default();
    for line in log.lines()? {
        let line = line?;
        if since.is_none_or(|since| line.entry.time.as_str() >= since) {
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
    let mut last = last(log, count)?;
    last.truncate(count);
    let mut out = anstream::stdout().lock();
    if json {
        return list(&mut out, last.iter());
    }
    for line in &last {
        show::line(&mut out, line)?;
    }
    Ok(exit::SUCCESS)
}

fn one(log: &AuditLog, seq: u64, json: bool) -> Result<Exit> {
    for line in log.lines()? {
        let line = line?;
        if line.head.seq == seq {
            let mut out = anstream::stdout().lock();
            if json {
                return list(&mut out, std::iter::once(&line));
            }
            show::all(&mut out, &line)?;
            return Ok(exit::SUCCESS);
        }
    }
    bail!("there is no line {seq} in {}", log.path().display());
}

fn verify(log: &AuditLog, expected: Option<&Head>, json: bool) -> Result<Exit> {
    let found = log.verify(expected)?;
    let mut out = anstream::stdout().lock();
    if json {
        serde_json::to_writer_pretty(&mut out, &found).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        show::verification(&mut out, &found)?;
    }
    Ok(if found.is_fine() { exit::SUCCESS } else { exit::FAILURE })
}

fn export(log: &AuditLog, since: Option<&str>, until: Option<&str>, json: bool) -> Result<Exit> {
    // Times in lines have a fixed form, so texts compare as times do.
    let wanted = |line: &LogLine| {
        let time = line.entry.time.as_str();
        since.is_none_or(|since| time >= since) && until.is_none_or(|until| time < until)
    };
    let lines = log.lines()?.filter(|line| line.as_ref().map_or(true, &wanted));
    let mut out = anstream::stdout().lock();
    if json {
        let lines: Vec<_> = lines.collect::<Result<_, _>>()?;
        return list(&mut out, lines.iter());
    }
    for line in lines {
        writeln!(out, "{}", line?.text)?;
    }
    Ok(exit::SUCCESS)
}

/// Lines as one JSON list, each as it stands in the log.
fn list<'a>(out: &mut impl Write, lines: impl Iterator<Item = &'a LogLine>) -> Result<Exit> {
    write!(out, "[")?;
    for (at, line) in lines.enumerate() {
        write!(out, "{}{}", if at == 0 { "\n  " } else { ",\n  " }, line.text)?;
    }
    writeln!(out, "\n]")?;
    Ok(exit::SUCCESS)
}
