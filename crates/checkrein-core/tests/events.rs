//! Events from and to JSON: every kind, and every error.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test reports its cause by panicking"
)]

use checkrein_core::payload::{CustomPayload, Field, Prompt, ToolCall};
use checkrein_core::{
    BlockEffect, Contract, CustomKind, DecodeErrorKind, Envelope, Event, EventKind, JsonErrorKind, RawJson, Target,
};

/// Returns JSON with every field that events of the kind can have.
fn full_json(kind: &EventKind) -> String {
    let envelope = r#""session_id":"s","cwd":"/p","transcript_path":"/t","permission_mode":"plan","agent_id":"a","agent_type":"explore","turn":18446744073709551615"#;
    let fields: String = kind
        .fields()
        .iter()
        .map(|field| {
            let value = match field.json {
                "a string" => "\"te\\u0000xt\"",
                "a whole number" => "7",
                "true or false" => "true",
                "an object" => r#"{"name":"n","id":"i","version":"v","description":"d","install_path":"p","source":"s","error":"e","own":[1]}"#,
                "any JSON" => r#"{"big":9007199254740993,"ratio":1.500,"z":1,"a":2}"#,
                other => panic!("{other}"),
            };
            format!("\"{}\":{value},", field.name)
        })
        .collect();
    format!(r#"{{"event":"{kind}",{fields}{envelope},"host_adds":{{"x":1e400}}}}"#)
}

#[test]
fn every_kind_round_trips_through_json() {
    for kind in EventKind::ALL {
        let text = full_json(kind);
        let event = Event::from_json(&text).unwrap_or_else(|error| panic!("{kind}: {error}"));
        assert_eq!(event.kind(), *kind);
        assert_eq!(event.envelope.turn, Some(u64::MAX));
        assert_eq!(event.envelope.extra["host_adds"].as_str(), r#"{"x":1e400}"#, "unknown fields are kept");
        let again = Event::from_json(&event.to_json()).unwrap();
        assert_eq!(again, event, "{kind}");
        assert!(RawJson::parse(event.to_json()).unwrap().semantically_eq(&RawJson::parse(text).unwrap()), "{kind}");
        let through_serde: Event = serde_json::from_str(&serde_json::to_string(&event).unwrap()).unwrap();
        assert_eq!(through_serde, event);
    }
}

#[test]
fn the_table_is_consistent() {
    for kind in EventKind::ALL {
        let contract = kind.contract();
        let event = Event::from_json(&full_json(kind)).unwrap();
        if let Some(field) = &contract.matched_on {
            assert!(event.subject().is_some(), "{kind} is matched on {field}, which it does not carry");
        }
        for target in contract.rewrites.iter() {
            assert!(event.original(*target).is_some(), "{kind} rewrites the {target}, which it does not carry");
        }
        assert_eq!(contract.is_gate(), contract.block == BlockEffect::Refuse);
        assert!(
            !contract.plain_text || contract.context.is_supported(),
            "{kind} takes text as context, but no context"
        );
    }
    assert!(EventKind::ALL.len() > 70);
}

#[test]
fn decode_errors_have_cause_and_location() {
    for (text, message) in [
        ("", "the event is not valid JSON: the JSON text ends too early, expected a value (line 1 column 1)"),
        (
            "{\"event\": \"stop\"",
            "the event is not valid JSON: the JSON text ends too early, expected `,` or `}` (line 1 column 17)",
        ),
        ("[]", "an event must be a JSON object, not an array (line 1 column 1)"),
        ("{}", "the required field `event` (a string) is missing (line 1 column 1)"),
        (r#"{"event": 7}"#, "`event` should be a string, but is a number (line 1 column 11)"),
        (r#"{"event": "Stop"}"#, "unknown event `Stop`, did you mean `stop`? (line 1 column 11)"),
        (
            r#"{"event": "a\u0000b"}"#,
            r#"the event name "a\0b" has '\0' at byte 1; white space and control characters are not allowed (line 1 column 11)"#,
        ),
        (r#"{"event": "prompt_submit"}"#, "the required field `prompt` (a string) is missing (line 1 column 1)"),
        (
            "{\"event\": \"prompt_submit\",\n \"prompt\": null}",
            "`prompt` should be a string, but is null (line 2 column 12)",
        ),
        (
            r#"{"event": "pre_tool_use", "tool_name": "Bash"}"#,
            "the required field `tool_input` (any JSON) is missing (line 1 column 1)",
        ),
        (r#"{"event": "stop", "turn": 1.5}"#, "`turn` should be a whole number, but is a number (line 1 column 27)"),
        (r#"{"event": "stop", "turn": -1}"#, "`turn` should be a whole number, but is a number (line 1 column 27)"),
        (
            r#"{"event": "stop", "stop_hook_active": "yes"}"#,
            "`stop_hook_active` should be true or false, but is a string (line 1 column 39)",
        ),
        (r#"{"event": "post_plugin_install"}"#, "the required field `plugin` (an object) is missing (line 1 column 1)"),
        (
            r#"{"event": "post_plugin_install", "plugin": []}"#,
            "`plugin` should be an object, but is an array (line 1 column 44)",
        ),
        (
            r#"{"event": "post_plugin_install", "plugin": {"name": 1}}"#,
            "`plugin.name` should be a string, but is a number (line 1 column 53)",
        ),
        (
            r#"{"event": "post_plugin_install", "plugin": {}}"#,
            "the required field `plugin.name` (a string) is missing (line 1 column 44)",
        ),
        (
            r#"{"event": "stop", "event": "error"}"#,
            r#"the event is not valid JSON: duplicate key "event" (line 1 column 19)"#,
        ),
    ] {
        assert_eq!(Event::from_json(text).unwrap_err().to_string(), message);
        assert_eq!(Event::from_json_bytes(text.as_bytes()).unwrap_err().to_string(), message);
    }
    let error = Event::from_json_bytes(b"{\"event\": \"st\xff\"}").unwrap_err();
    assert_eq!(error.to_string(), "the event is not valid JSON: not valid UTF-8 (line 1 column 14)");
    assert!(matches!(error.kind(), DecodeErrorKind::Json(json) if *json.kind() == JsonErrorKind::NotUtf8));
}

#[test]
fn optional_fields_may_be_null_or_absent() {
    let event = Event::from_json(r#"{"event":"stop","stop_hook_active":null,"session_id":null}"#).unwrap();
    assert_eq!(event.to_json(), r#"{"event":"stop"}"#);
}

#[test]
fn tool_input_of_any_type_and_size_is_unchanged() {
    let large = format!("{{\"content\": \"{}\"}}", "é\\n".repeat(3 << 20));
    assert!(large.len() > 10 << 20);
    for input in ["null", "[1, 2.50]", r#"{"b": 1, "a": {"z": 18446744073709551616}}"#, "\"text\"", &large] {
        let text = format!(r#"{{"event":"pre_tool_use","tool_name":"T","tool_input":{input}}}"#);
        let event = Event::from_json(&text).unwrap();
        assert_eq!(event.tool_input().unwrap().as_str(), input);
        assert_eq!(event.to_json(), text);
        let pieces: Vec<u8> = event.to_json_pieces(4).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
        assert_eq!(String::from_utf8(pieces).unwrap(), text);
    }
    let deep = format!(r#"{{"event":"stop","x":{}{}}}"#, "[".repeat(200), "]".repeat(200));
    let error = Event::from_json(&deep).unwrap_err();
    assert!(matches!(error.kind(), DecodeErrorKind::Json(json) if *json.kind() == JsonErrorKind::TooDeep));
}

#[test]
fn fields_are_found_by_name() {
    let event = Event::prompt_submit(Prompt::new("hi")).within(Envelope::new().agent_type("explore").turn(3_u64));
    assert_eq!(event.field("prompt"), Some(Field::Text("hi")));
    assert_eq!(event.field("turn"), Some(Field::Count(3)));
    assert_eq!(event.field("nothing"), None);
    assert_eq!((event.prompt(), event.tool_name()), (Some("hi"), None));
    let stop = Event::stop(checkrein_core::payload::Stop::new()).within(Envelope::new().agent_type("explore"));
    assert_eq!(stop.subject().as_deref(), Some("explore"), "from the envelope");
    let call = Event::pre_tool_use(ToolCall::new("Bash", RawJson::default()));
    assert_eq!(call.original(Target::Input).unwrap().as_str(), "null");
    assert_eq!(call.original(Target::Prompt), None);
}

#[test]
fn custom_events_are_decoded_with_a_resolver() {
    let kind = CustomKind::new("pre_deploy", Contract::observe().rewrites([Target::Input])).unwrap();
    let text = r#"{"event":"pre_deploy","session_id":"s","input":{"to":"prod"}}"#;
    assert!(Event::from_json(text).is_err());
    let known = EventKind::Custom(kind.clone());
    let event =
        Event::from_json_with(text, |name| if name == "pre_deploy" { Ok(known) } else { name.parse() }).unwrap();
    let payload = CustomPayload::new(kind).field("input", r#"{"to":"prod"}"#.parse().unwrap());
    assert_eq!(event, Event::custom(payload).within(Envelope::new().session_id("s")));
    assert_eq!(event.original(Target::Input).unwrap().as_str(), r#"{"to":"prod"}"#);
    assert_eq!(event.to_json(), text);
}

#[test]
fn no_field_is_written_twice() {
    let mut event = Event::pre_tool_use(ToolCall::new("Bash", RawJson::default()));
    event.envelope.extra.insert("tool_name".to_owned(), RawJson::string("Read"));
    event.envelope.extra.insert("event".to_owned(), RawJson::string("stop"));
    assert_eq!(event.to_json(), r#"{"event":"pre_tool_use","tool_name":"Bash","tool_input":null}"#);
    let kind = CustomKind::new("pre_deploy", Contract::observe()).unwrap();
    let payload =
        CustomPayload::new(kind).field("event", RawJson::string("stop")).field("session_id", RawJson::string("x"));
    let event = Event::custom(payload).within(Envelope::new().session_id("s"));
    assert_eq!(event.to_json(), r#"{"event":"pre_deploy","session_id":"s"}"#);
    let mut info = checkrein_core::payload::PluginInfo::new("n");
    info.more.insert("name".to_owned(), RawJson::string("m"));
    let event = Event::pre_plugin_install(checkrein_core::payload::Plugin::new(info));
    assert_eq!(event.to_json(), r#"{"event":"pre_plugin_install","plugin":{"name":"n"}}"#);
}

#[test]
fn null_is_a_value_of_fields_with_any_json() {
    let text = r#"{"event":"post_tool_use","tool_name":"T","tool_input":null,"tool_response":null}"#;
    assert_eq!(Event::from_json(text).unwrap().to_json(), text);
}

#[test]
fn a_value_of_maximum_depth_round_trips_in_an_event() {
    let depth = checkrein_core::MAX_DEPTH;
    let input: RawJson = ("[".repeat(depth) + &"]".repeat(depth)).parse().unwrap();
    let event = Event::pre_tool_use(ToolCall::new("T", input));
    assert_eq!(Event::from_json(&event.to_json()).unwrap(), event);
    assert!(serde_json::to_string(&event).is_ok());
}

#[test]
fn a_custom_subject_may_be_a_number() {
    let kind = CustomKind::new("port_open", Contract::observe().matched_on("port")).unwrap();
    let event = Event::custom(CustomPayload::new(kind).field("port", "8080".parse().unwrap()));
    assert_eq!(event.subject().as_deref(), Some("8080"));
}
