//! Settings of files that apply to hooks of other files.

use checkrein::dialects::agents::evva;
use checkrein::hook::{HandlerSpec, HookState};
use checkrein::{Decision, Engine, HookSpec, RawJson, Scope};

use crate::common::{LOCAL, MANAGED, PROJECT, USER, World, ids, ready, tool_call};

/// A file with one hook, and settings.
fn file(id: &str, settings: &str) -> String {
    format!(r#"{{{settings} "hooks": [{{"id": "{id}", "event": "PreToolUse", "command": "echo {id}"}}]}}"#)
}

const ON: &str = r#""disableAllHooks": false,"#;
const OFF: &str = r#""disableAllHooks": true,"#;

#[test]
fn hooks_are_disabled_by_the_file_with_precedence() {
    let all = ["managed", "user", "project", "local"];
    // The setting of each file, and the hooks that run.
    let cases: &[([&str; 4], &[&str])] = &[
        (["", "", "", ""], &all),
        (["", OFF, "", ""], &["managed"]),
        (["", "", OFF, ""], &["managed", "user"]),
        // A local file decides for its project.
        (["", "", "", OFF], &["managed", "user"]),
        // A project does not enable what the user disables.
        (["", OFF, ON, ON], &["managed"]),
        (["", "", OFF, ON], &all),
        (["", ON, ON, OFF], &["managed", "user"]),
        ([OFF, ON, ON, ON], &[]),
        ([ON, OFF, OFF, OFF], &all),
    ];
    for (settings, expected) in cases {
        let files: Vec<_> = all.iter().zip(settings).map(|(id, setting)| file(id, setting)).collect();
        let paths = [MANAGED, USER, PROJECT, LOCAL];
        let files: Vec<_> = paths.iter().copied().zip(files.iter().map(String::as_str)).collect();
        let loaded = World::with(&files).load();
        assert_eq!(ready(&loaded.hooks), *expected, "{settings:?}");
        assert_eq!(ids(&loaded.hooks), all, "they stay in the list");
    }
}

#[test]
fn broken_file_is_disabled_too() {
    let world = World::with(&[(USER, &file("user", OFF)), (PROJECT, "{")]);
    assert!(world.load().hooks.iter().all(|spec| spec.state == HookState::Disabled));
}

#[test]
fn administrator_can_allow_only_managed_hooks() {
    const ONLY: &str = r#""allowManagedHooksOnly": true,"#;
    let user = file("user", "");
    let world = World::with(&[(MANAGED, &file("managed", ONLY)), (USER, &user), (PROJECT, "{")]);
    assert_eq!(ready(&world.load().hooks), ["managed"]);
    let forbidden = |spec: &&HookSpec| spec.info.source.scope != Scope::Managed;
    for spec in world.load().hooks.iter().filter(forbidden) {
        assert_eq!(spec.state, HookState::Disabled);
        let why = spec.disabled_by.as_deref().unwrap();
        assert!(why.contains("(`allowManagedHooksOnly` in") && why.ends_with("hooks.json:1)"), "{why}");
    }

    let world = World::with(&[(MANAGED, &file("managed", "")), (USER, &file("user", ONLY))]);
    let loaded = world.load();
    assert_eq!(ready(&loaded.hooks), ["managed", "user"]);
    assert_eq!(world.codes(&loaded), [format!("{USER} no-effect")]);

    let unclear = file("managed", r#""allowManagedHooksOnly": "yes","#);
    let world = World::with(&[(MANAGED, &unclear), (USER, &user)]);
    assert_eq!(ready(&world.load().hooks), ["managed"], "an invalid value means the stricter one");
}

fn endpoints(settings: &str, urls: &[&str]) -> String {
    let hook = |url: &&str| {
        format!(
            r#"{{"id": "{url}", "event": "Stop", "url": "{url}", "allowedEnvVars": ["A", "B"], "headers": {{"x": "$A$B"}}}}"#
        )
    };
    format!(r#"{{{settings} "hooks": [{}]}}"#, urls.iter().map(hook).collect::<Vec<_>>().join(","))
}

#[cfg(feature = "http")]
#[test]
fn http_hooks_call_only_allowed_urls() {
    let urls = ["https://A.example.com/x", "https://b.example.com./x", "https://evil.com/?a.example.com/"];
    let local = endpoints(r#""allowedHttpHookUrls": ["https://a.example.com/*"],"#, &urls);
    let world = World::with(&[(LOCAL, &local)]);
    let loaded = world.load();
    assert_eq!(ready(&loaded.hooks), [urls[0]]);
    assert_eq!(world.codes(&loaded), [format!("{LOCAL} url-not-allowed"), format!("{LOCAL} url-not-allowed")]);

    world.write(PROJECT, r#"{"allowedHttpHookUrls": ["https://b.EXAMPLE.com/*", "evil.com"]}"#);
    let loaded = world.load();
    assert_eq!(ready(&loaded.hooks), urls[..2]);
    assert_eq!(world.codes(&loaded), [format!("{LOCAL} url-not-allowed"), format!("{PROJECT} bad-url-pattern")]);

    let none = World::with(&[(USER, &endpoints("", &urls)), (MANAGED, r#"{"allowedHttpHookUrls": []}"#)]);
    assert!(ready(&none.load().hooks).is_empty());
    let any = World::with(&[(USER, &endpoints("", &urls))]);
    assert_eq!(ready(&any.load().hooks), urls);
}

#[test]
fn http_hooks_send_only_allowed_variables() {
    let world = World::with(&[(LOCAL, &endpoints("", &["https://a.example/"]))]);
    let sent = || match &world.load().hooks[0].handler {
        HandlerSpec::Http(http) => http.env_allow.clone(),
        _ => panic!("not an endpoint"),
    };
    assert_eq!(sent(), ["A", "B"]);
    world.write(PROJECT, r#"{"httpHookAllowedEnvVars": ["B", "C"]}"#);
    assert_eq!(sent(), ["B"]);
    assert_eq!(world.codes(&world.load()), [format!("{LOCAL} variable-not-allowed")]);
    world.write(USER, r#"{"httpHookAllowedEnvVars": ["A", "B"]}"#);
    assert_eq!(sent(), ["B"]);
    world.write(USER, r#"{"httpHookAllowedEnvVars": ["A"]}"#);
    assert_eq!(sent(), [""; 0], "a project cannot extend the user's list");
}

#[tokio::test]
async fn only_the_user_can_allow_unsafe_rules() {
    // Two hooks of an agent in which the last decision applies: a deny, then an allow.
    let say = |word: &str| {
        format!(r#"echo '{{"hookSpecificOutput":{{"permissionDecision":"{word}","permissionDecisionReason":"r"}}}}'"#)
    };
    let file = |compat: &str| {
        let hook = |word| format!(r#"{{"event":"PreToolUse","command":{}}}"#, RawJson::string(&say(word)));
        format!(r#"{{{compat}"hooks":[{},{}]}}"#, hook("deny"), hook("allow"))
    };
    for (path, compat, decision, diagnostics) in [
        (USER, "", Decision::Deny, 0),
        (USER, r#""compat":"exact","#, Decision::Allow, 0),
        (PROJECT, r#""compat":"exact","#, Decision::Deny, 1),
    ] {
        let world = World::with(&[(path, &file(compat))]);
        let engine = Engine::builder().settle_as(&evva::DIALECT).sources(world.sources()).build();
        assert_eq!(engine.diagnostics().len(), diagnostics, "{path} {compat}: {:?}", engine.diagnostics());
        let verdict = engine.fire(tool_call("Bash", "{}")).await;
        assert_eq!(verdict.decision(), decision, "{path} {compat}");
    }
}

#[test]
fn repository_cannot_disable_user_hooks() {
    let world = World::with(&[(USER, &file("mine", "")), (PROJECT, &file("theirs", OFF))]);
    let loaded = world.sources().load();
    assert_eq!(ready(&loaded.hooks), ["mine"]);
    assert!(loaded.diagnostics.iter().any(|diagnostic| diagnostic.code == "no-effect"), "{:?}", loaded.diagnostics);
}
