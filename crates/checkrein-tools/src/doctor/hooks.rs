//! Checks of hooks: found, approved, loadable, and closed if they fail.

use std::collections::BTreeSet;
use std::path::Path;

use checkrein::hook_files::{FileStatus, Loaded, Sources};
use checkrein_core::{FailureKind, FailurePolicy, HookInfo, HookState};
use checkrein_dialects::HookSpec;
use checkrein_dialects::agents::native;
use checkrein_dialects::config::{Diagnostic, Severity};

use super::{Check, Doctor, Section};
use crate::lint;

/// Largest number of findings that are listed.
const MAX_FINDINGS: usize = 12;

pub(super) fn section(doctor: &Doctor<'_>, loaded: &Loaded) -> Section {
    let mut checks = vec![found(loaded), approved(doctor.dir)];
    checks.extend(findings(doctor, loaded));
    checks.extend(open_gates(loaded));
    checks.extend(warm(doctor.dir, loaded));
    Section { title: "hooks", is_agent: false, is_installed: false, version: None, checks }
}

fn found(loaded: &Loaded) -> Check {
    let count = |is_meant: &dyn Fn(&HookSpec) -> bool| {
        let hooks = loaded.hooks.iter().filter(|hook| is_meant(hook)).map(|hook| &*hook.info);
        hooks.map(key).collect::<BTreeSet<_>>().len()
    };
    let ready = count(&|hook| hook.state == HookState::Ready);
    let closed = count(&is_closed);
    if ready == 0 && closed > 0 {
        let text = format!(
            "no hook is in force; {} cannot be loaded, so calls at their events are denied",
            counted(closed, "hook or hook file")
        );
        return Check::problem("found", text).fix("fix the errors below, or run `checkrein check`");
    }
    if ready == 0 {
        return Check::problem("found", "no hook is in force, so nothing is checked")
            .fix("run `checkrein init --user`, or approve the hooks of the project");
    }
    let in_force = loaded.hooks.iter().filter(|hook| hook.state == HookState::Ready);
    let files = in_force.map(|hook| &hook.info.source.file).collect::<BTreeSet<_>>().len();
    let off = count(&|hook| matches!(hook.state, HookState::Disabled | HookState::Skipped(_)));
    let disabled = if off == 0 { String::new() } else { format!(", {off} disabled") };
    Check::ok("found", format!("{} in force in {}{disabled}", counted(ready, "hook"), counted(files, "file")))
}

/// Returns `true` if a hook that cannot be loaded denies the calls at one of its events.
fn is_closed(hook: &HookSpec) -> bool {
    let denies = |kind| hook.guards(kind) && hook.failure_effect(kind, FailureKind::Schema) != FailurePolicy::Open;
    matches!(hook.state, HookState::Broken(_)) && hook.kinds.iter().any(denies)
}

