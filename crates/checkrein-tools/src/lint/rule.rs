//! Errors in the expressions and tests of rules, with their places in the file, and rules without tests or effect.

use std::collections::HashSet;

use checkrein::facts::Facts;
use checkrein::policy::Rule;
use checkrein_core::{BlockEffect, EventKind, Target};
use checkrein_dialects::config::{Diagnostic, Location};
use checkrein_dialects::{HandlerSpec, HookSpec, RuleDecision, RuleSpec};
use checkrein_document::{LineIndex, Span};
use checkrein_expression::{Expression, Span as ExpressionSpan};

use super::files::{EntryValue, Files};
use super::place::Part;
use super::{for_hook, location, with_help};
use crate::rule_tests::{TestCase, Wanted, has_test};

/// Returns the error of a rule that does not compile, at its place in the file.
pub(super) fn error(files: &Files, hook: &HookSpec) -> Option<Diagnostic> {
    let HandlerSpec::Rule(spec) = &hook.handler else { return None };
    let error = Rule::compile(spec, &hook.kinds).err()?;
    Some(at_expression(files, hook, "bad-expression", &error.key, error.span(), &error.to_string()))
}

/// `true` for a rule that compiles.
pub(super) fn is_valid(hook: &HookSpec) -> bool {
    rule_of(hook).is_some_and(|spec| Rule::compile(spec, &hook.kinds).is_ok())
}

/// Warns about comparisons that rarely hold, such as one with an unknown name.
pub(super) fn comparisons(files: &Files, hook: &HookSpec, found: &mut Vec<Diagnostic>) {
    let Some(spec) = own_rule(hook) else { return };
    let Ok(rule) = Rule::compile(spec, &hook.kinds) else { return };
    for warning in rule.warnings() {
        let text = warning.to_string();
        found.push(at_expression(files, hook, "unlikely-comparison", &warning.key, warning.span(), &text));
    }
}

/// Warns about labels that rules read and no rule sets.
pub(super) fn labels<'h>(files: &Files, hooks: &(impl Iterator<Item = &'h HookSpec> + Clone)) -> Vec<Diagnostic> {
    let rules = || hooks.clone().filter_map(|hook| Some((hook, rule_of(hook)?)));
    let known: HashSet<&str> = rules().filter_map(|(_, rule)| rule.label.as_deref()).collect();
    let mut found = Vec::new();
    for (hook, rule) in rules().filter(|(_, rule)| rule.pack_rule.is_none()) {
        for (key, text) in rule.texts() {
            for (span, label) in Expression::literal_arguments(text, "seen") {
                if !known.contains(label.as_str()) {
                    let text = format!("`{key}`: no rule sets the label `{label}`");
                    found.push(at_expression(files, hook, "unset-label", &key, span, &text));
                }
            }
        }
    }
    found
}

fn rule_of(hook: &HookSpec) -> Option<&RuleSpec> {
    match &hook.handler {
        HandlerSpec::Rule(rule) => Some(rule),
        _ => None,
    }
}

/// Name of the pack of a rule.
pub(super) fn pack_of(hook: &HookSpec) -> Option<&str> {
    rule_of(hook)?.pack_rule.as_deref()?.split('.').next()
}

/// Returns the rule of a hook, if a file has it.
fn own_rule(hook: &HookSpec) -> Option<&RuleSpec> {
    rule_of(hook).filter(|rule| rule.pack_rule.is_none())
}

/// Diagnostic about a part of an expression.
fn at_expression(
    files: &Files,
    hook: &HookSpec,
    code: &'static str,
    key: &str,
    span: ExpressionSpan,
    text: &str,
) -> Diagnostic {
    let diagnostic = for_hook(files, hook, Part::Entry, code, text);
    match place(files, hook, key, span) {
        Some(at) => with_help(diagnostic, Some(at)),
        None => diagnostic,
    }
}

/// Warns about a rule of a file without a test in which it applies, or without one in which it does not.
pub(super) fn tests(files: &Files, hook: &HookSpec, found: &mut Vec<Diagnostic>) {
    let Some(spec) = own_rule(hook) else { return };
    for test in &spec.tests {
        let read = TestCase::parse(&test.json).map_err(|error| error.to_string());
        if let Err(error) = read.and_then(|case| case.facts(hook)) {
            let diagnostic = for_hook(files, hook, Part::Entry, "bad-test", &format!("a test cannot run: {error}"));
            found.push(match hook.info.source.file.as_deref().and_then(|file| files.get(file)) {
                Some(file) => diagnostic.at(location(&file.text, test.line)),
                None => diagnostic,
            });
        }
    }
    let missing = match (has_test(spec, Wanted::Effect), has_test(spec, Wanted::None)) {
        (true, true) => return,
        (false, false) => "the rule has no tests",
        (false, true) => "the rule has no test in which it applies",
        (true, false) => "the rule has no test in which it does not apply",
    };
    found.push(for_hook(files, hook, Part::Entry, "untested-rule", missing));
}

