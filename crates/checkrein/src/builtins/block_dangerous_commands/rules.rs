//! The rules of `block_dangerous_commands`, one row each.
//!
//! A rule returns the reason for a command that it matches. The reason names the command and its effect, never a secret:
//! it contains program names, options, paths and branch names only.

use std::fmt;
use std::path::Path;

use checkrein_core::Decision;

use super::super::doubt::Doubt;
use super::super::shell::{Expanded, SimpleCommand};
use super::super::text;
use super::delete::{chmod_root, deletes, deletes_recursively, find_deletes, unknown_target};
use super::disk::{changes_accounts, formats_disk, moves_to_null, writes_device};
use super::download::runs_download;
use super::git::{Push, force_push, git_discards, push, pushes};
use super::system::{kills_all, removes_crontab, shuts_down, starts_itself, unknown_program};
use super::target::Target;

/// The call that a command is part of.
pub(super) struct Context<'a> {
    pub(super) home: Option<&'a str>,
    pub(super) cwd: &'a Path,
    /// All commands of the call, in order.
    pub(super) commands: &'a [SimpleCommand],
    pub(super) doubt: Doubt<'a>,
}

/// One rule of `block_dangerous_commands`.
#[non_exhaustive]
pub struct Rule {
    /// Name of the rule in arguments.
    pub name: &'static str,
    /// Default decision. [`Decision::NoOpinion`]: the rule is off unless an argument selects it.
    pub decision: Decision,
    /// Effect of the commands that the rule matches, for the documentation.
    pub why: &'static str,
    /// Returns the reason if the rule matches the command.
    pub(super) reason: fn(&SimpleCommand, &Context<'_>) -> Option<Reason>,
}

/// Reason why a rule matches a command.
pub(super) struct Reason {
    pub(super) text: String,
    /// `false` if the match depends on a part of the command that only a running shell knows. The rule then asks at most.
    pub(super) is_certain: bool,
}

impl From<String> for Reason {
    fn from(text: String) -> Self {
        Self { text, is_certain: true }
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule").field("name", &self.name).field("decision", &self.decision).finish_non_exhaustive()
    }
}

/// Name of the rule for commands that cannot be parsed.
pub(super) const UNREADABLE: &str = "unreadable";

macro_rules! rules {
    ($( $name:ident $decision:ident $why:literal, $reason:expr; )+) => {
        /// All rules with their default decisions.
        pub const RULES: &[Rule] = &[$( Rule {
            name: stringify!($name),
            decision: Decision::$decision,
            why: $why,
            reason: |command, context| {
                let reason: fn(&SimpleCommand, &Context<'_>) -> Option<_> = $reason;
                reason(command, context).map(Reason::from)
            },
        }, )+];
    };
}

rules! {
    rm_root Deny "deletes the root, a system directory, the home directory, or a directory above the working directory",
        |command, context| deletes(command, context, |target| target <= Target::Above);
    rm_here Ask "deletes the working directory, or everything in it",
        |command, context| deletes(command, context, |target| target == Target::WorkingDirectory);
    rm_unset_variable Ask "deletes everything below a variable; if the variable is empty, that is the root",
        |command, context| deletes(command, context, |target| target == Target::MaybeRoot);
    find_delete Ask "deletes what `find` finds in a system directory, the home directory or above the working directory",
        find_deletes;
    chmod_root Deny "recursively changes owners or permissions of a system directory, or makes the home directory open to all users or unusable for its owner",
        chmod_root;
    write_device Deny "writes directly to a disk or to memory",
        |command, _| writes_device(command);
    format_disk Deny "formats or erases a disk",
        |command, _| formats_disk(command);
    overwrite_accounts Deny "changes the system's accounts or the permission to act as root",
        |command, _| changes_accounts(command);
    mv_to_null Deny "moves files to /dev/null, which destroys them",
        |command, _| moves_to_null(command);
    fork_bomb Deny "starts copies of itself without end",
        |command, _| starts_itself(command);
    pipe_to_shell Deny "runs downloaded or decoded text that has not been reviewed",
        runs_download;
    kill_all Deny "kills every process that it may signal",
        |command, _| kills_all(command);
    shutdown Deny "shuts down or restarts the machine",
        |command, _| shuts_down(command);
    git_force_push_main Deny "force-pushes or deletes the main branch of the remote repository, or all its branches",
        |command, _| match push(command)? {
            Push::Main(reason) => Some(reason),
            Push::Unclear(_) => None,
        };
    git_force_push Ask "force-pushes a branch that it does not name, or the main branch with a lease",
        |command, _| match push(command)? {
            Push::Main(_) => None,
            Push::Unclear(reason) => Some(reason),
        };
    rm_recursive NoOpinion "deletes directories with their contents, such as every `rm -rf`",
        deletes_recursively;
    git_force_push_any NoOpinion "force-pushes any branch, also with a lease",
        |command, _| force_push(command);
    git_push NoOpinion "pushes to a remote repository",
        |command, _| pushes(command);
    git_discard Ask "discards uncommitted changes, untracked files or stashes",
        |command, _| git_discards(command);
    crontab_remove Ask "deletes all scheduled jobs of the user",
        |command, _| removes_crontab(command);
    unknown_target Ask "deletes or overwrites a place that only the running shell knows, and it may be an important one",
        unknown_target;
    unknown_program Ask "runs a program whose name only the running shell knows",
        unknown_program;
    unreadable Ask "cannot be parsed as a shell command",
        |_, _| None::<String>;
}

/// Longest command in a reason, in bytes.
const LONGEST: usize = 120;

/// A command for a reason: the program, its options and the operands that matter.
pub(super) fn quoted(command: &SimpleCommand, operands: &[&str]) -> String {
    let options = command.args.iter().map(|arg| arg.text.as_str()).take_while(|arg| *arg != "--");
    let options = options.filter(|arg| arg.starts_with('-') && arg.len() > 1);
    let words: Vec<&str> = [command.name.as_str()].into_iter().chain(options).chain(operands.iter().copied()).collect();
    let line = words.join(" ").replace(char::is_control, " ");
    let shown = text::head(&line, LONGEST);
    let more = if shown.len() < line.len() { "…" } else { "" };
    format!("`{shown}{more}`")
}

/// The path with the home directory as `~`.
pub(super) fn with_tilde(path: &Expanded, home: Option<&str>) -> String {
    match home.and_then(|home| path.text.strip_prefix(home)) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
        _ => path.text.clone(),
    }
}
