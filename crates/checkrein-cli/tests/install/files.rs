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
    let dry = place.fine(&["install", "claude", "--dry-run", "--diff"]);
    assert_eq!(place.read(CLAUDE), SETTINGS);
    assert_eq!(place.names("home/.claude"), ["settings.json"]);
    let diff = "\n--- DIR/home/.claude/settings.json\n+++ DIR/home/.claude/settings.json\n";
    assert!(dry.stdout.contains(diff), "{}", dry.stdout);
    for arguments in [&["install", "claude", "--dry-run"][..], &["install", "claude"]] {
        let ran = place.fine(arguments);
        assert!(ran.stdout.starts_with("change ~/.claude/settings.json: calls checkrein at "), "{}", ran.stdout);
        assert_eq!(ran.stdout.lines().count(), 1, "only a summary: {}", ran.stdout);
    }
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
        ("{\"model\": \"opus\",}", ":1:17: claude cannot read this file: "),
        ("{\"model\": \"opus\" // x\n}", ":1:18: claude cannot read this file: "),
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

/// The owner of a file, if this test may change it.
fn give_to(path: &std::path::Path, id: u32) -> bool {
    if !rustix::process::geteuid().is_root() {
        common::skip("root", "only root can give files to another user");
        return false;
    }
    std::os::unix::fs::lchown(path, Some(id), Some(id)).unwrap();
    true
}

#[test]
fn owner_of_settings_is_kept_by_root() {
    let place = Place::with(&[(CLAUDE, SETTINGS)]);
    let _ = std::fs::set_permissions(place.path(CLAUDE), std::fs::Permissions::from_mode(0o640));
    if !give_to(&place.path(CLAUDE), 4242) {
        return;
    }
    for command in ["install", "uninstall"] {
        place.fine(&[command, "claude"]);
        let found = place.path(CLAUDE).metadata().unwrap();
        assert_eq!((found.uid(), found.gid(), found.mode() & 0o777), (4242, 4242, 0o640), "{command}");
    }
}

/// A rename in a directory of the user would make the file the user's.
#[test]
fn settings_of_another_user_are_not_changed() {
    use std::os::unix::process::CommandExt;
    let user = 4242;
    let place = Place::with(&[(CLAUDE, SETTINGS)]);
    let directories = [place.dir.path().to_owned(), place.home.path().to_owned(), place.path("home/.claude")];
    if !directories.iter().all(|directory| give_to(directory, user)) {
        return;
    }
    // The file stays root's, or belongs to a third user, or only its group differs.
    for (uid, gid, text) in
        [(0, 0, "another user"), (4343, user, "another user"), (user, 4343, "cannot keep its owner")]
    {
        std::os::unix::fs::lchown(place.path(CLAUDE), Some(uid), Some(gid)).unwrap();
        std::fs::set_permissions(place.path(CLAUDE), std::fs::Permissions::from_mode(0o644)).unwrap();
        let before = place.path(CLAUDE).metadata().unwrap();
        let mut command = place.command(&["install", "claude", "--yes"]);
        let ran = match command.uid(user).gid(user).output() {
            Ok(output) => place.ran(output),
            Err(error) => return common::skip("root", error),
        };
        assert!(ran.code == 1 && ran.stderr.contains(text), "{uid}:{gid}: {ran:?}");
        let after = place.path(CLAUDE).metadata().unwrap();
        assert_eq!((after.uid(), after.gid(), after.mode()), (before.uid(), before.gid(), before.mode()));
        assert_eq!(place.read(CLAUDE), SETTINGS);
        assert_eq!(place.names("home/.claude"), ["settings.json"]);
    }
}

