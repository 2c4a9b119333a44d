//! What holds for all formats.

use proptest::prelude::*;
use serde_json::Value as Json;

use super::*;

const ALL: [Format; 4] = [Format::Json, Format::Jsonc, Format::Yaml, Format::Toml];

#[test]
fn formats_have_their_extensions() {
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
        assert_eq!(Format::of_path(Path::new(path)), format, "{path}");
    }
}

#[test]
fn nodes_are_easy_to_read() {
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
fn long_texts_are_refused() {
    let text = " ".repeat(MAX_SIZE + 1);
    for format in ALL {
        let error = parse(&text, format).unwrap_err();
        assert_eq!(error.message, "the text has 8388609 bytes, more than the 8388608 that are read");
        assert_eq!((error.span, error.place), (Span::default(), LineColumn { line: 1, column: 1 }));
    }
}

#[test]
fn deep_texts_are_refused_at_their_place() {
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
        assert_eq!(error.message, "nested more than 128 levels deep");
        assert_eq!(error.place, LineColumn { line: 1, column }, "{format:?}");
    }
}

#[cfg(not(feature = "yaml"))]
#[test]
fn a_missing_feature_is_named() {
    let error = parse("a: 1", Format::Yaml).unwrap_err();
    let message = "YAML is not read: checkrein-document was built without its feature `yaml` at line 1 column 1";
    assert_eq!(error.to_string(), message);
}

/// Texts that make parsers slow or overflow their stack.
#[test]
fn hostile_texts_end() {
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

/// Of the characters that JSON need not escape, YAML does not want to see those that cannot be printed.
#[cfg(feature = "yaml")]
const PRINTABLE: &str = r"[\x00-\x7e\u{a0}-\u{d7ff}\u{e000}-\u{fefe}\u{ff00}-\u{fffd}\u{10000}-\u{10ffff}]{0,8}";

/// What means something in one of the formats.
const TELLING: &str = concat!(
    r"([\[\]{}:,\x22'#&*!|>%@`\-?=. \t\r\n\\/a1~<é\u{feff}]",
    r"|<<: |\[\[|a = |- |\*a|&a |\n  |---|u12|e5){0,30}",
);

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) })]

    #[test]
    fn json_is_read_as_it_was_meant(value in any_json("(?s).{0,8}")) {
        assert_same(&value, &[Format::Json, Format::Jsonc])?;
    }

    #[cfg(feature = "yaml")]
    #[test]
    fn yaml_reads_json(value in any_json(PRINTABLE)) {
        assert_same(&value, &[Format::Yaml])?;
    }

    #[test]
    fn any_text_is_read_or_refused(text in "(?s).{0,40}") {
        exercise(text.as_bytes());
    }

    #[test]
    fn any_text_of_telling_characters_is_read_or_refused(text in TELLING) {
        exercise(text.as_bytes());
    }
}
