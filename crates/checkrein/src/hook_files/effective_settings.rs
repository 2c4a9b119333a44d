//! What files say about all hooks, for who wants to see it.

use checkrein_core::{RawJson, Scope, TrustLevel};
use checkrein_dialects::config::{AuditSettings, Settings};

use super::loaded_file::LoadedFile;

/// Something that a file says about all hooks, and that counts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setting {
    /// The key, as in `restrict.scopes`.
    pub key: String,
    /// What it says, as JSON.
    pub value: RawJson,
    /// Whose file it is.
    pub scope: Scope,
    /// The file.
    pub file: String,
    /// The line. `None`: it is so because nothing else is said.
    pub line: Option<u32>,
}

/// The administrator's settings, those of the user that count beside them, and of those that only one file can decide the one
/// that does.
pub(super) fn said(files: &[LoadedFile]) -> Vec<Setting> {
    let mut settings: Vec<Setting> = Vec::new();
    for level in [TrustLevel::Administrator, TrustLevel::User] {
        let found =
            files.iter().filter(|file| file.state.scope.trust_level() == level && !file.state.status.is_unknown());
        for file in found.filter(|file| !file.settings.lines.is_empty() || file.settings.protect_self.is_some()) {
            let rows = ROWS.iter().filter(|row| level == TrustLevel::Administrator || row.for_users);
            for (row, value) in rows.filter_map(|row| Some((row, (row.value)(&file.settings)?))) {
                let is_decided = row.for_users && !row.adds && settings.iter().any(|setting| setting.key == row.key);
                if !is_decided && (file.is_policy || !row.ruling) {
                    let (key, line) = (row.key.to_owned(), file.settings.line_of(row.key));
                    settings.push(Setting { key, value, scope: file.state.scope, file: file.name(), line });
                }
            }
        }
    }
    settings
}

struct Row {
    key: &'static str,
    /// Whether a user can say it too, and the first who does decides.
    for_users: bool,
    /// Whether only checkrein's own files of an administrator can say it.
    ruling: bool,
    /// Whether what several say counts together.
    adds: bool,
    value: fn(&Settings) -> Option<RawJson>,
}

const fn of_administrator(key: &'static str, value: fn(&Settings) -> Option<RawJson>) -> Row {
    Row { key, for_users: false, ruling: false, adds: false, value }
}

const fn of_ruling(key: &'static str, value: fn(&Settings) -> Option<RawJson>) -> Row {
    Row { key, for_users: false, ruling: true, adds: false, value }
}

const fn of_anybody(key: &'static str, value: fn(&Settings) -> Option<RawJson>) -> Row {
    Row { key, for_users: true, ruling: false, adds: false, value }
}

const fn of_all(key: &'static str, value: fn(&Settings) -> Option<RawJson>) -> Row {
    Row { adds: true, ..of_anybody(key, value) }
}

const ROWS: &[Row] = &[
    of_administrator("disableAllHooks", |said| said.disable_all.map(flag)),
    of_administrator("allowManagedHooksOnly", |said| said.managed_only.map(flag)),
    of_administrator("allowedHttpHookUrls", |said| said.http_urls.as_deref().map(list)),
    of_administrator("httpHookAllowedEnvVars", |said| said.http_env.as_deref().map(list)),
    of_ruling("restrict.scopes", |said| {
        let scopes: Vec<_> = said.restrict.as_ref()?.scopes.as_ref()?.iter().map(ToString::to_string).collect();
        Some(list(&scopes))
    }),
    of_ruling("restrict.handlers", |said| said.restrict.as_ref()?.handlers.as_deref().map(list)),
    of_ruling("restrict.urls", |said| said.restrict.as_ref()?.urls.as_deref().map(list)),
    of_ruling("restrict.env", |said| said.restrict.as_ref()?.env.as_deref().map(list)),
    of_ruling("protect_self", |said| said.protect_self.map(flag)),
    of_anybody("allow_skip", |said| said.allow_skip.map(flag)),
    of_anybody("compat", |said| said.exact.map(|exact| RawJson::string(if exact { "exact" } else { "safe" }))),
    of_anybody("audit", |said| said.audit.as_ref().map(audit)),
    of_all("env_allow", |said| said.env_allow.as_deref().map(list)),
    of_all("trusted_paths", |said| said.trusted_paths.as_deref().map(list)),
    of_all("trusted_keys", |said| said.trusted_keys.as_deref().map(list)),
];

fn flag(on: bool) -> RawJson {
    json(if on { "true" } else { "false" })
}

fn list(words: &[String]) -> RawJson {
    let words: Vec<_> = words.iter().map(|word| RawJson::string(word).to_string()).collect();
    json(&format!("[{}]", words.join(",")))
}

fn audit(settings: &AuditSettings) -> RawJson {
    let path = settings.path.as_ref().map_or("null".to_owned(), |path| RawJson::string(path).to_string());
    let effect = if settings.closed { "closed" } else { "open" };
    let size = settings.max_size.map_or("null".to_owned(), |size| size.to_string());
    let age = settings.max_age.map_or("null".to_owned(), |age| age.as_secs().to_string());
    json(&format!(r#"{{"path":{path},"on_failure":"{effect}","max_size":{size},"max_age_s":{age}}}"#))
}

/// Text that is JSON.
fn json(text: &str) -> RawJson {
    RawJson::parse(text).unwrap_or_default()
}