/// A repository is foreign text: its links must not make `--project` write other files of the user.
#[test]
fn links_of_a_project_are_not_followed_out_of_it() {
    let outside = tempfile::tempdir().unwrap();
    let outside = outside.path().canonicalize().unwrap();
    let target = outside.join("settings.json");
    // The link is the file, its directory, or a directory above.
    type Setup = fn(&Place, &std::path::Path);
    let setups: [(&str, Setup); 5] = [
        ("file", |place, outside| {
            std::fs::create_dir(place.path(".claude")).unwrap();
            symlink(outside.join("settings.json"), place.path(".claude/settings.json")).unwrap();
        }),
        ("relative link", |place, outside| {
            std::fs::create_dir(place.path(".claude")).unwrap();
            let up = "../".repeat(32);
            let target = format!("{up}{}", outside.join("settings.json").display());
            symlink(target, place.path(".claude/settings.json")).unwrap();
        }),
        ("directory", |place, outside| symlink(outside, place.path(".claude")).unwrap()),
        ("chain", |place, outside| {
            symlink(outside, place.path("inner")).unwrap();
            symlink("inner", place.path(".claude")).unwrap();
        }),
        ("backup", |place, outside| {
            place.write(".claude/settings.json", "{}");
            symlink(outside.join("settings.json"), place.path(".claude/settings.json.checkrein-backup")).unwrap();
        }),
    ];
    for (name, setup) in setups {
        for exists in [true, false] {
            let _ = std::fs::remove_file(&target);
            if exists {
                std::fs::write(&target, SETTINGS).unwrap();
            }
            let place = Place::with(&[]);
            setup(&place, &outside);
            for command in ["install", "uninstall"] {
                let ran = place.run(&[command, "claude", "--project", "--yes"]);
                let text = ran.stderr.replace('\n', " ");
                if name != "backup" && (exists || name == "directory" || name == "chain") {
                    let named = text.contains(".claude/settings.json leads out of the project, to ");
                    assert!(ran.code == 1 && named && text.contains(&*target.to_string_lossy()), "{name}: {ran:?}");
                }
            }
            let is_unchanged = match exists {
                true => std::fs::read_to_string(&target).unwrap() == SETTINGS,
                false => target.symlink_metadata().is_err(),
            };
            assert!(is_unchanged, "{name}, {exists}");
            assert_eq!(std::fs::read_dir(&outside).unwrap().count(), usize::from(exists), "{name}");
        }
    }
    // A link inside of the project is followed.
    let place = Place::with(&[("shared/claude.json", "{}")]);
    std::fs::create_dir(place.path(".claude")).unwrap();
    symlink("../shared/claude.json", place.path(".claude/settings.json")).unwrap();
    place.fine(&["install", "claude", "--project", "--yes"]);
    assert!(calls(&place.read("shared/claude.json")) > 0 && place.path(".claude/settings.json").is_symlink());
    // Other commands that write into a project follow the same rule.
    let place = Place::with(&[("good.yaml", "hooks: [{event: Stop, command: 'true'}]")]);
    symlink(&outside, place.path(".checkrein")).unwrap();
    symlink(&outside, place.path("out")).unwrap();
    let convert = ["convert", "good.yaml", "--from", "native", "--to", "claude", "--force", "--output", "out/new.json"];
    for arguments in [&["init", "--project", "--yes", "--force"][..], &convert] {
        let ran = place.run(arguments);
        assert!(ran.code == 1 && ran.stderr.contains("leads out of the project, to "), "{ran:?}");
    }
    assert_eq!(std::fs::read_dir(&outside).unwrap().count(), 0);
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

#[test]
fn uninstall_removes_directories_that_install_created() {
    let agents = ["copilot", "cline", "goose", "kiro"];
    let place = Place::with(&[("home/.copilot/config.json", "{}"), ("home/.kiro/hooks/mine.json", "{}")]);
    for scope in ["--user", "--project"] {
        for agent in agents {
            place.fine(&["install", agent, scope]);
            place.fine(&["uninstall", agent, scope]);
        }
    }
    for gone in ["home/.copilot/hooks", "home/.cline/hooks", "home/.agents", ".github", ".cline", ".agents", ".kiro"] {
        assert!(!place.path(gone).exists(), "{gone}");
    }
    for kept in ["home/.copilot/config.json", "home/.kiro/hooks/mine.json", "home/.cline"] {
        assert!(place.path(kept).exists(), "{kept}");
    }
}

#[test]
fn install_without_hooks_names_the_next_command() {
    let place = Place::with(&[]);
    let note = "there are no hooks yet, so nothing is checked: create some with `checkrein init --user`";
    assert!(place.fine(&["install", "claude"]).stderr.contains(note));
    place.write("home/.config/checkrein/hooks.yaml", "hooks: [{event: PreToolUse, command: exit 0}]\n");
    assert!(!place.fine(&["install", "claude"]).stderr.contains("no hooks yet"));
}

#[test]
fn backup_that_stays_is_explained() {
    let place = installed(SETTINGS);
    place.write(CLAUDE, &place.read(CLAUDE).replace("opus", "sonnet"));
    let ran = place.fine(&["uninstall", "claude"]);
    let told = "(its text before the installation is in ~/.claude/settings.json.checkrein-backup)";
    assert!(ran.stderr.contains(told), "{ran:?}");
}
