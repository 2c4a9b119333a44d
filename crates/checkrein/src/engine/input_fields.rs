//! Fields of tool input under all names that agents use.
//!
//! Conditions on tool input use this. Hooks run under several agents: a pattern that matched only Claude Code's `file_path`
//! would not guard the file under other agents.

use std::borrow::Cow;

use checkrein_core::RawJson;

use super::conditions::text_of;
use crate::builtins::patch;

/// Names of fields with the path of a file.
const PATHS: &[&str] =
    &["file_path", "filePath", "path", "notebook_path", "absolute_path", "target_file", "paths", "files"];

/// Names of fields with text that is written to a file.
const TEXTS: &[&str] =
    &["content", "contents", "file_text", "new_text", "new_string", "new_str", "newString", "new_source"];

/// Other groups of names with the same meaning.
const SYNONYMS: &[&[&str]] = &[
    &["command", "cmd", "command_line", "commandLine", "shell_command", "commands"],
    &["old_string", "old_str", "oldString", "old_text"],
];

/// Returns the paths in a tool call, including those in a patch.
pub(super) fn paths(input: &RawJson) -> Vec<String> {
    let mut all: Vec<_> = PATHS.iter().filter_map(|name| input.field(name)).flat_map(|value| texts(&value)).collect();
    // Some agents send one path per line.
    let lines: Vec<_> = all.iter().filter(|text| text.contains('\n')).flat_map(|text| text.lines()).collect();
    all.extend(lines.into_iter().map(str::to_owned).collect::<Vec<_>>());
    all.extend(patches(input).iter().flat_map(|text| patch::files(text).map(str::to_owned)));
    all
}

/// Returns the values of a field, by its canonical name or the agent's own. Dots separate keys of nested objects. Falls back to
/// fields with the same meaning.
pub(super) fn values(input: &RawJson, own: &RawJson, field: &str) -> Vec<String> {
    let lookup = |input: &RawJson| field.split('.').try_fold(input.clone(), |value, key| value.field(key));
    if let Some(value) = lookup(input).or_else(|| lookup(own)) {
        let text = text_of(&value);
        let mut all = Vec::new();
        // Some agents send one path per line.
        if PATHS.contains(&field) && text.contains('\n') {
            all.extend(text.lines().map(str::to_owned));
        }
        all.push(text);
        return all;
    }
    if PATHS.contains(&field) {
        return paths(input);
    }
    let values_of =
        |names: &[&str]| names.iter().filter_map(|name| input.field(name)).flat_map(|value| texts(&value)).collect();
    if TEXTS.contains(&field) {
        let mut all: Vec<_> = values_of(TEXTS);
        all.extend(patches(input));
        return all;
    }
    SYNONYMS.iter().find(|names| names.contains(&field)).map(|names| values_of(names)).unwrap_or_default()
}

/// Returns the texts of a value. A list has one per item; an item that is an object has its path.
fn texts(value: &RawJson) -> Vec<String> {
    let Ok(items) = value.read::<Vec<RawJson>>() else { return vec![text_of(value)] };
    let item_text =
        |item: &RawJson| text_of(&PATHS.iter().find_map(|name| item.field(name)).unwrap_or_else(|| item.clone()));
    items.iter().map(item_text).collect()
}

/// Returns the patches in an input: its values, and the input itself.
fn patches(input: &RawJson) -> Vec<String> {
    let values = input.entries().into_iter().flatten().filter_map(|entry| RawJson::parse(entry.value()).ok());
    let texts = values.chain([input.clone()]).filter_map(|value| value.as_text().map(Cow::into_owned));
    texts.filter(|text| patch::files(text).next().is_some()).collect()
}
