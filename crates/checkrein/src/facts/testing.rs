//! Entry point of fuzz targets.

use checkrein_core::payload::ToolCall;
use checkrein_core::{Event, RawJson};

use super::{FactContext, Facts};

/// Computes all facts of a shell call. It must end without a panic for any bytes.
#[doc(hidden)]
pub fn exercise_facts(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let mut input = r#"{"command":"#.to_owned();
    RawJson::push_string(&mut input, &text);
    input.push('}');
    let Ok(input) = RawJson::parse(input) else { return };
    let mut context = FactContext::new("/project/src");
    context.home = Some("/home/me".into());
    context.project = Some("/project".into());
    let facts = Facts::new(Event::pre_tool_use(ToolCall::new("Bash", input)), context);
    let json = facts.to_json();
    assert!(json.entries().is_some(), "the facts are no JSON object");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    const WORDS: &[&str] = &[
        "git",
        "push",
        "-f",
        "--force",
        "$X",
        "origin",
        "+main",
        "HEAD:",
        ":x",
        "rm",
        "-rf",
        "é",
        "/",
        "..",
        "|",
        "&&",
        ";",
        "sudo",
        "-u",
        "find",
        "-exec",
        "{}",
        "xargs",
        "sh",
        "-c",
        "'a b'",
        "\"$Y/z\"",
        "$(which a)",
        "A=1",
        ">",
        ">>",
        "<<<",
        "docker",
        "run",
        "-",
        "--",
        "-$X",
        "--out=$X",
        "pip",
        "install",
        "psql",
        "-c",
        "dd",
        "of=$X",
        "tag",
        "*",
        "cd",
        "--é=é",
        "-é",
    ];

    proptest! {
        #[test]
        fn facts_of_any_words_are_computed(words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..12)) {
            super::exercise_facts(words.join(" ").as_bytes());
        }

        #[test]
        fn facts_of_any_text_are_computed(text in "\\PC{0,60}") {
            super::exercise_facts(text.as_bytes());
        }
    }
}
