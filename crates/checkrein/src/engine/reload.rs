//! Reload of hook files.
//!
//! [`Engine::reload`](super::Engine::reload) and the file watch use it. An unreadable file never removes the hooks that it had.

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

/// Result of a reload.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Reload {
    /// New hooks.
    pub added: Vec<Arc<HookInfo>>,
    /// Hooks that no longer exist.
    pub removed: Vec<Arc<HookInfo>>,
    /// Changed hooks, as they are now. A hook that only moved to another line is not included.
    pub changed: Vec<Arc<HookInfo>>,
    /// Problems in the files now.
    pub diagnostics: Vec<Diagnostic>,
    /// `true` if all hooks stay as they were because a file became unreadable.
    pub kept_old: bool,
    /// `true` if the files are the same as in the last read. Observers are not called then.
    pub unchanged: bool,
    /// Panics of observers.
    pub broken_observers: Vec<Panic>,
}

/// Hook files of an engine, and their state.
pub(super) struct FromFiles {
    sources: Sources,
    /// Hooks that were added in code.
    own: Vec<HookSpec>,
    state: Mutex<State>,
    /// Held during a reload, so that the newest read is the last to replace the hooks.
    reloading: Mutex<()>,
}

#[derive(Default)]
struct State {
    /// State of the last read.
    files: Vec<FileState>,
    /// State of the read that the current hooks come from.
    in_force: Vec<FileState>,
    diagnostics: Vec<Diagnostic>,
    /// Paths for the file watch.
    followed: Vec<std::path::PathBuf>,
    kept_old: bool,
}

impl FromFiles {
    /// Reads files. Returns the hooks of files, then those added in code.
    pub(super) fn load(sources: Sources, own: Vec<HookSpec>) -> (Self, Vec<HookSpec>, FileSettings) {
        let Loaded { mut hooks, diagnostics, compat, uses_history, audit, files, followed, .. } = sources.load();
        hooks.extend(own.iter().cloned());
        let state = State { in_force: files.clone(), files, diagnostics, followed, kept_old: false };
        (
            Self { sources, own, state: Mutex::new(state), reloading: Mutex::default() },
            hooks,
            FileSettings { compat, uses_history, audit },
        )
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
    /// Replaces all hooks. Returns the old and the new ones.
    pub(super) fn put(&self, hooks: Vec<HookSpec>, settings: &FileSettings) -> (Arc<LoadedHooks>, Arc<LoadedHooks>) {
        let before = self.hooks.load_full();
        let now = Arc::new(LoadedHooks::load(hooks, &self.env).with_file_settings(settings));
        self.hooks.store(Arc::clone(&now));
        (before, now)
    }

    pub(super) fn reload(&self) -> Reload {
        let mut reload = self.read_again();
        if !reload.unchanged {
            let observers = self.observers.iter();
            let panics: Vec<Panic> =
                observers.filter_map(|observer| catch_panic(|| observer.reloaded(&reload)).err()).collect();
            for panic in &panics {
                // Logged, because the file watch drops the result.
                warn!(name: "checkrein.observer", "an observer panicked: {panic}");
            }
            reload.broken_observers = panics;
        }
        reload
    }

    fn read_again(&self) -> Reload {
        let _reloading = lock(&self.files.reloading);
        let Loaded { mut hooks, mut diagnostics, compat, uses_history, audit, files, followed, .. } =
            self.files.sources.load();
        let mut state = self.files.state();
        if files == state.files {
            state.followed = followed;
            let diagnostics = state.diagnostics.clone();
            return Reload { diagnostics, kept_old: state.kept_old, unchanged: true, ..Reload::default() };
        }
        let lost: Vec<_> = files.iter().filter(|file| is_lost(file, &state.in_force)).collect();
        if !lost.is_empty() {
            diagnostics.extend(lost.into_iter().map(|file| {
                let text = "this file became unreadable; all hooks stay as they were until it is readable again";
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
        let (before, now) = self.put(hooks, &FileSettings { compat, uses_history, audit });
        Reload { diagnostics, ..difference(&before, &now) }
    }
}

/// `true` if a file was readable before, and exists but is unreadable now.
fn is_lost(file: &FileState, in_force: &[FileState]) -> bool {
    let was_read = |before: &FileState| {
        before.path == file.path && before.dialect == file.dialect && before.status == FileStatus::Found
    };
    file.status.is_unknown() && in_force.iter().any(was_read)
}

fn difference(before: &LoadedHooks, now: &LoadedHooks) -> Reload {
    // A list, because two hooks of a file can have the same name.
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
            Some(was) if summary(was) != summary(spec) => change.changed.push(info()),
            Some(_) => {}
        }
    }
    // In config order, not in the order of the map.
    let gone: HashSet<_> = old.into_values().flatten().map(Arc::as_ptr).collect();
    let removed = before.specs().filter(|spec| gone.contains(&Arc::as_ptr(spec)));
    change.removed = removed.map(|spec| Arc::clone(&spec.info)).collect();
    change
}

/// Everything that defines a hook, except its line.
fn summary(spec: &HookSpec) -> String {
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
