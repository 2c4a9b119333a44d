//! A corpus of constructs of published hooks: each with the codes that it must get, and no others.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that fails may say so")]

mod support;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use checkrein::dialects::Dialect;
use checkrein::dialects::agents::{claude, native};
use checkrein::document::Format;
use checkrein::{RawJson, Scope};
use checkrein_tools::lint::{explain, lint, load_errors};
use support::env;

/// Codes of all findings in a project with this file, with `error` or `warning`.
fn findings(dialect: &'static Dialect, name: &str, text: &str, dir: &Path) -> Vec<String> {
    let file = dir.join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, text).unwrap();
    let format = Format::from_path(&file).unwrap();
    let decoded = dialect.decode(&file.to_string_lossy(), Scope::Project, text, format);
    let mut found = decoded.diagnostics.clone();
    found.extend(load_errors(dialect, &decoded.hooks, dir, &decoded.diagnostics));
    found.extend(lint(&decoded.hooks, &env(dir)));
    found.iter().map(|found| format!("{}[{}]", found.severity, found.code)).collect()
}

/// Findings for one command of a Claude Code project.
fn command(event: &str, command: &str) -> Vec<String> {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [
        (".claude/hooks/guard.sh", "#!/bin/sh\necho no >&2\nexit 2\n"),
        (".claude/hooks/format.py", "#!/usr/bin/env python3\n"),
    ] {
        let path = dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let text = format!(
        r#"{{"hooks":{{"{event}":[{{"hooks":[{{"type":"command","command":{}}}]}}]}}}}"#,
        RawJson::string(command)
    );
    findings(&claude::DIALECT, ".claude/settings.json", &text, dir.path())
}

#[test]
fn commands_of_published_hooks() {
    const NONE: &[&str] = &[];
    let mut wrong = Vec::new();
    for (event, text, expected) in [
        // Variables that no agent sets.
        ("PostToolUse", "cat \"$CLAUDE_TOOL_FILE_PATH\"", &["warning[unknown-variable]"][..]),
        ("PostToolUse", "[ \"$CLAUDE_TOOL_NAME\" = Bash ] && cat", &["warning[unknown-variable]"]),
        ("PostToolUse", "cat \"${CLAUDE_TOOL_INPUT_FILE_PATH}\"", &["warning[unknown-variable]"]),
        ("PostToolUse", "echo \"$STDIN_JSON\" | jq .", &["warning[unknown-variable]"]),
        ("PostToolUse", "cat \"$CLAUDE_PROJECT_DIR/x\" $CLAUDE_CODE_SESSION_ID", NONE),
        ("PostToolUse", "cat \"${CLAUDE_TOOL_FILE_PATH:-}\"", NONE),
        (
            "PostToolUse",
            "CLAUDE_FILE=x; cat $CLAUDE_FILE; cat $CLAUDE_ENV_FILE $CLAUDE_CONFIG_DIR $CLAUDE_API_KEY",
            NONE,
        ),
        ("PostToolUse", "TOOL_NAME=$(jq -r .tool_name); echo \"$TOOL_NAME\" | cat", NONE),
        // Syntax of bash under sh.
        ("PreToolUse", "if [[ -n $x ]]; then echo no >&2; exit 2; fi", &["warning[bashism]"]),
        ("PreToolUse", "jq -e .tool_input <<< \"$x\" >/dev/null", &["warning[bashism]"]),
        ("PreToolUse", "bash -c 'if [[ -n $x ]]; then echo no >&2; exit 2; fi'", NONE),
        ("PreToolUse", "grep -q '[[:space:]]' || { echo \"[[ no ]]\" >&2; exit 2; }", NONE),
        // Syntax errors.
        ("PreToolUse", "echo 'not closed", &["error[shell-syntax]"]),
        ("PostToolUse", "if grep -q x; then echo", &["error[shell-syntax]"]),
        // Missing programs.
        ("PreToolUse", "my-guard --strict", &["error[program-missing]"]),
        ("PostToolUse", "uv run x", &["warning[program-missing]"]),
        ("PreToolUse", "x=$(yq .a); case $x in *rm*) echo no >&2; exit 2;; esac", &["error[program-missing]"]),
        ("Notification", "/no/such/program --quiet", &["warning[script-missing]"]),
        ("Notification", "date; /no/such/program --quiet", &["warning[program-missing]"]),
        ("Notification", "notify-send done", &["warning[program-missing]"]),
        ("Notification", "command -v notify-send >/dev/null && notify-send done", NONE),
        ("Notification", "if which notify-send; then notify-send done; fi", &["warning[program-missing]"]),
        ("Notification", "notify-send done 2>/dev/null || true", NONE),
        ("Notification", "case $(git x) in Darwin) afplay a;; *) paplay a;; esac", NONE),
        ("Notification", "export PATH=$HOME/bin:$PATH; my-notify", NONE),
        ("Notification", "say_it() { echo hi | cat; }; say_it", NONE),
        ("Notification", "cd /tmp && pwd && test -f x && [ -f x ] && printf '%s' x && true", NONE),
        // Inline code is no path.
        ("PostToolUse", "python3 -c 'import os; print(os.path.x)'", NONE),
        ("PostToolUse", "node -e \"require(\\\"x.js\\\")\"", NONE),
        ("PostToolUse", "node --eval 'require(\"./a/b.js\")'", NONE),
        ("PostToolUse", "perl -e 'print qq(a/b.pl)'", NONE),
        ("PostToolUse", "perl -ne 'print if m{a/b.c}'", NONE),
        ("PostToolUse", "ruby -e 'puts \"a/b.rb\"'", NONE),
        ("PostToolUse", "php -r 'echo \"a/b.php\";'", NONE),
        ("PostToolUse", "bash -c 'cat a/b.txt'", NONE),
        ("PostToolUse", "sh -c \"cat a/b.txt\"", NONE),
        ("PostToolUse", "python3 -m tool.hook a/b.py", NONE),
        ("PostToolUse", "python3 -u missing/x.py", &["warning[script-missing]", "warning[relative-script]"]),
        // Relative scripts.
        ("PreToolUse", ".claude/hooks/guard.sh", &["warning[relative-script]"]),
        ("PreToolUse", "bash .claude/hooks/guard.sh", &["warning[relative-script]"]),
        ("PreToolUse", "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/guard.sh", NONE),
        ("PostToolUse", "python3 \"${CLAUDE_PROJECT_DIR}/.claude/hooks/format.py\"", NONE),
        ("PostToolUse", "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/none.sh", &["warning[script-missing]"]),
        ("PreToolUse", "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/none.sh", &["error[script-missing]"]),
    ] {
        let found = command(event, text);
        if found != expected {
            wrong.push(format!("{event}: {text}\n  found {found:?}\n  expected {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn programs_that_scripts_need_are_reported() {
    const NONE: &[&str] = &[];
    for (text, expected) in [
        ("#!/bin/sh\nuvx tool\n", &["error[program-missing]"][..]),
        ("#!/usr/bin/env -S uv run --script\nprint()\n", &["error[bad-shebang]"]),
        ("#!/usr/bin/env python3\nprint()\n", NONE),
        ("#!/bin/bash\nsource ./lib.sh\nlib_function\nyq .\n", &["error[program-missing]"]),
        ("#!/bin/bash\nfor t in uv yq; do command -v \"$t\" || exit 0; done\nuv x\nyq .\n", NONE),
        ("#!/bin/bash\nlog() { echo x; }\nlog a\nlocal_function() { log b; }\nlocal_function\n", NONE),
        ("#!/bin/bash\nif [[ $x =~ ^(a|b)$ ]]; then arr=(a b); echo \"${arr[0]}\" <<< x; fi\n", NONE),
        ("#!/bin/bash\nif true; then\n  echo\n", &["error[shell-syntax]"]),
        ("#!/bin/sh\narr=(a b)\n", &["warning[bashism]"]),
        ("#!/bin/zsh\nprint -P hi; autoload x\n", NONE),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("guard");
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let config =
            r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"$CLAUDE_PROJECT_DIR/guard"}]}]}}"#;
        // `/bin/zsh` may be missing on this machine.
        let mut found = findings(&claude::DIALECT, ".claude/settings.json", config, dir.path());
        found.retain(|found| !(text.contains("zsh") && found.ends_with("[bad-shebang]")));
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn keys_that_agents_ignore() {
    let dir = tempfile::tempdir().unwrap();
    let check = |text: &str| findings(&claude::DIALECT, ".claude/settings.json", text, dir.path());
    let rewake = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"date","asyncRewake":true,"rewakeMessage":"a","rewakeSummary":"b"}]}]}}"#;
    assert_eq!(check(rewake), [""; 0]);
    let notes = r#"{"description":"x","hooks":{"Stop":[{"id":"a","name":"b","description":"c","_comment":"d","hooks":[{"type":"command","command":"date","description":"e"}]}]}}"#;
    assert_eq!(check(notes), [""; 0]);
    let twice = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"date","timout":1},{"type":"command","command":"git","timout":1,"other":2}]}]}}"#;
    assert_eq!(check(twice), ["warning[unknown-key]"; 2], "once for each key");
    // A misspelt key of checkrein's own file is an error.
    let own = "hooks: [{id: a, event: Stop, command: date, timout: 1}]";
    assert_eq!(findings(&native::DIALECT, ".checkrein/hooks.yaml", own, dir.path()), ["error[unknown-key]"]);
}

