//! `checkrein convert`: hooks of one agent as a file of another.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use checkrein::HookSpec;
use checkrein::dialects::Dialect;
use checkrein::dialects::config::ConversionLoss;
use checkrein::hook::{CommandLine, CommandSpec, HandlerSpec};
use serde_json::{Value, json};

use super::config::{self, directory, sources};
use super::dialect::DialectName;
use crate::exit::{self, Exit};

/// Translates hooks from one agent's format to another's, and lists what cannot be said there.
///
/// If a gate would stop being a gate, nothing is written, unless --force is given.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes:\n  0  converted    1  a gate would be lost, or there is nothing to convert\n\nExample:\n  checkrein convert --from claude --to native > .checkrein/hooks.json\n  checkrein convert --from native --to ub hooks.yaml --output ~/.config/ub/config.yaml"
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
    /// Prints the text and what is lost as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let (from, to) = (arguments.from.0, arguments.to.0);
    let dir = directory(&arguments.dir)?;
    let loaded = sources(from, &arguments.files, &dir)?.without_managed().load();
    config::tell(&loaded);
    if loaded.hooks.is_empty() {
        bail!("there are no hooks of {} to convert", from.name);
    }
    let hooks: Vec<_> = loaded.hooks.iter().collect();
    let encoded = to.encode(&hooks).with_context(|| format!("checkrein cannot write files of {} yet", to.name))?;
    let losses = losses(&hooks, &encoded.lost, from, to);
    let gates = losses.iter().filter(|loss| loss.gate).count();
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
    for loss in &losses {
        super::print_note(&loss.told());
    }
    if refused {
        super::print_note(&format!(
            "{} would stop guarding anything, so nothing is written; --force writes all the same",
            super::pluralize(gates, "gate")
        ));
        return Ok(exit::FAILURE);
    }
    match &arguments.output {
        None => std::io::stdout().write_all(encoded.text.as_bytes())?,
        Some(path) => write(path, &encoded.text, arguments.force)?,
    }
    Ok(exit::SUCCESS)
}

fn write(path: &Path, text: &str, over: bool) -> Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true);
    if over {
        options.create(true).truncate(true);
    } else {
        options.create_new(true);
    }
    let written = options.open(path).and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| match path.try_exists() {
        Ok(true) if !over => format!("cannot write {}, --force overwrites what is there", path.display()),
        _ => format!("cannot write {}", path.display()),
    })
}

/// What the other format cannot say of a hook.
pub struct ReportedLoss<'a> {
    hook: &'a HookSpec,
    what: String,
    /// Whether the whole hook is lost.
    all: bool,
    /// Whether a gate stops being one.
    pub gate: bool,
}

/// All that the other format cannot say.
pub fn losses<'a>(
    hooks: &[&'a HookSpec],
    lost: &[ConversionLoss],
    from: &Dialect,
    to: &Dialect,
) -> Vec<ReportedLoss<'a>> {
    let told = lost.iter().filter_map(|lost| {
        let hook = *hooks.get(lost.hook)?;
        let gate = lost.all && is_gate(hook, from);
        Some(ReportedLoss { hook, what: lost.what.to_string(), all: lost.all, gate })
    });
    let weaker = hooks.iter().enumerate().filter_map(|(at, hook)| {
        let lost_already = lost.iter().any(|lost| lost.hook == at && lost.all);
        let weaker = hook.kinds.iter().find(|kind| from.is_gate(kind) && !to.is_gate(kind));
        let kind = weaker.filter(|_| !hook.background && !lost_already)?;
        let what = format!("its say: `{kind}` cannot be refused by hooks of {}", to.name);
        Some(ReportedLoss { hook, what, all: false, gate: true })
    });
    let variables = hooks.iter().enumerate().flat_map(|(at, hook)| {
        let lost_already = lost.iter().any(|lost| lost.hook == at && lost.all);
        variables_lost(hook, from, to).filter(move |_| !lost_already).map(|name| {
            let what = format!("the variable {name}, which hooks of {} are not given", to.name);
            ReportedLoss { hook, what, all: false, gate: false }
        })
    });
    told.chain(weaker).chain(variables).collect()
}

impl ReportedLoss<'_> {
    /// For people.
    pub fn told(&self) -> String {
        let gate = if self.gate { " (a gate)" } else { "" };
        let (hook, what) = (&self.hook.info, &self.what);
        match self.all {
            true => format!("{hook}{gate} is lost: {what}"),
            false => format!("{hook}{gate} loses {what}"),
        }
    }

    /// For programs.
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

/// Variables that a command names and that only the one agent sets.
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

/// Whether a text has `$NAME` or `${NAME`, and not the start of a longer name.
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
    fn variables_are_found_by_their_whole_names() {
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
