//! `coverage` and `log`: sessions of simulated agents, which write session files of the real shape and call `checkrein hook`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

#[path = "coverage/evidence.rs"]
mod evidence;
#[path = "coverage/proofs.rs"]
mod proofs;
#[path = "coverage/reasons.rs"]
mod reasons;
#[path = "coverage/watching.rs"]
mod watching;

use common::Place;
use serde_json::{Value, json};

const HOOKS: &str = "hooks:
  - id: guard
    event: PreToolUse
    matcher: Bash
    input: {command: forbidden}
    command: 'echo not this >&2; exit 2'
";

const USER: &str = "home/.config/checkrein/hooks.yaml";

/// A tool call of a simulated agent.
#[derive(Clone, Copy)]
struct Call {
    id: &'static str,
    command: &'static str,
    /// Number of times that the agent calls its hook.
    delivered: usize,
    /// `true` if the tool runs, whatever the hook says.
    ran: bool,
}

const fn call(id: &'static str, command: &'static str, delivered: usize, ran: bool) -> Call {
    Call { id, command, delivered, ran }
}

/// A simulated agent: its payloads and its session file.
struct Agent {
    name: &'static str,
    options: &'static [&'static str],
    payload: fn(&Call) -> Value,
    file: &'static str,
    lines: fn(&[Call]) -> Vec<Value>,
}

const SESSION: &str = "5e551011-0000-4000-8000-000000000001";

const TIME: &str = "2026-11-17T15:48:12.425Z";

/// A time after all lines of the log and all changes of settings.
const LATER: &str = "2090-11-17T15:48:12.425Z";

/// Start of the time that is looked at.
const SINCE: &str = "2026-11-01";

