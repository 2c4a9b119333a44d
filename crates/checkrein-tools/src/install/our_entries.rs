//! The hooks of ours in the text of a file.

use checkrein_core::RawJson;
use checkrein_document::{Format, Node, Value, parse};

use super::command;
use super::edit::{self, EditError};

/// Whether a command is one that was installed for this agent.
pub(super) fn is_own(command: &str, agent: &str) -> bool {
    command::read(command).is_some_and(|(_, call)| call.agent == agent)
}

/// Whether a text has hooks of ours for this agent.
pub(super) fn has_ours(text: &str, agent: &str) -> bool {
    edit::read(text).is_ok_and(|root| !own_hooks(&root, agent).is_empty())
}

/// The text with the entries, and with no others of ours.
pub(super) fn with_entries(
    text: Option<&str>,
    was: Option<&str>,
    agent: &str,
    entries: &str,
) -> Result<String, EditError> {
    let wanted = edit::read(entries)?;
    let Some(text) = text.filter(|text| !edit::is_blank(text)) else { return edit::add(text, &wanted) };
    let root = edit::read(text)?;
    let there = own_hooks(&root, agent);
    if there.is_empty() {
        return edit::add(Some(text), &wanted);
    }
    if there == own_hooks(&wanted, agent) {
        return Ok(text.to_owned());
    }
    let others = edit::strip(text, was, &head(&wanted), &|command| is_own(command, agent))?;
    edit::add(others.as_deref(), &wanted)
}

/// The text without entries of ours. `None`: nothing else was in it.
pub(super) fn without_entries(
    text: &str,
    was: Option<&str>,
    agent: &str,
    entries: &str,
) -> Result<Option<String>, EditError> {
    let wanted = edit::read(entries)?;
    // If nobody has touched it since, it is as it was to the last byte, however it was laid out.
    if let Some(was) = was
        && edit::add(Some(was), &wanted).is_ok_and(|then| then == text)
    {
        return Ok(Some(was.to_owned()));
    }
    edit::strip(text, was, &head(&wanted), &|command| is_own(command, agent))
}

/// What a file has besides hooks.
fn head<'a>(wanted: &Node<'a>) -> Node<'a> {
    let mut head = wanted.clone();
    if let Value::Object(members) = &mut head.value {
        members.retain(|member| member.value.as_object().is_none() && member.value.as_array().is_none());
    }
    head
}

/// The hooks of ours in a tree: under which keys they stand, and what they say. Sorted, since their order says nothing.
pub(super) fn own_hooks(root: &Node<'_>, agent: &str) -> Vec<(String, String)> {
    fn collect(node: &Node<'_>, path: &str, agent: &str, found: &mut Vec<(String, String)>) {
        for member in node.as_object().into_iter().flatten() {
            let inner = if path.is_empty() { member.key.to_string() } else { format!("{path}.{}", member.key) };
            collect(&member.value, &inner, agent, found);
        }
        for item in node.as_array().into_iter().flatten() {
            if edit::is_ours(item, &|command| is_own(command, agent)) {
                found.push((path.to_owned(), canonical(item)));
            } else {
                collect(item, path, agent, found);
            }
        }
    }
    let mut found = Vec::new();
    collect(root, "", agent, &mut found);
    found.sort();
    found
}

/// JSON in which the order of keys and the spelling of strings make no difference.
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

/// Whether a text can be read at all, for who only looks.
pub(super) fn tree(text: &str) -> Option<Node<'_>> {
    parse(text, Format::Jsonc).ok().map(|parsed| parsed.root)
}
