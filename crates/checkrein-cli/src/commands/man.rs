//! `checkrein man`: prints or writes manual pages.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::exit::{self, Exit};

/// Print the manual page, or write one per command
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   success
  1   a page cannot be written
  64  usage error

Example:
  checkrein man | man -l -
  checkrein man --dir ~/.local/share/man/man1")]
pub struct Arguments {
    /// Write one page per command to this directory
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let command = crate::Arguments::command();
    match &arguments.dir {
        Some(dir) => {
            std::fs::create_dir_all(dir).with_context(|| format!("cannot create the directory {}", dir.display()))?;
            clap_mangen::generate_to(command, dir).with_context(|| format!("cannot write to {}", dir.display()))?;
        }
        None => std::io::stdout().write_all(&page(command)?)?,
    }
    Ok(exit::SUCCESS)
}

fn page(command: clap::Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(page)
}
