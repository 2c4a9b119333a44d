#![allow(clippy::unwrap_used, reason = "a test that fails may say so")]

use super::*;

const WANTED: &str =
    r#"{"hooks": {"Pre": [{"hooks": [{"command": "ours"}]}], "Post": [{"hooks": [{"command": "ours"}]}]}}"#;

fn ours(command: &str) -> bool {
    command == "ours"
}

fn added(text: &str) -> String {
    add(Some(text), &read(WANTED).unwrap()).unwrap()
}

#[test]
fn added_text_has_the_layout_of_the_file() {
    for (text, expected) in [
        (
            "{\n\t\"a\": 1\n}\n",
            "{\n\t\"a\": 1,\n\t\"hooks\": {\n\t\t\"Pre\": [\n\t\t\t{\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n\t\t\t\t\t\t\"command\": \"ours\"\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}\n\t\t],\n\t\t\"Post\": [\n\t\t\t{\n\t\t\t\t\"hooks\": [\n\t\t\t\t\t{\n\t\t\t\t\t\t\"command\": \"ours\"\n\t\t\t\t\t}\n\t\t\t\t]\n\t\t\t}\n\t\t]\n\t}\n}\n",
        ),
        (
            r#"{"hooks":{"Pre":[],"Post":[{"hooks":[]}]}}"#,
            r#"{"hooks":{"Pre":[{"hooks": [{"command": "ours"}]}],"Post":[{"hooks":[]},{"hooks": [{"command": "ours"}]}]}}"#,
        ),
        (
            "{ \"hooks\": { // mine\n  \"Pre\": [ { \"hooks\": [] } ], // yours\n  \"Post\": [], // theirs\n} }",
            "{ \"hooks\": { // mine\n  \"Pre\": [ { \"hooks\": [] }, {\"hooks\": [{\"command\": \"ours\"}]} ], // yours\n  \"Post\": [\n    {\n      \"hooks\": [\n        {\n          \"command\": \"ours\"\n        }\n      ]\n    }\n  ], // theirs\n} }",
        ),
    ] {
        assert_eq!(added(text), expected);
    }
}

#[test]
fn wrong_type_is_an_error_with_its_location() {
    for (text, message) in [
        ("{\n \"hooks\": []}", "line 2 column 11: `hooks` is an array, but must be an object"),
        ("{\"hooks\": {\"Pre\": 1}}", "line 1 column 19: `Pre` is a number, but must be an array"),
        ("[]", "line 1 column 1: the file is an array, but must be an object"),
    ] {
        assert_eq!(add(Some(text), &read(WANTED).unwrap()).unwrap_err().to_string(), message);
    }
    for text in ["{", "{\"a\": 1, \"a\": 2}", "{\"a\": }", "hooks: {}"] {
        assert!(add(Some(text), &read(WANTED).unwrap()).is_err(), "{text}");
    }
}

/// Layouts that people and programs write.
const LAYOUTS: &[&str] = &[
    "{}",
    "{ }",
    "{\n}\n",
    "",
    "\u{feff}",
    "\u{feff}{\r\n  \"a\": 1\r\n}\r\n",
    "{\n  // nothing yet\n}\n",
    "{ /* nothing */ }",
    "{\"a\":1}",
    "{ \"a\": 1, }",
    "{\n  \"a\": 1,\n}",
    "{\n  \"a\": 1 // one\n}",
    "{\n  \"a\": 1, // one\n  // two\n}",
    "{\n  \"a\": 1 // one\n  ,\n}",
    "{\n  \"a\": 1 // one\r two\n  ,\n}",
    "{\n    \"hooks\": {},\n    \"z\": []\n}",
    "{\n    \"hooks\": { },\n    \"z\": []\n}",
    "{\n  \"hooks\": null\n}",
    "{\n  \"hooks\": {\n    \"Pre\": []\n  }\n}",
    "{\n  \"hooks\": {\n    \"Pre\": [\n    ]\n  }\n}",
    "{\n  \"hooks\": {\n    \"Pre\": [ /* later */ ]\n  }\n}",
    "{\n  \"hooks\": {\n    \"Pre\": [\n      { \"hooks\": [ { \"command\": \"x\" } ] }\n    ]\n  }\n}",
    "{\n  \"hooks\": {\n    \"Pre\": [{\n      \"hooks\": [{\n        \"command\": \"x\"\n      }]\n    }]\n  },\n  \"b\": 2\n}",
    "{\n  \"hooks\": {\n    \"Pre\": [\n      { \"hooks\": [] }, // x\n      { \"hooks\": [] } // y\n    ],\n    \"Other\": []\n  }\n}",
    "{\"hooks\":{\"Pre\":[{\"command\":\"x\"}]}}",
    "{\n\t\"hooks\": {\n\t\t\"Post\": [\n\t\t\t{\n\t\t\t\t\"command\": \"x\"\n\t\t\t},\n\t\t],\n\t},\n}\n",
];

