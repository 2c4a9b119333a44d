//! `checkrein schema`: JSON schemas, for editors and tools.

use std::io::Write;

use anyhow::{Context, Result};
use checkrein_tools::schema;
use clap::builder::{PossibleValue, PossibleValuesParser};

use super::dialect::DialectName;
use crate::exit::{self, Exit};

/// Prints a JSON schema: of config files, of what hooks are given, of what they answer, of what commands print with --json.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  checkrein schema config > .checkrein/schema.json\n  checkrein schema payload --as claude"
)]
pub struct Arguments {
    /// Of what
    #[arg(value_parser = names())]
    what: String,
    /// Whose payload
    #[arg(long = "as", value_name = "DIALECT", default_value = "native")]
    dialect: DialectName,
}

/// What needs a dialect.
const PAYLOAD: &str = "payload";

fn names() -> PossibleValuesParser {
    let all = schema::ALL.iter().map(|schema| (schema.name, schema.about));
    let all = all.chain([(PAYLOAD, "what hooks of a dialect are given, with --as")]);
    PossibleValuesParser::new(all.map(|(name, about)| PossibleValue::new(name).help(about)))
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let what = &arguments.what;
    let schema = match what.as_str() {
        PAYLOAD => schema::payload(arguments.dialect.0),
        name => (schema::find(name).with_context(|| format!("there is no schema of `{what}`"))?.make)(),
    };
    writeln!(std::io::stdout(), "{schema:#}")?;
    Ok(exit::SUCCESS)
}
