//! `checkrein list`: all hooks, in the order in which they would run.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::Result;
use checkrein::dialects::{CommandLine, HandlerSpec};
use checkrein::hook::HookState;
use checkrein::{EventKind, FailureKind, FailurePolicy, HookSpec};
use owo_colors::OwoColorize;
use serde_json::{Value, json};

use super::config::{self, ConfigArguments};
use super::printable;
use crate::exit::{self, Exit};

/// Shows all hooks by event, in the order in which they would run: where they stand, whose they are, what does their work,
/// how long they may take, and what is done when they fail.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  checkrein list\n  checkrein list --as claude --json")]
pub struct Arguments {
    #[command(flatten)]
    config: ConfigArguments,
    /// Prints JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let dialect = arguments.config.dialect.0;
    let mut loaded = arguments.config.load()?;
    loaded.look_at_scripts();
    config::tell(&loaded);
    config::hint_at_others(dialect, &arguments.config.config, &loaded, &arguments.config.directory()?);
    let mut hooks: Vec<_> = loaded.hooks.iter().collect();
    hooks.sort_by_key(|hook| hook.rank());
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let all: Vec<_> = hooks.iter().map(|hook| as_json(hook)).collect();
        let files: Vec<_> = loaded.files.iter().map(|file| json!({
            "path": file.path, "scope": file.scope, "dialect": file.dialect, "status": file.status.to_string(), "hooks": file.hooks,
        })).collect();
        writeln!(out, "{:#}", json!({ "hooks": all, "files": files }))?;
        return Ok(exit::SUCCESS);
    }
    if hooks.is_empty() {
        writeln!(out, "no hooks; looked for:")?;
        for file in &loaded.files {
            writeln!(out, "  {} ({})", file.path.display(), file.status)?;
        }
        return Ok(exit::SUCCESS);
    }
    let mut by_kind: BTreeMap<(usize, &str), (&EventKind, Vec<&HookSpec>)> = BTreeMap::new();
    for hook in &hooks {
        for kind in &hook.kinds {
            let place = EventKind::ALL.iter().position(|own| own == kind).unwrap_or(usize::MAX);
            by_kind.entry((place, kind.name())).or_insert_with(|| (kind, Vec::new())).1.push(hook);
        }
    }
    for (kind, hooks) in by_kind.into_values() {
        writeln!(out, "{}", dialect.name_of(kind).unwrap_or(kind.name()).bold())?;
        for hook in hooks {
            let info = &hook.info;
            let matcher = Some(hook.matcher.pattern()).filter(|pattern| !pattern.is_empty());
            let matcher = matcher.map(|pattern| format!("  on {pattern}")).unwrap_or_default();
            let state = state(hook).map(|state| format!("  [{state}]")).unwrap_or_default();
            writeln!(out, "  {}{}{}", printable(&info.id), printable(&matcher), printable(&state).red())?;
            let what = printable(&shown(hook));
            let fails = effect(hook, kind, FailureKind::Exit);
            let slow = effect(hook, kind, FailureKind::Timeout);
            let time = hook.timeout_for(kind);
            let open = if kind.contract().is_gate() && fails == FailurePolicy::Open {
                "  (a gate that fails open)"
            } else {
                ""
            };
            let waits = if hook.background { ", not waited for" } else { "" };
            writeln!(out, "    {}  {} ({})", what, info.source.dimmed(), info.source.scope.dimmed())?;
            if let Some(sandbox) = hook.sandbox() {
                writeln!(out, "    in a sandbox: {sandbox}")?;
            }
            match info.dry_run {
                true => writeln!(out, "    up to {time:?}{waits}; {}", "in the shadow: it decides nothing".yellow())?,
                false => writeln!(out, "    up to {time:?}{waits}, then {slow}; fails {fails}{}", open.yellow())?,
            }
        }
    }
    Ok(exit::SUCCESS)
}

pub fn state(hook: &HookSpec) -> Option<String> {
    match &hook.state {
        HookState::Ready => None,
        HookState::Disabled => Some(match &hook.disabled_by {
            Some(why) => format!("off: {why}"),
            None => "off".to_owned(),
        }),
        HookState::Skipped(why) => Some(format!("skipped: {why}")),
        HookState::Untrusted => Some("not approved".to_owned()),
        HookState::Changed(why) => Some(format!("not run: {why}")),
        HookState::Broken(why) => Some(format!("broken: {why}")),
    }
}

/// What is done about a failure of this kind.
pub fn effect(hook: &HookSpec, kind: &EventKind, failure: FailureKind) -> FailurePolicy {
    let info = &hook.info;
    // Where nothing waits for leave there is nothing to close.
    if !kind.contract().is_gate() {
        return FailurePolicy::Open;
    }
    let own = if failure == FailureKind::Timeout { info.on_timeout.or(info.on_failure) } else { info.on_failure };
    own.unwrap_or_else(|| hook.dialect.failure_effect(kind, failure))
}

/// What does a hook's work.
pub fn work(hook: &HookSpec) -> String {
    match &hook.handler {
        HandlerSpec::Command(command) => match &command.run {
            CommandLine::Shell { text, .. } => text.clone(),
            CommandLine::Argv(argv) => argv.join(" "),
        },
        HandlerSpec::Http(http) => http.url_shown().to_string(),
        HandlerSpec::Builtin(builtin) => format!("builtin {} {}", builtin.name, builtin.args.join(" ")),
        other => other.kind().to_string(),
    }
}

/// What does a hook's work, in a few words.
pub fn shown(hook: &HookSpec) -> String {
    let text = work(hook);
    let line = text.lines().next().unwrap_or_default().trim().to_owned();
    match line.char_indices().nth(80) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

fn as_json(hook: &HookSpec) -> Value {
    let info = &hook.info;
    let events: Vec<_> = hook
        .kinds
        .iter()
        .map(|kind| {
            json!({
                "event": kind.name(),
                "name": hook.dialect.name_of(kind),
                "timeout_s": hook.timeout_for(kind).as_secs_f64(),
                "on_failure": effect(hook, kind, FailureKind::Exit),
                "on_timeout": effect(hook, kind, FailureKind::Timeout),
                "gate": kind.contract().is_gate() && hook.dialect.is_gate(kind),
            })
        })
        .collect();
    json!({
        "id": info.id,
        "description": hook.description,
        "dialect": hook.dialect.name,
        "source": { "file": info.source.file, "line": info.source.line, "column": info.source.column, "scope": info.source.scope },
        "handler": hook.handler.kind().name(),
        "runs": shown(hook),
        "sandbox": hook.sandbox().map(ToString::to_string),
        "matcher": hook.matcher.pattern(),
        "order": hook.order,
        "waited_for": !hook.background,
        "shadow": info.dry_run,
        "state": state(hook).unwrap_or_else(|| "ready".to_owned()),
        "events": events,
    })
}
