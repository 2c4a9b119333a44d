//! The engine: selects, runs and settles hooks of every kind.
//!
//! Agent authors embed [`Engine`]; `checkrein-tools` and the command-line program use it too. The engine never changes
//! process-wide state, and every failed hook is in the verdict.
//!
//! ```
//! use checkrein::payload::ToolCall;
//! use checkrein::{Engine, Event, EventKind, HookSpec, Matcher, RawJson};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), checkrein::JsonError> {
//! let engine = Engine::builder()
//!     .hook(
//!         HookSpec::shell("no-shell", EventKind::PreToolUse, "echo 'no shell in here' >&2; exit 2")
//!             .matching(Matcher::names(["Bash"])),
//!     )
//!     .build();
//!
//! let input: RawJson = r#"{"command": "ls"}"#.parse()?;
//! let verdict = engine.fire(Event::pre_tool_use(ToolCall::new("Bash", input))).await;
//! assert_eq!(verdict.reason(), Some("no shell in here"));
//! # Ok(())
//! # }
//! ```
//!
//! # Steps of a fire
//!
//! 1. The index of [`HookSet`](checkrein_core::HookSet) selects the hooks that match the event.
//! 2. Hooks that declare rewrites run one after the other, each on the result of the one before.
//! 3. All other hooks run in parallel. Each hook has its own deadline.
//! 4. The hook's dialect parses each reply, and a [`Settlement`](checkrein_core::Settlement) combines the opinions.
//!
//! Dropping the future of a fire ends every process and request that it started.

mod approve;
mod background;
mod blocking;
mod builder;
mod conditions;
mod dispatch;
mod dry_run;
mod execute;
mod explain;
mod hooks;
mod input_fields;
mod load_error;
mod parallel;
mod reload;
mod rule_command;
mod rule_path;
mod rule_source;
mod spill;
mod stop_limit;
#[cfg(feature = "watch")]
mod watch;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use arc_swap::ArcSwap;
use checkrein_core::{Compat, Envelope, Event, EventKind, Panic, Record, Verdict, catch_panic};
use tokio::sync::Semaphore;

use background::Background;
pub use background::{Completion, Completions, ShutdownReport};
use blocking::Blocking;
pub use builder::EngineBuilder;
pub use explain::ExplainedHook;
use hooks::LoadedHooks;
pub use hooks::{Problem, ProblemKind};
pub use load_error::LoadError;
use reload::FromFiles;
pub use reload::Reload;
use rule_source::RuleSource;
#[doc(hidden)]
pub use stop_limit::StopLimit;
#[cfg(feature = "watch")]
pub use watch::{FileWatch, Watch};

use crate::approver::Approver;
use crate::handler::HandlerEnv;
use crate::hook_files::FileState;
use crate::observer::Observer;
use crate::session_store::SessionStore;
use checkrein_dialects::HookSpec;
use checkrein_dialects::config::Diagnostic;

/// Runs hooks. Cheap to clone: clones share hooks and limits. See the [module](self).
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
    envelope: Option<EnvelopeFactory>,
}

type EnvelopeFactory = Arc<dyn Fn() -> Envelope + Send + Sync>;

pub(crate) struct Shared {
    hooks: ArcSwap<LoadedHooks>,
    files: FromFiles,
    env: HandlerEnv,
    rules: RuleSource,
    /// The host's choice about unsafe rules of agents. Takes precedence over hook files.
    compat: Option<Compat>,
    /// Audit log of the host. Hook files can name another one.
    #[cfg(feature = "audit")]
    audit: Option<crate::audit::AuditLog>,
    observers: Vec<Arc<dyn Observer>>,
    /// Resolves questions of hooks. `None`: the host asks its user.
    approver: Option<Arc<dyn Approver>>,
    /// Maximum time of the approver.
    approver_timeout: Duration,
    /// Limits the handlers that run at the same time.
    running: Semaphore,
    next_run: AtomicU64,
    stops: StopLimit,
    sessions: Arc<dyn SessionStore>,
    background: Background,
    blocking: Blocking,
}

