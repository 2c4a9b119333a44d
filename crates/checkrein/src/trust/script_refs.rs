//! Which files a command runs, as far as that can be told from its text.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use checkrein_dialects::{CommandLine, CommandSpec, Data, HandlerSpec, HookSpec, VerifiedWord};

use super::interpreters::{Runs, VARIABLES, runs};
use crate::builtins::shell::{
    Expanded, ShellEnv, SimpleCommand, is_reader, lexical, pieces, simple_commands_of_argv, simple_commands_with,
    starts_others,
};
use crate::real_path::real_path;

/// The files that a hook runs, and what else it may run.
#[derive(Debug, Default)]
pub(super) struct ScriptRef {
    pub(super) scripts: Vec<NamedScript>,
    /// What of it nobody can pin, in words.
    pub(super) notes: Vec<String>,
}

/// A file that a command runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedScript {
    pub(super) word: VerifiedWord,
    /// The word as it was read.
    pub(super) named: PathBuf,
    /// The file.
    pub(super) path: PathBuf,
}

/// Where commands are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommandContext<'a> {
    /// The directory that the agent was started in.
    pub(super) dir: &'a Path,
    pub(super) home: Option<&'a Path>,
}

/// What a hook runs.
pub(super) fn named(spec: &HookSpec, around: CommandContext<'_>) -> ScriptRef {
    let HandlerSpec::Command(command) = &spec.handler else { return ScriptRef::default() };
    let mut finder = ScriptFinder { named: ScriptRef::default(), cwd: directory(command, spec, around), moves: false };
    let home = around.home.and_then(Path::to_str);
    let world = ShellEnv { home, cwd: finder.cwd.as_deref().unwrap_or(around.dir) };
    let dir = around.dir.to_string_lossy();
    let project = || spec.dialect.process.variables.iter().filter(|row| row.from == Data::ProjectDir);
    match &command.run {
        CommandLine::Shell { text, shell } => {
            if let Some(shell) = shell.as_ref().and_then(|shell| shell.first()).filter(|shell| !is_posix(shell)) {
                finder.note(format!("the text is for {shell}, which is not read"));
                return finder.named;
            }
            let own = command.env_set.iter().filter(|(_, value)| !value.contains("${"));
            let of_agent = project().map(|row| (row.name.to_owned(), dir.clone().into_owned()));
            let vars: Vec<_> = own.cloned().chain(of_agent).collect();
            match simple_commands_with(text, world, &vars) {
                // Where a variable says where scripts are, nobody knows what it says when.
                Ok((_, sets)) if sets.iter().any(|name| name == "HOME" || vars.iter().any(|(own, _)| own == name)) => {
                    finder.note("it sets a variable itself that says where scripts are".to_owned());
                }
                Ok((steps, sets)) => {
                    finder.simple_commands(&steps, Some(text));
                    sets.iter().for_each(|name| finder.variable(name));
                }
                Err(why) => finder.note(format!("its text cannot be read: {}", why.0)),
            }
        }
        CommandLine::Argv(argv) => {
            let filled = |word: &String| {
                project().fold(word.clone(), |word, row| word.replace(&format!("${{{}}}", row.name), &dir))
            };
            let words: Vec<_> = argv.iter().map(filled).collect();
            if command.expands && words.iter().any(|word| word.contains('$')) {
                finder.note("variables in its words are only known when it runs".to_owned());
            } else {
                match simple_commands_of_argv(&words, world) {
                    Ok(steps) => finder.simple_commands(&steps, None),
                    Err(why) => finder.note(format!("its words cannot be read: {}", why.0)),
                }
            }
        }
    }
    command.env_set.iter().for_each(|(name, _)| finder.variable(name));
    finder.named
}

/// Where the command runs. `None`: nobody knows before it does.
fn directory(command: &CommandSpec, spec: &HookSpec, around: CommandContext<'_>) -> Option<PathBuf> {
    let Some(cwd) = &command.cwd else { return Some(around.dir.to_owned()) };
    let text = cwd.to_string_lossy();
    if spec.dialect.process.expands && (text.contains('$') || text.starts_with('~')) {
        return None;
    }
    Some(lexical(&around.dir.join(cwd)))
}

