//! Text and JSON output of `checkrein simulate`.

use std::fmt::Write as _;
use std::io::Write;
use std::path::Path;

use anyhow::Result;
use checkrein::dialects::Dialect;
use checkrein::event::Target;
use checkrein::record::HookRecord;
use checkrein::{Decision, Event, EventKind, Verdict};
use checkrein_tools::simulate::{Fired, HookTime, SimEvent, Summary};
use owo_colors::OwoColorize;

use super::super::{colours, display_path, is_verbose, pluralize, shorten_paths, terminal};
use super::line::{cut, sanitize};

/// Number of slow hooks in the summary.
const SLOWEST: usize = 5;
/// Characters of a tool's input that are shown.
const SHOWN: usize = 120;
/// Column at which the message of a hook starts.
const MESSAGE_COLUMN: usize = 36;

/// Writes the session while it is played.
pub struct Show {
    dialect: &'static Dialect,
    json: bool,
    events: usize,
}

impl Show {
    /// Output with the event names of this dialect; with `json`, only records.
    pub fn new(dialect: &'static Dialect, json: bool) -> Self {
        Self { dialect, json, events: 0 }
    }

    /// Writes a line before the session.
    pub fn heading(&self, text: &str) -> Result<()> {
        if self.json {
            super::super::print_note(text);
            return Ok(());
        }
        print(&format!("{text}\n\n"))
    }

    /// Writes one step of the session.
    pub fn event(&mut self, event: SimEvent<'_>) -> Result<()> {
        if self.json {
            let SimEvent::Fired(fired) = event else { return Ok(()) };
            let record = serde_json::to_string(fired.record)?;
            return print(&format!("{record}\n"));
        }
        match event {
            SimEvent::Fires(event) => {
                let gap = if self.events == 0 { "" } else { "\n" };
                self.events += 1;
                print(&format!("{gap}{}", self.title(event)))
            }
            SimEvent::Fired(fired) => print(&verdict(&fired)),
            SimEvent::ToolRuns { tool, .. } => aside(&format!("{tool} runs")),
            SimEvent::ToolRefused { tool } => aside(&format!("{tool} does not run")),
            SimEvent::UserAnswers { answer, .. } => aside(&format!("the user answers: {}", answer.name())),
            SimEvent::GoesOn { .. } => aside("the agent continues, with the reason as its next prompt"),
            SimEvent::StopsAnyway { times } => aside(&format!("blocked {times} times; the simulation stops here")),
            SimEvent::TurnOver { skipped } => aside(&format!("the turn is over; {}", skipped_steps(skipped))),
            SimEvent::SessionOver { skipped } => aside(&format!("the session is over; {}", skipped_steps(skipped))),
            _ => Ok(()),
        }
    }

    fn title(&self, event: &Event) -> String {
        let kind = event.kind();
        let name = self.dialect.name_of(&kind).unwrap_or(kind.name());
        let mut plain = format!("{:>2}  {name}", self.events);
        let mut text = format!("{:>2}  {}", self.events, name.bold());
        if let Some(subject) = event.subject() {
            let subject = sanitize(&subject);
            let _ = write!(plain, "  {subject}");
            let _ = write!(text, "  {subject}");
        }
        if let Some(what) = event.original(Target::Input).or_else(|| event.original(Target::Prompt)) {
            let room = width().map_or(SHOWN, |width| width.saturating_sub(plain.chars().count() + 2).min(SHOWN));
            let _ = write!(text, "  {}", cut(&sanitize(what.as_str()), room).dimmed());
        }
        text + "\n"
    }

    /// Writes the results of background hooks.
    pub fn background(&self, later: &[(EventKind, HookRecord)], warnings: &[String]) -> Result<()> {
        if self.json {
            // Records do not contain these warnings.
            for warning in warnings {
                super::super::print_note(&warning.replace('\n', " "));
            }
        }
        if self.json || later.is_empty() {
            return Ok(());
        }
        let mut text = "\nIn the background:\n".to_owned();
        for (kind, record) in later {
            let name = self.dialect.name_of(kind).unwrap_or(kind.name());
            text += &hook(record, Some(name));
        }
        print(&text)
    }

