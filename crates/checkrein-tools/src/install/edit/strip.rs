//! Removes our entries from a JSON settings file.

use std::borrow::Cow;

use checkrein_document::{Member, Node, Value};

use super::splice::{Splice, between, space_before, spliced};
use super::{EditError, end, is_blank, read, start};

/// Predicate for commands that an installation wrote.
pub(in crate::install) type Ours<'a> = &'a dyn Fn(&str) -> bool;

/// Removes our hooks. Returns `None` if nothing else is left and there is no original text to restore.
///
/// `original` is the text before the installation, if known: containers that are empty there stay, containers that are missing
/// there are removed. `head` holds the members that an installation writes besides hooks.
pub(in crate::install) fn strip(
    text: &str,
    original: Option<&str>,
    head: &Node<'_>,
    ours: Ours<'_>,
) -> Result<Option<String>, EditError> {
    if is_blank(text) {
        return Ok(Some(text.to_owned()));
    }
    let mut now = text.to_owned();
    let mut changed = false;
    // Removes one hook at a time and parses the rest again, so that edits never overlap.
    while let Some(next) = without_one(&now, original, ours)? {
        now = next;
        changed = true;
    }
    if !changed {
        return Ok(Some(now));
    }
    let blank = original.filter(|original| is_blank(original));
    let before = original.filter(|original| !is_blank(original)).and_then(|original| read(original).ok());
    loop {
        let root = read(&now)?;
        let Some(members) = root.as_object() else { break };
        let is_added = |member: &Member<'_>| {
            let same = head.get(&member.key).is_some_and(|value| value.to_json() == member.value.to_json());
            same && before.as_ref().is_none_or(|before| before.get(&member.key).is_none())
        };
        // A version without hooks has no meaning. With hooks of others, it may be theirs.
        let only_head = members.iter().all(|member| head.get(&member.key).is_some());
        if before.is_none() && only_head {
            return Ok(blank.map(str::to_owned));
        }
        let has_hooks = members.iter().any(|member| member.value.as_object().is_some_and(|inside| !inside.is_empty()));
        if before.is_none() || has_hooks {
            break;
        }
        let Some(index) = members.iter().position(is_added) else { break };
        now = without_child(&now, &root, index);
    }
    Ok(Some(restored_root(now, original)))
}

/// Removes one of our hooks, and the containers that become empty. Returns `None` if there is no such hook.
fn without_one(text: &str, original: Option<&str>, ours: Ours<'_>) -> Result<Option<String>, EditError> {
    let root = read(text)?;
    let mut path = Vec::new();
    let Some((array, at)) = find(&root, ours, &mut path) else { return Ok(None) };
    let mut now = without_child(text, array, at);
    let before = original
        .filter(|original| !is_blank(original))
        .and_then(|original| read(original).ok().map(|root| (original, root)));
    // Removes empty containers from the inside out.
    while let Some(key) = path.pop() {
        let tree = read(&now)?;
        let Some(parent) = path.iter().try_fold(&tree, |node, key: &String| node.get(key)) else { break };
        let Some(at) = parent.as_object().and_then(|members| members.iter().position(|member| member.key == key))
        else {
            break;
        };
        let Some(emptied) = parent.get(&key).filter(|node| is_empty(node)) else { break };
        let old = before.as_ref().and_then(|(text, root)| {
            let parent = path.iter().try_fold(root, |node, key: &String| node.get(key))?;
            parent.get(&key).map(|node| (text, node))
        });
        now = match old {
            None => without_child(&now, parent, at),
            // Empty in the original too: restores its text, including white space.
            Some((text, old)) if is_empty(old) || old.is_null() => {
                spliced(&now, vec![Splice::replace(start(emptied), end(emptied), old.span.slice(text))])
            }
            // Not empty in the original, so the user has emptied it since.
            Some(_) => break,
        };
        if old.is_some() {
            break;
        }
    }
    Ok(Some(now))
}

