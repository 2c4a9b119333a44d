//! `checkrein schema`: prints JSON schemas for editors and tools.

use std::io::Write;

use anyhow::{Context, Result};
use checkrein_tools::schema;
use clap::builder::{PossibleValue, PossibleValuesParser};

use super::dialect::DialectName;
use crate::exit::{self, Exit};

/// Print a JSON schema of config files, payloads or output
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   success
  64  usage error

Example:
  checkrein schema config > .checkrein/schema.json
  checkrein schema payload --as claude")]
pub struct Arguments {
    /// Name of the schema
    #[arg(value_parser = names(), value_name = "NAME")]
    what: String,
    /// Agent whose payloads `payload` describes
    #[arg(long = "as", value_name = "AGENT", default_value = "native")]
    dialect: DialectName,
}

/// The schema that differs from agent to agent.
const PAYLOAD: &str = "payload";

fn names() -> PossibleValuesParser {
    let all = schema::ALL.iter().map(|schema| (schema.name, schema.about));
    let all = all.chain([(PAYLOAD, "payload of an agent's hooks, with --as")]);
    PossibleValuesParser::new(all.map(|(name, about)| PossibleValue::new(name).help(about)))
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let what = &arguments.what;
    let schema = match what.as_str() {
        PAYLOAD => schema::payload(arguments.dialect.0),
        name => (schema::find(name).with_context(|| format!("unknown schema `{what}`"))?.make)(),
    };
    writeln!(std::io::stdout(), "{schema:#}")?;
    Ok(exit::SUCCESS)
}
