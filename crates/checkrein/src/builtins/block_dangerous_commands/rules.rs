//! The rules, one row each.

use std::fmt;
use std::path::Path;

use checkrein_core::Decision;

use super::super::shell::SimpleCommand;
use super::target::{Target, target};

/// One rule of `block_dangerous_commands`.
#[non_exhaustive]
pub struct Rule {
    /// What arguments call it.
    pub name: &'static str,
    /// What it does if nothing else is said.
    pub decision: Decision,
    /// What it is about, for the model and the user.
    pub why: &'static str,
    pub(super) fits: fn(&SimpleCommand, Option<&str>, &Path) -> bool,
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule").field("name", &self.name).field("decision", &self.decision).finish_non_exhaustive()
    }
}

/// The rule for commands that cannot be read.
pub(super) const UNREADABLE: &str = "unreadable";

macro_rules! rules {
    ($( $name:ident $decision:ident $why:literal, $fits:expr; )+) => {
        /// All rules, with what they do if nothing else is said.
        pub const RULES: &[Rule] = &[$( Rule {
            name: stringify!($name),
            decision: Decision::$decision,
            why: $why,
            fits: $fits,
        }, )+];
    };
}

rules! {
    rm_root Deny "removes the root, a system directory, the home directory, or a directory above the working directory",
        |step, home, cwd| removes(step) && any_target(step, home, cwd, |target| target <= Target::Above);
    rm_here Ask "removes the working directory, or everything in it",
        |step, home, cwd| removes(step) && any_target(step, home, cwd, |target| target == Target::Here);
    rm_unset_variable Ask "removes everything below a variable that may be empty, which is then the root",
        |step, home, cwd| removes(step) && any_target(step, home, cwd, |target| target == Target::MaybeRoot);
    find_delete Ask "deletes what it finds in a system directory, the home directory or above the working directory",
        |step, home, cwd| find_deletes(step) && any_target(step, home, cwd, |target| target <= Target::Above);
    chmod_root Deny "changes owners or permissions of the whole system or of the home directory",
        chmod_root;
    write_device Deny "writes to a disk or to memory directly",
        |step, _, _| writes_device(step);
    format_disk Deny "makes a file system on a disk, or wipes one",
        |step, _, _| formats_disk(step);
    overwrite_accounts Deny "overwrites the system's accounts or who may act as root",
        |step, _, _| written(step).any(is_accounts);
    mv_to_null Deny "moves files to /dev/null, which destroys them",
        |step, _, _| step.name == "mv" && step.operands().last().is_some_and(|to| to.text == "/dev/null");
    fork_bomb Deny "starts itself again and again until the machine stands still",
        |step, _, _| step.multiplies;
    pipe_to_shell Deny "runs what comes from the network, or out of a disguise, without anybody reading it",
        |step, _, _| runs_download(step);
    kill_all Deny "ends every process that it may end",
        |step, _, _| kills_all(step);
    shutdown Deny "shuts down or restarts the machine",
        |step, _, _| shuts_down(step);
    git_force_push_main Deny "overwrites or deletes the main branch of the remote repository",
        |step, _, _| push(step) == Some(Push::Main);
    git_force_push Ask "forces a push to a branch that it does not name, or to the main branch with a lease",
        |step, _, _| push(step) == Some(Push::Unclear);
    git_discard Ask "throws away changes that are not committed",
        |step, _, _| git_discards(step);
    crontab_remove Ask "removes all scheduled jobs of the user",
        |step, _, _| step.name == "crontab" && step.has_option("r", &["remove"]);
    unreadable Ask "cannot be read as a shell would",
        |_, _, _| false;
}

fn any_target(step: &SimpleCommand, home: Option<&str>, cwd: &Path, fits: impl Fn(Target) -> bool) -> bool {
    step.operands().any(|operand| fits(target(operand, step, home, cwd)))
}

