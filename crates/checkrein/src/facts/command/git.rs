//! Details of git commands.

use std::path::{Path, PathBuf};

use checkrein_expression::{List, Object, Schema, Type, Unknown, Value};

use super::Command;
use super::arguments::Arguments;
use crate::builtins::doubt::is_wholly_unknown;
use crate::builtins::shell::{Expanded, lexical};
use crate::facts::{STRINGS, cached, field, formats, word};

/// Variables with which hooks do not run, and the value. `None`: any value.
const SKIPPING: &[(&str, Option<&str>)] = &[
    ("HUSKY", Some("0")),
    ("HUSKY_SKIP_HOOKS", None),
    ("LEFTHOOK", Some("0")),
    ("SKIP", None),
    ("OVERCOMMIT_DISABLE", None),
    ("PRE_COMMIT_ALLOW_NO_CONFIG", None),
];

static BRANCH: Type = Type::Format(&formats::BRANCH);
const BRANCHES: Type = Type::list(&BRANCH);

pub(super) static GIT: Schema = Schema {
    name: "git command",
    doc: "Details of a git command. All fields are empty for other programs.",
    fields: &[
        field("remote", Type::String, "Remote of `push`, `pull` or `fetch`, as it is written; \"\" if there is none."),
        field("refspecs", STRINGS, "Refspecs of `push`, `pull` or `fetch`, as they are written."),
        field(
            "targets",
            BRANCHES,
            "Branches that a push writes or deletes: `HEAD:main` gives `main`. Without a refspec, the current branch.",
        ),
        field(
            "force",
            Type::Bool,
            "`true` if the command overwrites: `--force`, `+ref`, `--mirror`, `--force-with-lease`, `branch -D`.",
        ),
        field("lease", Type::Bool, "`true` for `--force-with-lease` without `--force`."),
        field("branch_deletes", BRANCHES, "Branches that are deleted: `push -d x`, `push :x`, `branch -D x`."),
        field(
            "no_verify",
            Type::Bool,
            "`true` if the command skips git hooks: `--no-verify`, `commit -n`, `HUSKY=0`, `-c core.hooksPath=`.",
        ),
        field("message", Type::String, "Message of `-m`; several are separated by an empty line."),
        field(
            "branch",
            Type::String,
            "Branch that is checked out when the command runs, in the repository that it uses: behind `cd`, `git -C` and `git checkout`; \"\" if detached, or without a repository.",
        ),
        field("root", Type::String, "Root of the working tree that the command uses; \"\" without a repository."),
    ],
    methods: &[],
};

/// Programs and subcommands that change the current branch to one that is not written.
const CHECKS_OUT_OTHERS: &[(&str, &[&str])] = &[
    ("gh", &["pr checkout"]),
    ("glab", &["mr checkout"]),
    ("hub", &["pr checkout"]),
    ("git", &["bisect start", "stash branch"]),
];

/// Branches with the reason why there may be more.
#[derive(Default)]
struct Branches {
    names: Vec<Value>,
    rest: Option<Unknown>,
}

impl Branches {
    fn value(self) -> Value {
        Value::List(List { elements: self.names.into(), rest: self.rest })
    }
}

/// Returns the details of a command. Each is computed when an expression reads it.
pub(super) fn value(command: &Command) -> Value {
    cached::value(Git { command: Command::new(&command.shared, command.index) })
}

/// Details of one command.
#[derive(Debug)]
struct Git {
    command: Command,
}

impl Object for Git {
    fn schema(&self) -> &'static Schema {
        &GIT
    }

    fn field(&self, index: usize) -> Value {
        let command = &self.command;
        let name = GIT.fields.get(index).map_or("", |field| field.name);
        let is_git = command.name() == "git";
        match name {
            "refspecs" | "targets" | "branch_deletes" if !is_git => Value::list([]),
            "force" | "lease" | "no_verify" if !is_git => false.into(),
            _ if !is_git => "".into(),
            "branch" => branch(command),
            "root" => match directory(command) {
                Ok(directory) => command.shared.repository_root(&directory),
                Err(unknown) => unknown,
            },
            "message" => message(command.arguments()),
            "no_verify" => skips_hooks(command),
            name => Overwrites::new(command).field(name),
        }
    }
}

