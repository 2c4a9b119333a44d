//! `checkrein init`: starter file, imports, questions and errors.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use std::os::unix::fs::PermissionsExt;

use checkrein::record::HookOutcome;
use checkrein::{Decision, Record};
use common::terminal::{self, Does};
use common::{Place, Ran};
use serde_json::Value;

const CLAUDE: &str = r#"{
  "hooks": {
    "PreToolUse": [{ "matcher": "Bash", "hooks": [
      { "type": "command", "command": "grep -q 'rm -rf' && { echo no >&2; exit 2; }; exit 0", "timeout": 5 }
    ] }],
    "Stop": [{ "hooks": [{ "type": "command", "command": "$CLAUDE_PROJECT_DIR/done.sh" }] }]
  }
}
"#;

fn read(place: &Place, path: &str) -> String {
    std::fs::read_to_string(place.dir.path().join(path)).unwrap()
}

fn exists(place: &Place, path: &str) -> bool {
    place.dir.path().join(path).symlink_metadata().is_ok()
}

fn mode(place: &Place, path: &str) -> u32 {
    std::fs::metadata(place.dir.path().join(path)).unwrap().permissions().mode() & 0o777
}

/// Checks the exit code and a part of standard error.
#[track_caller]
fn told(ran: &Ran, code: i32, says: &str) {
    assert_eq!(ran.code, code, "{}", ran.stderr);
    assert!(ran.stderr.contains(says), "{says}:\n{}", ran.stderr);
}

#[test]
fn writes_a_starter_config_and_shows_it() {
    let place = Place::with(&[]);
    let ran = place.run(&["init", "--project", "--yes", "-v"]);
    told(&ran, 0, "will write .checkrein/hooks.yaml:\n");
    told(&ran, 0, "wrote .checkrein/hooks.yaml\n");
    assert_eq!(read(&place, ".checkrein/hooks.yaml"), ran.stdout);
    insta::assert_snapshot!(ran.stdout);
    assert_eq!(mode(&place, ".checkrein/hooks.yaml"), 0o644);
    let listed: Vec<_> = std::fs::read_dir(place.dir.path().join(".checkrein")).unwrap().collect();
    assert_eq!(listed.len(), 1, "no temporary file remains: {listed:?}");
}

#[test]
fn the_hooks_are_shown_in_a_few_lines() {
    let place = Place::with(&[]);
    let ran = place.run(&["init", "--yes"]);
    told(&ran, 0, "will write ~/.config/checkrein/hooks.yaml (-v shows it):\n");
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert_eq!(lines.len(), 6, "{lines:?}");
    assert!(lines.iter().any(|line| line.starts_with("  git          pack: Git commands")), "{lines:?}");
}

#[test]
fn starter_config_is_valid_and_quiet() {
    for place in
        [Place::with(&[]), Place::with(&[("home/.claude/settings.json", "{}\n"), ("home/.codex/config.toml", "")])]
    {
        place.run(&["init", "--yes"]);
        let checked = place.run(&["check", "--strict"]);
        assert_eq!((checked.code, checked.stderr.as_str()), (0, ""), "{}", checked.stdout);
        let file = read(&place, "home/.config/checkrein/hooks.yaml");
        assert_eq!(file.lines().filter(|line| line.starts_with("  - id: ")).count(), 1);
    }
}

#[test]
fn every_example_hook_works() {
    let place = Place::with(&[]);
    let played = place.run(&["simulate", "--json"]);
    assert_eq!(played.code, 0, "{}", played.stderr);
    let records: Vec<Record> = played.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let hooks = || records.iter().flat_map(|record| &record.hooks);
    assert!(hooks().all(|hook| hook.outcome != HookOutcome::Failure), "{}", played.stdout);
    let examples = [include_str!("../src/starter/examples.yaml"), include_str!("../src/starter/shell_examples.yaml")];
    let ids: Vec<_> =
        examples.iter().flat_map(|text| text.lines()).filter_map(|line| line.strip_prefix("  - id: ")).collect();
    assert_eq!(ids.len(), 9);
    for id in ids {
        let did = |hook: &&checkrein::record::HookRecord| {
            hook.decision != Some(Decision::NoOpinion) || !hook.rewrote.is_empty() || !hook.context.is_empty()
        };
        assert!(hooks().filter(|hook| hook.id == id).any(|hook| did(&hook)), "{id} does nothing in the whole session");
    }
}

