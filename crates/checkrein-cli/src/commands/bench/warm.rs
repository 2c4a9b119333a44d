//! Measurement of hooks in the warm interpreters of the resident process.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use checkrein::engine::EngineBuilder;
use checkrein::handler::HandlerEnv;
use checkrein::handler::warm::{InterpreterCommand, WarmInterpreter, WarmInterpreters, warm_state};
use checkrein::{Engine, HookSpec, Registry};
use checkrein_serve::client::Client;
use checkrein_serve::warm::WarmClient;

use super::super::progress::Progress;
use super::measure::{BenchResult, Stopwatch};
use super::times::Times;
use crate::interrupt::Engines;

/// Maximum number of runs of a hook. Each run ends its interpreter, and the next run waits for a new one.
const MAX_RUNS: usize = 20;

/// Time between two runs, in which the resident process starts the next interpreter.
const PAUSE: Duration = Duration::from_millis(400);

/// Time without an interpreter after which the measurement of a hook ends.
const PATIENCE: Duration = Duration::from_secs(8);

/// The resident process, with the number of interpreters that it gave.
#[derive(Debug)]
struct CountingClient {
    client: WarmClient,
    taken: AtomicUsize,
}

impl WarmInterpreters for CountingClient {
    fn take(&self, command: &InterpreterCommand) -> Option<WarmInterpreter> {
        let taken = self.client.take(command)?;
        self.taken.fetch_add(1, Ordering::Relaxed);
        Some(taken)
    }
}

/// Adds the times of warm runs to hooks that can run warm. Prints a note if the resident process does not run.
///
/// `engine` builds an engine with one hook.
pub async fn measure(
    outcomes: &mut [BenchResult],
    runs: usize,
    dir: &Path,
    engines: &Engines,
    engine: impl Fn(&Arc<HookSpec>, Stopwatch) -> EngineBuilder,
) {
    let env = HandlerEnv::new(dir, std::env::vars_os(), Registry::new());
    let can_run_warm = |hook: &HookSpec| matches!(warm_state(hook, &env), Some(Ok(_)));
    if !outcomes.iter().flat_map(|outcome| &outcome.hooks).any(|own| can_run_warm(&own.hook)) {
        return;
    }
    let state = checkrein::internal::state::directory();
    let Some(state) = state.filter(|state| Client::connect(state).is_ok()) else {
        super::super::print_note(
            "Python and Node hooks are measured cold; start `checkrein serve --detach` to measure them warm too",
        );
        return;
    };
    let mut progress = Progress::new();
    for outcome in outcomes {
        for own in outcome.hooks.iter_mut().filter(|own| can_run_warm(&own.hook)) {
            let client = Arc::new(CountingClient { client: WarmClient::of_user(&state), taken: AtomicUsize::new(0) });
            let stopwatch = Stopwatch::default();
            let built: Engine =
                engine(&own.hook, stopwatch.clone()).interpreters(Arc::clone(&client) as Arc<_>).build();
            let alone = Stopwatch::default();
            let new: Engine = engine(&own.hook, alone.clone()).build();
            engines.register(&built);
            engines.register(&new);
            let (mut times, mut cold) = (Vec::new(), Vec::new());
            let mut last = Instant::now();
            while times.len() < runs.min(MAX_RUNS) && last.elapsed() < PATIENCE {
                progress.show(|| format!("{}, warm: run {}", own.hook.info.id, times.len() + 1));
                let before = client.taken.load(Ordering::Relaxed);
                built.fire_recorded(outcome.event.clone()).await;
                let sample = stopwatch.take();
                if client.taken.load(Ordering::Relaxed) > before
                    && let Some(took) = sample
                {
                    times.push(took);
                    last = Instant::now();
                    // The other hooks of the event do not run now, so a cold run alone is the one to compare with.
                    new.fire_recorded(outcome.event.clone()).await;
                    cold.extend(alone.take());
                }
                tokio::time::sleep(PAUSE).await;
            }
            own.warm = Times::new(times);
            own.cold = Times::new(cold);
            if own.warm.is_none() {
                let id = &own.hook.info.id;
                super::super::print_note(&format!("`{id}` got no warm interpreter; `checkrein doctor` tells why"));
            }
        }
    }
}