const AGENTS: &[Agent] = &[
    Agent {
        name: "claude",
        options: &[],
        payload: |call| {
            json!({"session_id": SESSION, "hook_event_name": "PreToolUse", "tool_name": "Bash",
                "tool_input": {"command": call.command}, "tool_use_id": call.id})
        },
        file: "home/.claude/projects/-p/session.jsonl",
        lines: |calls| {
            let envelope = |kind: &str, more: Value| {
                let mut line =
                    json!({"type": kind, "sessionId": SESSION, "version": "2.1.325", "cwd": "/p", "timestamp": TIME});
                line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                line
            };
            let mut lines = vec![envelope("user", json!({"message": {"role": "user", "content": "go"}}))];
            for call in calls {
                lines.push(envelope(
                    "assistant",
                    json!({"message": {"content": [{"type": "tool_use", "id": call.id,
                    "name": "Bash", "input": {"command": call.command}}]}}),
                ));
                let result = |content: &str, is_error: bool| json!({"content": [{"type": "tool_result", "tool_use_id": call.id, "content": content, "is_error": is_error}]});
                lines.push(match call.ran {
                    true => envelope("user", json!({"message": result("done", false)})),
                    false => envelope(
                        "user",
                        json!({"message": result("PreToolUse:Bash hook error: not this", true),
                        "toolDenialKind": "permission-rule"}),
                    ),
                });
            }
            lines
        },
    },
    Agent {
        name: "codex",
        options: &[],
        payload: |call| {
            json!({"session_id": SESSION, "turn_id": "t", "hook_event_name": "PreToolUse", "model": "m",
                "permission_mode": "default", "tool_name": "Bash", "tool_input": {"command": call.command}, "tool_use_id": call.id})
        },
        file: "home/.codex/sessions/2026/11/17/rollout-2026-11-17T15-50-19-x.jsonl",
        lines: |calls| {
            let line = |kind: &str, payload: Value| json!({"timestamp": TIME, "type": kind, "payload": payload});
            let mut lines = vec![line(
                "session_meta",
                json!({"id": SESSION, "session_id": SESSION, "cwd": "/p", "cli_version": "0.166.0"}),
            )];
            for call in calls {
                let arguments = json!({"cmd": call.command}).to_string();
                lines.push(line(
                    "response_item",
                    json!({"type": "function_call", "name": "exec_command", "arguments": arguments,
                    "call_id": call.id}),
                ));
                let output = if call.ran {
                    "Process exited with code 0"
                } else {
                    "Command blocked by PreToolUse hook: not this."
                };
                lines.push(line(
                    "response_item",
                    json!({"type": "function_call_output", "call_id": call.id, "output": output}),
                ));
            }
            lines
        },
    },
    Agent {
        name: "copilot",
        options: &["--event", "preToolUse"],
        payload: |call| {
            json!({"sessionId": SESSION, "timestamp": 1_794_774_011_216_u64, "toolName": "bash",
                "toolArgs": {"command": call.command}})
        },
        file: "home/.copilot/session-state/x/events.jsonl",
        lines: |calls| {
            let line = |kind: &str, data: Value| json!({"type": kind, "data": data, "timestamp": TIME});
            let mut lines = vec![line(
                "session.start",
                json!({"sessionId": SESSION, "version": 1, "copilotVersion": "1.0.102",
                "context": {"cwd": "/p"}}),
            )];
            for call in calls {
                lines.push(line(
                    "tool.execution_start",
                    json!({"toolCallId": call.id, "toolName": "bash",
                    "arguments": {"command": call.command}}),
                ));
                let error = if call.ran {
                    Value::Null
                } else {
                    json!({"message": "Denied by preToolUse hook", "code": "denied"})
                };
                lines.push(line(
                    "tool.execution_complete",
                    json!({"toolCallId": call.id, "success": call.ran, "error": error}),
                ));
            }
            lines
        },
    },
    Agent {
        name: "gemini",
        options: &[],
        payload: |call| {
            json!({"session_id": SESSION, "hook_event_name": "BeforeTool", "timestamp": TIME,
                "tool_name": "run_shell_command", "tool_input": {"command": call.command}})
        },
        file: "home/.gemini/tmp/p/chats/session-2026-11-17T15-53-x.jsonl",
        lines: |calls| {
            let mut lines = vec![
                json!({"sessionId": SESSION, "projectHash": "h", "startTime": TIME, "lastUpdated": TIME, "kind": "main"}),
                json!({"$set": {"lastUpdated": TIME}}),
            ];
            lines.push(json!({"id": "m", "timestamp": TIME, "type": "gemini", "content": "", "toolCalls": calls.iter().map(|call| {
                let (status, display) = if call.ran { ("success", "done") } else { ("error", "Tool execution blocked: not this") };
                json!({"id": call.id, "name": "run_shell_command", "args": {"command": call.command}, "status": status,
                    "resultDisplay": display, "timestamp": TIME})
            }).collect::<Vec<_>>()}));
            lines
        },
    },
    Agent {
        name: "qwen",
        options: &[],
        payload: |call| {
            json!({"session_id": SESSION, "hook_event_name": "PreToolUse", "timestamp": TIME, "permission_mode": "default",
                "tool_name": "run_shell_command", "tool_input": {"command": call.command},
                "tool_use_id": format!("toolu_{}", call.command.len()), "tool_call_id": call.id})
        },
        file: "home/.qwen/projects/-p/chats/session.jsonl",
        lines: |calls| {
            let line = |kind: &str, more: Value| {
                let mut line =
                    json!({"type": kind, "sessionId": SESSION, "version": "0.24.4", "cwd": "/p", "timestamp": TIME});
                line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                line
            };
            let mut lines = Vec::new();
            for call in calls {
                lines.push(line(
                    "assistant",
                    json!({"message": {"role": "model", "parts": [{"functionCall": {"id": call.id,
                    "name": "run_shell_command", "args": {"command": call.command}}}]}}),
                ));
                let (status, execution) = if call.ran { ("success", "success") } else { ("error", "not_started") };
                lines.push(line(
                    "tool_result",
                    json!({"toolCallResult": {"callId": call.id, "status": status,
                    "executionStatus": execution}}),
                ));
            }
            lines
        },
    },
];

impl Agent {
    fn named(name: &str) -> &'static Self {
        AGENTS.iter().find(|agent| agent.name == name).unwrap()
    }

    /// Plays a session: calls the hook, and writes the session file.
    fn play(&self, place: &Place, calls: &[Call]) {
        for call in calls {
            for _ in 0..call.delivered {
                let arguments = [&["hook", self.name], self.options].concat();
                place.run_with(&arguments, &(self.payload)(call).to_string());
            }
        }
        self.write(place, calls);
    }

    fn write(&self, place: &Place, calls: &[Call]) {
        let text: String = (self.lines)(calls).iter().map(|line| format!("{line}\n")).collect();
        place.write(self.file, &text);
    }

    /// Changes the session file.
    fn edit(&self, place: &Place, old: &str, new: &str) {
        let text = place.read(self.file);
        assert!(text.contains(old), "{old}: {text}");
        place.write(self.file, &text.replace(old, new));
    }
}

