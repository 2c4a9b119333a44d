//! `checkrein serve` itself, in the foreground and detached.

use std::fs::File;
use std::io::{Read as _, Seek as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
#[cfg(feature = "http")]
use checkrein::Sources;
#[cfg(feature = "http")]
use checkrein::dialects::agents::native;
#[cfg(feature = "http")]
use checkrein::hook_files::Locations;
use checkrein_serve::client::Client;
use checkrein_serve::protocol::ProcessStatus;
use checkrein_serve::server::{End, Options, Server};

use super::{Arguments, state_dir};
use crate::commands::{print_failure, print_note, printable};
use crate::exit::{self, Exit};

/// Number of threads: one may write to the disk while the other answers.
const THREADS: usize = 2;

/// Longest wait until a detached process answers. It reads its events first.
const READY: Duration = Duration::from_secs(20);

/// Interval of the questions for a detached process.
const POLL: Duration = Duration::from_millis(20);

/// Time that blocking tasks get to return at the end.
const SHUTDOWN: Duration = Duration::from_millis(500);

pub(super) fn run(arguments: &Arguments) -> Result<Exit> {
    if arguments.detach {
        return detach(arguments);
    }
    if arguments.detached {
        // The terminal must not end the process. Fails only if that is not necessary.
        let _ = rustix::process::setsid();
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build()?;
    let mut options = Options::new(state_dir()?);
    options.idle_exit = arguments.idle_exit.map(Duration::from_secs);
    options.notify.desktop = !arguments.no_desktop;
    options.notify.webhook = webhook();
    options.otlp = match arguments.otlp.as_deref() {
        Some("") => match std::env::var("OTEL_EXPORTER_OTLP_ENDPOINT") {
            Ok(url) if !url.is_empty() => Some(url),
            _ => bail!("`--otlp` has no URL, and the variable OTEL_EXPORTER_OTLP_ENDPOINT is not set; set one of them"),
        },
        url => url.map(str::to_owned),
    };
    let end = runtime.block_on(async {
        let signal = crate::interrupt::listen().context("cannot install signal handlers")?;
        let server = Server::start(options).await?;
        if !arguments.detached {
            announce(&server.status())?;
        }
        Ok(match server.run(signal).await {
            End::Replaced => {
                print_failure("another process has taken the place of this one, after its directory was removed");
                exit::FAILURE
            }
            _ => exit::SUCCESS,
        })
    });
    runtime.shutdown_timeout(SHUTDOWN);
    end
}

/// The webhook of the user's or the administrator's files, with its secret.
#[cfg(feature = "http")]
fn webhook() -> Option<checkrein_serve::notify::Webhook> {
    let loaded = Sources::discover_in(&native::DIALECT, "/", Locations::default()).load();
    let settings = loaded.approval_webhook?;
    let (secret, problem) = match secret(&settings) {
        Ok(secret) => (secret, None),
        Err(why) => (None, Some(format!("cannot use `approval_webhook`: {why}"))),
    };
    if let Some(problem) = &problem {
        print_failure(problem);
    }
    Some(checkrein_serve::notify::Webhook { url: settings.url, secret, ca_file: settings.ca_file, problem })
}

/// Returns the secret of the webhook. `None`: it has none.
#[cfg(feature = "http")]
fn secret(settings: &checkrein::dialects::config::WebhookSettings) -> Result<Option<String>, String> {
    use checkrein::internal::regular_file;
    use checkrein::internal::webhooks::fill;
    use std::os::unix::fs::MetadataExt as _;

    /// Maximum size of a file with a secret, in bytes.
    const MAX_SECRET: u64 = 4096;

    if let Some(named) = &settings.secret_file {
        let path = match (named.strip_prefix("~/"), Locations::default().home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => named.into(),
        };
        let shown = path.display();
        let metadata = std::fs::metadata(&path).map_err(|error| format!("the `secret_file` {shown}: {error}"))?;
        let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
        if !is_own || metadata.mode() & 0o077 != 0 {
            return Err(format!("others can read the `secret_file` {shown}; run `chmod 600 {shown}`"));
        }
        let text = regular_file::read_text(&path, MAX_SECRET);
        let text = text.map_err(|error| format!("the `secret_file` {shown}: {}", std::io::Error::from(error)))?;
        return match text.trim() {
            "" => Err(format!("the `secret_file` {shown} is empty")),
            secret => Ok(Some(secret.to_owned())),
        };
    }
    let Some(secret) = &settings.secret else { return Ok(None) };
    let unset = std::cell::RefCell::new(Vec::new());
    let value = |name: &str| {
        let is_allowed = settings.env.iter().any(|allowed| allowed == name);
        let value = if is_allowed { std::env::var(name).ok() } else { None };
        if value.is_none() {
            unset.borrow_mut().push((name.to_owned(), is_allowed));
        }
        value
    };
    let filled = fill(secret, value);
    match unset.into_inner().first() {
        Some((name, true)) => {
            Err(format!("the variable `{name}` is not set in the resident process; use `secret_file`"))
        }
        Some((name, false)) => Err(format!("`allowedEnvVars` does not list the variable `{name}` of the secret")),
        None if filled.is_empty() => Err("the secret is empty".to_owned()),
        None => Ok(Some(filled)),
    }
}

#[cfg(not(feature = "http"))]
fn webhook() -> Option<checkrein_serve::notify::Webhook> {
    None
}

/// Tells where the page is, and how to end.
fn announce(status: &ProcessStatus) -> Result<()> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "checkrein serves (pid {})", status.pid)?;
    if let Some(page) = &status.page {
        writeln!(out, "page: {} (open it with `checkrein live`)", printable(page))?;
    }
    out.flush()?;
    print_note("stop it with Ctrl-C, or with `checkrein serve stop`");
    Ok(())
}

