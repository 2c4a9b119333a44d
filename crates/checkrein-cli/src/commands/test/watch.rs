//! `checkrein test --watch`: repeats the run after changes of cases, hooks or their scripts.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use checkrein::engine::FileWatch;
use checkrein::internal::regular_file;
use checkrein_tools::hook_tests;
use tokio::sync::mpsc;

use super::{Arguments, Known, once};
use crate::exit::Exit;

/// Runs until the process is interrupted.
pub(super) async fn run(arguments: &Arguments) -> Result<Exit> {
    // One pending notification is enough: each run reads all files again.
    let (changed, mut changes) = mpsc::channel(1);
    let watch = FileWatch::start(move || {
        let _ = changed.try_send(());
    })
    .context("cannot watch files for changes")?;
    loop {
        let paths = paths(arguments);
        watch.follow(&paths);
        // Contents are read after the watch starts, so that no change is missed in between.
        let before = contents(&paths);
        let ended = match Known::read(arguments) {
            Ok(known) => once(arguments, &known).await.map(drop),
            Err(error) => Err(error),
        };
        match ended {
            Err(error) if super::super::is_closed_pipe(&error) => return Err(error),
            // The next change may fix the error.
            Err(error) => super::super::print_error(&error)?,
            Ok(()) => {}
        }
        let mut out = anstream::stdout().lock();
        writeln!(out, "\nwatching for changes; press Ctrl-C to stop")?;
        out.flush()?;
        drop(out);
        loop {
            changes.recv().await.context("watching files for changes has stopped")?;
            // Notifications also come for changed times and for other files of a directory.
            if contents(&self::paths(arguments)) != before {
                break;
            }
        }
    }
}

/// Paths to watch: hook files, scripts, cases, and the directories that can contain cases.
fn paths(arguments: &Arguments) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = Vec::new();
    if let Ok(known) = Known::read(arguments) {
        all.extend(known.runner.followed());
        all.extend(known.files.iter().cloned());
        if arguments.paths.is_empty() {
            let places = hook_tests::places(known.runner.dir(), &known.runner.config_files());
            all.extend(places.into_iter().map(|place| place.join("*")));
        }
    } else {
        all.extend(arguments.config.config.iter().cloned());
    }
    for path in &arguments.paths {
        all.push(if path.is_dir() { path.join("*") } else { path.clone() });
    }
    all.iter().map(|path| std::path::absolute(path).unwrap_or_else(|_| path.clone())).collect()
}

/// Hashes of the contents of all files.
fn contents(paths: &[PathBuf]) -> BTreeMap<PathBuf, Option<u64>> {
    let mut all = BTreeMap::new();
    for path in paths {
        if path.ends_with("*") {
            let entries = path.parent().and_then(|parent| parent.read_dir().ok()).into_iter().flatten().flatten();
            all.extend(entries.map(|entry| entry.path()).filter(|path| path.is_file()).map(with_hash));
        } else {
            all.extend([with_hash(path.clone())]);
        }
    }
    all
}

fn with_hash(path: PathBuf) -> (PathBuf, Option<u64>) {
    let hash = hash(&path);
    (path, hash)
}

/// Maximum size of a file whose changes are noticed, in bytes.
const MAX_WATCHED: u64 = 256 * 1024 * 1024;

/// Hash of content and permissions. `None`: the file does not exist or cannot be read.
fn hash(path: &Path) -> Option<u64> {
    let bytes = regular_file::read(path, MAX_WATCHED).ok()?;
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    #[cfg(unix)]
    path.metadata()
        .map(|metadata| std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()))
        .ok()
        .hash(&mut hasher);
    Some(hasher.finish())
}
