//! Lint for programs that a command or a script needs and that the hook's `PATH` does not have.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use checkrein::handler::HandlerEnv;
use checkrein::internal::shell::{ShellEnv, SimpleCommand, simple_commands_with};
use checkrein_dialects::HookSpec;

use super::bashisms::plain;
use super::script::Report;

/// Builtins and words of shells, which are no programs.
const BUILTINS: &[&str] = &[
    ".",
    ":",
    "[",
    "[[",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "caller",
    "case",
    "cd",
    "chdir",
    "command",
    "compgen",
    "complete",
    "compopt",
    "continue",
    "coproc",
    "declare",
    "dirs",
    "disown",
    "do",
    "done",
    "echo",
    "elif",
    "else",
    "enable",
    "esac",
    "eval",
    "exec",
    "exit",
    "export",
    "false",
    "fc",
    "fg",
    "fi",
    "for",
    "function",
    "getopts",
    "hash",
    "help",
    "history",
    "if",
    "in",
    "jobs",
    "kill",
    "let",
    "local",
    "logout",
    "mapfile",
    "popd",
    "printf",
    "pushd",
    "pwd",
    "read",
    "readarray",
    "readonly",
    "return",
    "select",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "test",
    "then",
    "time",
    "times",
    "trap",
    "true",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "until",
    "wait",
    "while",
    "{",
    "}",
    "!",
    "((",
    "]]",
    "]",
];

/// Programs that a script with unknown functions certainly means as programs.
const CERTAIN: &[&str] =
    &["jq", "yq", "uv", "uvx", "python3", "python", "node", "npx", "deno", "bun", "ruby", "perl", "php"];

/// Programs of one operating system.
const OF_ONE_SYSTEM: &[&str] = &[
    "afplay",
    "aplay",
    "cmd.exe",
    "notify-send",
    "open",
    "osascript",
    "paplay",
    "pbcopy",
    "powershell.exe",
    "say",
    "terminal-notifier",
    "xdg-open",
];

/// Programs that run others from another place than the `PATH`: a package, a container, another machine.
const RUNNERS: &[&str] = &[
    "bundle",
    "bunx",
    "direnv",
    "docker",
    "hatch",
    "mise",
    "nix",
    "nix-shell",
    "npx",
    "pipx",
    "pnpm",
    "pnpx",
    "podman",
    "poetry",
    "ssh",
    "uv",
    "uvx",
    "yarn",
];

/// The programs of a `PATH`.
pub(super) struct Programs {
    dirs: Option<Vec<PathBuf>>,
}

impl Programs {
    /// Programs of the `PATH` that the hook gets.
    pub(super) fn of_hook(hook: &HookSpec, env: &HandlerEnv) -> Self {
        let variables: Vec<(OsString, OsString)> = checkrein::internal::variables_of(hook, env).unwrap_or_default();
        let path = variables.iter().rev().find(|(name, _)| name == "PATH");
        Self { dirs: path.map(|(_, path)| std::env::split_paths(path).collect()) }
    }

    /// `true` if the programs are known and this one is not among them.
    pub(super) fn lack(&self, name: &str) -> bool {
        self.dirs.as_ref().is_some_and(|dirs| !dirs.iter().any(|dir| is_program(&dir.join(name))))
    }

    /// Reports missing programs of a shell text, without the hook's own script.
    pub(super) fn lint(&self, text: &str, cwd: &Path, script: Option<&Path>, report: &mut Report<'_>) {
        let Ok((steps, assigned)) = simple_commands_with(text, ShellEnv { home: None, cwd }, &[]) else { return };
        // The programs of another `PATH` are unknown.
        if assigned.contains("PATH") {
            return;
        }
        let reads_others = steps.iter().any(|step| matches!(step.name.as_str(), "." | "source" | "eval"));
        let functions = functions(text);
        let mut reported: Vec<&str> = Vec::new();
        // `python3 -m tool` runs a module, which is no program of the `PATH`.
        let is_module = |step: &SimpleCommand| {
            step.wrappers.last().is_some_and(|outer| outer.starts_with("python") || &**outer == "py")
        };
        for step in steps.iter().filter(|step| step.program_known() && !step.name.is_empty() && !is_module(step)) {
            let word = step.program.text.as_str();
            let is_missing = match word.contains('/') {
                true => Path::new(word).is_absolute() && script != Some(Path::new(word)) && !Path::new(word).exists(),
                false => {
                    !BUILTINS.contains(&word)
                        && !functions.iter().any(|own| own == word)
                        && (!reads_others || CERTAIN.contains(&word))
                        && self.lack(word)
                }
            };
            if !is_missing || reported.contains(&word) || is_expected_to_be_missing(word, text, &steps) {
                continue;
            }
            reported.push(word);
            let text_of_finding = match word.contains('/') {
                true => format!("program `{word}` does not exist"),
                false => format!("program `{word}` is not in the hook's PATH"),
            };
            report("program-missing", line_of(word, text), text_of_finding);
        }
    }
}

