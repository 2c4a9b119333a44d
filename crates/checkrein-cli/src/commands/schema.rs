//! `checkrein schema`: JSON schemas, for editors and tools.

use std::io::Write;

use anyhow::Result;
use checkrein::schema;

use crate::exit::{self, Exit};

/// Prints a JSON schema: of config files, of what hooks are given, of what they answer, of records.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  checkrein schema config > .checkrein/schema.json")]
pub struct Arguments {
    /// Of what
    #[arg(value_enum)]
    what: What,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum What {
    /// Config files
    Config,
    /// What hooks are given
    Event,
    /// What hooks answer
    Answer,
    /// What `run --json` prints
    Record,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let schema = match arguments.what {
        What::Config => schema::config(),
        What::Event => schema::event(),
        What::Answer => schema::answer(),
        What::Record => schema::record(),
    };
    writeln!(std::io::stdout(), "{schema:#}")?;
    Ok(exit::FINE)
}
