//! Execution of simple shell texts without the shell.
//!
//! A shell costs a sixth of the run time of a small program. A text of plain words, quoted words and values of variables, whose
//! first word is a program, has the same meaning without a shell. All other texts must go to the shell.
//! [`ResolvedCommand`](crate::ResolvedCommand) uses this module.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::command::Shell;
use crate::exec_context::ExecContext;
use crate::sys;

/// A text that runs without its shell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DirectExec {
    /// The path that the shell would execute: an absolute path from `PATH`, or the first word if it has a slash.
    pub(crate) program: PathBuf,
    pub(crate) words: Vec<OsString>,
    /// The working directory without symbolic links, for `PWD`.
    physical_cwd: PathBuf,
}

impl DirectExec {
    /// Parses a text. Returns `None` if it needs its shell.
    pub(crate) fn parse(shell: &Shell, text: &str, context: &ExecContext) -> Option<Self> {
        if !sys::HAS_DIRECT || !is_plain_shell(shell) || !is_plain_environment(context) {
            return None;
        }
        let words = words(text, context)?;
        let program = find(words.first()?, context)?;
        Some(Self {
            program,
            words: words.into_iter().map(OsString::from).collect(),
            physical_cwd: context.cwd().canonicalize().ok()?,
        })
    }

    /// The value of `PWD` that a shell would set. `None` if the context already has a valid one.
    pub(crate) fn pwd(&self, context: &ExecContext) -> Option<&OsStr> {
        let given = context.var("PWD").map(Path::new);
        match given {
            Some(given) if given == context.cwd() || given == self.physical_cwd => None,
            // A shell keeps any absolute name of the directory.
            Some(given) if given.is_absolute() && given.canonicalize().is_ok_and(|real| real == self.physical_cwd) => {
                None
            }
            _ => Some(self.physical_cwd.as_os_str()),
        }
    }
}

/// Returns `true` for shells that read no startup file and run plain words as POSIX specifies. zsh always reads `.zshenv`.
fn is_plain_shell(shell: &Shell) -> bool {
    let name = Path::new(shell.program()).file_name();
    let known = ["sh", "dash", "bash"].iter().any(|known| name == Some(OsStr::new(known)));
    known && shell.args() == ["-c"]
}

/// Returns `true` if no variable makes a shell read a file, define functions or set options.
pub(crate) fn is_plain_environment(context: &ExecContext) -> bool {
    context.variables().iter().all(|(name, _)| {
        let name = name.as_encoded_bytes();
        !name.starts_with(b"BASH_") && !matches!(name, b"ENV" | b"SHELLOPTS" | b"BASHOPTS")
    })
}

/// Returns `true` if the words of a text depend on variables.
pub(crate) fn reads_variables(text: &str) -> bool {
    text.contains(['$', '~'])
}

/// `true` for characters without a meaning for the shell inside of a word.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./,:+@%=".contains(c)
}

/// Splits a text into words, with quotes removed and variables replaced. Returns `None` if any other character could have a
/// meaning for the shell.
fn words(text: &str, context: &ExecContext) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let (literal, after) = rest.split_once('\'')?;
                word.get_or_insert_default().push_str(literal);
                rest = after;
            }
            '"' => {
                let (quoted, after) = rest.split_once('"')?;
                expand_quoted(quoted, context, word.get_or_insert_default())?;
                rest = after;
            }
            '$' => {
                let (value, after) = variable(rest, context)?;
                // Any other value could become several words, or none.
                if value.is_empty() || !value.chars().all(is_plain) {
                    return None;
                }
                word.get_or_insert_default().push_str(value);
                rest = after;
            }
            '~' if word.is_none() && (rest.is_empty() || rest.starts_with(['/', ' ', '\t'])) => {
                word = Some(context.var("HOME")?.to_str().filter(|home| home.starts_with('/'))?.to_owned());
            }
            _ if is_plain(c) => word.get_or_insert_default().push(c),
            _ => return None,
        }
    }
    words.extend(word);
    let first = words.first()?;
    // The first word may be an assignment, a job or an option.
    (!first.is_empty() && !first.contains(['=', '%']) && !first.starts_with(['-', '+'])).then_some(words)
}

/// Appends the text between two double quotes.
fn expand_quoted(quoted: &str, context: &ExecContext, word: &mut String) -> Option<()> {
    // `!` is special in interactive shells only, but costs nothing to exclude.
    if quoted.contains(['`', '\\', '!']) {
        return None;
    }
    let mut rest = quoted;
    while let Some((before, after)) = rest.split_once('$') {
        word.push_str(before);
        let (value, after) = variable(after, context)?;
        word.push_str(value);
        rest = after;
    }
    word.push_str(rest);
    Some(())
}

