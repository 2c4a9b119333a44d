//! Firing from code that is not asynchronous.

use std::sync::Mutex;
use std::thread::Builder as Thread;

use tokio::runtime::{Builder, Handle, Runtime};

use checkrein_core::{Event, Failure, FailureKind, HookInfo, Rules, Scope, Settlement, Source, Verdict};

use crate::sync::{get_mut, lock};

/// Runtimes that wait for the next call, with the connections that they keep.
#[derive(Default)]
pub(super) struct Blocking(Mutex<Vec<Runtime>>);

/// How many runtimes are kept.
const KEPT: usize = 4;

impl Blocking {
    /// Waits for the future on a runtime that nobody else uses meanwhile, whatever runtime may be around: on a shared one
    /// it would be at the mercy of whatever else runs there.
    pub(super) fn run(&self, event: &Event, future: impl Future<Output = Verdict> + Send) -> Verdict {
        let kept = lock(&self.0).pop();
        let runtime = match kept.map_or_else(|| Builder::new_current_thread().enable_all().build(), Ok) {
            Ok(runtime) => runtime,
            Err(error) => return no_runtime(event, &error),
        };
        let future = async {
            let verdict = future.await;
            // Tasks that close connections have their turn: the runtime may not run again for long.
            tokio::task::yield_now().await;
            verdict
        };
        let verdict = if Handle::try_current().is_err() {
            runtime.block_on(future)
        } else {
            // A thread that belongs to a runtime must not wait for another one; one of its own may.
            std::thread::scope(|scope| match Thread::new().spawn_scoped(scope, || runtime.block_on(future)) {
                Ok(waiting) => waiting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                Err(error) => no_runtime(event, &error),
            })
        };
        let mut runtimes = lock(&self.0);
        if runtimes.len() < KEPT {
            runtimes.push(runtime);
        } else {
            runtime.shutdown_background();
        }
        verdict
    }
}

impl Drop for Blocking {
    fn drop(&mut self) {
        // The last engine may go inside of a runtime, where waiting for another one is not allowed.
        for runtime in get_mut(&mut self.0).drain(..) {
            runtime.shutdown_background();
        }
    }
}

/// No hook could run at all: gates are closed.
fn no_runtime(event: &Event, error: &std::io::Error) -> Verdict {
    let mut settlement = Settlement::new(&Rules::NATIVE, event);
    let engine = std::sync::Arc::new(HookInfo::new("engine", Source::of(Scope::Code)));
    let failure = Failure::new(FailureKind::Spawn, format!("no runtime can be made for hooks: {error}"));
    let _ = settlement.push_failure(0, &engine, &failure);
    settlement.finish()
}
