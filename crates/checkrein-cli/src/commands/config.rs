//! Which hooks a command is about: arguments that many commands share.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use checkrein::dialects::{self, Dialect};
use checkrein::engine::EngineBuilder;
use checkrein::hook_files::{Loaded, Skip, Sources};
use checkrein::rules::Compat;
use checkrein::{Engine, Trust};

use super::dialect::DialectName;
use crate::exit::UsageErrorExt;

/// Which files are read, and whose language they are in.
#[derive(Debug, Clone, clap::Args)]
pub struct ConfigArguments {
    /// Whose files, formats and rules apply
    #[arg(long = "as", value_name = "DIALECT", default_value = "native")]
    pub dialect: DialectName,
    /// Reads this file instead of what would be found; may be given several times
    #[arg(long, value_name = "FILE")]
    pub config: Vec<PathBuf>,
    /// Where the agent would be started
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: PathBuf,
    /// Whose hooks are meant, where a file has those of several agents
    #[arg(long, value_name = "NAME")]
    pub agent: Option<String>,
    /// Runs hooks of the project also if you have not approved them: accepts that whoever wrote them runs commands here
    #[arg(long)]
    pub trust_all: bool,
}

impl ConfigArguments {
    /// The directory, as an absolute path.
    pub fn directory(&self) -> Result<PathBuf> {
        directory(&self.dir)
    }

    /// Where the files are.
    pub fn sources(&self) -> Result<Sources> {
        let sources = sources(self.dialect.0, &self.config, &self.directory()?)?.trust(self.trust());
        Ok(match &self.agent {
            Some(name) => sources.agent(name),
            None => sources,
        })
    }

    /// Whose word counts for the hooks of the project.
    pub fn trust(&self) -> Trust {
        if self.trust_all { Trust::everything() } else { Trust::usual() }
    }

    /// The hooks, with what is wrong with their files.
    pub fn load(&self) -> Result<Loaded> {
        Ok(skipped(self.sources()?.load()))
    }
}

/// An absolute path.
pub fn directory(dir: &Path) -> Result<PathBuf> {
    dir.canonicalize().with_context(|| format!("there is no directory {}", dir.display())).usage_error()
}

/// The files that are named, or else those that are found.
pub fn sources(dialect: &'static Dialect, files: &[PathBuf], dir: &Path) -> Result<Sources> {
    if files.is_empty() {
        return Ok(Sources::discover(dialect, dir));
    }
    for file in files {
        // One that the caller names must be there; one that is looked for need not.
        file.metadata().with_context(|| format!("cannot read {}", file.display())).usage_error()?;
    }
    Ok(Sources::of_files(dialect, files))
}

/// Switches off what the environment says shall be skipped, and says so. Never what an administrator has set.
pub fn skipped(mut loaded: Loaded) -> Loaded {
    for told in loaded.skip(&Skip::from_env()) {
        super::print_note(&told);
    }
    loaded
}

/// Tells on standard error what is wrong with the files.
pub fn tell(loaded: &Loaded) {
    for diagnostic in &loaded.diagnostics {
        super::print_note(&diagnostic.to_string());
    }
}

/// Where no hooks were found though no files were named, says so, and whose are there: they may have been meant.
pub fn hint(dialect: &'static Dialect, named: &[PathBuf], loaded: &Loaded, dir: &Path) {
    if named.is_empty() && loaded.hooks.is_empty() && !hint_at_others(dialect, named, loaded, dir) {
        let name = dialect.name;
        super::print_note(&format!(
            "there are no hooks of {name} here; `checkrein list` shows where they are looked for"
        ));
    }
}

/// As [`hint`], only if there are others. Gives whether.
pub fn hint_at_others(dialect: &'static Dialect, named: &[PathBuf], loaded: &Loaded, dir: &Path) -> bool {
    if !named.is_empty() || !loaded.hooks.is_empty() {
        return false;
    }
    let calls: Vec<_> = others(dialect, dir).iter().map(|name| format!("--as {name}")).collect();
    if !calls.is_empty() {
        super::print_note(&format!("there are no hooks of {} here, but of others: {}", dialect.name, calls.join(", ")));
    }
    !calls.is_empty()
}

/// Other dialects that have hooks here.
fn others(dialect: &Dialect, dir: &Path) -> Vec<&'static str> {
    let mut seen = HashSet::new();
    let mut others = Vec::new();
    for other in dialects::ALL.iter().filter(|other| other.name != dialect.name) {
        let found = Sources::discover(other, dir).without_managed().load();
        let files = found.files.into_iter().filter(|file| file.hooks > 0);
        // Some agents read the files of others; whose they are comes first.
        if files.filter(|file| seen.insert(file.path.clone())).count() > 0 {
            others.push(other.name);
        }
    }
    others
}

/// An engine with these hooks, which settles as this dialect does.
pub fn engine(dialect: &'static Dialect, loaded: &Loaded, dir: &Path) -> Engine {
    built(builder(dialect, loaded, dir), loaded)
}

/// As [`engine`], exactly as its agent settles, also where that lets a later allow cancel a deny. Says nothing of the hooks.
pub fn exact_engine(dialect: &'static Dialect, loaded: &Loaded, dir: &Path) -> Engine {
    builder(dialect, loaded, dir).compat(Compat::Exact).build()
}

fn builder(dialect: &'static Dialect, loaded: &Loaded, dir: &Path) -> EngineBuilder {
    let engine = Engine::builder().settle_as(dialect).cwd(dir).hooks(loaded.hooks.iter().cloned());
    match loaded.compat {
        Some(compat) => engine.compat(compat),
        None => engine,
    }
}

/// The engine; what is wrong with its hooks is told on standard error, if it was not told of their files already.
pub fn built(engine: EngineBuilder, loaded: &Loaded) -> Engine {
    let engine = engine.build();
    for problem in engine.problems() {
        if !problem.is_reported_in(&loaded.diagnostics) {
            super::print_note(&problem.to_string());
        }
    }
    engine
}
