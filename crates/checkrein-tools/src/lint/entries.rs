//! Reports hooks that do not run at an event, because the settings of an agent do not call checkrein then. Reads files only.

use std::path::Path;

use checkrein::hook_files::Locations;
use checkrein_dialects::Dialect;
use checkrein_dialects::config::{Diagnostic, Severity};

use super::{location, read_text};
use crate::install::{Installer, UncalledHook};

/// Code of the findings.
pub(crate) const NO_ENTRY: &str = "no-entry";

/// Hooks without an entry at one of their events, for all agents whose settings call checkrein. `dir` is the start directory of
/// the agents.
pub fn missing_entries(dir: &Path, place: Locations) -> Vec<Diagnostic> {
    let installer = Installer::reader(dir, place);
    Installer::agents().flat_map(|agent| missing_entries_of(&installer, agent)).collect()
}

/// Hooks without an entry at one of their events, for one agent. A finding names all events of a hook.
pub fn missing_entries_of(installer: &Installer, agent: &'static Dialect) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut uncalled = installer.uncalled_hooks(agent);
    while let Some(first) = uncalled.first().cloned() {
        let is_same = |other: &UncalledHook| other.hook == first.hook && other.is_on_request == first.is_on_request;
        let events: Vec<_> = uncalled.extract_if(.., |other| is_same(other)).map(|other| other.event).collect();
        found.push(finding(&first, &events));
    }
    found
}

fn finding(uncalled: &UncalledHook, events: &[&str]) -> Diagnostic {
    let UncalledHook { hook, agent, is_on_request, .. } = uncalled;
    // An installation omits these events unless the user asks for them.
    let severity = if *is_on_request { Severity::Warning } else { Severity::Error };
    let names: Vec<_> = events.iter().map(|event| format!("`{event}`")).collect();
    let message = format!(
        "hook `{}`: does not run at {} of {agent}: the agent's settings have no entry there that calls checkrein",
        hook.id,
        names.join(", ")
    );
    let file = hook.source.file.clone().unwrap_or_default();
    let at = hook.source.line.zip(read_text(&file)).map(|(line, text)| location(&text, line));
    let diagnostic =
        Diagnostic::of_file(severity, NO_ENTRY, file, message).with_help(format!("run `{}`", uncalled.fix));
    match at {
        Some(at) => diagnostic.at(at),
        None => diagnostic,
    }
}
