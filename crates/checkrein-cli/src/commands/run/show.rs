//! What people see of a fire.

use std::io::{self, Write};

use checkrein::dialects::Dialect;
use checkrein::engine::Planned;
use checkrein::{Event, HookOutcome, HookRecord, Target, Verdict};
use owo_colors::OwoColorize;

use super::super::colours;
use super::Fired;

/// How much of a stream is shown.
const SHOWN_LINES: usize = 12;

/// All fires of one event, and where they differ.
pub fn fired(out: &mut impl Write, dialect: &Dialect, event: &Event, all: &[Fired]) -> io::Result<()> {
    let name = dialect.name_of(&event.kind()).unwrap_or_default();
    let name = if name.is_empty() { event.kind().name().to_owned() } else { name.to_owned() };
    write!(out, "{}", name.bold())?;
    if let Some(subject) = event.subject() {
        write!(out, " {subject}")?;
    }
    if let Some(what) = event.original(Target::Input).or_else(|| event.original(Target::Prompt)) {
        write!(out, " {}", cut(what.as_str(), 120).dimmed())?;
    }
    writeln!(out)?;
    for (at, fired) in all.iter().enumerate() {
        if all.len() > 1 {
            writeln!(out, "\nby the rules of {}", fired.dialect.name.bold())?;
        }
        // The hooks are the same under all rules; only the first time all of it is shown.
        if at == 0 || differs(&all[0].verdict, &fired.verdict) {
            hooks(out, fired)?;
        }
        verdict(out, &fired.verdict)?;
    }
    if let [first, others @ ..] = all
        && !others.is_empty()
    {
        let different: Vec<_> = others
            .iter()
            .filter(|other| differs(&first.verdict, &other.verdict))
            .map(|other| other.dialect.name)
            .collect();
        match &different[..] {
            [] => writeln!(out, "\nall come to the same verdict")?,
            names => writeln!(out, "\n{} from {}: {}", "differs".yellow(), first.dialect.name, names.join(", "))?,
        }
    }
    Ok(())
}

fn differs(one: &Verdict, other: &Verdict) -> bool {
    one.decision() != other.decision()
        || one.reason() != other.reason()
        || Target::ALL.iter().any(|target| one.rewritten(*target) != other.rewritten(*target))
}

fn hooks(out: &mut impl Write, fired: &Fired) -> io::Result<()> {
    if fired.record.hooks.is_empty() {
        writeln!(out, "  no hook ran")?;
        let near = fired.plan.iter().filter(|planned| planned.hook.hook.kinds.contains(&fired.kind()));
        for planned in near.filter(|planned| planned.why_not.is_some()) {
            if let Some(why) = &planned.why_not {
                writeln!(out, "  {} {}: {why}", "out".dimmed(), planned.hook.hook.info.id)?;
            }
        }
    }
    for record in &fired.record.hooks {
        hook(out, fired, record)?;
    }
    Ok(())
}

impl Fired {
    fn kind(&self) -> checkrein::EventKind {
        self.record.event.parse().unwrap_or(checkrein::EventKind::Notification)
    }

    fn planned(&self, record: &HookRecord) -> Option<&Planned> {
        self.plan.iter().find(|planned| {
            let info = &planned.hook.hook.info;
            info.id == record.id && info.source.line == record.source.line && info.source.file == record.source.file
        })
    }
}

fn hook(out: &mut impl Write, fired: &Fired, record: &HookRecord) -> io::Result<()> {
    let (label, style) = colours::label(record);
    write!(out, "  {} {}", label.style(style), record.id.bold())?;
    if let (Some(file), Some(line)) = (&record.source.file, record.source.line) {
        write!(out, " {}", format!("{file}:{line}").dimmed())?;
    }
    let mut facts = vec![record.source.scope.to_string(), record.handler.clone()];
    facts.extend(record.exit_code.map(|code| format!("exit {code}")));
    facts.extend(record.duration_ms.map(|ms| format!("{ms} ms")));
    writeln!(out, " ({})", facts.join(", "))?;
    if let Some(planned) = fired.planned(record).filter(|_| record.outcome != HookOutcome::Skipped) {
        match planned.hook.hook.matcher.pattern() {
            "" => {}
            pattern => writeln!(out, "      ran because its matcher `{pattern}` fits")?,
        }
    }
    if let Some(detail) = &record.detail {
        writeln!(out, "      {detail}")?;
    }
    if let Some(reason) = &record.reason {
        writeln!(out, "      because: {}", cut(reason, 400))?;
    }
    for (what, texts) in [("context", &record.context), ("message", &record.system_messages)] {
        for text in texts {
            writeln!(out, "      {what}: {}", cut(text, 400))?;
        }
    }
    if !record.rewrote.is_empty() {
        writeln!(out, "      rewrote: {}", record.rewrote.join(", "))?;
    }
    stream(out, "stdout", record.stdout.as_deref())?;
    stream(out, "stderr", record.stderr.as_deref())?;
    if record.truncated {
        writeln!(out, "      (what it printed is cut)")?;
    }
    for left in &record.left_running {
        writeln!(out, "      left running: {left}")?;
    }
    for completion in fired.later.iter().filter(|completion| completion.hook.id == record.id) {
        if let Some(later) = &completion.record {
            writeln!(out, "      then, in the background:")?;
            stream(out, "stdout", later.stdout.as_deref())?;
            stream(out, "stderr", later.stderr.as_deref())?;
            if let Some(code) = later.exit_code {
                writeln!(out, "      exit {code}")?;
            }
        }
    }
    Ok(())
}

fn stream(out: &mut impl Write, name: &str, text: Option<&str>) -> io::Result<()> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(()) };
    writeln!(out, "      {name} ({} bytes):", text.len())?;
    for line in text.lines().take(SHOWN_LINES) {
        // Control characters of a hook must not reach the terminal.
        let line: String = line.chars().map(|c| if c.is_control() && c != '\t' { '\u{fffd}' } else { c }).collect();
        writeln!(out, "      {} {}", "|".dimmed(), cut(&line, 200))?;
    }
    let left = text.lines().count().saturating_sub(SHOWN_LINES);
    if left > 0 {
        writeln!(out, "      {} … {left} more lines", "|".dimmed())?;
    }
    Ok(())
}

fn verdict(out: &mut impl Write, verdict: &Verdict) -> io::Result<()> {
    let decision = verdict.decision();
    write!(out, "=> {}", decision.name().style(colours::of(decision)))?;
    if let Some(reason) = verdict.reason() {
        write!(out, ": {}", cut(reason, 400))?;
    }
    writeln!(out)?;
    for target in Target::ALL {
        if let Some(rewritten) = verdict.rewritten(target) {
            writeln!(out, "   {target} is now {}", cut(rewritten.effective.as_str(), 400))?;
        }
    }
    for said in verdict.context() {
        writeln!(out, "   context for the model: {}", cut(&said.text, 400))?;
    }
    for warning in verdict.warnings() {
        writeln!(out, "   {} {warning}", "warning:".yellow())?;
    }
    Ok(())
}

/// The start of a text, on one line.
fn cut(text: &str, most: usize) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(most + 1).collect();
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
