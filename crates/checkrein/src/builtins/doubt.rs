//! One rule for what only a running shell knows: programs, targets and directories.
//!
//! Guards, permission rules and the trust check use it. An unknown part stands for every text that it could have. Guards
//! ask, permission rules apply, and the trust check notes that the code is not covered.
//!
//! Four kinds of unknown parts are everyday and stay quiet: a directory before a known name (`$DIR/build`), directories
//! for temporary files (`$TMPDIR`, `$(mktemp -d)`), variables that name a program by convention (`$CC`, `$EDITOR`) if the
//! command does not set them, and programs that a search finds (`$(which python3)`). A variable that names one program is read as
//! this program: `$GIT push` is a push.

use super::shell::{Expanded, SimpleCommand};

/// Variables that name one program by convention, and the program. They come from the environment, not from the command.
pub(crate) const PROGRAMS: &[(&str, &str)] = &[
    ("AR", "ar"),
    ("AWK", "awk"),
    ("AWS", "aws"),
    ("BASH", "bash"),
    ("BUN", "bun"),
    ("CARGO", "cargo"),
    ("CHMOD", "chmod"),
    ("CHOWN", "chown"),
    ("CMAKE", "cmake"),
    ("COMPOSER", "composer"),
    ("CP", "cp"),
    ("CURL", "curl"),
    ("DOCKER", "docker"),
    ("DOCKER_COMPOSE", "docker-compose"),
    ("FIND", "find"),
    ("GCLOUD", "gcloud"),
    ("GH", "gh"),
    ("GIT", "git"),
    ("GO", "go"),
    ("GRADLE", "gradle"),
    ("HELM", "helm"),
    ("JAVA", "java"),
    ("KUBECTL", "kubectl"),
    ("LD", "ld"),
    ("MAKE", "make"),
    ("MKDIR", "mkdir"),
    ("MV", "mv"),
    ("MVN", "mvn"),
    ("MYSQL", "mysql"),
    ("NM", "nm"),
    ("NODE", "node"),
    ("NPM", "npm"),
    ("NPX", "npx"),
    ("PERL", "perl"),
    ("PHP", "php"),
    ("PIP", "pip"),
    ("PIP3", "pip3"),
    ("PNPM", "pnpm"),
    ("PODMAN", "podman"),
    ("PSQL", "psql"),
    ("PYTHON", "python"),
    ("PYTHON3", "python3"),
    ("RM", "rm"),
    ("RSYNC", "rsync"),
    ("RUBY", "ruby"),
    ("RUSTC", "rustc"),
    ("RUSTDOC", "rustdoc"),
    ("SCP", "scp"),
    ("SED", "sed"),
    ("SSH", "ssh"),
    ("SYSTEMCTL", "systemctl"),
    ("TAR", "tar"),
    ("TERRAFORM", "terraform"),
    ("TOFU", "tofu"),
    ("UV", "uv"),
    ("WGET", "wget"),
    ("YARN", "yarn"),
];

/// Variables that name one of several programs by convention.
const KINDS_OF_PROGRAMS: &[&str] = &["BROWSER", "CC", "CPP", "CXX", "EDITOR", "PAGER", "VISUAL"];

/// Variables that may be empty or a program that runs the next word.
const PREFIXES: &[&str] = &["DOAS", "DRY_RUN", "ECHO", "NICE", "RUN", "SUDO", "TIME", "WRAPPER"];

/// Variables with a directory or a file for temporary data.
const TEMPORARY: &[&str] = &[
    "BATS_TEST_TMPDIR",
    "BUILD_TMPDIR",
    "CARGO_TARGET_TMPDIR",
    "GITHUB_ENV",
    "GITHUB_OUTPUT",
    "GITHUB_PATH",
    "GITHUB_STEP_SUMMARY",
    "RUNNER_TEMP",
    "TEMP",
    "TEMPDIR",
    "TEST_TMPDIR",
    "TMP",
    "TMPDIR",
    "TMPPREFIX",
    "XDG_RUNTIME_DIR",
];

/// Programs that print commands to set up a shell.
const SETUP: &[&str] = &[
    "asdf",
    "brew",
    "conda",
    "dircolors",
    "direnv",
    "docker-machine",
    "fasd",
    "fnm",
    "gpg-agent",
    "jenv",
    "keychain",
    "lesspipe",
    "luarocks",
    "micromamba",
    "minikube",
    "mise",
    "nodenv",
    "opam",
    "pyenv",
    "rbenv",
    "register-python-argcomplete",
    "resize",
    "rtx",
    "ssh-agent",
    "starship",
    "thefuck",
    "uv",
    "zoxide",
];

