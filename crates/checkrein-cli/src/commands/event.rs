//! Which event a command is about: arguments that several commands share.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use checkrein::dialects::Dialect;
use checkrein::{Event, RawJson, Target, catalogue};

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
    pub fn event(&self, dialect: &Dialect, dir: &Path) -> Result<Event> {
        self.about.event(&self.event, dialect, dir)
    }
}

impl About {
    /// The event of this name, as an agent of this dialect in this directory would fire it.
    pub fn event(&self, name: &str, dialect: &Dialect, dir: &Path) -> Result<Event> {
        let kind = dialect.kind_named(name)?;
        let mut sample = catalogue::event_of(dialect, &kind, self.tool.as_deref());
        if self.tool.is_some() && sample.tool_name().is_none() {
            bail!("`{name}` is not about a tool");
        }
        sample.envelope.cwd = Some(dir.to_string_lossy().into_owned());
        let event =
            if self.payload.is_none() && self.set.is_empty() { sample } else { self.filled(name, dialect, &sample)? };
        match &self.input {
            None => Ok(event),
            Some(input) => {
                let input = RawJson::parse(text(input)?).context("--input is no JSON")?;
                event.rewritten(Target::Input, &input).with_context(|| format!("`{name}` has no tool input"))
            }
        }
    }
}

impl About {
    /// The payload of this event with what the caller says in place of what is made up, read again.
    fn filled(&self, name: &str, dialect: &Dialect, sample: &Event) -> Result<Event> {
        let bytes: Vec<u8> = dialect.payload(sample, None).iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
        let mut payload = RawJson::parse_bytes(&bytes)?;
        if let Some(path) = &self.payload {
            payload = over(&payload, &given(path)?)?;
        }
        for assignment in &self.set {
            let (path, value) = assignment.split_once('=').with_context(|| format!("`{assignment}` has no `=`"))?;
            payload = set(&payload, path, value)?;
        }
        Ok(dialect.event(&payload, Some(name))?)
    }

    /// Whether nothing is said.
    pub fn is_empty(&self) -> bool {
        let Self { tool, input, payload, set } = self;
        tool.is_none() && input.is_none() && payload.is_none() && set.is_empty()
    }
}

/// Fields of one object over those of another.
fn over(under: &RawJson, upper: &RawJson) -> Result<RawJson> {
    let upper_entries: Vec<_> = upper.entries().context("the payload is no JSON object")?.collect();
    let has = |key: &str| upper_entries.iter().any(|entry| entry.key() == key);
    let kept = under.entries().into_iter().flatten().filter(|entry| !has(&entry.key()));
    let all: Vec<_> = kept
        .chain(upper_entries.iter().cloned())
        .map(|entry| format!("{}:{}", RawJson::string(&entry.key()), entry.value()))
        .collect();
    Ok(RawJson::parse(format!("{{{}}}", all.join(",")))?)
}

fn set(payload: &RawJson, path: &str, value: &str) -> Result<RawJson> {
    let value = RawJson::parse(value).unwrap_or_else(|_| RawJson::string(value));
    let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
    let value = match rest {
        None => value,
        Some(rest) => {
            let inner = payload.field(key).filter(|inner| inner.entries().is_some());
            set(&inner.map_or_else(|| RawJson::parse("{}"), Ok)?, rest, value.as_str())?
        }
    };
    over(payload, &RawJson::parse(format!("{{{}:{value}}}", RawJson::string(key)))?)
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
