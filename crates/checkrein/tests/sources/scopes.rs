//! No file changes hooks or settings of a wider scope, neither to weaken nor to strengthen them.

use std::fmt::Write as _;

use checkrein::dialects::Dialect;
use checkrein::dialects::agents::{claude, native};
use checkrein::dialects::config::{FileRow, INCLUDE_KEYS, PathBase};
use checkrein::hook::HandlerSpec;
use checkrein::hook_files::{Loaded, Sources};
use checkrein::{HookSpec, Scope, Trust};

use crate::common::{LOCAL, MANAGED, PROJECT, USER, World, hooks, ready};

const CLAUDE_MANAGED: &str = "root/etc/claude-code/managed-settings.json";
const CLAUDE_USER: &str = "home/.claude/settings.json";
const CLAUDE_PROJECT: &str = "project/.claude/settings.json";
const CLAUDE_LOCAL: &str = "project/.claude/settings.local.json";
const PLUGIN: &str = "home/plugin/hooks/hooks.json";

/// Every top-level key of checkrein's own files, with values that try to change something.
const KEYS: &[(&str, &[&str])] = &[
    ("$schema", &[r#""x""#]),
    ("version", &["1"]),
    ("description", &[r#""x""#]),
    // The keys of an include are in `INCLUDES`.
    ("include", &[r#"[{"dialect": "claude"}]"#]),
    ("compat", &[r#""exact""#, r#""safe""#]),
    ("allow_skip", &["true", "false"]),
    ("unguarded_subagents", &["\"allow\"", "\"ask\""]),
    ("deny_by_command", &["true", "false"]),
    ("approvals", &["\"wait\"", "\"deny\""]),
    ("approval_webhook", &[r#"{"url": "https://evil.example/", "secret": "x"}"#]),
    ("log", &["true", "false"]),
    ("resident", &["true", "false"]),
    ("audit", &["true", "false", r#"{"path": "x", "on_failure": "closed"}"#]),
    ("restrict", &[r#"{"scopes": []}"#, r#"{"handlers": []}"#, r#"{"urls": []}"#, r#"{"env": []}"#]),
    ("protect_self", &["true", "false"]),
    ("dry_run", &["true", "false"]),
    ("env_allow", &[r#"["*"]"#, r#"["A", "B"]"#, "[]"]),
    ("warm", &["true", "false", r#""auto""#]),
    ("trusted_paths", &[r#"["/"]"#, "[]"]),
    ("trusted_keys", &[r#"["ssh-ed25519 AAAA"]"#, "[]"]),
    ("disable", &[r#"["managed", "managed-http", "user", "user-http", "project", "local"]"#]),
    (
        "override",
        &[
            r#"{"managed": {"dry_run": true}, "user": {"dry_run": true}, "project": {"dry_run": true}}"#,
            r#"{"managed": {"on_failure": "open"}, "user": {"on_failure": "open"}, "user-http": {"on_timeout": "open"}}"#,
        ],
    ),
    // Rules of a pack are hooks of the file that lists it.
    ("packs", &[r#"["git"]"#, r#"[{"pack": "git", "except": ["git.reset-hard"], "dry_run": true}]"#, r#"["unknown"]"#]),
    ("disableAllHooks", &["true", "false"]),
    ("allowManagedHooksOnly", &["true", "false"]),
    ("allowedHttpHookUrls", &["[]", r#"["https://*/*"]"#]),
    ("httpHookAllowedEnvVars", &["[]", r#"["A", "B", "C"]"#]),
];

/// Keys that files of Claude Code have as well.
const AGENT_KEYS: &[&str] =
    &["disableAllHooks", "allowManagedHooksOnly", "allowedHttpHookUrls", "httpHookAllowedEnvVars"];

/// Every key of an include, with values that try to change something.
const INCLUDES: &[(&str, &[&str])] = &[
    ("dialect", &[r#""claude""#]),
    (
        "path",
        &[
            r#""../../home/.claude/settings.json""#,
            r#""~/.claude/settings.json""#,
            r#""../../root/etc/claude-code/managed-settings.json""#,
        ],
    ),
    ("on_failure", &[r#""open""#, r#""closed""#, r#""ask""#]),
    ("dry_run", &["true", "false"]),
    ("env_allow", &[r#"["*"]"#, r#"["A"]"#]),
    ("under_own_agent", &["true", "false"]),
];

#[test]
fn every_key_has_a_row() {
    let known = native::LAYOUT.file_keys.unwrap();
    let rows: Vec<_> = KEYS.iter().map(|(key, _)| *key).collect();
    assert_eq!(rows, known, "a new key of a file needs a row in KEYS");
    let rows: Vec<_> = INCLUDES.iter().map(|(key, _)| *key).collect();
    assert_eq!(rows, INCLUDE_KEYS, "a new key of an include needs a row in INCLUDES");
}

/// A file with a command, an endpoint and these members.
fn own_file(name: &str, members: &str) -> String {
    format!(
        r#"{{{members} "hooks": [
            {{"id": "{name}", "event": "PreToolUse", "command": "echo {name}"}},
            {{"id": "{name}-http", "event": "PreToolUse", "url": "https://{name}.example/", "allowedEnvVars": ["A", "B"]}}]}}"#
    )
}

/// Such a file in Claude Code's dialect.
fn claude_file(name: &str, members: &str) -> String {
    format!(
        r#"{{{members} "hooks": {{"PreToolUse": [{{"hooks": [
            {{"type": "command", "command": "echo claude {name}"}},
            {{"type": "http", "url": "https://claude-{name}.example/", "allowedEnvVars": ["A", "B"]}}]}}]}}}}"#
    )
}

/// Files of all scopes. The user's and the administrator's own files have these members.
fn world(of_wider: &str) -> World {
    let world = World::new();
    for (path, name) in [(MANAGED, "managed"), (USER, "user"), (PROJECT, "project"), (LOCAL, "local")] {
        let is_wider = path == MANAGED || path == USER;
        world.write(path, own_file(name, if is_wider { of_wider } else { "" }));
    }
    for (path, name) in [
        (CLAUDE_MANAGED, "managed"),
        (CLAUDE_USER, "user"),
        (CLAUDE_PROJECT, "project"),
        (CLAUDE_LOCAL, "local"),
        (PLUGIN, "plugin"),
    ] {
        world.write(path, claude_file(name, ""));
    }
    world
}

/// Everything that decides what a hook does.
fn shown(spec: &HookSpec) -> String {
    let handler = match &spec.handler {
        HandlerSpec::Command(command) => format!("{:?} {:?}", command.env_allow, command.env_bounds),
        HandlerSpec::Http(http) => format!("{:?}", http.env_allow),
        _ => String::new(),
    };
    let info = &spec.info;
    format!("{info:?} {:?} {:?} {} {handler}", spec.state, spec.disabled_by, spec.definition())
}

/// Everything of scopes that are wider than this one, a line each.
fn wider_than(scope: Scope, loaded: &Loaded) -> String {
    let mut all = String::new();
    let is_wider = |other: Scope| !scope.may_change(other);
    for spec in loaded.hooks.iter().filter(|spec| is_wider(spec.info.source.scope)) {
        let _ = writeln!(all, "{}", shown(spec));
    }
    // Settings for all hooks. The user's files may set them.
    if scope != Scope::User {
        let settings = loaded.settings.iter().map(|setting| (&setting.key, &setting.value, &setting.file));
        let (webhook, resident) = (&loaded.approval_webhook, loaded.resident);
        let _ = writeln!(all, "{:?} {} {resident} {webhook:?}", loaded.compat, loaded.allow_skip);
        let _ = writeln!(all, "{} {:?}", loaded.approvals_wait, loaded.audit);
        let _ = writeln!(all, "{:?}", settings.collect::<Vec<_>>());
    }
    all
}

/// Loads with everything approved, as a new clone under Claude Code, and from Claude Code's files alone.
fn loads(world: &World) -> [Loaded; 3] {
    let plugin = || Sources::plugin(&claude::DIALECT, world.path("home/plugin"));
    let discovered = || Sources::discover_in(&claude::DIALECT, world.path("project"), world.place());
    [
        world.sources().and(plugin().trust(Trust::everything())).load(),
        world
            .untrusted_in("project")
            .and(plugin())
            .trust(Trust::in_dir(world.path("state")))
            .called_by(&claude::DIALECT)
            .load(),
        discovered().and(plugin()).trust(Trust::everything()).load(),
    ]
}

/// Asserts that a file changes nothing of wider scopes with any of these texts.
#[track_caller]
fn assert_unchanged(world: &World, file: (&str, Scope), before: &str, after: &[String]) {
    let (path, scope) = file;
    world.write(path, before);
    let of_wider = loads(world).map(|loaded| wider_than(scope, &loaded));
    assert!(of_wider.iter().all(|shown| shown.contains("echo")), "there is something to change");
    for text in after {
        world.write(path, text);
        for (before, loaded) in of_wider.iter().zip(loads(world)) {
            assert_eq!(wider_than(scope, &loaded), *before, "{path}: {text}");
        }
    }
    world.write(path, before);
}

/// Members of wider files, so that there is something to change.
const OF_WIDER: &[&str] = &[
    "",
    r#""disableAllHooks": true, "include": ["claude"], "compat": "safe", "allow_skip": false,"#,
    r#""disableAllHooks": false, "allowedHttpHookUrls": ["https://*user.example/*"], "httpHookAllowedEnvVars": ["A"],"#,
    r#""dry_run": true, "include": ["claude"], "env_allow": ["A"], "audit": true,"#,
    r#""include": [{"dialect": "claude", "on_failure": "ask", "env_allow": ["C"]}], "compat": "exact","#,
];

/// checkrein's own files except managed ones.
const OWN_FILES: [(&str, Scope, &str); 3] =
    [(PROJECT, Scope::Project, "project"), (LOCAL, Scope::Local, "local"), (USER, Scope::User, "user")];

#[test]
fn no_key_of_a_file_changes_anything_of_a_wider_scope() {
    let member = |key: &str, value: &str| format!(r#""{key}": {value},"#);
    let members = |is_meant: &dyn Fn(&str) -> bool| -> Vec<String> {
        let rows = KEYS.iter().filter(|(key, _)| is_meant(key));
        rows.flat_map(|(key, values)| values.iter().map(|value| member(key, value))).collect()
    };
    // An include runs hooks of other files unchanged, including those of wider scopes.
    let own = members(&|key| key != "include");
    let of_agent = members(&|key| AGENT_KEYS.contains(&key));
    for of_wider in OF_WIDER {
        let world = world(of_wider);
        for (path, scope, name) in OWN_FILES {
            let kept = std::fs::read_to_string(world.path(path)).unwrap();
            // The settings of a file apply to those that it includes.
            for include in ["", r#""include": ["claude"],"#] {
                let after: Vec<_> = own.iter().map(|member| own_file(name, &format!("{member}{include}"))).collect();
                assert_unchanged(&world, (path, scope), &own_file(name, include), &after);
            }
            world.write(path, kept);
        }
        for (path, scope, name) in [
            (CLAUDE_PROJECT, Scope::Project, "project"),
            (CLAUDE_LOCAL, Scope::Local, "local"),
            (PLUGIN, Scope::Plugin, "plugin"),
            (CLAUDE_USER, Scope::User, "user"),
        ] {
            let after: Vec<_> = of_agent.iter().map(|member| claude_file(name, member)).collect();
            assert_unchanged(&world, (path, scope), &claude_file(name, ""), &after);
        }
    }
}

#[test]
fn no_key_of_an_include_changes_anything_of_a_wider_scope() {
    let plain = r#""include": ["claude"],"#;
    let entry = |key: &str, value: &str| match key {
        "dialect" => format!(r#"{{"dialect": {value}}}"#),
        _ => format!(r#"{{"dialect": "claude", "{key}": {value}}}"#),
    };
    for of_wider in OF_WIDER {
        let world = world(of_wider);
        for (path, scope, name) in OWN_FILES {
            let kept = std::fs::read_to_string(world.path(path)).unwrap();
            let (mut instead, mut beside) = (Vec::new(), Vec::new());
            for (key, value) in INCLUDES.iter().flat_map(|(key, values)| values.iter().map(move |value| (key, value))) {
                let entry = entry(key, value);
                // An include by path reads only that file, for the scope of the file that has it.
                let is_path = *key == "path";
                let alone = own_file(name, &format!(r#""include": [{entry}],"#));
                if is_path {
                    assert_unchanged(&world, (path, scope), &own_file(name, ""), &[alone]);
                } else {
                    instead.push(alone);
                }
                beside.push(own_file(name, &format!(r#""include": [{entry}, "claude"],"#)));
                beside.push(own_file(name, &format!(r#""include": ["claude", {entry}],"#)));
            }
            assert_unchanged(&world, (path, scope), &own_file(name, plain), &instead);
            assert_unchanged(&world, (path, scope), &own_file(name, plain), &beside);
            world.write(path, kept);
        }
    }
}

/// A restriction of a wider scope applies to hooks of narrower ones.
#[test]
fn no_file_weakens_restrictions_of_a_wider_scope() {
    for (of_user, of_project) in [
        (r#""disableAllHooks": true,"#, r#""disableAllHooks": false,"#),
        (r#""allowedHttpHookUrls": ["https://user.example/*"],"#, r#""allowedHttpHookUrls": ["https://*/*"],"#),
        (r#""httpHookAllowedEnvVars": ["A"],"#, r#""httpHookAllowedEnvVars": ["A", "B"],"#),
    ] {
        for (wide, narrow) in [(MANAGED, USER), (MANAGED, PROJECT), (USER, PROJECT), (USER, LOCAL)] {
            let world = World::with(&[(wide, &own_file("wide", of_user)), (narrow, &own_file("narrow", ""))]);
            let narrow_hooks = || -> Vec<_> {
                let loaded = world.load();
                let own = loaded.hooks.iter().filter(|spec| spec.info.id.starts_with("narrow"));
                own.map(|spec| (spec.state.clone(), shown(spec))).collect()
            };
            let before = narrow_hooks();
            world.write(narrow, own_file("narrow", of_project));
            assert_eq!(narrow_hooks(), before, "{narrow} {of_project}");
        }
    }
}

/// Scope × setting: hooks that a file with the setting changes, of one hook for each scope.
#[test]
fn local_file_changes_hooks_of_its_project_only() {
    let disable = r#""disable": ["managed", "user", "project", "local"],"#;
    let dry_run = r#""override": {"managed": {"dry_run": true}, "user": {"dry_run": true}, "project": {"dry_run": true}, "local": {"dry_run": true}},"#;
    let soften = r#""override": {"managed": {"on_failure": "open"}, "user": {"on_failure": "open"}, "project": {"on_failure": "open"}, "local": {"on_failure": "open"}},"#;
    let all = r#""disableAllHooks": true,"#;
    for setting in [disable, dry_run, soften, all] {
        for (path, name, changed) in [
            (LOCAL, "local", &["project", "local"][..]),
            (PROJECT, "project", &["project", "local"]),
            (USER, "user", &["user", "project", "local"]),
            (MANAGED, "managed", &["managed", "user", "project", "local"]),
        ] {
            let world = world("");
            let shown_by_id = |loaded: &Loaded| -> Vec<(String, String)> {
                let own = loaded
                    .hooks
                    .iter()
                    .filter(|spec| ["managed", "user", "project", "local"].contains(&&*spec.info.id));
                own.map(|spec| (spec.info.id.clone(), shown(spec))).collect()
            };
            let before = shown_by_id(&world.load());
            world.write(path, own_file(name, setting));
            let after = shown_by_id(&world.load());
            let differs: Vec<_> = before
                .iter()
                .zip(&after)
                .filter(|(one, other)| one.1 != other.1)
                .map(|(one, _)| one.0.as_str())
                .collect();
            assert_eq!(differs, changed, "{path} {setting}");
        }
    }
}

#[test]
fn override_names_its_file_and_reports_ids_without_effect() {
    let world = World::with(&[
        (USER, &own_file("user", "")),
        (PROJECT, &own_file("project", "")),
        (LOCAL, r#"{"disable": ["project", "user", "gone"], "override": {"project-http": {"on_failure": "opne"}}}"#),
    ]);
    let loaded = world.load();
    let hook = |id: &str| loaded.hooks.iter().find(|spec| spec.info.id == id).unwrap();
    let by = hook("project").disabled_by.clone().unwrap();
    assert!(by.starts_with("`disable` in ") && by.ends_with("hooks.local.json:1"), "{by}");
    assert!(hook("user").disabled_by.is_none() && hook("project-http").info.on_failure.is_none());
    let texts: Vec<_> = loaded.diagnostics.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
    for said in [
        "hook `user` is of a wider scope; this local file cannot change it",
        "no hook has the id `gone`, so `disable` or `override` of it has no effect",
        "unknown value of `on_failure` `opne`",
    ] {
        assert!(texts.contains(&said), "{said}: {texts:?}");
    }
}

/// A changed guard denies, whatever the repository's own files say about it.
#[test]
fn override_does_not_open_a_changed_hook() {
    let guard =
        |command: &str| format!(r#"{{"hooks": [{{"id": "guard", "event": "PreToolUse", "command": "{command}"}}]}}"#);
    let world = World::with(&[(PROJECT, &guard("true"))]);
    let sources = || world.untrusted_in("project").trust(Trust::in_dir(world.path("state")));
    let review = sources().review();
    review.approve(&review.awaiting()).unwrap();
    world.write(PROJECT, guard("false"));
    world.write(LOCAL, r#"{"override": {"guard": {"dry_run": true, "on_failure": "open"}}}"#);
    let loaded = sources().load();
    let info = &loaded.hooks[0].info;
    assert_eq!((info.dry_run, info.on_failure), (false, None), "{:?}", loaded.hooks[0].state);
}

/// A dialect with only this project file.
fn project_only(path: &'static str) -> &'static Dialect {
    let mut dialect = native::DIALECT.clone();
    dialect.name = "project-only";
    dialect.config.files = Box::leak(Box::new([FileRow::new(Scope::Project, PathBase::Project, path)]));
    Box::leak(Box::new(dialect))
}

/// A file that is included several times is read with the widest scope.
#[test]
fn file_keeps_its_scope_in_any_include_order() {
    for (owner, scope) in [(USER, Scope::User), (MANAGED, Scope::Managed)] {
        let world = World::with(&[(owner, &hooks(&["guard"]))]);
        let path = world.path(owner).display().to_string();
        for more in ["", r#", "dry_run": true"#, r#", "on_failure": "open""#] {
            let include = format!(r#"{{"include": [{{"dialect": "native", "path": "{path}"{more}}}]}}"#);
            world.write("project/agent.json", include);
            let first = Sources::discover_in(project_only("agent.json"), world.path("project"), world.place());
            let loaded = first.and(world.untrusted_in("project")).trust(Trust::in_dir(world.path("state"))).load();
            let guards: Vec<_> = loaded.hooks.iter().filter(|spec| spec.info.id == "guard").collect();
            assert_eq!(guards.len(), 1, "{owner} {more}");
            let info = &guards[0].info;
            assert_eq!((info.source.scope, info.on_failure, info.dry_run), (scope, None, false), "{owner} {more}");
            assert_eq!(ready(&loaded.hooks), ["guard"], "{owner} {more}");
        }
    }
}

/// The number of files is limited.
#[test]
fn project_files_do_not_use_up_the_limit_of_user_files() {
    let world = World::with(&[(USER, &hooks(&["guard"]))]);
    let entries: Vec<_> =
        (0..4200).map(|number| format!(r#"{{"dialect": "native", "path": "{number}.json"}}"#)).collect();
    world.write("project/agent.json", format!(r#"{{"include": [{}]}}"#, entries.join(",")));
    let first = Sources::discover_in(project_only("agent.json"), world.path("project"), world.place());
    let loaded = first.and(world.untrusted_in("project")).trust(Trust::in_dir(world.path("state"))).load();
    assert_eq!(ready(&loaded.hooks), ["guard"]);
}

/// The user's include applies, even if a project's file includes the same files first.
#[test]
fn include_of_the_user_applies_in_any_order() {
    let world = World::with(&[
        (USER, r#"{"include": [{"dialect": "claude", "on_failure": "closed", "env_allow": ["A"]}]}"#),
        (CLAUDE_USER, &claude_file("user", "")),
        ("project/agent.json", r#"{"include": [{"dialect": "claude", "on_failure": "open", "dry_run": true}]}"#),
    ]);
    let first = Sources::discover_in(project_only("agent.json"), world.path("project"), world.place());
    let with = first.and(world.untrusted_in("project")).trust(Trust::everything()).load();
    let without = world.load();
    let of_user = |loaded: &Loaded| loaded.hooks.iter().map(shown).collect::<Vec<_>>();
    assert_eq!(of_user(&with), of_user(&without));
}

/// Settings of an administrator's include apply to all files below, also through a project's include.
#[test]
fn narrower_include_does_not_hide_a_wider_one() {
    let world = World::with(&[
        (
            "root/etc/checkrein/hooks.d/a.json",
            r#"{"protect_self": false, "include": [{"dialect": "native", "on_failure": "closed"}]}"#,
        ),
        (PROJECT, r#"{"include": [{"dialect": "claude", "on_failure": "open"}]}"#),
        (CLAUDE_USER, &claude_file("user", "")),
        (CLAUDE_PROJECT, &claude_file("project", "")),
    ]);
    let loaded = world.load();
    let effects: Vec<_> = loaded.hooks.iter().map(|spec| spec.info.on_failure).collect();
    assert_eq!(effects, [Some(checkrein::FailurePolicy::Closed); 4]);
}

/// A project can contain a link to a file of the user.
#[cfg(unix)]
#[test]
fn link_in_the_project_does_not_change_the_scope() {
    use checkrein::dialects::agents::qwen;
    let world = World::with(&[("home/.qwen/settings.json", &claude_file("user", ""))]);
    std::fs::create_dir_all(world.path("project/.qwen")).unwrap();
    let link = world.path("project/.qwen/settings.json");
    std::os::unix::fs::symlink("../../home/.qwen/settings.json", link).unwrap();
    let sources = Sources::discover_in(&qwen::DIALECT, world.path("project"), world.place());
    let loaded = sources.trust(Trust::in_dir(world.path("state"))).load();
    let scopes: Vec<_> = loaded.hooks.iter().map(|spec| spec.info.source.scope).collect();
    assert!(!scopes.is_empty() && scopes.iter().all(|scope| *scope == Scope::User), "{scopes:?}");
    assert_eq!(ready(&loaded.hooks).len(), scopes.len());
}

/// A project can set the variables that locate the user's files.
#[test]
fn user_file_inside_the_project_has_project_scope() {
    const MOVED: &str = "project/config/checkrein/hooks.json";
    let world = World::with(&[(CLAUDE_USER, &claude_file("user", "")), (MOVED, r#"{"include": ["claude"]}"#)]);
    let load = || {
        let place = world.place().config(world.path("project/config"));
        Sources::discover_in(&native::DIALECT, world.path("project"), place).trust(Trust::everything()).load()
    };
    let before = wider_than(Scope::Project, &load());
    assert!(before.contains("claude user"), "{before}");
    for (key, values) in KEYS.iter().filter(|(key, _)| *key != "include") {
        for value in *values {
            world.write(MOVED, format!(r#"{{"{key}": {value}, "include": ["claude"]}}"#));
            assert_eq!(wider_than(Scope::Project, &load()), before, "{key}: {value}");
        }
    }
    for (key, values) in INCLUDES.iter().filter(|(key, _)| !["dialect", "path"].contains(key)) {
        for value in *values {
            world.write(MOVED, format!(r#"{{"include": [{{"dialect": "claude", "{key}": {value}}}]}}"#));
            assert_eq!(wider_than(Scope::Project, &load()), before, "{key}: {value}");
        }
    }
}

/// Of equal hooks, the one of the wider scope runs: the other one may have another timeout and other variables.
#[test]
fn project_copy_does_not_replace_a_user_hook() {
    let guard = |more: &str| {
        format!(r#"{{"hooks": {{"PreToolUse": [{{"hooks": [{{"type": "command", "command": "./guard"{more}}}]}}]}}}}"#)
    };
    let world = World::with(&[(CLAUDE_USER, &guard("")), (PLUGIN, &guard(r#", "timeout": 0.001"#))]);
    let sources = Sources::plugin(&claude::DIALECT, world.path("home/plugin"))
        .and(Sources::discover_in(&claude::DIALECT, world.path("project"), world.place()))
        .trust(Trust::everything());
    let engine = checkrein::Engine::builder().sources(sources).build();
    let plan = engine.explain(&crate::common::tool_call("Bash", "{}"));
    let chosen: Vec<_> =
        plan.iter().filter(|hook| hook.why_not.is_none()).map(|hook| hook.hook.info.source.scope).collect();
    assert_eq!(chosen, [Scope::User]);
}

/// Members with which files of agents disable hooks or change them, in any dialect.
const SWITCHES: &[&str] = &[
    r#""disableAllHooks": true"#,
    r#""disableAllHooks": "true""#,
    r#""allowManagedHooksOnly": true"#,
    r#""hooksConfig": {"enabled": false}"#,
    r#""hooksConfig": {"disabled": ["checkrein", "guard", "*", "./guard.sh"]}"#,
    r#""hooks": {"disabled": true}"#,
    r#""hooks": {"enabled": false}"#,
    r#""hooks": {"disabled": ["./guard.sh"]}"#,
    r#""enabled": false"#,
    r#""disabled": true"#,
    r#""disabledHooks": ["./guard.sh"]"#,
    r#""enableHooks": false"#,
    r#""tools": {"enableHooks": false}"#,
    r#""features": {"hooks": false}"#,
    r#""strictPluginOnlyCustomization": true"#,
    r#""allowedHttpHookUrls": []"#,
    r#""httpHookAllowedEnvVars": []"#,
    r#""version": 99"#,
];

/// Path of a row's file, with a name for rows that list a directory.
fn path_of(row: &FileRow, world: &World) -> Option<std::path::PathBuf> {
    let base = world.place().bases(row.base, &world.path("project")).into_iter().next()?;
    let extension = row.extensions.iter().find(|extension| **extension == "json");
    let path = match (row.path.strip_suffix("/*"), row.path.split_once("/*/"), extension) {
        (Some(directory), ..) => base.join(directory).join("x.json"),
        (None, Some((directory, inside)), _) => base.join(directory).join("x").join(inside),
        (None, None, Some(extension)) => base.join(format!("{}.{extension}", row.path)),
        (None, None, None) => base.join(row.path),
    };
    path.extension().is_some_and(|extension| extension == "json").then_some(path)
}

/// Dialect × setting × scope: a file of a repository in any agent's format changes no hook of the user in that format.
#[test]
fn no_setting_of_any_dialect_changes_hooks_of_the_user() {
    let mut tried = 0;
    let is_agent = |dialect: &&&Dialect| !dialect.config.format.is_programs() && !dialect.has_all_events;
    for dialect in checkrein::dialects::ALL.iter().filter(is_agent) {
        let gate = dialect.events.iter().find(|row| dialect.is_gate(&row.kind));
        let Some(gate) = gate else { continue };
        let guard = HookSpec::shell("guard", gate.kind.clone(), "./guard.sh").dialect(dialect);
        let Some(text) = dialect.encode(&[&guard]).map(|encoded| encoded.text) else { continue };
        let rows = |wanted: Scope| dialect.config.files.iter().filter(move |row| row.scope == wanted);
        let world = World::new();
        let Some(of_user) = rows(Scope::User).find_map(|row| path_of(row, &world)) else { continue };
        let write = |path: &std::path::Path, text: &str| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(&of_user, &text);
        world.write(USER, format!(r#"{{"include": [{{"dialect": "{}"}}]}}"#, dialect.name));
        let hooks_of_user = || -> Vec<Vec<String>> {
            let loaded = [world.sources().load(), world.untrusted_in("project").load()];
            let own = |loaded: &Loaded| {
                let of_user = loaded.hooks.iter().filter(|spec| spec.info.source.scope == Scope::User);
                of_user.map(shown).collect()
            };
            loaded.iter().map(own).collect()
        };
        let before = hooks_of_user();
        // A file of docker-agent has hooks of several agents, and the sources select one.
        if before.iter().any(Vec::is_empty) {
            assert!(dialect.agent() == "docker-agent", "{}: {text}", dialect.name);
            continue;
        }
        for scope in [Scope::Project, Scope::Local] {
            for path in rows(scope).filter_map(|row| path_of(row, &world)) {
                for switch in SWITCHES {
                    for text in [format!("{{{switch}}}"), format!(r#"{{{switch}, "hooks": {{}}}}"#)] {
                        write(&path, &text);
                        assert_eq!(hooks_of_user(), before, "{} {}: {text}", dialect.name, path.display());
                        tried += 1;
                    }
                }
                std::fs::remove_file(&path).unwrap();
            }
        }
    }
    assert!(tried > 500, "only {tried} cases");
}
