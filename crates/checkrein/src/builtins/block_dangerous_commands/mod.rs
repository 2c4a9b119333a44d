//! Denies destructive shell commands, and asks about commands that are often a mistake.
//!
//! Commands are parsed as a shell parses them, not searched for words: `echo "rm -rf /"` is harmless, `sudo sh -c 'rm -rf
//! /'` is not. The parser follows lists, pipes, groups, functions, substitutions, here-documents, variables that the
//! command sets itself, `cd`, and programs that start others: `sudo`, `env`, `timeout`, `xargs`, `find -exec`, `sh -c`,
//! `eval`, `ssh` and more. The builtin asks about a command that cannot be parsed.
//!
//! Some parts are known only to a running shell: `$X`, `$(…)`, the directory behind `cd $X`. The builtin asks about a program
//! whose name is unknown, and about deleting an unknown path that could be an important one. Everyday forms are allowed:
//! `$DIR/build`, `$TMPDIR`, `$(mktemp -d)`, `$CC`, `$(which python3)`.
//!
//! This builtin is not a sandbox. It does not see the effects of scripts, other languages, programs with their own
//! command language, PowerShell or `cmd`.
//!
//! The rules are names for rules of the packs `filesystem`, `git` and `packages`. A hook file that selects these packs gets more
//! rules, and can change each of them.
//!
//! - **Arguments**: none, or `--allow=RULE`, `--ask=RULE`, `--deny=RULE` to change the decision of a rule. [`RULES`]
//!   lists the rules and their default decisions. Some rules are off by default, because they match ordinary commands.
//! - **Events**: `pre_tool_use`, `tool_guard`, `permission_request`, `pre_shell`. The builtin reads `command`, `cmd` and
//!   similar fields of the tool's input: a text or a list of arguments.
//!
//! Example: `block_dangerous_commands --allow=git_discard --deny=rm_recursive --ask=git_push`

mod evaluate;
mod rules;

use std::sync::Arc;

use checkrein_core::{Decision, Failure, Opinion, closest_match};

use super::args::{option, unknown_option};
use super::commands::ParsedCommands;
use super::text::head;
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};
use crate::policy::Condition;
use evaluate::Conditions;
pub use rules::{RULES, Rule};

pub(super) fn builtin() -> Builtin {
    let prepared = Builtin::prepared(|args| {
        let decisions = Arc::new(decisions(args)?);
        Ok(Builtin::immediate(move |call| check(&call, &decisions)))
    });
    prepared.works_at(super::is_before_tool).described(
        BuiltinDoc::new("Denies destructive shell commands, and asks about commands that are often a mistake.")
            .args("`--allow=RULE`, `--ask=RULE`, `--deny=RULE` for each rule to change")
            .events("`pre_tool_use`, `tool_guard`, `permission_request`, `pre_shell`"),
    )
}

/// Returns the decision of each rule, in the order of the rules.
fn decisions(args: &[String]) -> Result<Vec<Decision>, String> {
    let mut decisions: Vec<_> = RULES.iter().map(|rule| rule.decision).collect();
    for arg in args {
        let change = [("allow", Decision::NoOpinion), ("ask", Decision::Ask), ("deny", Decision::Deny)]
            .into_iter()
            .find_map(|(name, decision)| Some((option(arg, name)?, decision)));
        let Some((rule, decision)) = change else {
            return Err(unknown_option(arg, &["--allow=RULE", "--ask=RULE", "--deny=RULE"]));
        };
        let Some(index) = RULES.iter().position(|known| known.name == rule) else {
            let names = || RULES.iter().map(|rule| rule.name);
            let hint = match closest_match(rule, names()) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("the rules are {}", names().collect::<Vec<_>>().join(", ")),
            };
            return Err(format!("has no rule `{rule}`; {hint}"));
        };
        decisions[index] = decision;
    }
    Ok(decisions)
}

