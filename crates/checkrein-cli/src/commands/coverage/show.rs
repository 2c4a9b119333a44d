//! Output of `coverage` for people: a table of sessions, the calls that were missed, and the result in one sentence.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use checkrein_tools::coverage::{CallReport, Report, SessionReport, State};
use checkrein_tools::decision_log::local_time;
use owo_colors::{OwoColorize, Style};

use super::super::layout::one_line;
use super::super::{is_verbose, shorten_paths};

/// Number of calls that are shown per reason, without `-v`.
const MAX_CALLS: usize = 10;

/// Number of sessions that are shown, without `-v`.
const MAX_SESSIONS: usize = 40;

/// Columns of numbers, after agent, session and time.
const COLUMNS: &[&str] = &["calls", "judged", "twice", "not obeyed", "not judged", "rejected", "cannot tell"];

/// Fewest characters of an id that are shown.
const MIN_ID: usize = 8;

/// Ids of sessions, as short as they differ. `--session` accepts them.
pub struct ShortIds {
    /// Number of characters of each id.
    lengths: HashMap<String, usize>,
    /// Width of the longest shown id.
    width: usize,
}

impl ShortIds {
    /// Shortens the ids of the sessions of a report.
    pub fn new(report: &Report) -> Self {
        let mut ids: Vec<_> = report.sessions.iter().map(|session| session.session.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        let mut lengths: HashMap<_, _> = ids.iter().map(|id| ((*id).to_owned(), MIN_ID)).collect();
        for pair in ids.windows(2) {
            let common = pair[0].chars().zip(pair[1].chars()).take_while(|(one, other)| one == other).count();
            for id in pair {
                lengths.entry((*id).to_owned()).and_modify(|length| *length = (common + 1).max(*length));
            }
        }
        let mut short = Self { lengths, width: 0 };
        short.width = ids.iter().map(|id| short.short(id).chars().count()).max().unwrap_or_default().max(MIN_ID + 1);
        short
    }

    /// Returns the start of an id that no other session has.
    fn short(&self, id: &str) -> String {
        let length = self.lengths.get(id).copied().unwrap_or(usize::MAX);
        let shown = one_line(id, 200);
        if shown.chars().count() <= length.saturating_add(1) {
            return shown;
        }
        format!("{}…", shown.chars().take(length).collect::<String>())
    }
}

/// Writes a report.
pub fn report(out: &mut impl Write, report: &Report) -> io::Result<()> {
    let ids = ShortIds::new(report);
    table(out, &report.sessions, &ids)?;
    let states =
        [State::NotObeyed, State::NotJudged, State::CannotTell, State::Rejected, State::JudgedTwice, State::Judged];
    for state in states {
        calls_of(out, report, state, &ids)?;
    }
    problems(out, report, &ids)?;
    if report.counts.weak > 0 {
        let text = "joined by session, order, tool and input, because the agent or the log has no ids; that is weaker";
        writeln!(out, "{} of these calls were {text}", report.counts.weak)?;
    }
    let window = report.window();
    if window.skipped > 0 {
        writeln!(out, "{} lines of the decision log are damaged and were skipped", window.skipped)?;
    }
    writeln!(out, "{}", one_line(&report.summary, 1000).bold())
}

fn table(out: &mut impl Write, sessions: &[SessionReport], ids: &ShortIds) -> io::Result<()> {
    if sessions.is_empty() {
        return Ok(());
    }
    let most = if is_verbose() { usize::MAX } else { MAX_SESSIONS };
    let hidden = sessions.len().saturating_sub(most);
    let agent = sessions.iter().map(|session| session.agent.len()).max().unwrap_or_default().max(5);
    let width = ids.width;
    write!(out, "{:<agent$}  {:<width$}  {:<19}", "agent", "session", "first call")?;
    for column in COLUMNS {
        write!(out, "  {column}")?;
    }
    writeln!(out)?;
    // The newest sessions of each agent are last.
    for session in sessions.iter().skip(hidden) {
        let first = session.first.as_deref().map_or_else(|| "-".to_owned(), local_time);
        write!(out, "{:<agent$}  {:<width$}  {first:<19}", session.agent, ids.short(&session.session))?;
        let counts = session.counts;
        let numbers = [
            counts.calls,
            counts.judged,
            counts.judged_twice,
            counts.not_obeyed,
            counts.not_judged,
            counts.rejected,
            counts.cannot_tell,
        ];
        for (position, (number, column)) in numbers.into_iter().zip(COLUMNS).enumerate() {
            let style = match position {
                3 | 4 if number > 0 => Style::new().red(),
                6 if number > 0 => Style::new().yellow(),
                _ if number == 0 => Style::new().dimmed(),
                _ => Style::new(),
            };
            write!(out, "  {:>width$}", number.style(style), width = column.len())?;
        }
        writeln!(out)?;
    }
    if hidden > 0 {
        writeln!(out, "{hidden} older sessions are not shown; `-v` shows all")?;
    }
    writeln!(out)
}

/// Writes the calls of a state, grouped by reason.
fn calls_of(out: &mut impl Write, report: &Report, state: State, ids: &ShortIds) -> io::Result<()> {
    let mut groups: BTreeMap<&str, Vec<&CallReport>> = BTreeMap::new();
    for call in report.calls.iter().filter(|call| call.state == state) {
        groups.entry(call.reason.as_ref().map_or("", |reason| &*reason.text)).or_default().push(call);
    }
    let style = match state {
        State::NotObeyed | State::NotJudged => Style::new().red(),
        State::CannotTell => Style::new().yellow(),
        _ => Style::new(),
    };
    for (reason, calls) in groups {
        let label = state.name().replace('-', " ");
        let text = if reason.is_empty() { String::new() } else { format!(": {}", one_line(reason, 400)) };
        writeln!(out, "{} ({}){text}", label.style(style), calls.len())?;
        let most = if is_verbose() { usize::MAX } else { MAX_CALLS };
        calls.iter().take(most).try_for_each(|call| line(out, call, ids))?;
        if calls.len() > most {
            writeln!(out, "  … {} more; `-v` shows all", calls.len() - most)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Writes one call on one line.
pub fn line(out: &mut impl Write, call: &CallReport, ids: &ShortIds) -> io::Result<()> {
    let width = ids.width;
    let time = call.time.map_or_else(|| "-".to_owned(), |time| local_time(&time.to_string()));
    write!(out, "  {}  {:<8}  {:<width$}", time.dimmed(), call.agent, ids.short(&call.session))?;
    if let Some(subagent) = &call.subagent {
        let name = subagent.kind.as_deref().or(subagent.id.as_deref()).unwrap_or("unknown");
        write!(out, "  sub-agent {}", one_line(name, 40))?;
    }
    write!(out, "  {}", one_line(&call.tool, 40).bold())?;
    if let Some(command) = &call.command {
        write!(out, "  {}", one_line(command, 100))?;
    }
    writeln!(out)
}

fn problems(out: &mut impl Write, report: &Report, ids: &ShortIds) -> io::Result<()> {
    let mut has_some = false;
    for session in &report.sessions {
        for problem in &session.problems {
            has_some = true;
            // A file that could not be read has no session.
            let name = match (session.counts.calls, session.files.first()) {
                (0, Some(file)) => one_line(&shorten_paths(&file.to_string_lossy()), 200),
                _ => ids.short(&session.session),
            };
            writeln!(out, "{} {} {name}: {}", "cannot tell".yellow(), session.agent, one_line(problem, 300))?;
        }
        if session.unknown_lines > 0 && is_verbose() {
            has_some = true;
            let kinds = session.unknown_kinds.join(", ");
            let name = format!("{} {}", session.agent, ids.short(&session.session));
            writeln!(
                out,
                "{name}: {} lines of unknown kinds skipped: {}",
                session.unknown_lines,
                one_line(&kinds, 200)
            )?;
        }
    }
    let unknown: u64 = report.sessions.iter().map(|session| session.unknown_lines).sum();
    if unknown > 0 && !is_verbose() {
        has_some = true;
        writeln!(out, "{unknown} lines of unknown kinds were skipped; `-v` names them")?;
    }
    for problem in &report.problems {
        has_some = true;
        writeln!(out, "{} {}", "cannot tell".yellow(), one_line(&shorten_paths(problem), 300))?;
    }
    if has_some { writeln!(out) } else { Ok(()) }
}
