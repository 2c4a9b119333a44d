//! Compares the prefilter with the full parser, and both with the selection of hooks.

mod styles;

use checkrein_core::payload::ToolCall;
use checkrein_core::{Event, EventFilter, EventKind, HookSet, RawJson, Scope};
use proptest::prelude::*;

use super::has_no_match;
use crate::agents::{claude, codex, native};
use crate::config::{DecodeOptions, Settings};
use crate::spec::HookSpec;
use crate::table::Dialect;
use checkrein_document::Format;
use styles::Dice;

fn before(tool: &str) -> EventFilter {
    EventFilter::new(EventKind::PreToolUse, vec![tool.to_owned()])
}

fn is_ruled_out(dialect: &Dialect, text: &str, format: Format, filter: &EventFilter) -> bool {
    has_no_match(dialect, text, format, &dialect.adapt_filter(filter))
}

fn is_prefiltered(text: &str) -> bool {
    is_ruled_out(&native::DIALECT, text, Format::Jsonc, &before("Edit"))
}

/// Compares the hooks that are read for an event with those of the whole file. Returns whether the prefilter ruled the file
/// out.
fn check(dialect: &'static Dialect, text: &str, format: Format, filter: &EventFilter) -> bool {
    let options = DecodeOptions::default().only(filter.clone());
    let found = dialect.decode_with("file", Scope::User, text, format, &options);
    let all = dialect.decode("file", Scope::User, text, format);
    // A filtered hook keeps only the events of the filter.
    let summary = |spec: &HookSpec| {
        format!("{:?} {:?} {:?} {:?} {:?}", spec.info, spec.matcher, spec.state, spec.handler, spec.timeout)
    };
    let can_match = |spec: &&HookSpec| spec.can_match(&spec.dialect.adapt_filter(filter));
    let expected: Vec<_> = all.hooks.iter().filter(can_match).map(summary).collect();
    let hooks: Vec<_> = found.hooks.iter().map(summary).collect();
    assert_eq!(hooks, expected, "at {filter:?}:\n{text}");
    assert_eq!(found.unreadable, all.unreadable, "\n{text}");
    let is_ruled_out = is_ruled_out(dialect, text, format, filter);
    if is_ruled_out {
        assert_eq!(expected, Vec::<String>::new());
        assert!(!all.unreadable, "it cannot be read: {:?}\n{text}", all.diagnostics);
        // Keys without effect on hooks are read only without a filter.
        let settings = Settings { lines: Vec::new(), trusted_paths: None, trusted_keys: None, ..all.settings };
        assert_eq!(settings, Settings::default(), "\n{text}");
        // Hooks without the additions of the engine for tools of other agents.
        let set = HookSet::new(all.hooks.iter().map(HookSpec::selector).collect());
        for name in ["Edit", "Bash", "Grep", "mcp__a__b", ""] {
            if *filter == EventFilter::new(filter.kind().clone(), vec![name.to_owned()]) {
                assert!(!set.would_select(filter.kind(), name), "{name}:\n{text}");
            }
        }
    }
    is_ruled_out
}

#[test]
fn usual_files_are_prefiltered() {
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
        assert!(check(&native::DIALECT, text, Format::Jsonc, &before("Edit")), "{text}");
    }
}

#[test]
fn unusual_files_are_left_to_the_full_parser() {
    for text in [
        // A hook that can match.
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
        // Unknown names.
        r#"{"hooks": [{"event": "PreTolUse", "matcher": "Bash", "command": "x"}]}"#,
        r#"{"hooks": {"PreTolUse": []}}"#,
        r#"{"hook": [{"event": "Stop", "command": "x"}]}"#,
        r#"{"hooks": [{"command": "x"}]}"#,
        r#"{"hooks": ["Stop"]}"#,
        // Settings.
        r#"{"dry_run": true, "hooks": []}"#,
        r#"{"include": ["claude"], "hooks": []}"#,
        r#"{"disableAllHooks": false, "hooks": []}"#,
        r#"{"disableAll\u0048ooks": false, "hooks": []}"#,
        r#"{"restrict": {}, "hooks": []}"#,
        // Invalid JSON.
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
        assert!(!is_prefiltered(text), "{text}");
    }
}

#[test]
fn deep_files_are_left_to_the_full_parser() {
    for (open, close) in [("[", "]"), ("{\"a\": ", "}")] {
        let nested = format!("{}1{}", open.repeat(200), close.repeat(200));
        assert!(!is_prefiltered(&format!("{{\"hooks\": [{{\"event\": \"Stop\", \"settings\": {nested}}}]}}")));
    }
}

