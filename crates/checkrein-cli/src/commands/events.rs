//! `checkrein events`: lists events, with the fields that matchers see and the effects that hooks have.

use std::io::{self, Write};

use anyhow::Result;
use checkrein::dialects::reply::KeyMeaning;
use checkrein::dialects::{Answer, Dialect, EventRow, Evidence, FactGroup, PlainTextUse};
use checkrein::event::{BlockEffect, Target};
use checkrein::hook::{HookInfo, Source};
use checkrein::rules::Settlement;
use checkrein::{Decision, EventKind, Opinion, RawJson, Rewrite, Scope};
use checkrein_tools::samples;
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::dialect::DialectName;
use super::terminal;
use crate::exit::{self, Exit, UsageErrorExt};

/// List the events of an agent and what hooks can do there
///
/// With an event, also shows an example payload and answer of a hook.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   success
  64  usage error

Example:
  checkrein events
  checkrein events PreToolUse --as claude")]
pub struct Arguments {
    /// Show only this event, with examples; by the agent's name or checkrein's
    event: Option<String>,
    /// Agent whose events to show
    #[arg(long = "as", value_name = "AGENT", default_value = "native")]
    dialect: DialectName,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let dialect = arguments.dialect.0;
    let events: Vec<_> = match &arguments.event {
        Some(name) => vec![Row::new(dialect, &dialect.kind_named(name).usage_error()?)],
        None if dialect.has_all_events => EventKind::ALL.iter().map(|kind| Row::new(dialect, kind)).collect(),
        None => dialect.events.iter().map(|row| Row::of(dialect, row)).collect(),
    };
    let mut out = anstream::stdout().lock();
    match (&events[..], arguments.json) {
        (rows, true) => {
            let rows: Vec<_> = rows.iter().map(|row| row.json(dialect)).collect();
            let value =
                if arguments.event.is_some() { rows.into_iter().next().unwrap_or_default() } else { rows.into() };
            writeln!(out, "{value:#}")?;
        }
        ([row], false) if arguments.event.is_some() => row.show(&mut out, dialect)?,
        (rows, false) => {
            let width = rows.iter().map(|row| row.name.len()).max().unwrap_or_default();
            for row in rows {
                row.show_line(&mut out, width)?;
            }
            show_sources(&mut out, dialect)?;
        }
    }
    Ok(exit::SUCCESS)
}

struct Row {
    name: String,
    kind: EventKind,
    matched_on: Option<String>,
    may: Vec<String>,
    /// The first target that hooks can rewrite.
    rewrites: Option<Target>,
    takes_context: bool,
    /// Source of the facts about the event. `None`: it is checkrein's own.
    evidence: Option<Evidence>,
}

impl Row {
    fn new(dialect: &Dialect, kind: &EventKind) -> Self {
        let contract = kind.contract();
        let mut may = Vec::new();
        if dialect.blocks(kind) {
            may.push(match contract.block {
                BlockEffect::Ignored => "end the session".to_owned(),
                BlockEffect::Refuse => "block it".to_owned(),
                BlockEffect::Feedback => "give the model feedback".to_owned(),
                BlockEffect::EndLoop => "end the loop".to_owned(),
                BlockEffect::Continue => "make the agent continue".to_owned(),
            });
        }
        let says = |wanted: fn(KeyMeaning) -> bool| {
            dialect.reply.keys.iter().any(|key| wanted(key.means) && key.applies_to(dialect, kind))
        };
        let rewrites = says(|means| matches!(means, KeyMeaning::Replace(_) | KeyMeaning::Merge(_)));
        let rewrites = contract.rewrites.first().copied().filter(|_| rewrites);
        if rewrites.is_some() {
            let targets: Vec<_> = contract.rewrites.iter().map(ToString::to_string).collect();
            may.push(format!("rewrite {}", targets.join(" and ")));
        }
        let takes_context = contract.context.is_supported()
            && (says(|means| means == KeyMeaning::Context) || dialect.plain(kind) == PlainTextUse::Context);
        if takes_context {
            may.push("add context".to_owned());
        }
        let matched_on = contract.matched_on.as_ref().filter(|_| dialect.is_matched(kind)).map(ToString::to_string);
        let name = dialect.name_of(kind).unwrap_or(kind.name()).to_owned();
        let evidence = dialect.row(kind).and_then(|row| dialect.evidence_of(row));
        Self { name, kind: kind.clone(), matched_on, may, rewrites, takes_context, evidence }
    }

    /// Row of an event that is not the first of its kind.
    fn of(dialect: &Dialect, row: &EventRow) -> Self {
        Self { name: row.name.to_owned(), evidence: dialect.evidence_of(row), ..Self::new(dialect, &row.kind) }
    }

    fn payload(&self, dialect: &'static Dialect) -> Value {
        samples::payload(dialect, &self.kind, None).read().unwrap_or_default()
    }

