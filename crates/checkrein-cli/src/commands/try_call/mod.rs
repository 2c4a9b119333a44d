//! `checkrein try`: sends one tool call to the hooks as each agent would send it, and shows the answer that the agent gets.
//!
//! The answer comes from the same adapter as that of `checkrein hook`. The hooks run, but no state of a session, no audit log and
//! no recording changes.

mod show;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use checkrein::dialects::agents::{claude, codex, native};
use checkrein::dialects::{Answer, Dialect, HandlerSpec, ToolRow, is_common_tool};
use checkrein::engine::ExplainedHook;
use checkrein::record::{HookOutcome, HookRecord};
use checkrein::{Decision, Event, EventKind, HookSpec, Opinion, RawJson, Record, Trust};
use checkrein_tools::agent_adapter::AgentAdapter;
use checkrein_tools::install::{Installer, State};
use checkrein_tools::{AgentCall, AgentCallError};
use serde_json::json;

use super::config::{self, directory, sources};
use super::dialect::DialectName;
use super::install::installer;
use super::{layout, selection};
use crate::exit::{self, Exit, UsageErrorExt};

/// Show the answer to a tool call that each agent gets
///
/// Sends the call to your hooks as each agent would send it. Shows the verdict, the hook that decided, the part of a rule that
/// decided, and the answer as the agent reads it. The hooks really run; the tool does not. Nothing is recorded, and no session changes.
///
/// Without --as, the agents on this machine are used.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0    allow, or no opinion
  1    an operation failed
  2    deny or halt
  3    ask or defer
  4    deny, because a hook failed
  64   usage error

Example:
  checkrein try 'git push --force'
  checkrein try --tool Write --path .env --as claude,codex
  checkrein try --tool WebFetch --input '{\"url\": \"https://example.com\"}'
  checkrein try --event UserPromptSubmit 'Deploy it.'")]
pub struct Arguments {
    /// Command line of the shell tool; with a prompt event, the prompt
    command: Option<String>,
    /// Tool to call; default: the shell, or with --path the tool that writes files
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
    /// Agents to answer, separated by commas
    #[arg(long = "as", value_name = "AGENTS", value_delimiter = ',')]
    agents: Vec<DialectName>,
    /// Start directory of the agent
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Run hooks of the project without approval; their authors can run any command
    #[arg(long)]
    trust_all: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Agents that are shown if none is on this machine.
const EXAMPLES: &[&Dialect] = &[&claude::DIALECT, &codex::DIALECT];

/// Kind of handler of rules.
const RULE: &str = "rule";

/// The question, with shared names.
enum Question {
    Tool { tool: String, input: RawJson },
    Other { prompt: Option<String> },
}

/// An effect besides the decision, and the hook that has it.
struct Notable {
    effect: String,
    hook: String,
    /// File and line.
    place: String,
}

impl Notable {
    fn new(effect: impl Into<String>, hook: &str, file: Option<&str>, line: Option<u32>) -> Self {
        let place = file.map(|file| layout::place(file, line)).unwrap_or_default();
        Self { effect: effect.into(), hook: hook.to_owned(), place }
    }

    /// Effects of the hooks of a record.
    fn of_record(record: &Record) -> Vec<Self> {
        let mut all = Vec::new();
        for hook in record.hooks.iter().filter(|hook| !hook.dry_run) {
            let effects = [
                ("changes", !hook.rewrote.is_empty()),
                ("context", !hook.context.is_empty()),
                ("message", !hook.system_messages.is_empty()),
            ];
            let names: Vec<_> = effects.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
            if !names.is_empty() {
                all.push(Self::new(names.join(", "), &hook.id, hook.source.file.as_deref(), hook.source.line));
            }
        }
        all
    }
}

/// Result under one agent.
struct Tried {
    agent: &'static Dialect,
    is_installed: bool,
    event: Event,
    /// Decision of the hooks.
    decision: Decision,
    reason: Option<String>,
    notable: Vec<Notable>,
    /// The hook that decided.
    hook: Option<HookRecord>,
    /// Evaluation of this hook, if it is a rule.
    rule: Option<ExplainedHook>,
    /// `true` if the rule decided about an input that an earlier hook rewrote, so its evaluation is not known.
    is_rewritten: bool,
    /// `true` if the decision is a deny because something failed.
    failed_closed: bool,
    /// The answer as the agent reads it.
    told: Opinion,
    answer: Answer,
    notes: Vec<String>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let dir = directory(&arguments.dir)?;
    let kind = native::DIALECT.kind_named(&arguments.event).usage_error()?;
    let question = arguments.question(&kind, &dir).usage_error()?;
    let installer = installer(&dir, None).ok();
    let is_here =
        |agent: &&'static Dialect| installer.as_ref().is_some_and(|installer| installer.found(agent).is_here());
    let mut agents: Vec<&'static Dialect> = Vec::new();
    for &DialectName(agent) in &arguments.agents {
        if !agents.iter().any(|other| std::ptr::eq(*other, agent)) {
            agents.push(agent);
        }
    }
    if agents.is_empty() {
        agents = Installer::agents().filter(is_here).collect();
    }
    let is_example = agents.is_empty();
    if is_example {
        agents = EXAMPLES.to_vec();
        let names: Vec<_> = agents.iter().map(|agent| agent.name).collect();
        super::print_note(&format!("no agent was found on this machine; {} are examples", names.join(" and ")));
    }
    if let Question::Tool { tool, .. } = &question {
        arguments.check_tool(tool, &agents).usage_error()?;
    }
    let mut sources = sources(&native::DIALECT, &[], &dir)?;
    if arguments.trust_all {
        sources = sources.trust(Trust::everything());
    }
    let loaded = sources.load();
    config::print_diagnostics(&loaded);
    config::hint(&native::DIALECT, &[], &loaded, &dir);