/// References that a git command changes.
struct Overwrites<'a> {
    command: &'a Command,
    arguments: &'a Arguments,
    subcommand: String,
    remote: Value,
    refspecs: &'a [Expanded],
}

impl<'a> Overwrites<'a> {
    fn new(command: &'a Command) -> Self {
        let arguments = command.arguments();
        let subcommand = arguments.joined_subcommand();
        let (remote, refspecs) = match subcommand.as_str() {
            "push" | "pull" | "fetch" => remote_and_refspecs(arguments, subcommand == "push"),
            _ => ("".into(), &[][..]),
        };
        Self { command, arguments, subcommand, remote, refspecs }
    }

    fn field(self, name: &str) -> Value {
        match name {
            "remote" => self.remote,
            "refspecs" => super::words(self.refspecs),
            "force" => self.force(),
            "lease" => (self.arguments.has("--force-with-lease") && !self.is_forced()).into(),
            _ => {
                let (targets, deletes) = self.branches();
                if name == "targets" { targets.value() } else { deletes.value() }
            }
        }
    }

    fn is_push(&self) -> bool {
        self.subcommand == "push"
    }

    /// `true` if a push overwrites without a lease.
    fn is_forced(&self) -> bool {
        let has_plus = self.refspecs.iter().any(|refspec| refspec.text.starts_with('+'));
        self.arguments.has("--force") || self.is_push() && (has_plus || self.arguments.has("--mirror"))
    }

    fn force(&self) -> Value {
        let arguments = self.arguments;
        let overwrites = self.subcommand == "branch" && arguments.has_any(&["-D", "-M", "-C"]);
        let replaces =
            matches!(self.subcommand.as_str(), "checkout" | "switch") && arguments.has_any(&["-B", "--force-create"]);
        if self.is_forced() || arguments.has("--force-with-lease") || overwrites || replaces {
            return true.into();
        }
        if let Some(word) = arguments.subcommand.iter().find(|word| !word.known) {
            return Value::Unknown(word::unknown(word));
        }
        if !self.is_push() {
            return false.into();
        }
        // `git push origin $BRANCH` is ordinary. `git push $ARGS` may have any options.
        let first = arguments.operands.first().filter(|first| !first.known && first.may_split);
        match first.map(word::unknown).or_else(|| arguments.unknown_flag(&["-f", "--force", "--mirror"])) {
            Some(unknown) => Value::Unknown(unknown),
            None => false.into(),
        }
    }

    /// Returns the branches that the command writes or deletes, and those that it deletes.
    fn branches(&self) -> (Branches, Branches) {
        let (mut targets, mut deletes) = (Branches::default(), Branches::default());
        if self.is_push() {
            push(self.command, self.arguments, self.refspecs, &mut targets, &mut deletes);
        } else if self.subcommand == "branch" && self.arguments.has_any(&["-d", "-D"]) {
            deletes.names.extend(self.arguments.operands.iter().map(word::text));
        }
        (targets, deletes)
    }
}

fn remote_and_refspecs(arguments: &Arguments, is_push: bool) -> (Value, &[Expanded]) {
    let repository = if is_push { arguments.values_of("--repo").last() } else { None };
    match (arguments.operands.split_first(), repository) {
        (Some((remote, refspecs)), _) => (word::text(remote), refspecs),
        (None, Some(repository)) => (word::text(repository), &[]),
        (None, None) => ("".into(), &[]),
    }
}

