//! `checkrein record`: switches the recording of events by `checkrein hook` on and off.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result};
use checkrein_tools::recording::{Recording, RecordingControl, Status};

use super::{display_path, pluralize};
use crate::exit::{self, Exit};

/// Record the events that agents send to checkrein
///
/// A recording is a file with one line of JSON per event: the event and its verdict. Only you can read it. Keys, tokens and
/// passwords that checkrein recognizes are redacted before anything is written. `checkrein replay` fires the events again.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   success
  1   the recording cannot be started or stopped
  64  usage error

Example:
  checkrein record start
  checkrein record status
  checkrein record stop
  checkrein record start --output week.jsonl")]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Start to record the events of all agents
    Start {
        /// Append to this file; default: a new file in $XDG_STATE_HOME/checkrein/recordings
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
        /// Keep keys, tokens and passwords
        #[arg(long)]
        no_redact: bool,
    },
    /// Stop recording
    Stop,
    /// Show if recording is on, and the file
    Status,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let control = RecordingControl::for_user().context("no home directory; set HOME or XDG_STATE_HOME")?;
    let (on, recording) = match &arguments.action {
        Action::Start { output, no_redact } => {
            let file = output.clone().unwrap_or_else(|| control.usual_file());
            (true, Some(control.start(&file, !no_redact)?))
        }
        Action::Stop => (false, control.stop()?),
        Action::Status => {
            let recording = control.current()?;
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
    writeln!(out, "{}", describe(on, recording.as_ref(), &status))?;
    Ok(exit::SUCCESS)
}

fn describe(on: bool, recording: Option<&Recording>, status: &Status) -> String {
    let Some(recording) = recording else { return "recording is off".to_owned() };
    let file = display_path(&recording.file);
    let size =
        status.bytes.map(|bytes| format!(" ({})", pluralize(usize::try_from(bytes).unwrap_or(usize::MAX), "byte")));
    let size = size.unwrap_or_default();
    if !on {
        return format!("recording is off; the last one is {file}{size}");
    }
    let secrets = if recording.redact { "secrets are redacted" } else { "secrets are not redacted" };
    format!("recording to {file}{size} since {}; {secrets}", recording.since)
}
