//! The plugin that `checkrein install opencode` writes: Node loads it and calls its hooks as opencode does.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use common::{Place, skip};
use serde_json::{Value, json};

const USER: &str = "home/.config/checkrein/hooks.yaml";
const PLUGIN: &str = ".config/opencode/plugin/checkrein.js";

/// Calls one hook of the plugin, and prints `output` and the message of an error.
const HARNESS: &str = r#"
import { readFileSync } from "node:fs"
const [plugin, directory] = process.argv.slice(2)
const { name, input, output } = JSON.parse(readFileSync(0, "utf8"))
const { Checkrein } = await import(plugin)
const logged = []
const client = { app: { log: async ({ body }) => logged.push(body.message) } }
const hooks = await Checkrein({ directory, client })
const args = output?.args
let thrown = null
try {
  await hooks[name](input, output)
} catch (error) {
  thrown = error.message
}
console.log(JSON.stringify({ thrown, output, logged, same: output?.args === args }))
"#;

fn has_node() -> bool {
    let found = Command::new("node").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let is_found = found.is_ok_and(|status| status.success());
    if !is_found {
        skip("node", "node is not on PATH");
    }
    is_found
}

struct Opencode {
    place: Place,
    plugin: PathBuf,
}

impl Opencode {
    /// A project with these hooks, and checkrein installed for opencode.
    fn with(hooks: &str, install: &[&str]) -> Self {
        let place = Place::with(&[(USER, hooks)]);
        let ran = place.run(&[&["install", "opencode", "--yes"], install].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        let text = std::fs::read_to_string(place.home.path().join(PLUGIN)).unwrap();
        let plugin = place.home.path().join("plugin.mjs");
        std::fs::write(&plugin, text).unwrap();
        std::fs::write(place.home.path().join("harness.mjs"), HARNESS).unwrap();
        Self { place, plugin }
    }

    /// Replaces the program that the plugin calls.
    fn calling(self, program: &str) -> Self {
        let text = std::fs::read_to_string(&self.plugin).unwrap();
        let (before, rest) = text.split_once("const COMMAND = ").unwrap();
        let (_, after) = rest.split_once('\n').unwrap();
        std::fs::write(&self.plugin, format!("{before}const COMMAND = {program}\n{after}")).unwrap();
        self
    }

    fn call(&self, name: &str, input: &Value, output: &Value) -> Value {
        let mut child = Command::new("node")
            .arg(self.place.home.path().join("harness.mjs"))
            .arg(&self.plugin)
            .arg(self.place.dir.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let sent = json!({ "name": name, "input": input, "output": output }).to_string();
        std::io::Write::write_all(&mut child.stdin.take().unwrap(), sent.as_bytes()).unwrap();
        let done = child.wait_with_output().unwrap();
        serde_json::from_slice(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"))
    }

    fn before(&self, command: &str) -> Value {
        let input = json!({ "tool": "bash", "sessionID": "s", "callID": "c" });
        self.call("tool.execute.before", &input, &json!({ "args": { "command": command, "description": "d" } }))
    }
}

#[test]
fn denied_call_throws_with_the_reason() {
    if !has_node() {
        return;
    }
    let hooks = "hooks: [{id: g, event: PreToolUse, matcher: Bash, input: {command: '^rm'}, command: 'echo no rm >&2; exit 2'}]";
    let opencode = Opencode::with(hooks, &[]);
    assert_eq!(opencode.before("rm x")["thrown"], "Denied by checkrein: no rm");
    let allowed = opencode.before("ls");
    assert_eq!((&allowed["thrown"], &allowed["output"]["args"]["command"]), (&Value::Null, &json!("ls")));
    // A plugin cannot ask, so the user confirms in a terminal.
    let asks = "hooks: [{id: g, event: PreToolUse, matcher: Bash, command: 'echo \"{\\\"decision\\\":\\\"ask\\\",\\\"reason\\\":\\\"sure\\\"}\"'}]";
    let thrown = Opencode::with(asks, &[]).before("ls")["thrown"].as_str().unwrap().to_owned();
    assert!(thrown.contains("checkrein approve"), "{thrown}");
}

/// opencode ignores a new object, so the plugin changes the old one.
#[test]
fn rewritten_input_replaces_the_members_in_place() {
    if !has_node() {
        return;
    }
    let hooks = r#"hooks: [{id: r, event: PreToolUse, matcher: Bash, rewrites: true, command: 'echo "{\"updatedInput\":{\"command\":\"echo safe\"}}"'}]"#;
    let changed = Opencode::with(hooks, &[]).before("rm x");
    assert_eq!(changed["output"]["args"], json!({ "command": "echo safe" }), "{changed}");
    assert_eq!((&changed["thrown"], &changed["same"]), (&Value::Null, &json!(true)), "{changed}");
}

#[test]
fn gates_are_closed_if_checkrein_is_missing_or_fails() {
    if !has_node() {
        return;
    }
    for program in [
        r#"["/nowhere/checkrein"]"#,
        r#"["sh", "-c", "exit 7"]"#,
        r#"["sh", "-c", "kill -9 $$"]"#,
        r#"["sh", "-c", "echo not json"]"#,
        r#"["sh", "-c", "echo []"]"#,
    ] {
        let opencode = Opencode::with("hooks: []", &[]).calling(program);
        let thrown = opencode.before("ls")["thrown"].clone();
        assert!(thrown.as_str().is_some_and(|text| text.starts_with("Denied by checkrein: ")), "{program}: {thrown}");
        let request = json!({ "type": "bash", "sessionID": "s", "metadata": {} });
        let asked = opencode.call("permission.ask", &request, &json!({ "status": "allow" }));
        assert_eq!(asked["output"]["status"], "deny", "{program}: {asked}");
        let prompt = json!({ "parts": [{ "type": "text", "text": "hi" }] });
        assert!(
            opencode.call("chat.message", &json!({ "sessionID": "s" }), &prompt)["thrown"].is_string(),
            "{program}"
        );
        // Events that are no gates never throw.
        let event = json!({ "event": { "type": "session.idle", "properties": { "sessionID": "s" } } });
        assert_eq!(opencode.call("event", &event, &Value::Null)["thrown"], Value::Null, "{program}");
        let open = Opencode::with("hooks: []", &["--fail-open"]).calling(program);
        assert_eq!(open.before("ls")["thrown"], Value::Null, "{program}");
    }
}

#[test]
fn output_prompt_and_permission_are_changed() {
    if !has_node() {
        return;
    }
    let hooks = r#"hooks:
  - {id: o, event: PostToolUse, rewrites: true, command: 'echo "{\"updatedToolOutput\":\"[redacted]\",\"additionalContext\":\"remember\"}"'}
  - {id: p, event: UserPromptSubmit, command: 'grep -q forbidden && { echo no >&2; exit 2; }; exit 0'}
  - {id: q, event: PermissionRequest, matcher: Bash, command: 'echo no >&2; exit 2'}
"#;
    let opencode = Opencode::with(hooks, &[]);
    let input = json!({ "tool": "bash", "sessionID": "s", "callID": "c", "args": { "command": "cat k" } });
    let after = opencode.call("tool.execute.after", &input, &json!({ "title": "t", "output": "AKIA", "metadata": {} }));
    assert_eq!(after["output"]["output"], "[redacted]\n\nremember", "{after}");
    let prompt = |text: &str| {
        let output = json!({ "message": {}, "parts": [{ "type": "text", "text": text }] });
        opencode.call("chat.message", &json!({ "sessionID": "s" }), &output)["thrown"].clone()
    };
    assert_eq!((prompt("hello"), prompt("forbidden")), (Value::Null, json!("Denied by checkrein: no")));
    let request = json!({ "type": "bash", "sessionID": "s", "pattern": "ls", "metadata": { "command": "ls" } });
    let asked = opencode.call("permission.ask", &request, &json!({ "status": "ask" }));
    assert_eq!(asked["output"]["status"], "deny", "{asked}");
}

#[test]
fn plugin_is_installed_reported_and_removed() {
    let place = Place::with(&[]);
    let path = place.home.path().join(PLUGIN);
    assert_eq!(place.run(&["install", "opencode", "--yes"]).code, 0);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("// Written by `checkrein install`") && !text.contains("@COMMAND@"), "{text}");
    let status = || place.run(&["status", "opencode"]);
    let ran = status();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.stdout.contains("checkrein.js"), "{ran:?}");
    assert_eq!(place.run(&["install", "opencode", "--yes"]).code, 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "a second installation changes nothing");
    std::fs::write(&path, text.replace("refuse(answer)", "")).unwrap();
    let ran = status();
    assert!(ran.code != 0 && format!("{}{}", ran.stdout, ran.stderr).contains("modified or outdated"), "{ran:?}");
    assert_eq!(place.run(&["install", "opencode", "--yes"]).code, 0);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "an edited plugin is restored");
    assert_eq!(place.run(&["uninstall", "opencode", "--yes"]).code, 0);
    assert!(!path.exists());
    // A file of the user is never replaced or removed.
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "export const Mine = 1\n").unwrap();
    assert_ne!(place.run(&["install", "opencode", "--yes"]).code, 0);
    place.run(&["uninstall", "opencode", "--yes"]);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "export const Mine = 1\n");
}
