//! `checkrein trust lock`: writes checkrein.lock, with which a team approves hooks in review.

use std::io::Write;

use anyhow::{Result, bail};
use checkrein::trust::SIGNATURE;
use serde_json::json;

use super::{NOT_READ, has_errors, review};
use crate::commands::config::ConfigArguments;
use crate::commands::{display_path, pluralize, print_note};
use crate::exit::{self, Exit};

/// Write checkrein.lock, to approve hooks by code review
///
/// The file contains the hash of each hook, one per line. It approves hooks for users whose `trusted_keys` contain the key
/// that signed it.
#[derive(Debug, clap::Args)]
#[command(mut_arg("trust_all", |arg| arg.hide(true)))]
#[command(after_help = "Exit codes:
  0   success
  1   the file cannot be written
  64  usage error

Example:
  checkrein trust lock
  ssh-keygen -Y sign -n checkrein -f ~/.ssh/id_ed25519 checkrein.lock")]
pub struct Arguments {
    #[command(flatten)]
    config: ConfigArguments,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let review = review(&arguments.config)?;
    if has_errors(&review) {
        bail!("nothing was written: {NOT_READ}");
    }
    let written = review.lock()?;
    if arguments.json {
        let (path, hooks) = written.as_ref().map_or((None, 0), |(path, hooks)| (Some(path), *hooks));
        writeln!(anstream::stdout(), "{:#}", json!({ "path": path, "hooks": hooks }))?;
    }
    match written {
        Some((path, hooks)) => {
            let path = display_path(&path);
            print_note(&format!("wrote {path} with {}", pluralize(hooks, "hook")));
            print_note(&format!("next: sign it with `ssh-keygen -Y sign -n checkrein -f ~/.ssh/id_ed25519 {path}`"));
            print_note(&format!("then commit {path} and {SIGNATURE}, which ssh-keygen writes"));
        }
        None => print_note("nothing was written: no hooks here need approval"),
    }
    Ok(exit::SUCCESS)
}
