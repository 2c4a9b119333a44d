//! Command line of the installed entries: how it is written, and how it is recognized again.

use std::path::{Path, PathBuf};

use checkrein::hook_files::{Locations, UserDirs};
use checkrein::internal::shell::{ShellEnv, simple_commands};

/// Program that agents call.
///
/// The command must be the same in all releases: some agents skip a hook with a changed text until the user trusts it again. So
/// a path is written as found, with its symbolic links, and without a resolved version directory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Program {
    path: PathBuf,
    dirs: UserDirs,
}

impl Program {
    /// Program with this path.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), dirs: UserDirs::default() }
    }

    /// Names these directories in each call, because `checkrein hook` does not take them from variables.
    #[must_use]
    pub fn with_dirs(mut self, dirs: UserDirs) -> Self {
        self.dirs = dirs;
        self
    }

    /// Directories that each call names.
    pub fn dirs(&self) -> &UserDirs {
        &self.dirs
    }

    /// The running program: by its path on `PATH` if that is the same file, else by its own path.
    ///
    /// # Errors
    /// The path of the running program is unknown.
    pub fn running(place: &Locations) -> std::io::Result<Self> {
        let own = std::env::current_exe()?;
        let same =
            |found: &PathBuf| found.canonicalize().is_ok_and(|real| own.canonicalize().is_ok_and(|own| own == real));
        let name = own.file_name().map(PathBuf::from);
        let found = name.and_then(|name| on_path(&name, place)).filter(same);
        Ok(Self::new(found.unwrap_or(own)))
    }

    /// Reason why entries cannot call this program. `None` if they can.
    pub fn unfit(&self) -> Option<String> {
        let shown = self.path.display();
        let name = self.path.file_name().and_then(std::ffi::OsStr::to_str).unwrap_or_default();
        if name.strip_suffix(".exe").unwrap_or(name) != NAME {
            return Some(format!(
                "{shown} is not named `{NAME}`; rename it, because entries are recognized by that name"
            ));
        }
        if self.path.to_str().is_none_or(|path| path.contains(char::is_control)) {
            return Some(format!("the path {shown} is not UTF-8 or has control characters; move the program"));
        }
        None
    }

    /// Program by its name alone, for shared files: each user may have it in another directory.
    pub fn by_name() -> Self {
        Self::new(NAME)
    }

    /// Path or name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns `true` if the program exists and is executable.
    pub(super) fn is_found(&self, place: &Locations) -> bool {
        if self.path.is_absolute() { is_program(&self.path) } else { on_path(&self.path, place).is_some() }
    }

    /// Returns `true` if both are the same file, even by different paths.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let real = |program: &Self| program.path.canonicalize().ok();
        self.path == other.path || real(self).is_some_and(|path| Some(path) == real(other))
    }

    /// Shell command for this call.
    pub(super) fn line(&self, call: &Call) -> String {
        self.words(call).iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
    }

    /// Words of the command for this call.
    pub(super) fn words(&self, call: &Call) -> Vec<String> {
        let mut words = vec![self.path.to_string_lossy().into_owned(), "hook".to_owned(), call.agent.clone()];
        if let Some(event) = &call.event {
            words.extend(["--event".to_owned(), event.clone()]);
        }
        if call.fail_open {
            words.push("--fail-open".to_owned());
        }
        if call.needed {
            words.push("--needed".to_owned());
        }
        for (option, dir) in self.dirs.options() {
            words.extend([option.to_owned(), dir.to_string_lossy().into_owned()]);
        }
        words
    }
}

const NAME: &str = "checkrein";

/// Arguments of `checkrein hook`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) agent: String,
    pub(super) event: Option<String>,
    pub(super) fail_open: bool,
    /// There are entries only for the events that hooks need.
    pub(super) needed: bool,
}

/// Parses an installed command. Returns `None` for all others: a command with other options was written by hand.
pub(super) fn read(command: &str) -> Option<(Program, Call)> {
    let env = ShellEnv { home: None, cwd: Path::new("/") };
    // Skips the shell parser for commands of others.
    if !command.contains(NAME) {
        return None;
    }
    let steps = simple_commands(command, env).ok()?;
    let [step] = steps.as_slice() else { return None };
    let name = step.name.strip_suffix(".exe").unwrap_or(&step.name);
    if name != NAME || !step.writes.is_empty() || step.args.iter().any(|arg| !arg.known) {
        return None;
    }
    let mut words = step.args.iter().map(|arg| arg.text.as_str());
    let (Some("hook"), Some(agent)) = (words.next(), words.next()) else { return None };
    let mut call = Call { agent: agent.to_owned(), event: None, fail_open: false, needed: false };
    let mut dirs = UserDirs::default();
    while let Some(word) = words.next() {
        match word {
            "--event" => call.event = Some(words.next()?.to_owned()),
            "--fail-open" => call.fail_open = true,
            "--needed" => call.needed = true,
            option => {
                if !dirs.set(option, words.next()?) {
                    return None;
                }
            }
        }
    }
    Some((Program::new(&step.program.text).with_dirs(dirs), call))
}

