//! Variables, which a project's settings can set for an agent.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::json;

use crate::common::{Place, Ran};
use crate::{PROJECT, USER, asked, asked_in, assert_denied, assert_guarded, decided, sent};

/// A guard whose programs an attacker tries to replace.
const GUARD: &str = "hooks: [{id: guard, event: PreToolUse, command: [bash, -c, 'cat | grep -q tool_name && echo the guard says no >&2 && exit 2; exit 0']}]";

const EVIL: &str = "#!/bin/sh\ntouch \"$(dirname \"$0\")/../taken\" pwned\nexit 1\n";

#[test]
fn programs_of_a_repository_do_not_replace_system_programs() {
    let place = Place::with(&[(USER, GUARD), ("grep", EVIL), ("bash", EVIL), ("bin/grep", EVIL)]);
    let whole = place.dir.path().join("bin");
    let around = place.home.path().join("link");
    std::os::unix::fs::symlink(&whole, &around).unwrap();
    let (whole, around) = (format!("{}:", whole.display()), format!("{}:", around.display()));
    // Other checkouts and dependencies, whose files an attacker knows.
    for dir in ["src/clone/bin", "src/app/node_modules/.bin", ".cargo/registry/src/evil-1.0/bin"] {
        place.write(&format!("home/{dir}/grep"), EVIL);
    }
    std::fs::create_dir(place.home.path().join("src/clone/.git")).unwrap();
    let elsewhere = |dir: &str| format!("{}:", place.home.path().join(dir).display());
    let clone = elsewhere("src/clone/bin");
    let dependency = elsewhere("src/app/node_modules/.bin");
    let cached = elsewhere(".cargo/registry/src/evil-1.0/bin");
    for start in [".:", ":", "bin:", "./bin:", &whole, &around, &clone, &dependency, &cached] {
        let path = format!("{start}{}", std::env::var("PATH").unwrap());
        let ran = asked(&place, &[("PATH", &path)]);
        assert_guarded(&ran);
        assert!(!place.dir.path().join("pwned").exists(), "{start}");
        assert!(!place.home.path().join("src/clone/taken").exists(), "{start}");
    }
}

#[test]
fn shell_variable_does_not_replace_the_shell() {
    // Codex runs its hooks with the user's shell.
    let codex = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "echo the guard says no >&2; exit 2"}]}]}}"#;
    let place = Place::with(&[(USER, "include: [codex]\nhooks: []"), ("home/.codex/hooks.json", codex)]);
    place.write("bash", EVIL);
    let own = place.dir.path().join("bash");
    for shell in ["./bash", "/bin/true", "true", own.to_str().unwrap(), "/no/such/shell", "/bin/sh", ""] {
        assert_guarded(&asked(&place, &[("SHELL", shell)]));
        assert!(!place.dir.path().join("pwned").exists(), "{shell}");
    }
}

#[test]
fn loader_variables_do_not_reach_hooks() {
    let place = Place::with(&[(USER, GUARD), ("evil.sh", "touch pwned; exit 0\n")]);
    let evil = place.dir.path().join("evil.sh");
    let evil = evil.to_str().unwrap();
    let variables = [
        ("BASH_ENV", evil),
        ("ENV", evil),
        ("BASH_FUNC_grep%%", "() { touch pwned; return 1; }"),
        ("SHELLOPTS", "noexec"),
        ("LD_PRELOAD", evil),
        ("PS4", "$(touch pwned)"),
    ];
    // checkrein itself is started with them. The test checks only what it passes on.
    for (name, value) in variables {
        let ran = asked(&place, &[(name, value)]);
        assert_guarded(&ran);
        assert!(!place.dir.path().join("pwned").exists(), "{name}");
    }
    // Hooks of an agent that passes all variables on do not get them either.
    let claude = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "bash -c 'cat | grep -q tool_name && echo the guard says no >&2 && exit 2; exit 0'"}]}]}}"#;
    let place = Place::with(&[
        (USER, "include: [{dialect: claude, under_own_agent: true}]\nhooks: []"),
        ("home/.claude/settings.json", claude),
    ]);
    for (name, value) in variables {
        assert_guarded(&asked(&place, &[(name, value)]));
        assert!(!place.dir.path().join("pwned").exists(), "{name}");
    }
}

