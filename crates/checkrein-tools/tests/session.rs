//! Simulator: effects of verdicts on a session, and errors of scripts.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that fails may say so")]

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use checkrein::dialects::Dialect;
use checkrein::handler::Builtin;
use checkrein::{Engine, Event, EventKind, HookSpec, Opinion, RawJson, Registry, Rewrite, dialects};
use checkrein_core::Target;
use checkrein_tools::simulate::{Script, SimEvent, Simulator, Summary};

/// Builtin hooks for tests.
struct Hooks {
    registry: Registry,
    specs: Vec<HookSpec>,
}

impl Hooks {
    fn none() -> Self {
        Self { registry: Registry::new(), specs: Vec::new() }
    }

    fn on(mut self, kind: EventKind, opinion: impl Fn(&Event) -> Opinion + Send + Sync + 'static) -> Self {
        let name = format!("hook_{}", self.specs.len());
        self.registry.register_builtin(&name, Builtin::immediate(move |call| Ok(opinion(call.event)))).unwrap();
        self.specs.push(HookSpec::builtin(&name, kind, &name).rewrites());
        self
    }
}

/// Plays a script and returns one line per event of the simulator.
async fn played_as(host: &'static Dialect, hooks: Hooks, script: &str) -> Vec<String> {
    let script = Script::parse("script.yaml", script).unwrap();
    let engine = Engine::builder().registry(hooks.registry).settle_as(host).hooks(hooks.specs).build();
    assert!(engine.problems().is_empty(), "{:?}", engine.problems());
    let mut lines = Vec::new();
    let observer = |event: SimEvent<'_>| {
        lines.push(match event {
            SimEvent::Fires(_) => return Ok(()),
            SimEvent::Fired(fired) => format!("{} {}", fired.event.kind(), fired.verdict.decision()),
            SimEvent::ToolRuns { tool, input } => format!("{tool} runs {input}"),
            SimEvent::ToolRefused { tool } => format!("{tool} refused"),
            SimEvent::UserAnswers { answer, .. } => format!("user: {}", answer.name()),
            SimEvent::GoesOn { times } => format!("continues {times}"),
            SimEvent::StopsAnyway { times } => format!("stops anyway {times}"),
            SimEvent::TurnOver { skipped } => format!("turn over {skipped}"),
            SimEvent::SessionOver { skipped } => format!("session over {skipped}"),
            _ => "something else".to_owned(),
        });
        Ok::<_, Infallible>(())
    };
    let Ok(()) = Simulator::new(engine).host(host).play(&script, observer).await;
    lines
}

async fn played(hooks: Hooks, script: &str) -> Vec<String> {
    played_as(&dialects::agents::native::DIALECT, hooks, script).await
}

const TOOL: &str = "steps: [{tool: Bash, input: {command: ls}, result: ok}, {stop: done}]";

#[tokio::test]
async fn all_steps_happen_without_hooks() {
    let script = "steps: [{start: startup}, {prompt: hi}, {tool: Bash, input: {command: ls}}, {tool: Bash, input: {}, failure: no},
        {tool: Edit, input: {}, asks: true}, {tool: Edit, input: {}, asks: true, answer: deny},
        {event: cwd_changed}, {compact: auto}, {stop: done}, {end: other}]";
    let lines = played(Hooks::none(), script).await;
    assert_eq!(
        lines,
        [
            "session_start no_opinion",
            "prompt_submit no_opinion",
            "pre_tool_use no_opinion",
            r#"Bash runs {"command":"ls"}"#,
            "post_tool_use no_opinion",
            "pre_tool_use no_opinion",
            "Bash runs {}",
            "post_tool_failure no_opinion",
            "pre_tool_use no_opinion",
            "permission_request no_opinion",
            "user: allow",
            "Edit runs {}",
            "post_tool_use no_opinion",
            "pre_tool_use no_opinion",
            "permission_request no_opinion",
            "user: deny",
            "Edit refused",
            "cwd_changed no_opinion",
            "pre_compact no_opinion",
            "post_compact no_opinion",
            "stop no_opinion",
            "session_end no_opinion",
        ]
    );
}

#[tokio::test]
async fn denied_tool_does_not_run() {
    let lines = played(Hooks::none().on(EventKind::PreToolUse, |_| Opinion::deny("no")), TOOL).await;
    assert_eq!(lines, ["pre_tool_use deny", "Bash refused", "stop no_opinion"]);
}

