//! `checkrein get`: prints a field of the payload, for hooks that are shell scripts.

use std::io::{Read, Write};

use anyhow::{Context, Result};
use checkrein::RawJson;

use crate::exit::{self, Exit};

/// Print a field of the event on standard input
///
/// Strings are printed as text, other values as JSON. Dots select fields of objects, and numbers select items of arrays. A
/// field that is missing or null prints nothing.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   the field was printed
  1   the field is missing or null, or the input is not JSON
  64  usage error

Example:
  command=$(checkrein get tool_input.command)
  checkrein get tool_input.edits.0.path --default none")]
pub struct Arguments {
    /// Path of the field, for example `tool_input.command`
    path: String,
    /// Text to print if the field is missing or null
    #[arg(long, value_name = "TEXT")]
    default: Option<String>,
    /// Print strings as JSON too
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
    let payload = RawJson::parse(text).context("standard input must be the event as JSON")?;
    let mut out = std::io::stdout().lock();
    match field(&payload, &arguments.path).filter(|value| value.as_str() != "null") {
        Some(value) => match value.as_text() {
            Some(text) if !arguments.json => writeln!(out, "{text}")?,
            _ => writeln!(out, "{}", value.as_str().trim())?,
        },
        None => match &arguments.default {
            Some(default) => writeln!(out, "{default}")?,
            None => return Ok(exit::FAILURE),
        },
    }
    Ok(exit::SUCCESS)
}

fn field(json: &RawJson, path: &str) -> Option<RawJson> {
    path.split('.').filter(|part| !part.is_empty()).try_fold(json.clone(), |json, part| {
        if let Some(value) = json.field(part) {
            return Some(value);
        }
        let item = json.items()?.nth(part.parse().ok()?)?;
        RawJson::parse(item).ok()
    })
}
