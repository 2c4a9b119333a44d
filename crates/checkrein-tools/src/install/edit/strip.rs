//! Takes out.

use std::borrow::Cow;

use checkrein_document::{Member, Node, Value};

use super::splice::{Splice, between, space_before, spliced};
use super::{EditError, end, is_blank, read, start};

/// Says whether a command is one of ours.
pub(in crate::install) type Ours<'a> = &'a dyn Fn(&str) -> bool;

/// The text without the hooks that are ours. `None`: nothing else was in it, and `was` is not known or was not there.
///
/// `was` is the text before ours were put in, if that is known: what is empty there stays, what is not there goes. `head`
/// are members that a file of its own needs besides its hooks.
pub(in crate::install) fn strip(
    text: &str,
    was: Option<&str>,
    head: &Node<'_>,
    ours: Ours<'_>,
) -> Result<Option<String>, EditError> {
    if is_blank(text) {
        return Ok(Some(text.to_owned()));
    }
    let mut now = text.to_owned();
    let mut changed = false;
    // One at a time: what is left is read anew, so that no rule has to think of two.
    while let Some(next) = without_one(&now, was, ours)? {
        now = next;
        changed = true;
    }
    if !changed {
        return Ok(Some(now));
    }
    let blank = was.filter(|was| is_blank(was));
    let before = was.filter(|was| !is_blank(was)).and_then(|was| read(was).ok());
    loop {
        let root = read(&now)?;
        let Some(members) = root.as_object() else { break };
        let is_added = |member: &Member<'_>| {
            let same = head.get(&member.key).is_some_and(|value| value.to_json() == member.value.to_json());
            same && before.as_ref().is_none_or(|before| before.get(&member.key).is_none())
        };
        // Without hooks, a version of them says nothing. With others, it may be theirs.
        let only_head = members.iter().all(|member| head.get(&member.key).is_some());
        if before.is_none() && only_head {
            return Ok(blank.map(str::to_owned));
        }
        let has_hooks = members.iter().any(|member| member.value.as_object().is_some_and(|inside| !inside.is_empty()));
        let at = members.iter().position(is_added).filter(|_| before.is_some() && !has_hooks);
        let Some(at) = at else { break };
        now = without_child(&now, &root, at);
    }
    Ok(Some(restored_root(now, was)))
}

/// The text without one hook that is ours, and without what that leaves empty. `None`: there is none.
fn without_one(text: &str, was: Option<&str>, ours: Ours<'_>) -> Result<Option<String>, EditError> {
    let root = read(text)?;
    let mut path = Vec::new();
    let Some((array, at)) = find(&root, ours, &mut path) else { return Ok(None) };
    let mut now = without_child(text, array, at);
    let before = was.filter(|was| !is_blank(was)).and_then(|was| read(was).ok().map(|root| (was, root)));
    // What has become empty goes too, from the inside out.
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
            // As it was, with the white space that it had.
            Some((text, old)) if is_empty(old) || old.is_null() => {
                spliced(&now, vec![Splice::replace(start(emptied), end(emptied), old.span.of(text))])
            }
            // Somebody has emptied it meanwhile.
            Some(_) => break,
        };
        if old.is_some() {
            break;
        }
    }
    Ok(Some(now))
}

/// An empty root as it was, with the white space that it had.
fn restored_root(now: String, was: Option<&str>) -> String {
    let (Some(was), Ok(root)) = (was, read(&now)) else { return now };
    match read(was) {
        Ok(old) if is_empty(&root) && is_empty(&old) => {
            spliced(&now, vec![Splice::replace(start(&root), end(&root), old.span.of(was))])
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

/// The last array that has something of ours as a whole, and where in it; `path` leads to the array through keys alone, and
/// is empty where it cannot.
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
            // In a group with hooks of others, which does not become empty.
            let found = items.iter().rev().find_map(|item| find(item, ours, &mut Vec::new()));
            if found.is_some() {
                path.clear();
            }
            found
        }
        _ => None,
    }
}

/// Whether a hook is ours, or all hooks of a group.
pub(in crate::install) fn is_ours(item: &Node<'_>, ours: Ours<'_>) -> bool {
    let Some(members) = item.as_object() else { return false };
    let hooks = item.get("hooks").and_then(Node::as_array).filter(|hooks| !hooks.is_empty());
    let says = |node: &Node<'_>| node.as_str().is_some_and(ours);
    let inside = |node: &Node<'_>| node.as_object().is_some_and(|members| members.iter().any(|m| says(&m.value)));
    match hooks {
        Some(hooks) => hooks.iter().all(|hook| is_ours(hook, ours)),
        None => members.iter().any(|member| says(&member.value) || inside(&member.value)),
    }
}

/// The text without one item or member, and without the comma that it needed.
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
    let behind = between(text, to);
    let open = start(parent) + 1;
    let before = between(text, previous.unwrap_or(open));
    let space = space_before(text, from);
    // What follows must not become part of a comment in front.
    let rest = text.get(behind.comma.filter(|comma| *comma == to + 1).unwrap_or(to)..).unwrap_or_default();
    let ends_line = rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    let needs_line = before.to_line_end && before.comments == space && !ends_line;
    let space = if needs_line { from } else { space };
    let splices = match (behind.comma, previous, before.comma) {
        // The comma behind it goes with it.
        (Some(comma), ..) => vec![Splice::remove(space, to), Splice::remove(comma - 1, comma)],
        (None, Some(_), Some(comma)) => vec![Splice::remove(comma - 1, comma), Splice::remove(space, to)],
        // All that it had: the brackets close up, unless a comment is between them.
        _ if before.comments == open && behind.comments == to => {
            vec![Splice::remove(open, end(parent).saturating_sub(1))]
        }
        _ => vec![Splice::remove(space, to)],
    };
    spliced(text, splices)
}
