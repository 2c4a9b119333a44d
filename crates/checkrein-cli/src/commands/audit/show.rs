//! What people see of the audit log.

use std::io::{self, Write};

use checkrein::RawJson;
use checkrein::audit::{DryRunHook, DryRunReport, EntryKind, LogLine, Verification};
use owo_colors::OwoColorize;

use super::super::{colours, is_terminal_control, pluralize};

/// One line of the log, on one line.
pub fn line(out: &mut impl Write, line: &LogLine) -> io::Result<()> {
    let entry = &line.entry;
    write!(out, "{:>6}  {}", line.head.seq, printable(&entry.time, 40).dimmed())?;
    if let Some(agent) = &entry.agent {
        write!(out, "  {}", printable(agent, 40))?;
    }
    match (&entry.record, entry.kind) {
        (Some(record), _) => {
            let decision = record.verdict.decision;
            write!(out, "  {}", printable(&record.event, 60).bold())?;
            if let Some(subject) = &record.subject {
                write!(out, " {}", printable(subject, 60))?;
            }
            write!(out, "  {}", decision.name().style(colours::of(decision)))?;
            if let Some(reason) = &record.verdict.reason {
                write!(out, ": {}", printable(reason, 120))?;
            }
            for hook in record.hooks.iter().filter(|hook| hook.would.as_ref().is_some_and(|would| would.differs)) {
                let id = printable(&hook.id, 60);
                let would = hook.would.as_ref().map_or("", |would| would.verdict.name());
                write!(out, "  {}", format!("({id}: dry run, would be {would})").yellow())?;
            }
        }
        (None, EntryKind::Refusal) => {
            let event = entry.event.as_deref().unwrap_or("an event that nobody can tell");
            let reason = entry.reason.as_deref().unwrap_or_default();
            write!(out, "  {}  {}: {}", printable(event, 60).bold(), "refused".red(), printable(reason, 200))?;
        }
        (None, EntryKind::Cut) => {
            write!(out, "  {} {} bytes are left of a line", "cut:".yellow(), entry.bytes.unwrap_or_default())?;
        }
        (None, _) => {
            let reason = entry.reason.as_deref().unwrap_or_default();
            write!(out, "  {} {}", "broken:".red(), printable(reason, 300))?;
        }
    }
    writeln!(out)
}

/// All that a line says.
pub fn all(out: &mut impl Write, shown: &LogLine) -> io::Result<()> {
    line(out, shown)?;
    writeln!(out, "        {}:{}", shown.file.display(), shown.line)?;
    let mut text = String::new();
    indented(&mut text, &shown.text, 0);
    // What a terminal would obey can stand in strings only, where JSON has another spelling for it.
    for c in text.chars() {
        match is_terminal_control(c) && c != '\n' {
            true => write!(out, "\\u{:04x}", u32::from(c))?,
            false => write!(out, "{c}")?,
        }
    }
    writeln!(out)
}

/// JSON over several lines, with every number as it is spelt.
fn indented(out: &mut String, json: &RawJson, depth: usize) {
    let (inner, outer) = ("  ".repeat(depth + 1), "  ".repeat(depth));
    let mut parts: Vec<(String, RawJson)> = Vec::new();
    let parse = |text: &str| RawJson::parse(text).unwrap_or_default();
    let brackets = if let Some(entries) = json.entries() {
        parts.extend(entries.map(|entry| (format!("{}: ", RawJson::string(&entry.key())), parse(entry.value()))));
        ('{', '}')
    } else if let Some(items) = json.items() {
        parts.extend(items.map(|item| (String::new(), parse(item))));
        ('[', ']')
    } else {
        out.push_str(json.as_str().trim());
        return;
    };
    out.push(brackets.0);
    for (at, (key, value)) in parts.iter().enumerate() {
        out.push_str(if at == 0 { "\n" } else { ",\n" });
        out.push_str(&inner);
        out.push_str(key);
        indented(out, value, depth + 1);
    }
    if !parts.is_empty() {
        out.push('\n');
        out.push_str(&outer);
    }
    out.push(brackets.1);
}