#[tokio::test]
async fn halt_ends_the_turn() {
    let script = "steps: [{prompt: a}, {tool: Bash}, {tool: Bash}, {compact: auto}, {stop: done}, {prompt: b}, {stop: done}, {end: other}]";
    let lines = played(Hooks::none().on(EventKind::PreToolUse, |_| Opinion::halt("enough")), script).await;
    let expected = [
        "prompt_submit no_opinion",
        "pre_tool_use halt",
        "Bash refused",
        "turn over 3",
        "prompt_submit no_opinion",
        "stop no_opinion",
        "session_end no_opinion",
    ];
    assert_eq!(lines, expected);
}

#[tokio::test]
async fn denied_prompt_ends_the_turn_and_halt_at_the_start_ends_the_session() {
    let script = "steps: [{start: startup}, {prompt: bad}, {tool: Bash}, {prompt: good}, {end: other}]";
    let refuses = |event: &Event| if event.prompt() == Some("bad") { Opinion::deny("no") } else { Opinion::none() };
    let lines = played(Hooks::none().on(EventKind::PromptSubmit, refuses), script).await;
    let expected = [
        "session_start no_opinion",
        "prompt_submit deny",
        "turn over 1",
        "prompt_submit no_opinion",
        "session_end no_opinion",
    ];
    assert_eq!(lines, expected);
    let lines = played(Hooks::none().on(EventKind::SessionStart, |_| Opinion::halt("no")), script).await;
    assert_eq!(lines, ["session_start halt", "session over 3", "session_end no_opinion"]);
}

