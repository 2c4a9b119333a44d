//! The shell commands of a tool call.
//!
//! Guards and permission rules read tool input through this module. A command that cannot be parsed is reported as
//! such, never skipped.

use std::path::{Path, PathBuf};

use checkrein_core::{Event, EventKind, JsonType, RawJson};
use checkrein_dialects::{own_fields, patch_field};

use super::doubt::Doubt;
use super::paths::with_home;
use super::shell::{ParseError, SimpleCommand, commands_of_argv, commands_of_text, lexical, quoted_words};

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

/// Fields of tool input that hold a program with its arguments, or only the arguments of the program in another field.
const ARGV: &[&str] = &["argv"];

/// Fields of tool input that hold a program if another field has its arguments.
const PROGRAMS: &[&str] = &["program", "executable"];

/// Fields of tool input that hold the arguments of a program.
const ARGUMENTS: &[&str] = &["args", "arguments", "argv"];

/// Fields of shell tools that hold a shell command. Other tools have code of other languages in them.
const SCRIPTS: &[&str] = &["script"];

/// Parts of the names of shell tools.
const SHELLS: &[&str] = &["shell", "bash", "terminal", "command", "ssh"];

/// Fields of tool input that hold a list of commands.
const LISTS: &[&str] = &["commands"];

/// Fields of shell tools that name the working directory, compared without case and underscores. The table of an agent names the
/// field of its own tool.
const DIRECTORIES: &[&str] = &[
    "currentdirectory",
    "cwd",
    "dir",
    "directory",
    "dirpath",
    "folder",
    "root",
    "workdir",
    "workingdir",
    "workingdirectory",
];

/// Canonical name of the field with the working directory of a shell tool.
const DIRECTORY: &str = "cwd";

/// `true` for fields of shell tools that name the working directory. The name has neither case nor underscores.
pub(crate) fn is_directory_field(name: &str) -> bool {
    DIRECTORIES.contains(&name)
}

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
    let places = Places { event, home, cwd };
    for (index, command) in commands_in(event, Some(&places)).into_iter().enumerate() {
        if index == MOST_TEXTS {
            parsed.parse_error = Some("the call has too many commands");
            break;
        }
        match command.simple_commands(home, cwd) {
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

/// Reader of the working directories of commands.
struct Places<'a> {
    event: &'a Event,
    home: Option<&'a str>,
    cwd: &'a Path,
}

impl Places<'_> {
    /// Returns the possible working directories of a command, by the fields of its tool or of an item of a list. A tool that is not
    /// in the table of its agent may ignore the field, so the directory of the event is possible as well.
    fn possible(&self, object: &RawJson, outer: &[PathBuf]) -> Vec<PathBuf> {
        let text = |value: RawJson| value.as_text().map(|text| text.trim().to_owned()).filter(|text| !text.is_empty());
        let own = own_fields(self.event, DIRECTORY).find_map(|field| text(object.field(field)?));
        let joined = |text: &str| {
            let text = with_home(text, self.home);
            outer.iter().map(|cwd| lexical(&cwd.join(&text))).collect::<Vec<_>>()
        };
        if let Some(own) = own {
            return joined(&own);
        }
        let is_directory = |name: &str| is_directory_field(&plain(name));
        let named = object.entries().into_iter().flatten().filter(|entry| is_directory(&entry.key()));
        let named = named.filter_map(|entry| text(RawJson::parse(entry.value()).ok()?));
        let mut places: Vec<PathBuf> = named.take(MOST_DIRECTORIES).flat_map(|text| joined(&text)).collect();
        places.extend(outer.iter().cloned());
        let mut different: Vec<PathBuf> = Vec::new();
        for place in places {
            if !different.contains(&place) {
                different.push(place);
            }
        }
        different.truncate(MOST_DIRECTORIES);
        different
    }
}

/// Maximum number of possible directories of one command.
const MOST_DIRECTORIES: usize = 8;

