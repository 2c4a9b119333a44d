//! Tells the model what is in the working directory: names only, directories with a slash behind them.
//!
//! Files whose names start with a dot are left out, and of more than 100 entries only the first 100 are named, with the
//! number of the others.
//!
//! - **Arguments**: none, or `--max=N` for another number of entries.
//! - **Events**: those that take context; `session_start` is enough.
//!
//! Example: `add_directory_listing --max=40`

use std::io;
use std::path::Path;

use checkrein_core::{Failure, Opinion};

use super::args::{count, option, unknown_option};
use super::{AT_CONTEXT, failure, off_thread};
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

const ENTRIES: usize = 100;

/// A directory may hold millions of files. So many are read, to be sorted.
const READ: usize = 10_000;

pub(super) fn builtin() -> Builtin {
    Builtin::new(|call| Box::pin(run(call))).checked(|args| limit(args).map(drop)).described(
        BuiltinDoc::new("Tells the model what is in the working directory, without dotfiles, at most 100 names.")
            .args("`--max=N` for another limit")
            .events(AT_CONTEXT),
    )
}

fn limit(args: &[String]) -> Result<usize, String> {
    args.iter().try_fold(ENTRIES, |_, arg| match option(arg, "max") {
        Some(max) => count(max, "the number of entries"),
        None => Err(unknown_option(arg, &["--max=N"])),
    })
}

async fn run(call: BuiltinCall<'_>) -> Result<Opinion, Failure> {
    let max = limit(call.args).map_err(failure)?;
    let cwd = call.cwd();
    let path = cwd.display().to_string();
    let listed = off_thread(move || names(&cwd)).await?;
    let (names, all) = listed.map_err(|error| failure(format!("cannot list {path}: {error}")))?;
    if names.is_empty() {
        return Ok(Opinion::context(format!("{path} is empty.")));
    }
    let mut text = format!("Files in {path}:\n{}", names[..names.len().min(max)].join("\n"));
    if names.len() > max {
        let more = if all { "" } else { "at least " };
        text.push_str(&format!("\n[and {more}{} more]", names.len() - max));
    }
    Ok(Opinion::context(text))
}

/// The names in order, and whether these are all.
fn names(directory: &Path) -> io::Result<(Vec<String>, bool)> {
    let mut entries = std::fs::read_dir(directory)?;
    let mut names = Vec::new();
    for entry in entries.by_ref().take(READ) {
        let entry = entry?;
        let mut name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        // A name with a line break would look like two.
        name = name.replace(char::is_control, "?");
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            name.push('/');
        }
        names.push(name);
    }
    names.sort_unstable();
    Ok((names, entries.next().is_none()))
}
