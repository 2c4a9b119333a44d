//! Text and JSON output of `checkrein bench`.

use std::io::{self, Write};

use checkrein::dialects::Dialect;
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::super::{is_verbose, pluralize, printable};
use super::measure::{BenchResult, HookOutcomes, SkippedHook};
use super::times::{Times, micros, shown};

/// Maximum number of lines of a histogram.
const LINES: usize = 8;
/// Name of the row with the times of warm runs.
const WARM: &str = "  in a warm interpreter";
/// Name of the row with the times of cold runs without other hooks.
const ALONE: &str = "  alone, in a new process";
/// Width of the longest bar of a histogram.
const WIDTH: usize = 40;

/// Writes a table for each event and, after `-v`, a histogram for each hook.
pub fn text(
    out: &mut impl Write,
    dialect: &Dialect,
    floor: Option<&Times>,
    outcomes: &[BenchResult],
) -> io::Result<()> {
    for (index, outcome) in outcomes.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        let kind = outcome.event.kind();
        write!(out, "{}", dialect.name_of(&kind).unwrap_or(kind.name()).bold())?;
        if let Some(subject) = outcome.event.subject() {
            write!(out, " {}", printable(&subject))?;
        }
        writeln!(out)?;
        table(out, floor, outcome)?;
        if is_verbose() {
            for hook in &outcome.hooks {
                histogram(out, hook)?;
            }
        }
    }
    Ok(())
}

fn table(out: &mut impl Write, floor: Option<&Times>, outcome: &BenchResult) -> io::Result<()> {
    let names = outcome.hooks.iter().map(|hook| hook.hook.info.id.as_str());
    let has_warm = outcome.hooks.iter().any(|hook| hook.warm.is_some());
    let warm = has_warm.then(|| format!("{WARM} (0.00 x cold)"));
    let width = names
        .chain(["an empty process"])
        .chain(warm.as_deref())
        .map(|name| name.chars().count())
        .max()
        .unwrap_or_default();
    let heading = format!(
        "  {:<width$}  {:>9} {:>9} {:>9} {:>9} {:>8} {:>6}",
        "", "p50", "p95", "p99", "max", "x floor", "share"
    );
    writeln!(out, "{}", heading.dimmed())?;
    for hook in &outcome.hooks {
        row(out, width, &printable(&hook.hook.info.id), hook.times.as_ref(), floor, Some(hook.share))?;
        if let Some(warm) = &hook.warm {
            let name =
                format!("{WARM} ({})", times_cold(hook).map_or_else(String::new, |ratio| format!("{ratio:.2} x cold")));
            row(out, width, &name, Some(warm), floor, None)?;
            row(out, width, ALONE, hook.cold.as_ref(), floor, None)?;
        }
        if hook.failures > 0 {
            let runs = pluralize(hook.times.as_ref().map_or(0, Times::count), "run");
            let text = format!("failed in {} of {runs}", hook.failures);
            writeln!(out, "  {:width$}  {}", "", text.red())?;
        }
    }
    row(out, width, "the agent waits", outcome.fires.as_ref(), floor, None)?;
    row(out, width, "an empty process", floor, floor, None)
}

fn row(
    out: &mut impl Write,
    width: usize,
    name: &str,
    times: Option<&Times>,
    floor: Option<&Times>,
    share: Option<f64>,
) -> io::Result<()> {
    let Some(times) = times else { return writeln!(out, "  {name:<width$}  never ran after the warm-up") };
    write!(out, "  {name:<width$} ")?;
    for time in [times.percentile(50), times.percentile(95), times.percentile(99), times.longest()] {
        write!(out, " {:>9}", shown(time))?;
    }
    write!(out, " {:>8}", ratio(times, floor).map(|ratio| format!("{ratio:.2}")).unwrap_or_default())?;
    match share {
        Some(share) => writeln!(out, " {:>5.1}%", share * 100.0),
        None => writeln!(out),
    }
}

/// Ratio of the medians of a hook and of its floor.
fn ratio(times: &Times, floor: Option<&Times>) -> Option<f64> {
    let floor = micros(floor?.percentile(50));
    (floor > 0.0).then(|| micros(times.percentile(50)) / floor)
}

/// Ratio of the medians of warm and cold runs without other hooks.
fn times_cold(hook: &HookOutcomes) -> Option<f64> {
    ratio(hook.warm.as_ref()?, hook.cold.as_ref())
}

fn histogram(out: &mut impl Write, hook: &HookOutcomes) -> io::Result<()> {
    let Some(times) = &hook.times else { return Ok(()) };
    writeln!(out, "\n  {}, {}", printable(&hook.hook.info.id).bold(), pluralize(times.count(), "run"))?;
    let buckets = times.histogram(LINES);
    let most = buckets.iter().map(|bucket| bucket.count).max().unwrap_or(1).max(1);
    for bucket in buckets {
        // A bucket with a single run still has a visible bar.
        let bar = match bucket.count {
            0 => String::new(),
            count => format!("{} ", "█".repeat((count * WIDTH).div_ceil(most)).cyan()),
        };
        writeln!(out, "  {:>9} {} {bar}{}", shown(bucket.from), "|".dimmed(), bucket.count)?;
    }
    Ok(())
}

/// All results for `--json`.
pub fn json(dialect: &Dialect, floor: Option<&Times>, outcomes: &[BenchResult], left_out: &[SkippedHook]) -> Value {
    let events: Vec<_> = outcomes
        .iter()
        .map(|outcome| {
            let kind = outcome.event.kind();
            json!({
                "event": kind.name(),
                "name": dialect.name_of(&kind),
                "subject": outcome.event.subject(),
                "time": outcome.fires.as_ref().map(Times::json),
                "hooks": outcome.hooks.iter().map(|hook| hook_json(hook, floor)).collect::<Vec<_>>(),
            })
        })
        .collect();
    let not_measured: Vec<_> =
        left_out.iter().map(|one| json!({ "id": one.hook.id, "source": source(&one.hook), "why": one.why })).collect();
    json!({ "floor": floor.map(Times::json), "events": events, "not_measured": not_measured })
}

fn source(hook: &checkrein::hook::HookInfo) -> Value {
    json!({ "file": hook.source.file, "line": hook.source.line, "scope": hook.source.scope })
}

fn hook_json(hook: &HookOutcomes, floor: Option<&Times>) -> Value {
    let buckets = hook.times.as_ref().map(|times| times.histogram(LINES)).unwrap_or_default();
    let buckets: Vec<_> = buckets
        .iter()
        .map(|bucket| json!({ "from_us": micros(bucket.from), "to_us": micros(bucket.to), "count": bucket.count }))
        .collect();
    json!({
        "id": hook.hook.info.id,
        "source": source(&hook.hook.info),
        "handler": hook.hook.handler.kind().name(),
        "time": hook.times.as_ref().map(Times::json),
        "failures": hook.failures,
        "share": hook.share,
        "times_floor": hook.times.as_ref().and_then(|times| ratio(times, floor)),
        "warm": hook.warm.as_ref().map(Times::json),
        "cold_alone": hook.cold.as_ref().map(Times::json),
        "warm_times_cold": times_cold(hook),
        "histogram": buckets,
    })
}
