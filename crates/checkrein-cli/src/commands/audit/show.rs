//! Text of audit log entries, of `audit verify` and of `audit dry-runs`.
//!
//! Entries contain foreign text, so that every field passes `layout::one_line`.

use std::io::{self, Write};

use checkrein::audit::{DryRunHook, DryRunReport, EntryKind, LogLine, Verification};
use checkrein::record::HookOutcome;
use checkrein::{Decision, RawJson};
use owo_colors::{OwoColorize, Style};

use super::super::layout::{self, one_line};
use super::super::{colours, display_path, pluralize, shorten_paths, terminal, visible};

/// Widths of the columns before the decision.
#[derive(Debug, Clone, Copy, Default)]
pub struct Widths {
    agent: usize,
    event: usize,
}

impl Widths {
    /// Widths that all these entries fit.
    pub fn new<'a>(lines: &(impl Iterator<Item = &'a LogLine> + Clone)) -> Self {
        let widest = |text: fn(&LogLine) -> String| lines.clone().map(|line| text(line).chars().count()).max();
        Self { agent: widest(agent).unwrap_or_default(), event: widest(event).unwrap_or_default() }
    }
}

fn agent(line: &LogLine) -> String {
    line.entry.agent.as_deref().map(|agent| one_line(agent, 40)).unwrap_or_default()
}

/// Event and subject.
fn event(line: &LogLine) -> String {
    let entry = &line.entry;
    match (&entry.record, entry.kind) {
        (Some(record), _) => {
            let subject = record.subject.as_deref().map(|subject| format!(" {}", one_line(subject, 60)));
            format!("{}{}", one_line(&record.event, 60), subject.unwrap_or_default())
        }
        (None, EntryKind::Refusal) => one_line(entry.event.as_deref().unwrap_or("unknown event"), 60),
        (None, _) => String::new(),
    }
}

/// Writes an entry on one line. On a terminal that is too narrow, its text continues on the next lines.
pub fn line(out: &mut impl Write, line: &LogLine, widths: Widths) -> io::Result<()> {
    let (seq, time) = (line.head.seq, one_line(&line.entry.time, 40));
    let (agent, event) = (format!("{:<1$}", agent(line), widths.agent), format!("{:<1$}", event(line), widths.event));
    write!(out, "{seq:>6}  {}", time.dimmed())?;
    let mut column = 8 + time.chars().count();
    for (text, style) in [(agent, Style::new()), (event, Style::new().bold())] {
        if !text.trim().is_empty() {
            write!(out, "  {}", text.style(style))?;
            column += 2 + text.chars().count();
        }
    }
    let (word, style, text) = outcome(line);
    write!(out, "  {}", word.style(style))?;
    column += 2 + word.chars().count();
    match terminal::width() {
        _ if text.is_empty() => writeln!(out),
        Some(width) if column + 2 + text.chars().count() > width => {
            writeln!(out, ":\n        {}", terminal::wrap(&text, 8, 8, width))
        }
        _ => writeln!(out, ": {text}"),
    }
}

/// Decision of an entry, with its color and its reason. The reason ends with the hook that decided, and with failed hooks.
fn outcome(line: &LogLine) -> (&'static str, Style, String) {
    let entry = &line.entry;
    let reason = entry.reason.as_deref().unwrap_or_default();
    match (&entry.record, entry.kind) {
        (Some(record), _) => {
            let decision = record.verdict.decision;
            let mut texts: Vec<String> = record.verdict.reason.iter().map(|reason| one_line(reason, 120)).collect();
            let mut notes = Vec::new();
            if record.repeat {
                notes.push("delivered again; no hook ran".to_owned());
            }
            // The agent does not support every part of a verdict.
            if let Some(told) = record.told.as_ref().filter(|told| told.decision != decision || !told.notes.is_empty())
            {
                let why = one_line(&told.notes.join("; "), 200);
                let separator = if why.is_empty() { "" } else { ": " };
                notes.push(format!("told {}{separator}{why}", told.decision));
            }
            for hook in &record.hooks {
                let id = one_line(&hook.id, 60);
                if let Some(would) = hook.would.as_ref().filter(|would| would.differs) {
                    notes.push(format!("{id}: dry run, would be {}", would.verdict.name()));
                } else if hook.dry_run {
                    continue;
                } else if hook.outcome == HookOutcome::Failure {
                    notes.push(format!("{id} failed"));
                } else if decision != Decision::NoOpinion && hook.decision == Some(decision) {
                    notes.push(format!("by {id}"));
                }
            }
            if !notes.is_empty() {
                texts.push(format!("({})", notes.join(", ")));
            }
            (decision.name(), colours::for_decision(decision), texts.join(" "))
        }
        (None, EntryKind::Refusal) => ("blocked", Style::new().red(), one_line(reason, 200)),
        (None, EntryKind::ApprovalRequest) => ("waits", Style::new().yellow(), one_line(reason, 200)),
        (None, EntryKind::Grant) => ("approved", Style::new().yellow(), one_line(reason, 200)),
        (None, EntryKind::GrantUse) => {
            ("passed", Style::new().yellow(), format!("approved: {}", one_line(reason, 200)))
        }
        (None, EntryKind::ApprovalDeny) => {
            ("denied", Style::new().red(), format!("by the user: {}", one_line(reason, 200)))
        }
        (None, EntryKind::ApprovalEnd) => ("ended", Style::new().dimmed(), one_line(reason, 200)),
        (None, EntryKind::Cut) => {
            let bytes = entry.bytes.unwrap_or_default();
            ("incomplete", Style::new().yellow(), format!("{bytes} bytes of an unfinished entry"))
        }
        (None, _) => ("damaged", Style::new().red(), one_line(reason, 300)),
    }
}

