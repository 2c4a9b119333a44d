//! Watched directories, and the filter for relevant changes.
//!
//! A file is watched through its directory, because a watch on the file ends when an editor replaces the file. If the
//! directory does not exist yet, its nearest existing ancestor is watched. The parent of that directory is watched too, in
//! case the directory itself is replaced.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use arc_swap::ArcSwap;
use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use tracing::debug;

/// Paths with relevant changes.
#[derive(Debug, Default)]
struct Paths {
    /// Changes of these files and of their ancestors are relevant.
    files: Vec<PathBuf>,
    /// All changes in these directories are relevant.
    directories: Vec<PathBuf>,
}

pub(super) struct Follower {
    /// `None` if the system has no file notifications.
    watcher: Option<RecommendedWatcher>,
    paths: Arc<ArcSwap<Paths>>,
    watched: BTreeSet<PathBuf>,
    /// `true` if every directory is watched.
    complete: bool,
}

impl Follower {
    /// Sends to `wake` after each relevant change.
    pub(super) fn new(wake: SyncSender<()>) -> Self {
        let paths = Arc::new(ArcSwap::from_pointee(Paths::default()));
        let known = Arc::clone(&paths);
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // An error may mean that notifications were lost.
            if event.map_or(true, |event| known.load().are_affected_by(&event)) {
                let _ = wake.try_send(());
            }
        });
        if let Err(error) = &watcher {
            debug!(name: "checkrein.watch", "no file notifications, polling instead: {error}");
        }
        Self { watcher: watcher.ok(), paths, watched: BTreeSet::new(), complete: false }
    }

    /// `true` if the system reports all changes. Otherwise the caller must poll.
    pub(super) fn is_notified(&self) -> bool {
        self.watcher.is_some() && self.complete
    }

    /// Replaces the watched paths. Returns `true` if the set of watched directories changed.
    pub(super) fn follow(&mut self, followed: &[PathBuf]) -> bool {
        let mut paths = Paths::default();
        let mut directories = BTreeSet::new();
        for path in followed {
            let (Some(parent), is_any) = (path.parent(), path.ends_with("*")) else { continue };
            let nearest = parent.ancestors().find(|above| above.is_dir());
            let Some(nearest) = nearest else { continue };
            directories.insert(nearest.to_owned());
            directories.extend(nearest.parent().map(Path::to_owned));
            // Some systems report the path with links resolved.
            let real = nearest.canonicalize().ok().zip(path.strip_prefix(nearest).ok());
            let real = real.map(|(real, rest)| real.join(rest)).filter(|real| real != path);
            for path in [Some(path.clone()), real].into_iter().flatten() {
                if is_any || path.is_symlink() {
                    paths.directories.extend(path.parent().map(Path::to_owned));
                }
                paths.files.push(path);
            }
        }
        self.paths.store(Arc::new(paths));
        self.watch(directories)
    }

    fn watch(&mut self, directories: BTreeSet<PathBuf>) -> bool {
        let Some(watcher) = &mut self.watcher else { return false };
        for gone in self.watched.difference(&directories) {
            let _ = watcher.unwatch(gone);
        }
        self.complete = true;
        for directory in &directories {
            // A replaced directory has the same path, but the old watch is on the old directory.
            let _ = watcher.unwatch(directory);
            if let Err(error) = watcher.watch(directory, RecursiveMode::NonRecursive) {
                debug!(name: "checkrein.watch", "cannot watch {}, polling instead: {error}", directory.display());
                self.complete = false;
            }
        }
        let has_changed = directories != self.watched;
        self.watched = directories;
        has_changed
    }
}

impl Paths {
    /// `true` if an event may have changed one of the files.
    fn are_affected_by(&self, event: &Event) -> bool {
        let is_change = match event.kind {
            EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
            _ => true,
        };
        let concerns = |path: &PathBuf| {
            self.files.iter().any(|file| file.starts_with(path))
                || path.parent().is_some_and(|parent| self.directories.iter().any(|directory| directory == parent))
        };
        event.need_rescan() || (is_change && (event.paths.is_empty() || event.paths.iter().any(concerns)))
    }
}
