//! Entry point for fuzzing the shell parser.

use std::path::Path;

use super::work::MOST as MOST_WORK;
use super::{ShellEnv, SimpleCommand, pieces, simple_commands, simple_commands_of_argv, simple_commands_with, work_of};

/// Parses bytes as a shell command, with and without a known environment. It must not panic for any bytes, and the
/// positions of words must be correct.
#[doc(hidden)]
pub fn exercise_shell(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let cwd = Path::new("/work");
    let known = ShellEnv { home: Some("/home/me"), cwd };
    if let Ok(found) = simple_commands(&text, known) {
        let characters: Vec<char> = text.chars().collect();
        found.iter().for_each(|step| check_spans(step, &characters, known));
        found.iter().for_each(check_ranges);
    }
    assert!(work_of(&text, known) <= MOST_WORK, "the work has no limit");
    let variables = [("DIR".to_owned(), "/srv/a b".to_owned()), ("x".to_owned(), String::new())];
    let _ = simple_commands_with(&text, ShellEnv { home: None, cwd }, &variables);
    let words: Vec<String> = text.split_ascii_whitespace().map(str::to_owned).collect();
    let _ = simple_commands_of_argv(&words, known);
    words.iter().for_each(|word| assert!(pieces(word).all(|piece| word.contains(piece)), "not a piece of {word:?}"));
}

/// Checks that unknown ranges are parts of the text, in order, and that the other marks agree with them.
fn check_ranges(step: &SimpleCommand) {
    for value in step.args.iter().chain(&step.writes).chain([&step.program]) {
        let mut end = 0;
        for range in &value.unknown {
            assert!(range.start >= end && value.text.get(range.clone()).is_some(), "{value:?}");
            end = range.end;
        }
        assert!(!value.known || value.unknown.is_empty(), "{value:?}");
        assert!(!value.cut && value.could_be(&value.text), "{value:?}");
    }
}

/// Checks that the text at the position of each word is that word.
fn check_spans(step: &SimpleCommand, text: &[char], env: ShellEnv<'_>) {
    for value in step.args.iter().chain([&step.program]) {
        let Some((start, end)) = value.span else { continue };
        let word: String = text[start..end].iter().collect();
        // A backslash and a carriage return have another meaning at the end of a text.
        let behind = if end == text.len() { "" } else { " ;" };
        let alone = simple_commands(&format!(": {word}{behind}"), env)
            .map(|steps| steps.first().map(|step| step.args.iter().map(|arg| arg.text.clone()).collect::<Vec<_>>()));
        assert_eq!(alone, Ok(Some(vec![value.text.clone()])), "{word:?} at {start} is another word");
    }
}
