//! Arguments that select hooks, and the functions that load these hooks and build engines from them.
//!
//! All commands that load hooks use them, except `hook`. Problems of files and hooks are printed on standard error.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use checkrein::dialects::config::Diagnostic;
use checkrein::dialects::{self, Dialect};
use checkrein::engine::{EngineBuilder, ExplainedHook, Problem};
use checkrein::hook::{HookState, SkipReason};
use checkrein::hook_files::{FileStatus, Loaded, Skip, Sources};
use checkrein::record::HookRecord;
use checkrein::rules::Compat;
use checkrein::{Engine, Event, EventKind, HookSpec, Trust};
use checkrein_tools::lint::calls_checkrein;

use super::dialect::DialectName;
use crate::exit::UsageErrorExt;

/// The files to read and the agent whose rules apply.
#[derive(Debug, Clone, clap::Args)]
pub struct ConfigArguments {
    /// Agent whose files and rules to use (claude, codex, ...); native: checkrein's own
    #[arg(long = "as", value_name = "AGENT", default_value = "native")]
    pub dialect: DialectName,
    /// Read this file instead of the usual locations; can be repeated
    #[arg(long, value_name = "FILE")]
    pub config: Vec<PathBuf>,
    /// Start directory of the agent
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Agent to use, if a file contains hooks of several agents
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Treat hooks of the project as approved; their authors can run any command
    #[arg(long)]
    pub trust_all: bool,
}

impl ConfigArguments {
    /// The start directory as an absolute path.
    pub fn directory(&self) -> Result<PathBuf> {
        directory(&self.dir)
    }

    /// The files that the arguments select.
    pub fn sources(&self) -> Result<Sources> {
        let sources = sources(self.dialect.0, &self.config, &self.directory()?)?.trust(self.trust());
        Ok(match &self.agent {
            Some(name) => sources.agent(name),
            None => sources,
        })
    }

    /// The approvals to use.
    pub fn trust(&self) -> Trust {
        if self.trust_all { Trust::everything() } else { Trust::default() }
    }

    /// The hooks, with the diagnostics of their files.
    pub fn load(&self) -> Result<Loaded> {
        Ok(apply_skip(self.sources()?.load()))
    }
}

/// The absolute path of an existing directory.
pub fn directory(dir: &Path) -> Result<PathBuf> {
    dir.canonicalize().with_context(|| format!("cannot open the directory {}", dir.display())).usage_error()
}

/// The named files, or else those at the usual locations.
pub fn sources(dialect: &'static Dialect, files: &[PathBuf], dir: &Path) -> Result<Sources> {
    if files.is_empty() {
        return Ok(Sources::discover(dialect, dir));
    }
    for file in files {
        // Named files must exist.
        file.metadata().with_context(|| format!("cannot read {}", file.display())).usage_error()?;
    }
    Ok(Sources::of_files(dialect, files))
}

/// Skips the hooks that the environment names, with a note for each. Managed hooks are never skipped.
pub fn apply_skip(mut loaded: Loaded) -> Loaded {
    for note in loaded.skip(&Skip::from_env()) {
        super::print_note(&note);
    }
    loaded
}

/// Prints the diagnostics of the files; after `-v`, also the locations of all files.
pub fn print_diagnostics(loaded: &Loaded) {
    print_searched_files(loaded);
    for diagnostic in &loaded.diagnostics {
        super::print_failure(&diagnostic.to_string());
    }
}

/// Prints the locations of all files, after `-v`.
fn print_searched_files(loaded: &Loaded) {
    if super::is_verbose() {
        for file in &loaded.files {
            let path = super::display_path(&file.path);
            match file.status {
                FileStatus::Found => super::print_note(&format!("{path}: {}", super::pluralize(file.hooks, "hook"))),
                status => super::print_note(&format!("{path}: {status}")),
            }
        }
    }
}

/// Prints the diagnostics that matter for a report about one event. Leaves out those of broken hooks, which the report
/// shows, and counts those of hooks for other events.
pub fn print_diagnostics_for(loaded: &Loaded, kind: &EventKind) {
    print_searched_files(loaded);
    let mut others = 0;
    for diagnostic in &loaded.diagnostics {
        match hook_at(loaded, diagnostic) {
            Some(hook) if !hook.kinds.contains(kind) => others += 1,
            Some(hook) if is_in_report(hook, diagnostic) => {}
            _ => super::print_failure(&diagnostic.to_string()),
        }
    }
    if others > 0 {
        let problems = super::pluralize(others, "problem");
        super::print_note(&format!("{problems} of hooks for other events; show them with `checkrein check`"));
    }
}

/// Prints the diagnostics of the files, without those of broken hooks, which the report shows.
pub fn print_diagnostics_of_loaded(loaded: &Loaded) {
    print_searched_files(loaded);
    let is_shown = |found: &&Diagnostic| hook_at(loaded, found).is_some_and(|hook| is_in_report(hook, found));
    for diagnostic in loaded.diagnostics.iter().filter(|found| !is_shown(found)) {
        super::print_failure(&diagnostic.to_string());
    }
}

/// `true` if a report about the hook says the same as the diagnostic: that it is broken, or cannot block.
fn is_in_report(hook: &HookSpec, diagnostic: &Diagnostic) -> bool {
    matches!(hook.state, HookState::Broken(_)) || diagnostic.code == "background-gate"
}

