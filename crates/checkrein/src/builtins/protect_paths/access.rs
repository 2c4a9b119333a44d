//! All files that a tool call uses, with the kind of use.
//!
//! The facts of rules come from here. Changed files are the ones that the guard finds. Read files are the words that the guard
//! checks, without words that are most likely no files: a guard compares each word with patterns, a rule sees all of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use checkrein_core::Event;

use super::{AffectedPath, Reach, named, reads, searches, targets};
use crate::builtins::commands::{ParsedCommands, is_directory_field};
use crate::builtins::doubt::{Doubt, has_unknown_name};
use crate::builtins::find_command::Find;
use crate::builtins::paths::PathSet;
use crate::builtins::shell::{Expanded, SimpleCommand, starts_others};
use crate::trust::interpreters::script_operand;

/// Use of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
    Delete,
    Execute,
}

/// Names of [`Access`], in its order.
pub(crate) const ACCESSES: &[&str] = &["read", "write", "delete", "execute"];

impl Access {
    pub(crate) fn name(self) -> &'static str {
        ACCESSES[self as usize]
    }
}

/// A file that a call uses.
#[derive(Debug)]
pub(crate) struct UsedPath {
    pub(crate) path: Expanded,
    /// Directories to which the path may be relative.
    pub(crate) cwds: Vec<PathBuf>,
    /// `false` if the directory may also be one that only a running shell knows.
    pub(crate) cwd_known: bool,
    pub(crate) access: Access,
    pub(crate) reach: Reach,
    /// Patterns for the names of used files below the path. Empty: all names.
    pub(crate) names: Vec<String>,
    /// `true` if the path is a temporary file, or is in a temporary directory.
    pub(crate) is_temporary: bool,
    /// Programs that start the program, outermost first. Empty for tools.
    pub(crate) wrappers: Vec<Arc<str>>,
    /// Name of the program. Empty for tools.
    pub(crate) program: String,
    /// Search that reads files below the path.
    pub(crate) search: Option<Arc<Search>>,
}

/// A program that reads files below directories.
#[derive(Debug)]
pub(crate) struct Search {
    command: SimpleCommand,
    /// All commands of the call, if the program passes files to others.
    all: Vec<SimpleCommand>,
}

impl Search {
    /// Returns a file of the set that the program reads.
    pub(crate) fn find(&self, files: &dyn PathSet) -> Option<PathBuf> {
        let is_reader = |program: &str| !reads::SHOW_NAMES.contains(&program);
        searches::find_read(&self.command, &self.all, &is_reader, files).map(|(file, _)| file)
    }
}

/// Programs whose operands are files that they read.
const FILE_READERS: &[&str] = &[
    ".",
    "ag",
    "awk",
    "b2sum",
    "base32",
    "base64",
    "bat",
    "batcat",
    "bsdtar",
    "bunzip2",
    "bzcat",
    "bzip2",
    "cat",
    "cksum",
    "cmp",
    "colordiff",
    "column",
    "comm",
    "cp",
    "csplit",
    "cut",
    "diff",
    "egrep",
    "emacs",
    "expand",
    "fgrep",
    "file",
    "fmt",
    "fold",
    "gawk",
    "grep",
    "gsed",
    "gunzip",
    "gzip",
    "head",
    "hexdump",
    "iconv",
    "install",
    "join",
    "jq",
    "less",
    "ln",
    "md5sum",
    "more",
    "mv",
    "nano",
    "nl",
    "nvim",
    "od",
    "open",
    "openssl",
    "paste",
    "pr",
    "rev",
    "rg",
    "rsync",
    "scp",
    "sed",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "shasum",
    "shuf",
    "sort",
    "source",
    "split",
    "sqlite3",
    "strings",
    "tac",
    "tail",
    "tar",
    "tee",
    "uniq",
    "vi",
    "view",
    "vim",
    "wc",
    "xdg-open",
    "xxd",
    "xz",
    "xzcat",
    "yq",
    "zcat",
    "zip",
    "zless",
];

/// Programs whose words often have slashes without being files: branches, images, packages, modules.
const NAMES_WITH_SLASHES: &[&str] = &[
    "apt", "apt-get", "aws", "brew", "bun", "bunx", "cargo", "docker", "gcloud", "gh", "git", "glab", "go", "gsutil",
    "helm", "hf", "kubectl", "nerdctl", "npm", "npx", "oc", "ollama", "pnpm", "podman", "skopeo", "svn", "uv", "uvx",
    "yarn",
];

/// Programs whose first operand is a subcommand, unless it looks like a file.
const SUBCOMMANDS: &[&str] = &["bun", "deno", "pnpm", "uv", "yarn"];

