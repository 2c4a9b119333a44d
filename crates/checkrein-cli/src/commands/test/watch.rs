//! Runs again whenever something changes.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use checkrein::engine::FileWatch;
use checkrein_tools::hook_tests;
use tokio::sync::mpsc;

use super::{Arguments, Known, once};
use crate::exit::Exit;

/// Runs until somebody ends it.
pub(super) async fn run(arguments: &Arguments) -> Result<Exit> {
    // One change that is waiting stands for all.
    let (changed, mut changes) = mpsc::channel(1);
    let watch = FileWatch::start(move || {
        let _ = changed.try_send(());
    })
    .context("files cannot be followed")?;
    loop {
        let paths = paths(arguments);
        watch.follow(&paths);
        // What changed before it was followed is read here, what changes from here on is told.
        let before = contents(&paths);
        let ended = match Known::read(arguments) {
            Ok(known) => once(arguments, &known).await.map(drop),
            Err(error) => Err(error),
        };
        match ended {
            Err(error) if super::super::is_closed_pipe(&error) => return Err(error),
            // The next change may mend it.
            Err(error) => super::super::print_error(&error)?,
            Ok(()) => {}
        }
        let mut out = anstream::stdout().lock();
        writeln!(out, "\nwatching for changes; Ctrl-C ends")?;
        out.flush()?;
        drop(out);
        loop {
            changes.recv().await.context("files cannot be followed any more")?;
            // Somebody may have touched a file only, or one beside it.
            if contents(&self::paths(arguments)) != before {
                break;
            }
        }
    }
}

/// Everything at which a change matters: hooks, their scripts, cases, and the places where there may be some.
fn paths(arguments: &Arguments) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = Vec::new();
    if let Ok(known) = Known::read(arguments) {
        all.extend(known.trials.followed());
        all.extend(known.files.iter().cloned());
        if arguments.paths.is_empty() {
            let places = hook_tests::places(known.trials.dir(), &known.trials.config_files());
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

/// What all of them hold, as numbers.
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

/// None: it is not there.
fn hash(path: &Path) -> Option<u64> {
    let bytes = std::fs::read(path).ok()?;
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    #[cfg(unix)]
    path.metadata()
        .map(|metadata| std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()))
        .ok()
        .hash(&mut hasher);
    Some(hasher.finish())
}
