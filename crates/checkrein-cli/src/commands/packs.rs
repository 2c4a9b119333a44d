//! `checkrein packs`: lists the packs of rules, and shows the rules of a pack.

use std::io::Write;

use anyhow::{Result, anyhow};
use checkrein::dialects::packs::{self, Pack};
use checkrein::dialects::{HandlerSpec, HookSpec};
use checkrein::hook::HookState;
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::pager::PagerArguments;
use super::{layout, pluralize};
use crate::exit::{self, Exit, UsageErrorExt};

/// List the packs of rules, or show the rules of a pack
///
/// A pack is a set of rules that comes with checkrein. Add it to a hooks file with `packs: [NAME]`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   success
  64  usage error

Example:
  checkrein packs
  checkrein packs show git
  checkrein packs show git --source")]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Show the rules of a pack
    Show {
        /// Name of the pack
        name: String,
        /// Print the source of the pack, with its tests
        #[arg(long)]
        source: bool,
        #[command(flatten)]
        pager: PagerArguments,
    },
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let mut out = anstream::stdout().lock();
    match &arguments.command {
        None if arguments.json => {
            let all: Vec<_> = packs::ALL.iter().map(as_json).collect();
            writeln!(out, "{:#}", json!(all))?;
        }
        None => {
            let width = packs::ALL.iter().map(|pack| pack.name.len()).max().unwrap_or_default();
            for pack in packs::ALL {
                let name = format!("{:width$}", pack.name);
                let count = pluralize(pack.rules().len(), "rule");
                writeln!(out, "{}  {} {}", name.bold(), pack.description, format!("({count})").dimmed())?;
            }
        }
        Some(Command::Show { name, source, pager }) => {
            let pack = find(name).usage_error()?;
            if arguments.json {
                writeln!(out, "{:#}", as_json(pack))?;
            } else if *source {
                drop(out);
                pager.print(pack.yaml.as_bytes())?;
            } else {
                show(&mut out, pack)?;
            }
        }
    }
    Ok(exit::SUCCESS)
}

fn find(name: &str) -> Result<&'static Pack> {
    packs::find(name).ok_or_else(|| {
        let names = || packs::ALL.iter().map(|pack| pack.name);
        match checkrein::core::closest_match(name, names()) {
            Some(meant) => anyhow!("unknown pack `{name}`; did you mean `{meant}`?"),
            None => anyhow!("unknown pack `{name}`; use one of: {}", names().collect::<Vec<_>>().join(", ")),
        }
    })
}

/// Part of the description of a rule that is off.
const OFF: &str = "Off unless it is selected";

fn show(out: &mut impl Write, pack: &Pack) -> std::io::Result<()> {
    writeln!(out, "{}  {}", pack.name.bold(), pack.description)?;
    for (name, value) in pack.params() {
        writeln!(out, "  {} {name}: {value}", "set".dimmed())?;
    }
    for rule in pack.rules() {
        let (word, off) = (decision(&rule), rule.state == HookState::Disabled);
        let description = rule.description.as_deref().unwrap_or_default();
        let state = if off && !description.contains(OFF) { " (off until it is selected)" } else { "" };
        let length = 8 + rule.info.id.chars().count();
        let line = format!("  {} {}", format!("{word:5}").yellow(), rule.info.id.bold());
        let text = format!("{description}{state}");
        layout::line_with_text(out, &line, length, &text)?;
    }
    Ok(())
}

/// Decision of a rule, or its only other effect.
fn decision(rule: &HookSpec) -> &'static str {
    match &rule.handler {
        HandlerSpec::Rule(rule) => rule.decision.as_ref().map_or("label", |(decision, _)| decision.name()),
        _ => "",
    }
}

fn as_json(pack: &Pack) -> Value {
    let rules: Vec<_> = pack
        .rules()
        .iter()
        .map(|rule| {
            json!({
                "id": rule.info.id,
                "description": rule.description,
                "decision": decision(rule),
                "enabled": rule.state != HookState::Disabled,
            })
        })
        .collect();
    let params: serde_json::Map<String, Value> = pack
        .params()
        .into_iter()
        .map(|(name, value)| (name, serde_json::from_str(value.as_str()).unwrap_or_default()))
        .collect();
    json!({ "name": pack.name, "description": pack.description, "params": params, "rules": rules })
}
