//! The arguments that every command has, and the overview of `checkrein --help`.
//!
//! Clap lists subcommands without groups, so the overview is a template that is built from [`GROUPS`] and the help of each
//! command.

use std::ffi::OsString;
use std::fmt::Write;

use clap::CommandFactory;
use clap::builder::Styles;

use crate::commands::{self, Verbosity, terminal};

/// All commands by purpose, in the order of the overview.
pub const GROUPS: &[(&str, &[&str])] = &[
    ("Daily", &["init", "install", "uninstall", "doctor", "status", "try", "run", "explain", "check", "list", "test"]),
    ("Safety", &["trust", "approvals", "approve", "deny", "live", "serve", "coverage", "log", "audit"]),
    ("Authoring", &["simulate", "record", "replay", "convert", "bench", "events", "facts", "packs"]),
    ("Plumbing", &["hook", "get", "say", "schema", "completions", "man"]),
];

/// Width of help on wide terminals and in pipes.
const MAX_WIDTH: usize = 100;

/// Arguments of every command.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArguments {
    /// Print no notes and no progress; keep errors and results
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Print more details
    #[arg(short, long, global = true)]
    verbose: bool,
    /// Use colors: auto, always or never; auto obeys NO_COLOR
    #[arg(long, value_name = "WHEN", default_value = "auto", hide_default_value = true)]
    #[arg(value_enum, hide_possible_values = true, global = true)]
    color: Color,
}

impl GlobalArguments {
    /// Applies the arguments to all later output of the process.
    pub fn apply(&self) {
        self.color.apply();
        commands::set_verbosity(match self {
            Self { quiet: true, .. } => Verbosity::Quiet,
            Self { verbose: true, .. } => Verbosity::Verbose,
            _ => Verbosity::Normal,
        });
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

impl Color {
    /// Finds `--color` in arguments that clap has not parsed, or not accepted.
    fn find(words: &[OsString]) -> Option<Self> {
        let mut words = words.iter().map_while(|word| word.to_str().filter(|word| *word != "--"));
        while let Some(word) = words.next() {
            let value = match word.strip_prefix("--color") {
                Some("") => words.next(),
                Some(value) => value.strip_prefix('='),
                None => None,
            };
            if let Some(color) = value.and_then(|value| clap::ValueEnum::from_str(value, false).ok()) {
                return Some(color);
            }
        }
        None
    }

    fn apply(self) {
        match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// Prints help, the version or a usage error, with the colors that the arguments ask for.
pub fn print(error: &clap::Error, words: &[OsString]) {
    if let Some(color) = Color::find(words) {
        color.apply();
    }
    // A closed standard output or error has no reader.
    let _ = error.print();
}

/// The command line of the program.
pub fn command() -> clap::Command {
    let command = crate::Arguments::command();
    let overview = overview(&command);
    command.help_template(overview).max_term_width(MAX_WIDTH)
}

fn overview(command: &clap::Command) -> String {
    let styles = Styles::styled();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let longest = GROUPS.iter().flat_map(|(_, names)| *names).map(|name| name.len()).max().unwrap_or_default();
    let column = longest + 4;
    let width = terminal::width().unwrap_or(MAX_WIDTH);
    let mut text = "{about}\n{usage-heading} {usage}".to_owned();
    for (group, names) in GROUPS {
        let _ = write!(text, "\n{header}{group}:{header:#}");
        for name in *names {
            let about = command.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let about = terminal::wrap(&about, column, column, width);
            let _ = write!(text, "\n  {literal}{name:<longest$}{literal:#}  {about}");
        }
    }
    let _ = write!(text, "\n\n{header}Options:{header:#}\n{{options}}{{after-help}}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first words of command help. A new one must be an imperative verb.
    const VERBS: &[&str] = &[
        "Add",
        "Allow",
        "Answer",
        "Approve",
        "Check",
        "Deny",
        "Find",
        "Fire",
        "List",
        "Measure",
        "Open",
        "Play",
        "Print",
        "Record",
        "Remove",
        "Review",
        "Revoke",
        "Run",
        "Show",
        "Start",
        "Stop",
        "Translate",
        "Verify",
        "Write",
    ];

    /// Calls `check` with the path and the command, for all commands below this one.
    fn each(command: &clap::Command, path: &str, check: &mut impl FnMut(&str, &clap::Command)) {
        for subcommand in command.get_subcommands() {
            let path = format!("{path} {}", subcommand.get_name());
            check(&path, subcommand);
            each(subcommand, &path, check);
        }
    }

    #[test]
    fn command_help_is_one_short_imperative_line() {
        let mut count = 0;
        each(&command(), "checkrein", &mut |path, command| {
            count += 1;
            let about = command.get_about().unwrap_or_else(|| panic!("{path} has no help")).to_string();
            assert!(about.chars().count() <= 60 && !about.contains('\n'), "{path}: {about}");
            assert!(!about.ends_with('.'), "{path}: {about}");
            let verb = about.split([' ', ',']).next().unwrap();
            assert!(VERBS.contains(&verb), "{path}: `{verb}` is not in VERBS: {about}");
        });
        assert!(count > 30, "{count}");
    }

    #[test]
    fn every_argument_has_help() {
        each(&command(), "checkrein", &mut |path, command| {
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{path} {}", argument.get_id());
            }
        });
    }

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<_> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        grouped.sort_unstable();
        let command = command();
        let mut all: Vec<_> = command.get_subcommands().map(clap::Command::get_name).collect();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn clap_accepts_the_definitions() {
        command().debug_assert();
    }

    #[test]
    fn color_is_found_in_unparsed_arguments() {
        let find = |words: &[&str]| Color::find(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(find(&["run", "--color", "never"]), Some(Color::Never));
        assert_eq!(find(&["--color=always", "--help"]), Some(Color::Always));
        assert_eq!(find(&["--colors=always", "--color", "blue"]), None);
        assert_eq!(find(&["run", "--", "--color", "never"]), None);
    }
}
