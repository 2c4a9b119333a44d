//! Whether events are recorded, and where to. A small file says so, which every process of the user looks at.

use std::io;
use std::path::{Path, PathBuf};

use checkrein_core::{JsonError, RawJson};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::entry::RecordedEvent;
use checkrein::internal::{line_file, private_file, state};

const NAME: &str = "recording.json";

/// Switches recording on and off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingControl {
    directory: PathBuf,
}

/// A recording that is being made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Recording {
    /// The file that lines are appended to.
    pub file: PathBuf,
    /// Whether secrets are taken out before anything is written.
    pub redact: bool,
    /// When it was started, UTC.
    pub since: String,
}

/// How things stand.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Status {
    /// Whether events are being recorded.
    pub on: bool,
    /// The file that they go to, or went to until now.
    pub file: Option<String>,
    /// Whether secrets are taken out.
    pub redact: Option<bool>,
    /// Since when, UTC.
    pub since: Option<String>,
    /// How large the file is.
    pub bytes: Option<u64>,
}

/// Why recording cannot be switched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SwitchError {
    /// It is on.
    #[error("recording is on already, to {}; end it with `checkrein record stop`", .0.display())]
    AlreadyOn(PathBuf),
    /// A file cannot be read or written.
    #[error("{}: {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        error: io::Error,
    },
    /// What the file says makes no sense.
    #[error("{}: {error}; `checkrein record stop` removes it", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: String,
    },
    /// A path that cannot be written down.
    #[error(transparent)]
    Json(#[from] JsonError),
}

impl RecordingControl {
    /// The switch of the user that this process belongs to: in `$XDG_STATE_HOME/checkrein`, or else
    /// `~/.local/state/checkrein`. `None`: the user has no home.
    pub fn of_user() -> Option<Self> {
        state::directory().map(Self::in_directory)
    }

    /// A switch whose file is in this directory.
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    fn path(&self) -> PathBuf {
        self.directory.join(NAME)
    }

    /// A file for a recording that starts now, if nobody says another.
    pub fn usual_file(&self) -> PathBuf {
        let now = Timestamp::now().strftime("%Y-%m-%dT%H-%M-%SZ").to_string();
        self.directory.join("recordings").join(format!("{now}.jsonl"))
    }

    /// The recording that is being made, if there is one. If not, this is one open that fails.
    ///
    /// # Errors
    /// The file is there and cannot be read.
    pub fn current(&self) -> Result<Option<Recording>, SwitchError> {
        let path = self.path();
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(None);
            }
            Err(error) => return Err(SwitchError::File { path, error }),
        };
        let json = RawJson::parse_bytes(&bytes).map_err(|error| error.to_string());
        let read = json.and_then(|json| json.read::<Recording>().map_err(|error| error.to_string()));
        read.map(Some).map_err(|error| SwitchError::Unreadable { path, error })
    }

    /// Records from now on, to this file; what it has already stays.
    ///
    /// # Errors
    /// It is on already, or the file cannot be written.
    pub fn start(&self, file: &Path, redact: bool) -> Result<Recording, SwitchError> {
        if let Some(recording) = self.current()? {
            return Err(SwitchError::AlreadyOn(recording.file));
        }
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| SwitchError::File { path, error }
        };
        let file = std::path::absolute(file).map_err(failed(file))?;
        // What cannot be written to shall be known now.
        line_file::open(&file).map_err(failed(&file))?;
        let recording = Recording { file, redact, since: format!("{:.0}", Timestamp::now()) };
        let text = RawJson::from_serialize(&recording)?;
        let path = self.path();
        line_file::make_private_directory(&self.directory).map_err(failed(&self.directory))?;
        let written = private_file::write(&self.directory, ".json", text.as_str().as_bytes()).map_err(failed(&path))?;
        // Nobody ever sees half of it.
        std::fs::rename(&written, &path).map_err(failed(&path))?;
        Ok(recording)
    }

    /// Records no longer. Gives the recording that was made, if there was one that could be read.
    ///
    /// # Errors
    /// The switch's file cannot be removed.
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
    /// Appends a line to the file. Others may do so at the same time.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn keep(&self, recorded: RecordedEvent) -> Result<(), SwitchError> {
        let line = recorded.line(self.redact)?;
        line_file::append(&self.file, &line).map_err(|error| SwitchError::File { path: self.file.clone(), error })
    }
}

impl Status {
    /// Of a recording that is being made, or was until now.
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
