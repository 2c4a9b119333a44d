//! Whatever is skimmed is compared with what the full reader makes of it.

mod styles;

use checkrein_core::{EventKind, Scope};
use proptest::prelude::*;

use super::{Skimmed, skim};
use crate::agents::{claude, native};
use crate::config::{DecodeOptions, Settings, Wanted};
use crate::spec::HookSpec;
use crate::table::Dialect;
use checkrein_document::Format;
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
    has_nothing(&native::DIALECT, text, Format::Jsonc, &before("Edit"))
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

#[test]
fn what_people_write_is_skimmed() {
    for text in [
        r#"{"hooks": []}"#,
        r#"{"hooks": {}}"#,
        "// All of them.\n{\n  \"version\": 1,\n  \"hooks\": [\n    {\"event\": \"Stop\", \"command\": \"./x.sh\"} // at the end\n  ],\n}\n",
        r#"{"hooks": [{"event": "PreToolUse", "matcher": "Bash", "command": "x"}, {"event": "Stop", "command": "y"}]}"#,
        r#"{"hooks": [{"events": ["PreToolUse", "PostToolUse"], "matcher": "Bash|Write", "command": "it's \"x\""}]}"#,
        r#"{"hooks": [{"events": ["PreToolUse", "Stop"], "matcher": "^mcp__.*", "command": "a:b#c -x", "timeout": 10}]}"#,
        r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"command": "x"}]}], "Stop": [{"hooks": [{"command": "y"}]}]}}"#,
        "{\r\n\t\"hooks\": [{\r\n\"event\":\"Stop\",\"command\":\"a\\\\b\\n\"}]\r\n}\r\n",
        r#"{"description": "Überprüft — 「全部」", "hooks": [{"event": "Stop", "env": {"A_B": null, "C": "-1"}, "command": "-x"}]}"#,
        r#"{"trusted_paths": ["~/projects"], "hooks": [{"event": "Stop", "command": ["x", "--y", "z"]}]}"#,
        r#"{"hooks": [{"event": "Stop", "command": "x", "settings": {"a": {"b": [1, [2], {"c": "d"}], "e": true}}}]}"#,
    ] {
        assert!(is_skimmed(text), "{text}");
        assert!(check(&native::DIALECT, text, Format::Jsonc, &before("Edit")));
    }
}

#[test]
fn what_may_be_something_is_left_to_the_full_reader() {
    for text in [
        // A hook that fits, or may.
        r#"{"hooks": [{"event": "PreToolUse", "command": "x"}]}"#,
        r#"{"hooks": [{"event": "PreToolUse", "matcher": "Edit", "command": "x"}]}"#,
        r#"{"hooks": [{"event": "PreToolUse", "matcher": "Ed.*", "command": "x"}]}"#,
        r#"{"hooks": [{"events": ["Stop", "PreToolUse"], "matcher": "*", "command": "x"}]}"#,
        r#"{"hooks": {"PreToolUse": [{"hooks": [{"command": "x"}]}]}}"#,
        r#"{"hooks": [{"event": "PreToolUse", "matcher": "", "command": "x"}]}"#,
        r#"{"hooks": [{"event": "PreToolUse", "matcher": 1, "command": "x"}]}"#,
        r#"{"hooks": [{"event": "PreToolUse", "matcher": null, "command": "x"}]}"#,
        r#"{"hooks": [{"event": "PreToolUse", "matcher": "(", "command": "x"}]}"#,
        r#"{"hooks": [{"event": "PreToolUse", "matcher": "Bash", "matcher": "Edit", "command": "x"}]}"#,
        r#"{"hooks": [{"event": "Stop", "events": ["PreToolUse"], "command": "x"}]}"#,
        r#"{"hooks": [{"event": "Stop", "event": "PreToolUse", "command": "x"}]}"#,
        r#"{"hooks": [{"\u0065vent": "PreToolUse", "event": "Stop", "command": "x"}]}"#,
        r#"{"hooks": [{"event": "\u0050reToolUse", "command": "x"}]}"#,
        // Names that nobody knows.
        r#"{"hooks": [{"event": "PreTolUse", "matcher": "Bash", "command": "x"}]}"#,
        r#"{"hooks": {"PreTolUse": []}}"#,
        r#"{"hook": [{"event": "Stop", "command": "x"}]}"#,
        r#"{"hooks": [{"command": "x"}]}"#,
        r#"{"hooks": ["Stop"]}"#,
        // Settings.
        r#"{"shadow": true, "hooks": []}"#,
        r#"{"include": ["claude"], "hooks": []}"#,
        r#"{"disableAllHooks": false, "hooks": []}"#,
        r#"{"disableAll\u0048ooks": false, "hooks": []}"#,
        r#"{"restrict": {}, "hooks": []}"#,
        // No JSON.
        r#"{"hooks": []} {}"#,
        r#"{"hooks": [}"#,
        r#"{"hooks": [], }, "#,
        r#"{"hooks": [{"event": "Stop", "command": "\d"}]}"#,
        r#"{"hooks": [{"event": "Stop", "command": "\ud800"}]}"#,
        r#"{"hooks": [{"event": "Stop", "command": "x", "timeout": 01}]}"#,
        "{\"hooks\": [{\"event\": \"Stop\", \"command\": \"x\ty\"}]}",
        "{\"hooks\": []} /* x",
        "\u{feff}{\"hooks\": []}",
        "// nothing\n",
        "",
    ] {
        assert!(!is_skimmed(text), "{text}");
    }
}

#[test]
fn what_is_too_deep_is_left_to_the_full_reader() {
    for (open, close) in [("[", "]"), ("{\"a\": ", "}")] {
        let nested = format!("{}1{}", open.repeat(200), close.repeat(200));
        assert!(!is_skimmed(&format!("{{\"hooks\": [{{\"event\": \"Stop\", \"settings\": {nested}}}]}}")));
    }
}

#[test]
fn other_files_are_not_skimmed() {
    assert!(!has_nothing(&native::DIALECT, "hooks = []\n", Format::Toml, &before("Edit")));
    assert!(!has_nothing(&native::DIALECT, "hooks: []\n", Format::Yaml, &before("Edit")));
    assert!(!has_nothing(&crate::agents::codex::DIALECT, r#"{"hooks": {}}"#, Format::Json, &before("Edit")));
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

/// The prefilter must not become useless without a test that says so.
#[test]
fn most_plain_files_without_a_match_are_skimmed() {
    let (mut skimmed, mut without) = (0, 0);
    for seed in 0..500 {
        let mut dice = Dice::new(seed);
        let (text, wanted) = (dice.config(), dice.wanted());
        let all = native::DIALECT.decode("file", Scope::User, &text, Format::Jsonc);
        if !all.hooks.iter().any(|spec| wanted.is_for(spec)) {
            without += 1;
            skimmed += usize::from(has_nothing(&native::DIALECT, &text, Format::Jsonc, &wanted));
        }
    }
    assert!(without > 150 && skimmed * 10 > without * 8, "{skimmed} of {without}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn skimmed_and_read_are_the_same(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let (text, wanted) = (dice.config(), dice.wanted());
        for text in [&text, &dice.changed(&text), &dice.changed(&text), &dice.changed(&text)] {
            for dialect in [&native::DIALECT, &claude::DIALECT] {
                for format in [Format::Json, Format::Jsonc] {
                    check(dialect, text, format, &wanted);
                    check_parts(dialect, text, format, &wanted);
                }
            }
        }
    }
}
