//! `checkrein install`, `uninstall` and `status`, in homes that look like real ones.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

#[path = "install/agents.rs"]
mod agents;
mod common;
#[path = "install/files.rs"]
mod files;
#[path = "install/many.rs"]
mod many;
#[path = "install/needed.rs"]
mod needed;
#[path = "install/status.rs"]
mod status;

use std::path::PathBuf;

use common::Place;
use serde_json::Value;

/// Typical settings of Claude Code.
const SETTINGS: &str = r#"{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "permissions": {"allow": ["Bash(git status:*)"], "deny": []},
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [{ "type": "command", "command": "~/.claude/guard.sh", "timeout": 5 }]
      }
    ],
    "Stop": []
  },
  "model": "opus"
}
"#;

const CLAUDE: &str = "home/.claude/settings.json";

impl Place {
    fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    fn read(&self, path: &str) -> String {
        let text = std::fs::read_to_string(self.path(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        text.replace(&self.home_option(), "")
    }

    /// The option that names the home directory, because it differs from that of the account.
    fn home_option(&self) -> String {
        format!(" --home {}", self.home.path().canonicalize().unwrap().display())
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.read(path)).unwrap()
    }

    /// Runs the program, which must succeed.
    #[track_caller]
    fn fine(&self, arguments: &[&str]) -> common::Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        ran
    }

    /// Like [`fine`](Self::fine), with an empty `PATH`.
    #[track_caller]
    fn fine_alone(&self, arguments: &[&str]) -> common::Ran {
        let ran = self.ran(self.command(arguments).env("PATH", "/nowhere").output().unwrap());
        assert_eq!(ran.code, 0, "{arguments:?}: {ran:?}");
        ran
    }

    /// Names of the files of a directory.
    fn names(&self, directory: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(directory)).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Records the entries as trusted by the user, for an agent that needs it.
fn trust_entries(place: &Place, agent: &str) {
    if agent != "codex" {
        return;
    }
    let text = std::fs::read_to_string(place.path("home/.codex/hooks.json")).unwrap();
    let hooks: Value = serde_json::from_str(&text).unwrap();
    let file = place.home.path().canonicalize().unwrap().join(".codex/hooks.json");
    let mut text = String::new();
    for (event, groups) in hooks["hooks"].as_object().unwrap() {
        let own = |group: &Value| calls(&group["hooks"].to_string()) > 0;
        let group = groups.as_array().unwrap().iter().position(own).unwrap();
        let snake = event.chars().fold(String::new(), |text, c| match c.is_uppercase() && !text.is_empty() {
            true => text + "_" + &c.to_lowercase().to_string(),
            false => text + &c.to_lowercase().to_string(),
        });
        let hook = &groups[group]["hooks"][0];
        let (command, timeout) = (&hook["command"], &hook["timeout"]);
        let identity = format!(
            r#"{{"event_name":"{snake}","hooks":[{{"async":false,"command":{command},"timeout":{timeout},"type":"command"}}]}}"#
        );
        let hash = checkrein::internal::sha256_hex(identity.as_bytes());
        text += &format!("[hooks.state.\"{}:{snake}:{group}:0\"]\ntrusted_hash = \"sha256:{hash}\"\n", file.display());
    }
    place.write("home/.codex/config.toml", &text);
}

/// Number of calls of checkrein in a text.
fn calls(text: &str) -> usize {
    text.matches("checkrein hook ").count()
}
