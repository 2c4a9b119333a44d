//! Commands whose scripts run only as they were approved: from copies of what was hashed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use checkrein_core::{Failure, FailureKind};
use checkrein_dialects::{CommandLine, CommandSpec, VerifiedScripts, VerifiedWord};

use crate::trust::script_copy;

/// The variable that tells a script where it is kept, since it is run from a copy.
const SCRIPT: &str = "CHECKREIN_SCRIPT";

/// How often, and how long in between, a copy is tried that somebody may still have open from when it was written.
pub(super) const TRIES: usize = 100;
pub(super) const PAUSE: Duration = Duration::from_millis(1);

/// The command with the paths of copies in place of its scripts.
pub(super) fn command(spec: &CommandSpec, pins: &VerifiedScripts) -> CommandSpec {
    let mut spec = spec.clone();
    let copies: Vec<_> =
        pins.scripts.iter().map(|script| (&script.word, script_copy::copy_of(script, &pins.store))).collect();
    match &mut spec.run {
        CommandLine::Shell { text, .. } => {
            let mut places: Vec<_> = copies
                .iter()
                .filter_map(|(word, copy)| match word {
                    VerifiedWord::Text(range) => Some((range.clone(), quoted(copy))),
                    VerifiedWord::Argv(_) => None,
                })
                .filter(|(range, _)| text.get(range.clone()).is_some())
                .collect();
            // From behind, so that those in front stay where they are.
            places.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
            for (range, copy) in places {
                text.replace_range(range, &copy);
            }
        }
        CommandLine::Argv(words) => {
            for (word, copy) in copies {
                if let VerifiedWord::Argv(at) = word
                    && let Some(word) = words.get_mut(*at)
                {
                    *word = copy.to_string_lossy().into_owned();
                }
            }
            // None of its words has a variable, or nothing would be pinned; a path may look as if it had one.
            spec.expands = false;
        }
    }
    spec
}

/// A path as a word of a shell text. One that needs no quotes has none: a text of plain words needs no shell.
fn quoted(path: &Path) -> String {
    let path = path.to_string_lossy();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./,:+@%".contains(&byte);
    if path.bytes().all(is_plain) { path.into_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// What such a command gets besides.
pub(super) fn variables(pins: &VerifiedScripts) -> Option<(OsString, OsString)> {
    let first = pins.scripts.first()?;
    Some((SCRIPT.into(), first.path.clone().into()))
}

/// The directories around its copies.
pub(super) fn around(pins: &VerifiedScripts) -> impl Iterator<Item = PathBuf> {
    pins.scripts.iter().filter_map(|script| script_copy::around(script, &pins.store))
}

/// Sees to it that what is about to run is what was approved.
pub(super) fn verify(pins: &VerifiedScripts, cwd: &Path) -> Result<(), Failure> {
    for script in &pins.scripts {
        script_copy::verify(script, &pins.store, cwd)
            .map_err(|why| Failure::new(FailureKind::Untrusted, why.to_string()))?;
    }
    Ok(())
}
