//! Options of programs as their own parsers read them: abbreviated long names, and letters with values in one word.
//!
//! Guards use it. A program without a row is read literally.

use super::shell::{Expanded, SimpleCommand};

/// Options of a program.
struct Row {
    /// The program, or a program and its subcommand.
    program: &'static str,
    /// Single letters that take a value.
    with_value: &'static str,
    /// Long options. A unique start of a name is equivalent to the name.
    long: &'static [&'static str],
}

const ROWS: &[Row] = &[
    row(
        "rm",
        "",
        &[
            "force",
            "interactive",
            "no-preserve-root",
            "one-file-system",
            "preserve-root",
            "recursive",
            "dir",
            "verbose",
        ],
    ),
    row("chmod", "", CHANGE),
    row("chown", "", CHANGE),
    row("chgrp", "", CHANGE),
    row("shred", "ns", &["force", "iterations", "random-source", "remove", "size", "exact", "zero", "verbose"]),
    row("truncate", "sr", &["no-create", "io-blocks", "reference", "size"]),
    row("cp", "tS", COPY),
    row("mv", "tS", COPY),
    row("ln", "tS", COPY),
    row("install", "tSmogT", COPY),
    row("tee", "", &["append", "ignore-interrupts", "output-error"]),
    row(
        "sed",
        "efls",
        &["in-place", "expression", "file", "quiet", "silent", "regexp-extended", "separate", "null-data"],
    ),
    row(
        "gsed",
        "efls",
        &["in-place", "expression", "file", "quiet", "silent", "regexp-extended", "separate", "null-data"],
    ),
    row(
        "sort",
        "oktST",
        &[
            "output",
            "key",
            "field-separator",
            "buffer-size",
            "temporary-directory",
            "files0-from",
            "compress-program",
            "random-source",
            "reverse",
            "unique",
            "numeric-sort",
            "parallel",
            "batch-size",
            "zero-terminated",
        ],
    ),
    row("uniq", "fsw", &["count", "repeated", "unique", "skip-fields", "skip-chars", "check-chars", "ignore-case"]),
    row("shuf", "oin", &["output", "head-count", "input-range", "echo", "random-source", "repeat", "zero-terminated"]),
    row("tree", "oLPIH", &["output"]),
    row("less", "oOkPtTxy", &["log-file", "LOG-FILE"]),
    row("date", "dfrs", &["date", "file", "reference", "set"]),
    row("patch", "odiprBDVYzF", &["output", "directory", "input", "dry-run", "strip", "reverse", "reject-file"]),
    row("split", "abnCl", &["suffix-length", "bytes", "lines", "number"]),
    row(
        "curl",
        "oubdeFHATwxXKcDmrtUyYzECPQ",
        &[
            "output",
            "output-dir",
            "cookie-jar",
            "dump-header",
            "trace",
            "trace-ascii",
            "stderr",
            "user",
            "data",
            "header",
            "form",
            "upload-file",
            "request",
            "url",
            "user-agent",
            "proxy",
            "config",
            "etag-save",
            "libcurl",
            "hsts",
            "alt-svc",
            "remote-name",
            "silent",
            "fail",
            "location",
            "create-dirs",
        ],
    ),
    row(
        "wget",
        "OoaPAeiBtTwQUID",
        &[
            "output-document",
            "output-file",
            "append-output",
            "directory-prefix",
            "input-file",
            "save-cookies",
            "quiet",
            "execute",
            "base",
            "tries",
            "timeout",
            "wait",
            "user-agent",
            "header",
            "post-data",
            "warc-file",
            "no-verbose",
        ],
    ),
    row("aria2c", "odijxs", &["out", "dir", "log", "input-file"]),
    row(
        "tar",
        "CfTXgbHKNVI",
        &["directory", "file", "extract", "get", "create", "exclude", "strip-components", "overwrite"],
    ),
    row("bsdtar", "CfTXb", &["directory", "file", "extract", "create", "exclude"]),
    row("unzip", "dxP", &[]),
    row(
        "rsync",
        "efBTM",
        &[
            "delete",
            "delete-after",
            "delete-before",
            "delete-during",
            "delete-excluded",
            "remove-source-files",
            "rsh",
            "exclude",
            "include",
            "filter",
            "log-file",
            "backup-dir",
            "partial-dir",
            "temp-dir",
            "dry-run",
            "recursive",
            "archive",
        ],
    ),
    row(
        "wipefs",
        "ot",
        &["all", "backup", "force", "offset", "types", "no-act", "parsable", "json", "quiet", "noheadings"],
    ),
    row("crontab", "u", &["remove"]),
    row("shutdown", "", &["help", "halt", "poweroff", "reboot", "no-wall", "show"]),
    row(
        "git push",
        "o",
        &[
            "all",
            "branches",
            "mirror",
            "delete",
            "tags",
            "dry-run",
            "porcelain",
            "force",
            "force-with-lease",
            "force-if-includes",
            "follow-tags",
            "set-upstream",
            "no-verify",
            "signed",
            "atomic",
            "push-option",
            "prune",
            "quiet",
            "verbose",
            "repo",
            "receive-pack",
            "exec",
            "recurse-submodules",
            "thin",
            "progress",
            "ipv4",
            "ipv6",
        ],
    ),
    row(
        "git reset",
        "",
        &["hard", "soft", "mixed", "merge", "keep", "quiet", "patch", "pathspec-from-file", "intent-to-add", "refresh"],
    ),
    row("git clean", "e", &["force", "dry-run", "interactive", "quiet", "exclude"]),
    row(
        "git checkout",
        "bB",
        &[
            "force",
            "ours",
            "theirs",
            "track",
            "detach",
            "orphan",
            "merge",
            "conflict",
            "patch",
            "quiet",
            "guess",
            "progress",
            "overlay",
            "ignore-skip-worktree-bits",
            "overwrite-ignore",
            "recurse-submodules",
        ],
    ),
    row(
        "git switch",
        "cC",
        &["force", "discard-changes", "create", "force-create", "detach", "merge", "orphan", "track"],
    ),
    row("git restore", "s", &["staged", "worktree", "source", "patch", "quiet", "ours", "theirs", "merge", "overlay"]),
    row("git worktree", "", &["force", "dry-run", "expire", "verbose", "lock", "detach"]),
    row("git branch", "u", &["delete", "force", "move", "copy", "list", "merged", "contains", "remotes", "all"]),
];

