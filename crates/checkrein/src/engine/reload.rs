//! Hooks from files, read again.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

use checkrein_core::{HookInfo, Panic, catch_panic};
use checkrein_dialects::HookSpec;
use checkrein_dialects::config::{Diagnostic, Severity};
use tracing::warn;

use super::Shared;
use super::hooks::{FileSettings, LoadedHooks, key};
use crate::hook_files::{FileState, FileStatus, Loaded, Sources};
use crate::sync::lock;

/// What came of reading files again.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Reload {
    /// Hooks that were not there before.
    pub added: Vec<Arc<HookInfo>>,
    /// Hooks that are not there any more.
    pub removed: Vec<Arc<HookInfo>>,
    /// Hooks that are not what they were, as they are now. One that only stands in another line is not among them.
    pub changed: Vec<Arc<HookInfo>>,
    /// What is wrong with the files now.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether all hooks stay as they were, because a file cannot be read any more.
    pub kept_old: bool,
    /// Whether the files say what they said when they were last read. Observers are not told of it then.
    pub unchanged: bool,
    /// Panics of observers that were told of it.
    pub broken_observers: Vec<Panic>,
}

/// What an engine knows of its files.
pub(super) struct FromFiles {
    sources: Sources,
    /// Hooks that were added in code.
    own: Vec<HookSpec>,
    state: Mutex<State>,
    /// Held while files are read and hooks are put in place, so that the last to read is the last to put.
    turn: Mutex<()>,
}

#[derive(Default)]
struct State {
    /// As they were last read.
    files: Vec<FileState>,
    /// As they were when the hooks were loaded that are in place.
    in_force: Vec<FileState>,
    diagnostics: Vec<Diagnostic>,
    /// What whoever watches has to follow.
    followed: Vec<std::path::PathBuf>,
    kept_old: bool,
}

impl FromFiles {
    /// Reads files, and says which hooks there are: those of files, then those added in code.
    pub(super) fn load(sources: Sources, own: Vec<HookSpec>) -> (Self, Vec<HookSpec>, FileSettings) {
        let Loaded { mut hooks, diagnostics, compat, audit, files, followed, .. } = sources.load();
        hooks.extend(own.iter().cloned());
        let state = State { in_force: files.clone(), files, diagnostics, followed, kept_old: false };
        (Self { sources, own, state: Mutex::new(state), turn: Mutex::default() }, hooks, FileSettings { compat, audit })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub(super) fn diagnostics(&self) -> Vec<Diagnostic> {
        self.state().diagnostics.clone()
    }

    pub(super) fn states(&self) -> Vec<FileState> {
        self.state().files.clone()
    }

    #[cfg(feature = "watch")]
    pub(super) fn followed(&self) -> Vec<std::path::PathBuf> {
        self.state().followed.clone()
    }
}

impl Shared {
    /// Puts hooks in place of all there are.
    pub(super) fn put(&self, hooks: Vec<HookSpec>, said: &FileSettings) -> (Arc<LoadedHooks>, Arc<LoadedHooks>) {
        let before = self.hooks.load_full();
        let now = Arc::new(LoadedHooks::load(hooks, &self.env).with_file_settings(said));
        self.hooks.store(Arc::clone(&now));
        (before, now)
    }

    pub(super) fn reload(&self) -> Reload {
        let mut reload = self.read_again();
        if !reload.unchanged {
            let told = self.observers.iter().filter_map(|observer| catch_panic(|| observer.reloaded(&reload)).err());
            let broken: Vec<Panic> = told.collect();
            for panic in &broken {
                // Nobody looks at what is reloaded when files change by themselves.
                warn!(name: "checkrein.observer", "an observer panicked: {panic}");
            }
            reload.broken_observers = broken;
        }
        reload
    }

    fn read_again(&self) -> Reload {
        let _turn = lock(&self.files.turn);
        let Loaded { mut hooks, mut diagnostics, compat, audit, files, followed, .. } = self.files.sources.load();
        let mut state = self.files.state();
        if files == state.files {
            state.followed = followed;
            let diagnostics = state.diagnostics.clone();
            return Reload { diagnostics, kept_old: state.kept_old, unchanged: true, ..Reload::default() };
        }
        let lost: Vec<_> = files.iter().filter(|file| is_lost(file, &state.in_force)).collect();
        if !lost.is_empty() {
            diagnostics.extend(lost.into_iter().map(|file| {
                let text = "all hooks stay as they were until this file can be read again";
                Diagnostic::of_file(Severity::Warning, "old-hooks", file.path.display().to_string(), text)
            }));
            *state = State {
                in_force: std::mem::take(&mut state.in_force),
                files,
                diagnostics: diagnostics.clone(),
                followed,
                kept_old: true,
            };
            return Reload { diagnostics, kept_old: true, ..Reload::default() };
        }
        *state = State { in_force: files.clone(), files, diagnostics: diagnostics.clone(), followed, kept_old: false };
        drop(state);
        hooks.extend(self.files.own.iter().cloned());
        let (before, now) = self.put(hooks, &FileSettings { compat, audit });
        Reload { diagnostics, ..difference(&before, &now) }
    }
}

/// Whether a file could be read, and is there and cannot be read now.
fn is_lost(file: &FileState, in_force: &[FileState]) -> bool {
    let was_read = |before: &FileState| {
        before.path == file.path && before.dialect == file.dialect && before.status == FileStatus::Found
    };
    file.status.is_unknown() && in_force.iter().any(was_read)
}

fn difference(before: &LoadedHooks, now: &LoadedHooks) -> Reload {
    // Nothing keeps two hooks of a file from having one name.
    let mut old: HashMap<_, Vec<&Arc<HookSpec>>> = HashMap::new();
    for spec in before.specs() {
        old.entry(key(spec)).or_default().push(spec);
    }
    old.values_mut().for_each(|specs| specs.reverse());
    let mut change = Reload::default();
    for spec in now.specs() {
        let info = || Arc::clone(&spec.info);
        match old.get_mut(&key(spec)).and_then(Vec::pop) {
            None => change.added.push(info()),
            Some(was) if says(was) != says(spec) => change.changed.push(info()),
            Some(_) => {}
        }
    }
    // In their order, not in that of the map.
    let gone: HashSet<_> = old.into_values().flatten().map(Arc::as_ptr).collect();
    let removed = before.specs().filter(|spec| gone.contains(&Arc::as_ptr(spec)));
    change.removed = removed.map(|spec| Arc::clone(&spec.info)).collect();
    change
}

/// All that is said of a hook, but for its place.
fn says(spec: &HookSpec) -> String {
    let condition = spec.condition.as_ref().map(checkrein_core::Condition::text);
    format!(
        "{} {:?} {:?} {:?} {:?} {condition:?} {:?} {:?} {}",
        spec.definition(),
        spec.handler,
        spec.kinds,
        spec.matcher.pattern(),
        spec.state,
        spec.status,
        spec.description,
        spec.wake_agent,
    )
}
