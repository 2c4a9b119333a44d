//! Text report of `checkrein test`: cases with their differences, and tables of probes.

use std::io::{self, Write};
use std::path::Path;

use checkrein::record::HookOutcome;
use checkrein_tools::hook_tests::{CaseOutcome, CaseReport, Finding, HookProbes, Mismatch, ProbeReport, TestReport};
use checkrein_tools::rule_tests::{MUTANT, RuleCoverage};
use owo_colors::{OwoColorize, Style};

use super::super::{layout, pluralize, printable, shorten_paths};

/// Number of lines of a stream, and of characters of a line, that are shown.
const SHOWN_LINES: usize = 20;
const SHOWN_COLUMNS: usize = 200;

/// Path relative to the current directory, or absolute if it is outside.
pub(super) fn relative(path: &Path) -> String {
    let here = std::env::current_dir().and_then(|here| here.canonicalize());
    let short = here.ok().and_then(|here| path.strip_prefix(here).ok().map(Path::to_owned));
    printable(&short.filter(|short| !short.as_os_str().is_empty()).unwrap_or_else(|| path.to_owned()).to_string_lossy())
}

fn place(report: &CaseReport) -> String {
    format!("{}:{}", relative(Path::new(&report.file)), report.line)
}

/// Writes all cases by file, and at the end a summary with the failed ones.
pub(super) fn cases(out: &mut impl Write, report: &TestReport) -> io::Result<()> {
    let mut file = "";
    for case in &report.cases {
        if case.file != file {
            file = &case.file;
            writeln!(out, "{}", relative(Path::new(file)).bold())?;
        }
        show_case(out, case)?;
    }
    let mut counts = vec![format!("{} passed", report.passed)];
    let failed = report.failed - report.cases.iter().filter(|case| is_mutant(case)).count();
    for (count, word) in [(failed, "failed"), (report.errors, "could not run"), (report.skipped, "skipped")] {
        if count > 0 {
            counts.push(format!("{count} {word}"));
        }
    }
    let style = if report.is_fine() { Style::new().green() } else { Style::new().red() };
    let survivors = report.cases.iter().filter(|case| is_mutant(case)).count();
    let cases = pluralize(report.cases.len() - survivors, "case");
    writeln!(out, "\n{cases}: {}, in {} ms", counts.join(", ").style(style), report.duration_ms)?;
    problems(out, report)?;
    mutants(out, report.mutants, survivors)?;
    coverage(out, &report.rules)?;
    let is_failed = |case: &&CaseReport| !matches!(case.outcome, CaseOutcome::Passed | CaseOutcome::Skipped);
    for case in report.cases.iter().filter(is_failed).filter(|case| !is_mutant(case)) {
        let fields: Vec<_> =
            case.mismatches.iter().map(|mismatch| sentence(mismatch).unwrap_or(&mismatch.field)).collect();
        // The case above shows all lines of the error.
        let error = case.error.as_ref().map(|error| error.lines().next().unwrap_or_default().to_owned());
        let why = error.unwrap_or_else(|| fields.join(", "));
        writeln!(out, "  {} {} {}: {}", "failed".red(), place(case), printable(&case.name), printable(&why))?;
    }
    Ok(())
}

/// `true` for a changed condition that no test notices.
fn is_mutant(case: &CaseReport) -> bool {
    case.mismatches.iter().any(|mismatch| mismatch.field == MUTANT)
}

/// Returns the difference in words, if it is one line and no list of lines.
fn sentence(mismatch: &Mismatch) -> Option<&str> {
    match mismatch.diff.as_slice() {
        [line] if !line.starts_with(['-', '+']) => Some(line),
        _ => None,
    }
}

/// Writes the number of changed conditions, and of those that no test notices.
fn mutants(out: &mut impl Write, all: usize, survivors: usize) -> io::Result<()> {
    if all == 0 {
        return Ok(());
    }
    writeln!(out, "{}: {} noticed, {survivors} not noticed", pluralize(all, "mutant"), all - survivors)?;
    if survivors > 0 {
        let hint = "add a test that tells the difference, or remove the part if no call can tell";
        layout::paragraph(out, 2, &format!("hint: {hint}"))?;
    }
    Ok(())
}

