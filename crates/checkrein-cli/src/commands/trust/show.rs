//! Text and JSON of a hook that needs approval. JSON must not contain values that may hold secrets.

use std::borrow::Borrow;
use std::io::{self, Write};

use checkrein::trust::{Content, Property, Reviewed, ReviewedScript, Status};
use owo_colors::OwoColorize;
use serde_json::{Value, json};
use similar::TextDiff;

use crate::commands::{display_path, display_source, layout, printable, shorten_paths};

/// Number of hooks. A hook for several events is counted once.
pub fn count<H: Borrow<Reviewed>>(hooks: &[H]) -> usize {
    layout::count_hooks(hooks.iter().map(|hook| &*hook.borrow().hook))
}

/// Writes one line for each hook. A hook for several events has one line if its status is the same for all.
pub fn each_briefly(out: &mut impl Write, hooks: &[&Reviewed]) -> io::Result<()> {
    let mut previous = None;
    for hook in hooks {
        let key = (&hook.hook.id, &hook.hook.source, &hook.status);
        if previous != Some(key) {
            briefly(out, hook)?;
        }
        previous = Some(key);
    }
    Ok(())
}

/// Writes one line: id, status, place.
fn briefly(out: &mut impl Write, hook: &Reviewed) -> io::Result<()> {
    let source = display_source(&hook.hook.source);
    let (word, why) = match &hook.status {
        Status::Approved => ("approved".green().to_string(), String::new()),
        Status::TrustedPath(path) => {
            ("trusted".green().to_string(), format!(": {} is one of your trusted_paths", display_path(path)))
        }
        Status::Lockfile => {
            ("trusted".green().to_string(), ": checkrein.lock is signed with one of your trusted_keys".to_owned())
        }
        Status::New => ("not approved".yellow().to_string(), String::new()),
        Status::Changed(what) => ("changed".red().to_string(), format!(": {what}")),
        _ => (hook.status.name().to_owned(), String::new()),
    };
    writeln!(out, "{}  {word}  {}{}", printable(&hook.hook.id).bold(), source.dimmed(), shorten_paths(&printable(&why)))
}

/// Writes everything that an approval covers: the properties of the hook and its scripts.
pub fn in_full(out: &mut impl Write, hook: &Reviewed) -> io::Result<()> {
    briefly(out, hook)?;
    match &hook.before {
        Some(before) => {
            let (old, new) = (lines(before), lines(&hook.facts));
            difference(out, &old, &new, "approved", "now")?;
        }
        None => {
            for line in lines(&hook.facts).lines() {
                writeln!(out, "  {}", printable(line))?;
            }
        }
    }
    for script in &hook.scripts {
        self::script(out, script)?;
    }
    for note in &hook.notes {
        writeln!(out, "  {} {}", "note:".yellow(), printable(note))?;
    }
    writeln!(out)
}

fn lines(facts: &[Property]) -> String {
    let value = |fact: &Property| fact.value.lines().collect::<Vec<_>>().join("\n      ");
    facts.iter().map(|fact| format!("{}: {}\n", fact.label, value(fact))).collect()
}

fn script(out: &mut impl Write, script: &ReviewedScript) -> io::Result<()> {
    let (name, path) = (printable(&script.name), display_path(&script.path));
    match (&script.content, &script.before) {
        (Content::Missing, _) => writeln!(out, "  script {name}: {}", "missing".red()),
        (Content::Unreadable(why), _) => writeln!(out, "  script {name}: cannot be read: {}", printable(why).red()),
        (Content::Bytes(bytes), _) if is_binary(bytes) => {
            writeln!(out, "  script {path}: binary, {} bytes, sha256 {}", bytes.len(), hash(script))
        }
        (Content::Bytes(bytes), Some(before)) if !is_binary(before) => {
            writeln!(out, "  script {path}, changed since it was approved:")?;
            difference(out, &String::from_utf8_lossy(before), &String::from_utf8_lossy(bytes), "approved", "now")
        }
        (Content::Bytes(bytes), _) => {
            let changed = if script.is_changed() { ", changed since it was approved" } else { "" };
            writeln!(out, "  script {path}{changed}:")?;
            for line in String::from_utf8_lossy(bytes).lines() {
                writeln!(out, "    {} {}", "|".dimmed(), printable(line))?;
            }
            Ok(())
        }
        _ => writeln!(out, "  script {name}"),
    }
}

fn difference(out: &mut impl Write, old: &str, new: &str, old_name: &str, new_name: &str) -> io::Result<()> {
    let diff = TextDiff::from_lines(old, new);
    for line in diff.unified_diff().header(old_name, new_name).to_string().lines() {
        let text = printable(line);
        match line.chars().next() {
            Some('+') => writeln!(out, "    {}", text.green())?,
            Some('-') => writeln!(out, "    {}", text.red())?,
            _ => writeln!(out, "    {text}")?,
        }
    }
    Ok(())
}

fn is_binary(bytes: &[u8]) -> bool {
    bytes.contains(&0)
}

fn hash(script: &ReviewedScript) -> String {
    script.sha256().unwrap_or_default()
}

/// Returns the id and the file of a hook.
pub fn place_as_json(hook: &Reviewed) -> Value {
    json!({ "id": hook.hook.id, "file": hook.file })
}

/// Returns a hook as JSON, without values that may hold a secret, because output of programs ends in logs.
pub fn as_json(hook: &Reviewed) -> Value {
    let source = &hook.hook.source;
    let facts: Vec<_> = hook.facts.iter().map(|fact| json!({ "label": fact.label, "value": public(fact) })).collect();
    let scripts: Vec<_> = hook
        .scripts
        .iter()
        .map(|script| {
            json!({
                "name": script.name,
                "path": script.path.to_string_lossy(),
                "sha256": script.sha256(),
                "changed": script.is_changed(),
            })
        })
        .collect();
    let why = match &hook.status {
        Status::Changed(what) => Some(what.clone()),
        Status::TrustedPath(path) => Some(path.display().to_string()),
        _ => None,
    };
    json!({
        "id": hook.hook.id,
        "source": { "file": source.file, "line": source.line, "scope": source.scope },
        "file": hook.file,
        "project": hook.root.to_string_lossy(),
        "status": hook.status.name(),
        "trusted": hook.status.is_trusted(),
        "why": why,
        "events": hook.kinds.iter().map(checkrein::EventKind::name).collect::<Vec<_>>(),
        "facts": facts,
        "scripts": scripts,
        "notes": hook.notes,
    })
}

fn public(fact: &Property) -> Option<&str> {
    (!matches!(fact.label.as_str(), "url" | "header" | "secret" | "variable")).then_some(fact.value.as_str())
}
