//! Comparison of the five systems that checkrein replaces: one test for each difference.
#![allow(clippy::unwrap_used, reason = "a failed test reports its cause by panicking")]

use std::time::Duration;

use checkrein_core::payload::{Notification, Prompt, SessionStart, Stop, ToolCall, ToolOutcome};
use checkrein_core::{
    ChainEnd, Decision, DecisionRule, Event, EventKind, FailureKind, FailurePolicy, HttpReply, Matcher, ProcessExit,
    ProcessReply, RawJson, Reply, RunOrder, Target,
};
use checkrein_dialects::agents::{claude, claw, docker_agent, evva, native, ub};
use checkrein_dialects::config::DedupKey;
use checkrein_dialects::{Cwd, Dialect, Environment, Shell};

/// In this order: claw, docker-agent, docker-agent@g2, evva, claude, claude@sender, ub, native.
fn all() -> [&'static Dialect; 8] {
    [
        &claw::DIALECT,
        &docker_agent::DIALECT,
        checkrein_dialects::find("docker-agent@g2").unwrap(),
        &evva::DIALECT,
        &claude::DIALECT,
        &claude::SENDER,
        &ub::DIALECT,
        &native::DIALECT,
    ]
}

/// Compares a column of all dialects with the expected values, in the order of [`all`].
#[track_caller]
fn assert_column<T: PartialEq + std::fmt::Debug>(row: &str, column: impl Fn(&'static Dialect) -> T, expected: [T; 8]) {
    for (dialect, expected) in all().into_iter().zip(expected) {
        assert_eq!(column(dialect), expected, "{row}: {}", dialect.name);
    }
}

fn json(text: &str) -> RawJson {
    text.parse().unwrap()
}

fn gate() -> Event {
    Event::pre_tool_use(ToolCall::new("Bash", json(r#"{"command":"ls"}"#)))
}

fn process(code: i32, stdout: &str, stderr: &str) -> Reply {
    Reply::Process(ProcessReply::new(ProcessExit::Code(code)).program("guard").stdout(stdout).stderr(stderr))
}

/// Result of a hook: a decision, or a failure and its policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HookEffect {
    To(Decision),
    Fails(FailureKind, FailurePolicy),
}

use Decision::{Allow, Ask, Deny, Halt, NoOpinion};
use HookEffect::{Fails, To};

fn effect(dialect: &Dialect, event: &Event, reply: Reply) -> HookEffect {
    match dialect.read(event, reply, false) {
        Ok(opinion) => To(opinion.decision()),
        Err(failure) => Fails(failure.kind, dialect.failure_effect(&event.kind(), failure.kind)),
    }
}

fn reason(dialect: &Dialect, reply: Reply) -> String {
    match dialect.read(&gate(), reply, false) {
        Ok(opinion) => opinion.reason().unwrap_or_default().to_owned(),
        Err(failure) => failure.reason.unwrap_or(failure.message),
    }
}

#[test]
fn event_names_differ() {
    assert_column("events", |dialect| dialect.events.len(), [11, 28, 12, 6, 33, 10, 4, 13]);
    let name = |dialect: &'static Dialect| dialect.name_of(&EventKind::PreToolUse).unwrap();
    assert_column(
        "naming",
        name,
        [
            "PreToolUse",
            "pre_tool_use",
            "pre_tool_use",
            "PreToolUse",
            "PreToolUse",
            "PreToolUse",
            "pre_tool_call",
            "PreToolUse",
        ],
    );
}

#[test]
fn matcher_grammars_differ() {
    let fits = |pattern: &'static str, subject: &'static str| {
        move |dialect: &'static Dialect| {
            Matcher::compile(&dialect.matcher, Some(pattern)).map(|matcher| matcher.matches(subject)).ok()
        }
    };
    let (yes, no) = (Some(true), Some(false));
    assert_column("a|b", fits("Edit|Write", "Write"), [no, yes, yes, no, yes, yes, no, yes]);
    assert_column("part", fits("Edit", "NotebookEdit"), [no, no, no, no, no, no, no, no]);
    assert_column("regex", fits("mcp__.*", "mcp__db__query"), [no, yes, yes, no, yes, yes, no, yes]);
    assert_column("unanchored", fits("book.*", "NotebookEdit"), [no, no, no, no, yes, yes, no, yes]);
    assert_column("glob", fits("{Edit,Write}", "Write"), [no, None, None, yes, None, None, no, None]);
    assert_column("a bad one", fits("(", "Bash"), [no, None, None, no, None, None, no, None]);
    assert_column(
        "axis: notifications",
        |dialect| dialect.is_matched(&EventKind::Notification),
        [false, false, false, false, true, true, false, true],
    );
}

#[test]
fn process_rules_differ() {
    assert_column(
        "shell",
        |dialect| dialect.process.shell,
        [
            Shell::Sh,
            Shell::User,
            Shell::User,
            Shell::Variable("EVVA_SHELL"),
            Shell::Sh,
            Shell::User,
            Shell::None,
            Shell::Sh,
        ],
    );
    let inherits =
        |dialect: &'static Dialect| matches!(dialect.process.environment, Environment::All | Environment::AllBut(_));
    assert_column("environment", inherits, [true, true, true, true, true, true, false, false]);
    let variables = |dialect: &'static Dialect| dialect.process.variables.iter().any(|row| row.name.contains('_'));
    assert_column("variables with data", variables, [true, false, false, true, true, false, true, true]);
    assert_column(
        "cwd",
        |dialect| dialect.process.cwd,
        [Cwd::Host, Cwd::Event, Cwd::Event, Cwd::Host, Cwd::EventOrHost, Cwd::EventOrHost, Cwd::Host, Cwd::Event],
    );
    const MIB: usize = 1 << 20;
    assert_column("output cap", |dialect| dialect.process.output_cap, [MIB, MIB, MIB, MIB, MIB, 64 * 1024, 4096, MIB]);
    assert_column(
        "leftovers",
        |dialect| dialect.process.leaves_background,
        [true, true, true, true, true, true, true, false],
    );
}

#[test]
fn timeouts_differ() {
    let at = |kind: EventKind| move |dialect: &'static Dialect| dialect.timeout(&kind, "command").as_millis();
    assert_column(
        "tools",
        at(EventKind::PreToolUse),
        [600_000, 60_000, 60_000, 60_000, 600_000, 10_000, 10_000, 60_000],
    );
    assert_column(
        "notices",
        at(EventKind::Notification),
        [600_000, 60_000, 60_000, 10_000, 600_000, 10_000, 10_000, 10_000],
    );
    assert_column(
        "requests",
        at(EventKind::PermissionRequest),
        [600_000, 60_000, 60_000, 60_000, 600_000, 120_000, 10_000, 60_000],
    );
    let cap = |dialect: &'static Dialect| dialect.time.cap.map(|cap| cap.as_secs());
    assert_column("most", cap, [None, None, None, None, None, None, Some(60), None]);
    assert_column(
        "HTTP",
        |dialect| dialect.timeout(&EventKind::PreToolUse, "http"),
        [
            Duration::from_secs(600),
            Duration::from_secs(60),
            Duration::from_secs(60),
            Duration::from_secs(10),
            Duration::from_secs(600),
            Duration::from_secs(10),
            Duration::from_secs(10),
            Duration::from_secs(60),
        ],
    );
}

#[test]
fn exit_codes_differ() {
    use FailureKind::{Exit, Signal, Spawn, Timeout};
    use FailurePolicy::{Closed, Open};
    assert_column("0", |dialect| effect(dialect, &gate(), process(0, "", "")), [To(NoOpinion); 8]);
    // All exit codes but 0 are the same for ub, and block only if the hook has that policy.
    assert_column(
        "2",
        |dialect| effect(dialect, &gate(), process(2, "", "no")),
        [To(Deny), To(Deny), To(Deny), To(Deny), To(Deny), To(Deny), Fails(Exit, Open), To(Deny)],
    );
    assert_column(
        "1",
        |dialect| effect(dialect, &gate(), process(1, "", "no")),
        [
            Fails(Exit, Closed),
            Fails(Exit, Closed),
            To(NoOpinion),
            Fails(Exit, Open),
            Fails(Exit, Open),
            Fails(Exit, Open),
            Fails(Exit, Open),
            Fails(Exit, Closed),
        ],
    );
    let signal = || Reply::Process(ProcessReply::new(ProcessExit::Signal(9)));
    let by_signal = |dialect: &'static Dialect| match effect(dialect, &gate(), signal()) {
        Fails(kind, effect) => (Some(kind), effect),
        To(_) => (None, Open),
    };
    assert_column("a signal", |dialect| by_signal(dialect).1, [Closed, Closed, Open, Open, Open, Open, Open, Closed]);
    assert_eq!(by_signal(&native::DIALECT).0, Some(Signal));
    let at_gate = |kind| move |dialect: &'static Dialect| dialect.failure_effect(&EventKind::PreToolUse, kind);
    assert_column("spawn", at_gate(Spawn), [Closed, Closed, Closed, Closed, Open, Open, Open, Closed]);
    assert_column("timeout", at_gate(Timeout), [Closed, Closed, Closed, Closed, Open, Open, Open, Closed]);
}

#[test]
fn sources_of_the_reason_of_exit_2_differ() {
    let of = |stdout: &'static str, stderr: &'static str| {
        move |dialect: &'static Dialect| reason(dialect, process(2, stdout, stderr))
    };
    let pinned_texts = |row, column: &dyn Fn(&'static Dialect) -> String, expected: [&str; 8]| {
        assert_column(row, column, expected.map(str::to_owned));
    };
    pinned_texts("stderr", &of("", "err"), ["err", "err", "err", "err", "err", "err", "err", "err"]);
    pinned_texts("both", &of("out", "err"), ["out", "err", "err", "err", "err", "err", "err", "err"]);
    // An answer is used in addition to the exit code.
    let answer = |dialect: &'static Dialect| {
        let rendered = dialect.render_verdict(&gate(), &denied());
        reason(dialect, process(2, &rendered.stdout, ""))
    };
    pinned_texts(
        "an answer",
        &answer,
        ["why", "why", "why", "why", "why", "why", "hook guard exit 2", "why"].map(|text| text),
    );
}

