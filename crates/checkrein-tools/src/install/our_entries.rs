//! Finds, adds and removes our hooks in the text of a settings file.

use checkrein_core::RawJson;
use checkrein_dialects::SettingsPath;
use checkrein_document::{Format, Node, Value, parse};

use super::edit::{self, EditError};
use super::{command, desired_entries};

/// Returns `true` if the command was written by an installation for this agent.
pub(crate) fn is_own(command: &str, agent: &str) -> bool {
    command::read(command).is_some_and(|(_, call)| call.agent == agent)
}

/// Returns `true` if the command was written by an installation for this agent, or edited since. A command that names another agent
/// is edited, unless that agent has the same settings file. A command with a config file was written by hand.
pub(super) fn is_own_or_edited(command: &str, agent: &str) -> bool {
    match command::named_agent(command) {
        None => false,
        Some(_) if command::has_own_config(command) => false,
        Some(named) => named == agent || !shares_settings(agent, named),
    }
}

/// Returns `true` if entries of both dialects can be in one file.
fn shares_settings(agent: &str, other: &str) -> bool {
    // The dialects of a variant, such as `copilot@pascal`, are those of its agent.
    let base = |name: &str| name.split('@').next().unwrap_or_default().to_owned();
    base(agent) == base(other) || settings_of(agent).iter().any(|own| settings_of(other).contains(own))
}

/// Settings files with entries in a dialect.
fn settings_of(dialect: &str) -> Vec<&'static SettingsPath> {
    let mut found = Vec::new();
    for agent in checkrein_dialects::ALL {
        let is_written = agent.name == dialect || desired_entries::entry_dialect(agent).name == dialect;
        if let Some(table) = agent.install.filter(|_| is_written) {
            found.extend(table.user.iter().chain(table.project));
        }
    }
    found
}

/// Returns `true` if the text has our hooks for this agent.
pub(super) fn has_ours(text: &str, agent: &str) -> bool {
    edit::read(text).is_ok_and(|root| !hooks_in(&root, &|command| is_own(command, agent)).is_empty())
}

/// Returns `true` if the text has our hooks for this agent, also edited ones.
pub(super) fn has_ours_or_edited(text: &str, agent: &str) -> bool {
    edit::read(text).is_ok_and(|root| !own_hooks(&root, agent).is_empty())
}

/// Adds the entries to the text, and removes our outdated ones.
pub(super) fn with_entries(
    text: Option<&str>,
    original: Option<&str>,
    agent: &str,
    entries: &str,
) -> Result<String, EditError> {
    let wanted = edit::read(entries)?;
    let Some(text) = text.filter(|text| !edit::is_blank(text)) else { return edit::add(text, &wanted) };
    let root = edit::read(text)?;
    let existing = own_hooks(&root, agent);
    if existing.is_empty() {
        return edit::add(Some(text), &wanted);
    }
    if existing == own_hooks(&wanted, agent) {
        return Ok(text.to_owned());
    }
    let others = edit::strip(text, original, &head(&wanted), &|command| is_own_or_edited(command, agent))?;
    edit::add(others.as_deref(), &wanted)
}

/// Removes our entries from the text. Returns `None` if nothing else is in it.
pub(super) fn without_entries(
    text: &str,
    original: Option<&str>,
    agent: &str,
    entries: &str,
) -> Result<Option<String>, EditError> {
    let wanted = edit::read(entries)?;
    // If the file is unchanged since the installation, the original is restored byte by byte.
    if let Some(original) = original
        && edit::add(Some(original), &wanted).is_ok_and(|added| added == text)
    {
        return Ok(Some(original.to_owned()));
    }
    edit::strip(text, original, &head(&wanted), &|command| is_own_or_edited(command, agent))
}

/// Members of a file besides its hooks, such as a version.
fn head<'a>(wanted: &Node<'a>) -> Node<'a> {
    let mut head = wanted.clone();
    if let Value::Object(members) = &mut head.value {
        members.retain(|member| member.value.as_object().is_none() && member.value.as_array().is_none());
    }
    head
}

/// Our hooks in a tree, also edited ones: path of keys and canonical text. Sorted, because their order has no meaning.
pub(super) fn own_hooks(root: &Node<'_>, agent: &str) -> Vec<(String, String)> {
    hooks_in(root, &|command| is_own_or_edited(command, agent))
}

fn hooks_in(root: &Node<'_>, ours: &dyn Fn(&str) -> bool) -> Vec<(String, String)> {
    fn collect(node: &Node<'_>, path: &str, ours: &dyn Fn(&str) -> bool, found: &mut Vec<(String, String)>) {
        for member in node.as_object().into_iter().flatten() {
            let inner = if path.is_empty() { member.key.to_string() } else { format!("{path}.{}", member.key) };
            collect(&member.value, &inner, ours, found);
        }
        for item in node.as_array().into_iter().flatten() {
            if edit::is_ours(item, ours) {
                found.push((path.to_owned(), canonical(item)));
            } else {
                collect(item, path, ours, found);
            }
        }
    }
    let mut found = Vec::new();
    collect(root, "", ours, &mut found);
    found.sort();
    found
}

/// JSON text that is independent of the order of keys and the spelling of strings.
fn canonical(node: &Node<'_>) -> String {
    match (node.as_object(), node.as_array()) {
        (Some(members), _) => {
            let mut parts: Vec<_> = members
                .iter()
                .map(|member| format!("{}:{}", RawJson::string(&member.key), canonical(&member.value)))
                .collect();
            parts.sort();
            format!("{{{}}}", parts.join(","))
        }
        (_, Some(items)) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        _ => node.to_json(),
    }
}

/// Parses a text for reading only. Accepts duplicate keys, which an edit does not.
pub(super) fn parse_tree(text: &str) -> Option<Node<'_>> {
    parse(text, Format::Jsonc).ok().map(|parsed| parsed.root)
}
