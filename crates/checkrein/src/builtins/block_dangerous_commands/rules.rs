//! The rules of `block_dangerous_commands`, one row each.
//!
//! A rule returns the reason for a command that it matches. The reason names the command and its effect, never a secret:
//! it contains program names, options, paths and branch names only.

use std::fmt;
use std::path::Path;

use checkrein_core::Decision;

use super::super::shell::{Expanded, SimpleCommand};
use super::super::text;
use super::target::{PathOperand, Target};

/// One rule of `block_dangerous_commands`.
#[non_exhaustive]
pub struct Rule {
    /// Name of the rule in arguments.
    pub name: &'static str,
    /// Default decision.
    pub decision: Decision,
    /// Effect of the commands that the rule matches, for the documentation.
    pub why: &'static str,
    /// Returns the reason if the rule matches the command.
    pub(super) reason: fn(&SimpleCommand, Option<&str>, &Path) -> Option<String>,
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
            reason: $reason,
        }, )+];
    };
}

rules! {
    rm_root Deny "deletes the root, a system directory, the home directory, or a directory above the working directory",
        |command, home, cwd| deletes(command, home, cwd, |target| target <= Target::Above);
    rm_here Ask "deletes the working directory, or everything in it",
        |command, home, cwd| deletes(command, home, cwd, |target| target == Target::WorkingDirectory);
    rm_unset_variable Ask "deletes everything below a variable; if the variable is empty, that is the root",
        |command, home, cwd| deletes(command, home, cwd, |target| target == Target::MaybeRoot);
    find_delete Ask "deletes what `find` finds in a system directory, the home directory or above the working directory",
        find_deletes;
    chmod_root Deny "recursively changes owners or permissions of a system directory, or opens the home directory to all users",
        chmod_root;
    write_device Deny "writes directly to a disk or to memory",
        |command, _, _| writes_device(command);
    format_disk Deny "formats or erases a disk",
        |command, _, _| formats_disk(command);
    overwrite_accounts Deny "changes the system's accounts or the permission to act as root",
        |command, _, _| changes_accounts(command);
    mv_to_null Deny "moves files to /dev/null, which destroys them",
        |command, _, _| moves_to_null(command);
    fork_bomb Deny "starts copies of itself without end",
        |command, _, _| starts_itself(command);
    pipe_to_shell Deny "runs downloaded or decoded text that has not been reviewed",
        |command, _, _| runs_download(command);
    kill_all Deny "kills every process that it may signal",
        |command, _, _| kills_all(command);
    shutdown Deny "shuts down or restarts the machine",
        |command, _, _| shuts_down(command);
    git_force_push_main Deny "force-pushes or deletes the main branch of the remote repository, or all its branches",
        |command, _, _| match push(command)? {
            Push::Main(reason) => Some(reason),
            Push::Unclear(_) => None,
        };
    git_force_push Ask "force-pushes a branch that it does not name, or the main branch with a lease",
        |command, _, _| match push(command)? {
            Push::Main(_) => None,
            Push::Unclear(reason) => Some(reason),
        };
    git_discard Ask "discards uncommitted changes, untracked files or stashes",
        |command, _, _| git_discards(command);
    crontab_remove Ask "deletes all scheduled jobs of the user",
        |command, _, _| removes_crontab(command);
    unreadable Ask "cannot be parsed as a shell command",
        |_, _, _| None;
}

/// Longest command in a reason, in bytes.
const LONGEST: usize = 120;

/// A command for a reason: the program, its options and the operands that matter.
fn quoted(command: &SimpleCommand, operands: &[&str]) -> String {
    let options = command.args.iter().map(|arg| arg.text.as_str()).take_while(|arg| *arg != "--");
    let options = options.filter(|arg| arg.starts_with('-') && arg.len() > 1);
    let words: Vec<&str> = [command.name.as_str()].into_iter().chain(options).chain(operands.iter().copied()).collect();
    let line = words.join(" ").replace(char::is_control, " ");
    let shown = text::head(&line, LONGEST);
    let more = if shown.len() < line.len() { "…" } else { "" };
    format!("`{shown}{more}`")
}

