//! Hook runs in the host's traces and metrics.
//!
//! `cargo run -p checkrein --example observer_tracing`

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use checkrein::observer::HookRun;
use checkrein::payload::ToolCall;
use checkrein::record::HookRecord;
use checkrein::{Engine, Event, EventKind, Observer, Opinion, RawJson, Record};
use tracing::{info, warn};

/// Total time of each hook. Hooks wait for observers, so an observer must be quick.
#[derive(Clone, Default)]
struct Waits(Arc<Mutex<BTreeMap<String, Duration>>>);

impl Observer for Waits {
    fn finished(&self, run: &HookRun, record: &HookRecord, took: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(run.hook.id.clone()).or_default() += took;
        // A record may contain output of a command, so only safe fields are logged.
        match record.failure {
            Some(kind) => warn!(hook = run.hook.id, %kind, "hook failed"),
            None => info!(hook = run.hook.id, decision = record.decision.map(tracing::field::display), "hook ran"),
        }
    }

    fn settled(&self, record: &Record) {
        info!(event = record.event, decision = %record.verdict.decision, "event settled");
    }
}

#[tokio::main]
async fn main() -> Result<(), checkrein::JsonError> {
    // The engine has its own spans (`checkrein.fire`, `checkrein.hook`) at level `debug`. The host sets the subscriber; the
    // library sets none.
    let subscriber = tracing_subscriber::fmt().with_max_level(tracing::Level::DEBUG).without_time().finish();
    let _installed = tracing::subscriber::set_default(subscriber);

    let waits = Waits::default();
    let engine = Engine::builder()
        .observer(waits.clone())
        .on(EventKind::PreToolUse, "guard", |_| Opinion::allow())
        .on(EventKind::PreToolUse, "broken", |_| -> Result<Opinion, &str> { Err("the list cannot be read") })
        .build();
    let input: RawJson = r#"{"command": "ls"}"#.parse()?;
    let verdict = engine.fire(Event::pre_tool_use(ToolCall::new("Bash", input))).await;

    let waits = waits.0.lock().unwrap_or_else(PoisonError::into_inner);
    info!(action = ?verdict.action(), hooks = waits.len(), "done");
    assert_eq!(waits.len(), 2);
    Ok(())
}

#[cfg(test)]
#[test]
fn runs() {
    main().unwrap();
}