impl Place {
    fn path(&self, path: &str) -> std::path::PathBuf {
        self.dir.path().join(path)
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.path(path)).unwrap()
    }
}

fn place() -> Place {
    Place::with(&[(USER, HOOKS)])
}

/// Runs `coverage` and returns its exit code and JSON.
fn look(place: &Place, more: &[&str]) -> (i32, Value) {
    place.run_json(&[&["coverage", "--since", SINCE, "--json"], more].concat())
}

/// Counts: calls, judged, judged twice, not obeyed, not judged, cannot tell.
fn counts(report: &Value) -> [u64; 6] {
    let names = ["calls", "judged", "judged_twice", "not_obeyed", "not_judged", "cannot_tell"];
    names.map(|name| report["counts"][name].as_u64().unwrap())
}

#[test]
fn every_simulated_agent_has_the_state_of_its_calls() {
    let calls = [
        call("call_1", "ls one", 1, true),
        call("call_2", "forbidden two", 1, false),
        call("call_3", "ls three", 0, true),
        call("call_4", "forbidden four", 1, true),
    ];
    for agent in AGENTS {
        let place = place();
        agent.play(&place, &calls);
        agent.edit(&place, TIME, LATER);
        let (code, report) = look(&place, &[]);
        assert_eq!((code, counts(&report)), (0, [4, 2, 0, 1, 1, 0]), "{}: {report:#}", agent.name);
        let listed = report["calls"].as_array().unwrap();
        let state = |command: &str| {
            let call = listed.iter().find(|call| call["command"] == command).unwrap();
            (call["state"].as_str().unwrap().to_owned(), call["reason"]["code"].as_str().unwrap().to_owned())
        };
        assert_eq!(state("ls three"), ("not-judged".to_owned(), "call_unseen".to_owned()), "{}", agent.name);
        assert_eq!(state("forbidden four"), ("not-obeyed".to_owned(), "ran_anyway".to_owned()), "{}", agent.name);
        // Agents without ids in their payloads are joined by order and input.
        let weak = if ["gemini", "copilot"].contains(&agent.name) { 3 } else { 0 };
        assert_eq!(report["counts"]["weak"], weak, "{}", agent.name);
    }
}

#[test]
fn fail_on_selects_the_exit_code() {
    let place = place();
    Agent::named("claude").play(&place, &[call("a", "ls", 1, true), call("b", "ls b", 0, true)]);
    for (states, code) in
        [("not-judged", 1), ("not-judged,not-obeyed", 1), ("not-obeyed", 0), ("cannot-tell", 0), ("judged", 1)]
    {
        assert_eq!(look(&place, &["--fail-on", states]).0, code, "{states}");
    }
    assert_eq!(look(&place, &["--agent", "codex"]).0, 1, "nothing was found");
    assert_eq!(look(&place, &["--session", "other"]).0, 1);
    assert_eq!(counts(&look(&place, &["--session", &SESSION[..6]]).1)[0], 2);
    let text = place.run(&["coverage", "--since", SINCE]).stdout;
    assert!(text.contains("1 of 2 tool calls judged; 1 by Claude Code was never seen"), "{text}");
}

#[test]
fn call_that_is_delivered_twice_is_judged_twice() {
    let place = place();
    Agent::named("claude").play(&place, &[call("a", "forbidden a", 2, false), call("b", "ls", 1, true)]);
    let (_, report) = look(&place, &[]);
    assert_eq!(counts(&report), [2, 1, 1, 0, 0, 0], "{report:#}");
    let log = place.run_json(&["log", "--json"]).1;
    let repeats: Vec<_> = log.as_array().unwrap().iter().filter(|entry| entry["repeat"] == true).collect();
    assert_eq!(repeats.len(), 1, "{log:#}");
}

#[test]
fn reused_ids_prove_nothing_for_other_calls() {
    let place = place();
    // A model server that counts from 0 in every turn: the second call with this id never reached checkrein.
    let calls = [call("call_0", "ls one", 1, true), call("call_0", "rm two", 0, true)];
    Agent::named("claude").play(&place, &calls);
    let (_, report) = look(&place, &[]);
    assert_eq!(counts(&report), [2, 1, 0, 0, 1, 0], "{report:#}");
    assert_eq!(report["calls"][0]["command"], "rm two");
}

