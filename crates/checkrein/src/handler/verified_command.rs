//! Commands with approved scripts. They run from copies of the bytes that were hashed, so a script cannot change between the
//! check and the run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use checkrein_core::{Failure, FailureKind, HookInfo};
use checkrein_dialects::{CommandLine, CommandSpec, VerifiedScripts, VerifiedWord};

use crate::trust::changed_failure;
use crate::trust::script_copy::{self, NotVerified};

/// Variable with the original path of the script, which runs from a copy.
const SCRIPT: &str = "CHECKREIN_SCRIPT";

/// Number of retries if a new copy is still open for writing in another process (ETXTBSY).
pub(super) const TRIES: usize = 100;

/// Pause between two retries.
pub(super) const PAUSE: Duration = Duration::from_millis(1);

/// Replaces the scripts of a command by their copies.
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
            // From the end to the start, so that earlier positions stay valid.
            places.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
            for (range, copy) in places {
                text.replace_range(range, &copy);
            }
        }
        CommandLine::Argv(words) => {
            for (word, copy) in copies {
                if let VerifiedWord::Argv(index) = word
                    && let Some(word) = words.get_mut(*index)
                {
                    *word = copy.to_string_lossy().into_owned();
                }
            }
            // A command with variables has no verified scripts. The path of a copy must not be expanded.
            spec.expands = false;
        }
    }
    spec
}

/// Quotes a path for a shell if needed. A command of plain words runs without a shell.
fn quoted(path: &Path) -> String {
    let path = path.to_string_lossy();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-./,:+@%".contains(&byte);
    if path.bytes().all(is_plain) { path.into_owned() } else { format!("'{}'", path.replace('\'', r"'\''")) }
}

/// Returns additional variables of such a command.
pub(super) fn variables(pins: &VerifiedScripts) -> Option<(OsString, OsString)> {
    let first = pins.scripts.first()?;
    Some((SCRIPT.into(), first.path.clone().into()))
}

/// Returns the directories around the copies.
pub(super) fn around(pins: &VerifiedScripts) -> impl Iterator<Item = PathBuf> {
    pins.scripts.iter().filter_map(|script| script_copy::mirror_of(script, &pins.store))
}

/// Checks that the scripts of a hook are what was approved, and refreshes their copies.
pub(super) fn verify(hook: &HookInfo, pins: &VerifiedScripts, cwd: &Path) -> Result<(), Failure> {
    for script in &pins.scripts {
        script_copy::verify(script, &pins.store, cwd).map_err(|error| match error {
            NotVerified::Unreadable(..) | NotVerified::NoCopy(..) => {
                Failure::new(FailureKind::Untrusted, error.to_string())
            }
            _ => changed_failure(hook, &error.to_string()),
        })?;
    }
    Ok(())
}
