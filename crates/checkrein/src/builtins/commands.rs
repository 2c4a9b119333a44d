//! The shell commands of a tool call.

use std::path::Path;

use checkrein_core::{Event, EventKind, JsonType, RawJson};

use super::shell::{ParseError, ShellEnv, SimpleCommand, simple_commands, simple_commands_of_argv};

/// What the commands of a tool call would run.
#[derive(Default)]
pub(crate) struct Reading {
    pub(crate) steps: Vec<SimpleCommand>,
    /// Why one of them cannot be read. That does not hide what the others do.
    pub(crate) unreadable: Option<&'static str>,
}

/// The fields of tool input that hold a shell command, in the agents that are known: text, or a program with its arguments.
const FIELDS: &[&str] = &["command", "cmd", "command_line", "commandLine", "shell_command"];

/// Those that hold a list of commands.
const LISTS: &[&str] = &["commands"];

/// Reads all commands of a tool call. Where there are none, nothing would run.
pub(crate) fn read(event: &Event, home: Option<&str>, cwd: &Path) -> Reading {
    let mut reading = Reading::default();
    for command in commands(event) {
        match command.simple_commands(ShellEnv { home, cwd }) {
            Ok(steps) => reading.steps.extend(steps),
            Err(ParseError(why)) => reading.unreadable = Some(why),
        }
    }
    reading
}

/// One command of a tool call.
pub(crate) enum Command {
    Script(String),
    Words(Vec<String>),
    /// What nobody knows how to run.
    Odd,
}

impl Command {
    fn simple_commands(&self, world: ShellEnv<'_>) -> Result<Vec<SimpleCommand>, ParseError> {
        match self {
            Self::Script(text) => simple_commands(text, world),
            Self::Words(words) => simple_commands_of_argv(words, world),
            Self::Odd => Err(ParseError("it is neither text nor a list of words")),
        }
    }

    /// As it was written, if it is text.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Script(text) => text,
            Self::Words(_) | Self::Odd => "",
        }
    }

    fn of(value: &RawJson) -> Option<Self> {
        match value.json_type() {
            JsonType::String => value.as_text().map(|text| Self::Script(text.into_owned())),
            JsonType::Array => Some(value.read().map_or(Self::Odd, Self::Words)),
            _ => None,
        }
    }

    /// In a list, a program may also stand apart from its arguments.
    fn of_item(item: &RawJson) -> Self {
        let program = || FIELDS.iter().find_map(|field| item.field(field));
        let apart = || match (Self::of(&program()?)?, item.field("args")) {
            (Self::Script(program), Some(args)) => {
                let args: Vec<String> = args.read().ok()?;
                Some(Self::Words([program].into_iter().chain(args).collect()))
            }
            (command, _) => Some(command),
        };
        Self::of(item).or_else(apart).unwrap_or(Self::Odd)
    }
}

/// What a tool call's input has of commands.
pub(crate) fn commands(event: &Event) -> Vec<Command> {
    let Some(input) = event.tool_input() else { return Vec::new() };
    if input.json_type() == JsonType::String && event.kind() == EventKind::PreShell {
        return Command::of(input).into_iter().collect();
    }
    let one = FIELDS.iter().find_map(|field| input.field(field)).and_then(|value| Command::of(&value));
    let lists = LISTS.iter().filter_map(|field| input.field(field));
    let several = lists.flat_map(|list| match list.read::<Vec<RawJson>>() {
        Ok(items) => items.iter().map(Command::of_item).collect(),
        Err(_) => vec![Command::of_item(&list)],
    });
    one.into_iter().chain(several).collect()
}
