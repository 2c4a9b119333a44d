//! The `protect-self` hook, which keeps agents from changing checkrein's own files.
//!
//! The loader adds it if the administrator has a file. `protect_self: false` in a managed file removes it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use checkrein_core::{EventFilter, EventKind, FailurePolicy, Scope, Source, TrustLevel};
use checkrein_dialects::HookSpec;
use checkrein_dialects::agents::native;

use super::FileStatus;
use super::loaded_file::LoadedFile;
use super::locations::Locations;
use super::user_dirs::STATE;

/// Id of the hook.
const ID: &str = "protect-self";

/// Events before a tool changes something.
const KINDS: [EventKind; 6] = [
    EventKind::PreToolUse,
    EventKind::ToolGuard,
    EventKind::PermissionRequest,
    EventKind::PreShell,
    EventKind::PreFileWrite,
    EventKind::PreMcp,
];

/// Adds the hook to the first managed file, unless the files disable it.
pub(super) fn protect(files: &mut [LoadedFile], only: &Option<EventFilter>, place: &Locations, dir: &Path) {
    let setting = |file: &LoadedFile| file.settings.protect_self;
    let is_wanted =
        files.iter().any(|file| setting(file) == Some(true)) || !files.iter().any(|file| setting(file).is_some());
    if !is_wanted || only.as_ref().is_some_and(|filter| !KINDS.contains(filter.kind())) {
        return;
    }
    let logs: Vec<_> = files.iter().filter_map(|file| file.settings.audit.as_ref()?.path.clone()).collect();
    let is_read = |file: &&mut LoadedFile| file.is_policy && file.state.status == FileStatus::Found;
    let Some(file) = files.iter_mut().find(is_read) else { return };
    let line = file.settings.line_of("protect_self").unwrap_or(1);
    let [first, others @ ..] = KINDS;
    let mut spec = HookSpec::builtin(ID, first, "protect_self").args(paths(place, dir, &logs));
    spec = others.into_iter().fold(spec, HookSpec::also_for).on_failure(FailurePolicy::Closed);
    Arc::make_mut(&mut spec.info).source = Source::in_file(Scope::Managed, file.name(), line, 1);
    spec.description = Some("keeps agents from changing checkrein's own files and the entries that call it".to_owned());
    file.settings.protect_self = Some(true);
    file.state.hooks += 1;
    file.hooks.push(spec);
}

/// Returns the arguments of the builtin: paths to deny, then paths to ask about.
fn paths(place: &Locations, dir: &Path, logs: &[String]) -> Vec<String> {
    let mut denied: Vec<PathBuf> = Vec::new();
    for row in native::DIALECT.config.files.iter().filter(|row| row.scope.trust_level() >= TrustLevel::User) {
        for base in place.bases(row.base, dir) {
            denied.extend(base.join(row.path).parent().map(Path::to_owned));
        }
    }
    let usual_state = place.home.as_ref().map(|home| home.join(STATE).join("checkrein"));
    denied.extend(place.state_dir().into_iter().chain(usual_state));
    // A changed variable could move these directories, so they are protected under their default names too.
    denied.extend(["**/.config/checkrein", "**/.local/state/checkrein"].map(PathBuf::from));
    let program = format!("checkrein{}", std::env::consts::EXE_SUFFIX);
    let own = std::env::current_exe().ok().filter(|own| own.file_name().is_some_and(|name| name == program.as_str()));
    let found = place.var("PATH").map(|path| std::env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
    denied.extend(own);
    denied.extend(found.into_iter().filter(|dir| dir.is_absolute()).map(|dir| dir.join(&program)));
    let mut asked = vec![PathBuf::from("**/.checkrein")];
    for table in checkrein_dialects::ALL.iter().filter_map(|dialect| dialect.install) {
        // Settings that switch hooks off have the same effect as a removed entry.
        let switches = table.switches.iter().filter(|row| row.scope != Scope::Managed).map(|row| &row.file);
        for spot in table.user.iter().chain(table.project).chain(switches) {
            asked.extend(place.bases(spot.base, dir).into_iter().map(|base| base.join(spot.path)));
        }
    }
    let word = |kind: &str, path: &Path| format!("{kind}:{}", path.display());
    let mut words: Vec<String> = denied.iter().map(|path| word("deny", path)).collect();
    words.extend(logs.iter().map(|log| format!("deny:{log}*")));
    words.extend(asked.iter().map(|path| word("ask", path)));
    let mut seen = std::collections::HashSet::new();
    words.retain(|word| seen.insert(word.clone()));
    words
}
