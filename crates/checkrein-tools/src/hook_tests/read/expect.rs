//! Decoder of `expect`.

use checkrein_core::{Decision, FailureKind, Target};
use checkrein_document::{Member, Node};

use super::super::case::{Check, Expected};
use super::super::keys;
use super::super::pattern::TextPattern;
use super::reader::TestFileReader;

pub(super) fn expect(reader: &mut TestFileReader<'_>, node: &Node<'_>) -> Vec<Expected> {
    let Some(members) = reader.object(node, "expect") else { return Vec::new() };
    reader.keys(members, keys::EXPECT);
    report_if_empty(
        reader,
        node,
        members,
        "`expect` is empty; add at least one expected result, such as `decision: deny`",
    );
    let mut all = Vec::new();
    for member in members {
        if member.key == "hooks" {
            all.extend(hooks(reader, &member.value));
        } else {
            all.extend(expected(reader, member, keys::EXPECT));
        }
    }
    all
}

/// Expectations for single hooks.
fn hooks(reader: &mut TestFileReader<'_>, node: &Node<'_>) -> Vec<Expected> {
    let Some(members) = reader.object(node, "hooks") else { return Vec::new() };
    report_if_empty(reader, node, members, "`hooks` is empty; name at least one hook");
    let mut all = Vec::new();
    for member in members {
        let Some(inner) = reader.object(&member.value, &format!("hooks.{}", member.key)) else { continue };
        reader.keys(inner, keys::HOOK);
        report_if_empty(reader, &member.value, inner, "the hook has no expected results; add at least one");
        let inner = inner.iter().filter_map(|member| expected(reader, member, keys::HOOK)).collect();
        let check = Check::Hook(member.key.to_string(), inner);
        all.push(Expected { line: reader.line(member.key_span), check });
    }
    all
}

fn report_if_empty(reader: &mut TestFileReader<'_>, node: &Node<'_>, members: &[Member<'_>], text: &str) {
    if members.is_empty() {
        reader.error("no-expectation", node.span, text);
    }
}

fn expected(reader: &mut TestFileReader<'_>, member: &Member<'_>, known: &[keys::Key]) -> Option<Expected> {
    let key = known.iter().find(|key| key.name == member.key)?;
    let check = check(reader, key.name, &member.value)?;
    Some(Expected { line: reader.line(member.key_span), check })
}

fn check(reader: &mut TestFileReader<'_>, name: &'static str, node: &Node<'_>) -> Option<Check> {
    match name {
        "decision" => decisions(reader, node).map(Check::Decision),
        "reason" => optional(reader, node, name).map(Check::Reason),
        "prompt" => optional(reader, node, name).map(Check::Prompt),
        "context" => Some(Check::Context(patterns(reader, node, name))),
        "messages" => Some(Check::Messages(patterns(reader, node, name))),
        "warnings" => Some(Check::Warnings(patterns(reader, node, name))),
        "input" => json(reader, node, Target::Input, false),
        "input_is" => json(reader, node, Target::Input, true),
        "output" => json(reader, node, Target::Output, false),
        "output_is" => json(reader, node, Target::Output, true),
        "exit_code" => reader.integer(node, name).map(Check::ExitCode),
        "max_duration" => reader.duration(node, name).map(Check::MaxDuration),
        "stdout" => reader.pattern(node, name).map(Check::Stdout),
        "stderr" => reader.pattern(node, name).map(Check::Stderr),
        "failure" => failure(reader, node),
        "ran" => Some(Check::Ran(reader.texts(node, name))),
        "not_ran" => {
            let names = reader.texts(node, name);
            if node.as_array().is_some_and(<[_]>::is_empty) {
                reader.error("no-expectation", node.span, "`not_ran` is empty; name at least one hook");
            }
            Some(Check::NotRan(names))
        }
        _ => None,
    }
}

fn decisions(reader: &mut TestFileReader<'_>, node: &Node<'_>) -> Option<Vec<Decision>> {
    let mut all = Vec::new();
    for node in reader.several(node) {
        let word = reader.text(node, "decision")?;
        match word.parse() {
            Ok(decision) => all.push(decision),
            Err(_) => {
                reader.unknown("unknown-word", node.span, "decision", &word, &Decision::ALL.map(Decision::name));
                return None;
            }
        }
    }
    if all.is_empty() {
        reader.error("no-expectation", node.span, "`decision` is empty; name at least one decision");
    }
    Some(all)
}

/// `Some(None)`: null.
fn optional(reader: &mut TestFileReader<'_>, node: &Node<'_>, what: &str) -> Option<Option<TextPattern>> {
    if node.is_null() { Some(None) } else { reader.pattern(node, what).map(Some) }
}

fn patterns(reader: &mut TestFileReader<'_>, node: &Node<'_>, what: &str) -> Vec<TextPattern> {
    reader.several(node).iter().filter_map(|node| reader.pattern(node, what)).collect()
}

fn json(reader: &mut TestFileReader<'_>, node: &Node<'_>, target: Target, exact: bool) -> Option<Check> {
    // For an exact comparison, null is an ordinary value.
    let wanted = if node.is_null() && !exact { None } else { Some(reader.json(node)?) };
    Some(Check::Json { target, wanted, exact })
}

fn failure(reader: &mut TestFileReader<'_>, node: &Node<'_>) -> Option<Check> {
    if node.is_null() {
        return Some(Check::Failure(None));
    }
    let word = reader.text(node, "failure")?;
    let found = FailureKind::ALL.iter().find(|kind| kind.name() == word);
    if found.is_none() {
        let names: Vec<_> = FailureKind::ALL.iter().map(|kind| kind.name()).collect();
        reader.unknown("unknown-word", node.span, "failure", &word, &names);
    }
    found.map(|kind| Check::Failure(Some(*kind)))
}
