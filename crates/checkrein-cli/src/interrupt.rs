//! Shutdown after a signal: the program ends all processes of hooks, then exits.
//!
//! Every command that runs hooks uses [`block_on`]. `checkrein hook` uses [`shutdown_requested`], because it must still answer
//! the agent.

use std::fmt;
#[cfg(unix)]
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::{Mutex, PoisonError};
#[cfg(unix)]
use std::task::Poll;
use std::time::Duration;

use anyhow::{Context, Result};
use checkrein::Engine;
use futures_util::future::{Either, select};
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::exit::Exit;

/// Time that blocking functions get to return after a signal.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(200);

/// The engines that a command runs hooks with.
#[derive(Default)]
pub struct Engines(Mutex<Vec<Engine>>);

impl Engines {
    /// Registers an engine whose processes, also in the background, end if the program is interrupted.
    pub fn register(&self, engine: &Engine) {
        self.lock().push(engine.clone());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Engine>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A signal asked the program to exit.
#[derive(Debug, Clone, Copy)]
pub struct Interrupted {
    /// The code that shells use after this signal.
    pub exit: Exit,
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted; all processes of hooks were ended")
    }
}

impl std::error::Error for Interrupted {}

/// Runs a future on a new runtime. A signal drops the future, ends all processes of the engines, and returns
/// [`Interrupted`].
pub fn block_on<F: Future>(engines: &Engines, work: F) -> Result<F::Output> {
    // This thread runs the future; one more for tasks is enough, and each costs time to start.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let done = runtime.block_on(async {
        let mut signals = Signals::listen().context("cannot install signal handlers")?;
        let exit = {
            let (work, signal) = (pin!(work), pin!(signals.next()));
            match select(work, signal).await {
                Either::Left((output, _)) => return Ok(output),
                Either::Right((exit, _)) => exit,
            }
        };
        // The future is dropped here, which kills the processes that it started.
        let engines = std::mem::take(&mut *engines.lock());
        for engine in engines {
            engine.shutdown(Duration::ZERO).await;
        }
        Err(Interrupted { exit }.into())
    });
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    done
}

/// Waits for a signal that asks the program to exit. Never returns if signal handlers cannot be installed.
pub async fn shutdown_requested() {
    match Signals::listen() {
        Ok(mut signals) => drop(signals.next().await),
        Err(_) => std::future::pending().await,
    }
}

/// Listens from now on for a signal that asks the program to exit. The future waits for it. Must be called in a runtime.
#[cfg(unix)]
pub fn listen() -> io::Result<impl Future<Output = ()>> {
    let mut signals = Signals::listen()?;
    Ok(async move {
        signals.next().await;
    })
}

/// The signals that ask the program to end: HUP, INT and TERM.
#[cfg(unix)]
struct Signals([(Signal, Exit); 3]);

#[cfg(unix)]
impl Signals {
    /// Listens from now on. Must be called in a runtime.
    fn listen() -> io::Result<Self> {
        let listener = |kind: SignalKind| signal(kind).map(|signal| (signal, Exit::from_signal(kind.as_raw_value())));
        Ok(Self([
            listener(SignalKind::hangup())?,
            listener(SignalKind::interrupt())?,
            listener(SignalKind::terminate())?,
        ]))
    }

    /// Waits for the next signal. Returns the exit code that shells give it.
    async fn next(&mut self) -> Exit {
        poll_fn(|context| {
            for (signal, exit) in &mut self.0 {
                if signal.poll_recv(context).is_ready() {
                    return Poll::Ready(*exit);
                }
            }
            Poll::Pending
        })
        .await
    }
}

/// The event that asks the program to end: Ctrl-C.
#[cfg(windows)]
struct Signals(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Signals {
    /// Listens from now on. Must be called in a runtime.
    fn listen() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    /// Waits for the next event. Returns the exit code that shells give it.
    async fn next(&mut self) -> Exit {
        self.0.recv().await;
        Exit::from_signal(2)
    }
}
