//! Permission rules for shell commands: `git *`, `npm run test:*`.
//!
//! `*` matches any text; ` *` or `:*` at the end also matches nothing. The pattern is compared with every program that the
//! command would run: in lists, pipes and substitutions, after `sudo` and similar wrappers, without leading assignments.
//! Options before a subcommand are compared as they are and left out: `git push *` also matches `git -C dir push`.
//!
//! The rule matches if one of them matches, or if the command cannot be parsed. A part that only a running shell knows
//! stands for every text: `git $X` matches `git push *`, and `echo $X` does not.

use std::path::Path;

use checkrein_core::Event;

use crate::builtins::commands::{ParsedCommands, parse_commands};
use crate::builtins::doubt::{Doubt, Line, base};
use crate::builtins::global_options;
use crate::builtins::shell::{Expanded, SimpleCommand};
use crate::builtins::text::head;
use crate::wildcard::wildcard;

pub(super) fn fits(pattern: &str, event: &Event, home: Option<&str>, cwd: &Path) -> bool {
    let pattern = Pattern::new(pattern);
    let parsed = parse_commands(event, home, cwd);
    let doubt = parsed.doubt();
    let ParsedCommands { simple_commands, texts, parse_error, .. } = &parsed;
    let mut work = 0;
    parse_error.is_some()
        || texts.iter().any(|text| pattern.fits(text.trim()))
        || simple_commands.iter().any(|command| pattern.fits_command(command, doubt, &mut work))
}

/// Returns the reason why it is unknown if a command matches, for a pattern that [`fits`]. `None`: the command matches.
pub(super) fn undecided(pattern: &str, event: &Event, home: Option<&str>, cwd: &Path) -> Option<String> {
    let pattern = Pattern::new(pattern);
    let parsed = parse_commands(event, home, cwd);
    let doubt = parsed.doubt();
    let mut work = 0;
    if parsed.texts.iter().any(|text| pattern.fits(text.trim())) {
        return None;
    }
    let mut unknown = None;
    for command in &parsed.simple_commands {
        if !pattern.fits_command(command, doubt, &mut work) {
            continue;
        }
        let words = || std::iter::once(&command.program).chain(&command.args);
        if words().all(|word| word.known) || pattern.fits_command(&with_fixed_words(command), doubt, &mut work) {
            return None;
        }
        let word = words().find(|word| !word.known).map(|word| word.text.replace(char::is_control, " "));
        unknown = unknown.or(word);
    }
    match (unknown, parsed.parse_error) {
        (Some(word), _) => Some(format!("only the running shell knows `{}`", head(&word, 60))),
        (None, Some(why)) => Some(format!("the command cannot be parsed: {why}")),
        (None, None) => None,
    }
}

/// Returns the command with a text that no pattern contains in the place of each unknown word.
fn with_fixed_words(command: &SimpleCommand) -> SimpleCommand {
    let fixed = |word: &Expanded| match word.known {
        true => word.clone(),
        false => Expanded { text: "\u{fffd}".to_owned(), known: true, ..Expanded::default() },
    };
    SimpleCommand {
        program: fixed(&command.program),
        args: command.args.iter().map(fixed).collect(),
        name: command.name.clone(),
        ..SimpleCommand::default()
    }
}

/// Maximum number of comparisons of characters with one pattern. The rule matches a call that would need more.
const MOST_WORK: usize = 8 << 20;

struct Pattern<'a> {
    text: &'a str,
    /// The text before a ` *` or `:*` at the end.
    start: Option<&'a str>,
    /// `start` and ` *`.
    with_wildcard: String,
}

impl<'a> Pattern<'a> {
    fn new(text: &'a str) -> Self {
        let text = text.trim();
        let start = text.strip_suffix(" *").or_else(|| text.strip_suffix(":*"));
        Self { text, start, with_wildcard: format!("{} *", start.unwrap_or(text)) }
    }

    fn fits(&self, command: &str) -> bool {
        wildcard(self.text, command)
            || self.start.is_some_and(|start| wildcard(start, command) || wildcard(&self.with_wildcard, command))
    }

    fn fits_line(&self, line: &Line, work: &mut usize) -> bool {
        *work += line.len() * (self.text.len() + 1);
        *work > MOST_WORK
            || line.could_match(self.text)
            || self.start.is_some_and(|start| line.could_match(start) || line.could_match(&self.with_wildcard))
    }

    /// Compares the program as it is written, its bare name and the names that a search for it looks for.
    fn fits_command(&self, command: &SimpleCommand, doubt: Doubt<'_>, work: &mut usize) -> bool {
        if command.name.is_empty() && command.program.text.is_empty() {
            return false;
        }
        let searched = doubt.names(command);
        let known = |name: &&str| Expanded { text: (*name).to_owned(), known: true, ..Expanded::default() };
        let mut names = vec![command.program.clone(), base(&command.program)];
        // `$GIT` is git. The name of other everyday programs is their text.
        let is_named = !command.program_known() && doubt.is_everyday(command) && !command.name.starts_with('$');
        if is_named || searched != [command.name.as_str()] {
            names = searched.iter().map(known).collect();
        } else if command.program_known() {
            names.push(Expanded { text: command.name.clone(), known: true, ..Expanded::default() });
        }
        names.iter().any(|name| {
            let subcommand = global_options::subcommand(&name.text, &command.args).filter(|index| *index > 0);
            let short = subcommand.map(|index| &command.args[index..]);
            self.fits_line(&Line::new(name, &command.args), work)
                || short.is_some_and(|args| self.fits_line(&Line::new(name, args), work))
        })
    }
}