fn denied() -> checkrein_core::Verdict {
    use checkrein_core::{HookInfo, Opinion, Scope, Settlement, Source};
    let event = gate();
    let hook = std::sync::Arc::new(HookInfo::new("h", Source::for_scope(Scope::Code)));
    let mut settlement = Settlement::new(&native::DIALECT.rules, &event);
    let _ = settlement.push(0, &hook, &Opinion::deny("why"));
    settlement.finish()
}

#[test]
fn answer_detection_differs() {
    use FailureKind::Parse;
    use FailurePolicy::{Closed, Open};
    let says = |dialect: &'static Dialect| {
        effect(dialect, &gate(), process(0, &dialect.render_verdict(&gate(), &denied()).stdout, ""))
    };
    assert_column(
        "a deny in its own format",
        says,
        [To(Deny), To(Deny), To(Deny), To(Deny), To(Deny), To(Deny), To(NoOpinion), To(Deny)],
    );
    let on_exit_1 = |dialect: &'static Dialect| {
        matches!(effect(dialect, &gate(), process(1, &dialect.render_verdict(&gate(), &denied()).stdout, "")), To(Deny))
    };
    assert_column("an answer with exit 1", on_exit_1, [false, false, false, false, true, false, false, false]);
    let broken = |dialect: &'static Dialect| effect(dialect, &gate(), process(0, r#"{"decision":}"#, ""));
    assert_column(
        "no JSON",
        broken,
        [
            Fails(Parse, Closed),
            Fails(Parse, Closed),
            To(NoOpinion),
            Fails(Parse, Open),
            Fails(Parse, Open),
            Fails(Parse, Open),
            To(NoOpinion),
            Fails(Parse, Closed),
        ],
    );
    let halts = |dialect: &'static Dialect| effect(dialect, &gate(), process(0, r#"{"continue":false}"#, ""));
    assert_column(
        "continue: false",
        halts,
        [To(Deny), To(Deny), To(Deny), To(Deny), To(Halt), To(NoOpinion), To(NoOpinion), To(Halt)],
    );
    let case = |dialect: &'static Dialect| {
        let answer = r#"{"decision":"BLOCK"}"#;
        matches!(effect(dialect, &gate(), process(0, answer, "")), To(Deny))
    };
    assert_column("letter case", case, [false, false, false, true, false, false, false, false]);
}

