//! `checkrein trust revoke`.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;

use crate::commands::config::ConfigArguments;
use crate::commands::{pluralize, print_note};
use crate::exit::{self, Exit, UsageErrorExt};

/// Takes approvals back, also of hooks that are not there any more.
///
/// What `trusted_paths` and signed lockfiles let run is not touched.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes:\n  0  taken back    1  none of them was approved    64  a wrong call\n\nExample:\n  checkrein trust revoke guard\n  checkrein trust revoke --all"
)]
pub struct Arguments {
    /// The hooks that are meant
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// All hooks of this file; may be given several times
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// All hooks of the project
    #[arg(long, conflicts_with_all = ["ids", "file"])]
    all: bool,
    #[command(flatten)]
    config: ConfigArguments,
    /// Prints what was done as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    if arguments.ids.is_empty() && arguments.file.is_empty() && !arguments.all {
        return Err(anyhow::anyhow!("say which hooks: by ID, with --file, or --all of them")).usage_error();
    }
    let dir = arguments.config.directory()?;
    let root = dir.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok()).unwrap_or(&dir);
    let files: Vec<PathBuf> = arguments.file.iter().map(std::path::absolute).collect::<Result<_, _>>()?;
    // Approvals name a file from the root of its project.
    let is_meant = |file: &str, id: &str| {
        let of_file = |path: &PathBuf| {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            real.strip_prefix(root).unwrap_or(&real) == Path::new(file) || path.as_path() == root.join(file)
        };
        arguments.all || arguments.ids.iter().any(|own| own == id) || files.iter().any(of_file)
    };
    let gone = arguments.config.sources()?.revoke(is_meant)?;
    if arguments.json {
        let hooks: Vec<_> = gone.iter().map(|(file, id)| json!({ "id": id, "file": file })).collect();
        writeln!(anstream::stdout(), "{:#}", json!({ "done": "revoked", "hooks": hooks }))?;
    }
    print_note(&format!("{} of {}", pluralize(gone.len(), "approval"), "this project taken back"));
    Ok(if gone.is_empty() { exit::FAILURE } else { exit::SUCCESS })
}
