//! What files say about hooks of others.

use std::collections::{HashMap, HashSet};

use checkrein_core::{Compat, HookState, Scope, TrustLevel};
use checkrein_dialects::config::{AuditSettings, Diagnostic, Settings, Severity};
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
        if let Some(by) = &settings.disabled_by {
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
/// others only the user or an administrator can.
fn pass_on(files: &mut [LoadedFile]) {
    let mut passed: Vec<(Scope, String)> = Vec::new();
    for file in files.iter().filter(|file| file.state.scope.trust_level() >= TrustLevel::User) {
        let names = file.settings.env_allow.iter().flatten();
        passed.extend(names.map(|name| (file.state.scope, name.clone())));
    }
    if passed.is_empty() {
        return;
    }
    let inherits =
        |spec: &HookSpec| matches!(spec.dialect.process.environment, Environment::All | Environment::AllBut(_));
    for spec in files.iter_mut().flat_map(|file| &mut file.hooks).filter(|spec| inherits(spec)) {
        let of = spec.info.source.scope;
        for (_, variable) in passed.iter().filter(|(by, _)| by.may_change(of)) {
            allow_env(spec, variable);
        }
    }
}

/// What settings of files come to for the hooks of one file.
struct Applied {
    /// What switches all hooks off, in words.
    disabled_by: Option<String>,
    /// What the files of each trust level allow: all of them must.
    urls: Vec<Urls>,
    variables: Vec<HashSet<String>>,
}

/// Widest first.
const LEVELS: [TrustLevel; 3] = [TrustLevel::Administrator, TrustLevel::User, TrustLevel::Repository];

impl Applied {
    fn to(file: &LoadedFile, files: &[LoadedFile]) -> Self {
        let scope = file.state.scope;
        let apply = |other: &&LoadedFile| {
            let is_of_dialect = other.is_policy || file.dialect_chain.contains(&other.state.dialect);
            is_of_dialect && other.state.scope.covers(scope)
        };
        let files: Vec<_> = files.iter().filter(apply).collect();
        let of_level = |level| files.iter().copied().filter(move |other| other.state.scope.trust_level() == level);
        let lists = |list: fn(&LoadedFile) -> Option<&Vec<String>>| {
            LEVELS.into_iter().filter_map(move |level| together(of_level(level).filter_map(list)))
        };
        let only_managed = |other: &&&LoadedFile| {
            other.state.scope == Scope::Managed && other.settings.managed_only == Some(true) && scope != Scope::Managed
        };
        let disabled_by = disabled_by(&files).map(|by| by.says("disableAllHooks"));
        let only_managed_by = files.iter().find(only_managed).map(|by| by.says("allowManagedHooksOnly"));
        Self {
            disabled_by: disabled_by.or(only_managed_by),
            urls: lists(|file| file.settings.http_urls.as_ref()).map(|urls| Urls::of(&urls)).collect(),
            variables: lists(|file| file.settings.http_env.as_ref()).map(|names| names.into_iter().collect()).collect(),
        }
    }

    fn apply_to_http(&self, spec: &mut HookSpec) -> Option<Diagnostic> {
        let HandlerSpec::Http(http) = &mut spec.handler else { return None };
        if spec.state != HookState::Ready {
            return None;
        }
        let (code, text) = if self.urls.iter().any(|urls| !urls.allow(http)) {
            spec.state = HookState::Disabled;
            spec.disabled_by = Some("its URL fits none of those that hooks may call".to_owned());
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
        let info = &spec.info;
        let line = info.source.line.map(|line| format!(" in line {line}")).unwrap_or_default();
        let file = info.source.file.clone().unwrap_or_default();
        let text = format!("hook `{}`{line}: {text}", info.id);
        Some(Diagnostic::of_file(Severity::Warning, code, file, text))
    }
}

/// The file that switches hooks off, of those that apply to them. The files of each trust level decide together, the widest
/// level first: what it switches off, no narrower one switches on.
fn disabled_by<'a>(files: &[&'a LoadedFile]) -> Option<&'a LoadedFile> {
    for level in LEVELS {
        let of_level = files.iter().filter(|file| file.state.scope.trust_level() == level);
        let decides = of_level
            .filter_map(|file| Some((*file, file.settings.disable_all?)))
            .max_by_key(|(file, _)| (file.is_explicit, file.state.scope.precedence()));
        match decides {
            Some((file, true)) => return Some(file),
            // Narrower files can switch off hooks of their own, unless an administrator or the caller says otherwise.
            Some((file, false)) if level == TrustLevel::Administrator || file.is_explicit => return None,
            Some((_, false)) | None => {}
        }
    }
    None
}

/// Files that say something about wider ones, which does not count.
fn too_narrow(files: &[LoadedFile]) -> impl Iterator<Item = Diagnostic> {
    let says = |file: &LoadedFile| {
        let settings = &file.settings;
        settings.disable_all == Some(true) || settings.http_urls.is_some() || settings.http_env.is_some()
    };
    files
        .iter()
        .filter(move |file| {
            says(file)
                && files.iter().any(|other| {
                    file.state.dialect == other.state.dialect
                        && !other.hooks.is_empty()
                        && !file.state.scope.covers(other.state.scope)
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

fn together<'a>(lists: impl Iterator<Item = &'a Vec<String>>) -> Option<Vec<String>> {
    lists.fold(None, |all: Option<Vec<String>>, list| {
        let mut all = all.unwrap_or_default();
        all.extend(list.iter().cloned());
        Some(all)
    })
}

fn switch_off(hooks: &mut [HookSpec], by: &str) {
    for spec in hooks.iter_mut().filter(|spec| spec.state != HookState::Disabled) {
        spec.state = HookState::Disabled;
        spec.disabled_by = Some(by.to_owned());
    }
}

/// A setting for all hooks, of the administrator or else of the user: no other file can have it.
fn for_all<T>(files: &[LoadedFile], setting: impl Fn(&Settings) -> Option<T>) -> Option<T> {
    [TrustLevel::Administrator, TrustLevel::User].into_iter().find_map(|level| {
        let mut of_level = files.iter().filter(|file| file.state.scope.trust_level() == level);
        of_level.find_map(|file| setting(&file.settings))
    })
}

/// Whether an agent's rules are followed where they are not safe. A repository must not loosen its reader's guards.
pub(super) fn compat(files: &[LoadedFile]) -> Option<Compat> {
    for_all(files, |settings| settings.exact).map(|exact| if exact { Compat::Exact } else { Compat::Safe })
}

/// Whether the environment may skip hooks under an agent. A project's settings can set variables.
pub(super) fn allow_skip(files: &[LoadedFile]) -> bool {
    for_all(files, |settings| settings.allow_skip).unwrap_or(false)
}

/// The log of what hooks decide.
pub(super) fn audit(files: &[LoadedFile]) -> Option<AuditSettings> {
    for_all(files, |settings| settings.audit.clone())
}

/// Reports what not everybody can say.
fn without_effect(files: &[LoadedFile]) -> Vec<Diagnostic> {
    let narrow = |file: &&LoadedFile| file.state.scope.trust_level() < TrustLevel::User;
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
