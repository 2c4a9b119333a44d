//! What is written for an agent.

use std::time::Duration;

use checkrein_core::{FailurePolicy, TimeClass};
use checkrein_dialects::{Dialect, EventRow, HookSpec, PlainTextUse};

use super::command::{Call, Program};

/// Longer than hooks take: checkrein itself says when one is late, and what that means.
const LONG: Duration = Duration::from_secs(600);
/// The agent is about to leave, and its user waits.
const SHORT: Duration = Duration::from_secs(30);

/// What the user has a say in.
#[derive(Debug, Clone)]
pub(super) struct Choice {
    pub(super) fail_open: bool,
    pub(super) all_events: bool,
}

/// The dialect that the entry of an agent speaks.
pub(super) fn spoken(agent: &'static Dialect) -> &'static Dialect {
    agent.install.and_then(|table| table.through).unwrap_or(agent)
}

/// The events at which an agent is to call.
pub(super) fn events(agent: &'static Dialect, all: bool) -> impl Iterator<Item = &'static EventRow> {
    spoken(agent).events.iter().filter(move |row| is_wanted(row, all))
}

fn is_wanted(row: &EventRow, all: bool) -> bool {
    // Where a hook makes something, one that says nothing has made nothing.
    let makes = row.plain == PlainTextUse::LastLine;
    let on_request = row.opt_in || row.kind.contract().time == TimeClass::Display;
    !makes && (all || !on_request)
}

/// The command at an event.
pub(super) fn command(agent: &'static Dialect, row: &EventRow, program: &Program, choice: &Choice) -> String {
    let dialect = spoken(agent);
    let event = (!dialect.names_event(&row.kind)).then(|| row.name.to_owned());
    program.line(&Call { agent: dialect.name.to_owned(), event, fail_open: choice.fail_open })
}

/// The entries, as a file that has nothing else in it. `None`: the dialect has no files of that kind.
pub(super) fn entries(agent: &'static Dialect, program: &Program, choice: &Choice) -> Option<String> {
    let dialect = spoken(agent);
    let specs: Vec<HookSpec> =
        events(agent, choice.all_events).map(|row| entry(agent, dialect, row, program, choice)).collect();
    Some(dialect.encode(&specs.iter().collect::<Vec<_>>())?.text)
}

fn entry(
    agent: &'static Dialect,
    dialect: &'static Dialect,
    row: &EventRow,
    program: &Program,
    choice: &Choice,
) -> HookSpec {
    let command = command(agent, row, program, choice);
    let class = if row.kind.contract().time == TimeClass::Closing { SHORT } else { LONG };
    let time = [row.timeout_cap, dialect.time.cap].into_iter().flatten().fold(class, Duration::min);
    let spec = HookSpec::shell("checkrein", row.kind.clone(), command).dialect(dialect).timeout(time);
    // Most agents let a call through if its hook dies. At other events there is nothing to hold back.
    match !choice.fail_open && dialect.is_gate(&row.kind) && dialect.host.failure_switch.is_some() {
        true => spec.on_failure(FailurePolicy::Closed),
        false => spec,
    }
}

/// The program that is the hook of an event.
pub(super) fn script(agent: &'static Dialect, row: &EventRow, program: &Program, choice: &Choice) -> String {
    format!("#!/bin/sh\n{MARK}\nexec {}\n", command(agent, row, program, choice))
}

const MARK: &str = "# Written by `checkrein install`; `checkrein uninstall` takes it away.";

/// The command that a program of ours calls.
pub(super) fn script_command(text: &str) -> Option<&str> {
    let line = text.strip_prefix("#!/bin/sh\n")?.strip_prefix(MARK)?.strip_prefix("\nexec ")?;
    line.strip_suffix('\n').filter(|line| !line.contains('\n'))
}
