//! Answers that are not quite JSON: a restriction in them is never lost, and nothing else becomes one.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use checkrein_core::payload::{Prompt, SessionStart, Stop, ToolCall, ToolOutcome};
use checkrein_core::{Decision, Event, FailurePolicy, HttpReply, ProcessExit, ProcessReply, RawJson, Reply};
use checkrein_dialects::{ALL, Dialect};

fn events() -> Vec<Event> {
    let input = || RawJson::parse(r#"{"command":"ls"}"#).unwrap();
    vec![
        Event::pre_tool_use(ToolCall::new("Bash", input())),
        Event::permission_request(ToolCall::new("Bash", input())),
        Event::post_tool_use(ToolOutcome::new("Bash", input())),
        Event::prompt_submit(Prompt::new("hi")),
        Event::session_start(SessionStart::new()),
        Event::stop(Stop::new()),
    ]
}

/// Answers that restrict in at least one dialect.
const RESTRICTIONS: &[&str] = &[
    r#"{"decision":"block","reason":"no rm here"}"#,
    r#"{"decision":"deny","reason":"no rm here"}"#,
    r#"{"decision":"ask","reason":"no rm here"}"#,
    r#"{"reason":"no rm here","continue":false,"stopReason":"no rm here"}"#,
    r#"{"permission":"deny","user_message":"no rm here"}"#,
    r#"{"permission":"ask","user_message":"no rm here"}"#,
    r#"{"permissionDecision":"deny","permissionDecisionReason":"no rm here"}"#,
    r#"{"behavior":"deny","message":"no rm here"}"#,
    r#"{"behavior":"allow","interrupt":true,"message":"no rm here"}"#,
    r#"{"cancel":true,"errorMessage":"no rm here"}"#,
    r#"{"review":true,"errorMessage":"no rm here"}"#,
    r#"{"halt":true,"reason":"no rm here"}"#,
    r#"{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"no rm here"}}"#,
    r#"{"hookSpecificOutput":{"permissionDecision":"ask","permissionDecisionReason":"no rm here"}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no rm here"}}"#,
    r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"no rm here"}}}"#,
    r#"{"hookSpecificOutput":{"decision":"block","reason":"no rm here"}}"#,
    r#"{"hook_specific_output":{"permission_decision":"deny","permission_decision_reason":"no rm here"}}"#,
    r#"{"systemMessage":"no rm here","decision":"block","reason":"no rm here"}"#,
];

