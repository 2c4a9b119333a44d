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
    /// Tool calls of the last day in the agent's own files, and those of them that checkrein has judged. `None`: unknown.
    pub calls: Option<Calls>,
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
        let entries = log.read().ok()?.flatten().filter(|entry| entry.agent == agent.name);
        let time = |entry: DecisionEntry| entry.time.parse::<Timestamp>().ok().map(SystemTime::from);
        let last_event = entries.filter_map(time).max();
        Some(Self { last_event, calls: calls(agent, place, loaded, &log) })
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
        std::iter::once(last).chain(covered).collect()
    }
}

/// Returns the tool calls of the last day. `None`: the session files are not known, have no calls, or cannot be read.
fn calls(agent: &'static Dialect, place: &Locations, loaded: &Loaded, log: &DecisionLog) -> Option<Calls> {
    let mut filter = Filter::default();
    filter.agent = Some(Format::of(agent.name).filter(|format| format.agent == agent.name)?);
    filter.since = Timestamp::try_from(SystemTime::now() - DAY).ok();
    let audit = loaded.audit.as_ref().map_or_else(AuditLog::for_user, AuditLog::from_settings);
    let setup = Setup { log_is_on: true, installer: None };
    let places = Places::in_home(place.home.clone()?).with_variables();
    let counts = Report::look(&places, log, &audit, &filter, &setup).ok()?.counts;
    if counts.calls == 0 {
        return None;
    }
    Some(Calls { all: counts.calls, judged: counts.judged + counts.judged_twice })
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
            let checks = RecentActivity { last_event, calls: None }.checks(now);
            assert_eq!((checks.len(), checks[0].level, checks[0].text.as_str()), (1, level, text));
        }
        for (all, judged, level) in [(0, 0, Level::Ok), (3, 3, Level::Ok), (3, 2, Level::Warning)] {
            let activity = RecentActivity { last_event: before(1), calls: Some(Calls { all, judged }) };
            assert_eq!(activity.checks(now)[1].level, level);
        }
    }
}
