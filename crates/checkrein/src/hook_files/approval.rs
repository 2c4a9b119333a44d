//! Approval of project hooks while files are loaded.
//!
//! The loader calls [`approved`] before files are merged. A hook of a project that is neither approved
//! nor trusted never stays ready.

use std::path::{Path, PathBuf};

use checkrein_core::{Scope, TrustLevel};
use checkrein_dialects::config::{Diagnostic, Settings, Severity};
use checkrein_dialects::{HandlerSpec, HookSpec};
use checkrein_document::Format;

use super::find::{Candidate, find};
use super::loaded_file::{LoadedFile, change_hash, name};
use super::locations::repository;
use super::ownership;
use super::read::read;
use super::{Files, Locations, SourceSet};
use crate::real_path::real_path;
use crate::trust::{Evaluation, FileUnderReview, Reviewed, evaluate};

/// Sets the state of project hooks that are not approved. Returns the reviewed hooks.
pub(super) fn approved(
    files: &mut [LoadedFile],
    parts: &[SourceSet],
    diagnostics: &mut Vec<Diagnostic>,
    followed: &mut Vec<PathBuf>,
) -> Vec<Reviewed> {
    // The common case: no hook can match the event.
    if files.iter().all(|file| file.hooks.is_empty()) {
        return Vec::new();
    }
    let subjects = files.iter_mut().filter_map(|file| {
        let part = parts.get(file.part)?;
        let (dir, place) = match &part.files {
            Files::Usual(dir, place) | Files::Named(_, dir, place) => (dir.as_path(), place),
            Files::Plugin(root, place) => (project_of(root, parts).unwrap_or(root), place),
        };
        let LoadedFile { state, hooks, origin, reading, .. } = file;
        Some(FileUnderReview {
            path: &state.path,
            origin: *origin,
            dir,
            place,
            trust: &part.trust,
            options: &part.options,
            hooks,
            all_hooks: Box::new(|| reading.all_hooks(&state.path, state.scope, &part.options)),
        })
    });
    let Evaluation { reviewed, diagnostics: problems, untrusted, followed: more } = evaluate(subjects);
    for diagnostic in diagnostics.iter_mut().filter(|diagnostic| diagnostic.code == "closed-gate") {
        if untrusted.contains(Path::new(&diagnostic.file)) {
            diagnostic.severity = Severity::Warning;
            diagnostic.message =
                "this hook cannot be loaded; it is ignored, because no hook of this file is approved".to_owned();
        }
    }
    diagnostics.extend(problems);
    followed.extend(more);
    // A changed approval is a change of the file for reloads.
    for file in files.iter_mut().filter(|file| file.state.hash != 0) {
        let states: Vec<_> = file.hooks.iter().map(|spec| (&spec.state, pins(spec))).collect();
        file.state.hash ^= change_hash(&format!("{states:?}"));
    }
    reviewed
}

fn pins(spec: &HookSpec) -> Option<&checkrein_dialects::VerifiedScripts> {
    match &spec.handler {
        HandlerSpec::Command(command) => command.verified_scripts.as_deref(),
        _ => None,
    }
}

/// Returns the project that a plugin lies in: a directory of the sources, or the current directory.
pub(super) fn project_of<'a>(plugin: &Path, parts: &'a [SourceSet]) -> Option<&'a Path> {
    let plugin = real_path(plugin).ok()?;
    let holds = |dir: &Path| {
        let dir = real_path(dir).ok()?;
        Some(plugin.starts_with(repository(&dir).unwrap_or(&dir)))
    };
    let dirs = parts.iter().filter_map(|part| match &part.files {
        Files::Usual(dir, _) | Files::Named(_, dir, _) => Some(dir.as_path()),
        Files::Plugin(..) => None,
    });
    dirs.chain([Path::new(".")]).find(|dir| holds(dir) == Some(true))
}

/// Returns the settings of the user's and the administrator's own files.
pub(crate) fn settings_of_user(dir: &Path, place: &Locations) -> Vec<(PathBuf, Scope, Settings)> {
    let dialect = &checkrein_dialects::agents::native::DIALECT;
    let found = find(dialect, dir, place, |row| row.scope.trust_level() >= TrustLevel::User).files.into_iter();
    // A managed file that other users can write is ignored.
    let is_secure = |path: &Path| ownership::check(path, place).problem.is_none();
    let is_used =
        |file: &Candidate| file.is_there && !file.of_project && (file.scope != Scope::Managed || is_secure(&file.path));
    let mut buffer = Vec::new();
    let mut all = Vec::new();
    for file in found.filter(is_used) {
        if let Ok(text) = read(&file.path, file.is_file, &mut buffer) {
            let format = Format::from_path(&file.path).unwrap_or(Format::Json);
            let decoded = dialect.decode(&name(&file.path), file.scope, text, format);
            all.push((file.path, file.scope, decoded.settings));
        }
    }
    all
}