/// Names of the functions and aliases that a text defines.
fn functions(text: &str) -> Vec<String> {
    let text = plain(text);
    let is_name = |c: char| !c.is_whitespace() && !";&|(){}<>=".contains(c);
    let last_word = |before: &str| {
        let before = before.trim_end();
        let start =
            before.rfind(|c| !is_name(c)).map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        before[start..].to_owned()
    };
    let first_word = |rest: &str| rest.trim_start().chars().take_while(|c| is_name(*c)).collect::<String>();
    let by_parentheses =
        text.match_indices('(').filter(|(at, _)| text[at + 1..].trim_start_matches(' ').starts_with(')'));
    let mut names: Vec<String> = by_parentheses.map(|(at, _)| last_word(&text[..at])).collect();
    for word in ["function ", "alias "] {
        names.extend(text.match_indices(word).map(|(at, _)| first_word(&text[at + word.len()..])));
    }
    names.retain(|name| !name.is_empty());
    names
}

/// `true` if the text handles the absence of the program.
fn is_expected_to_be_missing(word: &str, text: &str, steps: &[SimpleCommand]) -> bool {
    let is_guard = |step: &&SimpleCommand| match step.name.as_str() {
        "command" => step.has_option("vV", &[]),
        "which" | "type" | "hash" => true,
        _ => false,
    };
    let is_guarded =
        steps.iter().filter(is_guard).any(|step| step.args.iter().any(|arg| !arg.known || arg.text == word));
    // `-x` of `test` with a path of the program.
    let end = format!("/{word}");
    let is_tested = steps.iter().filter(|step| matches!(step.name.as_str(), "test" | "[")).any(|step| {
        step.args.iter().any(|arg| arg.text == "-x") && step.args.iter().any(|arg| arg.text.ends_with(&end))
    });
    let is_elsewhere =
        steps.iter().any(|step| RUNNERS.contains(&step.name.as_str()) && step.args.iter().any(|arg| arg.text == word));
    let knows_system = ["uname", "OSTYPE", "Darwin"].iter().any(|name| text.contains(name));
    is_guarded
        || is_tested
        || is_elsewhere
        || (knows_system && OF_ONE_SYSTEM.contains(&word))
        || is_optional(word, text)
}

/// `true` if every line with the program continues after its failure: `PROGRAM … || true`.
fn is_optional(word: &str, text: &str) -> bool {
    let text = plain(text);
    let mut lines = text.lines().filter_map(|line| behind(word, line)).peekable();
    lines.peek().is_some()
        && lines.all(|rest| {
            rest.split_once("||").is_some_and(|(before, behind)| {
                let next = behind.trim_start();
                let ends = ["exit", "return", "{", "("].iter().any(|word| next.starts_with(word));
                !before.contains([';', '`']) && !ends
            })
        })
}

/// Text of a line behind a word.
fn behind<'l>(word: &str, line: &'l str) -> Option<&'l str> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let mut found = line.match_indices(word).map(|(at, _)| (&line[..at], &line[at + word.len()..]));
    found.find(|(before, rest)| !before.ends_with(is_part) && !rest.starts_with(is_part)).map(|(_, rest)| rest)
}

fn line_of(word: &str, text: &str) -> Option<u32> {
    text.lines()
        .zip(1_u32..)
        .find(|(line, _)| behind(word, line).is_some() && !line.trim_start().starts_with('#'))
        .map(|(_, number)| number)
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    ["", "exe", "cmd", "bat"].iter().any(|extension| path.with_extension(extension).is_file())
}
