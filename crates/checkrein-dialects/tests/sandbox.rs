//! The key `sandbox`: decoding, diagnostics and encoding.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::time::Duration;

use checkrein_core::{HookState, Scope};
use checkrein_dialects::agents::{claude, native};
use checkrein_dialects::{FileAccess, HandlerSpec, HookSpec, SandboxSpec};
use checkrein_document::Format;

fn hook(entry: &str) -> (HookSpec, Vec<String>) {
    let text = format!(r#"{{ "hooks": {{ "PreToolUse": [{{ "hooks": [{entry}] }}] }} }}"#);
    let decoded = native::DIALECT.decode("hooks", Scope::User, &text, Format::Json);
    let problems = decoded.diagnostics.iter().map(ToString::to_string).collect();
    (decoded.hooks.into_iter().next().unwrap(), problems)
}

fn sandbox(value: &str) -> (HookSpec, Vec<String>) {
    hook(&format!(r#"{{ "command": "true", "sandbox": {value} }}"#))
}

fn sandbox_spec(hook: &HookSpec) -> Option<SandboxSpec> {
    match &hook.handler {
        HandlerSpec::Command(command) => command.sandbox.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn sandboxes_round_trip() {
    let strict = || SandboxSpec::STRICT;
    #[rustfmt::skip]
    let rows = [
        ("false", None),
        ("true", Some(strict())),
        (r#""strict""#, Some(strict())),
        ("{}", Some(strict())),
        (r#"{ "network": true }"#, Some(SandboxSpec { network: true, ..strict() })),
        (r#"{ "project": "none" }"#, Some(SandboxSpec { project: FileAccess::None, ..strict() })),
        (r#"{ "project": "write" }"#, Some(SandboxSpec { project: FileAccess::Write, ..strict() })),
        (r#"{ "outside": "read" }"#, Some(SandboxSpec { outside: FileAccess::Read, ..strict() })),
        (r#"{ "outside": "write" }"#, Some(SandboxSpec { project: FileAccess::Write, outside: FileAccess::Write, ..strict() })),
        (r#"{ "read": ["~/.rules", "data"], "write": ["/var/log/x"] }"#,
            Some(SandboxSpec { read: vec!["~/.rules".into(), "data".into()], write: vec!["/var/log/x".into()], ..strict() })),
        (r#"{ "cpu": 2.5, "memory": "512MiB", "processes": 4, "files": 32, "file_size": 1000 }"#,
            Some(SandboxSpec { cpu: Some(Duration::from_millis(2500)), memory: Some(512 << 20), processes: Some(4),
                files: Some(32), file_size: Some(1000), ..strict() })),
        (r#"{ "memory": "2 GB" }"#, Some(SandboxSpec { memory: Some(2_000_000_000), ..strict() })),
        (r#"{ "cpu": "unlimited", "memory": "unlimited", "processes": "unlimited", "files": "unlimited", "file_size": "unlimited" }"#,
            Some(SandboxSpec { cpu: None, memory: None, processes: None, files: None, file_size: None, ..strict() })),
    ];
    for (value, expected) in rows {
        let (hook, problems) = sandbox(value);
        assert_eq!((sandbox_spec(&hook), problems), (expected.clone(), vec![]), "{value}");
        let written = native::DIALECT.encode(&[&hook]).unwrap();
        assert_eq!(written.lost, [], "{value}");
        let again = native::DIALECT.decode("hooks", Scope::User, &written.text, Format::Json);
        assert_eq!(sandbox_spec(&again.hooks[0]), expected, "{value}: {}", written.text);
    }
}

#[test]
fn invalid_sandbox_breaks_the_hook() {
    for (value, word) in [
        (r#""loose""#, "unknown value of `sandbox` `loose`"),
        ("3", "`sandbox` should be true, `strict` or an object"),
        (r#"{ "netwrok": true }"#, "did you mean `network`?"),
        (r#"{ "network": "no" }"#, "`network` should be true or false"),
        (r#"{ "project": "rw" }"#, "unknown value of `project` `rw`"),
        (r#"{ "memory": "much" }"#, "`memory` should be bytes, as in 1048576 or `512MiB`, or `unlimited`"),
        (r#"{ "memory": "99999999999GiB" }"#, "`memory` should be bytes"),
        (r#"{ "memory": 0 }"#, "`memory` should be bytes"),
        (r#"{ "processes": 0 }"#, "`processes` should be a whole number above 0"),
        (r#"{ "processes": 1.5 }"#, "`processes` should be a whole number above 0"),
        (r#"{ "cpu": -1 }"#, "`cpu`"),
        (r#"{ "read": "all" }"#, "`read` should be an array"),
        (r#"{ "project": "read", "outside": "write" }"#, "`outside` must not allow more than `project`"),
        (r#"{ "project": "none", "outside": "read" }"#, "`outside` must not allow more than `project`"),
    ] {
        let (hook, problems) = sandbox(value);
        assert!(matches!(hook.state, HookState::Broken(_)), "{value}: {:?}", hook.state);
        assert!(problems.iter().any(|problems| problems.contains(word)), "{value}: {problems:?}");
    }
}

#[test]
fn sandbox_has_an_effect_only_on_commands() {
    let (hook, problems) = hook(r#"{ "url": "https://example.com/x", "sandbox": true }"#);
    assert_eq!(hook.state, HookState::Ready);
    assert!(problems[0].contains("`sandbox` has no effect on a `http` hook"), "{problems:?}");
}

#[test]
fn sandbox_is_lost_in_other_dialects_and_part_of_the_identity() {
    let (with, _) = sandbox("true");
    let (without, _) = sandbox("false");
    let written = claude::DIALECT.encode(&[&with]).unwrap();
    assert!(written.lost.iter().any(|lost| lost.what.contains("its sandbox")), "{:?}", written.lost);
    assert!(claude::DIALECT.encode(&[&without]).unwrap().lost.iter().all(|lost| !lost.what.contains("sandbox")));
    assert_ne!(with.definition(), without.definition());
}
