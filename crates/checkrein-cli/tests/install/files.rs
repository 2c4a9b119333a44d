//! Files as they are found: broken, protected, linked, changed meanwhile.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use super::*;

fn installed(text: &str) -> Place {
    let place = Place::with(&[(CLAUDE, text)]);
    place.fine(&["install", "claude"]);
    place
}

#[test]
fn it_shows_what_changes_and_keeps_a_copy() {
    let place = Place::with(&[(CLAUDE, SETTINGS)]);
    let dry = place.fine(&["install", "claude", "--dry-run"]);
    assert_eq!(place.read(CLAUDE), SETTINGS);
    assert_eq!(place.names("home/.claude"), ["settings.json"]);
    let ran = place.fine(&["install", "claude"]);
    assert_eq!(ran.stdout, dry.stdout);
    assert!(ran.stdout.starts_with("--- DIR/home/.claude/settings.json\n+++ DIR/home/.claude/settings.json\n"));
    // All that is there stays; one list was empty in its line.
    let gone: Vec<_> = ran.stdout.lines().filter(|line| line.starts_with('-') && !line.starts_with("---")).collect();
    assert_eq!(gone, ["-    \"Stop\": []"]);
    assert_eq!(place.read("home/.claude/settings.json.checkrein-backup"), SETTINGS);
    let ran = place.fine(&["uninstall", "claude"]);
    assert!(ran.stdout.lines().filter(|line| line.starts_with('+')).count() < 4, "{}", ran.stdout);
    assert_eq!(place.names("home/.claude"), ["settings.json"]);
}

#[test]
fn what_was_changed_meanwhile_stays() {
    let place = installed(SETTINGS);
    let edited = place.read(CLAUDE).replace("\"model\": \"opus\"", "\"model\": \"sonnet\", // for now\n  \"env\": {}");
    // Somebody else's tool adds a hook behind ours.
    let own_end = edited.find("\"Stop\": [\n").unwrap();
    let close = own_end + edited[own_end..].find("\n    ]").unwrap();
    let edited = format!("{},\n      {{\"hooks\": []}}{}", &edited[..close], &edited[close..]);
    place.write(CLAUDE, &edited);
    place.fine(&["uninstall", "claude"]);
    let expected = SETTINGS
        .replace("\"model\": \"opus\"", "\"model\": \"sonnet\", // for now\n  \"env\": {}")
        .replace("\"Stop\": []", "\"Stop\": [\n      {\"hooks\": []}\n    ]");
    assert_eq!(place.read(CLAUDE), expected);
    // The copy is still something else than the file, and nothing overwrites it.
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
fn what_others_have_written_by_hand_is_theirs() {
    let theirs = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "checkrein hook claude --config ~/mine.yaml"}]}]}}"#;
    let place = installed(theirs);
    assert!(place.read(CLAUDE).contains("--config ~/mine.yaml"));
    place.fine(&["uninstall", "claude"]);
    assert_eq!(place.read(CLAUDE), theirs);
}

#[test]
fn what_cannot_be_read_is_left_alone_and_told_with_its_place() {
    for (text, told) in [
        ("{\n  \"hooks\": {\n", ":3:1: "),
        ("{\"hooks\": []}", ":1:11: `hooks` is an array here, and should be an object; mend the file first"),
        ("{\"hooks\": {\"PreToolUse\": {}}}", ":1:26: `PreToolUse` is an object here, and should be an array"),
        ("{\"hooks\": {},\n \"hooks\": {}}", ":1:2: duplicate key \"hooks\""),
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
            let start = format!("checkrein: claude: DIR/{CLAUDE}{told}");
            assert!(ran.stderr.starts_with(&start), "{start}\n{}", ran.stderr);
        }
        assert_eq!(place.read(CLAUDE), text);
        assert_eq!(place.names("home/.claude"), ["settings.json"]);
    }
    let place = Place::with(&[(CLAUDE, "")]);
    std::fs::write(place.path(CLAUDE), b"{\"a\": \"\xff\"}").unwrap();
    let ran = place.run(&["install", "claude"]);
    assert!(ran.code == 1 && ran.stderr.contains("not text in UTF-8"), "{ran:?}");
    // One that is broken does not keep the others from it.
    let ran = place.run(&["install", "claude", "gemini"]);
    assert!(ran.code == 1 && calls(&place.read("home/.gemini/settings.json")) > 0, "{ran:?}");
}

