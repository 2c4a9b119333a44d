//! Whatever is skimmed is compared with what the full reader makes of it.

mod styles;

use checkrein_core::{EventKind, Scope};
use proptest::prelude::*;

use super::yaml::{Outline, Yaml};
use super::{Reader, Skimmed, skim};
use crate::agents::{claude, native};
use crate::config::{DecodeOptions, Settings, Wanted};
use crate::spec::HookSpec;
use crate::table::Dialect;
use checkrein_document::{Format, Node, Value, parse};
use styles::Dice;

fn before(tool: &str) -> Wanted {
    Wanted::new(EventKind::PreToolUse, vec![tool.to_owned()])
}

fn has_nothing(dialect: &Dialect, text: &str, format: Format, wanted: &Wanted) -> bool {
    skim(dialect, text, format, wanted) == Skimmed::Nothing
}

/// Reading only what is wanted finds what is wanted of all, in the same places and under the same names. Gives how many parts
/// were passed over.
fn check_parts(dialect: &'static Dialect, text: &str, format: Format, wanted: &Wanted) -> usize {
    let options = DecodeOptions::default().only(wanted.clone());
    let found = dialect.decode_with("file", Scope::User, text, format, &options);
    let all = dialect.decode("file", Scope::User, text, format);
    // Of its events, only those are kept that are wanted.
    let told = |spec: &HookSpec| {
        let hook = &spec.hook;
        format!("{:?} {:?} {:?} {:?} {:?}", hook.info, hook.matcher, hook.state, spec.handler, spec.timeout)
    };
    let expected: Vec<_> = all.hooks.iter().filter(|spec| wanted.is_for(spec)).map(told).collect();
    let found: Vec<_> = found.hooks.iter().map(told).collect();
    assert_eq!(found, expected, "at {wanted:?}:\n{text}");
    match skim(dialect, text, format, wanted) {
        Skimmed::Nothing => 0,
        Skimmed::NothingIn(parts) => parts.len(),
    }
}

fn is_skimmed(text: &str) -> bool {
    has_nothing(&native::DIALECT, text, Format::Yaml, &before("Edit"))
}

/// Whether it is skimmed; and if so, the full reader must find nothing either.
fn check(dialect: &'static Dialect, text: &str, format: Format, wanted: &Wanted) -> bool {
    if !has_nothing(dialect, text, format, wanted) {
        return false;
    }
    let all = dialect.decode("file", Scope::User, text, format);
    assert!(!all.unreadable, "it cannot be read: {:?}\n{text}", all.diagnostics);
    let found: Vec<_> = all.hooks.iter().filter(|spec| wanted.is_for(spec)).collect();
    assert!(found.is_empty(), "{found:?} at {wanted:?}:\n{text}");
    // What keys say that are not about hooks is read by who asks for it.
    let settings = Settings { lines: Vec::new(), trusted_paths: None, trusted_keys: None, ..all.settings };
    assert_eq!(settings, Settings::default(), "\n{text}");
    true
}

/// What the skimmer takes a text for is what the full reader does, if it takes it for anything.
fn check_outline(text: &str) -> bool {
    let mut yaml = Yaml::new(text);
    let Some(outline) = yaml.start().and_then(|()| yaml.outline()).filter(|_| yaml.end().is_some()) else {
        return false;
    };
    let parsed = parse(text, Format::Yaml).map(|parsed| parsed.root);
    let is_same = parsed.as_ref().is_ok_and(|root| is_outline_of(&outline, root));
    assert!(is_same, "{outline:?} is not {parsed:?}:\n{text}");
    true
}

