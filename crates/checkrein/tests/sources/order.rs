//! Files that are found, and the order of their hooks.

use checkrein::dialects::agents::native;
use checkrein::hook::SkipReason;
use checkrein::hook_files::{FileStatus, Locations, Sources};
use checkrein::{Engine, HookSpec, Scope, Trust};

use crate::common::{LOCAL, MANAGED, PROJECT, USER, World, found, hooks, ids, tool_call, written};

#[test]
fn missing_files_are_no_error() {
    let world = World::new();
    let loaded = world.load();
    assert!(loaded.hooks.is_empty() && loaded.diagnostics.is_empty());
    assert!(loaded.files.iter().all(|file| file.status == FileStatus::Missing && file.hooks == 0));
    assert!(loaded.files.iter().any(|file| file.path == world.path(PROJECT)), "missing files are listed");
}

#[test]
fn files_are_in_the_order_of_the_dialect_and_all_are_read() {
    let world = World::with(&[
        (LOCAL, &hooks(&["local"])),
        (PROJECT, &hooks(&["project-1", "project-2"])),
        ("home/.config/checkrein/hooks.d/b.json", &hooks(&["user-b"])),
        ("home/.config/checkrein/hooks.d/a.yaml", "hooks: [{id: user-a, event: Stop, command: x}]"),
        ("home/.config/checkrein/hooks.d/notes.txt", "not a config"),
        ("home/.config/checkrein/hooks.d/.hidden.json", "not even JSON"),
        (USER, &hooks(&["user"])),
        ("root/etc/checkrein/hooks.d/10.toml", "[[hooks]]\nid = \"managed-d\"\nevent = \"Stop\"\ncommand = \"x\""),
        (MANAGED, &hooks(&["managed"])),
    ]);
    let loaded = world.load();
    assert_eq!(world.codes(&loaded), [""; 0]);
    let expected = ["managed", "managed-d", "user", "user-a", "user-b", "project-1", "project-2", "local"];
    assert_eq!(ids(&loaded.hooks), expected);
    use Scope::{Local, Managed, Project, User};
    let scopes: Vec<_> = written(&loaded.hooks).map(|spec| spec.info.source.scope).collect();
    assert_eq!(scopes, [Managed, Managed, User, User, User, Project, Project, Local]);
    let counts: Vec<_> = loaded.files.iter().filter(|file| file.hooks > 0).map(|file| file.hooks).collect();
    assert_eq!(counts, [2, 1, 1, 1, 1, 2, 1], "including `protect-self`");
    assert!(loaded.files.iter().all(|file| file.dialect == "native"));
}

#[test]
fn every_hook_has_file_and_line() {
    let world = World::with(&[(PROJECT, "{\"hooks\": {\n  \"Stop\": [\n    {\"command\": \"x\"}\n  ]\n}}")]);
    let loaded = world.load();
    let source = &loaded.hooks[0].info.source;
    assert_eq!(source.file.as_deref(), world.path(PROJECT).to_str());
    assert_eq!((source.line, source.column, source.scope), (Some(3), Some(5), Scope::Project));
}

#[test]
fn several_extensions_are_read_with_a_warning() {
    let world = World::with(&[
        ("project/.checkrein/hooks.yaml", "hooks: [{id: yaml, event: Stop, command: x}]"),
        (PROJECT, &hooks(&["json"])),
    ]);
    let loaded = world.load();
    assert_eq!(ids(&loaded.hooks), ["json", "yaml"]);
    assert_eq!(world.codes(&loaded), ["project/.checkrein/hooks.yaml several-files"]);
    assert!(loaded.diagnostics[0].message.contains("hooks.json"), "{}", loaded.diagnostics[0]);
}

