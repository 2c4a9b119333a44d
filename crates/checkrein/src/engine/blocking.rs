//! Synchronous fires: runtimes for [`Engine::fire_blocking`](super::Engine::fire_blocking).
//!
//! A blocking fire never runs on the host's runtime.

use std::sync::Mutex;
use std::thread::Builder as Thread;

use tokio::runtime::{Builder, Handle, Runtime};

use checkrein_core::{Event, Failure, FailureKind, HookInfo, Rules, Scope, Settlement, Source, Verdict};

use crate::sync::{get_mut, lock};

/// Idle runtimes with their open connections, kept for the next call.
#[derive(Default)]
pub(super) struct Blocking(Mutex<Vec<Runtime>>);

/// Maximum number of idle runtimes.
const MAX_IDLE: usize = 4;

impl Blocking {
    /// Runs the future on a runtime of its own. On a shared runtime, other tasks could delay it without limit.
    pub(super) fn run(&self, event: &Event, future: impl Future<Output = Verdict> + Send) -> Verdict {
        let idle = lock(&self.0).pop();
        let runtime = match idle.map_or_else(|| Builder::new_current_thread().enable_all().build(), Ok) {
            Ok(runtime) => runtime,
            Err(error) => return no_runtime(event, &error),
        };
        let future = async {
            let verdict = future.await;
            // Lets tasks that close connections run: the runtime may be idle for a long time afterwards.
            tokio::task::yield_now().await;
            verdict
        };
        let verdict = if Handle::try_current().is_err() {
            runtime.block_on(future)
        } else {
            // A thread of a runtime must not block on another runtime, so a new thread does.
            std::thread::scope(|scope| match Thread::new().spawn_scoped(scope, || runtime.block_on(future)) {
                Ok(waiting) => waiting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                Err(error) => no_runtime(event, &error),
            })
        };
        let mut runtimes = lock(&self.0);
        if runtimes.len() < MAX_IDLE {
            runtimes.push(runtime);
        } else {
            runtime.shutdown_background();
        }
        verdict
    }
}

impl Drop for Blocking {
    fn drop(&mut self) {
        // The last engine may be dropped inside a runtime, where blocking on another one is not allowed.
        for runtime in get_mut(&mut self.0).drain(..) {
            runtime.shutdown_background();
        }
    }
}

/// Verdict of a fire that could not run any hook: gates are closed.
fn no_runtime(event: &Event, error: &std::io::Error) -> Verdict {
    let mut settlement = Settlement::new(&Rules::NATIVE, event);
    let engine = std::sync::Arc::new(HookInfo::new("engine", Source::for_scope(Scope::Code)));
    let failure = Failure::new(FailureKind::Spawn, format!("cannot create a tokio runtime for hooks: {error}"));
    let _ = settlement.push_failure(0, &engine, &failure);
    settlement.finish()
}
