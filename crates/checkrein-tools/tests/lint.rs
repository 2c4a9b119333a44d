//! Lints: for each, a hook with the problem and one without it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that fails may say so")]

use std::os::unix::fs::PermissionsExt;

use checkrein::dialects::Dialect;
use checkrein::dialects::agents::claude;
use checkrein::document::Format;
use checkrein::{RawJson, Scope};
use checkrein_tools::lint::{CONFIG_CODES, RULES, lint};

mod support;

use support::env;

/// Codes of all findings for a Claude Code hook with this matcher, further keys, command and script.
fn codes(matcher: &str, keys: &str, command: &str, script: Option<(&str, u32)>) -> Vec<&'static str> {
    codes_at("PreToolUse", matcher, keys, command, script)
}

fn codes_at(event: &str, matcher: &str, keys: &str, command: &str, script: Option<(&str, u32)>) -> Vec<&'static str> {
    let dir = tempfile::tempdir().unwrap();
    if let Some((text, mode)) = script {
        let path = dir.path().join("guard.sh");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    let text = format!(
        r#"{{"hooks":{{"{event}":[{{"matcher":{},"hooks":[{{"type":"command","command":{}{keys}}}]}}]}}}}"#,
        RawJson::string(matcher),
        RawJson::string(command)
    );
    let dialect: &'static Dialect = &claude::DIALECT;
    let decoded = dialect.decode("settings.json", Scope::User, &text, Format::Json);
    let decoding = decoded.diagnostics.iter().map(|diagnostic| diagnostic.code);
    decoding.chain(lint(&decoded.hooks, &env(dir.path())).iter().map(|diagnostic| diagnostic.code)).collect()
}

fn codes_for_script(text: &str) -> Vec<&'static str> {
    codes("Bash", "", "./guard.sh", Some((text, 0o755)))
}

const GOOD: &str = "#!/bin/sh\necho no >&2\nexit 2\n";

