//! `checkrein status --effective`: shows the files, settings and hooks that apply in a directory.
//!
//! Administrators compare machines with it. The JSON output is stable: two machines with the same setup print the same text.

use std::io::Write;

use anyhow::Result;
use checkrein::dialects::agents::native;
use checkrein::dialects::config::{AuditSettings, Diagnostic, Severity};
use checkrein::hook::HookState;
use checkrein::hook_files::{FileState, FileStatus, Loaded, Ownership, Setting, Skip, Sources};
use checkrein::{FailureKind, FailurePolicy, HookSpec};
use checkrein_tools::lint;
use owo_colors::{OwoColorize, Style};
use serde_json::{Value, json};

use super::super::config::directory;
use super::super::list::{conditions, effect_word, shown, state, work};
use super::super::{display_path, display_source, is_verbose, layout, pluralize, printable, shorten_paths};
use crate::exit::{self, Exit};

/// Number of events of one hook that are listed without `-v`.
const SHOWN_EVENTS: usize = 8;

/// Runs the command. Fails if a file has an error.
pub fn run(dir: &std::path::Path, as_json: bool) -> Result<Exit> {
    let dir = directory(dir)?;
    let mut loaded = Sources::discover(&native::DIALECT, &dir).load();
    loaded.verify_scripts();
    loaded.diagnostics.extend(lint::audit_log(&loaded));
    let broken = lint::mark_broken(&native::DIALECT, &mut loaded.hooks, &dir);
    loaded.diagnostics.extend(broken);
    let skip = Skip::from_env();
    let mut out = anstream::stdout().lock();
    if as_json {
        writeln!(out, "{:#}", json_of(&loaded, &dir.to_string_lossy(), &skip))?;
    } else {
        show(&mut out, &loaded, &skip)?;
    }
    let is_wrong = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
    Ok(if loaded.diagnostics.iter().any(is_wrong) { exit::FAILURE } else { exit::SUCCESS })
}

/// Prints the report. Missing files are only counted, because there are many possible places.
fn show(out: &mut impl Write, loaded: &Loaded, skip: &Skip) -> Result<()> {
    writeln!(out, "{}", "Config files (highest priority first)".bold())?;
    for file in loaded.files.iter().filter(|file| file.status != FileStatus::Missing) {
        let status = match file.status {
            FileStatus::Found => "read".green().to_string(),
            other => other.to_string().red().to_string(),
        };
        let hash = file.sha256.as_deref().map(|hash| format!("  sha256 {hash}")).unwrap_or_default();
        writeln!(out, "  {:<8} {status}  {}{}", file.scope, display_path(&file.path), hash.dimmed())?;
        if let Some(ownership) = &file.ownership {
            writeln!(out, "           {}", owned(ownership))?;
        }
    }
    let missing = loaded.files.iter().filter(|file| file.status == FileStatus::Missing).count();
    writeln!(out, "  {}", format!("{missing} other locations: none").dimmed())?;
    writeln!(out, "{}", "Settings for all hooks".bold())?;
    for setting in &loaded.settings {
        let Setting { key, value, scope, .. } = setting;
        let value = match &loaded.audit {
            Some(audit) if key == "audit" => audit_text(audit),
            _ => printable(value.as_str()),
        };
        let place = match setting.line {
            Some(_) => format!("{} ({scope})", layout::place(&setting.file, setting.line)),
            None => "(default)".to_owned(),
        };
        writeln!(out, "  {key}: {value}  {}", place.dimmed())?;
    }
    writeln!(out, "  {}", skipping(loaded, skip))?;
    if loaded.audit.is_none() {
        writeln!(out, "  audit log: off")?;
    }
    writeln!(out, "{}", "Hooks (in the order in which they run)".bold())?;
    for hook in in_order(loaded) {
        let info = &hook.info;
        let state = state(hook).unwrap_or_else(|| "ready".to_owned());
        let state = shorten_paths(&printable(&state));
        let state = if hook.state == HookState::Ready { state.green().to_string() } else { state.red().to_string() };
        writeln!(out, "  {:<8} {}  {state}", info.source.scope, printable(&info.id))?;
        let (command, place) = (printable(&shown(hook)), display_source(&info.source));
        let command = if command.is_empty() { command } else { format!("{command}  ") };
        layout::styled(out, 11, &[(&command, Style::new()), (&place, Style::new().dimmed())])?;
        let conditions = conditions(hook);
        if !conditions.is_empty() {
            layout::styled(out, 11, &[(&printable(conditions.trim_start()), Style::new())])?;
        }
        if let Some(sandbox) = hook.sandbox() {
            layout::paragraph(out, 11, &format!("sandbox: {}", printable(&sandbox.to_string())))?;
        }
        if info.dry_run {
            writeln!(out, "           {}", "dry run: cannot block".yellow())?;
            continue;
        }
        if hook.background {
            writeln!(out, "           {}", "in the background: cannot block".yellow())?;
            continue;
        }
        let gates: Vec<_> = gates(hook).collect();
        if gates.is_empty() {
            writeln!(out, "           {}", if can_block(hook) { "failure -> ignore" } else { "cannot block" })?;
        }
        for policy in [FailurePolicy::Closed, FailurePolicy::Ask, FailurePolicy::Open] {
            let events: Vec<_> =
                gates.iter().filter(|(_, effect)| *effect == policy).map(|(event, _)| *event).collect();
            let label = format!("failure -> {} at", effect_word(policy));
            match events.len() {
                0 => {}
                count if count > SHOWN_EVENTS && !is_verbose() => {
                    writeln!(out, "           {label} {count} events (-v lists them)")?;
                }
                _ => layout::list(out, 11, &label, Style::new(), &events)?,
            }
        }
    }
    for diagnostic in &loaded.diagnostics {
        super::super::print_failure(&diagnostic.to_string());
    }
    Ok(())
}