impl Engine {
    /// Returns a builder with default settings.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::new()
    }

    /// Returns this engine for another agent: with the same hooks and its own envelope.
    ///
    /// The function is called once per fire, because some fields change during a session, such as the permission mode.
    /// Fields of the event take precedence. If the function panics, hooks run without its fields, and the fire has a
    /// failure: gates close, unless the rules say otherwise.
    #[must_use]
    pub fn for_agent(&self, envelope: impl Fn() -> Envelope + Send + Sync + 'static) -> Self {
        Self { shared: Arc::clone(&self.shared), envelope: Some(Arc::new(envelope)) }
    }

    /// Runs the hooks that match the event. Dropping the future ends every process and request that it started.
    ///
    /// Needs a tokio runtime with I/O and time enabled; [`fire_blocking`](Self::fire_blocking) has its own.
    pub async fn fire(&self, event: Event) -> Verdict {
        match self.prepare_if_needed(event) {
            Some(prepared) => dispatch::fire(&self.shared, prepared, None).await,
            None => Verdict::default(),
        }
    }

    /// As [`fire`](Self::fire), but builds the event only if needed.
    ///
    /// The event is needed if a hook could run. A prompt is also needed after a refused stop, because it resets the count
    /// of refusals.
    pub async fn fire_with(&self, kind: &EventKind, event: impl FnOnce() -> Event) -> Verdict {
        // Hooks of the parent kind run too: `PreShell` also runs hooks for `PreToolUse`.
        let could_run = || self.has(kind) || kind.parent_kind().is_some_and(|parent| self.has(&parent));
        if could_run() || self.shared.stops.needs(kind) { self.fire(event()).await } else { Verdict::default() }
    }

    /// As [`fire`](Self::fire). Also returns a record of every hook that ran or was skipped.
    pub async fn fire_recorded(&self, event: Event) -> (Verdict, Record) {
        let mut record = None;
        let prepared = self.prepare(event);
        let event = Arc::clone(&prepared.event);
        let verdict = dispatch::fire(&self.shared, prepared, Some(&mut record)).await;
        let record = record.unwrap_or_else(|| Record::new(&event, self.shared.rules.name(), &verdict, Vec::new()));
        (verdict, record)
    }

    /// As [`fire`](Self::fire), for synchronous code. Inside a runtime it blocks the calling thread.
    pub fn fire_blocking(&self, event: Event) -> Verdict {
        match self.prepare_if_needed(event) {
            Some(prepared) => {
                let event = Arc::clone(&prepared.event);
                self.shared.blocking.run(&event, dispatch::fire(&self.shared, prepared, None))
            }
            None => Verdict::default(),
        }
    }

    /// Returns `true` if a hook could run for events of this kind.
    ///
    /// Hooks of the [parent kind](EventKind::parent_kind) are not included: [`PreShell`](EventKind::PreShell) also runs
    /// hooks for [`PreToolUse`](EventKind::PreToolUse).
    pub fn has(&self, kind: &EventKind) -> bool {
        self.shared.hooks.load().set.has(kind)
    }

    /// Returns `true` if a hook would run for an event of this kind with this subject. Ignores conditions.
    pub fn would_fire(&self, kind: &EventKind, subject: &str) -> bool {
        self.shared.hooks.load().set.would_select(kind, subject)
    }

    /// Returns the hooks for events of this kind, in config order. Includes hooks that are disabled or never run there.
    pub fn hooks_for(&self, kind: &EventKind) -> Vec<Arc<HookSpec>> {
        let hooks = self.shared.hooks.load();
        hooks.specs().filter(|spec| spec.kinds.contains(kind)).cloned().collect()
    }

    /// Replaces all hooks atomically. Running fires finish with the hooks that they started with.
    ///
    /// If files change later, the next [`reload`](Self::reload) restores the hooks of the files and of the builder.
    pub fn replace_all(&self, hooks: Vec<HookSpec>) {
        self.shared.put(hooks, &hooks::FileSettings::default());
    }

    /// Reads the files of all [sources](EngineBuilder::sources) again and replaces their hooks atomically.
    ///
    /// Running fires finish with the hooks that they started with. If a file becomes unreadable, all hooks stay as they
    /// were. Blocks while it reads.
    pub fn reload(&self) -> Reload {
        self.shared.reload()
    }

    /// Reloads whenever the files of the [sources](EngineBuilder::sources) change, until the watch is dropped.
    ///
    /// Each reload with changes calls [`Observer::reloaded`].
    #[cfg(feature = "watch")]
    pub fn watch(&self) -> Watch {
        Watch::start(&self.shared)
    }

    /// Returns the problems in hook files, as of the last time that they were read.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.shared.files.diagnostics()
    }

    /// Returns the hook files, as of the last time that they were read.
    pub fn files(&self) -> Vec<FileState> {
        self.shared.files.states()
    }

    /// Returns the problems of hooks that were found when they were loaded.
    pub fn problems(&self) -> Vec<Problem> {
        self.shared.hooks.load().problems.clone()
    }

    /// Returns a receiver for the results of background hooks. Results before this call are not included.
    pub fn completions(&self) -> Completions {
        self.shared.background.completions()
    }

    /// Waits for background hooks until the timeout, then ends the rest. Also waits for processes of dropped fires.
    ///
    /// No background hook starts afterwards. A host calls this before it exits.
    pub async fn shutdown(&self, timeout: Duration) -> ShutdownReport {
        self.shared.background.shutdown(timeout).await
    }

    /// Prepares an event. Returns `None` if no hook could run.
    fn prepare_if_needed(&self, event: Event) -> Option<PreparedEvent> {
        let hooks = self.shared.hooks.load();
        let could_run = hooks.set.has_for(&event);
        if !could_run && hooks.uses_history {
            crate::policy::record_event(&*self.shared.sessions, &event, checkrein_core::Decision::NoOpinion);
        }
        // A prompt resets the count of refused stops even without hooks.
        if !could_run && !self.shared.stops.needs(&event.kind()) {
            return None;
        }
        let prepared = self.prepare(event);
        if could_run { Some(prepared) } else { None }
    }

    fn prepare(&self, mut event: Event) -> PreparedEvent {
        let without_envelope = self.put_in_envelope(&mut event).err();
        self.shared.stops.before(&mut event);
        PreparedEvent { event: Arc::new(event), without_envelope }
    }

    /// Adds the agent's envelope. Fails if the agent's function panics.
    fn put_in_envelope(&self, event: &mut Event) -> Result<(), Panic> {
        if let Some(envelope) = &self.envelope {
            let defaults = catch_panic(|| envelope())?;
            event.envelope = merge_envelopes(std::mem::take(&mut event.envelope), defaults);
        }
        Ok(())
    }
}

/// A complete event. In an `Arc`, because an event is too large to move around.
struct PreparedEvent {
    event: Arc<Event>,
    /// Panic of the agent's function for envelopes.
    without_envelope: Option<Panic>,
}

/// Fills missing fields of the event's envelope from the agent's.
fn merge_envelopes(event: Envelope, agent: Envelope) -> Envelope {
    let mut merged = agent;
    macro_rules! prefer {
        ($($field:ident)+) => { $( if event.$field.is_some() { merged.$field = event.$field; } )+ };
    }
    prefer!(session_id cwd transcript_path permission_mode agent_id agent_type turn);
    merged.extra.extend(event.extra);
    merged
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("hooks", &self.shared.hooks.load().specs().count()).finish_non_exhaustive()
    }
}
