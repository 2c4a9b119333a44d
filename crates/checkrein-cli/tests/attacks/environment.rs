//! Variables, which a project's settings can set for an agent.

use crate::common::Place;
use crate::{PROJECT, USER, asked, assert_guarded};

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
    for start in [".:", ":", "bin:", "./bin:", whole.as_str(), around.as_str()] {
        let path = format!("{start}{}", std::env::var("PATH").unwrap());
        let ran = asked(&place, &[("PATH", &path)]);
        assert_guarded(&ran);
        assert!(!place.dir.path().join("pwned").exists(), "{start}");
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