/// Writes an entry with its place in the log and all its fields.
pub fn entry(out: &mut impl Write, shown: &LogLine) -> io::Result<()> {
    line(out, shown, Widths::default())?;
    writeln!(out, "        {}:{}", display_path(&shown.file), shown.line)?;
    let mut text = String::new();
    indented(&mut text, &shown.text, 0);
    // Invisible characters can occur only in strings, where JSON has an escape for them.
    for c in text.chars() {
        if !visible::is_hidden(c) || c == '\n' {
            write!(out, "{c}")?;
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            write!(out, "\\u{unit:04x}")?;
        }
    }
    writeln!(out)
}

/// Appends JSON over several lines. Numbers keep their digits.
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
    for (position, (key, value)) in parts.iter().enumerate() {
        out.push_str(if position == 0 { "\n" } else { ",\n" });
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

/// Writes the result of `audit verify`.
pub fn verification(out: &mut impl Write, found: &Verification) -> io::Result<()> {
    for cut in &found.cuts {
        let cut = shorten_paths(&cut.to_string());
        writeln!(out, "{} {cut}; the writing process was killed", "incomplete:".yellow())?;
    }
    for finding in &found.findings {
        writeln!(out, "{} {}", "changed:".red(), shorten_paths(&finding.to_string()))?;
    }
    let entries = match found.lines {
        1 => "1 entry".to_owned(),
        count => format!("{count} entries"),
    };
    let files = pluralize(found.files, "file");
    match &found.last {
        _ if !found.is_intact() => writeln!(out, "{}: {entries} in {files}", "TAMPERED".red())?,
        None => writeln!(out, "{entries} in {files}")?,
        Some(last) => {
            writeln!(out, "{}: {entries} in {files}", "intact".green())?;
            writeln!(out, "last entry {last}")?;
            writeln!(
                out,
                "Store it off this machine: `verify --expect SEQ:HASH` later proves that the log was not rewritten."
            )?;
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
    write!(out, "{}", one_line(&hook.id, 80).bold())?;
    if let Some(file) = &hook.source.file {
        write!(out, " {}", one_line(&layout::place(file, hook.source.line), 200).dimmed())?;
    }
    writeln!(out, " ({})", hook.source.scope)?;
    let times = |count| pluralize(usize::try_from(count).unwrap_or(usize::MAX), "time");
    let mean = hook.total_ms / hook.fires.max(1);
    writeln!(out, "  ran {}, {mean} ms on average, {} ms at most", times(hook.fires), hook.max_ms)?;
    let counts = [("denied", hook.denied), ("asked", hook.asked), ("rewritten", hook.rewritten)];
    let would: Vec<_> =
        counts.iter().filter(|(_, count)| *count > 0).map(|(what, count)| format!("{what} {count}")).collect();
    let would = if would.is_empty() { "done nothing".to_owned() } else { would.join(", ") };
    writeln!(out, "  would have {would}; changed the outcome {}", times(hook.differs))?;
    if hook.failed > 0 {
        writeln!(out, "  {} {}", "failed".red(), times(hook.failed))?;
    }
    for example in &hook.examples {
        let (decision, subject) = (example.decision, example.subject.as_deref().unwrap_or_default());
        write!(out, "  {:>6}  {}", example.seq, one_line(&example.time, 40).dimmed())?;
        write!(out, "  {} {}", one_line(&example.event, 60), one_line(subject, 60))?;
        write!(out, "  {}", decision.name().style(colours::for_decision(decision)))?;
        if !example.rewrites.is_empty() {
            write!(out, "  rewrites {}", one_line(&example.rewrites.join(", "), 60))?;
        }
        if let Some(reason) = &example.reason {
            write!(out, ": {}", one_line(reason, 120))?;
        }
        writeln!(out, "{}", if example.differs { "" } else { "  (same outcome)" })?;
    }
    Ok(())
}
