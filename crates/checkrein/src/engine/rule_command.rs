//! Rules for shell commands: `git *`, `npm run test:*`.
//!
//! `*` is any text, and ` *` (or `:*`) at the end may also be nothing. Every program is looked at that the command would run:
//! in lists and pipes, in substitutions, behind `sudo` and its like, without variables set in front of it. The rule holds if
//! one of them fits, if the command cannot be read, and if its pattern says more than a program's name while the command has
//! parts that only a running shell knows.

use std::path::Path;

use checkrein_core::Event;

use crate::builtins::commands::{Reading, commands, read};
use crate::builtins::shell::SimpleCommand;
use crate::wildcard::wildcard;

pub(super) fn fits(pattern: &str, event: &Event, home: Option<&str>, cwd: &Path) -> bool {
    let pattern = Pattern::new(pattern);
    let Reading { steps, unreadable } = read(event, home, cwd);
    if unreadable.is_some() {
        return true;
    }
    let commands = commands(event);
    if commands.iter().any(|command| pattern.fits(command.text().trim())) {
        return true;
    }
    if pattern.is_name() {
        return steps.iter().any(|step| !step.program.known && !step.name.is_empty() || pattern.fits_step(step));
    }
    commands.iter().any(|command| command.text().contains(['$', '`']))
        || steps.iter().any(|step| pattern.fits_step(step))
}

struct Pattern<'a> {
    text: &'a str,
    /// What stands before a ` *` or `:*` at the end.
    start: Option<&'a str>,
    /// The same with ` *`.
    spelt_out: String,
}

impl<'a> Pattern<'a> {
    fn new(text: &'a str) -> Self {
        let text = text.trim();
        let start = text.strip_suffix(" *").or_else(|| text.strip_suffix(":*"));
        Self { text, start, spelt_out: format!("{} *", start.unwrap_or(text)) }
    }

    /// Whether it is about nothing but which program is run.
    fn is_name(&self) -> bool {
        self.start.is_some_and(|start| !start.contains(char::is_whitespace))
    }

    fn fits(&self, command: &str) -> bool {
        wildcard(self.text, command)
            || self.start.is_some_and(|start| wildcard(start, command) || wildcard(&self.spelt_out, command))
    }

    /// With the program as it is written, and with its bare name.
    fn fits_step(&self, step: &SimpleCommand) -> bool {
        let args: String = step.args.iter().map(|arg| format!(" {}", arg.text)).collect();
        [&step.program.text, &step.name].into_iter().any(|name| self.fits(&format!("{name}{args}")))
    }
}
