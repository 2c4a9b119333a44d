//! Sample events and payloads of every kind and dialect.
//!
//! The event builder, lints, simulations and several commands use them for fields that the user does not set. Payloads
//! follow captures of real agents where there are some.
//!
//! ```
//! use checkrein::EventKind;
//! use checkrein_tools::samples;
//!
//! let event = samples::event(&EventKind::PreToolUse);
//! assert_eq!(event.tool_name(), Some("Bash"));
//! ```

mod captured;

use checkrein_core::payload::{CustomPayload, Notification};
use checkrein_core::{Envelope, Event, EventKind, RawJson};
use checkrein_dialects::Dialect;

/// Sample event of this kind. A custom kind has no fields.
pub fn event(kind: &EventKind) -> Event {
    let fields = kind.fields().iter().chain(Envelope::fields()).filter_map(|field| {
        let value = value(kind, field.name)?;
        Some(format!("{}:{value}", RawJson::string(field.name)))
    });
    let fields: Vec<_> = std::iter::once(format!("\"event\":{}", RawJson::string(kind.name()))).chain(fields).collect();
    let text = format!("{{{}}}", fields.join(","));
    match kind {
        EventKind::Custom(custom) => Event::custom(CustomPayload::new(custom.clone())),
        // A test parses the samples of all kinds, so the fallback is never used.
        _ => Event::from_json(&text).unwrap_or_else(|_| Event::notification(Notification::new())),
    }
}

/// Sample event of this kind for a tool, with a typical input of the tool.
pub fn tool_event(kind: &EventKind, tool: &str) -> Event {
    with_tool(event(kind), tool)
}

/// Sample payload for hooks of this dialect, for this tool if the event has one.
///
/// If there is a capture of the real agent, the payload has its shape: the same tool input, tool output and agent-specific
/// fields.
pub fn payload(dialect: &'static Dialect, kind: &EventKind, tool: Option<&str>) -> RawJson {
    let pieces = dialect.payload(&event_of(dialect, kind, tool), None);
    let bytes: Vec<u8> = pieces.iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
    RawJson::parse_bytes(&bytes).unwrap_or_default()
}

/// Event of such a [`payload`].
pub fn event_of(dialect: &'static Dialect, kind: &EventKind, tool: Option<&str>) -> Event {
    let usual = match tool {
        Some(tool) => tool_event(kind, tool),
        None => event(kind),
    };
    if let Some(captured) = captured::find(dialect, kind, tool) {
        let same_tool = tool.is_none_or(|tool| captured.tool_name().is_none_or(|own| own == tool));
        let event = if same_tool { captured } else { with_tool(captured, tool.unwrap_or_default()) };
        return in_sample_session(event, usual.envelope);
    }
    usual
}

/// Moves a captured event into the session of all other samples.
fn in_sample_session(mut event: Event, usual: Envelope) -> Event {
    let own = &mut event.envelope;
    for (own, usual) in [
        (&mut own.session_id, usual.session_id),
        (&mut own.cwd, usual.cwd),
        (&mut own.transcript_path, usual.transcript_path),
        (&mut own.permission_mode, usual.permission_mode),
    ] {
        if own.is_some() {
            *own = usual;
        }
    }
    event
}

fn with_tool(event: Event, tool: &str) -> Event {
    if event.tool_name().is_none() {
        return event;
    }
    let (_, input, output) = TOOLS.iter().find(|(name, _, _)| *name == tool).copied().unwrap_or((tool, "{}", "\"\""));
    let text = event.to_json();
    let Ok(json) = RawJson::parse(text) else { return event };
    let changed = json.entries().into_iter().flatten().map(|entry| {
        let value = match &*entry.key() {
            "tool_name" => RawJson::string(tool).as_str().to_owned(),
            "tool_input" => input.to_owned(),
            "tool_response" => output.to_owned(),
            _ => entry.value().to_owned(),
        };
        format!("{}:{value}", RawJson::string(&entry.key()))
    });
    let text = format!("{{{}}}", changed.collect::<Vec<_>>().join(","));
    Event::from_json(&text).unwrap_or(event)
}

/// Tools with their own samples.
pub fn tools() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().map(|(name, _, _)| *name)
}

fn value(kind: &EventKind, field: &str) -> Option<&'static str> {
    let own = OWN.iter().find(|(of, name, _)| of == kind && *name == field).map(|(_, _, value)| *value);
    own.or_else(|| FIELDS.iter().find(|(name, _)| *name == field).map(|(_, value)| *value))
}