/// The hook that a diagnostic is about: the last one that starts at or before its line.
fn hook_at<'a>(loaded: &'a Loaded, diagnostic: &Diagnostic) -> Option<&'a HookSpec> {
    let line = diagnostic.at.as_ref()?.place.line;
    let is_in_file = |hook: &&HookSpec| hook.info.source.file.as_deref() == Some(diagnostic.file.as_str());
    let before = |hook: &&HookSpec| hook.info.source.line.is_some_and(|start| start <= line);
    loaded.hooks.iter().filter(is_in_file).filter(before).max_by_key(|hook| hook.info.source.line)
}

/// Prints a note if the usual locations have no hooks, with the agents that have some.
pub fn hint(dialect: &'static Dialect, named: &[PathBuf], loaded: &Loaded, dir: &Path) {
    if named.is_empty() && loaded.hooks.is_empty() && !hint_at_others(dialect, named, loaded, dir) {
        let name = dialect.title();
        super::print_note(&format!(
            "no {name} hooks here; `checkrein init` writes some, `checkrein list -v` shows the searched files"
        ));
    }
}

/// Prints the note of [`hint`] only if other agents have hooks. Returns `true` if it was printed.
pub fn hint_at_others(dialect: &'static Dialect, named: &[PathBuf], loaded: &Loaded, dir: &Path) -> bool {
    if !named.is_empty() || !loaded.hooks.is_empty() {
        return false;
    }
    let others = agents_with_hooks(dialect, dir);
    if !others.is_empty() {
        let agents: Vec<_> = others.iter().map(|other| format!("{} (--as {})", other.title(), other.name)).collect();
        let name = dialect.title();
        super::print_note(&format!("no {name} hooks here; other agents have some: {}", agents.join(", ")));
    }
    !others.is_empty()
}

/// Other agents that have hooks here, besides the entries of `checkrein install`.
fn agents_with_hooks(dialect: &Dialect, dir: &Path) -> Vec<&'static Dialect> {
    let mut seen = HashSet::new();
    let mut others = Vec::new();
    for other in dialects::ALL.iter().copied().filter(|other| other.name != dialect.name) {
        let found = Sources::discover(other, dir).without_managed().load();
        let hooks = found.hooks.into_iter().filter(|hook| !calls_checkrein(hook));
        let files: HashSet<_> = hooks.filter_map(|hook| hook.info.source.file.clone()).collect();
        // Some agents read the files of others. The owner comes first in the table.
        if files.into_iter().filter(|file| seen.insert(file.clone())).count() > 0 {
            others.push(other);
        }
    }
    others
}

/// An engine with these hooks and the rules of this dialect. Problems of hooks are printed.
pub fn engine(dialect: &'static Dialect, loaded: &Loaded, dir: &Path) -> Engine {
    build(builder(dialect, loaded, dir), loaded)
}

/// An engine for a report about one event. Prints no problems of hooks that the report shows as failed, or that are for other
/// events.
pub fn engine_for_event(dialect: &'static Dialect, loaded: &Loaded, dir: &Path, event: &Event) -> Engine {
    let engine = builder(dialect, loaded, dir).build();
    let plan = engine.explain(event);
    let is_silent = |problem: &Problem| {
        plan.iter()
            .filter(|planned| planned.hook.info == problem.hook)
            .all(|planned| planned.fails.is_some() || matches!(planned.why_not, Some(SkipReason::OtherKind)))
    };
    for problem in engine.problems() {
        if !problem.is_reported_in(&loaded.diagnostics) && !is_silent(&problem) {
            super::print_failure(&problem.to_string());
        }
    }
    engine
}

/// An engine with the exact rules of the agent, even if they let a later allow cancel a deny. Prints nothing.
pub fn exact_engine(dialect: &'static Dialect, loaded: &Loaded, dir: &Path) -> Engine {
    builder(dialect, loaded, dir).compat(Compat::Exact).build()
}

/// Explains the hook of a record. Other hooks are not evaluated, and nothing is printed.
pub fn explain_one(
    dialect: &'static Dialect,
    loaded: &Loaded,
    dir: &Path,
    event: &Event,
    record: &HookRecord,
) -> Option<ExplainedHook> {
    let is_its = |hook: &&HookSpec| {
        let source = &hook.info.source;
        (&hook.info.id, &source.file, source.line) == (&record.id, &record.source.file, record.source.line)
    };
    explain_hook(dialect, loaded.hooks.iter().find(is_its)?, dir, event)
}

/// Explains one hook.
pub fn explain_hook(dialect: &'static Dialect, hook: &HookSpec, dir: &Path, event: &Event) -> Option<ExplainedHook> {
    let hook = hook.clone();
    let engine = checkrein_tools::own_program::engine_builder().settle_as(dialect).cwd(dir).hooks([hook]).build();
    engine.explain(event).pop()
}

fn builder(dialect: &'static Dialect, loaded: &Loaded, dir: &Path) -> EngineBuilder {
    let engine =
        checkrein_tools::own_program::engine_builder().settle_as(dialect).cwd(dir).hooks(loaded.hooks.iter().cloned());
    match loaded.compat {
        Some(compat) => engine.compat(compat),
        None => engine,
    }
}

/// Builds the engine, and prints the problems of its hooks that are not diagnostics of their files already.
pub fn build(engine: EngineBuilder, loaded: &Loaded) -> Engine {
    let engine = engine.build();
    for problem in engine.problems() {
        if !problem.is_reported_in(&loaded.diagnostics) {
            super::print_failure(&problem.to_string());
        }
    }
    engine
}
