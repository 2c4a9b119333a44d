//! Finds the files that a command runs, as far as its text shows them.
//!
//! The evaluation verifies these files. Code that the text does not show must be listed in the notes, which the user sees
//! before an approval.

#[cfg(test)]
#[cfg(target_os = "linux")]
mod forms;
#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::ops::Range;
use std::path::{Path, PathBuf};

use checkrein_dialects::{CommandLine, CommandSpec, Data, HandlerSpec, HookSpec, VerifiedWord};

use super::interpreters::{Runs, runs, selects_code};
use crate::builtins::shell::{
    Expanded, ShellEnv, SimpleCommand, is_reader, lexical, pieces, simple_commands_of_argv, simple_commands_with,
    starts_others,
};
use crate::real_path::real_path;

/// Files that a hook runs, and notes about other code.
#[derive(Debug, Default)]
pub(super) struct ScriptRef {
    pub(super) scripts: Vec<NamedScript>,
    /// Notes about code that cannot be verified.
    pub(super) notes: Vec<String>,
}

/// A file that a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedScript {
    pub(super) word: VerifiedWord,
    /// The path in the command, expanded.
    pub(super) named: PathBuf,
    /// The absolute path.
    pub(super) path: PathBuf,
}

/// Directories in which a command runs.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommandContext<'a> {
    /// Start directory of the agent.
    pub(super) dir: &'a Path,
    pub(super) home: Option<&'a Path>,
}

/// Returns the files that a hook runs.
pub(super) fn find_scripts(spec: &HookSpec, context: CommandContext<'_>) -> ScriptRef {
    const NOT_VERIFIED: &str = "scripts in the command are not verified";
    let HandlerSpec::Command(command) = &spec.handler else { return ScriptRef::default() };
    let mut finder = ScriptFinder { named: ScriptRef::default(), cwd: directory(command, spec, context), moves: false };
    let home = context.home.and_then(Path::to_str);
    let env = ShellEnv { home, cwd: finder.cwd.as_deref().unwrap_or(context.dir) };
    let dir = command.script_dir.as_deref().unwrap_or(context.dir).to_string_lossy();
    let project = || spec.dialect.process.variables.iter().filter(|row| row.from == Data::ProjectDir);
    match &command.run {
        CommandLine::Shell { text, shell } => {
            if let Some(shell) = shell.as_ref().and_then(|shell| shell.first()).filter(|shell| !is_posix(shell)) {
                finder.note(format!("{NOT_VERIFIED}: `{shell}` is not a supported shell"));
                return finder.named;
            }
            let from_hook = command.env_set.iter().filter(|(_, value)| !value.contains("${"));
            let from_agent = project().map(|row| (row.name.to_owned(), dir.clone().into_owned()));
            let vars: Vec<_> = from_hook.cloned().chain(from_agent).collect();
            let is_known = |name: &String| name == "HOME" || vars.iter().any(|(known, _)| known == name);
            match simple_commands_with(text, env, &vars) {
                // The interpreter does not follow each change of a variable in time.
                Ok((_, assigned)) if assigned.iter().any(is_known) => {
                    finder.note(format!("{NOT_VERIFIED}: it changes a variable that may contain their directory"));
                }
                Ok((commands, assigned)) => {
                    finder.simple_commands(&commands, Some(text));
                    assigned.iter().for_each(|name| finder.variable(name));
                    finder.rest(text, &commands);
                }
                Err(why) => finder.note(format!("{NOT_VERIFIED}: cannot parse it: {}", why.0)),
            }
        }
        CommandLine::Argv(argv) => {
            let expand = |word: &String| {
                project().fold(word.clone(), |word, row| word.replace(&format!("${{{}}}", row.name), &dir))
            };
            let words: Vec<_> = argv.iter().map(expand).collect();
            if command.expands && words.iter().any(|word| word.contains('$')) {
                finder.note(format!("{NOT_VERIFIED}: its variables are known only at run time"));
            } else {
                match simple_commands_of_argv(&words, env) {
                    Ok(commands) => finder.simple_commands(&commands, None),
                    Err(why) => finder.note(format!("{NOT_VERIFIED}: cannot parse it: {}", why.0)),
                }
            }
        }
    }
    command.env_set.iter().for_each(|(name, _)| finder.variable(name));
    finder.named
}

/// Returns the scripts that a command names by relative paths, with their absolute paths.
pub(crate) fn relative_scripts(spec: &HookSpec, dir: &Path, home: Option<&Path>) -> Vec<(VerifiedWord, PathBuf)> {
    let found = find_scripts(spec, CommandContext { dir, home }).scripts.into_iter();
    found.filter(|script| script.named.is_relative()).map(|script| (script.word, script.path)).collect()
}

