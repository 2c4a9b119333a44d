//! The engine: what agent authors embed to run hooks of every kind.
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
//! # How a fire goes
//!
//! The hooks that fit are chosen by the index of [`HookSet`](checkrein_core::HookSet). Those that declare rewrites run
//! one on the result of the other; then all others run side by side. Each runs under its own deadline; what it gives
//! back is read, and pushed to a [`Settlement`](checkrein_core::Settlement). Dropping the future of a fire ends
//! everything that it has started.

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

use crate::handler::HandlerEnv;
use crate::hook_files::FileState;
use crate::observer::Observer;
use crate::session_store::SessionStore;
use checkrein_dialects::HookSpec;
use checkrein_dialects::config::Diagnostic;

/// Runs hooks. Cheap to clone; clones share hooks and limits. See the [module](self).
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
    /// What the host says about rules that are not safe, whatever files say.
    compat: Option<Compat>,
    /// Where the host wants to have written down what hooks decide.
    #[cfg(feature = "audit")]
    audit: Option<crate::audit::AuditLog>,
    observers: Vec<Arc<dyn Observer>>,
    /// How many limited handlers run at once.
    running: Semaphore,
    next_run: AtomicU64,
    stops: StopLimit,
    sessions: Arc<dyn SessionStore>,
    background: Background,
    blocking: Blocking,
}