const CHANGE: &[&str] = &[
    "changes",
    "dereference",
    "from",
    "no-dereference",
    "no-preserve-root",
    "preserve-root",
    "quiet",
    "recursive",
    "reference",
    "silent",
    "verbose",
];

const COPY: &[&str] = &[
    "archive",
    "attributes-only",
    "backup",
    "copy-contents",
    "dereference",
    "directory",
    "force",
    "group",
    "interactive",
    "link",
    "logical",
    "mode",
    "no-clobber",
    "no-dereference",
    "no-target-directory",
    "one-file-system",
    "owner",
    "parents",
    "physical",
    "preserve",
    "recursive",
    "reflink",
    "relative",
    "remove-destination",
    "sparse",
    "strip-trailing-slashes",
    "suffix",
    "symbolic",
    "symbolic-link",
    "target-directory",
    "update",
    "verbose",
];

const fn row(program: &'static str, with_value: &'static str, long: &'static [&'static str]) -> Row {
    Row { program, with_value, long }
}

/// A command with the options of its program.
pub(crate) struct Options<'a> {
    args: &'a [Expanded],
    row: Option<&'static Row>,
}

impl<'a> Options<'a> {
    pub(crate) fn new(command: &'a SimpleCommand) -> Self {
        Self::of(&command.name, &command.args)
    }

    /// Creates the options of a program, or of a program and its subcommand: `git push`.
    pub(crate) fn of(program: &str, args: &'a [Expanded]) -> Self {
        Self { args, row: ROWS.iter().find(|row| row.program == program) }
    }

    /// `true` if the command has one of these options: single letters, also combined, or long names.
    pub(crate) fn has(&self, letters: &str, long: &[&str]) -> bool {
        let with_value = self.row.map_or("", |row| row.with_value);
        self.options().any(|arg| match arg.text.strip_prefix('-') {
            Some(name) if name.starts_with('-') => {
                let name = name[1..].split('=').next().unwrap_or_default();
                long.iter().any(|own| self.is_name(name, own))
            }
            Some(cluster) => {
                // The rest of the word behind a letter with a value is the value.
                let end = cluster.find(|c| with_value.contains(c)).map_or(cluster.len(), |at| at + 1);
                cluster.get(..end).unwrap_or(cluster).contains(|c| letters.contains(c))
            }
            None => false,
        })
    }

