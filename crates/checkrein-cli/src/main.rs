//! The program `checkrein`, for people who write hooks, use several agents, or answer for what agents may do.

#![forbid(unsafe_code)]

mod commands;
mod exit;
mod interrupt;
mod starter;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use commands::hook::Arguments as Hook;

/// Lifecycle hooks for AI agents: fire them, see what they do, and why.
#[derive(Debug, Parser)]
#[command(name = "checkrein", version, arg_required_else_help = true, after_help = exit::HELP)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Simulate(commands::simulate::Arguments),
    Hook(commands::hook::Arguments),
    Init(commands::init::Arguments),
    Install(commands::install::Arguments),
    Uninstall(commands::install::uninstall::Arguments),
    Status(commands::status::Arguments),
    Run(commands::run::Arguments),
    Explain(commands::explain::Arguments),
    Bench(commands::bench::Arguments),
    List(commands::list::Arguments),
    Check(commands::check::Arguments),
    Test(commands::test::Arguments),
    Trust(commands::trust::Arguments),
    Record(commands::record::Arguments),
    Replay(commands::replay::Arguments),
    Audit(commands::audit::Arguments),
    Convert(commands::convert::Arguments),
    Events(commands::events::Arguments),
    Get(commands::get::Arguments),
    Say(commands::say::Arguments),
    Schema(commands::schema::Arguments),
    Completions(commands::completions::Arguments),
    Man(commands::man::Arguments),
}

fn main() -> ExitCode {
    // Hooks get no descriptors that the agent left open for this program.
    checkrein_process::close_descriptors_on_exec();
    // Before every tool call, so before anything else.
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    if let Some(arguments) =
        words.split_first().filter(|(first, _)| *first == "hook").and_then(|(_, rest)| Hook::parse_fast(rest))
    {
        return ended(commands::hook::run(&arguments));
    }
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if error.use_stderr() && words.first().is_some_and(|first| first == "hook") => {
            return ended(commands::hook::wrong_call(&words[1..], &error));
        }
        Err(error) => {
            // Standard output or error, whichever is meant; when it is closed there is nobody left to tell.
            let _ = error.print();
            return if error.use_stderr() { exit::USAGE } else { exit::SUCCESS }.into();
        }
    };
    let done = match arguments.command {
        Command::Simulate(arguments) => commands::simulate::run(&arguments),
        Command::Hook(arguments) => commands::hook::run(&arguments),
        Command::Init(arguments) => commands::init::run(&arguments),
        Command::Install(arguments) => commands::install::run(&arguments),
        Command::Uninstall(arguments) => commands::install::uninstall::run(&arguments),
        Command::Status(arguments) => commands::status::run(&arguments),
        Command::Run(arguments) => commands::run::run(&arguments),
        Command::Explain(arguments) => commands::explain::run(&arguments),
        Command::Bench(arguments) => commands::bench::run(&arguments),
        Command::List(arguments) => commands::list::run(&arguments),
        Command::Check(arguments) => commands::check::run(&arguments),
        Command::Test(arguments) => commands::test::run(&arguments),
        Command::Trust(arguments) => commands::trust::run(&arguments),
        Command::Record(arguments) => commands::record::run(&arguments),
        Command::Replay(arguments) => commands::replay::run(&arguments),
        Command::Audit(arguments) => commands::audit::run(&arguments),
        Command::Convert(arguments) => commands::convert::run(&arguments),
        Command::Events(arguments) => commands::events::run(&arguments),
        Command::Get(arguments) => commands::get::run(&arguments),
        Command::Say(arguments) => commands::say::run(&arguments),
        Command::Schema(arguments) => commands::schema::run(&arguments),
        Command::Completions(arguments) => commands::completions::run(&arguments),
        Command::Man(arguments) => commands::man::run(&arguments),
    };
    ended(done)
}

fn ended(done: anyhow::Result<exit::Exit>) -> ExitCode {
    match done {
        Ok(code) => code.into(),
        Err(error) if commands::is_closed_pipe(&error) => {
            error.downcast_ref().map_or(exit::SUCCESS, |commands::BrokenPipe(exit)| *exit).into()
        }
        Err(error) => {
            let _ = commands::print_error(&error);
            exit::of_error(&error).into()
        }
    }
}
