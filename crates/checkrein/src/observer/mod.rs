//! Observers of hook runs, for progress lines, logs and metrics.
//!
//! Hosts implement [`Observer`]. An observer never affects the decision of hooks.

mod lines;

pub use lines::HookLines;

use std::sync::Arc;
use std::time::Duration;

use crate::engine::Reload;
use checkrein_core::{EventKind, HookInfo, HookRecord, Record};

/// Receives the start and end of every hook run, settled events and reloads.
///
/// Calls must be quick: hooks wait for them. A panic becomes a failure in the verdict and has no other effect.
pub trait Observer: Send + Sync + 'static {
    /// Called when a hook starts.
    fn started(&self, _run: &HookRun) {}

    /// Called when a hook has ended.
    fn finished(&self, _run: &HookRun, _record: &HookRecord, _took: Duration) {}

    /// Called when an event has been settled. Not called for events without matching hooks.
    fn settled(&self, _record: &Record) {}

    /// Called when hook files have changed. The new hooks are already in place, also for fires from within this call.
    fn reloaded(&self, _change: &Reload) {}
}

/// One run of a hook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookRun {
    /// Number of the run, unique within the engine.
    pub number: u64,
    /// Kind of the event.
    pub kind: EventKind,
    /// Subject that matchers were compared with.
    pub subject: Option<String>,
    /// The hook.
    pub hook: Arc<HookInfo>,
    /// Kind of the handler, such as `command`.
    pub handler: String,
    /// `true` if the fire does not wait for it.
    pub background: bool,
}
