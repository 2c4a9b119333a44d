//! Finds commands that change guards without naming a file: commands of checkrein, and programs that end its processes.

use regex::Regex;

use crate::builtins::commands::ParsedCommands;
use crate::builtins::shell::{Expanded, SimpleCommand, is_reader};

/// Commands of checkrein that do not change guards. The builtin asks about all others.
const HARMLESS: &[&str] = &[
    "audit",
    "bench",
    "check",
    "completions",
    "convert",
    "events",
    "explain",
    "get",
    "help",
    "hook",
    "list",
    "man",
    "replay",
    "run",
    "say",
    "schema",
    "simulate",
    "status",
    "test",
];

/// Commands with which the user answers questions of hooks, or opens the page that does. An agent must not answer its own questions.
const USER_COMMANDS: &[&str] = &["approve", "deny", "approvals", "live", "serve"];

/// Commands that answer. Other programs have some of the names above too.
const ANSWERS: &[&str] = &["approve", "deny"];

/// Number of characters of the id of an approval, without its dash.
const ID_LENGTH: usize = 10;

/// `true` if a command is, or may be, one with which the user answers questions of hooks.
pub(super) fn answers_questions(parsed: &ParsedCommands) -> bool {
    let doubt = parsed.doubt();
    let is_confirmation = |command: &SimpleCommand| {
        let names = doubt.names(command);
        // A link may have any name.
        let is_path = command.program.text.contains('/') && !is_reader(&command.name);
        let may_be_link = || {
            let mut rest = command.args.iter().skip_while(|arg| !ANSWERS.contains(&arg.text.as_str()));
            rest.next().is_some() && rest.any(|arg| !arg.known || is_id(&arg.text))
        };
        (is_path && may_be_link())
            || names.iter().filter_map(|name| subcommand(command, name)).any(|word| {
                USER_COMMANDS.iter().any(|own| if word.known { word.text == *own } else { word.could_be(own) })
            })
    };
    let names_answer = |text: &str| {
        // Without a parser, quotes and escapes are only removed.
        let text = text.replace(['\'', '"', '\\'], "");
        text.contains("checkrein") && USER_COMMANDS.iter().any(|own| text.contains(own))
    };
    parsed.simple_commands.iter().any(is_confirmation)
        || (parsed.parse_error.is_some() && parsed.texts.iter().any(|text| names_answer(text)))
}

/// `true` if a word has the form of an id.
fn is_id(word: &str) -> bool {
    let id: Vec<_> = word.chars().filter(|c| *c != '-').collect();
    id.len() == ID_LENGTH && id.iter().all(|c| c.is_ascii_alphanumeric() && !matches!(c, 'u' | 'U'))
}

/// Returns the question if a command may change guards.
pub(super) fn changes_guards(parsed: &ParsedCommands) -> Option<String> {
    let doubt = parsed.doubt();
    let commands = &parsed.simple_commands;
    commands.iter().find_map(|command| {
        let names = doubt.names(command);
        names.iter().find_map(|name| calls_checkrein(command, name)).or_else(|| ends_checkrein(command, commands))
    })
}

/// Returns the command of checkrein that a command with this name calls.
fn subcommand<'c>(command: &'c SimpleCommand, name: &str) -> Option<&'c Expanded> {
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let is_word = |text: &str| text.starts_with(|c: char| c.is_ascii_alphabetic());
    match name {
        "checkrein" => first_word(&command.args),
        // Other programs may start it: `npx checkrein uninstall`.
        _ if is_reader(name) => None,
        _ => {
            let at = command.args.iter().position(|arg| is_checkrein(&arg.text))?;
            first_word(&command.args[at + 1..]).filter(|word| is_word(&word.text))
        }
    }
}

/// Returns the first argument of checkrein that is neither an option nor the value of one.
fn first_word(args: &[Expanded]) -> Option<&Expanded> {
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        match arg.text.as_str() {
            "--color" => {
                args.next();
            }
            text if text.len() > 1 && text.starts_with('-') => {}
            _ => return Some(arg),
        }
    }
    None
}

/// Returns the question if a command calls checkrein in a way that may change its guards.
fn calls_checkrein(command: &SimpleCommand, name: &str) -> Option<String> {
    let subcommand = subcommand(command, name)?;
    if subcommand.known && HARMLESS.contains(&subcommand.text.as_str()) {
        return None;
    }
    Some(format!("`checkrein {}` may change the guards of this agent. Allow?", subcommand.text))
}

/// Returns the question if a command ends processes of checkrein, or stops its services.
fn ends_checkrein(command: &SimpleCommand, all: &[SimpleCommand]) -> Option<String> {
    let name = command.name.as_str();
    let is_named = || command.operands().any(names_checkrein);
    let ends = match name {
        "pkill" | "killall" | "skill" | "slay" | "xkill" => is_named(),
        // `kill $(pgrep checkrein)` and `pgrep checkrein | xargs kill`.
        "pgrep" | "pidof" => is_named() && all.iter().any(|other| other.name == "kill"),
        "systemctl" | "service" | "launchctl" | "rc-service" => {
            let stops = ["stop", "disable", "mask", "kill", "unload", "bootout", "remove"];
            is_named() && command.args.iter().any(|arg| stops.contains(&arg.text.as_str()))
        }
        _ => false,
    };
    if ends { Some(format!("`{name}` may end checkrein's guards. Allow?")) } else { None }
}

/// `true` if a pattern for processes matches checkrein. These patterns are regular expressions or plain names.
fn names_checkrein(word: &Expanded) -> bool {
    let text = word.text.as_str();
    let is_match = || Regex::new(text).is_ok_and(|pattern| pattern.is_match("checkrein"));
    text.contains("checkrein")
        || (word.known && !text.is_empty() && is_match())
        || (!word.known && word.could_be("checkrein"))
}

fn is_checkrein(word: &str) -> bool {
    word.rsplit('/').next() == Some("checkrein")
}