fn is_posix(shell: &str) -> bool {
    let name = Path::new(shell).file_name().and_then(OsStr::to_str).unwrap_or(shell);
    let known = ["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash"].contains(&name);
    // One with a path may be anything, unless it is the system's.
    known && (!shell.contains('/') || is_system(Path::new(shell)))
}

struct ScriptFinder {
    named: ScriptRef,
    cwd: Option<PathBuf>,
    /// Whether the text changes its directory.
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
            self.note(format!("it sets {name}, by which programs run code that stands elsewhere"));
        }
    }

    fn simple_commands(&mut self, steps: &[SimpleCommand], text: Option<&str>) {
        self.moves = steps.iter().any(|step| match step.name.as_str() {
            "cd" | "pushd" | "popd" | "chdir" | "chroot" => true,
            "env" | "sudo" => step.has_option("CD", &["chdir"]),
            _ => false,
        });
        for step in steps {
            self.step(step, text);
        }
    }

    fn step(&mut self, step: &SimpleCommand, text: Option<&str>) {
        let program = &step.program;
        if step.name.is_empty() && program.text.is_empty() {
            return;
        }
        if !program.known || program.glob {
            return self.note(format!("`{}` is only known when it runs", program.text));
        }
        let is_path = program.text.contains('/');
        let is_pinned = is_path && self.file(program, text, true);
        // One that is a script itself has its own idea of what stands behind it.
        if is_pinned && !is_interpreter(&step.name) {
            return;
        }
        let args: Vec<&str> = step.args.iter().map(|arg| arg.text.as_str()).collect();
        if matches!(step.name.as_str(), "env" | "sudo" | "doas" | "export") {
            args.iter().filter_map(|arg| arg.split_once('=')).for_each(|(name, _)| self.variable(name));
        }
        match runs(&step.name, &args) {
            Runs::Script(at) => {
                let script = &step.args[at];
                if !script.known || script.glob {
                    self.note(format!("`{}` is only known when it runs", script.text));
                } else {
                    self.file(script, text, false);
                }
            }
            Runs::Unknown(by) if by == step.name => {
                self.note(format!("what `{by}` runs does not stand in the command"));
            }
            Runs::Unknown(by) => self.note(format!("what `{} {by}` runs does not stand in the command", step.name)),
            Runs::Input => {
                self.note(format!("`{}` runs what it reads, which does not stand in the command", step.name));
            }
            Runs::InlineWithModules => {
                self.note(format!("`{}` may find modules that it loads in the project", step.name));
            }
            // A text that is run in its turn is read by itself.
            Runs::Inline if !starts_others(&step.name) => args.iter().for_each(|arg| self.mentioned(&step.name, arg)),
            Runs::Nothing if matches!(step.name.as_str(), "alias" | "hash" | "enable") => {
                self.note(format!("`{}` has the shell take one program for another", step.name));
            }
            Runs::Nothing if !is_reader(&step.name) && !starts_others(&step.name) => {
                args.iter().for_each(|arg| self.mentioned(&step.name, arg));
            }
            Runs::Inline | Runs::Nothing => {}
        }
    }

    /// Tells of a file that is given to a program of which nobody knows whether it runs that.
    fn mentioned(&mut self, program: &str, arg: &str) {
        let Some(cwd) = self.cwd.clone() else { return };
        for piece in pieces(arg).take(64) {
            let path = lexical(&cwd.join(piece));
            let is_meant = piece.starts_with("./") || piece.starts_with("../") || path.is_file();
            if is_meant && !is_system(&path) && !path.starts_with("/dev") {
                self.note(format!("`{program}` is given `{piece}`, and whether it runs that cannot be told"));
            }
        }
    }

    /// Takes the file that a word names. Gives whether it is one to be pinned.
    fn file(&mut self, word: &Expanded, text: Option<&str>, is_program: bool) -> bool {
        let named = PathBuf::from(&word.text);
        if named.is_relative() && self.moves {
            self.note(format!("`{}` is looked for in a directory that the command goes to first", word.text));
            return true;
        }
        let Some(cwd) = &self.cwd else {
            self.note(format!("`{}` is looked for in a directory that is only known when it runs", word.text));
            return true;
        };
        let path = lexical(&cwd.join(&named));
        if ["/dev", "/proc"].iter().any(|place| path.starts_with(place)) {
            self.note(format!("`{}` is only known when it runs", word.text));
            return true;
        }
        if is_system(&path) {
            return false;
        }
        if path.is_dir() {
            self.note(format!("`{}` is a directory, and what is run of it does not stand in the command", word.text));
            return true;
        }
        let Some((start, end)) = word.span else {
            self.note(format!("`{}` is named inside of a text that is run in its turn", word.text));
            return true;
        };
        if !is_program && !word.text.contains('/') && !path.exists() {
            // Shells look for it in `PATH`, others in their modules.
            self.note(format!("`{}` is not in the directory that the command runs in", word.text));
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

/// The place in bytes of a place in characters.
fn bytes(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}

/// Where only an administrator writes.
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

/// Whether a file is the system's, which only an administrator can change.
pub(crate) fn is_system(path: &Path) -> bool {
    if !SYSTEM.iter().any(|place| path.starts_with(place)) {
        return false;
    }
    let real = real_path(path);
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        // A link may lead out of there.
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

    /// Which files, as their words stand in the command, and how many notes.
    fn found(dir: &Path, spec: &HookSpec) -> (Vec<(String, String)>, usize) {
        let named = named(spec, CommandContext { dir, home: Some(Path::new("/home/me")) });
        let HandlerSpec::Command(command) = &spec.handler else { panic!() };
        let word = |script: &NamedScript| match (&script.word, &command.run) {
            (VerifiedWord::Text(range), CommandLine::Shell { text, .. }) => text[range.clone()].to_owned(),
            (VerifiedWord::Argv(at), CommandLine::Argv(argv)) => argv[*at].clone(),
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
    fn what_cannot_be_pinned_is_told() {
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
            "somebody x.sh",
            "somebody --with=./x.sh",
        ] {
            let spec = HookSpec::shell("h", EventKind::PreToolUse, text).dialect(&claude::DIALECT);
            let (scripts, notes) = found(dir.path(), &spec);
            assert!(scripts.is_empty() && notes > 0, "{text}: {scripts:?} {notes}");
        }
    }

    #[test]
    fn programs_of_the_system_are_neither() {
        let dir = project();
        for text in ["jq -r .a", "/bin/echo x", "echo no >&2; exit 2", "grep -q rm ./x.sh", "sed s/a/b/ x", "awk /a/"] {
            let spec = HookSpec::shell("h", EventKind::PreToolUse, text);
            assert_eq!(found(dir.path(), &spec), (Vec::new(), 0), "{text}");
        }
    }

    #[test]
    fn words_of_a_list_are_found_too() {
        let dir = project();
        let of = |argv: &[&str]| {
            let spec = HookSpec::argv("h", EventKind::PreToolUse, argv.iter().copied()).dialect(&claude::DIALECT);
            found(dir.path(), &spec)
        };
        let one = |word: &str, path: &str| (vec![(word.to_owned(), path.to_owned())], 0);
        assert_eq!(of(&["./x.sh", "a"]), one("./x.sh", "x.sh"));
        assert_eq!(of(&["bash", "-e", "x.sh"]), one("x.sh", "x.sh"));
        assert_eq!(of(&["${CLAUDE_PROJECT_DIR}/x.sh"]), one("${CLAUDE_PROJECT_DIR}/x.sh", "x.sh"));
        assert_eq!(of(&["bash", "-c", "./x.sh"]).1, 1);
    }

    #[test]
    fn a_directory_of_its_own_counts() {
        let dir = project();
        let spec = HookSpec::shell("h", EventKind::PreToolUse, "./x.sh").command(|command| command.cwd("hooks"));
        assert_eq!(found(dir.path(), &spec).0, [("./x.sh".to_owned(), "hooks/x.sh".to_owned())]);
    }
}
