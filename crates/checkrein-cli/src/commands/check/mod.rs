//! `checkrein check`: reports errors in hook files and common mistakes in hooks.
//!
//! Prints text, JSON or SARIF. Runs no hook.

mod sarif;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use checkrein::dialects::config::{Diagnostic, Severity};
use checkrein::hook_files::Loaded;
use checkrein_tools::lint::{self, RULES};
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::config::{self, directory, sources};
use super::dialect::DialectName;
use super::list::is_placeholder;
use super::{layout, pluralize};
use crate::exit::{self, Exit, UsageErrorExt};

/// Find problems in config files, hooks and scripts
///
/// Reports invalid config, missing scripts and programs, matchers that match nothing, and guards that cannot block. The
/// comment `# checkrein: allow CODE` in a script or config file disables a lint there.
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
    /// Agent whose format the files have
    #[arg(long = "as", value_name = "AGENT", default_value = "native")]
    dialect: DialectName,
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
    /// Explain a lint, and check nothing
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
    let files: Vec<_> = arguments.files.iter().chain(&arguments.config).cloned().collect();
    let mut sources = sources(arguments.dialect.0, &files, &dir)?;
    if let Some(name) = &arguments.agent {
        sources = sources.agent(name);
    }
    let loaded = sources.load();
    config::hint(arguments.dialect.0, &files, &loaded, &dir);
    let lints = lint::lint(&loaded.hooks, &dir);
    let mut found: Vec<_> = loaded.diagnostics.iter().cloned().chain(lint::audit_log(&loaded)).chain(lints).collect();
    for code in arguments.allow.iter().filter(|code| lint::rule(code).is_none()) {
        if !found.iter().any(|diagnostic| diagnostic.code == code) {
            super::print_note(&format!("--allow {code} has no effect: {}", no_lint(code)));
        }
    }
    found.retain(|diagnostic| {
        !arguments.allow.iter().any(|code| code == diagnostic.code) && !lint::is_silenced(diagnostic)
    });
    let (errors, warnings) = counts(&found);
    let bad = errors > 0 || (arguments.strict && warnings > 0);
    let exit = if bad { exit::FAILURE } else { exit::SUCCESS };
    super::finish_output(exit, show(&mut out, arguments, &dir, &loaded, &found))
}

fn show(out: &mut impl Write, arguments: &Arguments, dir: &Path, loaded: &Loaded, found: &[Diagnostic]) -> Result<()> {
    let (errors, warnings) = counts(found);
    if arguments.sarif {
        writeln!(out, "{:#}", sarif::report(found, dir))?;
    } else if arguments.json {
        let all: Vec<_> = found.iter().map(as_json).collect();
        writeln!(out, "{:#}", json!({ "errors": errors, "warnings": warnings, "diagnostics": all }))?;
    } else {
        for diagnostic in found {
            show_one(out, diagnostic)?;
        }
        let files = loaded.files.iter().filter(|file| file.hooks > 0).count();
        let hooks = loaded.hooks.iter().filter(|hook| !is_placeholder(loaded, hook));
        let hooks = layout::count_hooks(hooks.map(|hook| &*hook.info));
        let [hooks, files] = [pluralize(hooks, "hook"), pluralize(files, "file")];
        let [errors, warnings] = [pluralize(errors, "error"), pluralize(warnings, "warning")];
        writeln!(out, "{hooks} in {files}: {errors}, {warnings}")?;
    }
    Ok(())
}

/// Numbers of errors and of warnings.
fn counts(found: &[Diagnostic]) -> (usize, usize) {
    let errors = found.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count();
    (errors, found.len() - errors)
}

fn no_lint(code: &str) -> String {
    let codes: Vec<_> = RULES.iter().map(|rule| rule.code).collect();
    match checkrein::core::closest_match(code, codes.iter().copied()) {
        Some(meant) => format!("unknown lint `{code}`, did you mean `{meant}`?"),
        None => format!("unknown lint `{code}`; the lints are {}", codes.join(", ")),
    }
}

fn explain(out: &mut impl Write, code: &str, as_json: bool) -> Result<Exit> {
    let rule = lint::rule(code).with_context(|| no_lint(code)).usage_error()?;
    if as_json {
        let rule = json!({ "code": rule.code, "help": rule.help, "explanation": rule.explanation });
        writeln!(out, "{rule:#}")?;
        return Ok(exit::SUCCESS);
    }
    writeln!(out, "{}\n\n{}\n\nFix: {}.", rule.code.bold(), rule.explanation, rule.help)?;
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