#[tokio::test]
async fn tool_and_later_hooks_get_the_rewritten_input() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&seen);
    let hooks = Hooks::none()
        .on(EventKind::ToolInputTransform, |_| patch(r#"{"first": 1}"#))
        .on(EventKind::PreToolUse, |_| patch(r#"{"second": 2}"#).with_decision(checkrein::Decision::Ask))
        .on(EventKind::PermissionRequest, |_| patch(r#"{"third": 3}"#))
        .on(EventKind::PostToolUse, move |event| {
            kept.lock().unwrap().push(event.tool_input().unwrap().to_string());
            Opinion::none()
        });
    let lines = played(hooks, TOOL).await;
    let input = r#"{"command":"ls","first":1,"second":2,"third":3}"#;
    let expected = [
        "tool_input_transform no_opinion",
        "pre_tool_use ask",
        "permission_request no_opinion",
        "user: allow",
        &format!("Bash runs {input}"),
        "post_tool_use no_opinion",
        "stop no_opinion",
    ];
    assert_eq!(lines, expected);
    assert_eq!(*seen.lock().unwrap(), [input]);
}

fn patch(text: &str) -> Opinion {
    Opinion::none().with_rewrite(Rewrite::merge(Target::Input, RawJson::parse(text).unwrap()))
}

#[tokio::test]
async fn hooks_can_answer_permission_requests() {
    let asks = "steps: [{tool: Bash, input: {}, asks: true, answer: deny}]";
    let allows = Hooks::none().on(EventKind::PermissionRequest, |_| Opinion::allow());
    let lines = played(allows, asks).await;
    assert_eq!(lines[..3], ["pre_tool_use no_opinion", "permission_request allow", "Bash runs {}"]);
    let allows = Hooks::none().on(EventKind::PreToolUse, |_| Opinion::allow());
    assert_eq!(played(allows, asks).await[..2], ["pre_tool_use allow", "Bash runs {}"]);
    let asks = "steps: [{tool: Bash, input: {}, answer: allow}]";
    let denies = Hooks::none()
        .on(EventKind::PreToolUse, |_| Opinion::ask("?"))
        .on(EventKind::PermissionRequest, |_| Opinion::deny("no"));
    assert_eq!(played(denies, asks).await, ["pre_tool_use ask", "permission_request deny", "Bash refused"]);
}

#[tokio::test]
async fn denied_stop_is_repeated_until_allowed_or_limited() {
    let hooks = Hooks::none().on(EventKind::Stop, |event| {
        let active = event.to_json().contains(r#""stop_hook_active":true"#);
        if active { Opinion::none() } else { Opinion::deny("once more") }
    });
    assert_eq!(played(hooks, "steps: [{stop: done}]").await, ["stop deny", "continues 1", "stop no_opinion"]);

    let never = || Hooks::none().on(EventKind::Stop, |_| Opinion::deny("never"));
    let lines = played(never(), "steps: [{stop: done}]").await;
    assert_eq!((lines.len(), lines[15].as_str(), lines[16].as_str()), (17, "continues 8", "stop no_opinion"));
    // A host without a stop limit.
    let sender = dialects::find("claude@sender").unwrap();
    assert_eq!(sender.stop_cap, 0);
    let lines = played_as(sender, never(), "steps: [{stop: done}]").await;
    assert_eq!(lines.last().unwrap(), "stops anyway 16", "{lines:?}");
}

#[tokio::test]
async fn denied_compaction_does_not_happen() {
    let hooks = Hooks::none().on(EventKind::PreCompact, |_| Opinion::deny("not now"));
    assert_eq!(played(hooks, "steps: [{compact: auto}]").await, ["pre_compact deny"]);
    let hooks = Hooks::none().on(EventKind::BeforeCompaction, |_| Opinion::deny("not so"));
    let lines = played(hooks, "steps: [{compact: auto}]").await;
    assert_eq!(lines, ["pre_compact no_opinion", "before_compaction deny"]);
}

#[tokio::test]
async fn rare_events_are_fired_only_if_a_hook_is_registered() {
    let none = |_: &Event| Opinion::none();
    let hooks = [
        EventKind::UserTurnStart,
        EventKind::UserTurnEnd,
        EventKind::TurnStart,
        EventKind::TurnEnd,
        EventKind::BeforeModel,
        EventKind::AfterModel,
        EventKind::ToolGuard,
        EventKind::ToolApprovalDecision,
        EventKind::ToolOutputTransform,
    ];
    let hooks = hooks.into_iter().fold(Hooks::none(), |hooks, kind| hooks.on(kind, none));
    let lines = played(hooks, "steps: [{prompt: hi}, {tool: Bash, input: {}}, {stop: done}]").await;
    let names: Vec<_> = lines.iter().map(|line| line.split(' ').next().unwrap()).collect();
    let turn = ["turn_start", "before_model", "after_model"];
    let expected: Vec<_> = ["user_turn_start", "prompt_submit"]
        .into_iter()
        .chain(turn)
        .chain(["tool_guard", "pre_tool_use", "tool_approval_decision", "Bash", "post_tool_use"])
        .chain(["tool_output_transform", "turn_end"])
        .chain(turn)
        .chain(["stop", "turn_end", "user_turn_end"])
        .collect();
    assert_eq!(names, expected);
    let hooks = Hooks::none().on(EventKind::BeforeModel, |_| Opinion::deny("too dear"));
    let lines = played(hooks, "steps: [{prompt: hi}, {tool: Bash}, {stop: done}]").await;
    assert_eq!(lines, ["prompt_submit no_opinion", "before_model deny", "turn over 1"]);
}

#[tokio::test]
async fn host_fires_only_its_own_events() {
    for host in dialects::ALL.iter().filter(|dialect| !dialect.events.is_empty()) {
        for line in played_as(host, Hooks::none(), Script::DEFAULT).await {
            if let Ok(kind) = line.split(' ').next().unwrap().parse::<EventKind>() {
                assert!(host.has_all_events || host.row(&kind).is_some(), "{} has no {kind}", host.name);
            }
        }
    }
    // A dialect with one event for both results and failures of tools.
    let one = dialects::ALL
        .iter()
        .find(|dialect| {
            dialect.row(&EventKind::PostToolUse).is_some() && dialect.row(&EventKind::PostToolFailure).is_none()
        })
        .unwrap();
    let hooks = Hooks::none().on(EventKind::PostToolUse, |event| {
        assert!(event.to_json().contains(r#""is_error":true"#), "{}", event.to_json());
        Opinion::none()
    });
    let lines = played_as(one, hooks, "steps: [{tool: Bash, input: {}, failure: no}]").await;
    assert!(lines.contains(&"post_tool_use no_opinion".to_owned()), "{}: {lines:?}", one.name);
}

#[tokio::test]
async fn error_of_the_observer_ends_the_session() {
    let script = Script::parse("s.yaml", Script::DEFAULT).unwrap();
    let mut count = 0;
    let observer = |_: SimEvent<'_>| {
        count += 1;
        if count == 3 { Err("enough") } else { Ok(()) }
    };
    assert_eq!(Simulator::new(Engine::builder().build()).play(&script, observer).await, Err("enough"));
    assert_eq!(count, 3);
}

#[tokio::test]
async fn summary_counts_events_and_runs() {
    let hooks = Hooks::none()
        .on(EventKind::PreToolUse, |event| match event.tool_name() {
            Some("Bash") => Opinion::deny("no"),
            Some("Edit") => patch(r#"{"x": 1}"#).with_decision(checkrein::Decision::Ask),
            _ => Opinion::none(),
        })
        .on(EventKind::PreCompact, |_| panic!("oh"))
        .on(EventKind::Stop, |event| {
            let active = event.to_json().contains(r#""stop_hook_active":true"#);
            if active { Opinion::none() } else { Opinion::deny("once more") }
        });
    let script = Script::parse(
        "s.yaml",
        "steps: [{tool: Bash}, {tool: Edit, input: {}}, {tool: Read}, {compact: auto}, {stop: done}]",
    )
    .unwrap();
    let engine = Engine::builder().registry(hooks.registry).hooks(hooks.specs).build();
    let mut summary = Summary::default();
    let observer = |event: SimEvent<'_>| {
        if let SimEvent::Fired(fired) = event {
            summary.add(fired.record);
        }
        Ok::<_, Infallible>(())
    };
    let Ok(()) = Simulator::new(engine).play(&script, observer).await;
    let Summary { events, runs, blocked, rewritten, asked, refused_stops, failed, .. } = summary;
    // The panicking hook fails closed, so the compaction is blocked.
    assert_eq!((events, runs), (9, 6));
    assert_eq!((blocked, rewritten, asked, refused_stops, failed), (2, 1, 1, 1, 1));
    assert_eq!(summary.warnings.len(), 1);
    assert!(summary.warnings[0].starts_with("pre_compact: hook `hook_1`"), "{:?}", summary.warnings);
    assert_eq!(summary.hooks.iter().map(|hook| hook.runs).collect::<Vec<_>>(), [3, 1, 2]);
}

#[test]
fn script_errors_have_a_location() {
    for (text, place, message) in [
        ("", "1:1", "`script` must be an object"),
        ("steps: 5", "1:8", "`steps` must be an array, but is a number"),
        ("description: x", "1:1", "the script has no key `steps`"),
        ("steps: []\nstepz: []", "2:1", "unknown key `stepz`"),
        ("steps: [5]", "1:9", "`step` must be an object"),
        ("steps:\n  - promt: hi", "2:5", "unknown step `promt`"),
        ("steps:\n  - {}", "2:5", "the step has no action"),
        ("steps:\n  - prompt: hi\n    stop: x", "3:5", "both `prompt` and `stop`"),
        ("steps:\n  - prompt: 5", "2:13", "`prompt` must be a string, but is a number"),
        ("steps:\n  - prompt:", "2:11", "`prompt` must be a string, but is null"),
        ("steps:\n  - prompt: x\n    field: {}", "3:5", "unknown key `field`"),
        ("steps:\n  - start: x\n    fields: { modle: x }", "3:15", "unknown field `modle`"),
        ("steps:\n  - start: x\n    fields: { context_tokens: many }", "3:31", "must be a whole number"),
        ("steps:\n  - event: NoSuch", "2:12", "NoSuch"),
        ("steps:\n  - tool: Bash\n    inputs: {}", "3:5", "unknown key `inputs`"),
        ("steps:\n  - tool: Bash\n    asks: maybe", "3:11", "`asks` must be true or false"),
        ("steps:\n  - tool: Bash\n    answer: maybe", "3:13", "unknown answer `maybe`"),
        ("steps:\n  - tool: Bash\n    result: 1\n    failure: x", "4:5", "cannot have both"),
        ("session: { cdw: x }\nsteps: []", "1:12", "unknown field `cdw`"),
        ("steps: [", "", "error[not-readable]"),
        ("steps: []\nsteps: []", "1:1", "duplicate key"),
    ] {
        let error = Script::parse("s.yaml", text).unwrap_err().to_string();
        assert!(error.starts_with(&format!("s.yaml:{place}")), "{text:?}: {error}");
        assert!(error.contains(message), "{text:?}: {error}");
    }
    let error = Script::parse("s.yaml", "steps:\n  - promt: hi\n  - tool: Bash\n    answer: alow").unwrap_err();
    assert_eq!(error.diagnostics.len(), 2);
    assert!(
        error.to_string().contains("did you mean `prompt`?") && error.to_string().contains("did you mean `allow`?")
    );
}

#[test]
fn missing_fields_have_sample_values() {
    let script = Script::parse("s.yaml", "steps: [{tool: Bash}, {event: SubagentStart}]").unwrap();
    let debug = format!("{:?}", script.steps);
    assert!(debug.contains("cargo test") && debug.contains("agent_type: Some"), "{debug}");
    assert!(!debug.contains("/home/ann/project\""), "the working directory comes from the session: {debug}");
}
