//! The command that agents are told to call.

use std::path::{Path, PathBuf};

use checkrein::hook_files::Locations;
use checkrein::internal::shell::{ShellEnv, simple_commands};

/// How agents call checkrein.
///
/// It must stay the same from release to release: some agents skip a hook whose text has changed until its user trusts it
/// again. So a path is written as it is found, with its links, and has no version in it unless its owner has put one there.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Program {
    path: PathBuf,
}

impl Program {
    /// This one.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The running program, as `PATH` has it if it is the same there, else by its own path.
    ///
    /// # Errors
    /// The system does not say which program is running.
    pub fn running(place: &Locations) -> std::io::Result<Self> {
        let own = std::env::current_exe()?;
        let same =
            |found: &PathBuf| found.canonicalize().is_ok_and(|real| own.canonicalize().is_ok_and(|own| own == real));
        let name = own.file_name().map(PathBuf::from);
        let found = name.and_then(|name| on_path(&name, place)).filter(same);
        Ok(Self { path: found.unwrap_or(own) })
    }

    /// Why agents cannot be told to call it, if they cannot.
    pub fn unfit(&self) -> Option<String> {
        let shown = self.path.display();
        let name = self.path.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
        if name.strip_suffix(".exe").unwrap_or(name) != NAME {
            return Some(format!("{shown} is not called `{NAME}`, so nobody could find its entries again"));
        }
        let is_odd = self.path.to_str().is_none_or(|path| path.contains(char::is_control));
        is_odd.then(|| format!("{shown} has characters in it that no settings file can have"))
    }

    /// By its name alone, for files that others share: each has it somewhere else.
    pub fn by_name() -> Self {
        Self::new(NAME)
    }

    /// Its path, or its name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it can be run.
    pub(super) fn is_there(&self, place: &Locations) -> bool {
        if self.path.is_absolute() { is_program(&self.path) } else { on_path(&self.path, place).is_some() }
    }

    /// Whether it is the same as another, perhaps by another path.
    pub(super) fn is(&self, other: &Self) -> bool {
        let real = |program: &Self| program.path.canonicalize().ok();
        self == other || real(self).is_some_and(|path| Some(path) == real(other))
    }

    /// The words behind it, as a shell reads them.
    pub(super) fn line(&self, call: &Call) -> String {
        let mut words = vec![quoted(&self.path.to_string_lossy()), "hook".to_owned(), quoted(&call.agent)];
        if let Some(event) = &call.event {
            words.extend(["--event".to_owned(), quoted(event)]);
        }
        if call.fail_open {
            words.push("--fail-open".to_owned());
        }
        words.join(" ")
    }
}

const NAME: &str = "checkrein";

/// What `checkrein hook` is called with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) agent: String,
    pub(super) event: Option<String>,
    pub(super) fail_open: bool,
}

/// The program and the call that a command is, if it is one that was installed. What has other options somebody has written
/// by hand, and is left alone.
pub(super) fn read(command: &str) -> Option<(Program, Call)> {
    let world = ShellEnv { home: None, cwd: Path::new("/") };
    // The programs that are named so are few; all other text need not be understood.
    if !command.contains(NAME) {
        return None;
    }
    let steps = simple_commands(command, world).ok()?;
    let [step] = steps.as_slice() else { return None };
    let name = step.name.strip_suffix(".exe").unwrap_or(&step.name);
    if name != NAME || !step.writes.is_empty() || step.args.iter().any(|arg| !arg.known) {
        return None;
    }
    let mut words = step.args.iter().map(|arg| arg.text.as_str());
    let (Some("hook"), Some(agent)) = (words.next(), words.next()) else { return None };
    let mut call = Call { agent: agent.to_owned(), event: None, fail_open: false };
    while let Some(word) = words.next() {
        match word {
            "--event" => call.event = Some(words.next()?.to_owned()),
            "--fail-open" => call.fail_open = true,
            _ => return None,
        }
    }
    Some((Program::new(&step.program.text), call))
}

/// The first program of this name on `PATH`.
pub(super) fn on_path(name: &Path, place: &Locations) -> Option<PathBuf> {
    let paths = place.var("PATH")?;
    let named = |dir: PathBuf| {
        let plain = dir.join(name);
        let windows = plain.with_extension("exe");
        [Some(plain), cfg!(windows).then_some(windows)].into_iter().flatten().find(|path| is_program(path))
    };
    std::env::split_paths(&paths).filter(|dir| dir.is_absolute()).find_map(named)
}

/// Whether a file can be run.
pub(super) fn is_program(path: &Path) -> bool {
    let Ok(found) = path.metadata() else { return false };
    #[cfg(unix)]
    let runs = std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let runs = true;
    found.is_file() && runs
}

/// A word as shells read it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else if cfg!(windows) {
        format!("\"{word}\"")
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may say so")]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_known_again() {
        for path in ["checkrein", "/usr/bin/checkrein", "/home/ann o'neill/bin/checkrein", "/tmp/$x/checkrein"] {
            for event in [None, Some("preToolUse".to_owned())] {
                for fail_open in [false, true] {
                    let call = Call { agent: "copilot@pascal".to_owned(), event: event.clone(), fail_open };
                    let line = Program::new(path).line(&call);
                    assert_eq!(read(&line), Some((Program::new(path), call)), "{line}");
                }
            }
        }
    }

    #[test]
    fn what_others_wrote_is_theirs() {
        for command in [
            "checkrein",
            "checkrein run PreToolUse",
            "checkrein hook",
            "checkrein hook claude --config mine.yaml",
            "checkrein hook claude | tee log",
            "checkrein hook claude > log",
            "checkrein hook \"$AGENT\"",
            "my-checkrein hook claude",
            "echo checkrein hook claude",
            "cd x && checkrein hook claude",
            "if",
        ] {
            assert_eq!(read(command), None, "{command}");
        }
    }
}
