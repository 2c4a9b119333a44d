//! Control of recording: starts, stops and reports it. The state is a small file, which every checkrein process of the user
//! reads.

use std::io;
use std::path::{Path, PathBuf};

use checkrein_core::{JsonError, RawJson};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::entry::RecordedEvent;
use checkrein::internal::{line_file, private_file, regular_file, state};

const NAME: &str = "recording.json";

/// Maximum size of the state file, in bytes.
const MAX_SIZE: u64 = 64 * 1024;

/// Starts and stops recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingControl {
    directory: PathBuf,
}

/// Active recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Recording {
    /// File that receives the lines.
    pub file: PathBuf,
    /// `true` if secrets are redacted before a line is written.
    pub redact: bool,
    /// Start time, UTC.
    pub since: String,
}

/// Status of recording.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Status {
    /// `true` if events are being recorded.
    pub on: bool,
    /// File of the recording.
    pub file: Option<String>,
    /// `true` if secrets are redacted.
    pub redact: Option<bool>,
    /// Start time, UTC.
    pub since: Option<String>,
    /// Size of the file.
    pub bytes: Option<u64>,
}

/// Error of [`RecordingControl`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SwitchError {
    /// Recording is on already.
    #[error("already recording to {}; stop it with `checkrein record stop`", .0.display())]
    AlreadyOn(PathBuf),
    /// A file cannot be read or written.
    #[error("{}: {error}", .path.display())]
    File {
        /// File.
        path: PathBuf,
        /// Error of the system.
        #[source]
        error: io::Error,
    },
    /// The state file is invalid.
    #[error("{}: {error}; remove it with `checkrein record stop`", .path.display())]
    Unreadable {
        /// File.
        path: PathBuf,
        /// Problem.
        error: String,
    },
    /// A value cannot be written as JSON.
    #[error(transparent)]
    Json(#[from] JsonError),
}

impl RecordingControl {
    /// Control of the current user: in `$XDG_STATE_HOME/checkrein`, or in `~/.local/state/checkrein`. `None` if the user has no
    /// home directory.
    pub fn for_user() -> Option<Self> {
        state::directory().map(Self::in_directory)
    }

    /// Control with its state file in this directory.
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    fn path(&self) -> PathBuf {
        self.directory.join(NAME)
    }

    /// Default file for a recording that starts now.
    pub fn usual_file(&self) -> PathBuf {
        let now = Timestamp::now().strftime("%Y-%m-%dT%H-%M-%SZ").to_string();
        self.directory.join("recordings").join(format!("{now}.jsonl"))
    }

    /// Active recording, if there is one. If not, the cost is one failed `open`.
    ///
    /// # Errors
    /// The state file exists and cannot be read.
    pub fn current(&self) -> Result<Option<Recording>, SwitchError> {
        let path = self.path();
        let bytes = match regular_file::read(&path, MAX_SIZE) {
            Ok(bytes) => bytes,
            Err(error) if error.is_missing() => return Ok(None),
            Err(error) => return Err(SwitchError::File { path, error: error.into() }),
        };
        let json = RawJson::parse_bytes(&bytes).map_err(|error| error.to_string());
        let read = json.and_then(|json| json.read::<Recording>().map_err(|error| error.to_string()));
        read.map(Some).map_err(|error| SwitchError::Unreadable { path, error })
    }

    /// Starts recording to this file. Existing lines stay.
    ///
    /// # Errors
    /// Recording is on already, or a file cannot be written.
    pub fn start(&self, file: &Path, redact: bool) -> Result<Recording, SwitchError> {
        if let Some(recording) = self.current()? {
            return Err(SwitchError::AlreadyOn(recording.file));
        }
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| SwitchError::File { path, error }
        };
        let file = std::path::absolute(file).map_err(failed(file))?;
        // Reports a file that is not writable now, not at the first event.
        line_file::open(&file).map_err(failed(&file))?;
        let recording = Recording { file, redact, since: format!("{:.0}", Timestamp::now()) };
        let text = RawJson::from_serialize(&recording)?;
        let path = self.path();
        line_file::make_private_directory(&self.directory).map_err(failed(&self.directory))?;
        let written = private_file::write(&self.directory, ".json", text.as_str().as_bytes()).map_err(failed(&path))?;
        // The rename is atomic, so no process reads a partial file.
        std::fs::rename(&written, &path).map_err(failed(&path))?;
        Ok(recording)
    }

    /// Stops recording. Returns the recording that was active, if the state file was valid.
    ///
    /// # Errors
    /// The state file cannot be removed.
    pub fn stop(&self) -> Result<Option<Recording>, SwitchError> {
        let recording = self.current().ok().flatten();
        let path = self.path();
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(SwitchError::File { path, error }),
            _ => Ok(recording),
        }
    }
}

impl Recording {
    /// Appends a line to the file. Several processes may append at the same time.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&self, recorded: RecordedEvent) -> Result<(), SwitchError> {
        let line = recorded.line(self.redact)?;
        line_file::append(&self.file, &line).map_err(|error| SwitchError::File { path: self.file.clone(), error })
    }
}

impl Status {
    /// Status of an active or just stopped recording.
    pub fn new(on: bool, recording: Option<&Recording>) -> Self {
        Self {
            on,
            file: recording.map(|recording| recording.file.display().to_string()),
            redact: recording.map(|recording| recording.redact),
            since: recording.map(|recording| recording.since.clone()),
            bytes: recording.and_then(|recording| Some(recording.file.metadata().ok()?.len())),
        }
    }
}