    /// Writes the totals, the slowest hooks and the warnings.
    pub fn summary(&self, summary: &Summary) -> Result<()> {
        if self.json {
            return Ok(());
        }
        let Summary { events, runs, blocked, rewritten, asked, refused_stops, failed, .. } = summary;
        let (events, runs) = (pluralize(*events, "event"), pluralize(*runs, "run"));
        let stops = pluralize(*refused_stops, "blocked stop");
        let mut text = format!(
            "\n{events}, {runs} of hooks: {blocked} blocked, {rewritten} rewritten, {asked} asked, {stops}, \
             {failed} failed\n"
        );
        let slowest = summary.slowest(SLOWEST);
        if !slowest.is_empty() {
            text += "\nSlowest hooks:\n";
        }
        for (time, share) in slowest {
            let HookTime { id, runs, total_ms, .. } = time;
            let runs = pluralize(*runs, "run");
            let line = format!("{total_ms:>6} ms {share:>3} %  {} in {runs}{}", sanitize(id), place(time));
            let _ = writeln!(text, "  {}", fitting(&line, 2));
        }
        if !summary.warnings.is_empty() {
            text += "\nWarnings:\n";
        }
        let mut shown: Vec<&String> = Vec::new();
        for warning in &summary.warnings {
            if shown.contains(&warning) {
                continue;
            }
            shown.push(warning);
            let times = summary.warnings.iter().filter(|other| *other == warning).count();
            let times = if times == 1 { String::new() } else { format!(" ({times} times)") };
            let _ = writeln!(text, "  {}{times}", sanitize(&shorten_paths(warning)).yellow());
        }
        print(&text)
    }
}

/// The answer of each hook, and the verdict.
fn verdict(fired: &Fired<'_>) -> String {
    let mut text: String = fired.record.hooks.iter().map(|record| hook(record, None)).collect();
    let decision = fired.verdict.decision();
    if !fired.record.hooks.is_empty() || decision != Decision::NoOpinion {
        let reason = reason(fired.verdict).map(|reason| format!(": {}", sanitize(&reason))).unwrap_or_default();
        let room = 7 + decision.name().len();
        let _ = writeln!(
            text,
            "    => {}{}",
            decision.name().style(colours::for_decision(decision)),
            fitting(&reason, room)
        );
    }
    for target in Target::ALL {
        if let Some(rewritten) = fired.verdict.rewritten(target) {
            let line = format!("{target} is now {}", sanitize(rewritten.effective.as_str()));
            let _ = writeln!(text, "       {}", fitting(&line, 7));
        }
    }
    text
}

/// The reason of a verdict. The line of a failed hook describes the failure already, so its reason is only the id.
fn reason(verdict: &Verdict) -> Option<String> {
    if let Some(decided) = verdict.decided_by()
        && verdict.failures().any(|(failed, _)| (&failed.id, &failed.source) == (&decided.id, &decided.source))
    {
        return Some(format!("hook `{}` failed", decided.id));
    }
    verdict.reason().map(str::to_owned)
}

/// One line for a hook: id, result, message and duration.
fn hook(record: &HookRecord, event: Option<&str>) -> String {
    let (label, style) = colours::label(record);
    let mut parts: Vec<String> = event.map(str::to_owned).into_iter().collect();
    parts.extend(record.reason.clone());
    parts.extend(record.rewrote.iter().map(|target| format!("the {target}")));
    parts.extend(record.context.iter().cloned());
    parts.extend(record.system_messages.iter().cloned());
    parts.extend(record.detail.clone().or_else(|| record.failure.map(|kind| kind.to_string())));
    let duration = record.duration_ms.map(|ms| format!("({ms} ms)")).unwrap_or_default();
    let message = sanitize(&parts.join(": "));
    let room = width().map_or(usize::MAX, |width| width.saturating_sub(MESSAGE_COLUMN + duration.chars().count() + 1));
    let message = cut(&message, room);
    let message = if message.is_empty() { duration } else { format!("{message} {duration}") };
    let id = cut(&sanitize(&record.id), if width().is_some() { 20 } else { usize::MAX });
    let line = format!("    {id:<20} {:<10} {message}", label.style(style));
    line.trim_end().to_owned() + "\n"
}

fn aside(text: &str) -> Result<()> {
    print(&format!("       {}\n", fitting(&sanitize(text), 7).dimmed()))
}

fn skipped_steps(steps: usize) -> String {
    match steps {
        0 => "no step of the script is skipped".to_owned(),
        1 => "1 step of the script is skipped".to_owned(),
        _ => format!("{steps} steps of the script are skipped"),
    }
}

fn place(hook: &HookTime) -> String {
    match (&hook.source.file, hook.source.line) {
        (Some(file), Some(line)) => format!(" ({}:{line})", display_path(Path::new(file))),
        (Some(file), None) => format!(" ({})", display_path(Path::new(file))),
        _ => String::new(),
    }
}

/// Columns that lines must fit. `None`: lines are not cut, because standard output is not a terminal or `-v` was given.
fn width() -> Option<usize> {
    if is_verbose() { None } else { terminal::width() }
}

/// The part of a text that fits on a line after `used` characters.
fn fitting(text: &str, used: usize) -> String {
    width().map_or_else(|| text.to_owned(), |width| cut(text, width.saturating_sub(used)))
}

/// Writes a text at once: the live view draws from another thread.
fn print(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}