impl Engine {
    /// An engine with its settings.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::new()
    }

    /// The same engine for another agent: the same hooks, its own envelope. The function is called once per fire, so
    /// that it can tell what changes during a session, such as the permission mode. What an event says itself counts
    /// more. If it panics, hooks run without, and that is a failure of the fire: gates are closed, or what the rules say.
    #[must_use]
    pub fn for_agent(&self, envelope: impl Fn() -> Envelope + Send + Sync + 'static) -> Self {
        Self { shared: Arc::clone(&self.shared), envelope: Some(Arc::new(envelope)) }
    }

    /// Runs the hooks that fit the event. Dropping the future ends everything that it has started.
    ///
    /// Needs a tokio runtime with I/O and time switched on; [`fire_blocking`](Self::fire_blocking) brings its own.
    pub async fn fire(&self, event: Event) -> Verdict {
        match self.prepare_if_needed(event) {
            Some(begun) => dispatch::fire(&self.shared, begun, None).await,
            None => Verdict::default(),
        }
    }

    /// As [`fire`](Self::fire), but builds the event only if a hook could run, or if it is a prompt and the agent has been kept
    /// from stopping: whose prompt it is, the event may have to say.
    pub async fn fire_with(&self, kind: &EventKind, event: impl FnOnce() -> Event) -> Verdict {
        // An event for some tools may be one for hooks for all tools too.
        let could_run = || self.has(kind) || kind.parent_kind().is_some_and(|general| self.has(&general));
        if could_run() || self.shared.stops.needs(kind) { self.fire(event()).await } else { Verdict::default() }
    }

    /// As [`fire`](Self::fire), with everything that happened.
    pub async fn fire_recorded(&self, event: Event) -> (Verdict, Record) {
        let mut record = None;
        let begun = self.prepared(event);
        let event = Arc::clone(&begun.event);
        let verdict = dispatch::fire(&self.shared, begun, Some(&mut record)).await;
        let record = record.unwrap_or_else(|| Record::new(&event, self.shared.rules.name(), &verdict, Vec::new()));
        (verdict, record)
    }

    /// As [`fire`](Self::fire), for code that is not asynchronous. Works inside of a runtime as well, where it blocks the
    /// thread that calls it.
    pub fn fire_blocking(&self, event: Event) -> Verdict {
        match self.prepare_if_needed(event) {
            Some(begun) => {
                let event = Arc::clone(&begun.event);
                self.shared.blocking.run(&event, dispatch::fire(&self.shared, begun, None))
            }
            None => Verdict::default(),
        }
    }

    /// Whether a hook could run for events of this kind. Hooks for all tools are not among those for some tools, such as
    /// [`PreShell`](EventKind::PreShell): ask for the [general](EventKind::general) kind too.
    pub fn has(&self, kind: &EventKind) -> bool {
        self.shared.hooks.load().set.has(kind)
    }

    /// Whether a hook would run for an event of this kind with this subject, conditions aside.
    pub fn would_fire(&self, kind: &EventKind, subject: &str) -> bool {
        self.shared.hooks.load().set.would_select(kind, subject)
    }

    /// The hooks for events of this kind, in config order, also those that are disabled or never run there.
    pub fn hooks_for(&self, kind: &EventKind) -> Vec<Arc<HookSpec>> {
        let hooks = self.shared.hooks.load();
        hooks.specs().filter(|spec| spec.kinds.contains(kind)).cloned().collect()
    }

    /// Puts these hooks in place of all there are, at once. Fires under way finish with those that they started with.
    ///
    /// If files have changed, the next [`reload`](Self::reload) puts theirs and those of the builder in place of these.
    pub fn replace_all(&self, hooks: Vec<HookSpec>) {
        self.shared.put(hooks, &hooks::FileSettings::default());
    }

    /// Reads the files of all [sources](EngineBuilder::sources) again, and puts the hooks that they have now in place of
    /// those that they had, at once. Fires under way finish with those that they started with.
    ///
    /// If a file that could be read before cannot be read at all now, all hooks stay as they were. Blocks while it reads.
    pub fn reload(&self) -> Reload {
        self.shared.reload()
    }

    /// Reloads from now on whenever the files of the [sources](EngineBuilder::sources) change, until the watch is dropped.
    /// Each observer is [told](Observer::reloaded) what changed.
    #[cfg(feature = "watch")]
    pub fn watch(&self) -> Watch {
        Watch::start(&self.shared)
    }

    /// What is wrong with the files that hooks come from, found when they were last read.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.shared.files.diagnostics()
    }

    /// The files that hooks come from, as they were when they were last read.
    pub fn files(&self) -> Vec<FileState> {
        self.shared.files.states()
    }

    /// What is wrong with the hooks, found when they were loaded.
    pub fn problems(&self) -> Vec<Problem> {
        self.shared.hooks.load().problems.clone()
    }

    /// Tells what hooks in the background come to, from now on.
    pub fn completions(&self) -> Completions {
        self.shared.background.completions()
    }

    /// Waits for hooks in the background until the time is over, then ends those that are left, and sees to it that nothing
    /// remains of fires that were dropped. No more hooks are started in the background afterwards. A host calls this before
    /// it leaves.
    pub async fn shutdown(&self, patience: Duration) -> ShutdownReport {
        self.shared.background.shutdown(patience).await
    }

    /// An event for which a hook could run.
    fn prepare_if_needed(&self, event: Event) -> Option<PreparedEvent> {
        let could_run = self.shared.hooks.load().set.has_for(&event);
        // A prompt is heard also if no hook listens.
        (could_run || self.shared.stops.needs(&event.kind())).then(|| self.prepared(event)).filter(|_| could_run)
    }

    fn prepared(&self, mut event: Event) -> PreparedEvent {
        let without_envelope = self.put_in_envelope(&mut event).err();
        self.shared.stops.before(&mut event);
        PreparedEvent { event: Arc::new(event), without_envelope }
    }

    /// Adds what the agent says, unless that panics.
    fn put_in_envelope(&self, event: &mut Event) -> Result<(), Panic> {
        if let Some(envelope) = &self.envelope {
            let agents = catch_panic(|| envelope())?;
            event.envelope = merge_envelopes(std::mem::take(&mut event.envelope), agents);
        }
        Ok(())
    }
}

/// An event with all that hooks are told. Not moved any more from here on: it is large.
struct PreparedEvent {
    event: Arc<Event>,
    /// The panic of the agent's function for envelopes.
    without_envelope: Option<Panic>,
}

/// What the event says, and where it says nothing what the agent says.
fn merge_envelopes(event: Envelope, agent: Envelope) -> Envelope {
    let mut filled = agent;
    macro_rules! prefer {
        ($($field:ident)+) => { $( if event.$field.is_some() { filled.$field = event.$field; } )+ };
    }
    prefer!(session_id cwd transcript_path permission_mode agent_id agent_type turn);
    filled.extra.extend(event.extra);
    filled
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("hooks", &self.shared.hooks.load().specs().count()).finish_non_exhaustive()
    }
}
