//! What happens when somebody has seen enough: all that hooks have started is ended, then the program leaves.
//!
//! Every command that runs hooks does so through [`block_on`].

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

/// How long functions that cannot be stopped are waited for.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(200);

/// The engines that a command runs hooks with.
#[derive(Default)]
pub struct Engines(Mutex<Vec<Engine>>);

impl Engines {
    /// Ends what this engine has started, also in the background, if the program is interrupted.
    pub fn register(&self, engine: &Engine) {
        self.lock().push(engine.clone());
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Engine>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The program was told to end while it worked.
#[derive(Debug, Clone, Copy)]
pub struct Interrupted {
    /// As shells number it.
    pub exit: Exit,
}

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("interrupted; all that hooks had started was ended")
    }
}

impl std::error::Error for Interrupted {}

/// Does the work on a runtime of its own. If the program is told to end meanwhile, the work is dropped, all that the engines
/// have started is ended, and the error is [`Interrupted`].
pub fn block_on<F: Future>(engines: &Engines, work: F) -> Result<F::Output> {
    // This thread works too; more than two would only cost time to start.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let done = runtime.block_on(async {
        let mut signals = Signals::listen().context("cannot listen to signals")?;
        let told = {
            let (work, signal) = (pin!(work), pin!(signals.next()));
            match select(work, signal).await {
                Either::Left((output, _)) => return Ok(output),
                Either::Right((exit, _)) => exit,
            }
        };
        // The work is gone with this block, and what it had started was sent a KILL.
        let engines = std::mem::take(&mut *engines.lock());
        for engine in engines {
            engine.shutdown(Duration::ZERO).await;
        }
        Err(Interrupted { exit: told }.into())
    });
    runtime.shutdown_timeout(SHUTDOWN_TIMEOUT);
    done
}

/// Waits until the program is told to end. If nobody can listen, for ever.
pub async fn shutdown_requested() {
    match Signals::listen() {
        Ok(mut signals) => drop(signals.next().await),
        Err(_) => std::future::pending().await,
    }
}

/// The signals that ask the program to end: HUP, INT and TERM.
#[cfg(unix)]
struct Signals([(Signal, Exit); 3]);

#[cfg(unix)]
impl Signals {
    /// Listens from now on. Must be called inside of a runtime.
    fn listen() -> io::Result<Self> {
        let listener = |kind: SignalKind| signal(kind).map(|signal| (signal, Exit::of_signal(kind.as_raw_value())));
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
    /// Listens from now on. Must be called inside of a runtime.
    fn listen() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    /// Waits for the next event. Returns the exit code that shells give it.
    async fn next(&mut self) -> Exit {
        self.0.recv().await;
        Exit::of_signal(2)
    }
}
