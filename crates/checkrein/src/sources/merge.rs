//! What files say about hooks of others.

use std::collections::{HashMap, HashSet};

use checkrein_core::{Compat, HookState, Scope};
use checkrein_dialects::config::{AuditSettings, Diagnostic, Reach, Severity};
use checkrein_dialects::{Environment, HandlerSpec, HookSpec, HttpSpec};

use super::include::allow_env;
use super::loaded_file::LoadedFile;

/// Does what files say about others.
pub(super) fn merge(files: &mut [LoadedFile]) -> Vec<Diagnostic> {
    let mut diagnostics = without_effect(files);
    diagnostics.extend(super::restrict::restrict(files));
    diagnostics.extend(too_narrow(files));
    // Once for all files that the same ones count for.
    let mut applied = HashMap::new();
    for file in files.iter() {
        let key = (file.dialect_chain.clone(), file.state.scope);
        applied.entry(key).or_insert_with(|| Applied::to(file, files));
    }
    for file in files.iter_mut() {
        let Some(settings) = applied.get(&(file.dialect_chain.clone(), file.state.scope)) else { continue };
        if let Some(by) = settings.off_by(file.state.scope) {
            switch_off(&mut file.hooks, by);
        }
        for spec in &mut file.hooks {
            diagnostics.extend(settings.apply_to_http(spec));
        }
    }
    pass_on(files);
    diagnostics.extend(bad_patterns(files));
    diagnostics
}

/// Passes variables on to hooks that inherit the environment. A project can name them in its hooks' own commands; for hooks of
/// others only who answers for the machine or uses it can say so.
fn pass_on(files: &mut [LoadedFile]) {
    let says = |file: &&LoadedFile| matches!(file.state.scope, Scope::Managed | Scope::User);
    let said = files.iter().filter(says).filter_map(|file| file.settings.env_allow.as_ref()).flatten();
    let said: Vec<_> = said.cloned().collect();
    if said.is_empty() {
        return;
    }
    let inherits =
        |spec: &&mut HookSpec| matches!(spec.dialect.process.environment, Environment::All | Environment::AllBut(_));
    for spec in files.iter_mut().flat_map(|file| &mut file.hooks).filter(inherits) {
        said.iter().for_each(|variable| allow_env(spec, variable));
    }
}

/// What counts for the hooks of a file.
struct Applied {
    /// What switches all hooks off, in words, and whether it is an administrator's word.
    disabled_by: Option<(String, Scope)>,
    only_managed_by: Option<String>,
    /// What an administrator allows, and what all others together do: both must.
    urls: Vec<Urls>,
    variables: Vec<HashSet<String>>,
}

impl Applied {
    fn to(file: &LoadedFile, files: &[LoadedFile]) -> Self {
        let counts = || {
            let of_dialect =
                files.iter().filter(|other| other.is_policy || file.dialect_chain.contains(&other.state.dialect));
            of_dialect.filter(|other| other.reaches(file.state.scope))
        };
        // The weightiest file that says something; of several, the last.
        let disables = counts()
            .filter_map(|other| Some((weight(other), other, other.settings.disable_all?)))
            .max_by_key(|(weight, ..)| *weight);
        let disabled_by = disables.filter(|(.., disable)| *disable).map(|(_, by, _)| by);
        let managed = |other: &&LoadedFile| other.state.scope == Scope::Managed;
        let both = |list: fn(&LoadedFile) -> Option<&Vec<String>>| {
            let of = |by_administrator| {
                together(counts().filter(|other| managed(other) == by_administrator).filter_map(list))
            };
            [of(true), of(false)].into_iter().flatten()
        };
        Self {
            disabled_by: disabled_by.map(|by| (by.says("disableAllHooks"), by.state.scope)),
            only_managed_by: counts()
                .filter(managed)
                .find(|other| other.settings.managed_only == Some(true))
                .map(|by| by.says("allowManagedHooksOnly")),
            urls: both(|file| file.settings.http_urls.as_ref()).map(|urls| Urls::of(&urls)).collect(),
            variables: both(|file| file.settings.http_env.as_ref()).map(|names| names.into_iter().collect()).collect(),
        }
    }

    fn off_by(&self, scope: Scope) -> Option<&str> {
        let is_lower = scope != Scope::Managed;
        let disabled = self.disabled_by.as_ref().filter(|(_, by)| is_lower || *by == Scope::Managed);
        disabled.map(|(by, _)| by).or(self.only_managed_by.as_ref().filter(|_| is_lower)).map(String::as_str)
    }