fn is_outline_of(outline: &Outline<'_>, node: &Node<'_>) -> bool {
    match (outline, &node.value) {
        (Outline::List(outlines), Value::Array(nodes)) => {
            outlines.len() == nodes.len() && outlines.iter().zip(nodes).all(|(one, node)| is_outline_of(one, node))
        }
        (Outline::Object(outlines), Value::Object(members)) => {
            // Of keys that come twice the last counts.
            let counts = |at: usize| !outlines[at + 1..].iter().any(|(key, _)| *key == outlines[at].0);
            let outlines: Vec<_> = (0..outlines.len()).filter(|at| counts(*at)).map(|at| &outlines[at]).collect();
            outlines.len() == members.len()
                && outlines
                    .iter()
                    .zip(members)
                    .all(|((key, one), member)| *key == member.key.as_bytes() && is_outline_of(one, &member.value))
        }
        (Outline::Text(text), Value::String(string)) => *text == string.as_bytes(),
        (Outline::Other, value) => !matches!(value, Value::Array(_) | Value::Object(_)),
        _ => false,
    }
}

#[test]
fn what_people_write_is_skimmed() {
    for text in [
        "hooks: []\n",
        "hooks: {}",
        "---\n# All of them.\n\nversion: 1\nhooks:\n  - event: Stop # at the end\n    command: ./x.sh\n",
        "hooks:\n- event: PreToolUse\n  matcher: Bash\n  command: ./x.sh --all\n- {event: Stop, command: './x.sh'}\n",
        "hooks:\n  - events: [PreToolUse, PostToolUse]\n    matcher: \"Bash|Write\"\n    command: 'it''s \"x\"'\n",
        "hooks:\n  - events:\n      - PreToolUse\n      - Stop\n    matcher: ^mcp__.*\n    command: a:b#c -x\n    timeout: 10\n",
        "hooks:\n  - event: PreToolUse\n    command: |\n      set -e\n\n      case $x in\n        - a: b # c\n      esac\n    matcher: Bash\n",
        "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - command: >-\n            ls\n            -l\n        - command: x\n  Stop:\n    - hooks: [{command: y}]\n",
        "hooks:\n  PreToolUse:\n  - matcher: Bash\n    hooks:\n    - command: x\n  Stop:\n  - hooks:\n    - command: y\n",
        "hooks:\r\n  - event: Stop\r\n    command: \"a\\\\b\\n\"\r\n",
        "{\"hooks\": [\n  {\"event\":\"Stop\",\"command\":\"x\"}, # one\n]}\n",
        "description: Überprüft — 「全部」\nhooks:\n  -\n    event: Stop\n    env:\n      A_B: ~\n      C: -1\n    command: -x\n",
        "hooks:\n    -   event:   Stop\n        url:   https://x.org/a?b=c\n        description:\n",
        "hooks:\n  - event: Stop\n    command: x\n    settings:\n      a: {b: [1, [2], {c: d}], e: 'f'}\n      g:\n        - h\n        - i: j\n",
        "trusted_paths:\n  - ~/projects\nhooks:\n  - event: Stop\n    command: [x, --y, \"z\"]\n",
        "hooks:\n  - event: Stop\n    command: x\n# the end\n    # of it\n\n",
    ] {
        assert!(is_skimmed(text), "{text}");
        assert!(check(&native::DIALECT, text, Format::Yaml, &before("Edit")));
        assert!(check_outline(text), "{text}");
    }
}

