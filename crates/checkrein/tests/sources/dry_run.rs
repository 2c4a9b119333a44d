//! `dry_run` of hooks, files and includes.

use checkrein::hook::HookState;
use checkrein::hook_files::Loaded;

use crate::common::{LOCAL, MANAGED, PROJECT, USER, World};

const CLAUDE_USER: &str = "home/.claude/settings.json";
const CLAUDE_PROJECT: &str = "project/.claude/settings.json";
const CLAUDE: &str = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "COMMAND"}]}]}}"#;

fn claude(command: &str) -> String {
    CLAUDE.replace("COMMAND", command)
}

/// Names of hooks, or the scopes of unnamed ones, with `~` before dry runs.
fn shown(loaded: &Loaded) -> Vec<String> {
    let name = |info: &checkrein::hook::HookInfo| match info.id.contains('[') {
        true => info.source.scope.to_string(),
        false => info.id.clone(),
    };
    let infos = loaded.hooks.iter().map(|spec| &spec.info);
    infos.map(|info| format!("{}{}", if info.dry_run { "~" } else { "" }, name(info))).collect()
}

#[test]
fn dry_run_applies_to_a_hook_a_file_and_an_include() {
    let world = World::with(&[
        (
            USER,
            r#"{"hooks": [{"id": "a", "event": "Stop", "command": "x", "dry_run": true}, {"id": "b", "event": "Stop", "command": "y"}]}"#,
        ),
        (
            PROJECT,
            r#"{"dry_run": true, "include": ["claude"], "hooks": [{"id": "c", "event": "Stop", "command": "x"}, {"id": "d", "event": "Stop", "command": "y", "dry_run": false}]}"#,
        ),
        (CLAUDE_PROJECT, &claude("x")),
    ]);
    let loaded = world.load();
    assert_eq!(shown(&loaded), ["~a", "b", "~c", "d", "~project"]);
    assert_eq!(world.codes(&loaded), [""; 0]);
    world.write(PROJECT, r#"{"include": [{"dialect": "claude", "dry_run": true}], "hooks": []}"#);
    assert_eq!(shown(&world.load()), ["~a", "b", "~project"]);
    world.write(PROJECT, r#"{"include": [{"dialect": "claude", "dry_run": "yes"}], "hooks": []}"#);
    let loaded = world.load();
    assert!(loaded.hooks.iter().any(|spec| matches!(spec.state, HookState::Broken(_)) && !spec.info.dry_run));
}

#[test]
fn narrower_scope_cannot_make_hooks_dry_runs() {
    let dry_run = r#"{"include": [{"dialect": "claude", "dry_run": true}], "hooks": []}"#;
    for (file, expected) in
        [(PROJECT, ["user", "~project"]), (LOCAL, ["user", "~project"]), (USER, ["~user", "~project"])]
    {
        let world = World::with(&[(file, dry_run), (CLAUDE_USER, &claude("x")), (CLAUDE_PROJECT, &claude("y"))]);
        let loaded = world.load();
        assert_eq!(shown(&loaded), expected, "{file}");
        let expected = if file == USER { vec![] } else { vec![format!("{CLAUDE_USER} scope-not-permitted")] };
        assert_eq!(world.codes(&loaded), expected, "{file}");
    }
    // An included path has the scope of the including file, and the file is also read with its own scope.
    let hook = r#"{"protect_self": false, "hooks": [{"id": "guard", "event": "PreToolUse", "command": "x"}]}"#;
    for (owner, path) in
        [(USER, "../../home/.config/checkrein/hooks.json"), (MANAGED, "../../root/etc/checkrein/hooks.json")]
    {
        let include =
            format!(r#"{{"include": [{{"dialect": "native", "path": "{path}", "dry_run": true}}], "hooks": []}}"#);
        let world = World::with(&[(owner, hook), (PROJECT, &include)]);
        let shown: Vec<_> = shown(&world.load()).into_iter().filter(|id| id != "protect-self").collect();
        assert_eq!(shown, ["guard"], "{owner}");
    }
}

/// One file, included as a dry run and in force.
#[test]
fn wider_include_applies_and_among_equals_the_one_in_force() {
    let dry_run = r#"{"include": [{"dialect": "claude", "dry_run": true}], "hooks": []}"#;
    let live = r#"{"include": ["claude"], "hooks": []}"#;
    for (one, other, expected) in [
        ((PROJECT, dry_run), (LOCAL, live), "project"),
        ((PROJECT, live), (LOCAL, dry_run), "project"),
        ((USER, dry_run), (PROJECT, live), "~project"),
        ((USER, live), (PROJECT, dry_run), "project"),
    ] {
        let world = World::with(&[one, other, (CLAUDE_PROJECT, &claude("x"))]);
        assert_eq!(shown(&world.load()), [expected], "{one:?} {other:?}");
    }
}

/// A dry-run copy does not replace a guard.
#[test]
fn dry_run_copy_is_another_hook() {
    let guard = |more: &str| format!(r#"{{"hooks": [{{"event": "PreToolUse", "command": "x"{more}}}]}}"#);
    let world = World::with(&[(USER, &guard(r#", "dry_run": true"#)), (PROJECT, &guard(""))]);
    let identities: Vec<_> = world.load().hooks.into_iter().map(|spec| spec.identity.unwrap()).collect();
    assert_ne!(identities[0], identities[1]);
}

/// A broken hook closes its gate, unless it is a dry run.
#[test]
fn broken_dry_run_closes_no_gate() {
    let broken = r#"{"id": "b", "event": "PreToolUse", "command": "x", "timeout": "5""#;
    for (file, dry_run, code) in [
        (format!(r#"{{"hooks": [{broken}}}]}}"#), false, "closed-gate"),
        (format!(r#"{{"hooks": [{broken}, "dry_run": true}}]}}"#), true, "not-loaded"),
        (format!(r#"{{"dry_run": true, "hooks": [{broken}}}]}}"#), true, "not-loaded"),
        (format!(r#"{{"dry_run": true, "hooks": [{broken}, "dry_run": false}}]}}"#), false, "closed-gate"),
        (format!(r#"{{"hooks": [{broken}, "dry_run": "yes"}}]}}"#), false, "closed-gate"),
    ] {
        let world = World::with(&[(USER, &file)]);
        let loaded = world.load();
        assert_eq!(loaded.hooks[0].info.dry_run, dry_run, "{file}");
        assert!(world.codes(&loaded).contains(&format!("{USER} {code}")), "{file}: {:?}", world.codes(&loaded));
    }
}

#[test]
fn old_key_shadow_is_accepted_with_a_warning() {
    let hook = r#"{"id": "a", "event": "PreToolUse", "command": "x""#;
    for (file, is_dry_run) in [
        (format!(r#"{{"hooks": [{hook}, "shadow": true}}]}}"#), true),
        (format!(r#"{{"shadow": true, "hooks": [{hook}}}]}}"#), true),
        (format!(r#"{{"hooks": [{hook}, "shadow": false}}]}}"#), false),
        // The current name takes precedence.
        (format!(r#"{{"hooks": [{hook}, "dry_run": false, "shadow": true}}]}}"#), false),
        (format!(r#"{{"hooks": [{hook}, "shadow": false, "dry_run": true}}]}}"#), true),
        (format!(r#"{{"dry_run": false, "shadow": true, "hooks": [{hook}}}]}}"#), false),
    ] {
        let world = World::with(&[(USER, &file)]);
        let loaded = world.load();
        assert_eq!(loaded.hooks[0].info.dry_run, is_dry_run, "{file}");
        assert_eq!(world.codes(&loaded), [format!("{USER} renamed-key")], "{file}");
    }
    let include = r#"{"include": [{"dialect": "claude", "shadow": true}], "hooks": []}"#;
    let world = World::with(&[(PROJECT, include), (CLAUDE_PROJECT, &claude("x"))]);
    let loaded = world.load();
    assert_eq!(shown(&loaded), ["~project"]);
    assert_eq!(world.codes(&loaded), [format!("{PROJECT} renamed-key")]);
    let broken = r#"{"id": "b", "event": "PreToolUse", "command": "x", "timeout": "5", "shadow": true}"#;
    let world = World::with(&[(USER, &format!(r#"{{"hooks": [{broken}]}}"#))]);
    assert!(world.load().hooks[0].info.dry_run);
}
