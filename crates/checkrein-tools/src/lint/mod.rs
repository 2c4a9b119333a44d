//! Static checks of hooks and their scripts, for mistakes that published guards have. `checkrein check` uses them.
//!
//! Each lint has a stable code and an explanation ([`RULES`]). A comment with `checkrein: allow CODE` silences it, in the
//! script or in the hook's file. Other problems of config files have codes too ([`CONFIG_CODES`]), which cannot be silenced.
//! Lints must never run a hook.

mod answers;
mod audit_log;
mod bashisms;
mod code;
mod config_codes;
pub(crate) mod entries;
mod fields;
mod load;
mod place;
mod programs;
mod rule;
mod rules;
mod script;
mod shell;
mod syntax;
mod tools;
mod variables;

pub use audit_log::audit_log;
pub use config_codes::CONFIG_CODES;
pub use entries::{missing_entries, missing_entries_of};
pub use load::{load_errors, mark_broken};
pub use rules::{LintRule, RULES, RuleSeverity, explain, rule};

use std::path::Path;

use checkrein::Registry;
use checkrein::handler::HandlerEnv;
use checkrein::hook_files::Loaded;
use checkrein::internal::regular_file;
use checkrein::internal::shell::{ShellEnv, SimpleCommand, simple_commands, simple_commands_of_argv};
use checkrein_core::{EventKind, HookState};
use checkrein_dialects::config::{Diagnostic, Location, Severity};
use checkrein_dialects::{CommandLine, Dialect, HandlerSpec, HookSpec};
use checkrein_document::{LineIndex, MAX_SIZE, Span};

use place::Part;
use script::Script;

/// Environment of an agent that is started in this directory, with the variables of this process.
pub fn environment(dir: &Path) -> HandlerEnv {
    let mut env = HandlerEnv::new(dir, std::env::vars_os(), Registry::new());
    env.program = crate::own_program::path();
    env
}

/// All findings in loaded files: problems of the files, of the audit log, of hooks that cannot be loaded, and lints. `dir` is the
/// start directory of the agent.
pub fn findings(dialect: &'static Dialect, loaded: &Loaded, dir: &Path) -> Vec<Diagnostic> {
    let mut found = loaded.diagnostics.clone();
    found.extend(audit_log(loaded));
    found.extend(load_errors(dialect, &loaded.hooks, dir, &loaded.diagnostics));
    found.extend(lint(&loaded.hooks, &environment(dir)));
    found
}

/// Checks hooks and the scripts that they run. `env` has the agent's working directory and its variables.
pub fn lint(hooks: &[HookSpec], env: &HandlerEnv) -> Vec<Diagnostic> {
    // Lints run nothing, so unapproved hooks are checked too.
    let decoded = || hooks.iter().filter(|hook| is_decoded(&hook.state));
    let mut found: Vec<_> = decoded().flat_map(|hook| lint_hook(hook, env)).collect();
    found.extend(duplicate_ids(decoded()));
    // A hook for several kinds of events may be several hooks here.
    let mut distinct: Vec<Diagnostic> = Vec::with_capacity(found.len());
    for diagnostic in found {
        if !distinct.contains(&diagnostic) {
            distinct.push(diagnostic);
        }
    }
    distinct
}

/// `true` if the entry of a hook was read without errors.
fn is_decoded(state: &HookState) -> bool {
    matches!(state, HookState::Ready | HookState::Untrusted | HookState::Changed(_))
}

fn lint_hook(hook: &HookSpec, env: &HandlerEnv) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    tools::matcher(hook, &mut found);
    tools::rule(hook, &mut found);
    rule::tests(hook, &mut found);
    rule::effects(hook, &mut found);
    timeout(hook, &mut found);
    rule_with_option(hook, &mut found);
    if hook.info.dry_run && is_gate(hook) {
        found.push(for_hook(hook, Part::Entry, "dry-run-gate", "it is a dry run, so it cannot block"));
    }
    let mut script = None;
    if let HandlerSpec::Command(command) = &hook.handler {
        let script = script.insert(Script::from_command(command, hook, env));
        script.lint(hook, env, &mut |code, line, message| found.push(for_script(hook, code, line, message, script)));
    }
    if !found.is_empty() {
        let config = hook.info.source.file.as_ref().and_then(|file| read_text(file));
        let texts = [config.as_deref(), script.as_ref().and_then(Script::text)];
        found.retain(|diagnostic| !texts.iter().flatten().any(|text| allows(text, diagnostic.code)));
    }
    found
}