#[test]
fn hooks_that_an_engine_cannot_load() {
    const NONE: &[&str] = &[];
    for (hook, expected) in [
        ("event: PreToolUse, builtin: block_dangerous_command", &["error[not-loaded]"][..]),
        ("event: PreToolUse, builtin: block_dangerous_commands, args: [--deny=git_force]", &["error[not-loaded]"]),
        ("event: PreToolUse, builtin: protect_paths", &["error[not-loaded]"]),
        ("event: SessionStart, builtin: protect_paths, args: [.env]", &["error[not-loaded]"]),
        ("event: PostToolUse, builtin: block_dangerous_commands", &["error[not-loaded]"]),
        ("event: SessionEnd, builtin: add_date", &["error[not-loaded]"]),
        ("event: [PreToolUse, SessionStart], builtin: protect_paths, args: [.env]", NONE),
        ("event: PreToolUse, builtin: protect_paths, args: [.env]", NONE),
        ("event: SessionStart, builtin: add_date", NONE),
        ("event: PostToolUse, builtin: redact_secrets", NONE),
        ("event: PreToolUse, builtin: ", &["error[missing-key]", "error[closed-gate]"]),
        ("event: PreToolUse, url: ", &["error[missing-key]", "error[closed-gate]"]),
        ("event: PreToolUse, url: 'ftp://x.example/'", &["error[bad-url]", "error[closed-gate]"]),
        ("event: Stop, url: 'https://x.example/', ca_file: /no/such.pem", &["error[not-loaded]"]),
        ("event: Stop, url: 'https://x.example/', headers: {a: $TOKEN}", &["warning[handler-problem]"]),
        ("event: PreToolUse, type: prompt, prompt: x", &["error[not-run-here]"]),
        ("event: PreToolUse, matcher: bash, command: date", &["warning[matcher-fits-nothing]"]),
        ("event: PreToolUse, matcher: 'mcp__github|Bash', command: date", &["warning[matcher-fits-nothing]"]),
        ("event: PreToolUse, matcher: 'mcp__github__.*', command: date", NONE),
        ("event: PreToolUse, matcher: 'Bash|Deploy', command: date", NONE),
        ("event: PreToolUse, matcher: Deploy, command: date", NONE),
        ("event: PreToolUse, matcher: 'bash|Write', command: date", &["warning[matcher-fits-nothing]"]),
        ("event: PreToolUse, matcher: 'bash|Bash', command: date", NONE),
        ("event: PreToolUse, if: 'bash(rm *)', command: date", &["warning[matcher-fits-nothing]"]),
        ("event: PreToolUse, if: 'Shell(rm *)', command: date", NONE),
        ("event: PreToolUse, command: ~/s.sh, args: [x]", &["error[program-missing]"]),
        (
            "event: PreToolUse, matcher: Bash, if: 'Bash(git push --force *)', command: date",
            &["warning[evadable-rule]"],
        ),
        ("event: PreToolUse, matcher: Bash, if: 'Bash(rm -rf *)', command: date", &["warning[evadable-rule]"]),
        ("event: PreToolUse, matcher: Bash, if: 'Bash(git push *)', command: date", NONE),
        ("event: PostToolUse, matcher: Bash, if: 'Bash(git -C *)', command: date", NONE),
        ("event: Stop, command: 'date $CLAUDE_TOOL_NAME'", &["warning[unknown-variable]"]),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let text = format!("hooks: [{{id: a, {hook}}}]");
        assert_eq!(findings(&native::DIALECT, ".checkrein/hooks.yaml", &text, dir.path()), expected, "{hook}");
    }
    let dir = tempfile::tempdir().unwrap();
    let twice =
        "hooks:\n  - {id: a, event: [Stop, PreToolUse], command: date}\n  - {id: a, event: Stop, command: git}\n";
    assert_eq!(findings(&native::DIALECT, ".checkrein/hooks.yaml", twice, dir.path()), ["warning[duplicate-id]"]);
    let keys = "trusted_keys: ['ssh-ed25519 AAAA', 'ssh-rsa AAAAB3NzaC1yc2E me', 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJfE1wVvUDJpTfDGkxkZyzlVsoaCAJTFTQDQZ1GL3xPn me']";
    assert_eq!(findings(&native::DIALECT, "user.yaml", keys, dir.path()), ["error[bad-key]"; 2]);
}

