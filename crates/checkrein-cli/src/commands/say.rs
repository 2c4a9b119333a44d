//! `checkrein say`: prints an answer in an agent's format, for hooks that are shell scripts.

use std::io::Write;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use checkrein::dialects::Answer;
use checkrein::event::Target;
use checkrein::hook::{HookInfo, Source};
use checkrein::rules::Settlement;
use checkrein::{Decision, EventKind, Opinion, RawJson, Rewrite, Scope};
use checkrein_tools::samples;
use serde_json::json;

use super::dialect::{self, DialectName};
use crate::exit::{self, Exit, UsageErrorExt};

/// Print a hook's answer in the format of an agent
///
/// Exits with the code that the agent expects. If the agent cannot express the answer, the next stricter one is printed, with
/// a note on standard error.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  The agent's protocol defines them. An answer that cannot be printed exits with
  2, or with 1 for `allow` and `context`. A usage error exits with 64.

Example:
  checkrein say deny 'not on Fridays'
  checkrein say rewrite '{\"command\": \"ls\"}' --as claude
  checkrein say context 'the build is red' --event SessionStart")]
pub struct Arguments {
    /// The answer
    #[arg(value_enum, value_name = "ANSWER")]
    what: AnswerKind,
    /// Reason or text; for `rewrite` the new tool input as JSON, or the new prompt
    #[arg(required_if_eq_any = [("what", "deny"), ("what", "ask"), ("what", "halt"), ("what", "context"), ("what", "rewrite")])]
    text: Option<String>,
    /// Agent whose format to use
    #[arg(long = "as", value_name = "AGENT", default_value = "native")]
    dialect: DialectName,
    /// Event that is answered, by the agent's name or checkrein's
    #[arg(long, value_name = "EVENT", default_value = "pre_tool_use")]
    event: String,
    /// Print the answer as JSON, and exit with 0
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum AnswerKind {
    /// Block the action
    Deny,
    /// Ask the user
    Ask,
    /// Allow the action without a question
    Allow,
    /// Add a text to the model's context
    Context,
    /// Replace the tool input or the prompt
    Rewrite,
    /// End the session
    Halt,
}

impl AnswerKind {
    /// Returns `true` if losing this answer blocks nothing.
    fn is_permissive(self) -> bool {
        matches!(self, Self::Allow | Self::Context)
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let dialect = arguments.dialect.0;
    let kind = dialect.kind_named(&arguments.event).usage_error()?;
    let opinion = opinion(arguments, &kind).usage_error()?;
    let event = samples::event(&kind);
    let hook = Arc::new(HookInfo::new("say", Source::for_scope(Scope::Code)).rewrites());
    let mut settlement = Settlement::new(&dialect.rules_at(&kind), &event);
    let _ = settlement.push(0, &hook, &opinion);
    let verdict = settlement.finish();
    if let Some(warning) = verdict.warnings().first() {
        return Err(anyhow!("{}", warning.text)).usage_error();
    }
    let answer = dialect.render_verdict(&event, &verdict);
    if arguments.json {
        let Answer { stdout, stderr, exit, notes, .. } = &answer;
        let json = json!({ "stdout": stdout, "stderr": stderr, "exit": exit, "notes": notes });
        writeln!(std::io::stdout(), "{json:#}")?;
        return Ok(exit::SUCCESS);
    }
    for note in &answer.notes {
        super::print_note(note);
    }
    if let Err(error) = print(&answer) {
        // The agent still gets the exit code, and most agents treat 2 as a deny.
        let _ = super::print_error(&error.into());
        return Ok(if arguments.what.is_permissive() { exit::FAILURE } else { exit::DENIED });
    }
    dialect::exit_code(answer.exit)
}

fn print(answer: &Answer) -> std::io::Result<()> {
    if !answer.stdout.is_empty() {
        let mut out = std::io::stdout().lock();
        writeln!(out, "{}", answer.stdout)?;
        out.flush()?;
    }
    if !answer.stderr.is_empty() {
        writeln!(std::io::stderr(), "{}", answer.stderr)?;
    }
    Ok(())
}

fn opinion(arguments: &Arguments, kind: &EventKind) -> Result<Opinion> {
    let text = || arguments.text.clone().context("this answer needs a TEXT");
    Ok(match arguments.what {
        AnswerKind::Allow => match &arguments.text {
            Some(reason) => Opinion::allow().with_reason(reason),
            None => Opinion::allow(),
        },
        AnswerKind::Deny => Opinion::from_decision(Decision::Deny).with_reason(text()?),
        AnswerKind::Ask => Opinion::ask(text()?),
        AnswerKind::Halt => Opinion::halt(text()?),
        AnswerKind::Context => Opinion::context(text()?),
        AnswerKind::Rewrite => {
            let text = text()?;
            let target = kind.contract().rewrites.first().copied();
            let target = target.with_context(|| {
                format!("hooks cannot rewrite anything at `{kind}`; name another event with --event")
            })?;
            let value = match target {
                Target::Prompt | Target::Summary => RawJson::string(&text),
                _ => RawJson::parse(text).context("TEXT must be the new tool input as JSON")?,
            };
            Opinion::none().with_rewrite(Rewrite::replace(target, value))
        }
    })
}
