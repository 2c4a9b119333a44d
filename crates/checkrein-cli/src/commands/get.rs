//! `checkrein get`: a field of the payload, for hooks that are shell scripts.

use std::io::{Read, Write};

use anyhow::{Context, Result};
use checkrein::RawJson;

use crate::exit::{self, Exit};

/// Prints a field of the JSON on standard input: strings as they are, all else as JSON.
///
/// Dots lead into objects, numbers into arrays. A field that is not there, or is null, prints nothing and ends with 1.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes:\n  0  printed    1  there is no such field\n\nExample:\n  command=$(checkrein get tool_input.command)\n  checkrein get tool_input.edits.0.path --default none"
)]
pub struct Arguments {
    /// The field: `tool_input.command`
    path: String,
    /// Prints this instead of nothing if there is no such field
    #[arg(long, value_name = "TEXT")]
    default: Option<String>,
    /// Prints strings as JSON too
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
    let payload = RawJson::parse(text).context("standard input is no JSON")?;
    let mut out = std::io::stdout().lock();
    match field(&payload, &arguments.path).filter(|value| value.as_str() != "null") {
        Some(value) => match value.as_text().filter(|_| !arguments.json) {
            Some(text) => writeln!(out, "{text}")?,
            None => writeln!(out, "{}", value.as_str().trim())?,
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