/// Unknown parts of the commands of one tool call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Doubt<'a> {
    /// All commands of the call.
    commands: &'a [SimpleCommand],
    /// Texts of the commands.
    texts: &'a [String],
}

impl<'a> Doubt<'a> {
    pub(crate) fn new(commands: &'a [SimpleCommand], texts: &'a [String]) -> Self {
        Self { commands, texts }
    }

    /// Returns the unknown word if the program of a command could be one of `names`.
    pub(crate) fn program<'c>(&self, command: &'c SimpleCommand, names: &[&str]) -> Option<&'c str> {
        if command.program_known() {
            return None;
        }
        let program = &command.program;
        if self.is_everyday(command) {
            return None;
        }
        let name = base(program);
        let could_be = names.iter().any(|known| name.could_be(known));
        if could_be { Some(program.text.as_str()) } else { None }
    }

    /// `true` if the program is unknown in an everyday way.
    pub(crate) fn is_everyday(&self, command: &SimpleCommand) -> bool {
        let program = &command.program;
        let name = base(program);
        let is_open = is_wholly_unknown(&name) || name.text.is_empty();
        is_open
            && (self.is_conventional(program)
                || self.is_login_shell(command)
                || self.is_own_argument(program)
                || self.searched(program).is_some()
                || self.is_setup(program))
    }

    /// `true` for the arguments of a function that calls itself. The arguments of its first call are known.
    fn is_own_argument(&self, program: &Expanded) -> bool {
        let is_own = |word: &Expanded| matches!(word.text.as_str(), "$@" | "$*");
        let defines = |text: &String| text.contains("()") || text.contains("function ");
        let is_call = |command: &&SimpleCommand| {
            self.texts.iter().any(|text| text.contains(&format!("{}()", command.name)) || text.contains("function "))
        };
        let has_unknown = |command: &SimpleCommand| command.args.iter().any(|arg| !arg.known && !is_own(arg));
        is_own(program)
            && self.texts.iter().any(defines)
            && !self.commands.iter().filter(is_call).any(has_unknown)
            && !self.commands.iter().any(|command| matches!(command.name.as_str(), "set" | "shift"))
    }

    /// Returns the names that the program of a command may have, as far as they are known.
    pub(crate) fn names<'c>(&self, command: &'c SimpleCommand) -> Vec<&'c str>
    where
        'a: 'c,
    {
        match self.searched(&command.program) {
            Some(names) => names,
            None => vec![command.name.as_str()],
        }
    }

    /// Returns the names that a search for a program looks for: `python3` in `$(which python3)`.
    fn searched(&self, program: &Expanded) -> Option<Vec<&'a str>> {
        let is_search = |name: &String| matches!(name.as_str(), "which" | "command" | "type" | "whereis");
        if program.from.is_empty() || !program.from.iter().all(is_search) {
            return None;
        }
        let searches = self.commands.iter().filter(|command| is_search(&command.name));
        let names: Vec<_> = searches.flat_map(SimpleCommand::operands).collect();
        if names.is_empty() || names.iter().any(|name| !name.known) {
            return None;
        }
        Some(names.into_iter().map(|name| name.text.rsplit('/').next().unwrap_or_default()).collect())
    }

    /// `true` if the program is output that sets up a shell: `eval "$(ssh-agent -s)"`, `source <(kubectl completion bash)`.
    fn is_setup(&self, program: &Expanded) -> bool {
        let completes = |name: &String| {
            let own = self.commands.iter().filter(|command| command.name == *name);
            let first = |command: &SimpleCommand| command.operands().next().map(|operand| operand.text.clone());
            own.map(first).all(|first| matches!(first.as_deref(), Some("completion" | "completions")))
        };
        program.text.starts_with("$(")
            && !program.from.is_empty()
            && program.from.iter().all(|name| SETUP.contains(&name.as_str()) || completes(name))
    }

    fn is_conventional(&self, program: &Expanded) -> bool {
        variable(program).is_some_and(|name| {
            // A prefix may be empty, so it has no quotes. The next word is then read as a program as well.
            let names_program = program_of(name).is_some() || KINDS_OF_PROGRAMS.contains(&name);
            let is_known = names_program || (PREFIXES.contains(&name) && program.may_split);
            is_known && self.assignments(name).next().is_none()
        })
    }

    /// `true` for `$SHELL` that gets no code: no argument except for options of a login, and no standard input.
    fn is_login_shell(&self, command: &SimpleCommand) -> bool {
        let is_option = |arg: &Expanded| matches!(arg.text.as_str(), "-l" | "-i" | "--login");
        variable(&command.program) == Some("SHELL")
            && self.assignments("SHELL").next().is_none()
            && command.args.iter().all(is_option)
            && command.fed_by.is_empty()
            && command.input.is_none()
    }

    /// `true` if the word is a temporary file or directory, or is in one.
    pub(crate) fn is_temporary(&self, word: &Expanded) -> bool {
        if !word.from.is_empty() && word.text.starts_with("$(") {
            return word.from.iter().all(|name| name == "mktemp");
        }
        let Some(name) = leading_variable(word) else { return false };
        let mut values = self.assignments(name).peekable();
        match values.peek() {
            None => TEMPORARY.contains(&name),
            Some(_) => values.all(is_temporary_value),
        }
    }

    /// `true` if the word stands for files that `find` lists for `xargs`. They are below the directories of `find`.
    pub(crate) fn is_listed(&self, word: &Expanded, command: &SimpleCommand) -> bool {
        let lists = |name: &String| matches!(name.as_str(), "find" | "fd" | "fdfind");
        let filters = |name: &String| {
            matches!(name.as_str(), "grep" | "egrep" | "head" | "tail" | "sort" | "uniq" | "tr" | "sed" | "awk" | "cut")
        };
        let is_passed = || self.commands.iter().any(|other| is_passing(other) && other.fed_by == command.fed_by);
        !word.known
            && !word.from.is_empty()
            && word.from == command.fed_by
            && word.from.iter().any(lists)
            && word.from.iter().all(|name| lists(name) || filters(name))
            && is_passed()
    }

    /// `true` if the command may run in an unknown directory that is not a temporary one.
    pub(crate) fn is_lost(&self, command: &SimpleCommand) -> bool {
        !command.cwd_known && {
            let changes = |command: &&SimpleCommand| matches!(command.name.as_str(), "cd" | "pushd" | "chdir");
            let mut targets = self.commands.iter().filter(changes).filter_map(|command| command.operands().next());
            !targets.all(|target| target.known && target.text != "-" || self.is_temporary(target))
        }
    }

    /// Returns the texts behind `NAME=` in the commands.
    fn assignments(&self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let behind = |text: &'a str, at: usize| {
            let before = text[..at].chars().next_back();
            if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '$' | '{' | '%')) {
                return None;
            }
            let rest = &text[at + name.len()..];
            if rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
                return None;
            }
            // A name without `=` may be set by `read` and similar programs.
            Some(rest.strip_prefix('=').unwrap_or(""))
        };
        self.texts
            .iter()
            .flat_map(move |text| text.match_indices(name).filter_map(move |(at, _)| behind(text.as_str(), at)))
    }
}

