//! `checkrein say`: a correct answer, for hooks that are shell scripts.

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

/// Prints the answer of a hook in the words of a dialect, and ends with its exit code.
///
/// What the dialect has no words for is said in the nearest that are not weaker; standard error says so.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  checkrein say deny 'not on Fridays'\n  checkrein say rewrite '{\"command\": \"ls\"}' --as claude\n  checkrein say context 'the build is red' --event SessionStart"
)]
pub struct Arguments {
    /// What is said
    #[arg(value_enum)]
    what: AnswerKind,
    /// The reason or the text; for `rewrite` the new tool input as JSON, or the new prompt
    #[arg(required_if_eq_any = [("what", "deny"), ("what", "ask"), ("what", "halt"), ("what", "context"), ("what", "rewrite")])]
    text: Option<String>,
    /// In whose words
    #[arg(long = "as", value_name = "DIALECT", default_value = "native")]
    dialect: DialectName,
    /// At which event, in the dialect's spelling or checkrein's
    #[arg(long, value_name = "EVENT", default_value = "pre_tool_use")]
    event: String,
    /// Prints what would be said as JSON, and ends with 0
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum AnswerKind {
    /// It must not happen
    Deny,
    /// The user shall be asked
    Ask,
    /// It may happen
    Allow,
    /// The model shall know something
    Context,
    /// The tool gets another input, or the model another prompt
    Rewrite,
    /// All ends here
    Halt,
}

impl AnswerKind {
    /// Whether all may go on as it would if this is not heard.
    fn gives_way(self) -> bool {
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
    let answer = dialect.say(&event, &verdict);
    if arguments.json {
        let Answer { stdout, stderr, exit, notes, .. } = &answer;
        let said = json!({ "stdout": stdout, "stderr": stderr, "exit": exit, "notes": notes });
        writeln!(std::io::stdout(), "{said:#}")?;
        return Ok(exit::SUCCESS);
    }
    for note in &answer.notes {
        super::print_note(note);
    }
    if let Err(error) = print(&answer) {
        // An exit code is still heard, and agents that know no more take 2 for a no.
        let _ = super::print_error(&error.into());
        return Ok(if arguments.what.gives_way() { exit::FAILURE } else { exit::DENIED });
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
    let text = || arguments.text.clone().context("this needs a text behind it");
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
            let target = target.with_context(|| format!("nothing can be rewritten at `{kind}`"))?;
            let value = match target {
                Target::Prompt | Target::Summary => RawJson::string(&text),
                _ => RawJson::parse(text).context("the new value is no JSON")?,
            };
            Opinion::none().with_rewrite(Rewrite::replace(target, value))
        }
    })
}
