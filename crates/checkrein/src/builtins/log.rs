//! Writes down every event that the hook is for: one line of JSON each, at the end of a file.
//!
//! A line is the event in its canonical form with the time (UTC) as `logged_at` before it. Secrets are taken out as
//! `redact_secrets` does. Each line is written whole with one write to a file opened for appending, so several
//! processes can write to one file. A new file can be read by its user only. Nothing is rotated.
//!
//! - **Arguments**: the file. `~/` is the home directory; other relative paths are taken from the host's directory, so
//!   that there is one file wherever the agent goes. Missing directories are made.
//! - **Events**: any.
//!
//! Example: `log ~/.local/state/agent/events.jsonl`

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use checkrein_core::{Event, Failure, Opinion, RawJson};
use jiff::Timestamp;

use super::secrets::redacted_json;
use super::{failure, off_thread};
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

const LOGGED_AT: &str = "logged_at";

pub(super) fn builtin() -> Builtin {
    Builtin::new(|call| Box::pin(run(call))).checked(|args| file(args).map(drop)).described(
        BuiltinDoc::new("Appends every event to a file as one line of JSON, without secrets.")
            .args("the file")
            .events("any"),
    )
}

fn file(args: &[String]) -> Result<&str, String> {
    match args {
        [file] if !file.trim().is_empty() => Ok(file),
        _ => Err("takes one argument, the file to write to".to_owned()),
    }
}

async fn run(call: BuiltinCall<'_>) -> Result<Opinion, Failure> {
    let path = path(file(call.args).map_err(failure)?, &call);
    let (event, now) = (call.event.clone(), Timestamp::now());
    let shown = path.display().to_string();
    let written = off_thread(move || append(&path, &line(&event, now))).await?;
    written.map_err(|error| failure(format!("cannot write to {shown}: {error}")))?;
    Ok(Opinion::none())
}

fn path(file: &str, call: &BuiltinCall<'_>) -> PathBuf {
    match (file.strip_prefix("~/"), call.env.var("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => call.env.cwd.join(file),
    }
}

fn line(event: &Event, now: Timestamp) -> String {
    let json = event.to_json();
    let clean = RawJson::parse(json.as_str()).ok().and_then(|json| redacted_json(&json));
    let json = clean.as_ref().map_or(json.as_str(), RawJson::as_str);
    let fields = json.trim_start().strip_prefix('{').unwrap_or(json);
    // Line breaks within strings are spelt as escapes; all others are white space.
    let mut line = match event.field(LOGGED_AT) {
        None => format!("{{\"{LOGGED_AT}\":\"{now:.3}\",{fields}"),
        // The host has its own; two would be no valid JSON for many readers.
        Some(_) => format!("{{{fields}"),
    };
    line = line.replace(['\n', '\r'], " ");
    line.push('\n');
    line
}

fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let opened = match options.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if let Some(directory) = path.parent() {
                std::fs::create_dir_all(directory)?;
            }
            options.open(path)
        }
        opened => opened,
    };
    opened?.write_all(line.as_bytes())
}
