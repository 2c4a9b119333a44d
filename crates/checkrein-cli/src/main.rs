//! The program `checkrein`: agents call it before their tools run, and people use it to write, test and audit hooks.
//!
//! This file parses the command line and calls the command. `checkrein hook` runs before every tool call of an agent, so it
//! must not wait for clap.

#![forbid(unsafe_code)]

mod commands;
mod exit;
mod help;
mod interrupt;
mod starter;

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;

use clap::{FromArgMatches, Parser, Subcommand};
use commands::hook::Arguments as Hook;

#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// Guard AI agents with hooks: run, test, approve and audit them
#[derive(Debug, Parser)]
#[command(name = "checkrein", version, arg_required_else_help = true, after_help = exit::HELP)]
struct Arguments {
    #[command(flatten)]
    global: help::GlobalArguments,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(commands::init::Arguments),
    Install(commands::install::Arguments),
    Uninstall(commands::install::uninstall::Arguments),
    Doctor(commands::doctor::Arguments),
    Status(commands::status::Arguments),
    Try(commands::try_call::Arguments),
    Run(commands::run::Arguments),
    Explain(commands::explain::Arguments),
    Check(commands::check::Arguments),
    List(commands::list::Arguments),
    Test(commands::test::Arguments),
    Trust(commands::trust::Arguments),
    Approvals(commands::approvals::Arguments),
    Approve(commands::approvals::answer::ApproveArguments),
    Deny(commands::approvals::answer::DenyArguments),
    Live(commands::live::Arguments),
    Serve(commands::serve::Arguments),
    Coverage(commands::coverage::Arguments),
    Log(commands::log::Arguments),
    Audit(commands::audit::Arguments),
    Facts(commands::facts::Arguments),
    Simulate(commands::simulate::Arguments),
    Record(commands::record::Arguments),
    Replay(commands::replay::Arguments),
    Convert(commands::convert::Arguments),
    Bench(commands::bench::Arguments),
    Events(commands::events::Arguments),
    Packs(commands::packs::Arguments),
    Hook(commands::hook::Arguments),
    Get(commands::get::Arguments),
    Say(commands::say::Arguments),
    Schema(commands::schema::Arguments),
    Completions(commands::completions::Arguments),
    Man(commands::man::Arguments),
}

fn main() -> ExitCode {
    // Hooks must not inherit descriptors that the agent left open for this program.
    checkrein_process::close_descriptors_on_exec();
    // A limit of the agent for file sizes must not end this program in the middle of a decision.
    checkrein_process::survive_file_size_limit();
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    if let [command, rest @ ..] = &words[..]
        && command == "hook"
        && let Some(arguments) = Hook::parse_fast(rest)
    {
        return exit_code(commands::hook::run(&arguments));
    }
    let parsed = help::command().try_get_matches().and_then(|matches| Arguments::from_arg_matches(&matches));
    let arguments = match (parsed, command_words(&words)) {
        (Ok(arguments), _) => arguments,
        (Err(error), Some((command, words))) if error.use_stderr() && command == "hook" => {
            return exit_code(commands::hook::report_usage_error(words, &error));
        }
        (Err(error), Some((command, _))) if error.use_stderr() && is_nearly_hook(command) => {
            return exit_code(commands::hook::report_misspelt_command(command));
        }
        (Err(error), called) => {
            help::print(&error, &words);
            if error.kind() == clap::error::ErrorKind::UnknownArgument && called.is_some_and(is_unquoted) {
                commands::print_note("put the whole command in quotes, such as `checkrein try 'git push -f'`");
            }
            return if error.use_stderr() { exit::USAGE } else { exit::SUCCESS }.into();
        }
    };
    arguments.global.apply();
    let result = match arguments.command {
        Command::Simulate(arguments) => commands::simulate::run(&arguments),
        Command::Hook(arguments) => commands::hook::run(&arguments),
        Command::Init(arguments) => commands::init::run(&arguments),
        Command::Install(arguments) => commands::install::run(&arguments),
        Command::Uninstall(arguments) => commands::install::uninstall::run(&arguments),
        Command::Doctor(arguments) => commands::doctor::run(&arguments),
        Command::Status(arguments) => commands::status::run(&arguments),
        Command::Try(arguments) => commands::try_call::run(&arguments),
        Command::Facts(arguments) => commands::facts::run(&arguments),
        Command::Run(arguments) => commands::run::run(&arguments),
        Command::Explain(arguments) => commands::explain::run(&arguments),
        Command::Bench(arguments) => commands::bench::run(&arguments),
        Command::List(arguments) => commands::list::run(&arguments),
        Command::Check(arguments) => commands::check::run(&arguments),
        Command::Test(arguments) => commands::test::run(&arguments),
        Command::Trust(arguments) => commands::trust::run(&arguments),
        Command::Approvals(arguments) => commands::approvals::run(&arguments),
        Command::Approve(arguments) => commands::approvals::answer::approve(&arguments),
        Command::Deny(arguments) => commands::approvals::answer::deny(&arguments),
        Command::Record(arguments) => commands::record::run(&arguments),
        Command::Replay(arguments) => commands::replay::run(&arguments),
        Command::Live(arguments) => commands::live::run(&arguments),
        Command::Serve(arguments) => commands::serve::run(&arguments),
        Command::Coverage(arguments) => commands::coverage::run(&arguments),
        Command::Log(arguments) => commands::log::run(&arguments),
        Command::Audit(arguments) => commands::audit::run(&arguments),
        Command::Convert(arguments) => commands::convert::run(&arguments),
        Command::Events(arguments) => commands::events::run(&arguments),
        Command::Packs(arguments) => commands::packs::run(&arguments),
        Command::Get(arguments) => commands::get::run(&arguments),
        Command::Say(arguments) => commands::say::run(&arguments),
        Command::Schema(arguments) => commands::schema::run(&arguments),
        Command::Completions(arguments) => commands::completions::run(&arguments),
        Command::Man(arguments) => commands::man::run(&arguments),
    };
    exit_code(result)
}

/// Returns the command and the words after it. A misspelling of `hook` may look like an option.
fn command_words(mut words: &[OsString]) -> Option<(&OsString, &[OsString])> {
    loop {
        words = match words {
            [option, _, rest @ ..] if option == "--color" => rest,
            [option, rest @ ..] if option.to_string_lossy().starts_with('-') && !is_nearly_hook(option) => rest,
            [command, rest @ ..] => return Some((command, rest)),
            [] => return None,
        };
    }
}

/// `true` if the words are a command line for `try` or `facts` that is not quoted.
fn is_unquoted((command, rest): (&OsString, &[OsString])) -> bool {
    let is_word = |word: &OsString| !word.to_string_lossy().starts_with('-');
    (command == "try" || command == "facts") && rest.len() > 1 && rest.first().is_some_and(is_word)
}

/// `true` if a word is a misspelling of `hook`, and the caller may be an agent, which sends its payload to standard input.
fn is_nearly_hook(word: &OsString) -> bool {
    let word = word.to_string_lossy();
    let first = word.split_whitespace().next().unwrap_or_default();
    checkrein::core::closest_match(first, ["hook"]).is_some() && !io::stdin().is_terminal()
}

fn exit_code(result: anyhow::Result<exit::Exit>) -> ExitCode {
    match result {
        Ok(code) => code.into(),
        Err(error) if commands::is_closed_pipe(&error) => {
            error.downcast_ref().map_or(exit::SUCCESS, |commands::BrokenPipe(exit)| *exit).into()
        }
        Err(error) => {
            let _ = commands::print_error(&error);
            exit::for_error(&error).into()
        }
    }
}