/// `true` if the hook calls checkrein: an entry of `checkrein install`.
pub fn calls_checkrein(hook: &HookSpec) -> bool {
    let HandlerSpec::Command(command) = &hook.handler else { return false };
    let env = ShellEnv { home: None, cwd: Path::new("/") };
    let steps = match &command.run {
        CommandLine::Shell { text, .. } => simple_commands(text, env),
        CommandLine::Argv(argv) => simple_commands_of_argv(argv, env),
    };
    let is_call = |step: &SimpleCommand| {
        step.name == "checkrein" && step.operands().next().is_some_and(|word| word.text == "hook")
    };
    steps.is_ok_and(|steps| steps.iter().any(is_call))
}

/// Reports hooks of one file with the same name.
fn duplicate_ids<'h>(hooks: impl Iterator<Item = &'h HookSpec>) -> Vec<Diagnostic> {
    let mut seen: Vec<&HookSpec> = Vec::new();
    let mut found = Vec::new();
    for hook in hooks {
        let (id, source) = (&hook.info.id, &hook.info.source);
        let same = |other: &&&HookSpec| other.info.id == *id && other.info.source.file == source.file;
        match seen.iter().find(same) {
            // One entry becomes two hooks if some of its events have matchers.
            Some(other) if other.info.source == *source => {}
            Some(other) => {
                let line = other.info.source.line.map(|line| format!(" in line {line}")).unwrap_or_default();
                let text = format!("another hook{line} has the same `id`");
                found.push(for_hook(hook, Part::Id, "duplicate-id", &text));
            }
            None => seen.push(hook),
        }
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

/// Diagnostic about a line of the hook's script, or about the hook's command if there is no line or no script file.
fn for_script(hook: &HookSpec, code: &'static str, line: Option<u32>, message: String, script: &Script) -> Diagnostic {
    match (line, script.path()) {
        (Some(line), Some(path)) => {
            let file = path.display().to_string();
            let at = read_text(&file).map(|text| location(&text, line));
            with_help(Diagnostic::of_file(severity(code, hook), code, file, message), at)
        }
        _ => for_hook(hook, Part::Handler, code, &message),
    }
}

/// Diagnostic about a part of a hook's entry.
fn for_hook(hook: &HookSpec, part: Part, code: &'static str, message: &str) -> Diagnostic {
    let info = &hook.info;
    let file = info.source.file.clone().unwrap_or_default();
    let text = read_text(&file);
    let at = text.as_deref().and_then(|text| {
        let line = || info.source.line.map(|line| location(text, line));
        place::locate(hook, part, text).or_else(line)
    });
    let message = format!("hook `{}`: {message}", info.id);
    with_help(Diagnostic::of_file(severity(code, hook), code, file, message), at)
}

fn severity(code: &str, hook: &HookSpec) -> Severity {
    match explain(code).map(|rule| rule.severity) {
        Some(RuleSeverity::Error) => Severity::Error,
        Some(RuleSeverity::ErrorAtGates) if is_gate(hook) => Severity::Error,
        _ => Severity::Warning,
    }
}

/// Adds the help text of the code, and the location.
fn with_help(diagnostic: Diagnostic, at: Option<Location>) -> Diagnostic {
    let diagnostic = match explain(diagnostic.code) {
        Some(rule) => diagnostic.with_help(rule.help),
        None => diagnostic,
    };
    match at {
        Some(at) => diagnostic.at(at),
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

/// Reports a guard whose rule names an option: a command can have its options in another order or form.
fn rule_with_option(hook: &HookSpec, found: &mut Vec<Diagnostic>) {
    let Some(rule) = hook.permission_rule.as_ref().filter(|_| is_gate(hook)) else { return };
    let mut words = rule.pattern.as_deref().unwrap_or_default().split_whitespace().skip(1);
    if let Some(option) = words.find(|word| word.starts_with('-')) {
        let text = format!(
            "`{rule}` does not match if `{option}` is at another place of the command or written in another way"
        );
        found.push(for_hook(hook, Part::Rule, "evadable-rule", &text));
    }
}

fn timeout(hook: &HookSpec, found: &mut Vec<Diagnostic>) {
    let Some(time) = hook.timeout else { return };
    // A round number of at least 1000 is probably meant as milliseconds.
    if time.as_secs() >= 1000 && time.subsec_nanos() == 0 && time.as_secs() % 100 == 0 {
        let text = format!("its timeout is {} seconds ({} minutes)", time.as_secs(), time.as_secs() / 60);
        found.push(for_hook(hook, Part::Timeout, "timeout-unit", &text));
    }
    // Less time than a process needs to start is probably meant as seconds.
    if !time.is_zero() && time < std::time::Duration::from_millis(100) {
        let text = format!("its timeout is {time:?}, too short for most programs to start");
        found.push(for_hook(hook, Part::Timeout, "timeout-unit", &text));
    }
}

/// Returns `true` if the hook can block at one of its events.
fn is_gate(hook: &HookSpec) -> bool {
    hook.kinds.iter().any(|kind: &EventKind| hook.dialect.is_gate(kind))
}