    /// An example answer: a block if the event can be blocked, or else context or a rewrite.
    fn answer(&self, dialect: &Dialect) -> Answer {
        let event = samples::event(&self.kind);
        let context = Opinion::context("the build is red");
        let rewritten = self.rewrites.and_then(|target| Some((target, event.original(target)?)));
        let opinion = match rewritten {
            _ if dialect.blocks(&self.kind) && self.kind.contract().block == BlockEffect::Ignored => {
                Opinion::halt("not like this")
            }
            _ if dialect.blocks(&self.kind) => Opinion::from_decision(Decision::Deny).with_reason("not like this"),
            Some((target, value)) if !self.takes_context => {
                Opinion::none().with_rewrite(Rewrite::replace(target, value))
            }
            _ => context,
        };
        let hook = std::sync::Arc::new(HookInfo::new("example", Source::for_scope(Scope::Code)).rewrites());
        let mut settlement = Settlement::new(&dialect.rules_at(&self.kind), &event);
        let _ = settlement.push(0, &hook, &opinion);
        dialect.render_verdict(&event, &settlement.finish())
    }

    fn json(&self, dialect: &'static Dialect) -> Value {
        let answer = self.answer(dialect);
        let stdout = parse_stdout(&answer);
        json!({
            "name": self.name,
            "kind": self.kind.name(),
            "when": self.kind.description(),
            "matched_on": self.matched_on,
            "may": self.may,
            "timeout_s": dialect.timeout(&self.kind, "command").as_secs_f64(),
            "evidence": self.evidence.map(|evidence| json!({
                "known": evidence.known.label(),
                "source": evidence.source,
                "version": evidence.version,
                "date": evidence.date,
            })),
            "payload": self.payload(dialect),
            "answer": { "stdout": stdout, "stderr": answer.stderr, "exit": answer.exit },
        })
    }

    /// One entry of the list. On a terminal, lines break before words, and before the effects.
    fn show_line(&self, out: &mut impl Write, width: usize) -> io::Result<()> {
        let (description, effects) = (self.kind.description(), bracketed(&self.may.join(", ")));
        let column = width + 2;
        let columns = terminal::width().unwrap_or(usize::MAX);
        let description = terminal::wrap(description, column, column, columns);
        let last = match description.rsplit_once('\n') {
            Some((_, last)) => last.chars().count(),
            None => column + description.chars().count(),
        };
        write!(out, "{:<width$}  {description}", self.name.bold())?;
        if !effects.is_empty() && last + effects.chars().count() > columns {
            return writeln!(out, "\n{:column$}{}", "", effects.trim_start().dimmed());
        }
        writeln!(out, "{}", effects.dimmed())
    }

    fn show(&self, out: &mut impl Write, dialect: &'static Dialect) -> io::Result<()> {
        writeln!(out, "{} ({})", self.name.bold(), self.kind)?;
        writeln!(out, "  {}", self.kind.description())?;
        match &self.matched_on {
            Some(field) => writeln!(out, "  matchers are compared with `{field}`")?,
            None => writeln!(out, "  matchers have no effect")?,
        }
        match &self.may[..] {
            [] => writeln!(out, "  hooks can only observe")?,
            may => writeln!(out, "  hooks can {}", may.join(", "))?,
        }
        let time = dialect.timeout(&self.kind, "command");
        writeln!(out, "  default timeout: {time:?}")?;
        if let Some(evidence) = self.evidence {
            writeln!(out, "  {}", described(&evidence))?;
        }
        if let Some(since) = dialect.row(&self.kind).and_then(|row| row.since) {
            writeln!(out, "  since version {since} of the agent")?;
        }
        writeln!(out, "\npayload:\n{:#}", self.payload(dialect))?;
        let answer = self.answer(dialect);
        if !answer.stdout.is_empty() {
            match parse_stdout(&answer) {
                Value::String(text) => writeln!(out, "\nexample answer (standard output):\n{text}")?,
                value => writeln!(out, "\nexample answer (standard output):\n{value:#}")?,
            }
        } else if answer.exit != 0 {
            writeln!(out, "\nexample answer (exit code {}, standard error):\n{}", answer.exit, answer.stderr)?;
        }
        Ok(())
    }
}

/// Sources of the facts about an agent. checkrein's own events have none.
fn show_sources(out: &mut impl Write, dialect: &Dialect) -> io::Result<()> {
    let sources = dialect.sources();
    for (position, evidence) in sources.iter().enumerate() {
        let heading = if position == 0 { "\nsources:\n" } else { "" };
        writeln!(out, "{heading}  {}. {}", position + 1, described(evidence))?;
    }
    let known = FactGroup::ALL.into_iter().filter_map(|group| Some((group, dialect.evidence_of_group(group)?)));
    let groups: Vec<_> = known
        .filter_map(|(group, evidence)| {
            let position = sources.iter().position(|source| *source == evidence)?;
            Some(format!("{} {}", group.label(), position + 1))
        })
        .collect();
    if sources.len() > 1 {
        writeln!(out, "  sources of other facts: {}", groups.join("; "))?;
    }
    Ok(())
}

fn described(evidence: &Evidence) -> String {
    let Evidence { known, source, version, date } = evidence;
    format!("{}: {source}; version {version}; {date}", known.label())
}

/// Standard output of an answer as JSON. Some agents take plain text, which becomes a JSON string.
fn parse_stdout(answer: &Answer) -> Value {
    match RawJson::parse(answer.stdout.as_str()).ok().and_then(|json| json.read().ok()) {
        Some(json) => json,
        None if answer.stdout.is_empty() => Value::Null,
        None => answer.stdout.clone().into(),
    }
}

fn bracketed(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("  [{text}]") }
}
