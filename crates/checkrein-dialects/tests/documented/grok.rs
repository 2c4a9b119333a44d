use checkrein_core::{Decision, EventKind, Opinion};
use checkrein_dialects::agents::grok::DIALECT;
use checkrein_dialects::agents::{claude, cursor, gemini};

use super::HookEffect::{Fails, To};
use super::*;

/// Fields of every payload, in the spelling of Grok and in that of Claude Code.
const COMMON: &str = r#""sessionId":"s","session_id":"s","cwd":"/a","workspaceRoot":"/a","timestamp":"2026-11-18T12:00:00Z","promptId":"p","permissionMode":"default","permission_mode":"default""#;
const CALL: &str = r#""toolName":"run_terminal_command","tool_name":"run_terminal_command","toolUseId":"t","tool_use_id":"t","toolInput":{"command":"ls"},"tool_input":{"command":"ls"},"toolInputTruncated":false"#;

#[test]
fn payloads_round_trip() {
    let done = r#""toolResult":{"type":"Bash"},"tool_response":{"type":"Bash"},"toolResultTruncated":false,"durationMs":3,"duration_ms":3,"isBackgrounded":false"#;
    let cancelled = r#""reason":"user_interrupt","cancelledBy":"user","cancelTrigger":"esc""#;
    for (sent, name, kind, own) in [
        (
            "session_start",
            "SessionStart",
            EventKind::SessionStart,
            r#""source":"startup","modelId":"m","agentType":"a""#,
        ),
        ("user_prompt_submit", "UserPromptSubmit", EventKind::PromptSubmit, r#""prompt":"go""#),
        ("pre_tool_use", "PreToolUse", EventKind::PreToolUse, CALL),
        ("post_tool_use", "PostToolUse", EventKind::PostToolUse, &format!("{CALL},{done}")),
        (
            "post_tool_use_failure",
            "PostToolUseFailure",
            EventKind::PostToolFailure,
            &format!(r#"{CALL},"error":"e","isInterrupt":true,"is_interrupt":true"#),
        ),
        ("permission_denied", "PermissionDenied", EventKind::PermissionDenied, CALL),
        (
            "stop",
            "Stop",
            EventKind::Stop,
            r#""reason":"end_turn","stopHookActive":true,"lastAssistantMessage":"m","backgroundTasks":[],"sessionCrons":[]"#,
        ),
        ("stop_failure", "StopFailure", EventKind::StopFailure, r#""error":"rate_limit","errorDetails":"d""#),
        ("stop_cancelled", "StopCancelled", EventKind::TurnCancelled, cancelled),
        (
            "notification",
            "Notification",
            EventKind::Notification,
            r#""notificationType":"idle_prompt","message":"m","title":"t","level":"info""#,
        ),
        ("subagent_start", "SubagentStart", EventKind::SubagentStart, r#""subagentId":"i","subagentType":"explore""#),
        (
            "subagent_stop",
            "SubagentStop",
            EventKind::SubagentStop,
            r#""subagentId":"i","subagentType":"explore","phase":"gate","stopHookActive":false"#,
        ),
        ("pre_compact", "PreCompact", EventKind::PreCompact, r#""source":"auto""#),
        ("post_compact", "PostCompact", EventKind::PostCompact, r#""source":"manual""#),
        ("session_end", "SessionEnd", EventKind::SessionEnd, r#""reason":"other","turnCount":1,"toolCallCount":2"#),
    ] {
        let payload = format!(r#"{{"hookEventName":"{sent}","hook_event_name":"{name}",{COMMON},{own}}}"#);
        let event = assert_payload_round_trip(&DIALECT, &kind, &payload);
        assert_eq!(event.envelope.session_id.as_deref(), Some("s"));
        assert!(!event.envelope.extra.contains_key("hook_event_name"), "{payload}");
    }
}

/// Code of August 2026 sends no field in the spelling of Claude Code.
#[test]
fn older_payloads_are_read() {
    let payload = r#"{"hookEventName":"pre_tool_use","sessionId":"s","cwd":"/a","workspaceRoot":"/a","toolName":"run_terminal_cmd","toolUseId":"t","toolInput":{"command":"ls"},"toolInputTruncated":false,"timestamp":"x"}"#;
    let event = DIALECT.event(&json(payload), None).unwrap();
    assert_eq!((event.tool_name(), event.tool_aliases().next()), (Some("run_terminal_cmd"), Some("Bash")));
    assert!(!DIALECT.has_cut_input(&json(payload)));
    assert!(DIALECT.has_cut_input(&json(&payload.replace("false", "true"))));
}

/// Older versions read only `decision`, newer ones prefer `permissionDecision`, and all of them read the exit code.
#[test]
fn denial_has_every_spelling() {
    let denied = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"},"decision":"deny","reason":"no"}!no [2]"#;
    assert_rendered(
        &DIALECT,
        &[
            (&gate(), Opinion::none(), "", 0),
            (&gate(), Opinion::allow(), r#"{"decision":"allow"}"#, 0),
            (&gate(), Opinion::deny("no"), denied, 0),
            (&prompt(), Opinion::deny("no"), r#"{"decision":"block","reason":"no"}!no [2]"#, 0),
            (&done(), Opinion::deny("no"), r#"{"decision":"block","reason":"no"}"#, 0),
            (&stop(), Opinion::deny("go on"), r#"{"decision":"block","reason":"go on"}"#, 0),
            (&stop(), Opinion::halt("enough"), r#"{"continue":false,"stopReason":"enough"}"#, 0),
            (
                &gate(),
                Opinion::rewrite_input(json(r#"{"command":"x"}"#)),
                r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"x"}}}"#,
                0,
            ),
        ],
    );
    // Older versions treat an ask as an allow, so it becomes a denial.
    for opinion in [Opinion::ask("?"), Opinion::halt("?")] {
        let answer = render(&DIALECT, &gate(), &opinion);
        assert_eq!((answer.decision, answer.exit), (Decision::Deny, 2), "{answer:?}");
        for spelling in [r#""decision":"deny""#, r#""permissionDecision":"deny""#] {
            assert!(answer.stdout.contains(spelling), "{answer:?}");
        }
    }
    assert!(!DIALECT.can_ask(&EventKind::PreToolUse));
}

#[test]
fn replies_are_read() {
    let open = Fails(FailureKind::Exit, FailurePolicy::Open);
    for (event, code, stdout, expected) in [
        (&gate(), 0, "", To(Decision::NoOpinion)),
        (&gate(), 2, "", To(Decision::Deny)),
        (&gate(), 1, "", open),
        (&gate(), 7, r#"{"decision":"deny","reason":"r"}"#, To(Decision::Deny)),
        (&gate(), 2, r#"{"decision":"allow"}"#, To(Decision::Deny)),
        (&gate(), 0, r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#, To(Decision::Deny)),
        (&gate(), 0, r#"{"decision":"ask","reason":"r"}"#, To(Decision::Ask)),
        (&gate(), 0, r#"{"decision":"defer"}"#, To(Decision::NoOpinion)),
        (&gate(), 0, r#"{"decision":"perhaps"}"#, Fails(FailureKind::Schema, FailurePolicy::Open)),
        (&stop(), 2, "", To(Decision::Deny)),
        (&start(), 2, "", open),
    ] {
        assert_eq!(effect(&DIALECT, event, code, stdout, "why"), expected, "{code} {stdout} at {}", event.kind());
    }
}

/// Names of Claude Code are the names that Grok compares matchers with, too.
#[test]
fn hook_files_are_read_and_written() {
    let text = r#"{"hooks": {
  "PreToolUse": [{"matcher": "^(Bash|run_terminal_command)$", "hooks": [{"type": "command", "command": "bin/guard.sh", "timeout": 5, "env": {"A": "b"}}]}],
  "beforeShellExecution": [{"hooks": [{"type": "command", "command": "x"}]}],
  "stop": [{"hooks": [{"type": "http", "url": "http://localhost/x"}]}],
  "post_tool_use": [{"hooks": [{"type": "command", "command": "y"}]}]
}}"#;
    let decoded = decode(&DIALECT, text);
    assert_eq!(problems(&decoded), [], "{:?}", decoded.diagnostics);
    let kinds: Vec<_> = decoded.hooks.iter().map(|hook| hook.kinds[0].clone()).collect();
    assert_eq!(kinds, [EventKind::PreToolUse, EventKind::PreToolUse, EventKind::Stop, EventKind::PostToolUse]);
    assert_round_trip(&DIALECT, text);
    assert_problems(&DIALECT, [("{\"hooks\":{\n\"PreToolUze\":[]}}", &[("unknown-event", 2), ("closed-gate", 2)])]);
    let config =
        "[[hooks.PreToolUse]]\nmatcher = \"Bash\"\nhooks = [{ type = \"command\", command = \"x\", timeout = 10 }]\n";
    let decoded = DIALECT.decode("config.toml", Scope::User, config, Format::Toml);
    assert_eq!(decoded.hooks.len(), 1, "{:?}", decoded.diagnostics);
}

/// Grok calls entries in files of Claude Code and Cursor with its own payload.
#[test]
fn borrower_is_recognized_by_variable_and_payload() {
    let own = json(r#"{"hookEventName":"pre_tool_use","hook_event_name":"PreToolUse","toolName":"x","toolInput":{}}"#);
    let claudes = json(r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#);
    let grok = |name: &str| name == "GROK_SESSION_ID";
    let name = |dialect: Option<&Dialect>| dialect.map(|dialect| dialect.name);
    for agent in [&claude::DIALECT, &cursor::DIALECT] {
        assert_eq!(name(agent.borrower(Some(&own), grok)), Some("grok"));
        assert_eq!(name(agent.borrower(Some(&own), |_| false)), None, "another agent with such a payload");
        // Claude Code that Grok started inherits the variable.
        assert_eq!(name(agent.borrower(Some(&claudes), grok)), None);
        assert_eq!(name(agent.borrower(None, grok)), Some("grok"), "an invalid payload");
    }
    assert_eq!(name(gemini::DIALECT.borrower(Some(&own), grok)), None);
    assert_eq!(name(DIALECT.borrower(Some(&own), grok)), None);
}