/// The name of a field without case and underscores.
pub(super) fn plain(key: &str) -> String {
    key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// One command of a tool call, with its possible working directories.
pub(crate) struct Command {
    code: Code,
    cwds: Vec<PathBuf>,
}

/// Text or words of a command.
enum Code {
    Script(String),
    Words(Vec<String>),
    /// A value that is neither text nor a list of words.
    Invalid,
}

/// Arguments in another field than their program.
enum Arguments {
    None,
    Words(Vec<String>),
    Text(String),
    /// A value of another form. The words are unknown.
    Unknown,
}

/// Word of a script for arguments that cannot be read.
const UNKNOWN_ARGUMENTS: &str = "$args";

impl Arguments {
    fn new(object: &RawJson) -> Self {
        let given = ARGUMENTS.iter().filter_map(|field| object.field(field));
        let Some(value) = given.into_iter().find(|value| value.json_type() != JsonType::Null) else {
            return Self::None;
        };
        let word = |item: &RawJson| match item.json_type() {
            JsonType::String => item.as_text().map(std::borrow::Cow::into_owned),
            JsonType::Number | JsonType::Boolean => Some(item.as_str().trim().to_owned()),
            _ => None,
        };
        match value.json_type() {
            JsonType::String => value.as_text().map_or(Self::Unknown, |text| match text.trim() {
                "" => Self::None,
                text => Self::Text(text.to_owned()),
            }),
            JsonType::Array => {
                let items = value.read::<Vec<RawJson>>().ok();
                let words = items.and_then(|items| items.iter().map(word).collect::<Option<Vec<_>>>());
                match words {
                    Some(words) if words.is_empty() => Self::None,
                    Some(words) => Self::Words(words),
                    None => Self::Unknown,
                }
            }
            _ => Self::Unknown,
        }
    }
}

impl Code {
    /// Returns the command of a program and its arguments. The program may be a script.
    fn with_arguments(self, arguments: &Arguments) -> Self {
        let is_word = |text: &str| !text.contains(|c: char| c.is_whitespace() || "\"'`\\$;&|<>(){}*?[#".contains(c));
        let script = |start: String, end: &str| Self::Script(format!("{} {end}", start.trim_end()));
        match (self, arguments) {
            (Self::Invalid, _) => Self::Invalid,
            (code, Arguments::None) => code,
            (Self::Script(program), Arguments::Words(words)) if is_word(program.trim()) => {
                let program = program.trim();
                // `argv` may start with the program.
                let words = words.strip_prefix([program.to_owned()].as_slice()).unwrap_or(words);
                Self::Words([program.to_owned()].into_iter().chain(words.iter().cloned()).collect())
            }
            (Self::Script(program), Arguments::Words(words)) => script(program, &quoted_words(words)),
            (Self::Script(program), Arguments::Text(text)) => script(program, text),
            (Self::Script(program), Arguments::Unknown) => script(program, UNKNOWN_ARGUMENTS),
            (Self::Words(own), Arguments::Words(words)) => Self::Words(own.into_iter().chain(words.clone()).collect()),
            (Self::Words(own), Arguments::Text(text)) => script(quoted_words(&own), text),
            (Self::Words(own), Arguments::Unknown) => script(quoted_words(&own), UNKNOWN_ARGUMENTS),
        }
    }

    fn from_value(value: &RawJson) -> Option<Self> {
        match value.json_type() {
            JsonType::String => value.as_text().map(|text| Self::Script(text.into_owned())),
            JsonType::Array => Some(value.read().map_or(Self::Invalid, Self::Words)),
            _ => None,
        }
    }

    /// Reads an object. The program may be in another field than its arguments. `fields` has the names of fields with a command.
    fn from_object(object: &RawJson, fields: &[&str]) -> Vec<Self> {
        let arguments = Arguments::new(object);
        let read = |field: &&str| object.field(field).as_ref().and_then(Self::from_value);
        let mut programs: Vec<Self> = fields.iter().filter_map(read).collect();
        if programs.is_empty() && !matches!(arguments, Arguments::None) {
            programs = PROGRAMS.iter().filter_map(read).collect();
        }
        if programs.is_empty() {
            return ARGV.iter().filter_map(read).collect();
        }
        let mut all = Vec::new();
        for program in programs {
            // A tool that takes a whole script may ignore arguments.
            if let Self::Script(text) = &program
                && text.trim().contains(char::is_whitespace)
                && !matches!(arguments, Arguments::None)
            {
                all.push(Self::Script(text.clone()));
            }
            all.push(program.with_arguments(&arguments));
        }
        all
    }
}

impl Command {
    fn simple_commands(&self, home: Option<&str>, cwd: &Path) -> Result<Vec<SimpleCommand>, ParseError> {
        let cwds = if self.cwds.is_empty() { vec![cwd.to_owned()] } else { self.cwds.clone() };
        match &self.code {
            Code::Script(text) => commands_of_text(text, home, cwds),
            Code::Words(words) => commands_of_argv(words, home, cwds),
            Code::Invalid => Err(ParseError("its value is neither text nor a list of words")),
        }
    }

    /// Returns the text of the command. Empty for a list of words.
    fn into_text(self) -> String {
        match self.code {
            Code::Script(text) => text,
            Code::Words(_) | Code::Invalid => String::new(),
        }
    }
}

/// Returns the commands in the input of a tool call.
pub(crate) fn commands(event: &Event) -> Vec<Command> {
    commands_in(event, None)
}

/// Returns the commands in the input of a tool call, with their working directories if `places` is given.
fn commands_in(event: &Event, places: Option<&Places<'_>>) -> Vec<Command> {
    let Some(input) = event.tool_input() else { return Vec::new() };
    let outer = places.map(|places| vec![places.cwd.to_owned()]).unwrap_or_default();
    if input.json_type() == JsonType::String && event.kind() == EventKind::PreShell {
        return Code::from_value(input).map(|code| Command { code, cwds: outer }).into_iter().collect();
    }
    let directories = |object: &RawJson, outer: &[PathBuf]| match places {
        Some(places) => places.possible(object, outer),
        None => Vec::new(),
    };
    // Agents disagree about the name of the field. A call with several of them is checked for each.
    // Codex sends patches in the field for commands.
    let patch = patch_field(event);
    let own = own_fields(event, "command").filter(|own| !FIELDS.contains(own));
    let scripts = if is_shell_tool(event) { SCRIPTS } else { &[] };
    let names = FIELDS.iter().chain(scripts).copied().chain(own).filter(|field| patch != Some(*field));
    let codes = Code::from_object(input, &names.collect::<Vec<_>>());
    let lists: Vec<RawJson> = LISTS.iter().filter_map(|field| input.field(field)).collect();
    if codes.is_empty() && lists.is_empty() {
        return Vec::new();
    }
    let cwds = directories(input, &outer);
    let mut all: Vec<Command> = codes.into_iter().map(|code| Command { code, cwds: cwds.clone() }).collect();
    for list in lists {
        let items = list.read::<Vec<RawJson>>().unwrap_or_else(|_| vec![list.clone()]);
        for item in &items {
            let codes = match Code::from_value(item) {
                Some(code) => vec![code],
                None => Code::from_object(item, FIELDS),
            };
            let codes = if codes.is_empty() { vec![Code::Invalid] } else { codes };
            let cwds = directories(item, &cwds);
            all.extend(codes.into_iter().map(|code| Command { code, cwds: cwds.clone() }));
        }
    }
    all
}

/// `true` if the name of the tool says that it runs shell commands.
fn is_shell_tool(event: &Event) -> bool {
    let name = event.tool_name().unwrap_or_default().to_ascii_lowercase();
    event.kind() == EventKind::PreShell || SHELLS.iter().any(|part| name.contains(part))
}
