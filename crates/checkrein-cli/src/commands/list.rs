//! `checkrein list`: shows all hooks by event, in the order in which they run.
//!
//! `status --effective` uses its functions for the state and the command of a hook.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use checkrein::dialects::config::{Diagnostic, Severity};
use checkrein::dialects::{CommandLine, HandlerSpec};
use checkrein::hook::HookState;
use checkrein::hook_files::{Loaded, Locations};
use checkrein::{EventKind, FailureKind, FailurePolicy, HookSpec};
use checkrein_tools::lint;
use owo_colors::{OwoColorize, Style};
use serde_json::{Value, json};

use super::config::{self, ConfigArguments};
use super::{display_path, display_source, is_verbose, layout, pluralize, printable, selection, shorten_paths};
use crate::exit::{self, Exit};

/// Number of events of one broken hook that are listed without `-v`.
const SHOWN_EVENTS: usize = 8;

/// List all hooks in the order in which they run
///
/// Groups the hooks by event. Shows the file, handler, timeout and failure policy of each.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit codes:
  0   success
  1   a hook file cannot be read, or a hook has no entry at one of its
      events in an agent that calls checkrein
  64  usage error

Example:
  checkrein list
  checkrein list --as claude --json")]
pub struct Arguments {
    #[command(flatten)]
    config: ConfigArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Exit> {
    let dialect = arguments.config.dialect.0;
    let mut loaded = arguments.config.load()?;
    loaded.verify_scripts();
    config::print_diagnostics_of_loaded(&loaded);
    // The list itself shows these errors.
    lint::mark_broken(dialect, &mut loaded.hooks, &arguments.config.directory()?);
    config::hint_at_others(dialect, &arguments.config.config, &loaded, &arguments.config.directory()?);
    let mut hooks: Vec<_> = loaded.hooks.iter().collect();
    hooks.sort_by_key(|hook| hook.rank());
    let is_unknown = loaded.files.iter().any(|file| file.status.is_unknown());
    let without_entry = without_entry(&arguments.config)?;
    let is_wrong = is_unknown || without_entry.iter().any(|found| found.severity == Severity::Error);
    let exit = if is_wrong { exit::FAILURE } else { exit::SUCCESS };
    for found in &without_entry {
        super::print_failure(&found.to_string());
    }
    let mut out = anstream::stdout().lock();
    if arguments.json {
        let all: Vec<_> = hooks.iter().map(|hook| as_json(hook)).collect();
        let files: Vec<_> = loaded.files.iter().map(|file| json!({
            "path": file.path, "scope": file.scope, "dialect": file.dialect, "status": file.status.to_string(), "hooks": file.hooks,
        })).collect();
        writeln!(out, "{:#}", json!({ "hooks": all, "files": files }))?;
        return Ok(exit);
    }
    if hooks.is_empty() {
        show_places(&mut out, &loaded)?;
        return Ok(exit);
    }
    let (broken, hooks): (Vec<&HookSpec>, Vec<&HookSpec>) =
        hooks.into_iter().partition(|hook| matches!(hook.state, HookState::Broken(_)));
    let mut by_kind: BTreeMap<(usize, &str), (&EventKind, Vec<&HookSpec>)> = BTreeMap::new();
    for hook in &hooks {
        for kind in &hook.kinds {
            let position = EventKind::ALL.iter().position(|own| own == kind).unwrap_or(usize::MAX);
            by_kind.entry((position, kind.name())).or_insert_with(|| (kind, Vec::new())).1.push(hook);
        }
    }
    for (kind, hooks) in by_kind.into_values() {
        writeln!(out, "{}", dialect.name_of(kind).unwrap_or(kind.name()).bold())?;
        let mut shown_packs: Vec<(&str, Option<u32>)> = Vec::new();
        for hook in &hooks {
            let info = &hook.info;
            let plain = Style::new();
            // A pack is one entry of a file. Its rules are listed by `checkrein packs show`.
            let pack = selection::pack_of(hook).filter(|_| !is_verbose() && hook.state == HookState::Ready);
            if let Some(pack) = pack {
                let key = (pack, info.source.line);
                if !shown_packs.contains(&key) {
                    shown_packs.push(key);
                    let is_same = |other: &&&HookSpec| {
                        selection::pack_of(other) == Some(pack)
                            && other.info.source == info.source
                            && other.state == HookState::Ready
                    };
                    let rules = pluralize(hooks.iter().filter(is_same).count(), "rule");
                    writeln!(out, "  {pack}")?;
                    let text = format!("pack with {rules} (-v lists them)  ");
                    let place = format!("{} ({})", display_source(&info.source), info.source.scope);
                    layout::styled(&mut out, 4, &[(&text, plain), (&place, plain.dimmed())])?;
                }
                continue;
            }
            let state =
                state(hook).map(|state| format!("  [{}]", shorten_paths(&printable(&state)))).unwrap_or_default();
            let name = format!("{}{}", printable(&info.id), printable(&conditions(hook)));
            layout::styled(&mut out, 2, &[(&name, plain), (&state, plain.red())])?;
            let command = format!("{}  ", printable(&shown(hook)));
            let source = display_source(&info.source);
            let scope = info.source.scope.to_string();
            let place = [(source.as_str(), plain.dimmed()), (" (", plain), (&scope, plain.dimmed()), (")", plain)];
            layout::styled(&mut out, 4, &[&[(command.as_str(), plain)], &place[..]].concat())?;
            if let Some(sandbox) = hook.sandbox() {
                layout::paragraph(&mut out, 4, &format!("sandbox: {sandbox}"))?;
            }
            show_limits(&mut out, hook, kind)?;
        }
    }
    show_broken(&mut out, &loaded, &broken)?;
    Ok(exit)
}

/// Hooks that have no entry at one of their events, if the usual files are listed.
fn without_entry(config: &ConfigArguments) -> Result<Vec<Diagnostic>> {
    if !config.config.is_empty() || !config.dialect.0.has_all_events {
        return Ok(Vec::new());
    }
    Ok(lint::missing_entries(&config.directory()?, Locations::default()))
}

/// Prints how to create hooks, and the places of hook files. Files that differ only in their extension share a line.
fn show_places(out: &mut impl Write, loaded: &Loaded) -> Result<()> {
    writeln!(out, "no hooks. Create some: checkrein init [--user]")?;
    let mut places: Vec<(PathBuf, Vec<String>)> = Vec::new();
    let mut folders = Vec::new();
    for file in &loaded.files {
        if file.path.extension().is_some_and(|extension| extension == "d") {
            folders.push(&file.path);
            continue;
        }
        let stem = file.path.with_extension("");
        let extension = file.path.extension().unwrap_or_default().to_string_lossy().into_owned();
        match places.iter_mut().find(|(place, _)| *place == stem) {
            Some((_, extensions)) => extensions.push(extension),
            None => places.push((stem, vec![extension])),
        }
    }
    writeln!(out, "Files that are read:")?;
    if is_verbose() {
        for file in &loaded.files {
            writeln!(out, "  {} ({})", display_path(&file.path), file.status)?;
        }
        return Ok(());
    }
    for (stem, extensions) in &places {
        let stem = display_path(stem);
        match extensions.as_slice() {
            [none] if none.is_empty() => writeln!(out, "  {stem}")?,
            [one] => writeln!(out, "  {stem}.{one}")?,
            several => writeln!(out, "  {stem}.{{{}}}", several.join(","))?,
        }
    }
    for folder in folders {
        writeln!(out, "  {}", display_path(&folder.join("*")))?;
    }
    Ok(())
}

/// Prints the timeout of a hook and the effect of its failures at an event.
fn show_limits(out: &mut impl Write, hook: &HookSpec, kind: &EventKind) -> Result<()> {
    write!(out, "    timeout {:?}", hook.timeout_for(kind))?;
    if hook.background {
        return Ok(writeln!(out, "; in the background, cannot block")?);
    }
    if hook.info.dry_run {
        return Ok(writeln!(out, "; {}", "dry run: cannot block".yellow())?);
    }
    if !hook.dialect.blocks(kind) {
        return Ok(writeln!(out, "; cannot block")?);
    }
    let [timeout, failure] =
        [FailureKind::Timeout, FailureKind::Exit].map(|failure| hook.failure_effect(kind, failure));
    let failure = match failure {
        FailurePolicy::Open if kind.contract().is_gate() => effect_word(failure).yellow().to_string(),
        _ => effect_word(failure).to_owned(),
    };
    writeln!(out, " -> {}; failure -> {failure}", effect_word(timeout))?;
    Ok(())
}

/// Prints each hook and file that cannot be loaded once, whatever its events are.
fn show_broken(out: &mut impl Write, loaded: &Loaded, broken: &[&HookSpec]) -> Result<()> {
    if broken.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}", "Not loaded".bold())?;
    for hook in broken {
        let HookState::Broken(why) = &hook.state else { continue };
        let (info, why) = (&hook.info, shorten_paths(&printable(why)));
        let place = format!("{} ({})", display_source(&info.source), info.source.scope);
        match is_placeholder(loaded, hook) {
            true => writeln!(out, "  {place}")?,
            false => writeln!(out, "  {}  {place}", printable(&info.id))?,
        }
        layout::paragraph(out, 4, &why)?;
        let blocked = blocked_events(hook);
        match blocked.len() {
            0 => {}
            count if count > SHOWN_EVENTS && !is_verbose() => {
                writeln!(out, "    blocks {count} events (-v lists them)")?;
            }
            _ => layout::list(out, 4, "blocks", Style::new().red(), &blocked)?,
        }
    }
    Ok(())
}

