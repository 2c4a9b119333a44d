//! Text output of `checkrein replay`.

use std::io::{self, Write};

use checkrein::Decision;
use checkrein_tools::recording::{Difference, ReplayReport, Replayed};
use owo_colors::OwoColorize;

use super::super::{colours, pluralize};

/// Writes one event and its differences.
pub fn one(out: &mut impl Write, one: &Replayed) -> io::Result<()> {
    write!(out, "{:>5}  ", one.line)?;
    if let Some(time) = &one.time {
        write!(out, "{}  ", printable(time, 40).dimmed())?;
    }
    write!(out, "{}", one.event.bold())?;
    if let Some(subject) = &one.subject {
        write!(out, " {}", printable(subject, 60))?;
    }
    if let Some(about) = &one.about {
        write!(out, " {}", printable(about, 80).dimmed())?;
    }
    if !one.is_changed() {
        return writeln!(out, "  {} {}", "=".dimmed(), one.now.name().style(colours::for_decision(one.now)));
    }
    writeln!(out)?;
    if one.then != one.now {
        writeln!(out, "       {}", change(one.then, one.now))?;
    }
    for difference in one.differences.iter().filter(|difference| difference.field != "decision") {
        part(out, difference)?;
    }
    if !one.changed_hooks.is_empty() {
        let hooks: Vec<_> = one.changed_hooks.iter().map(|id| printable(id, 60)).collect();
        writeln!(out, "       by {}", hooks.join(", "))?;
    }
    if one.lacks_secrets {
        writeln!(out, "       {} secrets were redacted in this recording", "note:".yellow())?;
    }
    if one.made_up {
        writeln!(
            out,
            "       {} the recording has only the verdict; missing event data is sample data",
            "note:".yellow()
        )?;
    }
    Ok(())
}

fn change(then: Decision, now: Decision) -> String {
    let word = |decision: Decision| decision.name().style(colours::for_decision(decision)).to_string();
    format!("{} → {}", word(then), word(now))
}

fn part(out: &mut impl Write, difference: &Difference) -> io::Result<()> {
    for (mark, text) in [("-", &difference.then), ("+", &difference.now)] {
        if let Some(text) = text {
            writeln!(out, "       {mark} {}: {}", difference.field, printable(text, 300))?;
        }
    }
    Ok(())
}

/// Writes the totals.
pub fn summary(out: &mut impl Write, report: &ReplayReport) -> io::Result<()> {
    let (events, changed) = (pluralize(report.events, "event"), report.changed);
    if report.dry_run {
        writeln!(out, "{events}, {changed} with other hooks; dry run, so no hook ran")?;
    } else {
        writeln!(out, "{events}, {changed} changed")?;
    }
    for transition in &report.decisions {
        writeln!(out, "  {:>5}  {}", transition.count, change(transition.then, transition.now))?;
    }
    for hook in &report.hooks {
        writeln!(out, "  {:>5}  by {}", hook.count, printable(&hook.id, 60))?;
    }
    if report.changed_without_secrets > 0 {
        let count = report.changed_without_secrets;
        writeln!(out, "{count} of the changed events had secrets redacted: hooks that look for secrets find none")?;
    }
    if report.other_projects > 0 {
        let events = pluralize(report.other_projects, "event");
        writeln!(out, "skipped {events} of other projects; --all-projects includes them")?;
    }
    if !report.broken.is_empty() {
        writeln!(out, "skipped {}", pluralize(report.broken.len(), "invalid line"))?;
    }
    Ok(())
}

/// The start of a foreign text, on one line and without control characters.
fn printable(text: &str, most: usize) -> String {
    let start: String = text.chars().take(most + 1).collect();
    let line = crate::commands::visible::visible(&start.replace(['\n', '\t'], " "), &[]);
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
