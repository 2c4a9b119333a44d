use super::super::{DocumentProblem, Format, Node, Span, Value, parse};

fn json(text: &str) -> Result<Node<'_>, String> {
    parse(text, Format::Json).map(|parsed| parsed.root).map_err(|error| error.to_string())
}

fn jsonc(text: &str) -> Result<Node<'_>, String> {
    parse(text, Format::Jsonc).map(|parsed| parsed.root).map_err(|error| error.to_string())
}

#[test]
fn values_keep_what_they_say() {
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
fn comments_and_trailing_commas_are_for_jsonc() {
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
fn nodes_know_their_places() {
    let text = "\u{feff}{\"ä\": [1, \"x\\n\"],\r\n \"b\": {} }\n";
    let root = json(text).unwrap();
    assert_eq!(root.span.of(text), "{\"ä\": [1, \"x\\n\"],\r\n \"b\": {} }");
    let [first, second] = root.as_object().unwrap() else { panic!("not two members") };
    assert_eq!(first.key_span.of(text), "\"ä\"");
    assert_eq!(first.value.span.of(text), "[1, \"x\\n\"]");
    let items: Vec<_> = first.value.as_array().unwrap().iter().map(|item| item.span.of(text)).collect();
    assert_eq!(items, ["1", "\"x\\n\""]);
    assert_eq!((second.key_span.of(text), second.value.span.of(text)), ("\"b\"", "{}"));
}

#[test]
fn errors_have_their_exact_place() {
    for (text, message) in [
        ("", "expected a value, found the end of the text at line 1 column 1"),
        (" \n", "expected a value, found the end of the text at line 2 column 1"),
        ("\u{feff}x", "expected a value, found `x` at line 1 column 1"),
        ("[True]", "expected a value, found `True` at line 1 column 2"),
        ("truex", "expected a value, found `truex` at line 1 column 1"),
        ("[\n 'a']", "expected a value, found `'` at line 2 column 2"),
        ("[ä]", "expected a value, found `ä` at line 1 column 2"),
        ("[\u{1}]", "expected a value, found `\\u{1}` at line 1 column 2"),
        ("[\u{a0}1]", "expected a value, found `\\u{a0}` at line 1 column 2"),
        ("[1 2]", "expected `,` or `]`, found `2` at line 1 column 4"),
        ("[1}", "expected `,` or `]`, found `}` at line 1 column 3"),
        ("[1", "expected `,` or `]`, found the end of the text at line 1 column 3"),
        ("[,1]", "expected a value, found `,` at line 1 column 2"),
        ("[1,,2]", "expected a value, found `,` at line 1 column 4"),
        ("{\"ä\": 1 x", "expected `,` or `}`, found `x` at line 1 column 9"),
        ("{a: 1}", "expected a key in double quotes, found `a` at line 1 column 2"),
        ("{\"a\": 1,\r\n2: 3}", "expected a key in double quotes, found `2` at line 2 column 1"),
        ("{\"a\" 1}", "expected `:`, found `1` at line 1 column 6"),
        ("{\"a\":}", "expected a value, found `}` at line 1 column 6"),
        ("{} {}", "text after the end of the value at line 1 column 4"),
        ("1/2", "text after the end of the value at line 1 column 2"),
        ("[01]", "invalid number `01` at line 1 column 2"),
        ("-", "invalid number `-` at line 1 column 1"),
        ("1.", "invalid number `1.` at line 1 column 1"),
        ("1e+", "invalid number `1e+` at line 1 column 1"),
        ("0x1F", "invalid number `0x1F` at line 1 column 1"),
        ("1111111111111111111111111x", "invalid number `111111111111111111111111…` at line 1 column 1"),
        ("+1", "expected a value, found `+1` at line 1 column 1"),
        (".5", "expected a value, found `.5` at line 1 column 1"),
        ("\"abc", "expected `\"`, found the end of the text at line 1 column 5"),
        ("[\"abc\n\"]", "expected `\"`, found the end of the line at line 1 column 6"),
        ("\"a\tb\"", "unescaped control character 0x09 in a string at line 1 column 3"),
        ("\"a\\x\"", "invalid escape `\\x` at line 1 column 3"),
        ("\"a\\ä\"", "invalid escape `\\ä` at line 1 column 3"),
        ("\"\\", "invalid escape `\\` at line 1 column 2"),
        ("\"\\u12g4\"", "expected four hexadecimal digits after `\\u` at line 1 column 2"),
        ("\"\\u+123\"", "expected four hexadecimal digits after `\\u` at line 1 column 2"),
        ("\"\\ud800\"", "`\\ud800` is half of a surrogate pair at line 1 column 2"),
        ("\"x\\udc00\"", "`\\udc00` is half of a surrogate pair at line 1 column 3"),
        ("\"\\ud800\\ud800\"", "`\\ud800` is half of a surrogate pair at line 1 column 2"),
        ("\"\\ud800\\u12\"", "expected four hexadecimal digits after `\\u` at line 1 column 8"),
    ] {
        assert_eq!(json(text).unwrap_err(), message, "{text:?}");
        assert_eq!(jsonc(text).unwrap_err(), message, "{text:?}");
    }
}

#[test]
fn json_says_what_only_jsonc_allows() {
    for (text, message) in [
        ("[1,\n]", "a comma before `]`, which JSON does not allow at line 1 column 3"),
        ("{\"a\":1, }", "a comma before `}`, which JSON does not allow at line 1 column 7"),
        ("[1 // x\n]", "a comment, which JSON does not allow at line 1 column 4"),
        ("/* x */ 1", "a comment, which JSON does not allow at line 1 column 1"),
    ] {
        assert_eq!(json(text).unwrap_err(), message, "{text:?}");
    }
    for (text, message) in [
        ("[1 /* x ]", "a comment without its `*/` at line 1 column 4"),
        ("/*/", "a comment without its `*/` at line 1 column 1"),
        ("[/ 1]", "expected a value, found `/` at line 1 column 2"),
        ("[,]", "expected a value, found `,` at line 1 column 2"),
        ("{,}", "expected a key in double quotes, found `,` at line 1 column 2"),
        ("// only", "expected a value, found the end of the text at line 1 column 8"),
    ] {
        assert_eq!(jsonc(text).unwrap_err(), message, "{text:?}");
    }
}

#[test]
fn of_duplicate_keys_the_last_counts() {
    let text = r#"{"a": 1, "b": 2, "\u0061": 3, "a": 4}"#;
    let parsed = parse(text, Format::Json).unwrap();
    assert_eq!(parsed.root.to_json(), r#"{"b":2,"a":4}"#);
    let used = Span::new(30, 33);
    let problem = |start, end| DocumentProblem::DuplicateKey { key: "a".into(), ignored: Span::new(start, end), used };
    assert_eq!(parsed.problems, [problem(1, 4), problem(17, 25)]);
    assert_eq!(parsed.problems[0].to_string(), "duplicate key \"a\", only the last one counts");
    assert_eq!(parsed.problems[0].span(), Span::new(1, 4));

    // With more keys than are compared one by one.
    let many = format!("{{\"k7\": [], {}}}", (0..100).map(|n| format!("\"k{n}\": {n}")).collect::<Vec<_>>().join(","));
    let parsed = parse(&many, Format::Json).unwrap();
    assert_eq!(parsed.root.as_object().unwrap().len(), 100);
    assert_eq!(parsed.root.get("k7").unwrap().as_number(), Some("7"));
    assert_eq!(parsed.problems.len(), 1);
}