    let (mut tried, mut skipped) = (Vec::new(), Vec::new());
    for agent in agents {
        let call = match &question {
            Question::Tool { tool, .. } if is_tool_of_others(agent, tool) => {
                Err(AgentCallError::NoTool { agent: agent.name, tool: tool.clone() })
            }
            Question::Tool { tool, input } => AgentCall::tool(agent, &kind, tool, input, &dir),
            Question::Other { prompt } => AgentCall::event(agent, &kind, prompt.as_deref(), &dir),
        };
        match call {
            Ok(call) => {
                let calls = |installer: &Installer| {
                    installer.status(agent).places.iter().any(|place| place.state != State::Absent)
                };
                let is_installed = installer.as_ref().is_some_and(calls);
                let mut one = ask(agent, call, is_installed, arguments.trust_all, &dir);
                let explain = |hook: &HookRecord| config::explain_one(agent, &loaded, &dir, &one.event, hook);
                one.rule = one.hook.as_ref().filter(|hook| hook.handler == RULE).and_then(explain);
                one.is_rewritten =
                    one.rule.as_ref().and_then(selection::rule_state) == Some(selection::RuleState::DoesNotApply);
                if one.is_rewritten {
                    one.rule = None;
                }
                let rules =
                    loaded.hooks.iter().filter(|hook| has_label(hook) && hook.kinds.contains(&one.event.kind()));
                let explained = rules.filter_map(|hook| config::explain_hook(agent, hook, &dir, &one.event));
                for planned in explained {
                    // A denied call sets no label.
                    let is_denied = matches!(one.decision, Decision::Deny | Decision::Halt);
                    if let Some(label) = selection::label(&planned).filter(|_| !is_denied) {
                        let info = &planned.hook.info;
                        one.notable.push(Notable::new(
                            format!("label `{label}`"),
                            &info.id,
                            info.source.file.as_deref(),
                            info.source.line,
                        ));
                    }
                }
                tried.push(one);
            }
            Err(error @ (AgentCallError::NoEvent { .. } | AgentCallError::NoTool { .. })) => {
                skipped.push((agent, error.to_string()));
            }
            Err(error) => return Err(error).usage_error(),
        }
    }
    if tried.is_empty() {
        let why: Vec<_> = skipped.into_iter().map(|(_, why)| why).collect();
        bail!("nothing was tried: {}", why.join("; "));
    }
    let exit = exit_of(&tried);
    super::finish_output(exit, show::report(arguments.json, is_example, &tried, &skipped))
}

fn has_label(hook: &HookSpec) -> bool {
    matches!(&hook.handler, HandlerSpec::Rule(rule) if rule.label.is_some())
}

/// `true` if the table of the agent lists this name.
fn lists_tool(agent: &Dialect, tool: &str) -> bool {
    agent.tools.iter().any(|row: &ToolRow| row.name == tool || row.aliases.contains(&tool))
}

/// `true` if only other agents list this name.
fn is_tool_of_others(agent: &Dialect, tool: &str) -> bool {
    let is_own = agent.tools.is_empty() || is_common_tool(tool) || lists_tool(agent, tool);
    !is_own && checkrein::dialects::ALL.iter().any(|other| lists_tool(other, tool))
}

impl Arguments {
    /// Refuses a tool that no agent lists. Tools of MCP servers and agents without a table can have any name, and so can a tool
    /// whose input is given, unless the name is close to a common one.
    fn check_tool(&self, tool: &str, agents: &[&'static Dialect]) -> Result<()> {
        let is_mcp = tool.contains("__") || tool.to_ascii_lowercase().starts_with("mcp");
        let is_listed = is_common_tool(tool) || checkrein::dialects::ALL.iter().any(|agent| lists_tool(agent, tool));
        if is_mcp || is_listed || agents.iter().all(|agent| agent.tools.is_empty()) {
            return Ok(());
        }
        let common = claude::DIALECT.tools.iter().map(|row| row.name);
        match checkrein::core::closest_match(tool, common) {
            Some(meant) => bail!("unknown tool `{tool}`; did you mean `{meant}`?"),
            None if self.input.is_some() => Ok(()),
            None => bail!(
                "unknown tool `{tool}`; common names are `Bash`, `Read`, `Write` and `Edit`, and --input sets the input of \
                 any other tool"
            ),
        }
    }

    fn question(&self, kind: &EventKind, dir: &Path) -> Result<Question> {
        let sample = checkrein_tools::samples::event(kind);
        if sample.tool_name().is_none() {
            if self.tool.is_some() || self.path.is_some() || self.input.is_some() {
                bail!("`{}` has no tool; remove --tool, --path and --input", self.event);
            }
            if self.command.is_some() && sample.original(checkrein::event::Target::Prompt).is_none() {
                bail!("`{}` has neither a command nor a prompt; remove the text", self.event);
            }
            return Ok(Question::Other { prompt: self.command.clone() });
        }
        let default = if self.path.is_some() { "Write" } else { "Bash" };
        let tool = self.tool.clone().unwrap_or_else(|| default.to_owned());
        let input = match (&self.command, &self.path, &self.input) {
            (Some(command), ..) if command.trim().is_empty() => bail!("the command is empty"),
            (Some(command), ..) => RawJson::parse(json!({ "command": command }).to_string())?,
            (None, Some(_), _) if tool == "Bash" => bail!("`Bash` has no --path; pass the command, such as 'cat FILE'"),
            (None, Some(path), _) => path_input(&tool, path, dir)?,
            (None, None, Some(input)) => RawJson::parse(input.as_str())
                .context("--input must be JSON, for example '{\"command\": \"git push\"}'")?,
            (None, None, None) => bail!("pass a command, such as `checkrein try 'git push'`, or --path, or --input"),
        };
        if input.entries().is_none() {
            bail!("--input must be a JSON object, for example '{{\"command\": \"git push\"}}'");
        }
        Ok(Question::Tool { tool, input })
    }
}

/// Returns the input of a tool for a file. Agents send absolute paths.
pub(super) fn path_input(tool: &str, path: &str, dir: &Path) -> Result<RawJson> {
    let path = if path.starts_with('~') { path.to_owned() } else { dir.join(path).to_string_lossy().into_owned() };
    let input = match tool {
        "Write" => json!({ "file_path": path, "content": "" }),
        "Edit" => json!({ "file_path": path, "old_string": "", "new_string": "" }),
        "NotebookEdit" | "NotebookRead" => json!({ "notebook_path": path }),
        "Grep" | "Glob" | "LS" => json!({ "path": path, "pattern": "" }),
        _ => json!({ "file_path": path }),
    };
    Ok(RawJson::parse(input.to_string())?)
}

/// Answers the call as `checkrein hook` does.
fn ask(agent: &'static Dialect, call: AgentCall, is_installed: bool, trust_all: bool, dir: &Path) -> Tried {
    let mut adapter = AgentAdapter::new(agent).dir(dir).as_trial().cancel_on(crate::interrupt::shutdown_requested);
    if let Some(name) = call.event_name {
        adapter = adapter.event(name);
    }
    if trust_all {
        adapter = adapter.trust(Trust::everything());
    }
    let response = adapter.answer(&call.payload);
    let answer = &response.answer;
    let told = call.read(agent, answer.exit, &answer.stdout, &answer.stderr);
    let record = response.record.as_ref();
    let hook = record.and_then(deciding_hook).cloned();
    let (decision, reason, failed_closed) = match record {
        Some(record) => {
            let failed = hook.as_ref().is_some_and(|hook| hook.outcome == HookOutcome::Failure);
            let decision = record.verdict.decision;
            (decision, record.verdict.reason.clone(), failed && decision == Decision::Deny)
        }
        // Without a record, no hook ran: nothing matched, checkrein refused the call by itself, or it failed.
        None => {
            let decision = told.decision();
            (decision, told.reason().map(str::to_owned), response.has_failed && decision == Decision::Deny)
        }
    };
    Tried {
        agent,
        is_installed,
        event: call.event,
        decision,
        reason,
        notable: record.map(Notable::of_record).unwrap_or_default(),
        hook,
        rule: None,
        is_rewritten: false,
        failed_closed,
        told,
        answer: response.answer,
        notes: response.notes,
    }
}

/// Returns the hook that gave the verdict its decision and reason.
fn deciding_hook(record: &Record) -> Option<&HookRecord> {
    let verdict = &record.verdict;
    let is_decisive = |decision: Decision| decision == verdict.decision && decision != Decision::NoOpinion;
    let mut reasons = verdict.reasons.iter().filter(|reason| is_decisive(reason.decision));
    let given = verdict.reason.as_deref().unwrap_or_default();
    let first = reasons.clone().find(|reason| reason.text == given).or_else(|| reasons.next())?;
    record.hooks.iter().find(|hook| hook.id == first.hook)
}

/// The exit code of the strongest verdict. All agents have the same hooks, so they usually agree.
fn exit_of(tried: &[Tried]) -> Exit {
    let strongest = tried.iter().max_by_key(|tried| (tried.decision, !tried.failed_closed));
    let Some(tried) = strongest else { return exit::SUCCESS };
    match tried.decision {
        Decision::Deny if tried.failed_closed => exit::FAILED_CLOSED,
        Decision::Deny | Decision::Halt => exit::DENIED,
        Decision::Ask | Decision::Defer => exit::ASK,
        Decision::Allow | Decision::NoOpinion => exit::SUCCESS,
    }
}