fn check(call: &BuiltinCall<'_>, decisions: &[Decision]) -> Result<Opinion, Failure> {
    let facts = call.view.facts(call.env);
    let parsed = facts.parsed();
    let mut conditions = Conditions::new(&**facts);
    let program = unknown_program(parsed);
    // The strongest decision applies. Of equal ones, the first rule gives the reason.
    let mut strongest: Option<(&Rule, Decision, String)> = None;
    for (rule, &decision) in RULES.iter().zip(decisions) {
        let is_stronger = |decision: Decision, strongest: &Option<(&Rule, Decision, String)>| {
            strongest.as_ref().is_none_or(|(_, strongest, _)| decision > *strongest)
        };
        if decision == Decision::NoOpinion || !is_stronger(decision, &strongest) {
            continue;
        }
        let Some((reason, is_certain)) = matched(rule, &mut conditions, program.as_deref(), parsed.parse_error)? else {
            continue;
        };
        let decision = if is_certain { decision } else { decision.min(Decision::Ask) };
        if is_stronger(decision, &strongest) {
            strongest = Some((rule, decision, reason));
        }
    }
    let found = match strongest {
        Some((rule, decision, reason)) => opinion(decision, rule.name, &reason),
        None => Opinion::none(),
    };
    let Some(why) = parsed.parse_error else { return Ok(found) };
    let decision = decision_of(rules::UNREADABLE, decisions);
    if found.decision() >= decision {
        return Ok(found);
    }
    Ok(opinion(decision, rules::UNREADABLE, &format!("cannot parse the command: {why}; write it in a simpler way")))
}

/// Returns the reason if a rule matches, and whether it matches for certain. `program` is the reason for a program that only a
/// running shell knows. A command that cannot be parsed has a rule of its own.
fn matched(
    rule: &Rule,
    conditions: &mut Conditions<'_>,
    program: Option<&str>,
    parse_error: Option<&str>,
) -> Result<Option<(String, bool)>, Failure> {
    for id in rule.packs {
        if conditions.get(id)? == Condition::True {
            return Ok(Some((conditions.reason(id)?, true)));
        }
    }
    if let Some(reason) = program {
        // Every rule depends on the program. This one says so.
        return Ok((rule.name == rules::UNKNOWN_PROGRAM).then(|| (reason.to_owned(), false)));
    }
    for id in rule.unknown {
        if let Condition::Unknown(fact) = conditions.get(id)?
            && !parse_error.is_some_and(|why| fact.0.contains(why))
        {
            let fact = fact.0.replace(char::is_control, " ");
            let reason =
                format!("only the running shell knows `{}`; write it out", head(&fact, LONGEST).trim_matches('`'));
            // The disk that is formatted is lost, whichever it is.
            return Ok(Some((reason, rule.name == "format_disk")));
        }
    }
    Ok(None)
}

/// Longest unknown part in a reason, in bytes.
const LONGEST: usize = 60;

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

/// Returns the reason if only a running shell knows a program, and it could be one that the rules know.
fn unknown_program(parsed: &ParsedCommands) -> Option<String> {
    let doubt = parsed.doubt();
    parsed.simple_commands.iter().find_map(|command| {
        let word = doubt.program(command, KNOWN)?;
        let shown = |text: &str| head(&text.replace(char::is_control, " "), LONGEST).to_owned();
        Some(match command.program.from.last() {
            Some(printer) => {
                format!("only the running shell knows the commands that `{}` prints; write them out", shown(printer))
            }
            None => {
                format!("only the running shell knows the program `{}`; write the name of the program", shown(word))
            }
        })
    })
}

fn decision_of(name: &str, decisions: &[Decision]) -> Decision {
    RULES.iter().zip(decisions).find(|(rule, _)| rule.name == name).map_or(Decision::Ask, |(_, decision)| *decision)
}

fn opinion(decision: Decision, rule: &str, reason: &str) -> Opinion {
    if decision == Decision::NoOpinion {
        return Opinion::none();
    }
    Opinion::from_decision(decision).with_reason(format!("{reason} (rule {rule})"))
}
