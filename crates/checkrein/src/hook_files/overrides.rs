//! Changes of hooks by other files: the keys `disable` and `override`.
//!
//! [`merge`](super::merge::merge) calls [`apply`] after approval, so that an override needs no new approval. A file changes
//! only hooks that its scope covers: a local file can disable hooks of its project, and never those of the user.

use std::sync::Arc;

use checkrein_core::HookState;
use checkrein_dialects::HookSpec;
use checkrein_dialects::config::{Diagnostic, HookOverride, Severity};

use super::loaded_file::LoadedFile;

/// Applies `disable` and `override` of all files. Reports ids that have no effect, if all hooks are loaded.
pub(super) fn apply(files: &mut [LoadedFile], all_are_loaded: bool) -> Vec<Diagnostic> {
    let changes_hooks = |file: &LoadedFile| !file.settings.disable.is_empty() || !file.settings.overrides.is_empty();
    let mut by: Vec<_> = files.iter().enumerate().filter(|(_, file)| changes_hooks(file)).map(|(at, _)| at).collect();
    // The last change applies: that of the most trusted scope, and the local file's among those of a repository.
    by.sort_by_key(|at| files.get(*at).map(|file| (file.state.scope.trust_level(), file.state.scope.precedence())));
    let mut diagnostics = Vec::new();
    for at in by {
        let Some(file) = files.get(at) else { continue };
        let changes = FileChanges::new(file);
        let mut found = vec![Reach::Nothing; changes.ids().count()];
        for other in files.iter_mut() {
            let is_covered = changes.covers(other);
            for spec in &mut other.hooks {
                for (_, reach) in changes.ids().zip(&mut found).filter(|(id, _)| *id == spec.info.id) {
                    match (is_covered, *reach) {
                        (true, _) => *reach = Reach::Changed,
                        (false, Reach::Nothing) => *reach = Reach::OnlyWider,
                        (false, _) => {}
                    }
                }
                if is_covered {
                    changes.apply_to(spec);
                }
            }
        }
        if all_are_loaded {
            diagnostics.extend(changes.without_effect(&found));
        }
    }
    diagnostics
}

/// Effect of an id in `disable` or `override`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Nothing,
    /// All hooks with the id are of scopes that the file does not cover.
    OnlyWider,
    Changed,
}

/// Changes by one file.
struct FileChanges {
    file: String,
    scope: checkrein_core::Scope,
    dialect: &'static str,
    is_policy: bool,
    disable: Vec<String>,
    disabled_by: String,
    overrides: Vec<HookOverride>,
}

impl FileChanges {
    fn new(file: &LoadedFile) -> Self {
        Self {
            file: file.name(),
            scope: file.state.scope,
            dialect: file.state.dialect,
            is_policy: file.is_policy,
            disable: file.settings.disable.clone(),
            disabled_by: file.locate("disable"),
            overrides: file.settings.overrides.clone(),
        }
    }

    fn ids(&self) -> impl Iterator<Item = &str> {
        self.disable.iter().chain(self.overrides.iter().map(|change| &change.id)).map(String::as_str)
    }

    fn covers(&self, other: &LoadedFile) -> bool {
        let is_of_dialect = self.is_policy || other.dialect_chain.contains(&self.dialect);
        is_of_dialect && self.scope.covers(other.state.scope)
    }

    fn apply_to(&self, spec: &mut HookSpec) {
        if self.disable.contains(&spec.info.id) && spec.state != HookState::Disabled {
            spec.state = HookState::Disabled;
            spec.disabled_by = Some(self.disabled_by.clone());
        }
        // A broken hook, or one that changed since its approval, keeps its gate closed.
        if matches!(spec.state, HookState::Broken(_) | HookState::Changed(_)) {
            return;
        }
        let id = spec.info.id.clone();
        for change in self.overrides.iter().filter(|change| change.id == id) {
            let info = Arc::make_mut(&mut spec.info);
            info.dry_run = change.dry_run.unwrap_or(info.dry_run);
            info.on_failure = change.on_failure.or(info.on_failure);
            info.on_timeout = change.on_timeout.or(info.on_timeout);
        }
    }

    fn without_effect<'a>(&'a self, found: &'a [Reach]) -> impl Iterator<Item = Diagnostic> + 'a {
        self.ids().zip(found).filter_map(|(id, reach)| {
            let text = match reach {
                Reach::Changed => return None,
                Reach::OnlyWider => {
                    format!("hook `{id}` is of a wider scope; this {} file cannot change it", self.scope)
                }
                Reach::Nothing => format!("no hook has the id `{id}`, so `disable` or `override` of it has no effect"),
            };
            Some(Diagnostic::of_file(Severity::Warning, "no-effect", self.file.clone(), text))
        })
    }
}
