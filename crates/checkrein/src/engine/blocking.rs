//! Firing from code that is not asynchronous.

use std::sync::{Mutex, PoisonError};

use tokio::runtime::{Builder, Handle, Runtime};

use checkrein_core::{Failure, FailureKind, HookInfo, Rules, Scope, Settlement, Source, Verdict};

/// A runtime of the engine's own, made when it is first needed.
#[derive(Default)]
pub(super) struct Blocking(Mutex<Option<Runtime>>);

impl Blocking {
    /// Waits for the future on a runtime of its own, whatever runtime may be around.
    pub(super) fn run(&self, future: impl Future<Output = Verdict> + Send) -> Verdict {
        let handle = match self.handle() {
            Ok(handle) => handle,
            Err(error) => return no_runtime(&error),
        };
        if Handle::try_current().is_err() {
            return handle.block_on(future);
        }
        // A thread that belongs to a runtime must not wait for another one; one of its own may.
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| handle.block_on(future));
            waiting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn handle(&self) -> std::io::Result<Handle> {
        let mut runtime = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime) = &*runtime {
            return Ok(runtime.handle().clone());
        }
        let made = Builder::new_multi_thread().worker_threads(1).thread_name("checkrein").enable_all().build()?;
        Ok(runtime.insert(made).handle().clone())
    }
}

impl Drop for Blocking {
    fn drop(&mut self) {
        // The last engine may go inside of a runtime, where waiting for another one is not allowed.
        if let Some(runtime) = self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            runtime.shutdown_background();
        }
    }
}

/// No hook could run at all: nothing may pass that hooks guard.
fn no_runtime(error: &std::io::Error) -> Verdict {
    let event = checkrein_core::Event::pre_tool_use(checkrein_core::payload::ToolCall::default());
    let mut settlement = Settlement::new(&Rules::NATIVE, &event);
    let engine = std::sync::Arc::new(HookInfo::new("engine", Source::of(Scope::Code)));
    let failure = Failure::new(FailureKind::Spawn, format!("no runtime can be made for hooks: {error}"));
    let _ = settlement.push_failure(0, &engine, &failure);
    settlement.finish()
}
