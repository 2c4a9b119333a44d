//! `checkrein convert`: translates hooks between the formats of agents.
//!
//! `checkrein init --from` uses the list of losses too. If a blocking hook would no longer block, nothing may be written
//! without `--force`.

use std::collections::HashSet;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use checkrein::HookSpec;
use checkrein::dialects::Dialect;
use checkrein::dialects::config::ConversionLoss;
use checkrein::hook::{CommandLine, CommandSpec, HandlerSpec, Source};
use serde_json::{Value, json};

use super::config::{self, directory, sources};
use super::dialect::{DialectName, display_name};
use super::output_file;
use crate::exit::{self, Exit};

/// Translate hooks to the format of another agent
///
/// Lists everything that the other format cannot express. If a blocking hook would no longer block, nothing is written
/// without --force.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   converted
  1   a blocking hook would be lost, or there are no hooks to convert
  64  usage error

Example:
  checkrein convert --from claude --to native > .checkrein/hooks.json
  checkrein convert --from native --to ub hooks.yaml --output ~/.config/ub/config.yaml")]
pub struct Arguments {
    /// Agent whose format to read
    #[arg(long, value_name = "AGENT")]
    from: DialectName,
    /// Agent whose format to write
    #[arg(long, value_name = "AGENT")]
    to: DialectName,
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
    let loaded = sources(from, &arguments.files, &dir)?.without_managed().load();
    config::print_diagnostics(&loaded);
    if loaded.hooks.is_empty() {
        let name = display_name(from);
        bail!("no {name} hooks to convert; name a file, or see `checkrein list --as {} -v`", from.name);
    }
    let hooks: Vec<_> = loaded.hooks.iter().collect();
    let encoded = to.encode(&hooks).with_context(|| format!("checkrein cannot write the hook files of {}", to.name))?;
    let losses = losses(&hooks, &encoded.lost, from, to);
    let gates: HashSet<_> = losses.iter().filter(|loss| loss.gate).map(ReportedLoss::hook).collect();
    let gates = gates.len();
    let refused = gates > 0 && !arguments.force;
    if arguments.json {
        if let Some(path) = arguments.output.as_ref().filter(|_| !refused) {
            write(path, &encoded.text, arguments.force)?;
        }
        let converted = json!({
            "text": (!refused).then_some(&encoded.text),
            "written_to": arguments.output.as_ref().filter(|_| !refused),
            "lost": losses.iter().map(ReportedLoss::json).collect::<Vec<_>>(),
            "gates_lost": gates,
        });
        writeln!(std::io::stdout(), "{converted:#}")?;
        return Ok(if refused { exit::FAILURE } else { exit::SUCCESS });
    }
    for (index, loss) in losses.iter().enumerate() {
        // A hook for several events has the same loss for each.
        if !losses.iter().enumerate().any(|(other, covers)| covers.covers(loss, other < index)) {
            super::print_failure(&loss.describe());
        }
    }
    if refused {
        super::print_failure(&format!(
            "nothing written: {} would no longer block (--force to write anyway)",
            super::pluralize(gates, "blocking hook")
        ));
        return Ok(exit::FAILURE);
    }
    match &arguments.output {
        None => std::io::stdout().write_all(super::visible::result(&encoded.text).as_bytes())?,
        Some(path) => write(path, &encoded.text, arguments.force)?,
    }
    Ok(exit::SUCCESS)
}

fn write(path: &Path, text: &str, over: bool) -> Result<()> {
    output_file::check_inside(path, &std::env::current_dir()?)?;
    if !over && path.symlink_metadata().is_ok() {
        bail!("cannot write {}: it exists (--force to overwrite)", path.display());
    }
    output_file::write(path, text, over, false)
}

/// A part of a hook that the other format cannot express.
pub struct ReportedLoss<'a> {
    hook: &'a HookSpec,
    what: String,
    /// `true` if the whole hook is lost.
    all: bool,
    /// `true` if a blocking hook would no longer block.
    pub gate: bool,
}

