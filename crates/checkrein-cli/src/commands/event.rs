//! Which event a command is about: arguments that several commands share.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use checkrein::dialects::Dialect;
use checkrein::{Event, RawJson};
use checkrein_tools::EventBuilder;

use crate::exit::UsageErrorExt;

/// An event, with what a caller says of it; all else is made up.
#[derive(Debug, Clone, clap::Args)]
pub struct EventArguments {
    /// The event, in the dialect's spelling or checkrein's
    pub event: String,
    #[command(flatten)]
    pub about: About,
}

/// What a caller says of an event.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct About {
    /// The tool that it is about
    #[arg(long, value_name = "NAME")]
    pub tool: Option<String>,
    /// What the tool is called with: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON|@FILE|-")]
    pub input: Option<String>,
    /// The payload as the agent sends it: a file, or - for standard input; what it lacks is made up
    #[arg(long, value_name = "FILE|-")]
    pub payload: Option<PathBuf>,
    /// Sets a field of the payload; a value that is no JSON is text
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
}

impl EventArguments {
    /// The event, as an agent of this dialect in this directory would fire it.
    pub fn event(&self, dialect: &'static Dialect, dir: &Path) -> Result<Event> {
        self.about.event(&self.event, dialect, dir)
    }
}

impl About {
    /// The event of this name, as an agent of this dialect in this directory would fire it.
    pub fn event(&self, name: &str, dialect: &'static Dialect, dir: &Path) -> Result<Event> {
        self.drafted(name, dialect, dir).usage_error()
    }

    fn drafted(&self, name: &str, dialect: &'static Dialect, dir: &Path) -> Result<Event> {
        let mut draft = EventBuilder::new(name);
        if let Some(tool) = &self.tool {
            draft = draft.tool(tool);
        }
        if let Some(path) = &self.payload {
            draft = draft.payload(given(path)?);
        }
        for assignment in &self.set {
            let (path, value) = assignment.split_once('=').with_context(|| format!("`{assignment}` has no `=`"))?;
            draft = draft.set(path, RawJson::parse(value).unwrap_or_else(|_| RawJson::string(value)));
        }
        if let Some(input) = &self.input {
            draft = draft.input(RawJson::parse(text(input)?).context("--input is no JSON")?);
        }
        Ok(draft.event(dialect, dir)?)
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        let Self { tool, input, payload, set } = self;
        tool.is_none() && input.is_none() && payload.is_none() && set.is_empty()
    }
}

fn given(path: &Path) -> Result<RawJson> {
    let text = if path.as_os_str() == "-" {
        stdin()?
    } else {
        std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?
    };
    let json = RawJson::parse(text).with_context(|| format!("{} is no JSON", path.display()))?;
    // A capture has the payload inside.
    let captured = json.field("stdin").filter(|inner| json.field("agent").is_some() && inner.entries().is_some());
    Ok(captured.unwrap_or(json))
}

/// The text itself, that of a file, or standard input.
fn text(argument: &str) -> Result<String> {
    match argument.strip_prefix('@') {
        Some(path) => std::fs::read_to_string(path).with_context(|| format!("cannot read {path}")),
        None if argument == "-" => stdin(),
        None => Ok(argument.to_owned()),
    }
}

fn stdin() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read standard input")?;
    Ok(text)
}