/// Writes the number of rules with both kinds of cases, and the other rules.
fn coverage(out: &mut impl Write, rules: &[RuleCoverage]) -> io::Result<()> {
    let incomplete = || rules.iter().filter(|rule| !rule.is_complete());
    let complete = rules.len() - incomplete().count();
    if rules.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}: {complete} with a case that applies and one that does not", pluralize(rules.len(), "rule"))?;
    for rule in incomplete() {
        let missing = match (rule.applies, rule.silent) {
            (false, false) => "no cases",
            (false, true) => "no case in which it applies",
            _ => "no case in which it does not apply",
        };
        let place = format!("({}:{})", relative(Path::new(&rule.file)), rule.line);
        writeln!(out, "  {} {}: {missing} {}", "untested".yellow(), printable(&rule.rule), place.dimmed())?;
    }
    Ok(())
}

/// Writes problems of the whole run. Only their first lines: standard error has the rest.
fn problems(out: &mut impl Write, report: &TestReport) -> io::Result<()> {
    for problem in &report.problems {
        let first = problem.lines().next().unwrap_or_default();
        layout::paragraph(out, 2, &format!("{} {}", "error:".red(), shorten_paths(&printable(first))))?;
    }
    Ok(())
}

fn show_case(out: &mut impl Write, case: &CaseReport) -> io::Result<()> {
    let (word, style) = match case.outcome {
        CaseOutcome::Passed => ("ok     ", Style::new().green()),
        CaseOutcome::Skipped => ("skipped", Style::new().dimmed()),
        _ => ("FAILED ", Style::new().red().bold()),
    };
    write!(out, "  {} {}", word.style(style), printable(&case.name))?;
    match case.outcome {
        CaseOutcome::Passed => writeln!(out, " {}", format!("({} ms)", case.duration_ms).dimmed())?,
        CaseOutcome::Skipped => writeln!(out)?,
        _ if is_mutant(case) => writeln!(out, " {}", format!("({})", place(case)).dimmed())?,
        _ => writeln!(out, " {}", format!("({}, {} ms)", place(case), case.duration_ms).dimmed())?,
    }
    if is_mutant(case) {
        return Ok(());
    }
    if let Some(error) = &case.error {
        layout::paragraph(out, 10, &shorten_paths(&printable(error)))?;
    }
    for mismatch in &case.mismatches {
        show_mismatch(out, mismatch)?;
    }
    let hooks = case.record.iter().filter(|_| !case.mismatches.is_empty()).flat_map(|record| &record.hooks);
    for hook in hooks.filter(|hook| hook.outcome != HookOutcome::Skipped) {
        let mut facts = vec![match (hook.failure, hook.decision) {
            (Some(kind), _) => format!("failed: {kind}"),
            (None, Some(decision)) => decision.name().to_owned(),
            (None, None) => "no opinion".to_owned(),
        }];
        facts.extend(hook.exit_code.map(|code| format!("exit {code}")));
        writeln!(out, "      hook {} ({})", printable(&hook.id).bold(), facts.join(", "))?;
        stream(out, "stdout", hook.stdout.as_deref().unwrap_or_default())?;
        stream(out, "stderr", hook.stderr.as_deref().unwrap_or_default())?;
    }
    Ok(())
}

fn show_mismatch(out: &mut impl Write, mismatch: &Mismatch) -> io::Result<()> {
    writeln!(out, "      {} {}", mismatch.field.bold(), format!("(line {})", mismatch.line).dimmed())?;
    for line in &mismatch.diff {
        let style = match line.as_bytes().first() {
            Some(b'-') => Style::new().red(),
            Some(b'+') => Style::new().green(),
            _ => Style::new(),
        };
        writeln!(out, "        {}", cut(line).style(style))?;
    }
    Ok(())
}