fn push(
    command: &Command,
    arguments: &Arguments,
    refspecs: &[Expanded],
    targets: &mut Branches,
    deletes: &mut Branches,
) {
    if arguments.has_any(&["--all", "--mirror"]) {
        targets.rest = Some(Unknown("all branches".into()));
        return;
    }
    let mut is_tag = false;
    for refspec in refspecs {
        if refspec.known && refspec.text == "tag" {
            is_tag = true;
            continue;
        }
        if std::mem::take(&mut is_tag) {
            let mut tag = refspec.clone();
            tag.text.insert_str(0, "refs/tags/");
            tag.unknown.iter_mut().for_each(|range| *range = range.start + 10..range.end + 10);
            targets.names.push(word::text(&tag));
            continue;
        }
        let Some(branch) = target(command, refspec) else {
            targets.rest = Some(word::unknown(refspec));
            continue;
        };
        if arguments.has("--delete") || is_deletion(refspec) {
            deletes.names.push(branch.clone());
        }
        targets.names.push(branch);
    }
    let has_tags_only = arguments.has("--tags");
    if refspecs.is_empty() && !has_tags_only {
        targets.names.push(pushed_branch(command));
    }
    // `$X` can be `origin main`, and `$ARGS` any refspecs.
    let splits = |word: &&Expanded| word.may_split && is_wholly_unknown(word);
    let remote = arguments.operands.first().filter(|_| refspecs.is_empty());
    let open = remote.filter(splits).map(word::unknown);
    targets.rest = targets.rest.take().or(open).or_else(|| arguments.more_flags.clone());
}

/// Returns the current branch that a push without a refspec writes.
fn pushed_branch(command: &Command) -> Value {
    match branch(command) {
        Value::String(branch) if branch.is_empty() => Value::unknown("the current branch"),
        branch => branch,
    }
}

/// Options of git that name another directory.
const OTHER_DIRECTORY: &[&str] = &["-C", "--git-dir", "--work-tree"];

/// Returns the branch that is checked out when the command runs, in the repository that it uses.
fn branch(command: &Command) -> Value {
    let directory = match directory(command) {
        Ok(directory) => directory,
        Err(unknown) => {
            // Behind `cd DIR` without `&&`, the command may also run in the directory before.
            let simple = command.simple();
            let names_another =
                simple.args.iter().any(|arg| OTHER_DIRECTORY.iter().any(|option| arg.text.starts_with(option)));
            if simple.cwds.len() < 2 || !simple.cwd_known || names_another {
                return unknown;
            }
            let mut branches = simple.cwds.iter().map(|cwd| command.shared.current_branch(cwd));
            let first = branches.next();
            return match first {
                Some(first) if branches.all(|other| other.to_string() == first.to_string()) => first,
                _ => unknown,
            };
        }
    };
    let earlier = (0..command.index).rev().map(|index| Command::new(&command.shared, index));
    for other in earlier {
        if let Some(branch) = checked_out(&other, &directory) {
            return branch;
        }
    }
    command.shared.current_branch(&directory)
}

/// Returns the branch to which an earlier command of the call changes the repository of a directory. `None`: it changes none.
fn checked_out(command: &Command, directory_of_push: &Path) -> Option<Value> {
    let name = command.name();
    if !CHECKS_OUT_OTHERS.iter().any(|(program, _)| *program == name) || command.wrappers().any(super::is_remote) {
        return None;
    }
    let arguments = command.arguments();
    let subcommand = arguments.joined_subcommand();
    let is_other = CHECKS_OUT_OTHERS.iter().any(|(own, words)| *own == name && words.contains(&subcommand.as_str()));
    let unknown = || Some(Value::unknown(format!("the branch of `{command:?}`")));
    let found = match subcommand.as_str() {
        _ if is_other => unknown(),
        "checkout" | "switch" => switched(command, arguments, subcommand == "switch"),
        // `git branch -m NEW` renames the current branch.
        "branch" if arguments.has("-m") || arguments.has("-M") => match arguments.operands.as_slice() {
            [new] => Some(word::text(new)),
            _ => None,
        },
        _ => None,
    }?;
    match directory(command) {
        Ok(own) if own == directory_of_push => Some(found),
        Ok(_) => None,
        Err(_) => unknown(),
    }
}

/// Returns the branch that `checkout` or `switch` checks out. `None`: it restores files.
fn switched(command: &Command, arguments: &Arguments, is_switch: bool) -> Option<Value> {
    let creating = if is_switch { ["--create", "--force-create", "--orphan"] } else { ["-b", "-B", "--orphan"] };
    if let Some(created) = creating.iter().find_map(|option| arguments.values_of(option).last()) {
        return Some(word::text(created));
    }
    let [name] = arguments.operands.as_slice() else { return None };
    let is_file = |cwd: &PathBuf| cwd.join(&name.text).symlink_metadata().is_ok();
    if !is_switch && (arguments.behind_dashes > 0 || name.known && command.simple().cwds.iter().any(is_file)) {
        return None;
    }
    match name.text.as_str() {
        "HEAD" | "@" => None,
        "-" => Some(Value::unknown("the branch of `-`")),
        _ if arguments.has("--detach") => Some(Value::unknown("the current branch")),
        _ => Some(word::text(name)),
    }
}

