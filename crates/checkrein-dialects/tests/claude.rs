//! Claude Code's dialect, and that of the sender with an older form of it.
#![allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]

use checkrein_core::payload::{
    Compaction, Notification, PermissionDenied, Prompt, SessionStart, Stop, ToolCall, ToolOutcome,
};
use checkrein_core::{
    Captured, Decision, DecisionRule, Envelope, Event, EventKind, Failure, FailureKind, HttpReply, Matcher, Opinion,
    ProcessExit, ProcessReply, RawJson, Reply, Scope, Target,
};
use checkrein_dialects::agents::claude::{DIALECT, SENDER};
use checkrein_dialects::config::Decoded;
use checkrein_dialects::{Dialect, HandlerSpec, HookSpec};
use checkrein_document::Format;

fn json(text: &str) -> RawJson {
    text.parse().unwrap()
}

fn gate() -> Event {
    Event::pre_tool_use(ToolCall::new("Bash", json(r#"{"command":"ls","n":9007199254740993}"#)))
}

fn request() -> Event {
    Event::permission_request(ToolCall::new("Bash", json("{}")))
}

fn post() -> Event {
    Event::post_tool_use(ToolOutcome::new("Bash", json("{}")))
}

fn process(code: i32, stdout: &str, stderr: &str) -> Reply {
    Reply::Process(ProcessReply::new(ProcessExit::Code(code)).stdout(stdout).stderr(stderr))
}

fn read(dialect: &Dialect, event: &Event, reply: Reply) -> Result<Opinion, Failure> {
    dialect.read(event, reply, false)
}

fn payload(dialect: &Dialect, event: &Event) -> RawJson {
    let bytes: Vec<u8> = dialect.payload(event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
    RawJson::parse_bytes(&bytes).unwrap()
}

const ALLOW: &str = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"ok"}}"#;

#[test]
fn exit_codes_and_replies_are_parsed() {
    use Decision::{Allow, Deny, Halt, NoOpinion};
    use FailureKind::{Exit, Parse, Schema};
    let prompt = Event::prompt_submit(Prompt::new("hi"));
    let stop = Event::stop(Stop::new());
    let start = Event::session_start(SessionStart::new());
    let block = r#"{"decision":"block","reason":"no"}"#;
    for (event, code, stdout, stderr, expected) in [
        (&gate(), 0, "", "", Ok((NoOpinion, ""))),
        (&gate(), 0, "hello", "", Ok((NoOpinion, ""))),
        (&gate(), 0, ALLOW, "", Ok((Allow, "ok"))),
        (&gate(), 0, block, "", Ok((Deny, "no"))),
        (&gate(), 0, r#"{"decision":"approve"}"#, "", Ok((Allow, ""))),
        (&gate(), 0, r#"{"continue":false,"stopReason":"enough"}"#, "", Ok((Halt, "enough"))),
        // Answers that every exit code allows.
        (&gate(), 1, block, "", Ok((Deny, "no"))),
        (&gate(), 127, ALLOW, "", Ok((Allow, "ok"))),
        (&gate(), 1, "", "Traceback\nmore", Err((Exit, "exit code 1: Traceback"))),
        (&gate(), 127, "text", "", Err((Exit, "exit code 127"))),
        // Exit 2 blocks even if the reply allows.
        (&gate(), 2, "", "not now\n", Ok((Deny, "not now"))),
        (&gate(), 2, ALLOW, "not now", Ok((Deny, "ok"))),
        (&gate(), 2, block, "not now", Ok((Deny, "no"))),
        (&gate(), 2, "{broken}", "why", Ok((Deny, "why"))),
        (&prompt, 2, "", "no", Ok((Deny, "no"))),
        (&stop, 2, "", "go on", Ok((Deny, "go on"))),
        (&post(), 2, "", "look", Ok((Deny, "look"))),
        // Not at events that cannot block, and not at a permission request.
        (&start, 2, "", "oops", Err((Exit, "exit code 2: oops"))),
        (&request(), 2, "", "no", Err((Exit, "exit code 2: no"))),
        (&request(), 0, block, "", Ok((NoOpinion, ""))),
        (
            &request(),
            0,
            r#"{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"m"}}}"#,
            "",
            Ok((Deny, "m")),
        ),
        (&gate(), 0, r#"{"decision":}"#, "", Err((Parse, "expected a value, found '}' at line 1 column 13"))),
        (
            &gate(),
            0,
            r#"{"decision":"denny"}"#,
            "",
            Err((Schema, "`decision`: unknown decision `denny`, use one of block, approve")),
        ),
        (
            &gate(),
            0,
            r#"{"hookSpecificOutput":{"hookEventName":"Stop"}}"#,
            "",
            Err((Schema, "the answer is for the event `Stop`, but this is `pre_tool_use`")),
        ),
    ] {
        let found = read(&DIALECT, event, process(code, stdout, stderr));
        let found = match &found {
            Ok(opinion) => Ok((opinion.decision(), opinion.reason().unwrap_or_default())),
            Err(failure) => Err((failure.kind, failure.message.as_str())),
        };
        assert_eq!(found, expected, "{:?} {code} {stdout} {stderr}", event.kind());
    }
}

#[test]
fn keys_of_answers_depend_on_the_event() {
    let context = r#"{"hookSpecificOutput":{"additionalContext":"c"}}"#;
    for (event, taken) in [
        (gate(), true),
        (post(), true),
        (request(), false),
        (Event::pre_compact(Compaction::new()), false),
        (Event::stop(Stop::new()), true),
    ] {
        let opinion = read(&DIALECT, &event, process(0, context, "")).unwrap();
        assert_eq!(opinion.contexts().len(), usize::from(taken), "{}", event.kind());
        assert_eq!(
            opinion.messages().len(),
            usize::from(!taken),
            "{}: the key without effect is reported",
            event.kind()
        );
    }
    let rewrite =
        read(&DIALECT, &gate(), process(0, r#"{"hookSpecificOutput":{"updatedInput":{"n":9007199254740993}}}"#, ""));
    assert_eq!(rewrite.unwrap().rewrites()[0].value.as_str(), r#"{"n":9007199254740993}"#);
    // The most common mistake: the key is outside the object.
    let misplaced = read(&DIALECT, &gate(), process(0, r#"{"permissionDecision":"deny"}"#, "")).unwrap();
    assert_eq!(misplaced.decision(), Decision::NoOpinion);
    assert_eq!(
        misplaced.messages(),
        ["its answer has an unknown key `permissionDecision`, it belongs at `hookSpecificOutput.permissionDecision`"]
    );
}

#[test]
fn text_is_context_at_four_events() {
    let is_context = |event: &Event| !read(&DIALECT, event, process(0, "be kind", "")).unwrap().contexts().is_empty();
    assert!(is_context(&Event::session_start(SessionStart::new())));
    assert!(is_context(&Event::prompt_submit(Prompt::new("hi"))));
    assert!(!is_context(&gate()));
    assert!(!is_context(&post()));
    assert!(!is_context(&Event::stop(Stop::new())));
}

#[test]
fn http_responses_are_parsed() {
    for (status, body, decision, failure) in [
        (200, "", Decision::NoOpinion, None),
        (200, ALLOW, Decision::Allow, None),
        (200, "OK", Decision::NoOpinion, Some(FailureKind::Parse)),
        (302, ALLOW, Decision::NoOpinion, Some(FailureKind::HttpStatus)),
        (403, ALLOW, Decision::NoOpinion, Some(FailureKind::HttpStatus)),
    ] {
        let read = read(&DIALECT, &gate(), Reply::Http(HttpReply::new(status, body)));
        assert_eq!(read.as_ref().map(Opinion::decision).unwrap_or_default(), decision, "{status} {body}");
        assert_eq!(read.err().map(|failure| failure.kind), failure, "{status} {body}");
    }
}

#[test]
fn verdicts_are_rendered() {
    use checkrein_core::{HookInfo, Settlement, Source};
    let hook = std::sync::Arc::new(HookInfo::new("h", Source::for_scope(Scope::Code)));
    let said = |event: &Event, opinion: Opinion| {
        let mut settlement = Settlement::new(&DIALECT.rules_at(&event.kind()), event);
        let _ = settlement.push(0, &hook, &opinion);
        let verdict = settlement.finish();
        DIALECT.render_verdict(event, &verdict)
    };
    for (event, opinion, stdout) in [
        (
            gate(),
            Opinion::deny("no"),
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#,
        ),
        (
            gate(),
            Opinion::ask("sure?"),
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"sure?"}}"#,
        ),
        (gate(), Opinion::halt("enough"), r#"{"continue":false,"stopReason":"enough"}"#),
        (
            gate(),
            Opinion::rewrite_input(json(r#"{"n":1}"#)),
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"n":1}}}"#,
        ),
        (
            request(),
            Opinion::deny("no"),
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no"}}}"#,
        ),
        (
            request(),
            Opinion::allow(),
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#,
        ),
        (Event::stop(Stop::new()), Opinion::deny("go on"), r#"{"decision":"block","reason":"go on"}"#),
        (Event::prompt_submit(Prompt::new("p")), Opinion::deny("no"), r#"{"decision":"block","reason":"no"}"#),
        (
            Event::session_start(SessionStart::new()),
            Opinion::context("c"),
            r#"{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}"#,
        ),
        (gate(), Opinion::none(), ""),
    ] {
        let answer = said(&event, opinion);
        assert_eq!((answer.stdout.as_str(), answer.exit), (stdout, 0), "{}", event.kind());
        assert!(answer.notes.is_empty() && answer.stderr.is_empty(), "{answer:?}");
    }
    // An unsupported decision never becomes a weaker one.
    let asked = said(&request(), Opinion::ask("sure?"));
    assert!(asked.stdout.is_empty(), "asking is what it does there anyway: {asked:?}");
    let prompt = said(&Event::prompt_submit(Prompt::new("p")), Opinion::rewrite_prompt("q"));
    assert_eq!(prompt.notes.len(), 1, "{prompt:?}");
    assert_eq!(
        prompt.stdout,
        r#"{"decision":"block","reason":"Blocked: hook `h` (code) changes the prompt. Claude Code does not let hooks edit prompts. Send this instead: q"}"#
    );
}

#[test]
fn matchers_match_as_in_the_agent() {
    let fits = |dialect: &Dialect, pattern: &str, subject: &str| {
        Matcher::compile(&dialect.matcher, Some(pattern)).is_ok_and(|matcher| matcher.matches(subject))
    };
    for (pattern, subject, claude, sender) in [
        ("", "Bash", true, true),
        ("*", "Bash", true, true),
        ("Bash", "Bash", true, true),
        ("Bash", "BashOutput", false, false),
        ("bash", "Bash", false, false),
        ("Edit|Write", "Write", true, true),
        ("Edit, Write", "Write", true, false),
        ("Edit| Write", "Write", true, false),
        ("mcp__.*", "mcp__db__query", true, true),
        ("mcp__srv", "mcp__srv__tool", false, false),
        ("Notebook.*", "xNotebookEdit", true, true),
        ("^Edit$", "Edit", true, true),
        ("^Edit$", "MultiEdit", false, false),
        ("(", "Bash", false, false),
        ("a-b", "a-b", true, true),
    ] {
        assert_eq!(fits(&DIALECT, pattern, subject), claude, "claude {pattern} {subject}");
        assert_eq!(fits(&SENDER, pattern, subject), sender, "sender {pattern} {subject}");
    }
}

// The sender.

#[test]
fn payloads_of_the_sender() {
    let envelope = || Envelope::new().session_id("s").cwd("/w").transcript_path("/t").permission_mode("default");
    let common = r#""cwd":"/w","session_id":"s","transcript_path":"/t""#;
    for (event, rest) in [
        (
            Event::prompt_submit(Prompt::new("hi").session_title("t")),
            r#""hook_event_name":"UserPromptSubmit","permission_mode":"default","prompt":"hi","session_title":"t""#,
        ),
        (
            Event::pre_tool_use(ToolCall::new("Bash", json(r#"{"a":1}"#)).tool_use_id("u")),
            r#""hook_event_name":"PreToolUse","permission_mode":"default","tool_input":{"a":1},"tool_name":"Bash","tool_use_id":"u""#,
        ),
        (
            Event::permission_request(ToolCall::new("Bash", json("null"))),
            r#""hook_event_name":"PermissionRequest","permission_mode":"default","tool_input":null,"tool_name":"Bash","tool_use_id":"""#,
        ),
        (
            Event::post_tool_use(ToolOutcome::new("Bash", json("{}")).duration_ms(5_u64)),
            r#""hook_event_name":"PostToolUse","permission_mode":"default","tool_input":{},"tool_name":"Bash","tool_use_id":"","duration_ms":5,"tool_response":null"#,
        ),
        (
            Event::stop(Stop::new().last_assistant_message("bye").stop_hook_active(true)),
            r#""hook_event_name":"Stop","permission_mode":"default","last_assistant_message":"bye","stop_hook_active":true"#,
        ),
        (
            Event::session_start(SessionStart::new().source("startup")),
            r#""hook_event_name":"SessionStart","source":"startup""#,
        ),
        (Event::pre_compact(Compaction::new().trigger("auto")), r#""hook_event_name":"PreCompact","trigger":"auto""#),
        (
            Event::notification(Notification::new().message("m")),
            r#""hook_event_name":"Notification","permission_mode":"default","message":"m""#,
        ),
        (
            Event::notification(Notification::new().message("m").title("t").notification_type("idle_prompt")),
            r#""hook_event_name":"Notification","matcher":"idle_prompt","permission_mode":"default","message":"m","title":"t""#,
        ),
    ] {
        let kind = event.kind();
        let found = payload(&SENDER, &event.within(envelope()));
        let expected = json(&format!("{{{common},{rest}}}"));
        assert!(found.semantically_eq(&expected), "{kind}:\n{found}\n{expected}");
        assert_eq!(SENDER.event(&found, None).unwrap().kind(), kind);
    }
}

#[test]
fn replies_of_the_sender_are_parsed() {
    use Decision::{Allow, Ask, Deny, NoOpinion};
    let decision = |word: &str| {
        format!(r#"{{"hookSpecificOutput":{{"permissionDecision":"{word}","permissionDecisionReason":"r"}}}}"#)
    };
    let behavior =
        |word: &str| format!(r#"{{"hookSpecificOutput":{{"decision":{{"behavior":"{word}","message":"m"}}}}}}"#);
    for (body, expected, reason) in [
        (String::new(), NoOpinion, None),
        ("  \n".to_owned(), NoOpinion, None),
        (decision("allow"), Allow, Some("r")),
        (decision("deny"), Deny, Some("r")),
        (decision("ask"), Ask, Some("r")),
        (
            r#"{"hookSpecificOutput":{"permissionDecision":"defer"},"decision":"block","reason":"old"}"#.to_owned(),
            Deny,
            Some("old"),
        ),
        (behavior("allow"), Allow, Some("m")),
        (behavior("deny"), Deny, Some("m")),
        (r#"{"decision":"block","reason":"r"}"#.to_owned(), Deny, Some("r")),
        (r#"{"decision":"approve"}"#.to_owned(), Allow, None),
        (r#"{"decision":"maybe"}"#.to_owned(), NoOpinion, None),
        (r#"{"permission":"allow"}"#.to_owned(), Allow, None),
        (r#"{"permission":"deny","user_message":"u","agent_message":"a"}"#.to_owned(), Deny, Some("a")),
        (r#"{"permission":"deny","user_message":"u"}"#.to_owned(), Deny, Some("u")),
        (r#"{"permission":"ask"}"#.to_owned(), Ask, None),
        (r#"{"permission":"maybe"}"#.to_owned(), NoOpinion, None),
    ] {
        let opinion = read(&SENDER, &gate(), process(0, &body, "")).unwrap();
        assert_eq!((opinion.decision(), opinion.reason()), (expected, reason), "{body}");
    }
}

#[test]
fn exit_codes_of_the_sender() {
    let deny = r#"{"decision":"block"}"#;
    assert_eq!(read(&SENDER, &gate(), process(2, "", "why\n")).unwrap().reason(), Some("why"));
    assert_eq!(read(&SENDER, &gate(), process(1, deny, "")).unwrap_err().kind, FailureKind::Exit);
    // Decisions at other events have no effect.
    assert!(read(&SENDER, &Event::stop(Stop::new()), process(0, deny, "")).unwrap().is_none());
    assert!(!SENDER.blocks(&EventKind::PromptSubmit) && SENDER.blocks(&EventKind::PreToolUse));
    // Output above its limit is a failure, never "no decision".
    let cut = Captured::new(br#"{"decision":"blo"#.to_vec(), 100_000);
    let reply = Reply::Process(ProcessReply::new(ProcessExit::Code(0)).stdout(cut));
    assert_eq!(read(&SENDER, &gate(), reply).unwrap_err().kind, FailureKind::OutputCap);
    assert_eq!(SENDER.timeout(&EventKind::PermissionRequest, "http").as_secs(), 120, "no client cuts it short");
    assert_eq!(SENDER.timeout(&EventKind::PreToolUse, "command").as_secs(), 10);
    assert_eq!(SENDER.rules_at(&EventKind::PermissionRequest).settle, DecisionRule::AnyDenyElseLastAllow);
}

// Files.

fn decode(text: &str) -> Decoded {
    DIALECT.decode("settings.json", Scope::User, text, Format::Json)
}

const SETTINGS: &str = r#"{
  "model": "opus", "permissions": {"allow": ["Bash(ls)"]},
  "disableAllHooks": false, "allowedHttpHookUrls": ["https://*.example.com/*"],
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [
        {"type": "command", "command": "./guard.sh", "timeout": 5, "if": "Bash(git *)", "statusMessage": "checking", "onFailure": "block"},
        {"type": "command", "command": "node", "args": ["${CLAUDE_PROJECT_DIR}/x.js", "a b"]},
        {"type": "http", "url": "https://a.example.com/x", "headers": {"authorization": "Bearer $T"}, "allowedEnvVars": ["T"]},
        {"type": "prompt", "prompt": "is $ARGUMENTS fine?", "model": "haiku", "continueOnBlock": true}
      ]}
    ],
    "Stop": [{"hooks": [{"type": "command", "command": "x", "async": true}]}],
    "Notification": [{"matcher": "idle_prompt", "hooks": [{"type": "command", "command": "y", "asyncRewake": true}]}]
  }
}"#;

#[test]
fn settings_are_decoded_and_encoded() {
    let decoded = decode(SETTINGS);
    assert_eq!(decoded.diagnostics, []);
    assert_eq!(decoded.settings.disable_all, Some(false));
    assert_eq!(decoded.settings.http_urls.as_deref(), Some(&["https://*.example.com/*".to_owned()][..]));
    let kinds: Vec<_> = decoded.hooks.iter().map(|hook| hook.handler.kind().name()).collect();
    assert_eq!(kinds, ["command", "command", "http", "prompt", "command", "command"]);
    let HandlerSpec::Other { settings, .. } = &decoded.hooks[3].handler else { unreachable!() };
    assert_eq!(settings.as_str(), r#"{"prompt":"is $ARGUMENTS fine?","model":"haiku","continueOnBlock":true}"#);
    assert_eq!(decoded.hooks[3].timeout_for(&EventKind::PreToolUse).as_secs(), 30);

    let encoded = DIALECT.encode(&decoded.hooks.iter().collect::<Vec<_>>()).unwrap();
    assert_eq!(encoded.lost, []);
    let again = decode(&encoded.text);
    assert_eq!(again.diagnostics, [], "{}", encoded.text);
    let definitions = |decoded: &Decoded| decoded.hooks.iter().map(HookSpec::definition).collect::<Vec<_>>();
    assert_eq!(definitions(&decoded), definitions(&again));
}

#[test]
fn diagnostics_have_locations() {
    for (hooks, expected) in [
        (r#"{"PreToolUse": {}}"#, &["closed-gate", "wrong-type"][..]),
        (r#"{"PreToolUse": [{"matcher": ["Bash"], "hooks": []}]}"#, &["closed-gate", "wrong-type"]),
        (r#"{"PreToolUse": [{"matcher": "(", "hooks": []}]}"#, &["bad-matcher", "closed-gate"]),
        (r#"{"PreToolUse": [{"hooks": [{"type": "command"}]}]}"#, &["closed-gate", "missing-key"]),
        (r#"{"PreToolUse": [{"hooks": [{"type": "commnd", "command": "x"}]}]}"#, &["closed-gate", "unknown-handler"]),
        (r#"{"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "timout": 5}]}]}"#, &["unknown-key"]),
        (r#"{"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "async": true}]}]}"#, &["background-gate"]),
        (
            r#"{"PreToolUse": [{"hooks": [{"type": "command", "command": "x", "onFailure": "deny"}]}]}"#,
            &["closed-gate", "unknown-value"],
        ),
        (r#"{"SessionStart": [{"hooks": [{"type": "prompt", "prompt": "x"}]}]}"#, &["handler-not-here"]),
        (r#"{"Stop": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "x"}]}]}"#, &["matcher-ignored"]),
        (r#"{"PreTooluse": []}"#, &["closed-gate", "unknown-event"]),
    ] {
        let decoded = decode(&format!("{{\"hooks\": {hooks}}}"));
        let mut codes: Vec<_> = decoded.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        codes.sort_unstable();
        assert_eq!(codes, expected, "{hooks}");
        assert!(decoded.diagnostics.iter().all(|diagnostic| diagnostic.at.is_some()), "{hooks}");
    }
}

#[test]
fn every_event_round_trips() {
    let denied = Event::permission_denied(PermissionDenied::new("Bash", json("{}")).reason("r"));
    for event in [gate(), post(), request(), denied, Event::stop(Stop::new()), Event::prompt_submit(Prompt::new("p"))] {
        let sent = payload(&DIALECT, &event);
        let again = DIALECT.event(&sent, None).unwrap();
        assert_eq!(again.kind(), event.kind());
        for target in Target::ALL {
            assert_eq!(again.original(target), event.original(target));
        }
    }
}

#[test]
fn path_of_a_new_work_tree_is_the_last_line() {
    let event = Event::worktree_create(checkrein_core::payload::Worktree::new().name("fix"));
    let opinion = read(&DIALECT, &event, process(0, "making it\n/srv/trees/fix\n\n", "")).unwrap();
    assert_eq!(opinion.rewrites()[0].value.as_text().as_deref(), Some("/srv/trees/fix"));
}

/// Fields and keys of 2.1.326.
#[test]
fn newest_fields_and_keys_are_known() {
    let payload = r#"{"hook_event_name":"PostToolUse","session_id":"s","transcript_path":"/t","cwd":"/","prompt_id":"p","tool_name":"mcp__a__b","tool_input":{},"tool_response":null,"tool_use_id":"t","mcp_server":{"name":"a","source":"project"}}"#;
    let sent = RawJson::parse(payload).unwrap();
    let event = DIALECT.event(&sent, None).unwrap();
    let bytes: Vec<u8> = DIALECT.payload(&event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
    assert!(RawJson::parse_bytes(&bytes).unwrap().semantically_eq(&sent));
    for name in ["prompt_id", "mcp_server"] {
        for kind in [EventKind::PreToolUse, EventKind::PostToolUse, EventKind::PostToolFailure] {
            assert!(DIALECT.fields_at(&kind).any(|field| field.name == name), "{name} at {kind}");
        }
    }
    let file = r#"{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "onFailure": "continue", "asyncRewake": true, "rewakeMessage": "m", "rewakeSummary": "s"}]}], "PreToolUse": [{"hooks": [{"type": "http", "url": "http://localhost/", "onFailure": "block"}]}]}}"#;
    let decoded = DIALECT.decode("settings.json", Scope::User, file, Format::Json);
    let is_warning = |found: &checkrein_dialects::config::Diagnostic| {
        found.severity == checkrein_dialects::config::Severity::Warning
    };
    assert!(decoded.diagnostics.iter().all(is_warning), "{:?}", decoded.diagnostics);
    assert_eq!(decoded.hooks.len(), 2);
    let written = DIALECT.encode(&decoded.hooks.iter().collect::<Vec<_>>()).unwrap().text;
    for key in ["rewakeMessage", "rewakeSummary", "onFailure"] {
        assert!(written.contains(key), "{key}: {written}");
    }
}
