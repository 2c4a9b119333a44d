//! Checks that documents generated from tables are current. `UPDATE_DOCS=1` updates them.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a failed test reports its cause by panicking"
)]

use std::fmt::Write as _;
use std::path::Path;

use checkrein_core::payload::CustomPayload;
use checkrein_core::testing::fixed_runner;
use checkrein_core::{BlockEffect, Contract, CustomKind, Decision, Event, EventKind, Opinion};

fn check(name: &str, expected: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&file, expected).unwrap();
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found.replace("\r\n", "\n") == expected,
        "docs/{name} is out of date: run `UPDATE_DOCS=1 cargo test -p checkrein-core --test docs`"
    );
}

/// Returns the name of the action of a decision at events with this contract.
fn action(contract: Contract, decision: Decision) -> String {
    let kind = CustomKind::new("shown", contract).unwrap();
    let runner = fixed_runner(EventKind::Custom(kind.clone()), Opinion::from_decision(decision));
    let verdict = runner.fire(&Event::custom(CustomPayload::new(kind)));
    let action = format!("{:?}", verdict.action());
    format!("`{}`", action.split(' ').next().unwrap())
}

fn actions() -> String {
    let mut text =
        "| a block means | deny | halt, where hooks can halt | halt elsewhere |\n|---|---|---|---|\n".to_owned();
    for block in
        [BlockEffect::Refuse, BlockEffect::Feedback, BlockEffect::Continue, BlockEffect::EndLoop, BlockEffect::Ignored]
    {
        let contract = || Contract::observe().block(block);
        let deny = action(contract(), Decision::Deny);
        let can_halt = action(contract().halt(), Decision::Halt);
        let elsewhere = action(contract(), Decision::Halt);
        writeln!(text, "| {block} | {deny} | {can_halt} | {elsewhere} |").unwrap();
    }
    text
}

#[test]
fn the_table_of_events_is_current() {
    let mut text = "# Events\n\n\
        This table lists every kind of event and the most that hooks may do there. The dialect of an agent may allow \
        less. A kind whose blocks mean *refuse* is a gate: by default, a failed hook denies there.\n\n\
        Fields marked with `!` are required. Every event can also have `session_id`, `cwd`, `transcript_path`, \
        `permission_mode`, `agent_id`, `agent_type` and `turn`. The host can add other fields.\n\n\
        `Verdict::action()` returns the next step of the host. It applies these columns to the decision of the \
        verdict:\n\n\
        ACTIONS\n\
        `no_opinion` and `allow` lead to `Proceed` at every event. `ask` and `defer` lead to `Ask` at gates. A decision \
        that the event does not support is dropped with a warning. The column `time` is the class of the default \
        timeout, see [config.md](config.md#hook-keys).\n\n\
        | event | when | matched on | a block means | can halt | rewrites | context | text is context | time | fields |\n\
        |---|---|---|---|---|---|---|---|---|---|\n"
        .replace("ACTIONS", &actions());
    for kind in EventKind::ALL {
        let contract = kind.contract();
        let yes = |yes: bool| if yes { "yes" } else { "" };
        let rewrites: Vec<_> = contract.rewrites.iter().map(|target| target.name()).collect();
        let fields: Vec<_> = kind
            .fields()
            .iter()
            .map(|field| format!("`{}`{}", field.name, if field.required { "!" } else { "" }))
            .collect();
        let matched_on = contract.matched_on.as_deref().map(|field| format!("`{field}`")).unwrap_or_default();
        writeln!(
            text,
            "| `{kind}` | {} | {matched_on} | {} | {} | {} | {} | {} | {} | {} |",
            kind.description().trim_end_matches('.'),
            contract.block,
            yes(contract.halt),
            rewrites.join(", "),
            contract.context,
            yes(contract.plain_text),
            contract.time,
            fields.join(", "),
        )
        .unwrap();
    }
    check("events.md", &text);
}