#[test]
fn findings_point_to_the_value_at_fault() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("settings.json");
    let text = "{\"hooks\": {\"PreToolUse\": [\n  {\n    \"matcher\": \"bash\",\n    \"hooks\": [\n      {\n        \"type\": \"command\",\n        \"command\": \"my-guard\",\n        \"timeout\": 5000\n      }\n    ]\n  }\n]}}\n";
    std::fs::write(&file, text).unwrap();
    let decoded = claude::DIALECT.decode(&file.to_string_lossy(), Scope::User, text, Format::Json);
    let found = lint(&decoded.hooks, &env(dir.path()));
    let places: Vec<_> = found
        .iter()
        .map(|found| {
            let at = found.at.as_ref().unwrap();
            (found.code, at.place.line, at.place.column)
        })
        .collect();
    assert_eq!(places, [("matcher-fits-nothing", 3, 16), ("timeout-unit", 8, 20), ("program-missing", 7, 20)]);
}

/// Hooks in the documentation are examples to copy.
#[test]
fn examples_of_the_documentation_have_no_findings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages: Vec<_> = ["docs", "docs/guides"]
        .iter()
        .flat_map(|dir| std::fs::read_dir(root.join(dir)).unwrap().map(|entry| entry.unwrap().path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    pages.push(root.join("README.md"));
    let mut count = 0;
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for block in text.split("\n```yaml\n").skip(1) {
            let block = block.split("\n```").next().unwrap();
            // The guide shows the message for a misspelt name.
            if !block.lines().any(|line| line == "hooks:") || block.contains("c.subcomand") {
                continue;
            }
            let dir = tempfile::tempdir().unwrap();
            let mut found = findings(&native::DIALECT, ".checkrein/hooks.yaml", block, dir.path());
            // The scripts and programs of the examples are not here, and recipes of one line have no tests.
            found.retain(|found| {
                !["script-missing", "program-missing", "not-loaded", "untested-rule"]
                    .iter()
                    .any(|code| found.contains(code))
            });
            assert_eq!(found, [""; 0], "{}:\n{block}", page.display());
            count += 1;
        }
    }
    assert!(count > 5, "{count} examples");
}

