//! Events of an agent that checkrein has answered: the last one, and the tool calls of the last day.

use std::time::{Duration, SystemTime};

use checkrein::audit::AuditLog;
use checkrein::hook_files::{Loaded, Locations};
use checkrein_dialects::Dialect;
use jiff::Timestamp;

use super::Check;
use crate::coverage::{Filter, Format, Places, Report, Setup};
use crate::decision_log::{DecisionEntry, DecisionLog};

/// Time without events after which an agent is reported as silent.
const SILENT: Duration = Duration::from_secs(3 * 24 * 3600);

/// Time for which tool calls are counted.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// Recent events of an agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecentActivity {
    /// Time of the last event. `None`: there was none.
    pub last_event: Option<SystemTime>,
    /// Tool calls of the last day in the agent's own files, and those of them that checkrein has judged. `None`: there are none, or
    /// the agent has no files that can be read.
    pub calls: Option<Calls>,
    /// Reasons why the files or logs do not tell about all calls.
    pub unclear: Vec<String>,
}

/// Tool calls of the last day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calls {
    /// All calls.
    pub all: u64,
    /// Calls that checkrein has judged.
    pub judged: u64,
}

impl RecentActivity {
    /// Returns the recent events of an agent. `None`: the decision log is off, or it cannot be read.
    pub fn find(agent: &'static Dialect, place: &Locations, loaded: &Loaded) -> Option<Self> {
        if !loaded.log {
            return None;
        }
        let log = DecisionLog::in_state_directory(&place.state_dir()?);
        // Entries of a variant, such as `copilot@pascal`, are events of its agent.
        let is_own = |entry: &DecisionEntry| entry.agent.split('@').next() == agent.name.split('@').next();
        let time = |entry: DecisionEntry| entry.time.parse::<Timestamp>().ok().map(SystemTime::from);
        let mut last_event = None;
        for entry in log.read().ok()? {
            if let Some(entry) = Some(entry.ok()?).filter(is_own) {
                last_event = last_event.max(time(entry));
            }
        }
        let (calls, unclear) = calls(agent, place, loaded, &log);
        Some(Self { last_event, calls, unclear })
    }

    /// Checks of an installed agent.
    pub(super) fn checks(&self, now: SystemTime) -> Vec<Check> {
        let age = self.last_event.map(|time| now.duration_since(time).unwrap_or_default());
        let last = match age {
            None => Check::warning("last-event", "connected, but no event has arrived yet")
                .fix("use the agent once, then run `checkrein doctor` again"),
            Some(age) if age >= SILENT => {
                Check::warning("last-event", format!("connected, but silent for {}", ago(age)))
                    .fix("if you used the agent since then, it did not call its hooks: restart it and try again")
            }
            Some(age) => Check::ok("last-event", format!("{} ago", ago(age))),
        };
        let covered = self.calls.map(|Calls { all, judged }| {
            let text = format!("{judged} of {all} tool calls of the last day were judged");
            match judged < all {
                true => Check::warning("coverage", text).fix("run `checkrein coverage --since 1d` for the others"),
                false => Check::ok("coverage", text),
            }
        });
        let unclear = self.unclear.first().map(|first| {
            let more = match self.unclear.len() {
                1 => String::new(),
                2 => ", and 1 more reason".to_owned(),
                count => format!(", and {} more reasons", count - 1),
            };
            Check::warning(
                "coverage",
                format!("cannot tell if all tool calls of the last day were judged: {first}{more}"),
            )
            .fix("run `checkrein coverage --since 1d` for the details")
        });
        std::iter::once(last).chain(covered).chain(unclear).collect()
    }
}

/// Returns the tool calls of the last day, and the reasons why the files or logs do not tell about all calls.
fn calls(
    agent: &'static Dialect,
    place: &Locations,
    loaded: &Loaded,
    log: &DecisionLog,
) -> (Option<Calls>, Vec<String>) {
    let Some(format) = Format::of(agent.name) else { return (None, Vec::new()) };
    let since = Timestamp::try_from(SystemTime::now() - DAY).ok();
    let filter = Filter { agent: Some(format), since, ..Filter::default() };
    let audit = loaded.audit.as_ref().map_or_else(AuditLog::for_user, AuditLog::from_settings);
    let setup = Setup { log_is_on: true, installer: None };
    let Some(home) = place.home.clone() else { return (None, vec!["the home directory is unknown".to_owned()]) };
    let places = Places::in_home(home).with_variables();
    let report = match Report::look(&places, log, &audit, &filter, &setup) {
        Ok(report) => report,
        Err(error) => return (None, vec![error.to_string()]),
    };
    let counts = report.counts;
    let of_sessions = report.sessions.into_iter().flat_map(|session| {
        let file = session.files.first().map(|file| file.display().to_string()).unwrap_or_default();
        session.problems.into_iter().map(move |problem| format!("{file}: {problem}"))
    });
    let unclear = of_sessions.chain(report.problems).collect();
    let calls = match counts.possible() {
        0 => None,
        all => Some(Calls { all, judged: counts.judged + counts.judged_twice }),
    };
    (calls, unclear)
}

/// A duration in its largest unit.
fn ago(age: Duration) -> String {
    let seconds = age.as_secs();
    let (count, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3600 => (seconds / 60, "minute"),
        3600..86400 => (seconds / 3600, "hour"),
        _ => (seconds / 86400, "day"),
    };
    format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn silence_and_missed_calls_are_warnings() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let before = |seconds| Some(now - Duration::from_secs(seconds));
        for (last_event, level, text) in [
            (None, Level::Warning, "connected, but no event has arrived yet"),
            (before(0), Level::Ok, "0 seconds ago"),
            (before(3 * 3600), Level::Ok, "3 hours ago"),
            (before(3 * 86400), Level::Warning, "connected, but silent for 3 days"),
            // The clock was changed.
            (Some(now + Duration::from_secs(9)), Level::Ok, "0 seconds ago"),
        ] {
            let checks = RecentActivity { last_event, calls: None, unclear: Vec::new() }.checks(now);
            assert_eq!((checks.len(), checks[0].level, checks[0].text.as_str()), (1, level, text));
        }
        for (all, judged, level) in [(0, 0, Level::Ok), (3, 3, Level::Ok), (3, 2, Level::Warning)] {
            let activity =
                RecentActivity { last_event: before(1), calls: Some(Calls { all, judged }), unclear: Vec::new() };
            assert_eq!(activity.checks(now)[1].level, level);
        }
        let unclear = vec!["schema".to_owned(), "file".to_owned()];
        let checks = RecentActivity { last_event: before(1), calls: None, unclear }.checks(now);
        assert_eq!(checks[1].level, Level::Warning);
        assert!(checks[1].text.ends_with(": schema, and 1 more reason"), "{}", checks[1].text);
    }
}
