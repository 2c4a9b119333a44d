//! `checkrein check`: reports errors in hook files and common mistakes in hooks.
//!
//! Prints text, JSON or SARIF. Runs no hook.

mod agents;
mod sarif;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use checkrein::dialects::Dialect;
use checkrein::dialects::config::{Diagnostic, Severity};
use checkrein::hook::HookState;
use checkrein::hook_files::Locations;
use checkrein_tools::lint::{self, CONFIG_CODES, RULES};
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::config::directory;
use super::dialect::DialectName;
use super::list::is_placeholder;
use super::{layout, pluralize};
use crate::exit::{self, Exit, UsageErrorExt};
use agents::AgentFiles;

/// Find problems in config files, hooks and scripts
///
/// Reports invalid config, hooks that cannot be loaded, missing scripts and programs, shell syntax errors, matchers that match
/// nothing, and guards that cannot block. Without --as and files, checks checkrein's files and those of all agents, each by
/// the rules of its own agent. The comment `# checkrein: allow CODE` in a script or config file disables a lint there.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   no errors
  1   errors, or warnings with --strict
  64  usage error

Example:
  checkrein check
  checkrein check --as claude .claude/settings.json --strict
  checkrein check --explain exit-1")]
pub struct Arguments {
    /// Files to check instead of the usual locations
    files: Vec<PathBuf>,
    /// Agent whose files to check; default: all agents with files
    #[arg(long = "as", value_name = "AGENT")]
    dialect: Option<DialectName>,
    /// Same as FILES
    #[arg(long, value_name = "FILE")]
    config: Vec<PathBuf>,
    /// Start directory of the agent
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Agent to use, if a file contains hooks of several agents
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    /// Treat warnings as errors
    #[arg(long)]
    strict: bool,
    /// Skip this lint; can be repeated
    #[arg(long, value_name = "CODE")]
    allow: Vec<String>,
    /// Explain a code, and check nothing
    #[arg(long, value_name = "CODE")]
    explain: Option<String>,
    /// Print JSON
    #[arg(long, conflicts_with = "sarif")]
    json: bool,
    /// Print SARIF, for code scanning
    #[arg(long)]
    sarif: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let mut out = anstream::stdout().lock();
    if let Some(code) = &arguments.explain {
        return explain(&mut out, code, arguments.json);
    }
    let dir = directory(&arguments.dir)?;
    let named: Vec<_> = arguments.files.iter().chain(&arguments.config).cloned().collect();
    let dialect = arguments.dialect.as_ref().map(|named| named.0);
    let agents = agents::load(dialect, &named, &dir, arguments.agent.as_deref())?;
    let mut checked: Vec<_> = agents.iter().map(|files| Checked::new(files, &dir)).collect();
    if named.is_empty()
        && let Some(own) = checked.iter_mut().find(|checked| checked.dialect.has_all_events)
    {
        own.found.extend(lint::missing_entries(&dir, Locations::default()));
    }
    for code in arguments.allow.iter().filter(|code| lint::rule(code).is_none()) {
        if !checked.iter().flat_map(|checked| &checked.found).any(|diagnostic| diagnostic.code == code) {
            super::print_note(&format!("--allow {code} has no effect: {}", no_lint(code)));
        }
    }
    let files = lint::Files::default();
    for checked in &mut checked {
        checked.found.retain(|diagnostic| {
            !arguments.allow.iter().any(|code| code == diagnostic.code) && !files.is_silenced(diagnostic)
        });
    }
    let (errors, warnings) = totals(&checked);
    let bad = errors > 0 || (arguments.strict && warnings > 0);
    let exit = if bad { exit::FAILURE } else { exit::SUCCESS };
    super::finish_output(exit, show(&mut out, arguments, &dir, &checked))
}

/// The findings in the files of agents' own hooks, each with the name of the agent. `doctor` uses it.
pub fn findings_of_agents(dir: &Path) -> Result<Vec<(&'static str, Diagnostic)>> {
    let agents = agents::load(None, &[], dir, None)?;
    let others = agents.iter().filter(|files| !files.dialect.has_all_events);
    let findings = |files: &AgentFiles| {
        let found = Checked::new(files, dir).found;
        found.into_iter().map(|found| (files.dialect.name, found)).collect::<Vec<_>>()
    };
    Ok(others.flat_map(findings).collect())
}

/// The findings in the files of one agent.
struct Checked {
    dialect: &'static Dialect,
    found: Vec<Diagnostic>,
    hooks: usize,
    files: usize,
    /// Number of hooks that do not run because they are not approved.
    not_approved: usize,
}

impl Checked {
    fn new(files: &AgentFiles, dir: &Path) -> Self {
        let AgentFiles { dialect, loaded } = files;
        let found = lint::findings(dialect, loaded, dir);
        let hooks = || loaded.hooks.iter().filter(|hook| !is_placeholder(loaded, hook));
        // Only checkrein asks for approval. Agents run the hooks of their own files by their own rules.
        let waits = |state: &HookState| matches!(state, HookState::Untrusted | HookState::Changed(_));
        let waiting = hooks().filter(|hook| dialect.has_all_events && waits(&hook.state));
        Self {
            dialect,
            found,
            hooks: layout::count_hooks(hooks().map(|hook| &*hook.info)),
            files: loaded.files.iter().filter(|file| file.hooks > 0).count(),
            not_approved: layout::count_hooks(waiting.map(|hook| &*hook.info)),
        }
    }
}

