//! Origins of hook files that need approval.

use checkrein::Trust;
use checkrein::dialects::agents::{claude, native};
use checkrein::hook::HookState;
use checkrein::hook_files::Sources;

use super::common::*;

const USER: &str = "home/.config/checkrein/hooks.yaml";
const CLAUDE: &str = r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}"#;

fn states(sources: &Sources) -> Vec<HookState> {
    sources.load().hooks.into_iter().map(|spec| spec.state).collect()
}

#[test]
fn files_of_user_and_administrator_need_no_approval() {
    let world = World::with(&[
        ("root/etc/checkrein/hooks.yaml", &format!("protect_self: false\n{}", hook("a", "true"))),
        (USER, &hook("b", "true")),
        (FILE, &hook("c", "true")),
        ("project/.checkrein/hooks.local.yaml", &hook("d", "true")),
    ]);
    let [ready, not] = [HookState::Ready, HookState::Untrusted];
    assert_eq!(states(&world.sources()), [ready.clone(), ready, not.clone(), not]);
}

#[test]
fn every_handler_of_a_project_needs_approval() {
    let world = World::with(&[(
        FILE,
        "hooks: [{id: a, event: Stop, command: a}, {id: b, event: Stop, url: 'http://127.0.0.1:9'}, {id: c, event: Stop, builtin: log}]",
    )]);
    assert_eq!(states(&world.sources()), vec![HookState::Untrusted; 3]);
    world.approve();
    assert_eq!(states(&world.sources()), vec![HookState::Ready; 3]);
}

#[test]
fn explicit_file_needs_no_approval() {
    let world = World::guard("true");
    let named = Sources::of_files_in(&native::DIALECT, [world.path(FILE)], world.path("project"), world.place());
    assert_eq!(states(&named.clone().trust(world.trust())), [HookState::Ready]);
    assert_eq!(states(&named.as_of_project().trust(world.trust())), [HookState::Untrusted]);
}

#[test]
fn included_file_needs_approval_unless_the_user_names_it() {
    let include = |path: &str| format!("include: [{{dialect: claude, path: {path}}}]\n");
    // A file that the user names needs no approval, also in the project.
    let path = "project/.claude/settings.json";
    let world = World::with(&[(path, CLAUDE)]);
    world.write(USER, &include(&world.path(path).display().to_string()));
    assert_eq!(states(&world.sources()), [HookState::Ready]);
    // The settings of an agent in the project need approval.
    let world = World::with(&[(path, CLAUDE), (USER, "include: [claude]\n")]);
    assert_eq!(states(&world.sources()), [HookState::Untrusted]);
    // Files that the project names need approval.
    let world = World::with(&[(path, CLAUDE), (FILE, &include("../.claude/settings.json"))]);
    assert_eq!(states(&world.sources()), [HookState::Untrusted]);
    let world = World::with(&[("elsewhere/x.json", CLAUDE), (FILE, &include("../../elsewhere/x.json"))]);
    assert_eq!(states(&world.sources()), [HookState::Untrusted]);
    world.approve();
    assert_eq!(world.state(), HookState::Ready);
}

#[test]
fn plugin_inside_of_the_project_needs_approval() {
    let world = World::with(&[("project/plugin/hooks/hooks.json", CLAUDE), ("home/plugin/hooks/hooks.json", CLAUDE)]);
    let plugin = |path: &str| Sources::plugin(&claude::DIALECT, world.path(path));
    let with = |path: &str| world.sources().and(plugin(path)).trust(world.trust());
    assert_eq!(states(&with("project/plugin")), [HookState::Untrusted]);
    assert_eq!(states(&with("home/plugin")), [HookState::Ready]);
    let review = with("project/plugin").review();
    review.approve(&review.awaiting()).unwrap();
    assert_eq!(states(&with("project/plugin")), [HookState::Ready]);
}

#[test]
fn user_files_inside_of_the_project_need_approval() {
    // As if the project's settings had set HOME.
    let world = World::with(&[("project/home/.config/checkrein/hooks.yaml", &hook("evil", "true"))]);
    let place = checkrein::hook_files::Locations::new(world.path("root")).home(world.path("project/home"));
    let sources = Sources::discover_in(&native::DIALECT, world.path("project"), place).trust(world.trust());
    assert_eq!(states(&sources), [HookState::Untrusted]);
}

#[test]
fn caller_can_trust_everything() {
    let world = World::guard("true");
    assert_eq!(states(&world.sources().trust(Trust::everything())), [HookState::Ready]);
}

#[test]
fn trusted_paths_need_no_approval() {
    let world = World::guard("true");
    for (text, is_trusted) in [
        (format!("trusted_paths: ['{}']", world.path("").display()), true),
        (format!("trusted_paths: ['{}']", world.path("project").display()), true),
        (format!("trusted_paths: ['{}']", world.path("proj").display()), false),
        ("trusted_paths: ['~/../project']".to_owned(), true),
        ("trusted_paths: ['~']".to_owned(), false),
        ("trusted_paths: ['project']".to_owned(), false),
    ] {
        world.write(USER, &text);
        let expected = if is_trusted { HookState::Ready } else { HookState::Untrusted };
        assert_eq!(world.state(), expected, "{text}");
    }
    assert!(world.load().diagnostics.iter().any(|found| found.message.contains("start it with `/` or `~/`")));
    // Also for other dialects.
    world.write(USER, &format!("trusted_paths: ['{}']", world.path("project").display()));
    world.write("project/.claude/settings.json", CLAUDE);
    let world = world.dialect(&claude::DIALECT);
    assert_eq!(world.state(), HookState::Ready);
}

#[test]
fn project_cannot_set_trusted_paths_and_keys() {
    let world = World::with(&[(
        FILE,
        "trusted_paths: ['/']\ntrusted_keys: ['ssh-ed25519 AAAA']\nhooks: [{id: a, event: Stop, command: a}]",
    )]);
    assert_eq!(world.state(), HookState::Untrusted);
    let diagnostics = world.load().diagnostics;
    assert_eq!(diagnostics.iter().filter(|found| found.code == "no-effect").count(), 2, "{diagnostics:?}");
}