/// Project directory of the samples.
pub(crate) const PROJECT: &str = "/home/ann/project";

/// Tools with their inputs and outputs.
const TOOLS: &[(&str, &str, &str)] = &[
    (
        "Bash",
        r#"{"command":"cargo test","description":"Run the tests"}"#,
        r#"{"stdout":"test result: ok. 12 passed\n","stderr":"","interrupted":false}"#,
    ),
    (
        "Write",
        r#"{"file_path":"/home/ann/project/src/lib.rs","content":"pub fn answer() -> u32 {\n    42\n}\n"}"#,
        r#"{"type":"create","filePath":"/home/ann/project/src/lib.rs"}"#,
    ),
    (
        "Edit",
        r#"{"file_path":"/home/ann/project/src/lib.rs","old_string":"41","new_string":"42"}"#,
        r#"{"filePath":"/home/ann/project/src/lib.rs"}"#,
    ),
    (
        "Read",
        r#"{"file_path":"/home/ann/project/README.md"}"#,
        r##"{"type":"text","file":{"content":"# A project\n"}}"##,
    ),
    ("Glob", r#"{"pattern":"**/*.rs"}"#, r#"{"filenames":["src/lib.rs"]}"#),
    ("Grep", r#"{"pattern":"TODO","path":"src"}"#, r#"{"numFiles":0}"#),
    ("WebFetch", r#"{"url":"https://example.com/","prompt":"What is it?"}"#, r#""An example.""#),
    ("WebSearch", r#"{"query":"posix_spawn"}"#, r#""Ten results.""#),
    ("Agent", r#"{"description":"Look around","prompt":"Find the tests","subagent_type":"explore"}"#, r#""Done.""#),
];

/// Default values of fields.
const FIELDS: &[(&str, &str)] = &[
    ("session_id", r#""4f1f6d0e-3c58-4b8e-9d0a-5a0c4b1d7e21""#),
    ("cwd", r#""/home/ann/project""#),
    ("transcript_path", r#""/home/ann/.agent/sessions/4f1f6d0e.jsonl""#),
    ("permission_mode", r#""default""#),
    ("tool_name", r#""Bash""#),
    ("tool_input", r#"{"command":"cargo test","description":"Run the tests"}"#),
    ("tool_response", r#"{"stdout":"test result: ok. 12 passed\n","stderr":"","interrupted":false}"#),
    ("tool_use_id", r#""toolu_01A09q90qw90lq917835lq9""#),
    ("is_error", "false"),
    ("duration_ms", "1250"),
    ("error", r#""exit code 101""#),
    ("failure_type", r#""error""#),
    ("is_interrupt", "false"),
    ("reason", r#""other""#),
    ("approval_decision", r#""allow""#),
    ("approval_source", r#""user""#),
    ("safety_label", r#""safe""#),
    (
        "tool_calls",
        r#"[{"tool_name":"Read","tool_input":{"file_path":"src/lib.rs"},"tool_use_id":"toolu_01","tool_response":"pub fn answer()"}]"#,
    ),
    ("mcp_server_name", r#""issues""#),
    ("message", r#""The agent needs your permission to use Bash""#),
    ("mode", r#""form""#),
    ("elicitation_id", r#""e-17""#),
    ("requested_schema", r#"{"type":"object","properties":{"project":{"type":"string"}}}"#),
    ("source", r#""startup""#),
    ("model", r#""claude-opus-4-8""#),
    ("session_title", r#""Repair the failing test""#),
    ("context_tokens", "48210"),
    ("context_limit", "200000"),
    ("previous_max_iterations", "50"),
    ("new_max_iterations", "100"),
    ("deleted_session_id", r#""0b6f3c52-11d8-4c52-8f57-3f0a0e8a6a11""#),
    ("workspace_roots", r#"["/home/ann/project"]"#),
    ("trigger", r#""auto""#),
    ("file_path", r#""/home/ann/project/src/lib.rs""#),
    ("memory_type", r#""Project""#),
    ("load_reason", r#""session_start""#),
    ("old_cwd", r#""/home/ann/project""#),
    ("new_cwd", r#""/home/ann/project/crates/core""#),
    ("directory", r#""/home/ann/other""#),
    ("change", r#""change""#),
    ("name", r#""fix-login""#),
    ("worktree_path", r#""/home/ann/project/.worktrees/fix-login""#),
    ("worktree_branch", r#""fix-login""#),
    ("worktree_source_dir", r#""/home/ann/project""#),
    ("prompt", r#""Repair the failing test in src/lib.rs""#),
    ("iteration", "3"),
    ("max_iterations", "50"),
    ("usage", r#"{"input_tokens":1820,"output_tokens":214}"#),
    ("input_tokens", "1820"),
    ("output_tokens", "214"),
    ("command_name", r#""review""#),
    ("command_args", r#""src/lib.rs""#),
    ("command_source", r#""user""#),
    ("expansion_type", r#""slash_command""#),
    ("text", r#""The test passes now.""#),
    ("message_id", r#""msg_01""#),
    ("turn_id", r#""turn_7""#),
    ("index", "0"),
    ("is_final", "true"),
    ("stop_hook_active", "false"),
    ("last_assistant_message", r#""The test passes now.""#),
    ("error_type", r#""rate_limit""#),
    ("error_details", r#""429 Too Many Requests""#),
    ("recoverable", "true"),
    ("custom_instructions", r#""""#),
    ("message_count", "84"),
    ("messages_to_compact", "70"),
    ("title", r#""Permission needed""#),
    ("notification_type", r#""permission_prompt""#),
    ("level", r#""info""#),
    ("messages", r#"[{"role":"user","content":"Repair the failing test"}]"#),
    ("response", r#"{"role":"assistant","content":"The test passes now."}"#),
    ("tool_config", r#"{"mode":"auto","tools":["Bash","Read"]}"#),
    ("to_model", r#""claude-haiku-4-5""#),
    ("from_model", r#""claude-opus-4-8""#),
    ("requested_model", r#""haiku""#),
    ("prompt_cache_warm", "true"),
    ("cache_ttl", r#""5m""#),
    ("task", r#""Find where the login test is defined""#),
    ("parent_session_id", r#""4f1f6d0e-3c58-4b8e-9d0a-5a0c4b1d7e21""#),
    ("display_name", r#""explore""#),
    ("description", r#""Looks around the code""#),
    ("agent_transcript_path", r#""/home/ann/.agent/sessions/4f1f6d0e-sub.jsonl""#),
    ("status", r#""completed""#),
    ("to_agent", r#""reviewer""#),
    ("from_agent", r#""root""#),
    ("agent_switch_kind", r#""handoff""#),
    ("teammate_name", r#""tester""#),
    ("team_name", r#""project""#),
    ("task_id", r#""t-3""#),
    ("task_subject", r#""Repair the login test""#),
    ("task_description", r#""The test fails since the last release""#),
    (
        "plugin",
        r#"{"id":"formatter@example","name":"formatter","version":"1.2.0","description":"Formats files","install_path":"/home/ann/.agent/plugins/formatter","source":"https://example.com/formatter.git"}"#,
    ),
];

/// Values of fields at one kind of event. They override [`FIELDS`].
const OWN: &[(EventKind, &str, &str)] = &[
    (EventKind::SessionEnd, "reason", r#""prompt_input_exit""#),
    (EventKind::SessionEnd, "error", r#""""#),
    (EventKind::SessionResume, "source", r#""resume""#),
    (EventKind::Setup, "trigger", r#""init""#),
    (EventKind::InstructionsLoaded, "file_path", r#""/home/ann/project/AGENTS.md""#),
    (EventKind::ConfigChange, "source", r#""project_settings""#),
    (EventKind::ConfigChange, "file_path", r#""/home/ann/project/.claude/settings.json""#),
    (EventKind::DirectoryAdded, "source", r#""slash_command""#),
    (EventKind::FileCreated, "change", r#""add""#),
    (EventKind::FileDeleted, "change", r#""unlink""#),
    (EventKind::UserTurnStart, "reason", r#""prompt""#),
    (EventKind::UserTurnEnd, "reason", r#""normal""#),
    (EventKind::TurnStart, "reason", r#""normal""#),
    (EventKind::TurnEnd, "reason", r#""normal""#),
    (EventKind::TurnCancelled, "reason", r#""user""#),
    (EventKind::SteeringSubmit, "prompt", r#""Leave the public API alone""#),
    (EventKind::FollowupSubmit, "prompt", r#""Now write the changelog entry""#),
    (EventKind::AgentThought, "text", r#""The test expects 42.""#),
    (EventKind::Stop, "reason", r#""end_turn""#),
    (EventKind::Error, "error", r#""the model's service did not answer""#),
    (EventKind::StopFailure, "error", r#""429 Too Many Requests""#),
    (EventKind::MaxIterations, "error", r#""50 model calls were made""#),
    (EventKind::MaxIterations, "error_type", r#""max_iterations""#),
    (EventKind::PreModelSwitch, "source", r#""command""#),
    (EventKind::PostModelSwitch, "source", r#""command""#),
    (EventKind::PermissionDenied, "reason", r#""the classifier refused it""#),
    (EventKind::Elicitation, "message", r#""Which project should the issue go to?""#),
    (EventKind::ElicitationResult, "action", r#""accept""#),
    (EventKind::ElicitationResult, "content", r#"{"project":"checkrein"}"#),
    (EventKind::PostCompact, "summary", r#""The user wants the login test repaired.""#),
    (EventKind::SubagentStart, "agent_id", r#""agent-2""#),
    (EventKind::SubagentStart, "agent_type", r#""explore""#),
    (EventKind::SubagentStop, "agent_id", r#""agent-2""#),
    (EventKind::SubagentStop, "agent_type", r#""explore""#),
    (EventKind::SubagentStop, "response", r#""It is in tests/login.rs""#),
    (EventKind::PreMcp, "tool_name", r#""mcp__issues__create""#),
    (EventKind::PreMcp, "tool_input", r#"{"title":"Login test fails"}"#),
    (EventKind::PostMcp, "tool_name", r#""mcp__issues__create""#),
    (EventKind::PostMcp, "tool_input", r#"{"title":"Login test fails"}"#),
    (EventKind::McpRequest, "tool_name", r#""mcp__issues__create""#),
    (EventKind::McpRequest, "tool_input", r#"{"title":"Login test fails"}"#),
    (EventKind::PreFileRead, "tool_name", r#""Read""#),
    (EventKind::PreFileRead, "tool_input", r#"{"file_path":"/home/ann/project/README.md"}"#),
    (EventKind::PostFileRead, "tool_name", r#""Read""#),
    (EventKind::PostFileRead, "tool_input", r#"{"file_path":"/home/ann/project/README.md"}"#),
    (EventKind::PreFileWrite, "tool_name", r#""Write""#),
    (
        EventKind::PreFileWrite,
        "tool_input",
        r#"{"file_path":"/home/ann/project/src/lib.rs","content":"pub mod login;\n"}"#,
    ),
    (EventKind::PostFileWrite, "tool_name", r#""Write""#),
    (
        EventKind::PostFileWrite,
        "tool_input",
        r#"{"file_path":"/home/ann/project/src/lib.rs","content":"pub mod login;\n"}"#,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_sample() {
        for kind in EventKind::ALL {
            let event = event(kind);
            assert_eq!(event.kind(), *kind);
            assert!(event.envelope.session_id.is_some());
            for field in kind.fields().iter().filter(|field| field.required) {
                let has = event.field(field.name).is_some() || field.name == "plugin";
                assert!(has, "{kind} lacks {}", field.name);
            }
            let again = Event::from_json(&event.to_json()).unwrap();
            assert_eq!(again, event);
        }
    }

    #[test]
    fn rows_name_existing_fields() {
        let fields = |kind: &EventKind| kind.fields().iter().chain(Envelope::fields()).map(|field| field.name);
        for (name, value) in FIELDS {
            assert!(EventKind::ALL.iter().any(|kind| fields(kind).any(|field| field == *name)), "{name}");
            assert!(RawJson::parse(*value).is_ok(), "{value}");
        }
        for (kind, name, value) in OWN {
            assert!(fields(kind).any(|field| field == *name), "{kind} {name}");
            assert!(RawJson::parse(*value).is_ok(), "{value}");
        }
    }

    #[test]
    fn tool_events_have_a_typical_input() {
        let event = tool_event(&EventKind::PreToolUse, "Write");
        assert_eq!(event.tool_name(), Some("Write"));
        assert!(event.tool_input().unwrap().field("file_path").is_some());
        assert_eq!(tool_event(&EventKind::PreToolUse, "Other").tool_input().unwrap().as_str(), "{}");
        assert_eq!(tool_event(&EventKind::Stop, "Write").kind(), EventKind::Stop);
    }
}