/// The path with the home directory as `~`.
fn with_tilde(path: &Expanded, home: Option<&str>) -> String {
    match home.and_then(|home| path.text.strip_prefix(home)) {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("~{rest}"),
        _ => path.text.clone(),
    }
}

/// Returns the first operand whose target matches, with its classification.
fn find_target<'a>(
    command: &'a SimpleCommand,
    home: Option<&str>,
    cwd: &Path,
    matches: impl Fn(Target) -> bool,
) -> Option<(&'a Expanded, PathOperand)> {
    let classify = |operand: &'a Expanded| (operand, PathOperand::new(operand, command, home, cwd));
    command.operands().map(classify).find(|(_, path)| matches(path.target))
}

fn deletes(
    command: &SimpleCommand,
    home: Option<&str>,
    cwd: &Path,
    matches: impl Fn(Target) -> bool,
) -> Option<String> {
    if !deletes_directories(command) {
        return None;
    }
    let (operand, path) = find_target(command, home, cwd, matches)?;
    Some(format!("{} deletes {}", quoted(command, &[&with_tilde(operand, home)]), path.description))
}

/// `true` for programs and options that delete directories. Others cannot delete much.
fn deletes_directories(command: &SimpleCommand) -> bool {
    match command.name.as_str() {
        "rm" => command.has_option("rR", &["recursive", "no-preserve-root"]),
        "srm" | "trash" | "rimraf" => true,
        _ => false,
    }
}

fn find_deletes(command: &SimpleCommand, home: Option<&str>, cwd: &Path) -> Option<String> {
    const DELETES: &[&str] = &["rm", "shred", "unlink"];
    let words: Vec<_> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    let runs = |pair: &[&str]| pair[0].starts_with("-exec") && DELETES.contains(&pair[1]);
    if command.name != "find" || !(words.contains(&"-delete") || words.windows(2).any(runs)) {
        return None;
    }
    let (operand, path) = find_target(command, home, cwd, |target| target <= Target::Above)?;
    Some(format!("`find {}` deletes files in {}", with_tilde(operand, home), path.description))
}

fn chmod_root(command: &SimpleCommand, home: Option<&str>, cwd: &Path) -> Option<String> {
    if !matches!(command.name.as_str(), "chmod" | "chown" | "chgrp") || !command.has_option("R", &["recursive"]) {
        return None;
    }
    let first = command.operands().next().map_or("", |first| first.text.as_str());
    let opens = command.name == "chmod"
        && matches!(first.trim_start_matches('0'), "777" | "666" | "a+rwx" | "a+w" | "o+w" | "ugo+rwx");
    let worst = if opens { Target::Above } else { Target::System };
    let (operand, path) = find_target(command, home, cwd, |target| target <= worst)?;
    let changed = match command.name.as_str() {
        "chmod" => "permissions",
        "chown" => "owners",
        _ => "groups",
    };
    let shown = quoted(command, &[first, &with_tilde(operand, home)]);
    Some(format!("{shown} changes the {changed} of {}", path.description))
}

fn is_device(path: &str) -> bool {
    const DISKS: &[&str] = &[
        "sd", "hd", "nvme", "vd", "xvd", "mmcblk", "disk", "rdisk", "mapper/", "md", "dm-", "nbd", "mem", "kmem",
        "port",
    ];
    path.strip_prefix("/dev/").is_some_and(|name| DISKS.iter().any(|disk| name.starts_with(disk)))
}

fn is_accounts(path: &str) -> bool {
    matches!(path, "/etc/passwd" | "/etc/shadow" | "/etc/group") || is_sudoers(path)
}

