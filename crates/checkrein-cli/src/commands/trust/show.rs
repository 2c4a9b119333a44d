//! Text and JSON of a hook that needs approval. JSON must not contain values that may hold secrets.

use std::borrow::Borrow;
use std::io::{self, Write};

use checkrein::trust::{Content, Property, Reviewed, ReviewedScript, Status};
use owo_colors::{OwoColorize, Style};
use serde_json::{Value, json};
use similar::{Change, ChangeTag, DiffOp, DiffTag, TextDiff};

use crate::commands::visible::{describe_escapes, may_look_same, visible_ascii, visible_bytes};
use crate::commands::{display_path, display_source, layout, printable, shorten_paths};

/// Number of hooks. A hook for several events is counted once.
pub fn count<H: Borrow<Reviewed>>(hooks: &[H]) -> usize {
    layout::count_hooks(hooks.iter().map(|hook| &*hook.borrow().hook))
}

/// Writes one line for each hook. A hook for several events has one line if its status is the same for all.
pub fn each_briefly(out: &mut impl Write, hooks: &[&Reviewed]) -> io::Result<()> {
    let width = |text: fn(&Reviewed) -> usize| hooks.iter().map(|hook| text(hook)).max().unwrap_or_default();
    let widths = (width(|hook| printable(&hook.hook.id).chars().count()), width(|hook| word(&hook.status).0.len()));
    let mut previous = None;
    for hook in hooks {
        let key = (&hook.hook.id, &hook.hook.source, &hook.status);
        if previous != Some(key) {
            briefly(out, hook, widths)?;
        }
        previous = Some(key);
    }
    Ok(())
}

/// Status in one word, with its color.
fn word(status: &Status) -> (&'static str, Style) {
    match status {
        Status::Approved => ("approved", Style::new().green()),
        Status::TrustedPath(_) | Status::Lockfile => ("trusted", Style::new().green()),
        Status::New => ("not approved", Style::new().yellow()),
        Status::Changed(_) => ("changed", Style::new().red()),
        other => (other.name(), Style::new()),
    }
}

/// Writes one line: id, status, place. The first two have at least these widths.
fn briefly(out: &mut impl Write, hook: &Reviewed, (id_width, word_width): (usize, usize)) -> io::Result<()> {
    let (id, source) = (printable(&hook.hook.id), display_source(&hook.hook.source));
    let why = match &hook.status {
        Status::TrustedPath(path) => format!(": {} is one of your trusted_paths", display_path(path)),
        Status::Lockfile => ": checkrein.lock is signed with one of your trusted_keys".to_owned(),
        Status::Changed(what) => format!(": {what}"),
        _ => String::new(),
    };
    let (word, style) = word(&hook.status);
    let (id, word) = (format!("{id:<id_width$}  "), format!("{word:<word_width$}  "));
    let (plain, why) = (Style::new(), shorten_paths(&printable(&why)));
    layout::styled(out, 0, &[(&id, plain.bold()), (&word, style), (&source, plain.dimmed()), (&why, plain)])
}

/// Splits hooks into groups that are shown and approved together: the rules of one entry of a pack, and single hooks.
pub fn groups<'a, 'b>(hooks: &'b [&'a Reviewed]) -> impl Iterator<Item = &'b [&'a Reviewed]> {
    let is_same_entry = |one: &Reviewed, other: &Reviewed| {
        let packs = (pack(one), pack(other));
        packs.0.is_some() && packs.0 == packs.1 && one.hook.source == other.hook.source && one.status == other.status
    };
    hooks.chunk_by(move |one, other| is_same_entry(one, other))
}

/// Returns the name of the pack of a rule that can be shown with the others of its entry.
pub fn pack(hook: &Reviewed) -> Option<&str> {
    if hook.before.is_some() || !hook.scripts.is_empty() || !hook.notes.is_empty() {
        return None;
    }
    let rule = hook.facts.iter().find(|fact| fact.label == PACK_RULE)?;
    rule.value.split_once('.').map(|(pack, _)| pack)
}

/// Label of the property with the name of a rule of a pack.
const PACK_RULE: &str = "rule of a pack";

/// Writes everything that approvals cover. The rules of a pack have their common properties once.
pub fn all_in_full(out: &mut impl Write, hooks: &[&Reviewed]) -> io::Result<()> {
    for group in groups(hooks) {
        match group {
            [hook] => in_full(out, hook)?,
            rules => pack_in_full(out, rules)?,
        }
    }
    Ok(())
}

/// Writes the rules of one entry of a pack: the properties that all of them have, and a line for each rule with its own.
fn pack_in_full(out: &mut impl Write, rules: &[&Reviewed]) -> io::Result<()> {
    let Some(first) = rules.first() else { return Ok(()) };
    let (word, style) = word(&first.status);
    let name = format!("pack {}  ", printable(pack(first).unwrap_or_default()));
    let (word, source) = (format!("{word}  "), display_source(&first.hook.source));
    let plain = Style::new();
    layout::styled(out, 0, &[(&name, plain.bold()), (&word, style), (&source, plain.dimmed())])?;
    let is_common = |fact: &&Property| rules.iter().all(|rule| rule.facts.contains(fact));
    let common: Vec<_> = first.facts.iter().filter(is_common).cloned().collect();
    for line in lines(&common, visible_bytes).lines() {
        layout::paragraph(out, 2, line)?;
    }
    writeln!(out, "  rules:")?;
    let mut texts = Vec::new();
    for rule in rules {
        let own: Vec<_> = rule.facts.iter().filter(|fact| fact.label != PACK_RULE && !is_common(fact)).collect();
        let shown = |fact: &&Property| match fact.label.as_str() {
            "decision" => visible_bytes(fact.value.as_bytes()),
            label => format!("{}: {}", printable(label), visible_bytes(fact.value.as_bytes())),
        };
        let own: Vec<_> = own.iter().map(shown).collect();
        let line = format!("{}: {}", printable(&rule.hook.id), own.join("; ").replace('\n', "\n        "));
        layout::paragraph(out, 4, line.trim_end_matches(": "))?;
        texts.extend(rule.facts.iter().map(|fact| fact.value.as_str()));
    }
    note_escapes(out, texts.join("\n").as_bytes())?;
    writeln!(out)
}