/// Returns the agent that a command names behind `checkrein hook`, also in a command that was edited or written by hand. Empty: it
/// names none. `None`: the command does not call checkrein.
pub(super) fn named_agent(command: &str) -> Option<&str> {
    let mut rest = command;
    loop {
        let (before, after) = rest.split_once(NAME)?;
        rest = after;
        let is_start = before.is_empty() || before.ends_with(|c: char| c.is_whitespace() || "/\\'\"(;&|`".contains(c));
        let after = after.strip_prefix(".exe").unwrap_or(after).trim_start_matches(['\'', '"']);
        let words = after.trim_start();
        let Some(arguments) = words.strip_prefix("hook").filter(|_| is_start && words.len() < after.len()) else {
            continue;
        };
        if arguments.is_empty() || arguments.starts_with(char::is_whitespace) {
            let is_name = |c: char| c.is_alphanumeric() || "-_@.".contains(c);
            let agent = arguments.trim_start_matches(|c: char| !is_name(c));
            return Some(agent.split(|c: char| !is_name(c)).next().unwrap_or_default());
        }
    }
}

/// Returns `true` for a plain command with a config file of the user, which an installation never writes.
pub(super) fn has_own_config(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let is_plain = !command.contains(['|', ';', '&', '<', '>', '`', '$', '(']);
    let has_file = words.any(|word| word == "--config") && words.next().is_some_and(|file| !file.starts_with("/dev/"));
    is_plain && has_file
}

/// Finds the first program of this name on `PATH`.
pub(super) fn on_path(name: &Path, place: &Locations) -> Option<PathBuf> {
    let paths = place.var("PATH")?;
    let named = |dir: PathBuf| {
        let plain = dir.join(name);
        let windows = plain.with_extension("exe");
        [Some(plain), cfg!(windows).then_some(windows)].into_iter().flatten().find(|path| is_program(path))
    };
    std::env::split_paths(&paths).filter(|dir| dir.is_absolute()).find_map(named)
}

/// Returns `true` if the path is an executable file.
pub(super) fn is_program(path: &Path) -> bool {
    let Ok(found) = path.metadata() else { return false };
    #[cfg(unix)]
    let is_executable = std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let is_executable = true;
    found.is_file() && is_executable
}

/// Quotes a word for the shell.
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
    fn written_command_is_parsed_back() {
        for path in ["checkrein", "/usr/bin/checkrein", "/home/ann o'neill/bin/checkrein", "/tmp/$x/checkrein"] {
            for event in [None, Some("preToolUse".to_owned())] {
                for (fail_open, needed) in [(false, false), (true, false), (false, true), (true, true)] {
                    for dirs in [UserDirs::default(), UserDirs::default().home("/home/ann o'neill").state("/s")] {
                        let call = Call { agent: "copilot@pascal".to_owned(), event: event.clone(), fail_open, needed };
                        let program = Program::new(path).with_dirs(dirs);
                        let line = program.line(&call);
                        assert_eq!(read(&line), Some((program, call)), "{line}");
                    }
                }
            }
        }
    }

    #[test]
    fn commands_of_others_are_not_recognized() {
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

    #[test]
    fn edited_commands_name_their_agent() {
        for command in [
            "/opt/bin/checkrein hook claude",
            "checkrein hook claude || true",
            "checkrein hook claude; exit 0",
            "checkrein hook claude;exit 0",
            "checkrein hook claude 2>/dev/null",
            "checkrein hook claude --config /dev/null",
            "true || checkrein hook claude",
            "exec '/home/ann o'\\''neill/bin/checkrein'  hook claude",
            "env -i checkrein hook claude",
            "sh -c 'checkrein hook claude'",
            "cd checkrein && checkrein.exe hook claude | tee log",
        ] {
            assert_eq!(named_agent(command), Some("claude"), "{command}");
        }
        assert!(has_own_config("checkrein hook claude --config ~/mine.yaml"));
        for command in [
            "checkrein hook claude",
            "checkrein hook claude --config /dev/null",
            "checkrein hook claude --config x || true",
        ] {
            assert!(!has_own_config(command), "{command}");
        }
        assert_eq!(named_agent("checkrein hook gemini"), Some("gemini"));
        assert_eq!(named_agent("checkrein hook \"$AGENT\""), Some("AGENT"));
        for command in
            ["checkrein run x", "my-checkrein hook claude", "checkrein hooks", "checkreinhook", "guard.sh", ""]
        {
            assert_eq!(named_agent(command), None, "{command}");
        }
    }
}
