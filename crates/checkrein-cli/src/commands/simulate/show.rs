//! What people see of a simulated session.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::Result;
use checkrein::dialects::Dialect;
use checkrein::event::Target;
use checkrein::record::HookRecord;
use checkrein::{Decision, Event, EventKind};
use checkrein_tools::simulate::{Fired, HookTime, SimEvent, Summary};
use owo_colors::OwoColorize;

use super::super::colours;
use super::line::{cut, tame, width};

/// How many of the slowest hooks are listed.
const SLOWEST: usize = 5;
/// How much of a tool's input is shown.
const SHOWN: usize = 120;
/// Where what a hook has said starts.
const WORDS_AT: usize = 36;

/// Writes what happens, as it happens.
pub struct Show {
    dialect: &'static Dialect,
    json: bool,
    events: usize,
}

impl Show {
    /// As this dialect names things; with `json`, only records.
    pub fn new(dialect: &'static Dialect, json: bool) -> Self {
        Self { dialect, json, events: 0 }
    }

    /// Something that is said before all else.
    pub fn heading(&self, text: &str) -> Result<()> {
        if self.json {
            super::super::print_note(text);
            return Ok(());
        }
        print(&format!("{text}\n\n"))
    }

    /// Something that happens.
    pub fn moment(&mut self, moment: SimEvent<'_>) -> Result<()> {
        if self.json {
            let SimEvent::Fired(fired) = moment else { return Ok(()) };
            let record = serde_json::to_string(fired.record)?;
            return print(&format!("{record}\n"));
        }
        match moment {
            SimEvent::Fires(event) => {
                let gap = if self.events == 0 { "" } else { "\n" };
                self.events += 1;
                print(&format!("{gap}{}", self.event(event)))
            }
            SimEvent::Fired(fired) => print(&settled(&fired)),
            SimEvent::ToolRuns { tool, .. } => aside(&format!("{tool} runs")),
            SimEvent::ToolRefused { tool } => aside(&format!("{tool} does not run")),
            SimEvent::UserAnswers { answer, .. } => aside(&format!("the user says: {}", answer.name())),
            SimEvent::GoesOn { .. } => aside("the agent goes on, with the reason as its next prompt"),
            SimEvent::StopsAnyway { times } => {
                aside(&format!("refused {times} times; nobody would stop it, so the simulation does"))
            }
            SimEvent::TurnOver { skipped } => aside(&format!("the turn is over; {}", left_out(skipped))),
            SimEvent::SessionOver { skipped } => aside(&format!("the session is over; {}", left_out(skipped))),
            _ => Ok(()),
        }
    }

    fn event(&self, event: &Event) -> String {
        let kind = event.kind();
        let name = self.dialect.name_of(&kind).unwrap_or(kind.name());
        let mut plain = format!("{:>2}  {name}", self.events);
        let mut text = format!("{:>2}  {}", self.events, name.bold());
        if let Some(subject) = event.subject() {
            let subject = tame(&subject);
            let _ = write!(plain, "  {subject}");
            let _ = write!(text, "  {subject}");
        }
        if let Some(what) = event.original(Target::Input).or_else(|| event.original(Target::Prompt)) {
            let room = width().map_or(SHOWN, |width| width.saturating_sub(plain.chars().count() + 2).min(SHOWN));
            let _ = write!(text, "  {}", cut(&tame(what.as_str()), room).dimmed());
        }
        text + "\n"
    }