#[test]
fn a_file_that_is_protected_is_left_alone() {
    let place = Place::with(&[(CLAUDE, SETTINGS)]);
    let protect = |mode| std::fs::set_permissions(place.path(CLAUDE), std::fs::Permissions::from_mode(mode)).unwrap();
    protect(0o444);
    let ran = place.run(&["install", "claude"]);
    assert!(ran.code == 1 && ran.stderr.contains("it is read-only, and somebody may mean it"), "{ran:?}");
    assert_eq!(place.read(CLAUDE), SETTINGS);
    assert_eq!(place.names("home/.claude"), ["settings.json"]);
    // Who may read it stays as it is, of the copy too.
    protect(0o600);
    place.fine(&["install", "claude"]);
    for name in ["settings.json", "settings.json.checkrein-backup"] {
        let mode = std::fs::metadata(place.path(&format!("home/.claude/{name}"))).unwrap().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
}

#[test]
fn a_link_stays_a_link() {
    let place = Place::with(&[("dotfiles/claude.json", SETTINGS)]);
    std::fs::create_dir_all(place.path("home/.claude")).unwrap();
    symlink(place.path("dotfiles/claude.json").canonicalize().unwrap(), place.path(CLAUDE)).unwrap();
    let ran = place.fine(&["install", "claude"]);
    assert!(ran.stderr.contains("is a link; what changes is DIR/dotfiles/claude.json"), "{ran:?}");
    assert!(place.path(CLAUDE).is_symlink());
    assert!(calls(&place.read("dotfiles/claude.json")) > 0);
    place.fine(&["uninstall", "claude"]);
    assert!(place.path(CLAUDE).is_symlink());
    assert_eq!(place.read("dotfiles/claude.json"), SETTINGS);
    assert_eq!(place.names("dotfiles"), ["claude.json"]);

    std::fs::remove_file(place.path("dotfiles/claude.json")).unwrap();
    let ran = place.run(&["install", "claude"]);
    assert!(ran.code == 1 && ran.stderr.contains("a link to something that is not there"), "{ran:?}");
}

#[test]
fn a_program_of_somebody_else_is_not_overwritten() {
    let place = Place::with(&[("home/.cline/hooks/PreToolUse", "#!/bin/sh\necho mine\n")]);
    let ran = place.run(&["install", "cline"]);
    assert!(ran.code == 1 && ran.stderr.contains("somebody else's hook is there; call `"), "{ran:?}");
    // All or nothing.
    assert_eq!(place.names("home/.cline/hooks"), ["PreToolUse"]);
    place.fine(&["uninstall", "cline"]);
    assert_eq!(place.read("home/.cline/hooks/PreToolUse"), "#!/bin/sh\necho mine\n");
}

#[test]
fn a_path_with_a_space_is_quoted() {
    let place = Place::with(&[("my programs/checkrein", "#!/bin/sh\necho \"called with $*\"\n")]);
    place.fine(&["install", "claude", "--program", "my programs/checkrein"]);
    let command = place.json(CLAUDE)["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap().to_owned();
    let output = std::process::Command::new("sh").arg("-c").arg(&command).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "called with hook claude\n", "{command}");
    place.fine(&["uninstall", "claude"]);
    assert!(!place.path(CLAUDE).exists());
    let ran = place.run(&["install", "claude", "--program", "/bin/sh"]);
    assert!(ran.code == 1 && ran.stderr.contains("is not called `checkrein`"), "{ran:?}");
}

#[test]
fn somebody_at_a_terminal_is_asked() {
    use common::terminal::{self, Does};
    let place = Place::with(&[(CLAUDE, SETTINGS)]);
    let talk = |arguments: &[&str], then: &[(&str, Does<'_>)]| terminal::talk(place.command(arguments), 100, then);
    let question = "put checkrein in front of claude? [y/N]";
    let (code, said) = talk(&["install", "claude"], &[(question, Does::Types("n\n"))]);
    assert!(code == 1 && said.contains("nothing was changed, you said no"), "{said}");
    assert_eq!(place.read(CLAUDE), SETTINGS);
    assert_eq!(talk(&["install", "claude"], &[(question, Does::Types("y\n"))]).0, 0);
    assert!(calls(&place.read(CLAUDE)) > 0);
    let question = "take checkrein out of the settings of claude? [y/N]";
    assert_eq!(talk(&["uninstall", "claude"], &[(question, Does::Types("y\n"))]).0, 0);
    assert_eq!(place.read(CLAUDE), SETTINGS);
    let (code, said) = talk(&["install", "claude", "--yes"], &[]);
    assert!(code == 0 && !said.contains("[y/N]"), "{said}");
}