#[test]
fn nearest_parent_directory_with_the_file_is_used() {
    let world = World::with(&[
        (PROJECT, &hooks(&["top"])),
        (LOCAL, &hooks(&["top-local"])),
        ("project/a/.checkrein/hooks.yml", "hooks: [{id: near, event: Stop, command: x}]"),
        (".checkrein/hooks.json", &hooks(&["outside"])),
    ]);
    std::fs::create_dir_all(world.path("project/a/b/c")).unwrap();
    let load_in = |dir: &str| world.sources_in(dir).load();
    assert_eq!(ids(&load_in("project/a/b/c").hooks), ["near", "top-local"], "each file separately");
    assert_eq!(ids(&load_in("project").hooks), ["top", "top-local"], "not above the root of the repository");
    std::fs::write(world.path("project/a/b/.git"), "gitdir: elsewhere").unwrap();
    assert!(load_in("project/a/b/c").hooks.is_empty(), "in a worktree, `.git` is a file");
    std::fs::create_dir_all(world.path("loose/deep")).unwrap();
    assert!(load_in("loose/deep").hooks.is_empty(), "parent directories may belong to other users");
}

#[test]
fn config_directory_can_be_set() {
    let world = World::with(&[("settings/checkrein/hooks.json", &hooks(&["moved"])), (USER, &hooks(&["usual"]))]);
    let place = world.place().config(world.path("settings"));
    let loaded = Sources::discover_in(&native::DIALECT, world.path("project"), place).trust(Trust::everything()).load();
    assert_eq!(ids(&loaded.hooks), ["moved"]);
    let homeless = Locations::new(world.path("root"));
    assert!(
        Sources::discover_in(&native::DIALECT, world.path("project"), homeless)
            .trust(Trust::everything())
            .load()
            .hooks
            .is_empty()
    );
}

#[test]
fn explicit_files_come_last_and_have_user_scope() {
    let world = World::with(&[(USER, &hooks(&["user"])), ("x/mine.hooks", &hooks(&["mine"])), ("x/b.toml", "")]);
    let named = ["x/mine.hooks", "x/b.toml", "x/none.json"].map(|path| world.path(path));
    let loaded = world.sources().and(Sources::of_files(&native::DIALECT, named)).load();
    assert_eq!(ids(&loaded.hooks), ["user", "mine"]);
    assert_eq!(loaded.hooks[1].info.source.scope, Scope::User);
    assert_eq!(world.codes(&loaded), ["x/none.json missing-file"]);
    assert_eq!(found(&loaded), ["hooks.json", "mine.hooks", "b.toml"]);
}

#[test]
fn file_is_read_once_under_all_its_names() {
    let world = World::with(&[(USER, &hooks(&["one"]))]);
    let again = Sources::of_files(
        &native::DIALECT,
        [world.path(USER), world.path("home/../home/.config/checkrein/hooks.json")],
    );
    assert_eq!(ids(&world.sources().and(again).load().hooks), ["one"]);
}

#[test]
fn plan_shows_the_duplicate_hook() {
    let same = |id: &str| format!(r#"{{"hooks": [{{"id": "{id}", "event": "PreToolUse", "command": "./guard"}}]}}"#);
    let world = World::with(&[(USER, &same("mine")), (PROJECT, &same("theirs")), (LOCAL, &hooks(&["other"]))]);
    let engine = Engine::builder().sources(world.sources()).build();
    let plan = engine.explain(&tool_call("Bash", "{}"));
    let why: Vec<_> = plan.iter().map(|planned| (planned.hook.info.id.as_str(), planned.why_not.clone())).collect();
    let dropped = Some(SkipReason::DuplicateOf { id: "mine".to_owned() });
    assert_eq!(why, [("mine", None), ("theirs", dropped), ("other", None)]);
}

#[test]
fn hooks_added_in_code_come_last() {
    let world = World::with(&[(LOCAL, &hooks(&["file"]))]);
    let code = HookSpec::shell("code", checkrein::EventKind::PreToolUse, "true");
    let engine = Engine::builder().hook(code).sources(world.sources()).build();
    let hooks = engine.hooks_for(&checkrein::EventKind::PreToolUse);
    assert_eq!(hooks.iter().map(|spec| spec.info.id.as_str()).collect::<Vec<_>>(), ["file", "code"]);
}