#[test]
fn what_may_be_something_is_left_to_the_full_reader() {
    for text in [
        // A hook that fits, or may.
        "hooks:\n  - event: PreToolUse\n    command: x\n",
        "hooks:\n  - event: PreToolUse\n    matcher: Edit\n    command: x\n",
        "hooks:\n  - {event: PreToolUse, matcher: 'Ed.*', command: x}\n",
        "hooks:\n  - events: [Stop, PreToolUse]\n    matcher: '*'\n    command: x\n",
        "hooks:\n  PreToolUse:\n    - hooks: [{command: x}]\n",
        "hooks:\n  - event: PreToolUse\n    matcher:\n    command: x\n",
        "hooks:\n  - event: PreToolUse\n    matcher: 1\n    command: x\n",
        "hooks:\n  - event: PreToolUse\n    matcher: null\n    command: x\n",
        "hooks:\n  - event: PreToolUse\n    matcher: (\n    command: x\n",
        "hooks:\n  - event: PreToolUse\n    matcher: Bash\n    matcher: Edit\n    command: x\n",
        "hooks:\n  - event: Stop\n    events: [PreToolUse]\n    command: x\n",
        "hooks:\n  - event: Stop\n    event: PreToolUse\n    command: x\n",
        // Names that nobody knows.
        "hooks:\n  - event: PreTolUse\n    matcher: Bash\n    command: x\n",
        "hooks:\n  PreTolUse: []\n",
        "hook:\n  - event: Stop\n    command: x\n",
        "hooks:\n  - command: x\n",
        "hooks:\n  - Stop\n",
        // Settings.
        "shadow: true\nhooks: []\n",
        "include: [claude]\nhooks: []\n",
        "disableAllHooks: false\nhooks: []\n",
        "'disableAllHooks': false\nhooks: []\n",
        "{disableAllHooks: false, hooks: []}\n",
        "restrict: {}\nhooks: []\n",
        // YAML that is not plain.
        "hooks: []\n---\nhooks: []\n",
        "hooks: []\n...\n",
        "%YAML 1.2\n---\nhooks: []\n",
        "{hooks: [], version: [\n---\n]}\n",
        "{hooks: [], version: [\n...\n]}\n",
        "\u{feff}hooks: []\n",
        "hooks: &a []\n",
        "hooks: !!seq []\n",
        "hooks:\n  - &a\n    event: Stop\n    command: x\n",
        "hooks:\n  - <<: {event: PreToolUse}\n    event: Stop\n    command: x\n",
        "hooks:\n  - event: Stop\n    command: x\n      y\n",
        "hooks:\n  - event: Stop\n    command: 'x\n      y'\n",
        "hooks:\n  - event: Stop\n    command: \"x\n      y\"\n",
        "hooks:\n  - event: \"\\x50reToolUse\"\n    command: x\n",
        "hooks:\n  - \"\\x65vent\": PreToolUse\n    event: Stop\n    command: x\n",
        "hooks:\n  - ? event\n    : PreToolUse\n    event: Stop\n    command: x\n",
        "hooks:\n  - event: Stop\n    command: a: b\n",
        "hooks:\n  - event: Stop\n    command: *x\n",
        "hooks:\n  - event: Stop\n    command: @x\n",
        "hooks:\n  - event: Stop\n    command: \"\\d\"\n",
        "hooks:\n  - event: Stop\n    command: 'x' y\n",
        "hooks:\n  - event: Stop\n    command: [a, b\n",
        "hooks:\n  - event: Stop\n    command: [a: b]\n",
        "hooks:\n  - event: Stop\n    command: [a\n    ]\n",
        "hooks:\n  - event: Stop\n\tcommand: x\n",
        "hooks:\n  - event: Stop\n   command: x\n",
        "hooks:\n  - event: Stop\n     command: x\n",
        "hooks:\n  - event: Stop\n    command: x\n - event: Stop\n",
        "hooks:\n  - event: Stop\n    command: |2\n      x\n",
        "hooks:\n  - event: Stop\n    command: |\n        x\n      y\n",
        "hooks:\n  - event: Stop\n    command: x\u{7f}\n",
        "hooks:\n  - event: Stop\n    command: x\u{2028}y\n",
        "hooks:\n  - event: Stop\n    command: x\u{85}y\n",
        "hooks:\n  - event: Stop\n    command: x\ry\n",
        "# nothing\n",
        "",
    ] {
        assert!(!is_skimmed(text), "{text}");
    }
}

#[test]
fn what_is_too_deep_is_left_to_the_full_reader() {
    let nested = |open: &str, close: &str| {
        format!("hooks:\n- event: Stop\n  settings: {}{}\n", open.repeat(200), close.repeat(200))
    };
    for text in [nested("[", "]"), nested("{a: ", "}"), format!("hooks:\n{}", "- ".repeat(200))] {
        assert!(!is_skimmed(&text));
    }
    let blocks: String = (0..200).map(|level| format!("{}a:\n", " ".repeat(level + 4))).collect();
    assert!(!is_skimmed(&format!("hooks:\n- event: Stop\n  settings:\n{blocks}")));
}

#[test]
fn other_files_are_not_skimmed() {
    let text = "hooks: []\n";
    assert!(!has_nothing(&native::DIALECT, text, Format::Toml, &before("Edit")));
    assert!(!has_nothing(&crate::agents::codex::DIALECT, text, Format::Yaml, &before("Edit")));
}

