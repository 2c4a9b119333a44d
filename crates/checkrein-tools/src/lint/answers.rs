//! Faults of what scripts answer.

use std::borrow::Cow;

use checkrein_core::{Decision, EventKind, Opinion, ProcessExit, ProcessReply, RawJson, Reply};
use checkrein_dialects::HookSpec;
use checkrein_dialects::reply::{Key, KeyMeaning};

use super::code::{Code, Literal};
use super::is_gate;
use super::script::Tell;

pub(super) fn lint(code: &Code<'_>, hook: &HookSpec, tell: &mut Tell<'_>) {
    to_stderr(code, tell);
    let keys = hook.dialect.reply.keys;
    if keys.is_empty() || hook.kinds.is_empty() {
        return;
    }
    for literal in code.literals().iter().filter(|literal| !literal.to_stderr) {
        unknown(literal, hook, tell);
        without_reason(literal, hook, tell);
        with_exit(code, literal, hook, tell);
    }
    not_read(code, hook, tell);
}

/// Words that only decisions have.
fn decides(text: &str) -> bool {
    text.contains("\"decision\"") || text.contains("permissionDecision") || text.contains("\"continue\"")
}

fn to_stderr(code: &Code<'_>, tell: &mut Tell<'_>) {
    let ways: &[&str] =
        if code.is_shell { &[">&2"] } else { &["file=sys.stderr", "sys.stderr.write", "console.error"] };
    let lines = code.lines().filter(|(line, _)| decides(line) && ways.iter().any(|way| line.contains(way)));
    let mut found: Vec<u32> = lines.map(|(_, number)| number).collect();
    if code.is_shell {
        let documents = code.here_documents();
        let own = documents.iter().filter(|document| document.command.contains(">&2") && decides(&document.body));
        found.extend(own.map(|document| document.line));
    }
    for number in found {
        tell("json-to-stderr", Some(number), "prints a decision to standard error".to_owned());
    }
}

/// What comes of a reply at the first of the hook's events.
fn read(hook: &HookSpec, code: i32, stdout: &RawJson) -> Option<Opinion> {
    let kind = hook.kinds.first()?;
    let reply = ProcessReply::new(ProcessExit::Code(code)).stdout(stdout.as_str());
    hook.dialect.read(&crate::samples::event(kind), Reply::Process(reply), hook.strict).ok()
}

fn paths(keys: &[Key]) -> impl Iterator<Item = (&Key, &'static str)> {
    keys.iter().flat_map(|key| key.paths.iter().map(move |path| (key, *path)))
}

/// Keys that the dialect does not have, and decisions that it has no such word for.
fn unknown(literal: &Literal, hook: &HookSpec, tell: &mut Tell<'_>) {
    let keys = hook.dialect.reply.keys;
    let first = |path: &'static str| path.split('.').next().unwrap_or(path);
    // Where everything is data for the host, nothing is unknown.
    if keys.iter().any(|key| key.means == KeyMeaning::Metadata && key.paths.iter().any(|path| path.is_empty())) {
        return;
    }
    for entry in literal.json.entries().into_iter().flatten() {
        let name = entry.key();
        if !paths(keys).any(|(_, path)| first(path) == name) {
            let close = checkrein_core::closest_match(&name, paths(keys).map(|(_, path)| first(path)));
            let hint = close.map(|meant| format!(", did you mean `{meant}`?")).unwrap_or_default();
            let text = format!("answers `{name}`, which {} does not know{hint}", hook.dialect.name);
            tell("unknown-answer", Some(literal.line), text);
        }
    }
    for (key, path) in paths(keys) {
        let KeyMeaning::Decision(words) = key.means else { continue };
        let Some(said) = at(&literal.json, path).and_then(|value| value.as_text().map(Cow::into_owned)) else {
            continue;
        };
        let same =
            |word: &str| if hook.dialect.reply.exact_case { word == said } else { word.eq_ignore_ascii_case(&said) };
        let is_filled_in = said.contains(['$', '%']);
        let another_fits = paths(keys).any(|(other, one)| {
            one == path
                && matches!(other.means, KeyMeaning::Decision(words) if words.iter().any(|(word, _)| same(word)))
        });
        if !is_filled_in && !another_fits {
            let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            let text = format!("`{said}` is no word for `{path}` of {}: {}", hook.dialect.name, known.join(", "));
            tell("unknown-answer", Some(literal.line), text);
            return;
        }
    }
}

fn at(json: &RawJson, path: &str) -> Option<RawJson> {
    path.split('.').try_fold(json.clone(), |json, key| json.field(key))
}

fn without_reason(literal: &Literal, hook: &HookSpec, tell: &mut Tell<'_>) {
    let silent = read(hook, 0, &literal.json)
        .is_some_and(|opinion| opinion.decision() == Decision::Deny && opinion.reason().is_none_or(str::is_empty));
    if silent {
        tell("deny-without-reason", Some(literal.line), "denies, and does not say why".to_owned());
    }
}

/// An answer beside an exit code with which it is not read.
fn with_exit(code: &Code<'_>, literal: &Literal, hook: &HookSpec, tell: &mut Tell<'_>) {
    let Some(exit) = code.exit_behind(literal.end).filter(|exit| *exit != 0 && is_gate(hook)) else { return };
    let Some(meant) = read(hook, 0, &literal.json).filter(|opinion| opinion.decision() != Decision::NoOpinion) else {
        return;
    };
    let really = read(hook, i32::from(exit), &literal.json);
    let same = |opinion: &Opinion| opinion.decision() == meant.decision() && opinion.reason() == meant.reason();
    let text = match really.as_ref().is_some_and(same) {
        true => format!("other agents take `exit {exit}` for a failure and do not read this"),
        false => format!("with `exit {exit}` this answer is not what counts"),
    };
    tell("answer-with-exit", Some(literal.line), text);
}

/// Decisions by a key that counts at other events only.
fn not_read(code: &Code<'_>, hook: &HookSpec, tell: &mut Tell<'_>) {
    let (dialect, kinds) = (hook.dialect, &hook.kinds);
    let decisions = || paths(dialect.reply.keys).filter(|(key, _)| matches!(key.means, KeyMeaning::Decision(_)));
    let leaf = |path: &'static str| path.rsplit('.').next().unwrap_or(path);
    let counts = |key: &Key| kinds.iter().any(|kind: &EventKind| key.applies_to(dialect, kind));
    let line_of = |name: &str| {
        let (double, single, escaped) = (format!("\"{name}\""), format!("'{name}'"), format!("\\\"{name}\\\""));
        let has = |line: &str| line.contains(&double) || line.contains(&single) || line.contains(&escaped);
        code.text.lines().zip(1_u32..).find(|(line, _)| has(line)).map(|(_, number)| number)
    };
    // A script for several events has more than one.
    if decisions().any(|(key, path)| counts(key) && line_of(leaf(path)).is_some()) {
        return;
    }
    for (_, path) in decisions() {
        let name = leaf(path);
        // Short ones are words of other things too.
        let is_special = name.len() > "decision".len();
        if let Some(number) = line_of(name).filter(|_| is_special) {
            let event = kinds.first().and_then(|kind| dialect.name_of(kind)).unwrap_or("this event");
            let text = format!("`{name}` is not read at {event} by {}", dialect.name);
            tell("answer-not-read", Some(number), text);
            return;
        }
    }
}
