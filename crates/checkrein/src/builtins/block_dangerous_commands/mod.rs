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
//! - **Arguments**: none, or `--allow=RULE`, `--ask=RULE`, `--deny=RULE` to change the decision of a rule. [`RULES`]
//!   lists the rules and their default decisions. Some rules are off by default, because they match ordinary commands.
//! - **Events**: `pre_tool_use`, `tool_guard`, `permission_request`, `pre_shell`. The builtin reads `command`, `cmd` and
//!   similar fields of the tool's input: a text or a list of arguments.
//!
//! Example: `block_dangerous_commands --allow=git_discard --deny=rm_recursive --ask=git_push`

mod delete;
mod disk;
mod download;
mod git;
mod rules;
mod system;
mod target;

use std::sync::Arc;

use checkrein_core::{Decision, Opinion, closest_match};

use super::args::{option, unknown_option};
use super::commands::parse_commands;
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};
use rules::{Context, Reason};
pub use rules::{RULES, Rule};

pub(super) fn builtin() -> Builtin {
    let prepared = Builtin::prepared(|args| {
        let decisions = Arc::new(decisions(args)?);
        Ok(Builtin::immediate(move |call| Ok(check(&call, &decisions))))
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

fn check(call: &BuiltinCall<'_>, decisions: &[Decision]) -> Opinion {
    let home = call.env.var("HOME");
    let cwd = call.cwd();
    let parsed = parse_commands(call.event, home.as_deref(), &cwd);
    let context =
        Context { home: home.as_deref(), cwd: &cwd, commands: &parsed.simple_commands, doubt: parsed.doubt() };
    // A certain match comes before one that depends on an unknown part.
    let reason = |rule: &Rule| {
        let mut unsure = None;
        for command in &parsed.simple_commands {
            match (rule.reason)(command, &context) {
                Some(reason) if reason.is_certain => return Some(reason),
                reason => unsure = unsure.or(reason),
            }
        }
        unsure
    };
    // The strongest decision applies. Of equal ones, the first rule gives the reason.
    let mut strongest: Option<(&Rule, Decision, String)> = None;
    for (rule, &decision) in RULES.iter().zip(decisions) {
        if decision != Decision::NoOpinion
            && strongest.as_ref().is_none_or(|(_, strongest, _)| decision > *strongest)
            && let Some(Reason { text, is_certain }) = reason(rule)
        {
            let decision = if is_certain { decision } else { decision.min(Decision::Ask) };
            if strongest.as_ref().is_none_or(|(_, strongest, _)| decision > *strongest) {
                strongest = Some((rule, decision, text));
            }
        }
    }
    let found = match strongest {
        Some((rule, decision, reason)) => opinion(decision, rule.name, &reason),
        None => Opinion::none(),
    };
    let Some(why) = parsed.parse_error else { return found };
    let decision = decision_of(rules::UNREADABLE, decisions);
    if found.decision() >= decision {
        return found;
    }
    opinion(decision, rules::UNREADABLE, &format!("cannot parse the command: {why}; write it in a simpler way"))
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
