use checkrein_core::{Decision, EventKind, Opinion};
use checkrein_dialects::Provenance;
use checkrein_dialects::agents::antigravity::DIALECT;

use super::HookEffect::To;
use super::*;

const COMMON: &str =
    r#""conversationId":"c","workspacePaths":["/w","/v"],"transcriptPath":"/t","modelName":"m","stepIdx":3"#;

/// The payload does not name its event.
#[test]
fn payloads_round_trip() {
    for (name, kind, own) in [
        (
            "PreToolUse",
            EventKind::PreToolUse,
            r#""toolCall":{"name":"run_command","args":{"CommandLine":"ls","Cwd":"/w"}}"#,
        ),
        (
            "PostToolUse",
            EventKind::PostToolUse,
            r#""toolCall":{"name":"view_file","args":{"AbsolutePath":"/w/a"}},"error":"e""#,
        ),
        ("PreInvocation", EventKind::TurnStart, r#""invocationNum":1,"initialNumSteps":2"#),
        ("PostInvocation", EventKind::TurnEnd, r#""invocationNum":1"#),
        ("Stop", EventKind::Stop, r#""terminationReason":"model_stop","executionNum":1,"fullyIdle":true"#),
    ] {
        let sent = json(&format!("{{{COMMON},{own}}}"));
        assert!(DIALECT.event(&sent, None).is_err(), "{name}");
        let event = DIALECT.event(&sent, Some(name)).unwrap();
        assert_eq!(event.kind(), kind);
        assert_eq!(event.envelope.cwd.as_deref(), Some("/w"));
        let bytes: Vec<u8> = DIALECT.payload(&event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
        let mut again: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        // The directory is added for hooks, which get it from other agents too.
        again.as_object_mut().unwrap().remove("cwd");
        assert!(json(&again.to_string()).semantically_eq(&sent), "{again}\n{sent}");
    }
    let bare = json(&format!(r#"{{{COMMON},"error":""}}"#));
    assert_eq!(DIALECT.event(&bare, Some("PostToolUse")).unwrap().tool_name(), Some(""));
}

#[test]
fn answers_are_safe_in_every_reading() {
    let denied = r#"{"decision":"deny","reason":"no"}"#;
    assert_rendered(
        &DIALECT,
        &[
            // Silence may be a denial, and `allow` may skip the permission prompt.
            (&gate(), Opinion::none(), r#"{"decision":"ask"}"#, 0),
            (&gate(), Opinion::allow(), r#"{"decision":"allow"}"#, 0),
            (&gate(), Opinion::deny("no"), denied, 0),
            // Cached permissions do not answer for the user.
            (&gate(), Opinion::ask("?"), r#"{"decision":"force_ask","reason":"?"}"#, 0),
            (&stop(), Opinion::deny("go on"), r#"{"decision":"continue","reason":"go on"}"#, 0),
            (&stop(), Opinion::none(), "", 0),
            (&done(), Opinion::none(), "", 0),
        ],
    );
    let rewritten = render(&DIALECT, &gate(), &Opinion::rewrite_input(json(r#"{"command":"x"}"#)));
    assert_eq!(rewritten.decision, Decision::Deny, "{rewritten:?}");
    assert!(DIALECT.needs_answer(&EventKind::PreToolUse) && !DIALECT.needs_answer(&EventKind::Stop));
}

#[test]
fn replies_are_read() {
    for (code, stdout, expected) in [
        (0, r#"{"decision":"allow"}"#, Decision::Allow),
        (0, r#"{"decision":"auto_approve"}"#, Decision::Allow),
        (0, r#"{"decision":"ask"}"#, Decision::Ask),
        (0, r#"{"decision":"force_ask"}"#, Decision::Ask),
        (0, r#"{"decision":"deny","reason":"r"}"#, Decision::Deny),
        (0, r#"{"decision":"deny_unless_prior_grant"}"#, Decision::Deny),
        (1, r#"{"decision":"deny","reason":"r"}"#, Decision::Deny),
    ] {
        assert_eq!(effect(&DIALECT, &gate(), code, stdout, "why"), To(expected), "{code} {stdout}");
    }
}

#[test]
fn hook_files_have_named_hooks() {
    let text = r#"{
  "guard": {"PreToolUse": [{"matcher": "run_command", "hooks": [{"type": "command", "command": "./g.sh", "timeout": 5}]}]},
  "off": {"enabled": false, "PreToolUse": [{"hooks": [{"command": "./off.sh"}]}]},
  "stop": {"enabled": true, "Stop": [{"hooks": [{"command": "./s.sh"}]}]}
}"#;
    let decoded = decode(&DIALECT, text);
    assert_eq!((problems(&decoded), decoded.hooks.len()), (vec![], 2));
    assert_round_trip(&DIALECT, text);
    assert_problems(
        &DIALECT,
        [("{\"a\":{\n\"PreToolUze\":[]}}", &[("unknown-event", 2), ("closed-gate", 2)]), ("{\"a\":3}", &[])],
    );
}

#[test]
fn every_event_is_marked_as_uncertain() {
    assert!(DIALECT.events.iter().all(|row| row.known == Provenance::Uncertain));
}