#[test]
fn other_files_are_not_prefiltered() {
    assert!(!is_ruled_out(&native::DIALECT, "hooks = []\n", Format::Toml, &before("Edit")));
    assert!(!is_ruled_out(&native::DIALECT, "hooks: []\n", Format::Yaml, &before("Edit")));
    assert!(!is_ruled_out(&codex::DIALECT, r#"{"hooks": {}}"#, Format::Json, &before("Edit")));
}

#[test]
fn prefilter_and_parser_agree_on_unusual_files() {
    let (bash, edit) =
        (r#"{"matcher": "Bash", "hooks": [{"command": "a"}]}"#, r#"{"matcher": "Edit", "command": "b"}"#);
    let fits = r#"{"matcher": "Edit", "hooks": [{"type": "command", "command": "c"}]}"#;
    for events in [
        // Duplicate keys, in one spelling or two: the last one applies.
        format!(r#"{{"PreToolUse": [{fits}], "PreToolUse": [{bash}]}}"#),
        format!(r#"{{"PreToolUse": [{bash}], "PreToolUse": [{bash}, {fits}]}}"#),
        format!(r#"{{"PreToolUse": [{bash}, {fits}], "PreToolUs\u0065": [{edit}]}}"#),
        format!(r#"{{"Stop": [1], "Stop": [{bash}], "PreToolUse": [{bash}, {fits}]}}"#),
        format!(r#"{{"PreToolUse": [{bash}, {fits}], "pre_tool_use": [{bash}, {edit}]}}"#),
        format!(r#"{{"PreToolUse": [{fits}, {{"matcher": "Bash", "matcher": "Edit", "command": "d"}}]}}"#),
        format!(r#"{{"PreToolUse": [{fits}, {{"matcher": "Bash", "matche\u0072": "Edit", "command": "d"}}]}}"#),
        format!(r#"{{"PreToolUse": [{fits}, {{"matcher": "Bash", "hooks": [], "hooks": 1}}]}}"#),
        // Invalid names and matchers.
        format!(r#"{{"PreToolUse": [{bash}, {fits}], "PreTolUse": [{bash}]}}"#),
        format!(r#"{{"PreToolUse": [{bash}, {{"matcher": null, "command": "d"}}, {{"matcher": 1, "command": "d"}}]}}"#),
        format!(r#"{{"PreToolUse": [{bash}, {{"matcher": "[", "command": "d"}}, [], null, "x", {{}}]}}"#),
        format!(r#"{{"Stop": {{"a": 1}}, "PostToolUse": null, "PreToolUse": {fits}}}"#),
        // Line and column with comments and other line ends.
        format!("{{\"PreToolUse\": [{bash}, /* é {{ */\r\n\t{fits}, // ]\n {bash}, {edit},]}}"),
        format!("{{\"Stop\": [\"\\ud83d\\ude00 \\\" 「」\"],\n\"PreToolUse\":[{bash},{fits} ,\n{edit}]}}"),
        // Hooks with their own events.
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
                let shell = Event::pre_shell(ToolCall::new("Bash", RawJson::default())).with_parent_hooks(true);
                let stop = EventFilter::new(EventKind::Stop, Vec::new());
                for filter in [before("Edit"), before("Bash"), stop, EventFilter::for_event(&shell)] {
                    check(dialect, &file, format, &filter);
                }
            }
        }
    }
}

/// Detects a prefilter that passes everything to the full parser.
#[test]
fn most_plain_files_without_a_match_are_prefiltered() {
    let (mut ruled_out, mut without) = (0, 0);
    for seed in 0..500 {
        let mut dice = Dice::new(seed);
        let (text, filter) = (dice.config(), dice.filter());
        let all = native::DIALECT.decode("file", Scope::User, &text, Format::Jsonc);
        let adapted = native::DIALECT.adapt_filter(&filter);
        if !all.hooks.iter().any(|spec| spec.can_match(&adapted)) {
            without += 1;
            ruled_out += usize::from(check(&native::DIALECT, &text, Format::Jsonc, &filter));
        }
    }
    assert!(without > 150 && ruled_out * 10 > without * 8, "{ruled_out} of {without}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn prefilter_and_parser_agree(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let (text, filter) = (dice.config(), dice.filter());
        for text in [&text, &dice.changed(&text), &dice.changed(&text), &dice.changed(&text)] {
            for dialect in [&native::DIALECT, &claude::DIALECT] {
                for format in [Format::Json, Format::Jsonc] {
                    check(dialect, text, format, &filter);
                }
            }
        }
    }

    /// Covers the event names of all dialects with such files.
    #[test]
    fn prefilter_and_parser_agree_in_all_dialects(seed in any::<u64>()) {
        let mut dice = Dice::new(seed);
        let (text, filter) = (dice.config(), dice.filter());
        let text = if seed % 2 == 0 { text } else { dice.changed(&text) };
        for dialect in crate::ALL.iter().filter(|dialect| dialect.prefilter_layout().is_some()) {
            check(dialect, &with_own_names(dialect, &text), Format::Jsonc, &filter);
        }
    }
}

/// Replaces Claude Code's event names by those of the dialect.
fn with_own_names(dialect: &Dialect, text: &str) -> String {
    let mut text = text.to_owned();
    for row in claude::DIALECT.events {
        if let Some(own) = dialect.name_of(&row.kind) {
            text = text.replace(&format!("\"{}\"", row.name), &format!("\"{own}\""));
        }
    }
    text
}

#[test]
fn files_of_several_dialects_are_prefiltered() {
    let text = r#"{"hooks": {"PreToolUse": [{"matcher": "nothing", "hooks": [{"type": "command", "command": "x"}]}]}}"#;
    let is_prefiltered =
        |dialect: &&&Dialect| is_ruled_out(dialect, &with_own_names(dialect, text), Format::Jsonc, &before("Edit"));
    let names: Vec<_> = crate::ALL.iter().filter(is_prefiltered).map(|dialect| dialect.name).collect();
    assert!(names.contains(&"native") && names.contains(&"claude"), "{names:?}");
}
