//! Adapter between an agent and the user's hooks: checkrein is installed as the agent's only hook and runs all others.
//!
//! `checkrein hook` uses it. The agent sends an event as to any of its own hooks. The adapter runs the user's hooks, whatever
//! format their files have, and renders the verdict in the agent's format.
//!
//! ```
//! use checkrein::dialects::agents::{claude, native};
//! use checkrein::hook_files::Sources;
//! use checkrein_tools::agent_adapter::AgentAdapter;
//! # let dir = tempfile::tempdir()?;
//! # let file = dir.path().join("hooks.yaml");
//!
//! std::fs::write(&file, "hooks: [{id: guard, event: PreToolUse, matcher: Bash, command: 'echo no shell >&2; exit 2'}]")?;
//! let adapter = AgentAdapter::new(&claude::DIALECT).sources(Sources::of_files(&native::DIALECT, [&file]));
//! let payload = r#"{"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}"#;
//! let response = adapter.answer(payload.as_bytes());
//! assert!(response.answer.stdout.contains(r#""permissionDecision":"deny""#));
//! assert!(response.answer.stdout.contains("no shell"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! A failure outside of the hooks, such as an invalid payload, must never open a gate by default: the event is denied if the
//! agent lets hooks block it, and the answer gives the reason. [`AgentAdapter::on_failure`] can change that.
//!
//! An agent starts a new process for every event. State that must outlive one event, such as the number of refused stops, is
//! in small files of the user's state directory.

mod approval;
mod canary;
mod decision;
mod depth;
mod event_recording;
mod failure_response;
mod refused_prompt;
mod repeat;
mod request;
mod response;
mod self_answer;
mod subagents;
mod waiting_hooks;

use std::ffi::OsString;
use std::fmt;
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::{Duration, Instant};

use checkrein_core::{Event, EventFilter, EventKind, FailurePolicy, HookState, JsonType, RawJson, Record, Verdict};
use checkrein_dialects::agents::native;
use checkrein_dialects::{Answer, Dialect, HookSpec};
use futures_util::future::{Either, select};

use checkrein::audit::AuditEntry;
use checkrein::handler::warm::WarmInterpreters;
use checkrein::hook_files::{HookVars, Loaded, Locations, Skip, Sources};
use checkrein::internal::{DEPTH, StopLimit};
use checkrein::session_store::{FileSessionStore, MemorySessionStore, SessionStore};
use checkrein::trust::Trust;
use depth::{MAX_DEPTH, depth};
use repeat::{Arrival, KeptAnswer};
use request::Request;
use response::Outcome;

use crate::approvals::ApprovalStore;
use crate::decision_log::{AnsweredBy, DecisionLog};
use crate::install::Installer;
use crate::lint;

/// Longest wait for the processes of cancelled hooks to exit.
const REAP_TIMEOUT: Duration = Duration::from_secs(2);

/// I/O events per tick of the runtime. Hooks are few. The default of tokio (1024) allocates 12 KB per process.
const IO_EVENTS: usize = 64;

pub use decision::LoggedEvent;
pub use failure_response::record_refusal;

/// Answers the events of an agent. See the [module](self).
#[derive(Debug, Clone)]
pub struct AgentAdapter {
    agent: &'static Dialect,
    event: Option<String>,
    sources: Option<Sources>,
    locations: Option<Locations>,
    trust: Trust,
    dir: Option<PathBuf>,
    state: Option<PathBuf>,
    approvals: Option<ApprovalStore>,
    /// State directory with the tokens of self-tests.
    canaries: Option<PathBuf>,
    on_failure: FailurePolicy,
    cancel: CancelSignal,
    skip_cleanup: bool,
    answers_once: bool,
    has_needed_entries: bool,
    is_trial: bool,
    recording: event_recording::RecordingSwitch,
    decision_log: Option<DecisionLog>,
    interpreters: Option<Arc<dyn WarmInterpreters>>,
    phase: Phase,
}

/// Group of hooks that one process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Hooks that the agent waits for.
    Foreground,
    /// Background hooks.
    Background,
}

