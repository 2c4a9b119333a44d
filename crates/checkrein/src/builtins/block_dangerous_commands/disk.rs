//! Rules for disks, devices and the system's accounts.

use super::super::options::Options;
use super::super::shell::SimpleCommand;

pub(super) fn is_device(path: &str) -> bool {
    const DISKS: &[&str] = &[
        "sd", "hd", "nvme", "vd", "xvd", "mmcblk", "disk", "rdisk", "mapper/", "md", "dm-", "nbd", "mem", "kmem",
        "port",
    ];
    path.strip_prefix("/dev/").is_some_and(|name| DISKS.iter().any(|disk| name.starts_with(disk)))
}

pub(super) fn is_accounts(path: &str) -> bool {
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

pub(super) fn writes_device(command: &SimpleCommand) -> Option<String> {
    let device = written(command).find(|path| is_device(path))?;
    Some(format!("{} writes directly to the device `{device}`", writer(command)))
}

pub(super) fn changes_accounts(command: &SimpleCommand) -> Option<String> {
    let path = written(command).find(|path| is_accounts(path))?;
    let role = if is_sudoers(path) { "grants root access" } else { "defines the system's accounts" };
    Some(format!("{} changes `{path}`, which {role}", writer(command)))
}

pub(super) fn moves_to_null(command: &SimpleCommand) -> Option<String> {
    let is_null = command.name == "mv" && command.operands().last().is_some_and(|to| to.text == "/dev/null");
    if is_null { Some("`mv` moves files to `/dev/null`, which destroys them".to_owned()) } else { None }
}

/// `true` if the command only shows what is on a disk.
fn only_reads(command: &SimpleCommand) -> bool {
    let options = Options::new(command);
    match command.name.as_str() {
        "wipefs" => !options.has("ao", &["all", "offset"]) || options.has("n", &["no-act"]),
        "hdparm" => !command.args.iter().any(|arg| {
            const WRITES: &[&str] = &[
                "--security-",
                "--trim-",
                "--write-sector",
                "--make-bad-sector",
                "--repair-sector",
                "--fwdownload",
                "--dco-restore",
                "--sanitize-",
                "--yes-i-know-what-i-am-doing",
                "--please-destroy-my-drive",
            ];
            WRITES.iter().any(|start| arg.text.starts_with(start))
        }),
        "sgdisk" => {
            const READS: &[&str] = &[
                "print",
                "info",
                "verify",
                "backup",
                "pretend",
                "list-types",
                "first-aligned-in-largest",
                "end-of-largest",
                "first-in-largest",
                "display-alignment",
                "help",
                "version",
            ];
            let reads = |arg: &str| match arg.strip_prefix("--") {
                Some(name) => READS.contains(&name.split('=').next().unwrap_or_default()),
                None => {
                    arg.strip_prefix('-').is_some_and(|letters| letters.starts_with(|c| "pivbPLfFEDhV".contains(c)))
                }
            };
            let mut options = command.args.iter().map(|arg| arg.text.as_str()).filter(|arg| arg.starts_with('-'));
            options.all(reads)
        }
        "mke2fs" | "mkfs.ext2" | "mkfs.ext3" | "mkfs.ext4" => options.has("n", &[]),
        _ => false,
    }
}

pub(super) fn formats_disk(command: &SimpleCommand) -> Option<String> {
    let name = command.name.as_str();
    let formats = name == "mkfs" || name.starts_with("mkfs.") || name.starts_with("newfs");
    let wipes = matches!(name, "mke2fs" | "mkswap" | "wipefs" | "blkdiscard" | "sgdisk" | "hdparm");
    if name == "diskutil" && command.args.iter().any(|arg| arg.text.to_ascii_lowercase().starts_with("erase")) {
        return Some("`diskutil` erases a disk".to_owned());
    }
    if !formats && !wipes || only_reads(command) {
        return None;
    }
    // An image file is harmless, but a variable may hold the path of a disk.
    let disk = command.operands().find(|operand| is_device(&operand.text) || (formats && !operand.known))?;
    Some(format!("`{name}` formats or erases `{}`", disk.text))
}
