//! Output of `checkrein try`: one block for each agent, with the verdict and the answer in words.

use std::io::{self, Write};

use anyhow::Result;
use checkrein::dialects::Dialect;
use checkrein::event::Target;
use checkrein::{Decision, Event};
use owo_colors::{OwoColorize, Style};
use serde_json::{Value, json};

use super::super::{colours, layout, printable, selection, shorten_paths, terminal};
use super::Tried;

/// Longest text of a hook that is shown.
const LONGEST: usize = 600;

/// Writes the report to standard output.
pub fn report(as_json: bool, is_example: bool, tried: &[Tried], skipped: &[(&Dialect, String)]) -> Result<()> {
    let mut out = anstream::stdout().lock();
    if as_json {
        let skipped: Vec<_> = skipped.iter().map(|(agent, why)| json!({ "agent": agent.name, "why": why })).collect();
        let agents: Vec<_> = tried.iter().map(Tried::json).collect();
        writeln!(out, "{:#}", json!({ "examples": is_example, "agents": agents, "skipped": skipped }))?;
        return Ok(());
    }
    let names = tried.iter().map(|tried| tried.agent.name).chain(skipped.iter().map(|(agent, _)| agent.name));
    let width = names.map(str::len).max().unwrap_or_default();
    for tried in tried {
        tried.show(&mut out, width, is_example)?;
    }
    for (agent, why) in skipped {
        writeln!(out, "{:width$}  {} ({why})", agent.name.bold(), "skipped".dimmed())?;
    }
    Ok(())
}

impl Tried {
    fn show(&self, out: &mut impl Write, width: usize, is_example: bool) -> io::Result<()> {
        let decision = match self.decision {
            Decision::NoOpinion => "no opinion",
            decision => decision.name(),
        };
        write!(out, "{:width$}  {}", self.agent.name.bold(), decision.style(colours::for_decision(self.decision)))?;
        if let Some(hook) = &self.hook {
            let place = hook.source.file.as_deref().map(|file| layout::place(file, hook.source.line));
            write!(out, "  {} {}", printable(&hook.id), place.unwrap_or_default().dimmed())?;
            if self.failed_closed {
                write!(out, " {}", "failed".red())?;
            }
        }
        writeln!(out)?;
        let mut line = |text: &str, style: Style| {
            let text = layout::one_line(&shorten_paths(text), LONGEST);
            let text = match terminal::width() {
                Some(columns) => terminal::wrap(&text, width + 2, width + 2, columns),
                None => text,
            };
            writeln!(out, "{:width$}  {}", "", text.style(style))
        };
        for text in self.words() {
            line(&text, Style::new())?;
        }
        for notable in &self.notable {
            line(&format!("{} from {} {}", notable.effect, notable.hook, notable.place), Style::new().dimmed())?;
        }
        if let Some(part) = self.rule.as_ref().and_then(selection::deciding_part) {
            line(&format!("because {part}"), Style::new().dimmed())?;
        }
        if self.is_rewritten {
            line("because its condition is true for the input that an earlier hook rewrote", Style::new().dimmed())?;
        }
        for note in &self.notes {
            line(&format!("note: {note}"), Style::new().dimmed())?;
        }
        if !self.is_installed && !is_example && self.agent.install.is_some() {
            let name = self.agent.name;
            line(
                &format!("note: {name} does not call checkrein yet: `checkrein install {name}`"),
                Style::new().yellow(),
            )?;
        }
        Ok(())
    }

    /// The answer in words, as the agent reads it.
    fn words(&self) -> Vec<String> {
        let told = &self.told;
        let reason = told.reason().or_else(|| told.stop_reason()).unwrap_or_default();
        let is_silent = told.contexts().is_empty() && told.messages().is_empty() && told.rewrites().is_empty();
        let mut words = vec![match told.decision() {
            Decision::NoOpinion if !is_silent => return self.additions(),
            Decision::Deny if self.event.kind().contract().is_gate() => format!("denied; the model reads: {reason}"),
            Decision::Deny => format!("the model reads: {reason}"),
            Decision::Halt => format!("the agent stops; the user reads: {reason}"),
            Decision::Ask => format!("the user is asked: {reason}"),
            Decision::Defer => format!("the agent decides later: {reason}"),
            Decision::Allow => "allowed; the agent does not ask".to_owned(),
            Decision::NoOpinion => "continues as it would without hooks".to_owned(),
        }];
        words.extend(self.additions());
        words
    }

    /// The parts of the answer besides its decision.
    fn additions(&self) -> Vec<String> {
        let told = &self.told;
        let mut words = Vec::new();
        words.extend(told.contexts().iter().map(|text| format!("context for the model: {text}")));
        words.extend(told.messages().iter().map(|text| format!("message for the user: {text}")));
        if !told.rewrites().is_empty() {
            words.push(format!("with changes: {}", rewritten(&self.event, told)));
        }
        words
    }

    fn json(&self) -> Value {
        let told = &self.told;
        let hook = self.hook.as_ref().map(|hook| {
            let source = &hook.source;
            json!({ "id": hook.id, "source": { "file": source.file, "line": source.line, "scope": source.scope } })
        });
        json!({
            "agent": self.agent.name,
            "installed": self.is_installed,
            "event": self.event.kind().name(),
            "tool": self.event.tool_name(),
            "decision": self.decision,
            "reason": self.reason,
            "failed_closed": self.failed_closed,
            "hook": hook,
            "rule": selection::rule_json(self.rule.as_ref()),
            "told": {
                "decision": told.decision(),
                "reason": told.reason(),
                "context": told.contexts(),
                "messages": told.messages(),
                "rewrites": !told.rewrites().is_empty(),
            },
            "answer": { "stdout": self.answer.stdout, "stderr": self.answer.stderr, "exit": self.answer.exit },
            "notes": self.notes,
        })
    }
}

/// The new values, as JSON.
fn rewritten(event: &Event, told: &checkrein::Opinion) -> String {
    let values = told.rewrites().iter().map(|rewrite| {
        let is_input = rewrite.target == Target::Input && event.tool_name().is_some();
        let name = if is_input { "the input is".to_owned() } else { format!("{} is", rewrite.target) };
        format!("{name} {}", rewrite.value)
    });
    values.collect::<Vec<_>>().join("; ")
}