/// Numbers of errors and of warnings for all agents.
fn totals(checked: &[Checked]) -> (usize, usize) {
    let all = checked.iter().map(|checked| counts(&checked.found));
    all.fold((0, 0), |(errors, warnings), (more_errors, more_warnings)| {
        (errors + more_errors, warnings + more_warnings)
    })
}

fn show(out: &mut impl Write, arguments: &Arguments, dir: &Path, checked: &[Checked]) -> Result<()> {
    let (errors, warnings) = totals(checked);
    let found = || checked.iter().flat_map(|checked| &checked.found);
    if arguments.sarif {
        writeln!(out, "{:#}", sarif::report(found(), dir))?;
        return Ok(());
    }
    if arguments.json {
        let all: Vec<_> = found().map(as_json).collect();
        let agents: Vec<_> = checked.iter().map(agent_as_json).collect();
        let report = json!({ "errors": errors, "warnings": warnings, "diagnostics": all, "agents": agents });
        writeln!(out, "{report:#}")?;
        return Ok(());
    }
    for diagnostic in found() {
        show_one(out, diagnostic)?;
    }
    // Without --as, checkrein is always among the agents, also without files.
    let is_shown = |one: &&Checked| checked.len() == 1 || one.hooks > 0 || !one.found.is_empty();
    let shown: Vec<_> = checked.iter().filter(is_shown).collect();
    let is_single = matches!(shown[..], [one] if one.dialect.has_all_events || arguments.dialect.is_some());
    for one in shown {
        let name = if is_single { String::new() } else { format!("{}: ", one.dialect.title()) };
        writeln!(out, "{name}{}", summary(one))?;
    }
    if checked.iter().all(|checked| checked.hooks == 0) && found().next().is_none() {
        super::print_note("no hooks here; `checkrein init` writes some, `checkrein list -v` shows the searched files");
    }
    Ok(())
}

/// Numbers of hooks, files and findings in one line.
fn summary(checked: &Checked) -> String {
    let (errors, warnings) = counts(&checked.found);
    let [hooks, files] = [pluralize(checked.hooks, "hook"), pluralize(checked.files, "file")];
    let [errors, warnings] = [pluralize(errors, "error"), pluralize(warnings, "warning")];
    let waiting = match checked.not_approved {
        0 => String::new(),
        1 => "; 1 hook is not approved (`checkrein trust` shows it)".to_owned(),
        several => format!("; {several} hooks are not approved (`checkrein trust` shows them)"),
    };
    format!("{hooks} in {files}: {errors}, {warnings}{waiting}")
}

fn agent_as_json(checked: &Checked) -> Value {
    let (errors, warnings) = counts(&checked.found);
    json!({
        "agent": checked.dialect.name,
        "hooks": checked.hooks,
        "files": checked.files,
        "errors": errors,
        "warnings": warnings,
        "not_approved": checked.not_approved,
    })
}

/// Numbers of errors and of warnings.
fn counts(found: &[Diagnostic]) -> (usize, usize) {
    let errors = found.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count();
    (errors, found.len() - errors)
}

fn no_lint(code: &str) -> String {
    let codes: Vec<_> = RULES.iter().map(|rule| rule.code).collect();
    let explained = RULES.iter().chain(CONFIG_CODES).map(|rule| rule.code);
    match checkrein::core::closest_match(code, explained) {
        Some(meant) => format!("unknown lint `{code}`, did you mean `{meant}`?"),
        None => format!("unknown lint `{code}`; the lints are {}", codes.join(", ")),
    }
}

fn explain(out: &mut impl Write, code: &str, as_json: bool) -> Result<Exit> {
    let rule = lint::explain(code).with_context(|| no_lint(code)).usage_error()?;
    if as_json {
        let rule = json!({ "code": rule.code, "help": rule.help, "explanation": rule.explanation });
        writeln!(out, "{rule:#}")?;
        return Ok(exit::SUCCESS);
    }
    writeln!(out, "{}\n\n{}\n\nFix: {}.", rule.code.bold(), rule.explanation, rule.help)?;
    // Problems of config files cannot be ignored in the file itself.
    if lint::rule(code).is_none() {
        writeln!(out, "Ignore it: pass --allow {}.", rule.code)?;
        return Ok(exit::SUCCESS);
    }
    writeln!(
        out,
        "Ignore it: add the comment `# checkrein: allow {}` to the script or the config file, or pass --allow {}.",
        rule.code, rule.code
    )?;
    Ok(exit::SUCCESS)
}

fn show_one(out: &mut impl Write, diagnostic: &Diagnostic) -> io::Result<()> {
    let text = super::visible::visible(&diagnostic.to_string(), super::LINES);
    // Lines below the first one may quote a file.
    let (first, rest) = text.split_at(text.find('\n').unwrap_or(text.len()));
    let text = super::shorten_paths(first) + rest;
    let word = diagnostic.severity.to_string();
    let coloured = match diagnostic.severity {
        Severity::Error => word.red().bold().to_string(),
        Severity::Warning => word.yellow().bold().to_string(),
    };
    writeln!(out, "{}", text.replacen(&format!(" {word}["), &format!(" {coloured}["), 1))
}

fn as_json(diagnostic: &Diagnostic) -> Value {
    json!({
        "severity": diagnostic.severity.to_string(),
        "code": diagnostic.code,
        "message": diagnostic.message,
        "file": diagnostic.file,
        "line": diagnostic.at.as_ref().map(|at| at.place.line),
        "column": diagnostic.at.as_ref().map(|at| at.place.column),
        "help": diagnostic.help,
    })
}
