//! checkrein in front of an agent: installed as its one hook, it runs those of its user.
//!
//! The agent sends an event as it would to any hook of its own. The user's hooks run, whatever format they are kept in, and
//! the verdict is said in the agent's words.
//!
//! ```
//! use checkrein::dialects::agents::{claude, native};
//! use checkrein_tools::front::Front;
//! use checkrein::Sources;
//! # let dir = tempfile::tempdir()?;
//! # let file = dir.path().join("hooks.yaml");
//!
//! std::fs::write(&file, "hooks: [{id: guard, event: PreToolUse, matcher: Bash, command: 'echo no shell >&2; exit 2'}]")?;
//! let front = Front::of(&claude::DIALECT).sources(Sources::of_files(&native::DIALECT, [&file]));
//! let sent = r#"{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}"#;
//! let fronted = front.answer(sent.as_bytes());
//! assert!(fronted.answer.stdout.contains(r#""permissionDecision":"deny""#));
//! assert!(fronted.answer.stdout.contains("no shell"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! If something goes wrong that is no hook's fault, such as a payload that cannot be read, what was asked about is refused
//! if it can be, and the answer says why.
//!
//! An agent starts a new process for every event. What must be remembered from one to the next, such as how often a stop was
//! refused, is kept in small files of the user's state directory.

mod event_recording;
mod failure_response;
mod request;

use std::ffi::OsString;
use std::fmt;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use checkrein_core::{Event, EventFilter, EventKind, FailurePolicy, HookState, Record, Verdict, Warning};
use checkrein_dialects::agents::native;
use checkrein_dialects::{Answer, Dialect, HookSpec};
use futures_util::future::{Either, select};

use checkrein::engine::Engine;
use checkrein::hook_files::{Loaded, Skip, Sources};
use checkrein::internal::{DEPTH, StopLimit};
use checkrein::session_store::{FileSessionStore, MemorySessionStore, SessionStore};
use checkrein::trust::Trust;
use request::Request;

/// How deep that may go.
const DEEPEST: u32 = 5;

/// How long the end of hooks is waited for that were ended early.
const ENDING: Duration = Duration::from_secs(2);

/// Of how many events the runtime hears at once.
const EVENTS: usize = 64;

pub use failure_response::record_refusal;

/// Answers an agent. See the [module](self).
#[derive(Debug, Clone)]
pub struct AgentAdapter {
    agent: &'static Dialect,
    event: Option<String>,
    sources: Option<Sources>,
    trust: Trust,
    dir: Option<PathBuf>,
    state: Option<PathBuf>,
    on_failure: FailurePolicy,
    until: CancelSignal,
    leaving: bool,
    keeper: event_recording::RecordingSwitch,
    part: Phase,
}

/// Which hooks are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Those that the agent waits for.
    Waited,
    /// Those that nobody waits for.
    Background,
}

/// What came of an event.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct AgentResponse {
    /// What is said to the agent.
    pub answer: Answer,
    /// What happened, if a hook ran.
    pub record: Option<Record>,
    /// What the user should know.
    pub notes: Vec<String>,
    /// The part of it that the agent was not told to show.
    pub undelivered_notes: Vec<String>,
    /// Whether there are hooks that nobody waits for. They have not run: [`AgentAdapter::in_background`] runs them, in a process
    /// that outlives this one.
    pub has_background: bool,
}

impl AgentAdapter {
    /// In front of this agent, with the hooks of the user's native files.
    pub fn new(agent: &'static Dialect) -> Self {
        Self {
            agent,
            event: None,
            sources: None,
            trust: Trust::usual(),
            dir: None,
            state: checkrein::internal::state::directory().map(|dir| dir.join("sessions")),
            on_failure: FailurePolicy::Closed,
            until: CancelSignal(None),
            leaving: false,
            part: Phase::Waited,
            keeper: event_recording::RecordingSwitch::default(),
        }
    }

    /// Takes every payload for this event, in the agent's spelling or checkrein's. Some agents do not name it.
    #[must_use]
    pub fn event(mut self, name: impl Into<String>) -> Self {
        self.event = Some(name.into());
        self
    }