/// Everything that the other format cannot express.
pub fn losses<'a>(
    hooks: &[&'a HookSpec],
    lost: &[ConversionLoss],
    from: &Dialect,
    to: &Dialect,
) -> Vec<ReportedLoss<'a>> {
    let reported = lost.iter().filter_map(|lost| {
        let hook = *hooks.get(lost.hook)?;
        let gate = lost.all && is_gate(hook, from);
        Some(ReportedLoss { hook, what: lost.what.to_string(), all: lost.all, gate })
    });
    let is_dropped = |index| lost.iter().any(|lost| lost.hook == index && lost.all);
    let weaker = hooks.iter().enumerate().filter_map(|(index, hook)| {
        if hook.background || is_dropped(index) {
            return None;
        }
        let kind = hook.kinds.iter().find(|kind| from.is_gate(kind) && !to.is_gate(kind))?;
        let what = format!("{} hooks cannot block `{kind}`", display_name(to));
        Some(ReportedLoss { hook, what, all: false, gate: true })
    });
    let variables = hooks.iter().enumerate().filter(|(index, _)| !is_dropped(*index)).flat_map(|(_, hook)| {
        variables_lost(hook, from, to).map(|name| {
            let what = format!("the variable {name}, which {} does not set for hooks", display_name(to));
            ReportedLoss { hook, what, all: false, gate: false }
        })
    });
    reported.chain(weaker).chain(variables).collect()
}

impl ReportedLoss<'_> {
    /// The id and place of the hook, which are the same for all its events.
    fn hook(&self) -> (&str, &Source) {
        (&self.hook.info.id, &self.hook.info.source)
    }

    /// Returns `true` if the sentence of this loss says all that the sentence of `other` says. Of two equal losses, the
    /// earlier one covers the later one.
    fn covers(&self, other: &Self, is_earlier: bool) -> bool {
        let is_same = (self.hook(), &self.what, self.all) == (other.hook(), &other.what, other.all);
        is_same && if self.gate == other.gate { is_earlier } else { self.gate }
    }

    /// The loss as a sentence.
    pub fn describe(&self) -> String {
        let (hook, what) = (&self.hook.info, &self.what);
        match (self.all, self.gate) {
            (true, true) => format!("{hook} is dropped and would no longer block: {what}"),
            (true, false) => format!("{hook} is dropped: {what}"),
            (false, true) => format!("{hook} would no longer block: {what}"),
            (false, false) => format!("{hook} loses {what}"),
        }
    }

    /// The loss for `--json`.
    pub fn json(&self) -> Value {
        let info = &self.hook.info;
        json!({
            "hook": info.id,
            "source": { "file": info.source.file, "line": info.source.line, "scope": info.source.scope },
            "what": self.what,
            "all": self.all,
            "gate": self.gate,
        })
    }
}

/// Variables in a command that `from` sets and `to` does not.
fn variables_lost<'a>(hook: &'a HookSpec, from: &'a Dialect, to: &'a Dialect) -> impl Iterator<Item = &'static str> {
    let words: &[String] = match &hook.handler {
        HandlerSpec::Command(CommandSpec { run: CommandLine::Shell { text, .. }, .. }) => std::slice::from_ref(text),
        HandlerSpec::Command(CommandSpec { run: CommandLine::Argv(words), .. }) => words,
        _ => &[],
    };
    let set = |dialect: &'a Dialect| dialect.process.variables.iter().map(|row| row.name);
    set(from).filter(move |name| {
        let is_set_otherwise = set(to).any(|other| other == *name)
            || matches!(&hook.handler, HandlerSpec::Command(command) if command.env_set.iter().any(|(set, _)| set == name));
        !is_set_otherwise && words.iter().any(|word| names_variable(word, name))
    })
}

/// Returns `true` if a text contains `$NAME` or `${NAME`, where the name ends.
fn names_variable(text: &str, name: &str) -> bool {
    text.split('$').skip(1).any(|rest| {
        let rest = rest.strip_prefix('{').unwrap_or(rest);
        rest.strip_prefix(name).is_some_and(|after| !after.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
    })
}

fn is_gate(hook: &HookSpec, dialect: &Dialect) -> bool {
    !hook.background && hook.kinds.iter().any(|kind| dialect.is_gate(kind))
}

#[cfg(test)]
mod tests {
    use super::names_variable;

    #[test]
    fn variables_match_by_their_whole_name() {
        for (text, found) in [
            ("$DIR/x", true),
            ("\"${DIR}\"/x", true),
            ("${DIR:-.}", true),
            ("$DIRECTORY", false),
            ("$DIR_2", false),
            ("DIR", false),
            ("$A $DIR", true),
        ] {
            assert_eq!(names_variable(text, "DIR"), found, "{text}");
        }
    }
}