/// Starts the process in its own session, and waits until it answers.
fn detach(arguments: &Arguments) -> Result<Exit> {
    let state = state_dir()?;
    let mut errors = tempfile::tempfile().context("cannot create a temporary file")?;
    let program = checkrein_tools::own_program::path().context("cannot determine the path of this program")?;
    let mut command = Command::new(program);
    command.args(["serve", "--detached"]);
    if arguments.no_desktop {
        command.arg("--no-desktop");
    }
    if let Some(seconds) = arguments.idle_exit {
        command.arg("--idle-exit").arg(seconds.to_string());
    }
    if let Some(url) = &arguments.otlp {
        command.arg(format!("--otlp={url}"));
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors.try_clone()?).current_dir("/");
    let mut child = command.spawn().context("cannot start the process")?;
    let deadline = Instant::now() + READY;
    loop {
        // Another process may answer: then this one ends, with the reason.
        let answer = Client::connect(&state).and_then(|mut client| client.status(READY));
        match answer {
            Ok(status) if status.pid == child.id() => {
                let mut out = anstream::stdout().lock();
                writeln!(out, "checkrein serves in the background (pid {})", status.pid)?;
                if let Some(page) = &status.page {
                    writeln!(out, "page: {} (open it with `checkrein live`)", printable(page))?;
                }
                status.problems.iter().for_each(|problem| print_failure(problem));
                // Approvals and warm hooks work without the page, so the process stays.
                return Ok(if status.page.is_some() { exit::SUCCESS } else { exit::FAILURE });
            }
            _ if child.try_wait()?.is_some() => bail!("{}", reason(&mut errors)?),
            _ if Instant::now() >= deadline => {
                let _ = child.kill();
                let _ = child.wait();
                bail!("the process did not answer in {} s, so it was ended", READY.as_secs());
            }
            _ => std::thread::sleep(POLL),
        }
    }
}

/// The error of a process that has ended.
fn reason(errors: &mut File) -> Result<String> {
    let mut text = String::new();
    errors.rewind()?;
    errors.take(4096).read_to_string(&mut text)?;
    let text = text.trim();
    let text = text.strip_prefix("checkrein: ").unwrap_or(text);
    Ok(if text.is_empty() { "the process ended without a reason".to_owned() } else { text.to_owned() })
}
