//! Parts of a call that explain it to the user: the programs of a shell command, and the changes of a file.

use std::path::Path;

use checkrein::facts::{FactContext, Facts};
use checkrein::internal::regular_file;
use checkrein_core::{Event, RawJson};
use checkrein_dialects::input::canonical_input;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use similar::TextDiff;

/// Maximum number of programs.
const MAX_COMMANDS: usize = 50;

/// Maximum size of texts that are compared, in bytes.
const MAX_COMPARED: u64 = 256 * 1024;

/// A program that a shell command runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ParsedCommand {
    /// Program and its arguments. An unknown word is written as `⟨$X⟩`.
    pub words: Vec<String>,
    /// Programs that start this one, the outermost first, such as `sudo`.
    pub wrappers: Vec<String>,
    /// Programs that read its output.
    pub pipes_to: Vec<String>,
    /// `false` if only the running shell knows a word.
    pub is_known: bool,
}

/// Returns the first programs of the shell command of an event, and the number of further ones.
pub(super) fn commands(event: &Event, agent: &str, cwd: &Path) -> (Vec<ParsedCommand>, usize) {
    let is_shell = event.tool_aliases().chain(event.tool_name()).any(|name| name == "Bash");
    if !is_shell {
        return (Vec::new(), 0);
    }
    let mut context = FactContext::new(cwd);
    agent.clone_into(&mut context.agent);
    let facts = Facts::new(event.clone(), context).to_json();
    let Ok(facts) = serde_json::from_str::<Value>(facts.as_str()) else { return (Vec::new(), 0) };
    let commands = facts.get("commands").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let names = |value: &Value| match value.as_array() {
        Some(words) => words.iter().map(word).collect(),
        None => Vec::new(),
    };
    let parsed = |command: &Value| ParsedCommand {
        words: names(&command["argv"]),
        wrappers: names(&command["wrappers"]),
        pipes_to: names(&command["pipes_to"]),
        is_known: command["known"].as_bool().unwrap_or(false),
    };
    (commands.iter().take(MAX_COMMANDS).map(parsed).collect(), commands.len().saturating_sub(MAX_COMMANDS))
}

fn word(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Object(unknown) => match unknown.get("unknown").or_else(|| unknown.get("more")) {
            Some(Value::String(text)) => format!("⟨{text}⟩"),
            _ => "⟨unknown⟩".to_owned(),
        },
        other => other.to_string(),
    }
}

/// Returns the changes of a file that a call makes, as a unified diff.
pub(super) fn diff(event: &Event, cwd: &Path) -> Option<String> {
    let input = canonical_input(event)?;
    let text = |name: &str| input.field(name).and_then(|value| value.as_text().map(std::borrow::Cow::into_owned));
    let path = text("file_path")?;
    if let (Some(old), Some(new)) = (text("old_string"), text("new_string")) {
        return part(&path, &old, &new);
    }
    let edits: Option<RawJson> = input.field("edits");
    if let Some(edits) = edits {
        let one = |edit: &str| {
            let edit = RawJson::parse(edit).ok()?;
            let text =
                |name: &str| edit.field(name).and_then(|value| value.as_text().map(std::borrow::Cow::into_owned));
            part(&path, &text("old_string")?, &text("new_string")?)
        };
        return edits.items()?.map(one).collect::<Option<Vec<_>>>().map(|all| all.concat());
    }
    let new = text("content")?;
    let old = match regular_file::read_text(&cwd.join(&path), MAX_COMPARED) {
        Ok(old) => old,
        Err(error) if error.is_missing() => String::new(),
        Err(_) => return None,
    };
    unified(&path, &old, &new)
}

/// Returns the changes of a part of a file. The place of the part in the file is unknown, so the diff has no line numbers.
fn part(path: &str, old: &str, new: &str) -> Option<String> {
    let diff = unified(path, old, new)?;
    // Lines of the texts start with a blank or a sign.
    let lines = diff.split_inclusive('\n').map(|line| if line.starts_with("@@ ") { "@@\n" } else { line });
    Some(lines.collect())
}

fn unified(path: &str, old: &str, new: &str) -> Option<String> {
    if old.len().max(new.len()) as u64 > MAX_COMPARED {
        return None;
    }
    // Words without a line break at their end must not look like a change of the file's end.
    let line = |text: &str| if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    let (old, new) = (line(old), line(new));
    let diff = TextDiff::configure().timeout(std::time::Duration::from_millis(200)).diff_lines(&old, &new);
    Some(diff.unified_diff().context_radius(3).header(path, path).to_string())
}

#[cfg(test)]
mod tests {
    use checkrein::payload::ToolCall;

    use super::*;

    fn diff_of(tool: &str, input: &str, cwd: &Path) -> String {
        let event = Event::pre_tool_use(ToolCall::new(tool, RawJson::parse(input).unwrap()));
        diff(&event, cwd).unwrap()
    }

    #[test]
    fn diff_of_an_edit_has_no_line_numbers() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), "1\n2\n3\n").unwrap();
        let edit = r#"{"file_path":"f","old_string":"@@ -1 @@\nb","new_string":"@@ -1 @@\nc"}"#;
        let text = diff_of("Edit", edit, dir.path());
        assert_eq!(text, "--- f\n+++ f\n@@\n @@ -1 @@\n-b\n+c\n");
        let text = diff_of("Write", r#"{"file_path":"f","content":"1\n2\n4\n"}"#, dir.path());
        assert!(text.contains("@@ -1,3 +1,3 @@\n"), "{text}");
    }
}
