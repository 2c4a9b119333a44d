//! Adds the names of the files in the working directory to the model's context. Directories end with a slash.
//!
//! Files whose names start with a dot are omitted. Of more than 100 entries, the first 100 are listed with the number of
//! the others.
//!
//! - **Arguments**: none, or `--max=N` for another number of entries.
//! - **Events**: all that accept context; `session_start` is sufficient.
//!
//! Example: `add_directory_listing --max=40`

use std::io;
use std::path::Path;

use checkrein_core::{Failure, Opinion};

use super::args::{count, option, unknown_option};
use super::{AT_CONTEXT, failure, off_thread};
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

const ENTRIES: usize = 100;

/// Maximum number of entries that are read and sorted. A directory may hold millions of files.
const MAX_READ: usize = 10_000;

pub(super) fn builtin() -> Builtin {
    Builtin::new(|call| Box::pin(run(call)))
        .checked(|args| limit(args).map(drop))
        .works_at(super::accepts_context)
        .described(
        BuiltinDoc::new(
            "Adds the names of the files in the working directory to the model's context: at most 100, no dotfiles.",
        )
        .args("`--max=N` for another limit")
        .events(AT_CONTEXT),
    )
}

fn limit(args: &[String]) -> Result<usize, String> {
    args.iter().try_fold(ENTRIES, |_, arg| match option(arg, "max") {
        Some(max) => count(max, "number of entries"),
        None => Err(unknown_option(arg, &["--max=N"])),
    })
}

async fn run(call: BuiltinCall<'_>) -> Result<Opinion, Failure> {
    let max = limit(call.args).map_err(failure)?;
    let cwd = call.cwd();
    let path = cwd.display().to_string();
    let listed = off_thread(move || names(&cwd)).await?;
    let (names, is_complete) = listed.map_err(|error| failure(format!("cannot list {path}: {error}")))?;
    if names.is_empty() {
        return Ok(Opinion::context(format!("{path} is empty.")));
    }
    let mut text = format!("Files in {path}:\n{}", names[..names.len().min(max)].join("\n"));
    if names.len() > max {
        let more = if is_complete { "" } else { "at least " };
        text.push_str(&format!("\n[and {more}{} more]", names.len() - max));
    }
    Ok(Opinion::context(text))
}

/// Returns the sorted names, and `true` if they are complete.
fn names(directory: &Path) -> io::Result<(Vec<String>, bool)> {
    let mut entries = std::fs::read_dir(directory)?;
    let mut names = Vec::new();
    for entry in entries.by_ref().take(MAX_READ) {
        let entry = entry?;
        let mut name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        // A name with a line break would look like two names.
        name = name.replace(char::is_control, "?");
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            name.push('/');
        }
        names.push(name);
    }
    names.sort_unstable();
    Ok((names, entries.next().is_none()))
}
