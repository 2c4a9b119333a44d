//! Comparison of a case's results with its expectations.

mod json;

use std::time::Duration;

use checkrein_core::{Decision, HookOutcome, HookRecord, RawJson, Record, Target, closest_match};

use super::case::{Check, Expected};
use super::diff;
use super::pattern::TextPattern;
use super::report::Mismatch;
use super::scratch::{Scratch, in_json};
use super::text;

/// Results of a case.
pub(super) struct Observed<'a> {
    pub(super) record: &'a Record,
    pub(super) took: Duration,
    /// Names of all loaded hooks.
    pub(super) known: &'a [String],
    pub(super) scratch: &'a Scratch,
}

/// Differences from the expected results.
pub(super) fn compare(expected: &[Expected], observed: &Observed<'_>) -> Vec<Mismatch> {
    let mut found = Vec::new();
    for expected in expected {
        match &expected.check {
            Check::Hook(id, inner) => hook(id, inner, expected.line, observed, &mut found),
            check => {
                let field = field(check);
                found.extend(
                    check_event(check, observed).map(|(want, have)| mismatch(field.clone(), expected.line, want, have)),
                );
            }
        }
    }
    found
}

/// Expected and actual value of a mismatch. `None` if the check holds.
type MismatchKind = Option<(String, String)>;

const NONE: &str = "none";

fn mismatch(field: String, line: u32, expected: String, actual: String) -> Mismatch {
    let diff = diff::lines(&expected, &actual);
    Mismatch { field, line, expected, actual, diff }
}

/// Key of the check in test files.
fn field(check: &Check) -> String {
    match check {
        Check::Decision(_) => "decision",
        Check::Reason(_) => "reason",
        Check::Context(_) => "context",
        Check::Messages(_) => "messages",
        Check::Warnings(_) => "warnings",
        Check::Prompt(_) => "prompt",
        Check::Json { target, exact, .. } => return format!("{target}{}", if *exact { "_is" } else { "" }),
        Check::MaxDuration(_) => "max_duration",
        Check::ExitCode(_) => "exit_code",
        Check::Failure(_) => "failure",
        Check::Stdout(_) => "stdout",
        Check::Stderr(_) => "stderr",
        Check::Ran(_) => "ran",
        Check::NotRan(_) => "not_ran",
        Check::Hook(..) => "hooks",
    }
    .to_owned()
}

/// Checks the result of the whole event.
fn check_event(check: &Check, observed: &Observed<'_>) -> MismatchKind {
    let verdict = &observed.record.verdict;
    let scratch = observed.scratch;
    let ran = || observed.record.hooks.iter().filter(|hook| hook.outcome != HookOutcome::Skipped);
    match check {
        Check::Decision(wanted) => decision(wanted, Some(verdict.decision)),
        Check::Reason(wanted) => optional(wanted.as_ref(), verdict.reason.as_deref(), scratch),
        Check::Context(wanted) => texts(wanted, &verdict.context, scratch),
        Check::Messages(wanted) => texts(wanted, &verdict.system_messages, scratch),
        Check::Warnings(wanted) => texts(wanted, &verdict.warnings, scratch),
        Check::Prompt(None) => {
            let (was, is) = (verdict.original_prompt.as_deref(), verdict.effective_prompt.as_deref());
            (was != is).then(|| (was.unwrap_or(NONE).to_owned(), is.unwrap_or(NONE).to_owned()))
        }
        Check::Prompt(wanted) => optional(wanted.as_ref(), verdict.effective_prompt.as_deref(), scratch),
        Check::Json { target, wanted, exact } => {
            let (was, is) = match target {
                Target::Output => (&verdict.original_output, &verdict.effective_output),
                _ => (&verdict.original_input, &verdict.effective_input),
            };
            let wanted = wanted.as_ref().map(|wanted| in_json(wanted, scratch));
            rewritten(wanted.as_ref(), was.as_ref(), is.as_ref(), *exact)
        }
        Check::MaxDuration(most) => duration(*most, Some(observed.took)),
        Check::ExitCode(code) => match &ran().collect::<Vec<_>>()[..] {
            [one] => exit_code(*code, one),
            [] => Some((code.to_string(), "no hook ran".to_owned())),
            many => {
                let ids = many.iter().map(|hook| hook.id.clone()).collect::<Vec<_>>();
                let text = format!("several hooks ran: {}; use `hooks` to select one", text::joined(&ids));
                Some((code.to_string(), text))
            }
        },
        Check::Ran(wanted) => {
            let ids: Vec<_> = ran().map(|hook| hook.id.clone()).collect();
            let fits = if wanted.is_empty() { ids.is_empty() } else { wanted.iter().all(|id| ids.contains(id)) };
            (!fits).then(|| (text::joined(wanted), with_hint(wanted, &ids, observed)))
        }
        Check::NotRan(wanted) => {
            let ids: Vec<_> = ran().map(|hook| hook.id.clone()).collect();
            let unknown = wanted.iter().any(|id| !observed.known.contains(id));
            let fits = !unknown && !wanted.iter().any(|id| ids.contains(id));
            (!fits).then(|| (format!("not {}", text::joined(wanted)), with_hint(wanted, &ids, observed)))
        }
        Check::Failure(_) | Check::Stdout(_) | Check::Stderr(_) | Check::Hook(..) => None,
    }
}

