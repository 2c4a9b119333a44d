//! Rules for processes, the machine and programs that are not known.

use super::super::options::Options;
use super::super::shell::SimpleCommand;
use super::rules::{Context, quoted};

/// Programs that the rules know. An unknown program that cannot be one of them is harmless to the rules.
const KNOWN: &[&str] = &[
    "rm",
    "srm",
    "trash",
    "rimraf",
    "find",
    "chmod",
    "chown",
    "chgrp",
    "dd",
    "mkfs",
    "mkfs.ext4",
    "mkfs.xfs",
    "mke2fs",
    "mkswap",
    "wipefs",
    "blkdiscard",
    "sgdisk",
    "hdparm",
    "shred",
    "truncate",
    "tee",
    "cp",
    "mv",
    "install",
    "kill",
    "killall5",
    "shutdown",
    "reboot",
    "halt",
    "poweroff",
    "init",
    "telinit",
    "systemctl",
    "loginctl",
    "crontab",
    "git",
    "sh",
    "bash",
    "zsh",
    "dash",
    "ksh",
    "eval",
    "diskutil",
];

pub(super) fn unknown_program(command: &SimpleCommand, context: &Context<'_>) -> Option<String> {
    let word = context.doubt.program(command, KNOWN)?;
    if let Some(printer) = command.program.from.last() {
        let printer = super::super::text::head(&printer.replace(char::is_control, " "), 60).to_owned();
        return Some(format!("only the running shell knows the commands that `{printer}` prints; write them out"));
    }
    let shown = word.replace(char::is_control, " ");
    let shown = super::super::text::head(&shown, 60);
    Some(format!("only the running shell knows the program `{shown}`; write the name of the program"))
}

pub(super) fn starts_itself(command: &SimpleCommand) -> Option<String> {
    if !command.multiplies {
        return None;
    }
    Some(format!("the function `{}` starts copies of itself without end (fork bomb)", command.name))
}

pub(super) fn kills_all(command: &SimpleCommand) -> Option<String> {
    let words: Vec<_> = command.args.iter().map(|arg| arg.text.as_str()).collect();
    let kills = command.name == "kill" && words.len() > 1 && words.last() == Some(&"-1");
    if command.name == "killall5" || kills {
        Some(format!("{} kills every process that it may signal", quoted(command, &[])))
    } else {
        None
    }
}

pub(super) fn shuts_down(command: &SimpleCommand) -> Option<String> {
    let first = command.operands().next().map_or("", |operand| operand.text.as_str());
    let shown = match command.name.as_str() {
        "shutdown" if !Options::new(command).has("c", &["help", "show"]) => command.name.clone(),
        "reboot" | "halt" | "poweroff" if !Options::new(command).has("", &["help"]) => command.name.clone(),
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

pub(super) fn removes_crontab(command: &SimpleCommand) -> Option<String> {
    let removes = command.name == "crontab" && Options::new(command).has("r", &["remove"]);
    if removes { Some("`crontab -r` deletes all scheduled jobs of the user".to_owned()) } else { None }
}
