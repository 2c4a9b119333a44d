//! Errors in the expressions and tests of rules, with their places in the file, and rules without tests or effect.

use checkrein::policy::{Rule, RuleError};
use checkrein_core::{BlockEffect, Target};
use checkrein_dialects::config::{Diagnostic, Location};
use checkrein_dialects::{HandlerSpec, HookSpec, RuleDecision, RuleSpec};
use checkrein_document::{LineIndex, Node, Span};
use checkrein_expression::Span as ExpressionSpan;

use super::place::{Part, entry_of};
use super::{for_hook, location, read_text, with_help};
use crate::rule_tests::TestCase;

/// Returns the error of a rule that does not compile, at its place in the file.
pub(super) fn error(hook: &HookSpec) -> Option<Diagnostic> {
    let HandlerSpec::Rule(spec) = &hook.handler else { return None };
    let error = Rule::compile(spec, &hook.kinds).err()?;
    let diagnostic = for_hook(hook, Part::Entry, "bad-expression", &error.to_string());
    Some(match place(hook, &error) {
        Some(at) => with_help(diagnostic, Some(at)),
        None => diagnostic,
    })
}

/// Warns about a rule of a file without a test in which it applies, or without one in which it does not.
pub(super) fn tests(hook: &HookSpec, found: &mut Vec<Diagnostic>) {
    let HandlerSpec::Rule(spec) = &hook.handler else { return };
    if spec.pack_rule.is_some() {
        return;
    }
    for test in &spec.tests {
        if let Err(error) = TestCase::parse(&test.json) {
            let diagnostic = for_hook(hook, Part::Entry, "bad-test", &format!("a test cannot run: {error}"));
            let text = hook.info.source.file.as_deref().and_then(read_text);
            found.push(match text {
                Some(text) => diagnostic.at(location(&text, test.line)),
                None => diagnostic,
            });
        }
    }
    let missing = match (has_test(spec, false), has_test(spec, true)) {
        (true, true) => return,
        (false, false) => "the rule has no tests",
        (false, true) => "the rule has no test in which it applies",
        (true, false) => "the rule has no test in which it does not apply",
    };
    found.push(for_hook(hook, Part::Entry, "untested-rule", missing));
}

/// Warns about an effect that none of the rule's events has.
pub(super) fn effects(hook: &HookSpec, found: &mut Vec<Diagnostic>) {
    let HandlerSpec::Rule(spec) = &hook.handler else { return };
    let mut unused = Vec::new();
    if let Some((decision @ (RuleDecision::Deny | RuleDecision::Ask), _)) = &spec.decision
        && hook.kinds.iter().all(|kind| kind.contract().block == BlockEffect::Ignored)
    {
        unused.push(decision.name());
    }
    if !spec.rewrite.is_empty() && !hook.kinds.iter().any(|kind| kind.contract().rewrites.contains(&Target::Input)) {
        unused.push("rewrite");
    }
    let names: Vec<_> =
        hook.kinds.iter().map(|kind| format!("`{}`", hook.dialect.name_of(kind).unwrap_or(kind.name()))).collect();
    for key in unused {
        let text = format!("`{key}` has no effect at {}", names.join(", "));
        found.push(for_hook(hook, Part::Entry, "unused-effect", &text));
    }
}

/// `true` if the rule has a test that wants no effect, or one that wants an effect.
fn has_test(spec: &RuleSpec, wants_none: bool) -> bool {
    spec.tests.iter().any(|test| {
        let want = test.json.field("want").and_then(|want| want.as_text().map(std::borrow::Cow::into_owned));
        want.is_some_and(|want| (want == "none") == wants_none)
    })
}

/// Returns the place of an error in the file. `None` if the file has changed.
fn place(hook: &HookSpec, error: &RuleError) -> Option<Location> {
    let text = read_text(hook.info.source.file.as_deref()?)?;
    let span = entry_of(hook, &text, |entry| {
        let node = error.key.split('.').try_fold(entry, |node, key| node.get(key))?;
        Some(position(node, &text, error.span()))
    })?;
    Some(Location::of(&LineIndex::new(&text), span))
}

/// Returns the position of a part of a value in the file. The value may be quoted, or have several lines with an indentation.
fn position(node: &Node<'_>, text: &str, part: ExpressionSpan) -> Span {
    let written = node.span.slice(text);
    let Some(value) = node.as_str() else { return node.span };
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
        (Some(start), Some(last)) => Span {
            start: node.span.start.saturating_add(start),
            end: node.span.start.saturating_add(last).saturating_add(1),
        },
        _ => node.span,
    }
}
