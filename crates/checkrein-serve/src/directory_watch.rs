//! Notifications about changed files in one directory. The caller reads the directory when it is woken.

use std::path::Path;

use notify::event::{AccessKind, AccessMode};
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

/// Calls `changed` after each change in a directory. `None`: the system sends no notifications for it, and the caller must poll.
pub(crate) fn watch(
    directory: &Path,
    mut changed: impl FnMut(notify::Result<Event>) + Send + 'static,
) -> Option<RecommendedWatcher> {
    let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
        if event.as_ref().map_or(true, is_change) {
            changed(event);
        }
    });
    let mut watcher = watcher.ok()?;
    watcher.watch(directory, RecursiveMode::NonRecursive).ok()?;
    Some(watcher)
}

/// Returns `true` if an event reports a change. On Linux, the opening of a file is an event too: a caller that reads the directory would
/// wake itself forever.
fn is_change(event: &Event) -> bool {
    match event.kind {
        EventKind::Access(access) => access == AccessKind::Close(AccessMode::Write),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn reading_is_no_change() {
        let dir = tempfile::tempdir().unwrap();
        let (old, new) = (dir.path().join("old"), dir.path().join("new"));
        std::fs::write(&old, "text").unwrap();
        let (sender, receiver) = mpsc::channel();
        let watcher = watch(dir.path(), move |event| drop(sender.send(event)));
        if watcher.is_none() {
            return eprintln!("skipped: this system sends no notifications");
        }
        for _ in 0..10 {
            assert_eq!(std::fs::read(&old).unwrap(), b"text");
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
        }
        std::fs::write(&new, "text").unwrap();
        let first = receiver.recv_timeout(Duration::from_secs(60)).unwrap().unwrap();
        assert_eq!(first.paths.iter().filter_map(|path| path.file_name()).collect::<Vec<_>>(), ["new"], "{first:?}");
    }
}
