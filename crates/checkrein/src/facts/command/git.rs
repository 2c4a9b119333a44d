//! Details of git commands.

use checkrein_expression::{List, Schema, Type, Unknown, Value};

use super::Command;
use super::arguments::Arguments;
use crate::builtins::shell::Expanded;
use crate::facts::record::Record;
use crate::facts::{STRINGS, field, word};

/// Variables with which hooks do not run, and the value. `None`: any value.
const SKIPPING: &[(&str, Option<&str>)] = &[
    ("HUSKY", Some("0")),
    ("HUSKY_SKIP_HOOKS", None),
    ("LEFTHOOK", Some("0")),
    ("SKIP", None),
    ("OVERCOMMIT_DISABLE", None),
    ("PRE_COMMIT_ALLOW_NO_CONFIG", None),
];

pub(super) static GIT: Schema = Schema {
    name: "git command",
    doc: "Details of a git command. All fields are empty for other programs.",
    fields: &[
        field("remote", Type::String, "Remote of `push`, `pull` or `fetch`, as it is written; \"\" if there is none."),
        field("refspecs", STRINGS, "Refspecs of `push`, `pull` or `fetch`, as they are written."),
        field(
            "targets",
            STRINGS,
            "Branches that a push writes or deletes: `HEAD:main` gives `main`. Without a refspec, the current branch.",
        ),
        field(
            "force",
            Type::Bool,
            "`true` if the command overwrites: `--force`, `+ref`, `--mirror`, `--force-with-lease`, `branch -D`.",
        ),
        field("lease", Type::Bool, "`true` for `--force-with-lease` without `--force`."),
        field("branch_deletes", STRINGS, "Branches that are deleted: `push -d x`, `push :x`, `branch -D x`."),
        field(
            "no_verify",
            Type::Bool,
            "`true` if the command skips git hooks: `--no-verify`, `commit -n`, `HUSKY=0`, `-c core.hooksPath=`.",
        ),
        field("message", Type::String, "Message of `-m`; several are separated by an empty line."),
    ],
    methods: &[],
};

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

pub(super) fn value(command: &Command) -> Value {
    if command.name() != "git" {
        let none = || Value::list([]);
        let no = || Value::Bool(false);
        return Record::value(&GIT, ["".into(), none(), none(), no(), no(), none(), no(), "".into()]);
    }
    let arguments = command.arguments();
    let subcommand = arguments.joined_subcommand();
    let is_push = subcommand == "push";
    let (remote, refspecs) = if matches!(subcommand.as_str(), "push" | "pull" | "fetch") {
        remote_and_refspecs(arguments, is_push)
    } else {
        ("".into(), &[][..])
    };
    let mut targets = Branches::default();
    let mut deletes = Branches::default();
    if is_push {
        push(command, arguments, refspecs, &mut targets, &mut deletes);
    } else if subcommand == "branch" && arguments.has_any(&["-d", "-D"]) {
        deletes.names.extend(arguments.operands.iter().map(word::text));
    }
    let has_plus = is_push && refspecs.iter().any(|refspec| refspec.text.starts_with('+'));
    let has_lease = arguments.has("--force-with-lease");
    let is_forced = arguments.has("--force") || has_plus || (is_push && arguments.has("--mirror"));
    // `git push origin $BRANCH` is ordinary. `git push $ARGS` may have any options.
    let first = arguments.operands.first().filter(|first| is_push && !first.known && first.may_split);
    let subcommand_word = arguments.subcommand.iter().find(|word| !word.known);
    let open = subcommand_word.or(first).map(|open| Value::Unknown(word::unknown(open)));
    let overwrites = subcommand == "branch" && arguments.has_any(&["-D", "-M", "-C"]);
    let replaces = matches!(subcommand.as_str(), "checkout" | "switch") && arguments.has_any(&["-B", "-C"]);
    Record::value(
        &GIT,
        [
            remote,
            super::words(refspecs),
            targets.value(),
            match (is_forced || has_lease || overwrites || replaces, open) {
                (false, Some(open)) => open,
                (forces, _) => forces.into(),
            },
            (has_lease && !is_forced).into(),
            deletes.value(),
            skips_hooks(command, arguments, &subcommand).into(),
            message(arguments),
        ],
    )
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
        targets.names.push(current_branch(command));
    }
}

/// Returns the branch of the repository in which the command runs: `cd DIR`, `git -C DIR`.
fn current_branch(command: &Command) -> Value {
    let simple = command.simple();
    let (true, [cwd]) = (simple.cwd_known, &*simple.cwds) else {
        // Behind `cd DIR` without `&&`, the command may also run in the directory before.
        let mut branches = simple.cwds.iter().map(|cwd| command.shared.current_branch(cwd));
        let first = branches.next();
        return match first {
            Some(first) if simple.cwd_known && branches.all(|other| other.to_string() == first.to_string()) => first,
            _ => Value::unknown("the current branch"),
        };
    };
    let mut directory = cwd.clone();
    let mut args = simple.args.iter();
    while let Some(arg) = args.next() {
        match arg.text.as_str() {
            "-C" => match args.next() {
                Some(value) if value.known && !value.glob => directory.push(&value.text),
                _ => return Value::unknown("the directory of `git -C`"),
            },
            text if text.starts_with("--git-dir") || text.starts_with("--work-tree") => {
                return Value::unknown("the repository of `--git-dir`");
            }
            "-c" => {
                args.next();
            }
            text if text.starts_with('-') => {}
            _ => break,
        }
    }
    match command.shared.current_branch(&crate::builtins::shell::lexical(&directory)) {
        Value::String(branch) if branch.is_empty() => Value::unknown("the current branch"),
        branch => branch,
    }
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
        "HEAD" | "@" if name.known && colon.is_none() => Some(current_branch(command)),
        _ if may_be_refspec => Some(Value::Unknown(word::unknown(&name))),
        _ => Some(word::text(&name)),
    }
}

fn skips_hooks(command: &Command, arguments: &Arguments, subcommand: &str) -> bool {
    let sets_path = |value: &Expanded| value.text.to_ascii_lowercase().starts_with("core.hookspath");
    let has_variable = |(name, value): &(String, Expanded)| {
        SKIPPING.iter().any(|(own, skips)| own == name && skips.is_none_or(|skips| !value.known || value.text == skips))
    };
    let runs_hooks = matches!(subcommand, "commit" | "push" | "merge" | "rebase" | "am" | "pull" | "cherry-pick");
    arguments.has("--no-verify")
        || (arguments.subcommand.is_empty() || runs_hooks) && arguments.values_of("-c").any(sets_path)
        || runs_hooks && command.simple().env.iter().any(has_variable)
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
