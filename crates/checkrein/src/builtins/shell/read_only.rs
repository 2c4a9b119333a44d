//! Programs that only read or print the paths on their command line, and the possible paths in a word.

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

/// `true` if the program only reads its arguments.
pub(crate) fn is_reader(name: &str) -> bool {
    READERS.contains(&name)
}

/// Returns the parts of a word that may be paths: the word itself first, then the text behind an option of one letter, then
/// the parts between quotes, `=`, `:` and similar characters.
pub(crate) fn pieces(word: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| c.is_whitespace() || "'\"`=:,;()[]{}<>|&@!".contains(c);
    let behind = word.strip_prefix('-').and_then(|rest| rest.get(1..)).filter(|rest| rest.starts_with(['/', '.', '~']));
    [word]
        .into_iter()
        .chain(behind)
        .chain(word.split(is_end).filter(move |piece| *piece != word))
        .filter(|piece| !piece.is_empty())
}