/// Warns about an effect that an event of the rule does not have.
pub(super) fn effects(files: &Files, hook: &HookSpec, found: &mut Vec<Diagnostic>) {
    let Some(spec) = rule_of(hook) else { return };
    let mut report = |key: &str, has_effect: &dyn Fn(&EventKind) -> bool| {
        let without = hook.kinds.iter().filter(|kind| !has_effect(kind));
        let names: Vec<_> =
            without.map(|kind| format!("`{}`", hook.dialect.name_of(kind).unwrap_or(kind.name()))).collect();
        if !names.is_empty() {
            let text = format!("`{key}` has no effect at {}", names.join(", "));
            found.push(for_hook(files, hook, Part::Entry, "unused-effect", &text));
        }
    };
    if let Some((decision @ (RuleDecision::Deny | RuleDecision::Ask), _)) = &spec.decision
        && hook.kinds.iter().all(|kind| kind.contract().block == BlockEffect::Ignored)
    {
        report(decision.name(), &|_| false);
    }
    if matches!(&spec.decision, Some((RuleDecision::Allow, _)))
        && !hook.kinds.iter().any(|kind| kind.contract().is_gate())
    {
        report(RuleDecision::Allow.name(), &|_| false);
    }
    if !spec.rewrite.is_empty() {
        report("rewrite", &|kind| kind.contract().rewrites.contains(&Target::Input));
    }
}

/// Warns about a rule that stops calls, and does so only once in a session.
pub(super) fn once(files: &Files, hook: &HookSpec, found: &mut Vec<Diagnostic>) {
    let Some(spec) = own_rule(hook).filter(|_| hook.once) else { return };
    let restricts = spec.decision.as_ref().is_some_and(|(decision, _)| *decision != RuleDecision::Allow);
    if restricts && hook.kinds.iter().any(|kind| hook.dialect.is_gate(kind)) {
        let text = "`once` lets every later call of the session pass";
        found.push(for_hook(files, hook, Part::Entry, "once-gate", text));
    }
}

/// A call without commands, files and hosts.
const EMPTY_CALL: &str = r#"{"tool": "mcp__server__tool", "input": {}, "want": "none"}"#;

/// Warns about an `allow` that holds because a list is empty: `commands.all(…)` is true for a call that runs no command.
pub(super) fn empty_lists(files: &Files, hook: &HookSpec, found: &mut Vec<Diagnostic>) {
    let Some(spec) = own_rule(hook) else { return };
    let is_allow = matches!(&spec.decision, Some((RuleDecision::Allow, _)));
    let texts = spec.texts();
    let list = ["commands", "paths", "net"]
        .into_iter()
        .find(|list| texts.iter().any(|(_, text)| text.contains(&format!("{list}.all("))));
    let (true, Some(list)) = (is_allow && hook.matcher.matches("mcp__server__tool"), list) else { return };
    let call = checkrein_core::RawJson::parse(EMPTY_CALL).ok().and_then(|json| TestCase::parse(&json).ok());
    let Some((event, context)) = call.and_then(|call| call.facts(hook).ok()) else { return };
    let Ok(rule) = Rule::compile(spec, &hook.kinds) else { return };
    if rule.explain(&Facts::new(event, context)).is_ok_and(|evaluation| evaluation.value == Ok(true)) {
        let text = format!("the rule allows every call with empty `{list}`: `{list}.all(…)` is true for an empty list");
        found.push(for_hook(files, hook, Part::Entry, "empty-allow", &text));
    }
}

/// Returns the place of a part of an expression in the file. `None` if the file has changed.
fn place(files: &Files, hook: &HookSpec, key: &str, part: ExpressionSpan) -> Option<Location> {
    let file = files.get(hook.info.source.file.as_deref()?)?;
    let value = file.entry(hook)?.get(key)?;
    Some(Location::of(&LineIndex::new(&file.text), position(value, &file.text, part)))
}

/// Returns the position of a part of a value in the file. The value may be quoted, or have several lines with an indentation.
fn position(value: &EntryValue, text: &str, part: ExpressionSpan) -> Span {
    let (whole, written) = (value.span, value.span.slice(text));
    let Some(value) = value.text.as_deref() else { return whole };
    let find = |offset: u32| {
        let before = value.get(..offset as usize)?;
        let mut rest = written.char_indices().peekable();
        // The first character of the value starts behind the quote or the mark of a block.
        let first = value.chars().next()?;
        while rest.next_if(|(_, c)| *c != first).is_some() {}
        for c in before.chars() {
            match c.is_whitespace() {
                true => while rest.next_if(|(_, c)| c.is_whitespace()).is_some() {},
                false => {
                    rest.next_if(|(_, own)| *own == c)?;
                }
            }
        }
        rest.peek().map(|(at, _)| u32::try_from(*at).unwrap_or(u32::MAX))
    };
    match (find(part.start), find(part.end.saturating_sub(1))) {
        (Some(start), Some(last)) => {
            Span { start: whole.start.saturating_add(start), end: whole.start.saturating_add(last).saturating_add(1) }
        }
        _ => whole,
    }
}
