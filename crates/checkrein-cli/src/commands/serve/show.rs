//! `serve status` and `serve stop`, and the line about the process in `doctor` and `status`.

use std::io::Write as _;
use std::time::Duration;

use anyhow::{Result, bail};
use checkrein::Sources;
use checkrein::dialects::agents::native;
use checkrein::hook_files::Locations;
use checkrein_serve::client::{Client, ClientError};
use checkrein_serve::protocol::ProcessStatus;
use checkrein_tools::doctor::{Check, Level};
use serde_json::{Value, json};

use super::state_dir;
use crate::commands::{pluralize, print_failure, print_note, printable};
use crate::exit::{self, Exit};

/// Longest wait for an answer.
const ANSWER: Duration = Duration::from_secs(2);

/// Longest wait for the end of the process.
const END: Duration = Duration::from_secs(10);

/// Effect of `log: false` in the user's files.
const LOG_IS_OFF: &str =
    "`log: false`: `checkrein hook` sends no events, so the page stays empty, and `resident: true` starts nothing";

/// Version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// State of the process, as far as this program can tell.
enum Found {
    Running(Box<ProcessStatus>),
    NotRunning,
    /// The reason why the state is unknown, or why the process cannot be used.
    Unknown(String),
}

fn find() -> Found {
    let Ok(state) = state_dir() else { return Found::NotRunning };
    let mut client = match Client::connect_within(&state, ANSWER) {
        Ok(client) => client,
        Err(ClientError::NotRunning) => return Found::NotRunning,
        Err(error) => return Found::Unknown(error.to_string()),
    };
    match client.status(ANSWER) {
        Ok(status) => Found::Running(Box::new(status)),
        Err(error) => {
            let pid = client.pid().map(|pid| format!(" (pid {pid})")).unwrap_or_default();
            Found::Unknown(format!("{error}{pid}"))
        }
    }
}

/// Returns `true` if the user's files turn the decision log off.
fn log_is_off() -> bool {
    !Sources::discover_in(&native::DIALECT, "/", Locations::default()).load().log
}

pub(super) fn status(as_json: bool) -> Result<Exit> {
    let found = find();
    let exit = if matches!(found, Found::Running(_)) { exit::SUCCESS } else { exit::FAILURE };
    let mut out = anstream::stdout().lock();
    if as_json {
        writeln!(out, "{:#}", value(&found))?;
        return Ok(exit);
    }
    match found {
        Found::NotRunning => writeln!(out, "the resident process does not run; start it with `checkrein serve`")?,
        Found::Unknown(why) => print_failure(&why),
        Found::Running(status) => show(&mut out, &status)?,
    }
    if log_is_off() {
        print_note(LOG_IS_OFF);
    }
    Ok(exit)
}

/// State of the process as JSON.
fn value(found: &Found) -> Value {
    let (state, process, why) = match found {
        Found::Running(status) => ("running", json!(status), None),
        Found::NotRunning => ("not_running", Value::Null, None),
        Found::Unknown(why) => ("unknown", Value::Null, Some(why)),
    };
    json!({ "state": state, "process": process, "problem": why })
}

