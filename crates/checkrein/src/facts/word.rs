//! Words of commands as values, with their unknown parts.

use std::sync::Arc;

use checkrein_expression::{PartialText, Unknown, Value};

use crate::builtins::doubt::is_wholly_unknown;
use crate::builtins::shell::Expanded;

/// Mark of unknown text in the standard input of a command.
const UNKNOWN_TEXT: &str = "$(…)";

/// Returns the text of a word. Wildcards stay as they are written.
pub(super) fn text(word: &Expanded) -> Value {
    if word.known && !word.cut {
        return word.text.as_str().into();
    }
    if word.cut || word.unknown.is_empty() || is_wholly_unknown(word) {
        return Value::unknown(shown(word));
    }
    let mut known = Vec::new();
    let mut end = 0;
    let mut starts = true;
    for range in &word.unknown {
        let part = word.text.get(end..range.start).unwrap_or_default();
        if end == 0 {
            starts = !part.is_empty();
        }
        if !part.is_empty() {
            known.push(part.to_owned());
        }
        end = range.end;
    }
    let last = word.text.get(end..).unwrap_or_default();
    if !last.is_empty() {
        known.push(last.to_owned());
    }
    Value::Partial(Arc::new(PartialText { shown: word.text.clone(), known, starts, ends: !last.is_empty() }))
}

/// Returns a description of an unknown word.
pub(super) fn unknown(word: &Expanded) -> Unknown {
    Unknown(shown(word).into())
}

fn shown(word: &Expanded) -> String {
    if word.text.is_empty() { "a word that is too long".to_owned() } else { word.text.clone() }
}

/// Stands for an unknown part while a text is split.
pub(super) const MARK: char = '\u{10FFFD}';

/// Returns the text of a word with [`MARK`] in place of unknown parts.
pub(super) fn marked(word: &Expanded) -> String {
    if word.known && !word.cut {
        return word.text.clone();
    }
    let mut text = String::new();
    let mut end = 0;
    for range in &word.unknown {
        text.push_str(word.text.get(end..range.start).unwrap_or_default());
        text.push(MARK);
        end = range.end;
    }
    text.push_str(word.text.get(end..).unwrap_or_default());
    if word.unknown.is_empty() || word.cut {
        text.push(MARK);
    }
    text
}

/// Returns the text of a standard input with [`MARK`] in place of unknown parts.
pub(super) fn marked_input(text: &str) -> String {
    text.replace(UNKNOWN_TEXT, MARK.encode_utf8(&mut [0; 4]))
}

/// Returns the value of a text with marks.
pub(super) fn of_marked(text: &str) -> Value {
    input(&text.replace(MARK, UNKNOWN_TEXT))
}

/// Returns the text of a standard input in which `$(…)` stands for unknown parts.
pub(super) fn input(text: &str) -> Value {
    if !text.contains(UNKNOWN_TEXT) {
        return text.into();
    }
    let known: Vec<String> = text.split(UNKNOWN_TEXT).filter(|part| !part.is_empty()).map(str::to_owned).collect();
    if known.is_empty() {
        return Value::unknown(UNKNOWN_TEXT);
    }
    let (starts, ends) = (!text.starts_with(UNKNOWN_TEXT), !text.ends_with(UNKNOWN_TEXT));
    Value::Partial(Arc::new(PartialText { shown: text.to_owned(), known, starts, ends }))
}
