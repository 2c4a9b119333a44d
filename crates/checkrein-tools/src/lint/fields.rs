//! Lint for payload fields that a script reads and the agent does not send.

use std::cell::LazyCell;

use checkrein_core::EventKind;
use checkrein_dialects::payload::FieldRow;
use checkrein_dialects::{Dialect, HookSpec};

use super::code::{Code, mentions};
use super::script::Report;

pub(super) fn lint(code: &Code<'_>, hook: &HookSpec, report: &mut Report<'_>) {
    let [kind] = &hook.kinds[..] else { return };
    let known = LazyCell::new(|| top_level(hook.dialect, kind));
    let is_known = |name: &str| known.iter().any(|known| known == name);
    let mut reported = Vec::new();
    for (line, number) in code.lines() {
        // `.a // .b` reads the field that exists.
        let names = read_fields(line).filter(|_| !line.contains("//"));
        for name in names.filter(|name| !is_known(name)) {
            let close = checkrein_core::closest_match(&name, known.iter().map(String::as_str));
            let hint = close.map(|meant| format!(", did you mean `{meant}`?")).unwrap_or_default();
            let text = format!("reads `.{name}`, which {} does not send at this event{hint}", hook.dialect.title());
            report("unknown-field", Some(number), text);
            reported.push(name);
        }
    }
    for (name, from, other) in names_of_others(code.text, kind) {
        let own: Vec<_> = rows(hook.dialect, kind).filter(|own| own.from == from).map(|own| first(own.name)).collect();
        // A script for several agents reads the fields of each.
        let reads_own = own.is_empty() || own.iter().any(|own| mentions(code.text, own));
        if reads_own || reported.iter().any(|reported| reported == name) || is_known(name) {
            continue;
        }
        let reads = |line: &str| {
            [format!("\"{name}\""), format!("'{name}'"), format!(".{name}")].iter().any(|form| line.contains(form))
                && mentions(line, name)
        };
        if let Some((_, number)) = code.lines().find(|(line, _)| reads(line)) {
            let instead = own.first().map(|own| format!("; use `{own}`")).unwrap_or_default();
            let text = format!("reads `{name}`, which {other} sends but {} does not{instead}", hook.dialect.title());
            report("unknown-field", Some(number), text);
            reported.push(name.to_owned());
        }
    }
}

fn rows(dialect: &'static Dialect, kind: &EventKind) -> impl Iterator<Item = &'static FieldRow> + use<> {
    dialect.fields_at(kind)
}

fn first(path: &'static str) -> &'static str {
    path.split('.').next().unwrap_or(path)
}

/// Field names of all agents that occur in a text: the agent's name of the field, checkrein's name of it, and the agent. Agents
/// with a product name come first, because users know them.
fn names_of_others<'a>(
    text: &'a str,
    kind: &'a EventKind,
) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> + 'a {
    let (known, others): (Vec<_>, Vec<_>) = checkrein_dialects::ALL.iter().partition(|agent| !agent.title.is_empty());
    known.into_iter().chain(others).flat_map(move |other| {
        let named = rows(other, kind).map(move |row| (first(row.name), row.from, other.title()));
        // Plain words also occur with other meanings.
        named.filter(move |(name, _, _)| name.contains(|c: char| c == '_' || c.is_uppercase()) && mentions(text, name))
    })
}

/// Top-level fields that a payload of this kind can have.
fn top_level(dialect: &'static Dialect, kind: &EventKind) -> Vec<String> {
    let mut names: Vec<_> = rows(dialect, kind)
        .map(|row| first(row.name))
        .chain([first(
            dialect.row(kind).and_then(|row| row.event_field).map_or(dialect.payload.event, |(place, _)| place),
        )])
        .map(str::to_owned)
        .collect();
    // Agents send more fields than the table lists.
    let sample = crate::samples::payload(dialect, kind, None);
    names.extend(sample.entries().into_iter().flatten().map(|entry| entry.key().into_owned()));
    if dialect.payload.all_fields {
        let own = kind.fields().iter().chain(checkrein_core::Envelope::fields());
        names.extend(own.map(|field| field.name.to_owned()));
        names.push("event".to_owned());
        names.extend(checkrein_core::Target::ALL.iter().map(|target| format!("original_{target}")));
    }
    names
}

/// First names of jq paths and of the argument of `checkrein get`.
fn read_fields(line: &str) -> impl Iterator<Item = String> {
    let mut names = Vec::new();
    if let Some((_, path)) = line.split_once("checkrein get ") {
        let path = path.trim_start_matches(['\'', '"']);
        names.extend(path.split(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned));
    }
    let program = line.split("jq ").nth(1).unwrap_or_default();
    let mut before = ' ';
    let mut rest = program.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '.' && matches!(before, ' ' | '\'' | '"' | '(' | '|' | ',') {
            let mut name = String::new();
            while let Some(next) = rest.peek().copied().filter(|next| next.is_alphanumeric() || *next == '_') {
                name.push(next);
                rest.next();
            }
            names.push(name);
        }
        // After a pipe, paths are relative to another value.
        if c == '|' {
            break;
        }
        before = c;
    }
    names.into_iter().filter(|name| name.chars().next().is_some_and(char::is_alphabetic))
}