fn key(info: &HookInfo) -> (&str, Option<&str>, Option<u32>) {
    (info.id.as_str(), info.source.file.as_deref(), info.source.line)
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Hooks that run in warm interpreters while the resident process runs, and the reasons of other Python and Node hooks.
#[cfg(target_os = "linux")]
fn warm(dir: &Path, loaded: &Loaded) -> Option<Check> {
    use checkrein::handler::HandlerEnv;
    use checkrein::handler::warm::warm_state;

    let env = HandlerEnv::new(dir, std::env::vars_os(), checkrein::Registry::new());
    let (mut warm, mut cold) = (Vec::new(), Vec::new());
    for hook in loaded.hooks.iter().filter(|hook| hook.state == HookState::Ready) {
        match warm_state(hook, &env) {
            Some(Ok(_)) => warm.push(format!("`{}`", hook.info.id)),
            Some(Err(reason)) if !reason.is_other_program() => cold.push(format!("`{}` ({reason})", hook.info.id)),
            _ => {}
        }
    }
    let listed = |hooks: &[String]| hooks.iter().take(MAX_FINDINGS).cloned().collect::<Vec<_>>().join(", ");
    let text = match (warm.is_empty(), cold.is_empty()) {
        (true, true) => return None,
        (false, true) => format!("these hooks run warm while `checkrein serve` runs: {}", listed(&warm)),
        (true, false) => format!("these hooks run cold also while `checkrein serve` runs: {}", listed(&cold)),
        (false, false) => {
            format!("these hooks run warm while `checkrein serve` runs: {}; cold: {}", listed(&warm), listed(&cold))
        }
    };
    Some(Check::ok("warm interpreters", text))
}

#[cfg(not(target_os = "linux"))]
fn warm(_: &Path, _: &Loaded) -> Option<Check> {
    None
}

/// Approvals of project hooks, as `checkrein trust check` reports them.
fn approved(dir: &Path) -> Check {
    let review = Sources::discover(&native::DIALECT, dir).as_of_project().review();
    let awaiting = review.awaiting();
    if !awaiting.is_empty() {
        let hooks: BTreeSet<_> =
            awaiting.iter().map(|waiting| format!("`{}` ({})", waiting.hook.id, waiting.hook.source)).collect();
        let names = hooks.iter().take(MAX_FINDINGS).cloned().collect::<Vec<_>>().join(", ");
        return Check::problem("approval", format!("{} not approved: {names}", counted(hooks.len(), "hook")))
            .fix("review with `checkrein trust`, then run `checkrein trust approve`");
    }
    if review.diagnostics.iter().any(|found| found.severity == Severity::Error) {
        return Check::problem("approval", "not all hooks were read, so their approvals are unknown")
            .fix("fix the errors in the hook files");
    }
    match review.hooks.len() {
        0 => Check::ok("approval", "no hooks here need approval"),
        _ => Check::ok("approval", "all hooks of the project are approved"),
    }
}

/// Findings of `checkrein check`.
fn findings(doctor: &Doctor<'_>, loaded: &Loaded) -> Vec<Check> {
    // Other checks have these files and the audit log.
    let is_insecure = |found: &Diagnostic| {
        let mut files = loaded.files.iter().filter(|file| file.status == FileStatus::InsecurePermissions);
        files.any(|file| file.path == Path::new(&found.file))
    };
    let own = lint::findings(&native::DIALECT, loaded, doctor.dir);
    let own = own.into_iter().filter(|found| found.code != "audit-not-writable" && !is_insecure(found));
    let own = own.map(|found| (None, found));
    let others = doctor.findings_of_agents.iter().map(|(agent, found)| (Some(*agent), found.clone()));
    let files = lint::Files::default();
    let all = own.chain(others).filter(|(_, found)| !files.is_silenced(found));
    let (errors, warnings): (Vec<_>, Vec<_>) = all.partition(|(_, found)| found.severity == Severity::Error);
    let mut checks: Vec<_> = errors.iter().take(MAX_FINDINGS).map(|(agent, found)| error(*agent, found)).collect();
    if errors.len() > MAX_FINDINGS {
        let more = errors.len() - MAX_FINDINGS;
        checks.push(Check::problem("check", format!("{more} more errors")).fix("run `checkrein check`"));
    }
    if !warnings.is_empty() {
        checks.push(
            Check::warning("check", format!("{} in hooks and their scripts", counted(warnings.len(), "warning")))
                .fix("run `checkrein check`"),
        );
    }
    if checks.is_empty() {
        checks.push(Check::ok("check", "no errors in hook files and scripts"));
    }
    checks
}

fn error(agent: Option<&str>, found: &Diagnostic) -> Check {
    let agent = agent.map(|agent| format!("own hooks of {agent}: ")).unwrap_or_default();
    let line = found.at.as_ref().map(|at| format!(":{}", at.place.line)).unwrap_or_default();
    let text = format!("{agent}{}{line}: {} ({})", found.file, found.message, found.code);
    let check = Check::problem("check", text);
    match &found.help {
        Some(help) => check.fix(help.as_str()),
        None => check.fix(format!("run `checkrein check --explain {}`", found.code)),
    }
}

/// Guards that let calls pass if they fail.
fn open_gates(loaded: &Loaded) -> Option<Check> {
    let is_open = |hook: &&HookSpec| {
        let fails_open = |kind| {
            let effect = |failure| hook.failure_effect(kind, failure) == FailurePolicy::Open;
            hook.guards(kind) && (effect(FailureKind::Exit) || effect(FailureKind::Timeout))
        };
        hook.state == HookState::Ready && hook.kinds.iter().any(fails_open)
    };
    let ids: BTreeSet<_> = loaded.hooks.iter().filter(is_open).map(|hook| format!("`{}`", hook.info.id)).collect();
    if ids.is_empty() {
        return None;
    }
    let names = ids.into_iter().collect::<Vec<_>>().join(", ");
    Some(
        Check::warning("failures", format!("guards that let calls pass if they fail: {names}"))
            .fix("set `on_failure: closed` for hooks that must block"),
    )
}
