//! `checkrein schema`: JSON schemas, for editors and tools.

use std::io::Write;

use anyhow::{Context, Result};
use checkrein::schema;
use clap::builder::{PossibleValue, PossibleValuesParser};

use crate::exit::{self, Exit};

/// Prints a JSON schema: of config files, of what hooks are given, of what they answer, of what commands print with --json.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  checkrein schema config > .checkrein/schema.json")]
pub struct Arguments {
    /// Of what
    #[arg(value_parser = names())]
    what: String,
}

fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(schema::ALL.iter().map(|schema| PossibleValue::new(schema.name).help(schema.about)))
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let what = &arguments.what;
    let schema = schema::find(what).with_context(|| format!("there is no schema of `{what}`"))?;
    writeln!(std::io::stdout(), "{:#}", (schema.make)())?;
    Ok(exit::FINE)
}
