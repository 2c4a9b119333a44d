//! Finds the files that a command line writes, moves or removes, for known programs.

use std::path::PathBuf;

use globset::GlobMatcher;

use super::access::Access;
use super::{AffectedPath, Reach, named, searches};
use crate::builtins::find_command::Find;
use crate::builtins::global_options;
use crate::builtins::option_names::{OptionNames, Takes};
use crate::builtins::options::Options;
use crate::builtins::shell::{Expanded, SimpleCommand};

/// Files that a command line writes, moves or removes.
#[derive(Debug, Default)]
pub(super) struct Targets {
    pub(super) known: Vec<AffectedPath>,
    /// Paths with parts that only a running shell knows.
    pub(super) unknown: Vec<AffectedPath>,
}

/// The operands that a program changes.
enum Changes {
    All,
    /// All but the first, which is a mode or an owner.
    Rest,
    /// The last one, or files inside of it.
    Destination,
    /// The last of two or more.
    Second,
}

fn changes(command: &SimpleCommand) -> Option<Changes> {
    let has = |letters, long: &[&str]| Options::new(command).has(letters, long);
    Some(match command.name.as_str() {
        "rm" | "unlink" | "rmdir" | "shred" | "tee" | "touch" | "truncate" | "srm" | "trash" | "rimraf" | "patch"
        | "mkfifo" | "sponge" | "dos2unix" | "unix2dos" | "ed" | "ex" => Changes::All,
        // `-x` is a mode that looks like an option.
        "chmod" | "chattr" if command.args.iter().any(removes_mode) => Changes::All,
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" => Changes::Rest,
        "cp" | "mv" | "install" | "ln" | "rsync" | "scp" => Changes::Destination,
        "uniq" | "xxd" | "uudecode" => Changes::Second,
        "sed" | "gsed" if has("i", &["in-place"]) => Changes::All,
        "yq" | "perl" | "ruby" if command.args.iter().any(edits_in_place) => Changes::All,
        "gawk" | "awk" if command.args.windows(2).any(|pair| pair[0].text == "-i" && pair[1].text == "inplace") => {
            Changes::All
        }
        _ => return None,
    })
}

fn removes_mode(arg: &Expanded) -> bool {
    arg.text.strip_prefix('-').is_some_and(|mode| mode.starts_with(|c| "rwxXstugoai".contains(c)))
}

fn edits_in_place(arg: &Expanded) -> bool {
    let letters = arg.text.strip_prefix('-').unwrap_or_default();
    arg.text == "--inplace" || !letters.starts_with(['M', 'I', '-', 'e']) && letters.contains('i')
}

/// Options of programs that name a file for output: the program, letters and long names.
const OUTPUTS: &[(&str, &str, &[&str])] = &[
    (
        "curl",
        "ocD",
        &[
            "output",
            "cookie-jar",
            "dump-header",
            "trace",
            "trace-ascii",
            "stderr",
            "etag-save",
            "libcurl",
            "hsts",
            "alt-svc",
        ],
    ),
    ("wget", "Ooa", &["output-document", "output-file", "append-output", "save-cookies", "warc-file"]),
    ("wget2", "Ooa", &["output-document", "output-file", "append-output", "save-cookies"]),
    ("aria2c", "ol", &["out", "log", "save-session", "save-cookies"]),
    ("http", "o", &["output", "download"]),
    ("sort", "o", &["output"]),
    ("shuf", "o", &["output"]),
    ("tree", "o", &["output"]),
    ("less", "oO", &["log-file", "LOG-FILE"]),
    ("patch", "or", &["output", "reject-file"]),
    ("strace", "o", &["output"]),
    ("ltrace", "o", &["output"]),
    ("time", "o", &["output"]),
    ("gpg", "o", &["output"]),
    ("gpg2", "o", &["output"]),
    ("age", "o", &["output"]),
    ("ssh-keygen", "f", &[]),
    ("gcc", "o", &[]),
    ("g++", "o", &[]),
    ("cc", "o", &[]),
    ("clang", "o", &[]),
    ("rustc", "o", &[]),
    ("ld", "o", &["output"]),
    ("pandoc", "o", &["output"]),
    ("iconv", "o", &["output"]),
    ("tcpdump", "w", &[]),
    ("rsync", "", &["log-file", "write-batch"]),
    ("script", "", &["log-out", "log-io"]),
    ("bison", "o", &["output"]),
    ("flex", "o", &["outfile"]),
    ("dot", "o", &[]),
    ("envsubst", "o", &[]),
    ("base64", "o", &["output"]),
    ("tsc", "", &["outFile"]),
    ("esbuild", "", &["outfile"]),
    ("pg_dump", "f", &["file"]),
    ("mysqldump", "r", &["result-file"]),
    ("pip", "", &["log"]),
    ("pip3", "", &["log"]),
];

