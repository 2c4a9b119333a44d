//! `checkrein completions`: prints completion scripts for shells.

use anyhow::Result;
use clap::CommandFactory;

use crate::exit::{self, Exit};

/// Print a completion script for your shell
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   success
  64  usage error

Example:
  checkrein completions bash > ~/.local/share/bash-completion/completions/checkrein")]
pub struct Arguments {
    /// The shell
    shell: clap_complete::Shell,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut crate::Arguments::command(), "checkrein", &mut text);
    std::io::Write::write_all(&mut std::io::stdout(), &text)?;
    Ok(exit::SUCCESS)
}