#[test]
fn only_what_may_fit_is_read() {
    for (text, parts) in [
        (
            r#"{"hooks": [{"event": "Stop", "command": "x"}, {"event": "PreToolUse", "matcher": "Edit", "command": "y"}]}"#,
            1,
        ),
        (
            r#"{"hooks": {"Stop": [{"command": "x"}], "PreToolUse": [{"matcher": "Bash", "hooks": []}, {"command": "y"}]}}"#,
            2,
        ),
        (
            r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [1, "\u00e9"]}, {"matcher": "E\u0064it", "command": "y"}]}}"#,
            1,
        ),
        // What is no entry at all is told of.
        (r#"{"hooks": {"PreToolUse": [null, {"matcher": "Bash", "command": "x"}]}}"#, 1),
        // What cannot be read as a whole is not read in part.
        (r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "command": "x"}, {"command": "y"}]}"#, 0),
        (
            r#"{"hooks": [{"event": "Stop", "command": "x"}, {"event": "PreToolUse", "command": "y"}], "shadow": true}"#,
            0,
        ),
    ] {
        assert_eq!(check_parts(&native::DIALECT, text, Format::Jsonc, &before("Edit")), parts, "{text}");
    }
}

/// Of some of them nothing is read in parts; what counts is that nothing is lost or hidden by it.
#[test]
fn odd_files_are_the_same_in_parts() {
    let (bash, edit) =
        (r#"{"matcher": "Bash", "hooks": [{"command": "a"}]}"#, r#"{"matcher": "Edit", "command": "b"}"#);
    let fits = r#"{"matcher": "Edit", "hooks": [{"type": "command", "command": "c"}]}"#;
    for events in [
        // Keys that come twice, in one spelling or two: the last counts.
        format!(r#"{{"PreToolUse": [{fits}], "PreToolUse": [{bash}]}}"#),
        format!(r#"{{"PreToolUse": [{bash}], "PreToolUse": [{bash}, {fits}]}}"#),
        format!(r#"{{"PreToolUse": [{bash}, {fits}], "PreToolUs\u0065": [{edit}]}}"#),
        format!(r#"{{"Stop": [1], "Stop": [{bash}], "PreToolUse": [{bash}, {fits}]}}"#),
        format!(r#"{{"PreToolUse": [{bash}, {fits}], "pre_tool_use": [{bash}, {edit}]}}"#),
        format!(r#"{{"PreToolUse": [{fits}, {{"matcher": "Bash", "matcher": "Edit", "command": "d"}}]}}"#),
        format!(r#"{{"PreToolUse": [{fits}, {{"matcher": "Bash", "matche\u0072": "Edit", "command": "d"}}]}}"#),
        format!(r#"{{"PreToolUse": [{fits}, {{"matcher": "Bash", "hooks": [], "hooks": 1}}]}}"#),
        // Names and matchers that are none.
        format!(r#"{{"PreToolUse": [{bash}, {fits}], "PreTolUse": [{bash}]}}"#),
        format!(r#"{{"PreToolUse": [{bash}, {{"matcher": null, "command": "d"}}, {{"matcher": 1, "command": "d"}}]}}"#),
        format!(r#"{{"PreToolUse": [{bash}, {{"matcher": "[", "command": "d"}}, [], null, "x", {{}}]}}"#),
        format!(r#"{{"Stop": {{"a": 1}}, "PostToolUse": null, "PreToolUse": {fits}}}"#),
        // Where a place is counted from.
        format!("{{\"PreToolUse\": [{bash}, /* é {{ */\r\n\t{fits}, // ]\n {bash}, {edit},]}}"),
        format!("{{\"Stop\": [\"\\ud83d\\ude00 \\\" 「」\"],\n\"PreToolUse\":[{bash},{fits} ,\n{edit}]}}"),
        // Hooks that say themselves what they are for.
        format!(r#"[{edit}, {{"event": "Stop", "command": "d"}}, {{"event": "PreToolUse", "command": "e"}}]"#),
        r#"[{"event": "Stop", "event": "PreToolUse", "command": "d"}, {"event": "Stop", "command": "e"}]"#.to_owned(),
        r#"[{"event": "Stop", "events": ["PreToolUse"], "command": "d"}, {"events": [], "command": "e"}]"#.to_owned(),
        r#"[{"event": "Stop", "\u0065vents": ["PreToolUse"], "command": "d"}, {"event": "Stop"}]"#.to_owned(),
        r#"[{"events": ["Stop", "PreToolUse"], "matcher": "Bash", "command": "d"}, {"events": ["Stop", 1]}]"#
            .to_owned(),
        r#"[{"events": ["PreToolUse", "Stop"], "matcher": "Edit", "timeout": -1}, {"event": null}]"#.to_owned(),
    ] {
        for file in [
            format!(r#"{{"hooks": {events}}}"#),
            format!("\u{feff}{{\"hooks\": {events}}}"),
            format!(r#"{{"model": "x", "env": {{"hooks": [1]}}, "hooks": {events}, "version": 1}}"#),
            format!(r#"{{"hooks": {{"PreToolUse": [{fits}]}}, "hooks": {events}}}"#),
            format!(r#"{{"hooks": {events}, "ho\u006fks": {{"PreToolUse": [{bash}]}}}}"#),
            format!(r#"{{"hooks": {events}, "disableAllHooks": false}}"#),
            format!(r#"{{"hooks": {events}, "PreToolUse": [{fits}]}}"#),
            format!(r#"{{"hooks": {events}, "deep": {}1{}}}"#, "[".repeat(121), "]".repeat(121)),
            format!(r#"{{"hooks": {events}, "deep": {}1{}}}"#, "[".repeat(200), "]".repeat(200)),
            format!(r#"{{"hooks": {events}}} x"#),
        ] {
            for (dialect, format) in [&native::DIALECT, &claude::DIALECT]
                .into_iter()
                .flat_map(|dialect| [(dialect, Format::Json), (dialect, Format::Jsonc)])
            {
                for wanted in [before("Edit"), before("Bash"), Wanted::new(EventKind::Stop, Vec::new())] {
                    let general = Wanted { general: Some(EventKind::PreToolUse), ..wanted.clone() };
                    check_parts(dialect, &file, format, &wanted);
                    check_parts(dialect, &file, format, &general);
                }
            }
        }
    }
}

/// How many of the texts that are written plainly are skimmed where they should be cannot be left to chance.
#[test]
fn plain_files_are_skimmed_in_every_style() {
    let mut skimmed = 0;
    for seed in 0..500 {
        let mut dice = Dice::new(seed);
        let text = dice.config();
        skimmed += usize::from(check_outline(&text));
    }
    assert!(skimmed >= 480, "{skimmed} of 500");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn skimmed_and_read_are_the_same(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let text = dice.config();
        let wanted = dice.wanted();
        for text in [&text, &dice.changed(&text), &dice.changed(&text), &dice.changed(&text)] {
            for dialect in [&native::DIALECT, &claude::DIALECT] {
                check(dialect, text, Format::Yaml, &wanted);
                // YAML in brackets can be JSON.
                check(dialect, text, Format::Jsonc, &wanted);
            }
            check_outline(text);
        }
    }

    #[test]
    fn parts_and_all_are_the_same(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let (yaml, json, wanted) = (dice.config(), dice.json_config(), dice.wanted());
        for dialect in [&native::DIALECT, &claude::DIALECT] {
            check_parts(dialect, &yaml, Format::Yaml, &wanted);
            for text in [&json, &dice.changed(&json), &dice.changed(&json), &dice.changed(&json)] {
                check_parts(dialect, text, Format::Jsonc, &wanted);
                check_parts(dialect, text, Format::Json, &wanted);
            }
        }
    }

    #[test]
    fn whatever_it_is(text in styles::TELLING) {
        check_outline(&text);
        check_outline(&format!("a:\n  - b: {text}"));
        check(&native::DIALECT, &format!("hooks:\n- event: Stop\n  command: {text}"), Format::Yaml, &before("Edit"));
    }
}