#[test]
fn existing_file_is_overwritten_only_with_force() {
    let mine = "# mine\nhooks: []\n";
    let place = Place::with(&[(".checkrein/hooks.yaml", mine)]);
    for arguments in [&["init", "--project"][..], &["init", "--project", "--yes"], &["init", "--project", "--json"]] {
        let ran = place.run(arguments);
        told(&ran, 1, "nothing was written: .checkrein/hooks.yaml already exists; use --force to overwrite it\n");
        assert_eq!(read(&place, ".checkrein/hooks.yaml"), mine);
    }
    let ran = place.run(&["init", "--project", "--force"]);
    told(&ran, 0, "will change .checkrein/hooks.yaml:");
    assert!(
        ran.stdout.starts_with("--- existing\n+++ new\n@@") && ran.stdout.contains("\n-# mine\n"),
        "{}",
        ran.stdout
    );
    assert!(read(&place, ".checkrein/hooks.yaml").contains("ask: [git.push-any]"));
    told(&place.run(&["init", "--project"]), 0, "is up to date");
}

#[test]
fn existing_file_in_another_format_is_reported() {
    let place = Place::with(&[(".checkrein/hooks.toml", "")]);
    told(
        &place.run(&["init", "--project", "--yes"]),
        1,
        ".checkrein/hooks.toml already exists; use --force to write a second file",
    );
    assert!(!exists(&place, ".checkrein/hooks.yaml"));
    told(
        &place.run(&["init", "--project", "--force"]),
        0,
        ".checkrein/hooks.toml exists too; checkrein reads both files",
    );
    assert!(exists(&place, ".checkrein/hooks.toml") && exists(&place, ".checkrein/hooks.yaml"));
}

#[test]
fn init_in_a_subdirectory_uses_the_existing_folder() {
    let place = Place::with(&[("sub/deep/x", ""), (".checkrein/hooks.yaml", "hooks: []\n")]);
    told(&place.run(&["init", "--project", "--yes", "--dir", "sub/deep"]), 1, ".checkrein/hooks.yaml already exists");
    std::fs::remove_dir_all(place.dir.path().join(".checkrein")).unwrap();
    told(&place.run(&["init", "--project", "--yes", "--dir", "sub/deep"]), 0, "wrote .checkrein/hooks.yaml");
    assert!(!exists(&place, "sub/deep/.checkrein"));
}

#[test]
fn user_file_is_private() {
    let place = Place::with(&[]);
    for (flag, word) in [("--yes", "wrote ~/.config/checkrein/hooks.yaml"), ("--user", "hooks.yaml is up to date")] {
        told(&place.run(&["init", flag]), 0, word);
    }
    assert_eq!(mode(&place, "home/.config/checkrein/hooks.yaml"), 0o600);
    assert!(!exists(&place, ".checkrein"));
    assert!(place.run(&["list"]).stdout.contains("pack with "));
}

#[test]
fn a_dry_run_writes_nothing() {
    let place = Place::with(&[(".claude/settings.json", CLAUDE)]);
    for arguments in [
        &["init", "--project", "--dry-run"][..],
        &["init", "--dry-run", "--force"],
        &["init", "--from", "claude", "--dry-run"],
    ] {
        let ran = place.run(arguments);
        told(&ran, 0, "nothing was written: this is a dry run");
        assert!(ran.stdout.contains("hooks"), "{}", ran.stdout);
        assert!(!exists(&place, ".checkrein") && !exists(&place, "home/.config/checkrein/hooks.yaml"));
    }
}

#[test]
fn the_hooks_of_another_agent_are_imported_and_work() {
    let place = Place::with(&[(".claude/settings.json", CLAUDE)]);
    let ran = place.run(&["init", "--from", "claude"]);
    told(&ran, 0, "wrote .checkrein/hooks.json");
    assert!(!ran.stderr.contains("CLAUDE_PROJECT_DIR"), "checkrein sets the variable too: {}", ran.stderr);
    insta::assert_snapshot!(read(&place, ".checkrein/hooks.json"));
    for (command, code) in [("rm -rf x", 2), ("ls", 0)] {
        let set = format!("tool_input.command={command}");
        let ran = place.run(&["run", "PreToolUse", "--tool", "Bash", "--set", &set]);
        assert_eq!(ran.code, code, "{}{}", ran.stdout, ran.stderr);
    }
    // All hooks of a named file are imported, whatever its scope is.
    let place = Place::with(&[("theirs.json", CLAUDE)]);
    told(&place.run(&["init", "--from", "claude", "theirs.json"]), 0, "wrote .checkrein/hooks.json");
}

