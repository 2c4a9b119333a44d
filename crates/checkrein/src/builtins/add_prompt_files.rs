//! Tells the model what is in files: house rules, notes for agents.
//!
//! Each file is looked for in the working directory and then in the directories above it; the nearest one counts. A
//! file that is nowhere is skipped. A file with more than 64 KiB is cut, and the text says so.
//!
//! - **Arguments**: names of files, such as `AGENTS.md`. `--depth=N` looks at most N directories up (0: only in the
//!   working directory). Absolute paths and `~/…` are taken as they are.
//! - **Events**: those that take context. At `turn_start` the model sees changes at once.
//!
//! Example: `add_prompt_files AGENTS.md CONTRIBUTING.md --depth=2`

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use checkrein_core::{Failure, Opinion};

use super::args::{option, unknown_option};
use super::{AT_CONTEXT, failure, off_thread, text};
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};

const BYTES: usize = 64 * 1024;

pub(super) fn builtin() -> Builtin {
    Builtin::new(|call| Box::pin(run(call))).checked(|args| read_args(args).map(drop)).described(
        BuiltinDoc::new("Tells the model what is in files, looked for in the working directory and above it.")
            .args("names of files; `--depth=N` to look at most N directories up")
            .events(AT_CONTEXT),
    )
}

struct Wanted<'a> {
    names: Vec<&'a str>,
    depth: usize,
}

fn read_args(args: &[String]) -> Result<Wanted<'_>, String> {
    let mut wanted = Wanted { names: Vec::new(), depth: usize::MAX };
    for arg in args {
        if let Some(depth) = option(arg, "depth") {
            wanted.depth =
                depth.parse().map_err(|_| format!("has `{depth}` as the depth; write a whole number from 0 on"))?;
        } else if arg.starts_with("--") {
            return Err(unknown_option(arg, &["--depth=N"]));
        } else if arg.trim().is_empty() {
            return Err("has an empty name of a file; write one or remove it".to_owned());
        } else {
            wanted.names.push(arg);
        }
    }
    if wanted.names.is_empty() {
        return Err("has no file to read; name one or more".to_owned());
    }
    Ok(wanted)
}

async fn run(call: BuiltinCall<'_>) -> Result<Opinion, Failure> {
    let wanted = read_args(call.args).map_err(failure)?;
    let (cwd, home, depth) = (call.cwd(), call.env.var("HOME"), wanted.depth);
    let names: Vec<String> = wanted.names.iter().map(|name| (*name).to_owned()).collect();
    let found = off_thread(move || {
        names
            .iter()
            .filter_map(|name| find(name, &cwd, home.as_deref(), depth))
            .map(|path| read(&path))
            .collect::<Vec<_>>()
    })
    .await?;
    let mut opinion = Opinion::none();
    for file in found {
        opinion = opinion.with_context(file.map_err(failure)?);
    }
    Ok(opinion)
}

fn find(name: &str, cwd: &Path, home: Option<&str>, depth: usize) -> Option<PathBuf> {
    if let (Some(rest), Some(home)) = (name.strip_prefix("~/"), home) {
        return Some(Path::new(home).join(rest)).filter(|path| path.is_file());
    }
    // An absolute path stays what it is when it is joined.
    cwd.ancestors().take(depth.saturating_add(1)).map(|directory| directory.join(name)).find(|path| path.is_file())
}

fn read(path: &Path) -> Result<String, String> {
    let start = |path: &Path| -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(BYTES as u64 + 4).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = start(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let contents = String::from_utf8_lossy(&bytes);
    let shown = text::head(&contents, BYTES);
    let note =
        if bytes.len() > BYTES { format!("\n[cut: only the first {BYTES} bytes are shown]") } else { String::new() };
    Ok(format!("From {}:\n{}{note}", path.display(), shown.trim_end()))
}