/// Events that a broken hook blocks until it is fixed or removed.
fn blocked_events(hook: &HookSpec) -> Vec<&str> {
    let is_blocked = |kind: &&EventKind| {
        hook.guards(kind) && hook.failure_effect(kind, FailureKind::Schema) == FailurePolicy::Closed
    };
    let kinds = hook.kinds.iter().filter(is_blocked);
    kinds.map(|kind| hook.dialect.name_of(kind).unwrap_or(kind.name())).collect()
}

/// `true` if the hook represents a whole file that cannot be read.
pub fn is_placeholder(loaded: &Loaded, hook: &HookSpec) -> bool {
    let file = hook.info.source.file.as_deref().map(Path::new);
    loaded.files.iter().any(|state| state.status.is_unknown() && Some(state.path.as_path()) == file)
}

/// Conditions of a hook beside its event: matcher, permission rule and input patterns.
pub fn conditions(hook: &HookSpec) -> String {
    let mut text = String::new();
    if !hook.matcher.pattern().is_empty() {
        text += &format!("  on {}", hook.matcher.pattern());
    }
    if let Some(rule) = &hook.permission_rule {
        text += &format!("  if {rule}");
    }
    for input in &hook.input {
        text += &format!("  if {} matches {}", input.field, input.matcher.pattern());
    }
    text
}

