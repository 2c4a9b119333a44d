//! Hooks of projects, and whether somebody has approved them.

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
use crate::trust::{Evaluation, FileUnderReview, Reviewed, judge};

/// Sees to it that hooks of projects run only if they are approved.
pub(super) fn approved(
    files: &mut [LoadedFile],
    parts: &[SourceSet],
    diagnostics: &mut Vec<Diagnostic>,
    followed: &mut Vec<PathBuf>,
) -> Vec<Reviewed> {
    // Mostly no file has anything that could run now.
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
    let Evaluation { reviewed, diagnostics: wrong, untrusted, followed: more } = judge(subjects);
    for diagnostic in diagnostics.iter_mut().filter(|diagnostic| diagnostic.code == "closed-gate") {
        if untrusted.contains(Path::new(&diagnostic.file)) {
            diagnostic.severity = Severity::Warning;
            diagnostic.message =
                "this cannot be loaded; nobody has approved anything of this file, so nothing is refused for that"
                    .to_owned();
        }
    }
    diagnostics.extend(wrong);
    followed.extend(more);
    // What is approved is a part of what the file comes to.
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

/// The directory of one of the sources, or the one that the process is in, if a plugin is part of the project there.
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

/// What the user and the administrator say in their own files.
pub(crate) fn settings_of_user(dir: &Path, place: &Locations) -> Vec<(PathBuf, Scope, Settings)> {
    let dialect = &checkrein_dialects::agents::native::DIALECT;
    let found = find(dialect, dir, place, |row| row.scope.trust_level() >= TrustLevel::User).files.into_iter();
    // What somebody else may have written is no administrator's word.
    let is_guarded = |path: &Path| ownership::of(path, place).problem.is_none();
    let is_meant = |file: &Candidate| file.is_there && (file.scope != Scope::Managed || is_guarded(&file.path));
    let mut buffer = Vec::new();
    let mut all = Vec::new();
    for file in found.filter(is_meant) {
        if let Ok(text) = read(&file.path, file.is_file, &mut buffer) {
            let format = Format::of_path(&file.path).unwrap_or(Format::Json);
            let decoded = dialect.decode(&name(&file.path), file.scope, text, format);
            all.push((file.path, file.scope, decoded.settings));
        }
    }
    all
}