#[test]
fn secrets_do_not_reach_hooks_without_env_allow() {
    let claude = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "env > seen"}]}]}}"#;
    let place = Place::with(&[
        (PROJECT, "env_allow: ['*']\ninclude: [{dialect: claude, under_own_agent: true}]\nhooks: []"),
        (".claude/settings.json", claude),
    ]);
    let secrets = [("GITHUB_TOKEN", "value-1"), ("STRIPE_API_KEY", "value-2"), ("DB", "postgres://u:value3@h/d")];
    asked(&place, &secrets);
    let seen = std::fs::read_to_string(place.dir.path().join("seen")).unwrap();
    assert!(seen.contains("HOME=") && !seen.contains("value"), "{seen}");
}

/// A hook file of an attacker that shows that it ran, wherever the agent works.
fn evil_hooks(mark: &Path) -> String {
    format!("hooks: [{{id: evil, event: PreToolUse, command: 'touch {}'}}]", mark.display())
}

/// Directories that do not belong to the project but that an attacker can fill: another checkout, a second clone, directories above
/// an archive, a dependency.
fn attackers_directories(place: &Place) -> Vec<std::path::PathBuf> {
    let beside = place.home.path().canonicalize().unwrap().join("src");
    ["clone", "worktree/.checkout", "deps/evil-1.0", "archive"].iter().map(|name| beside.join(name)).collect()
}

#[test]
fn variables_do_not_move_the_files_of_the_user() {
    let place = Place::untrusted(&[(USER, crate::GUARD)]);
    let mark = place.home.path().join("taken");
    let evil = evil_hooks(&mark);
    let in_project = place.dir.path().canonicalize().unwrap().join("evil");
    let mut moved: Vec<String> = attackers_directories(&place).iter().map(|dir| dir.display().to_string()).collect();
    moved.push(in_project.display().to_string());
    for dir in &moved {
        for file in ["checkrein/hooks.yaml", ".config/checkrein/hooks.yaml"] {
            let path = Path::new(dir).join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, &evil).unwrap();
        }
    }
    moved.extend(["/proc/self/cwd/evil", "evil", "./evil", "/nonexistent", "", "/", "/dev/null"].map(str::to_owned));
    for value in &moved {
        for names in
            [&["HOME"][..], &["XDG_CONFIG_HOME"], &["XDG_STATE_HOME"], &["HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"]]
        {
            let variables: Vec<_> = names.iter().map(|name| (*name, value.as_str())).collect();
            assert_guarded(&asked(&place, &variables));
            assert!(!mark.exists(), "{variables:?}");
        }
    }
}

#[test]
fn variables_of_agents_do_not_move_the_files_of_the_user() {
    let guard = "echo the guard says no >&2; exit 2";
    for (agent, variable, file, hooks) in [
        (
            "claude",
            "CLAUDE_CONFIG_DIR",
            "settings.json",
            json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": "COMMAND" }] }] } }),
        ),
        (
            "codex",
            "CODEX_HOME",
            "hooks.json",
            json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "type": "command", "command": "COMMAND" }] }] } }),
        ),
    ] {
        let include = format!("include: [{{dialect: {agent}, under_own_agent: true}}]\nhooks: []");
        let own = hooks.to_string().replace("COMMAND", guard);
        let place = Place::with(&[(USER, &include), (&format!("home/.{agent}/{file}"), &own)]);
        let mark = place.home.path().join("taken");
        let evil = hooks.to_string().replace("COMMAND", &format!("touch {}", mark.display()));
        for dir in attackers_directories(&place) {
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join(file), &evil).unwrap();
            for value in [dir.to_str().unwrap(), "/nonexistent", ""] {
                assert_guarded(&asked(&place, &[(variable, value)]));
                assert!(!mark.exists(), "{agent} {value}");
            }
        }
    }
}

#[test]
fn files_at_moved_places_need_approval() {
    let place = Place::untrusted(&[]);
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("checkrein/hooks.yaml");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, crate::GUARD).unwrap();
    let moved = [("XDG_CONFIG_HOME", elsewhere.path().to_str().unwrap())];
    let (decision, _) = decided(&asked(&place, &moved));
    assert_eq!(decision, "", "an unapproved hook denies nothing");
    let start = json!({ "hook_event_name": "SessionStart", "session_id": "s", "source": "startup" }).to_string();
    let told = crate::ask(&place, &moved, start.as_bytes());
    assert!(
        told.stdout.contains("XDG_CONFIG_HOME") && told.stdout.contains("trust approve --all --config"),
        "{told:?}"
    );
    let approved = place.run(&["trust", "approve", "--all", "--config", file.to_str().unwrap(), "--yes"]);
    assert_eq!(approved.code, 0, "{approved:?}");
    assert_guarded(&asked(&place, &moved));
    // The approval belongs to the account, so the command for a moved `HOME` must not use that directory.
    let home = elsewhere.path().join("home");
    std::fs::create_dir_all(home.join(".config/checkrein")).unwrap();
    std::fs::write(home.join(".config/checkrein/hooks.yaml"), crate::GUARD).unwrap();
    let moved = [("HOME", home.to_str().unwrap()), ("XDG_CONFIG_HOME", "")];
    let told = crate::ask(&place, &moved, start.replace("\"s\"", "\"t\"").as_bytes());
    assert!(told.stdout.contains("`env -u HOME checkrein trust approve --all --config"), "{told:?}");
}

