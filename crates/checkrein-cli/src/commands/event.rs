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
    /// Event, by the agent's name or checkrein's; can be omitted if --payload names it
    #[arg(required_unless_present = "payload")]
    pub event: Option<String>,
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
    /// Shell command of the tool input: short for --input '{"command": ...}'
    #[arg(long, value_name = "TEXT", conflicts_with = "input")]
    pub command: Option<String>,
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
        self.about.build(self.event.as_deref(), dialect, dir).usage_error()
    }
}

impl About {
    /// The event of this name, as an agent of this dialect in this directory sends it.
    pub fn event(&self, name: &str, dialect: &'static Dialect, dir: &Path) -> Result<Event> {
        self.build(Some(name), dialect, dir).usage_error()
    }

    /// Without a name, the payload names the event.
    fn build(&self, name: Option<&str>, dialect: &'static Dialect, dir: &Path) -> Result<Event> {
        let payload = self.payload.as_deref().map(read_payload).transpose()?;
        let name = match (name, &payload) {
            (Some(name), _) => name.to_owned(),
            (None, Some(payload)) => dialect
                .event_name(payload)
                .context("the payload does not name its event; add the event: checkrein run EVENT --payload FILE")?,
            (None, None) => anyhow::bail!("name an event, or pass --payload"),
        };
        let mut builder = EventBuilder::new(name);
        if let Some(tool) = &self.tool {
            builder = builder.tool(tool);
        }
        if let Some(payload) = payload {
            builder = builder.payload(payload);
        }
        for assignment in &self.set {
            let (path, value) = assignment
                .split_once('=')
                .with_context(|| format!("`--set {assignment}` has no `=`; write PATH=VALUE"))?;
            builder = builder.set(path, RawJson::parse(value).unwrap_or_else(|_| RawJson::string(value)));
        }
        if let Some(input) = &self.input {
            builder = builder.input(RawJson::parse(read_text(input)?).context(NOT_JSON)?);
        }
        if let Some(command) = &self.command {
            builder = builder.input(RawJson::parse(format!("{{\"command\":{}}}", RawJson::string(command)))?);
        }
        Ok(builder.event(dialect, dir)?)
    }

    /// Returns `true` if no argument was given.
    pub fn is_empty(&self) -> bool {
        let Self { tool, input, command, payload, set } = self;
        tool.is_none() && input.is_none() && command.is_none() && payload.is_none() && set.is_empty()
    }

    /// `true` if the arguments contain no tool input, so that the event has sample data.
    pub fn has_sample_input(&self) -> bool {
        let sets_input = |assignment: &String| {
            let (path, _) = assignment.split_once('=').unwrap_or((assignment, ""));
            path.to_ascii_lowercase().contains("input")
        };
        self.input.is_none() && self.command.is_none() && self.payload.is_none() && !self.set.iter().any(sets_input)
    }
}

/// Message for `--input` without JSON.
const NOT_JSON: &str = "`--input` must be JSON, e.g. '{\"command\": \"git push\"}' (or use --command 'git push')";

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