#[test]
fn use_of_plain_text_differs() {
    let context = |event: fn() -> Event| {
        move |dialect: &'static Dialect| {
            let read = dialect.read(&event(), process(0, "be kind", ""), false).unwrap();
            (!read.contexts().is_empty(), !read.messages().is_empty())
        }
    };
    let (nothing, as_context) = ((false, false), (true, false));
    assert_column(
        "at a start",
        context(|| Event::session_start(SessionStart::new())),
        [nothing, as_context, as_context, nothing, as_context, nothing, nothing, as_context],
    );
    assert_column(
        "after a tool",
        context(|| Event::post_tool_use(ToolOutcome::new("Bash", json("{}")))),
        [as_context, nothing, as_context, nothing, nothing, nothing, nothing, nothing],
    );
    assert_column(
        "at a prompt",
        context(|| Event::prompt_submit(Prompt::new("p"))),
        [nothing, as_context, nothing, nothing, as_context, nothing, nothing, as_context],
    );
}

#[test]
fn decision_rules_differ() {
    let rules = |dialect: &'static Dialect| dialect.rules_at(&EventKind::PreToolUse);
    assert_column(
        "order",
        |dialect| rules(dialect).order,
        [
            RunOrder::Sequential,
            RunOrder::Pipeline,
            RunOrder::Parallel,
            RunOrder::Pipeline,
            RunOrder::Parallel,
            RunOrder::Sequential,
            RunOrder::Sequential,
            RunOrder::Phased,
        ],
    );
    let ends = |dialect: &'static Dialect| rules(dialect).chain_end != ChainEnd::Never;
    assert_column("the chain ends early", ends, [true, false, false, true, false, false, false, false]);
    let settles = |dialect: &'static Dialect| rules(dialect).settle;
    assert_column(
        "conflict",
        settles,
        [
            DecisionRule::LastWriter,
            DecisionRule::Strongest,
            DecisionRule::Strongest,
            DecisionRule::LastWriter,
            DecisionRule::Strongest,
            DecisionRule::Strongest,
            DecisionRule::AnyBlock,
            DecisionRule::Strongest,
        ],
    );
    let request = |dialect: &'static Dialect| dialect.rules_at(&EventKind::PermissionRequest).settle;
    assert_eq!(request(&claude::SENDER), DecisionRule::AnyDenyElseLastAllow);
    // With every rule, a later allow never cancels a deny unless the host requests it.
    for dialect in all() {
        assert_eq!(rules(dialect).compat, checkrein_core::Compat::Safe, "{}", dialect.name);
    }
}

