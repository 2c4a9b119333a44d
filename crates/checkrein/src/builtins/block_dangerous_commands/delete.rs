//! Rules for deleting and for changing permissions of whole trees.

use std::path::Path;

use super::super::doubt::is_wholly_unknown;
use super::super::find_command::Find;
use super::super::options::Options;
use super::super::shell::{Expanded, SimpleCommand};
use super::disk::{is_accounts, is_device};
use super::rules::{Context, Reason, quoted, with_tilde};
use super::target::{PathOperand, SYSTEM, Target};

/// Returns the first operand whose target matches, with its classification.
fn find_target<'a>(
    command: &SimpleCommand,
    operands: impl Iterator<Item = &'a Expanded>,
    context: &Context<'_>,
    matches: impl Fn(Target) -> bool,
) -> Option<(&'a Expanded, PathOperand)> {
    let classify = |operand: &'a Expanded| (operand, PathOperand::new(operand, command, context.home, context.cwd));
    operands.map(classify).find(|(_, path)| matches(path.target))
}

pub(super) fn deletes(
    command: &SimpleCommand,
    context: &Context<'_>,
    matches: impl Fn(Target) -> bool,
) -> Option<String> {
    if !deletes_directories(command) {
        return None;
    }
    let (operand, path) = find_target(command, command.operands(), context, matches)?;
    Some(format!("{} deletes {}", quoted(command, &[&with_tilde(operand, context.home)]), path.description))
}

/// `true` for programs and options that delete directories. Others cannot delete much.
fn deletes_directories(command: &SimpleCommand) -> bool {
    match command.name.as_str() {
        "rm" => Options::new(command).has("rR", &["recursive", "no-preserve-root"]),
        "srm" | "trash" | "rimraf" => true,
        _ => false,
    }
}

/// Returns the reason for every command that deletes directories with their contents. `trash` keeps them.
pub(super) fn deletes_recursively(command: &SimpleCommand, context: &Context<'_>) -> Option<Reason> {
    const ADVICE: &str = "delete single files by name, or ask the user to run it";
    if let Some(find) = Find::new(command, context.commands).filter(|find| find.deletes && !find.is_filtered) {
        let roots: Vec<_> = find.roots.iter().map(|root| with_tilde(root, context.home)).collect();
        return Some(format!("`find {}` deletes a directory with its contents; {ADVICE}", roots.join(" ")).into());
    }
    let operands: Vec<_> = command.operands().map(|operand| with_tilde(operand, context.home)).collect();
    let shown = || quoted(command, &operands.iter().map(String::as_str).collect::<Vec<_>>());
    if command.name != "trash" && deletes_directories(command) {
        return Some(format!("{} deletes directories with their contents; {ADVICE}", shown()).into());
    }
    // `rm $FILE` is ordinary, `rm -$X` is not.
    let option = command.args.iter().find(|arg| command.name == "rm" && !arg.known && arg.text.starts_with('-'))?;
    let text = format!("{} may delete directories: only the running shell knows `{}`", shown(), option.text);
    Some(Reason { text, is_certain: false })
}

pub(super) fn find_deletes(command: &SimpleCommand, context: &Context<'_>) -> Option<String> {
    let find = Find::new(command, context.commands).filter(|find| find.deletes)?;
    // A search for names above the working directory is a clean-up.
    let is_clean_up = |root: &&Expanded| find.is_filtered && root.text.starts_with("..");
    let worst = if find.is_filtered { Target::Home } else { Target::Above };
    let (absolute, above): (Vec<_>, Vec<_>) = find.roots.iter().partition(|root| !is_clean_up(root));
    let (operand, path) = find_target(command, absolute.into_iter(), context, |target| target <= worst)
        .or_else(|| find_target(command, above.into_iter(), context, |target| target == Target::System))?;
    Some(format!("`find {}` deletes files in {}", with_tilde(operand, context.home), path.description))
}