/// Names of the hooks that ran, with hints for unknown names in `wanted`.
fn with_hint(wanted: &[String], ran: &[String], observed: &Observed<'_>) -> String {
    let mut text = text::joined(ran);
    for id in wanted.iter().filter(|id| !observed.known.contains(id)) {
        text.push_str(&format!("; {}", no_such_hook(id, observed.known)));
    }
    text
}

fn no_such_hook(id: &str, known: &[String]) -> String {
    match closest_match(id, known.iter().map(String::as_str)) {
        Some(meant) => format!("unknown hook `{id}`, did you mean `{meant}`?"),
        None => format!("unknown hook `{id}`; known hooks: {}", text::joined(known)),
    }
}

/// Checks the result of one hook.
fn hook(id: &str, expected: &[Expected], line: u32, observed: &Observed<'_>, found: &mut Vec<Mismatch>) {
    let record = observed.record.hooks.iter().find(|hook| hook.id == id);
    let Some(record) = record.filter(|hook| hook.outcome != HookOutcome::Skipped) else {
        let why = match record {
            Some(record) => format!("did not run: {}", record.detail.as_deref().unwrap_or("skipped")),
            None if observed.known.iter().any(|known| known == id) => "did not run".to_owned(),
            None => no_such_hook(id, observed.known),
        };
        found.push(mismatch(format!("hooks.{id}"), line, "runs".to_owned(), why));
        return;
    };
    for expected in expected {
        if let Some((want, have)) = check_hook(&expected.check, record, observed.scratch) {
            found.push(mismatch(format!("hooks.{id}.{}", field(&expected.check)), expected.line, want, have));
        }
    }
}

fn check_hook(check: &Check, hook: &HookRecord, scratch: &Scratch) -> MismatchKind {
    match check {
        Check::Decision(wanted) => decision(wanted, hook.decision),
        Check::Reason(wanted) => optional(wanted.as_ref(), hook.reason.as_deref(), scratch),
        Check::Context(wanted) => texts(wanted, &hook.context, scratch),
        Check::Messages(wanted) => texts(wanted, &hook.system_messages, scratch),
        Check::ExitCode(code) => exit_code(*code, hook),
        Check::Failure(wanted) => {
            let name =
                |kind: &Option<checkrein_core::FailureKind>| kind.map_or(NONE.to_owned(), |kind| kind.to_string());
            let detail = hook.detail.as_deref().filter(|_| hook.failure.is_some());
            let have = || name(&hook.failure) + &detail.map(|detail| format!(": {detail}")).unwrap_or_default();
            (*wanted != hook.failure).then(|| (name(wanted), have()))
        }
        Check::Stdout(wanted) => optional(Some(wanted), Some(hook.stdout.as_deref().unwrap_or_default()), scratch),
        Check::Stderr(wanted) => optional(Some(wanted), Some(hook.stderr.as_deref().unwrap_or_default()), scratch),
        Check::MaxDuration(most) => duration(*most, hook.duration_ms.map(Duration::from_millis)),
        _ => None,
    }
}