fn stream(out: &mut impl Write, name: &str, text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    writeln!(out, "        {name} ({}):", pluralize(text.len(), "byte"))?;
    for line in text.lines().take(SHOWN_LINES) {
        writeln!(out, "        {} {}", "|".dimmed(), cut(line))?;
    }
    let left = text.lines().count().saturating_sub(SHOWN_LINES);
    if left > 0 {
        writeln!(out, "        {} … {} more", "|".dimmed(), pluralize(left, "line"))?;
    }
    Ok(())
}

/// Start of a line, at most [`SHOWN_COLUMNS`] characters.
fn cut(line: &str) -> String {
    let line = printable(line);
    match line.char_indices().nth(SHOWN_COLUMNS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Writes the results of probes: a table for each hook.
pub(super) fn contract(out: &mut impl Write, report: &TestReport, with_cases: usize) -> io::Result<()> {
    for hook in &report.contract {
        writeln!(
            out,
            "{} {} {}",
            printable(&hook.id).bold(),
            hook.event,
            format!("({})", shortened(&hook.source)).dimmed()
        )?;
        if let Some(why) = &hook.not_probed {
            writeln!(out, "  {} {}", "not probed:".dimmed(), cut(why))?;
        }
        let mut shown = (String::new(), String::new());
        for probe in &hook.probes {
            row(out, probe)?;
            let streams = (probe.stdout.clone(), probe.stderr.clone());
            // Output that is equal to that of the probe above is not repeated.
            if probe.finding.is_some() && streams != shown {
                stream(out, "stdout", &streams.0)?;
                stream(out, "stderr", &streams.1)?;
                shown = streams;
            }
        }
    }
    let bad: Vec<_> = report.contract.iter().filter(|hook| hook.has_findings()).collect();
    let probed = report.contract.iter().filter(|hook| hook.not_probed.is_none()).count();
    let style = if bad.is_empty() { Style::new().green() } else { Style::new().red() };
    let findings = format!("{} with problems", bad.len());
    writeln!(out, "\n{} probed: {}, in {} ms", pluralize(probed, "hook"), findings.style(style), report.duration_ms)?;
    if with_cases > 0 {
        writeln!(
            out,
            "{} not probed, because test cases run them (--all probes them too)",
            pluralize(with_cases, "hook")
        )?;
    }
    for hook in bad {
        writeln!(out, "  {} {}: {}", "failed".red(), printable(&hook.id), findings_of(hook))?;
    }
    problems(out, report)?;
    Ok(())
}

fn shortened(source: &str) -> String {
    match source.rsplit_once(':') {
        Some((file, line)) => format!("{}:{line}", relative(Path::new(file))),
        None => source.to_owned(),
    }
}

/// Findings of a hook, each with the probes that have it.
fn findings_of(hook: &HookProbes) -> String {
    let mut kinds: Vec<(Finding, Vec<&str>)> = Vec::new();
    for probe in &hook.probes {
        let Some(finding) = probe.finding else { continue };
        match kinds.iter_mut().find(|(kind, _)| *kind == finding) {
            Some((_, probes)) => probes.push(&probe.probe),
            None => kinds.push((finding, vec![&probe.probe])),
        }
    }
    let words = kinds.iter().map(|(finding, probes)| format!("{} ({})", finding.name(), probes.join(", ")));
    words.collect::<Vec<_>>().join(", ")
}

fn row(out: &mut impl Write, probe: &ProbeReport) -> io::Result<()> {
    let (word, style) = match probe.finding {
        None => ("ok", Style::new().green()),
        Some(finding) => (finding.name(), Style::new().red().bold()),
    };
    write!(out, "  {} {:<15}", format!("{word:<7}").style(style), probe.probe)?;
    match (&probe.detail, probe.decision) {
        (Some(detail), _) => writeln!(out, " {}", cut(detail))?,
        (None, Some(decision)) => writeln!(out, " {}", decision.name())?,
        (None, None) => writeln!(out)?,
    }
    Ok(())
}
