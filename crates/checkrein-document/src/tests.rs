//! Tests of all formats.

use proptest::prelude::*;
use serde_json::Value as Json;

use super::*;

const ALL: [Format; 4] = [Format::Json, Format::Jsonc, Format::Yaml, Format::Toml];

#[test]
fn format_is_detected_by_extension() {
    for (path, format) in [
        ("a/settings.json", Some(Format::Json)),
        ("x.JSONC", Some(Format::Jsonc)),
        ("x.yaml", Some(Format::Yaml)),
        ("x.b.yml", Some(Format::Yaml)),
        ("config.toml", Some(Format::Toml)),
        ("json", None),
        (".json", None),
        ("x.txt", None),
    ] {
        assert_eq!(Format::from_path(Path::new(path)), format, "{path}");
    }
}

#[test]
fn node_accessors_match_the_type() {
    let parsed = parse(r#"{"n": null, "b": true, "i": 1, "s": "x", "a": [], "o": {}}"#, Format::Json).unwrap();
    let root = &parsed.root;
    let types: Vec<_> = root.as_object().unwrap().iter().map(|member| member.value.type_name()).collect();
    assert_eq!(types, ["null", "a boolean", "a number", "a string", "an array", "an object"]);
    assert!(root.get("n").unwrap().is_null());
    assert_eq!(root.get("b").unwrap().as_bool(), Some(true));
    assert_eq!(root.get("i").unwrap().as_number(), Some("1"));
    assert_eq!(root.get("s").unwrap().as_str(), Some("x"));
    assert_eq!(root.get("a").unwrap().as_array(), Some(&[][..]));
    assert_eq!(root.get("o").unwrap().as_object(), Some(&[][..]));
    assert_eq!(root.get("x"), None);
    assert_eq!(root.get("s").unwrap().get("x"), None);
    assert_eq!((root.as_str(), root.as_bool(), root.as_number(), root.as_array()), (None, None, None, None));
}

#[test]
fn too_long_texts_are_rejected() {
    let text = " ".repeat(MAX_SIZE + 1);
    for format in ALL {
        let error = parse(&text, format).unwrap_err();
        assert_eq!(error.message, "the file has 8388609 bytes, and the limit is 8388608");
        assert_eq!((error.span, error.place), (Span::default(), LineColumn { line: 1, column: 1 }));
    }
}

#[test]
fn too_deep_texts_are_rejected_with_their_position() {
    let nested = |open: &str, close: &str, levels: usize| format!("{}{}", open.repeat(levels), close.repeat(levels));
    for (format, open, close, column) in [
        (Format::Json, "[", "]", 129),
        (Format::Jsonc, "{\"a\":[", "]}", 385),
        #[cfg(feature = "yaml")]
        (Format::Yaml, "[", "]", 129),
        #[cfg(feature = "yaml")]
        (Format::Yaml, "- ", "", 257),
    ] {
        let levels = MAX_DEPTH / open.matches(['[', '{', '-']).count();
        assert!(parse(&nested(open, close, levels), format).is_ok(), "{format:?}");
        let error = parse(&nested(open, close, levels + 1), format).unwrap_err();
        assert_eq!(error.message, "nested more than 128 levels deep, which is the limit");
        assert_eq!(error.place, LineColumn { line: 1, column }, "{format:?}");
    }
}

#[cfg(not(feature = "yaml"))]
#[test]
fn missing_feature_is_reported() {
    let error = parse("a: 1", Format::Yaml).unwrap_err();
    let message =
        "line 1 column 1: YAML is not supported in this build; enable the feature `yaml` of checkrein-document";
    assert_eq!(error.to_string(), message);
}

/// Texts that make parsers slow or overflow their stack.
#[test]
fn hostile_texts_do_not_hang_or_overflow() {
    for piece in [
        "[",
        "{",
        "[[",
        "{\"a\":",
        "- ",
        "? ",
        "a: ",
        "&a ",
        "!a ",
        "*",
        "\"",
        "'",
        "|\n",
        "\\",
        "/*",
        "//",
        "#",
        "%",
        "\t",
        "---\n",
        "...\n",
        "a.",
        "[a.",
        "[[a]]\n",
        "a={",
        "a=[",
        "<<: ",
        "\r",
        "a\n",
        ",",
        ":",
        "1",
        "- &a\n",
        "a: &a b\n",
        "\n",
        " ",
        "-",
        "x ",
        "{?",
        "[a]\nb.c.d=1\n",
        "\u{feff}",
        "ä",
    ] {
        exercise(piece.repeat(20_000 / piece.len()).as_bytes());
    }
}

fn any_json(text: &'static str) -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        text.prop_map(Json::from),
        prop::sample::select(vec!["true", "~", "<<", "1", "&a", "*a", "# a", ": ", "- ", "0x1", ".inf", "---"])
            .prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 24, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::hash_map(text, inner, 0..5).prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

fn assert_same(value: &Json, formats: &[Format]) -> Result<(), TestCaseError> {
    let compact = serde_json::to_string(value).unwrap();
    let pretty = serde_json::to_string_pretty(value).unwrap();
    for &format in formats {
        for text in [&compact, &pretty, &pretty.replace('\n', "\r\n"), &format!("\u{feff}{pretty}\n")] {
            let parsed =
                parse(text, format).map_err(|error| TestCaseError::fail(format!("{format:?} {text:?}: {error}")))?;
            prop_assert_eq!(parsed.root.to_json(), compact.as_str(), "{:?}", format);
            prop_assert_eq!(parsed.problems, []);
        }
    }
    Ok(())
}

/// YAML rejects unprintable characters, some of which JSON allows without escapes.
#[cfg(feature = "yaml")]
const PRINTABLE: &str = r"[\x00-\x7e\u{a0}-\u{d7ff}\u{e000}-\u{fefe}\u{ff00}-\u{fffd}\u{10000}-\u{10ffff}]{0,8}";

/// Characters and sequences with a meaning in one of the formats.
const SYNTAX: &str = concat!(
    r"([\[\]{}:,\x22'#&*!|>%@`\-?=. \t\r\n\\/a1~<é\u{feff}]",
    r"|<<: |\[\[|a = |- |\*a|&a |\n  |---|u12|e5){0,30}",
);

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn json_is_parsed_like_serde_json(value in any_json("(?s).{0,8}")) {
        assert_same(&value, &[Format::Json, Format::Jsonc])?;
    }

    #[cfg(feature = "yaml")]
    #[test]
    fn yaml_parses_json(value in any_json(PRINTABLE)) {
        assert_same(&value, &[Format::Yaml])?;
    }

    #[test]
    fn arbitrary_text_does_not_panic(text in "(?s).{0,40}") {
        exercise(text.as_bytes());
    }

    #[test]
    fn arbitrary_syntax_does_not_panic(text in SYNTAX) {
        exercise(text.as_bytes());
    }
}
