//! Effective settings of files, for `checkrein status --effective`.

use checkrein_core::{RawJson, Scope, TrustLevel};
use checkrein_dialects::config::{AuditSettings, Settings};

use super::loaded_file::LoadedFile;

/// A setting for all hooks that is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Setting {
    /// Key, such as `restrict.scopes`.
    pub key: String,
    /// Value as JSON.
    pub value: RawJson,
    /// Scope of the file.
    pub scope: Scope,
    /// File with the setting.
    pub file: String,
    /// Line of the setting. `None` for a default.
    pub line: Option<u32>,
}

/// Returns the settings in force: the administrator's, and the user's where the administrator has none.
pub(super) fn effective(files: &[LoadedFile]) -> Vec<Setting> {
    let mut settings: Vec<Setting> = Vec::new();
    for level in [TrustLevel::Administrator, TrustLevel::User] {
        let found =
            files.iter().filter(|file| file.state.scope.trust_level() == level && !file.state.status.is_unknown());
        for file in found.filter(|file| !file.settings.lines.is_empty() || file.settings.protect_self.is_some()) {
            let rows = ROWS.iter().filter(|row| level == TrustLevel::Administrator || row.for_users);
            for (row, value) in rows.filter_map(|row| Some((row, (row.value)(&file.settings)?))) {
                let is_decided = row.for_users && !row.adds && settings.iter().any(|setting| setting.key == row.key);
                if !is_decided && (file.is_policy || !row.policy_only) {
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
    /// `true` if a user's file can have the setting too. The first file with it decides.
    for_users: bool,
    /// `true` if only the administrator's files in checkrein's own dialect can have the setting.
    policy_only: bool,
    /// `true` if the values of all files are combined.
    adds: bool,
    value: fn(&Settings) -> Option<RawJson>,
}

const fn managed(key: &'static str, value: fn(&Settings) -> Option<RawJson>) -> Row {
    Row { key, for_users: false, policy_only: false, adds: false, value }
}

const fn policy(key: &'static str, value: fn(&Settings) -> Option<RawJson>) -> Row {
    Row { key, for_users: false, policy_only: true, adds: false, value }
}

const fn user_or_managed(key: &'static str, value: fn(&Settings) -> Option<RawJson>) -> Row {
    Row { key, for_users: true, policy_only: false, adds: false, value }
}

const fn combined(key: &'static str, value: fn(&Settings) -> Option<RawJson>) -> Row {
    Row { adds: true, ..user_or_managed(key, value) }
}

const ROWS: &[Row] = &[
    managed("disableAllHooks", |settings| settings.disable_all.map(flag)),
    managed("allowManagedHooksOnly", |settings| settings.managed_only.map(flag)),
    managed("allowedHttpHookUrls", |settings| settings.http_urls.as_deref().map(list)),
    managed("httpHookAllowedEnvVars", |settings| settings.http_env.as_deref().map(list)),
    policy("restrict.scopes", |settings| {
        let scopes: Vec<_> = settings.restrict.as_ref()?.scopes.as_ref()?.iter().map(ToString::to_string).collect();
        Some(list(&scopes))
    }),
    policy("restrict.handlers", |settings| settings.restrict.as_ref()?.handlers.as_deref().map(list)),
    policy("restrict.urls", |settings| settings.restrict.as_ref()?.urls.as_deref().map(list)),
    policy("restrict.env", |settings| settings.restrict.as_ref()?.env.as_deref().map(list)),
    policy("protect_self", |settings| settings.protect_self.map(flag)),
    user_or_managed("allow_skip", |settings| settings.allow_skip.map(flag)),
    user_or_managed("unguarded_subagents", |settings| {
        settings.unguarded_subagents.map(|allowed| RawJson::string(if allowed { "allow" } else { "ask" }))
    }),
    user_or_managed("deny_by_command", |settings| settings.deny_by_command.map(flag)),
    user_or_managed("approvals", |settings| {
        settings.approvals_wait.map(|waits| RawJson::string(if waits { "wait" } else { "deny" }))
    }),
    user_or_managed("compat", |settings| {
        settings.exact.map(|exact| RawJson::string(if exact { "exact" } else { "safe" }))
    }),
    user_or_managed("log", |settings| settings.log.map(flag)),
    // The URL may contain a secret.
    user_or_managed("approval_webhook", |settings| settings.approval_webhook.as_ref().map(|_| flag(true))),
    user_or_managed("resident", |settings| settings.resident.map(flag)),
    user_or_managed("audit", |settings| settings.audit.as_ref().map(audit)),
    combined("env_allow", |settings| settings.env_allow.as_deref().map(list)),
    combined("trusted_paths", |settings| settings.trusted_paths.as_deref().map(list)),
    combined("trusted_keys", |settings| settings.trusted_keys.as_deref().map(list)),
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

/// Parses JSON that this module has written.
fn json(text: &str) -> RawJson {
    RawJson::parse(text).unwrap_or_default()
}
