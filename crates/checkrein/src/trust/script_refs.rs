//! Finds the files that a command runs, as far as its text shows them.
//!
//! The evaluation verifies these files. Code that the text does not show must be listed in the notes, which the user sees
//! before an approval.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use checkrein_dialects::{CommandLine, CommandSpec, Data, HandlerSpec, HookSpec, VerifiedWord};

use super::interpreters::{Runs, VARIABLES, runs};
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
    let dir = context.dir.to_string_lossy();
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

/// Returns the working directory of the command, or `None` if it is known only at run time.
fn directory(command: &CommandSpec, spec: &HookSpec, context: CommandContext<'_>) -> Option<PathBuf> {
    let Some(cwd) = &command.cwd else { return Some(context.dir.to_owned()) };
    let text = cwd.to_string_lossy();
    if spec.dialect.process.expands && (text.contains('$') || text.starts_with('~')) {
        return None;
    }
    Some(lexical(&context.dir.join(cwd)))
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
        if VARIABLES.contains(&name) {
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
        if !program.known || program.glob {
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
            Runs::Inline if !starts_others(name) => args.iter().for_each(|arg| self.mentioned(name, arg)),
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
        let Some(cwd) = self.cwd.clone() else { return };
        for piece in pieces(arg).take(64) {
            let path = lexical(&cwd.join(piece));
            let is_file = piece.starts_with("./") || piece.starts_with("../") || path.is_file();
            if is_file && !is_system(&path) && !path.starts_with("/dev") {
                self.note(format!("`{piece}` is not verified: `{program}` may run it"));
            }
        }
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

#[cfg(test)]
mod tests {
    use checkrein_core::EventKind;
    use checkrein_dialects::agents::claude;

    use super::*;

    fn project() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("hooks")).unwrap();
        for file in ["x.sh", "hooks/x.sh", "hooks/x.py", "it's.sh", "a b.sh"] {
            std::fs::write(dir.path().join(file), "").unwrap();
        }
        dir
    }

    /// Returns the scripts, as words of the command and as paths, and the number of notes.
    fn found(dir: &Path, spec: &HookSpec) -> (Vec<(String, String)>, usize) {
        let named = find_scripts(spec, CommandContext { dir, home: Some(Path::new("/home/me")) });
        let HandlerSpec::Command(command) = &spec.handler else { panic!() };
        let word = |script: &NamedScript| match (&script.word, &command.run) {
            (VerifiedWord::Text(range), CommandLine::Shell { text, .. }) => text[range.clone()].to_owned(),
            (VerifiedWord::Argv(index), CommandLine::Argv(argv)) => argv[*index].clone(),
            _ => panic!(),
        };
        let relative = |path: &Path| path.strip_prefix(dir).unwrap_or(path).display().to_string();
        let scripts = named.scripts.iter().map(|script| (word(script), relative(&script.path))).collect();
        (scripts, named.notes.len())
    }

    #[test]
    fn scripts_are_found_in_shell_texts() {
        let dir = project();
        for (text, word, path) in [
            ("./x.sh", "./x.sh", "x.sh"),
            ("hooks/x.sh --strict", "hooks/x.sh", "hooks/x.sh"),
            ("hooks/../x.sh", "hooks/../x.sh", "x.sh"),
            ("bash x.sh", "x.sh", "x.sh"),
            ("bash -e ./x.sh a", "./x.sh", "x.sh"),
            ("/bin/sh x.sh", "x.sh", "x.sh"),
            ("python3 hooks/x.py", "hooks/x.py", "hooks/x.py"),
            ("env A=1 ./x.sh", "./x.sh", "x.sh"),
            ("A=1 exec ./x.sh", "./x.sh", "x.sh"),
            ("timeout 5 bash ./x.sh", "./x.sh", "x.sh"),
            ("cat | ./x.sh && true; echo done", "./x.sh", "x.sh"),
            ("if true; then ./x.sh; fi", "./x.sh", "x.sh"),
            ("(./x.sh)", "./x.sh", "x.sh"),
            ("echo $(./x.sh)", "./x.sh", "x.sh"),
            ("\"$CLAUDE_PROJECT_DIR\"/hooks/x.sh", "\"$CLAUDE_PROJECT_DIR\"/hooks/x.sh", "hooks/x.sh"),
            ("bash \"${CLAUDE_PROJECT_DIR}/x.sh\"", "\"${CLAUDE_PROJECT_DIR}/x.sh\"", "x.sh"),
            ("é=1; './it'\"'\"'s.sh' é", "'./it'\"'\"'s.sh'", "it's.sh"),
            ("./a\\ b.sh", "./a\\ b.sh", "a b.sh"),
            ("~/x.sh", "~/x.sh", "/home/me/x.sh"),
            (". ./x.sh", "./x.sh", "x.sh"),
            ("./not-there.sh", "./not-there.sh", "not-there.sh"),
            ("env - ./x.sh", "./x.sh", "x.sh"),
            ("unshare ./x.sh", "./x.sh", "x.sh"),
            ("prlimit --cpu=1 ./x.sh", "./x.sh", "x.sh"),
            ("runuser -u me -- ./x.sh", "./x.sh", "x.sh"),
        ] {
            let spec = HookSpec::shell("h", EventKind::PreToolUse, text).dialect(&claude::DIALECT);
            assert_eq!(found(dir.path(), &spec), (vec![(word.to_owned(), path.to_owned())], 0), "{text}");
        }
    }

    #[test]
    fn code_that_cannot_be_verified_has_a_note() {
        let dir = project();
        for text in [
            "python3 -m pkg",
            "npx prettier",
            "make check",
            "$X/x.sh",
            "${X:-./x.sh}",
            "cd hooks && ./x.sh",
            "cd $Y; ./x.sh",
            "./*.sh",
            "$(cat name)",
            "D=./hooks; $D/x.sh",
            "CLAUDE_PROJECT_DIR=/tmp; $CLAUDE_PROJECT_DIR/x.sh",
            "bash -c './x.sh'",
            "bash none.sh",
            "for f in a b; do ./$f; done",
            "echo 'unclosed",
            "PATH=.:$PATH tool",
            "PATH=. && tool",
            "env LD_PRELOAD=./x.so true",
            "export NODE_OPTIONS='-r ./x.js'; node -e 1",
            "awk -f x.awk",
            "node ./hooks",
            "env -S'./x.sh a'",
            "env --split-string=./x.sh",
            "env -C hooks ./x.sh",
            "bash < x.sh",
            "bash -s a < x.sh",
            "cat x.sh | sh",
            "cat <<E | sh\n./x.sh\nE",
            "exec < x.sh; sh",
            "python3 - < hooks/x.py",
            "python3 -c 'import x'",
            "bash /dev/stdin < x.sh",
            "alias a=./x.sh; a",
            "hash -p ./x.sh ls; ls",
            "flock /tmp/l -c ./x.sh",
            "awk 'BEGIN{system(\"./x.sh\")}'",
            "perl -e 'do \"./x.pl\"'",
            "git -c core.pager=./x.sh log",
            "GIT_EXTERNAL_DIFF=./x.sh git diff",
            "unknown-program x.sh",
            "unknown-program --with=./x.sh",
        ] {
            let spec = HookSpec::shell("h", EventKind::PreToolUse, text).dialect(&claude::DIALECT);
            let (scripts, notes) = found(dir.path(), &spec);
            assert!(scripts.is_empty() && notes > 0, "{text}: {scripts:?} {notes}");
        }
    }

    #[test]
    fn system_programs_are_neither_scripts_nor_notes() {
        let dir = project();
        for text in ["jq -r .a", "/bin/echo x", "echo no >&2; exit 2", "grep -q rm ./x.sh", "sed s/a/b/ x", "awk /a/"] {
            let spec = HookSpec::shell("h", EventKind::PreToolUse, text);
            assert_eq!(found(dir.path(), &spec), (Vec::new(), 0), "{text}");
        }
    }

    #[test]
    fn scripts_are_found_in_argument_lists() {
        let dir = project();
        let found = |argv: &[&str]| {
            let spec = HookSpec::argv("h", EventKind::PreToolUse, argv.iter().copied()).dialect(&claude::DIALECT);
            found(dir.path(), &spec)
        };
        let one = |word: &str, path: &str| (vec![(word.to_owned(), path.to_owned())], 0);
        assert_eq!(found(&["./x.sh", "a"]), one("./x.sh", "x.sh"));
        assert_eq!(found(&["bash", "-e", "x.sh"]), one("x.sh", "x.sh"));
        assert_eq!(found(&["${CLAUDE_PROJECT_DIR}/x.sh"]), one("${CLAUDE_PROJECT_DIR}/x.sh", "x.sh"));
        assert_eq!(found(&["bash", "-c", "./x.sh"]).1, 1);
    }

    #[test]
    fn working_directory_of_the_hook_is_used() {
        let dir = project();
        let spec = HookSpec::shell("h", EventKind::PreToolUse, "./x.sh").command(|command| command.cwd("hooks"));
        assert_eq!(found(dir.path(), &spec).0, [("./x.sh".to_owned(), "hooks/x.sh".to_owned())]);
    }
}