/// The agent may start in any directory of the project.
#[test]
fn imported_script_in_the_project_directory_is_found() {
    let settings = r#"{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [
        {"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/.claude/guard.sh"}]}]}}"#;
    let place = Place::with(&[(".claude/settings.json", settings)]);
    place.write(
        ".claude/guard.sh",
        "#!/bin/sh\ngrep -q 'rm -rf' && { echo \"no, in $CLAUDE_PROJECT_DIR\" >&2; exit 2; }; exit 0\n",
    );
    std::fs::set_permissions(place.dir.path().join(".claude/guard.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::create_dir(place.dir.path().join("sub")).unwrap();
    told(&place.run(&["init", "--from", "claude", "--yes"]), 0, "wrote .checkrein/hooks.json");
    for dir in [".", "sub"] {
        for (input, code) in [(r#"{"command":"rm -rf x"}"#, 2), (r#"{"command":"ls"}"#, 0)] {
            let ran = place.run(&["run", "PreToolUse", "--dir", dir, "--tool", "Bash", "--input", input]);
            assert_eq!(ran.code, code, "{dir} {input}: {}{}", ran.stdout, ran.stderr);
        }
    }
}

#[test]
fn import_skips_hooks_of_another_scope() {
    let place = Place::with(&[("home/.claude/settings.json", CLAUDE)]);
    let ran = place.run(&["init", "--from", "claude"]);
    told(&ran, 1, "nothing to import: claude has no hooks here");
    told(&ran, 1, "skipped 2 hooks of scope `user` (of 2): import them with --user");
    told(&place.run(&["init", "--from", "claude", "--user"]), 0, "wrote ~/.config/checkrein/hooks.json");
    told(&Place::with(&[]).run(&["init", "--from", "claude"]), 1, "nothing to import: claude has no hooks here");
}

#[test]
fn import_that_loses_a_blocking_hook_writes_nothing() {
    let broken = CLAUDE.replace(r#""timeout": 5 }"#, r#""timeout": 5 }, { "type": "command" }"#);
    let place = Place::with(&[(".claude/settings.json", &broken)]);
    for arguments in [&["init", "--from", "claude"][..], &["init", "--from", "claude", "--yes"]] {
        let ran = place.run(arguments);
        told(&ran, 1, "hook `PreToolUse[0].hooks[1]` (.claude/settings.json:4) is dropped and would no longer block");
        told(&ran, 1, "nothing was written: 1 blocking hook would stop blocking (--force to write anyway)");
        assert!(!exists(&place, ".checkrein"));
    }
    let ran = place.run(&["init", "--from", "claude", "--json"]);
    let json: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &json["outcome"], &json["gates_lost"]), (1, &"gates-lost".into(), &1.into()));
    assert_eq!(place.run(&["init", "--from", "claude", "--dry-run"]).code, 1);
    told(&place.run(&["init", "--from", "claude", "--force"]), 0, "wrote .checkrein/hooks.json");
}

#[test]
fn json_reports_the_outcome() {
    let place = Place::with(&[]);
    for (arguments, outcome, written) in [
        (&["init", "--project", "--json", "--dry-run"][..], "dry-run", false),
        (&["init", "--project", "--json"], "written", true),
        (&["init", "--project", "--json"], "same", false),
    ] {
        let ran = place.run(arguments);
        let json: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((&json["outcome"], &json["written"]), (&outcome.into(), &written.into()), "{arguments:?}");
        assert_eq!(json["path"], "DIR/.checkrein/hooks.yaml");
        assert_eq!(ran.code, 0);
    }
}

#[test]
fn init_asks_on_a_terminal() {
    let place = Place::with(&[]);
    let talk = |arguments: &[&str], then: &[(&str, Does<'_>)]| terminal::talk(place.command(arguments), 100, then);
    for no in ["\n", "n\n", "what\n", "\x04"] {
        let (code, shown) = talk(&["init", "--project"], &[("? [y/N] ", Does::Types(no))]);
        assert_eq!(code, 1, "{shown}");
        assert!(
            shown.contains("filesystem   pack: ") && shown.contains("nothing was written: you answered no"),
            "{shown}"
        );
        assert!(!exists(&place, ".checkrein"));
    }
    let (code, shown) = talk(&["init", "--project"], &[("write ", Does::Types("y\n"))]);
    assert_eq!(code, 0, "{shown}");
    // A yes at the terminal replaces --force.
    place.write(".checkrein/hooks.yaml", "# \x1b[31mmine\nhooks: []\n");
    let (code, shown) = talk(&["init", "--project"], &[("overwrite ", Does::Types("no\n"))]);
    assert_eq!(code, 1, "{shown}");
    assert!(shown.contains("-# <U+001B>[31mmine") && read(&place, ".checkrein/hooks.yaml").contains("mine"), "{shown}");
    assert_eq!(talk(&["init", "--project", "--yes"], &[]).0, 1);
    assert_eq!(talk(&["init", "--project"], &[("overwrite ", Does::Types("yes\n"))]).0, 0);
    assert!(!read(&place, ".checkrein/hooks.yaml").contains("mine"));
}

/// A home directory in which Claude Code and Codex have run.
fn with_agents() -> Place {
    Place::with(&[("home/.claude/settings.json", "{}\n"), ("home/.codex/config.toml", "")])
}

#[test]
fn init_asks_which_agents_to_guard() {
    let question = "found claude and codex; guard which of them?";
    let file = "home/.config/checkrein/hooks.yaml";
    for no in ["none\n", "n\n", "\x04"] {
        let place = with_agents();
        let (code, shown) = terminal::talk(place.command(&["init"]), 100, &[(question, Does::Types(no))]);
        assert!(code == 1 && shown.contains("nothing was written: you answered no"), "{shown}");
        assert!(!exists(&place, file));
    }
    for (answer, command, named) in [
        ("\n", "checkrein install claude codex", "claude and codex"),
        ("all\n", "checkrein install claude codex", "claude and codex"),
        ("codex\n", "checkrein install codex", "codex"),
    ] {
        let place = with_agents();
        let (code, shown) = terminal::talk(place.command(&["init"]), 100, &[(question, Does::Types(answer))]);
        assert_eq!(code, 0, "{shown}");
        assert!(shown.contains(&format!("next: `{command}` makes {named} call checkrein")), "{shown}");
        assert!(exists(&place, file) && !exists(&place, ".checkrein"));
    }
    let place = with_agents();
    let answers = [(question, Does::Types("cursor\n")), ("is not one of", Does::Types("claude\n"))];
    let (code, shown) = terminal::talk(place.command(&["init"]), 100, &answers);
    assert!(code == 0 && shown.contains("`cursor` is not one of claude and codex"), "{shown}");
}

#[test]
fn without_a_terminal_init_needs_yes() {
    let place = with_agents();
    let ran = place.run(&["init"]);
    told(
        &ran,
        1,
        "nothing was written: there is no terminal to ask which agents to guard; use --yes for all that were found",
    );
    told(&ran, 1, "(claude and codex)");
    told(&Place::with(&[]).run(&["init"]), 1, "there is no terminal to ask on; use --yes");
    assert!(!exists(&place, "home/.config/checkrein/hooks.yaml"));
    let ran = place.run(&["init", "--yes"]);
    told(&ran, 0, "wrote ~/.config/checkrein/hooks.yaml\n");
    told(&ran, 0, "next: `checkrein install claude codex` makes claude and codex call checkrein\n");
    told(&ran, 0, "hooks of Codex cannot ask: a push is denied there, and the model is asked to tell you\n");
    told(&ran, 0, "then: `checkrein try 'git push'` shows the answer that an agent gets\n");
    let (_, json) = place.run_json(&["init", "--json"]);
    assert_eq!((&json["outcome"], &json["agents"]), (&"same".into(), &serde_json::json!(["claude", "codex"])));
}

#[test]
fn write_errors_are_reported() {
    let place = Place::with(&[(".checkrein", "in the way\n")]);
    told(&place.run(&["init", "--project", "--yes"]), 1, "cannot write .checkrein/hooks.yaml: ");
    assert_eq!(read(&place, ".checkrein"), "in the way\n");

    let place = Place::with(&[(".checkrein/x", "")]);
    let folder = place.dir.path().join(".checkrein");
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).unwrap();
    let ran = place.run(&["init", "--project", "--yes"]);
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    if rustix::process::geteuid().is_root() {
        common::skip("unprivileged", "permissions do not stop root");
    } else {
        told(&ran, 1, "cannot write .checkrein/hooks.yaml: ");
        assert!(!exists(&place, ".checkrein/hooks.yaml"));
    }
}

#[test]
fn usage_errors_exit_with_64() {
    let place = Place::with(&[]);
    for arguments in [&["init", "--from", "unknown"][..], &["init", "file.json"], &["init", "--user", "--project"]] {
        assert_eq!(place.run(arguments).code, 64, "{arguments:?}");
    }
    assert!(!exists(&place, ".checkrein"));
}
