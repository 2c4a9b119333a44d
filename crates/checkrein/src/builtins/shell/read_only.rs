//! Programs that do nothing with what stands on their command line but read it, or say it.

const READERS: &[&str] = &[
    ":",
    "[",
    "[[",
    "ag",
    "b2sum",
    "basename",
    "bat",
    "break",
    "cat",
    "cd",
    "cksum",
    "cmp",
    "column",
    "comm",
    "continue",
    "cut",
    "date",
    "df",
    "diff",
    "dirname",
    "du",
    "echo",
    "egrep",
    "exa",
    "exit",
    "export",
    "eza",
    "false",
    "fgrep",
    "file",
    "fold",
    "for",
    "grep",
    "head",
    "hexdump",
    "id",
    "jq",
    "less",
    "local",
    "ls",
    "md5sum",
    "more",
    "nl",
    "od",
    "paste",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readlink",
    "realpath",
    "return",
    "rg",
    "select",
    "set",
    "sha1sum",
    "sha256sum",
    "shift",
    "sleep",
    "sort",
    "stat",
    "strings",
    "tac",
    "tail",
    "test",
    "tr",
    "tree",
    "true",
    "type",
    "uname",
    "uniq",
    "unset",
    "wc",
    "which",
];

/// Whether a program of this name only reads what it is given.
pub(crate) fn is_reader(name: &str) -> bool {
    READERS.contains(&name)
}

/// What of a word may be a path: the word itself first, then what stands in it between quotes, `=`, `:` and the like, and
/// behind an option of one letter.
pub(crate) fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| c.is_whitespace() || "'\"`=:,;()[]{}<>|&@!".contains(c);
    let behind = word.strip_prefix('-').and_then(|rest| rest.get(1..)).filter(|rest| rest.starts_with(['/', '.', '~']));
    [word]
        .into_iter()
        .chain(behind)
        .chain(word.split(is_end).filter(move |piece| *piece != word))
        .filter(|piece| !piece.is_empty())
}