#[test]
fn rewrite_rules_differ() {
    let rewrites = |dialect: &'static Dialect| {
        let keys = dialect.reply.keys.iter().filter(|key| key.applies_to(dialect, &EventKind::PreToolUse));
        let targets: Vec<_> = keys
            .filter_map(|key| match key.means {
                checkrein_dialects::reply::KeyMeaning::Replace(Target::Input) => Some("replace"),
                checkrein_dialects::reply::KeyMeaning::Merge(Target::Input) => Some("merge"),
                _ => None,
            })
            .collect();
        targets.first().copied()
    };
    assert_column(
        "input",
        rewrites,
        [Some("replace"), Some("merge"), Some("merge"), Some("replace"), Some("replace"), None, None, Some("replace")],
    );
}

#[test]
fn stop_limits_differ() {
    let blocks = |dialect: &'static Dialect| dialect.blocks(&EventKind::Stop);
    assert_column("a stop can be refused", blocks, [false, false, false, true, true, false, false, true]);
    assert_column("so often", |dialect| if blocks(dialect) { dialect.stop_cap } else { 0 }, [0, 0, 0, 1, 8, 0, 0, 8]);
    let stop = || Event::stop(Stop::new());
    let go_on = |dialect: &'static Dialect| {
        dialect.blocks(&EventKind::Stop) && effect(dialect, &stop(), process(2, "", "go on")) == To(Deny)
    };
    assert_column("exit 2", go_on, [false, false, false, true, true, false, false, true]);
}

