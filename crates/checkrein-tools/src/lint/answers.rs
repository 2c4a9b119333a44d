//! Lints for answers that scripts print: unknown keys, missing reasons, answers that the agent ignores.

use std::borrow::Cow;

use checkrein_core::{Decision, EventKind, Opinion, ProcessExit, ProcessReply, RawJson, Reply};
use checkrein_dialects::HookSpec;
use checkrein_dialects::reply::{Key, KeyMeaning};

use super::code::{Code, Literal};
use super::is_gate;
use super::script::Report;

pub(super) fn lint(code: &Code<'_>, hook: &HookSpec, report: &mut Report<'_>) {
    to_stderr(code, report);
    let keys = hook.dialect.reply.keys;
    if keys.is_empty() || hook.kinds.is_empty() {
        return;
    }
    for literal in code.literals().iter().filter(|literal| !literal.to_stderr) {
        unknown(literal, hook, report);
        without_reason(literal, hook, report);
        with_exit(code, literal, hook, report);
    }
    not_read(code, hook, report);
}

/// Returns `true` if the text contains a key of a decision.
fn has_decision(text: &str) -> bool {
    text.contains("\"decision\"") || text.contains("permissionDecision") || text.contains("\"continue\"")
}

fn to_stderr(code: &Code<'_>, report: &mut Report<'_>) {
    let writers: &[&str] =
        if code.is_shell { &[">&2"] } else { &["file=sys.stderr", "sys.stderr.write", "console.error"] };
    let lines =
        code.lines().filter(|(line, _)| has_decision(line) && writers.iter().any(|writer| line.contains(writer)));
    let mut found: Vec<u32> = lines.map(|(_, number)| number).collect();
    if code.is_shell {
        let documents = code.here_documents();
        let to_stderr =
            documents.iter().filter(|document| document.command.contains(">&2") && has_decision(&document.body));
        found.extend(to_stderr.map(|document| document.line));
    }
    for number in found {
        report("json-to-stderr", Some(number), "prints a decision to stderr instead of stdout".to_owned());
    }
}

/// Opinion that the dialect reads from a reply at the first of the hook's events.
fn read(hook: &HookSpec, code: i32, stdout: &RawJson) -> Option<Opinion> {
    let kind = hook.kinds.first()?;
    let reply = ProcessReply::new(ProcessExit::Code(code)).stdout(stdout.as_str());
    hook.dialect.read(&crate::samples::event(kind), Reply::Process(reply), hook.strict).ok()
}

fn paths(keys: &[Key]) -> impl Iterator<Item = (&Key, &'static str)> {
    keys.iter().flat_map(|key| key.paths.iter().map(move |path| (key, *path)))
}

/// Reports keys and decision values that the dialect does not have.
fn unknown(literal: &Literal, hook: &HookSpec, report: &mut Report<'_>) {
    let keys = hook.dialect.reply.keys;
    let first = |path: &'static str| path.split('.').next().unwrap_or(path);
    // If the dialect passes every key to the host as metadata, no key is unknown.
    if keys.iter().any(|key| key.means == KeyMeaning::Metadata && key.paths.iter().any(|path| path.is_empty())) {
        return;
    }
    for entry in literal.json.entries().into_iter().flatten() {
        let name = entry.key();
        if !paths(keys).any(|(_, path)| first(path) == name) {
            let close = checkrein_core::closest_match(&name, paths(keys).map(|(_, path)| first(path)));
            let hint = close.map(|meant| format!(", did you mean `{meant}`?")).unwrap_or_default();
            let text = format!("unknown answer key `{name}` for {}{hint}", hook.dialect.name);
            report("unknown-answer", Some(literal.line), text);
        }
    }
    for (key, path) in paths(keys) {
        let KeyMeaning::Decision(words) = key.means else { continue };
        let Some(value) = value_at(&literal.json, path).and_then(|value| value.as_text().map(Cow::into_owned)) else {
            continue;
        };
        let same =
            |word: &str| if hook.dialect.reply.exact_case { word == value } else { word.eq_ignore_ascii_case(&value) };
        let has_variables = value.contains(['$', '%']);
        let is_known = paths(keys).any(|(other, other_path)| {
            other_path == path
                && matches!(other.means, KeyMeaning::Decision(words) if words.iter().any(|(word, _)| same(word)))
        });
        if !has_variables && !is_known {
            let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            let text =
                format!("invalid value `{value}` of `{path}`; {} accepts: {}", hook.dialect.name, known.join(", "));
            report("unknown-answer", Some(literal.line), text);
            return;
        }
    }
}

fn value_at(json: &RawJson, path: &str) -> Option<RawJson> {
    path.split('.').try_fold(json.clone(), |json, key| json.field(key))
}

fn without_reason(literal: &Literal, hook: &HookSpec, report: &mut Report<'_>) {
    let has_no_reason = read(hook, 0, &literal.json)
        .is_some_and(|opinion| opinion.decision() == Decision::Deny && opinion.reason().is_none_or(str::is_empty));
    if has_no_reason {
        report("deny-without-reason", Some(literal.line), "denies without a reason".to_owned());
    }
}

/// Reports an answer next to an exit code that makes the agent ignore it.
fn with_exit(code: &Code<'_>, literal: &Literal, hook: &HookSpec, report: &mut Report<'_>) {
    let Some(exit) = code.exit_after(literal.end).filter(|exit| *exit != 0 && is_gate(hook)) else { return };
    let Some(intended) = read(hook, 0, &literal.json).filter(|opinion| opinion.decision() != Decision::NoOpinion)
    else {
        return;
    };
    let actual = read(hook, i32::from(exit), &literal.json);
    let same = |opinion: &Opinion| opinion.decision() == intended.decision() && opinion.reason() == intended.reason();
    let text = match actual.as_ref().is_some_and(same) {
        true => format!("other agents treat `exit {exit}` as a failure and ignore this answer"),
        false => format!("{} does not use this answer because of `exit {exit}`", hook.dialect.name),
    };
    report("answer-with-exit", Some(literal.line), text);
}

/// Reports decisions by a key that the agent reads at other events only.
fn not_read(code: &Code<'_>, hook: &HookSpec, report: &mut Report<'_>) {
    let (dialect, kinds) = (hook.dialect, &hook.kinds);
    let decisions = || paths(dialect.reply.keys).filter(|(key, _)| matches!(key.means, KeyMeaning::Decision(_)));
    let leaf = |path: &'static str| path.rsplit('.').next().unwrap_or(path);
    let applies = |key: &Key| kinds.iter().any(|kind: &EventKind| key.applies_to(dialect, kind));
    let line_of = |name: &str| {
        let (double, single, escaped) = (format!("\"{name}\""), format!("'{name}'"), format!("\\\"{name}\\\""));
        let has = |line: &str| line.contains(&double) || line.contains(&single) || line.contains(&escaped);
        code.text.lines().zip(1_u32..).find(|(line, _)| has(line)).map(|(_, number)| number)
    };
    // A script for several events has the keys of each.
    if decisions().any(|(key, path)| applies(key) && line_of(leaf(path)).is_some()) {
        return;
    }
    for (_, path) in decisions() {
        let name = leaf(path);
        // Short names also occur with other meanings.
        let is_special = name.len() > "decision".len();
        if is_special && let Some(number) = line_of(name) {
            let event = kinds.first().and_then(|kind| dialect.name_of(kind)).unwrap_or("this event");
            let text = format!("{} ignores `{name}` at {event}", dialect.name);
            report("answer-not-read", Some(number), text);
            return;
        }
    }
}