pub(super) fn chmod_root(command: &SimpleCommand, context: &Context<'_>) -> Option<String> {
    let name = command.name.as_str();
    if !matches!(name, "chmod" | "chown" | "chgrp") || !Options::new(command).has("R", &["recursive"]) {
        return None;
    }
    // A mode such as `-w` looks like an option.
    let mode = command.args.iter().find(|arg| name == "chmod" && is_mode(&arg.text));
    let first = mode.or_else(|| command.operands().next()).map_or("", |first| first.text.as_str());
    let is_harmful = match name {
        "chmod" => spoils_home(first),
        "chown" => is_other_owner(first, context.home),
        _ => false,
    };
    let worst = if is_harmful { Target::Above } else { Target::System };
    let (operand, path) = find_target(command, command.operands(), context, |target| target <= worst)?;
    let changed = match name {
        "chmod" => "permissions",
        "chown" => "owners",
        _ => "groups",
    };
    let shown = quoted(command, &[first, &with_tilde(operand, context.home)]);
    Some(format!("{shown} changes the {changed} of {}", path.description))
}

fn is_mode(text: &str) -> bool {
    text.len() > 1 && text.starts_with('-') && text[1..].chars().all(|c| "rwxXst".contains(c))
}

/// `true` if a mode opens a home directory to all users, or takes it from its owner.
fn spoils_home(mode: &str) -> bool {
    if let Ok(bits) = u32::from_str_radix(mode, 8) {
        let (owner, others) = (bits >> 6 & 7, bits & 7);
        return owner != 7 || others & 2 != 0;
    }
    mode.split(',').any(|clause| {
        let Some(at) = clause.find(['+', '-', '=']) else { return false };
        let (users, change) = clause.split_at(at);
        let (adds, letters) = (!change.starts_with('-'), &change[1..]);
        let all = users.is_empty() || users.contains('a');
        let opens = adds && letters.contains('w') && (users.contains(['a', 'o']));
        let takes = !adds && (all || users.contains('u')) && letters.contains(['r', 'w', 'x']);
        let sets = change.starts_with('=') && (all || users.contains('u')) && !letters.contains("rw");
        opens || takes || sets
    })
}

/// `true` if the owner is known and is not the user of the home directory.
fn is_other_owner(owner: &str, home: Option<&str>) -> bool {
    let owner = owner.split([':', '.']).next().unwrap_or_default();
    let user = home.and_then(|home| Path::new(home).file_name()?.to_str());
    !owner.is_empty() && !owner.contains('$') && user != Some(owner)
}

/// `true` for programs and options that change a whole tree or a disk.
fn destroys(command: &SimpleCommand) -> bool {
    let is_recursive = || Options::new(command).has("R", &["recursive"]);
    match command.name.as_str() {
        "chmod" | "chown" | "chgrp" => is_recursive(),
        _ => deletes_directories(command),
    }
}

pub(super) fn unknown_target(command: &SimpleCommand, context: &Context<'_>) -> Option<String> {
    let reason = |word: &str| {
        let word = word.replace(char::is_control, " ");
        let word = super::super::text::head(&word, 60);
        let shown = quoted(command, &[word]);
        format!("{shown} changes `{word}`, which only the running shell knows; write the path")
    };
    if let Some(path) = unknown_file(command) {
        return Some(reason(&path.text));
    }
    let find = Find::new(command, context.commands).filter(|find| find.deletes && !find.is_filtered);
    let operands: Vec<&Expanded> = match &find {
        Some(find) => find.roots.iter().collect(),
        // The first operand is a mode or an owner.
        None if destroys(command) => command.operands().skip(usize::from(!deletes_directories(command))).collect(),
        None => return unknown_options(command, context),
    };
    let is_listed = |word: &Expanded| is_input(word, command);
    if let Some(word) = operands.iter().find(|word| !is_listed(word) && could_be_important(word, context)) {
        return Some(reason(&word.text));
    }
    if context.doubt.is_lost(command) {
        let word = operands.iter().find(|word| could_be_important_in_any_directory(word))?;
        let shown = quoted(command, &[&word.text]);
        return Some(format!("{shown} runs in a directory that only the running shell knows; write the path"));
    }
    unknown_input(command, context)
}

