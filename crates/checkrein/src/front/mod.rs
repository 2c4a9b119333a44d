//! checkrein in front of an agent: installed as its one hook, it runs those of its user.
//!
//! The agent sends an event as it would to any hook of its own. The user's hooks run, whatever format they are kept in, and
//! the verdict is said in the agent's words.
//!
//! ```
//! use checkrein::dialects::{claude, native};
//! use checkrein::front::Front;
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

mod failed;

use std::path::PathBuf;

use checkrein_core::{Effect, Event, EventKind, RawJson, Record, Verdict};
use checkrein_dialects::config::Wanted;
use checkrein_dialects::{Answer, Dialect, native};

use crate::engine::Engine;
use crate::sources::{Loaded, Sources};

/// Answers an agent. See the [module](self).
#[derive(Debug, Clone)]
pub struct Front {
    agent: &'static Dialect,
    event: Option<String>,
    sources: Option<Sources>,
    dir: Option<PathBuf>,
    on_failure: Effect,
}

/// What came of an event.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Fronted {
    /// What is said to the agent.
    pub answer: Answer,
    /// What happened, if a hook ran.
    pub record: Option<Record>,
    /// What the user should know, besides what the agent is told.
    pub notes: Vec<String>,
}

impl Front {
    /// In front of this agent, with the hooks of the user's native files.
    pub fn of(agent: &'static Dialect) -> Self {
        Self { agent, event: None, sources: None, dir: None, on_failure: Effect::Closed }
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

    /// Looks for files from this directory. If nothing is said: from the one that the process is in, which is the project's
    /// under every agent. The event's own directory is none to go by: an agent that changes it would leave its hooks behind.
    #[must_use]
    pub fn dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.dir = Some(dir.into());
        self
    }

    /// What is done if checkrein itself fails at a gate. If nothing is said: the gate is closed.
    #[must_use]
    pub fn on_failure(mut self, effect: Effect) -> Self {
        self.on_failure = effect;
        self
    }

    /// Answers one event. Never panics: a panic is a failure like others.
    ///
    /// Blocks until all hooks have spoken that decide something.
    pub fn answer(&self, payload: &[u8]) -> Fronted {
        checkrein_core::shielded(|| self.try_answer(payload)).unwrap_or_else(|panic| {
            self.failed(self.kind_of(payload).as_ref(), &format!("checkrein panicked: {panic}"))
        })
    }

    fn try_answer(&self, payload: &[u8]) -> Fronted {
        let json = match RawJson::parse_bytes(payload) {
            Ok(json) => json,
            Err(error) => {
                let why = format!("what the agent sent is no JSON: {error}");
                return self.failed(self.kind_of(payload).as_ref(), &why);
            }
        };
        let read = || {
            let event = self.agent.event(&json, self.event.as_deref());
            event.map_err(|error| format!("what the agent sent cannot be read: {error}"))
        };
        let told = self.agent.wanted(&json, self.event.as_deref());
        let wanted = match told.map_or_else(|| read().map(|event| Wanted::at(&event)), Ok) {
            Ok(wanted) => wanted,
            Err(why) => return self.failed(self.kind_of(payload).as_ref(), &why),
        };
        let dir = match self.dir.clone().map_or_else(std::env::current_dir, Ok) {
            Ok(dir) => dir,
            Err(error) => return self.failed(Some(&wanted.kind), &format!("the working directory is gone: {error}")),
        };
        let sources = self.sources.clone().unwrap_or_else(|| Sources::discover(&native::DIALECT, &dir));
        let loaded = sources.only(&wanted).load();
        // Mostly nothing runs, so all that follows is made only now.
        if loaded.hooks.is_empty() && loaded.diagnostics.is_empty() {
            return Fronted::default();
        }
        match read() {
            Ok(event) => self.fire(&event, loaded, dir),
            Err(why) => self.failed(Some(&wanted.kind), &why),
        }
    }

    fn fire(&self, event: &Event, mut loaded: Loaded, dir: PathBuf) -> Fronted {
        let hooks = std::mem::take(&mut loaded.hooks);
        if hooks.is_empty() {
            return self.said(event, &Verdict::default(), None, &loaded);
        }
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => {
                return self.failed(Some(&event.kind()), &format!("no runtime can be made for hooks: {error}"));
            }
        };
        let mut engine = Engine::builder().cwd(dir).hooks(hooks);
        if let Some(compat) = loaded.compat {
            engine = engine.compat(compat);
        }
        let (verdict, record) = runtime.block_on(engine.build().fire_recorded(event.clone()));
        self.said(event, &verdict, Some(record), &loaded)
    }

    fn said(&self, event: &Event, verdict: &Verdict, record: Option<Record>, loaded: &Loaded) -> Fronted {
        let answer = self.agent.say(event, verdict);
        let mut notes: Vec<_> = verdict.warnings().iter().map(ToString::to_string).collect();
        // Once in a session is enough for what was wrong before it began.
        if event.kind() == EventKind::SessionStart {
            notes.extend(loaded.diagnostics.iter().map(ToString::to_string));
        }
        notes.extend(answer.notes.iter().cloned());
        Fronted { answer, record, notes }
    }
}
