//! Words of shell commands as names of files and hosts: wildcards make a part of a name unknown.

use checkrein_expression::{PartialText, Unknown, Value};

use crate::builtins::doubt::is_wholly_unknown;
use crate::builtins::shell::Expanded;

/// Maximum length of a text that describes an unknown fact, in characters.
const SHOWN: usize = 60;

/// Returns the value of a word. Unknown parts and wildcards stay unknown.
pub(super) fn value(word: &Expanded) -> Value {
    if word.known && !word.glob && !word.cut {
        return word.text.as_str().into();
    }
    if is_wholly_unknown(word) {
        return Value::Unknown(unknown(&word.text));
    }
    Value::Partial(partial(word).into())
}

/// Returns the description of an unknown fact for messages.
pub(super) fn unknown(text: &str) -> Unknown {
    let shown: String = text.chars().take(SHOWN).map(|c| if c.is_control() { ' ' } else { c }).collect();
    Unknown(format!("`{shown}`").into())
}

/// Returns the known parts of a word.
fn partial(word: &Expanded) -> PartialText {
    let is_open = |at: usize, c: char| {
        word.unknown.iter().any(|range| range.contains(&at)) || word.glob && matches!(c, '*' | '?' | '[' | ']')
    };
    let mut known = vec![String::new()];
    let mut was_open = false;
    let (mut starts, mut ends) = (true, true);
    for (at, c) in word.text.char_indices() {
        let open = is_open(at, c);
        match (open, was_open) {
            (true, false) => known.push(String::new()),
            (true, true) => {}
            (false, _) => known.last_mut().unwrap_or(&mut String::new()).push(c),
        }
        if at == 0 {
            starts = !open;
        }
        ends = !open;
        was_open = open;
    }
    // A class, `[ab]`, has known text between its brackets that is no part of the value.
    if word.glob && word.text.contains('[') || word.cut || word.unknown.is_empty() && !word.known {
        (starts, ends) = (false, false);
        known.clear();
    }
    known.retain(|part| !part.is_empty());
    PartialText { shown: unknown(&word.text).0.trim_matches('`').to_owned(), known, starts, ends }
}
