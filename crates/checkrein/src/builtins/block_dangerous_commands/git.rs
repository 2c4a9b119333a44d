//! Rules for git.

use super::super::global_options;
use super::super::options::Options;
use super::super::shell::{Expanded, SimpleCommand};

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
