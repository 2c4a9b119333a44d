//! Hooks of docker-agent, from YAML to the verdict, with real processes.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

use std::time::{Duration, Instant};

use checkrein::dialects::Dialect;
use checkrein::dialects::agents::docker_agent::{DIALECT, G2};
use checkrein::document::Format;
use checkrein::handler::Builtin;
use checkrein::payload::{Prompt, Stop, ToolCall, ToolOutcome};
use checkrein::{Decision, Engine, Event, EventKind, FailureKind, Opinion, RawJson, Registry, Scope, Verdict};

fn call() -> ToolCall {
    ToolCall::new("shell", r#"{"cmd":"ls","n":9007199254740993}"#.parse::<RawJson>().unwrap())
}

fn engine(dialect: &'static Dialect, yaml: &str) -> Engine {
    let decoded = dialect.decode("agent.yaml", Scope::User, yaml, Format::Yaml);
    let mut registry = Registry::new();
    registry.register_builtin("panics", Builtin::immediate(|_| panic!("boom"))).unwrap();
    registry.register_builtin("allows", Builtin::immediate(|_| Ok(Opinion::allow()))).unwrap();
    Engine::builder()
        .vars([("PATH", "/usr/bin:/bin")])
        .settle_as(dialect)
        .registry(registry)
        .hooks(decoded.hooks)
        .build()
}

/// Fires a tool call at commands of the event `pre_tool_use`.
async fn gate(dialect: &'static Dialect, commands: &[&str]) -> Verdict {
    let hooks: Vec<_> =
        commands.iter().map(|text| format!("{{type: command, command: {}}}", RawJson::string(text))).collect();
    let yaml = format!("pre_tool_use: [{{matcher: shell, hooks: [{}]}}]", hooks.join(", "));
    engine(dialect, &yaml).fire(Event::pre_tool_use(call())).await
}

#[tokio::test]
async fn exit_2_blocks_with_stderr_as_the_reason() {
    for dialect in [&DIALECT, &G2] {
        let verdict = gate(dialect, &["echo '{\"reason\":\"json\"}'; echo no >&2; exit 2"]).await;
        assert_eq!((verdict.decision(), verdict.reason()), (Decision::Deny, Some("no")));
        let verdict = gate(dialect, &["echo '{\"decision\":\"block\",\"reason\":\"json\"}'; exit 2"]).await;
        assert_eq!((verdict.decision(), verdict.reason()), (Decision::Deny, Some("json")), "the agent loses it");
    }
    let crashed = gate(&G2, &["exit 1"]).await;
    assert_eq!((crashed.decision(), crashed.messages().len()), (Decision::NoOpinion, 1), "goes on, but says so");
    assert_eq!(gate(&DIALECT, &["exit 1"]).await.decision(), Decision::Deny);
}

#[tokio::test]
async fn timeout_applies_to_children_that_hold_the_pipe() {
    for dialect in [&DIALECT, &G2] {
        let yaml = "pre_tool_use: [{hooks: [{type: command, command: 'sleep 100; echo x', timeout: 1}]}]";
        let start = Instant::now();
        let verdict = engine(dialect, yaml).fire(Event::pre_tool_use(call())).await;
        let kinds: Vec<_> = verdict.failures().map(|(_, failure)| failure.kind).collect();
        assert_eq!((verdict.decision(), &kinds[..]), (Decision::Deny, &[FailureKind::Timeout][..]));
        assert!(start.elapsed() < Duration::from_secs(60));
    }
}

#[tokio::test]
async fn background_child_is_reported_and_does_not_block() {
    let start = Instant::now();
    // The child keeps stdout open.
    let verdict = gate(&DIALECT, &["sleep 100 & echo $! >&2; exit 2"]).await;
    std::process::Command::new("kill").arg(verdict.reason().unwrap()).status().unwrap();
    assert!(start.elapsed() < Duration::from_secs(60));
    assert!(verdict.warnings()[0].text.starts_with("left processes running: sleep"), "{:?}", verdict.warnings());
}

#[tokio::test]
async fn each_hook_sees_earlier_rewrites() {
    let patch = |patch: &str| format!("echo '{{\"hook_specific_output\":{{\"updated_input\":{patch}}}}}'");
    let second = format!("grep -q '\"a\":1' && {}", patch(r#"{"cmd":"pwd"}"#));
    let verdict = gate(&DIALECT, &[&patch(r#"{"a":1}"#), &second]).await;
    assert_eq!(verdict.effective_input().unwrap().as_str(), r#"{"cmd":"pwd","n":9007199254740993,"a":1}"#);
    // The next hook runs after a timeout.
    let yaml = format!(
        "tool_input_transform: [{{hooks: [{{type: command, command: sleep 100, timeout: 1}}, {{type: command, command: {}}}]}}]",
        RawJson::string(&patch(r#"{"a":1}"#))
    );
    let verdict = engine(&DIALECT, &yaml).fire(Event::tool_input_transform(call())).await;
    assert!(verdict.effective_input().unwrap().as_str().ends_with(r#""a":1}"#));
    assert_eq!((verdict.decision(), verdict.warnings().len()), (Decision::NoOpinion, 1));
}

#[tokio::test]
async fn hooks_without_rewrites_run_in_parallel() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one"), dir.path().join("two"));
    // Each hook waits for the other one.
    let meet = |own: &std::path::Path, other: &std::path::Path| {
        let text = format!("touch {}; while ! test -e {}; do sleep 0.01; done", own.display(), other.display());
        format!("{{type: command, command: {}}}", RawJson::string(&text))
    };
    let yaml = format!("tool_guard: [{{hooks: [{}, {}]}}]", meet(&one, &two), meet(&two, &one));
    assert_eq!(engine(&DIALECT, &yaml).fire(Event::tool_guard(call())).await, Verdict::default());
}

#[tokio::test]
async fn failures_follow_the_event_and_the_policy() {
    let event = |name: &str| match name {
        "pre_tool_use" => Event::pre_tool_use(call()),
        "post_tool_use" => Event::post_tool_use(ToolOutcome::new("shell", RawJson::default())),
        "user_prompt_submit" => Event::prompt_submit(Prompt::new("hi")),
        _ => Event::stop(Stop::new()),
    };
    let failures = [
        "type: command, command: exit 1",
        "type: command, command: 'kill -SEGV $$'",
        "type: command, command: \"echo '{'\"",
        "type: command, command: \"echo '{}{}'\"",
        "type: command, command: echo text, strict_output: true",
        "type: command, command: 'true', working_dir: /no/such/directory",
        "type: builtin, command: no_such_function",
        "type: builtin, command: panics",
    ];
    // Policy, expected block, expected number of warnings.
    for (name, policies) in [
        ("pre_tool_use", [("", true, 1), ("warn", true, 1), ("ignore", true, 1), ("block", true, 1)]),
        ("post_tool_use", [("", false, 1), ("warn", false, 1), ("ignore", false, 0), ("block", true, 1)]),
        ("user_prompt_submit", [("", false, 1), ("warn", false, 1), ("ignore", false, 0), ("block", true, 1)]),
        // A stop has no gate: `block` is rejected when the file is read.
        ("stop", [("", false, 1), ("warn", false, 1), ("ignore", false, 0), ("block", false, 0)]),
    ] {
        for (policy, blocked, warnings) in policies {
            for failure in failures {
                let policy = if policy.is_empty() { String::new() } else { format!(", on_error: {policy}") };
                let yaml = match DIALECT.is_matched(DIALECT.kind_of(name).unwrap()) {
                    true => format!("{name}: [{{hooks: [{{{failure}{policy}}}]}}]"),
                    false => format!("{name}: [{{{failure}{policy}}}]"),
                };
                let verdict = engine(&DIALECT, &yaml).fire(event(name)).await;
                assert_eq!((verdict.decision().is_block(), verdict.warnings().len()), (blocked, warnings), "{yaml}");
            }
        }
    }
}

#[tokio::test]
async fn broken_guard_closes_its_gate() {
    for (dialect, yaml, event) in [
        (&DIALECT, "user_prompt_submit: [{command: x}]", Event::prompt_submit(Prompt::new("hi"))),
        (&DIALECT, "{", Event::prompt_submit(Prompt::new("hi"))),
        (
            &G2,
            "pre_tool_use: [{matcher: 'x(', hooks: [{type: command, command: 'true'}]}]",
            Event::pre_tool_use(call()),
        ),
    ] {
        let verdict = engine(dialect, yaml).fire(event).await;
        assert!(verdict.decision().is_block(), "{yaml}");
        assert!(verdict.reason().unwrap().contains("agent.yaml:1"), "{:?}", verdict.reason());
    }
}

#[tokio::test]
async fn hook_gets_the_environment_shell_and_working_directory() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("tools")).unwrap();
    let yaml = "pre_tool_use: [{hooks: [{type: command, command: 'echo $SECRET $MODE ${PWD##*/} >&2; exit 2', env: {MODE: m}, working_dir: tools}]}]";
    let decoded = DIALECT.decode("agent.yaml", Scope::User, yaml, Format::Yaml);
    let engine = Engine::builder()
        .settle_as(&DIALECT)
        .vars([("PATH", "/usr/bin:/bin"), ("SECRET", "s"), ("SHELL", "/bin/sh")])
        .cwd(dir.path())
        .hooks(decoded.hooks)
        .build();
    assert_eq!(engine.fire(Event::pre_tool_use(call())).await.reason(), Some("s m tools"));
}

#[tokio::test]
async fn variables_in_hook_settings_are_expanded() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("home/tools")).unwrap();
    let home = dir.path().join("home");
    for (working_dir, expected) in [
        ("~/tools", "tools"),
        ("$HOME/tools", "tools"),
        ("${HOME}/${SUB}", "tools"),
        ("${env.HOME}/$SUB", "tools"),
        ("home", "home"),
        // Expands to nothing: the working directory of the event.
        ("$NO_SUCH_VARIABLE", "."),
    ] {
        let yaml = format!(
            "pre_tool_use: [{{hooks: [{{type: command, command: 'echo $A $(pwd -P) >&2; exit 2', working_dir: '{working_dir}', env: {{A: '<${{env.SUB}}|$SUB|${{env.SUB'}}}}]}}]"
        );
        let decoded = DIALECT.decode("agent.yaml", Scope::User, &yaml, Format::Yaml);
        assert!(decoded.diagnostics.is_empty(), "{:?}", decoded.diagnostics);
        let engine = Engine::builder()
            .settle_as(&DIALECT)
            .vars([("PATH", "/usr/bin:/bin".as_ref()), ("SUB", "tools".as_ref()), ("HOME", home.as_os_str())])
            .cwd(dir.path())
            .hooks(decoded.hooks)
            .build();
        let verdict = engine.fire(Event::pre_tool_use(call())).await;
        let (value, place) = verdict.reason().unwrap().split_once(' ').unwrap();
        let directory = if expected == "." { dir.path().to_owned() } else { dir.path().join("home").join(expected) };
        let directory = if expected == "home" { home.clone() } else { directory };
        assert_eq!(value, "<tools|$SUB|${env.SUB");
        assert_eq!(std::path::Path::new(place), directory.canonicalize().unwrap(), "{working_dir}");
    }
}

#[tokio::test]
async fn large_input_reaches_hooks() {
    let input = RawJson::parse(format!(r#"{{"cmd":"{}"}}"#, "x".repeat(300_000))).unwrap();
    let yaml =
        "pre_tool_use: [{hooks: [{type: command, command: 'wc -c >&2; exit 2'}, {type: builtin, command: allows}]}]";
    let verdict = engine(&DIALECT, yaml).fire(Event::pre_tool_use(ToolCall::new("shell", input))).await;
    assert_eq!(verdict.decision(), Decision::Deny);
    assert!(verdict.reason().unwrap().trim().parse::<usize>().unwrap() > 300_000);
    assert!(engine(&DIALECT, yaml).has(&EventKind::PreToolUse));
}
