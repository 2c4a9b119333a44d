//! Payloads of hooks.

use checkrein_core::payload::{Compaction, ToolCall, ToolOutcome, Turn};
use checkrein_core::{Event, RawJson};
use checkrein_dialects::Dialect;
use checkrein_dialects::agents::docker_agent::{DIALECT, G2};

use crate::{event, json};

fn text(dialect: &Dialect, event: &Event) -> String {
    let bytes = dialect.payload(event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
    String::from_utf8(bytes).unwrap()
}

/// Payload without the three common fields.
fn own(dialect: &Dialect, name: &str) -> String {
    let text = text(dialect, &event(dialect.kind_of(name).unwrap()));
    assert!(RawJson::parse(text.as_str()).is_ok(), "{text}");
    let start = format!(r#"{{"hook_event_name":"{name}","session_id":"","cwd":"""#);
    text.strip_prefix(&start)
        .unwrap_or_else(|| panic!("{text}"))
        .trim_start_matches(',')
        .trim_end_matches('}')
        .to_owned()
}

#[test]
fn payloads_of_the_second_generation() {
    for (name, expected) in [
        ("pre_tool_use", r#""tool_name":"shell","tool_input":{"cmd":"ls","n":9007199254740993"#),
        ("post_tool_use", r#""tool_name":"shell","tool_input":{"cmd":"ls"},"tool_response":"out""#),
        ("session_start", r#""source":"startup""#),
        ("turn_start", ""),
        ("before_llm_call", ""),
        ("after_llm_call", r#""stop_response":"done""#),
        ("session_end", r#""reason":"logout""#),
        ("on_user_input", ""),
        ("stop", r#""stop_response":"done""#),
        ("notification", r#""notification_level":"error","notification_message":"m""#),
        ("on_error", r#""notification_level":"error","notification_message":"boom""#),
        ("on_max_iterations", r#""notification_level":"warning","notification_message":"50 reached""#),
    ] {
        assert_eq!(own(&G2, name), expected, "{name}");
    }
}

#[test]
fn payloads_of_the_newest_generation() {
    for (name, expected) in [
        ("before_llm_call", r#""model_id":"m","messages":[1]"#),
        ("turn_start", r#""iteration":1"#),
        ("turn_end", r#""reason":"normal""#),
        ("user_prompt_submit", r#""prompt":"hi""#),
        ("user_steering_messages_submit", r#""steering_messages":["a","b"]"#),
        ("user_followup_submit", r#""prompt":"more""#),
        ("pre_compact", r#""source":"auto""#),
        ("before_compaction", r#""compaction_reason":"threshold""#),
        ("after_compaction", r#""summary":"short""#),
        ("subagent_stop", r#""stop_response":"done""#),
        ("on_agent_switch", r#""from_agent":"root","to_agent":"helper""#),
        ("on_session_resume", r#""previous_max_iterations":1,"new_max_iterations":2"#),
        ("on_tool_approval_decision", r#""tool_name":"shell","approval_decision":"allow","approval_source":"yolo""#),
        ("worktree_create", r#""worktree_path":"/w""#),
    ] {
        assert_eq!(own(&DIALECT, name), expected, "{name}");
    }
}

#[test]
fn every_event_has_a_payload() {
    for dialect in [&DIALECT, &G2] {
        for row in dialect.events {
            own(dialect, row.name);
        }
    }
}

#[test]
fn zero_is_omitted_but_a_cost_of_zero_is_kept() {
    let call = ToolCall::new("", json("{ }")).tool_use_id("").tool_read_only(false);
    assert_eq!(
        text(&DIALECT, &Event::tool_guard(call)),
        r#"{"hook_event_name":"tool_guard","session_id":"","cwd":""}"#
    );
    let turn = Event::turn_end(Turn::new().iteration(0_u64).cost(json("0")).usage(json("{}")));
    assert_eq!(text(&DIALECT, &turn), r#"{"hook_event_name":"turn_end","session_id":"","cwd":"","cost":0}"#);
    let empty = ToolOutcome::new("t", json("{}")).tool_response(RawJson::string("")).is_error(true);
    assert_eq!(
        text(&DIALECT, &Event::post_tool_use(empty)),
        r#"{"hook_event_name":"post_tool_use","session_id":"","cwd":"","tool_name":"t","tool_response":"","tool_error":true}"#
    );
}

#[test]
fn envelope_and_extra_fields_are_passed_on() {
    let mut event = Event::pre_compact(Compaction::new());
    event.envelope.session_id = Some("s".to_owned());
    event.envelope.cwd = Some("/p".to_owned());
    event.envelope.agent_type = Some("root".to_owned());
    event.envelope.extra.insert("last_user_message".to_owned(), RawJson::string("hello"));
    assert_eq!(
        text(&DIALECT, &event),
        r#"{"hook_event_name":"pre_compact","session_id":"s","cwd":"/p","agent_name":"root","last_user_message":"hello"}"#
    );
}

#[test]
fn payloads_round_trip() {
    for dialect in [&DIALECT, &G2] {
        for row in dialect.events.iter().filter(|row| row.matched) {
            let sent = dialect.with_common_names(event(&row.kind));
            let mut read = dialect.event(&json(&text(dialect, &sent)), None).unwrap();
            (read.envelope.session_id, read.envelope.cwd) = (None, None);
            // An empty input is omitted, and the kind requires it.
            assert_eq!(read, sent, "{}", row.name);
        }
    }
}
