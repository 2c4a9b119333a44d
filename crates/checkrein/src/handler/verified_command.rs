//! Commands with approved scripts. They run from copies of the bytes that were hashed, so a script cannot change between the
//! check and the run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use checkrein_core::{Failure, FailureKind, HookInfo};
use checkrein_dialects::{CommandLine, CommandSpec, HookSpec, VerifiedScripts, VerifiedWord};

use super::HandlerEnv;
use crate::trust::script_copy::{self, NotVerified};
use crate::trust::{changed_failure, relative_scripts};

/// Variable with the original path of the script, which runs from a copy.
const SCRIPT: &str = "CHECKREIN_SCRIPT";

/// Number of retries if a new copy is still open for writing in another process (ETXTBSY).
pub(super) const TRIES: usize = 100;

/// Pause between two retries.
pub(super) const PAUSE: Duration = Duration::from_millis(1);

/// Replaces the scripts of a command by their copies.
pub(super) fn command(spec: &CommandSpec, pins: &VerifiedScripts) -> CommandSpec {
    replace(spec, pins.scripts.iter().map(|script| (&script.word, script_copy::copy_of(script, &pins.store))).collect())
}

/// Replaces the relative scripts of a command that is not verified by their absolute paths. `None` if it has none.
pub(super) fn in_script_dir(hook: &HookSpec, spec: &CommandSpec, env: &HandlerEnv) -> Option<CommandSpec> {
    spec.script_dir.as_ref()?;
    let home = env.var("HOME");
    let scripts = relative_scripts(hook, &env.cwd, home.as_deref().map(Path::new));
    if scripts.is_empty() {
        return None;
    }
    Some(replace(spec, scripts.iter().map(|(word, path)| (word, path.clone())).collect()))
}

/// Replaces words of a command by paths.
fn replace(spec: &CommandSpec, copies: Vec<(&VerifiedWord, PathBuf)>) -> CommandSpec {
    let mut spec = spec.clone();
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

/// Names missing scripts by their own paths in the error output of a command. The command itself names a path at which no
/// file is ever created.
pub(super) fn name_missing(pins: &VerifiedScripts, mut text: Vec<u8>) -> Vec<u8> {
    for script in pins.scripts.iter().filter(|script| script.sha256.is_none()) {
        let copy = script_copy::copy_of(script, &pins.store);
        let [copy, path] = [&copy, &script.path].map(|path| path.as_os_str().as_encoded_bytes());
        if let Some(replaced) = replace_bytes(&text, copy, path) {
            text = replaced;
        }
    }
    text
}

/// Replaces all occurrences of a text. `None` if there are none.
fn replace_bytes(text: &[u8], from: &[u8], to: &[u8]) -> Option<Vec<u8>> {
    let mut replaced = None;
    let mut rest = text;
    while let Some(start) = rest.windows(from.len()).position(|window| window == from) {
        let all: &mut Vec<u8> = replaced.get_or_insert_default();
        all.extend_from_slice(&rest[..start]);
        all.extend_from_slice(to);
        rest = &rest[start + from.len()..];
    }
    let mut replaced = replaced?;
    replaced.extend_from_slice(rest);
    Some(replaced)
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
