//! Checks of the program, the user's directories, managed files and the audit log.

use checkrein::hook_files::{FileStatus, Loaded, Locations, Skip, UserDirs};
use checkrein_core::Scope;

use super::{Check, Section};
use crate::decision_log::DecisionLog;
use crate::{lint, own_program};

pub(super) fn section(loaded: &Loaded, place: &Locations) -> Section {
    let mut checks = vec![program(), directories(place)];
    checks.extend(managed(loaded));
    checks.push(audit(loaded));
    checks.push(decision_log(loaded, place));
    checks.extend(skip(loaded, &Skip::from_env()));
    Section { title: "checkrein", is_agent: false, is_installed: false, version: None, checks }
}

fn program() -> Check {
    let version = env!("CARGO_PKG_VERSION");
    match own_program::path() {
        Some(path) => Check::ok("program", format!("{version}, {}", path.display())),
        None => Check::problem("program", format!("{version}, but its file does not exist any more"))
            .fix("install checkrein again"),
    }
}

/// Checks the directories as `checkrein hook` does: it denies all calls if it cannot trust them.
fn directories(place: &Locations) -> Check {
    let dirs = UserDirs::differing(place);
    let Some(home) = &place.home else {
        return Check::problem("directories", "the home directory is unknown").fix("set HOME");
    };
    if let Err(error) = dirs.locations() {
        return Check::problem("directories", format!("`checkrein hook` denies all calls: {error}"))
            .fix("correct the directory, then run `checkrein install`");
    }
    let options: Vec<_> = dirs.options().map(|(option, dir)| format!("{option} {}", dir.display())).collect();
    match options.is_empty() {
        true => Check::ok("directories", format!("home {}", home.display())),
        // The account database has other directories, and agents may change variables.
        false => Check::ok("directories", format!("entries of the user name {}", options.join(", "))),
    }
}

fn managed(loaded: &Loaded) -> Vec<Check> {
    let files =
        || loaded.files.iter().filter(|file| file.scope == Scope::Managed && file.status != FileStatus::Missing);
    let mut checks = Vec::new();
    for file in files() {
        let path = file.path.display();
        let problem = file.ownership.as_ref().and_then(|ownership| ownership.problem.as_deref());
        checks.push(match (problem, file.status) {
            (Some(problem), _) => {
                let (what, fix) = problem.split_once("; run: ").unwrap_or((problem, "see docs/managed.md"));
                Check::problem("managed", format!("{path} is not trusted: {what}"))
                    .fix(format!("as the administrator: {fix}"))
            }
            (None, status) if status.is_unknown() => {
                Check::problem("managed", format!("{path} is {status}")).fix("ask the administrator to fix the file")
            }
            (None, _) => Check::ok("managed", format!("{path}, writable only by the administrator")),
        });
    }
    if checks.is_empty() {
        checks.push(Check::ok("managed", "no managed files"));
    }
    checks
}

fn audit(loaded: &Loaded) -> Check {
    let Some(settings) = &loaded.audit else { return Check::ok("audit", "off") };
    if let Some(finding) = lint::audit_log(loaded) {
        return Check::problem("audit", finding.message)
            .fix("correct `audit.path` in the hooks file, or its permissions");
    }
    match &settings.path {
        Some(path) => Check::ok("audit", format!("writable, {path}")),
        None => Check::problem("audit", "the log has no path, because the home directory is unknown").fix("set HOME"),
    }
}

/// Checks the log that shows which agents call checkrein.
fn decision_log(loaded: &Loaded, place: &Locations) -> Check {
    const NAME: &str = "log";
    if !loaded.log {
        return Check::note(
            NAME,
            "the decision log is off (`log: false`), so events and coverage of agents are unknown",
        );
    }
    let Some(state) = place.state_dir() else {
        return Check::problem(NAME, "the decision log has no path, because the state directory is unknown")
            .fix("set HOME");
    };
    let log = DecisionLog::in_state_directory(&state);
    match log.read() {
        Ok(_) => Check::ok(NAME, format!("decision log {}", log.path().display())),
        Err(error) => {
            Check::problem(NAME, format!("the decision log {} cannot be read: {error}", log.path().display()))
                .fix("move it away; checkrein creates a new one")
        }
    }
}

/// Variables that skip hooks.
fn skip(loaded: &Loaded, skip: &Skip) -> Option<Check> {
    if skip.is_empty() {
        return None;
    }
    let names = format!("{} or {}", Skip::ALL, Skip::IDS);
    Some(match loaded.allow_skip {
        true => Check::warning("skip", format!("{names} is set and skips hooks")).fix("unset the variable"),
        false => Check::note("skip", format!("{names} is set and has no effect under agents")),
    })
}
