//! `checkrein facts`: prints the facts of a call, which rules are written against.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use checkrein::dialects::agents::native;
use checkrein::facts::{FactContext, Facts};
use checkrein::{EventKind, RawJson};
use checkrein_tools::AgentCall;
use serde_json::json;

use super::config::directory;
use super::dialect::DialectName;
use crate::exit::{self, Exit, UsageErrorExt};

/// Print the facts of a tool call for rules
///
/// Prints as JSON what rules can use about a call: the tool, every program that a shell command runs, its options and targets. No hook
/// runs. An unknown value is `{"unknown": "$X"}`; unknown further elements of a list are `{"more": "…"}` at its end.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0    the facts were printed
  64   usage error

Example:
  checkrein facts 'git push -f origin main'
  checkrein facts --tool Write --path .env
  checkrein facts --event UserPromptSubmit 'Deploy it.'")]
pub struct Arguments {
    /// Command line of the shell tool; with a prompt event, the prompt
    command: Option<String>,
    /// Tool of the call; default: the shell, or with --path the tool that writes files
    #[arg(long, value_name = "NAME")]
    tool: Option<String>,
    /// File that the tool reads or writes
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    path: Option<String>,
    /// Input of the tool, as JSON
    #[arg(long, value_name = "JSON", conflicts_with_all = ["command", "path"])]
    input: Option<String>,
    /// Event, by checkrein's name
    #[arg(long, value_name = "NAME", default_value = "PreToolUse")]
    event: String,
    /// Agent that makes the call
    #[arg(long = "as", value_name = "AGENT", default_value = "claude")]
    agent: DialectName,
    /// Working directory of the agent
    #[arg(long, value_name = "DIR", default_value = ".")]
    cwd: PathBuf,
    /// Print JSON on one line, on a terminal too
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let cwd = directory(&arguments.cwd)?;
    let kind = native::DIALECT.kind_named(&arguments.event).usage_error()?;
    let DialectName(agent) = arguments.agent;
    let call = match arguments.tool_input(&kind, &cwd).usage_error()? {
        Some((tool, input)) => AgentCall::tool(agent, &kind, &tool, &input, &cwd),
        None => AgentCall::event(agent, &kind, arguments.command.as_deref(), &cwd),
    };
    let event = call.usage_error()?.event;
    let mut context = FactContext::new(&cwd);
    agent.name.clone_into(&mut context.agent);
    context.home = std::env::home_dir();
    context.user = std::env::var("USER").or_else(|_| std::env::var("USERNAME")).unwrap_or_default();
    context.vars = std::env::vars_os().collect();
    let facts = Facts::new(event, context).to_json();
    let text = if !arguments.json && std::io::stdout().is_terminal() {
        let value: serde_json::Value = serde_json::from_str(facts.as_str())?;
        serde_json::to_string_pretty(&value)?
    } else {
        facts.as_str().to_owned()
    };
    writeln!(std::io::stdout(), "{text}")?;
    Ok(exit::SUCCESS)
}

impl Arguments {
    /// Returns the tool and its input. `None`: the event has no tool.
    fn tool_input(&self, kind: &EventKind, cwd: &std::path::Path) -> Result<Option<(String, RawJson)>> {
        let sample = checkrein_tools::samples::event(kind);
        if sample.tool_name().is_none() {
            if self.tool.is_some() || self.path.is_some() || self.input.is_some() {
                bail!("`{}` has no tool; remove --tool, --path and --input", self.event);
            }
            if self.command.is_some() && sample.original(checkrein::event::Target::Prompt).is_none() {
                bail!("`{}` has neither a command nor a prompt; remove the text", self.event);
            }
            return Ok(None);
        }
        let default = if self.path.is_some() { "Write" } else { "Bash" };
        let tool = self.tool.clone().unwrap_or_else(|| default.to_owned());
        let input = match (&self.command, &self.path, &self.input) {
            (Some(command), ..) => RawJson::parse(json!({ "command": command }).to_string())?,
            (None, Some(path), _) => super::try_call::path_input(&tool, path, cwd)?,
            (None, None, Some(input)) => RawJson::parse(input.as_str())
                .context("--input must be JSON, for example '{\"command\": \"git push\"}'")?,
            (None, None, None) => bail!("pass a command, such as `checkrein facts 'git push'`, or --path, or --input"),
        };
        if input.entries().is_none() {
            bail!("--input must be a JSON object, for example '{{\"command\": \"git push\"}}'");
        }
        Ok(Some((tool, input)))
    }
}
