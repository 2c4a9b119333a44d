//! The rules of `block_dangerous_commands`: names for rules of packs, one row each.

use checkrein_core::Decision;

/// One rule of `block_dangerous_commands`.
#[derive(Debug)]
#[non_exhaustive]
pub struct Rule {
    /// Name of the rule in arguments.
    pub name: &'static str,
    /// Default decision. [`Decision::NoOpinion`]: the rule is off unless an argument selects it.
    pub decision: Decision,
    /// Effect of the commands that the rule matches, for the documentation.
    pub why: &'static str,
    /// Rules of packs. The rule matches if the condition of one of them holds.
    pub packs: &'static [&'static str],
    /// Rules of packs. The rule asks if the condition of one of them depends on a part that only a running shell knows.
    pub unknown: &'static [&'static str],
}

/// Name of the rule for commands that cannot be parsed.
pub(super) const UNREADABLE: &str = "unreadable";

/// Name of the rule for programs that only a running shell knows.
pub(super) const UNKNOWN_PROGRAM: &str = "unknown_program";

macro_rules! rules {
    ($( $name:ident $decision:ident $why:literal [$($pack:literal),*] unknown [$($unknown:literal),*]; )+) => {
        /// All rules with their default decisions.
        pub const RULES: &[Rule] = &[$( Rule {
            name: stringify!($name),
            decision: Decision::$decision,
            why: $why,
            packs: &[$($pack),*],
            unknown: &[$($unknown),*],
        }, )+];
    };
}

rules! {
    rm_root Deny "deletes the root, a system directory, the home directory, or a directory above the working directory"
        ["filesystem.delete-system", "filesystem.delete-matching-root", "filesystem.delete-above"] unknown [];
    rm_here Ask "deletes the working directory, or everything in it"
        ["filesystem.delete-here"] unknown [];
    rm_unset_variable Ask "deletes everything below a variable; if the variable is empty, that is the root"
        ["filesystem.delete-unset"] unknown [];
    find_delete Ask "deletes what `find` finds in a system directory, the home directory or above the working directory"
        ["filesystem.find-delete", "filesystem.find-delete-all"] unknown [];
    chmod_root Deny "recursively changes owners or permissions of a system directory, or makes the home directory open to all users or unusable for its owner"
        ["filesystem.permissions", "filesystem.permissions-home"] unknown [];
    write_device Deny "writes directly to a disk or to memory"
        ["filesystem.write-device", "filesystem.dd-unknown"] unknown [];
    format_disk Deny "formats or erases a disk"
        ["filesystem.format-disk", "filesystem.erase-disk"] unknown ["filesystem.format-disk"];
    overwrite_accounts Deny "changes the system's accounts or the permission to act as root"
        ["filesystem.accounts"] unknown [];
    mv_to_null Deny "moves files to /dev/null, which destroys them"
        ["filesystem.move-away"] unknown [];
    fork_bomb Deny "starts copies of itself without end"
        ["filesystem.fork-bomb"] unknown [];
    pipe_to_shell Deny "runs downloaded or decoded text that has not been reviewed"
        ["packages.pipe-to-shell", "packages.run-download"] unknown [];
    kill_all Deny "kills all processes of a user or of the machine"
        ["filesystem.kill-all"] unknown [];
    shutdown Deny "shuts down or restarts the machine"
        ["filesystem.shutdown"] unknown [];
    git_force_push_main Deny "force-pushes or deletes the main branch of the remote repository, or all its branches"
        ["git.force-push", "git.delete-remote"] unknown [];
    rm_recursive NoOpinion "deletes directories with their contents, such as every `rm -rf`"
        ["filesystem.delete-tree"] unknown ["filesystem.delete-tree"];
    git_force_push_any NoOpinion "force-pushes any branch, also with a lease"
        ["git.force-push-any"] unknown ["git.force-push-any"];
    git_push NoOpinion "pushes to a remote repository"
        ["git.push-any"] unknown ["git.push-any"];
    git_force_push Ask "force-pushes a branch that it does not name, or the main branch with a lease"
        ["git.force-push-lease", "git.force-push-unnamed"] unknown ["git.force-push", "git.force-push-lease"];
    git_discard Ask "discards uncommitted changes, untracked files or stashes"
        ["git.reset-hard", "git.clean", "git.discard", "git.stash-drop"] unknown [];
    crontab_remove Ask "deletes all scheduled jobs of the user"
        ["filesystem.crontab-remove"] unknown [];
    unknown_target Ask "deletes or overwrites a place that only the running shell knows, and it may be an important one"
        ["filesystem.delete-climbing"]
        unknown ["filesystem.delete-system", "filesystem.permissions", "filesystem.dd-unknown", "filesystem.write-device", "filesystem.accounts", "filesystem.find-delete-all"];
    unknown_program Ask "runs a program whose name only the running shell knows" [] unknown [];
    unreadable Ask "cannot be parsed as a shell command" [] unknown [];
}
