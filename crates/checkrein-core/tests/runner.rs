//! Tests of the runner. The first eleven have the names of the tests of another callback runner, whose rules are the preset
//! `Rules::FIRST_DECISION`. They select the preset where it matters.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test reports its cause by panicking"
)]

use std::io::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use checkrein_core::payload::{Compaction, Plugin, PluginInfo, Prompt, Stop, ToolCall, ToolFailure, ToolOutcome};
use checkrein_core::runner::Fire;
use checkrein_core::testing::{self, Recorder};
use checkrein_core::{
    CancelToken, Contract, CustomKind, Decision, Event, EventKind, FailureKind, FailurePolicy, HookInfo, HookOutcome,
    Opinion, RawJson, Rewrite, Rules, Runner, Source, Target,
};

fn json(text: &str) -> RawJson {
    text.parse().unwrap()
}

fn tool_call() -> Event {
    Event::pre_tool_use(ToolCall::new("Bash", json(r#"{"command": "ls"}"#)))
}

/// Returns a runner with the preset.
fn first_decision() -> Runner {
    Runner::builder().rules(Rules::FIRST_DECISION).build()
}

/// Returns a runner with the preset and a recorded log.
fn recorded_first_decision(recorder: &Recorder) -> Runner {
    recorder.watch(Runner::builder().rules(Rules::FIRST_DECISION))
}

/// Returns a handler without an opinion that counts its calls.
fn counter() -> (Arc<AtomicUsize>, impl Fn(&Fire<'_>) + Send + Sync + 'static) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    (count, move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
    })
}

#[test]
fn fires_all_handlers() {
    let runner = Runner::new();
    let (count, handler) = counter();
    let handler = Arc::new(handler);
    for name in ["a", "b", "c"] {
        let handler = Arc::clone(&handler);
        runner.on(EventKind::PreToolUse, name, move |fire| handler(fire));
    }
    let verdict = runner.fire(&tool_call());
    assert_eq!(count.load(Ordering::SeqCst), 3);
    assert_eq!(verdict, Default::default());
}

#[test]
fn first_block_wins() {
    let runner = first_decision();
    let (count, third) = counter();
    runner.on(EventKind::PreToolUse, "first", testing::no_opinion());
    runner.on(EventKind::PreToolUse, "second", testing::deny("not today"));
    runner.on(EventKind::PreToolUse, "third", third);
    let verdict = runner.fire(&tool_call());
    assert_eq!(verdict.decision(), Decision::Deny);
    assert_eq!(verdict.reason(), Some("not today"));
    assert_eq!(verdict.decided_by().unwrap().id, "second");
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[test]
fn handler_error_is_continue() {
    let recorder = Recorder::new();
    let runner = recorded_first_decision(&recorder);
    let (count, next) = counter();
    runner.on(EventKind::PreToolUse, "broken", testing::fail("the disk\nis full"));
    runner.on(EventKind::PreToolUse, "next", next);
    let verdict = runner.fire(&tool_call());
    assert_eq!(verdict.decision(), Decision::NoOpinion);
    assert_eq!(count.load(Ordering::SeqCst), 1);
    let (hook, failure) = verdict.failures().next().unwrap();
    assert_eq!((hook.id.as_str(), failure.kind), ("broken", FailureKind::Error));

    let [line] = &recorder.log()[..] else { panic!("one line") };
    assert!(line.starts_with("pre_tool_use: hook `broken` ("), "{line}");
    assert!(line.contains("tests/runner.rs:"), "{line}");
    // A line break in an error must not look like another line of the log.
    assert!(line.ends_with(r"failed: the disk\nis full; ignored (on_failure: open)"), "{line}");
}

#[test]
fn panic_is_continue() {
    let recorder = Recorder::new();
    let runner = recorded_first_decision(&recorder);
    let (count, next) = counter();
    runner.on(EventKind::PreToolUse, "panics", testing::panic("on purpose"));
    runner.on(EventKind::PreToolUse, "next", next);
    let verdict = runner.fire(&tool_call());
    assert_eq!(verdict.decision(), Decision::NoOpinion);
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert!(recorder.log()[0].contains("panicked: on purpose"), "{:?}", recorder.log());
}

#[test]
fn empty_runner_is_noop() {
    let runner = Runner::default();
    assert!(!runner.has(&EventKind::PreToolUse));
    assert_eq!(runner.fire(&tool_call()), Default::default());
    let verdict = runner.fire_with(&EventKind::PreToolUse, || unreachable!("there is no handler"));
    assert_eq!(verdict, Default::default());
    assert_eq!(Decision::default(), Decision::NoOpinion);
}

#[test]
fn per_event_isolation() {
    let runner = Runner::new();
    let (count, handler) = counter();
    runner.on(EventKind::PostToolUse, "other", handler);
    runner.fire(&tool_call());
    assert_eq!(count.load(Ordering::SeqCst), 0);
    assert!(runner.has(&EventKind::PostToolUse) && !runner.has(&EventKind::PreToolUse));
}

#[test]
fn concurrent_register() {
    let runner = Runner::new();
    let (count, handler) = counter();
    let handler = Arc::new(handler);
    std::thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                for _ in 0..50 {
                    let handler = Arc::clone(&handler);
                    runner.on(EventKind::Stop, "h", move |fire| handler(fire));
                }
            });
            scope.spawn(|| {
                for _ in 0..50 {
                    runner.fire(&Event::stop(Stop::new()));
                }
            });
        }
    });
    let before = count.swap(0, Ordering::SeqCst);
    assert!(before <= 32 * 50 * 32 * 50);
    runner.fire(&Event::stop(Stop::new()));
    assert_eq!(count.load(Ordering::SeqCst), 32 * 50, "no registration is lost");
}