/// Options of programs that write files below a directory: the program, letters and long names.
const INTO: &[(&str, &str, &[&str])] = &[
    ("tar", "C", &["directory"]),
    ("bsdtar", "C", &["directory", "cd"]),
    ("unzip", "d", &[]),
    ("cpio", "D", &["directory"]),
    ("7z", "o", &[]),
    ("7za", "o", &[]),
    ("wget", "P", &["directory-prefix"]),
    ("aria2c", "d", &["dir"]),
    ("curl", "", &["output-dir"]),
    ("patch", "d", &["directory"]),
    ("make", "C", &["directory"]),
];

/// Programs that remove their operands, or destroy their contents.
const DELETES: &[&str] = &["rimraf", "rm", "rmdir", "shred", "srm", "trash", "unlink"];

/// Returns the paths that a command writes, moves or removes.
pub(super) fn in_command(command: &SimpleCommand, all: &[SimpleCommand]) -> Targets {
    let cwds = command.cwds.to_vec();
    let mut found = Found { command, cwds, access: Access::Write, targets: Targets::default() };
    found.exact(command.writes.clone());
    if DELETES.contains(&command.name.as_str()) {
        found.access = Access::Delete;
    }
    let operands = files(command);
    let has = |letters, long: &[&str]| Options::new(command).has(letters, long);
    // Removing a directory affects everything in it.
    let reach = match command.name.as_str() {
        "rm" if has("rR", &["recursive"]) => Reach::Tree,
        "chmod" | "chown" | "chgrp" if has("R", &["recursive"]) => Reach::Tree,
        "trash" | "srm" | "rimraf" => Reach::Tree,
        _ => Reach::Exact,
    };
    match changes(command) {
        Some(Changes::All) => found.add(operands, reach),
        Some(Changes::Rest) => found.add(operands.into_iter().skip(1).collect(), reach),
        Some(Changes::Destination) => found.destination(&operands),
        Some(Changes::Second) => found.exact(operands.into_iter().skip(1).collect()),
        None if command.name == "git" => found.git(),
        None => {}
    }
    found.access = Access::Write;
    // These replace a file by its compressed or plain form.
    const REPLACE: &[&str] = &["gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "lzma", "compress"];
    if REPLACE.contains(&command.name.as_str()) && !has("ckt", &["stdout", "keep"]) {
        found.add(command.operands().cloned().collect(), Reach::Into);
    }
    found.find(all);
    found.outputs();
    if matches!(command.name.as_str(), "patch") {
        found.patched();
    }
    found.targets
}

/// Returns the operands of a command without the scripts of editors.
fn files(command: &SimpleCommand) -> Vec<Expanded> {
    if !matches!(command.name.as_str(), "sed" | "gsed" | "perl" | "ruby" | "awk" | "gawk" | "yq") {
        let args = searches::without_exclusions(&command.name, &command.args);
        return operands(&command.name, "", &args);
    }
    let is_script = |arg: &Expanded| {
        let text = arg.text.as_str();
        matches!(text, "--expression" | "--file")
            || (!text.starts_with("--") && text.starts_with('-') && text.ends_with(['e', 'f']))
    };
    let mut files: Vec<Expanded> = Vec::new();
    let mut has_script = false;
    for (index, arg) in command.args.iter().enumerate() {
        let is_value = index > 0 && is_script(&command.args[index - 1]);
        has_script |= is_script(arg) || arg.text.starts_with("--expression=");
        if !is_value && !arg.text.starts_with('-') {
            files.push(arg.clone());
        }
    }
    // Without an option, the first operand is the script.
    let skipped = usize::from(!has_script && !files.is_empty());
    files.split_off(skipped)
}

/// Returns the arguments that are neither options nor values of options that are known.
fn operands(program: &str, subcommand: &str, args: &[Expanded]) -> Vec<Expanded> {
    let names = OptionNames::of(program, subcommand);
    let takes_next = |arg: &Expanded| {
        let text = arg.text.as_str();
        let option = if text.starts_with("--") {
            names.find_long(text)
        } else if text.len() == 2 {
            names.find(text)
        } else {
            None
        };
        arg.known && option.is_some_and(|option| option.takes == Takes::Value)
    };
    let mut found = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        if arg.text == "--" {
            found.extend(rest.by_ref().cloned());
        } else if arg.text.starts_with('-') && arg.text != "-" {
            if takes_next(arg) {
                rest.next();
            }
        } else {
            found.push(arg.clone());
        }
    }
    found
}

struct Found<'a> {
    command: &'a SimpleCommand,
    /// Directories to which the paths may be relative.
    cwds: Vec<PathBuf>,
    /// Use of the paths that are added next.
    access: Access,
    targets: Targets,
}

