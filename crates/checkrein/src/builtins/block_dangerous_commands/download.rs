//! Rule for downloaded and decoded text that runs unread.

use super::super::options::Options;
use super::super::shell::{Expanded, SimpleCommand};
use super::rules::Context;
use crate::trust::interpreters::{Runs, runs};

/// `true` for programs whose output has not been reviewed: downloads and decoded text.
fn is_download(name: &str) -> bool {
    const DOWNLOADS: &[&str] = &[
        "curl",
        "wget",
        "fetch",
        "aria2c",
        "http",
        "https",
        "nc",
        "ncat",
        "base64",
        "base32",
        "xxd",
        "lynx",
        "lwp-request",
        "curlie",
        "xh",
        "wget2",
        "axel",
        "socat",
        "openssl",
        "uudecode",
    ];
    DOWNLOADS.contains(&name)
}

pub(super) fn runs_download(command: &SimpleCommand, context: &Context<'_>) -> Option<String> {
    let fed = || command.fed_by.iter().find(|name| is_download(name));
    let from = |args: &[Expanded]| args.iter().flat_map(|arg| &arg.from).find(|name| is_download(name)).cloned();
    let texts: Vec<&str> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    let source = match (command.name.as_str(), runs(&command.name, &texts)) {
        ("eval", _) => from(&command.args),
        (_, Runs::Input) => fed().cloned(),
        (_, Runs::Script(index)) => {
            let script = &command.args[index];
            let reads_input = matches!(script.text.as_str(), "-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0");
            let unread = if reads_input { fed().cloned() } else { from(std::slice::from_ref(script)) };
            unread.or_else(|| saved_download(script, command, context))
        }
        (name, Runs::Inline | Runs::InlineWithModules | Runs::Unknown(_)) if is_interpreter(name) => {
            from(&command.args)
                // `-i` and `-l` of a shell do not change its input.
                .or_else(|| if command.operands().next().is_none() { fed().cloned() } else { None })
        }
        _ if command.program.text.contains('/') => saved_download(&command.program, command, context),
        _ => None,
    }?;
    let program = &command.name;
    Some(format!("`{program}` runs the output of `{source}` unread; save it to a file and review it first"))
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

/// Returns the download that an earlier command of the call has saved to this file.
fn saved_download(script: &Expanded, command: &SimpleCommand, context: &Context<'_>) -> Option<String> {
    let place =
        context.commands.iter().position(|other| std::ptr::eq(other, command)).unwrap_or(context.commands.len());
    let name = |text: &str| text.trim_start_matches("./").to_owned();
    let script = name(&script.text);
    context.commands[..place].iter().find_map(|earlier| {
        let is_saved = saved_files(earlier).iter().any(|file| name(file) == script);
        let fed = earlier.fed_by.iter().find(|name| is_download(name));
        if !is_saved {
            None
        } else if is_download(&earlier.name) {
            Some(earlier.name.clone())
        } else {
            fed.cloned()
        }
    })
}

/// Returns the files to which a download, or a program behind it in a pipe, writes.
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