/// Only what removes directories can remove much.
fn removes(step: &SimpleCommand) -> bool {
    match step.name.as_str() {
        "rm" => step.has_option("rR", &["recursive", "no-preserve-root"]),
        "srm" | "trash" | "rimraf" => true,
        _ => false,
    }
}

fn find_deletes(step: &SimpleCommand) -> bool {
    const DELETES: &[&str] = &["rm", "shred", "unlink"];
    let words: Vec<_> = step.args.iter().map(|arg| arg.text.as_str()).collect();
    let runs = |pair: &[&str]| pair[0].starts_with("-exec") && DELETES.contains(&pair[1]);
    step.name == "find" && (words.contains(&"-delete") || words.windows(2).any(runs))
}

fn chmod_root(step: &SimpleCommand, home: Option<&str>, cwd: &Path) -> bool {
    if !matches!(step.name.as_str(), "chmod" | "chown" | "chgrp") || !step.has_option("R", &["recursive"]) {
        return false;
    }
    let opens = step.name == "chmod"
        && step.operands().next().is_some_and(|mode| {
            matches!(mode.text.trim_start_matches('0'), "777" | "666" | "a+rwx" | "a+w" | "o+w" | "ugo+rwx")
        });
    let worst = if opens { Target::Above } else { Target::System };
    any_target(step, home, cwd, |target| target <= worst)
}

fn is_device(path: &str) -> bool {
    const DISKS: &[&str] = &[
        "sd", "hd", "nvme", "vd", "xvd", "mmcblk", "disk", "rdisk", "mapper/", "md", "dm-", "nbd", "mem", "kmem",
        "port",
    ];
    path.strip_prefix("/dev/").is_some_and(|name| DISKS.iter().any(|disk| name.starts_with(disk)))
}

fn is_accounts(path: &str) -> bool {
    matches!(path, "/etc/passwd" | "/etc/shadow" | "/etc/sudoers" | "/etc/group") || path.starts_with("/etc/sudoers.d/")
}

/// The files that a step writes to, as far as it names them plainly.
fn written(step: &SimpleCommand) -> impl Iterator<Item = &str> {
    let all = matches!(step.name.as_str(), "tee" | "shred" | "truncate");
    let last = matches!(step.name.as_str(), "cp" | "mv" | "install");
    let operands: Vec<_> = step.operands().collect();
    let from = if all {
        0
    } else if last {
        operands.len().saturating_sub(1)
    } else {
        operands.len()
    };
    let output = step.args.iter().filter(|_| step.name == "dd").filter_map(|arg| arg.text.strip_prefix("of="));
    let named = operands.into_iter().skip(from);
    step.writes.iter().chain(named).map(|value| value.text.as_str()).chain(output)
}

fn writes_device(step: &SimpleCommand) -> bool {
    written(step).any(is_device)
}

fn formats_disk(step: &SimpleCommand) -> bool {
    let name = step.name.as_str();
    let formats = name == "mkfs" || name.starts_with("mkfs.") || name.starts_with("newfs");
    let wipes = matches!(name, "mke2fs" | "mkswap" | "wipefs" | "blkdiscard" | "sgdisk" | "hdparm");
    let erases = name == "diskutil" && step.args.iter().any(|arg| arg.text.to_ascii_lowercase().starts_with("erase"));
    // A file with a disk's image in it is anybody's own; a variable may well be a disk.
    let on_disk = || step.operands().any(|operand| is_device(&operand.text) || (formats && !operand.known));
    erases || ((formats || wipes) && on_disk())
}

/// Where texts come from that nobody has read.
fn is_download(name: &str) -> bool {
    matches!(
        name,
        "curl"
            | "wget"
            | "fetch"
            | "aria2c"
            | "http"
            | "https"
            | "nc"
            | "ncat"
            | "base64"
            | "xxd"
            | "lynx"
            | "lwp-request"
    )
}