    /// Returns the values of the options with these letters and long names.
    pub(crate) fn values(&self, letters: &str, long: &[&str]) -> Vec<Expanded> {
        let with_value = self.row.map_or(letters, |row| row.with_value);
        let mut values = Vec::new();
        for (index, arg) in self.args.iter().enumerate().take_while(|(_, arg)| arg.text != "--") {
            let part = |start: usize| arg.part(start..arg.text.len());
            let next = || self.args.get(index + 1).cloned();
            match arg.text.strip_prefix('-') {
                Some(name) if name.starts_with('-') => {
                    let name = &name[1..];
                    let (name, value) = name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)));
                    if long.iter().any(|own| self.is_name(name, own)) {
                        values.extend(value.map_or_else(next, |value| Some(part(arg.text.len() - value.len()))));
                    }
                }
                Some(cluster) => {
                    let letter = cluster.char_indices().find(|(_, c)| with_value.contains(*c) || letters.contains(*c));
                    if let Some((at, c)) = letter.filter(|(_, c)| letters.contains(*c)) {
                        let start = 1 + at + c.len_utf8();
                        values.extend(if start < arg.text.len() { Some(part(start)) } else { next() });
                    }
                }
                None => {}
            }
        }
        values
    }

    /// Returns the arguments that are not options. All arguments behind `--` are operands.
    pub(crate) fn operands(&self) -> impl Iterator<Item = &'a Expanded> {
        let end = self.args.iter().position(|arg| arg.text == "--").unwrap_or(self.args.len());
        let is_operand = |arg: &Expanded| !arg.text.starts_with('-') || arg.text == "-";
        let operands = self.args.iter().enumerate();
        let operands = operands.filter(move |(index, arg)| *index > end || (*index < end && is_operand(arg)));
        operands.map(|(_, arg)| arg)
    }

    fn options(&self) -> impl Iterator<Item = &'a Expanded> {
        self.args.iter().take_while(|arg| arg.text != "--")
    }

    /// `true` if a written name is the option, or a start of its name and of no other option's.
    fn is_name(&self, written: &str, option: &str) -> bool {
        if written == option {
            return true;
        }
        let all = self.row.map_or(&[][..], |row| row.long);
        let is_start = |name: &&&str| name.starts_with(written);
        !written.is_empty()
            && option.starts_with(written)
            && all.contains(&option)
            && !all.contains(&written)
            && all.iter().filter(is_start).count() == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<Expanded> {
        let known = |text: &str| Expanded { text: text.to_owned(), known: true, ..Expanded::default() };
        line.split_whitespace().map(known).collect()
    }

    #[test]
    fn unique_starts_of_long_options_are_recognized() {
        for (program, line, long, expected) in [
            ("rm", "--recurs x", "recursive", true),
            ("rm", "--r x", "recursive", true),
            ("rm", "--rx x", "recursive", false),
            ("chmod", "--rec x", "recursive", true),
            ("chmod", "--r x", "recursive", false),
            ("git push", "--delet x", "delete", true),
            ("git push", "--force", "force-with-lease", false),
            ("git push", "--force-w", "force-with-lease", true),
            ("git reset", "--har", "hard", true),
            ("rm", "-- --recursive", "recursive", false),
            ("unknown", "--recurs", "recursive", false),
        ] {
            assert_eq!(Options::of(program, &args(line)).has("", &[long]), expected, "{program} {line}");
        }
    }

    #[test]
    fn values_are_found_in_every_form() {
        for (program, line, expected) in [
            ("curl", "-o a u", &["a"][..]),
            ("curl", "-oa u", &["a"]),
            ("curl", "-sSLo a u", &["a"]),
            ("curl", "-soa u", &["a"]),
            ("curl", "--output a --output=b", &["a", "b"]),
            ("curl", "-d o=1 u", &[]),
            ("curl", "-do u", &[]),
            ("curl", "-- -o a", &[]),
        ] {
            let args = args(line);
            let values = Options::of(program, &args).values("o", &["output"]);
            let values: Vec<_> = values.iter().map(|value| value.text.as_str()).collect();
            assert_eq!(values, expected, "{line}");
        }
    }
}
