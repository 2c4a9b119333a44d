//! Static checks of hooks and their scripts, for mistakes that published guards have. `checkrein check` uses them.
//!
//! Each lint has a stable code and an explanation ([`RULES`]). A comment with `checkrein: allow CODE` silences it, in the
//! script or in the hook's file. Lints must never run a hook.

mod answers;
mod audit_log;
mod code;
mod fields;
mod rules;
mod script;
mod shell;

pub use audit_log::audit_log;
pub use rules::{LintRule, RULES, rule};

use std::path::Path;

use checkrein::internal::regular_file;
use checkrein_core::{EventKind, HookState};
use checkrein_dialects::config::{Diagnostic, Location, Severity};
use checkrein_dialects::{Dialect, HandlerSpec, HookSpec, ToolRow};
use checkrein_document::{LineIndex, MAX_SIZE, Span};

use script::Script;

/// Checks hooks and the scripts that they run. `dir` is the agent's working directory.
pub fn lint(hooks: &[HookSpec], dir: &Path) -> Vec<Diagnostic> {
    // Lints run nothing, so unapproved hooks are checked too.
    let is_decoded =
        |state: &HookState| matches!(state, HookState::Ready | HookState::Untrusted | HookState::Changed(_));
    hooks.iter().filter(|hook| is_decoded(&hook.state)).flat_map(|hook| lint_hook(hook, dir)).collect()
}

fn lint_hook(hook: &HookSpec, dir: &Path) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    matcher(hook, &mut found);
    timeout(hook, &mut found);
    if hook.info.dry_run && is_gate(hook) {
        found.push(for_hook(hook, "dry-run-gate", "it is a dry run, so it cannot block"));
    }
    let mut script = None;
    if let HandlerSpec::Command(command) = &hook.handler {
        let script = script.insert(Script::from_command(command, hook.dialect, dir));
        script.lint(hook, &mut |code, line, message| found.push(for_script(hook, code, line, message, script)));
    }
    if !found.is_empty() {
        let config = hook.info.source.file.as_ref().and_then(|file| read_text(file));
        let texts = [config.as_deref(), script.as_ref().and_then(Script::text)];
        found.retain(|diagnostic| !texts.iter().flatten().any(|text| allows(text, diagnostic.code)));
    }
    found
}

/// Returns `true` if a comment in the diagnostic's file silences it. Only lints can be silenced. Some of them are found when
/// files are read, before [`lint`] runs.
pub fn is_silenced(diagnostic: &Diagnostic) -> bool {
    rule(diagnostic.code).is_some() && read_text(&diagnostic.file).is_some_and(|text| allows(&text, diagnostic.code))
}

/// Reads a hook file or a script. `None` if it cannot be read.
fn read_text(file: &str) -> Option<String> {
    regular_file::read_text(Path::new(file), MAX_SIZE as u64).ok()
}

/// Returns `true` if a comment in this text silences the lint `code`.
fn allows(text: &str, code: &str) -> bool {
    let mut allowed = text.split("checkrein: allow ").skip(1);
    allowed.any(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '-').next() == Some(code))
}

/// Diagnostic about a line of the hook's script, or about the hook if there is no line or no script file.
fn for_script(hook: &HookSpec, code: &'static str, line: Option<u32>, message: String, script: &Script) -> Diagnostic {
    match (line, script.path()) {
        (Some(line), Some(path)) => for_line(&path.display().to_string(), code, line, message),
        _ => for_hook(hook, code, &message),
    }
}

fn for_line(file: &str, code: &'static str, line: u32, message: String) -> Diagnostic {
    with_help_and_line(Diagnostic::of_file(Severity::Warning, code, file, message), Some(line))
}

fn for_hook(hook: &HookSpec, code: &'static str, message: &str) -> Diagnostic {
    let info = &hook.info;
    let file = info.source.file.clone().unwrap_or_default();
    let text = format!("hook `{}`: {message}", info.id);
    with_help_and_line(Diagnostic::of_file(Severity::Warning, code, file, text), info.source.line)
}

