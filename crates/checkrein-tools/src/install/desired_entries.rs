//! Entries and programs that an installation writes for an agent.

use checkrein_core::{EventKind, FailurePolicy, RawJson, TimeClass};
use checkrein_dialects::{Dialect, EventRow, HookSpec, PlainTextUse};

use super::command::{Call, Program};

/// Options of the user.
#[derive(Debug, Clone, Default)]
pub(super) struct Choice {
    /// Entries have `--fail-open`.
    pub(super) fail_open: bool,
    /// Entries have the agent's key that makes failures block.
    pub(super) blocks_on_failure: bool,
    pub(super) all_events: bool,
    /// Events that have entries. `None`: all of them.
    pub(super) needed: Option<Vec<EventKind>>,
    /// Entries have `--needed`.
    pub(super) is_marked: bool,
}

/// Dialect of an agent's entries.
pub(super) fn entry_dialect(agent: &'static Dialect) -> &'static Dialect {
    agent.install.and_then(|table| table.through).unwrap_or(agent)
}

/// Events at which the agent calls checkrein.
pub(super) fn events(agent: &'static Dialect, choice: &Choice) -> impl Iterator<Item = &'static EventRow> {
    let dialect = entry_dialect(agent);
    let wanted = move |row: &&EventRow| match &choice.needed {
        Some(kinds) => can_have_entry(row) && kinds.iter().any(|kind| is_row_of(dialect, row, kind)),
        None => can_have_entry(row) && (choice.all_events || !is_on_request(row)),
    };
    dialect.events.iter().filter(wanted)
}

/// `true` if hooks of this kind run at the event: hooks for all tools also run at events for some tools, if the agent has no
/// event for all tools.
pub(super) fn is_row_of(dialect: &Dialect, row: &EventRow, kind: &EventKind) -> bool {
    row.kind == *kind || (row.kind.parent_kind().as_ref() == Some(kind) && dialect.row(kind).is_none())
}

/// `false` for events at which the output of the hook is a required result, so that a hook without an opinion would fail.
pub(super) fn can_have_entry(row: &EventRow) -> bool {
    row.plain != PlainTextUse::LastLine
}

/// `true` for frequent and large events, which have an entry only if the user asks for it.
pub(super) fn is_on_request(row: &EventRow) -> bool {
    row.opt_in || row.kind.contract().time == TimeClass::Display
}

/// Command for an event.
pub(super) fn command(agent: &'static Dialect, row: &EventRow, program: &Program, choice: &Choice) -> String {
    let dialect = entry_dialect(agent);
    let event = (!dialect.names_event(&row.kind)).then(|| row.name.to_owned());
    program.line(&Call { agent: dialect.name.to_owned(), event, fail_open: choice.fail_open, needed: choice.is_marked })
}

/// All entries, as a complete file. `None` if the dialect cannot encode hooks.
pub(super) fn entries(agent: &'static Dialect, program: &Program, choice: &Choice) -> Option<String> {
    let dialect = entry_dialect(agent);
    let specs: Vec<HookSpec> = events(agent, choice).map(|row| entry(agent, dialect, row, program, choice)).collect();
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
    let time = dialect.entry_timeout(row);
    let mut spec = HookSpec::shell("checkrein", row.kind.clone(), command).dialect(dialect).timeout(time);
    let keys = agent.install.map(|table| table.entry_keys).unwrap_or_default();
    spec.unknown_keys.extend(keys.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
    // Most agents run the tool if its hook dies. Other events cannot be blocked.
    match choice.blocks_on_failure && dialect.is_gate(&row.kind) && dialect.host.failure_switch.is_some() {
        true => spec.on_failure(FailurePolicy::Closed),
        false => spec,
    }
}

/// Text of the program for an event.
pub(super) fn script(agent: &'static Dialect, row: &EventRow, program: &Program, choice: &Choice) -> String {
    format!("#!/bin/sh\n{MARK}\nexec {}\n", command(agent, row, program, choice))
}

/// Text of the file with code for an agent whose hooks are code.
pub(super) fn code(agent: &'static Dialect, program: &Program, choice: &Choice) -> Option<String> {
    let code = agent.config.format.code()?;
    // The code calls checkrein at every event.
    let call = Call { agent: agent.name.to_owned(), event: None, fail_open: choice.fail_open, needed: false };
    let words: Vec<_> = program.words(&call).iter().map(|word| RawJson::string(word).to_string()).collect();
    let code = code
        .replace("\"@COMMAND@\"", &format!("[{}]", words.join(", ")))
        .replace("\"@FAIL_OPEN@\"", if choice.fail_open { "true" } else { "false" });
    Some(format!("{CODE_MARK}{}\n\n{code}", program.line(&call)))
}

const MARK: &str = "# Written by `checkrein install`; `checkrein uninstall` takes it away.";
const CODE_MARK: &str = "// Written by `checkrein install`; `checkrein uninstall` takes it away.\n// Command: ";

/// Command in one of our programs or files with code. `None` for others.
pub(super) fn script_command(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix(CODE_MARK) {
        return rest.lines().next();
    }
    let line = text.strip_prefix("#!/bin/sh\n")?.strip_prefix(MARK)?.strip_prefix("\nexec ")?;
    line.strip_suffix('\n').filter(|line| !line.contains('\n'))
}
