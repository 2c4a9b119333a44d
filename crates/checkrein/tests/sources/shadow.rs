//! Files that put hooks in the shadow: their own, and those that they include.

use checkrein::hook::HookState;
use checkrein::hook_files::Loaded;

use crate::common::{LOCAL, MANAGED, PROJECT, USER, World};

const CLAUDE_USER: &str = "home/.claude/settings.json";
const CLAUDE_PROJECT: &str = "project/.claude/settings.json";
const CLAUDE: &str = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "COMMAND"}]}]}}"#;

fn claude(command: &str) -> String {
    CLAUDE.replace("COMMAND", command)
}

/// The names of hooks, or their commands' places, with `~` in front of those in the shadow.
fn shown(loaded: &Loaded) -> Vec<String> {
    let name = |info: &checkrein::hook::HookInfo| match info.id.contains('[') {
        true => info.source.scope.to_string(),
        false => info.id.clone(),
    };
    let infos = loaded.hooks.iter().map(|spec| &spec.info);
    infos.map(|info| format!("{}{}", if info.dry_run { "~" } else { "" }, name(info))).collect()
}

#[test]
fn a_hook_a_file_and_an_include_can_say_so() {
    let world = World::with(&[
        (
            USER,
            r#"{"hooks": [{"id": "a", "event": "Stop", "command": "x", "shadow": true}, {"id": "b", "event": "Stop", "command": "y"}]}"#,
        ),
        (
            PROJECT,
            r#"{"shadow": true, "include": ["claude"], "hooks": [{"id": "c", "event": "Stop", "command": "x"}, {"id": "d", "event": "Stop", "command": "y", "shadow": false}]}"#,
        ),
        (CLAUDE_PROJECT, &claude("x")),
    ]);
    let loaded = world.load();
    assert_eq!(shown(&loaded), ["~a", "b", "~c", "d", "~project"]);
    assert_eq!(world.codes(&loaded), [""; 0]);
    world.write(PROJECT, r#"{"include": [{"dialect": "claude", "shadow": true}], "hooks": []}"#);
    assert_eq!(shown(&world.load()), ["~a", "b", "~project"]);
    world.write(PROJECT, r#"{"include": [{"dialect": "claude", "shadow": "yes"}], "hooks": []}"#);
    let loaded = world.load();
    assert!(loaded.hooks.iter().any(|spec| matches!(spec.state, HookState::Broken(_)) && !spec.info.dry_run));
}

/// A repository cannot take the force out of its reader's hooks, nor a user out of his administrator's.
#[test]
fn nobody_puts_hooks_of_others_in_the_shadow() {
    let shadow = r#"{"include": [{"dialect": "claude", "shadow": true}], "hooks": []}"#;
    for (file, expected) in
        [(PROJECT, ["user", "~project"]), (LOCAL, ["user", "~project"]), (USER, ["~user", "~project"])]
    {
        let world = World::with(&[(file, shadow), (CLAUDE_USER, &claude("x")), (CLAUDE_PROJECT, &claude("y"))]);
        let loaded = world.load();
        assert_eq!(shown(&loaded), expected, "{file}");
        let told = if file == USER { vec![] } else { vec![format!("{CLAUDE_USER} not-its-to-say")] };
        assert_eq!(world.codes(&loaded), told, "{file}");
    }
    // By its path, a file is that of whoever names it; but it is read as its owner's as well.
    let hook = r#"{"protect_self": false, "hooks": [{"id": "guard", "event": "PreToolUse", "command": "x"}]}"#;
    for (owner, path) in
        [(USER, "../../home/.config/checkrein/hooks.json"), (MANAGED, "../../root/etc/checkrein/hooks.json")]
    {
        let include =
            format!(r#"{{"include": [{{"dialect": "native", "path": "{path}", "shadow": true}}], "hooks": []}}"#);
        let world = World::with(&[(owner, hook), (PROJECT, &include)]);
        let shown: Vec<_> = shown(&world.load()).into_iter().filter(|id| id != "protect-self").collect();
        assert_eq!(shown, ["guard"], "{owner}");
    }
}

/// One file, in the shadow here and in force there.
#[test]
fn of_two_includes_that_of_whoever_is_nearer_counts_and_of_equals_that_in_force() {
    let shadow = r#"{"include": [{"dialect": "claude", "shadow": true}], "hooks": []}"#;
    let live = r#"{"include": ["claude"], "hooks": []}"#;
    for (one, other, expected) in [
        ((PROJECT, shadow), (LOCAL, live), "project"),
        ((PROJECT, live), (LOCAL, shadow), "project"),
        ((USER, shadow), (PROJECT, live), "~project"),
        ((USER, live), (PROJECT, shadow), "project"),
    ] {
        let world = World::with(&[one, other, (CLAUDE_PROJECT, &claude("x"))]);
        assert_eq!(shown(&world.load()), [expected], "{one:?} {other:?}");
    }
}

/// A twin in the shadow does not stand in for a guard.
#[test]
fn a_copy_in_the_shadow_is_no_copy() {
    let guard = |more: &str| format!(r#"{{"hooks": [{{"event": "PreToolUse", "command": "x"{more}}}]}}"#);
    let world = World::with(&[(USER, &guard(r#", "shadow": true"#)), (PROJECT, &guard(""))]);
    let identities: Vec<_> = world.load().hooks.into_iter().map(|spec| spec.identity.unwrap()).collect();
    assert_ne!(identities[0], identities[1]);
}

/// What cannot be loaded closes its gate, unless it would have decided nothing anyway.
#[test]
fn one_that_is_broken_stays_in_the_shadow() {
    let broken = r#"{"id": "b", "event": "PreToolUse", "command": "x", "timeout": "5""#;
    for (file, shadow, code) in [
        (format!(r#"{{"hooks": [{broken}}}]}}"#), false, "closed-gate"),
        (format!(r#"{{"hooks": [{broken}, "shadow": true}}]}}"#), true, "not-loaded"),
        (format!(r#"{{"shadow": true, "hooks": [{broken}}}]}}"#), true, "not-loaded"),
        (format!(r#"{{"shadow": true, "hooks": [{broken}, "shadow": false}}]}}"#), false, "closed-gate"),
        (format!(r#"{{"hooks": [{broken}, "shadow": "yes"}}]}}"#), false, "closed-gate"),
    ] {
        let world = World::with(&[(USER, &file)]);
        let loaded = world.load();
        assert_eq!(loaded.hooks[0].info.dry_run, shadow, "{file}");
        assert!(world.codes(&loaded).contains(&format!("{USER} {code}")), "{file}: {:?}", world.codes(&loaded));
    }
}