/// Result of one event.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct AgentResponse {
    /// Answer to the agent.
    pub answer: Answer,
    /// Record of the event, if a hook ran.
    pub record: Option<Record>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Notes that `answer` does not contain, so the agent cannot show them.
    pub undelivered_notes: Vec<String>,
    /// `true` if checkrein itself failed. The answer then follows the policy for failures.
    pub has_failed: bool,
    /// `true` if there are background hooks. They have not run: [`AgentAdapter::in_background`] runs them, in a process that
    /// outlives this one.
    pub has_background: bool,
    /// `true` if the call passed because the user had approved it.
    pub is_confirmed: bool,
    /// Hooks that a variable of the user skipped.
    pub skipped_hooks: Vec<String>,
    /// Run of the hooks for the first delivery, if this is a repeated one.
    pub(crate) first_run: Option<AnsweredBy>,
    /// The event in the decision log, for the resident process. `None`: it is not logged.
    pub logged: Option<LoggedEvent>,
    /// `true` if a file of the user starts the resident process when it does not run.
    pub resident: bool,
}

impl AgentAdapter {
    /// Adapter for this agent, with the hooks of the user's native files.
    pub fn new(agent: &'static Dialect) -> Self {
        let state = checkrein::internal::state::directory();
        Self {
            agent,
            event: None,
            sources: None,
            locations: None,
            trust: Trust::default(),
            dir: None,
            approvals: state.as_deref().map(ApprovalStore::in_state_directory),
            canaries: state.clone(),
            state: state.map(|dir| dir.join("sessions")),
            on_failure: FailurePolicy::Closed,
            cancel: CancelSignal(None),
            skip_cleanup: false,
            answers_once: false,
            has_needed_entries: false,
            is_trial: false,
            phase: Phase::Foreground,
            recording: event_recording::RecordingSwitch::default(),
            decision_log: None,
            interpreters: None,
        }
    }

    /// Treats every payload as this event, in the agent's spelling or checkrein's. Payloads of some agents do not name it.
    #[must_use]
    pub fn event(mut self, name: impl Into<String>) -> Self {
        self.event = Some(name.into());
        self
    }

    /// Runs the hooks of these files instead of the discovered ones.
    #[must_use]
    pub fn sources(mut self, sources: Sources) -> Self {
        self.sources = Some(sources);
        self
    }

    /// Locations of the user's files, approvals and state. Default: those that the variables of the process name. A program whose
    /// variables may come from a project uses [`UserDirs::locations`](checkrein::hook_files::UserDirs::locations).
    ///
    /// Replaces the directories of [`trust`](Self::trust) and [`state`](Self::state), so call it before them.
    #[must_use]
    pub fn locations(mut self, locations: Locations) -> Self {
        let state = locations.state_dir();
        self.trust = state.as_ref().map(Trust::in_dir).unwrap_or_default();
        self.approvals = state.as_deref().map(ApprovalStore::in_state_directory);
        self.canaries.clone_from(&state);
        self.state = state.map(|dir| dir.join("sessions"));
        self.locations = Some(locations);
        self
    }

    /// Approvals for hooks of the project's files. Default: [`Trust::default`]. Applies to discovered files only;
    /// [`sources`](Self::sources) have their own.
    #[must_use]
    pub fn trust(mut self, trust: Trust) -> Self {
        self.trust = trust;
        self
    }

