//! `checkrein live`: opens the live page of the resident process.
//!
//! The address with a token and the code are only printed on a terminal. No process gets them in its arguments or environment.

use anyhow::Result;
#[cfg(not(unix))]
use anyhow::bail;

use crate::exit::Exit;

/// Open the page with events, questions and hooks
///
/// Starts the resident process if it does not run. Prints the address of the page, and a code for one login that is valid for two
/// minutes. Opens a browser at the address without the token, and the page asks for the code.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   the address was printed
  1   the process cannot start or has no page; or standard output
      is not a terminal
  64  usage error

Example:
  checkrein live
  checkrein live --no-open
  checkrein live --tui")]
pub struct Arguments {
    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
    /// Show the data in the terminal, without a browser
    #[arg(long, conflicts_with = "no_open")]
    tui: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    #[cfg(unix)]
    return open(arguments);
    #[cfg(not(unix))]
    {
        let _ = (arguments.no_open, arguments.tui);
        bail!("`checkrein live` is not available on this system, only on Linux and macOS")
    }
}

#[cfg(unix)]
fn open(arguments: &Arguments) -> Result<Exit> {
    use std::io::{IsTerminal as _, Write as _};
    use std::time::Duration;

    use anyhow::{Context as _, bail};
    use checkrein_serve::client::{Client, ClientError};

    /// Longest wait for an answer of the process.
    const PATIENCE: Duration = Duration::from_secs(10);

    if !std::io::stdout().is_terminal() {
        bail!(
            "standard output is not a terminal: a login gives access to your approvals, so it is only shown on a terminal; \
             run `checkrein live` there"
        );
    }
    let state = checkrein::internal::state::directory()
        .context("you have no home directory, so the process has no place for its socket; set HOME")?;
    let mut client = match Client::connect(&state) {
        Err(ClientError::NotRunning) => {
            start()?;
            Client::connect(&state)?
        }
        other => other?,
    };
    if arguments.tui {
        drop(client);
        return show_in_terminal(state, PATIENCE);
    }
    let login = client.login(PATIENCE)?;
    let opened = !arguments.no_open && open_browser(&login.address);
    let mut out = anstream::stdout().lock();
    writeln!(out, "page: {}", login.address)?;
    writeln!(out, "code: {}", login.code)?;
    writeln!(out, "or open {}", login.url)?;
    out.flush()?;
    drop(out);
    let place = if opened { "the browser asks for the code; it" } else { "the code" };
    super::print_note(&format!("{place} is valid once, for {} s", login.seconds));
    Ok(crate::exit::SUCCESS)
}

/// Shows the data of the page in the terminal. The login stays in this process.
#[cfg(unix)]
fn show_in_terminal(state: std::path::PathBuf, patience: std::time::Duration) -> Result<Exit> {
    use std::io::IsTerminal as _;

    use checkrein_serve::client::Client;
    use checkrein_serve::tui::{self, TuiOptions};
    use checkrein_tools::approvals::ApprovalStore;

    if !std::io::stdin().is_terminal() {
        anyhow::bail!("the standard input is no terminal; `checkrein live --tui` reads keys from it");
    }
    let options = TuiOptions {
        approvals: ApprovalStore::in_state_directory(&state),
        locations: checkrein::hook_files::Locations::default(),
        user: super::approvals::answer::user(),
        login: Box::new(move || {
            let login = Client::connect(&state).and_then(|mut client| client.login(patience));
            login.map(|login| login.url).map_err(|error| error.to_string())
        }),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let shown = runtime.block_on(tui::run(options));
    runtime.shutdown_background();
    shown?;
    Ok(crate::exit::SUCCESS)
}

/// Starts the resident process in the background.
#[cfg(unix)]
fn start() -> Result<()> {
    use anyhow::{Context as _, bail};
    let program = checkrein_tools::own_program::path().context("cannot determine the path of this program")?;
    let output = std::process::Command::new(program)
        .args(["serve", "--detach"])
        .stdin(std::process::Stdio::null())
        .output()
        .context("cannot start the process")?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        bail!("{}", super::printable(text.trim().trim_start_matches("checkrein: ")));
    }
    Ok(())
}

/// Opens a browser at the bare address. Returns `false` if there is none to open, or if it cannot start.
#[cfg(unix)]
fn open_browser(address: &str) -> bool {
    let has = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let has_screen = cfg!(target_os = "macos") || has("DISPLAY") || has("WAYLAND_DISPLAY");
    // The browser of a remote machine is not the one in front of the user.
    if !has_screen || has("SSH_CONNECTION") {
        return false;
    }
    let null = std::process::Stdio::null;
    let mut command = std::process::Command::new(program);
    command.arg(address).stdin(null()).stdout(null()).stderr(null()).spawn().is_ok()
}