impl Found<'_> {
    fn exact(&mut self, paths: Vec<Expanded>) {
        self.add(paths, Reach::Exact);
    }

    fn add(&mut self, paths: Vec<Expanded>, reach: Reach) {
        for path in paths {
            self.push(path, reach, Vec::new());
        }
    }

    fn push(&mut self, path: Expanded, reach: Reach, names: Vec<GlobMatcher>) {
        let is_known = path.known;
        let affected = AffectedPath { path, cwds: self.cwds.clone(), reach, access: self.access, names };
        if is_known { self.targets.known.push(affected) } else { self.targets.unknown.push(affected) }
    }

    /// Adds the destination of a copy. A file that is copied into a directory keeps its name.
    fn destination(&mut self, operands: &[Expanded]) {
        let command = self.command;
        let options = Options::new(command);
        let option = options.values("t", &["target-directory"]).pop();
        let (to, from) = match (&option, operands.split_last()) {
            (Some(to), _) => (to.clone(), operands),
            (None, Some((to, from))) if !from.is_empty() => (to.clone(), from),
            // `ln file` links into the working directory.
            _ => return,
        };
        if command.name == "mv" || options.has("", &["remove-source-files"]) {
            self.access = Access::Delete;
            self.add(from.to_vec(), Reach::Tree);
            self.access = Access::Write;
        }
        let is_directory =
            option.is_some() || to.text.ends_with('/') || self.cwds.iter().any(|cwd| cwd.join(&to.text).is_dir());
        let copied = if is_directory { from } else { &[] };
        let within = copied.iter().filter_map(|from| {
            let name = from.text.trim_end_matches('/').rsplit('/').next()?;
            let start = from.text.trim_end_matches('/').len() - name.len();
            let name = from.part(start..start + name.len());
            let text = format!("{}/{}", to.text.trim_end_matches('/'), name.text);
            Some(Expanded { text, ..name })
        });
        let within: Vec<_> = within.filter(|path| path.known && to.known).collect();
        // The contents of a source replace files below the destination.
        let copies_contents = match command.name.as_str() {
            "cp" => options.has("T", &["no-target-directory"]) || from.iter().any(|from| is_contents(&from.text)),
            "rsync" => from.iter().any(|from| from.text.ends_with('/') || is_contents(&from.text)),
            _ => false,
        };
        let deletes = ["delete", "delete-after", "delete-before", "delete-during", "delete-excluded"];
        let reach = match command.name.as_str() {
            "rsync" if options.has("", &deletes) => Reach::Tree,
            _ if copies_contents => Reach::Into,
            _ => Reach::Exact,
        };
        self.exact(within);
        self.add(vec![to], reach);
    }

    /// Adds the files that a subcommand of git changes. They are relative to the directory of `-C`.
    fn git(&mut self) {
        let command = self.command;
        let Some(index) = global_options::subcommand("git", &command.args) else { return };
        let (name, args) = (command.args[index].text.as_str(), &command.args[index + 1..]);
        let options = Options::of(&format!("git {name}"), args);
        let places = global_options::values("git", &command.args, &["-C", "--work-tree"]);
        let is_clean = name == "clean" && options.has("f", &["force"]) && !options.has("n", &["dry-run"]);
        let discards = is_clean || name == "reset" && options.has("", &["hard"]);
        for place in &places {
            if place.known {
                self.cwds = self.cwds.iter().map(|cwd| cwd.join(&place.text)).collect();
            } else if discards || matches!(name, "rm" | "mv" | "restore") {
                self.push(place.clone(), Reach::Exact, Vec::new());
            }
        }
        if is_clean || name == "rm" {
            self.access = Access::Delete;
        }
        match name {
            "rm" | "mv" | "restore" => self.exact(options.operands().cloned().collect()),
            // An unknown word before `--` is most likely a branch.
            "checkout" => {
                let dashes = args.iter().position(|arg| arg.text == "--");
                let (branches, files) = args.split_at(dashes.unwrap_or(args.len()));
                // Before `--` is a commit.
                let branches = if dashes.is_some() { Vec::new() } else { operands("git", "checkout", branches) };
                let known = branches.into_iter().filter(|arg| arg.known);
                let files = files.iter().skip(1).cloned();
                // The directory itself is some files below it, see below.
                let is_file = |path: &Expanded| places.is_empty() || path.text != ".";
                self.exact(known.chain(files).filter(is_file).collect());
            }
            "config" => self.exact(options.values("f", &["file"])),
            "archive" | "format-patch" => self.exact(options.values("o", &["output", "output-directory"])),
            "diff" | "log" | "show" => self.exact(options.values("", &["output"])),
            "apply" | "am" => self.patched(),
            _ => {}
        }
        let changes_tree = is_clean
            || matches!(
                name,
                "checkout" | "restore" | "reset" | "pull" | "merge" | "rebase" | "stash" | "switch" | "apply"
            );
        // In another directory, it is meant to change that directory.
        if changes_tree && !places.is_empty() || is_clean && options.has("xX", &[]) {
            let here = Expanded { text: ".".to_owned(), known: true, ..Expanded::default() };
            self.add(vec![here], Reach::Into);
        }
        self.access = Access::Write;
    }

    /// Adds the files that `find` changes, itself or with other programs.
    fn find(&mut self, all: &[SimpleCommand]) {
        let Some(find) = Find::new(self.command, all).filter(|find| find.changes) else { return };
        self.access = if find.deletes { Access::Delete } else { Access::Write };
        for root in find.roots {
            if root.known || !find.is_filtered {
                self.push(root, Reach::Tree, find.names.clone());
            }
        }
        self.access = Access::Write;
    }

    /// Adds the files that options name.
    fn outputs(&mut self) {
        let command = self.command;
        let options = Options::new(command);
        let name = command.name.as_str();
        for (_, letters, long) in OUTPUTS.iter().filter(|(program, ..)| *program == name) {
            let values = options.values(letters, long);
            self.exact(values.into_iter().filter(|value| value.text != "-").collect());
        }
        // Archives are written into the working directory without the option.
        for (_, letters, long) in INTO.iter().filter(|(program, ..)| *program == name) {
            let extracts = !matches!(name, "tar" | "bsdtar") || extracts(command);
            if extracts {
                self.add(options.values(letters, long), Reach::Into);
            }
        }
        let behind = |start: &str| {
            let values = command.args.iter().filter_map(|arg| {
                let value = arg.text.strip_prefix(start)?;
                Some(arg.part(arg.text.len() - value.len()..arg.text.len()))
            });
            values.collect::<Vec<_>>()
        };
        let next = |option: &str| {
            let pairs = command.args.windows(2).filter(|pair| pair[0].text == option);
            pairs.map(|pair| pair[1].clone()).collect::<Vec<_>>()
        };
        match name {
            "dd" => self.exact(behind("of=")),
            "openssl" => self.exact([next("-out"), next("-keyout")].concat()),
            "go" => self.exact(next("-o")),
            "zip" => self.exact(command.operands().take(1).cloned().collect()),
            "tar" | "bsdtar" if !extracts(command) && creates(command) => {
                let first = command.args.first().filter(|arg| !arg.text.starts_with('-') && arg.text.contains('f'));
                let plain = first.and_then(|_| command.args.get(1).cloned());
                self.exact(options.values("f", &["file"]).into_iter().chain(plain).collect());
            }
            "docker" | "podman" | "kubectl" if command.operands().next().is_some_and(|first| first.text == "cp") => {
                self.exact(
                    command.operands().last().filter(|to| !to.text.contains(':')).cloned().into_iter().collect(),
                );
            }
            // Without an option, a download is named after its address.
            "curl" if options.has("O", &["remote-name", "remote-name-all"]) => self.remote_names(),
            "wget" | "wget2" if options.values("O", &["output-document"]).is_empty() => self.remote_names(),
            _ => {}
        }
    }

    fn remote_names(&mut self) {
        let name = |url: &Expanded| {
            let end = url.text.find(['?', '#']).unwrap_or(url.text.len());
            let start = url.text[..end].rfind('/')? + 1;
            // The host is no name of a file.
            if url.text[..start].ends_with("://") {
                return None;
            }
            Some(url.part(start..end)).filter(|name| name.known && !name.text.is_empty())
        };
        let names: Vec<_> = self.command.operands().filter_map(name).collect();
        self.exact(names);
    }

    /// Adds the files of a patch on the standard input.
    fn patched(&mut self) {
        let files: Vec<_> = self.command.input.as_deref().into_iter().flat_map(named::diff_files).collect();
        let known = |text: &str| Expanded { text: text.to_owned(), known: true, ..Expanded::default() };
        self.exact(files.into_iter().map(known).collect());
    }
}

fn is_contents(path: &str) -> bool {
    path == "." || path.ends_with("/.") || path.ends_with("/*")
}

/// `true` if `tar` extracts. Its first word may have letters without a dash.
fn extracts(command: &SimpleCommand) -> bool {
    tar_letters(command).any(|letters| letters.contains('x')) || Options::new(command).has("x", &["extract", "get"])
}

fn creates(command: &SimpleCommand) -> bool {
    tar_letters(command).any(|letters| letters.contains(['c', 'r', 'u']))
        || Options::new(command).has("cru", &["create", "append", "update"])
}

fn tar_letters(command: &SimpleCommand) -> impl Iterator<Item = &str> {
    command.args.first().map(|arg| arg.text.as_str()).filter(|arg| !arg.starts_with('-')).into_iter()
}