/// What was found.
pub fn verification(out: &mut impl Write, found: &Verification) -> io::Result<()> {
    for cut in &found.cuts {
        writeln!(out, "{} {cut}; its writer was ended meanwhile", "cut:".yellow())?;
    }
    for finding in &found.findings {
        writeln!(out, "{} {finding}", "changed:".red())?;
    }
    let lines = pluralize(usize::try_from(found.lines).unwrap_or(usize::MAX), "line");
    let files = pluralize(found.files, "file");
    match &found.last {
        _ if !found.is_fine() => writeln!(out, "{lines} in {files}, {}", "not as it was written".red())?,
        None => writeln!(out, "{lines} in {files}")?,
        Some(last) => {
            writeln!(out, "{lines} in {files}, {}", "all as it was written".green())?;
            writeln!(out, "the last is {last}; kept elsewhere, it shows later that nobody has written all anew")?;
        }
    }
    Ok(())
}

/// Prints what dry-run hooks would have done.
pub fn dry_runs(out: &mut impl Write, report: &DryRunReport) -> io::Result<()> {
    if report.hooks.is_empty() {
        return writeln!(
            out,
            "no dry runs yet; set `dry_run: true` for a hook, a file or an include to try it without effect"
        );
    }
    report.hooks.iter().try_for_each(|hook| dry_run_hook(out, hook))
}

fn dry_run_hook(out: &mut impl Write, hook: &DryRunHook) -> io::Result<()> {
    write!(out, "{}", printable(&hook.id, 80).bold())?;
    if let Some(file) = &hook.source.file {
        let line = hook.source.line.map(|line| format!(":{line}")).unwrap_or_default();
        write!(out, " {}", printable(&format!("{file}{line}"), 200).dimmed())?;
    }
    writeln!(out, " ({})", hook.source.scope)?;
    let times = |count| pluralize(usize::try_from(count).unwrap_or(usize::MAX), "time");
    let mean = hook.total_ms / hook.fires.max(1);
    writeln!(out, "  ran {}, {mean} ms on average, {} ms at most", times(hook.fires), hook.max_ms)?;
    let counts = [("denied", hook.denied), ("asked", hook.asked), ("rewritten", hook.rewritten)];
    let would: Vec<_> =
        counts.iter().filter(|(_, count)| *count > 0).map(|(what, count)| format!("{what} {count}")).collect();
    let would = if would.is_empty() { "done nothing".to_owned() } else { would.join(", ") };
    writeln!(out, "  would have {would}; the verdict would have been another {}", times(hook.differs))?;
    if hook.failed > 0 {
        writeln!(out, "  {} {}", "failed".red(), times(hook.failed))?;
    }
    for example in &hook.examples {
        let (decision, subject) = (example.decision, example.subject.as_deref().unwrap_or_default());
        write!(out, "  {:>6}  {}", example.seq, printable(&example.time, 40).dimmed())?;
        write!(out, "  {} {}", printable(&example.event, 60), printable(subject, 60))?;
        write!(out, "  {}", decision.name().style(colours::of(decision)))?;
        if !example.rewrites.is_empty() {
            write!(out, "  rewrites {}", printable(&example.rewrites.join(", "), 60))?;
        }
        if let Some(reason) = &example.reason {
            write!(out, ": {}", printable(reason, 120))?;
        }
        writeln!(out, "{}", if example.differs { "" } else { "  (the verdict was the same)" })?;
    }
    Ok(())
}

/// The start of a foreign text, on one line and without what a terminal would obey.
fn printable(text: &str, most: usize) -> String {
    let line: String = text.chars().map(|c| if is_terminal_control(c) { ' ' } else { c }).take(most + 1).collect();
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
