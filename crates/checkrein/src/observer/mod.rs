//! Watching hooks run.

mod lines;

pub use lines::HookLines;

use std::sync::Arc;
use std::time::Duration;

use crate::engine::Reload;
use checkrein_core::{EventKind, HookInfo, HookRecord, Record};

/// Is told of every hook that starts and ends: enough for a progress line or a span. What it does must be quick, since
/// hooks wait for it; if it panics, nothing comes of that but a failure in the verdict.
pub trait Observer: Send + Sync + 'static {
    /// A hook starts.
    fn started(&self, _run: &HookRun) {}

    /// A hook has ended.
    fn finished(&self, _run: &HookRun, _record: &HookRecord, _took: Duration) {}

    /// An event has been settled. Not called for events that no hook fits.
    fn settled(&self, _record: &Record) {}

    /// Files that hooks come from have changed. Called after the new hooks are in place; what is fired from now on, and from
    /// within, runs them.
    fn reloaded(&self, _change: &Reload) {}
}

/// One run of a hook.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookRun {
    /// The same number when it starts and when it ends; no other run of the engine has it.
    pub number: u64,
    /// The kind of the event.
    pub kind: EventKind,
    /// What matchers were compared with.
    pub subject: Option<String>,
    /// The hook.
    pub hook: Arc<HookInfo>,
    /// What does its work.
    pub handler: String,
    /// Whether the host does not wait for it.
    pub background: bool,
}