fn show(out: &mut impl std::io::Write, status: &ProcessStatus) -> Result<()> {
    writeln!(
        out,
        "running: pid {}, checkrein {}, for {}",
        status.pid,
        printable(&status.checkrein),
        time(status.uptime)
    )?;
    match &status.page {
        Some(page) => writeln!(out, "page: {} (open it with `checkrein live`)", printable(page))?,
        None => writeln!(out, "page: none")?,
    }
    writeln!(out, "socket: {}", printable(&status.socket))?;
    let (events, pending) =
        (pluralize(number(status.events), "event"), pluralize(number(status.pending_approvals), "open approval"));
    writeln!(out, "{events}, {pending}, {}", pluralize(number(status.viewers), "viewer"))?;
    if let Some(seconds) = status.idle_exit {
        writeln!(out, "ends after {} without work", time(seconds))?;
    }
    if let Some(telemetry) = &status.telemetry {
        let exports = pluralize(number(telemetry.accepted), "export");
        writeln!(out, "telemetry: {exports} accepted, {} failed", telemetry.failed)?;
        if let Some(error) = &telemetry.last_error {
            print_failure(&format!("the last failed export of telemetry: {}", printable(error)));
        }
    }
    if let Some(warm) = &status.warm {
        let runs = pluralize(number(warm.runs), "warm run");
        writeln!(out, "{runs} of hooks, {} waiting", pluralize(number(warm.waiting), "interpreter"))?;
        if warm.missed > 0 {
            let missed = pluralize(number(warm.missed), "run");
            writeln!(out, "{missed} of hooks cold: no interpreter was ready")?;
        }
        for cold in &warm.cold {
            print_note(&format!("{} runs cold: {}", printable(&cold.script), printable(&cold.reason)));
        }
    }
    for problem in &status.problems {
        print_failure(problem);
    }
    if status.checkrein != VERSION {
        print_note(&format!(
            "the process has version {}, this program {VERSION}; restart it with `checkrein serve stop` and `checkrein serve`",
            printable(&status.checkrein)
        ));
    }
    Ok(())
}

fn number(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// A time for people.
fn time(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

pub(super) fn stop() -> Result<Exit> {
    let client = match Client::connect_within(&state_dir()?, ANSWER) {
        Ok(client) => client,
        Err(ClientError::NotRunning) => {
            print_note("the resident process does not run");
            return Ok(exit::SUCCESS);
        }
        Err(error) => return Err(error.into()),
    };
    let pid = client.pid();
    if let Err(error) = client.stop(END) {
        let hint = pid.map(|pid| format!("; end it with `kill -9 {pid}`")).unwrap_or_default();
        bail!("the process was not stopped: {error}{hint}");
    }
    print_note("the resident process has ended");
    Ok(exit::SUCCESS)
}

/// The process as a check of `doctor`. It is optional, so its absence is no problem.
pub(super) fn check() -> Check {
    const NAME: &str = "resident";
    match find() {
        Found::NotRunning => {
            Check::new(Level::Note, NAME, "the resident process does not run; `checkrein serve` starts it")
        }
        Found::Unknown(why) => {
            let mut check = Check::new(Level::Warning, NAME, why);
            check.fix = Some("run `checkrein serve status`".to_owned());
            check
        }
        Found::Running(status) => {
            let page = status.page.as_ref().map(|page| format!(", page {page}")).unwrap_or_default();
            let mut texts = vec![format!("pid {}, checkrein {}{page}", status.pid, status.checkrein)];
            let fix = fix(&status);
            texts.extend(status.problems.iter().cloned());
            let cold = status.warm.iter().flat_map(|warm| &warm.cold);
            texts.extend(cold.map(|cold| format!("`{}` runs cold: {}", cold.script, cold.reason)));
            if log_is_off() {
                texts.push(LOG_IS_OFF.to_owned());
            }
            let level = if fix.is_some() { Level::Warning } else { Level::Ok };
            let mut check = Check::new(level, NAME, texts.join("; "));
            check.fix = fix;
            check
        }
    }
}

/// Repair of the first problem of the process.
fn fix(status: &ProcessStatus) -> Option<String> {
    if status.checkrein != VERSION {
        return Some("restart it with `checkrein serve stop` and `checkrein serve`".to_owned());
    }
    let problem = status.problems.first()?;
    let fix = if problem.contains("webhook") {
        "correct `approval_webhook` and its endpoint; a changed file needs a restart of the process"
    } else if problem.contains("No space left") || problem.contains("os error 28") || problem.contains("Disk quota") {
        "free space on the disk of the state directory"
    } else {
        "remove the cause that the message names; then run `checkrein serve stop` and `checkrein serve`"
    };
    Some(fix.to_owned())
}
