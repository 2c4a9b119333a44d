//! Every agent at every gate, with broken hooks and settings: the agent gets a deny with a reason, and no output that it could
//! read as another answer.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a failed test reports its cause by panicking")]

mod common;

use checkrein::dialects::{self, Dialect, EventRow};
use checkrein::handler::{ProcessExit, ProcessReply, Reply};
use checkrein::{Decision, Event, RawJson};
use checkrein_tools::samples;
use common::{Place, Ran};

/// The gates of all agents.
fn gates() -> impl Iterator<Item = (&'static Dialect, &'static EventRow)> {
    // Only names are known of these events, or they belong to no agent.
    let agents =
        dialects::ALL.iter().copied().filter(|dialect| !dialect.has_all_events && !dialect.config.files.is_empty());
    agents.flat_map(|agent| agent.events.iter().filter(|row| agent.is_gate(&row.kind)).map(move |row| (agent, row)))
}

fn asked(place: &Place, agent: &Dialect, row: &EventRow, sent: &str, more: &[&str]) -> Ran {
    let mut words = vec!["hook", agent.name];
    if !agent.names_event(&row.kind) {
        words.extend(["--event", row.name]);
    }
    words.extend(more);
    // Hooks run in the directory of the payload, which must exist.
    place.run_with(&words, &sent.replace("/home/ann/project", &place.dir.path().to_string_lossy()))
}

/// The decision that the agent reads in the answer.
fn heard(agent: &'static Dialect, event: &Event, ran: &Ran, what: &str) -> (Decision, String) {
    let what = format!("{what}: {} {}: {ran:?}", agent.name, event.kind());
    assert!(RawJson::parse(ran.stderr.trim()).is_err(), "JSON on standard error, {what}");
    let reply = ProcessReply::new(ProcessExit::Code(ran.code)).stdout(ran.stdout.as_str()).stderr(ran.stderr.as_str());
    match agent.read(event, Reply::Process(reply), false) {
        Ok(opinion) => {
            // A denial can be a command that prints the reason and fails.
            let mut commands = opinion.rewrites().iter().map(|rewrite| rewrite.value.to_string());
            let denies = |input: &String| input.contains("echo 'Denied by checkrein: ") && input.contains("exit 1");
            match commands.find(denies) {
                Some(input) => (Decision::Deny, input),
                None => (opinion.decision(), opinion.reason().unwrap_or_default().to_owned()),
            }
        }
        // Some agents treat a failed hook as a deny.
        Err(failure) if ran.code != 0 => (Decision::Deny, failure.to_string()),
        Err(failure) => panic!("{failure}, {what}"),
    }
}

/// Checks all gates in parallel.
fn at_all_gates(check: fn(&'static Dialect, &'static EventRow)) {
    let all: Vec<_> = gates().collect();
    assert!(all.len() > 40, "{}", all.len());
    std::thread::scope(|scope| {
        for part in all.chunks(all.len().div_ceil(4)) {
            scope.spawn(move || part.iter().for_each(|(agent, row)| check(agent, row)));
        }
    });
}

#[test]
fn every_gate_gets_a_deny_with_a_reason() {
    at_all_gates(|agent, row| {
        let event = samples::event_of(agent, &row.kind, None);
        let sent = samples::payload(agent, &row.kind, None);
        let event = agent.event(&sent, Some(row.name)).unwrap_or(event);
        let place = |hook: &str| {
            let text = format!("hooks: [{{id: h, event: {}, {hook}}}]", row.kind.name());
            Place::with(&[(".checkrein/hooks.yaml", &text)])
        };
        let broken = Place::with(&[(".checkrein/hooks.yaml", "hooks: [")]);
        for (what, place, sent, more) in [
            ("a deny without a word", &place("command: 'exit 2'"), sent.as_str(), &[][..]),
            ("a hook that fails", &place("command: 'exit 7'"), sent.as_str(), &[]),
            ("settings that cannot be read", &broken, sent.as_str(), &[]),
            ("a wrong call", &place("command: 'true'"), sent.as_str(), &["--nonsense"]),
            ("half a payload", &place("command: 'true'"), &sent.as_str()[..sent.as_str().len() - 1], &[]),
        ] {
            let ran = asked(place, agent, row, sent, more);
            let (decision, reason) = heard(agent, &event, &ran, what);
            assert!(decision >= Decision::Deny, "{what}: {} {}: {ran:?}", agent.name, row.name);
            assert!(!reason.trim().is_empty(), "{what}: {} {}: {ran:?}", agent.name, row.name);
        }
    });
}

/// Context that an agent does not support goes to the user, and never becomes another answer.
#[test]
fn unsupported_context_changes_no_decision() {
    at_all_gates(|agent, row| {
        let sent = samples::payload(agent, &row.kind, None);
        let Ok(event) = agent.event(&sent, Some(row.name)) else { return };
        let text = format!(
            "hooks: [{{id: h, event: {}, command: 'echo \"{{\\\"additionalContext\\\": \\\"remember this\\\"}}\"'}}]",
            row.kind.name()
        );
        let place = Place::with(&[(".checkrein/hooks.yaml", &text)]);
        let ran = asked(&place, agent, row, sent.as_str(), &[]);
        // These agents treat all output beside a deny as its reason.
        let silent_is_leave = agent.needs_answer(&row.kind);
        // The model gets the context, or the user gets a note that it does not.
        let told = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            told.contains("remember this") || told.contains("context") || silent_is_leave,
            "{} {}: {ran:?}",
            agent.name,
            row.name
        );
        let (decision, _) = heard(agent, &event, &ran, "context");
        assert!(
            decision == Decision::NoOpinion || silent_is_leave,
            "{} {}: {decision:?} {ran:?}",
            agent.name,
            row.name
        );
    });
}
