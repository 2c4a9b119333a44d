//! A user's machine with events and questions, for tests of the page.
#![allow(dead_code, reason = "each test uses its own part of this")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use checkrein::hook_files::Locations;
use checkrein_core::RawJson;
use checkrein_serve::store::{PushedEvent, Store};
use checkrein_serve::web::{self, Web, WebOptions};
use checkrein_tools::approvals::{Answer, ApprovalStore, Call, NewApproval, Via};
use jiff::Timestamp;
use serde_json::{Value, json};

/// Reports that a test is skipped because this machine lacks a capability.
///
/// # Panics
///
/// If `CHECKREIN_REQUIRE`, a list with commas, names the capability.
#[allow(clippy::print_stderr, reason = "a skipped test says so")]
pub fn skip(capability: &str, reason: impl std::fmt::Display) {
    let required = std::env::var("CHECKREIN_REQUIRE").unwrap_or_default();
    assert!(!required.split(',').any(|name| name.trim() == capability), "{capability} is required: {reason}");
    eprintln!("skipped: {reason}");
}

pub struct Machine {
    pub home: tempfile::TempDir,
    pub store: Store,
    approvals: ApprovalStore,
    count: AtomicU64,
}

impl Machine {
    pub fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join("state");
        let project = home.path().join("shop");
        std::fs::create_dir_all(project.join(".git")).unwrap();
        std::fs::write(project.join(".git/HEAD"), "ref: refs/heads/checkout-fix\n").unwrap();
        std::fs::create_dir_all(home.path().join("docs-site/.git")).unwrap();
        std::fs::write(home.path().join("docs-site/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        let store = Store::open(&state).unwrap();
        let approvals = ApprovalStore::in_state_directory(&state);
        Self { store, approvals, home, count: AtomicU64::new(0) }
    }

    pub async fn web(&self) -> Web {
        let state = self.home.path().join("state");
        let mut options = WebOptions::new(self.store.clone(), &state, state.join("run"));
        options.locations = Locations::new("/nonexistent").home(self.home.path()).state(self.home.path());
        web::start(options).await.unwrap()
    }

    /// Waits until the streams of a dropped server have ended.
    pub async fn drop_connections(&self) {
        tokio::time::sleep(Duration::from_millis(100)).await;
    }

    fn project(&self, name: &str) -> String {
        self.home.path().join(name).display().to_string()
    }

    /// Adds an event with its record. `seconds`: age.
    #[expect(clippy::too_many_arguments, reason = "a table of events is readable")]
    pub fn event(
        &self,
        seconds: u64,
        (agent, session, project, subagent): (&str, &str, &str, Option<&str>),
        event: &str,
        tool: Option<&str>,
        input: &str,
        verdict: &str,
        reason: &str,
        with_record: bool,
    ) {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let now = Timestamp::now().as_millisecond() - i64::try_from(seconds * 1000).unwrap();
        let time = format!("{:.3}", Timestamp::from_millisecond(now).unwrap());
        let denies = verdict != "no_opinion";
        let line = json!({
            "time": time, "agent": agent, "session": session, "project": self.project(project), "subagent": subagent, "event": event,
            "call": format!("call-{number}"), "tool": tool, "command": input, "verdict": verdict,
            "reason": if denies { Some(reason) } else { None }, "hooks": ["guard", "format"],
            "by": if denies { Some("guard") } else { None }, "us": 900 + number * 2371 % 9000,
        });
        let hook = |id: &str, line: u64, decision: &str, duration: u64| {
            json!({
                "id": id, "source": { "scope": "user", "file": "~/.config/checkrein/hooks.yaml", "line": line }, "handler": "command",
                "outcome": "opinion", "decision": decision, "reason": if decision == "no_opinion" { None } else { Some(reason) },
                "failure": null, "exit_code": if decision == "deny" { 2 } else { 0 }, "duration_ms": duration, "stdout": null,
                "stderr": if decision == "deny" { Some(reason) } else { None }, "truncated": false,
            })
        };
        let reasons =
            if denies { json!([{ "hook": "guard", "decision": verdict, "text": reason }]) } else { json!([]) };
        let tool_input = json!({ "command": input });
        let record = json!({
            "event": event, "dialect": agent, "session_id": session, "subject": tool,
            "verdict": {
                "decision": verdict, "reason": if denies { Some(reason) } else { None }, "reasons": reasons, "context": [],
                "system_messages": [], "stop_reason": null, "original_input": tool_input, "effective_input": tool_input,
                "effective_prompt": null, "effective_output": null, "warnings": [], "cancelled": false,
            },
            "hooks": [hook("guard", 12, verdict, 2 + number % 5), hook("format", 20, "no_opinion", 11 + number % 23)],
        });
        let recorded = json!({
            "time": time, "agent": agent, "project": self.project(project),
            "event": { "event": event, "session_id": session, "tool_name": tool, "tool_input": tool_input },
            "record": record, "redaction": false, "checkrein": "0.1.0",
        });
        let record = if with_record { Some(RawJson::parse(recorded.to_string()).unwrap()) } else { None };
        self.store.insert(&PushedEvent { line: line.to_string(), record }).unwrap();
    }

    /// Adds a denied shell command.
    pub fn deny(&self, command: &str, reason: &str) {
        let session = ("claude", "5f0c2a91-7d1e", "shop", None);
        self.event(0, session, "pre_tool_use", Some("Bash"), command, "deny", reason, true);
    }

    /// Adds light events.
    pub fn many(&self, count: u64) {
        for number in 0..count {
            let line = json!({
                "time": format!("2026-01-31T08:{:02}:{:02}.{:03}Z", number / 60_000 % 60, number / 1000 % 60, number % 1000),
                "agent": "claude", "session": format!("s{}", number % 50), "project": "/nowhere", "event": "pre_tool_use",
                "tool": "Bash", "command": format!("run {number}"), "verdict": "no_opinion", "us": number,
            });
            self.store.insert(&PushedEvent { line: line.to_string(), record: None }).unwrap();
        }
    }

    /// Adds events of some sessions, as on a usual day.
    pub fn day(&self) {
        let shop = |subagent| ("claude", "5f0c2a91-7d1e", "shop", subagent);
        let docs = ("codex", "0199b7e2-c4aa", "docs-site", None);
        let old = ("gemini", "a81f33d0-9b20", "docs-site", None);
        let tool = "pre_tool_use";
        self.event(5400, old, tool, Some("run_shell_command"), "npm run build", "no_opinion", "", false);
        self.event(5300, old, "session_end", None, "", "no_opinion", "", true);
        self.event(900, shop(None), "session_start", None, "", "no_opinion", "", true);
        self.event(890, shop(None), "prompt_submit", None, "", "no_opinion", "", true);
        // The oldest event first.
        let calls = [
            (880, None, "Read", "src/cart/total.ts", "no_opinion", ""),
            (860, None, "Grep", "applyDiscount", "no_opinion", ""),
            (850, Some("reviewer-1"), "Read", "src/cart/discount.ts", "no_opinion", ""),
            (845, Some("tester-2"), "Bash", "npm test -- cart", "no_opinion", ""),
            (840, Some("reviewer-1"), "Bash", "git log --oneline -20 src/cart", "allow", "reads the history"),
            (
                800,
                Some("tester-2"),
                "Bash",
                "rm -rf node_modules/.cache ~/.npm",
                "deny",
                "deletes outside of the project",
            ),
            (700, None, "Edit", "src/cart/total.ts", "no_opinion", ""),
            (640, Some("tester-2"), "Bash", "npm test -- cart --coverage", "no_opinion", ""),
            (620, None, "Bash", "git push --dry-run origin checkout-fix", "no_opinion", ""),
            (600, None, "Bash", "cat .env.production", "deny", "`.env` files have secrets"),
            (420, None, "Bash", "git push origin checkout-fix", "ask", "pushes need a person"),
            (300, Some("reviewer-1"), "Read", "test/cart.test.ts", "no_opinion", ""),
        ];
        let later = [
            (120, None, "Bash", "git commit -m 'Round totals once'", "allow", "commits are fine"),
            (40, None, "Edit", "CHANGELOG.md", "no_opinion", ""),
        ];
        for (age, subagent, name, input, verdict, reason) in calls {
            self.event(age, shop(subagent), tool, Some(name), input, verdict, reason, true);
        }
        self.event(200, docs, tool, Some("shell"), "mkdocs build --strict", "no_opinion", "", true);
        self.event(190, docs, tool, Some("apply_patch"), "docs/guide.md", "no_opinion", "", true);
        self.event(180, docs, "stop", None, "", "no_opinion", "", true);
        for (age, subagent, name, input, verdict, reason) in later {
            self.event(age, shop(subagent), tool, Some(name), input, verdict, reason, true);
        }
    }

    fn request(&self, tool: &str, input: &Value, (hook, reason): (&str, &str), parts: &Value) -> String {
        let call = json!({
            "agent": "codex", "session": "0199b7e2-c4aa", "project": self.project("shop"), "cwd": self.project("shop"),
            "event": "PreToolUse", "tool": tool, "input": input, "rewritten": null,
            "asks": [{ "hook": hook, "source": "~/.config/checkrein/hooks.yaml:12", "reason": reason }],
            "policy": "p1", "subagent": null, "tool_call": null,
        });
        let mut call = call;
        for (key, value) in parts.as_object().unwrap() {
            call[key] = value.clone();
        }
        let waits = call.as_object_mut().unwrap().remove("waits").and_then(|seconds| seconds.as_u64());
        let call: Call = serde_json::from_value(call).unwrap();
        let new = NewApproval::new(call).waiting(waits.map(Duration::from_secs));
        self.approvals.request(new).unwrap().id.to_string()
    }

    /// Adds a question about a shell command that the agent holds for some seconds. Returns its id.
    pub fn ask_waiting(&self, command: &str, seconds: u64) -> String {
        let parts = json!({ "commands": [], "waits": seconds });
        self.request("Bash", &json!({ "command": command }), ("no-push", "sure?"), &parts)
    }

    /// Adds a question about a shell command. Returns its id.
    pub fn ask(&self, command: &str, reason: &str) -> String {
        let program = |text: &str| {
            let words: Vec<_> = text.split_whitespace().collect();
            json!({ "words": words, "wrappers": [], "pipes_to": [], "is_known": true })
        };
        let commands: Vec<_> = command.split("&&").flat_map(|part| part.split('|')).map(program).collect();
        self.request("Bash", &json!({ "command": command }), ("no-push", reason), &json!({ "commands": commands }))
    }

    /// Adds a question about an edit of a file.
    pub fn ask_edit(&self) -> String {
        let input = json!({
            "file_path": "deploy/production.yaml",
            "old_string": "replicas: 3\nimage: shop:1.8.2\n", "new_string": "replicas: 1\nimage: shop:1.9.0-rc1\n",
        });
        let diff = "--- deploy/production.yaml\n+++ deploy/production.yaml\n@@\n-replicas: 3\n-image: shop:1.8.2\n\
                    +replicas: 1\n+image: shop:1.9.0-rc1\n";
        let asks = ("production-files", "production settings need a second look");
        self.request("Edit", &input, asks, &json!({ "diff": diff, "commands": [] }))
    }

    fn approval(&self, id: &str) -> Value {
        serde_json::to_value(self.approvals.find(&id.parse().unwrap()).unwrap()).unwrap()
    }

    pub fn state(&self, id: &str) -> String {
        self.approval(id)["state"].as_str().unwrap().to_owned()
    }

    pub fn scope(&self, id: &str) -> String {
        self.answer(id)["scope"].as_str().unwrap().to_owned()
    }

    /// The answer that decided.
    pub fn answer(&self, id: &str) -> Value {
        self.approval(id)["answers"][0].clone()
    }

    /// Denies a question, as another program does.
    pub fn deny_elsewhere(&self, id: &str) {
        self.approvals.answer(&id.parse().unwrap(), Answer::deny(Via::Terminal, "ann", None)).unwrap();
    }
}

/// Milliseconds since 1970.
pub fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()
}
