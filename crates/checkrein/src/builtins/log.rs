//! Appends every event of the hook to a file, as one line of JSON.
//!
//! A line is the event in its canonical form, with the time (UTC) as `logged_at` in front. Secrets are redacted as by
//! `redact_secrets`. Each line is one write to a file opened for appending, so several processes can share a file. Only
//! the user can read a new file. The file is not rotated.
//!
//! - **Arguments**: the file. `~/` is the home directory. Other relative paths start at the host's directory, so that the
//!   file does not depend on the agent's working directory. Missing directories are created. A symbolic link, a pipe and a
//!   device are errors.
//! - **Events**: any.
//!
//! Example: `log ~/.local/state/agent/events.jsonl`

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use checkrein_core::{Event, Failure, Opinion, RawJson};
use jiff::Timestamp;

use super::secrets::redacted_json;
use super::{failure, off_thread};
use crate::append_file;
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

const LOGGED_AT: &str = "logged_at";

pub(super) fn builtin() -> Builtin {
    Builtin::new(|call| Box::pin(run(call))).checked(|args| file(args).map(drop)).described(
        BuiltinDoc::new("Appends every event to a file as one line of JSON, with secrets redacted.")
            .args("the file")
            .events("any"),
    )
}

fn file(args: &[String]) -> Result<&str, String> {
    match args {
        [file] if !file.trim().is_empty() => Ok(file),
        _ => Err("takes one argument, the file to append to".to_owned()),
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
    // Line breaks in strings are escaped. All others are white space.
    let mut line = match event.field(LOGGED_AT) {
        None => format!("{{\"{LOGGED_AT}\":\"{now:.3}\",{fields}"),
        // The host has set the field. Many parsers reject duplicate keys.
        Some(_) => format!("{{{fields}"),
    };
    line = line.replace(['\n', '\r'], " ");
    line.push('\n');
    line
}

fn append(path: &Path, line: &str) -> io::Result<()> {
    append_file::open(path)?.write_all(line.as_bytes())
}