#[test]
fn session_of_another_agent_with_the_same_id_proves_nothing() {
    let place = place();
    let calls = [call("a", "ls", 1, true)];
    Agent::named("qwen").play(&place, &calls);
    Agent::named("claude").write(&place, &calls);
    let (_, report) = look(&place, &["--agent", "claude"]);
    assert_eq!(counts(&report), [1, 0, 0, 0, 1, 0], "{report:#}");
    assert_eq!(report["calls"][0]["reason"]["code"], "other_agent");
    assert_eq!(counts(&look(&place, &["--agent", "qwen"]).1), [1, 1, 0, 0, 0, 0]);
}

#[test]
fn removed_lines_of_the_log_make_calls_unclear() {
    let place = place();
    let claude = Agent::named("claude");
    claude.play(&place, &[call("a", "ls", 1, true)]);
    claude.write(&place, &[call("a", "ls", 1, true), call("b", "ls b", 0, true)]);
    let log = "home/.local/state/checkrein/decisions.jsonl";
    let without_start: String = place.read(log).lines().skip(1).map(|line| format!("{line}\n")).collect();
    place.write(log, &without_start);
    // The session file has an older time than the first line of the log.
    let (_, report) = look(&place, &[]);
    assert_eq!(counts(&report), [2, 1, 0, 0, 0, 1], "{report:#}");
    assert_eq!(report["calls"][0]["reason"]["code"], "rotated");
}

#[test]
fn user_can_turn_the_log_off_and_a_project_cannot() {
    let place = Place::with(&[(USER, &format!("log: false\n{HOOKS}"))]);
    let claude = Agent::named("claude");
    claude.play(&place, &[call("a", "ls", 1, true)]);
    assert!(!place.path("home/.local/state/checkrein/decisions.jsonl").exists());
    assert_eq!(look(&place, &[]).1["calls"][0]["reason"]["code"], "log_off");
    assert_eq!(place.run(&["log"]).code, 1);
    let place = Place::with(&[(USER, HOOKS), (".checkrein/hooks.yaml", "log: false\nhooks: []\n")]);
    claude.play(&place, &[call("a", "ls", 1, true)]);
    assert_eq!(counts(&look(&place, &[]).1), [1, 1, 0, 0, 0, 0]);
}

#[test]
fn user_is_told_at_the_end_of_a_turn_what_was_missed() {
    let place = place();
    let claude = Agent::named("claude");
    let transcript = place.path(claude.file);
    let event = |name: &str| {
        json!({"session_id": SESSION, "hook_event_name": name, "source": "startup", "stop_hook_active": false,
            "transcript_path": transcript})
        .to_string()
    };
    place.run_with(&["hook", "claude"], &event("SessionStart"));
    claude.play(&place, &[call("a", "ls a", 1, true), call("b", "rm b", 0, true), call("c", "ls c", 0, false)]);
    // The calls are made now.
    let now = place.run_json(&["log", "--json"]).1[0]["time"].as_str().unwrap().replace("2026", "2030");
    place.write(claude.file, &place.read(claude.file).replace(TIME, &now));
    let stop = place.run_with(&["hook", "claude"], &event("Stop"));
    let text = serde_json::from_str::<Value>(&stop.stdout).unwrap()["systemMessage"].as_str().unwrap().to_owned();
    assert!(text.contains("1 tool call of this turn was not judged by checkrein: Bash `rm b`"), "{text}");
    assert!(text.contains("checkrein coverage --session"), "{text}");
    // All calls are judged, or the file cannot be read.
    claude.write(&place, &[call("a", "ls a", 1, true)]);
    assert_eq!(place.run_with(&["hook", "claude"], &event("Stop")).stdout, "");
    place.write(claude.file, "\u{0}\u{1}not json\n{}\n");
    assert_eq!(place.run_with(&["hook", "claude"], &event("Stop")).stdout, "");
}

#[test]
fn hostile_session_files_are_shown_safely_and_never_judged() {
    let place = place();
    let claude = Agent::named("claude");
    claude.play(&place, &[call("a", "ls", 1, true)]);
    let odd = "\u{1b}[2J\u{202e}\u{7}x";
    let good = place.read(claude.file);
    let hostile: String = (claude.lines)(&[call("a", "ls", 1, true)])
        .iter()
        .map(|line| {
            line.to_string()
                .replace("\"a\"", "\"b\"")
                .replace("Bash", "Ba\\u001b[2J\\u202esh")
                .replace("\"ls\"", "\"\\u001b]0;x\\u0007 \\u202e\"")
                + "\n"
        })
        .collect();
    place.write(
        claude.file,
        &format!("{good}{hostile}{{\"type\":\"{odd}\"}}\n[1,2]\nnull\n\u{feff}\n{{\"type\":\"assistant\",\"mess"),
    );
    let text = place.run(&["-v", "coverage", "--since", SINCE]).stdout;
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}') && !text.contains('\u{7}'), "{text:?}");
    let (_, report) = look(&place, &[]);
    assert_eq!(counts(&report), [2, 1, 0, 0, 1, 0], "{report:#}");
    assert!(
        report["unclear_sessions"] == 1 && report["sessions"][0]["problems"].to_string().contains("damaged"),
        "{report:#}"
    );
    assert_eq!(look(&place, &["--fail-on", "cannot-tell"]).0, 1);
}

