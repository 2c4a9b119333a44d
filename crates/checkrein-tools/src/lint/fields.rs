//! Fields of the payload that scripts read and agents do not send.

use std::cell::LazyCell;

use checkrein_core::EventKind;
use checkrein_dialects::payload::FieldRow;
use checkrein_dialects::{Dialect, HookSpec};

use super::code::{Code, mentions};
use super::script::Tell;

pub(super) fn lint(code: &Code<'_>, hook: &HookSpec, tell: &mut Tell<'_>) {
    let [kind] = &hook.kinds[..] else { return };
    let known = LazyCell::new(|| top_level(hook.dialect, kind));
    let is_known = |name: &str| known.iter().any(|known| known == name);
    let mut told = Vec::new();
    for (line, number) in code.lines() {
        // `.a // .b` reads whichever there is.
        let names = read_fields(line).filter(|_| !line.contains("//"));
        for name in names.filter(|name| !is_known(name)) {
            let close = checkrein_core::closest_match(&name, known.iter().map(String::as_str));
            let hint = close.map(|meant| format!(", did you mean `{meant}`?")).unwrap_or_default();
            let text = format!("reads `.{name}`, which {} does not send here{hint}", hook.dialect.name);
            tell("unknown-field", Some(number), text);
            told.push(name);
        }
    }
    for (name, from, whose) in names_of_others(code.text, kind) {
        let own: Vec<_> = rows(hook.dialect, kind).filter(|own| own.from == from).map(|own| first(own.name)).collect();
        // A script for several agents reads what each of them sends.
        let reads_own = own.is_empty() || own.iter().any(|own| mentions(code.text, own));
        if reads_own || told.iter().any(|told| told == name) || is_known(name) {
            continue;
        }
        let reads = |line: &str| {
            [format!("\"{name}\""), format!("'{name}'"), format!(".{name}")].iter().any(|way| line.contains(way))
                && mentions(line, name)
        };
        if let Some((_, number)) = code.lines().find(|(line, _)| reads(line)) {
            let instead = own.first().map(|own| format!("; its name here is `{own}`")).unwrap_or_default();
            let text = format!("reads `{name}`, which {whose} sends and {} does not{instead}", hook.dialect.name);
            tell("unknown-field", Some(number), text);
            told.push(name.to_owned());
        }
    }
}

fn rows(dialect: &'static Dialect, kind: &EventKind) -> impl Iterator<Item = &'static FieldRow> + use<> {
    dialect.fields_at(kind)
}

fn first(path: &'static str) -> &'static str {
    path.split('.').next().unwrap_or(path)
}

/// Names in a text that agents have for fields: the name, checkrein's own, and whose it is.
fn names_of_others<'a>(
    text: &'a str,
    kind: &'a EventKind,
) -> impl Iterator<Item = (&'static str, &'static str, &'static str)> + 'a {
    checkrein_dialects::ALL.iter().copied().flat_map(move |other| {
        let named = rows(other, kind).map(move |row| (first(row.name), row.from, other.name));
        // Plain words are names of other things too.
        named.filter(move |(name, _, _)| name.contains(|c: char| c == '_' || c.is_uppercase()) && mentions(text, name))
    })
}

/// All fields that a payload of this kind can have.
fn top_level(dialect: &'static Dialect, kind: &EventKind) -> Vec<String> {
    let mut names: Vec<_> = rows(dialect, kind)
        .map(|row| first(row.name))
        .chain([first(
            dialect.row(kind).and_then(|row| row.event_field).map_or(dialect.payload.event, |(place, _)| place),
        )])
        .map(str::to_owned)
        .collect();
    // Agents send more than the table has a use for.
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

/// Names right behind a dot that starts a path of jq, and what `checkrein get` is asked for.
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
        // What follows a pipe is about something else.
        if c == '|' {
            break;
        }
        before = c;
    }
    names.into_iter().filter(|name| name.chars().next().is_some_and(char::is_alphabetic))
}
