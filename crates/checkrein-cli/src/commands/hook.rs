//! `checkrein hook`: what agents call.

use std::io::{Read, Write};
use std::path::PathBuf;

use anyhow::{Result, bail};
use checkrein::dialects::native;
use checkrein::front::{Front, Fronted};
use checkrein::{Effect, Sources};

use crate::exit::Exit;

/// Answers an agent: reads the event that it sends on standard input, runs your hooks, and says the verdict in its words.
///
/// This is what `checkrein install` puts into an agent's settings.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  echo '{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}}' | checkrein hook claude"
)]
pub struct Arguments {
    /// The agent that calls
    agent: String,
    /// The event, where the agent's payload does not name it
    #[arg(long, value_name = "NAME")]
    event: Option<String>,
    /// Takes the hooks of this file instead of what would be found; may be given several times
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// Lets things happen if checkrein itself fails
    #[arg(long)]
    fail_open: bool,
}

impl Arguments {
    /// Reads the words that agents are told to call, without all that is needed to read any others: it runs before every
    /// tool. `None`: something else is wanted, such as help.
    pub fn quickly(words: &[std::ffi::OsString]) -> Option<Self> {
        let mut words = words.iter();
        let agent = words.next()?.to_str().filter(|agent| !agent.starts_with('-'))?.to_owned();
        let mut arguments = Self { agent, event: None, config: Vec::new(), fail_open: false };
        while let Some(word) = words.next() {
            match word.to_str()? {
                "--event" => arguments.event = Some(words.next()?.to_str()?.to_owned()),
                "--config" => arguments.config.push(words.next()?.into()),
                "--fail-open" => arguments.fail_open = true,
                _ => return None,
            }
        }
        Some(arguments)
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let Some(agent) = checkrein::dialects::find(&arguments.agent) else {
        bail!("there is no agent `{}`", arguments.agent);
    };
    let mut front = Front::of(agent);
    if let Some(event) = &arguments.event {
        front = front.event(event);
    }
    if !arguments.config.is_empty() {
        front = front.sources(Sources::of_files(&native::DIALECT, &arguments.config));
    }
    if arguments.fail_open {
        front = front.on_failure(Effect::Open);
    }
    let mut payload = Vec::new();
    std::io::stdin().lock().read_to_end(&mut payload)?;
    say(&front.answer(&payload))
}

fn say(fronted: &Fronted) -> Result<Exit> {
    let Fronted { answer, notes, .. } = fronted;
    if !answer.stdout.is_empty() {
        let mut out = std::io::stdout().lock();
        out.write_all(answer.stdout.as_bytes())?;
        out.write_all(b"\n")?;
        out.flush()?;
    }
    let mut told = std::io::stderr().lock();
    if !answer.stderr.is_empty() {
        told.write_all(answer.stderr.as_bytes())?;
    }
    for note in notes {
        writeln!(told, "checkrein: {note}")?;
    }
    Ok(Exit::of(u8::try_from(answer.exit).unwrap_or(2)))
}
