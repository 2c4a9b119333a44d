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

/// Stands for an unknown part without a name while a text is split.
const MARK: char = '\u{10FFFD}';

/// Marks of unknown parts with a name, by the index of the name.
const FIRST_MARK: char = '\u{100000}';

/// `true` for a character that stands for an unknown part.
pub(super) fn is_mark(c: char) -> bool {
    (FIRST_MARK..=MARK).contains(&c)
}

/// Returns the text of a word with a mark in place of each unknown part, and adds their names.
pub(super) fn marked(word: &Expanded, names: &mut Vec<String>) -> String {
    if word.known && !word.cut {
        return word.text.clone();
    }
    let mut text = String::new();
    let mut end = 0;
    for range in &word.unknown {
        text.push_str(word.text.get(end..range.start).unwrap_or_default());
        let index = u32::try_from(names.len()).unwrap_or(u32::MAX);
        let mark = char::from_u32(u32::from(FIRST_MARK).saturating_add(index)).filter(|mark| *mark < MARK);
        text.push(mark.unwrap_or(MARK));
        names.push(word.text.get(range.clone()).unwrap_or_default().to_owned());
        end = range.end;
    }
    text.push_str(word.text.get(end..).unwrap_or_default());
    if word.unknown.is_empty() || word.cut {
        text.push(MARK);
    }
    text
}

/// Returns the text of a standard input with a mark in place of each unknown part.
pub(super) fn marked_input(text: &str) -> String {
    text.replace(UNKNOWN_TEXT, MARK.encode_utf8(&mut [0; 4]))
}

/// Returns the value of a text with marks.
pub(super) fn unmarked(text: &str, names: &[String]) -> Value {
    if !text.contains(is_mark) {
        return text.into();
    }
    let name = |mark: char| {
        let index = usize::try_from(u32::from(mark) - u32::from(FIRST_MARK)).ok();
        index.and_then(|index| names.get(index)).map_or(UNKNOWN_TEXT, String::as_str)
    };
    let mut shown = String::new();
    for c in text.chars() {
        if is_mark(c) { shown.push_str(name(c)) } else { shown.push(c) }
    }
    let known: Vec<String> = text.split(is_mark).filter(|part| !part.is_empty()).map(str::to_owned).collect();
    if known.is_empty() {
        return Value::unknown(shown);
    }
    let (starts, ends) = (!text.starts_with(is_mark), !text.ends_with(is_mark));
    Value::Partial(Arc::new(PartialText { shown, known, starts, ends }))
}

/// Returns the text of a standard input in which `$(…)` stands for unknown parts.
pub(super) fn input(text: &str) -> Value {
    if !text.contains(UNKNOWN_TEXT) {
        return text.into();
    }
    let known: Vec<String> = text.split(UNKNOWN_TEXT).filter(|part| !part.is_empty()).map(str::to_owned).collect();
    if known.is_empty() {
        return Value::unknown("the standard input");
    }
    let (starts, ends) = (!text.starts_with(UNKNOWN_TEXT), !text.ends_with(UNKNOWN_TEXT));
    Value::Partial(Arc::new(PartialText { shown: text.to_owned(), known, starts, ends }))
}
