//! `checkrein coverage`: shows which tool calls of agents were really judged.
//!
//! Reads the session files of agents and the logs of checkrein. Changes nothing.

mod show;
mod watch;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use checkrein::Sources;
use checkrein::audit::{AuditLog, LogTime};
use checkrein::dialects::agents::native;
use checkrein::hook_files::Locations;
use checkrein_tools::coverage::{FORMATS, Filter, Format, Places, REASON_CODES, Report, Setup, State};
use checkrein_tools::decision_log::DecisionLog;

use super::config::directory;
use super::visible::visible_json;
use crate::exit::{self, Exit};

/// Show which tool calls of agents checkrein judged
///
/// Reads the session files that agents write themselves, lists every tool call of the agents and their sub-agents, and compares it with
/// the decision log and the audit log. A call is judged only if a log proves it.
///
/// States: `judged` (checkrein answered, and the agent obeyed), `judged-twice` (delivered more than once, with the same answer),
/// `not-obeyed` (denied, and ran anyway; or ran without the question), `not-judged` (no record), `rejected` (the agent itself rejected
/// the call, so it never ran), `cannot-tell` (unknown format, damaged file, or no log of that time). `-v` lists all calls.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   success
  1   a call has a state or a reason of --fail-on; or no tool call was found
  64  usage error

Example:
  checkrein coverage --since 7d
  checkrein coverage --agent claude --fail-on not-judged,not-obeyed
  checkrein coverage --watch")]
pub struct Arguments {
    /// Only calls at this time or later: 7d, 24h, today, 2026-01-31
    #[arg(long, value_name = "TIME", default_value = "7d")]
    since: LogTime,
    /// Only this agent
    #[arg(long, value_name = "NAME", value_parser = agent)]
    agent: Option<&'static Format>,
    /// Only sessions whose id starts with this text
    #[arg(long, value_name = "ID")]
    session: Option<String>,
    /// Only sessions in this directory
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,
    /// Exit with 1 if a call has one of these states or reasons
    ///
    /// `cannot-tell` also applies to files that could not be read. Reasons have the codes of `--json`, such as `other_input`.
    #[arg(long, value_name = "STATES", value_delimiter = ',', value_parser = failure)]
    fail_on: Vec<FailOn>,
    /// Report calls that are not judged or not obeyed until interrupted
    #[arg(long, conflicts_with = "fail_on")]
    watch: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn agent(name: &str) -> Result<&'static Format, String> {
    Format::of(name).ok_or_else(|| {
        let names: Vec<_> = FORMATS.iter().map(|format| format.agent).collect();
        format!("the session files of `{name}` are not known; known agents: {}", names.join(", "))
    })
}

/// State or reason that makes the command fail.
#[derive(Debug, Clone, Copy)]
enum FailOn {
    State(State),
    Reason(&'static str),
}

impl FailOn {
    fn is_in(self, report: &Report) -> bool {
        match self {
            Self::State(State::CannotTell) => {
                report.counts.cannot_tell > 0 || report.unclear_sessions > 0 || !report.problems.is_empty()
            }
            Self::State(state) => report.counts.of(state) > 0,
            Self::Reason(code) => {
                report.calls.iter().any(|call| call.reason.as_ref().is_some_and(|reason| reason.code == code))
            }
        }
    }
}

fn failure(name: &str) -> Result<FailOn, String> {
    let state = State::ALL.into_iter().find(|state| state.name() == name).map(FailOn::State);
    let reason = REASON_CODES.iter().find(|code| **code == name).map(|code| FailOn::Reason(code));
    state.or(reason).ok_or_else(|| {
        let names: Vec<_> = State::ALL.iter().map(|state| state.name()).collect();
        format!(
            "unknown state or reason `{name}`; known states: {}; known reasons: {}",
            names.join(", "),
            REASON_CODES.join(", ")
        )
    })
}

/// Returns a directory, also one that does not exist any more.
fn project(dir: &Path) -> Result<PathBuf> {
    match dir.canonicalize() {
        Ok(real) => Ok(real),
        Err(_) => std::path::absolute(dir).with_context(|| format!("invalid directory {}", dir.display())),
    }
}

impl Arguments {
    /// Returns the selected sessions, for a message.
    fn selection(&self) -> String {
        let agent = self.agent.map_or_else(|| " of known agents".to_owned(), |agent| format!(" of {}", agent.title));
        let session = self.session.as_ref().map(|id| format!(", with a session id that starts with `{id}`"));
        let project = self.project.as_ref().map(|dir| format!(", in the directory {}", dir.display()));
        format!("{agent}{}{}", session.unwrap_or_default(), project.unwrap_or_default())
    }
}

/// Everything that a look needs.
struct Look {
    places: Places,
    log: DecisionLog,
    audit: AuditLog,
    filter: Filter,
    setup: Setup,
}

impl Look {
    fn new(arguments: &Arguments) -> Result<Self> {
        let home = std::env::home_dir().context("no home directory; set HOME")?;
        let state = Locations::default().state_dir().context("no state directory; set HOME or XDG_STATE_HOME")?;
        let here = directory(Path::new("."))?;
        let loaded = Sources::discover(&native::DIALECT, here).load();
        let mut filter = Filter::default();
        filter.agent = arguments.agent;
        filter.session.clone_from(&arguments.session);
        filter.project = arguments.project.as_deref().map(project).transpose()?;
        filter.all_calls = super::is_verbose() && !arguments.watch;
        filter.set_since(arguments.since.unix_millis());
        Ok(Self {
            places: Places::in_home(home).with_variables(),
            log: DecisionLog::in_state_directory(&state),
            audit: loaded.audit.as_ref().map_or_else(AuditLog::for_user, AuditLog::from_settings),
            filter,
            setup: Setup { log_is_on: loaded.log, installer: super::install::installer(Path::new("."), None).ok() },
        })
    }

    fn report(&self) -> Result<Report> {
        Ok(Report::look(&self.places, &self.log, &self.audit, &self.filter, &self.setup)?)
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let look = Look::new(arguments)?;
    if arguments.watch {
        return watch::run(&look, arguments.json);
    }
    let report = look.report()?;
    // A look that saw nothing must not count as a success.
    let saw_nothing = report.sessions.iter().all(|session| session.counts.calls == 0);
    let fails = saw_nothing || arguments.fail_on.iter().any(|cause| cause.is_in(&report));
    let mut out = anstream::stdout().lock();
    let shown = match arguments.json {
        true => serde_json::to_string_pretty(&report)
            .map_err(Into::into)
            .and_then(|json| Ok(writeln!(out, "{}", visible_json(&json))?)),
        false => show::report(&mut out, &report).map_err(Into::into),
    };
    if saw_nothing {
        // A failed flush is reported below.
        let _ = out.flush();
        super::print_failure(&format!(
            "no tool calls found in the session files{}; `--since` selects an older time, \
             `checkrein coverage --help` has the options",
            arguments.selection()
        ));
    }
    super::finish_output(if fails { exit::FAILURE } else { exit::SUCCESS }, shown)
}
