//! What is probably wrong with hooks themselves: the faults that guards in the wild really have.
//!
//! Each lint has a code, which is the same from release to release, and an explanation ([`RULES`]). A comment with
//! `checkrein: allow CODE` in it silences one: in the script, or in the file that the hook stands in.

mod answers;
mod code;
mod fields;
mod rules;
mod script;
mod shell;

pub use rules::{LintRule, RULES, rule};

use std::path::Path;

use checkrein_core::{EventKind, HookState};
use checkrein_dialects::config::{Diagnostic, Location, Severity};
use checkrein_dialects::{HandlerSpec, HookSpec};
use checkrein_document::{LineIndex, Span};

use script::Script;

/// Looks at hooks, and at the scripts that they run. `dir` is where the agent would be started.
pub fn lint(hooks: &[HookSpec], dir: &Path) -> Vec<Diagnostic> {
    // Nothing is run for that, so it does not matter who has approved what.
    let is_whole = |state: &HookState| matches!(state, HookState::Ready | HookState::Untrusted | HookState::Changed(_));
    hooks.iter().filter(|hook| is_whole(&hook.state)).flat_map(|hook| lint_hook(hook, dir)).collect()
}

fn lint_hook(hook: &HookSpec, dir: &Path) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    matcher(hook, &mut found);
    timeout(hook, &mut found);
    if hook.info.dry_run && is_gate(hook) {
        found.push(of_hook(hook, "shadow-gate", "it runs in the shadow, so it stops nothing here"));
    }
    let mut script = None;
    if let HandlerSpec::Command(command) = &hook.handler {
        let script = script.insert(Script::of(command, hook.dialect, dir));
        script.lint(hook, &mut |code, line, message| found.push(told(hook, code, line, message, script)));
    }
    if !found.is_empty() {
        let config = hook.info.source.file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        let texts = [config.as_deref(), script.as_ref().and_then(Script::text)];
        found.retain(|diagnostic| !texts.iter().flatten().any(|text| allows(text, diagnostic.code)));
    }
    found
}

/// Whether a comment in the file that it is about silences this, if it is a lint. Some are found when files are read, before
/// [`lint`] looks at hooks.
pub fn is_silenced(diagnostic: &Diagnostic) -> bool {
    rule(diagnostic.code).is_some()
        && std::fs::read_to_string(&diagnostic.file).is_ok_and(|text| allows(&text, diagnostic.code))
}

/// Whether a comment in this text silences a lint.
fn allows(text: &str, code: &str) -> bool {
    let mut allowed = text.split("checkrein: allow ").skip(1);
    allowed.any(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '-').next() == Some(code))
}

/// A lint about a hook, or about a line of its script.
fn told(hook: &HookSpec, code: &'static str, line: Option<u32>, message: String, script: &Script) -> Diagnostic {
    match (line, script.path()) {
        (Some(line), Some(path)) => of_line(&path.display().to_string(), code, line, message),
        _ => of_hook(hook, code, &message),
    }
}

fn of_line(file: &str, code: &'static str, line: u32, message: String) -> Diagnostic {
    finished(Diagnostic::of_file(Severity::Warning, code, file, message), Some(line))
}

fn of_hook(hook: &HookSpec, code: &'static str, message: &str) -> Diagnostic {
    let info = &hook.info;
    let file = info.source.file.clone().unwrap_or_default();
    let text = format!("hook `{}`: {message}", info.id);
    finished(Diagnostic::of_file(Severity::Warning, code, file, text), info.source.line)
}

/// With its line and what to do.
fn finished(diagnostic: Diagnostic, line: Option<u32>) -> Diagnostic {
    let diagnostic = match rule(diagnostic.code) {
        Some(rule) => diagnostic.with_help(rule.help),
        None => diagnostic,
    };
    match line.zip(std::fs::read_to_string(&diagnostic.file).ok()) {
        Some((line, text)) => diagnostic.at(location(&text, line)),
        None => diagnostic,
    }
}

/// What stands in a line.
fn location(text: &str, line: u32) -> Location {
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1) as usize).map(str::len).sum();
    let whole = text[before..].lines().next().unwrap_or_default();
    let start = before + (whole.len() - whole.trim_start().len());
    let end = start + whole.trim().len();
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Location::of(&LineIndex::new(text), Span { start: offset(start), end: offset(end) })
}

fn matcher(hook: &HookSpec, found: &mut Vec<Diagnostic>) {
    let pattern = hook.matcher.pattern();
    let about_tools = hook.kinds.iter().all(|kind| kind.contract().matched_on.as_deref() == Some("tool_name"));
    if pattern.is_empty() || !about_tools || hook.kinds.is_empty() {
        return;
    }
    let rows = hook.dialect.tools.iter();
    let tools: Vec<&str> = rows.flat_map(|row| std::iter::once(row.name).chain(row.common.iter().copied())).collect();
    let is_rule = pattern.split_once('(').is_some_and(|(tool, rest)| {
        rest.ends_with(')') && !tool.is_empty() && tool.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    if is_rule && !hook.matcher.matches(pattern) {
        let text = format!("its matcher `{pattern}` is a permission rule; as a pattern it fits hardly anything");
        found.push(of_hook(hook, "rule-in-matcher", &text));
        return;
    }
    // Tools of MCP servers have names that nobody knows here.
    let may_be_other = pattern.contains("mcp") || pattern.contains(':');
    if !tools.is_empty() && !may_be_other && !tools.iter().any(|tool| hook.matcher.matches(tool)) {
        let close = checkrein_core::closest_match(pattern, tools.iter().copied());
        let hint = close.map(|tool| format!(", did you mean `{tool}`?")).unwrap_or_default();
        let text = format!("its matcher `{pattern}` fits no tool of {}{hint}", hook.dialect.name);
        found.push(of_hook(hook, "matcher-fits-nothing", &text));
    }
}

fn timeout(hook: &HookSpec, found: &mut Vec<Diagnostic>) {
    let Some(time) = hook.timeout else { return };
    // Nobody lets an agent wait for most of an hour; thousands are milliseconds.
    if time.as_secs() >= 1000 && time.subsec_nanos() == 0 && time.as_secs() % 100 == 0 {
        let text = format!("its timeout is {} seconds, as long as {} minutes", time.as_secs(), time.as_secs() / 60);
        found.push(of_hook(hook, "timeout-unit", &text));
    }
    // Nor does anybody give a process less time than it takes to start; single digits are seconds.
    if !time.is_zero() && time < std::time::Duration::from_millis(100) {
        let text = format!("its timeout is {time:?}, in which hardly anything can start");
        found.push(of_hook(hook, "timeout-unit", &text));
    }
}

/// Whether a hook could stop something at one of its events.
fn is_gate(hook: &HookSpec) -> bool {
    hook.kinds.iter().any(|kind: &EventKind| hook.dialect.is_gate(kind))
}
