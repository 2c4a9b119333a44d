//! What people see of a simulated session.

use std::io::{self, Write};

use checkrein::{Event, HookOutcome, HookRecord, Record, Target, Verdict};
use owo_colors::OwoColorize;

use super::super::colours;

/// What is said at the end.
#[derive(Debug, Default)]
pub struct Summary {
    fires: usize,
    hooks: usize,
    blocked: usize,
    rewritten: usize,
    warnings: Vec<String>,
}

impl Summary {
    /// Takes one fire into account.
    pub fn count(&mut self, verdict: &Verdict, record: &Record) {
        self.fires += 1;
        self.hooks += record.hooks.iter().filter(|hook| hook.outcome != HookOutcome::Skipped).count();
        self.blocked += usize::from(verdict.is_block());
        self.rewritten += usize::from(Target::ALL.iter().any(|target| verdict.rewritten(*target).is_some()));
        self.warnings.extend(verdict.warnings().iter().map(|warning| format!("{}: {warning}", record.event)));
    }
}

/// The first lines.
pub fn heading(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "A simulated agent session. The hooks are callbacks inside this program; every fire is real.\n")
}

/// One event: what each hook said, and what it came to.
pub fn fire(out: &mut impl Write, number: usize, event: &Event, verdict: &Verdict, record: &Record) -> io::Result<()> {
    write!(out, "{number:>2}  {}", record.event.bold())?;
    if let Some(subject) = &record.subject {
        write!(out, "  {subject}")?;
    }
    if let Some(what) = event.original(Target::Input).or_else(|| event.original(Target::Prompt)) {
        write!(out, "  {}", what.dimmed())?;
    }
    writeln!(out)?;
    for hook in &record.hooks {
        let (label, style) = colours::label(hook);
        let words = words(hook);
        // No blanks at the end of a line that says no more.
        let width = if words.is_empty() { 0 } else { 11 };
        writeln!(out, "    {:<20} {:<width$}{words}", hook.id, label.style(style))?;
    }
    let decision = verdict.decision();
    write!(out, "    {:<20} {}", "=> verdict", decision.name().style(colours::of(decision)))?;
    if let Some(reason) = verdict.reason() {
        write!(out, ": {reason}")?;
    }
    writeln!(out)?;
    for target in Target::ALL {
        if let Some(rewritten) = verdict.rewritten(target) {
            writeln!(out, "    {:<20} {}", format!("   {target} is now"), rewritten.effective)?;
        }
    }
    writeln!(out)
}

/// The last lines.
pub fn summary(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let Summary { fires, hooks, blocked, rewritten, warnings } = summary;
    writeln!(out, "{fires} events, {hooks} hooks called, {blocked} events blocked, {rewritten} rewritten.")?;
    if !warnings.is_empty() {
        writeln!(out, "\nWarnings:")?;
    }
    for warning in warnings {
        writeln!(out, "  {warning}")?;
    }
    Ok(())
}

fn words(hook: &HookRecord) -> String {
    let mut words: Vec<String> = Vec::new();
    words.extend(hook.reason.clone());
    words.extend(hook.rewrote.iter().map(|target| format!("the {target}")));
    words.extend(hook.context.iter().cloned());
    words.extend(hook.failure.map(|kind| kind.to_string()));
    words.extend(hook.detail.clone());
    words.join(": ")
}
