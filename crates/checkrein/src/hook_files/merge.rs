//! Settings of files that apply to hooks of other files.
//!
//! The loader calls [`merge`] after approval. A setting never applies to files of a wider scope.

use std::collections::{HashMap, HashSet};

use checkrein_core::{Compat, HookState, Scope, TrustLevel};
use checkrein_dialects::config::{AuditSettings, Diagnostic, Settings, Severity, WebhookSettings};
use checkrein_dialects::{Environment, HandlerSpec, HookSpec, HttpSpec};

use super::include::allow_env;
use super::loaded_file::LoadedFile;

/// Applies settings of files to the hooks of others. Reports settings without effect.
///
/// `all_are_loaded` is `false` if `files` have only the hooks of one event.
pub(super) fn merge(files: &mut [LoadedFile], all_are_loaded: bool) -> Vec<Diagnostic> {
    let mut diagnostics = without_effect(files);
    diagnostics.extend(super::restrict::restrict(files));
    diagnostics.extend(too_narrow(files));
    // Computed once for all files with the same dialects and scope.
    let mut applied = HashMap::new();
    for file in files.iter() {
        let key = (file.dialect_chain.clone(), file.state.scope);
        applied.entry(key).or_insert_with(|| Applied::for_file(file, files));
    }
    for file in files.iter_mut() {
        let Some(settings) = applied.get(&(file.dialect_chain.clone(), file.state.scope)) else { continue };
        if let Some(by) = &settings.disabled_by {
            disable(&mut file.hooks, by);
        }
        for spec in &mut file.hooks {
            diagnostics.extend(settings.apply_to_http(spec));
        }
    }
    diagnostics.extend(super::overrides::apply(files, all_are_loaded));
    pass_on(files);
    diagnostics.extend(bad_patterns(files));
    diagnostics
}

/// Applies `env_allow` to hooks that inherit the environment. Only files of the user and the administrator can set it for
/// hooks of other files.
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
        let scope = spec.info.source.scope;
        for (_, variable) in passed.iter().filter(|(by, _)| by.may_change(scope)) {
            allow_env(spec, variable);
        }
    }
}

/// Settings of all files that apply to the hooks of one file.
struct Applied {
    /// Setting that disables all hooks, for messages.
    disabled_by: Option<String>,
    /// Allowed URLs, one list per trust level. Each list must allow a URL.
    urls: Vec<Urls>,
    variables: Vec<HashSet<String>>,
}

/// Widest first.
const LEVELS: [TrustLevel; 3] = [TrustLevel::Administrator, TrustLevel::User, TrustLevel::Repository];

impl Applied {
    fn for_file(file: &LoadedFile, files: &[LoadedFile]) -> Self {
        let scope = file.state.scope;
        let apply = |other: &&LoadedFile| {
            let is_of_dialect = other.is_policy || file.dialect_chain.contains(&other.state.dialect);
            is_of_dialect && other.state.scope.covers(scope)
        };
        let files: Vec<_> = files.iter().filter(apply).collect();
        let files_of = |level| files.iter().copied().filter(move |other| other.state.scope.trust_level() == level);
        let lists = |list: fn(&LoadedFile) -> Option<&Vec<String>>| {
            LEVELS.into_iter().filter_map(move |level| concatenate(files_of(level).filter_map(list)))
        };
        let only_managed = |other: &&&LoadedFile| {
            other.state.scope == Scope::Managed && other.settings.managed_only == Some(true) && scope != Scope::Managed
        };
        let disabled_by = disabled_by(&files).map(|by| by.locate("disableAllHooks"));
        let only_managed_by = files.iter().find(only_managed).map(|by| by.locate("allowManagedHooksOnly"));
        Self {
            disabled_by: disabled_by.or(only_managed_by),
            urls: lists(|file| file.settings.http_urls.as_ref()).map(|urls| Urls::new(&urls)).collect(),
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
            spec.disabled_by = Some("its URL is not in `allowedHttpHookUrls`".to_owned());
            ("url-not-allowed", "disabled: its URL is not in `allowedHttpHookUrls`".to_owned())
        } else {
            let allowed = |name: &String| self.variables.iter().all(|names| names.contains(name));
            let (kept, lost): (Vec<_>, Vec<_>) = std::mem::take(&mut http.env_allow).into_iter().partition(allowed);
            http.env_allow = kept;
            if lost.is_empty() {
                return None;
            }
            let text = format!("sends {} empty: not in `httpHookAllowedEnvVars`", lost.join(", "));
            ("variable-not-allowed", text)
        };
        let info = &spec.info;
        let line = info.source.line.map(|line| format!(" in line {line}")).unwrap_or_default();
        let file = info.source.file.clone().unwrap_or_default();
        let text = format!("hook `{}`{line}: {text}", info.id);
        Some(Diagnostic::of_file(Severity::Warning, code, file, text))
    }
}