/// Restores the original text of an empty root, including white space.
fn restored_root(now: String, original: Option<&str>) -> String {
    let (Some(original), Ok(root)) = (original, read(&now)) else { return now };
    match read(original) {
        Ok(old) if is_empty(&root) && is_empty(&old) => {
            spliced(&now, vec![Splice::replace(start(&root), end(&root), old.span.slice(original))])
        }
        _ => now,
    }
}

fn is_empty(node: &Node<'_>) -> bool {
    match &node.value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

/// Finds the last of our hooks: its array and its index. `path` receives the keys that lead to the array. It is empty if the
/// array is inside another array.
fn find<'n, 't>(node: &'n Node<'t>, ours: Ours<'_>, path: &mut Vec<String>) -> Option<(&'n Node<'t>, usize)> {
    match &node.value {
        Value::Object(members) => members.iter().rev().find_map(|member| {
            path.push(Cow::to_string(&member.key));
            let found = find(&member.value, ours, path);
            if found.is_none() {
                path.pop();
            }
            found
        }),
        Value::Array(items) => {
            if let Some(at) = items.iter().rposition(|item| is_ours(item, ours)) {
                return Some((node, at));
            }
            // A group that also has hooks of others does not become empty.
            let found = items.iter().rev().find_map(|item| find(item, ours, &mut Vec::new()));
            if found.is_some() {
                path.clear();
            }
            found
        }
        _ => None,
    }
}

/// Returns `true` if the item is one of our hooks, or a group with only our hooks.
pub(in crate::install) fn is_ours(item: &Node<'_>, ours: Ours<'_>) -> bool {
    let Some(members) = item.as_object() else { return false };
    let hooks = item.get("hooks").and_then(Node::as_array).filter(|hooks| !hooks.is_empty());
    let is_command = |node: &Node<'_>| node.as_str().is_some_and(ours);
    let inside = |node: &Node<'_>| node.as_object().is_some_and(|members| members.iter().any(|m| is_command(&m.value)));
    match hooks {
        Some(hooks) => hooks.iter().all(|hook| is_ours(hook, ours)),
        None => members.iter().any(|member| is_command(&member.value) || inside(&member.value)),
    }
}

/// Removes one item or member and its comma.
fn without_child(text: &str, parent: &Node<'_>, at: usize) -> String {
    let (from, to, previous) = match &parent.value {
        Value::Array(items) => {
            let Some(item) = items.get(at) else { return text.to_owned() };
            (start(item), end(item), at.checked_sub(1).and_then(|at| items.get(at)).map(end))
        }
        Value::Object(members) => {
            let Some(member) = members.get(at) else { return text.to_owned() };
            let previous = at.checked_sub(1).and_then(|at| members.get(at)).map(|member| end(&member.value));
            (member.key_span.start as usize, end(&member.value), previous)
        }
        _ => return text.to_owned(),
    };
    let after = between(text, to);
    let open = start(parent) + 1;
    let before = between(text, previous.unwrap_or(open));
    let space = space_before(text, from);
    // The text after the child must not become part of a line comment before it.
    let rest = text.get(after.comma.filter(|comma| *comma == to + 1).unwrap_or(to)..).unwrap_or_default();
    let ends_line = rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    let needs_line = before.to_line_end && before.comments == space && !ends_line;
    let space = if needs_line { from } else { space };
    let splices = match (after.comma, previous, before.comma) {
        // Removes the comma after the child.
        (Some(comma), ..) => vec![Splice::remove(space, to), Splice::remove(comma - 1, comma)],
        (None, Some(_), Some(comma)) => vec![Splice::remove(comma - 1, comma), Splice::remove(space, to)],
        // An only child without comments: also removes the white space between the brackets.
        _ if before.comments == open && after.comments == to => {
            vec![Splice::remove(open, end(parent).saturating_sub(1))]
        }
        _ => vec![Splice::remove(space, to)],
    };
    spliced(text, splices)
}
