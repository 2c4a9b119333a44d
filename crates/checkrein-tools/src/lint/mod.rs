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
mod files;
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
pub use files::Files;
pub use load::{load_errors, mark_broken};
pub use rules::{LintRule, RULES, RuleSeverity, explain, rule};

use std::collections::{HashMap, HashSet};
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
    let files = &Files::default();
    // Lints run nothing, so unapproved hooks are checked too.
    let decoded = || hooks.iter().filter(|hook| is_decoded(&hook.state));
    // Packs of which a rule is in force.
    let active: HashSet<_> = decoded()
        .filter(|hook| !hook.info.dry_run)
        .filter_map(|hook| Some((hook.info.source.file.clone(), rule::pack_of(hook)?)))
        .collect();
    let is_active = |hook: &HookSpec, pack| active.contains(&(hook.info.source.file.clone(), pack));
    let mut found: Vec<_> = decoded().flat_map(|hook| lint_hook(files, hook, env, &is_active)).collect();
    found.extend(duplicate_ids(files, decoded()));
    found.extend(rule::labels(files, &decoded()));
    distinct(found)
}

/// Removes repeated diagnostics. A hook for several kinds of events may be several hooks.
fn distinct(found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen = HashSet::new();
    let line = |diagnostic: &Diagnostic| diagnostic.at.as_ref().map(|at| (at.place.line, at.place.column));
    let key = |diagnostic: &Diagnostic| {
        (diagnostic.code, diagnostic.file.clone(), line(diagnostic), diagnostic.message.clone())
    };
    found.into_iter().filter(|diagnostic| seen.insert(key(diagnostic))).collect()
}

/// `true` if the entry of a hook was read without errors.
fn is_decoded(state: &HookState) -> bool {
    matches!(state, HookState::Ready | HookState::Untrusted | HookState::Changed(_))
}

/// Checks one hook. `is_active` returns whether a pack of the hook's file has a rule that is no dry run.
fn lint_hook<'h>(
    files: &Files,
    hook: &'h HookSpec,
    env: &HandlerEnv,
    is_active: &impl Fn(&HookSpec, &'h str) -> bool,
) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    tools::matcher(files, hook, &mut found);
    tools::rule(files, hook, &mut found);
    rule::tests(files, hook, &mut found);
    rule::effects(files, hook, &mut found);
    rule::once(files, hook, &mut found);
    rule::empty_lists(files, hook, &mut found);
    rule::comparisons(files, hook, &mut found);
    timeout(files, hook, &mut found);
    rule_with_option(files, hook, &mut found);
    if hook.info.dry_run && is_gate(hook) && hook.can_guard() {
        let text = "it is a dry run, so it cannot block";
        let mut diagnostic = for_hook(files, hook, Part::Entry, "dry-run-gate", text);
        // One entry makes all rules of a pack dry runs.
        if let Some(pack) = rule::pack_of(hook).filter(|pack| !is_active(hook, pack)) {
            diagnostic.message = format!("pack `{pack}`: {text}");
        }
        found.push(diagnostic);
    }
    let mut script = None;
    if let HandlerSpec::Command(command) = &hook.handler {
        let script = script.insert(Script::from_command(command, hook, env));
        script.lint(hook, env, &mut |code, line, message| {
            found.push(for_script(files, hook, code, line, message, script));
        });
    }
    if !found.is_empty() {
        let config = hook.info.source.file.as_ref().and_then(|file| files.get(file));
        let script = script.as_ref().and_then(Script::text).unwrap_or_default();
        found.retain(|diagnostic| {
            let code = diagnostic.code;
            !config.as_ref().is_some_and(|file| file.silences(code)) && !silenced(script).any(|own| own == code)
        });
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
fn duplicate_ids<'h>(files: &Files, hooks: impl Iterator<Item = &'h HookSpec>) -> Vec<Diagnostic> {
    let mut seen: HashMap<_, &HookSpec> = HashMap::new();
    let mut found = Vec::new();
    for hook in hooks {
        let (id, source) = (&hook.info.id, &hook.info.source);
        let first = *seen.entry((&source.file, id)).or_insert(hook);
        // One entry becomes two hooks if some of its events have matchers.
        if first.info.source != *source {
            let line = first.info.source.line.map(|line| format!(" in line {line}")).unwrap_or_default();
            let text = format!("another hook{line} has the same `id`");
            found.push(for_hook(files, hook, Part::Id, "duplicate-id", &text));
        }
    }
    found
}

/// Reads a hook file or a script. `None` if it cannot be read.
fn read_text(file: &str) -> Option<String> {
    regular_file::read_text(Path::new(file), MAX_SIZE as u64).ok()
}

/// Returns the codes of the lints that comments in this text silence.
fn silenced(text: &str) -> impl Iterator<Item = &str> {
    let behind = text.split("checkrein: allow ").skip(1);
    behind.filter_map(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '-').next())
}

/// Diagnostic about a line of the hook's script, or about the hook's command if there is no line or no script file.
fn for_script(
    files: &Files,
    hook: &HookSpec,
    code: &'static str,
    line: Option<u32>,
    message: String,
    script: &Script,
) -> Diagnostic {
    match (line, script.path()) {
        (Some(line), Some(path)) => {
            let file = path.display().to_string();
            let at = read_text(&file).map(|text| location(&text, line));
            with_help(Diagnostic::of_file(severity(code, hook), code, file, message), at)
        }
        _ => for_hook(files, hook, Part::Handler, code, &message),
    }
}

/// Diagnostic about a part of a hook's entry.
fn for_hook(files: &Files, hook: &HookSpec, part: Part, code: &'static str, message: &str) -> Diagnostic {
    let info = &hook.info;
    let file = info.source.file.clone().unwrap_or_default();
    let at = files.get(&file).and_then(|file| {
        let line = || info.source.line.map(|line| location(&file.text, line));
        place::locate(hook, part, &file).or_else(line)
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
fn rule_with_option(files: &Files, hook: &HookSpec, found: &mut Vec<Diagnostic>) {
    let Some(rule) = hook.permission_rule.as_ref().filter(|_| is_gate(hook)) else { return };
    let mut words = rule.pattern.as_deref().unwrap_or_default().split_whitespace().skip(1);
    if let Some(option) = words.find(|word| word.starts_with('-')) {
        let text = format!(
            "`{rule}` does not match if `{option}` is at another place of the command or written in another way"
        );
        found.push(for_hook(files, hook, Part::Rule, "evadable-rule", &text));
    }
}

fn timeout(files: &Files, hook: &HookSpec, found: &mut Vec<Diagnostic>) {
    let Some(time) = hook.timeout else { return };
    // A round number of at least 1000 is probably meant as milliseconds.
    if time.as_secs() >= 1000 && time.subsec_nanos() == 0 && time.as_secs() % 100 == 0 {
        let text = format!("its timeout is {} seconds ({} minutes)", time.as_secs(), time.as_secs() / 60);
        found.push(for_hook(files, hook, Part::Timeout, "timeout-unit", &text));
    }
    // Less time than a process needs to start is probably meant as seconds.
    if !time.is_zero() && time < std::time::Duration::from_millis(100) {
        let text = format!("its timeout is {time:?}, too short for most programs to start");
        found.push(for_hook(files, hook, Part::Timeout, "timeout-unit", &text));
    }
}

/// Returns `true` if the hook can block at one of its events.
fn is_gate(hook: &HookSpec) -> bool {
    hook.kinds.iter().any(|kind: &EventKind| hook.dialect.is_gate(kind))
}