/// Reads `NAME` or `{NAME}` after a dollar. Returns the value, and the text after the name. `None` for all other forms, and for
/// variables that are unset or that shells set themselves.
fn variable<'a>(text: &'a str, context: &'a ExecContext) -> Option<(&'a str, &'a str)> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let (name, after) = match text.strip_prefix('{') {
        Some(braced) => braced.split_once('}')?,
        None => text.split_at(text.find(|c| !is_name(c)).unwrap_or(text.len())),
    };
    if name.is_empty() || !name.chars().all(is_name) || name.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    if name.starts_with("BASH") || SHELL_VARIABLES.contains(&name) {
        return None;
    }
    Some((context.var(name)?.to_str()?, after))
}

/// Variables that a shell sets itself.
const SHELL_VARIABLES: &[&str] = &[
    "_",
    "COLUMNS",
    "COMP_WORDBREAKS",
    "DIRSTACK",
    "EPOCHREALTIME",
    "EPOCHSECONDS",
    "EUID",
    "FUNCNAME",
    "GROUPS",
    "HISTCMD",
    "HOSTNAME",
    "HOSTTYPE",
    "IFS",
    "LINENO",
    "LINES",
    "MACHTYPE",
    "MAILCHECK",
    "OLDPWD",
    "OPTARG",
    "OPTERR",
    "OPTIND",
    "OSTYPE",
    "PIPESTATUS",
    "PPID",
    "PS1",
    "PS2",
    "PS4",
    "PWD",
    "RANDOM",
    "SECONDS",
    "SHLVL",
    "SRANDOM",
    "UID",
];

fn find(word: &str, context: &ExecContext) -> Option<PathBuf> {
    if word.contains('/') {
        let path = context.cwd().join(word);
        return is_program(&path)?.then(|| PathBuf::from(word));
    }
    if SHELL_WORDS.binary_search(&word).is_ok() {
        return None;
    }
    for directory in std::env::split_paths(context.var("PATH")?) {
        // Shells differ in the meaning of relative entries, and of `%` in an entry.
        if !directory.is_absolute() || directory.as_os_str().as_encoded_bytes().contains(&b'%') {
            return None;
        }
        let path = directory.join(word);
        if is_program(&path)? {
            return Some(path);
        }
    }
    None
}

/// `Some(true)` for an executable file, `Some(false)` if nothing has this path, `None` in all other cases.
fn is_program(path: &Path) -> Option<bool> {
    match std::fs::metadata(path) {
        Ok(metadata) => (metadata.is_file() && sys::may_execute(path)).then_some(true),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(false),
        Err(_) => None,
    }
}