fn runs_download(step: &SimpleCommand) -> bool {
    let fed = step.fed_by.iter().any(|name| is_download(name));
    let given = step.args.iter().any(|arg| arg.from.iter().any(|name| is_download(name)));
    let has_file = step.operands().next().is_some();
    match step.name.as_str() {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "mksh" | "ash" | "fish" => {
            given || (fed && (!has_file || step.has_option("s", &[])))
        }
        "eval" | "source" | "." => given,
        name if ["python", "perl", "ruby", "node", "php", "lua"].iter().any(|language| name.starts_with(language)) => {
            fed && step.args.iter().all(|arg| arg.text == "-")
        }
        _ => false,
    }
}

fn kills_all(step: &SimpleCommand) -> bool {
    let words: Vec<_> = step.args.iter().map(|arg| arg.text.as_str()).collect();
    step.name == "killall5" || (step.name == "kill" && words.len() > 1 && words.last() == Some(&"-1"))
}

fn shuts_down(step: &SimpleCommand) -> bool {
    let first = step.operands().next().map_or("", |operand| operand.text.as_str());
    match step.name.as_str() {
        "shutdown" => !step.has_option("c", &["help", "show"]),
        "reboot" | "halt" | "poweroff" => !step.has_option("", &["help"]),
        "init" | "telinit" => matches!(first, "0" | "6"),
        "systemctl" | "loginctl" => matches!(first, "poweroff" | "reboot" | "halt" | "kexec" | "soft-reboot"),
        _ => false,
    }
}

/// The sub-command of git and what stands behind it.
fn git(step: &SimpleCommand) -> Option<(&str, SimpleCommand)> {
    if step.name != "git" {
        return None;
    }
    let mut at = 0;
    loop {
        match step.args.get(at)?.text.as_str() {
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" => at += 2,
            option if option.starts_with('-') => at += 1,
            name => {
                return Some((name, SimpleCommand { args: step.args[at + 1..].to_vec(), ..SimpleCommand::default() }));
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Push {
    Main,
    Unclear,
}

fn push(step: &SimpleCommand) -> Option<Push> {
    let ("push", push) = git(step)? else { return None };
    let lease = push.has_option("", &["force-with-lease"]);
    let force = push.has_option("f", &["force"]);
    let deletes = push.has_option("d", &["delete"]);
    if push.has_option("", &["mirror"]) || (force && push.has_option("", &["all", "branches"])) {
        return Some(Push::Main);
    }
    let refs: Vec<_> = push.operands().skip(1).map(|operand| operand.text.as_str()).collect();
    let mut unclear = (force && refs.is_empty()).then_some(Push::Unclear);
    for name in refs {
        let forced = force || name.starts_with('+');
        let to = name.trim_start_matches('+').rsplit(':').next().unwrap_or_default();
        let main = matches!(to.strip_prefix("refs/heads/").unwrap_or(to), "main" | "master");
        if main && (forced || deletes || name.starts_with(':')) {
            return Some(Push::Main);
        }
        if (main && lease) || (forced && (to == "HEAD" || to.starts_with('$'))) {
            unclear = Some(Push::Unclear);
        }
    }
    unclear
}

fn git_discards(step: &SimpleCommand) -> bool {
    let Some((name, rest)) = git(step) else { return false };
    let first = rest.operands().next().map_or("", |operand| operand.text.as_str());
    let everything = || rest.operands().any(|operand| matches!(operand.text.as_str(), "." | ":/" | "*" | "./"));
    match name {
        "reset" => rest.has_option("", &["hard"]),
        "clean" => rest.has_option("f", &["force"]) && !rest.has_option("n", &["dry-run"]),
        "checkout" => rest.has_option("f", &["force"]) || everything(),
        "restore" => everything() && (!rest.has_option("S", &["staged"]) || rest.has_option("W", &["worktree"])),
        "stash" => matches!(first, "clear" | "drop"),
        _ => false,
    }
}