#[test]
fn links_and_pipes_are_reported_and_not_read() {
    let place = place();
    let claude = Agent::named("claude");
    claude.play(&place, &[call("a", "ls", 1, true)]);
    let path = |name: &str| place.path(&format!("home/.claude/projects/-p/{name}"));
    std::os::unix::fs::symlink(path("session.jsonl"), path("link.jsonl")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe.jsonl"), rustix::fs::Mode::RWXU).unwrap();
    let (_, report) = look(&place, &[]);
    assert_eq!(counts(&report), [1, 1, 0, 0, 0, 0], "{report:#}");
    assert_eq!(report["problems"].as_array().unwrap().len(), 2, "{report:#}");
}

#[test]
fn unknown_versions_and_shapes_cannot_be_told() {
    let claude = Agent::named("claude");
    let calls = [call("a", "ls", 1, true)];
    for (old, new) in [("\"2.1.325\"", "\"9.0.0\""), ("\"version\":\"2.1.325\",", "")] {
        let place = place();
        claude.play(&place, &calls);
        let text = place.read(claude.file);
        let changed = text.replace(old, new).replace(",\"version\":\"2.1.325\"", if new.is_empty() { "" } else { new });
        place.write(claude.file, &changed);
        let (_, report) = look(&place, &[]);
        assert_eq!(report["counts"]["judged"], 0, "{report:#}");
        assert_eq!(report["unclear_sessions"], 1, "{report:#}");
    }
}

#[test]
fn wrong_clocks_change_no_state() {
    for time in ["1970-01-01T00:00:00.000Z", "9999-01-01T00:00:00.000Z", "yesterday"] {
        let place = place();
        let claude = Agent::named("claude");
        claude.play(&place, &[call("a", "ls", 1, true), call("b", "ls b", 0, true)]);
        place.write(claude.file, &place.read(claude.file).replace(TIME, time));
        let (_, report) = place.run_json(&["coverage", "--since", "1960-01-01", "--json"]);
        assert_eq!(counts(&report), [2, 1, 0, 0, 1, 0], "{time}: {report:#}");
    }
}

#[test]
fn log_selects_and_aligns_entries() {
    let place = place();
    let calls = [call("a", "ls a", 1, true), call("b", "forbidden b", 1, false)];
    Agent::named("claude").play(&place, &calls);
    Agent::named("gemini").play(&place, &calls);
    let shown = |more: &[&str]| place.run(&[&["log"], more].concat()).stdout;
    assert_eq!(shown(&[]).lines().count(), 4);
    assert_eq!(shown(&["-n", "1"]).lines().count(), 1);
    let denied = shown(&["--denied"]);
    assert!(
        denied.lines().count() == 2 && denied.lines().all(|line| line.contains("deny") && line.ends_with("guard")),
        "{denied}"
    );
    assert_eq!(shown(&["--agent", "gemini", "--hook", "guard"]).lines().count(), 1);
    assert_eq!(shown(&["--hook", "other"]), "");
    assert_eq!(shown(&["--session", "5e55"]).lines().count(), 4);
    assert_eq!(shown(&["--session", "other"]), "");
    assert_eq!(shown(&["--since", "1h"]).lines().count(), 4);
    assert_eq!(shown(&["--since", "2100-01-01"]), "");
    let all = shown(&[]);
    let columns: Vec<_> = all.lines().map(|line| line.find(" ms").unwrap()).collect();
    assert!(columns.windows(2).all(|pair| pair[0] == pair[1]), "{all}");
    let (_, json) = place.run_json(&["log", "--json", "--denied"]);
    let entry = &json[0];
    assert_eq!((&entry["verdict"], &entry["by"], &entry["call"]), (&json!("deny"), &json!("guard"), &json!("b")));
    assert_eq!(entry["reason"], "not this");
    assert!(entry.get("tool_input").is_none());
}
