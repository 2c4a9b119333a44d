//! Denies shell commands that destroy much and cannot be undone, and asks about some that often are a mistake.
//!
//! Commands are read as a shell reads them, not searched for words: `echo "rm -rf /"` is harmless, `sudo sh -c 'rm -rf
//! /'` is not. Looked through are lists, pipes, groups, functions, substitutions, here-documents, variables that the
//! command sets itself, `cd`, and programs that start others: `sudo`, `env`, `timeout`, `xargs`, `find -exec`, `sh -c`,
//! `eval`, `ssh` and more. A command that cannot be read is asked about.
//!
//! It is a seat belt, not a sandbox: what scripts, other languages and programs with their own command language do is not
//! seen, nor is PowerShell or `cmd`.
//!
//! - **Arguments**: none, or `--allow=RULE`, `--ask=RULE`, `--deny=RULE` to change what a rule does. The rules, with
//!   what they do by default, are in [`RULES`].
//! - **Events**: `pre_tool_use`, `tool_guard`, `permission_request`, `pre_shell`. Read is `command` or `cmd` of the
//!   tool's input, a text or a list of arguments.
//!
//! Example: `block_dangerous_commands --allow=git_discard --deny=rm_here`

mod rules;
mod target;

use std::sync::Arc;

use checkrein_core::{Decision, Opinion, closest_match};

use super::args::{option, unknown_option};
use super::commands::{Reading, read};
use crate::handler::{Builtin, BuiltinCall, BuiltinDoc};
pub use rules::{RULES, Rule};

pub(super) fn builtin() -> Builtin {
    let prepared = Builtin::prepared(|args| {
        let decisions = Arc::new(decisions(args)?);
        Ok(Builtin::immediate(move |call| Ok(judge(&call, &decisions))))
    });
    prepared.described(
        BuiltinDoc::new("Denies shell commands that destroy much, asks about some that are often a mistake.")
            .args("`--allow=RULE`, `--ask=RULE`, `--deny=RULE` for each rule to change")
            .events("`pre_tool_use`, `tool_guard`, `permission_request`, `pre_shell`"),
    )
}

/// What each rule does, in the order of the rules.
fn decisions(args: &[String]) -> Result<Vec<Decision>, String> {
    let mut decisions: Vec<_> = RULES.iter().map(|rule| rule.decision).collect();
    for arg in args {
        let change = [("allow", Decision::NoOpinion), ("ask", Decision::Ask), ("deny", Decision::Deny)]
            .into_iter()
            .find_map(|(name, decision)| Some((option(arg, name)?, decision)));
        let Some((rule, decision)) = change else {
            return Err(unknown_option(arg, &["--allow=RULE", "--ask=RULE", "--deny=RULE"]));
        };
        let Some(at) = RULES.iter().position(|known| known.name == rule) else {
            let names = || RULES.iter().map(|rule| rule.name);
            let hint = match closest_match(rule, names()) {
                Some(name) => format!("did you mean `{name}`?"),
                None => format!("there are {}", names().collect::<Vec<_>>().join(", ")),
            };
            return Err(format!("has no rule `{rule}`; {hint}"));
        };
        decisions[at] = decision;
    }
    Ok(decisions)
}

fn judge(call: &BuiltinCall<'_>, decisions: &[Decision]) -> Opinion {
    let home = call.env.var("HOME");
    let cwd = call.cwd();
    let Reading { steps, unreadable } = read(call.event, home.as_deref(), &cwd);
    let fits = |rule: &Rule| steps.iter().any(|step| (rule.fits)(step, home.as_deref(), &cwd));
    // The strongest counts; of those that are as strong, the first.
    let mut worst: Option<(&Rule, Decision)> = None;
    for (rule, &decision) in RULES.iter().zip(decisions) {
        if decision != Decision::NoOpinion && worst.is_none_or(|(_, worst)| decision > worst) && fits(rule) {
            worst = Some((rule, decision));
        }
    }
    let found = worst.map_or_else(Opinion::none, |(rule, decision)| opinion(decision, rule.name, rule.why));
    let Some(why) = unreadable else { return found };
    let decision = decision_of(rules::UNREADABLE, decisions);
    if found.decision() >= decision {
        return found;
    }
    opinion(decision, rules::UNREADABLE, &format!("the command cannot be read: {why}"))
}

fn decision_of(name: &str, decisions: &[Decision]) -> Decision {
    RULES.iter().zip(decisions).find(|(rule, _)| rule.name == name).map_or(Decision::Ask, |(_, decision)| *decision)
}

fn opinion(decision: Decision, rule: &str, why: &str) -> Opinion {
    if decision == Decision::NoOpinion {
        return Opinion::none();
    }
    Opinion::from_decision(decision).with_reason(format!("{why} (rule `{rule}`)"))
}
