//! Which directories are watched, and which of their changes matter.
//!
//! A file is watched through its directory: a watch on the file itself ends when an editor puts another in its place. If the
//! directory is not there yet, the nearest one above it is watched. So is the one above that, for when the directory itself
//! is replaced.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use arc_swap::ArcSwap;
use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use tracing::debug;

/// The paths at which changes matter.
#[derive(Debug, Default)]
struct Paths {
    /// These, and the directories that lead to them.
    files: Vec<PathBuf>,
    /// All that happens in these.
    directories: Vec<PathBuf>,
}

pub(super) struct Follower {
    /// None if the system cannot tell of changes.
    watcher: Option<RecommendedWatcher>,
    paths: Arc<ArcSwap<Paths>>,
    watched: BTreeSet<PathBuf>,
    /// Whether every directory could be watched.
    complete: bool,
}

impl Follower {
    /// Wakes when something happens that matters.
    pub(super) fn new(wake: SyncSender<()>) -> Self {
        let paths = Arc::new(ArcSwap::from_pointee(Paths::default()));
        let known = Arc::clone(&paths);
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // After an error nobody knows what was missed.
            if event.map_or(true, |event| known.load().concern(&event)) {
                let _ = wake.try_send(());
            }
        });
        if let Err(error) = &watcher {
            debug!(name: "checkrein.watch", "the system cannot tell of changes: {error}");
        }
        Self { watcher: watcher.ok(), paths, watched: BTreeSet::new(), complete: false }
    }

    /// Whether it is told of all changes.
    pub(super) fn is_told(&self) -> bool {
        self.watcher.is_some() && self.complete
    }

    /// Follows these paths, and says whether other directories are watched now than before.
    pub(super) fn follow(&mut self, followed: &[PathBuf]) -> bool {
        let mut paths = Paths::default();
        let mut directories = BTreeSet::new();
        for path in followed {
            let (Some(parent), is_any) = (path.parent(), path.ends_with("*")) else { continue };
            let nearest = parent.ancestors().find(|above| above.is_dir());
            let Some(nearest) = nearest else { continue };
            directories.insert(nearest.to_owned());
            directories.extend(nearest.parent().map(Path::to_owned));
            // Some systems tell the path that links lead to.
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
            // A directory that was replaced has the same path, and nobody watches it yet.
            let _ = watcher.unwatch(directory);
            if let Err(error) = watcher.watch(directory, RecursiveMode::NonRecursive) {
                debug!(name: "checkrein.watch", "{} cannot be watched: {error}", directory.display());
                self.complete = false;
            }
        }
        let news = directories != self.watched;
        self.watched = directories;
        news
    }
}

impl Paths {
    /// Whether an event may have changed what they have.
    fn concern(&self, event: &Event) -> bool {
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
