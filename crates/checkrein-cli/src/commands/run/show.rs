//! What people see of a fire.

use std::io::{self, Write};

use checkrein::dialects::Dialect;
use checkrein::engine::ExplainedHook;
use checkrein::event::Target;
use checkrein::hook::SkipReason;
use checkrein::record::{HookOutcome, HookRecord};
use checkrein::{Event, Verdict};
use owo_colors::OwoColorize;

use super::super::{colours, is_terminal_control, printable};
use super::Fired;

/// How much of a stream is shown.
const SHOWN_LINES: usize = 12;

/// All fires of one event, and where they differ.
pub fn fired(out: &mut impl Write, dialect: &Dialect, event: &Event, all: &[Fired]) -> io::Result<()> {
    let name = dialect.name_of(&event.kind()).unwrap_or_default();
    let name = if name.is_empty() { event.kind().name().to_owned() } else { name.to_owned() };
    write!(out, "{}", name.bold())?;
    if let Some(subject) = event.subject() {
        write!(out, " {}", printable(&subject))?;
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
    }
    for record in &fired.record.hooks {
        hook(out, fired, record)?;
    }
    for planned in fired.plan.iter().filter(|planned| planned.hook.kinds.contains(&fired.kind())) {
        let info = &planned.hook.info;
        match &planned.why_not {
            // Shown above, with the others.
            None | Some(SkipReason::Skipped { .. }) => {}
            Some(why) => writeln!(
                out,
                "  {} {} {} {}",
                "out".dimmed(),
                printable(&info.id),
                printable(&info.source.to_string()).dimmed(),
                printable(&format!("({why})"))
            )?,
        }
    }
    Ok(())
}

impl Fired {
    fn kind(&self) -> checkrein::EventKind {
        self.record.event.parse().unwrap_or(checkrein::EventKind::Notification)
    }

    fn planned(&self, record: &HookRecord) -> Option<&ExplainedHook> {
        self.plan.iter().find(|planned| {
            let info = &planned.hook.info;
            info.id == record.id && info.source.line == record.source.line && info.source.file == record.source.file
        })
    }
}

fn hook(out: &mut impl Write, fired: &Fired, record: &HookRecord) -> io::Result<()> {
    let (label, style) = colours::label(record);
    write!(out, "  {} {}", label.style(style), printable(&record.id).bold())?;
    if let (Some(file), Some(line)) = (&record.source.file, record.source.line) {
        write!(out, " {}", printable(&format!("{file}:{line}")).dimmed())?;
    }
    let mut facts = vec![record.source.scope.to_string(), record.handler.clone()];
    facts.extend(record.exit_code.map(|code| format!("exit {code}")));
    facts.extend(record.status.map(|status| format!("status {status}")));
    facts.extend(record.duration_ms.map(|ms| format!("{ms} ms")));
    writeln!(out, " ({})", facts.join(", "))?;
    if record.shadow {
        writeln!(out, "      {}", shadow(record).yellow())?;
    }
    if let Some(planned) = fired.planned(record).filter(|_| record.outcome != HookOutcome::Skipped) {
        // One that was chosen and failed before it could run has not run.
        let ran = if planned.fails.is_some() { "chosen" } else { "ran" };
        match planned.hook.matcher.pattern() {
            "" => writeln!(out, "      {ran} because it has no matcher")?,
            pattern => writeln!(out, "      {ran} because its matcher `{}` fits", printable(pattern))?,
        }
    }
    if let Some(detail) = &record.detail {
        writeln!(out, "      {}", printable(detail))?;
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
    streams(out, record)?;
    if !record.held_back.is_empty() {
        writeln!(out, "      not given all of: {}", printable(&record.held_back.join(", ")))?;
    }
    for left in &record.left_running {
        writeln!(out, "      left running: {}", printable(left))?;
    }
    for completion in fired.later.iter().filter(|completion| completion.hook.id == record.id) {
        if let Some(later) = &completion.record {
            writeln!(out, "      then, in the background:")?;
            streams(out, later)?;
            if let Some(code) = later.exit_code {
                writeln!(out, "      exit {code}")?;
            }
        }
    }
    Ok(())
}

/// What a hook in the shadow would have changed.
fn shadow(record: &HookRecord) -> String {
    match &record.would {
        Some(would) if would.differs && would.verdict == would.decision => {
            format!("in the shadow: without that the verdict would be {}", would.verdict)
        }
        Some(would) if would.differs => {
            format!("in the shadow: without that the verdict would be another ({})", would.verdict)
        }
        _ => "in the shadow: the verdict would be the same without that".to_owned(),
    }
}

fn streams(out: &mut impl Write, record: &HookRecord) -> io::Result<()> {
    stream(out, "stdout", record.stdout.as_deref(), record.stdout_bytes)?;
    stream(out, "stderr", record.stderr.as_deref(), record.stderr_bytes)
}

/// A stream, of which there was perhaps more than was kept.
fn stream(out: &mut impl Write, name: &str, text: Option<&str>, all: Option<u64>) -> io::Result<()> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(()) };
    match all {
        Some(all) => writeln!(out, "      {name} ({all} bytes, the first {} were kept):", text.len())?,
        None => writeln!(out, "      {name} ({} bytes):", text.len())?,
    }
    for line in text.lines().take(SHOWN_LINES) {
        writeln!(out, "      {} {}", "|".dimmed(), cut(&printable(line), 200))?;
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
        writeln!(out, "   {} {}", "warning:".yellow(), printable(&warning.to_string()))?;
    }
    Ok(())
}

/// The start of a text, on one line.
fn cut(text: &str, most: usize) -> String {
    let line: String = text.chars().map(|c| if is_terminal_control(c) { ' ' } else { c }).take(most + 1).collect();
    match line.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}
