//! `checkrein man`: manual pages.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::exit::{self, Exit};

/// Prints the manual page, or writes one for each command into a directory.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  checkrein man | man -l -\n  checkrein man --dir ~/.local/share/man/man1")]
pub struct Arguments {
    /// Writes a page for each command here
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let command = crate::Arguments::command();
    match &arguments.dir {
        Some(dir) => {
            std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
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