#[test]
fn tilde_is_the_home_of_the_user() {
    let guard = "#!/bin/sh\necho the guard says no >&2\nexit 2\n";
    for hooks in [
        "hooks: [{id: guard, event: PreToolUse, command: ~/guard.sh}]",
        "hooks: [{id: guard, event: PreToolUse, command: '$HOME/guard.sh'}]",
        "include: [{dialect: native, path: ~/team.yaml}]\nhooks: []",
    ] {
        let place = Place::untrusted(&[(USER, hooks), ("home/guard.sh", guard), ("home/team.yaml", crate::GUARD)]);
        place.write("fake/guard.sh", EVIL);
        place.write("fake/team.yaml", "hooks: []");
        let fake = place.dir.path().join("fake");
        for home in [fake.to_str().unwrap(), "/proc/self/cwd/fake", "fake", ""] {
            assert_guarded(&asked(&place, &[("HOME", home)]));
            assert!(!place.dir.path().join("pwned").exists(), "{hooks} {home}");
        }
    }
    // A trusted path of the user does not become one of the project.
    let place = Place::untrusted(&[
        (USER, "trusted_paths: [~/work]"),
        (PROJECT, "hooks: [{event: PreToolUse, command: touch pwned}]"),
    ]);
    let above = place.dir.path().canonicalize().unwrap();
    std::fs::create_dir(above.join("fake")).unwrap();
    std::os::unix::fs::symlink(&above, above.join("fake/work")).unwrap();
    asked(&place, &[("HOME", above.join("fake").to_str().unwrap())]);
    assert!(!above.join("pwned").exists());
}

#[test]
fn approvals_do_not_move() {
    let place = Place::untrusted(&[(PROJECT, crate::GUARD)]);
    assert_eq!(place.run(&["trust", "approve", "--all", "--yes"]).code, 0);
    for value in ["/nonexistent", "/proc/self/cwd/evil", ""] {
        assert_guarded(&asked(&place, &[("XDG_STATE_HOME", value), ("HOME", value)]));
    }
}

/// Hooks of another agent inherit only variables that are known to be harmless.
#[test]
fn hooks_inherit_no_variable_that_runs_code() {
    let claude = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "env > ~/seen; echo the guard says no >&2; exit 2"}]}]}}"#;
    let place = Place::with(&[
        (USER, "include: [{dialect: claude, under_own_agent: true}]\nhooks: []"),
        ("home/.claude/settings.json", claude),
    ]);
    let evil = place.dir.path().join("evil");
    std::fs::create_dir(&evil).unwrap();
    let evil = evil.to_str().unwrap();
    let names = [
        "GIT_CONFIG_COUNT",
        "GIT_CONFIG_KEY_0",
        "GIT_CONFIG_VALUE_0",
        "GIT_CONFIG_PARAMETERS",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_SYSTEM",
        "GIT_DIR",
        "GIT_EXTERNAL_DIFF",
        "GIT_SSH_COMMAND",
        "GIT_EXEC_PATH",
        "PYTHONUSERBASE",
        "PYTHONWARNINGS",
        "BROWSER",
        "PERLLIB",
        "MAKEFILES",
        "TAR_OPTIONS",
        "LESSOPEN",
        "WGETRC",
        "npm_config_script_shell",
        "_JAVA_OPTIONS",
        "LUA_INIT",
        "PHPRC",
        "RUBYGEMS_GEMDEPS",
        "DOTNET_STARTUP_HOOKS",
        "ERL_FLAGS",
        "RIPGREP_CONFIG_PATH",
        "RUSTC_WRAPPER",
        "RUSTUP_TOOLCHAIN",
        "GOFLAGS",
        "CARGO_HOME",
        "RUSTUP_HOME",
        "GOPATH",
        "VIRTUAL_ENV",
        "TMPDIR",
        "SSH_AUTH_SOCK",
        "XDG_DATA_HOME",
        "JQ_LIBRARY_PATH",
        "SOME_NEW_TOOL_PLUGINS",
    ];
    for value in [evil, "./evil", "/proc/self/cwd/evil", "1"] {
        let variables: Vec<_> = names.iter().map(|name| (*name, value)).collect();
        assert_guarded(&asked(&place, &variables));
        let seen = std::fs::read_to_string(place.home.path().join("seen")).unwrap();
        for name in names {
            // The path of the temporary home may contain a digit.
            let has_value = |own: &str| if value == "1" { own == value } else { own.contains(value) };
            let has = seen.lines().any(|line| line.strip_prefix(&format!("{name}=")).is_some_and(has_value));
            // A value that is no path is harmless in these.
            let is_plain = value == "1" && matches!(name, "TMPDIR" | "SSH_AUTH_SOCK");
            assert_eq!(has, is_plain, "{name}={value}: {seen}");
        }
    }
}