/// Returns the working directory of the command, or `None` if it is known only at run time.
fn directory(command: &CommandSpec, spec: &HookSpec, context: CommandContext<'_>) -> Option<PathBuf> {
    let base = command.script_dir.as_deref().unwrap_or(context.dir);
    let Some(cwd) = &command.cwd else { return Some(base.to_owned()) };
    let text = cwd.to_string_lossy();
    if spec.dialect.process.expands && (text.contains('$') || text.starts_with('~')) {
        return None;
    }
    Some(lexical(&base.join(cwd)))
}

fn is_posix(shell: &str) -> bool {
    let name = Path::new(shell).file_name().and_then(OsStr::to_str).unwrap_or(shell);
    let known = ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash"].contains(&name);
    // A shell with a path may be any program, unless it is in a system directory.
    known && (!shell.contains('/') || is_system(Path::new(shell)))
}

struct ScriptFinder {
    named: ScriptRef,
    cwd: Option<PathBuf>,
    /// `true` if the command changes its directory.
    moves: bool,
}

impl ScriptFinder {
    fn note(&mut self, note: String) {
        if !self.named.notes.contains(&note) {
            self.named.notes.push(note);
        }
    }

    fn variable(&mut self, name: &str) {
        if selects_code(name) {
            self.note(format!("the command sets `{name}`, which can make programs run other code"));
        }
    }

    fn not_verified(&mut self, word: &Expanded, why: &str) {
        self.note(format!("`{}` is not verified: {why}", word.text));
    }

    fn simple_commands(&mut self, commands: &[SimpleCommand], text: Option<&str>) {
        self.moves = commands.iter().any(|command| match command.name.as_str() {
            "cd" | "pushd" | "popd" | "chdir" | "chroot" => true,
            "env" | "sudo" => command.has_option("CD", &["chdir"]),
            _ => false,
        });
        for command in commands {
            self.simple_command(command, text);
        }
    }

    fn simple_command(&mut self, command: &SimpleCommand, text: Option<&str>) {
        let program = &command.program;
        let name = command.name.as_str();
        if name.is_empty() && program.text.is_empty() {
            return;
        }
        // `[` is a program, not a wildcard.
        if !command.program_known() && name != "[" {
            return self.not_verified(program, "its path is known only at run time");
        }
        let is_path = program.text.contains('/');
        let is_script = is_path && self.file(program, text, true);
        // The arguments of a script are not scripts.
        if is_script && !is_interpreter(name) {
            return;
        }
        let args: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
        if matches!(name, "env" | "sudo" | "doas" | "export") {
            args.iter().filter_map(|arg| arg.split_once('=')).for_each(|(name, _)| self.variable(name));
        }
        match runs(name, &args) {
            Runs::Script(index) => {
                let script = &command.args[index];
                if !script.known || script.glob {
                    self.not_verified(script, "its path is known only at run time");
                } else {
                    self.file(script, text, false);
                }
            }
            Runs::Unknown(by) => {
                let shown = if by == name { by } else { format!("{name} {by}") };
                self.note(format!("only the command line is verified, not the code that `{shown}` runs"));
            }
            Runs::Input => self.note(format!("`{name}` runs its standard input, which is not verified")),
            Runs::InlineWithModules => {
                self.note(format!("`{name}` may load modules from the project, which are not verified"));
            }
            // The interpreter of the shell text returns the commands of nested scripts as well.
            Runs::Inline if !starts_others(name) && !is_reader(name) => {
                args.iter().for_each(|arg| self.mentioned(name, arg));
            }
            Runs::Nothing if matches!(name, "alias" | "hash" | "enable") => {
                self.note(format!("`{name}` can replace one program by another, which is not verified"));
            }
            Runs::Nothing if !is_reader(name) && !starts_others(name) => {
                args.iter().for_each(|arg| self.mentioned(name, arg));
            }
            Runs::Inline | Runs::Nothing => {}
        }
    }

    /// Notes files in the arguments of a program that may run them.
    fn mentioned(&mut self, program: &str, arg: &str) {
        for piece in pieces(arg) {
            if self.is_project_file(piece) {
                self.note(format!("`{piece}` is not verified: `{program}` may run it"));
            }
        }
    }

