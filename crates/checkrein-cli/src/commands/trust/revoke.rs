//! `checkrein trust revoke`: deletes approvals of a project, also those of hooks that no longer exist.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;

use crate::commands::config::ConfigArguments;
use crate::commands::{pluralize, print_failure, print_note};
use crate::exit::{self, Exit, UsageErrorExt};

/// Revoke approvals, also of hooks that no longer exist
///
/// Hooks that `trusted_paths` or a signed lockfile approve stay approved.
#[derive(Debug, clap::Args)]
#[command(mut_arg("trust_all", |arg| arg.hide(true)))]
#[command(after_help = "Exit codes:
  0   revoked
  1   no such approval
  64  usage error

Example:
  checkrein trust revoke guard
  checkrein trust revoke --all")]
pub struct Arguments {
    /// Ids of hooks to revoke
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Revoke the hooks of this file; can be repeated
    #[arg(long, value_name = "FILE")]
    file: Vec<PathBuf>,
    /// Revoke all hooks of the project
    #[arg(long, conflicts_with_all = ["ids", "file"])]
    all: bool,
    #[command(flatten)]
    config: ConfigArguments,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    if arguments.ids.is_empty() && arguments.file.is_empty() && !arguments.all {
        return Err(anyhow::anyhow!("name the hooks to revoke: IDs, --file FILE, or --all")).usage_error();
    }
    super::reject_trust_all(&arguments.config)?;
    let dir = arguments.config.directory()?;
    let root = dir.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok()).unwrap_or(&dir);
    let files: Vec<PathBuf> = arguments.file.iter().map(std::path::absolute).collect::<Result<_, _>>()?;
    // Approvals name a file relative to the root of its project.
    let is_meant = |file: &str, id: &str| {
        let of_file = |path: &PathBuf| {
            let real = path.canonicalize().unwrap_or_else(|_| path.clone());
            real.strip_prefix(root).unwrap_or(&real) == Path::new(file) || path.as_path() == root.join(file)
        };
        arguments.all || arguments.ids.iter().any(|own| own == id) || files.iter().any(of_file)
    };
    let revoked = arguments.config.sources()?.revoke(is_meant)?;
    if arguments.json {
        let hooks: Vec<_> = revoked.iter().map(|(file, id)| json!({ "id": id, "file": file })).collect();
        writeln!(anstream::stdout(), "{:#}", json!({ "done": "revoked", "hooks": hooks }))?;
    }
    match revoked.len() {
        0 => print_failure("nothing was revoked: none of these hooks was approved"),
        count => print_note(&format!("revoked {} of this project", pluralize(count, "approval"))),
    }
    Ok(if revoked.is_empty() { exit::FAILURE } else { exit::SUCCESS })
}