/// Returns a file that a program writes if the known part leaves a disk or the accounts possible.
fn unknown_file(command: &SimpleCommand) -> Option<Expanded> {
    const IMPORTANT: &[&str] =
        &["/dev/sda", "/dev/nvme0n1", "/dev/disk0", "/etc/passwd", "/etc/shadow", "/etc/sudoers"];
    let could_be = |word: &Expanded| !word.known && IMPORTANT.iter().any(|path| word.could_be(path));
    let partly = |word: &&Expanded| could_be(word) && !is_wholly_unknown(word) && word.text.starts_with('/');
    let of = command.args.iter().filter(|_| command.name == "dd").filter_map(|arg| {
        let value = arg.text.strip_prefix("of=")?;
        Some(arg.part(arg.text.len() - value.len()..arg.text.len()))
    });
    debug_assert!(is_device(IMPORTANT[0]) && is_accounts(IMPORTANT[3]), "the list follows the rules");
    let writes = match command.name.as_str() {
        "tee" | "shred" | "truncate" => command.operands().collect(),
        "cp" | "mv" | "install" => command.operands().last().into_iter().collect(),
        _ => Vec::new(),
    };
    let named = command.writes.iter().chain(writes).find(partly).cloned();
    named.or_else(|| of.into_iter().find(could_be))
}

/// `true` if an unknown path could be the root, a home, a system directory or a directory above the working directory.
fn could_be_important(word: &Expanded, context: &Context<'_>) -> bool {
    if word.known || context.doubt.is_temporary(word) {
        return false;
    }
    if climbs_to_important(word) {
        return true;
    }
    let above = context.cwd.ancestors().filter_map(Path::to_str);
    let mut important = SYSTEM.iter().copied().chain(context.home).chain(above);
    important.any(|path| word.could_be(path) || (path != "/" && word.could_be(&format!("{path}/"))))
}

/// Names of important directories below the root.
const BELOW_ROOT: &[&str] = &["boot", "dev", "etc", "home", "proc", "root", "sys", "usr", "Users", "System", "Library"];

/// `true` if `..` follows an unknown part, and the path ends there or in the name of an important directory.
fn climbs_to_important(word: &Expanded) -> bool {
    let Some(behind) = word.unknown.last().and_then(|range| word.text.get(range.end..)) else { return false };
    let names: Vec<_> = behind.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    let Some(climb) = names.iter().rposition(|name| *name == "..") else { return false };
    names.get(climb + 1).is_none_or(|name| BELOW_ROOT.contains(name))
}

/// `true` if a relative path is the working directory, above it, or a system directory below the root.
fn could_be_important_in_any_directory(word: &Expanded) -> bool {
    let text = word.text.trim_start_matches("./").trim_end_matches('/');
    let is_all = |text: &str| text.is_empty() || text == "." || (word.glob && text.contains('*') && text.len() <= 2);
    !word.text.starts_with('/') && (is_all(text) || text.starts_with("..") || BELOW_ROOT.contains(&text))
}

/// Returns the reason if `rm` has unknown words that may be options, and a target that it must not delete recursively.
fn unknown_options(command: &SimpleCommand, context: &Context<'_>) -> Option<String> {
    if command.name != "rm" {
        return None;
    }
    let option = command.args.iter().find(|arg| !arg.known && (is_wholly_unknown(arg) || arg.text.starts_with('-')))?;
    let (operand, path) = find_target(command, command.operands(), context, |target| target <= Target::Above)?;
    let shown = quoted(command, &[&option.text, &with_tilde(operand, context.home)]);
    Some(format!("{shown} may delete {}: only the running shell knows `{}`", path.description, option.text))
}

/// `true` if the word stands for the standard input, which `xargs` and similar programs pass on.
fn is_input(word: &Expanded, command: &SimpleCommand) -> bool {
    !word.known && !word.from.is_empty() && word.from == command.fed_by
}

/// Returns the reason if the targets come from a program that does not list files of the project.
fn unknown_input(command: &SimpleCommand, context: &Context<'_>) -> Option<String> {
    const LISTS: &[&str] = &["find", "fd", "fdfind", "git", "ls", "grep", "egrep", "rg", "ag", "echo", "printf", "jq"];
    let feeds = &command.fed_by;
    if !command.operands().any(|word| is_input(word, command)) {
        return None;
    }
    let listed: Vec<_> =
        context.commands.iter().filter(|other| other.name == "ls" && feeds.contains(&other.name)).collect();
    let root =
        listed.iter().find_map(|list| find_target(list, list.operands(), context, |target| target <= Target::Above));
    let shown = quoted(command, &[]);
    if let Some((_, path)) = root {
        return Some(format!("{shown} deletes what `ls` lists in {}", path.description));
    }
    if feeds.iter().any(|name| LISTS.contains(&name.as_str())) {
        return None;
    }
    let source = feeds.first()?;
    Some(format!("{shown} deletes what `{source}` prints, which only the running shell knows; write the paths"))
}