fn owned(ownership: &Ownership) -> String {
    let number = ownership.owner.map(|owner| format!("owner {owner}"));
    let mode = ownership.mode.map(|mode| format!("mode {mode:04o}"));
    let known: Vec<_> = number.into_iter().chain(mode).collect();
    match &ownership.problem {
        None => format!("{}, writable only by the administrator", known.join(", ")),
        Some(problem) => format!("{}: {}", known.join(", "), printable(problem)).red().to_string(),
    }
}

fn skipping(loaded: &Loaded, skip: &Skip) -> String {
    let (all, ids) = (Skip::ALL, Skip::IDS);
    let now = if skip.is_empty() { "" } else { " (set now)" };
    match loaded.allow_skip {
        true => format!("{all}/{ids}{now} apply, except to managed hooks"),
        false => format!(
            "{all}/{ids}{now} ignored under agents: set `allow_skip: true` in your own hooks file to allow them"
        ),
    }
}

/// The hooks, in the order in which they run.
fn in_order(loaded: &Loaded) -> Vec<&HookSpec> {
    let mut hooks: Vec<_> = loaded.hooks.iter().collect();
    hooks.sort_by_key(|hook| hook.rank());
    hooks
}

/// Events that a hook can block, with the effect of its failure there.
fn gates(hook: &HookSpec) -> impl Iterator<Item = (&str, FailurePolicy)> {
    let kinds = hook.kinds.iter().filter(|kind| hook.guards(kind));
    kinds.map(|kind| (kind.name(), hook.failure_effect(kind, FailureKind::Exit)))
}

/// `true` if the hook can block at least one of its events.
fn can_block(hook: &HookSpec) -> bool {
    hook.decides() && hook.kinds.iter().any(|kind| hook.dialect.blocks(kind))
}

/// Settings of the audit log in words.
fn audit_text(audit: &AuditSettings) -> String {
    let path = audit.path.as_deref().map(|path| display_path(std::path::Path::new(path)));
    let failure = if audit.closed { "block" } else { "ignore" };
    let mut text = format!("{}; failure -> {failure}", path.as_deref().unwrap_or("no path, because HOME is not set"));
    if let Some(size) = audit.max_size {
        text += &format!("; new file at {size} bytes");
    }
    if let Some(age) = audit.max_age {
        const DAY: u64 = 24 * 3600;
        let seconds = age.as_secs();
        let shown =
            if seconds.is_multiple_of(DAY) { pluralize((seconds / DAY) as usize, "day") } else { format!("{age:?}") };
        text += &format!("; new file after {shown}");
    }
    text
}