/// Returns the file that disables hooks. The files of each trust level decide together, the widest level first: a narrower
/// level cannot enable what a wider one disables.
fn disabled_by<'a>(files: &[&'a LoadedFile]) -> Option<&'a LoadedFile> {
    for level in LEVELS {
        let files_of_level = files.iter().filter(|file| file.state.scope.trust_level() == level);
        let decides = files_of_level
            .filter_map(|file| Some((*file, file.settings.disable_all?)))
            .max_by_key(|(file, _)| (file.is_explicit, file.state.scope.precedence()));
        match decides {
            Some((file, true)) => return Some(file),
            // Narrower files can disable their own hooks, unless an administrator or an explicit file enables them.
            Some((file, false)) if level == TrustLevel::Administrator || file.is_explicit => return None,
            Some((_, false)) | None => {}
        }
    }
    None
}

/// Reports settings that do not apply to files of wider scopes.
fn too_narrow(files: &[LoadedFile]) -> impl Iterator<Item = Diagnostic> {
    let keys = |file: &LoadedFile| {
        let settings = &file.settings;
        let mut keys = Vec::new();
        if settings.disable_all == Some(true) {
            keys.push("`disableAllHooks`");
        }
        if settings.http_urls.is_some() {
            keys.push("`allowedHttpHookUrls`");
        }
        if settings.http_env.is_some() {
            keys.push("`httpHookAllowedEnvVars`");
        }
        keys
    };
    files
        .iter()
        .filter(move |file| {
            !keys(file).is_empty()
                && files.iter().any(|other| {
                    file.state.dialect == other.state.dialect
                        && !other.hooks.is_empty()
                        && !file.state.scope.covers(other.state.scope)
                })
        })
        .map(move |file| {
            let (scope, keys) = (file.state.scope, keys(file).join(", "));
            let text = format!("{keys} of this {scope} file does not affect hooks of wider scopes");
            Diagnostic::of_file(Severity::Warning, "no-effect", file.name(), text)
        })
}

fn concatenate<'a>(lists: impl Iterator<Item = &'a Vec<String>>) -> Option<Vec<String>> {
    lists.fold(None, |all: Option<Vec<String>>, list| {
        let mut all = all.unwrap_or_default();
        all.extend(list.iter().cloned());
        Some(all)
    })
}

fn disable(hooks: &mut [HookSpec], by: &str) {
    for spec in hooks.iter_mut().filter(|spec| spec.state != HookState::Disabled) {
        spec.state = HookState::Disabled;
        spec.disabled_by = Some(by.to_owned());
    }
}

/// Returns a setting for all hooks: the administrator's, or else the user's. Other files cannot have it.
fn for_all<T>(files: &[LoadedFile], setting: impl Fn(&Settings) -> Option<T>) -> Option<T> {
    [TrustLevel::Administrator, TrustLevel::User].into_iter().find_map(|level| {
        let mut files_of_level = files.iter().filter(|file| file.state.scope.trust_level() == level);
        files_of_level.find_map(|file| setting(&file.settings))
    })
}

/// Returns the choice about unsafe rules of agents. A repository cannot set it: it must not weaken the user's guards.
pub(super) fn compat(files: &[LoadedFile]) -> Option<Compat> {
    for_all(files, |settings| settings.exact).map(|exact| if exact { Compat::Exact } else { Compat::Safe })
}

/// Returns `true` if environment variables may skip hooks. A project cannot set it: its settings can set variables.
pub(super) fn allow_skip(files: &[LoadedFile]) -> bool {
    for_all(files, |settings| settings.allow_skip).unwrap_or(false)
}

/// Returns `true` if agents may start sub-agents whose tools run without any hook. A project cannot set it: it must not open a way
/// around the user's guards.
pub(super) fn unguarded_subagents(files: &[LoadedFile]) -> bool {
    for_all(files, |settings| settings.unguarded_subagents).unwrap_or(false)
}

/// Returns `true` if a denied command may become one that prints the reason and fails.
pub(super) fn deny_by_command(files: &[LoadedFile]) -> bool {
    for_all(files, |settings| settings.deny_by_command).unwrap_or(true)
}

/// Returns `true` if a call waits for the user's approval. A project cannot set it: it must not hold the user's agent.
pub(super) fn approvals_wait(files: &[LoadedFile]) -> bool {
    for_all(files, |settings| settings.approvals_wait).unwrap_or(false)
}

