//! Rules for git.

use super::super::global_options;
use super::super::options::Options;
use super::super::shell::{Expanded, SimpleCommand};
use super::super::text::head;
use super::rules::Reason;

/// Returns the subcommand of git and its arguments.
fn git(command: &SimpleCommand) -> Option<(&str, &[Expanded])> {
    if command.name != "git" {
        return None;
    }
    let index = global_options::subcommand("git", &command.args)?;
    Some((command.args[index].text.as_str(), &command.args[index + 1..]))
}

/// A push that overwrites or deletes, with the reason.
pub(super) enum Push {
    /// The main branch, or all branches.
    Main(String),
    /// Possibly the main branch, or the main branch with a lease.
    Unclear(String),
}

pub(super) fn push(command: &SimpleCommand) -> Option<Push> {
    let ("push", args) = git(command)? else { return None };
    let push = Options::of("git push", args);
    // It only shows what it would do.
    if push.has("n", &["dry-run"]) {
        return None;
    }
    let lease = push.has("", &["force-with-lease"]);
    let force = push.has("f", &["force"]);
    let deletes = push.has("d", &["delete"]);
    if push.has("", &["mirror"]) {
        let reason = "`git push --mirror` overwrites or deletes all branches of the remote repository";
        return Some(Push::Main(reason.to_owned()));
    }
    if force && push.has("", &["all", "branches"]) {
        return Some(Push::Main("`git push` force-pushes all branches".to_owned()));
    }
    let refs: Vec<_> = push.operands().skip(1).map(|operand| operand.text.as_str()).collect();
    let mut unclear = None;
    if force && refs.is_empty() {
        let reason = "`git push` force-pushes the current branch; name the remote and the branch";
        unclear = Some(Push::Unclear(reason.to_owned()));
    }
    for name in refs {
        let forced = force || name.starts_with('+');
        let to = name.trim_start_matches('+').rsplit(':').next().unwrap_or_default();
        let branch = to.strip_prefix("refs/heads/").unwrap_or(to);
        let main = matches!(branch, "main" | "master");
        if main && (deletes || name.starts_with(':')) {
            let reason = format!("`git push` deletes the branch `{branch}` of the remote repository");
            return Some(Push::Main(reason));
        }
        if main && forced {
            return Some(Push::Main(format!("`git push` force-pushes `{branch}`")));
        }
        if main && lease {
            unclear = Some(Push::Unclear(format!("`git push` force-pushes `{branch}` (with lease)")));
        } else if forced && (to == "HEAD" || to.starts_with('$')) {
            let reason = format!("`git push` force-pushes `{to}`, which may be the main branch; name the branch");
            unclear = Some(Push::Unclear(reason));
        }
    }
    unclear
}

/// Returns the reason for every push, except a dry run.
pub(super) fn pushes(command: &SimpleCommand) -> Option<Reason> {
    if let Some(unknown) = unknown_subcommand(command) {
        return Some(unknown);
    }
    let (name, args) = git(command)?;
    let is_push = match name {
        "push" | "send-pack" => true,
        "subtree" | "lfs" => Options::of("git", args).operands().next().is_some_and(|first| first.text == "push"),
        _ => false,
    };
    if !is_push || Options::of("git push", args).has("n", &["dry-run"]) {
        return None;
    }
    Some(format!("{} pushes to a remote repository", quoted(name, args)).into())
}

/// Returns the reason for every push that overwrites a branch, also with a lease.
pub(super) fn force_push(command: &SimpleCommand) -> Option<Reason> {
    if let Some(unknown) = unknown_subcommand(command) {
        return Some(unknown);
    }
    let ("push", args) = git(command)? else { return None };
    let push = Options::of("git push", args);
    if push.has("n", &["dry-run"]) {
        return None;
    }
    let is_forced = push.has("f", &["force", "force-with-lease", "force-if-includes", "mirror"])
        || push.operands().skip(1).any(|operand| operand.text.starts_with('+'));
    let shown = quoted("push", args);
    if is_forced {
        return Some(format!("{shown} is a force push, which overwrites commits of the remote branch").into());
    }
    // `git push origin $BRANCH` is ordinary. `git push $ARGS` may be anything.
    let unknown = push.operands().next().filter(|first| !first.known && first.may_split)?;
    let text = format!("{shown} may be a force push: only the running shell knows `{}`", unknown.text);
    Some(Reason { text, is_certain: false })
}

/// Returns the reason if the subcommand of git is unknown, and so may be `push`.
fn unknown_subcommand(command: &SimpleCommand) -> Option<Reason> {
    if command.name != "git" {
        return None;
    }
    let index = global_options::subcommand("git", &command.args)?;
    let name = command.args.get(index).filter(|name| name.could_be("push") && !name.known)?;
    let word = head(&name.text.replace(char::is_control, " "), 60).to_owned();
    Some(Reason { text: format!("`git {word}` may push: only the running shell knows `{word}`"), is_certain: false })
}

/// A command of git for a reason. URLs and values of options are left out, because they may contain a secret.
fn quoted(name: &str, args: &[Expanded]) -> String {
    let is_public = |word: &&str| !word.contains("://") && !word.contains('@');
    let words = args.iter().map(|arg| arg.text.as_str()).map(|word| match word.split_once('=') {
        Some((option, _)) if option.starts_with('-') => option,
        _ => word,
    });
    let words: Vec<&str> = ["git", name].into_iter().chain(words.filter(is_public)).collect();
    let line = words.join(" ").replace(char::is_control, " ");
    let shown = head(&line, 120);
    format!("`{shown}{}`", if shown.len() < line.len() { "…" } else { "" })
}

pub(super) fn git_discards(command: &SimpleCommand) -> Option<String> {
    const CHANGES: &str = "discards uncommitted changes";
    let (name, args) = git(command)?;
    let rest = Options::of(&format!("git {name}"), args);
    let first = rest.operands().next().map_or("", |operand| operand.text.as_str());
    let everything = || rest.operands().any(|operand| matches!(operand.text.as_str(), "." | ":/" | "*" | "./"));
    let (shown, effect) = match name {
        "reset" if rest.has("", &["hard"]) => ("reset --hard", CHANGES),
        "clean" if rest.has("f", &["force"]) && !rest.has("n", &["dry-run"]) => ("clean", "deletes untracked files"),
        "switch" if rest.has("f", &["force", "discard-changes"]) => ("switch", CHANGES),
        "checkout" if rest.has("f", &["force"]) || everything() => ("checkout", CHANGES),
        "restore" if everything() && (!rest.has("S", &["staged"]) || rest.has("W", &["worktree"])) => {
            ("restore", CHANGES)
        }
        "stash" if first == "clear" => ("stash clear", "deletes all stashed changes"),
        "stash" if first == "drop" => ("stash drop", "deletes stashed changes"),
        _ => return None,
    };
    Some(format!("`git {shown}` {effect}"))
}