fn audit_json(audit: &AuditSettings) -> Value {
    json!({
        "path": audit.path,
        "on_failure": if audit.closed { FailurePolicy::Closed } else { FailurePolicy::Open },
        "max_size": audit.max_size,
        "max_age_s": audit.max_age.map(|age| age.as_secs()),
    })
}

fn json_of(loaded: &Loaded, dir: &str, skip: &Skip) -> Value {
    let file = |file: &FileState| {
        let ownership = file.ownership.as_ref().map(|ownership| {
            json!({
                "owner": ownership.owner,
                "mode": ownership.mode.map(|mode| format!("{mode:04o}")),
                "fine": ownership.problem.is_none(),
                "problem": ownership.problem,
            })
        });
        json!({
            "path": file.path.to_string_lossy(),
            "scope": file.scope,
            "dialect": file.dialect,
            "status": file.status.to_string(),
            "sha256": file.sha256,
            "ownership": ownership,
            "hooks": file.hooks,
        })
    };
    let setting = |setting: &Setting| {
        let value: Value = serde_json::from_str(setting.value.as_str()).unwrap_or_default();
        let (key, file) = (&setting.key, &setting.file);
        json!({ "key": key, "value": value, "scope": setting.scope, "file": file, "line": setting.line })
    };
    let hook = |hook: &&HookSpec| {
        let info = &hook.info;
        let events = hook.kinds.iter().map(|kind| {
            json!({
                "event": kind.name(),
                "gate": gates(hook).any(|(gate, _)| gate == kind.name()),
                "on_failure": hook.failure_effect(kind, FailureKind::Exit),
                "on_timeout": hook.failure_effect(kind, FailureKind::Timeout),
            })
        });
        json!({
            "id": info.id,
            "source": { "file": info.source.file, "line": info.source.line, "scope": info.source.scope },
            "dialect": hook.dialect.name,
            "handler": hook.handler.kind().name(),
            "runs": work(hook),
            "matcher": hook.matcher.pattern(),
            "if": hook.permission_rule.as_ref().map(ToString::to_string),
            "input": hook.input.iter().map(|input| json!({
                "field": input.field,
                "pattern": input.matcher.pattern(),
            })).collect::<Vec<_>>(),
            "sandbox": hook.sandbox().map(ToString::to_string),
            "order": hook.order,
            "waited_for": !hook.background,
            "dry_run": info.dry_run,
            "can_block": can_block(hook),
            "state": word(&hook.state),
            "why": why(hook),
            "events": events.collect::<Vec<_>>(),
        })
    };
    let diagnostic = |found: &Diagnostic| {
        json!({
            "severity": found.severity.to_string(),
            "code": found.code,
            "message": found.message,
            "file": found.file,
            "line": found.at.as_ref().map(|at| at.place.line),
        })
    };
    json!({
        "directory": dir,
        "managed": loaded.files.iter().any(|file| is_managed(file) && file.status == FileStatus::Found),
        "files": loaded.files.iter().map(file).collect::<Vec<_>>(),
        "settings": loaded.settings.iter().map(setting).collect::<Vec<_>>(),
        "audit": loaded.audit.as_ref().map(audit_json),
        "skip": { "heeded": loaded.allow_skip, "set": !skip.is_empty() },
        "hooks": in_order(loaded).iter().map(hook).collect::<Vec<_>>(),
        "diagnostics": loaded.diagnostics.iter().map(diagnostic).collect::<Vec<_>>(),
    })
}

fn is_managed(file: &FileState) -> bool {
    file.scope == checkrein::Scope::Managed
}

fn word(state: &HookState) -> &'static str {
    match state {
        HookState::Ready => "ready",
        HookState::Disabled => "disabled",
        HookState::Skipped(_) => "skipped",
        HookState::Untrusted => "untrusted",
        HookState::Changed(_) => "changed",
        HookState::Broken(_) => "broken",
    }
}

fn why(hook: &HookSpec) -> Option<String> {
    match &hook.state {
        HookState::Skipped(why) | HookState::Broken(why) | HookState::Changed(why) => Some(why.clone()),
        HookState::Disabled => Some(hook.disabled_by.clone().unwrap_or_else(|| "disabled in its own entry".to_owned())),
        HookState::Ready | HookState::Untrusted => None,
    }
}