fn is_sudoers(path: &str) -> bool {
    path == "/etc/sudoers" || path.starts_with("/etc/sudoers.d/")
}

/// The files that a command writes, as far as their paths are literal.
fn written(command: &SimpleCommand) -> impl Iterator<Item = &str> {
    let all = matches!(command.name.as_str(), "tee" | "shred" | "truncate");
    let last = matches!(command.name.as_str(), "cp" | "mv" | "install");
    let operands: Vec<_> = command.operands().collect();
    let first = if all {
        0
    } else if last {
        operands.len().saturating_sub(1)
    } else {
        operands.len()
    };
    let dd_args = if command.name == "dd" { command.args.as_slice() } else { &[] };
    let output = dd_args.iter().filter_map(|arg| arg.text.strip_prefix("of="));
    let named = operands.into_iter().skip(first);
    command.writes.iter().chain(named).map(|value| value.text.as_str()).chain(output)
}

/// The program for a reason about a file that it writes. A redirection needs no program.
fn writer(command: &SimpleCommand) -> String {
    if command.name.is_empty() { "a redirection".to_owned() } else { format!("`{}`", command.name) }
}

fn writes_device(command: &SimpleCommand) -> Option<String> {
    let device = written(command).find(|path| is_device(path))?;
    Some(format!("{} writes directly to the device `{device}`", writer(command)))
}

fn changes_accounts(command: &SimpleCommand) -> Option<String> {
    let path = written(command).find(|path| is_accounts(path))?;
    let role = if is_sudoers(path) { "grants root access" } else { "defines the system's accounts" };
    Some(format!("{} changes `{path}`, which {role}", writer(command)))
}

fn moves_to_null(command: &SimpleCommand) -> Option<String> {
    let is_null = command.name == "mv" && command.operands().last().is_some_and(|to| to.text == "/dev/null");
    if is_null { Some("`mv` moves files to `/dev/null`, which destroys them".to_owned()) } else { None }
}

fn starts_itself(command: &SimpleCommand) -> Option<String> {
    if !command.multiplies {
        return None;
    }
    Some(format!("the function `{}` starts copies of itself without end (fork bomb)", command.name))
}

fn formats_disk(command: &SimpleCommand) -> Option<String> {
    let name = command.name.as_str();
    let formats = name == "mkfs" || name.starts_with("mkfs.") || name.starts_with("newfs");
    let wipes = matches!(name, "mke2fs" | "mkswap" | "wipefs" | "blkdiscard" | "sgdisk" | "hdparm");
    if name == "diskutil" && command.args.iter().any(|arg| arg.text.to_ascii_lowercase().starts_with("erase")) {
        return Some("`diskutil` erases a disk".to_owned());
    }
    if !formats && !wipes {
        return None;
    }
    // An image file is harmless, but a variable may hold the path of a disk.
    let disk = command.operands().find(|operand| is_device(&operand.text) || (formats && !operand.known))?;
    Some(format!("`{name}` formats or erases `{}`", disk.text))
}

/// `true` for programs whose output has not been reviewed: downloads and decoded text.
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

fn runs_download(command: &SimpleCommand) -> Option<String> {
    let fed = command.fed_by.iter().find(|name| is_download(name));
    let given = command.args.iter().flat_map(|arg| &arg.from).find(|name| is_download(name));
    let has_file = command.operands().next().is_some();
    let source = match command.name.as_str() {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "mksh" | "ash" | "fish" => {
            let reads_script = !has_file || command.has_option("s", &[]);
            given.or(if reads_script { fed } else { None })
        }
        "eval" | "source" | "." => given,
        name if ["python", "perl", "ruby", "node", "php", "lua"].iter().any(|language| name.starts_with(language)) => {
            if command.args.iter().all(|arg| arg.text == "-") {
                fed
            } else {
                None
            }
        }
        _ => None,
    }?;
    let program = &command.name;
    Some(format!("`{program}` runs the output of `{source}` unread; save it to a file and review it first"))
}

