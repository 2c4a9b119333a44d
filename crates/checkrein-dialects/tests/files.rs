//! Hook files: decoding, diagnostics and encoding.
#![allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]

use checkrein_core::{HookState, Scope};
use checkrein_dialects::HookSpec;
use checkrein_dialects::agents::native;
use checkrein_dialects::config::{Decoded, Severity};
use checkrein_document::Format;

fn decode(text: &str, format: Format) -> Decoded {
    native::DIALECT.decode("hooks", Scope::User, text, format)
}

fn problems(decoded: &Decoded) -> Vec<String> {
    decoded.diagnostics.iter().map(ToString::to_string).collect()
}

const SAME: [(Format, &str); 3] = [
    (
        Format::Json,
        r#"{
  // comments are fine
  "hooks": {
    "PreToolUse": [{ "matcher": "Bash|Edit", "hooks": [
      { "id": "guard", "command": "./guard.sh", "timeout": 2.5, "on_timeout": "ask" },
      { "type": "http", "url": "https://example.com/x", "headers": { "a": "b" } },
    ] }],
  },
}"#,
    ),
    (
        Format::Yaml,
        "hooks:\n  PreToolUse:\n    - matcher: Bash|Edit\n      hooks:\n        - id: guard\n          command: ./guard.sh\n          timeout: 2.5\n          on_timeout: ask\n        - url: https://example.com/x\n          headers: {a: b}\n",
    ),
    (
        Format::Toml,
        "[[hooks]]\nevents = [\"pre_tool_use\"]\nmatcher = \"Bash|Edit\"\nid = \"guard\"\ncommand = \"./guard.sh\"\ntimeout = 2.5\non_timeout = \"ask\"\n[[hooks]]\nevent = \"PreToolUse\"\nmatcher = \"Bash|Edit\"\nurl = \"https://example.com/x\"\nheaders = { a = \"b\" }\n",
    ),
];

#[test]
fn all_formats_yield_the_same_hooks() {
    let all: Vec<_> = SAME
        .iter()
        .map(|(format, text)| {
            let decoded = decode(text, *format);
            assert_eq!(problems(&decoded), [""; 0], "{format:?}");
            decoded.hooks.iter().map(HookSpec::definition).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(all[0].len(), 2);
    assert!(all.iter().all(|hooks| *hooks == all[0]), "{all:#?}");
}

#[test]
fn written_files_round_trip() {
    let decoded = decode(SAME[0].1, Format::Json);
    let hooks: Vec<_> = decoded.hooks.iter().collect();
    let encoded = native::DIALECT.encode(&hooks).unwrap();
    assert_eq!(encoded.lost, []);
    let again = decode(&encoded.text, Format::Json);
    assert_eq!(problems(&again), [""; 0], "{}", encoded.text);
    let definitions = |decoded: &Decoded| decoded.hooks.iter().map(HookSpec::definition).collect::<Vec<_>>();
    assert_eq!(definitions(&decoded), definitions(&again));
}

#[test]
fn broken_hook_closes_its_gate_and_others_are_read() {
    let text = r#"{"hooks": {
  "PreToolUse": [{"hooks": [
    {"command": "good"},
    {"command": "bad", "timeout": "5"}
  ]}],
  "PreToolUsee": [{"hooks": [{"command": "x"}]}]
}}"#;
    let decoded = decode(text, Format::Json);
    assert_eq!(decoded.hooks.len(), 3);
    assert!(matches!(decoded.hooks[1].state, HookState::Broken(_)));
    assert!(decoded.diagnostics.iter().all(|diagnostic| diagnostic.severity == Severity::Error));
    let expected = [
        "hooks:4:35: error[wrong-type]: `timeout` should be a number, but is a string\n  |\n4 |     {\"command\": \"bad\", \"timeout\": \"5\"}\n  |                                   ^^^",
        "hooks:4:5: error[closed-gate]: this hook cannot be loaded, so every `PreToolUse` is blocked\n  |\n4 |     {\"command\": \"bad\", \"timeout\": \"5\"}\n  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\n  = fix or remove the hook",
        "hooks:6:3: error[unknown-event]: unknown event `PreToolUsee`, did you mean `PreToolUse`?\n  |\n6 |   \"PreToolUsee\": [{\"hooks\": [{\"command\": \"x\"}]}]\n  |   ^^^^^^^^^^^^^",
        "hooks:6:3: error[closed-gate]: this hook cannot be loaded, so every `PreToolUse` is blocked\n  |\n6 |   \"PreToolUsee\": [{\"hooks\": [{\"command\": \"x\"}]}]\n  |   ^^^^^^^^^^^^^\n  = fix or remove the hook",
    ];
    assert_eq!(problems(&decoded), expected);
}

