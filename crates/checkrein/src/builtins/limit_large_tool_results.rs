//! Writes large tool results to a file. The model gets the start and the end of the result, and the path of the file.
//!
//! A result is large if it has more than 2000 lines or more than 50 KiB. The shortened result is within both limits, cut
//! between characters. In a result that is not a plain string (an object with `stdout`, a list of parts) only the long
//! strings are cut. If the result is still too large, a string replaces it.
//!
//! Only the user can read the file. If the hook also has the event `session_end`, the files of the session are removed
//! then. Otherwise they stay in the directory for temporary files.
//!
//! - **Arguments**: none, or `--max-bytes=N`, `--max-lines=N`, `--dir=DIRECTORY` for the files.
//! - **Events**: `post_tool_use`, `tool_output_transform` and related events.
//!
//! Example: `limit_large_tool_results --max-lines=500`

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use checkrein_core::{EventKind, Failure, JsonType, Opinion, RawJson, Target};

use super::args::{count, option, unknown_option};
use super::json_strings::{spliced, strings};
use super::session_cache::Sessions;
use super::text::{head, tail};
use super::{failure, off_thread};
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};
use crate::private_file;

const MAX_BYTES: usize = 50 * 1024;
const MAX_LINES: usize = 2000;

/// Part of the limit that is reserved for the note about the file, in bytes.
const NOTE: usize = 512;

#[derive(Debug, Clone)]
struct Limits {
    bytes: usize,
    lines: usize,
    directory: Option<PathBuf>,
}

type Files = Sessions<Vec<PathBuf>>;

pub(super) fn builtin() -> Builtin {
    let files = Arc::new(Files::default());
    let prepared = Builtin::prepared(move |args| {
        let (limits, files) = (Arc::new(read_args(args)?), Arc::clone(&files));
        Ok(Builtin::new(move |call| Box::pin(run(call, Arc::clone(&limits), Arc::clone(&files)))))
    });
    prepared.rewriting().described(
        BuiltinDoc::new(
            "Writes tool results of more than 2000 lines or 50 KiB to a file and keeps their start and end.",
        )
        .args("`--max-bytes=N`, `--max-lines=N`, `--dir=DIRECTORY` for the files")
        .events("`post_tool_use`, `tool_output_transform` and related events; `session_end` removes the files"),
    )
}

fn read_args(args: &[String]) -> Result<Limits, String> {
    let mut limits = Limits { bytes: MAX_BYTES, lines: MAX_LINES, directory: None };
    for arg in args {
        if let Some(bytes) = option(arg, "max-bytes") {
            limits.bytes = count(bytes, "number of bytes")?;
            if limits.bytes < 2 * NOTE {
                return Err(format!("has an invalid number of bytes, `{bytes}`; use at least {}", 2 * NOTE));
            }
        } else if let Some(lines) = option(arg, "max-lines") {
            limits.lines = count(lines, "number of lines")?;
        } else if let Some(directory) = option(arg, "dir").filter(|directory| !directory.is_empty()) {
            limits.directory = Some(directory.into());
        } else {
            return Err(unknown_option(arg, &["--max-bytes=N", "--max-lines=N", "--dir=DIRECTORY"]));
        }
    }
    Ok(limits)
}

async fn run(call: BuiltinCall<'_>, limits: Arc<Limits>, files: Arc<Files>) -> Result<Opinion, Failure> {
    let session = call.event.envelope.session_id.clone().unwrap_or_default();
    if call.event.kind() == EventKind::SessionEnd {
        let old = files.forget(&session).unwrap_or_default();
        // A missing file needs no removal.
        off_thread(move || old.iter().for_each(|file| drop(std::fs::remove_file(file)))).await?;
        return Ok(Opinion::none());
    }
    let Some(output) = call.event.original(Target::Output).filter(|output| limits.are_exceeded(output)) else {
        return Ok(Opinion::none());
    };
    let directory = limits.directory.as_ref().map_or_else(std::env::temp_dir, |directory| call.env.cwd.join(directory));
    let (file, shorter) = off_thread(move || -> io::Result<_> {
        let whole = output.as_text().unwrap_or(Cow::Borrowed(output.as_str()));
        let file = private_file::write(&directory, ".txt", whole.as_bytes())?;
        let shorter = limits.shortened(&output, &file);
        Ok((file, shorter))
    })
    .await?
    .map_err(|error| failure(format!("cannot write the full result to a file: {error}")))?;
    files.with(&session, |files| files.push(file));
    Ok(Opinion::rewrite_output(shorter))
}

impl Limits {
    fn are_exceeded(&self, output: &RawJson) -> bool {
        if output.json_type() == JsonType::String {
            return output.as_text().is_some_and(|text| self.is_long(&text));
        }
        output.as_str().len() > self.bytes || strings(output).iter().any(|string| self.is_long(&string.text.decoded))
    }

    fn is_long(&self, text: &str) -> bool {
        text.len() > self.bytes || text.lines().nth(self.lines).is_some()
    }

    fn shortened(&self, output: &RawJson, file: &Path) -> RawJson {
        if let Some(text) = output.as_text() {
            return RawJson::string(&self.cut(&text, self.bytes, file));
        }
        let found = strings(output);
        // The long strings share the limit.
        let share = |count: usize| self.bytes / count.max(1);
        let long = found.iter().filter(|string| string.text.decoded.len() > share(found.len())).count();
        let budget = share(long).max(2 * NOTE);
        let parts = found
            .iter()
            .filter(|string| string.text.decoded.len() > budget || self.is_long(&string.text.decoded))
            .map(|string| {
                let cut = RawJson::string(&self.cut(&string.text.decoded, budget, file));
                // The quotes around the string stay.
                let raw = cut.as_str()[1..cut.as_str().len() - 1].to_owned();
                (string.place(&(0..string.text.decoded.len())), Cow::Owned(raw))
            });
        let shorter = RawJson::parse(spliced(output.as_str(), parts)).ok();
        match shorter.filter(|shorter| shorter.as_str().len() <= self.bytes + self.bytes / 2) {
            Some(shorter) => shorter,
            None => RawJson::string(&self.cut(output.as_str(), self.bytes, file)),
        }
    }

    /// Returns the start and the end within the limits, with a note between them.
    fn cut(&self, text: &str, bytes: usize, file: &Path) -> String {
        let half = bytes.saturating_sub(NOTE) / 2;
        let lines = (self.lines / 2).max(1);
        let start = head(text, half);
        let start = match start.match_indices('\n').nth(lines - 1) {
            Some((end, _)) => &start[..end],
            None => start,
        };
        let end = tail(&text[start.len()..], half);
        let end = match end.rmatch_indices('\n').nth(lines - 1) {
            Some((newline, _)) => &end[newline + 1..],
            None => end,
        };
        let omitted = text.len() - start.len() - end.len();
        format!("{start}\n[{omitted} of {} bytes omitted; the full result is in {}]\n{end}", text.len(), file.display())
    }
}