/// Adds the help text of the lint, and the location of the line.
fn with_help_and_line(diagnostic: Diagnostic, line: Option<u32>) -> Diagnostic {
    let diagnostic = match rule(diagnostic.code) {
        Some(rule) => diagnostic.with_help(rule.help),
        None => diagnostic,
    };
    match line.zip(read_text(&diagnostic.file)) {
        Some((line, text)) => diagnostic.at(location(&text, line)),
        None => diagnostic,
    }
}

/// Location of a line's text without its indentation.
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
    // The agent compares matchers in its own files with its own names only.
    let tools: Vec<&str> = hook.dialect.tools.iter().flat_map(ToolRow::matched_names).collect();
    let is_rule = pattern.split_once('(').is_some_and(|(tool, rest)| {
        rest.ends_with(')') && !tool.is_empty() && tool.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    });
    if is_rule && !hook.matcher.matches(pattern) {
        let text = format!("matcher `{pattern}` is a permission rule, which matches no tool name");
        found.push(for_hook(hook, "rule-in-matcher", &text));
        return;
    }
    // The tool names of MCP servers are unknown here.
    let may_be_mcp = pattern.contains("mcp") || pattern.contains(':');
    if !tools.is_empty() && !may_be_mcp && !tools.iter().any(|tool| hook.matcher.matches(tool)) {
        let close = || checkrein_core::closest_match(pattern, tools.iter().copied()).map(str::to_owned);
        let hint = own_names(hook.dialect, pattern).or_else(close);
        let hint = hint.map(|tool| format!(", did you mean `{tool}`?")).unwrap_or_default();
        let text = format!("matcher `{pattern}` matches no tool of {}{hint}", hook.dialect.title());
        found.push(for_hook(hook, "matcher-fits-nothing", &text));
        return;
    }
    for part in pattern.split('|').filter(|part| !tools.iter().any(|tool| tool.contains(part))) {
        if let Some(own) = own_names(hook.dialect, part) {
            let agent = hook.dialect.title();
            let text = format!("`{part}` in matcher `{pattern}` is not a tool of {agent}, did you mean `{own}`?");
            found.push(for_hook(hook, "matcher-fits-nothing", &text));
        }
    }
}

/// Names that an agent has for a list of common names. `None`: a part is not a common name of its tools.
fn own_names(dialect: &Dialect, pattern: &str) -> Option<String> {
    let mut own: Vec<&str> = Vec::new();
    for part in pattern.split('|') {
        let is_named = |tool: &&ToolRow| tool.common.iter().any(|name| name.eq_ignore_ascii_case(part));
        let tool = dialect.tools.iter().find(is_named)?;
        if !own.contains(&tool.name) {
            own.push(tool.name);
        }
    }
    Some(own.join("|"))
}

fn timeout(hook: &HookSpec, found: &mut Vec<Diagnostic>) {
    let Some(time) = hook.timeout else { return };
    // A round number of at least 1000 is probably meant as milliseconds.
    if time.as_secs() >= 1000 && time.subsec_nanos() == 0 && time.as_secs() % 100 == 0 {
        let text = format!("its timeout is {} seconds ({} minutes)", time.as_secs(), time.as_secs() / 60);
        found.push(for_hook(hook, "timeout-unit", &text));
    }
    // Less time than a process needs to start is probably meant as seconds.
    if !time.is_zero() && time < std::time::Duration::from_millis(100) {
        let text = format!("its timeout is {time:?}, too short for most programs to start");
        found.push(for_hook(hook, "timeout-unit", &text));
    }
}

/// Returns `true` if the hook can block at one of its events.
fn is_gate(hook: &HookSpec) -> bool {
    hook.kinds.iter().any(|kind: &EventKind| hook.dialect.is_gate(kind))
}