/// Returns `true` if the decision log is on. A project cannot turn it off: it must not hide what an agent did in it.
pub(super) fn log(files: &[LoadedFile]) -> bool {
    for_all(files, |settings| settings.log).unwrap_or(true)
}

/// Returns `true` if `checkrein hook` starts the resident process. A project cannot start a process of its user.
pub(super) fn resident(files: &[LoadedFile]) -> bool {
    for_all(files, |settings| settings.resident).unwrap_or(false)
}

/// Returns the endpoint that gets notifications about waiting questions. A project must not see the questions of other projects.
pub(super) fn approval_webhook(files: &[LoadedFile]) -> Option<WebhookSettings> {
    for_all(files, |settings| settings.approval_webhook.clone())
}

/// Returns the settings of the audit log.
pub(super) fn audit(files: &[LoadedFile]) -> Option<AuditSettings> {
    for_all(files, |settings| settings.audit.clone())
}

/// Reports settings that have no effect in files of their scope.
fn without_effect(files: &[LoadedFile]) -> Vec<Diagnostic> {
    let narrow = |file: &&LoadedFile| file.state.scope.trust_level() < TrustLevel::User;
    let exact = files.iter().filter(narrow).flat_map(|file| {
        let settings = &file.settings;
        let keys = [
            ("compat", settings.exact.is_some()),
            ("log", settings.log.is_some()),
            ("approval_webhook", settings.approval_webhook.is_some()),
            ("resident", settings.resident.is_some()),
            ("audit", settings.audit.is_some()),
            ("env_allow", settings.env_allow.is_some()),
            ("allow_skip", settings.allow_skip.is_some()),
            ("unguarded_subagents", settings.unguarded_subagents.is_some()),
            ("deny_by_command", settings.deny_by_command.is_some()),
            ("approvals", settings.approvals_wait.is_some()),
            ("trusted_paths", settings.trusted_paths.is_some()),
            ("trusted_keys", settings.trusted_keys.is_some()),
        ];
        keys.into_iter().filter(|(_, is_set)| *is_set).map(|(key, _)| {
            let scope = file.state.scope;
            let text = format!("`{key}` is ignored in a {scope} file; move it to a user or managed file");
            Diagnostic::of_file(Severity::Warning, "no-effect", file.name(), text)
        })
    });
    let policy = files.iter().filter(|file| !file.is_policy).flat_map(|file| {
        let settings = &file.settings;
        let keys = [("restrict", settings.restrict.is_some()), ("protect_self", settings.protect_self.is_some())];
        keys.into_iter().filter(|(_, is_set)| *is_set).map(|(key, _)| {
            let text = format!("`{key}` is ignored here; it has an effect only in managed files of checkrein");
            Diagnostic::of_file(Severity::Warning, "no-effect", file.name(), text)
        })
    });
    let managed = files
        .iter()
        .filter(|file| file.settings.managed_only.is_some() && file.state.scope != Scope::Managed)
        .map(|file| {
            let scope = file.state.scope;
            let text = format!("`allowManagedHooksOnly` is ignored in a {scope} file; only a managed file can set it");
            Diagnostic::of_file(Severity::Warning, "no-effect", file.name(), text)
        });
    exact.chain(policy).chain(managed).collect()
}

/// URLs that hooks may call.
#[cfg(feature = "http")]
pub(super) struct Urls(Vec<crate::handler::UrlPattern>);

#[cfg(feature = "http")]
impl Urls {
    pub(super) fn new(patterns: &[String]) -> Self {
        Self(patterns.iter().filter_map(|pattern| crate::handler::UrlPattern::parse(pattern)).collect())
    }

    pub(super) fn allow(&self, http: &HttpSpec) -> bool {
        // A hook with an invalid URL is never called: it fails to load.
        url::Url::parse(&http.url).map_or(true, |url| self.0.iter().any(|pattern| pattern.fits(&url)))
    }
}

/// Placeholder without the feature `http`: every HTTP hook fails to load.
#[cfg(not(feature = "http"))]
pub(super) struct Urls;

#[cfg(not(feature = "http"))]
impl Urls {
    pub(super) fn new(_: &[String]) -> Self {
        Self
    }

    pub(super) fn allow(&self, _: &HttpSpec) -> bool {
        true
    }
}

/// Reports patterns that no URL can match.
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
            let text = format!("`{pattern}` is not a URL pattern; no URL matches it");
            diagnostics.push(
                Diagnostic::of_file(Severity::Error, "bad-url-pattern", file.name(), text)
                    .with_help("write a scheme and a host, as in `https://*.example.com/*`"),
            );
        }
    }
    diagnostics
}