#[test]
fn depth_variable_locks_nobody_out() {
    let place = Place::with(&[(USER, crate::GUARD)]);
    for value in ["5", "99", "4294967295", "x", ""] {
        assert_guarded(&asked(&place, &[("CHECKREIN_DEPTH", value)]));
    }
}

/// Runs `checkrein hook` with another home directory.
fn asked_at(place: &Place, home: &Path) -> Ran {
    use std::io::Write as _;
    let pipe = std::process::Stdio::piped;
    let mut command = place.command(&[]);
    command.args(["hook", "claude", "--home"]).arg(home);
    let mut child = command.stdin(pipe()).stdout(pipe()).stderr(pipe()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(sent("Bash", &json!({ "command": "ls" })).as_bytes()).unwrap();
    place.ran(child.wait_with_output().unwrap())
}

#[test]
fn insecure_home_is_refused() {
    let place = Place::untrusted(&[]);
    let dir = tempfile::tempdir().unwrap();
    let make = |name: &str, mode: u32| {
        let home = dir.path().join(name);
        std::fs::create_dir_all(&home).unwrap();
        std::fs::set_permissions(&home, std::fs::Permissions::from_mode(mode)).unwrap();
        home
    };
    std::fs::create_dir_all(dir.path().join("tree/.git")).unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    for (home, why) in [
        (make("world", 0o777), "writable by other users"),
        (make("sticky", 0o1777), "writable by other users"),
        (make("tree/home", 0o755), "inside of the git work tree"),
        (dir.path().join("tree"), "inside of the git work tree"),
        (dir.path().join("missing"), "cannot use"),
        (dir.path().join("file"), "not a directory"),
        ("relative".into(), "not an absolute path"),
    ] {
        assert_denied(&asked_at(&place, &home), why);
    }
    let fine = make("fine", 0o755);
    assert_eq!(decided(&asked_at(&place, &fine)).0, "nothing, exit 0");
    if rustix::process::getuid().is_root() {
        let other = make("other", 0o755);
        std::os::unix::fs::chown(&other, Some(12345), None).unwrap();
        assert_denied(&asked_at(&place, &other), "belongs to another user");
    }
}

/// Entries name a home that the account database does not have, and only their arguments decide.
#[test]
fn installed_entry_names_the_home() {
    let place = Place::with(&[(USER, crate::GUARD)]);
    assert_eq!(place.run(&["install", "claude", "--yes"]).code, 0);
    let settings = std::fs::read_to_string(place.home.path().join(".claude/settings.json")).unwrap();
    let settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    let entry = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap();
    let home = place.home.path().canonicalize().unwrap();
    assert!(entry.ends_with(&format!("hook claude --home {}", home.display())), "{entry}");
    let status = place.run(&["status", "claude", "--no-versions"]);
    assert!(status.code == 0 && status.stdout.contains("called with --home"), "{status:?}");
    place.write("sent.json", &sent("Bash", &json!({ "command": "ls" })));
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &format!("{entry} < sent.json")]).current_dir(place.dir.path());
    for (name, value) in [("HOME", "/nonexistent"), ("XDG_CONFIG_HOME", "/nonexistent")] {
        shell.env(name, value);
    }
    assert_guarded(&place.ran(shell.output().unwrap()));
    assert_guarded(&asked_in(place.dir.path(), &place, &[]));
}