/// Words that restrict, and words of the same key that do not.
const OPPOSITES: &[(&str, &str)] = &[
    (r#""deny""#, r#""allow""#),
    (r#""ask""#, r#""allow""#),
    (r#""block""#, r#""approve""#),
    (":false", ":true"),
    (":true", ":false"),
];

fn weakened(answer: &str) -> String {
    let (strong, weak) = OPPOSITES.iter().find(|(strong, _)| answer.contains(strong)).unwrap();
    answer.replace(strong, weak)
}

/// Repeats the key of the decision beside it: the first value is that of `before`.
fn repeated(answer: &str, weak_first: bool) -> String {
    let (strong, weak) = OPPOSITES.iter().find(|(strong, _)| answer.contains(strong)).unwrap();
    let end = answer.find(strong).unwrap();
    let key = answer[..end].rfind(",\"").or_else(|| answer[..end].rfind("{\"")).unwrap() + 1;
    let member = &answer[key..end + strong.len()];
    let other = member.replace(strong, weak);
    let (first, second) = if weak_first { (other.as_str(), member) } else { (member, other.as_str()) };
    format!("{}{first},{second}{}", &answer[..key], &answer[end + strong.len()..])
}

fn inner(object: &str) -> &str {
    &object[1..object.len() - 1]
}

fn uppercase_keys(answer: &str) -> String {
    let mut result = answer.to_owned();
    let keys = [
        "hookSpecificOutput",
        "hook_specific_output",
        "permissionDecision",
        "permission_decision",
        "decision",
        "continue",
        "permission",
        "behavior",
        "cancel",
        "review",
        "halt",
        "interrupt",
    ];
    for key in keys {
        result = result.replace(&format!("\"{key}\":"), &format!("\"{}\":", key.to_uppercase()));
    }
    result
}

/// Damages an answer in all ways that must not lose a restriction.
fn damaged(answer: &str) -> Vec<(String, Vec<u8>)> {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let objects = |depth: usize| format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
    let replaced = |bytes: &[u8]| {
        let at = answer.find("here").unwrap();
        [&answer.as_bytes()[..at], bytes, &answer.as_bytes()[at + 4..]].concat()
    };
    let without_end = |count: usize| answer[..answer.len() - count].to_owned();
    let texts = [
        ("key twice, weak first", repeated(answer, true)),
        ("key twice, weak last", repeated(answer, false)),
        ("object twice, weak first", format!("{{{},{}}}", inner(&weakened(answer)), inner(answer))),
        ("object twice, weak last", format!("{{{},{}}}", inner(answer), inner(&weakened(answer)))),
        ("three times", format!("{{{},{},{}}}", inner(&weakened(answer)), inner(answer), inner(&weakened(answer)))),
        ("200 deep, behind", format!("{},\"x\":{}}}", without_end(1), nested(200))),
        ("900 deep, behind", format!("{},\"x\":{}}}", without_end(1), nested(900))),
        ("900 deep, before", format!("{{\"x\":{},{}}}", objects(900), inner(answer))),
        ("1000 deep, before", format!("{{\"x\":{},{}}}", nested(1000), inner(answer))),
        ("5,000 deep, before", format!("{{\"x\":{},{}}}", nested(5000), inner(answer))),
        ("byte order mark", format!("\u{feff}{answer}")),
        ("no-break space", format!("\u{a0}{answer}\u{a0}")),
        ("line separator", format!("\u{2028}{answer}")),
        ("wide space", format!("\u{3000}\n{answer}")),
        ("vertical tab", format!("\u{b}{answer}")),
        ("mark and space", format!(" \u{feff} {answer}")),
        ("keys in another case", uppercase_keys(answer)),
        ("JSON string", serde_json::to_string(answer).unwrap()),
        ("JSON string with spaces", format!(" {} \n", serde_json::to_string(&format!("\n {answer}\n")).unwrap())),
        ("trailing word", format!("{answer} done")),
        ("trailing line", format!("{answer}\nhook finished in 3 ms")),
        ("trailing brace", format!("{answer}}}")),
        ("trailing object", format!("{answer}\n{{\"a\":1}}")),
        ("trailing allow", format!("{answer}\n{}", weakened(answer))),
        ("leading allow", format!("{}\n{answer}", weakened(answer))),
        ("leading log object", format!("{{\"level\":\"info\"}}\n{answer}")),
        ("without the end", without_end(1)),
        ("cut in the reason", answer[..answer.rfind("here").unwrap()].to_owned()),
        ("trailing comma", format!("{},}}", without_end(1))),
        ("single quotes", answer.replace('"', "'")),
        ("keys without quotes", answer.replace("\":", ":").replace("{\"", "{").replace(",\"", ",")),
        ("line comment", format!("{{ // no\n{}}}", inner(answer))),
        ("block comment", format!("{{ /* it's \"no */ {}}}", inner(answer))),
        ("NaN", format!("{},\"x\":NaN}}", without_end(1))),
        ("NaN before", format!("{{\"x\":NaN,{}}}", inner(answer))),
        ("undefined", format!("{{\"x\":undefined,{}}}", inner(answer))),
        ("missing value", format!("{{\"x\":,{}}}", inner(answer))),
        ("missing comma", format!("{{\"x\":1 {}}}", inner(answer))),
        ("line break in a string", answer.replace("no rm", "no\nrm")),
        ("tab in a string", answer.replace("no rm", "no\trm")),
        ("quotes in a string", answer.replace("no rm", "no \"rm\" and")),
        ("one quote in a string", answer.replace("no rm", "no 5\" rm")),
        ("bad escape", answer.replace("no rm", r"no \x rm")),
        ("Windows path", answer.replace("no rm", r"no C:\users rm")),
        ("bracket too many", answer.replace("\"no rm", "],\"no rm")),
        ("Python", answer.replace('"', "'").replace(":false", ": False").replace(":true", ": True")),
    ];
    let mut all: Vec<_> = texts.into_iter().map(|(name, text)| (name.to_owned(), text.into_bytes())).collect();
    all.push(("half a character at the end".to_owned(), replaced(b"her\xe2\x80")));
    all.push(("half a character in the middle".to_owned(), replaced(b"\xc3 here")));
    all.push(("Latin-1".to_owned(), replaced(b"h\xe9r\xe9")));
    all.push(("half a character behind".to_owned(), [answer.as_bytes(), b"\xe2\x80"].concat()));
    all.push((
        "colours".to_owned(),
        format!("\u{1b}[1;39m{}\u{1b}[0m", answer.replace(':', "\u{1b}[34m:")).into_bytes(),
    ));
    all.push(("zero-width space".to_owned(), format!("\u{200b}{answer}").into_bytes()));
    all.push(("NUL behind".to_owned(), format!("{answer}\0").into_bytes()));
    let utf16 = format!("\u{feff}{answer}");
    all.push(("UTF-16".to_owned(), utf16.encode_utf16().flat_map(u16::to_le_bytes).collect()));
    all.push(("UTF-16, big end first".to_owned(), utf16.encode_utf16().flat_map(u16::to_be_bytes).collect()));
    all.push(("bytes before".to_owned(), [b"\xff".as_slice(), answer.as_bytes()].concat()));
    all
}

/// Ways in which a reply reaches checkrein.
fn channels(bytes: &[u8]) -> Vec<(&'static str, Reply)> {
    let process = |code| Reply::Process(ProcessReply::new(ProcessExit::Code(code)).stdout(bytes.to_vec()));
    vec![
        ("exit 0", process(0)),
        ("exit 1", process(1)),
        ("exit 2", process(2)),
        ("HTTP", Reply::Http(HttpReply::new(200, bytes.to_vec()))),
    ]
}

fn decision(dialect: &Dialect, event: &Event, reply: Reply) -> Decision {
    dialect.read(event, reply, false).map_or(Decision::NoOpinion, |opinion| opinion.decision())
}

#[test]
fn damage_never_loses_a_restriction() {
    let mut controls = 0;
    let mut lost = Vec::new();
    for dialect in ALL {
        for event in events() {
            for answer in RESTRICTIONS {
                for (index, (channel, control)) in channels(answer.as_bytes()).into_iter().enumerate() {
                    let expected = decision(dialect, &event, control);
                    if expected < Decision::Ask {
                        continue;
                    }
                    controls += 1;
                    for (defect, bytes) in damaged(answer) {
                        let (_, reply) = channels(&bytes).swap_remove(index);
                        // The agent's own rule for a weaker decision of the same answer must not hide the stronger one.
                        if decision(dialect, &event, reply) < expected {
                            lost.push(format!("{} {} {channel}: {defect}: {answer}", dialect.name, event.kind()));
                        }
                    }
                }
            }
        }
    }
    assert!(controls > 300, "only {controls} answers restrict");
    assert!(lost.is_empty(), "{} of {controls} answers lost:\n{}", lost.len(), lost.join("\n"));
}

/// Answers with effects that only the agent's own rules may grant.
const GRANTS: &[&str] = &[
    r#"{"decision":"allow","reason":"fine"}"#,
    r#"{"decision":"approve","reason":"fine"}"#,
    r#"{"permission":"allow"}"#,
    r#"{"permissionDecision":"allow","modifiedArgs":{"command":"pwd"}}"#,
    r#"{"behavior":"allow"}"#,
    r#"{"decision":"allow","updated_input":{"command":"pwd"}}"#,
    r#"{"overrideInput":{"command":"pwd"}}"#,
    r#"{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"pwd"}}}"#,
    r#"{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedInput":{"command":"pwd"}}}}"#,
    r#"{"hookSpecificOutput":{"additionalContext":"be brief"}}"#,
    r#"{"hook_specific_output":{"permission_decision":"allow","updated_input":{"command":"pwd"}}}"#,
];

/// No agent accepts these.
#[test]
fn malformed_answers_grant_nothing() {
    for dialect in ALL {
        for event in events() {
            for answer in GRANTS {
                let end = &answer[..answer.len() - 1];
                for malformed in [
                    end.to_owned(),
                    format!("{end},}}"),
                    format!("{end},\"x\":NaN}}"),
                    format!("{end},\"x\":{}1{}}}", "[".repeat(900), "]".repeat(900)),
                    format!("{answer} done"),
                    format!("{{ // yes\n{}}}", inner(answer)),
                    answer.replace('"', "'"),
                    format!("\u{200b}{answer}"),
                    format!("\u{1b}[0m{answer}"),
                ] {
                    for (channel, reply) in channels(malformed.as_bytes()) {
                        // The exit code alone may decide.
                        let silent = channels(b"").into_iter().find(|(name, _)| *name == channel).unwrap().1;
                        let Ok(opinion) = dialect.read(&event, reply, false) else { continue };
                        let expected = decision(dialect, &event, silent);
                        let case =
                            format!("{} {} {channel}: {malformed:.120}: {opinion:?}", dialect.name, event.kind());
                        assert!(opinion.decision() == expected || opinion.decision() >= Decision::Ask, "{case}");
                        let is_text = |value: &RawJson| value.as_text().is_some();
                        assert!(opinion.rewrites().iter().all(|rewrite| is_text(&rewrite.value)), "{case}");
                        assert!(opinion.contexts().iter().all(|context| context != "be brief"), "{case}");
                    }
                }
            }
        }
    }
}

/// Replies that are text, logs, or answers without a restriction.
const ORDINARY: &[&str] = &[
    "",
    "ok",
    "deny",
    "block",
    "The policy would deny this in production.",
    "decision: block",
    "permissionDecision=deny",
    "continue: false",
    "2026-11-18T05:55:21Z INFO decision=deny tool=Bash",
    "level=warn msg=\"denied earlier\" decision=block",
    "[info] checked 3 rules, 0 denied",
    "WARN blocked 0 of 12 commands",
    "Please ask the user before you deny anything.",
    "curl: (7) connection refused: deny",
    "Rules: 1. never block main. 2. deny rm.",
    "{deny}",
    "{{ decision }}",
    "{tool} was not denied, decision was to allow",
    "{ \"note\": \"the word deny\" }",
    "{ \"note\": \"the word block\", }",
    "{}",
    "{ }",
    "[]",
    "null",
    "true",
    "42",
    "\"deny\"",
    "\"block\"",
    "[\"deny\"]",
    "[{\"decision\":\"block\"}]",
    r#"{"systemMessage":"use {\"decision\": \"block\"} to deny"}"#,
    r#"{"hookSpecificOutput":{"additionalContext":"print {\"decision\": \"block\", \"reason\": \"no\"}"}}"#,
    r#"{"hookSpecificOutput":{"additionalContext":"{\n\"permissionDecision\": \"deny\"\n}"}}"#,
    r#"{"hookSpecificOutput":{"additionalContext":"\"continue\": false"}}"#,
    r#"{"context":"if (x) { return {\"decision\":\"block\"} }"}"#,
    r#"{"additional_context":"echo '{\"permission\":\"deny\"}'"}"#,
    r#"{"additionalContext":"{\"permissionDecision\":\"deny\"}"}"#,
    r#"{"suppressOutput":false}"#,
    r#"{"continue":true}"#,
    r#"{"continue":true,"systemMessage":"continue false was yesterday"}"#,
    r#"{"history":[{"decision":"block"},{"permissionDecision":"deny"}]}"#,
    r#"{"data":{"decision":"block","continue":false,"cancel":true}}"#,
    r#"{"hookSpecificOutput":{"updatedInput":{"decision":"block","permissionDecision":"deny"}}}"#,
    r#"{"updated_input":{"decision":"block"}}"#,
    r#"{"systemMessage":"say \"decision\":\"block\" to deny", "#,
    r#"{"reason":"deny","stopReason":"block"}"#,
    r#"{"cancel":false,"errorMessage":"deny"}"#,
    r#"{"decision":null,"permission":null,"permissionDecision":null}"#,
    "Example of an answer: {\"decision\":\"block\"}",
    "# Hooks\n\nA hook prints `{\"decision\":\"block\"}` to deny.\n",
    "running: jq '.decision = \"block\"'",
    "diff --git a/x b/x\n-deny\n+allow\n",
];

#[test]
fn ordinary_replies_are_no_restrictions() {
    assert!(ORDINARY.len() >= 40);
    let mut wrong = Vec::new();
    for dialect in ALL {
        for event in events() {
            for text in ORDINARY {
                for (channel, reply) in channels(text.as_bytes()) {
                    if (channel == "exit 0" || channel == "HTTP") && decision(dialect, &event, reply) >= Decision::Ask {
                        wrong.push(format!("{} {} {channel}: {text}", dialect.name, event.kind()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

/// Deviations that an agent accepts do not weaken its answers. Other agents' answers grant nothing with them.
#[test]
fn accepted_deviations_are_read_in_full() {
    use checkrein_dialects::agents::{claude, claw, codex, crush, docker_agent, evva, gemini, goose, native, qwen};
    let call = || Event::pre_tool_use(ToolCall::new("Bash", RawJson::parse("{}").unwrap()));
    let allow = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#;
    let twice =
        allow.replace(r#""permissionDecision":"allow""#, r#""permissionDecision":"ask","permissionDecision":"allow""#);
    let same =
        allow.replace(r#""permissionDecision":"allow""#, r#""permissionDecision":"x","permissionDecision":"allow""#);
    let mark = format!("\u{feff}{allow}");
    let case = allow.replace("permissionDecision", "PermissionDecision");
    let text = serde_json::to_string(allow).unwrap();
    for (dialect, answer, expected) in [
        (&claude::DIALECT, same.as_str(), Decision::Allow),
        (&claude::DIALECT, &twice, Decision::Ask),
        (&claude::DIALECT, &mark, Decision::Allow),
        (&claude::DIALECT, &case, Decision::NoOpinion),
        (&claude::DIALECT, &text, Decision::NoOpinion),
        (&codex::DIALECT, &same, Decision::NoOpinion),
        (&crush::DIALECT, r#"{"Decision":"allow"}"#, Decision::Allow),
        (&crush::DIALECT, "\u{feff}{\"decision\":\"allow\"}", Decision::NoOpinion),
        (&claude::SENDER, &case, Decision::Allow),
        (&claw::DIALECT, &case, Decision::Allow),
        (&evva::DIALECT, &case, Decision::NoOpinion),
        (&evva::DIALECT, &same, Decision::Allow),
        (&docker_agent::DIALECT, r#"{"Hook_Specific_Output":{"PERMISSION_DECISION":"allow"}}"#, Decision::Allow),
        (&docker_agent::G2, r#"{"Decision":"block","REASON":"no"}"#, Decision::Deny),
        (&qwen::DIALECT, &text, Decision::Allow),
        (&native::DIALECT, &same, Decision::NoOpinion),
        (&goose::DIALECT, "\u{feff}{\"decision\":\"block\"}", Decision::Deny),
    ] {
        let reply = Reply::Process(ProcessReply::new(ProcessExit::Code(0)).stdout(answer));
        assert_eq!(decision(dialect, &call(), reply), expected, "{}: {answer}", dialect.name);
    }
    let context = serde_json::to_string(r#"{"hookSpecificOutput":{"additionalContext":"be brief"}}"#).unwrap();
    let reply = Reply::Process(ProcessReply::new(ProcessExit::Code(0)).stdout(context.as_str()));
    let opinion = gemini::DIALECT.read(&Event::prompt_submit(Prompt::new("hi")), reply, false).unwrap();
    assert_eq!(opinion.contexts(), ["be brief"]);
}

/// The last value of a duplicate key is used, also for values that decide nothing.
#[test]
fn last_of_duplicate_values_is_used() {
    use checkrein_dialects::agents::claude;
    let call = Event::pre_tool_use(ToolCall::new("Bash", RawJson::parse("{}").unwrap()));
    let answer = r#"{"systemMessage":"a","hookSpecificOutput":{"updatedInput":{"x":1}},"systemMessage":"b",
        "hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"a","n":[1,{"k":1,"k":2}],"command":"b"}}}"#;
    let reply = Reply::Process(ProcessReply::new(ProcessExit::Code(0)).stdout(answer));
    let opinion = claude::DIALECT.read(&call, reply, false).unwrap();
    assert_eq!((opinion.decision(), opinion.messages()), (Decision::Allow, &["b".to_owned()][..]));
    let input = RawJson::parse(r#"{"n":[1,{"k":2}],"command":"b"}"#).unwrap();
    assert!(opinion.rewrites()[0].value.semantically_eq(&input), "{opinion:?}");
}

#[test]
fn nesting_needs_no_stack() {
    let deep = |depth: usize| {
        let inner = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let objects = format!("{}1{}", r#"{"a":"#.repeat(depth), "}".repeat(depth));
        format!(
            r#"{{"x":{inner},"y":{objects},"decision":"deny","hookSpecificOutput":{{"permissionDecision":"deny"}}}}"#
        )
    };
    let small = std::thread::Builder::new().stack_size(256 << 10).spawn(move || {
        for dialect in ALL {
            for depth in [1000, 100_000] {
                let reply = ProcessReply::new(ProcessExit::Code(0)).stdout(deep(depth).as_str());
                let _ = dialect.read(&events()[0], Reply::Process(reply), false);
            }
        }
    });
    small.unwrap().join().unwrap();
}

/// Values of the wrong type and unknown words, as the documentation lists them.
#[test]
fn invalid_values_have_the_documented_effect() {
    let page = include_str!("../../../docs/dialects.md");
    let rows: Vec<_> = page
        .lines()
        .skip_while(|line| !line.starts_with("A value of the wrong type"))
        .filter_map(|line| line.strip_prefix("| `")?.split_once(" | "))
        .take(3)
        .map(|(names, _)| names.split(", ").map(|name| name.trim_matches('`')).collect::<Vec<_>>())
        .collect();
    let [closed, open, ignored] = &rows[..] else { panic!("{rows:?}") };
    for dialect in ALL {
        let mut effects = std::collections::BTreeSet::new();
        for key in ["decision", "permission", "permissionDecision"] {
            for path in [
                format!("{{\"{key}\":7}}"),
                format!("{{\"{key}\":\"nope\"}}"),
                format!("{{\"hookSpecificOutput\":{{\"{key}\":7}}}}"),
                format!("{{\"hookSpecificOutput\":{{\"{key}\":\"nope\"}}}}"),
            ] {
                let reply = Reply::Process(ProcessReply::new(ProcessExit::Code(0)).stdout(path.as_str()));
                let event = &events()[0];
                let effect = match dialect.read(event, reply, false) {
                    Err(failure) => match dialect.failure_effect(&event.kind(), failure.kind) {
                        FailurePolicy::Closed => "closed",
                        _ => "open",
                    },
                    Ok(opinion) if opinion.messages().iter().any(|text| text.ends_with("; ignored")) => "ignored",
                    Ok(_) => continue,
                };
                effects.insert(effect);
            }
        }
        for (effect, documented) in [("closed", closed), ("open", open), ("ignored", ignored)] {
            assert_eq!(effects.contains(effect), documented.contains(&dialect.name), "{} {effect}", dialect.name);
        }
    }
}
