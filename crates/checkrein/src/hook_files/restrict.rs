//! Restrictions of the administrator for hooks of other scopes.
//!
//! They never apply to managed hooks.

use checkrein_core::{HookState, Scope};
use checkrein_dialects::config::{Diagnostic, Severity};
use checkrein_dialects::{CommandSpec, Environment, HandlerSpec, HookSpec};

use super::loaded_file::LoadedFile;
use super::merge::Urls;

/// Disables forbidden hooks, and removes variables that hooks may not get.
pub(super) fn restrict(files: &mut [LoadedFile]) -> Vec<Diagnostic> {
    let restrictions: Vec<_> = files.iter().filter(|file| file.is_policy).flat_map(restrictions_of).collect();
    let mut diagnostics = Vec::new();
    for file in files.iter_mut().filter(|file| file.state.scope != Scope::Managed) {
        let (scope, name) = (file.state.scope, file.name());
        for spec in file.hooks.iter_mut().filter(|spec| spec.state != HookState::Disabled) {
            for restriction in &restrictions {
                let Some(effect) = restriction.apply(spec, scope) else { continue };
                let line = spec.info.source.line.map(|line| format!(" in line {line}")).unwrap_or_default();
                let is_disabled = spec.state == HookState::Disabled;
                let label = if is_disabled { "disabled: " } else { "" };
                let text = format!("hook `{}`{line}: {label}{effect} ({})", spec.info.id, restriction.place);
                diagnostics.push(Diagnostic::of_file(Severity::Warning, restriction.code(), &name, text));
                if is_disabled {
                    spec.disabled_by = Some(format!("{effect} ({})", restriction.place));
                    break;
                }
            }
        }
    }
    diagnostics
}

/// One restriction.
struct Restriction {
    /// Key, file and line, for messages.
    place: String,
    kind: RestrictionKind,
}

enum RestrictionKind {
    /// Allowed scopes, besides managed ones.
    Scopes(Vec<Scope>),
    Handlers(Vec<String>),
    Urls(Urls),
    Variables(Vec<String>),
}

fn restrictions_of(file: &LoadedFile) -> Vec<Restriction> {
    let mut restrictions = Vec::new();
    let mut add = |key: &str, kind: Option<RestrictionKind>| {
        restrictions.extend(kind.map(|kind| Restriction { place: file.locate(key), kind }));
    };
    add(
        "allowManagedHooksOnly",
        (file.settings.managed_only == Some(true)).then(|| RestrictionKind::Scopes(Vec::new())),
    );
    if let Some(restrict) = &file.settings.restrict {
        add("restrict.scopes", restrict.scopes.clone().map(RestrictionKind::Scopes));
        add("restrict.handlers", restrict.handlers.clone().map(RestrictionKind::Handlers));
        add("restrict.urls", restrict.urls.as_ref().map(|urls| RestrictionKind::Urls(Urls::new(urls))));
        add("restrict.env", restrict.env.clone().map(RestrictionKind::Variables));
    }
    restrictions
}

impl Restriction {
    fn code(&self) -> &'static str {
        if matches!(self.kind, RestrictionKind::Variables(_)) { "variable-not-allowed" } else { "forbidden" }
    }

    /// Applies the restriction to a hook. Returns the effect, for messages.
    fn apply(&self, spec: &mut HookSpec, scope: Scope) -> Option<String> {
        let is_broken = matches!(spec.state, HookState::Broken(_));
        let effect = match &self.kind {
            RestrictionKind::Scopes(scopes) => {
                (!scopes.contains(&scope)).then(|| format!("the administrator does not allow hooks of {scope} files"))
            }
            // A broken hook has no handler.
            RestrictionKind::Handlers(_) | RestrictionKind::Urls(_) | RestrictionKind::Variables(_) if is_broken => {
                None
            }
            RestrictionKind::Handlers(kinds) => {
                let kind = spec.handler.kind().name();
                let is_allowed = kinds.iter().any(|allowed| allowed == kind);
                (!is_allowed).then(|| format!("the administrator does not allow `{kind}` hooks"))
            }
            RestrictionKind::Urls(urls) => match &spec.handler {
                HandlerSpec::Http(http) if !urls.allow(http) => {
                    Some("the administrator does not allow its URL".to_owned())
                }
                HandlerSpec::Http(_)
                | HandlerSpec::Command(_)
                | HandlerSpec::Builtin(_)
                | HandlerSpec::Rule(_)
                | HandlerSpec::Callback(_)
                | HandlerSpec::Other { .. } => None,
            },
            RestrictionKind::Variables(names) => return without_variables(spec, names),
        }?;
        spec.state = HookState::Disabled;
        Some(effect)
    }
}

/// Removes variables that are not in this list.
fn without_variables(spec: &mut HookSpec, names: &[String]) -> Option<String> {
    let bounded = CommandSpec::shell("").bounded_by(names);
    let mut lost = Vec::new();
    let mut keep = |list: &mut Vec<String>| {
        let (kept, taken): (Vec<_>, Vec<_>) = std::mem::take(list).into_iter().partition(|name| bounded.may_get(name));
        *list = kept;
        lost.extend(taken);
    };
    match &mut spec.handler {
        HandlerSpec::Http(http) => keep(&mut http.env_allow),
        HandlerSpec::Command(command) => {
            keep(&mut command.env_allow);
            let mut set: Vec<_> = command.env_set.iter().map(|(name, _)| name.clone()).collect();
            keep(&mut set);
            command.env_set.retain(|(name, _)| set.contains(name));
            let usual = matches!(spec.dialect.process.environment, Environment::All | Environment::AllBut(_));
            command.env_bounds.push(names.to_vec());
            if command.env_all.unwrap_or(usual) {
                lost.push("other variables of the host".to_owned());
            }
        }
        HandlerSpec::Builtin(_) | HandlerSpec::Rule(_) | HandlerSpec::Callback(_) | HandlerSpec::Other { .. } => {}
    }
    (!lost.is_empty()).then(|| format!("the administrator withholds {}", lost.join(", ")))
}