    /// Notes files and variables in the parts of the text that are neither verified nor read only.
    ///
    /// No list of programs and variables that run files can be complete. Therefore each file of the project that the text
    /// names has a note, unless it is verified or an argument of a program that only reads.
    fn rest(&mut self, text: &str, commands: &[SimpleCommand]) {
        let mut masked: Vec<u8> = text.bytes().collect();
        let mut mask = |range: Range<usize>| masked[range].fill(b' ');
        for script in &self.named.scripts {
            if let VerifiedWord::Text(range) = &script.word {
                mask(range.clone());
            }
        }
        for command in commands.iter().filter(|command| is_reader(&command.name)) {
            for (index, arg) in command.args.iter().enumerate() {
                let runs_value = index > 0 && RUN_OPTIONS.contains(&command.args[index - 1].text.as_str());
                if let Some((start, end)) = arg.span.filter(|_| !runs_value && !arg.text.starts_with('-')) {
                    mask(bytes(text, start)..bytes(text, end));
                }
            }
        }
        // The ranges are at characters of the text, so the rest is valid.
        let masked = String::from_utf8_lossy(&masked).into_owned();
        for word in masked.split_whitespace() {
            for piece in pieces(word) {
                let name = piece.trim_start_matches("$(").trim_end_matches(')');
                if self.is_project_file(name) && !self.named.notes.iter().any(|note| note.contains(name)) {
                    self.note(format!("`{name}` is not verified: the command may run it"));
                }
            }
        }
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        for (start, word) in words(&masked, is_name) {
            if !masked[..start].ends_with(['$', '{', '/', '-', '.']) {
                self.variable(word);
            }
        }
    }

    fn is_project_file(&self, piece: &str) -> bool {
        let Some(cwd) = &self.cwd else { return false };
        let path = lexical(&cwd.join(piece));
        let is_file = piece.starts_with("./") || piece.starts_with("../") || path.is_file();
        is_file && !is_system(&path) && !path.starts_with("/dev") && !path.starts_with("/proc")
    }

    /// Adds the file that a word names, or a note. Returns `false` if the file is a program of the system.
    fn file(&mut self, word: &Expanded, text: Option<&str>, is_program: bool) -> bool {
        let named = PathBuf::from(&word.text);
        if named.is_relative() && self.moves {
            self.not_verified(word, "the command changes its directory first");
            return true;
        }
        let Some(cwd) = &self.cwd else {
            self.not_verified(word, "its directory is known only at run time");
            return true;
        };
        let path = lexical(&cwd.join(&named));
        if ["/dev", "/proc"].iter().any(|place| path.starts_with(place)) {
            self.not_verified(word, "its contents are known only at run time");
            return true;
        }
        if is_system(&path) {
            return false;
        }
        if path.is_dir() {
            self.not_verified(word, "it is a directory");
            return true;
        }
        let Some((start, end)) = word.span else {
            self.not_verified(word, "a nested script runs it");
            return true;
        };
        if !is_program && !word.text.contains('/') && !path.exists() {
            // Shells search `PATH` for it, other programs their modules.
            self.not_verified(word, "it is not in the working directory of the command");
            return true;
        }
        let word = match text {
            Some(text) => VerifiedWord::Text(bytes(text, start)..bytes(text, end)),
            None => VerifiedWord::Argv(start),
        };
        let script = NamedScript { word, named, path };
        if !self.named.scripts.contains(&script) {
            self.named.scripts.push(script);
        }
        true
    }
}

/// Options of programs that otherwise only read. Their value is a program.
const RUN_OPTIONS: &[&str] = &["--compress-program", "--pre", "--pager", "-P"];

/// Returns the words of a text with their places.
fn words(text: &str, is_part: impl Fn(char) -> bool + Copy) -> impl Iterator<Item = (usize, &str)> {
    let mut end = 0;
    std::iter::from_fn(move || {
        let start = end + text[end..].find(is_part)?;
        end = text[start..].find(|c| !is_part(c)).map_or(text.len(), |length| start + length);
        Some((start, &text[start..end]))
    })
}

fn is_interpreter(name: &str) -> bool {
    runs(name, &["x"]) != Runs::Nothing
}

/// Converts an offset in characters to an offset in bytes.
fn bytes(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(offset, _)| offset)
}

/// Directories that only an administrator writes.
pub(super) const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/etc",
    "/nix/store",
    "/gnu/store",
    "/run/current-system",
    "/snap",
    "/System",
    "/Library",
    "/opt/homebrew",
];

/// `true` for a file of the system, which only an administrator can change.
pub(crate) fn is_system(path: &Path) -> bool {
    if !SYSTEM.iter().any(|place| path.starts_with(place)) {
        return false;
    }
    let real = real_path(path);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        // A link may point out of the system directories.
        real.is_ok_and(|real| {
            SYSTEM.iter().any(|place| real.starts_with(place))
                && real.metadata().is_ok_and(|file| file.uid() == 0 && file.mode() & 0o022 == 0)
        })
    }
    #[cfg(not(unix))]
    real.is_ok()
}