/// `true` for programs that pass their standard input on as arguments.
pub(super) fn is_passing(command: &SimpleCommand) -> bool {
    matches!(command.name.as_str(), "xargs" | "parallel")
}

fn is_temporary_value(value: &str) -> bool {
    let value = value.trim_start_matches(['"', '\'']);
    ["$(mktemp", "`mktemp", "/tmp/"].iter().any(|start| value.starts_with(start))
}

/// Returns the last component of a path, with its unknown parts.
pub(crate) fn base(word: &Expanded) -> Expanded {
    let is_literal = |at: usize| !word.unknown.iter().any(|range| range.contains(&at));
    let slash = word.text.rmatch_indices('/').map(|(at, _)| at).find(|at| is_literal(*at));
    match slash {
        Some(at) => word.part(at + 1..word.text.len()),
        None => word.clone(),
    }
}

/// `true` if nothing of the word is known.
pub(crate) fn is_wholly_unknown(word: &Expanded) -> bool {
    if word.known {
        return false;
    }
    let mut end = 0;
    for range in &word.unknown {
        if range.start > end {
            return false;
        }
        end = end.max(range.end);
    }
    word.cut || end >= word.text.len()
}

/// `true` if the last component of the path is unknown.
pub(crate) fn has_unknown_name(word: &Expanded) -> bool {
    !word.known && is_wholly_unknown(&base(&trimmed(word)))
}

fn trimmed(word: &Expanded) -> Expanded {
    let end = word.text.trim_end_matches('/').len();
    if end == 0 { word.clone() } else { word.part(0..end) }
}

/// Returns the program that a variable names by convention.
fn program_of(variable: &str) -> Option<&'static str> {
    PROGRAMS.iter().find(|(name, _)| *name == variable).map(|(_, program)| *program)
}