    /// What hooks in the background came to.
    pub fn background(&self, later: &[(EventKind, HookRecord)], warnings: &[String]) -> Result<()> {
        if self.json {
            // No record has them.
            for warning in warnings {
                super::super::print_note(&tame(warning));
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

    /// What it came to.
    pub fn summary(&self, summary: &Summary) -> Result<()> {
        if self.json {
            return Ok(());
        }
        let Summary { events, runs, blocked, rewritten, asked, refused_stops, failed, .. } = summary;
        let (events, runs) = (counted(*events, "event"), counted(*runs, "run"));
        let stops = counted(*refused_stops, "stop");
        let mut text = format!(
            "\n{events}, {runs} of hooks: {blocked} blocked, {rewritten} rewritten, {asked} asked, {stops} refused, \
             {failed} failed\n"
        );
        let slowest = summary.slowest(SLOWEST);
        if !slowest.is_empty() {
            text += "\nSlowest hooks:\n";
        }
        for (time, share) in slowest {
            let HookTime { id, runs, total_ms, .. } = time;
            let runs = counted(*runs, "run");
            let line = format!("{total_ms:>6} ms {share:>3} %  {} in {runs}{}", tame(id), place(time));
            let _ = writeln!(text, "  {}", fitting(&line, 2));
        }
        if !summary.warnings.is_empty() {
            text += "\nWarnings:\n";
        }
        let mut told: Vec<&String> = Vec::new();
        for warning in &summary.warnings {
            if told.contains(&warning) {
                continue;
            }
            told.push(warning);
            let times = summary.warnings.iter().filter(|other| *other == warning).count();
            let times = if times == 1 { String::new() } else { format!(" ({times} times)") };
            let _ = writeln!(text, "  {}{times}", tame(warning).yellow());
        }
        print(&text)
    }
}

/// What each hook said, and what it came to.
fn settled(fired: &Fired<'_>) -> String {
    let mut text: String = fired.record.hooks.iter().map(|record| hook(record, None)).collect();
    let decision = fired.verdict.decision();
    if !fired.record.hooks.is_empty() || decision != Decision::NoOpinion {
        let reason = fired.verdict.reason().map(|reason| format!(": {}", tame(reason))).unwrap_or_default();
        let room = 7 + decision.name().len();
        let _ = writeln!(text, "    => {}{}", decision.name().style(colours::of(decision)), fitting(&reason, room));
    }
    for target in Target::ALL {
        if let Some(rewritten) = fired.verdict.rewritten(target) {
            let line = format!("{target} is now {}", tame(rewritten.effective.as_str()));
            let _ = writeln!(text, "       {}", fitting(&line, 7));
        }
    }
    text
}

/// One line: its name, what it came to, what it said, how long it took.
fn hook(record: &HookRecord, event: Option<&str>) -> String {
    let (label, style) = colours::label(record);
    let mut words: Vec<String> = event.map(str::to_owned).into_iter().collect();
    words.extend(record.reason.clone());
    words.extend(record.rewrote.iter().map(|target| format!("the {target}")));
    words.extend(record.context.iter().cloned());
    words.extend(record.system_messages.iter().cloned());
    words.extend(record.failure.map(|kind| kind.to_string()));
    words.extend(record.detail.clone());
    let took = record.duration_ms.map(|ms| format!("({ms} ms)")).unwrap_or_default();
    let words = tame(&words.join(": "));
    let room = width().map_or(usize::MAX, |width| width.saturating_sub(WORDS_AT + took.chars().count() + 1));
    let words = cut(&words, room);
    let words = if words.is_empty() { took } else { format!("{words} {took}") };
    let id = cut(&tame(&record.id), if width().is_some() { 20 } else { usize::MAX });
    let line = format!("    {id:<20} {:<10} {words}", label.style(style));
    line.trim_end().to_owned() + "\n"
}

fn counted(count: usize, what: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {what}{ending}")
}

fn aside(text: &str) -> Result<()> {
    print(&format!("       {}\n", fitting(&tame(text), 7).dimmed()))
}

fn left_out(steps: usize) -> String {
    match steps {
        0 => "nothing of the script is left out".to_owned(),
        1 => "one step of the script is left out".to_owned(),
        _ => format!("{steps} steps of the script are left out"),
    }
}

fn place(hook: &HookTime) -> String {
    match (&hook.source.file, hook.source.line) {
        (Some(file), Some(line)) => format!(" ({}:{line})", tame(file)),
        (Some(file), None) => format!(" ({})", tame(file)),
        _ => String::new(),
    }
}

/// What fits on a line behind so many characters.
fn fitting(text: &str, behind: usize) -> String {
    width().map_or_else(|| text.to_owned(), |width| cut(text, width.saturating_sub(behind)))
}

/// All at once: hooks that run are drawn by somebody else meanwhile.
fn print(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}
