//! Finds the files that a command line writes, moves or removes, for known programs.

use super::AffectedPath;
use crate::builtins::shell::{Expanded, SimpleCommand};

/// The operands that a program changes.
enum Changes {
    All,
    /// All but the first, which is a mode, an owner or a subcommand.
    Rest,
    /// The last one, or files inside of it.
    Destination,
}

fn changes(command: &SimpleCommand) -> Option<Changes> {
    Some(match command.name.as_str() {
        "rm" | "unlink" | "rmdir" | "shred" | "tee" | "touch" | "mv" | "truncate" | "srm" | "trash" | "patch"
        | "mkfifo" => Changes::All,
        // `-x` is a mode that looks like an option.
        "chmod" | "chattr" if command.args.iter().any(removes_mode) => Changes::All,
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" => Changes::Rest,
        "cp" | "install" | "ln" | "rsync" | "scp" => Changes::Destination,
        "sed" | "gsed" if command.has_option("i", &["in-place"]) => Changes::All,
        "perl" | "ruby" if command.args.iter().any(edits_in_place) => Changes::All,
        "find" if command.args.iter().any(|arg| arg.text == "-delete") => Changes::All,
        "git" => return git_changes(command),
        _ => return None,
    })
}

fn removes_mode(arg: &Expanded) -> bool {
    arg.text.strip_prefix('-').is_some_and(|mode| mode.starts_with(|c| "rwxXstugoai".contains(c)))
}

fn edits_in_place(arg: &Expanded) -> bool {
    let letters = arg.text.strip_prefix('-').unwrap_or_default();
    !letters.starts_with(['M', 'I', '-', 'e']) && letters.contains('i')
}

fn git_changes(command: &SimpleCommand) -> Option<Changes> {
    let first = command.operands().next()?;
    matches!(first.text.as_str(), "rm" | "mv" | "checkout" | "restore").then_some(Changes::Rest)
}

/// Returns the paths that a command writes, moves or removes. Paths with unknown parts are omitted.
pub(super) fn in_command(command: &SimpleCommand) -> Vec<AffectedPath> {
    let mut paths: Vec<Expanded> = command.writes.clone();
    let operands: Vec<Expanded> = command.operands().cloned().collect();
    match changes(command) {
        Some(Changes::All) => paths.extend(operands),
        Some(Changes::Rest) => paths.extend(operands.into_iter().skip(1)),
        Some(Changes::Destination) => paths.extend(destinations(command, &operands)),
        None => {}
    }
    paths.extend(outputs(command));
    // Removing or moving a directory affects everything in it.
    let whole_tree = match command.name.as_str() {
        "rm" => command.has_option("rR", &["recursive"]),
        "mv" | "trash" | "srm" | "find" => true,
        "chmod" | "chown" | "chgrp" => command.has_option("R", &["recursive"]),
        _ => false,
    };
    let affected = |path| AffectedPath { path, cwds: command.cwds.to_vec(), whole_tree };
    paths.into_iter().filter(|path| path.known).map(affected).collect()
}

/// Returns the destination of a copy. A file that is copied into a directory keeps its name.
fn destinations(command: &SimpleCommand, operands: &[Expanded]) -> Vec<Expanded> {
    let option = option_value(command, &["-t", "--target-directory"]);
    let (to, from) = match (&option, operands.split_last()) {
        (Some(to), _) => (to, operands),
        (None, Some((to, from))) if !from.is_empty() => (to, from),
        _ => return Vec::new(),
    };
    let is_directory =
        option.is_some() || to.text.ends_with('/') || command.cwds.iter().any(|cwd| cwd.join(&to.text).is_dir());
    let copied = if is_directory { from } else { &[] };
    let within = copied.iter().filter_map(|from| {
        let name = from.text.trim_end_matches('/').rsplit('/').next()?;
        Some(Expanded { text: format!("{}/{name}", to.text.trim_end_matches('/')), ..from.clone() })
    });
    within.chain([to.clone()]).collect()
}

/// Returns the files that options name.
fn outputs(command: &SimpleCommand) -> Vec<Expanded> {
    match command.name.as_str() {
        "dd" => command.args.iter().filter_map(|arg| part(arg, arg.text.strip_prefix("of=")?)).collect(),
        "curl" => option_value(command, &["-o", "--output"]).into_iter().collect(),
        "wget" => option_value(command, &["-O", "--output-document"]).into_iter().collect(),
        "sort" => option_value(command, &["-o", "--output"]).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn option_value(command: &SimpleCommand, names: &[&str]) -> Option<Expanded> {
    for (index, arg) in command.args.iter().enumerate() {
        if names.contains(&arg.text.as_str()) {
            return command.args.get(index + 1).cloned();
        }
        let long = names.iter().filter(|name| name.starts_with("--"));
        if let Some(value) = long.filter_map(|name| arg.text.strip_prefix(name)?.strip_prefix('=')).next() {
            return part(arg, value);
        }
    }
    None
}

fn part(arg: &Expanded, text: &str) -> Option<Expanded> {
    Some(Expanded { text: text.to_owned(), ..arg.clone() })
}