    fn apply_to_http(&self, spec: &mut HookSpec) -> Option<Diagnostic> {
        let HandlerSpec::Http(http) = &mut spec.handler else { return None };
        if spec.hook.state != HookState::Ready {
            return None;
        }
        let (code, text) = if self.urls.iter().any(|urls| !urls.allow(http)) {
            spec.hook.state = HookState::Disabled;
            spec.off_by = Some("its URL fits none of those that hooks may call".to_owned());
            ("url-not-allowed", "its URL fits none of those that hooks may call: it is off".to_owned())
        } else {
            let allowed = |name: &String| self.variables.iter().all(|names| names.contains(name));
            let (kept, lost): (Vec<_>, Vec<_>) = std::mem::take(&mut http.env_allow).into_iter().partition(allowed);
            http.env_allow = kept;
            if lost.is_empty() {
                return None;
            }
            ("variable-not-allowed", format!("it may not send {}, so they are empty", lost.join(", ")))
        };
        let info = &spec.hook.info;
        let line = info.source.line.map(|line| format!(" in line {line}")).unwrap_or_default();
        let file = info.source.file.clone().unwrap_or_default();
        let text = format!("hook `{}`{line}: {text}", info.id);
        Some(Diagnostic::of_file(Severity::Warning, code, file, text))
    }
}

/// Whose word counts more.
impl LoadedFile {
    /// Whether what it says about others counts for hooks of this scope.
    fn reaches(&self, scope: Scope) -> bool {
        let reach =
            checkrein_dialects::find(self.state.dialect).map_or(Reach::Everybody, |dialect| dialect.config.reach);
        reach == Reach::Everybody || width(self.state.scope) >= width(scope)
    }
}

/// Whose hooks it is about: the machine's, the user's, a project's.
fn width(scope: Scope) -> u8 {
    match scope {
        Scope::Managed => 3,
        Scope::User | Scope::Code => 2,
        Scope::Project | Scope::Plugin => 1,
        _ => 0,
    }
}

/// Files that say something about wider ones, which does not count.
fn too_narrow(files: &[LoadedFile]) -> impl Iterator<Item = Diagnostic> {
    let says = |file: &LoadedFile| file.settings.disable_all == Some(true) || file.settings.http_urls.is_some();
    files
        .iter()
        .filter(move |file| {
            says(file)
                && files.iter().any(|other| {
                    file.state.dialect == other.state.dialect
                        && !other.hooks.is_empty()
                        && !file.reaches(other.state.scope)
                })
        })
        .map(|file| {
            let text = format!(
                "what this {} file says about other hooks does not count for those of wider scopes",
                file.state.scope
            );
            Diagnostic::of_file(Severity::Warning, "no-effect", file.name(), text)
        })
}

fn weight(file: &LoadedFile) -> u8 {
    match file.state.scope {
        Scope::Managed => 5,
        _ if file.is_explicit => 4,
        Scope::Local => 3,
        Scope::Project => 2,
        Scope::User => 1,
        _ => 0,
    }
}

fn together<'a>(lists: impl Iterator<Item = &'a Vec<String>>) -> Option<Vec<String>> {
    lists.fold(None, |all: Option<Vec<String>>, list| {
        let mut all = all.unwrap_or_default();
        all.extend(list.iter().cloned());
        Some(all)
    })
}

fn switch_off(hooks: &mut [HookSpec], by: &str) {
    for spec in hooks.iter_mut().filter(|spec| spec.hook.state != HookState::Disabled) {
        spec.hook.state = HookState::Disabled;
        spec.off_by = Some(by.to_owned());
    }
}

/// Whether an agent's rules are followed where they are not safe. Only who answers for the machine or uses it can say so: a
/// repository must not loosen its reader's guards.
pub(super) fn compat(files: &[LoadedFile]) -> Option<Compat> {
    let said = |scope| files.iter().filter(|file| file.state.scope == scope).find_map(|file| file.settings.exact);
    said(Scope::Managed).or(said(Scope::User)).map(|exact| if exact { Compat::Exact } else { Compat::Safe })
}

/// Whether the environment may skip hooks under an agent. A project's settings can set variables, so only who answers for the
/// machine or uses it can say so.
pub(super) fn allow_skip(files: &[LoadedFile]) -> bool {
    let said = |scope| files.iter().filter(|file| file.state.scope == scope).find_map(|file| file.settings.allow_skip);
    said(Scope::Managed).or(said(Scope::User)).unwrap_or(false)
}

