//! Encoding of hooks.

use std::time::Duration;

use checkrein_core::{EventKind, Matcher};
use checkrein_dialects::agents::docker_agent::{DIALECT, G2};
use checkrein_dialects::config::{ConversionLoss, Decoded};
use checkrein_dialects::{Dialect, HandlerSpec, HookSpec, HttpSpec};
use proptest::prelude::*;

use crate::{decode, files, problems};

type Written = (Vec<EventKind>, String, String);

fn definitions(decoded: &Decoded) -> Vec<Written> {
    let of = |spec: &HookSpec| (spec.kinds.clone(), spec.matcher.pattern().to_owned(), spec.definition());
    decoded.hooks.iter().map(of).collect()
}

fn round(dialect: &'static Dialect, text: &str) -> (Decoded, Decoded, String) {
    let decoded = decode(dialect, text);
    let hooks: Vec<_> = decoded.hooks.iter().collect();
    let encoded = dialect.encode(&hooks).unwrap();
    assert_eq!(encoded.lost, []);
    let again = decode(dialect, &encoded.text);
    (decoded, again, encoded.text)
}

#[test]
fn all_keys_round_trip() {
    let (decoded, again, text) = round(&DIALECT, files::FULL);
    assert_eq!(problems(&again), [""; 0], "{text}");
    let everything = |written: Vec<Written>| {
        // `*` and an absent matcher are equal.
        written.into_iter().map(|(kinds, pattern, rest)| (kinds, pattern.replace('*', ""), rest)).collect::<Vec<_>>()
    };
    assert_eq!(everything(definitions(&decoded)), everything(definitions(&again)), "{text}");
    let names = |decoded: &Decoded| decoded.hooks.iter().map(|spec| spec.info.id.clone()).collect::<Vec<_>>();
    assert_eq!(names(&decoded), names(&again));
}

#[test]
fn keys_without_effect_round_trip() {
    let text = "stop: [{type: builtin, command: x, env: {A: b}}, {type: command, command: x, args: [a]}]";
    let (decoded, again, _) = round(&DIALECT, text);
    assert_eq!(definitions(&decoded), definitions(&again));
    assert_eq!(problems(&decoded).len(), 2);
}

#[test]
fn file_is_readable_yaml() {
    let text =
        "pre_tool_use: [{matcher: shell, hooks: [{type: command, command: x}]}]\nstop: {type: command, command: y}";
    assert_eq!(
        round(&G2, text).2,
        "agents:\n  root:\n    hooks:\n      pre_tool_use:\n        - matcher: \"shell\"\n          hooks:\n            - { \"type\": \"command\", \"command\": \"x\" }\n      stop:\n        - { \"type\": \"command\", \"command\": \"y\" }\n"
    );
    assert_eq!(DIALECT.encode(&[]).unwrap().text, "agents:\n  root:\n    hooks: {}\n");
}

#[test]
fn conversion_losses_are_reported() {
    let hooks = [
        HookSpec::new("h", EventKind::PreToolUse, HandlerSpec::Http(HttpSpec::new("https://example.com"))),
        HookSpec::shell("n", EventKind::TeammateIdle, "x"),
        HookSpec::shell("s", EventKind::Stop, "x"),
        HookSpec::shell("o", EventKind::PreToolUse, "x").once().disabled(),
        HookSpec::shell("m", EventKind::SessionStart, "x").matching(Matcher::names(["startup"])),
        HookSpec::argv("a", EventKind::PreToolUse, ["git", "log", "it's"]).timeout(Duration::from_millis(1500)),
    ];
    let encoded = DIALECT.encode(&hooks.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(
        encoded.lost,
        [
            ConversionLoss::whole(0, "docker-agent has no `http` hooks"),
            ConversionLoss::whole(1, "docker-agent has no event for `teammate_idle`"),
            ConversionLoss::part(2, "that it can block, because hooks cannot block `stop`"),
            ConversionLoss::whole(3, "it is disabled, which the file cannot express"),
            ConversionLoss::part(4, "its matcher `startup`, because `session_start` has none"),
        ]
    );
    assert!(encoded.text.contains(r#""command": "git log 'it'\\''s'", "timeout": 2"#), "{}", encoded.text);
    let in_second = G2.encode(&hooks.iter().collect::<Vec<_>>()[5..]).unwrap();
    assert_eq!(in_second.lost, []);
}

proptest! {
    #[test]
    fn any_text_round_trips(command in "\\PC{1,20}|[\\x00-\\xff\u{2028}\u{feff}]{1,8}", name in "[^\\[]{1,8}", seconds in 1_u64..9_999_999) {
        prop_assume!(!command.trim().is_empty());
        let spec = HookSpec::shell(name, EventKind::PostToolUse, command)
            .dialect(&DIALECT)
            .timeout(Duration::from_secs(seconds));
        let text = DIALECT.encode(&[&spec]).unwrap().text;
        let again = decode(&DIALECT, &text);
        prop_assert_eq!(problems(&again), Vec::<String>::new(), "{}", text);
        prop_assert_eq!(again.hooks[0].definition(), spec.definition());
        prop_assert_eq!(&again.hooks[0].info.id, &spec.info.id);
    }
}
