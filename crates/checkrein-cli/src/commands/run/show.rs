//! Text report of `checkrein run`: each hook, the reason why it ran, its output, and the verdict.

use std::io::{self, Write};

use checkrein::dialects::Dialect;
use checkrein::dialects::agents::native;
use checkrein::engine::ExplainedHook;
use checkrein::event::Target;
use checkrein::hook::SkipReason;
use checkrein::record::{HookOutcome, HookRecord};
use checkrein::verdict::Warning;
use checkrein::{Decision, Event, EventKind, FailureKind, FailurePolicy, Verdict};
use owo_colors::{OwoColorize, Style};

use super::super::selection::RuleState;
use super::super::{colours, display_source, is_verbose, layout, pluralize, printable, selection, shorten_paths};
use super::Fired;

/// Number of lines of a stream that are shown.
const SHOWN_LINES: usize = 12;

/// Writes the results of one event under all dialects, and the dialects whose verdict differs.
pub fn fired(
    out: &mut impl Write,
    dialect: &Dialect,
    event: &Event,
    has_sample_input: bool,
    all: &[Fired],
) -> io::Result<()> {
    let name = dialect.name_of(&event.kind()).unwrap_or_default();
    let name = if name.is_empty() { event.kind().name().to_owned() } else { name.to_owned() };
    write!(out, "{}", name.bold())?;
    if let Some(subject) = event.subject() {
        write!(out, " {}", printable(&subject))?;
    }
    if let Some(text) = event.original(Target::Input).or_else(|| event.original(Target::Prompt)) {
        write!(out, " {}", layout::one_line(text.as_str(), 120).dimmed())?;
    }
    if has_sample_input && event.original(Target::Input).is_some() {
        write!(out, " {}", format!("({})", selection::SAMPLE_INPUT).yellow())?;
    }
    writeln!(out)?;
    for (position, fired) in all.iter().enumerate() {
        if all.len() > 1 {
            writeln!(out, "\nwith the rules of {}", fired.dialect.name.bold())?;
        }
        // The hooks are the same under all rules, so that their details are shown only once.
        if position == 0 || differs(&all[0].verdict, &fired.verdict) {
            hooks(out, dialect, event, fired)?;
        }
        verdict(out, fired)?;
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
            [] => writeln!(out, "\nall rules give the same verdict")?,
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

fn hooks(out: &mut impl Write, dialect: &Dialect, event: &Event, fired: &Fired) -> io::Result<()> {
    if fired.record.hooks.is_empty() {
        writeln!(out, "  no hook ran")?;
        if let Some(hint) = later_guard(dialect, event, fired) {
            layout::paragraph(out, 2, &format!("hint: {hint}"))?;
        }
    }
    // Packs have many rules, and few of them apply.
    let is_false = |record: &HookRecord| {
        let is_quiet = record.outcome != HookOutcome::Failure && !has_effect(record);
        let planned = fired.planned(record).filter(|planned| selection::is_of_pack(&planned.hook));
        is_quiet && planned.and_then(selection::rule_state) == Some(RuleState::DoesNotApply)
    };
    let mut omitted = 0;
    for record in &fired.record.hooks {
        if is_false(record) && !is_verbose() {
            omitted += 1;
            continue;
        }
        hook(out, fired, record)?;
    }
    if omitted > 0 {
        writeln!(out, "  {} of packs with a false condition (-v lists them)", pluralize(omitted, "rule"))?;
    }
    for planned in fired.plan.iter().filter(|planned| planned.hook.kinds.contains(&fired.kind())) {
        let info = &planned.hook.info;
        match &planned.why_not {
            // A rule that does not apply has no record.
            None if is_silent_rule(fired, planned) => {
                let (id, source) = (printable(&info.id), display_source(&info.source));
                let length = 8 + id.chars().count() + source.chars().count();
                let line = format!("  {} {} {}", "skip".dimmed(), id.bold(), source.dimmed());
                layout::line_with_text(out, &line, length, &shorten_paths(&printable(&selection::why(planned))))?;
            }
            // Part of the record, so that it is shown above.
            None | Some(SkipReason::Skipped { .. }) => {}
            Some(why) => {
                let (id, source) = (printable(&info.id), display_source(&info.source));
                let length = 8 + id.chars().count() + source.chars().count();
                let line = format!("  {} {} {}", "skip".dimmed(), id.bold(), source.dimmed());
                let text = shorten_paths(&printable(&selection::why_not(planned, why)));
                layout::line_with_text(out, &line, length, &text)?;
            }
        }
    }
    Ok(())
}

/// `true` for a rule of a file that has no record because it does not apply.
fn is_silent_rule(fired: &Fired, planned: &ExplainedHook) -> bool {
    let info = &planned.hook.info;
    let has_record =
        fired.record.hooks.iter().any(|record| record.id == info.id && record.source.line == info.source.line);
    !has_record
        && !selection::is_of_pack(&planned.hook)
        && selection::rule_state(planned) == Some(RuleState::DoesNotApply)
}

/// Hint about a hook that matches the event and is registered for the event after it, which cannot be blocked.
fn later_guard(dialect: &Dialect, event: &Event, fired: &Fired) -> Option<String> {
    if event.kind() != EventKind::PreToolUse {
        return None;
    }
    let subject = event.subject()?;
    let is_guard = |planned: &&ExplainedHook| {
        planned.hook.kinds.contains(&EventKind::PostToolUse) && planned.hook.matcher.matches(&subject)
    };
    let planned = fired.plan.iter().find(is_guard)?;
    let name = |kind: &EventKind| dialect.name_of(kind).unwrap_or(kind.name()).to_owned();
    let [before, after] = [EventKind::PreToolUse, EventKind::PostToolUse].map(|kind| name(&kind));
    let (id, source) = (printable(&planned.hook.info.id), display_source(&planned.hook.info.source));
    Some(format!("`{id}` ({source}) matches, but runs at `{after}`, too late to block; use `{before}` for a guard"))
}

impl Fired {
    fn kind(&self) -> EventKind {
        self.record.event.parse().unwrap_or(EventKind::Notification)
    }

    fn planned(&self, record: &HookRecord) -> Option<&ExplainedHook> {
        self.plan.iter().find(|planned| {
            let info = &planned.hook.info;
            info.id == record.id && info.source.line == record.source.line && info.source.file == record.source.file
        })
    }
}

fn hook(out: &mut impl Write, fired: &Fired, record: &HookRecord) -> io::Result<()> {
    let planned = fired.planned(record);
    let is_background =
        record.outcome == HookOutcome::Skipped && planned.is_some_and(|planned| planned.hook.background);
    // A script is verified right before the run, so a change of it is known only then.
    let is_changed = record.failure == Some(FailureKind::Untrusted);
    let changed = record.detail.as_deref().filter(|_| is_changed);
    let fails = planned.and_then(|planned| planned.fails.as_deref()).or(changed);
    let (label, style) = match fails {
        Some(_) => ("not run", Style::new().red()),
        None if is_background => ("started", Style::new()),
        None => colours::label(record),
    };
    write!(out, "  {} {}", label.style(style), printable(&record.id).bold())?;
    if let (Some(file), Some(line)) = (&record.source.file, record.source.line) {
        write!(out, " {}", layout::place(file, Some(line)).dimmed())?;
    }
    let mut facts = vec![record.source.scope.to_string(), record.handler.clone()];
    facts.extend(record.exit_code.map(|code| format!("exit {code}")));
    facts.extend(record.status.map(|status| format!("status {status}")));
    facts.extend(record.duration_ms.filter(|_| fails.is_none()).map(|ms| format!("{ms} ms")));
    writeln!(out, " ({})", facts.join(", "))?;
    let mut lines: Vec<String> = Vec::new();
    if let Some(planned) = planned
        && (is_background || record.outcome != HookOutcome::Skipped)
        && !selection::is_whole_file(&planned.hook)
    {
        let verb = if fails.is_some() || is_background { "selected" } else { "ran" };
        let is_contradiction = has_effect(record) && selection::rule_state(planned) == Some(RuleState::DoesNotApply);
        let why = match is_contradiction {
            true => "its condition is true for the input that an earlier hook rewrote".to_owned(),
            false => selection::why(planned),
        };
        lines.push(format!("{verb}: {why}"));
    }
    if record.dry_run {
        lines.push(dry_run(record));
    }
    match (fails, is_background) {
        (Some(fails), _) => lines.push(not_run(fails, fired, record)),
        (None, true) => lines.push("started in the background (cannot block)".to_owned()),
        (None, false) => lines.extend(failure(fired, record, planned)),
    }
    for line in lines {
        layout::paragraph(out, 6, &shorten_paths(&printable(&line)))?;
    }
    if let Some(reason) = record.reason.as_ref().filter(|reason| !reason.is_empty()) {
        layout::paragraph(out, 6, &format!("reason: {}", layout::one_line(&shorten_paths(reason), 400)))?;
    }
    for (what, texts) in [("context", &record.context), ("message", &record.system_messages)] {
        for text in texts {
            layout::paragraph(out, 6, &format!("{what}: {}", layout::one_line(text, 400)))?;
        }
    }
    if let Some(label) = planned.and_then(selection::label) {
        layout::paragraph(out, 6, &format!("label: {label}"))?;
    }
    let applies = planned.is_some_and(|planned| selection::rule_state(planned) != Some(RuleState::DoesNotApply));
    if let Some(part) = planned.filter(|_| applies).and_then(selection::deciding_part) {
        layout::paragraph(out, 6, &shorten_paths(&printable(&format!("because {part}"))))?;
    }
    if !record.rewrote.is_empty() {
        writeln!(out, "      rewrote: {}", record.rewrote.join(", "))?;
    }
    streams(out, record)?;
    if !record.held_back.is_empty() {
        let names = printable(&record.held_back.join(", "));
        writeln!(out, "      variables not passed to the hook: {names} (`env_allow` passes them)")?;
    }
    for left in &record.left_running {
        writeln!(out, "      left running: {}", printable(left))?;
    }
    for completion in fired.later.iter().filter(|completion| completion.hook.id == record.id) {
        if let Some(later) = &completion.record
            && fails.is_none()
        {
            writeln!(out, "      in the background, after the verdict:")?;
            streams(out, later)?;
            if let Some(code) = later.exit_code {
                writeln!(out, "      exit {code}, without effect on the verdict")?;
            }
        }
    }
    Ok(())
}

/// `true` if the hook has changed the verdict or added to it.
fn has_effect(record: &HookRecord) -> bool {
    let has_decision = record.decision.is_some_and(|decision| decision != Decision::NoOpinion);
    has_decision || !record.rewrote.is_empty() || !record.context.is_empty() || !record.system_messages.is_empty()
}

/// `true` if the warning reports the failure of this hook.
fn is_about(warning: &Warning, record: &HookRecord) -> bool {
    let (info, source) = (&warning.hook, &record.source);
    warning.failure.is_some()
        && record.outcome == HookOutcome::Failure
        && record.detail.is_some()
        && (&info.id, &info.source.file, info.source.line) == (&record.id, &source.file, source.line)
}

/// Text for a hook that was selected and could not start: it is broken or not approved.
fn not_run(fails: &str, fired: &Fired, record: &HookRecord) -> String {
    let warning = fired.verdict.warnings().iter().find(|warning| is_about(warning, record));
    match warning.and_then(|warning| warning.failure) {
        // The text of a broken hook in a file without approvals already says that it is ignored.
        Some((_, policy)) if !fails.contains("; ignored") => format!("{fails}; {}", effect(policy)),
        _ => fails.to_owned(),
    }
}

/// Text for the failure of a hook that ran, with its effect. The output of the hook is not repeated.
fn failure(fired: &Fired, record: &HookRecord, planned: Option<&ExplainedHook>) -> Option<String> {
    let detail = record.detail.as_ref()?;
    let is_native = planned.is_some_and(|planned| planned.hook.dialect.name == native::DIALECT.name);
    let detail = match (record.failure, record.exit_code) {
        (Some(FailureKind::Exit), Some(127)) => "exited with 127: a program or script was not found".to_owned(),
        (Some(FailureKind::Exit), Some(126)) => "exited with 126: a program or script cannot be executed".to_owned(),
        (Some(FailureKind::Exit), Some(code)) if is_native && fired.kind().contract().is_gate() => {
            format!("exited with {code}, which is a failure, not an answer (2 denies, 0 has no opinion)")
        }
        (Some(FailureKind::Exit), Some(code)) => format!("exited with {code}, which is a failure"),
        _ => detail.clone(),
    };
    let warning = fired.verdict.warnings().iter().find(|warning| is_about(warning, record));
    Some(match warning.and_then(|warning| warning.failure) {
        Some((kind, policy)) => format!("{detail}; {}", consequence(kind, policy)),
        None => detail,
    })
}

/// Effect of a failure.
fn effect(policy: FailurePolicy) -> &'static str {
    match policy {
        FailurePolicy::Open => "ignored",
        FailurePolicy::Closed => "blocked",
        FailurePolicy::Ask => "the user is asked",
    }
}

/// Effect of a failure, with the config key that sets it.
fn consequence(kind: FailureKind, policy: FailurePolicy) -> String {
    let effect = effect(policy);
    match kind {
        // No key of the hook changes the effect of these.
        FailureKind::Untrusted | FailureKind::Cancelled => effect.to_owned(),
        FailureKind::Timeout => format!("{effect} (on_timeout: {policy})"),
        _ => format!("{effect} (on_failure: {policy})"),
    }
}

/// Effect that a dry-run hook would have had.
fn dry_run(record: &HookRecord) -> String {
    match &record.would {
        Some(would) if would.differs && would.verdict == would.decision => {
            format!("dry run: the verdict would be {}", would.verdict)
        }
        Some(would) if would.differs => {
            format!("dry run: the verdict would differ ({})", would.verdict)
        }
        _ => "dry run: the verdict would be the same".to_owned(),
    }
}

fn streams(out: &mut impl Write, record: &HookRecord) -> io::Result<()> {
    stream(out, "stdout", record.stdout.as_deref(), record.stdout_bytes)?;
    stream(out, "stderr", record.stderr.as_deref(), record.stderr_bytes)
}

/// Writes the start of a stream. `all` is its size if only a part was kept.
fn stream(out: &mut impl Write, name: &str, text: Option<&str>, all: Option<u64>) -> io::Result<()> {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return Ok(()) };
    match all {
        Some(all) => writeln!(out, "      {name} ({all} bytes, of which {} were kept):", text.len())?,
        None => writeln!(out, "      {name} ({} bytes):", text.len())?,
    }
    for line in text.lines().take(SHOWN_LINES) {
        writeln!(out, "      {} {}", "|".dimmed(), layout::one_line(&printable(line), 200))?;
    }
    let left = text.lines().count().saturating_sub(SHOWN_LINES);
    if left > 0 {
        writeln!(out, "      {} … {left} more lines", "|".dimmed())?;
    }
    Ok(())
}

