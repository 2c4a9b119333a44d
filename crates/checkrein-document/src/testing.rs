//! Checks that hold for every input: no panic, and spans that lie inside the text.
//!
//! The fuzz target and the tests use them.

use checkrein_core::RawJson;

use super::{Format, LineIndex, Node, Span, Value, parse};

/// Parses bytes in every format and checks the result. Must not panic for any input.
pub fn exercise(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let lines = LineIndex::new(&text);
    for format in [Format::Json, Format::Jsonc, Format::Yaml, Format::Toml] {
        match parse(&text, format) {
            Err(error) => {
                check_span(error.span, &text);
                assert_eq!(error.place, lines.place(error.span.start), "two positions for one offset");
            }
            Ok(parsed) => {
                check_node(&parsed.root, &text);
                parsed.problems.iter().for_each(|problem| check_span(problem.span(), &text));
                let json = parsed.root.to_json();
                let again = parse(&json, Format::Json).map(|parsed| parsed.root.to_json());
                assert_eq!(again.as_ref(), Ok(&json), "the document changed when written and parsed");
                assert!(json.parse::<RawJson>().is_ok(), "the document is no valid JSON");
            }
        }
    }
}

fn check_node(node: &Node<'_>, text: &str) {
    check_span(node.span, text);
    match &node.value {
        Value::Array(items) => items.iter().for_each(|item| check_node(item, text)),
        Value::Object(members) => {
            for member in members {
                check_span(member.key_span, text);
                check_node(&member.value, text);
            }
        }
        _ => {}
    }
}

fn check_span(span: Span, text: &str) {
    let part = text.get(span.start as usize..span.end as usize);
    assert!(part.is_some(), "{span:?} is not in the text");
}