fn kills_all(command: &SimpleCommand) -> Option<String> {
    let words: Vec<_> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    let kills = command.name == "kill" && words.len() > 1 && words.last() == Some(&"-1");
    if command.name == "killall5" || kills {
        Some(format!("{} kills every process that it may signal", quoted(command, &[])))
    } else {
        None
    }
}

fn shuts_down(command: &SimpleCommand) -> Option<String> {
    let first = command.operands().next().map_or("", |operand| operand.text.as_str());
    let shown = match command.name.as_str() {
        "shutdown" if !command.has_option("c", &["help", "show"]) => command.name.clone(),
        "reboot" | "halt" | "poweroff" if !command.has_option("", &["help"]) => command.name.clone(),
        name @ ("init" | "telinit") if matches!(first, "0" | "6") => format!("{name} {first}"),
        name @ ("systemctl" | "loginctl")
            if matches!(first, "poweroff" | "reboot" | "halt" | "kexec" | "soft-reboot") =>
        {
            format!("{name} {first}")
        }
        _ => return None,
    };
    Some(format!("`{shown}` shuts down or restarts the machine"))
}

fn removes_crontab(command: &SimpleCommand) -> Option<String> {
    let removes = command.name == "crontab" && command.has_option("r", &["remove"]);
    if removes { Some("`crontab -r` deletes all scheduled jobs of the user".to_owned()) } else { None }
}

/// Returns the subcommand of git and its arguments as a command.
fn git(command: &SimpleCommand) -> Option<(&str, SimpleCommand)> {
    if command.name != "git" {
        return None;
    }
    let mut index = 0;
    loop {
        match command.args.get(index)?.text.as_str() {
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" => index += 2,
            option if option.starts_with('-') => index += 1,
            name => {
                let args = command.args[index + 1..].to_vec();
                return Some((name, SimpleCommand { args, ..SimpleCommand::default() }));
            }
        }
    }
}

/// A push that overwrites or deletes, with the reason.
enum Push {
    /// The main branch, or all branches.
    Main(String),
    /// Possibly the main branch, or the main branch with a lease.
    Unclear(String),
}

fn push(command: &SimpleCommand) -> Option<Push> {
    let ("push", push) = git(command)? else { return None };
    let lease = push.has_option("", &["force-with-lease"]);
    let force = push.has_option("f", &["force"]);
    let deletes = push.has_option("d", &["delete"]);
    if push.has_option("", &["mirror"]) {
        let reason = "`git push --mirror` overwrites or deletes all branches of the remote repository";
        return Some(Push::Main(reason.to_owned()));
    }
    if force && push.has_option("", &["all", "branches"]) {
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

fn git_discards(command: &SimpleCommand) -> Option<String> {
    const CHANGES: &str = "discards uncommitted changes";
    let (name, rest) = git(command)?;
    let first = rest.operands().next().map_or("", |operand| operand.text.as_str());
    let everything = || rest.operands().any(|operand| matches!(operand.text.as_str(), "." | ":/" | "*" | "./"));
    let (shown, effect) = match name {
        "reset" if rest.has_option("", &["hard"]) => ("reset --hard", CHANGES),
        "clean" if rest.has_option("f", &["force"]) && !rest.has_option("n", &["dry-run"]) => {
            ("clean", "deletes untracked files")
        }
        "checkout" if rest.has_option("f", &["force"]) || everything() => ("checkout", CHANGES),
        "restore" if everything() && (!rest.has_option("S", &["staged"]) || rest.has_option("W", &["worktree"])) => {
            ("restore", CHANGES)
        }
        "stash" if first == "clear" => ("stash clear", "deletes all stashed changes"),
        "stash" if first == "drop" => ("stash drop", "deletes stashed changes"),
        _ => return None,
    };
    Some(format!("`git {shown}` {effect}"))
}