#[test]
fn hook_for_several_events_is_one_hook() {
    let text =
        r#"{"hooks": [{"id": "g", "events": ["PreToolUse", "PermissionRequest"], "matcher": "Bash", "command": "x"}]}"#;
    let decoded = decode(text, Format::Json);
    assert_eq!((problems(&decoded).len(), decoded.hooks.len()), (0, 1));
    let encoded = native::DIALECT.encode(&[&decoded.hooks[0]]).unwrap();
    let again = decode(&encoded.text, Format::Json);
    assert_eq!((problems(&again), again.hooks.len()), (Vec::new(), 1), "{}", encoded.text);
    assert_eq!(again.hooks[0].kinds, decoded.hooks[0].kinds);
    assert_eq!(again.hooks[0].definition(), decoded.hooks[0].definition());
}

#[test]
fn matcher_applies_only_to_events_with_matchers() {
    let text = r#"{"hooks": [{"events": ["UserPromptSubmit", "PreToolUse"], "matcher": "Bash", "command": "x"}]}"#;
    let decoded = decode(text, Format::Json);
    let seen: Vec<_> = decoded.hooks.iter().map(|spec| (spec.kinds.len(), spec.matcher.pattern())).collect();
    assert_eq!(seen, [(1, "Bash"), (1, "")]);
    assert!(problems(&decoded)[0].contains("matcher-ignored"), "{:?}", problems(&decoded));
}

#[test]
fn invalid_hooks_close_the_gates_that_they_could_guard() {
    for text in [
        r#"{"hooks": ["guard.sh"]}"#,
        r#"{"hooks": [{"command": "x"}]}"#,
        r#"{"hooks": [{"events": 5, "command": "x"}]}"#,
        r#"{"Hooks": {}}"#,
        r#"{"include": ["cluade"]}"#,
        r#"{"include": ["amp"]}"#,
        r#"{"include": [{"dialect": "claude", "paht": "x"}]}"#,
        r#"{"include": [{"dialect": "claude", "path": 5}]}"#,
        r#"{"include": [{"dialect": "claude", "on_failure": "close"}]}"#,
    ] {
        let decoded = decode(text, Format::Json);
        let closed = decoded.hooks.iter().any(|spec| {
            matches!(spec.state, HookState::Broken(_)) && spec.kinds.contains(&checkrein_core::EventKind::PreToolUse)
        });
        assert!(closed, "{text}: {:?}", problems(&decoded));
        assert!(decoded.settings.includes.is_empty());
    }
}

/// A key without a value, such as `builtin:`, must not become a hook with an empty value.
#[test]
fn required_keys_without_a_value_are_errors() {
    for key in ["builtin", "url", "command"] {
        for value in ["", " null", " ~", " ''", " '  '"] {
            for kind in ["", ", type: builtin", ", type: http", ", type: command"] {
                let text = format!("hooks:\n  - {{id: x, event: PreToolUse{kind}, {key}:{value}}}\n");
                let decoded = decode(&text, Format::Yaml);
                let mut errors = decoded.diagnostics.iter().filter(|found| found.severity == Severity::Error);
                let error = errors.next().map(ToString::to_string).unwrap_or_default();
                assert!(error.contains("hooks:2"), "{text}: {error}");
                let is_broken = |hook: &HookSpec| matches!(hook.state, HookState::Broken(_));
                assert!(decoded.hooks.iter().all(is_broken), "{text}: {:?}", decoded.hooks);
            }
        }
    }
    let decoded = decode("hooks: [{id: x, event: PreToolUse, builtin: , url: , command: ls}]", Format::Yaml);
    assert_eq!((decoded.hooks.len(), &decoded.hooks[0].state), (1, &HookState::Ready), "{:?}", problems(&decoded));
}
