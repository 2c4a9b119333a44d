//! The shell commands of a tool call.
//!
//! Guards and permission rules read tool input through this module. A command that cannot be parsed is reported as
//! such, never skipped.

use std::path::Path;

use checkrein_core::{Event, EventKind, JsonType, RawJson};
use checkrein_dialects::{own_fields, patch_field};

use super::doubt::Doubt;
use super::shell::{ParseError, ShellEnv, SimpleCommand, simple_commands, simple_commands_of_argv};

/// The simple commands that the shell commands of a tool call would run.
#[derive(Debug, Default)]
pub(crate) struct ParsedCommands {
    pub(crate) simple_commands: Vec<SimpleCommand>,
    /// Texts of the commands, in order.
    pub(crate) texts: Vec<String>,
    /// Reason why a command cannot be parsed. `simple_commands` has those of the others.
    pub(crate) parse_error: Option<&'static str>,
}

/// Fields of tool input that hold a shell command: text, or a program with its arguments.
const FIELDS: &[&str] = &["command", "cmd", "command_line", "commandLine", "shell_command"];

/// Fields of tool input that hold a list of commands.
const LISTS: &[&str] = &["commands"];

impl ParsedCommands {
    /// Returns the rule for unknown parts of these commands.
    pub(crate) fn doubt(&self) -> Doubt<'_> {
        Doubt::new(&self.simple_commands, &self.texts)
    }
}

/// Maximum number of commands in one call. Each of them may use the whole budget of the parser.
const MOST_TEXTS: usize = 32;

/// Maximum number of programs of one call. Guards compare some of them with all others.
const MOST_COMMANDS: usize = 2000;

/// Parses all commands of a tool call. The result is empty if the input has none.
pub(crate) fn parse_commands(event: &Event, home: Option<&str>, cwd: &Path) -> ParsedCommands {
    let mut parsed = ParsedCommands::default();
    for (index, command) in commands(event).into_iter().enumerate() {
        if index == MOST_TEXTS {
            parsed.parse_error = Some("the call has too many commands");
            break;
        }
        match command.simple_commands(ShellEnv { home, cwd }) {
            Ok(found) => parsed.simple_commands.extend(found),
            Err(ParseError(why)) => parsed.parse_error = Some(why),
        }
        parsed.texts.push(command.into_text());
        if parsed.simple_commands.len() > MOST_COMMANDS {
            parsed.parse_error = Some("it runs too many programs");
            parsed.simple_commands.truncate(MOST_COMMANDS);
            break;
        }
    }
    parsed
}

/// One command of a tool call.
pub(crate) enum Command {
    Script(String),
    Words(Vec<String>),
    /// A value that is neither text nor a list of words.
    Invalid,
}

impl Command {
    fn simple_commands(&self, env: ShellEnv<'_>) -> Result<Vec<SimpleCommand>, ParseError> {
        match self {
            Self::Script(text) => simple_commands(text, env),
            Self::Words(words) => simple_commands_of_argv(words, env),
            Self::Invalid => Err(ParseError("its value is neither text nor a list of words")),
        }
    }

    /// Returns the text of the command. Empty for a list of words.
    fn into_text(self) -> String {
        match self {
            Self::Script(text) => text,
            Self::Words(_) | Self::Invalid => String::new(),
        }
    }

    fn from_value(value: &RawJson) -> Option<Self> {
        match value.json_type() {
            JsonType::String => value.as_text().map(|text| Self::Script(text.into_owned())),
            JsonType::Array => Some(value.read().map_or(Self::Invalid, Self::Words)),
            _ => None,
        }
    }

    /// Reads an item of a list. The program may be in another field than its arguments.
    fn from_item(item: &RawJson) -> Self {
        let program = || FIELDS.iter().find_map(|field| item.field(field));
        let apart = || match (Self::from_value(&program()?)?, item.field("args")) {
            (Self::Script(program), Some(args)) => {
                let args: Vec<String> = args.read().ok()?;
                Some(Self::Words([program].into_iter().chain(args).collect()))
            }
            (command, _) => Some(command),
        };
        Self::from_value(item).or_else(apart).unwrap_or(Self::Invalid)
    }
}

/// Returns the commands in the input of a tool call.
pub(crate) fn commands(event: &Event) -> Vec<Command> {
    let Some(input) = event.tool_input() else { return Vec::new() };
    if input.json_type() == JsonType::String && event.kind() == EventKind::PreShell {
        return Command::from_value(input).into_iter().collect();
    }
    // Agents disagree about the name of the field. A call with several of them is checked for each.
    // Codex sends patches in the field for commands.
    let patch = patch_field(event);
    let own = own_fields(event, "command").filter(|own| !FIELDS.contains(own));
    let names = FIELDS.iter().copied().chain(own).filter(|field| patch != Some(*field));
    let fields = names.filter_map(|field| input.field(field));
    let one = fields.filter_map(|value| Command::from_value(&value));
    let lists = LISTS.iter().filter_map(|field| input.field(field));
    let several = lists.flat_map(|list| match list.read::<Vec<RawJson>>() {
        Ok(items) => items.iter().map(Command::from_item).collect(),
        Err(_) => vec![Command::from_item(&list)],
    });
    one.chain(several).collect()
}
