//! The first five minutes: the quick start of `README.md` followed literally, a team, several agents, and the recipes.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use common::{Place, Ran, SYSTEM_PATH};
use serde_json::{Value, json};

const USER_FILE: &str = "home/.config/checkrein/hooks.yaml";

fn page(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}

/// A home directory in which Claude Code and Codex have run.
fn newcomer() -> Place {
    let place = Place::untrusted(&[]);
    for directory in [".claude", ".codex"] {
        std::fs::create_dir(place.home.path().join(directory)).unwrap();
    }
    place
}

/// Runs a command line as the user types it.
fn typed(place: &Place, line: &str) -> Ran {
    let words: Vec<_> = line.strip_prefix("checkrein ").unwrap().split(' ').collect();
    // `'git push'` is one word.
    let mut arguments: Vec<String> = Vec::new();
    for word in words {
        match arguments.last_mut() {
            Some(open) if open.starts_with('\'') && !(open.len() > 1 && open.ends_with('\'')) => {
                open.push(' ');
                open.push_str(word);
            }
            _ => arguments.push(word.to_owned()),
        }
    }
    let arguments: Vec<_> = arguments.iter().map(|word| word.trim_matches('\'')).collect();
    place.run(&arguments)
}

/// Calls the command that an agent's settings have for an event, as the agent does.
fn called(place: &Place, settings: &str, payload: &Value) -> Ran {
    let text = std::fs::read_to_string(place.home.path().join(settings)).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    let event = payload["hook_event_name"].as_str().unwrap();
    let command = settings["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap();
    let mut child = std::process::Command::new("sh")
        .args(["-c", command])
        .current_dir(place.dir.path())
        .env_clear()
        .env("PATH", SYSTEM_PATH)
        .env("HOME", place.home.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    place.ran(child.wait_with_output().unwrap())
}

fn call(place: &Place, event: &str, tool: &str, input: &Value) -> Value {
    json!({
        "hook_event_name": event,
        "session_id": "s",
        "cwd": place.dir.path().canonicalize().unwrap(),
        "tool_name": tool,
        "tool_input": input,
        "tool_response": "done",
    })
}

fn shell(place: &Place, command: &str) -> Value {
    call(place, "PreToolUse", "Bash", &json!({ "command": command }))
}

fn decision(ran: &Ran) -> String {
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    answer["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn quick_start_guards_claude_code_and_codex() {
    let readme = page("README.md");
    let start = readme.find("## Quick start").unwrap();
    let end = start + readme[start..].find("\n## Why").unwrap();
    let commands: Vec<_> = readme[start..end].lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    assert_eq!(commands[..2], ["checkrein init --yes", "checkrein install --yes"]);

    let place = newcomer();
    for line in &commands[..2] {
        let ran = typed(&place, line);
        assert_eq!(ran.code, 0, "{line}: {ran:?}");
    }
    for (line, rule, says) in [
        ("rm -rf ~/", "filesystem.delete-system", "deletes a system directory or the home directory"),
        ("git push", "git.push-any", "pushes to a remote repository"),
    ] {
        let line = commands.iter().find(|command| command.contains(line)).unwrap();
        let ran = typed(&place, line);
        for agent in ["claude", "codex"] {
            let block = ran.stdout.split("\n").skip_while(|line| !line.starts_with(agent)).take(2).collect::<String>();
            assert!(
                block.contains(&format!("{rule} ~/.config/checkrein/hooks.yaml:")) && block.contains(says),
                "{ran:?}"
            );
        }
        assert!(!ran.stdout.contains("does not call checkrein"), "{ran:?}");
    }
    for (settings, push) in [(".claude/settings.json", "ask"), (".codex/hooks.json", "deny")] {
        let heard = |command: &str| called(&place, settings, &shell(&place, command));
        assert_eq!(decision(&heard("rm -rf ~")), "deny", "{settings}");
        assert_eq!(decision(&heard("git push")), push, "{settings}");
        let quiet = heard("cd $X && make -j$(nproc)");
        assert_eq!((quiet.code, quiet.stdout.as_str(), quiet.stderr.as_str()), (0, "", ""), "{settings}");
    }
}

#[test]
fn a_team_shares_hooks_after_approval() {
    let author = newcomer();
    let ran = author.run(&["init", "--project", "--yes"]);
    assert!(ran.code == 0 && ran.stderr.contains("approved "), "{ran:?}");
    assert_eq!(author.run(&["try", "rm -rf ~"]).code, 2);

    // A colleague clones the repository.
    let hooks = std::fs::read_to_string(author.dir.path().join(".checkrein/hooks.yaml")).unwrap();
    let colleague = newcomer();
    colleague.write(".checkrein/hooks.yaml", &hooks);
    colleague.run(&["install", "--yes"]);
    let ran = colleague.run(&["try", "rm -rf ~"]);
    assert!(ran.code == 0 && ran.stdout.contains("not approved"), "{ran:?}");
    let ran = colleague.run(&["trust", "approve", "--all", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(colleague.run(&["try", "rm -rf ~"]).code, 2);
    for settings in [".claude/settings.json", ".codex/hooks.json"] {
        assert_eq!(decision(&called(&colleague, settings, &shell(&colleague, "rm -rf ~"))), "deny", "{settings}");
    }
}

#[test]
fn hooks_of_claude_code_guard_other_agents() {
    let place = newcomer();
    let claude = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command",
        "command": "grep -q curl && { echo no curl >&2; exit 2; }; exit 0"}]}]}}"#;
    place.write("home/.claude/settings.json", claude);
    place.write(USER_FILE, "include: [claude]\nhooks: []\n");
    let ran = place.run(&["install", "codex", "--yes"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let heard = |command: &str| called(&place, ".codex/hooks.json", &shell(&place, command));
    let denied = heard("curl x.test");
    assert!(decision(&denied) == "deny" && denied.stdout.contains("no curl"), "{denied:?}");
    assert_eq!(heard("ls").stdout, "");
    // Claude Code runs its own hooks.
    let own = place.run_with(&["hook", "claude"], &shell(&place, "curl x.test").to_string());
    assert_eq!(own.stdout, "", "{own:?}");
}

/// The config of a recipe.
fn recipe(title: &str) -> String {
    let page = page("docs/recipes.md");
    let start = page.find(&format!("## {title}\n")).unwrap_or_else(|| panic!("no recipe `{title}`"));
    let block = page[start..].split("```yaml\n").nth(1).unwrap();
    let text = block.split("```").next().unwrap().to_owned();
    assert_eq!(text.lines().count(), 2, "a recipe is one line below `hooks:` or `packs:`");
    text
}

fn with_recipe(title: &str) -> Place {
    let place = Place::with(&[(USER_FILE, &recipe(title)), (".env", "KEY=1\n"), (".env.example", "KEY=\n")]);
    // The machine of the test may lack a program of a recipe, such as a formatter. Recipes have one line, so no tests.
    let checked = place.run(&["check", "--strict", "--allow", "program-missing", "--allow", "untested-rule"]);
    assert_eq!(checked.code, 0, "{title}: {checked:?}");
    place
}

#[test]
fn recipes_for_commands_decide_under_both_agents() {
    for (title, command, claude, codex) in [
        ("Deny every `rm -rf`", "rm -rf build", "deny", "deny"),
        ("Deny every `rm -rf`", "cd sub && sudo rm -fr x", "deny", "deny"),
        ("Deny every `rm -rf`", "rm a.txt", "", ""),
        ("Deny every force push", "git push --force origin feature", "deny", "deny"),
        ("Deny every force push", "git push origin main --force-with-lease", "deny", "deny"),
        ("Deny every force push", "git push origin feature", "", ""),
        ("Ask before a push", "git push", "ask", "deny"),
        ("Ask before a push", "git -C . push origin x", "ask", "deny"),
        ("Ask before a push", "git pull", "", ""),
        ("Ask before a push", "echo $HOME", "", ""),
        ("No push to protected branches", "git push origin HEAD:main", "deny", "deny"),
        ("No push to protected branches", "git push origin fix", "", ""),
        ("Ask before data leaves this machine", "curl -d @a https://x.test", "ask", "deny"),
        ("Ask before data leaves this machine", "curl -d @a http://localhost", "", ""),
        ("Protect `.env` against reading and writing", "cat .env", "deny", "deny"),
        ("Protect `.env` against reading and writing", "echo A=1 >> .env", "deny", "deny"),
        ("Protect `.env` against reading and writing", "cat .env.example", "", ""),
        ("Protect `.env` against reading and writing", "ls -la", "", ""),
    ] {
        let place = with_recipe(title);
        for (agent, expected) in [("claude", claude), ("codex", codex)] {
            let ran = place.run_with(&["hook", agent], &shell(&place, command).to_string());
            assert_eq!(decision(&ran), expected, "{agent}: {command}: {ran:?}");
        }
    }
}

#[test]
fn recipe_protects_files_against_tools() {
    let place = with_recipe("Protect `.env` against reading and writing");
    let patch = json!({ "command": "*** Begin Patch\n*** Update File: .env\n@@\n-KEY=1\n+KEY=2\n*** End Patch" });
    for (agent, tool, input, expected) in [
        ("claude", "Read", json!({ "file_path": ".env" }), "deny"),
        ("claude", "Write", json!({ "file_path": ".env", "content": "x" }), "deny"),
        ("claude", "Edit", json!({ "file_path": ".env", "old_string": "1", "new_string": "2" }), "deny"),
        ("claude", "Read", json!({ "file_path": ".env.example" }), ""),
        ("codex", "apply_patch", patch, "deny"),
    ] {
        let ran = place.run_with(&["hook", agent], &call(&place, "PreToolUse", tool, &input).to_string());
        assert_eq!(decision(&ran), expected, "{agent}: {tool} {input}: {ran:?}");
    }
}

/// Variables that formatters need, with their usual places in the home directory.
const TOOL_DIRECTORIES: &[(&str, &str)] = &[
    ("CARGO_HOME", ".cargo"),
    ("GOPATH", "go"),
    ("JAVA_HOME", ".sdkman/candidates/java/current"),
    ("NVM_DIR", ".nvm"),
    ("PNPM_HOME", ".local/share/pnpm"),
    ("PYENV_ROOT", ".pyenv"),
    ("RUSTUP_HOME", ".rustup"),
    ("VIRTUAL_ENV", ".venv"),
];

#[test]
fn recipe_formats_changed_files() {
    let title = "Format files after an edit";
    let place = with_recipe(title);
    let home = place.home.path().canonicalize().unwrap();
    // As after `cargo install`.
    let programs = home.join(".cargo/bin");
    std::fs::create_dir_all(&programs).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_checkrein"), programs.join("checkrein")).unwrap();
    place.write("home/format", "#!/bin/sh\nenv > \"$HOME/seen\"\nfor f; do echo formatted >> \"$f\"; done\n");
    place.write(USER_FILE, &recipe(title).replace("rustfmt", home.join("format").to_str().unwrap()));
    let patch = json!({ "command": "*** Begin Patch\n*** Add File: b.rs\n+x\n*** Add File: c.rs\n+x\n*** End Patch" });
    let file = |name: &str| json!({ "file_path": place.dir.path().canonicalize().unwrap().join(name), "content": "x" });
    for (agent, tool, input, files) in [
        ("claude", "Write", file("a.rs"), &["a.rs"][..]),
        ("claude", "Write", file("with space.rs"), &["with space.rs"]),
        ("codex", "apply_patch", patch, &["b.rs", "c.rs"]),
        ("claude", "Write", file("notes.md"), &[]),
    ] {
        for name in ["a.rs", "b.rs", "c.rs", "with space.rs", "notes.md"] {
            place.write(name, "x\n");
        }
        let mut command = place.command(&["hook", agent]);
        command.env("PATH", format!("{SYSTEM_PATH}:{}", programs.display()));
        command.envs(TOOL_DIRECTORIES.iter().map(|(name, usual)| (name, home.join(usual))));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let payload = call(&place, "PostToolUse", tool, &input).to_string();
        child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
        let ran = place.ran(child.wait_with_output().unwrap());
        assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{agent}: {ran:?}");
        for name in ["a.rs", "b.rs", "c.rs", "with space.rs", "notes.md"] {
            let text = std::fs::read_to_string(place.dir.path().join(name)).unwrap();
            assert_eq!(text.contains("formatted"), files.contains(&name), "{agent}: {name}: {ran:?}");
        }
    }
    let seen = std::fs::read_to_string(home.join("seen")).unwrap();
    for (name, usual) in TOOL_DIRECTORIES {
        assert!(seen.contains(&format!("{name}={}\n", home.join(usual).display())), "{name}:\n{seen}");
    }
}

#[test]
fn recipe_adds_context_at_session_start() {
    let place = with_recipe("Add context at the start of a session");
    for agent in ["claude", "codex"] {
        let payload = json!({ "hook_event_name": "SessionStart", "session_id": "s", "source": "startup" });
        let ran = place.run_with(&["hook", agent], &payload.to_string());
        assert!(ran.stdout.contains("Run `make test` before you say that you are done."), "{agent}: {ran:?}");
    }
}
