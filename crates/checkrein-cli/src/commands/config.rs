//! Which hooks a command is about: arguments that many commands share.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use checkrein::dialects::Dialect;
use checkrein::engine::EngineBuilder;
use checkrein::sources::{Loaded, Sources};
use checkrein::{Engine, HookState, Scope};

use super::dialect::DialectName;

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
}

/// The variable that skips all hooks if it is `0`.
pub const SKIP_ALL: &str = "CHECKREIN";
/// The variable that skips hooks by their names, with commas between them.
pub const SKIP: &str = "CHECKREIN_SKIP";

impl ConfigArguments {
    /// The directory, as an absolute path.
    pub fn directory(&self) -> Result<PathBuf> {
        directory(&self.dir)
    }

    /// Where the files are.
    pub fn sources(&self) -> Result<Sources> {
        let sources = sources(self.dialect.0, &self.config, &self.directory()?)?;
        Ok(match &self.agent {
            Some(name) => sources.agent(name),
            None => sources,
        })
    }

    /// The hooks, with what is wrong with their files.
    pub fn load(&self) -> Result<Loaded> {
        Ok(skipped(self.sources()?.load()))
    }
}

/// An absolute path.
pub fn directory(dir: &Path) -> Result<PathBuf> {
    dir.canonicalize().with_context(|| format!("there is no directory {}", dir.display()))
}

/// The files that are named, or else those that are found.
pub fn sources(dialect: &'static Dialect, files: &[PathBuf], dir: &Path) -> Result<Sources> {
    if files.is_empty() {
        return Ok(Sources::discover(dialect, dir));
    }
    for file in files {
        // One that the caller names must be there; one that is looked for need not.
        file.metadata().with_context(|| format!("cannot read {}", file.display()))?;
    }
    Ok(Sources::of_files(dialect, files))
}

/// Switches off what the environment says shall be skipped, and says so. Never what an administrator has set.
pub fn skipped(mut loaded: Loaded) -> Loaded {
    let all = std::env::var(SKIP_ALL).is_ok_and(|value| value == "0");
    let names = std::env::var(SKIP).unwrap_or_default();
    let named: Vec<_> = names.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
    for hook in &mut loaded.hooks {
        let info = &hook.hook.info;
        let wanted = all || named.contains(&info.id.as_str());
        if wanted && info.source.scope != Scope::Managed && hook.hook.state != HookState::Disabled {
            let why = if all { format!("{SKIP_ALL}=0") } else { format!("{SKIP}={names}") };
            super::note(&format!("{info} is skipped: {why}"));
            hook.hook.state = HookState::Disabled;
        } else if wanted && info.source.scope == Scope::Managed {
            super::note(&format!("{info} is set by an administrator and runs all the same"));
        }
    }
    loaded
}

/// Tells on standard error what is wrong with the files.
pub fn tell(loaded: &Loaded) {
    for diagnostic in &loaded.diagnostics {
        super::note(&diagnostic.to_string());
    }
}

/// An engine with these hooks, which settles as this dialect does.
pub fn engine(dialect: &'static Dialect, loaded: &Loaded, dir: &Path) -> Engine {
    built(Engine::builder().settle_as(dialect).cwd(dir).hooks(loaded.hooks.iter().cloned()))
}

/// The engine; what is wrong with its hooks is told on standard error.
pub fn built(engine: EngineBuilder) -> Engine {
    let engine = engine.build();
    for problem in engine.problems() {
        super::note(&problem.to_string());
    }
    engine
}
