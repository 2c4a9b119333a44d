//! `checkrein trust lock`.

use std::io::Write;

use anyhow::Result;
use checkrein::trust::SIGNATURE;
use serde_json::json;

use super::review;
use crate::commands::config::ConfigArguments;
use crate::commands::{pluralize, print_note};
use crate::exit::{self, Exit};

/// Writes checkrein.lock, with which a team approves hooks in review: their hashes, one hook a line.
///
/// It counts for those who trust the key that it is signed with: see `trusted_keys`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  checkrein trust lock\n  ssh-keygen -Y sign -n checkrein -f ~/.ssh/id_ed25519 checkrein.lock"
)]
pub struct Arguments {
    #[command(flatten)]
    config: ConfigArguments,
    /// Prints what was done as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let written = review(&arguments.config)?.lock()?;
    if arguments.json {
        let (path, hooks) = written.as_ref().map_or((None, 0), |(path, hooks)| (Some(path), *hooks));
        writeln!(anstream::stdout(), "{:#}", json!({ "path": path, "hooks": hooks }))?;
    }
    match written {
        Some((path, hooks)) => {
            print_note(&format!("wrote {} with {}", path.display(), pluralize(hooks, "hook")));
            print_note(&format!("to sign it: ssh-keygen -Y sign -n checkrein -f ~/.ssh/id_ed25519 {}", path.display()));
            print_note(&format!("that writes {SIGNATURE} beside it; both belong into the repository"));
        }
        None => print_note("no hooks here need approval, so nothing was written"),
    }
    Ok(exit::SUCCESS)
}