fn decision(wanted: &[Decision], have: Option<Decision>) -> MismatchKind {
    let fits = have.is_some_and(|have| wanted.contains(&have));
    let names: Vec<_> = wanted.iter().map(|decision| decision.name()).collect();
    (!fits).then(|| (names.join(" or "), have.map_or(NONE, Decision::name).to_owned()))
}

fn exit_code(wanted: i32, hook: &HookRecord) -> MismatchKind {
    let have = || hook.exit_code.map_or_else(|| "no exit code".to_owned(), |code| code.to_string());
    (hook.exit_code != Some(wanted)).then(|| (wanted.to_string(), have()))
}

fn duration(most: Duration, have: Option<Duration>) -> MismatchKind {
    let have = have.unwrap_or_default();
    (have > most).then(|| (format!("at most {}", text::duration(most)), text::duration(have)))
}

fn optional(wanted: Option<&TextPattern>, have: Option<&str>, scratch: &Scratch) -> MismatchKind {
    let shown = || match have {
        None => NONE.to_owned(),
        Some("") => "empty".to_owned(),
        Some(have) => have.to_owned(),
    };
    match (wanted, have) {
        (None, None) => None,
        (None, Some(_)) => Some((NONE.to_owned(), shown())),
        (Some(wanted), have) if have.is_some_and(|have| wanted.fits(have, scratch)) => None,
        (Some(wanted), _) => Some((wanted.whole(scratch).unwrap_or_else(|| wanted.to_string()), shown())),
    }
}

/// Checks that each pattern matches one of the texts, and that each negative pattern holds for all of them. Without patterns,
/// there must be no text.
fn texts(wanted: &[TextPattern], have: &[String], scratch: &Scratch) -> MismatchKind {
    let fits = |pattern: &&TextPattern| {
        if pattern.is_negative() {
            have.iter().all(|text| pattern.fits(text, scratch))
        } else {
            have.iter().any(|text| pattern.fits(text, scratch))
        }
    };
    let shown = || if have.is_empty() { NONE.to_owned() } else { have.join("\n") };
    if wanted.is_empty() {
        return (!have.is_empty()).then(|| (NONE.to_owned(), shown()));
    }
    let unmet: Vec<_> = wanted.iter().filter(|pattern| !fits(pattern)).collect();
    (!unmet.is_empty()).then(|| {
        let shown_pattern = |pattern: &&TextPattern| pattern.whole(scratch).unwrap_or_else(|| pattern.to_string());
        (unmet.iter().map(shown_pattern).collect::<Vec<_>>().join("\n"), shown())
    })
}

fn rewritten(wanted: Option<&RawJson>, was: Option<&RawJson>, is: Option<&RawJson>, exact: bool) -> MismatchKind {
    let pretty = |json: Option<&RawJson>| json.map_or_else(|| NONE.to_owned(), json::pretty);
    match (wanted, is) {
        (None, is) => {
            let same = match (was, is) {
                (Some(was), Some(is)) => was.semantically_eq(is),
                (was, is) => was.is_none() && is.is_none(),
            };
            (!same).then(|| (pretty(was), pretty(is)))
        }
        (Some(wanted), None) => Some((json::pretty(wanted), NONE.to_owned())),
        (Some(wanted), Some(is)) => {
            let fits = if exact { wanted.semantically_eq(is) } else { json::has(is, wanted) };
            (!fits).then(|| (json::pretty(wanted), json::pretty(&json::arranged(is, wanted, exact))))
        }
    }
}