/// Where what hooks decide is written down. An administrator's word is the only one if there is one.
pub(super) fn audit(files: &[LoadedFile]) -> Option<AuditSettings> {
    let said = |scope| {
        let mut of_scope = files.iter().filter(|file| file.state.scope == scope);
        of_scope.find_map(|file| file.settings.audit.clone())
    };
    said(Scope::Managed).or_else(|| said(Scope::User))
}

/// Reports what not everybody can say.
fn without_effect(files: &[LoadedFile]) -> Vec<Diagnostic> {
    let narrow = |file: &&LoadedFile| !matches!(file.state.scope, Scope::Managed | Scope::User);
    let exact = files.iter().filter(narrow).flat_map(|file| {
        let settings = &file.settings;
        let said = [
            ("compat", settings.exact.is_some()),
            ("audit", settings.audit.is_some()),
            ("env_allow", settings.env_allow.is_some()),
            ("allow_skip", settings.allow_skip.is_some()),
            ("trusted_paths", settings.trusted_paths.is_some()),
            ("trusted_keys", settings.trusted_keys.is_some()),
        ];
        said.into_iter().filter(|(_, is_said)| *is_said).map(|(key, _)| {
            let scope = file.state.scope;
            let text = format!("`{key}` counts in files of the user or an administrator, this is a {scope} file");
            Diagnostic::of_file(Severity::Warning, "no-effect", file.name(), text)
        })
    });
    let ruling = files.iter().filter(|file| !file.is_policy).flat_map(|file| {
        let settings = &file.settings;
        let said = [("restrict", settings.restrict.is_some()), ("protect_self", settings.protect_self.is_some())];
        said.into_iter().filter(|(_, is_said)| *is_said).map(|(key, _)| {
            let text = format!("`{key}` counts only in checkrein's own files of an administrator");
            Diagnostic::of_file(Severity::Warning, "no-effect", file.name(), text)
        })
    });
    let managed = files
        .iter()
        .filter(|file| file.settings.managed_only.is_some() && file.state.scope != Scope::Managed)
        .map(|file| {
            let text = format!(
                "only a managed file can switch off all hooks but managed ones, this is a {} file",
                file.state.scope
            );
            Diagnostic::of_file(Severity::Warning, "no-effect", file.name(), text)
        });
    exact.chain(ruling).chain(managed).collect()
}

/// The URLs that hooks may call.
#[cfg(feature = "http")]
pub(super) struct Urls(Vec<crate::handler::UrlPattern>);

#[cfg(feature = "http")]
impl Urls {
    pub(super) fn of(patterns: &[String]) -> Self {
        Self(patterns.iter().filter_map(|pattern| crate::handler::UrlPattern::parse(pattern)).collect())
    }

    pub(super) fn allow(&self, http: &HttpSpec) -> bool {
        // One that cannot be read is never called, and fails loudly.
        url::Url::parse(&http.url).map_or(true, |url| self.0.iter().any(|pattern| pattern.fits(&url)))
    }
}

/// None is called in this build, and each hook fails loudly.
#[cfg(not(feature = "http"))]
pub(super) struct Urls;

#[cfg(not(feature = "http"))]
impl Urls {
    pub(super) fn of(_: &[String]) -> Self {
        Self
    }

    pub(super) fn allow(&self, _: &HttpSpec) -> bool {
        true
    }
}

/// Reports patterns that no URL can fit.
fn bad_patterns(files: &[LoadedFile]) -> Vec<Diagnostic> {
    #[cfg(feature = "http")]
    let is_good = |pattern: &str| crate::handler::UrlPattern::parse(pattern).is_some();
    #[cfg(not(feature = "http"))]
    let is_good = |_: &str| true;
    let mut diagnostics = Vec::new();
    for file in files {
        let restricted = file.settings.restrict.iter().flat_map(|restrict| restrict.urls.iter().flatten());
        let patterns = file.settings.http_urls.iter().flatten().chain(restricted);
        for pattern in patterns.filter(|pattern| !is_good(pattern)) {
            let text = format!("`{pattern}` is no pattern for URLs, so none fits it");
            diagnostics.push(
                Diagnostic::of_file(Severity::Error, "bad-url-pattern", file.name(), text)
                    .with_help("it needs a scheme and a host, as in `https://*.example.com/*`"),
            );
        }
    }
    diagnostics
}
