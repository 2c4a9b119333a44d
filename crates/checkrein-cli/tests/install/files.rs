//! `install` and `uninstall` with broken, read-only, linked and edited settings.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;

fn installed(text: &str) -> Place {
    let place = Place::with(&[(CLAUDE, text)]);
    place.fine(&["install", "claude"]);
    place
}

#[test]
fn changes_are_shown_and_backed_up() {
    let place = Place::with(&[(CLAUDE, SETTINGS)]);
    let dry = place.fine(&["install", "claude", "--dry-run"]);
    assert_eq!(place.read(CLAUDE), SETTINGS);
    assert_eq!(place.names("home/.claude"), ["settings.json"]);
    assert!(dry.stdout.starts_with("--- DIR/home/.claude/settings.json\n+++ DIR/home/.claude/settings.json\n"));
    let ran = place.fine(&["install", "claude"]);
    assert!(ran.stdout.starts_with("change ~/.claude/settings.json: call checkrein at "), "{}", ran.stdout);
    assert_eq!(ran.stdout.lines().count(), 1, "only a summary: {}", ran.stdout);
    // Existing lines are kept, except for a list that was empty.
    let gone: Vec<_> = dry.stdout.lines().filter(|line| line.starts_with('-') && !line.starts_with("---")).collect();
    assert_eq!(gone, ["-    \"Stop\": []"]);
    assert_eq!(place.read("home/.claude/settings.json.checkrein-backup"), SETTINGS);
    let ran = place.fine(&["uninstall", "claude"]);
    assert!(ran.stdout.starts_with("change ~/.claude/settings.json: +1 -"), "{}", ran.stdout);
    assert_eq!(place.names("home/.claude"), ["settings.json"]);
}

#[test]
fn later_edits_of_the_user_are_kept() {
    let place = installed(SETTINGS);
    let edited = place.read(CLAUDE).replace("\"model\": \"opus\"", "\"model\": \"sonnet\", // for now\n  \"env\": {}");
    // Another tool adds a hook after the entries of checkrein.
    let own_end = edited.find("\"Stop\": [\n").unwrap();
    let close = own_end + edited[own_end..].find("\n    ]").unwrap();
    let edited = format!("{},\n      {{\"hooks\": []}}{}", &edited[..close], &edited[close..]);
    place.write(CLAUDE, &edited);
    place.fine(&["uninstall", "claude"]);
    let expected = SETTINGS
        .replace("\"model\": \"opus\"", "\"model\": \"sonnet\", // for now\n  \"env\": {}")
        .replace("\"Stop\": []", "\"Stop\": [\n      {\"hooks\": []}\n    ]");
    assert_eq!(place.read(CLAUDE), expected);
    // The backup differs from the file, so that it is kept.
    assert_eq!(place.read("home/.claude/settings.json.checkrein-backup"), SETTINGS);
    place.write(CLAUDE, "{}");
    place.fine(&["install", "claude"]);
    assert_eq!(place.read("home/.claude/settings.json.checkrein-backup"), SETTINGS);
    assert_eq!(place.read("home/.claude/settings.json.checkrein-backup-2"), "{}");
    place.fine(&["uninstall", "claude"]);
    assert_eq!(place.read(CLAUDE), "{}");
    assert_eq!(place.names("home/.claude"), ["settings.json", "settings.json.checkrein-backup"]);
}

#[test]
fn manual_checkrein_entries_are_kept() {
    let theirs = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "checkrein hook claude --config ~/mine.yaml"}]}]}}"#;
    let place = installed(theirs);
    assert!(place.read(CLAUDE).contains("--config ~/mine.yaml"));
    place.fine(&["uninstall", "claude"]);
    assert_eq!(place.read(CLAUDE), theirs);
}

#[test]
fn unreadable_settings_are_not_changed() {
    for (text, told) in [
        ("{\n  \"hooks\": {\n", ":3:1: "),
        (
            "{\"hooks\": []}",
            ":1:11: `hooks` is an array, but must be an object (nothing was changed; fix the file first)",
        ),
        ("{\"hooks\": {\"PreToolUse\": {}}}", ":1:26: `PreToolUse` is an object, but must be an array"),
        ("{\"hooks\": {},\n \"hooks\": {}}", ":1:2: duplicate key `hooks`"),
        ("[1]", ":1:1: "),
        ("hooks:\n  - yaml\n", ":1:1: "),
    ] {
        let place = Place::with(&[(CLAUDE, text)]);
        for command in ["install", "uninstall"] {
            let ran = place.run(&[command, "claude"]);
            if command == "uninstall" && ran.code == 0 {
                assert!(ran.stderr.contains("not installed"), "{ran:?}");
                continue;
            }
            assert_eq!(ran.code, 1, "{text}");
            let start = format!("checkrein: claude: ~/.claude/settings.json{told}");
            assert!(ran.stderr.starts_with(&start), "{start}\n{}", ran.stderr);
        }
        assert_eq!(place.read(CLAUDE), text);
        assert_eq!(place.names("home/.claude"), ["settings.json"]);
    }
    let place = Place::with(&[(CLAUDE, "")]);
    std::fs::write(place.path(CLAUDE), b"{\"a\": \"\xff\"}").unwrap();
    let ran = place.run(&["install", "claude"]);
    assert!(ran.code == 1 && ran.stderr.contains("not valid UTF-8"), "{ran:?}");
    // A broken file does not affect other agents.
    let ran = place.run(&["install", "claude", "gemini"]);
    assert!(ran.code == 1 && calls(&place.read("home/.gemini/settings.json")) > 0, "{ran:?}");
}

