//! Tests of YAML.

use super::super::{DocumentProblem, Format, MAX_COPIES, Node, Span, parse};

fn yaml(text: &str) -> Result<Node<'_>, String> {
    parse(text, Format::Yaml).map(|parsed| parsed.root).map_err(|error| error.to_string())
}

#[test]
fn plain_scalars_follow_the_core_schema() {
    for (text, written) in [
        ("", "null"),
        ("# nothing", "null"),
        ("---", "null"),
        ("[~, null, Null, NULL, nUll]", r#"[null,null,null,null,"nUll"]"#),
        ("[true, True, TRUE, false, yes, on, tRue]", r#"[true,true,true,false,"yes","on","tRue"]"#),
        ("[1, -1, +1, 007, 0o17, 0xFF, 0xff]", "[1,-1,1,7,15,255,255]"),
        ("[12345678901234567890, 1e400, 1.0]", "[12345678901234567890,1e400,1.0]"),
        ("[.5, 5., -.5e-3, 1_000, 0b1, -0x1, 1:30]", r#"[0.5,5.0,-0.5e-3,"1_000","0b1","-0x1","1:30"]"#),
        ("[.inf, -.INF, .nan, 2001-01-01]", r#"[".inf","-.INF",".nan","2001-01-01"]"#),
        (
            "['1', \"true\", !!str 1, ! 1, !!int '7', !!float 1, !!null '', !!str ]",
            r#"["1","true","1","1",7,1,null,""]"#,
        ),
        ("a: |\n  one\n  two\nb: >-\n  one\n  two\n", r#"{"a":"one\ntwo\n","b":"one two"}"#),
        ("1: a\ntrue: b\n~: c\n: d\n0x1: e", r#"{"1":"a","true":"b","~":"c","":"d","0x1":"e"}"#),
        ("\u{feff}a: ü\r\nb: [x,\r\n  y]\r\n", r#"{"a":"ü","b":["x","y"]}"#),
        ("a: 1\n...\n", r#"{"a":1}"#),
        ("- - 1\n  - 2\n- k: v\n", r#"[[1,2],{"k":"v"}]"#),
    ] {
        assert_eq!(yaml(text).map(|root| root.to_json()).as_deref(), Ok(written), "{text}");
    }
}

#[test]
fn aliases_and_merge_keys_are_expanded() {
    for (text, written) in [
        ("a: &x [1, 2]\nb: *x", r#"{"a":[1,2],"b":[1,2]}"#),
        ("a: &x 1\nb: &x 2\nc: *x", r#"{"a":1,"b":2,"c":2}"#),
        ("a: &x \"q\\n\"\nb: *x", r#"{"a":"q\n","b":"q\n"}"#),
        ("- &k key\n- {*k : 1}", r#"["key",{"key":1}]"#),
        ("- &x\n- *x", "[null,null]"),
        ("b: &b {x: 1, y: 2}\nz:\n  <<: *b\n  y: 3", r#"{"b":{"x":1,"y":2},"z":{"y":3,"x":1}}"#),
        ("- &a {x: 1}\n- &b {x: 2, y: 2}\n- <<: [*a, *b]\n  z: 3", r#"[{"x":1},{"x":2,"y":2},{"z":3,"x":1,"y":2}]"#),
        ("- &a {x: 1}\n- &b {<<: *a, y: 2}\n- {<<: *b}", r#"[{"x":1},{"y":2,"x":1},{"y":2,"x":1}]"#),
        ("<<: {a: 1}\na: 2", r#"{"a":2}"#),
        ("\"<<\": 1", r#"{"<<":1}"#),
    ] {
        assert_eq!(yaml(text).map(|root| root.to_json()).as_deref(), Ok(written), "{text}");
    }
}

#[test]
fn nodes_have_their_spans() {
    let text = "é: &x [1, ü]\nb:\n  - |\n    one\n\n    two\n\n  - k: 'v'\n    l:\n# end\nc: *x\n";
    let root = yaml(text).unwrap();
    assert_eq!(root.span.slice(text), text.trim_end());
    let keys: Vec<_> = root.as_object().unwrap().iter().map(|member| member.key_span.slice(text)).collect();
    assert_eq!(keys, ["é", "b", "c"]);
    assert_eq!(root.get("é").unwrap().span.slice(text), "[1, ü]");
    assert_eq!(root.get("é").unwrap().as_array().unwrap()[1].span.slice(text), "ü");
    let items = root.get("b").unwrap().as_array().unwrap();
    assert_eq!(items[0].span.slice(text), "one\n\n    two");
    assert_eq!(items[1].span.slice(text), "k: 'v'\n    l");
    assert_eq!(items[1].get("k").unwrap().span.slice(text), "'v'");
    assert_eq!(items[1].get("l").unwrap().span.slice(text), "");
    // A copy has the span of the original.
    assert_eq!(root.get("c"), root.get("é"));
}

#[test]
fn errors_have_their_position() {
    for (text, message) in [
        ("a: 1\n---\nb: 2", "line 2 column 1: a second YAML document is not supported; remove the `---`"),
        ("a:\n\tb: 1", "line 2 column 1: invalid YAML: tab in the indentation; use spaces"),
        ("a:\n  ü: 1\n \tb: 1", "line 3 column 2: invalid YAML: tab in the indentation; use spaces"),
        (
            "a:\n    b: 1\n  c: 2",
            "line 3 column 3: invalid YAML: expected a key with the indentation of the keys before it",
        ),
        ("- a\nb: 1", "line 2 column 1: invalid YAML: expected `-` with the indentation of the items before it"),
        ("ä: 1\n  b: 2", "line 2 column 4: invalid YAML: unexpected `:`; check the indentation, or quote the text"),
        ("a: b: c", "line 1 column 5: invalid YAML: unexpected `:`; check the indentation, or quote the text"),
        ("é: ü\nb: [", "line 2 column 4: invalid YAML: unclosed bracket '['"),
        ("@a", "line 1 column 1: invalid YAML: unexpected character: `@'"),
        (
            "a: \"\\ud800\"",
            "line 1 column 4: invalid YAML: while parsing a quoted scalar, found high surrogate without following low surrogate",
        ),
        ("a: &x [*x]", "line 1 column 8: invalid YAML: alias `*x` refers to a value that contains it"),
        ("a: &x\n  b: {c: *x}", "line 2 column 10: invalid YAML: alias `*x` refers to a value that contains it"),
        ("\u{feff}a: *x", "line 1 column 4: invalid YAML: unknown alias; define its anchor (`&name`) before it"),
        ("a: !!int x", "line 1 column 10: invalid YAML: the value does not match its tag `!!int`"),
        ("a: !!map [1]", "line 1 column 10: invalid YAML: the value does not match its tag `!!map`"),
        ("? [1]\n: 2", "line 1 column 3: invalid YAML: an array cannot be a key; use a string"),
        ("- &a {x: 1}\n- {*a : 1}", "line 2 column 4: invalid YAML: an object cannot be a key; use a string"),
        ("a:\n  <<: 3", "line 2 column 7: invalid YAML: `<<` needs an object or an array of objects, found a number"),
        (
            "- &a 1\n- <<: [{}, *a]",
            "line 2 column 7: invalid YAML: `<<` needs an object or an array of objects, found a number",
        ),
    ] {
        assert_eq!(yaml(text).map(|root| root.to_json()), Err(message.to_owned()), "{text:?}");
    }
}

#[test]
fn duplicate_keys_and_unknown_tags_are_reported() {
    let parsed = parse("a: !env 1\nb: 2\na: 3\n<<: {b: 4}", Format::Yaml).unwrap();
    assert_eq!(parsed.root.to_json(), r#"{"b":2,"a":3}"#);
    assert_eq!(
        parsed.problems,
        [
            DocumentProblem::DuplicateKey { key: "a".into(), ignored: Span::new(0, 1), used: Span::new(15, 16) },
            DocumentProblem::UnknownTag { tag: "!env".into(), span: Span::new(3, 7) },
        ]
    );
    assert_eq!(parsed.problems[1].to_string(), "unknown tag `!env` is ignored; remove it");
    // Once for all copies.
    assert_eq!(parse("- &x {a: 1, a: 2}\n- *x\n- *x", Format::Yaml).unwrap().problems.len(), 1);
}

#[test]
fn alias_bombs_are_rejected() {
    let doubling = |start: &str| {
        let lines = (1..30).map(|n| format!("a{n}: &a{n} [*a{m}, *a{m}]\n", m = n - 1));
        format!("a0: &a0 {start}\n{}", lines.collect::<String>())
    };
    assert_eq!(
        yaml(&doubling("x")).unwrap_err(),
        format!("line 16 column 18: aliases expand to more than {MAX_COPIES} values, which is the limit"),
    );
    let long = format!("\"\\n{}\"", "x".repeat(1_000_000));
    assert_eq!(
        yaml(&doubling(&long)).unwrap_err(),
        "line 4 column 10: aliases expand to more than 8388608 bytes of text, which is the limit",
    );
    let plain = format!("- &x {}\n{}", "x".repeat(1_000_000), "- *x\n".repeat(9));
    assert_eq!(
        yaml(&plain).unwrap_err(),
        "line 10 column 3: aliases expand to more than 8388608 bytes of text, which is the limit",
    );
    let merges = (1..30).map(|n| format!("- &a{n} {{<<: [*a{m}, *a{m}], k{n}: 1}}\n", m = n - 1));
    assert!(yaml(&format!("- &a0 {{}}\n{}", merges.collect::<String>())).unwrap_err().contains("aliases expand"));
}

#[test]
fn depth_limit_applies_to_aliases() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(yaml(&format!("- &x {}\n- {}*x{}", deep(100), "[".repeat(27), "]".repeat(27))).is_ok());
    assert_eq!(
        yaml(&format!("- &x {}\n- {}*x{}", deep(100), "[".repeat(28), "]".repeat(28))).unwrap_err(),
        "line 2 column 31: nested more than 128 levels deep, which is the limit",
    );
}
