//! The shell command of a tool call.

use std::path::Path;

use checkrein_core::{Event, EventKind, JsonType, RawJson};

use super::shell::{Step, Unreadable, World, steps, steps_of_argv};

/// What came of looking for a command.
pub(crate) enum Reading {
    NoCommand,
    Unreadable(&'static str),
    Steps(Vec<Step>),
}

/// The fields of tool input that hold shell commands, in the agents that are known.
const FIELDS: &[&str] = &["command", "cmd", "command_line", "commandLine", "shell_command"];

/// What the command of a tool call would run.
pub(crate) fn read(event: &Event, home: Option<&str>, cwd: &Path) -> Reading {
    let Some(command) = command(event) else { return Reading::NoCommand };
    let world = World { home, cwd };
    let read = match command.json_type() {
        JsonType::String => steps(&command.as_text().unwrap_or_default(), world),
        _ => match command.read::<Vec<String>>() {
            Ok(argv) => steps_of_argv(&argv, world),
            Err(_) => return Reading::NoCommand,
        },
    };
    match read {
        Ok(steps) => Reading::Steps(steps),
        Err(Unreadable(why)) => Reading::Unreadable(why),
    }
}

/// The field of a tool call's input that holds a command.
pub(crate) fn command(event: &Event) -> Option<RawJson> {
    let input = event.tool_input()?;
    if input.json_type() == JsonType::String && event.kind() == EventKind::PreShell {
        return Some(input.clone());
    }
    FIELDS
        .iter()
        .find_map(|field| input.field(field))
        .filter(|value| matches!(value.json_type(), JsonType::String | JsonType::Array))
}
