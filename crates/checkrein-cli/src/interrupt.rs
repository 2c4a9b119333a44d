//! What happens when somebody has seen enough: all that hooks have started is ended, then the program leaves.
//!
//! Every command that runs hooks does so through [`block_on`].

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use checkrein::Engine;
use futures_util::future::{Either, select};

use crate::exit::Exit;

/// How long functions that cannot be stopped are waited for.
const LAST_MOMENT: Duration = Duration::from_millis(200);

/// The engines that a command runs hooks with.
#[derive(Default)]
pub struct Engines(Mutex<Vec<Engine>>);

impl Engines {
    /// Ends what this engine has started, also in the background, if the program is interrupted.
    pub fn look_after(&self, engine: &Engine) {
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
    // Before there are other threads.
    let prepared = Signals::prepare().context("cannot listen to signals")?;
    // This thread works too; more than two would only cost time to start.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let done = runtime.block_on(async {
        let mut signals = prepared.listen().context("cannot listen to signals")?;
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
    runtime.shutdown_timeout(LAST_MOMENT);
    done
}

/// Waits until the program is told to end. If nobody can listen, for ever.
pub async fn told() {
    match Signals::prepare().and_then(Signals::listen) {
        Ok(mut signals) => drop(signals.next().await),
        Err(_) => std::future::pending().await,
    }
}

#[cfg(target_os = "linux")]
struct Signals(checkrein_process::EndSignals);

#[cfg(target_os = "linux")]
impl Signals {
    fn prepare() -> std::io::Result<Self> {
        checkrein_process::EndSignals::new().map(Self)
    }

    fn listen(self) -> std::io::Result<Self> {
        Ok(self)
    }

    async fn next(&mut self) -> Exit {
        match self.0.next().await {
            Ok(signal) => Exit::of_signal(signal),
            // Nobody can tell; whoever has seen enough has KILL.
            Err(_) => std::future::pending().await,
        }
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
struct Signals(Vec<(tokio::signal::unix::Signal, Exit)>);

#[cfg(all(unix, not(target_os = "linux")))]
impl Signals {
    fn prepare() -> std::io::Result<Self> {
        Ok(Self(Vec::new()))
    }

    /// Inside of a runtime.
    fn listen(self) -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let all = [SignalKind::hangup(), SignalKind::interrupt(), SignalKind::terminate()];
        let listen = |kind: SignalKind| Ok((signal(kind)?, Exit::of_signal(kind.as_raw_value())));
        all.into_iter().map(listen).collect::<std::io::Result<_>>().map(Self)
    }

    async fn next(&mut self) -> Exit {
        std::future::poll_fn(|context| {
            for (signal, exit) in &mut self.0 {
                if signal.poll_recv(context).is_ready() {
                    return std::task::Poll::Ready(*exit);
                }
            }
            std::task::Poll::Pending
        })
        .await
    }
}

#[cfg(windows)]
struct Signals(Option<tokio::signal::windows::CtrlC>);

#[cfg(windows)]
impl Signals {
    fn prepare() -> std::io::Result<Self> {
        Ok(Self(None))
    }

    /// Inside of a runtime.
    fn listen(self) -> std::io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(|signal| Self(Some(signal)))
    }

    async fn next(&mut self) -> Exit {
        match &mut self.0 {
            Some(signal) => drop(signal.recv().await),
            None => std::future::pending().await,
        }
        Exit::of_signal(2)
    }
}