/// Returns the program that a word names by convention: `git` for `$GIT`, unless `is_set` says that the command sets the variable.
pub(super) fn conventional_program(word: &Expanded, is_set: impl Fn(&str) -> bool) -> Option<&'static str> {
    let name = variable(word)?;
    let program = program_of(name)?;
    if is_set(name) { None } else { Some(program) }
}

/// Returns the name of the variable if the word is one variable and nothing else.
fn variable(word: &Expanded) -> Option<&str> {
    if !is_wholly_unknown(word) {
        return None;
    }
    leading_variable(word).filter(|name| word.text.len() == name.len() + 1).or_else(|| with_default(&word.text))
}

/// Returns the name of the variable in `${NAME:-word}`. The word is followed as another value.
fn with_default(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("${")?.strip_suffix('}')?;
    let (name, default) = inner.split_once('-')?;
    let name = name.strip_suffix(':').unwrap_or(name);
    let is_name = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_name(name) && !default.contains(['$', '`']) { Some(name) } else { None }
}

/// Returns the name of the variable with which a word starts.
fn leading_variable(word: &Expanded) -> Option<&str> {
    let first = word.unknown.first().filter(|range| range.start == 0)?;
    let name = word.text.get(1..first.end)?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_name && word.text.starts_with('$') { Some(name) } else { None }
}

/// A piece of a command line that is compared with a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    Char(char),
    /// Any character.
    One,
    /// Any text.
    Any,
    /// Any text without blanks.
    Word,
}

/// A command line with its unknown parts.
#[derive(Debug, Default)]
pub(crate) struct Line(Vec<Piece>);

/// Maximum length of a line that is compared. A longer line could match every pattern.
const LONGEST_LINE: usize = 16 * 1024;

impl Line {
    /// Joins a program and its arguments with blanks.
    pub(crate) fn new<'a>(program: &Expanded, args: impl IntoIterator<Item = &'a Expanded>) -> Self {
        let mut line = Self::default();
        line.push(program, true);
        for arg in args {
            // An unknown word without quotes may be no argument at all.
            if !(arg.may_split && is_wholly_unknown(arg)) {
                line.0.push(Piece::Char(' '));
            }
            line.push(arg, false);
        }
        line
    }

    fn push(&mut self, word: &Expanded, is_program: bool) {
        if word.cut || (!word.known && word.unknown.is_empty()) {
            self.0.push(Piece::Any);
            return;
        }
        for (at, c) in word.text.char_indices() {
            if let Some(range) = word.unknown.iter().find(|range| range.contains(&at)) {
                if range.start == at {
                    // A directory before a name is one word.
                    let is_directory = is_program && (!word.may_split || word.text[range.end..].starts_with('/'));
                    self.0.push(if is_directory { Piece::Word } else { Piece::Any });
                }
                continue;
            }
            self.0.push(match c {
                '*' | '[' if word.glob => Piece::Any,
                '?' if word.glob => Piece::One,
                c => Piece::Char(c),
            });
        }
    }

    /// Number of its pieces.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// `true` if the line could match a pattern in which `*` is any text. The time is at most the product of the lengths.
    pub(crate) fn could_match(&self, pattern: &str) -> bool {
        let end = self.0.len();
        if end > LONGEST_LINE {
            return true;
        }
        let mut places = vec![false; end + 1];
        places[0] = true;
        self.skip_empty(&mut places);
        for c in pattern.chars() {
            let mut next = vec![false; end + 1];
            if c == '*' {
                if let Some(first) = places.iter().position(|here| *here) {
                    next[first..].fill(true);
                }
            } else {
                for at in (0..end).filter(|at| places[*at]) {
                    match self.0[at] {
                        Piece::Char(own) if own == c => next[at + 1] = true,
                        Piece::One => next[at + 1] = true,
                        Piece::Any => next[at] = true,
                        Piece::Word if c != ' ' => next[at] = true,
                        Piece::Char(_) | Piece::Word => {}
                    }
                }
            }
            places = next;
            self.skip_empty(&mut places);
            if !places.contains(&true) {
                return false;
            }
        }
        places[end]
    }

    /// Marks the places behind pieces that may be empty.
    fn skip_empty(&self, places: &mut [bool]) {
        for (at, piece) in self.0.iter().enumerate() {
            if places[at] && matches!(piece, Piece::Any | Piece::Word) {
                places[at + 1] = true;
            }
        }
    }
}
