//! Settings of agents that keep installed hooks from running, by the tables of the agents. `status` uses it.
//!
//! Reads files only; must never change one. A file that cannot be parsed has no such settings: the agent reads nothing from it.

use std::fmt;
use std::path::{Path, PathBuf};

use checkrein::internal::{repository, sha256_hex};
use checkrein_core::{RawJson, Scope};
use checkrein_dialects::{Dialect, FolderTrust, OffValue, ProjectTrust, SettingsPath, SwitchRow, TrustTable};
use checkrein_document::{Format, Node, parse};

use super::our_entries::{is_own, parse_tree};
use super::{Installer, desired_entries, edit, file};

/// A setting that keeps installed hooks from running.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SwitchedOff {
    /// File with the setting.
    pub path: PathBuf,
    /// Scope of the file. A project can switch off hooks of the user.
    pub scope: Scope,
    /// The setting, such as `disableAllHooks: true`.
    pub setting: String,
}

impl fmt::Display for SwitchedOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` in {} keeps the hooks from running", self.setting, self.path.display())
    }
}

/// Hooks in the agent's record of trusted hooks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Trust {
    /// Events whose entries have no record. The agent skips them.
    pub(super) untrusted: Vec<&'static str>,
    /// Entries that the record disables.
    pub(super) disabled: Vec<SwitchedOff>,
}

impl Installer {
    /// Settings in the agent's files that keep installed hooks from running.
    pub fn switched_off(&self, agent: &'static Dialect) -> Vec<SwitchedOff> {
        let rows = agent.install.map(|table| table.switches).unwrap_or_default();
        let mut decided: Vec<&str> = Vec::new();
        let mut found = Vec::new();
        for row in rows.iter().filter(|row| !row.is_ignored && self.is_read(row)) {
            for path in self.files(&row.file) {
                let Some(text) = file::read_text(&path) else { continue };
                let Some(root) = parse_settings(&path, &text) else { continue };
                let Some(value) = at(&root, row.key) else { continue };
                let (is_off, shown) = match row.off {
                    OffValue::Flag(off) => {
                        // A file of a stronger scope has decided already.
                        let (Some(value), false) = (value.as_bool(), decided.contains(&row.key)) else { continue };
                        decided.push(row.key);
                        (value == off, off.to_string())
                    }
                    OffValue::Listed(name) => {
                        let mut names = value.as_array().into_iter().flatten().filter_map(Node::as_str);
                        (names.any(|listed| listed == name), format!("[\"{name}\"]"))
                    }
                };
                if is_off {
                    found.push(SwitchedOff { path, scope: row.scope, setting: format!("{}: {shown}", row.key) });
                }
            }
        }
        found
    }

    /// Files of a row, in order of their names.
    fn files(&self, settings: &SettingsPath) -> Vec<PathBuf> {
        let Some(path) = self.resolve(settings) else { return Vec::new() };
        if !settings.path.ends_with("/*") {
            return vec![path];
        }
        let directory = file::directory_of(&path);
        let found = std::fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut files: Vec<_> = found.filter(|path| path.extension().is_some_and(|found| found == "json")).collect();
        files.sort();
        files
    }

    /// Returns `true` if the agent reads the file of a row in this project.
    fn is_read(&self, row: &SwitchRow) -> bool {
        let Some(ProjectTrust { file, table, key, value }) = row.trusted_projects else { return true };
        let Some(path) = self.resolve(&file) else { return false };
        let Some(text) = file::read_text(&path) else { return false };
        let Some(root) = parse_settings(&path, &text) else { return false };
        let trusts = |dir: &Path| {
            let project = root.get(table).and_then(|projects| projects.get(&dir.to_string_lossy()));
            project.and_then(|project| project.get(key)).and_then(Node::as_str) == Some(value)
        };
        let root = repository(&self.dir).unwrap_or(&self.dir);
        [root, self.dir.as_path()]
            .into_iter()
            .any(|dir| trusts(dir) || dir.canonicalize().is_ok_and(|dir| trusts(&dir)))
    }

    /// Returns `true` if the agent runs entries of this project: it trusts the folder, or it needs no trust.
    pub(super) fn is_trusted_folder(&self, agent: &'static Dialect) -> bool {
        let Some(FolderTrust { file, key }) = agent.install.and_then(|table| table.folders) else { return true };
        let Some(path) = self.resolve(&file) else { return false };
        let text = file::read_text(&path).unwrap_or_default();
        let Some(root) = parse_settings(&path, &text) else { return false };
        let real = self.dir.canonicalize().unwrap_or_else(|_| self.dir.clone());
        let mut folders = at(&root, key).and_then(Node::as_array).into_iter().flatten().filter_map(Node::as_str);
        folders.any(|folder| self.dir.starts_with(folder) || real.starts_with(folder))
    }

    /// Record of our entries in this file. `None` if the agent needs none, or if the record is unknown.
    pub(super) fn trust(&self, agent: &'static Dialect, scope: Scope, path: &Path) -> Option<Trust> {
        let TrustTable { file, table, trusted, enabled } = agent.install?.trust?;
        // In a linked work tree, the agent uses the file of the main one.
        if scope != Scope::User && self.dir.join(".git").is_file() {
            return None;
        }
        let record = self.resolve(&file)?;
        let text = file::read_text(&record).unwrap_or_default();
        let root = parse_settings(&record, &text);
        let states = root.as_ref().and_then(|root| at(root, table));
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut trust = Trust::default();
        let settings = file::read_text(path)?;
        for OwnPlace { event, place, hash } in own_places(agent, &settings) {
            let key = |path: &Path| format!("{}:{}:{place}", path.display(), snake_case(event));
            let keys = [key(path), key(&real)];
            let state = keys.iter().find_map(|key| states?.get(key));
            if state.and_then(|state| state.get(enabled)).and_then(Node::as_bool) == Some(false) {
                let setting = format!("{table}.\"{}\".{enabled}: false", keys[0]);
                trust.disabled.push(SwitchedOff { path: record.clone(), scope: Scope::User, setting });
            }
            let recorded = state.and_then(|state| state.get(trusted));
            let is_changed = recorded.and_then(Node::as_str).zip(hash).is_some_and(|(recorded, own)| recorded != own);
            if recorded.is_none() || is_changed {
                trust.untrusted.push(event);
            }
        }
        Some(trust)
    }
}

/// One of our entries in a file.
struct OwnPlace {
    event: &'static str,
    /// Positions `GROUP:HOOK` in the event.
    place: String,
    /// Hash that the agent records when the user trusts the entry. `None`: the entry has keys that are not known.
    hash: Option<String>,
}

fn own_places(agent: &'static Dialect, settings: &str) -> Vec<OwnPlace> {
    let dialect = desired_entries::entry_dialect(agent);
    let Some(root) = parse_tree(settings) else { return Vec::new() };
    let mut places = Vec::new();
    for row in dialect.events {
        let groups = root.get("hooks").and_then(|hooks| hooks.get(row.name)).and_then(Node::as_array);
        for (group, node) in groups.into_iter().flatten().enumerate() {
            let matcher = node.get("matcher").and_then(Node::as_str);
            for (hook, node) in node.get("hooks").and_then(Node::as_array).into_iter().flatten().enumerate() {
                if edit::is_ours(node, &|command| is_own(command, dialect.name)) {
                    let hash = trust_hash(&snake_case(row.name), matcher, node);
                    places.push(OwnPlace { event: row.name, place: format!("{group}:{hook}"), hash });
                }
            }
        }
    }
    places
}

/// Hash of a hook in a [`TrustTable`]: of its event, matcher and keys, as JSON with sorted keys and without null. `None` for keys
/// whose form in that JSON is not known.
fn trust_hash(event: &str, matcher: Option<&str>, hook: &Node<'_>) -> Option<String> {
    const KNOWN: [&str; 3] = ["type", "command", "timeout"];
    let members = hook.as_object()?;
    if members.iter().any(|member| !KNOWN.contains(&&*member.key)) {
        return None;
    }
    let command = RawJson::string(hook.get("command")?.as_str()?);
    let timeout = hook.get("timeout")?.to_json();
    let matcher = matcher.map(|matcher| format!(",\"matcher\":{}", RawJson::string(matcher))).unwrap_or_default();
    let text = format!(
        "{{\"event_name\":\"{event}\",\"hooks\":[{{\"async\":false,\"command\":{command},\"timeout\":{timeout},\
         \"type\":\"command\"}}]{matcher}}}"
    );
    Some(format!("sha256:{}", sha256_hex(text.as_bytes())))
}

/// `PreToolUse` as `pre_tool_use`.
fn snake_case(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(c.to_ascii_lowercase());
    }
    text
}

/// Parses settings for reading. JSON may have comments: some agents accept them, and others read nothing then.
fn parse_settings<'a>(path: &Path, text: &'a str) -> Option<Node<'a>> {
    let format = match Format::from_path(path) {
        Some(Format::Toml) => Format::Toml,
        _ => Format::Jsonc,
    };
    parse(text, format).ok().map(|parsed| parsed.root)
}

/// Value at a path of keys that are joined by dots.
fn at<'n, 'a>(root: &'n Node<'a>, path: &str) -> Option<&'n Node<'a>> {
    path.split('.').try_fold(root, |node, key| node.get(key))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test that fails may say so")]
mod tests {
    use super::*;

    /// Codex 0.146.0 ran a hook with this hash.
    #[test]
    fn hash_is_that_of_codex() {
        let hook = r#"{"type": "command", "command": "echo hooked > hookfired.txt", "timeout": 600}"#;
        let hash = trust_hash("session_start", None, &parse_tree(hook).unwrap()).unwrap();
        assert_eq!(hash, "sha256:5be9d5089b64165ae3661e509b80789b0e314361111505f1b2c86a5490dbb86e");
        assert_eq!(trust_hash("stop", None, &parse_tree(r#"{"command": "a", "timeout": 1, "new": 1}"#).unwrap()), None);
    }
}