/// Programs that start others with `{}` in place of files.
const PLACES: &[&str] = &["fd", "fdfind", "find", "gfind", "parallel", "xargs"];

/// Programs with operands on other hosts: `host:path`.
const REMOTE: &[&str] = &["ansible", "mosh", "rclone", "rsync", "scp", "sftp", "ssh"];

/// Programs whose bare operands are names of packages and scripts.
const PACKAGE_MANAGERS: &[&str] = &[
    "apt", "apt-get", "brew", "bun", "cargo", "composer", "gem", "npm", "npx", "pip", "pip3", "pipx", "pnpm", "poetry",
    "uv", "yarn",
];

/// Options of openssl with a file that it reads, without dashes.
const OPENSSL_FILES: &[&str] = &[
    "CA",
    "CAfile",
    "CAkey",
    "CApath",
    "cert",
    "certfile",
    "certificate",
    "config",
    "crl",
    "dhparam",
    "extfile",
    "in",
    "inkey",
    "issuer",
    "k",
    "key",
    "kfile",
    "peerkey",
    "prverify",
    "recip",
    "revoke",
    "sign",
    "signature",
    "signer",
    "signkey",
    "verify",
];

/// Maximum number of words of a call that are looked up on the disk.
const LOOKUPS: usize = 64;

/// Returns the files that a call uses.
pub(crate) fn of_call(event: &Event, commands: &ParsedCommands, cwd: &Path, home: Option<&str>) -> Vec<UsedPath> {
    let mut used = in_tool(event, commands, cwd, home);
    let (doubt, all) = (commands.doubt(), &commands.simple_commands);
    let mut lookups = LOOKUPS;
    for command in all {
        let reader = Reader { command, all, doubt: &doubt };
        used.extend(reader.changed());
        used.extend(reader.executed());
        used.extend(reader.read(&mut lookups));
    }
    used
}

/// Returns the files in the input of a tool.
fn in_tool(event: &Event, commands: &ParsedCommands, cwd: &Path, home: Option<&str>) -> Vec<UsedPath> {
    let has_commands = !commands.texts.is_empty();
    let is_file = |key: &str, text: &str| {
        let is_directory = has_commands && is_directory_field(key);
        !is_directory && !text.contains('\n') && !text.contains("://")
    };
    let mut paths = named::keyed_in_input(event, cwd, home);
    paths.retain(|(key, path)| is_file(key, &path.path.text));
    let searched = reads::searched_tree(event, cwd, home);
    let mut used: Vec<UsedPath> = Vec::new();
    for path in paths.into_iter().map(|(_, path)| path).chain(searched) {
        let path = UsedPath::new(path, String::new());
        let is_same = |other: &UsedPath| (&other.path, other.access) == (&path.path, path.access);
        if !used.iter().any(is_same) {
            used.push(path);
        }
    }
    used
}

impl UsedPath {
    fn new(path: AffectedPath, program: String) -> Self {
        let names = path.names.iter().map(|name| name.glob().glob().to_owned()).collect();
        let AffectedPath { path, cwds, reach, access, .. } = path;
        let (is_temporary, wrappers) = (false, Vec::new());
        Self { path, cwds, cwd_known: true, access, reach, names, is_temporary, wrappers, program, search: None }
    }
}

/// Reader of one command.
struct Reader<'a> {
    command: &'a SimpleCommand,
    all: &'a [SimpleCommand],
    doubt: &'a Doubt<'a>,
}

