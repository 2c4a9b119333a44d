//! Each lint with a hook that has the fault, and one that does not.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that fails may say so")]

use std::os::unix::fs::PermissionsExt;

use checkrein::dialects::document::Format;
use checkrein::dialects::{Dialect, claude};
use checkrein::lint::{RULES, lint};
use checkrein::{RawJson, Scope};

/// The codes that are told of a hook of Claude Code, with this matcher, these further keys and this script.
fn codes(matcher: &str, keys: &str, command: &str, script: Option<(&str, u32)>) -> Vec<&'static str> {
    let dir = tempfile::tempdir().unwrap();
    if let Some((text, mode)) = script {
        let path = dir.path().join("guard.sh");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let text = format!(
        r#"{{"hooks":{{"PreToolUse":[{{"matcher":{},"hooks":[{{"type":"command","command":{}{keys}}}]}}]}}}}"#,
        RawJson::string(matcher),
        RawJson::string(command)
    );
    let dialect: &'static Dialect = &claude::DIALECT;
    let decoded = dialect.decode("settings.json", Scope::User, &text, Format::Json);
    let told = decoded.diagnostics.iter().map(|diagnostic| diagnostic.code);
    told.chain(lint(&decoded.hooks, dir.path()).iter().map(|diagnostic| diagnostic.code)).collect()
}

fn of_script(text: &str) -> Vec<&'static str> {
    codes("Bash", "", "./guard.sh", Some((text, 0o755)))
}

const GOOD: &str = "#!/bin/sh\necho no >&2\nexit 2\n";

#[test]
fn every_lint_finds_its_fault_and_nothing_else() {
    assert_eq!(of_script(GOOD), [""; 0]);
    assert_eq!(codes("Bash", "", "./guard.sh", None), ["script-missing"]);
    assert_eq!(codes("Bash", "", "./guard.sh", Some((GOOD, 0o644))), ["not-executable"]);
    assert_eq!(codes("Bash", "", "sh ./guard.sh", Some((GOOD, 0o644))), [""; 0]);
    assert_eq!(of_script("echo no >&2\nexit 2\n"), ["no-shebang"]);
    assert_eq!(of_script("#!/no/such/shell\necho no >&2\nexit 2\n"), ["bad-shebang"]);
    assert_eq!(of_script("#!/bin/sh\necho no >&2\r\nexit 2\n"), ["crlf"]);
    assert_eq!(codes("bash", "", "true", None), ["matcher-fits-nothing"]);
    assert_eq!(codes("mcp__db__.*", "", "true", None), [""; 0]);
    assert_eq!(codes("Bash(git *)", "", "true", None), ["rule-in-matcher"]);
    assert_eq!(codes("Bash", r#","async":true"#, "true", None), ["async-gate"]);
    assert_eq!(of_script("#!/bin/sh\necho no >&2\nexit 1\n"), ["exit-1"]);
    assert_eq!(codes("Bash", r#","onFailure":"block""#, "echo no >&2; exit 1", None), [""; 0]);
    assert_eq!(of_script("#!/bin/sh\necho '{\"decision\":\"block\"}' >&2\nexit 2\n"), ["json-to-stderr"]);
    assert_eq!(of_script("#!/bin/sh\nc=$(jq -r .toolInput.command)\necho \"$c\" >&2\n"), ["unknown-field"]);
    assert_eq!(of_script("#!/bin/sh\nc=$(jq -r '.tool_input.command // .cwd')\necho \"$c\" >&2\n"), [""; 0]);
    assert_eq!(codes("Bash", r#","timeout":5000"#, "true", None), ["timeout-unit"]);
    assert_eq!(codes("Bash", r#","timeout":120"#, "true", None), [""; 0]);
    assert_eq!(of_script("#!/bin/sh\nexit 2\n"), ["deny-without-reason"]);
    assert_eq!(of_script("#!/bin/sh\nset -euo pipefail\ngrep -q rm\necho >&2\n"), ["errexit-grep"]);
    assert_eq!(of_script("#!/bin/sh\nset -e\ngrep -q rm || true\necho >&2\n"), [""; 0]);
}

#[test]
fn a_comment_silences_a_lint() {
    assert_eq!(of_script("#!/bin/sh\n# checkrein: allow exit-1\necho no >&2\nexit 1\n"), [""; 0]);
}

#[test]
fn every_lint_is_explained() {
    for rule in RULES {
        assert!(rule.explanation.len() > 40 && !rule.help.is_empty(), "{}", rule.code);
    }
}