#[test]
fn every_lint_reports_its_problem_only() {
    assert_eq!(codes_for_script(GOOD), [""; 0]);
    assert_eq!(codes("Bash", "", "./guard.sh", None), ["script-missing"]);
    assert_eq!(codes("Bash", "", "./guard.sh", Some((GOOD, 0o644))), ["not-executable"]);
    assert_eq!(codes("Bash", "", "sh ./guard.sh", Some((GOOD, 0o644))), [""; 0]);
    assert_eq!(codes_for_script("echo no >&2\nexit 2\n"), ["no-shebang"]);
    assert_eq!(codes_for_script("#!/no/such/shell\necho no >&2\nexit 2\n"), ["bad-shebang"]);
    assert_eq!(codes_for_script("#!/bin/sh\necho no >&2\r\nexit 2\n"), ["crlf"]);
    assert_eq!(codes("bash", "", "true", None), ["matcher-fits-nothing"]);
    assert_eq!(codes("bash|Write", "", "true", None), ["matcher-fits-nothing"]);
    assert_eq!(codes("bash|Bash", "", "true", None), [""; 0]);
    for rule in ["bash(rm *)", "Shell(rm *)"] {
        assert_eq!(codes("", &format!(r#","if":"{rule}""#), "true", None), ["matcher-fits-nothing"], "{rule}");
    }
    for rule in ["Bash(rm *)", "mcp__db__query", "Web*"] {
        assert_eq!(codes("", &format!(r#","if":"{rule}""#), "true", None), [""; 0], "{rule}");
    }
    assert_eq!(codes("mcp__db__.*", "", "true", None), [""; 0]);
    assert_eq!(codes("Bash(git *)", "", "true", None), ["rule-in-matcher"]);
    assert_eq!(codes("Bash", r#","async":true"#, "true", None), ["background-gate"]);
    assert_eq!(codes_for_script("#!/bin/sh\necho no >&2\nexit 1\n"), ["exit-1"]);
    assert_eq!(codes("Bash", r#","onFailure":"block""#, "echo no >&2; exit 1", None), [""; 0]);
    assert_eq!(codes_for_script("#!/bin/sh\necho '{\"decision\":\"block\"}' >&2\nexit 2\n"), ["json-to-stderr"]);
    assert_eq!(codes_for_script("#!/bin/sh\nc=$(jq -r .toolInput.command)\necho \"$c\" >&2\n"), ["unknown-field"]);
    assert_eq!(codes_for_script("#!/bin/sh\nc=$(jq -r '.tool_input.command // .cwd')\necho \"$c\" >&2\n"), [""; 0]);
    assert_eq!(codes("Bash", r#","timeout":5000"#, "true", None), ["timeout-unit"]);
    assert_eq!(codes("Bash", r#","timeout":120"#, "true", None), [""; 0]);
    assert_eq!(codes_for_script("#!/bin/sh\nexit 2\n"), ["deny-without-reason"]);
    assert_eq!(codes_for_script("#!/bin/bash\nset -euo pipefail\ngrep -q rm\necho >&2\n"), ["errexit-grep"]);
    assert_eq!(codes_for_script("#!/bin/sh\nset -e\ngrep -q rm || true\necho >&2\n"), [""; 0]);
}

/// As [`codes_for_script`], for another event.
fn codes_for_event(event: &str, text: &str) -> Vec<&'static str> {
    codes_at(event, "", "", "./guard.sh", Some((text, 0o755)))
}

/// Each problem with a similar script without it.
#[test]
fn shell_script_lints() {
    for (code, bad, good) in [
        (
            "local-outside-function",
            "#!/bin/bash\ncheck() {\n  local a=1\n}\nlocal reason=x\necho \"$reason\" >&2; exit 2\n",
            "#!/bin/bash\ncheck() {\n  local a=1\n  if true; then\n    local b=2\n  fi\n}\nfinish() { local c; }\ncheck; echo x >&2; exit 2\n",
        ),
        (
            "quoted-heredoc",
            "#!/bin/sh\ncommand=$(jq -r .tool_input.command)\ncat >&2 <<'EOF'\nnot $command\nEOF\nexit 2\n",
            "#!/bin/sh\ncommand=$(jq -r .tool_input.command)\ncat >&2 <<EOF\nnot $command\nEOF\nexit 2\n",
        ),
        (
            "unset-variable",
            "#!/bin/sh\nset -eu\ncd \"$EVVA_PROJECT_DIR\"\necho no >&2\nexit 2\n",
            "#!/bin/sh\nset -eu\ncd \"${EVVA_PROJECT_DIR:-.}\"\ncd \"$CLAUDE_PROJECT_DIR\"\necho no >&2\nexit 2\n",
        ),
        (
            "echoes-input",
            "#!/bin/sh\ninput=$(cat)\necho \"$input\" >> log\necho \"$input\"\n",
            "#!/bin/sh\ninput=$(cat)\necho \"$input\" >> log\necho \"$input\" | grep -q x\n",
        ),
        (
            "errexit-grep",
            "#!/bin/bash\nset -o errexit\ncommand=$(grep x)\necho >&2\n",
            "#!/bin/bash\nset -e\nif grep -q x; then echo >&2; exit 2; fi\nwhile grep -q y; do :; done\n",
        ),
    ] {
        assert_eq!(codes_for_script(bad), [code], "{bad}");
        assert_eq!(codes_for_script(good), [""; 0], "{good}");
    }
}

#[test]
fn answer_lints() {
    let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
    let silent = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny"}}"#;
    for (code, bad, good) in [
        ("deny-without-reason", format!("echo '{silent}'"), format!("echo '{deny}'")),
        ("answer-with-exit", format!("echo '{deny}'\nexit 3"), format!("echo '{deny}'\nexit 0")),
        ("answer-with-exit", format!("echo '{deny}'; exit 2"), format!("echo '{deny}'; exit")),
        (
            "unknown-answer",
            r#"echo '{"block":true}'"#.to_owned(),
            r#"echo '{"block":true}' | curl -d @- localhost"#.to_owned(),
        ),
        (
            "unknown-answer",
            r#"printf '%s\n' '{"decision":"denied","reason":"no"}'"#.to_owned(),
            r#"printf '%s\n' '{"decision":"block","reason":"no"}'"#.to_owned(),
        ),
        (
            "unknown-answer",
            r#"echo "{\"decison\": \"block\", \"reason\": \"no $x\"}""#.to_owned(),
            r#"echo "{\"decision\": \"block\", \"reason\": \"no $x\"}""#.to_owned(),
        ),
        ("json-to-stderr", format!("cat >&2 <<EOF\n{deny}\nEOF\nexit 2"), format!("cat <<EOF\n{deny}\nEOF")),
    ] {
        assert_eq!(codes_for_script(&format!("#!/bin/sh\n{bad}\n")), [code], "{bad}");
        assert_eq!(codes_for_script(&format!("#!/bin/sh\n{good}\n")), [""; 0], "{good}");
    }
    let python = |to: &str| {
        format!(
            "#!/usr/bin/env python3\nimport json, sys\nprint(json.dumps({{\"decision\": \"block\", \"reason\": \"x\"}}){to})\n"
        )
    };
    assert_eq!(codes_for_script(&python(", file=sys.stderr")), ["json-to-stderr"]);
    assert_eq!(codes_for_script(&python("")), [""; 0]);
}

#[test]
fn answer_and_feedback_lints_depend_on_the_event() {
    let request = "#!/usr/bin/env python3\nprint('{\"hookSpecificOutput\": {\"permissionDecision\": \"deny\"}}')\n";
    assert_eq!(codes_for_event("PermissionRequest", request), ["answer-not-read"]);
    assert_eq!(codes_for_event("PreToolUse", request), [""; 0]);
    let both = "#!/usr/bin/env python3\nif x: print({\"permissionDecision\": \"deny\"})\nelse: print({\"behavior\": \"deny\"})\n";
    assert_eq!(codes_for_event("PermissionRequest", both), [""; 0]);

    let feedback = "#!/bin/sh\ncargo fmt --check || echo 'not formatted' >&2\nexit 0\n";
    assert_eq!(codes_for_event("PostToolUse", feedback), ["feedback-not-shown"]);
    assert_eq!(codes_for_event("PostToolUse", &feedback.replace("exit 0", "exit 2")), [""; 0]);
    assert_eq!(codes_for_event("SessionEnd", feedback), [""; 0], "the event has no feedback");
}

#[test]
fn field_names_of_other_agents_are_reported() {
    let claw = "#!/usr/bin/env python3\nimport json, sys\nprint(json.load(sys.stdin)[\"tool_output\"])\n";
    assert_eq!(codes_for_event("PostToolUse", claw), ["unknown-field"]);
    assert_eq!(codes_for_event("PostToolUse", &claw.replace("tool_output", "tool_response")), [""; 0]);
    let several = "#!/usr/bin/env python3\nimport json, sys\nd = json.load(sys.stdin)\nd.get(\"tool_output\") or d.get(\"tool_response\")\n";
    assert_eq!(codes_for_event("PostToolUse", several), [""; 0]);
    assert_eq!(
        codes_for_script("#!/bin/sh\nc=$(checkrein get toolInput.command)\necho \"$c\" >&2\n"),
        ["unknown-field"]
    );
    assert_eq!(
        codes_for_script("#!/bin/sh\nc=$(jq -r '.toolInput.command // .tool_input.command')\necho \"$c\" >&2\n"),
        [""; 0]
    );
}

#[test]
fn timeouts_in_the_wrong_unit_are_reported() {
    let with = |keys: &str| codes("Bash", keys, "true", None);
    for (keys, reported) in [
        (r#","timeout":0.03"#, true),
        (r#","timeout":30000"#, true),
        (r#","timeout":0.5"#, false),
        (r#","timeout":600"#, false),
    ] {
        assert_eq!(with(keys).contains(&"timeout-unit"), reported, "{keys}");
    }
}

#[test]
fn dry_run_gate_is_reported() {
    let native: &'static Dialect = &checkrein::dialects::agents::native::DIALECT;
    for (event, dry_run, count) in [("PreToolUse", true, 1), ("PreToolUse", false, 0), ("SessionEnd", true, 0)] {
        let text = format!("hooks: [{{event: {event}, command: 'true', dry_run: {dry_run}}}]");
        let decoded = native.decode("hooks.yaml", Scope::User, &text, Format::Yaml);
        let codes: Vec<_> =
            lint(&decoded.hooks, &env(tempfile::tempdir().unwrap().path())).iter().map(|found| found.code).collect();
        assert_eq!(codes, vec!["dry-run-gate"; count], "{text}");
    }
}

/// Good hooks, like the examples in issue trackers.
#[test]
fn good_scripts_have_no_findings() {
    for script in [
        "#!/bin/bash\nset -euo pipefail\ninput=$(cat)\ncommand=$(jq -r '.tool_input.command // empty' <<<\"$input\")\nif [[ \"$command\" =~ rm ]]; then\n  echo \"no: $command\" >&2\n  exit 2\nfi\nexit 0\n",
        "#!/bin/bash\nlog() {\n  echo \"$1\" >&2\n}\nlog checking\njq -r .tool_input.command | grep -q curl && { log 'no network'; exit 2; }\nexit 0\n",
        "#!/usr/bin/env python3\nimport json, sys\ndata = json.load(sys.stdin)\nif 'rm' in data['tool_input'].get('command', ''):\n    print('no', file=sys.stderr)\n    sys.exit(2)\n",
        "#!/usr/bin/env node\nconst input = JSON.parse(require('fs').readFileSync(0));\nif (input.tool_name === 'Bash') console.log(JSON.stringify({hookSpecificOutput: {hookEventName: 'PreToolUse', permissionDecision: 'ask', permissionDecisionReason: 'sure?'}}));\n",
        "#!/bin/sh\njq -c . >> \"$CLAUDE_PROJECT_DIR/log.jsonl\"\n",
        "#!/bin/sh\ntee -a log.jsonl > /dev/null\n",
    ] {
        assert_eq!(codes_for_script(script), [""; 0], "{script}");
    }
}

#[test]
fn comment_in_the_hook_file_or_script_silences_a_lint() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("hooks.yaml");
    let text = "hooks:\n  PreToolUse:\n    - matcher: Bash\n      command: ./none.sh\n";
    let found = |text: &str| {
        std::fs::write(&file, text).unwrap();
        let dialect: &'static Dialect = &checkrein::dialects::agents::native::DIALECT;
        let decoded = dialect.decode(&file.to_string_lossy(), Scope::User, text, Format::Yaml);
        lint(&decoded.hooks, &env(dir.path())).iter().map(|diagnostic| diagnostic.code).collect::<Vec<_>>()
    };
    assert_eq!(found(text), ["script-missing"]);
    assert_eq!(found(&format!("# checkrein: allow script-missing\n{text}")), [""; 0]);
    assert_eq!(found(&format!("# checkrein: allow script-missing-too\n{text}")), ["script-missing"]);
    assert_eq!(codes_for_script("# checkrein: allow no-shebang\necho no >&2\nexit 2\n"), [""; 0]);
}

#[test]
fn comment_after_the_shebang_silences_a_lint() {
    assert_eq!(codes_for_script("#!/bin/sh\n# checkrein: allow exit-1\necho no >&2\nexit 1\n"), [""; 0]);
}

#[test]
fn every_lint_has_an_explanation() {
    for rule in RULES.iter().chain(CONFIG_CODES) {
        assert!(rule.explanation.len() > 25 && !rule.help.is_empty(), "{}", rule.code);
    }
}