impl Reader<'_> {
    fn used(&self, path: Expanded, access: Access) -> UsedPath {
        let cwds = self.command.cwds.to_vec();
        self.placed(AffectedPath { path, cwds, reach: Reach::Exact, access, names: Vec::new() })
    }

    fn placed(&self, path: AffectedPath) -> UsedPath {
        let used = UsedPath::new(path, self.command.name.clone());
        let is_relative = Path::new(&used.path.text).is_relative();
        let is_temporary = match used.path.known {
            true => is_relative && self.is_in_temporary(),
            false => self.doubt.is_temporary(&used.path),
        };
        let is_lost = self.doubt.is_lost(self.command) || is_temporary && used.path.known;
        let wrappers = self.command.wrappers.clone();
        UsedPath { cwd_known: !is_lost, is_temporary, wrappers, ..used }
    }

    /// `true` if the command runs in a temporary directory: `cd "$(mktemp -d)" && …`.
    fn is_in_temporary(&self) -> bool {
        let changes = |command: &&SimpleCommand| matches!(command.name.as_str(), "cd" | "pushd" | "chdir");
        let mut targets = self.all.iter().filter(changes).filter_map(|command| command.operands().next());
        !self.command.cwd_known
            && !self.doubt.is_lost(self.command)
            && targets.any(|target| !target.known && self.doubt.is_temporary(target))
    }

    /// `true` for `{}` of `find -exec`, which stands for files that are found with its directories.
    fn is_placeholder(&self, word: &Expanded) -> bool {
        word.text.contains("{}") && self.command.wrappers.iter().any(|name| PLACES.contains(&&**name))
    }

    fn is_remote(&self, word: &Expanded) -> bool {
        let host = word.text.split('/').next().unwrap_or_default();
        REMOTE.contains(&self.command.name.as_str()) && host.contains(':')
    }

    /// Returns the files that the command writes or deletes.
    fn changed(&self) -> Vec<UsedPath> {
        let targets = targets::in_command(self.command, self.all);
        let paths = targets.known.into_iter().chain(targets.unknown);
        // The paths that `find` lists are found with its directories. A redirection to `/dev/tcp` is a connection.
        let is_file = |path: &AffectedPath| {
            !self.is_remote(&path.path)
                && !self.is_placeholder(&path.path)
                && !self.doubt.is_listed(&path.path, self.command)
                && !is_pseudo_file(&path.path.text)
        };
        paths.filter(is_file).map(|path| self.placed(path)).collect()
    }

    /// Returns the script or the program that the command executes. It reads a script as well.
    fn executed(&self) -> Vec<UsedPath> {
        let command = self.command;
        let mut used = Vec::new();
        if command.program.text.contains('/') && !has_unknown_name(&command.program) {
            used.push(self.used(command.program.clone(), Access::Execute));
        }
        let args: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
        let script = match command.name.as_str() {
            "source" | "." => command.args.first(),
            name => script_operand(name, &args).and_then(|index| command.args.get(index)),
        };
        // `bun add x` and `uv pip` name a subcommand.
        let is_subcommand =
            |script: &Expanded| SUBCOMMANDS.contains(&command.name.as_str()) && !script.text.contains(['.', '/']);
        let is_script = |script: &&Expanded| script.text != "-" && !has_unknown_name(script) && !is_subcommand(script);
        if let Some(script) = script.filter(is_script) {
            used.push(self.used(script.clone(), Access::Execute));
            used.push(self.used(script.clone(), Access::Read));
        }
        used
    }

    /// Returns the files that the command reads.
    fn read(&self, lookups: &mut usize) -> Vec<UsedPath> {
        let command = self.command;
        let mut used = self.searched();
        let others = targets::in_command(command, self.all);
        let others: Vec<_> = others.known.iter().chain(&others.unknown).map(|path| path.path.text.clone()).collect();
        let scripts: Vec<_> = self.executed().into_iter().map(|script| script.path.text).collect();
        // The programs that it starts have their own words.
        let starts_others = starts_others(&command.name);
        let remote: Vec<_> =
            command.args.iter().filter(|arg| self.is_remote(arg)).map(|arg| arg.text.as_str()).collect();
        for (index, word) in reads::words(command).into_iter().enumerate() {
            let is_input = index < command.reads.len();
            let is_elsewhere = starts_others
                || remote.iter().any(|address| address.ends_with(&format!(":{}", word.text)))
                || self.is_passed_on(&word);
            if !is_input && is_elsewhere {
                continue;
            }
            let is_done = |list: &[String]| list.contains(&word.text);
            if is_pseudo_file(&word.text) || has_unknown_name(&word) || self.is_placeholder(&word) {
                continue;
            }
            let is_seen =
                || used.iter().any(|used| used.path.text == word.text) || is_done(&others) || is_done(&scripts);
            if is_input || (!is_seen() && self.is_file(&word, lookups)) {
                used.push(self.used(word, Access::Read));
            }
        }
        used
    }

    /// `true` if a program in a container gets the word.
    fn is_passed_on(&self, word: &Expanded) -> bool {
        let name = self.command.name.as_str();
        let is_inner = |other: &&SimpleCommand| other.wrappers.last().is_some_and(|outer| **outer == *name);
        reads::CONTAINERS.contains(&name)
            && self
                .all
                .iter()
                .filter(is_inner)
                .any(|inner| inner.args.iter().chain([&inner.program]).any(|own| own.text == word.text))
    }

    /// Returns the directories that a search program reads.
    fn searched(&self) -> Vec<UsedPath> {
        let command = self.command;
        if let Some(find) = Find::new(command, self.all).filter(|_| self.passes_files()) {
            let search = Arc::new(Search { command: command.clone(), all: self.all.to_vec() });
            let names: Vec<_> = find.names.iter().map(|name| name.glob().glob().to_owned()).collect();
            let roots = find.roots.into_iter().filter(|root| !has_unknown_name(root));
            let used = roots.map(|root| self.used(root, Access::Read));
            let search = |used: UsedPath| {
                let (names, search) = (names.clone(), Some(Arc::clone(&search)));
                UsedPath { reach: Reach::Tree, names, search, ..used }
            };
            return used.map(search).collect();
        }
        let roots = searches::read_roots(command);
        if roots.is_empty() {
            return Vec::new();
        }
        let search = Arc::new(Search { command: command.clone(), all: Vec::new() });
        let used = roots.into_iter().map(|root| self.used(root, Access::Read));
        used.map(|used| UsedPath { reach: Reach::Tree, search: Some(Arc::clone(&search)), ..used }).collect()
    }

    /// `true` if `find` passes its files to a program that reads them.
    fn passes_files(&self) -> bool {
        let reads = |program: &str| !reads::SHOW_NAMES.contains(&program);
        let words: Vec<&str> = self.command.args.iter().map(|arg| arg.text.as_str()).collect();
        let runs = |word: &str| matches!(word, "-exec" | "-execdir" | "-ok" | "-okdir");
        let executed = words.windows(2).filter(|pair| runs(pair[0])).filter_map(|pair| pair[1].rsplit('/').next());
        let lists = |word: &Expanded| !word.known && word.from.iter().any(|name| name == "find");
        let is_passed = |other: &SimpleCommand| reads(&other.name) && other.args.iter().any(lists);
        executed.into_iter().any(reads) || self.all.iter().any(is_passed)
    }

    /// `true` if a word of openssl is an operand of a digest, or the value of an option for files.
    fn is_file_of_openssl(&self, text: &str) -> bool {
        let args = &self.command.args;
        let before = args.windows(2).find(|pair| pair[1].text == text).map(|pair| pair[0].text.trim_start_matches('-'));
        let is_digest = args.first().is_some_and(|first| {
            let name = first.text.as_str();
            name == "dgst" || ["sha", "md5", "blake"].iter().any(|start| name.starts_with(start)) || name == "verify"
        });
        match before {
            None => false,
            Some(option) => is_digest || OPENSSL_FILES.contains(&option),
        }
    }

    /// `true` if a word most likely names a file.
    fn is_file(&self, word: &Expanded, lookups: &mut usize) -> bool {
        let (name, text) = (self.command.name.as_str(), word.text.as_str());
        let is_word = !text.is_empty() && text.len() < 4096 && !text.starts_with('-') && !text.contains("://");
        if !is_word
            || text.starts_with("//")
            || text == "/" && name != "ls" && !reads::CONTAINERS.contains(&name)
            || self.is_remote(word)
            || text.contains('\n')
            || name == "rsync" && text.contains(char::is_whitespace) && !word.text.contains('/')
        {
            return false;
        }
        // `-n 5`, `-d ,` and the letters of `tar xzf`.
        let is_value = !text.contains(|c: char| c.is_alphabetic() || matches!(c, '/' | '.' | '_' | '*'))
            || matches!(name, "tar" | "bsdtar") && self.command.args.first().is_some_and(|first| first.text == text);
        let is_code = text.contains(|c: char| c.is_whitespace() || "{}();|<>".contains(c));
        if name == "openssl" && !self.is_file_of_openssl(text) {
            return false;
        }
        if FILE_READERS.contains(&name) {
            let is_script = is_code && matches!(name, "awk" | "gawk" | "sed" | "gsed" | "jq" | "yq");
            return !is_value && !is_script;
        }
        if is_value || is_code {
            return false;
        }
        let is_hidden = text.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric()));
        let has_prefix = ["/", "./", "../"].iter().any(|start| text.starts_with(start)) && text.len() > 2;
        let is_code_or_name = reads::INTERPRETERS.contains(&name) || NAMES_WITH_SLASHES.contains(&name);
        let has_slash = text.contains('/') && !text.starts_with('@') && !is_code_or_name;
        if has_prefix || is_hidden || has_slash {
            // The parts behind `=` and `:` are words of their own.
            return !text.contains([':', '=']) || has_prefix;
        }
        // A bare word is the name of a package or of a script.
        if !word.known || *lookups == 0 || PACKAGE_MANAGERS.contains(&name) && !text.contains('.') {
            return false;
        }
        *lookups -= 1;
        self.command.cwds.iter().any(|cwd| cwd.join(text).symlink_metadata().is_ok())
    }
}

/// `true` for the standard streams and the connections of bash.
fn is_pseudo_file(text: &str) -> bool {
    matches!(text, "-" | "/dev/null" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr" | "/dev/tty" | "/dev/zero")
        || ["/dev/fd/", "/dev/tcp/", "/dev/udp/"].iter().any(|start| text.starts_with(start))
}