#[test]
fn read_only_settings_are_not_changed() {
    let place = Place::with(&[(CLAUDE, SETTINGS)]);
    let protect = |mode| std::fs::set_permissions(place.path(CLAUDE), std::fs::Permissions::from_mode(mode)).unwrap();
    protect(0o444);
    let ran = place.run(&["install", "claude"]);
    assert!(ran.code == 1 && ran.stderr.contains("the file is read-only; make it writable"), "{ran:?}");
    assert_eq!(place.read(CLAUDE), SETTINGS);
    assert_eq!(place.names("home/.claude"), ["settings.json"]);
    // The permissions of the file apply to the backup too.
    protect(0o600);
    place.fine(&["install", "claude"]);
    for name in ["settings.json", "settings.json.checkrein-backup"] {
        let mode = std::fs::metadata(place.path(&format!("home/.claude/{name}"))).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn symbolic_links_are_kept() {
    let place = Place::with(&[("dotfiles/claude.json", SETTINGS)]);
    std::fs::create_dir_all(place.path("home/.claude")).unwrap();
    symlink(place.path("dotfiles/claude.json").canonicalize().unwrap(), place.path(CLAUDE)).unwrap();
    let ran = place.fine(&["install", "claude"]);
    assert!(ran.stderr.contains("is a symbolic link to dotfiles/claude.json, which is changed"), "{ran:?}");
    assert!(place.path(CLAUDE).is_symlink());
    assert!(calls(&place.read("dotfiles/claude.json")) > 0);
    place.fine(&["uninstall", "claude"]);
    assert!(place.path(CLAUDE).is_symlink());
    assert_eq!(place.read("dotfiles/claude.json"), SETTINGS);
    assert_eq!(place.names("dotfiles"), ["claude.json"]);

    std::fs::remove_file(place.path("dotfiles/claude.json")).unwrap();
    let ran = place.run(&["install", "claude"]);
    assert!(ran.code == 1 && ran.stderr.contains("the target of this symbolic link does not exist"), "{ran:?}");
}

#[test]
fn foreign_hook_program_is_not_overwritten() {
    let place = Place::with(&[("home/.cline/hooks/PreToolUse", "#!/bin/sh\necho mine\n")]);
    let ran = place.run(&["install", "cline"]);
    assert!(ran.code == 1 && ran.stderr.contains("another hook has this name; call `"), "{ran:?}");
    // No other file is written.
    assert_eq!(place.names("home/.cline/hooks"), ["PreToolUse"]);
    place.fine(&["uninstall", "cline"]);
    assert_eq!(place.read("home/.cline/hooks/PreToolUse"), "#!/bin/sh\necho mine\n");
}

#[test]
fn program_path_with_space_is_quoted() {
    let place = Place::with(&[("my programs/checkrein", "#!/bin/sh\necho \"called with $*\"\n")]);
    place.fine(&["install", "claude", "--program", "my programs/checkrein"]);
    let command = place.json(CLAUDE)["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let output = std::process::Command::new("sh").arg("-c").arg(&command).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "called with hook claude\n", "{command}");
    place.fine(&["uninstall", "claude"]);
    assert!(!place.path(CLAUDE).exists());
    let ran = place.run(&["install", "claude", "--program", "/bin/sh"]);
    assert!(ran.code == 1 && ran.stderr.contains("is not named `checkrein`"), "{ran:?}");
}

#[test]
fn install_asks_on_a_terminal() {
    use common::terminal::{self, Does};
    let place = Place::with(&[(CLAUDE, SETTINGS)]);
    let talk = |arguments: &[&str], then: &[(&str, Does<'_>)]| terminal::talk(place.command(arguments), 100, then);
    let question = "install checkrein in claude? [y/N]";
    let (code, said) = talk(&["install", "claude"], &[(question, Does::Types("n\n"))]);
    assert!(code == 1 && said.contains("claude: nothing was changed"), "{said}");
    assert_eq!(place.read(CLAUDE), SETTINGS);
    assert_eq!(talk(&["install", "claude"], &[(question, Does::Types("y\n"))]).0, 0);
    assert!(calls(&place.read(CLAUDE)) > 0);
    let question = "remove checkrein from claude? [y/N]";
    assert_eq!(talk(&["uninstall", "claude"], &[(question, Does::Types("y\n"))]).0, 0);
    assert_eq!(place.read(CLAUDE), SETTINGS);
    let (code, said) = talk(&["install", "claude", "--yes"], &[]);
    assert!(code == 0 && !said.contains("[y/N]"), "{said}");
}
