//! `checkrein convert`: translates hooks between the formats of agents.
//!
//! `checkrein init --from` uses the list of losses too. If a blocking hook would no longer block, nothing may be written
//! without `--force`.

mod permissions;

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use checkrein::dialects::Dialect;
use checkrein::document::Format;
use checkrein::{HookSpec, RawJson};
use checkrein_tools::convert::{Conversion, Loss, LossKind, convert};
use checkrein_tools::lint::calls_checkrein;
use serde_json::{Value, json};

use super::config::{self, directory, sources};
use super::dialect::DialectName;
use super::output_file;
use crate::exit::{self, Exit, UsageErrorExt};

/// Translate hooks to the format of another agent
///
/// Translates names of tools and of the project variable. Lists everything that the other agent does not have. If a blocking
/// hook would no longer block, nothing is written without --force.
///
/// With --permissions, the permission rules of Claude Code become rules of a native file: `permissions.deny`, `ask` and `allow`.
/// A permission rule without an equivalent is listed; if it denies or asks, nothing is written without --force.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   converted
  1   a hook or a permission rule is lost, a blocking hook would
      no longer block, or there is nothing to convert
  64  usage error

Example:
  checkrein convert --from claude --to native > .checkrein/hooks.json
  checkrein convert --from claude --to native --permissions
  checkrein convert --from native --to ub hooks.yaml --output ~/.config/ub/config.yaml")]
pub struct Arguments {
    /// Agent whose format to read
    #[arg(long, value_name = "AGENT")]
    from: DialectName,
    /// Agent whose format to write
    #[arg(long, value_name = "AGENT")]
    to: DialectName,
    /// Translate permission rules instead of hooks
    #[arg(long)]
    permissions: bool,
    /// Files to read instead of the usual locations
    files: Vec<PathBuf>,
    /// Start directory of the agent
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Write to this file, which must not exist yet; default: standard output
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write even if blocking hooks are lost, and overwrite an existing file
    #[arg(long)]
    force: bool,
    /// Print the text and the losses as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let (from, to) = (arguments.from.0, arguments.to.0);
    let dir = directory(&arguments.dir)?;
    if arguments.permissions {
        return permissions::run(arguments, &dir);
    }
    let loaded = sources(from, &arguments.files, &dir)?.without_managed().load();
    config::print_diagnostics(&loaded);
    let hooks = without_installed(&loaded.hooks);
    if hooks.is_empty() {
        let name = from.title();
        bail!("no {name} hooks to convert; name a file, or see `checkrein list --as {} -v`", from.name);
    }
    let conversion =
        convert(&hooks, to, &dir).with_context(|| format!("checkrein cannot write hook files of {}", to.title()))?;
    if let Some(path) = &arguments.output {
        check_extension(path, &conversion.text, to).usage_error()?;
    }
    let gates = gates_lost(&conversion, &hooks);
    let refused = gates > 0 && !arguments.force;
    let output = arguments.output.as_ref().filter(|_| !refused);
    if let Some(path) = output {
        write(path, &conversion.text, arguments.force)?;
    }
    let code = if refused || conversion.hooks_lost() > 0 { exit::FAILURE } else { exit::SUCCESS };
    if arguments.json {
        let converted = json!({
            "text": (!refused).then_some(&conversion.text),
            "written_to": output,
            "lost": conversion.losses.iter().filter_map(|loss| as_json(loss, &hooks)).collect::<Vec<_>>(),
            "gates_lost": gates,
        });
        writeln!(std::io::stdout(), "{converted:#}")?;
        return Ok(code);
    }
    for loss in descriptions(&conversion, &hooks) {
        super::print_failure(&loss);
    }
    if refused {
        super::print_failure(&format!(
            "nothing written: {} would no longer block (--force to write anyway)",
            super::pluralize(gates, "blocking hook")
        ));
    } else if output.is_none() {
        std::io::stdout().write_all(super::visible::result(&conversion.text).as_bytes())?;
    }
    Ok(code)
}

/// Refuses a file whose extension names another format than that of the text. JSON is valid YAML.
fn check_extension(path: &Path, text: &str, to: &Dialect) -> Result<()> {
    let is_json = RawJson::parse(text).is_ok();
    let fits = match Format::from_path(path) {
        Some(Format::Json | Format::Jsonc) => is_json,
        Some(Format::Toml) => false,
        Some(Format::Yaml) | None => true,
    };
    if fits {
        return Ok(());
    }
    let (format, extensions) = if is_json { ("JSON", "`.json` or `.yaml`") } else { ("YAML", "`.yaml`") };
    let (path, title) = (path.display(), to.title());
    bail!("cannot write `{path}`: hooks for {title} are written as {format}; use a file name with {extensions}")
}

fn write(path: &Path, text: &str, over: bool) -> Result<()> {
    output_file::check_inside(path, &std::env::current_dir()?)?;
    if !over && path.symlink_metadata().is_ok() {
        bail!("`{}` already exists; use --force to overwrite", path.display());
    }
    output_file::write(path, text, over, false)
}

/// Hooks without the entries of `checkrein install`. Under another agent they would call checkrein with the wrong name.
pub fn without_installed(hooks: &[HookSpec]) -> Vec<&HookSpec> {
    let (installed, hooks): (Vec<_>, Vec<_>) = hooks.iter().partition(|hook| calls_checkrein(hook));
    if !installed.is_empty() {
        let entries = super::pluralize(installed.len(), "hook");
        super::print_note(&format!("skipped {entries} that `checkrein install` added"));
    }
    hooks
}

/// Sentences about all losses. A hook for several events has the same loss for each.
pub fn descriptions(conversion: &Conversion, hooks: &[&HookSpec]) -> Vec<String> {
    let mut sentences = Vec::new();
    for loss in &conversion.losses {
        let Some(hook) = hooks.get(loss.hook) else { continue };
        let is_covered = conversion.losses.iter().any(|other| {
            let is_same = (other.kind, &other.what) == (loss.kind, &loss.what);
            is_same && other.gate && !loss.gate && hooks.get(other.hook).is_some_and(|other| is_same_entry(other, hook))
        });
        let sentence = loss.describe(&hook.info);
        if !is_covered && !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    sentences
}

/// Number of blocking hooks that would no longer block. An entry with several events is one hook.
pub fn gates_lost(conversion: &Conversion, hooks: &[&HookSpec]) -> usize {
    let lost = conversion.losses.iter().filter(|loss| loss.gate).filter_map(|loss| hooks.get(loss.hook));
    lost.map(|hook| (&hook.info.id, &hook.info.source)).collect::<HashSet<_>>().len()
}

/// A loss for `--json`.
pub fn as_json(loss: &Loss, hooks: &[&HookSpec]) -> Option<Value> {
    let info = &hooks.get(loss.hook)?.info;
    Some(json!({
        "hook": info.id,
        "source": { "file": info.source.file, "line": info.source.line, "scope": info.source.scope },
        "what": loss.what,
        "all": loss.kind == LossKind::Hook,
        "gate": loss.gate,
    }))
}

fn is_same_entry(one: &HookSpec, other: &HookSpec) -> bool {
    (&one.info.id, &one.info.source) == (&other.info.id, &other.info.source)
}