/// `check --explain` knows every code of a diagnostic in the sources.
#[test]
fn every_code_has_an_explanation() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut codes = 0;
    for crate_dir in ["checkrein-dialects/src", "checkrein/src", "checkrein-tools/src/lint"] {
        for path in sources(&root.join(crate_dir)) {
            let text = std::fs::read_to_string(&path).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap();
            for start in ["error(", "warning(", "unknown(", "of_file(", "note(", "report(", "for_hook("] {
                for (at, _) in text.match_indices(start) {
                    let mut call: &str = &text[at + start.len()..];
                    call = &call[..call.char_indices().nth(120).map_or(call.len(), |(end, _)| end)];
                    let Some(code) = call.split('"').nth(1) else { continue };
                    let before = call.split('"').next().unwrap();
                    let is_code = code.contains('-')
                        && code.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
                    if !is_code || before.contains([';', '{', '}']) {
                        continue;
                    }
                    assert!(explain(code).is_some(), "{code} in {}", path.display());
                    codes += 1;
                }
            }
        }
    }
    assert!(codes > 80, "{codes} codes");
    for code in ["closed-gate", "misplaced", "too-large", "no-hooks-found"] {
        assert!(explain(code).is_some(), "{code}");
    }
}

fn sources(dir: &Path) -> Vec<std::path::PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            all.push(path);
        }
    }
    all
}
