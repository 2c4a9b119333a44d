//! Programs whose output a command uses as words, or runs as code.

use crate::builtins::options::Options;
use crate::builtins::shell::{Expanded, SimpleCommand};
use crate::trust::interpreters::{Runs, runs};

/// Names of the standard input as a script.
const STDIN: &[&str] = &["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"];

/// Returns the programs whose output is a part of the words of a command: `$(…)`, `<(…)`, and words from `xargs`.
pub(super) fn uses_output_of(command: &SimpleCommand) -> Vec<&str> {
    let words = command.args.iter().chain(&command.reads).chain(&command.writes);
    unique(words.flat_map(|word| &word.from).map(String::as_str))
}

/// Returns the programs whose output a command runs as code: from a pipe, a substitution, or a file that they have written in the
/// same call.
pub(super) fn runs_output_of<'c>(command: &'c SimpleCommand, all: &'c [SimpleCommand]) -> Vec<&'c str> {
    let fed = || command.fed_by.iter().map(String::as_str).collect::<Vec<_>>();
    let from = |args: &'c [Expanded]| args.iter().flat_map(|arg| &arg.from).map(String::as_str).collect::<Vec<_>>();
    let texts: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    let mut found = match (command.name.as_str(), runs(&command.name, &texts)) {
        ("eval" | "iex" | "Invoke-Expression", _) if command.args.is_empty() => fed(),
        ("eval" | "iex" | "Invoke-Expression", _) => from(&command.args),
        (_, Runs::Input) => fed(),
        (_, Runs::Script(index)) => {
            let script = &command.args[index];
            let mut found =
                if STDIN.contains(&script.text.as_str()) { fed() } else { from(std::slice::from_ref(script)) };
            found.extend(writers(script, command, all));
            found
        }
        (name, Runs::Inline | Runs::InlineWithModules | Runs::Unknown(_)) if is_interpreter(name) => {
            let mut found = from(&command.args);
            // `-i` and `-l` of a shell do not change its input.
            if command.operands().next().is_none() {
                found.extend(fed());
            }
            found
        }
        _ if command.program.text.contains('/') => writers(&command.program, command, all),
        _ => Vec::new(),
    };
    // The output of a substitution is the program itself: `$(curl …)`.
    found.extend(command.program.from.iter().map(String::as_str));
    unique(found)
}

fn unique<'n>(names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    let mut all: Vec<&str> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// `true` for shells and languages. Programs such as `awk` and `make` run other code.
fn is_interpreter(name: &str) -> bool {
    const LANGUAGES: &[&str] = &[
        "sh",
        "bash",
        "zsh",
        "dash",
        "ksh",
        "mksh",
        "ash",
        "fish",
        "python",
        "pypy",
        "perl",
        "ruby",
        "node",
        "nodejs",
        "php",
        "lua",
        "deno",
        "bun",
        "pwsh",
        "osascript",
        "Rscript",
    ];
    LANGUAGES.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

/// Returns the programs that earlier commands of the call use to write this file.
fn writers<'c>(script: &Expanded, command: &SimpleCommand, all: &'c [SimpleCommand]) -> Vec<&'c str> {
    let place = all.iter().position(|other| std::ptr::eq(other, command)).unwrap_or(all.len());
    let name = |text: &str| text.trim_start_matches("./").to_owned();
    let script = name(&script.text);
    let mut found = Vec::new();
    for earlier in &all[..place] {
        if saved_files(earlier).iter().any(|file| name(file) == script) {
            found.push(earlier.name.as_str());
            found.extend(earlier.fed_by.iter().map(String::as_str));
        }
    }
    found
}

/// Returns the files that a command writes: by redirection, as a download, or behind it in a pipe.
fn saved_files(command: &SimpleCommand) -> Vec<String> {
    let options = Options::new(command);
    let mut files: Vec<String> = command.writes.iter().map(|file| file.text.clone()).collect();
    let last_part = |url: &Expanded| {
        let path = url.text.split(['?', '#']).next().unwrap_or_default();
        path.trim_end_matches('/').rsplit('/').next().map(str::to_owned)
    };
    let outputs = match command.name.as_str() {
        "curl" => {
            if options.has("OJ", &["remote-name", "remote-name-all", "remote-header-name"]) {
                files.extend(command.operands().filter_map(last_part));
            }
            options.values("o", &["output"])
        }
        "wget" | "wget2" => {
            let outputs = options.values("O", &["output-document"]);
            if outputs.is_empty() {
                files.extend(command.operands().filter_map(last_part));
            }
            outputs
        }
        "aria2c" => options.values("o", &["out"]),
        "tee" => command.operands().cloned().collect(),
        _ => Vec::new(),
    };
    files.extend(outputs.into_iter().map(|file| file.text));
    files
}
