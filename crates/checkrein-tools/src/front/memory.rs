//! What is remembered of a session from one event to the next.
//!
//! Each thing is a file of its own, so that nobody waits for anybody: one for every hook that runs once, made by whoever
//! comes first, and one for every agent whose stop was refused. Whoever cannot write them goes on without: a hook may then
//! run twice, and the agent's own flag tells of refused stops.

use std::fs::{self, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use checkrein_core::{Decision, Event, EventKind, HookOutcome, Payload, Record, Verdict};
use checkrein_dialects::{Dialect, HookSpec};

/// What is older is forgotten.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// In the user's directory for state.
pub(super) fn usual_place() -> Option<PathBuf> {
    Some(checkrein::internal::state::directory()?.join("sessions"))
}

/// Of one session. Without a place to keep it, nothing is remembered.
///
/// An agent that does not name its sessions has its refused stops counted by the directory that it works in: two of its sessions
/// there share a count, so that a stop may stand sooner, but not never. Hooks that run once run each time there.
pub(super) struct Memory {
    /// What the names of the session's files start with, if it has a name.
    prefix: Option<PathBuf>,
    /// The files of refused stops and of those of sub-agents.
    stops: Vec<(EventKind, PathBuf)>,
    stop: Option<PathBuf>,
}

/// A hook that runs once, and the file that says that it has.
pub(super) struct Claim {
    id: String,
    file: PathBuf,
}

impl Memory {
    pub(super) fn of(dir: Option<&Path>, agent: &Dialect, event: &Event) -> Self {
        let envelope = &event.envelope;
        let session = envelope.session_id.as_ref().filter(|id| !id.is_empty());
        let prefix = dir.zip(session).map(|(dir, id)| dir.join(format!("{:016x}", hash(&id))));
        let unnamed = || dir.map(|dir| dir.join(format!("{:016x}", hash(&("no session", agent.name, &envelope.cwd)))));
        // Who does not name sessions does not name himself in all events either.
        let agent_id = envelope.agent_id.as_ref().filter(|_| prefix.is_some());
        let file =
            |prefix: &Path, kind: &EventKind| with(prefix, &format!("-stop-{:016x}", hash(&(agent_id, kind.name()))));
        let place = prefix.clone().or_else(unnamed);
        let kinds = [EventKind::Stop, EventKind::SubagentStop].into_iter();
        let stops: Vec<_> =
            kinds.filter_map(|kind| place.as_deref().map(|place| (kind.clone(), file(place, &kind)))).collect();
        let stop = stops.iter().find(|(kind, _)| *kind == event.kind()).map(|(_, file)| file.clone());
        Self { prefix, stops, stop }
    }

    /// Takes out hooks that have had their one run, and claims it for the others.
    pub(super) fn claim_once(&self, hooks: &mut Vec<HookSpec>) -> Vec<Claim> {
        let mut claims = Vec::new();
        let Some(prefix) = &self.prefix else { return claims };
        hooks.retain(|spec| {
            if !spec.once {
                return true;
            }
            let file = with(
                prefix,
                &format!("-once-{:016x}", hash(&(spec.definition(), &spec.hook.info.id, spec.hook.info.is_managed()))),
            );
            match create(&file) {
                Ok(()) => {
                    claims.push(Claim { id: spec.hook.info.id.clone(), file });
                    true
                }
                Err(error) => error.kind() != std::io::ErrorKind::AlreadyExists,
            }
        });
        claims
    }

    /// A hook that did not come to an opinion may run again.
    pub(super) fn keep(&self, claims: Vec<Claim>, record: &Record) {
        for Claim { id, file } in claims {
            let spoke = record.hooks.iter().any(|hook| hook.id == id && hook.outcome == HookOutcome::Opinion);
            if !spoke {
                let _ = fs::remove_file(file);
            }
        }
    }

    /// They have not had their run.
    pub(super) fn give_back(&self, claims: Vec<Claim>) {
        for Claim { file, .. } in claims {
            let _ = fs::remove_file(file);
        }
    }

    /// Whether this has not been told in the session yet. From now on it has.
    pub(super) fn is_news(&self, text: &str) -> bool {
        let Some(prefix) = &self.prefix else { return true };
        let told = create(&with(prefix, &format!("-told-{:016x}", hash(&text))));
        told.err().is_none_or(|error| error.kind() != std::io::ErrorKind::AlreadyExists)
    }

    /// Tells hooks of a stop how often it was refused before.
    pub(super) fn before(&self, event: &mut Event) {
        let Some(file) = &self.stop else { return };
        let count = Count::read(file).refused;
        let (active, loops) = match &mut event.payload {
            Payload::Stop(stop) => (&mut stop.stop_hook_active, &mut stop.loop_count),
            Payload::SubagentStop(stop) => (&mut stop.stop_hook_active, &mut stop.loop_count),
            _ => return,
        };
        // The agent knows best whether this is a new turn.
        let count = if *active == Some(false) { 0 } else { count };
        active.get_or_insert(count > 0);
        loops.get_or_insert(count);
    }

    /// Counts refused stops; a new prompt starts anew.
    pub(super) fn after(&self, event: &Event, verdict: &Verdict) {
        if event.kind() == EventKind::PromptSubmit {
            for (_, file) in &self.stops {
                let count = Count::read(file);
                // Some agents give the reason of a refusal to the model as a prompt.
                if count.just_now {
                    Count { just_now: false, ..count }.write(file);
                } else {
                    let _ = fs::remove_file(file);
                }
            }
        }
        let Some(file) = &self.stop else { return };
        if verdict.decision() != Decision::Deny {
            let _ = fs::remove_file(file);
            return;
        }
        let before = match &event.payload {
            Payload::Stop(stop) => stop.loop_count,
            Payload::SubagentStop(stop) => stop.loop_count,
            _ => None,
        };
        Count { refused: before.unwrap_or(0) + 1, just_now: true }.write(file);
    }
}

/// How often a stop was refused in a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Count {
    refused: u64,
    /// Whether there has been no prompt since.
    just_now: bool,
}