/// Returns the directory in which the command works: `cd DIR`, `git -C DIR`. An error is an unknown value.
fn directory(command: &Command) -> Result<PathBuf, Value> {
    let simple = command.simple();
    let (true, [cwd]) = (simple.cwd_known, &*simple.cwds) else {
        return Err(Value::unknown("the current branch"));
    };
    if simple.env.iter().any(|(name, _)| name == "GIT_DIR") {
        return Err(Value::unknown("the repository of `GIT_DIR`"));
    }
    let mut directory = cwd.clone();
    let mut args = simple.args.iter();
    while let Some(arg) = args.next().filter(|_| command.name() == "git") {
        match arg.text.as_str() {
            "-C" => match args.next() {
                Some(value) if value.known && !value.glob => directory.push(&value.text),
                _ => return Err(Value::unknown("the directory of `git -C`")),
            },
            text if text.starts_with("--git-dir") || text.starts_with("--work-tree") => {
                return Err(Value::unknown("the repository of `--git-dir`"));
            }
            "-c" => {
                args.next();
            }
            text if text.starts_with('-') => {}
            _ => break,
        }
    }
    Ok(lexical(&directory))
}

fn is_deletion(refspec: &Expanded) -> bool {
    refspec.text.trim_start_matches('+').starts_with(':')
}

/// Returns the branch that a refspec writes. `None`: it may be several.
fn target(command: &Command, refspec: &Expanded) -> Option<Value> {
    let is_literal = |at: usize| !refspec.unknown.iter().any(|range| range.contains(&at));
    let text = refspec.text.as_str();
    let plus = usize::from(text.starts_with('+'));
    let colon = text.match_indices(':').map(|(at, _)| at).find(|at| is_literal(*at));
    let start = colon.map_or(plus, |at| at + 1);
    if colon.is_some() && start == text.len() || text.contains('*') {
        return None;
    }
    let short = text[start..].strip_prefix("refs/heads/").or_else(|| text[start..].strip_prefix("heads/"));
    let start = short.map_or(start, |short| text.len() - short.len());
    let name = refspec.part(start..text.len());
    // A variable without a colon may hold a whole refspec.
    let may_be_refspec = colon.is_none() && !name.known;
    match name.text.as_str() {
        "HEAD" | "@" if name.known && colon.is_none() => Some(pushed_branch(command)),
        _ if may_be_refspec => Some(Value::Unknown(word::unknown(&name))),
        _ => Some(word::text(&name)),
    }
}

fn skips_hooks(command: &Command) -> Value {
    let arguments = command.arguments();
    let subcommand = arguments.joined_subcommand();
    let sets_path = |value: &Expanded| value.text.to_ascii_lowercase().starts_with("core.hookspath");
    let has_variable = |(name, value): &(String, Expanded)| {
        SKIPPING.iter().any(|(own, skips)| own == name && skips.is_none_or(|skips| !value.known || value.text == skips))
    };
    let runs_hooks =
        matches!(subcommand.as_str(), "commit" | "push" | "merge" | "rebase" | "am" | "pull" | "cherry-pick");
    let skips = arguments.has("--no-verify")
        || arguments.global_values_of("-c").any(sets_path)
        || runs_hooks && command.simple().env.iter().any(has_variable);
    match arguments.unknown_flag(&["--no-verify"]) {
        Some(unknown) if !skips && runs_hooks => Value::Unknown(unknown),
        _ => skips.into(),
    }
}

fn message(arguments: &Arguments) -> Value {
    let mut joined = String::new();
    for value in arguments.values_of("--message") {
        let Value::String(text) = word::text(value) else { return word::text(value) };
        if !joined.is_empty() {
            joined.push_str("\n\n");
        }
        joined.push_str(&text);
    }
    joined.into()
}