/// Effect of a failure policy, in one word.
pub fn effect_word(policy: FailurePolicy) -> &'static str {
    match policy {
        FailurePolicy::Open => "ignore",
        FailurePolicy::Closed => "block",
        FailurePolicy::Ask => "ask",
    }
}

/// State of a hook in words. `None`: it is ready.
pub fn state(hook: &HookSpec) -> Option<String> {
    match &hook.state {
        HookState::Ready => None,
        HookState::Disabled => Some(match &hook.disabled_by {
            Some(why) => format!("disabled: {why}"),
            None => "disabled".to_owned(),
        }),
        HookState::Skipped(why) => Some(format!("skipped: {why}")),
        HookState::Untrusted => Some("not approved".to_owned()),
        HookState::Changed(why) => Some(format!("not run: {why}")),
        HookState::Broken(why) => Some(format!("broken: {why}")),
    }
}

/// Command, URL or builtin that a hook runs.
pub fn work(hook: &HookSpec) -> String {
    match &hook.handler {
        HandlerSpec::Command(command) => match &command.run {
            CommandLine::Shell { text, .. } => text.clone(),
            CommandLine::Argv(argv) => argv.join(" "),
        },
        HandlerSpec::Http(http) => http.url_shown().to_string(),
        HandlerSpec::Builtin(builtin) => format!("builtin {} {}", builtin.name, builtin.args.join(" ")),
        HandlerSpec::Rule(rule) => match &rule.pack_rule {
            Some(id) => format!("rule {id} of a pack"),
            None => format!("rule {}", rule.when),
        },
        other => other.kind().to_string(),
    }
}

/// First line of the command, URL or builtin that a hook runs, at most 80 characters.
pub fn shown(hook: &HookSpec) -> String {
    let text = work(hook);
    let line = text.lines().next().unwrap_or_default().trim().to_owned();
    match line.char_indices().nth(80) {
        Some((end, _)) => format!("{}…", &line[..end]),
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
                "on_failure": hook.failure_effect(kind, FailureKind::Exit),
                "on_timeout": hook.failure_effect(kind, FailureKind::Timeout),
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
        "dry_run": info.dry_run,
        "state": state(hook).unwrap_or_else(|| "ready".to_owned()),
        "events": events,
    })
}
