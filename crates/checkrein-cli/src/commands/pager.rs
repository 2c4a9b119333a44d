//! Pager for long reports on a terminal.
//!
//! `trust` and `trust approve` use it. Output to a file or a pipe never passes through a pager.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::terminal;

/// Option that disables the pager.
#[derive(Debug, Clone, clap::Args)]
pub struct PagerArguments {
    /// Print long output directly, without a pager
    #[arg(long)]
    no_pager: bool,
}

impl PagerArguments {
    /// Writes a text with ANSI colors to standard output. On a terminal, a text that is too long for it goes through `$PAGER`,
    /// or else `less -R`.
    pub fn print(&self, text: &[u8]) -> io::Result<()> {
        let rows = usize::from(terminal::size().1);
        let is_long = text.iter().filter(|byte| **byte == b'\n').count() >= rows;
        if !self.no_pager
            && is_long
            && io::stdout().is_terminal()
            && let Some(pager) = pager()
            && page(pager, text)
        {
            return Ok(());
        }
        let mut out = anstream::stdout().lock();
        out.write_all(text)?;
        out.flush()
    }
}

/// Command of the pager. `None` if the user wants none, or none is installed.
fn pager() -> Option<Command> {
    match std::env::var("PAGER") {
        Ok(own) if own.trim().is_empty() || own.trim() == "cat" => None,
        // As in git, the variable is a command for the shell.
        Ok(own) => {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", &own]);
            Some(shell)
        }
        Err(_) => {
            let less = ["/usr/bin/less", "/bin/less", "/usr/local/bin/less", "/opt/homebrew/bin/less"];
            let less = less.into_iter().find(|path| Path::new(path).exists())?;
            let mut command = Command::new(less);
            command.arg("-R");
            Some(command)
        }
    }
}

/// Shows a text in the pager. Returns `false` if the pager cannot show it.
fn page(mut pager: Command, text: &[u8]) -> bool {
    let Ok(mut child) = pager.stdin(Stdio::piped()).spawn() else { return false };
    if let Some(mut input) = child.stdin.take() {
        let is_plain = anstream::AutoStream::choice(&io::stdout()) == anstream::ColorChoice::Never;
        // Writing fails if the user quits before the end.
        let _ = match is_plain {
            true => input.write_all(&anstream::adapter::strip_bytes(text).into_vec()),
            false => input.write_all(text),
        };
    }
    // A shell exits with 127 if the pager does not exist.
    child.wait().is_ok_and(|status| !matches!(status.code(), Some(126 | 127)))
}
