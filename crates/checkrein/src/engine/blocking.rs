//! Firing from code that is not asynchronous.

use tokio::runtime::{Builder, Handle};

use checkrein_core::{Failure, FailureKind, HookInfo, Rules, Scope, Settlement, Source, Verdict};

/// Waits for the future on a runtime of its own, whatever runtime may be around.
pub(super) fn run(future: impl Future<Output = Verdict> + Send) -> Verdict {
    // One for each call: a shared one would be at the mercy of whatever else runs on it.
    let runtime = match Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return no_runtime(&error),
    };
    if Handle::try_current().is_err() {
        return runtime.block_on(future);
    }
    // A thread that belongs to a runtime must not wait for another one; one of its own may.
    std::thread::scope(|scope| {
        let waiting = scope.spawn(move || runtime.block_on(future));
        waiting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
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
