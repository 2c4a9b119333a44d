//! An approval on a terminal.

use std::io::{self, Write};
use std::time::Duration;

use checkrein_tools::approvals::{Approval, ApprovalState, Call, ParsedCommand};
use owo_colors::OwoColorize;

use super::super::visible::{LINES, visible};
use super::super::{pluralize, printable, shorten_paths};
use super::width;
use checkrein::RawJson;

/// Writes one line about an approval.
pub fn row(out: &mut impl Write, approval: &Approval) -> io::Result<()> {
    let first = approval.shown.fields.first().map(|field| field.text.replace('\n', " ⏎ ")).unwrap_or_default();
    let state = match approval.state {
        ApprovalState::Pending => time_left(approval.left()),
        // The hooks decide about an edited call, not the user.
        ApprovalState::Approved | ApprovalState::Consumed
            if approval.winner().is_some_and(|answer| answer.edited_input.is_some()) =>
        {
            "edited".to_owned()
        }
        state => state.name().to_owned(),
    };
    let start = format!("{}  {state:<10} {} {}: ", approval.id, agent(approval), approval.tool);
    let room = width().saturating_sub(start.chars().count() + 1).max(20);
    let text: String = first.chars().take(room).collect();
    let end = if first.chars().count() > room { "…" } else { "" };
    writeln!(out, "{}{}{}{end}", approval.id.to_string().bold(), &start[11..], text)?;
    for reason in &approval.reasons {
        writeln!(out, "             {} ({}): {}", reason.hook, shorten_paths(&reason.source), question(&reason.text))?;
    }
    if let Some(waits) = approval.waits() {
        writeln!(out, "             the agent waits for the answer: {} left", time_left(waits))?;
    }
    if let Some(outcome) = &approval.edited_outcome {
        writeln!(out, "             {}", printable(&outcome.text))?;
    }
    Ok(())
}

/// Writes everything that an answer covers. The input is complete, because the user decides about all of it.
pub fn whole(out: &mut impl Write, approval: &Approval, call: &Call) -> io::Result<()> {
    let mut row = |label: &str, text: &str| {
        let text = visible(text, LINES).replace('\n', "\n           ");
        writeln!(out, "  {} {text}", format!("{label:8}").bold())
    };
    row("agent", agent(approval))?;
    if let Some(subagent) = &approval.subagent {
        row("subagent", subagent)?;
    }
    row("project", &approval.project)?;
    if let Some(cwd) = approval.cwd.as_deref().filter(|cwd| *cwd != approval.project) {
        row("in", cwd)?;
    }
    row("tool", &call.tool)?;
    for (label, text) in fields(&call.input) {
        row(&label, &text)?;
    }
    for command in &call.commands {
        row("runs", &describe(command))?;
    }
    if call.more_commands > 0 {
        row("runs", &format!("… and {} more programs: read the whole command above", call.more_commands))?;
    }
    if let Some(diff) = &call.diff {
        row("diff", diff.trim_end())?;
    }
    if let Some(rewritten) = &call.rewritten {
        row("changed", "a hook changes the input to:")?;
        for (label, text) in fields(rewritten) {
            row(&label, &text)?;
        }
    }
    for ask in &call.asks {
        row("asked by", &format!("{} ({}): {}", ask.hook, shorten_paths(&ask.source), question(&ask.reason)))?;
    }
    if let Some(waits) = approval.waits() {
        row("waits", &format!("the agent waits for the answer, {} more", time_left(waits)))?;
    }
    row("expires", &format!("in {}", time_left(approval.left())))
}

/// Writes the fields of an input that an edit changes: removed lines with `-`, and added ones with `+`.
pub fn changes(out: &mut impl Write, old: &RawJson, new: &RawJson) -> io::Result<()> {
    let (old, new) = (fields(old), fields(new));
    let mut side = |sign: char, label: &str, text: &str| {
        let lines = visible(text, LINES);
        lines.lines().try_for_each(|line| writeln!(out, "  {sign} {label}: {line}"))
    };
    for (label, text) in &old {
        match new.iter().find(|(other, _)| other == label) {
            Some((_, changed)) if changed == text => {}
            Some((_, changed)) => {
                let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
                let (before, after) = (lines(text), lines(changed));
                for line in before.iter().filter(|line| !after.contains(line)) {
                    side('-', label, line)?;
                }
                for line in after.iter().filter(|line| !before.contains(line)) {
                    side('+', label, line)?;
                }
            }
            None => side('-', label, text)?,
        }
    }
    for (label, text) in new.iter().filter(|(label, _)| !old.iter().any(|(other, _)| other == label)) {
        side('+', label, text)?;
    }
    Ok(())
}

/// The program with its arguments, and the programs around it.
fn describe(command: &ParsedCommand) -> String {
    let words: Vec<_> = command.words.iter().map(|word| quoted(word)).collect();
    let mut text = words.join(" ");
    if !command.wrappers.is_empty() {
        text.push_str(&format!("   (through {})", command.wrappers.join(", ")));
    }
    if !command.pipes_to.is_empty() {
        text.push_str(&format!("   (output to {})", command.pipes_to.join(", ")));
    }
    if !command.is_known {
        text.push_str("   (only the running shell knows all of it)");
    }
    text
}

/// A word, in quotes if it is not plain.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=@%+,~⟨⟩$".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) { word.to_owned() } else { format!("{word:?}") }
}

fn question(text: &str) -> String {
    if text.is_empty() { "no reason given".to_owned() } else { printable(text) }
}

fn agent(approval: &Approval) -> &str {
    match checkrein::dialects::find(&approval.agent) {
        Some(dialect) => dialect.title(),
        None => &approval.agent,
    }
}

/// A remaining time, in words.
pub fn time_left(left: Duration) -> String {
    let seconds = usize::try_from(left.as_secs()).unwrap_or_default();
    match seconds {
        0..60 => pluralize(seconds, "second"),
        _ => pluralize(seconds.div_ceil(60), "minute"),
    }
}

/// The fields of a tool input, with text as it is.
fn fields(input: &RawJson) -> Vec<(String, String)> {
    let text = |value: &RawJson| value.as_text().map_or_else(|| value.to_string(), std::borrow::Cow::into_owned);
    match input.entries() {
        Some(entries) => entries.map(|entry| (printable(&entry.key()), text(&entry.to_json()))).collect(),
        None => vec![("input".to_owned(), text(input))],
    }
}
