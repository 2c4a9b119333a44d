//! Tests of JSON and JSON with comments.

use super::super::{DocumentProblem, Format, Node, Span, Value, parse};

fn json(text: &str) -> Result<Node<'_>, String> {
    parse(text, Format::Json).map(|parsed| parsed.root).map_err(|error| error.to_string())
}

fn jsonc(text: &str) -> Result<Node<'_>, String> {
    parse(text, Format::Jsonc).map(|parsed| parsed.root).map_err(|error| error.to_string())
}

#[test]
fn values_are_unchanged() {
    for (text, written) in [
        ("null", "null"),
        (" true\r\n", "true"),
        ("\tfalse", "false"),
        ("12345678901234567890", "12345678901234567890"),
        ("1e400", "1e400"),
        ("1.0", "1.0"),
        ("-0", "-0"),
        ("-0.10E+05", "-0.10E+05"),
        (r#""""#, r#""""#),
        (r#""a\"b\\c\/d""#, r#""a\"b\\c/d""#),
        (r#""\b\f\n\r\t\u0001\u001F""#, r#""\b\f\n\r\t\u0001\u001f""#),
        (r#""\u00e4\ud83d\uDE00x""#, r#""ä😀x""#),
        ("\"\u{7f}\u{2028}\"", "\"\u{7f}\u{2028}\""),
        ("[]", "[]"),
        ("[ ]", "[]"),
        ("{ }", "{}"),
        ("[1, [2, {}], \"\"]", "[1,[2,{}],\"\"]"),
        (r#"{"b": 1, "a": {"": [null]}}"#, r#"{"b":1,"a":{"":[null]}}"#),
        ("\u{feff}[1]", "[1]"),
    ] {
        assert_eq!(json(text).unwrap().to_json(), written, "{text}");
        assert_eq!(jsonc(text).unwrap().to_json(), written, "{text}");
    }
}

#[test]
fn strings_without_escapes_are_borrowed() {
    let root = json(r#"{"a": "b", "c\n": "d\n"}"#).unwrap();
    let borrowed: Vec<_> =
        root.as_object().unwrap().iter().map(|member| matches!(member.key, std::borrow::Cow::Borrowed(_))).collect();
    assert_eq!(borrowed, [true, false]);
    assert!(matches!(root.get("a").unwrap().value, Value::String(std::borrow::Cow::Borrowed("b"))));
}

#[test]
fn jsonc_allows_comments_and_trailing_commas() {
    for (text, written) in [
        ("// a\n[1, // b\n 2,]// c", "[1,2]"),
        ("/* a */{/**/\"x\"/* * / */:/***/1/* ,*/,}/* c */", r#"{"x":1}"#),
        ("[1,\r\n// ä\r\n]", "[1]"),
        (r#"["//", "/*"]"#, r#"["//","/*"]"#),
    ] {
        assert_eq!(jsonc(text).unwrap().to_json(), written, "{text}");
    }
}

#[test]
fn nodes_have_their_spans() {
    let text = "\u{feff}{\"ä\": [1, \"x\\n\"],\r\n \"b\": {} }\n";
    let root = json(text).unwrap();
    assert_eq!(root.span.slice(text), "{\"ä\": [1, \"x\\n\"],\r\n \"b\": {} }");
    let [first, second] = root.as_object().unwrap() else { panic!("not two members") };
    assert_eq!(first.key_span.slice(text), "\"ä\"");
    assert_eq!(first.value.span.slice(text), "[1, \"x\\n\"]");
    let items: Vec<_> = first.value.as_array().unwrap().iter().map(|item| item.span.slice(text)).collect();
    assert_eq!(items, ["1", "\"x\\n\""]);
    assert_eq!((second.key_span.slice(text), second.value.span.slice(text)), ("\"b\"", "{}"));
}

#[test]
fn errors_have_their_position() {
    for (text, message) in [
        ("", "line 1 column 1: invalid JSON: expected a value, found the end of the file"),
        (" \n", "line 2 column 1: invalid JSON: expected a value, found the end of the file"),
        ("\u{feff}x", "line 1 column 1: invalid JSON: expected a value, found `x`"),
        ("[True]", "line 1 column 2: invalid JSON: expected a value, found `True`"),
        ("truex", "line 1 column 1: invalid JSON: expected a value, found `truex`"),
        ("[\n 'a']", "line 2 column 2: invalid JSON: expected a value, found `'`"),
        ("[ä]", "line 1 column 2: invalid JSON: expected a value, found `ä`"),
        ("[\u{1}]", "line 1 column 2: invalid JSON: expected a value, found `\\u{1}`"),
        ("[\u{a0}1]", "line 1 column 2: invalid JSON: expected a value, found `\\u{a0}`"),
        ("[1 2]", "line 1 column 4: invalid JSON: expected `,` or `]`, found `2`"),
        ("[1}", "line 1 column 3: invalid JSON: expected `,` or `]`, found `}`"),
        ("[1", "line 1 column 3: invalid JSON: expected `,` or `]`, found the end of the file"),
        ("[,1]", "line 1 column 2: invalid JSON: expected a value, found `,`"),
        ("[1,,2]", "line 1 column 4: invalid JSON: expected a value, found `,`"),
        ("{\"ä\": 1 x", "line 1 column 9: invalid JSON: expected `,` or `}`, found `x`"),
        ("{a: 1}", "line 1 column 2: invalid JSON: expected a key in double quotes, found `a`"),
        ("{\"a\": 1,\r\n2: 3}", "line 2 column 1: invalid JSON: expected a key in double quotes, found `2`"),
        ("{\"a\" 1}", "line 1 column 6: invalid JSON: expected `:`, found `1`"),
        ("{\"a\":}", "line 1 column 6: invalid JSON: expected a value, found `}`"),
        ("{} {}", "line 1 column 4: invalid JSON: unexpected text after the value; remove it"),
        ("1/2", "line 1 column 2: invalid JSON: unexpected text after the value; remove it"),
        ("[01]", "line 1 column 2: invalid JSON: invalid number `01`"),
        ("-", "line 1 column 1: invalid JSON: invalid number `-`"),
        ("1.", "line 1 column 1: invalid JSON: invalid number `1.`"),
        ("1e+", "line 1 column 1: invalid JSON: invalid number `1e+`"),
        ("0x1F", "line 1 column 1: invalid JSON: invalid number `0x1F`"),
        ("1111111111111111111111111x", "line 1 column 1: invalid JSON: invalid number `111111111111111111111111…`"),
        ("+1", "line 1 column 1: invalid JSON: expected a value, found `+1`"),
        (".5", "line 1 column 1: invalid JSON: expected a value, found `.5`"),
        ("\"abc", "line 1 column 5: invalid JSON: unclosed string; add `\"`"),
        ("[\"abc\n\"]", "line 1 column 6: invalid JSON: unclosed string; add `\"`, or write `\\n` for a line break"),
        ("\"a\tb\"", "line 1 column 3: invalid JSON: unescaped control character in a string; write `\\u0009`"),
        ("\"a\\x\"", "line 1 column 3: invalid JSON: invalid escape sequence `\\x`; write `\\\\` for a backslash"),
        ("\"a\\ä\"", "line 1 column 3: invalid JSON: invalid escape sequence `\\ä`; write `\\\\` for a backslash"),
        ("\"\\", "line 1 column 2: invalid JSON: invalid escape sequence `\\`; write `\\\\` for a backslash"),
        ("\"\\u12g4\"", "line 1 column 2: invalid JSON: expected four hexadecimal digits after `\\u`"),
        ("\"\\u+123\"", "line 1 column 2: invalid JSON: expected four hexadecimal digits after `\\u`"),
        ("\"\\ud800\"", "line 1 column 2: invalid JSON: `\\ud800` is half of a surrogate pair; write both halves"),
        ("\"x\\udc00\"", "line 1 column 3: invalid JSON: `\\udc00` is half of a surrogate pair; write both halves"),
        (
            "\"\\ud800\\ud800\"",
            "line 1 column 2: invalid JSON: `\\ud800` is half of a surrogate pair; write both halves",
        ),
        ("\"\\ud800\\u12\"", "line 1 column 8: invalid JSON: expected four hexadecimal digits after `\\u`"),
    ] {
        assert_eq!(json(text).unwrap_err(), message, "{text:?}");
        assert_eq!(jsonc(text).unwrap_err(), message, "{text:?}");
    }
}

#[test]
fn json_rejects_comments_and_trailing_commas() {
    for (text, message) in [
        ("[1,\n]", "line 1 column 3: invalid JSON: trailing comma before `]`; remove the comma"),
        ("{\"a\":1, }", "line 1 column 7: invalid JSON: trailing comma before `}`; remove the comma"),
        ("[1 // x\n]", "line 1 column 4: invalid JSON: comments are not allowed; remove the comment"),
        ("/* x */ 1", "line 1 column 1: invalid JSON: comments are not allowed; remove the comment"),
    ] {
        assert_eq!(json(text).unwrap_err(), message, "{text:?}");
    }
    for (text, message) in [
        ("[1 /* x ]", "line 1 column 4: invalid JSON: unclosed comment; add `*/`"),
        ("/*/", "line 1 column 1: invalid JSON: unclosed comment; add `*/`"),
        ("[/ 1]", "line 1 column 2: invalid JSON: expected a value, found `/`"),
        ("[,]", "line 1 column 2: invalid JSON: expected a value, found `,`"),
        ("{,}", "line 1 column 2: invalid JSON: expected a key in double quotes, found `,`"),
        ("// only", "line 1 column 8: invalid JSON: expected a value, found the end of the file"),
    ] {
        assert_eq!(jsonc(text).unwrap_err(), message, "{text:?}");
    }
}

#[test]
fn last_of_duplicate_keys_is_used() {
    let text = r#"{"a": 1, "b": 2, "\u0061": 3, "a": 4}"#;
    let parsed = parse(text, Format::Json).unwrap();
    assert_eq!(parsed.root.to_json(), r#"{"b":2,"a":4}"#);
    let used = Span::new(30, 33);
    let problem = |start, end| DocumentProblem::DuplicateKey { key: "a".into(), ignored: Span::new(start, end), used };
    assert_eq!(parsed.problems, [problem(1, 4), problem(17, 25)]);
    assert_eq!(parsed.problems[0].to_string(), "duplicate key `a`; only the last one is used, remove the others");
    assert_eq!(parsed.problems[0].span(), Span::new(1, 4));

    // More keys than are compared in pairs.
    let many = format!("{{\"k7\": [], {}}}", (0..100).map(|n| format!("\"k{n}\": {n}")).collect::<Vec<_>>().join(","));
    let parsed = parse(&many, Format::Json).unwrap();
    assert_eq!(parsed.root.as_object().unwrap().len(), 100);
    assert_eq!(parsed.root.get("k7").unwrap().as_number(), Some("7"));
    assert_eq!(parsed.problems.len(), 1);
}
