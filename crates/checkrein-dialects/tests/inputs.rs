//! Translation of tool inputs between dialects: hooks get inputs with their own field names, and rewrites are translated back.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::path::Path;

use checkrein_core::payload::ToolCall;
use checkrein_core::{Event, FailureKind, ProcessExit, ProcessReply, RawJson, Reply, RewriteMode};
use checkrein_dialects::agents::{
    claude, cline, codex, copilot, copilot_pascal, gemini, goose, letta, native, qwen, vscode,
};
use checkrein_dialects::{ALL, Dialect, InputForm, InputRow, ToolRow, canonical_input, find};
use proptest::prelude::*;

fn json(text: &str) -> RawJson {
    text.parse().unwrap()
}

fn call(agent: &'static Dialect, tool: &str, input: &str) -> Event {
    agent.with_common_names(Event::pre_tool_use(ToolCall::new(tool, json(input))))
}

fn payload(dialect: &Dialect, event: &Event) -> RawJson {
    let bytes: Vec<u8> = dialect.payload(event, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
    RawJson::parse_bytes(&bytes).unwrap()
}

fn capture(agent: &str, file: &str) -> Event {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures").join(agent).join(file);
    let capture = RawJson::parse(std::fs::read_to_string(path).unwrap()).unwrap();
    let name = capture.field("event").unwrap().as_text().unwrap().into_owned();
    let dialect = find(&agent.replace('-', "@")).unwrap();
    dialect.event(&capture.field("stdin").unwrap(), Some(&name)).unwrap()
}

/// Payloads of Claude Code hooks for captured events of other agents.
#[test]
fn claude_hooks_read_inputs_of_every_agent() {
    let written = r#"{"file_path":"/home/dev/project/hello.txt","content":"hello\n"}"#;
    let shell = r#"{"command":"echo hi","description":"scripted command"}"#;
    let read = r#"{"file_path":"/home/dev/project/does-not-exist.txt"}"#;
    let patched = r#"{"command":"*** Begin Patch\n*** Add File: hello.txt\n+hello\n*** End Patch\n","file_path":"/home/dev/project/hello.txt","new_string":"hello","content":"hello"}"#;
    let diff = r#"\ndiff --git a/home/dev/project/hello.txt b/home/dev/project/hello.txt\ncreate file mode 100644\nindex 0000000..0000000\n--- a/dev/null\n+++ b/home/dev/project/hello.txt\n@@ -1,0 +1,1 @@\n+hello\n"#;
    let asked = format!(r#"{{"file_path":"/home/dev/project/hello.txt","diff":"{diff}"}}"#);
    let job = r#""prompt":"SUBAGENT-JOB: run echo sub in the shell.""#;
    for (agent, file, tool, input) in [
        ("claude", "PreToolUse.Write.json", "Write", written),
        ("codex", "PreToolUse.Bash.json", "Bash", r#"{"command":"echo hi"}"#),
        ("codex", "PreToolUse.apply_patch.json", "Write", patched),
        (
            "codex",
            "PreToolUse.collaborationspawn_agent.json",
            "Agent",
            &format!(r#"{{"description":"scripted",{job}}}"#),
        ),
        ("gemini", "BeforeTool.write_file.json", "Write", written),
        ("gemini", "BeforeTool.run_shell_command.json", "Bash", shell),
        ("gemini", "BeforeTool.read_file.json", "Read", read),
        ("qwen", "PreToolUse.write_file.json", "Write", written),
        ("qwen", "PreToolUse.run_shell_command.json", "Bash", shell),
        ("copilot", "preToolUse.create.json", "Write", written),
        ("copilot", "preToolUse.view.json", "Read", read),
        ("copilot", "preToolUse.bash.json", "Bash", shell),
        ("copilot", "permissionRequest.edit.json", "Edit", &asked),
        (
            "copilot",
            "preToolUse.task.json",
            "Agent",
            &format!(r#"{{"description":"scripted",{job},"subagent_type":"task","name":"scripted","mode":"sync"}}"#),
        ),
        ("copilot-pascal", "PreToolUse.Write.json", "Write", written),
        ("copilot-pascal", "PostToolUse.Write.json", "Write", written),
        ("copilot-pascal", "PermissionRequest.edit.json", "Edit", &asked),
        ("goose", "PreToolUse.write.json", "Write", written),
        ("goose", "PostToolUse.write.json", "Write", written),
        ("goose", "PreToolUse.shell.json", "Bash", r#"{"command":"echo hi"}"#),
        ("letta", "PreToolUse.Write.json", "Write", written),
    ] {
        let given = payload(&claude::DIALECT, &capture(agent, file));
        assert_eq!(given.field("tool_name").unwrap().as_text().unwrap(), tool, "{agent} {file}");
        let got = given.field("tool_input").unwrap();
        assert!(got.semantically_eq(&json(input)), "{agent} {file}: {got}");
    }
}

/// A native hook gets the canonical input and the agent's own input.
#[test]
fn native_hook_gets_both_inputs() {
    let given = payload(&native::DIALECT, &capture("copilot", "preToolUse.create.json"));
    assert_eq!(given.field("tool_name").unwrap().as_str(), r#""create""#);
    assert_eq!(given.field("common_tool_name").unwrap().as_str(), r#""Write""#);
    let common = json(r#"{"file_path":"/home/dev/project/hello.txt","content":"hello\n"}"#);
    assert!(given.field("tool_input").unwrap().semantically_eq(&common));
    let own = json(r#"{"path":"/home/dev/project/hello.txt","file_text":"hello\n"}"#);
    assert!(given.field("agent_tool_input").unwrap().semantically_eq(&own));
    // An unchanged input is not repeated.
    for event in [capture("claude", "PreToolUse.Write.json"), capture("copilot", "preToolUse.bash.json")] {
        assert!(payload(&native::DIALECT, &event).field("agent_tool_input").is_none());
    }
}

/// Hooks of other agents at events of Claude Code.
#[test]
fn hooks_of_other_agents_read_claude_inputs() {
    let write = call(&claude::DIALECT, "Write", r#"{"file_path":"a","content":"b","x":1.50}"#);
    let shell = call(&claude::DIALECT, "Bash", r#"{"command":"ls"}"#);
    for (dialect, event, tool, input) in [
        (&copilot::DIALECT, &write, "create", r#"{"path":"a","file_text":"b","x":1.50}"#),
        (&copilot_pascal::DIALECT, &write, "Write", r#"{"path":"a","file_text":"b","x":1.50}"#),
        (&gemini::DIALECT, &write, "write_file", r#"{"file_path":"a","content":"b","x":1.50}"#),
        (&goose::DIALECT, &write, "write", r#"{"path":"a","content":"b","x":1.50}"#),
        (&vscode::DIALECT, &write, "create_file", r#"{"filePath":"a","content":"b","x":1.50}"#),
        (&qwen::DIALECT, &shell, "run_shell_command", r#"{"command":"ls"}"#),
        (&letta::DIALECT, &shell, "Bash", r#"{"command":"ls"}"#),
        // A patch cannot be built from a file content.
        (&codex::DIALECT, &write, "Write", r#"{"file_path":"a","content":"b","x":1.50}"#),
    ] {
        assert_eq!(
            dialect.native_tool_name(event).map_or(event.tool_name().unwrap(), |tool| tool.name),
            tool,
            "{}",
            dialect.name
        );
        assert_eq!(dialect.native_input(event).unwrap().as_str(), input, "{}", dialect.name);
    }
    assert_eq!(cline::DIALECT.native_input(&shell).unwrap().as_str(), r#"{"commands":["ls"]}"#);
}

/// A hook sees the field that the tool uses, whatever other fields the input has.
#[test]
fn swapped_names_hide_no_field() {
    let event = call(&copilot::DIALECT, "create", r#"{"file_path":"innocent","path":"/etc/passwd","file_text":"x"}"#);
    let seen = canonical_input(&event).unwrap().into_owned();
    assert_eq!(seen.as_str(), r#"{"path":"innocent","file_path":"/etc/passwd","content":"x"}"#);
    let back = claude::DIALECT.rewritten_input(&event, &seen).unwrap();
    assert_eq!(&*back, event.tool_input().unwrap());
}

#[test]
fn several_files_become_lines() {
    let event = call(
        &vscode::DIALECT,
        "multi_replace_string_in_file",
        r#"{"explanation":"e","replacements":[{"filePath":"a","oldString":"1","newString":"2"},{"filePath":"b","oldString":"1","newString":"3"}]}"#,
    );
    let seen = canonical_input(&event).unwrap().into_owned();
    let expected = r#"{"explanation":"e","edits":[{"file_path":"a","old_string":"1","new_string":"2"},{"file_path":"b","old_string":"1","new_string":"3"}],"file_path":"a\nb","old_string":"1","new_string":"2\n3"}"#;
    assert_eq!(seen.as_str(), expected);
    // A change inside the list returns to its place.
    let changed = json(&expected.replace(r#""new_string":"2"}"#, r#""new_string":"5"}"#));
    let back = claude::DIALECT.rewritten_input(&event, &changed).unwrap();
    assert_eq!(
        back.as_str(),
        r#"{"explanation":"e","replacements":[{"filePath":"a","oldString":"1","newString":"5"},{"filePath":"b","oldString":"1","newString":"3"}]}"#
    );
    // Derived fields cannot be changed.
    let changed = json(&expected.replace(r#""file_path":"a\nb""#, r#""file_path":"c""#));
    let error = claude::DIALECT.rewritten_input(&event, &changed).unwrap_err();
    assert_eq!(error.to_string(), "`file_path` cannot be changed here, because it is derived from `replacements`");
}

#[test]
fn rewrites_are_translated_to_the_agent() {
    let read = |dialect: &Dialect, event: &Event, stdout: &str| {
        dialect.read(event, Reply::Process(ProcessReply::new(ProcessExit::Code(0)).stdout(stdout)), false)
    };
    let event = call(&copilot::DIALECT, "create", r#"{"path":"a","file_text":"b"}"#);
    let answer = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{"file_path":"c","content":"b"}}}"#;
    let opinion = read(&claude::DIALECT, &event, answer).unwrap();
    assert_eq!(opinion.rewrites()[0].value.as_str(), r#"{"path":"c","file_text":"b"}"#);
    // A merged value is a part of the input.
    let answer = r#"{"hookSpecificOutput":{"tool_input":{"file_path":"c"}}}"#;
    let opinion = read(&gemini::DIALECT, &event, answer).unwrap();
    assert_eq!(
        (opinion.rewrites()[0].mode, opinion.rewrites()[0].value.as_str()),
        (RewriteMode::Merge, r#"{"path":"c"}"#)
    );
    // A list of commands becomes a text of lines.
    let event = call(&cline::DIALECT, "run_commands", r#"{"commands":["a","b"]}"#);
    let answer = |command: &str| {
        format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"allow","updatedInput":{{"command":"{command}"}}}}}}"#
        )
    };
    for (command, expected) in [(r"a\nb", r#"{"commands":["a","b"]}"#), ("c", r#"{"commands":["c"]}"#)] {
        let opinion = read(&claude::DIALECT, &event, &answer(command)).unwrap();
        assert_eq!(opinion.rewrites()[0].value.as_str(), expected);
    }
    // If a rewrite cannot be translated, the allow is dropped and the deny is kept.
    let event = capture("codex", "PreToolUse.apply_patch.json");
    let answer = |decision: &str| {
        format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"{decision}","permissionDecisionReason":"r","updatedInput":{{"file_path":"/tmp/x"}}}}}}"#
        )
    };
    let failure = read(&claude::DIALECT, &event, &answer("allow")).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Schema);
    assert!(failure.message.contains("derived from `command`"), "{}", failure.message);
    assert!(read(&claude::DIALECT, &event, &answer("deny")).unwrap().decision().is_block());
}

/// The text of a value of 10 MiB is unchanged.
#[test]
fn values_are_passed_on_unchanged() {
    let content = "\\u0041é\\/".repeat(1 << 20);
    let event = call(&copilot::DIALECT, "create", &format!(r#"{{"path":"a","file_text":"{content}","n":1e400}}"#));
    let given = claude::DIALECT.native_input(&event).unwrap();
    assert_eq!(given.as_str(), format!(r#"{{"file_path":"a","content":"{content}","n":1e400}}"#));
    // Without other names, nothing is copied.
    let event = call(&gemini::DIALECT, "write_file", r#"{ "file_path":"a", "content":"b" }"#);
    assert_eq!(
        claude::DIALECT.native_input(&event).unwrap().as_str().as_ptr(),
        event.tool_input().unwrap().as_str().as_ptr()
    );
}

/// An input of a tool with all known fields of its agent and some others.
fn input_of(tool: &ToolRow, texts: &[String]) -> String {
    let text = |at: usize| RawJson::string(&texts[at % texts.len()]).as_str().to_owned();
    let mut members: Vec<(String, String)> = Vec::new();
    let mut put = |name: &str, value: String| {
        if !members.iter().any(|(have, _)| have == name) {
            members.push((name.to_owned(), value));
        }
    };
    let mut commons = Vec::new();
    for (at, row) in tool.inputs.iter().enumerate() {
        let object = |rows: &[InputRow], at: usize| {
            let fields: Vec<_> =
                rows.iter().enumerate().map(|(more, row)| format!(r#""{}":{}"#, row.own, text(at + more))).collect();
            format!("{{{}}}", fields.join(","))
        };
        if !row.is_seen() && commons.contains(&row.common) {
            continue;
        }
        match row.form {
            InputForm::Lines => put(row.own, format!("[{},{}]", text(at), text(at + 1))),
            InputForm::Each(rows) => put(row.own, format!("[{},{}]", object(rows, at), object(rows, at + 1))),
            InputForm::SeenInEach(field) => put(row.own, format!(r#"[{{"{field}":{}}}]"#, text(at))),
            InputForm::SeenInPatch(_) => put(row.own, RawJson::string("*** Add File: a\n+b").as_str().to_owned()),
            _ => put(row.own, text(at)),
        }
        if !row.is_seen() {
            commons.push(row.common);
        }
    }
    put("unheard_of", text(7));
    let members: Vec<_> = members.iter().map(|(name, value)| format!(r#""{name}":{value}"#)).collect();
    format!("{{{}}}", members.join(","))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Translation to any dialect and back yields the same input, for every tool of every agent.
    #[test]
    fn translation_round_trips(texts in prop::collection::vec(".{0,12}", 9), stray in "[a-z_]{4,11}") {
        for agent in ALL {
            for tool in agent.tools {
                let input = input_of(tool, &texts);
                let strayed = input.replacen('{', &format!(r#"{{"{stray}":1,"#), 1);
                for input in [input, strayed] {
                    let Ok(input) = RawJson::parse(input) else { continue };
                    let event = agent.with_common_names(Event::pre_tool_use(ToolCall::new(tool.name, input.clone())));
                    for dialect in ALL {
                        let given = dialect.native_input(&event).unwrap();
                        let back = dialect.rewritten_input(&event, &given).unwrap();
                        prop_assert!(
                            back.semantically_eq(&input),
                            "{} {} by {}: {input} was {given} and became {back}", agent.name, tool.name, dialect.name
                        );
                    }
                }
            }
        }
    }
}
