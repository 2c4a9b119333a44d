//! `checkrein record`: keeps what passes through `checkrein hook`.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use checkrein_tools::recording::{Recording, RecordingControl, Status};

use super::pluralize;
use crate::exit::{self, Exit};

/// Keeps every event that passes through `checkrein hook`, with what came of it, to fire it again with `checkrein replay`.
///
/// A recording is a file with one line of JSON per event, which only you can read. Keys, tokens and passwords are replaced by
/// notes before anything is written, as far as they can be told from other text.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  checkrein record start\n  checkrein record status\n  checkrein record stop\n  checkrein record start --output week.jsonl"
)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
    /// Prints JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Records from now on, whatever agent calls
    Start {
        /// Appends to this file; otherwise to a new one in $XDG_STATE_HOME/checkrein/recordings
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Writes keys, tokens and passwords as they are
        #[arg(long)]
        no_redact: bool,
    },
    /// Records no longer
    Stop,
    /// Shows whether events are recorded, and where to
    Status,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let switch = RecordingControl::of_user().context("you have no home directory; set HOME or XDG_STATE_HOME")?;
    let (on, recording) = match &arguments.action {
        Action::Start { output, no_redact } => {
            let file = output.clone().unwrap_or_else(|| switch.usual_file());
            (true, Some(switch.start(&file, !no_redact)?))
        }
        Action::Stop => (false, switch.stop()?),
        Action::Status => {
            let recording = switch.current()?;
            (recording.is_some(), recording)
        }
    };
    let status = Status::new(on, recording.as_ref());
    let mut out = anstream::stdout().lock();
    if arguments.json {
        serde_json::to_writer_pretty(&mut out, &status).map_err(std::io::Error::from)?;
        writeln!(out)?;
        return Ok(exit::SUCCESS);
    }
    writeln!(out, "{}", told(on, recording.as_ref(), &status))?;
    Ok(exit::SUCCESS)
}

fn told(on: bool, recording: Option<&Recording>, status: &Status) -> String {
    let Some(recording) = recording else { return "recording is off".to_owned() };
    let file = recording.file.display();
    let size =
        status.bytes.map(|bytes| format!(" ({})", pluralize(usize::try_from(bytes).unwrap_or(usize::MAX), "byte")));
    let size = size.unwrap_or_default();
    if !on {
        return format!("recording is off; what was recorded is in {file}{size}");
    }
    let secrets = if recording.redact { "without secrets" } else { "with secrets as they are" };
    format!("recording is on since {}, {secrets}, to {file}{size}", recording.since)
}
