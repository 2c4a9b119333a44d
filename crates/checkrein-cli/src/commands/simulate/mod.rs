//! `checkrein simulate`: a whole agent session, played against hooks.

mod session;
mod show;
mod starter;

use std::io::Write;

use anyhow::Result;

use crate::exit::{self, Exit};

/// Plays a short agent session against a set of hooks, and shows what each of them says.
///
/// The session and the hooks are part of the program, so this works anywhere. Every line comes from a real fire: the
/// hooks are callbacks that run in this process.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  checkrein simulate\n  checkrein simulate --json | head -n 1")]
pub struct Arguments {
    /// Prints one record per event as a line of JSON, instead of text for people
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let runner = starter::runner();
    let mut out = anstream::stdout().lock();
    let mut summary = show::Summary::default();
    if !arguments.json {
        show::heading(&mut out)?;
    }
    for (number, event) in (1..).zip(session::events()?) {
        let (verdict, record) = runner.fire_recorded(&event);
        if arguments.json {
            serde_json::to_writer(&mut out, &record).map_err(std::io::Error::from)?;
            writeln!(out)?;
        } else {
            show::fire(&mut out, number, &event, &verdict, &record)?;
            summary.count(&verdict, &record);
        }
    }
    if !arguments.json {
        show::summary(&mut out, &summary)?;
    }
    Ok(exit::FINE)
}