#[test]
fn strip_restores_the_original_bytes() {
    for text in LAYOUTS {
        let with = added(text);
        assert!(with.contains("ours"), "{text}");
        read(&with).unwrap();
        let head = read("{}").unwrap();
        let back = strip(&with, Some(text), &head, &ours).unwrap().unwrap();
        assert_eq!(back, *text, "through\n{with}");
    }
}

#[test]
fn strip_keeps_later_changes_of_others() {
    for text in LAYOUTS.iter().filter(|text| !is_blank(text)) {
        let other =
            read(r#"{"hooks": {"Pre": [{"command": "theirs"}], "More": [{"command": "theirs"}]}, "more": [1]}"#)
                .unwrap();
        let with = add(Some(&added(text)), &other).unwrap();
        let head = read("{}").unwrap();
        let back = strip(&with, Some(text), &head, &ours).unwrap().unwrap();
        let expected = add(Some(text), &other).unwrap();
        assert_eq!(read(&back).unwrap().to_json(), read(&expected).unwrap().to_json(), "{text}\n{with}\n{back}");
        // Comments stay too.
        assert_eq!(back.matches("//").count(), text.matches("//").count(), "{text}\n{back}");
    }
}

#[test]
fn strip_without_original_removes_empty_containers() {
    let head = read(r#"{"version": 1}"#).unwrap();
    let alone = add(None, &read(WANTED).unwrap()).unwrap();
    assert_eq!(strip(&alone, None, &head, &ours).unwrap(), None);
    let versioned = add(Some("{\"version\": 1}"), &read(WANTED).unwrap()).unwrap();
    assert_eq!(strip(&versioned, None, &head, &ours).unwrap(), None);
    let with = added("{\n  \"a\": 1\n}");
    assert_eq!(strip(&with, None, &head, &ours).unwrap().unwrap(), "{\n  \"a\": 1\n}");
}

#[test]
fn strip_keeps_hooks_of_others_in_the_same_group() {
    let text = r#"{"hooks": {"Pre": [{"hooks": [{"command": "x"}, {"command": "ours"}]}]}}"#;
    let head = read("{}").unwrap();
    let back = strip(text, None, &head, &ours).unwrap().unwrap();
    assert_eq!(back, r#"{"hooks": {"Pre": [{"hooks": [{"command": "x"}]}]}}"#);
}

mod generated {
    use super::*;
    use checkrein_document::Value;
    use proptest::prelude::*;

    /// White space and comments.
    fn space() -> impl Strategy<Value = String> {
        let one = prop::sample::select(vec![" ", "\n", "\t", "\r\n", "  ", "\n    ", "// c\n", "/* d */", "/* e\n */"]);
        prop::collection::vec(one, 0..3).prop_map(|parts| parts.concat())
    }

    /// Bracketed list: parts with white space around them, and optionally a trailing comma.
    fn listed(open: &'static str, close: &'static str, part: BoxedStrategy<String>) -> BoxedStrategy<String> {
        let parts = prop::collection::vec((space(), part, space()), 0..4);
        (parts, any::<bool>(), space(), space())
            .prop_map(move |(parts, trailing, first, last)| {
                let mut text = format!("{open}{first}");
                let count = parts.len();
                for (at, (before, part, after)) in parts.into_iter().enumerate() {
                    let comma = if at + 1 < count || trailing { "," } else { "" };
                    text += &format!("{before}{part}{after}{comma}");
                }
                format!("{text}{last}{close}")
            })
            .boxed()
    }

    fn value() -> BoxedStrategy<String> {
        let plain = prop::sample::select(vec!["1", "null", "true", "\"a, // b\"", "\"\\\"]\"", "{}", "[ ]"]);
        let plain = plain.prop_map(str::to_owned).boxed();
        plain
            .prop_recursive(3, 20, 4, |inner| {
                let named = inner.clone().prop_map(|value| format!("\"k\": {value}")).boxed();
                let one = (space(), named).prop_map(|(space, named)| format!("{{{space}{named}}}"));
                prop_oneof![listed("[", "]", inner), one]
            })
            .boxed()
    }

    /// Settings file: other settings, and optionally hooks.
    fn settings() -> impl Strategy<Value = String> {
        let hook = prop::sample::select(vec![
            "{\"command\": \"x\"}",
            "{ \"hooks\": [ {\"command\":\"y\"} ] }",
            "{\n\"matcher\": \"B\", // m\n\"hooks\": []}",
        ]);
        let event = listed("[", "]", hook.prop_map(str::to_owned).boxed());
        let pre = prop::option::of(event.clone());
        let post = prop::option::of(prop_oneof![event, Just("null".to_owned())]);
        let hooks = (pre, post, space(), space()).prop_map(|(pre, post, first, last)| {
            let members: Vec<_> = [("Pre", pre), ("Post", post)]
                .into_iter()
                .filter_map(|(name, value)| value.map(|value| format!("\"{name}\":{value}")))
                .collect();
            format!("\"hooks\": {{{first}{}{last}}}", members.join(","))
        });
        let member = (0_u8..3, value()).prop_map(|(n, value)| (n, format!("\"m{n}\": {value}")));
        let others = prop::collection::btree_map(0_u8..3, member.prop_map(|(_, text)| text), 0..3);
        (space(), prop::option::of(hooks), others, any::<bool>(), space(), space()).prop_map(
            |(before, hooks, others, first, inner, after)| {
                let others = others.into_iter().map(|(n, text)| {
                    let value = text.split_once(':').map_or("1", |(_, value)| value);
                    format!("\"m{n}\":{value}")
                });
                let mut members: Vec<_> = others.collect();
                if let Some(hooks) = hooks {
                    members.insert(if first { 0 } else { members.len() }, hooks);
                }
                format!("{before}{{{inner}{}{inner}}}{after}", members.join(&format!(",{inner}")))
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        #[test]
        fn strip_restores_the_original_bytes(text in settings()) {
            let with = added(&text);
            let root = read(&with).unwrap();
            prop_assert_eq!(with.matches("\"ours\"").count(), 2);
            prop_assert!(matches!(root.value, Value::Object(_)));
            let head = read("{}").unwrap();
            let back = strip(&with, Some(&text), &head, &ours).unwrap().unwrap();
            prop_assert_eq!(&back, &text, "through\n{}", with);
        }

        #[test]
        fn strip_without_original_loses_nothing(text in settings()) {
            let head = read("{}").unwrap();
            let back = strip(&added(&text), None, &head, &ours).unwrap();
            let left = back.as_deref().map_or_else(|| "{}".to_owned(), |back| read(back).unwrap().to_json());
            // Empty lists of hooks are equivalent to missing ones.
            let plain = |json: &str| {
                let mut json = json.replace("\"Pre\":[],", "").replace("\"Pre\":[]", "");
                for empty in ["\"Post\":[]", "\"Post\":null"] {
                    json = json.replace(&format!(",{empty}"), "").replace(empty, "");
                }
                for empty in [",\"hooks\":{}", "\"hooks\":{},", "\"hooks\":{}"] {
                    json = json.replace(empty, "");
                }
                json
            };
            prop_assert_eq!(plain(&left), plain(&read(&text).unwrap().to_json()));
        }
    }
}