#[test]
fn propagates_cancelled_context() {
    let runner = Runner::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = Arc::clone(&seen);
    runner.on(EventKind::PreToolUse, "first", move |fire: &Fire<'_>| sees.lock().unwrap().push(fire.is_cancelled()));
    let cancel = CancelToken::new();
    cancel.cancel();
    let verdict = runner.fire_until(&tool_call(), &cancel);
    assert_eq!(*seen.lock().unwrap(), [true], "the first handler is called and can see it");
    assert!(verdict.is_cancelled());
    assert_eq!(verdict.decision(), Decision::NoOpinion);
    // Without handlers as well.
    assert!(runner.fire_until(&Event::stop(Stop::new()), &cancel).is_cancelled());
}

#[test]
fn cancels_between_handlers() {
    let runner = Runner::new();
    let cancel = CancelToken::new();
    let cancels = cancel.clone();
    let (count, second) = counter();
    runner.on(EventKind::PreToolUse, "first", move |_| cancels.cancel());
    runner.on(EventKind::PreToolUse, "second", second);
    let verdict = runner.fire_until(&tool_call(), &cancel);
    assert!(verdict.is_cancelled());
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[test]
fn handler_observes_cancellation() {
    let runner = Runner::new();
    let cancel = CancelToken::new();
    // Without the cancellation it would take an hour.
    runner.on(EventKind::PreToolUse, "waits", testing::slow(Duration::from_secs(3600)));
    std::thread::scope(|scope| {
        scope.spawn(|| cancel.cancel());
        assert!(runner.fire_until(&tool_call(), &cancel).is_cancelled());
    });
}

#[test]
fn event_string() {
    assert_eq!(EventKind::PostToolFailure.to_string(), "post_tool_failure");
    assert_eq!(EventKind::PrePluginInstall.to_string(), "pre_plugin_install");
    let own = EventKind::Custom(CustomKind::new("pre_deploy", Contract::observe()).unwrap());
    assert_eq!(own.to_string(), "pre_deploy");
}

// The effects of a block and a rewrite at each of eleven events.

fn eleven_events() -> [Event; 11] {
    let plugin = || Plugin::new(PluginInfo::new("lint").id("lint@store").version("1.2.0").error("disk full"));
    let input = || json(r#"{"command": "ls"}"#);
    [
        tool_call(),
        Event::post_tool_use(ToolOutcome::new("Bash", input()).tool_response(RawJson::string("ok"))),
        Event::post_tool_failure(ToolFailure::new("Bash", input(), "exit 1")),
        Event::prompt_submit(Prompt::new("hello")),
        Event::pre_compact(Compaction::new().message_count(40_u64)),
        Event::post_compact(Compaction::new().message_count(12_u64)),
        Event::stop(Stop::new()),
        Event::pre_plugin_install(plugin()),
        Event::post_plugin_install(plugin()),
        Event::pre_plugin_uninstall(plugin()),
        Event::post_plugin_uninstall(plugin()),
    ]
}

#[test]
fn a_block_applies_at_gates_and_is_logged_at_other_events() {
    let gates = [
        EventKind::PreToolUse,
        EventKind::PromptSubmit,
        EventKind::PreCompact,
        EventKind::PrePluginInstall,
        EventKind::PrePluginUninstall,
    ];
    for event in eleven_events() {
        let kind = event.kind();
        let recorder = Recorder::new();
        let runner = recorded_first_decision(&recorder);
        let (count, next) = counter();
        runner.on(kind.clone(), "blocks", testing::deny("no"));
        runner.on(kind.clone(), "next", next);
        let verdict = runner.fire(&event);
        if gates.contains(&kind) {
            assert_eq!(verdict.decision(), Decision::Deny, "{kind}");
            assert_eq!(verdict.reason(), Some("no"));
            assert_eq!(recorder.log(), [""; 0], "{kind}");
            assert_eq!(count.load(Ordering::SeqCst), 0);
        } else {
            assert_eq!(verdict.decision(), Decision::NoOpinion, "{kind}");
            let [line] = &recorder.log()[..] else { panic!("{kind}: one line") };
            assert!(line.starts_with(&format!("{kind}: hook `blocks` (")), "{line}");
            assert!(line.contains("returned `deny`, ") && line.contains(&format!("`{kind}`")), "{line}");
            assert!(line.ends_with("; ignored"), "{line}");
            assert_eq!(count.load(Ordering::SeqCst), 1, "the chain continues");
        }
    }
}

#[test]
fn the_first_rewrite_of_a_prompt_or_tool_input_wins() {
    let runner = first_decision();
    runner.on(EventKind::PromptSubmit, "one", testing::modify_prompt("1 \"quoted\""));
    runner.on(EventKind::PromptSubmit, "two", testing::modify_prompt("2"));
    let verdict = runner.fire(&Event::prompt_submit(Prompt::new("hello")));
    assert_eq!(verdict.effective_prompt().as_deref(), Some("1 \"quoted\""));
    assert_eq!(verdict.decision(), Decision::NoOpinion);
    let rewritten = verdict.rewritten(Target::Prompt).unwrap();
    assert_eq!(rewritten.original.as_ref().unwrap().as_str(), "\"hello\"");

    runner.on(EventKind::PreToolUse, "input", testing::modify_input(json(r#"{"command": "ls", "n": 1.0}"#)));
    let verdict = runner.fire(&tool_call());
    assert_eq!(verdict.effective_input().unwrap().as_str(), r#"{"command": "ls", "n": 1.0}"#);
}

#[test]
fn a_rewrite_of_a_missing_target_is_logged_and_ignored() {
    let recorder = Recorder::new();
    let runner = recorder.runner();
    runner.on(EventKind::Stop, "odd", testing::modify_prompt("x"));
    let verdict = runner.fire(&Event::stop(Stop::new()));
    assert!(verdict.rewritten(Target::Prompt).is_none());
    assert!(recorder.log()[0].contains("rewrote the prompt, which stop does not allow"), "{:?}", recorder.log());
}

#[test]
fn payloads_have_all_fields_of_the_other_runner() {
    let [.., compact, _, _, plugin, _, _, _] = eleven_events();
    assert!(compact.to_json().contains("\"message_count\":40"));
    let info = PluginInfo::new("n").id("i").version("v").description("d").install_path("p").source("s").error("e");
    let event = Event::post_plugin_install(Plugin::new(info));
    assert_eq!(
        event.to_json(),
        r#"{"event":"post_plugin_install","plugin":{"name":"n","id":"i","version":"v","description":"d","install_path":"p","source":"s","error":"e"}}"#
    );
    assert_eq!(event.subject().as_deref(), Some("n"));
    assert_eq!(Event::from_json(&plugin.to_json()).unwrap(), plugin);
}

// Behaviour beyond the other runner.

#[test]
fn registration_during_a_fire_applies_to_the_next() {
    let runner = Runner::new();
    let (count, late) = counter();
    let late = Arc::new(late);
    let registers = runner.clone();
    runner.on(EventKind::Stop, "registers", move |_| {
        let late = Arc::clone(&late);
        registers.on(EventKind::Stop, "late", move |fire| late(fire));
    });
    runner.fire(&Event::stop(Stop::new()));
    assert_eq!(count.load(Ordering::SeqCst), 0);
    runner.fire(&Event::stop(Stop::new()));
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn handlers_can_be_removed_and_can_remove_themselves() {
    let runner = Runner::new();
    let (count, handler) = counter();
    let registration = runner.on(EventKind::Stop, "h", handler);
    let own: Arc<Mutex<Option<checkrein_core::runner::Registration>>> = Arc::default();
    let (removes, itself) = (runner.clone(), Arc::clone(&own));
    *own.lock().unwrap() = Some(runner.on(EventKind::Stop, "once", move |_| {
        let registration = itself.lock().unwrap().take();
        assert!(registration.is_none_or(|registration| removes.remove(&registration)));
    }));
    for _ in 0..2 {
        runner.fire(&Event::stop(Stop::new()));
    }
    assert_eq!(count.load(Ordering::SeqCst), 2);
    assert!(runner.remove(&registration));
    assert!(!runner.remove(&registration), "already removed");
    runner.fire(&Event::stop(Stop::new()));
    assert_eq!(count.load(Ordering::SeqCst), 2);
    assert!(!runner.has(&EventKind::Stop), "no handler is left");
}

#[test]
fn a_handler_that_registers_when_it_is_dropped_does_not_deadlock() {
    struct Registers(Runner);
    impl Drop for Registers {
        fn drop(&mut self) {
            self.0.on(EventKind::Error, "from drop", testing::no_opinion());
        }
    }
    let runner = Runner::new();
    let registers = Registers(runner.clone());
    let registration = runner.on(EventKind::Stop, "h", move |_| {
        let _ = &registers;
    });
    assert!(runner.remove(&registration));
    assert!(runner.has(&EventKind::Error));
}

#[test]
fn panics_with_any_payload_are_caught() {
    struct PanicsAgain;
    impl Drop for PanicsAgain {
        fn drop(&mut self) {
            panic!("and again");
        }
    }
    let recorder = Recorder::new();
    let runner = recorder.runner();
    runner.on(EventKind::Stop, "number", |_| -> Opinion { std::panic::panic_any(42_u32) });
    runner.on(EventKind::Stop, "string", |_| -> Opinion { panic!("{}", "formatted".to_owned()) });
    runner.on(EventKind::Stop, "bomb", |_| -> Opinion { std::panic::panic_any(PanicsAgain) });
    let (count, last) = counter();
    runner.on(EventKind::Stop, "last", last);
    runner.fire(&Event::stop(Stop::new()));
    let log = recorder.log();
    assert!(log[0].contains("`number`") && log[0].contains("panicked: no text message"), "{log:?}");
    assert!(log[1].contains("`string`") && log[1].contains("panicked: formatted"), "{log:?}");
    assert!(log[2].contains("`bomb`") && log[2].contains("panicked: no text message"), "{log:?}");
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn an_error_whose_display_panics_is_a_failure() {
    #[derive(Debug)]
    struct PanicsOnDisplay;
    impl std::fmt::Display for PanicsOnDisplay {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("no message")
        }
    }
    impl std::error::Error for PanicsOnDisplay {}
    let runner = Runner::builder().discard_log().build();
    runner.on(EventKind::Stop, "panics", |_| -> Result<Opinion, PanicsOnDisplay> { Err(PanicsOnDisplay) });
    let verdict = runner.fire(&Event::stop(Stop::new()));
    assert_eq!(verdict.failures().count(), 1);
}

#[test]
fn broken_writers_and_observers_do_not_affect_the_verdict() {
    struct Broken;
    impl Write for Broken {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("no space"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            panic!("flush")
        }
    }
    let runner = Runner::builder().log_to(Broken).observe(|_, _| panic!("observer")).build();
    runner.on(EventKind::PreToolUse, "fails", testing::fail("x"));
    runner.on(EventKind::PreToolUse, "denies", testing::deny("no"));
    for _ in 0..2 {
        assert_eq!(runner.fire(&tool_call()).decision(), Decision::Deny);
    }
}

#[test]
fn each_log_line_is_one_write() {
    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<Vec<u8>>>>);
    impl Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().push(bytes.to_vec());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let lines = Lines::default();
    let runner = Runner::builder().log_to(lines.clone()).build();
    runner.on(EventKind::Stop, "fails", testing::fail("boom"));
    runner.fire(&Event::stop(Stop::new()));
    let lines = lines.0.lock().unwrap();
    assert_eq!(lines.len(), 1);
    let line = String::from_utf8(lines[0].clone()).unwrap();
    assert!(line.starts_with("checkrein: stop: hook `fails`") && line.ends_with('\n'), "{line}");
}

#[test]
fn threads_can_fire_while_others_register_and_remove() {
    let runner = Runner::new();
    let fires = AtomicUsize::new(0);
    runner.on(EventKind::PreToolUse, "denies", testing::deny("always"));
    std::thread::scope(|scope| {
        for _ in 0..32 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let verdict = runner.fire(&tool_call());
                    assert_eq!(verdict.reason(), Some("always"), "no fire may miss an existing handler");
                    fires.fetch_add(1, Ordering::Relaxed);
                }
            });
            scope.spawn(|| {
                for _ in 0..200 {
                    let registration = runner.on(EventKind::PreToolUse, "temporary", testing::no_opinion());
                    assert!(runner.remove(&registration));
                }
            });
        }
    });
    assert_eq!(fires.load(Ordering::Relaxed), 32 * 200);
    assert_eq!(format!("{runner:?}"), "Runner { handlers: 1, .. }");
}

#[test]
fn a_handler_may_fire_the_same_runner() {
    let runner = Runner::new();
    let (count, _) = counter();
    let (fires, counts) = (runner.clone(), Arc::clone(&count));
    runner.on(EventKind::Stop, "again", move |_| {
        if counts.fetch_add(1, Ordering::SeqCst) < 20 {
            fires.fire(&Event::stop(Stop::new()));
        }
    });
    runner.fire(&Event::stop(Stop::new()));
    assert_eq!(count.load(Ordering::SeqCst), 21);
}

#[test]
fn a_handler_cannot_change_the_event_of_the_next() {
    let runner = Runner::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    for name in ["one", "two"] {
        let seen = Arc::clone(&seen);
        runner.on(EventKind::PreToolUse, name, move |fire| {
            // A handler can only get a copy.
            let mut input = fire.event.tool_input().unwrap().read::<serde_json::Value>().unwrap();
            seen.lock().unwrap().push(input.to_string());
            input["command"] = "rm".into();
        });
    }
    let event = tool_call();
    runner.fire(&event);
    assert_eq!(*seen.lock().unwrap(), [r#"{"command":"ls"}"#; 2]);
    assert_eq!(event, tool_call());
}

#[test]
fn custom_kinds_can_be_fired() {
    let deploy = CustomKind::new("pre_deploy", Contract::observe().block(checkrein_core::BlockEffect::Refuse)).unwrap();
    let kind = EventKind::Custom(deploy.clone());
    let event = Event::custom(checkrein_core::payload::CustomPayload::new(deploy));
    let runner = Runner::new();
    assert_eq!(runner.fire(&event), Default::default());
    assert!(!runner.has(&kind));
    let registration = runner.on(kind.clone(), "freeze", testing::deny("frozen"));
    assert_eq!(runner.fire(&event).reason(), Some("frozen"));
    assert!(runner.has(&kind) && runner.remove(&registration));
    assert_eq!(runner.fire(&event).decision(), Decision::NoOpinion);
    assert!(!runner.has(&kind), "no handler is left");
}

#[test]
fn a_record_has_the_outcome_of_each_handler() {
    let runner = Runner::builder().discard_log().rules(Rules::FIRST_DECISION).build();
    runner.on(EventKind::PreToolUse, "quiet", testing::no_opinion());
    runner.on(EventKind::PreToolUse, "broken", testing::panic("oh"));
    runner.on(EventKind::PreToolUse, "denies", testing::deny("no"));
    runner.on(EventKind::PreToolUse, "late", testing::allow());
    let (verdict, record) = runner.fire_recorded(&tool_call());
    assert!(verdict.decision().is_block());
    let outcomes: Vec<_> = record.hooks.iter().map(|hook| (hook.id.as_str(), hook.outcome, hook.decision)).collect();
    assert_eq!(
        outcomes,
        [
            ("quiet", HookOutcome::Opinion, Some(Decision::NoOpinion)),
            ("broken", HookOutcome::Failure, None),
            ("denies", HookOutcome::Opinion, Some(Decision::Deny)),
            ("late", HookOutcome::Skipped, None),
        ]
    );
    let text = serde_json::to_string(&record).unwrap();
    assert_eq!(serde_json::from_str::<checkrein_core::Record>(&text).unwrap(), record);
}

#[test]
fn an_allow_does_not_end_the_chain() {
    let runner = Runner::new();
    runner.on(EventKind::PreToolUse, "eager", testing::allow());
    runner.on(EventKind::PreToolUse, "guard", testing::deny("no"));
    assert_eq!(runner.fire(&tool_call()).reason(), Some("no"));
}

#[test]
fn an_allow_with_an_invalid_rewrite_does_not_allow_the_original() {
    let runner = Runner::builder().discard_log().rules(Rules::FIRST_DECISION).build();
    let unmergeable = Rewrite::merge(Target::Input, json("[]"));
    runner.on(EventKind::PreToolUse, "h", testing::answer(Opinion::allow().with_rewrite(unmergeable)));
    let (verdict, record) = runner.fire_recorded(&tool_call());
    assert_eq!(verdict.decision(), Decision::NoOpinion);
    assert_eq!(record.hooks[0].outcome, HookOutcome::Failure, "the record agrees with the verdict");
    assert_eq!(record.hooks[0].failure, Some(FailureKind::Schema));
}

#[test]
fn all_rewrites_of_one_opinion_apply() {
    let runner = Runner::new();
    let merge = |patch| Rewrite::merge(Target::Input, json(patch));
    let opinion = Opinion::none().with_rewrite(merge(r#"{"a":1}"#)).with_rewrite(merge(r#"{"b":2}"#));
    runner.on(EventKind::PreToolUse, "h", testing::answer(opinion));
    let verdict = runner.fire(&tool_call());
    assert_eq!(verdict.effective_input().unwrap().as_str(), r#"{"command":"ls","a":1,"b":2}"#);
}

#[test]
fn a_registration_is_valid_for_its_own_runner_only() {
    let (one, other) = (Runner::new(), Runner::new());
    let registration = one.on(EventKind::PreToolUse, "h", testing::no_opinion());
    other.on(EventKind::PreToolUse, "guard", testing::deny("no"));
    assert!(!other.remove(&registration));
    assert!(other.fire(&tool_call()).decision().is_block());
}

#[test]
fn callbacks_can_rewrite_and_set_their_failure_policy() {
    let runner = Runner::builder().discard_log().rules(Rules::NATIVE).build();
    runner.on(EventKind::PromptSubmit, "rewrites", testing::modify_prompt("x"));
    let verdict = runner.fire(&Event::prompt_submit(Prompt::new("y")));
    assert_eq!(verdict.effective_prompt().as_deref(), Some("x"));
    let info = HookInfo::new("asks", Source::here()).on_failure(FailurePolicy::Ask);
    runner.on_with(EventKind::PreToolUse, info, testing::fail("x"));
    assert_eq!(runner.fire(&tool_call()).decision(), Decision::Ask);
}

#[test]
fn the_decision_of_the_last_handler_is_kept_after_cancellation() {
    let runner = Runner::builder().rules(Rules::NATIVE).build();
    let cancel = CancelToken::new();
    let cancels = cancel.clone();
    runner.on(EventKind::PreToolUse, "h", move |_| {
        cancels.cancel();
        Opinion::deny("no")
    });
    let verdict = runner.fire_until(&tool_call(), &cancel);
    assert!(verdict.decision().is_block() && !verdict.is_cancelled());
}

#[test]
fn a_handler_that_panics_on_drop_is_caught() {
    struct Bomb(Arc<Mutex<Option<checkrein_core::runner::Registration>>>, Runner);
    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("gone");
        }
    }
    let runner = Runner::new();
    let own = Arc::new(Mutex::new(None));
    let bomb = Bomb(Arc::clone(&own), runner.clone());
    *own.lock().unwrap() = Some(runner.on(EventKind::Stop, "bomb", move |_| {
        if let Some(registration) = bomb.0.lock().unwrap().take() {
            bomb.1.remove(&registration);
        }
    }));
    runner.fire(&Event::stop(Stop::new()));
    assert!(!runner.has(&EventKind::Stop));
}

#[test]
fn handlers_of_the_builder_run_first_and_are_permanent() {
    let kind = EventKind::Custom(CustomKind::new("own", Contract::observe()).unwrap());
    let order = Arc::new(Mutex::new(Vec::new()));
    let note = |name: &'static str| {
        let order = Arc::clone(&order);
        move |_: &Fire<'_>| order.lock().unwrap().push(name)
    };
    let runner = Runner::builder()
        .on(EventKind::Stop, "one", note("one"))
        .on(EventKind::Stop, "two", note("two"))
        .on(kind.clone(), "own", note("own"))
        .build();
    let later = runner.on(EventKind::Stop, "three", note("three"));
    runner.fire(&Event::stop(Stop::new()));
    assert!(runner.remove(&later));
    runner.fire(&Event::stop(Stop::new()));
    assert_eq!(*order.lock().unwrap(), ["one", "two", "three", "one", "two"]);
    assert!(runner.has(&kind) && runner.has(&EventKind::Stop));
    assert_eq!(format!("{runner:?}"), "Runner { handlers: 3, .. }");
}

// The default rules, which are those of the engine.

#[test]
fn a_failed_callback_denies_at_gates_and_warns_at_other_events() {
    type Broken = fn(&Runner, EventKind);
    let broken: [(FailureKind, Broken); 2] = [
        (FailureKind::Panic, |runner, kind| drop(runner.on(kind, "guard", testing::panic("oh")))),
        (FailureKind::Error, |runner, kind| drop(runner.on(kind, "guard", testing::fail("oh")))),
    ];
    for event in eleven_events() {
        for (failure, register) in broken {
            let kind = event.kind();
            let recorder = Recorder::new();
            let runner = recorder.runner();
            register(&runner, kind.clone());
            runner.on(kind.clone(), "eager", testing::allow());
            let verdict = runner.fire(&event);
            if kind.contract().is_gate() {
                assert_eq!(verdict.decision(), Decision::Deny, "{kind}");
                let reason = verdict.reason().unwrap();
                assert!(
                    reason.contains("hook `guard` (") && reason.ends_with("blocked (on_failure: closed)"),
                    "{reason}"
                );
            } else {
                assert!(!verdict.decision().is_block(), "{kind}: {verdict:?}");
            }
            assert_eq!(verdict.failures().next().unwrap().1.kind, failure, "{kind}");
            assert_eq!(recorder.log().len(), 1, "{kind}: a failure is never silent");
        }
    }
}

#[test]
fn a_hook_can_fail_open_by_policy() {
    let runner = Runner::builder().discard_log().build();
    let info = HookInfo::new("nice to have", Source::here()).on_failure(FailurePolicy::Open);
    runner.on_with(EventKind::PreToolUse, info, testing::panic("oh"));
    assert_eq!(runner.fire(&tool_call()).decision(), Decision::NoOpinion);
}

#[test]
fn a_deny_has_the_effect_of_the_contract() {
    for event in eleven_events() {
        let kind = event.kind();
        let runner = Runner::builder().discard_log().build();
        runner.on(kind.clone(), "blocks", testing::deny("no"));
        let can_block = kind.contract().block != checkrein_core::BlockEffect::Ignored;
        let expected = if can_block { Decision::Deny } else { Decision::NoOpinion };
        assert_eq!(runner.fire(&event).decision(), expected, "{kind}");
    }
}

#[test]
fn every_callback_runs_and_the_strongest_decision_wins() {
    let runner = Runner::new();
    runner.on(EventKind::PreToolUse, "denies", testing::deny("no"));
    runner.on(EventKind::PreToolUse, "halts", testing::answer(Opinion::halt("enough")));
    let (count, last) = counter();
    runner.on(EventKind::PreToolUse, "last", last);
    let (verdict, record) = runner.fire_recorded(&tool_call());
    assert_eq!((verdict.decision(), verdict.reason()), (Decision::Halt, Some("enough")));
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert_eq!(record.dialect, "native");
}

#[test]
fn each_callback_sees_earlier_rewrites() {
    let runner = Runner::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sees = |name: &str| {
        let seen = Arc::clone(&seen);
        runner.on(EventKind::PreToolUse, name, move |fire: &Fire<'_>| {
            seen.lock().unwrap().push(fire.event.tool_input().unwrap().as_str().to_owned());
        });
    };
    let merge = |patch| Opinion::merge_input(json(patch));
    sees("before");
    runner.on(EventKind::PreToolUse, "timeout", testing::answer(merge(r#"{"timeout":5}"#)));
    sees("between");
    runner.on(EventKind::PreToolUse, "command", testing::answer(merge(r#"{"command":"ls -l"}"#)));
    sees("after");
    let verdict = runner.fire(&tool_call());
    let all = [r#"{"command": "ls"}"#, r#"{"command":"ls","timeout":5}"#, r#"{"command":"ls -l","timeout":5}"#];
    assert_eq!(*seen.lock().unwrap(), all);
    assert_eq!(verdict.effective_input().unwrap().as_str(), all[2]);
    assert_eq!(verdict.rewritten(Target::Input).unwrap().original.as_ref().unwrap().as_str(), all[0]);
}

#[test]
fn an_invalid_rewrite_denies_at_a_gate() {
    let runner = Runner::builder().discard_log().build();
    let unmergeable = Rewrite::merge(Target::Input, json("[]"));
    runner.on(EventKind::PreToolUse, "h", testing::answer(Opinion::allow().with_rewrite(unmergeable)));
    assert_eq!(runner.fire(&tool_call()).decision(), Decision::Deny);
}
