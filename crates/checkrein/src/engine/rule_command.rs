//! Permission rules for shell commands: `git *`, `npm run test:*`.
//!
//! `*` matches any text; ` *` or `:*` at the end also matches nothing. The pattern is compared with every program that the
//! command would run: in lists, pipes and substitutions, after `sudo` and similar wrappers, without leading assignments.
//!
//! The rule matches if one of them matches, or if the command cannot be parsed. It also matches if the pattern has more than a
//! program name and the command has parts that only a running shell can expand.

use std::path::Path;

use checkrein_core::Event;

use crate::builtins::commands::{ParsedCommands, commands, parse_commands};
use crate::builtins::shell::SimpleCommand;
use crate::wildcard::wildcard;

pub(super) fn fits(pattern: &str, event: &Event, home: Option<&str>, cwd: &Path) -> bool {
    let pattern = Pattern::new(pattern);
    let ParsedCommands { simple_commands, parse_error } = parse_commands(event, home, cwd);
    if parse_error.is_some() {
        return true;
    }
    let commands = commands(event);
    if commands.iter().any(|command| pattern.fits(command.text().trim())) {
        return true;
    }
    if pattern.is_name() {
        return simple_commands
            .iter()
            .any(|command| !command.program.known && !command.name.is_empty() || pattern.fits_command(command));
    }
    commands.iter().any(|command| command.text().contains(['$', '`']))
        || simple_commands.iter().any(|command| pattern.fits_command(command))
}

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

    /// `true` if the pattern is only the name of a program.
    fn is_name(&self) -> bool {
        self.start.is_some_and(|start| !start.contains(char::is_whitespace))
    }

    fn fits(&self, command: &str) -> bool {
        wildcard(self.text, command)
            || self.start.is_some_and(|start| wildcard(start, command) || wildcard(&self.with_wildcard, command))
    }

    /// Compares the program as it is written, and its bare name.
    fn fits_command(&self, command: &SimpleCommand) -> bool {
        let args: String = command.args.iter().map(|arg| format!(" {}", arg.text)).collect();
        [&command.program.text, &command.name].into_iter().any(|name| self.fits(&format!("{name}{args}")))
    }
}
