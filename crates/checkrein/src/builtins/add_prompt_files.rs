//! Adds the contents of files to the model's context: project rules, notes for agents.
//!
//! Each file is searched in the working directory and then in the directories above it; the nearest one applies. A
//! missing file is skipped. A file with more than 64 KiB is cut with a note.
//!
//! - **Arguments**: names of files, such as `AGENTS.md`. `--depth=N` searches at most N directories up (0: only the
//!   working directory). Absolute paths and `~/…` are not searched for.
//! - **Events**: all that accept context. At `turn_start` the model sees changes in the same turn.
//!
//! Example: `add_prompt_files AGENTS.md CONTRIBUTING.md --depth=2`

use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use checkrein_core::{Failure, Opinion};

use super::args::{option, unknown_option};
use super::{AT_CONTEXT, failure, off_thread, text};
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};
use crate::regular_file;

const BYTES: usize = 64 * 1024;

pub(super) fn builtin() -> Builtin {
    Builtin::new(|call| Box::pin(run(call)))
        .checked(|args| read_args(args).map(drop))
        .works_at(super::accepts_context)
        .described(
            BuiltinDoc::new(
                "Adds files from the working directory or the directories above it to the model's context.",
            )
            .args("names of files; `--depth=N` to search at most N directories up")
            .events(AT_CONTEXT),
        )
}

struct PromptFiles<'a> {
    names: Vec<&'a str>,
    depth: usize,
}

fn read_args(args: &[String]) -> Result<PromptFiles<'_>, String> {
    let mut files = PromptFiles { names: Vec::new(), depth: usize::MAX };
    for arg in args {
        if let Some(depth) = option(arg, "depth") {
            files.depth = depth.parse().map_err(|_| format!("has an invalid depth, `{depth}`; use 0 or more"))?;
        } else if arg.starts_with("--") {
            return Err(unknown_option(arg, &["--depth=N"]));
        } else if arg.trim().is_empty() {
            return Err("has an empty file name; remove it".to_owned());
        } else {
            files.names.push(arg);
        }
    }
    if files.names.is_empty() {
        return Err("has no file names; pass at least one, such as `AGENTS.md`".to_owned());
    }
    Ok(files)
}

async fn run(call: BuiltinCall<'_>) -> Result<Opinion, Failure> {
    let files = read_args(call.args).map_err(failure)?;
    let (cwd, home, depth) = (call.cwd(), call.env.var("HOME"), files.depth);
    let names: Vec<String> = files.names.iter().map(|name| (*name).to_owned()).collect();
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
    // `join` returns an absolute name unchanged.
    cwd.ancestors().take(depth.saturating_add(1)).map(|directory| directory.join(name)).find(|path| path.is_file())
}

fn read(path: &Path) -> Result<String, String> {
    let start = |path: &Path| -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        regular_file::open(path)?.take(BYTES as u64 + 4).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = start(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let contents = String::from_utf8_lossy(&bytes);
    let shown = text::head(&contents, BYTES);
    let note =
        if bytes.len() > BYTES { format!("\n[cut: only the first {BYTES} bytes are shown]") } else { String::new() };
    Ok(format!("From {}:\n{}{note}", path.display(), shown.trim_end()))
}