impl Count {
    /// What cannot be read is nothing.
    fn read(file: &Path) -> Self {
        let text = fs::read_to_string(file).unwrap_or_default();
        let mut words = text.split_whitespace();
        let refused = words.next().and_then(|word| word.parse().ok()).unwrap_or(0);
        Self { refused, just_now: words.next() == Some("now") }
    }

    fn write(self, file: &Path) {
        let _ = fs::remove_file(file);
        if create(file).is_ok() {
            let _ = fs::write(file, format!("{}{}\n", self.refused, if self.just_now { " now" } else { "" }));
        }
    }
}

fn with(prefix: &Path, suffix: &str) -> PathBuf {
    let mut path = prefix.as_os_str().to_owned();
    path.push(suffix);
    path.into()
}

/// Only names of files: nobody gains anything by two that are the same.
fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// A new file that only this user can read, and its directory if there is none.
fn create(path: &Path) -> std::io::Result<()> {
    let open = || {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(path)?.flush()
    };
    match (open(), path.parent()) {
        (Err(error), Some(dir)) if error.kind() == std::io::ErrorKind::NotFound => {
            let mut builder = fs::DirBuilder::new();
            #[cfg(unix)]
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.recursive(true).create(dir)?;
            open()
        }
        (done, dir) => {
            dir.into_iter().for_each(forget_old);
            done
        }
    }
}

/// Sessions end without saying so.
fn forget_old(dir: &Path) {
    let old = |path: &Path| {
        let changed = path.symlink_metadata().and_then(|metadata| metadata.modified());
        changed.is_ok_and(|changed| SystemTime::now().duration_since(changed).is_ok_and(|age| age > KEPT))
    };
    let Ok(entries) = fs::read_dir(dir) else { return };
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| old(path)) {
        let _ = fs::remove_file(path);
    }
}
