//! What a field of tool input says, by whatever name the agent calls it.
//!
//! Hooks are written once and run under several agents. A pattern for `file_path` that only Claude Code's name fits would
//! leave a file without its guard under all others.

use std::borrow::Cow;

use checkrein_core::RawJson;

use super::conditions::text_of;
use crate::builtins::patch;

/// The fields of tool input that hold the path of a file, in the agents that are known.
const PATHS: &[&str] =
    &["file_path", "filePath", "path", "notebook_path", "absolute_path", "target_file", "paths", "files"];

/// Those that hold what is written to it.
const TEXTS: &[&str] =
    &["content", "contents", "file_text", "new_text", "new_string", "new_str", "newString", "new_source"];

/// Others that mean the same.
const SAME: &[&[&str]] = &[
    &["command", "cmd", "command_line", "commandLine", "shell_command", "commands"],
    &["old_string", "old_str", "oldString", "old_text"],
];

/// The paths that a tool call names, also in a patch.
pub(super) fn paths(input: &RawJson) -> Vec<String> {
    let mut all: Vec<_> = PATHS.iter().filter_map(|name| input.field(name)).flat_map(|value| texts(&value)).collect();
    // Several files can be a line each.
    let lines: Vec<_> = all.iter().filter(|text| text.contains('\n')).flat_map(|text| text.lines()).collect();
    all.extend(lines.into_iter().map(str::to_owned).collect::<Vec<_>>());
    all.extend(patches(input).iter().flat_map(|text| patch::files(text).map(str::to_owned)));
    all
}

/// What a field says, by its name in the words that all agents share or in the agent's own; dots lead into objects. If it is not
/// there: what those say that mean the same.
pub(super) fn values(input: &RawJson, own: &RawJson, field: &str) -> Vec<String> {
    let said = |input: &RawJson| field.split('.').try_fold(input.clone(), |value, key| value.field(key));
    if let Some(value) = said(input).or_else(|| said(own)) {
        let text = text_of(&value);
        // Several files can be a line each.
        let lines = text.lines().filter(|_| PATHS.contains(&field) && text.contains('\n')).map(str::to_owned);
        return lines.collect::<Vec<_>>().into_iter().chain([text]).collect();
    }
    if PATHS.contains(&field) {
        return paths(input);
    }
    let of =
        |names: &[&str]| names.iter().filter_map(|name| input.field(name)).flat_map(|value| texts(&value)).collect();
    if TEXTS.contains(&field) {
        let mut all: Vec<_> = of(TEXTS);
        all.extend(patches(input));
        return all;
    }
    SAME.iter().find(|names| names.contains(&field)).map(|names| of(names)).unwrap_or_default()
}

/// A list says what each of its items says; of an object, that is the path in it.
fn texts(value: &RawJson) -> Vec<String> {
    let Ok(items) = value.read::<Vec<RawJson>>() else { return vec![text_of(value)] };
    let said =
        |item: &RawJson| text_of(&PATHS.iter().find_map(|name| item.field(name)).unwrap_or_else(|| item.clone()));
    items.iter().map(said).collect()
}

/// The values of an input that are patches, and an input that is nothing but one.
fn patches(input: &RawJson) -> Vec<String> {
    let values = input.entries().into_iter().flatten().filter_map(|entry| RawJson::parse(entry.value()).ok());
    let texts = values.chain([input.clone()]).filter_map(|value| value.as_text().map(Cow::into_owned));
    texts.filter(|text| patch::files(text).next().is_some()).collect()
}