    /// Discovers files from this directory. Default: the working directory of the process, which is the project's under every
    /// agent. The event's `cwd` is not used: an agent that changes it would lose its hooks.
    #[must_use]
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dir = Some(dir.into());
        self
    }

    /// Directory for state that must outlive one event. Default: the user's state directory.
    #[must_use]
    pub fn state(mut self, dir: impl Into<PathBuf>) -> Self {
        let dir = dir.into();
        self.approvals = Some(ApprovalStore::in_state_directory(&dir));
        self.state = Some(dir);
        self
    }

    /// Policy for failures of checkrein itself at a gate. Default: [`FailurePolicy::Closed`].
    #[must_use]
    pub fn on_failure(mut self, effect: FailurePolicy) -> Self {
        self.on_failure = effect;
        self
    }

    /// Runs only the background hooks, and waits for them. The answer is empty.
    #[must_use]
    pub fn in_background(mut self) -> Self {
        self.phase = Phase::Background;
        self
    }

    /// Records every answered event while recording is on. If that fails, the agent gets its answer anyway, and the user gets a
    /// note. Payloads that are not valid events are not recorded.
    #[must_use]
    pub fn recording(mut self, control: crate::recording::RecordingControl) -> Self {
        self.recording.control = Some(control);
        self
    }

    /// Writes a line about every judged event to this log, unless a file of the user turns the log off. Default: no log. A failed
    /// write has no effect on the answer.
    #[must_use]
    pub fn decision_log(mut self, log: DecisionLog) -> Self {
        self.decision_log = Some(log);
        self
    }

    /// Runs Python and Node hooks in interpreters of this pool, if it has one that waits.
    #[must_use]
    pub fn interpreters(mut self, pool: Arc<dyn WarmInterpreters>) -> Self {
        self.interpreters = Some(pool);
        self
    }

    /// Leaves no trace of the event: the state of the session is not read or written, and nothing is added to the audit log.
    /// The hooks run.
    #[must_use]
    pub fn as_trial(mut self) -> Self {
        self.is_trial = true;
        self
    }

    /// Cancels the event when the future of `signal` is ready: kills all processes of hooks and denies. Default: never cancels.
    /// A program passes a future that waits for signals. `signal` is called inside of a tokio runtime.
    #[must_use]
    pub fn cancel_on<F: Future<Output = ()> + 'static>(
        mut self,
        signal: impl Fn() -> F + Send + Sync + 'static,
    ) -> Self {
        self.cancel = CancelSignal(Some(Arc::new(move || Box::pin(signal()))));
        self
    }

    /// Leaks the engine and its runtime, because the process ends right after the answer and the kernel frees them. Default:
    /// both are dropped.
    #[must_use]
    pub fn skip_cleanup(mut self) -> Self {
        self.skip_cleanup = true;
        self
    }

    /// Answers a call that arrives again without running its hooks again. Default: every call runs its hooks.
    #[must_use]
    pub fn answer_repeats_once(mut self) -> Self {
        self.answers_once = true;
        self
    }

    /// The agent's settings have entries only for the events that hooks needed when checkrein was installed. Hooks that have no
    /// entry are then reported at the start of each session. Default: not reported.
    #[must_use]
    pub fn has_needed_entries(mut self) -> Self {
        self.has_needed_entries = true;
        self
    }

    /// Answers one event. Never panics: a panic is treated as a failure.
    ///
    /// Blocks until all hooks that the agent waits for have finished.
    pub fn answer(&self, payload: &[u8]) -> AgentResponse {
        let start = Instant::now();
        let request = self.read(payload);
        let mut logged = decision::Logged::default();
        let mut response = checkrein_core::catch_panic(|| request.adapter.try_answer(&request, &mut logged))
            .unwrap_or_else(|panic| {
                request.adapter.fail(request.kind(), &format!("checkrein panicked: {panic}"), None)
            });
        response.resident = logged.resident;
        // The answer stands, whatever happens to the log.
        let logged = checkrein_core::catch_panic(|| request.adapter.log_decision(&request, logged, &response, start));
        response.logged = logged.unwrap_or_default();
        response
    }

    /// Denies an event, if the agent lets hooks block it, after a failure before [`answer`](Self::answer) was possible.
    pub fn refuse(&self, payload: &[u8], why: &str) -> AgentResponse {
        let start = Instant::now();
        let request = self.read(payload);
        let mut response = request.adapter.fail(request.kind(), why, None);
        let logged = decision::Logged::default();
        let logged = checkrein_core::catch_panic(|| request.adapter.log_decision(&request, logged, &response, start));
        response.logged = logged.unwrap_or_default();
        response
    }

    fn try_answer(&self, request: &Request<'_>, logged: &mut decision::Logged) -> AgentResponse {
        let json = match &request.json {
            Ok(json) => json,
            Err(error) => {
                return self.fail(request.kind(), &format!("the agent's payload is not valid JSON: {error}"), None);
            }
        };
        if json.json_type() != JsonType::Object {
            let why = format!("the agent's payload should be a JSON object, but is {}", json.json_type());
            return self.fail(request.kind(), &why, None);
        }
        if self.agent.repeats_earlier(json, self.event.as_deref()) {
            logged.is_off = true;
            return AgentResponse::default();
        }
        let decode = || {
            let event = self.agent.event(json, self.event.as_deref());
            event.map_err(|error| format!("invalid payload from the agent: {error}"))
        };
        // Usually no hook matches, so the whole event is decoded only if its kind and subject are not enough.
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
                    &format!("cannot determine the working directory: {error}"),
                    None,
                );
            }
        };
        logged.dir = Some(dir.clone());
        if filter.kind().contract().is_gate() {
            // An event that cannot be decoded is denied below, if a hook matches it.
            decoded = decoded.or_else(|| decode().ok());
            if let Some(event) = decoded.as_ref().filter(|event| self.answers_itself(event, &dir)) {
                return self.deny_self_answer(event);
            }
            if let Some(event) = decoded.as_ref().filter(|event| self.agent.is_gate(&event.kind()))
                && let Some(token) = self.canary_in(json.as_str())
            {
                // A self-test is no event of the agent: `doctor` reports when the last one arrived.
                logged.is_off = true;
                return self.deny_canary(event, token, &dir);
            }
        }
        let depth = depth();
        if depth >= MAX_DEPTH {
            let why = format!(
                "hooks call checkrein recursively, {depth} levels deep; remove that call from the hook's command"
            );
            return self.fail(Some(filter.kind().clone()), &why, None);
        }
        let sources = self.sources_in(&dir).called_by(self.agent);
        let mut loaded = if subagents::starts_unguarded(self.agent, &filter) {
            let mut all = sources.load();
            subagents::ask_before(self.agent, &mut all);
            all
        } else {
            sources.only(&filter).load()
        };
        logged.is_off = !loaded.log;
        logged.resident = loaded.resident;
        if self.has_needed_entries && *filter.kind() == EventKind::SessionStart {
            let installer = Installer::reader(&dir, self.locations.clone().unwrap_or_default());
            loaded.diagnostics.extend(lint::missing_entries_of(&installer, self.installed_agent()));
        }
        let has_news = *filter.kind() == EventKind::SessionStart && !loaded.run_by_caller.is_empty();
        let mut missed = None;
        if loaded.log {
            missed = checkrein_core::catch_panic(|| self.missed_calls(json, filter.kind())).ok().flatten();
        }
        // A prompt resets counters of the session. Some agents need an answer at every event.
        let nothing = loaded.hooks.is_empty()
            && missed.is_none()
            && loaded.diagnostics.is_empty()
            && !has_news
            && !loaded.uses_history
            && !self.announces_at(filter.kind())
            && !self.checks_prompt_at(filter.kind())
            && *filter.kind() != EventKind::PromptSubmit
            && !self.agent.needs_answer(filter.kind());
        let pending = self.recording.begin();
        if nothing && pending.is_empty() {
            return AgentResponse::default();
        }
        let event = match decoded.map_or_else(decode, Ok) {
            Ok(event) => event,
            Err(_) if nothing => return AgentResponse::default(),
            Err(why) => return self.fail(Some(filter.kind().clone()), &why, Some((&loaded, &dir))),
        };
        let judges = |spec: &HookSpec| !spec.background && !spec.info.dry_run;
        let is_gate = self.agent.is_gate(filter.kind());
        if is_gate && self.agent.has_cut_input(json) && loaded.hooks.iter().any(judges) {
            let why = format!(
                "{} sent only the start of the tool's input, so hooks cannot judge it; use a smaller input",
                self.agent.title()
            );
            return self.fail(Some(filter.kind().clone()), &why, Some((&loaded, &dir)));
        }
        let response =
            if nothing { AgentResponse::default() } else { self.fire_once(json, &event, loaded, missed, &dir, depth) };
        let response = pending.finish(self.agent, &dir, &event, response);
        logged.event = Some(event);
        response
    }

    fn sources_in(&self, dir: &Path) -> Sources {
        self.sources.clone().unwrap_or_else(|| {
            let place = self.locations.clone().unwrap_or_default();
            Sources::discover_in(&native::DIALECT, dir, place).trust(self.trust.clone())
        })
    }

    /// Runs the hooks, unless the call arrived before: it then gets the same answer.
    fn fire_once(
        &self,
        json: &RawJson,
        event: &Event,
        loaded: Loaded,
        note: Option<String>,
        dir: &Path,
        depth: u32,
    ) -> AgentResponse {
        if self.phase == Phase::Background || !self.answers_once {
            return self.fire(event.clone(), loaded, note, dir, depth);
        }
        match self.arrival(json, event, &loaded, dir) {
            Arrival::First(claim) => {
                let response = self.fire(event.clone(), loaded, note, dir, depth);
                if let Some(claim) = claim
                    && self.is_kept(&response, event, dir)
                {
                    claim.keep(&response);
                }
                response
            }
            Arrival::Repeat(answer) => self.repeat(*answer, event, &loaded, dir),
            Arrival::Interrupted => {
                let why = "interrupted before all hooks finished";
                self.fail(Some(event.kind()), why, Some((&loaded, dir)))
            }
        }
    }

    /// Answers a repeated call, and records the repetition.
    fn repeat(&self, answer: KeptAnswer, event: &Event, loaded: &Loaded, dir: &Path) -> AgentResponse {
        let mut response = answer.response(event);
        if let (Some(log), Some(record)) = (self.audit_log(loaded, dir), &response.record)
            && let Err(error) = log.append(AuditEntry::fire(record))
        {
            let note = format!("cannot write to the audit log: {error}");
            response.undelivered_notes.push(note.clone());
            response.notes.push(note);
        }
        response
    }

    fn fire(
        &self,
        mut event: Event,
        mut loaded: Loaded,
        note: Option<String>,
        dir: &Path,
        depth: u32,
    ) -> AgentResponse {
        let start = Instant::now();
        let mut notes: Vec<_> = note.into_iter().collect();
        let skip = Skip::from_env();
        if !skip.is_empty() && !loaded.hooks.is_empty() {
            notes.extend(if loaded.allow_skip {
                loaded.skip(&skip)
            } else {
                vec![format!(
                    "{} and {} ignored: allow them with `allow_skip: true` in your hooks file",
                    Skip::ALL,
                    Skip::IDS
                )]
            });
        }
        let is_skipped = |spec: &&HookSpec| matches!(spec.state, HookState::Skipped(_));
        let skipped_hooks: Vec<_> = loaded.hooks.iter().filter(is_skipped).map(|spec| spec.info.id.clone()).collect();
        let sessions = self.session_store(&event);
        // Problems of files are reported once in a session.
        if event.kind() == EventKind::SessionStart {
            notes.extend(loaded.diagnostics.iter().map(ToString::to_string));
            notes.extend(loaded.run_by_caller.iter().map(|path| {
                let (file, agent) = (path.display(), self.agent.title());
                format!("skipping {file}: {agent} runs those hooks itself")
            }));
        } else if loaded.hooks.iter().any(|spec| spec.state == HookState::Untrusted) {
            // These diagnostics explain ignored approvals.
            let about_trust =
                ["approvals-not-private", "lockfile-not-trusted", "moved-by-variable", "user-file-in-project"];
            let reasons = loaded.diagnostics.iter().filter(|diagnostic| about_trust.contains(&diagnostic.code));
            notes.extend(reasons.map(ToString::to_string).filter(|text| is_first_time(&*sessions, &event, text)));
        }
        let mut outcome = Outcome {
            context: self.announcements(&event, &loaded, dir, &*sessions),
            log: self.audit_log(&loaded, dir),
            deny_by_command: loaded.deny_by_command,
            ..Outcome::new(Arc::clone(&sessions))
        };
        if let Some(verdict) = self.refused_turn(&event, &*sessions) {
            let record = Record::new(&event, native::DIALECT.name, &verdict, Vec::new());
            return self.respond(&event, verdict, Outcome { record: Some(record), notes, ..outcome });
        }
        StopLimit::new(0, Arc::clone(&sessions)).trust_new_turn(&event);
        let is_in_phase = |spec: &HookSpec| spec.background == (self.phase == Phase::Background);
        let mut hooks = std::mem::take(&mut loaded.hooks);
        let has_others = hooks.extract_if(.., |spec| !is_in_phase(spec)).count() > 0;
        let has_background = self.phase == Phase::Foreground && has_others;
        if self.on_failure == FailurePolicy::Open {
            // Managed hooks stay closed: the caller's options come from the agent's settings, which the user controls.
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
            if loaded.uses_history {
                checkrein::internal::record_event(&*sessions, &event, verdict.decision());
            }
            let response = self.respond(&event, verdict, Outcome { notes, ..outcome });
            return AgentResponse { has_background, skipped_hooks, ..response };
        }
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = match runtime.enable_all().max_io_events_per_tick(IO_EVENTS).build() {
            Ok(runtime) => runtime,
            Err(error) => {
                let why = format!("cannot start the runtime for hooks: {error}");
                return self.fail(Some(event.kind()), &why, Some((&loaded, dir)));
            }
        };
        if self.phase == Phase::Background {
            // This process is already in the background, so the engine waits for these hooks.
            hooks.iter_mut().for_each(|spec| spec.background = false);
        }
        let vars = std::env::vars_os().filter(|(name, _)| name != DEPTH);
        let vars = vars.chain([(DEPTH.into(), OsString::from((depth + 1).to_string()))]);
        let vars = HookVars::new(vars, self.locations.as_ref().unwrap_or(&Locations::default()));
        if !vars.replaced.is_empty() && event.kind() == EventKind::SessionStart {
            notes.push(format!(
                "hooks get the usual value of {}: a project can set such variables, so they do not name your directories \
                 here; set them for a hook with `env`",
                vars.replaced.join(", ")
            ));
        }
        let vars = vars.vars;
        let has_sandbox = hooks.iter().any(|spec| spec.sandbox().is_some());
        let mut engine =
            crate::own_program::engine_builder().cwd(dir).vars(vars).hooks(hooks).session_store(Arc::clone(&sessions));
        engine = engine.agent(self.agent.name).record_history(loaded.uses_history);
        if self.locations.as_ref().is_some_and(|locations| !locations.trusts_variables()) {
            engine = engine.distrust_variables();
        }
        if let Some(compat) = loaded.compat {
            engine = engine.compat(compat);
        }
        if let Some(pool) = &self.interpreters {
            engine = engine.interpreters(Arc::clone(pool));
        }
        let engine = engine.build();
        let fired = {
            let _inside = runtime.enter();
            let fire = pin!(engine.fire_recorded(event.clone()));
            runtime.block_on(self.cancel.run_or_cancel(fire))
        };
        // A dropped fire has sent a KILL to its processes. Temporary directories of sandboxes are removed by a thread, which
        // ends with this process.
        if fired.is_none() || has_sandbox {
            checkrein_process::reap_dropped(REAP_TIMEOUT);
        }
        let answered = fired.and_then(|(verdict, mut record)| {
            let judged =
                approval::Judged { event: &event, engine: &engine, runtime: &runtime, loaded: &loaded, dir, start };
            Some((self.answer_questions(&judged, verdict, &mut record, &mut notes)?, record))
        });
        if self.skip_cleanup {
            let _ = (ManuallyDrop::new(engine), ManuallyDrop::new(runtime));
        }
        let Some((answered, record)) = answered else {
            let why = "interrupted before all hooks finished";
            return self.fail(Some(event.kind()), why, Some((&loaded, dir)));
        };
        let approval::Answered { verdict, confirm_with, is_confirmed } = answered;
        (outcome.record, outcome.confirm_with) = (Some(record), confirm_with);
        let response = self.respond(&event, verdict, Outcome { notes, ..outcome });
        AgentResponse { has_background, is_confirmed, skipped_hooks, ..response }
    }

    /// Store for state that must outlive this process. If the agent does not name its sessions, the event's working directory
    /// identifies the session.
    fn session_store(&self, event: &Event) -> Arc<dyn SessionStore> {
        match &self.state {
            Some(dir) if !self.is_trial => {
                let unnamed = format!("{} {}", self.agent.name, event.envelope.cwd.as_deref().unwrap_or_default());
                Arc::new(FileSessionStore::new(dir).unnamed(unnamed))
            }
            _ => Arc::new(MemorySessionStore::default()),
        }
    }
}

/// Returns `true` if a note was not shown yet in the session of the event.
fn is_first_time(sessions: &dyn SessionStore, event: &Event, note: &str) -> bool {
    sessions.claim(session(event), &format!("shown {note}"))
}

/// Returns the session of an event. An empty name means no session.
fn session(event: &Event) -> Option<&str> {
    event.envelope.session_id.as_deref().filter(|id| !id.is_empty())
}

/// Signal that cancels an event. `None`: never.
#[derive(Clone)]
struct CancelSignal(Option<Arc<dyn Fn() -> CancelFuture + Send + Sync>>);

type CancelFuture = Pin<Box<dyn Future<Output = ()>>>;

impl CancelSignal {
    /// Runs the future to its end. Returns `None` if the signal comes first; dropping the future then kills its processes.
    async fn run_or_cancel<T>(&self, future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
        let Some(signal) = &self.0 else { return Some(future.await) };
        // `select` polls the signal first: its handler must be registered before a hook runs.
        match select(signal(), future).await {
            Either::Right((fired, _)) => Some(fired),
            Either::Left(_) => None,
        }
    }
}

impl fmt::Debug for CancelSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "CancelSignal(..)" } else { "CancelSignal(never)" })
    }
}
