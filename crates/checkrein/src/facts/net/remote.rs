//! Connections of git: URLs on the command line, and URLs of remotes.

use std::path::{Path, PathBuf};

use super::{Connection, url};
use crate::builtins::global_options;
use crate::builtins::options::Options;
use crate::builtins::shell::{Expanded, SimpleCommand};
use crate::facts::RepositoryState;
use crate::facts::repository;

/// Subcommands that contact a remote.
const CONTACTS: &[&str] =
    &["clone", "fetch", "ls-remote", "pull", "push", "archive", "send-email", "lfs", "svn", "submodule", "remote"];

/// Options of these subcommands with a value in the next word.
const WITH_VALUE: &[&str] = &[
    "-b",
    "--branch",
    "-c",
    "--config",
    "-j",
    "--jobs",
    "-o",
    "--origin",
    "-u",
    "--upload-pack",
    "--depth",
    "--reference",
    "--separate-git-dir",
    "--shallow-since",
    "--shallow-exclude",
    "--server-option",
    "--template",
    "--filter",
    "--bundle-uri",
    "--receive-pack",
    "--exec",
    "--push-option",
    "--repo",
    "-s",
    "--strategy",
    "-X",
    "--strategy-option",
    "--refmap",
    "--negotiation-tip",
    "--sort",
];

/// Returns the connections of a git command.
pub(super) fn in_git(command: &SimpleCommand, given: Option<&RepositoryState>) -> Vec<Connection> {
    let Some(index) = global_options::subcommand("git", &command.args) else { return Vec::new() };
    let (name, args) = (command.args[index].text.as_str(), &command.args[index + 1..]);
    if !CONTACTS.contains(&name) {
        return Vec::new();
    }
    let is_push = name == "push";
    let operands = operands(args, is_push);
    let remote = match name {
        "clone" => operands.first().map(Remote::Word),
        "fetch" | "pull" | "push" | "ls-remote" => {
            Some(match Options::of(&format!("git {name}"), args).values("", &["repo"]).pop() {
                Some(repository) if operands.is_empty() => Remote::Value(repository),
                _ => operands.first().map_or(Remote::Default, Remote::Word),
            })
        }
        "archive" => Options::new(command).values("", &["remote"]).pop().map(Remote::Value),
        "remote" => match operands.first().map(|word| word.text.as_str()) {
            Some("update" | "prune" | "show") => Some(operands.get(1).map_or(Remote::Default, Remote::Word)),
            _ => None,
        },
        "submodule" if operands.first().is_some_and(|word| word.text == "add") => operands.get(1).map(Remote::Word),
        "submodule" if operands.first().is_some_and(|word| word.text == "update") => Some(Remote::Default),
        "lfs" => match operands.first().map(|word| word.text.as_str()) {
            Some("push" | "pull" | "fetch") => Some(operands.get(1).map_or(Remote::Default, Remote::Word)),
            _ => None,
        },
        _ => None,
    };
    let is_push = is_push || name == "lfs" && operands.first().is_some_and(|word| word.text == "push");
    let Some(remote) = remote else { return Vec::new() };
    let places = global_options::values("git", &command.args, &["-C"]);
    let is_known = command.cwd_known && places.iter().all(|place| place.known);
    let join = |cwd: &PathBuf| places.iter().fold(cwd.clone(), |cwd, place| cwd.join(&place.text));
    let cwd = if is_known { command.cwds.first().map(join) } else { None };
    remote.connection(cwd.as_deref(), is_push, given).into_iter().collect()
}

/// The remote of a command.
enum Remote<'a> {
    /// The remote of the current branch.
    Default,
    Word(&'a Expanded),
    Value(Expanded),
}

impl Remote<'_> {
    fn connection(&self, cwd: Option<&Path>, is_push: bool, given: Option<&RepositoryState>) -> Option<Connection> {
        let remotes = || match given {
            Some(given) => Some(repository::Remotes::from_state(given)),
            None => cwd.and_then(repository::remotes),
        };
        let named = |name: &str| {
            let Some(remotes) = remotes() else { return unknown(name) };
            let name = if name.is_empty() { remotes.default_name() } else { name };
            let text = remotes.url(name, is_push).unwrap_or_default();
            Expanded { text, known: true, ..Expanded::default() }
        };
        let word = match self {
            Self::Default => named(""),
            Self::Word(word) if is_name(word) => named(&word.text),
            Self::Value(word) if is_name(word) => named(&word.text),
            Self::Word(word) => rewritten(word, remotes, is_push),
            Self::Value(word) => rewritten(word, remotes, is_push),
        };
        connection(word, is_push)
    }
}

/// `true` for the name of a remote: neither a URL nor a path.
fn is_name(word: &Expanded) -> bool {
    word.known && !word.text.contains(['/', ':', '\\']) && !word.text.starts_with('.')
}

fn rewritten(word: &Expanded, remotes: impl FnOnce() -> Option<repository::Remotes>, is_push: bool) -> Expanded {
    match remotes() {
        Some(remotes) if word.known => Expanded { text: remotes.rewritten(&word.text, is_push), ..word.clone() },
        _ => word.clone(),
    }
}

/// Returns a remote whose URL is unknown.
fn unknown(name: &str) -> Expanded {
    Expanded::unknown_text(format!("the URL of the remote {name}").trim_end())
}

/// Returns the connection for a URL of git. `None` for a path on this machine.
fn connection(word: Expanded, upload: bool) -> Option<Connection> {
    let program = "git".to_owned();
    let text = word.text.as_str();
    // `ext::` and similar helpers run programs.
    if let Some((helper, _)) = text.split_once("::")
        && !helper.contains(['/', ':', '['])
    {
        let host = Expanded::unknown_text(text);
        return Some(Connection { host, port: None, scheme: helper.to_owned(), upload, url: word, program });
    }
    if !word.known && word.unknown.first().is_some_and(|range| range.start == 0) {
        let host = word.clone();
        return Some(Connection { host, port: None, scheme: String::new(), upload, url: word, program });
    }
    if text.contains("://") {
        let url = url::parse(&word);
        if url.scheme == "file" {
            return None;
        }
        return Some(Connection { host: url.host, port: url.port, scheme: url.scheme, upload, url: word, program });
    }
    if text.is_empty() {
        // The remote is not configured: git fails, or the user's own settings name it.
        let host = Expanded { known: true, ..Expanded::default() };
        return Some(Connection { host, port: None, scheme: String::new(), upload, url: word, program });
    }
    // `user@host:path`. A slash before the colon makes it a path.
    let end = text.find(':').filter(|at| !text[..*at].contains('/'))?;
    let (host, _) = url::host_and_port(&word, 0..end);
    Some(Connection { host, port: None, scheme: "ssh".to_owned(), upload, url: word, program })
}

/// Returns the operands of a subcommand, without values of options.
fn operands(args: &[Expanded], is_push: bool) -> Vec<Expanded> {
    let mut operands = Vec::new();
    let mut index = 0;
    while let Some(arg) = args.get(index) {
        let text = arg.text.as_str();
        if text == "--" {
            operands.extend(args[index + 1..].iter().cloned());
            break;
        }
        let is_option = text.len() > 1 && text.starts_with('-');
        // `-u` of a push has no value.
        let has_value = WITH_VALUE.contains(&text) && !(is_push && text == "-u");
        if !is_option {
            operands.push(arg.clone());
        }
        index += 1 + usize::from(has_value);
    }
    operands
}