fn verdict(out: &mut impl Write, fired: &Fired) -> io::Result<()> {
    let verdict = &fired.verdict;
    let decision = verdict.decision();
    write!(out, "=> {}", decision.name().style(colours::for_decision(decision)))?;
    let failed = verdict.decided_by().and_then(|hook| {
        let is_its = |warning: &&Warning| warning.hook.id == hook.id && warning.failure.is_some();
        verdict.warnings().iter().find(is_its)
    });
    match (failed, verdict.reason()) {
        // The hook above shows the reason.
        (Some(warning), _) => {
            let is_changed = matches!(warning.failure, Some((FailureKind::Untrusted, _)));
            let is_its = |planned: &&ExplainedHook| planned.hook.info == warning.hook;
            let is_broken = fired.plan.iter().find(is_its).is_some_and(|planned| planned.fails.is_some());
            let what = if is_changed || is_broken { "cannot run" } else { "failed" };
            writeln!(out, ": hook `{}` {what}", printable(&warning.hook.id))?;
        }
        (None, Some(reason)) => writeln!(out, ": {}", layout::one_line(&shorten_paths(reason), 400))?,
        (None, None) => writeln!(out)?,
    }
    for target in Target::ALL {
        if let Some(rewritten) = verdict.rewritten(target) {
            writeln!(out, "   {target} rewritten to {}", layout::one_line(rewritten.effective.as_str(), 400))?;
        }
    }
    for message in verdict.context() {
        writeln!(out, "   context for the model: {}", layout::one_line(&message.text, 400))?;
    }
    // Failures are shown with their hooks.
    let is_shown = |warning: &Warning| fired.record.hooks.iter().any(|record| is_about(warning, record));
    for warning in verdict.warnings().iter().filter(|warning| !is_shown(warning)) {
        writeln!(out, "   {} {}", "warning:".yellow(), shorten_paths(&printable(&warning.to_string())))?;
    }
    Ok(())
}