/// Writes everything that an approval covers: the properties of the hook and its scripts.
fn in_full(out: &mut impl Write, hook: &Reviewed) -> io::Result<()> {
    briefly(out, hook, (0, 0))?;
    match &hook.before {
        Some(before) => {
            difference(out, |form| (lines(before, form), lines(&hook.facts, form)))?;
        }
        None => {
            for line in lines(&hook.facts, visible_bytes).lines() {
                layout::paragraph(out, 2, line)?;
            }
        }
    }
    let facts: Vec<_> = hook.facts.iter().map(|fact| fact.value.as_str()).collect();
    note_escapes(out, facts.join("\n").as_bytes())?;
    for script in &hook.scripts {
        self::script(out, script)?;
    }
    for note in &hook.notes {
        layout::styled(out, 2, &[("note: ", Style::new().yellow()), (&printable(note), Style::new())])?;
    }
    writeln!(out)
}

/// Properties in visible characters. Further lines of a value are indented, so that they cannot look like a property.
fn lines(facts: &[Property], form: Form) -> String {
    let value = |fact: &Property| form(fact.value.as_bytes()).replace('\n', "\n      ");
    facts.iter().map(|fact| format!("{}: {}\n", printable(&fact.label), value(fact))).collect()
}

/// Writes a note if a text has escapes.
fn note_escapes(out: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    match describe_escapes(bytes) {
        Some(text) => writeln!(out, "  {} {text}", "note:".yellow()),
        None => Ok(()),
    }
}

fn script(out: &mut impl Write, script: &ReviewedScript) -> io::Result<()> {
    let (name, path) = (printable(&script.name), display_path(&script.path));
    match (&script.content, &script.before) {
        (Content::Missing, _) => writeln!(out, "  script {name}: {}", "missing".red()),
        (Content::Unreadable(why), _) => writeln!(out, "  script {name}: cannot be read: {}", printable(why).red()),
        (Content::Bytes(bytes), _) if is_program(bytes) => {
            let changed = if script.is_changed() { ", changed since it was approved" } else { "" };
            let (size, hash) = (bytes.len(), hash(script));
            writeln!(out, "  script {path}{changed}: machine code that is not shown, {size} bytes, sha256 {hash}")
        }
        (Content::Bytes(bytes), Some(before)) if !is_program(before) => {
            writeln!(out, "  script {path}, changed since it was approved:")?;
            difference(out, |form| (form(before), form(bytes)))?;
            note_escapes(out, bytes)
        }
        (Content::Bytes(bytes), _) => {
            let changed = if script.is_changed() { ", changed since it was approved" } else { "" };
            writeln!(out, "  script {path}{changed}:")?;
            for line in visible_bytes(bytes).split_terminator('\n') {
                writeln!(out, "    {} {line}", "|".dimmed())?;
            }
            note_escapes(out, bytes)
        }
        _ => writeln!(out, "  script {name}"),
    }
}

/// Form of foreign text: visible characters, or only those of ASCII.
type Form = fn(&[u8]) -> String;

/// Writes the difference of the approved text and the current one. If a changed line may look as before, characters outside
/// of ASCII are shown by their numbers.
fn difference(out: &mut impl Write, texts: impl Fn(Form) -> (String, String)) -> io::Result<()> {
    let (mut old, mut new) = texts(visible_bytes);
    if has_similar_lines(&TextDiff::from_lines(&old, &new)) {
        (old, new) = texts(visible_ascii);
    }
    let diff = TextDiff::from_lines(&old, &new);
    for line in diff.unified_diff().header("approved", "now").to_string().split_terminator('\n') {
        match line.chars().next() {
            Some('+') => writeln!(out, "    {}", line.green())?,
            Some('-') => writeln!(out, "    {}", line.red())?,
            _ => writeln!(out, "    {line}")?,
        }
    }
    Ok(())
}

/// Returns `true` if a line and the one that replaces it may look the same.
fn has_similar_lines(diff: &TextDiff<'_, '_, '_, str>) -> bool {
    let is_similar = |op: &DiffOp| {
        let line = |change: Change<&str>| change.value().to_owned();
        let (old, new): (Vec<_>, Vec<_>) = diff.iter_changes(op).partition(|change| change.tag() == ChangeTag::Delete);
        let pairs = old.into_iter().map(line).zip(new.into_iter().map(line));
        op.tag() == DiffTag::Replace && pairs.into_iter().any(|(old, new)| may_look_same(&old, &new))
    };
    diff.ops().iter().any(is_similar)
}

/// Returns `true` for machine code, which only the kernel runs. A shell runs every other file, also with NUL bytes.
fn is_program(bytes: &[u8]) -> bool {
    const MAGIC: &[&[u8]] =
        &[b"\x7fELF", b"MZ\x90\0", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe\0\0"];
    MAGIC.iter().any(|magic| bytes.starts_with(magic))
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