#[test]
fn http_rules_differ() {
    assert_column(
        "in the background",
        |dialect| dialect.http.in_background,
        [false, false, false, true, false, false, false, false],
    );
    let deny = |dialect: &'static Dialect| {
        let body = dialect.render_verdict(&gate(), &denied()).stdout;
        effect(dialect, &gate(), Reply::Http(HttpReply::new(200, body.as_str()))) == To(Deny)
    };
    assert_column(
        "decides",
        |dialect| dialect.http.decides && deny(dialect),
        [false, false, false, false, true, true, false, true],
    );
    let redirect = |dialect: &'static Dialect| {
        matches!(effect(dialect, &gate(), Reply::Http(HttpReply::new(304, ""))), Fails(FailureKind::HttpStatus, _))
    };
    assert_column("a redirect is no success", redirect, [true, true, true, true, true, true, true, true]);
}

#[test]
fn dedup_keys_differ() {
    assert_column(
        "the same hook twice",
        |dialect| dialect.config.dedup_key,
        [
            DedupKey::Handler,
            DedupKey::EverythingAndName,
            DedupKey::Handler,
            DedupKey::Never,
            DedupKey::Handler,
            DedupKey::Never,
            DedupKey::Never,
            DedupKey::Everything,
        ],
    );
}

#[test]
fn file_locations_differ() {
    let scopes = |dialect: &'static Dialect| {
        let scopes = dialect.config.files.iter().map(|row| row.scope.to_string());
        let mut scopes: Vec<_> = scopes.collect();
        scopes.dedup();
        scopes.join(" ")
    };
    assert_column(
        "order",
        scopes,
        [
            "user project local",
            "user",
            "user",
            "project user",
            "managed user project local",
            "",
            "user project",
            "managed user project local",
        ]
        .map(str::to_owned),
    );
}

#[test]
fn notifications_have_no_decision() {
    let notice = || Event::notification(Notification::new().message("m"));
    let has = |dialect: &&'static Dialect| dialect.has_all_events || dialect.row(&EventKind::Notification).is_some();
    for dialect in all().into_iter().filter(has) {
        let opinion = dialect.read(&notice(), process(0, r#"{"decision":"block"}"#, ""), false);
        let decision = opinion.map(|opinion| opinion.decision()).unwrap_or_default();
        let counts = dialect.blocks(&EventKind::Notification);
        assert!(!counts && (decision == NoOpinion || dialect.has_all_events), "{}", dialect.name);
    }
    let _ = (Allow, Ask);
}

#[test]
fn cancellation_is_neither_deny_nor_allow() {
    use checkrein_core::{Failure, HookInfo, Opinion, Scope, Settlement, Source};
    let hook = std::sync::Arc::new(HookInfo::new("h", Source::for_scope(Scope::Code)));
    for dialect in all() {
        let event = gate();
        let mut settlement = Settlement::new(&dialect.rules_at(&event.kind()), &event);
        let _ = settlement.push(0, &hook, &Opinion::allow());
        let _ = settlement.push_failure(1, &hook, &Failure::new(FailureKind::Cancelled, "given up"));
        let verdict = settlement.finish();
        assert!(verdict.is_cancelled() && verdict.decision() == NoOpinion, "{}: {verdict:?}", dialect.name);
    }
}

#[test]
fn failures_are_reported_with_the_verdict() {
    use checkrein_core::{Failure, HookInfo, Scope, Settlement, Source};
    let hook = std::sync::Arc::new(HookInfo::new("h", Source::for_scope(Scope::Code)));
    for dialect in all() {
        let event = gate();
        let mut settlement = Settlement::new(&dialect.rules_at(&event.kind()), &event);
        let _ = settlement.push_failure(0, &hook, &Failure::new(FailureKind::Signal, "ended by signal 9"));
        let verdict = settlement.finish();
        assert_eq!((verdict.failures().count(), verdict.warnings().len()), (1, 1), "{}", dialect.name);
    }
}

#[test]
fn background_gate_is_reported() {
    use checkrein_document::Format;
    for dialect in [&evva::DIALECT, &claude::DIALECT, &native::DIALECT] {
        let text = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"x","async":true}]}]}}"#;
        let decoded = dialect.decode("file", checkrein_core::Scope::User, text, Format::Json);
        assert!(decoded.diagnostics.iter().any(|diagnostic| diagnostic.code == "background-gate"), "{}", dialect.name);
    }
}
