//! `checkrein convert`: hooks of one agent as a file of another.

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use checkrein::HookSpec;
use checkrein::dialects::Dialect;
use checkrein::dialects::config::Lost;

use super::config::{self, directory, sources};
use super::dialect::DialectName;
use crate::exit::{self, Exit};

/// Translates hooks from one agent's format to another's, and lists what cannot be said there.
///
/// If a gate would stop being a gate, nothing is written, unless --force is given.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  checkrein convert --from claude --to native > .checkrein/hooks.json\n  checkrein convert --from native --to ub hooks.yaml --output ~/.config/ub/config.yaml"
)]
pub struct Arguments {
    /// Whose format the hooks are in
    #[arg(long, value_name = "DIALECT")]
    from: DialectName,
    /// Whose format they shall be in
    #[arg(long, value_name = "DIALECT")]
    to: DialectName,
    /// Files to read instead of what would be found
    files: Vec<PathBuf>,
    /// Where the agent would be started
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Writes here instead of to standard output; a file that is there is not overwritten
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Writes also if a gate is lost, and over a file that is there
    #[arg(long)]
    force: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let (from, to) = (arguments.from.0, arguments.to.0);
    let dir = directory(&arguments.dir)?;
    let loaded = sources(from, &arguments.files, &dir)?.load();
    config::tell(&loaded);
    if loaded.hooks.is_empty() {
        bail!("there are no hooks of {} to convert", from.name);
    }
    let hooks: Vec<_> = loaded.hooks.iter().collect();
    let encoded = to.encode(&hooks).with_context(|| format!("checkrein cannot write files of {} yet", to.name))?;
    let mut gates = 0;
    for lost in &encoded.lost {
        if let Some(hook) = hooks.get(lost.hook) {
            let is_gate = lost.all && is_gate(hook, from);
            gates += usize::from(is_gate);
            super::note(&told(hook, lost, is_gate));
        }
    }
    for (at, hook) in hooks.iter().enumerate() {
        let lost_already = encoded.lost.iter().any(|lost| lost.hook == at && lost.all);
        let weaker = hook.hook.kinds.iter().find(|kind| from.is_gate(kind) && !to.is_gate(kind));
        if let Some(kind) = weaker.filter(|_| !hook.background && !lost_already) {
            gates += 1;
            super::note(&format!("{}: `{kind}` cannot be refused by hooks of {}", hook.hook.info, to.name));
        }
    }
    if gates > 0 && !arguments.force {
        super::note(&format!(
            "{gates} gates would stop guarding anything, so nothing is written; --force writes all the same"
        ));
        return Ok(exit::PROBLEMS);
    }
    match &arguments.output {
        None => std::io::stdout().write_all(encoded.text.as_bytes())?,
        Some(path) => {
            let mut options = std::fs::OpenOptions::new();
            options.write(true);
            if arguments.force {
                options.create(true).truncate(true);
            } else {
                options.create_new(true);
            }
            let mut file = options.open(path).with_context(|| format!("cannot write {}", path.display()))?;
            file.write_all(encoded.text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(exit::FINE)
}

fn is_gate(hook: &HookSpec, dialect: &Dialect) -> bool {
    !hook.background && hook.hook.kinds.iter().any(|kind| dialect.is_gate(kind))
}

fn told(hook: &HookSpec, lost: &Lost, is_gate: bool) -> String {
    let what = if lost.all { "is lost" } else { "loses" };
    let gate = if is_gate { " (a gate)" } else { "" };
    match lost.all {
        true => format!("{}{gate} {what}: {}", hook.hook.info, lost.what),
        false => format!("{}{gate} {what} {}", hook.hook.info, lost.what),
    }
}
