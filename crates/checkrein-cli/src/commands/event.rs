//! Arguments that define an event, for `run`, `explain` and `bench`.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use checkrein::dialects::Dialect;
use checkrein::{Event, RawJson};
use checkrein_tools::EventBuilder;

use crate::exit::UsageErrorExt;

/// An event and its data. Missing data is filled with sample data.
#[derive(Debug, Clone, clap::Args)]
pub struct EventArguments {
    /// Event, by the agent's name or checkrein's
    pub event: String,
    #[command(flatten)]
    pub about: About,
}

/// Data of an event.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct About {
    /// Tool of the event
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// Tool input: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON|@FILE|-")]
    pub input: Option<String>,
    /// Payload in the agent's format: a file, or - for standard input
    #[arg(long, value_name = "FILE|-")]
    pub payload: Option<PathBuf>,
    /// Set a field of the payload; a value that is not JSON is text
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
}

impl EventArguments {
    /// The event, as an agent of this dialect in this directory sends it.
    pub fn event(&self, dialect: &'static Dialect, dir: &Path) -> Result<Event> {
        self.about.event(&self.event, dialect, dir)
    }
}

impl About {
    /// The event of this name, as an agent of this dialect in this directory sends it.
    pub fn event(&self, name: &str, dialect: &'static Dialect, dir: &Path) -> Result<Event> {
        self.build(name, dialect, dir).usage_error()
    }

    fn build(&self, name: &str, dialect: &'static Dialect, dir: &Path) -> Result<Event> {
        let mut builder = EventBuilder::new(name);
        if let Some(tool) = &self.tool {
            builder = builder.tool(tool);
        }
        if let Some(path) = &self.payload {
            builder = builder.payload(read_payload(path)?);
        }
        for assignment in &self.set {
            let (path, value) = assignment
                .split_once('=')
                .with_context(|| format!("`--set {assignment}` has no `=`; write PATH=VALUE"))?;
            builder = builder.set(path, RawJson::parse(value).unwrap_or_else(|_| RawJson::string(value)));
        }
        if let Some(input) = &self.input {
            builder = builder.input(
                RawJson::parse(read_text(input)?)
                    .context("--input must be JSON, for example '{\"command\": \"git push\"}'")?,
            );
        }
        Ok(builder.event(dialect, dir)?)
    }

    /// Returns `true` if no argument was given.
    pub fn is_empty(&self) -> bool {
        let Self { tool, input, payload, set } = self;
        tool.is_none() && input.is_none() && payload.is_none() && set.is_empty()
    }
}

fn read_payload(path: &Path) -> Result<RawJson> {
    let text = if path.as_os_str() == "-" { read_stdin()? } else { super::read_text(path)? };
    let json = RawJson::parse(text).with_context(|| format!("the payload in {} is not JSON", path.display()))?;
    // Captures of real agents contain the payload in `stdin`.
    match json.field("stdin") {
        Some(inner) if json.field("agent").is_some() && inner.entries().is_some() => Ok(inner),
        _ => Ok(json),
    }
}

/// The argument itself, the text of the file after `@`, or standard input for `-`.
fn read_text(argument: &str) -> Result<String> {
    match argument.strip_prefix('@') {
        Some(path) => super::read_text(Path::new(path)),
        None if argument == "-" => read_stdin(),
        None => Ok(argument.to_owned()),
    }
}

fn read_stdin() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
    Ok(text)
}