    /// Runs the hooks of these files instead of those that are found.
    #[must_use]
    pub fn sources(mut self, sources: Sources) -> Self {
        self.sources = Some(sources);
        self
    }

    /// Runs those hooks of the project's files that are approved there. If nothing is said: [`Trust::usual`]. Counts for files
    /// that are found; [`sources`](Self::sources) have their own.
    #[must_use]
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Looks for files from this directory. If nothing is said: from the one that the process is in, which is the project's
    /// under every agent. The event's own directory is none to go by: an agent that changes it would leave its hooks behind.
    #[must_use]
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dir = Some(dir.into());
        self
    }

    /// Remembers here what must be remembered from one event to the next. If nothing is said: in the user's directory for
    /// state.
    #[must_use]
    pub fn state(mut self, dir: impl Into<PathBuf>) -> Self {
        self.state = Some(dir.into());
        self
    }

    /// What is done if checkrein itself fails at a gate. If nothing is said: the gate is closed.
    #[must_use]
    pub fn on_failure(mut self, effect: FailurePolicy) -> Self {
        self.on_failure = effect;
        self
    }

    /// Runs only the hooks that nobody waits for, and waits for them. There is no answer then.
    #[must_use]
    pub fn in_background(mut self) -> Self {
        self.part = Phase::Background;
        self
    }

    /// Records every event that it answers, while this switch is on. If something cannot be recorded, the agent gets its
    /// answer all the same, and the user a note. What cannot be read as an event is not recorded.
    #[must_use]
    pub fn recording(mut self, switch: crate::recording::RecordingControl) -> Self {
        self.keeper.switch = Some(switch);
        self
    }

    /// Gives up when this is ready, ends all that hooks have started, and refuses. If nothing is said: never. A program lets it
    /// wait for signals; it is called inside of a tokio runtime.
    #[must_use]
    pub fn cancel_on<F: Future<Output = ()> + 'static>(
        mut self,
        until: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self {
        self.until = CancelSignal(Some(Arc::new(move || Box::pin(until()))));
        self
    }

    /// Says that the process ends right after the answer, so that whatever the system tidies up anyway is left to it. If nothing
    /// is said: nothing is left behind.
    #[must_use]
    pub fn skip_cleanup(mut self) -> Self {
        self.leaving = true;
        self
    }

    /// Answers one event. Never panics: a panic is a failure like others.
    ///
    /// Blocks until all hooks that the agent waits for have finished.
    pub fn answer(&self, payload: &[u8]) -> AgentResponse {
        let request = self.read(payload);
        checkrein_core::catch_panic(|| request.front.try_answer(&request))
            .unwrap_or_else(|panic| request.front.fail(request.kind(), &format!("checkrein panicked: {panic}"), None))
    }

    /// Refuses an event where that is possible, for this reason: something went wrong before checkrein could look at it.
    pub fn refuse(&self, payload: &[u8], why: &str) -> AgentResponse {
        let request = self.read(payload);
        request.front.fail(request.kind(), why, None)
    }

    fn try_answer(&self, request: &Request<'_>) -> AgentResponse {
        let json = match &request.json {
            Ok(json) => json,
            Err(error) => return self.fail(request.kind(), &format!("what the agent sent is no JSON: {error}"), None),
        };
        let decode = || {
            let event = self.agent.event(json, self.event.as_deref());
            event.map_err(|error| format!("what the agent sent cannot be read: {error}"))
        };
        // Mostly no hook runs, so the whole event is decoded only if its kind and subject are not enough.
        let mut decoded = None;
        let filter = match self.agent.event_filter(json, self.event.as_deref()) {
            Some(filter) => filter,
            None => match decode() {
                Ok(event) => EventFilter::for_event(decoded.insert(event)),
                Err(why) => return self.fail(request.kind(), &why, None),
            },
        };
        let dir = match self.dir.clone().map_or_else(std::env::current_dir, Ok) {
            Ok(dir) => dir,
            Err(error) => {
                return self.fail(
                    Some(filter.kind().clone()),
                    &format!("the working directory is gone: {error}"),
                    None,
                );
            }
        };
        let depth = depth();
        if depth >= DEEPEST {
            let why = format!("hooks that call checkrein have called one another {depth} levels deep");
            return self.fail(Some(filter.kind().clone()), &why, None);
        }
        let loaded = self.sources_in(&dir).called_by(self.agent).only(&filter).load();
        let has_news = *filter.kind() == EventKind::SessionStart && !loaded.passed_over.is_empty();
        // A prompt resets counts of the session. Some agents need an answer at every event.
        let nothing = loaded.hooks.is_empty()
            && loaded.diagnostics.is_empty()
            && !has_news
            && *filter.kind() != EventKind::PromptSubmit
            && !self.agent.silence_means_allow(filter.kind());
        let keeping = self.keeper.begin();
        if nothing && keeping.is_nothing() {
            return AgentResponse::default();
        }
        let event = match decoded.map_or_else(decode, Ok) {
            Ok(event) => event,
            Err(_) if nothing => return AgentResponse::default(),
            Err(why) => return self.fail(Some(filter.kind().clone()), &why, Some((&loaded, &dir))),
        };
        let fronted = if nothing { AgentResponse::default() } else { self.fire(event.clone(), loaded, &dir, depth) };
        keeping.keep(self.agent, &dir, &event, fronted)
    }

    fn sources_in(&self, dir: &Path) -> Sources {
        self.sources.clone().unwrap_or_else(|| Sources::discover(&native::DIALECT, dir).trust(self.trust.clone()))
    }

    fn fire(&self, mut event: Event, mut loaded: Loaded, dir: &Path, depth: u32) -> AgentResponse {
        let mut notes = Vec::new();
        let skip = Skip::from_env();
        if !skip.is_empty() && !loaded.hooks.is_empty() {
            notes.extend(if loaded.allow_skip {
                loaded.skip(&skip)
            } else {
                vec![format!("{} and {} are not heeded: no file of the user allows it", Skip::ALL, Skip::IDS)]
            });
        }
        // Once in a session is enough for what was wrong before it began.
        if event.kind() == EventKind::SessionStart {
            notes.extend(loaded.diagnostics.iter().map(ToString::to_string));
            notes.extend(loaded.passed_over.iter().map(|path| {
                let (file, agent) = (path.display(), self.agent.name);
                format!("{file} is included, but {agent} runs its hooks itself: they are passed over here")
            }));
        } else if loaded.hooks.iter().any(|spec| spec.state == HookState::Untrusted) {
            // Why something that was approved does not count.
            let about_trust = ["approvals-not-private", "lockfile-not-trusted"];
            let told = loaded.diagnostics.iter().filter(|diagnostic| about_trust.contains(&diagnostic.code));
            notes.extend(told.map(ToString::to_string));
        }
        let sessions = self.session_store(&event);
        StopLimit::new(0, Arc::clone(&sessions)).trust_new_turn(&event);
        let is_in = |spec: &HookSpec| spec.background == (self.part == Phase::Background);
        let mut hooks = std::mem::take(&mut loaded.hooks);
        let has_others = hooks.extract_if(.., |spec| !is_in(spec)).count() > 0;
        let has_background = self.part == Phase::Waited && has_others;
        if self.on_failure == FailurePolicy::Open {
            // Not an administrator's: an agent's settings say how checkrein is called, and they are the user's.
            let is_broken =
                |spec: &&mut HookSpec| matches!(spec.state, HookState::Broken(_)) && !spec.info.is_managed();
            for spec in hooks.iter_mut().filter(is_broken) {
                Arc::make_mut(&mut spec.info).on_failure = Some(FailurePolicy::Open);
            }
        }
        if hooks.is_empty() {
            let stops = StopLimit::new(0, Arc::clone(&sessions));
            stops.before(&mut event);
            let verdict = stops.after(&event, Verdict::default());
            return AgentResponse { has_background, ..self.render(&event, &verdict, None, notes, &sessions) };
        }
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        // Hooks are few, and room for what happens to a thousand descriptors at once is twelve kilobytes.
        let runtime = match runtime.enable_all().max_io_events_per_tick(EVENTS).build() {
            Ok(runtime) => runtime,
            Err(error) => {
                let why = format!("no runtime can be made for hooks: {error}");
                return self.fail(Some(event.kind()), &why, Some((&loaded, dir)));
            }
        };
        if self.part == Phase::Background {
            // This process is the background.
            hooks.iter_mut().for_each(|spec| spec.background = false);
        }
        let vars = std::env::vars_os().filter(|(name, _)| name != DEPTH);
        let vars = vars.chain([(DEPTH.into(), OsString::from((depth + 1).to_string()))]);
        let mut engine = Engine::builder().cwd(dir).vars(vars).hooks(hooks).session_store(Arc::clone(&sessions));
        if let Some(compat) = loaded.compat {
            engine = engine.compat(compat);
        }
        if let Some(log) = self.audit_log(&loaded, dir) {
            engine = engine.audit(log);
        }
        let engine = engine.build();
        let fired = {
            let _inside = runtime.enter();
            let fire = pin!(engine.fire_recorded(event.clone()));
            runtime.block_on(self.until.or_before(fire))
        };
        if fired.is_none() {
            // It is gone with that block, and what it had started was sent a KILL.
            checkrein_process::reap_dropped(ENDING);
        }
        if self.leaving {
            let _ = (ManuallyDrop::new(engine), ManuallyDrop::new(runtime));
        }
        let Some((verdict, record)) = fired else {
            let why = "it was told to end before all hooks had spoken";
            return self.fail(Some(event.kind()), why, Some((&loaded, dir)));
        };
        AgentResponse { has_background, ..self.render(&event, &verdict, Some(record), notes, &sessions) }
    }

    /// Remembers what must outlive this process. An agent that does not name its sessions has its stops counted by the
    /// directory that it works in.
    fn session_store(&self, event: &Event) -> Arc<dyn SessionStore> {
        match &self.state {
            Some(dir) => {
                let unnamed = format!("{} {}", self.agent.name, event.envelope.cwd.as_deref().unwrap_or_default());
                Arc::new(FileSessionStore::new(dir).unnamed(unnamed))
            }
            None => Arc::new(MemorySessionStore::default()),
        }
    }

    fn render(
        &self,
        event: &Event,
        verdict: &Verdict,
        record: Option<Record>,
        mut notes: Vec<String>,
        sessions: &Arc<dyn SessionStore>,
    ) -> AgentResponse {
        if self.part == Phase::Background {
            return AgentResponse { record, undelivered_notes: notes.clone(), notes, ..AgentResponse::default() };
        }
        // Who decided has said so in the reason.
        let decided = |warning: &&Warning| verdict.decided_by().is_some_and(|hook| *hook == *warning.hook);
        let warnings = verdict.warnings().iter().filter(|warning| !decided(warning));
        for warning in warnings {
            let text = warning.to_string();
            // A warning that comes with every event is shown once in a session.
            if !warning.persistent
                || sessions
                    .claim(event.envelope.session_id.as_deref().filter(|id| !id.is_empty()), &format!("shown {text}"))
            {
                notes.push(text);
            }
        }
        let answer = self.agent.say_with(event, verdict, &notes);
        let untold = notes.iter().filter(|_| !answer.user_message_included).chain(&answer.notes).cloned().collect();
        notes.extend(answer.notes.iter().cloned());
        AgentResponse { answer, record, notes, undelivered_notes: untold, has_background: false }
    }
}

/// What ends an event early.
#[derive(Clone)]
struct CancelSignal(Option<Arc<dyn Fn() -> CancelFuture + Send + Sync>>);

type CancelFuture = Pin<Box<dyn Future<Output = ()>>>;

impl CancelSignal {
    /// What comes of the future, if it is ready first. Otherwise it is dropped, and all that it had started is ended.
    async fn or_before<T>(&self, future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
        let Some(until) = &self.0 else { return Some(future.await) };
        // First of all it must hear of signals: a hook that runs already may be what makes somebody send one.
        match select(until(), future).await {
            Either::Right((fired, _)) => Some(fired),
            Either::Left(_) => None,
        }
    }
}

impl fmt::Debug for CancelSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Until(..)" } else { "Until(never)" })
    }
}

fn depth() -> u32 {
    std::env::var(DEPTH).ok().and_then(|depth| depth.parse().ok()).unwrap_or(0)
}