/// Builtins, keywords and functions of sh, dash, bash, ksh and zsh. Sorted.
const SHELL_WORDS: &[&str] = &[
    "!",
    ".",
    ":",
    "[",
    "[[",
    "]]",
    "alias",
    "always",
    "autoload",
    "bg",
    "bind",
    "bindkey",
    "break",
    "builtin",
    "bye",
    "caller",
    "case",
    "catch",
    "cd",
    "chdir",
    "command",
    "comparguments",
    "compcall",
    "compctl",
    "compdescribe",
    "compfiles",
    "compgen",
    "compgroups",
    "complete",
    "compopt",
    "compquote",
    "comptags",
    "comptry",
    "compvalues",
    "continue",
    "coproc",
    "declare",
    "dirs",
    "disable",
    "disown",
    "do",
    "done",
    "echo",
    "echotc",
    "echoti",
    "elif",
    "else",
    "emulate",
    "enable",
    "end",
    "enum",
    "esac",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "fi",
    "float",
    "for",
    "foreach",
    "function",
    "functions",
    "getcap",
    "getln",
    "getopts",
    "hash",
    "hist",
    "history",
    "if",
    "in",
    "integer",
    "jobs",
    "kill",
    "let",
    "limit",
    "local",
    "login",
    "logout",
    "mapfile",
    "nameref",
    "newgrp",
    "nocorrect",
    "noglob",
    "popd",
    "print",
    "printf",
    "private",
    "pushd",
    "pushln",
    "pwd",
    "r",
    "read",
    "readarray",
    "readonly",
    "redirect",
    "rehash",
    "repeat",
    "return",
    "sched",
    "select",
    "set",
    "setcap",
    "setopt",
    "shift",
    "shopt",
    "source",
    "stop",
    "suspend",
    "test",
    "then",
    "time",
    "times",
    "trap",
    "true",
    "ttyctl",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unfunction",
    "unhash",
    "unlimit",
    "unset",
    "unsetopt",
    "until",
    "vared",
    "wait",
    "whence",
    "where",
    "which",
    "while",
    "zcompile",
    "zformat",
    "zftp",
    "zle",
    "zmodload",
    "zparseopts",
    "zprof",
    "zpty",
    "zregexparse",
    "zselect",
    "zsocket",
    "zstyle",
    "zsystem",
    "ztcp",
    "{",
    "}",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shell_words_are_sorted() {
        assert!(SHELL_WORDS.is_sorted());
    }

    #[test]
    fn only_plain_words_are_split() {
        let context =
            ExecContext::new("/").env([("P", "/a b"), ("Q", "/q/x"), ("EMPTY", ""), ("HOME", "/h h"), ("PWD", "/")]);
        let split = |text| words(text, &context);
        assert_eq!(split("git  status\t--short").unwrap(), ["git", "status", "--short"]);
        assert_eq!(split(" ./check.sh --level=3 a,b:c@d%e+f ").unwrap().len(), 3);
        for (text, expected) in [
            ("python3 \"$P\"/x.py", vec!["python3", "/a b/x.py"]),
            ("'a b'c \"${Q}d\" $Q/e ${Q}f", vec!["a bc", "/q/xd", "/q/x/e", "/q/xf"]),
            ("~/x.py ~ a~", vec![]),
            ("~/x.py ~", vec!["/h h/x.py", "/h h"]),
            ("a '' \"\" \"$EMPTY\"", vec!["a", "", "", ""]),
            ("a '$P' \"it's\" 'é;|&'", vec!["a", "$P", "it's", "é;|&"]),
        ] {
            assert_eq!(split(text).unwrap_or_default(), expected, "{text:?}");
        }
        for text in [
            "a $P",
            "a $EMPTY",
            "a $UNSET",
            "a \"$UNSET\"",
            "a $1",
            "a \"$@\"",
            "a $$",
            "a ${Q:-x}",
            "a ${Q",
            "a $PWD",
            "a $(b)",
            "a \"`b`\"",
            "a \"\\$Q\"",
            "a 'b",
            "a \"b",
            "'' a",
            "a ~b",
            "$",
            "a $BASH_ENV",
        ] {
            assert_eq!(split(text), None, "{text:?}");
        }
        for text in [
            "", "  ", "a;b", "a|b", "a&", "a>b", "a<b", "a\\b", "a $b", "a `b`", "a *", "a ?", "a [b]", "a {b}",
            "a (b)", "a #b", "a\nb", "a\rb", "a!", "a ^b", "A=1 b", "%1", "-x", "+x", "a é", "a\0b",
        ] {
            assert_eq!(split(text), None, "{text:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn builtins_and_shell_settings_need_the_shell() {
        let context = ExecContext::new("/").env([("PATH", "/usr/bin:/bin")]);
        let parse = |text, context: &ExecContext| DirectExec::parse(&Shell::default(), text, context);
        for text in ["true", "echo a", "exec ls", "time ls", "if", "cd /", "test -f a", "nothing-of-that-name"] {
            assert_eq!(parse(text, &context), None, "{text:?}");
        }
        let found = parse("ls -l /", &context).unwrap();
        assert!(found.program.is_absolute());
        assert_eq!(found.words, ["ls", "-l", "/"]);
        assert_eq!(parse("/bin/ls", &context).unwrap().program, Path::new("/bin/ls"));
        assert_eq!(parse("bin/ls", &context).unwrap().program, Path::new("bin/ls"));

        for variable in ["ENV", "BASH_ENV", "BASH_FUNC_ls%%", "SHELLOPTS"] {
            let context = ExecContext::new("/").env([("PATH", "/usr/bin:/bin"), (variable, "x")]);
            assert_eq!(parse("ls", &context), None, "{variable}");
        }
        for path in ["", ":/bin", ".:/bin", "bin", "%func:/bin"] {
            assert_eq!(parse("ls", &ExecContext::new("/").env([("PATH", path)])), None, "{path:?}");
        }
        assert_eq!(parse("ls", &ExecContext::new("/")), None);
        assert_eq!(DirectExec::parse(&Shell::new("/bin/zsh", ["-c"]), "ls", &context), None);
        assert_eq!(DirectExec::parse(&Shell::new("/bin/bash", ["-lc"]), "ls", &context), None);
    }
}
