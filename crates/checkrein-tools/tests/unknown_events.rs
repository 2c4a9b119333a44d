//! Payloads whose event is unknown are denied in every dialect, in all spellings.
#![allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]

use checkrein::Sources;
use checkrein::dialects::agents::native;
use checkrein_core::FailurePolicy;
use checkrein_dialects::ALL;
use checkrein_tools::agent_adapter::AgentAdapter;

/// All keys that name the event in some dialect, with this value.
fn names(value: &str) -> String {
    let mut keys: Vec<_> = ALL.iter().map(|dialect| dialect.payload.event).filter(|key| !key.is_empty()).collect();
    keys.extend(["hook_event_name", "hookEventName", "event", "event_type", "agent_action_name", "hookName"]);
    keys.sort_unstable();
    keys.dedup();
    keys.iter().map(|key| format!("\"{key}\":\"{value}\"")).collect::<Vec<_>>().join(",")
}

/// Text of a model that names an event without effect, nested this deep.
fn tool_input(depth: usize) -> String {
    let nested = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    format!(r#""tool_input":{{{},"d":{nested}}}"#, names("SessionStart"))
}

/// Payloads whose event cannot be determined in any dialect.
fn payloads() -> Vec<(String, Vec<u8>)> {
    let call = format!(r#"{{{},"tool_name":"Bash","tool_input":{{}}}}"#, names("PreToolUse"));
    let utf16 =
        |mark: &str, to: fn(u16) -> [u8; 2]| format!("{mark}{call}").encode_utf16().flat_map(to).collect::<Vec<u8>>();
    let bytes = |text: &str| text.as_bytes().to_vec();
    let mut all: Vec<(String, Vec<u8>)> = vec![
        ("empty".to_owned(), Vec::new()),
        ("white space".to_owned(), bytes(" \n\t")),
        ("no JSON".to_owned(), bytes("rm -rf /")),
        ("NUL bytes".to_owned(), vec![0; 16]),
        ("XML".to_owned(), bytes("<event name=\"PreToolUse\"/>")),
        ("UTF-16, little end first".to_owned(), utf16("", u16::to_le_bytes)),
        ("UTF-16 with mark".to_owned(), utf16("\u{feff}", u16::to_le_bytes)),
        ("UTF-16, big end first".to_owned(), utf16("\u{feff}", u16::to_be_bytes)),
        ("byte order mark".to_owned(), bytes(&format!("\u{feff}{call}"))),
        ("no-break space".to_owned(), bytes(&format!("\u{a0}{call}"))),
        ("two payloads".to_owned(), bytes(&format!("{call}{call}"))),
        ("payload and text".to_owned(), bytes(&format!("{call} x"))),
        ("comment".to_owned(), bytes(&format!("// x\n{call}"))),
        ("trailing comma".to_owned(), bytes(&format!("{},}}", &call[..call.len() - 1]))),
        ("single quotes".to_owned(), bytes(&call.replace('"', "'"))),
        ("JSON string".to_owned(), bytes(&serde_json::to_string(&call).unwrap())),
        ("array".to_owned(), bytes(&format!("[{call}]"))),
        ("text".to_owned(), bytes("\"PreToolUse\"")),
        ("number".to_owned(), bytes("1")),
        ("huge number".to_owned(), bytes(&"9".repeat(100_000))),
        ("huge exponent".to_owned(), bytes("1e999999999")),
        ("boolean".to_owned(), bytes("true")),
        ("null".to_owned(), bytes("null")),
        ("empty object".to_owned(), bytes("{}")),
        ("no event".to_owned(), bytes(r#"{"tool_name":"Bash"}"#)),
        ("event only in the tool input".to_owned(), bytes(&format!("{{{}}}", tool_input(1)))),
        ("event is null".to_owned(), bytes(&call.replace("\"PreToolUse\"", "null"))),
        ("event is a number".to_owned(), bytes(&call.replace("\"PreToolUse\"", "7"))),
        ("event is an array".to_owned(), bytes(&call.replace("\"PreToolUse\"", "[\"SessionStart\"]"))),
        ("duplicate event".to_owned(), bytes(&format!("{{{},{}", names("SessionStart"), &call[1..]))),
        (
            "duplicate event behind".to_owned(),
            bytes(&format!("{},{}}}", &call[..call.len() - 1], names("SessionStart"))),
        ),
        (
            "duplicate event with an escape".to_owned(),
            bytes(&format!(r#"{{{},"\u0068ook_event_name":"SessionStart"}}"#, names("PreToolUse"))),
        ),
        ("invalid UTF-8 in the input".to_owned(), {
            let mut text = bytes(&format!(r#"{{{},"tool_input":{{"a":"?"}}}}"#, names("PreToolUse")));
            let at = text.iter().position(|byte| *byte == b'?').unwrap();
            text[at] = 0xff;
            text
        }),
        ("half a character at the end".to_owned(), [call.as_bytes(), b"\xe2\x80"].concat()),
        ("control character".to_owned(), bytes(&call.replace("Bash", "Ba\u{1}sh"))),
        ("NaN".to_owned(), bytes(&call.replace("{}", "NaN"))),
    ];
    for name in
        ["", " ", "PreTolUse", "pretooluse ", "PreToolUse\u{0}", "x", "unknown_event", "PreToolUse,SessionStart"]
    {
        let name = serde_json::to_string(name).unwrap();
        all.push((format!("event {name}"), bytes(&call.replace("\"PreToolUse\"", &name))));
    }
    for cut in [1, 2, call.len() / 2, call.len() - 1] {
        all.push((format!("without the last {cut} bytes"), bytes(&call[..call.len() - cut])));
    }
    for depth in [129, 200, 1000, 2000, 10_000, 100_000] {
        let input = tool_input(depth);
        all.push((format!("{depth} deep, event behind"), bytes(&format!("{{{input},{}}}", names("PreToolUse")))));
        all.push((format!("{depth} deep, event before"), bytes(&format!("{{{},{input}}}", names("PreToolUse")))));
        all.push((
            format!("{depth} open brackets"),
            bytes(&format!("{{{},\"x\":{}", names("PreToolUse"), "[".repeat(depth))),
        ));
    }
    all
}

fn adapter(dialect: &'static checkrein_dialects::Dialect, dir: &std::path::Path) -> AgentAdapter {
    let sources = Sources::of_files(&native::DIALECT, std::iter::empty::<&str>());
    AgentAdapter::new(dialect).sources(sources).dir(dir).state(dir)
}

fn assert_denied_everywhere(answer: &checkrein_dialects::Answer, case: &str) {
    assert_eq!(answer.exit, 2, "{case}");
    assert!(!answer.stderr.is_empty(), "{case}");
    for spelling in [r#""permissionDecision":"deny""#, r#""decision":"block""#, r#""cancel":true"#] {
        assert!(answer.stdout.contains(spelling), "{case}: {}", answer.stdout);
    }
}

/// Payloads of one agent that are sent to another: the event is known, or the payload is denied.
#[test]
fn payloads_of_other_agents_are_known_or_denied() {
    let dir = tempfile::tempdir().unwrap();
    let mut denied = 0;
    for sender in ALL {
        for row in sender.events {
            let event = checkrein_tools::samples::event(&row.kind);
            let payload: Vec<u8> =
                sender.payload(&event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
            let json = checkrein_core::RawJson::parse_bytes(&payload).unwrap();
            for dialect in ALL {
                let mut agents = vec![*dialect];
                agents.extend(dialect.other_generations.iter().map(|(_, agent)| *agent));
                let is_known = |agent: &&checkrein_dialects::Dialect| {
                    agent.event_name(&json).is_some_and(|name| agent.kind_named(&name).is_ok())
                };
                if agents.iter().any(is_known) {
                    continue;
                }
                let answer = adapter(dialect, dir.path()).answer(&payload).answer;
                assert_denied_everywhere(&answer, &format!("{} from {}: {json}", dialect.name, sender.name));
                denied += 1;
            }
        }
    }
    assert!(denied > 500, "only {denied} payloads are denied");
}

#[test]
fn every_dialect_denies_events_that_are_unknown() {
    let dir = tempfile::tempdir().unwrap();
    for dialect in ALL {
        for (name, payload) in payloads() {
            let answer = adapter(dialect, dir.path()).answer(&payload).answer;
            assert_denied_everywhere(&answer, &format!("{}: {name}", dialect.name));
        }
    }
}

#[test]
fn fail_open_lets_unknown_events_pass_with_a_note() {
    let dir = tempfile::tempdir().unwrap();
    for dialect in ALL {
        let response = adapter(dialect, dir.path()).on_failure(FailurePolicy::Open).answer(b"no JSON");
        assert_eq!((response.answer.exit, response.answer.stdout.as_str()), (0, ""), "{}", dialect.name);
        assert_eq!(response.undelivered_notes.len(), 1, "{}", dialect.name);
    }
}

/// The settings name the event, and the payload cannot be read.
#[test]
fn unreadable_payloads_of_known_gates_are_denied() {
    let dir = tempfile::tempdir().unwrap();
    let deep = format!("{{{},{}}}", names("PreToolUse"), tool_input(1000));
    for dialect in ALL {
        for row in dialect.events.iter().filter(|row| dialect.is_gate(&row.kind)) {
            for payload in ["", "no JSON", "[]", deep.as_str()] {
                let answer = adapter(dialect, dir.path()).event(row.name).answer(payload.as_bytes()).answer;
                let case = format!("{} {}: {payload:.40}: {answer:?}", dialect.name, row.name);
                assert!(answer.restricts, "{case}");
                assert!(answer.exit != 0 || !answer.stdout.is_empty(), "{case}");
            }
        }
    }
}
