//! Conversion of permission rules (`permissions.deny`, `ask`, `allow` in the settings of Claude Code) to rules of a native file.
//!
//! A deny or an ask of the converted rule applies at least where the permission rule applies. An allow applies at most there. A rule
//! that cannot be said in this way is a loss, never an approximation.

mod command;
mod path;
mod rule;
mod write;

use checkrein_core::Scope;
use checkrein_dialects::agents::native;
use checkrein_dialects::{PermissionRule, RuleDecision};
use checkrein_document::Format;
use serde_json::Value;

use crate::rule_tests::{self, Effect};
use write::{Written, file_text};

/// A permission rule in a settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Permission {
    /// Decision: the list that has the rule.
    pub decision: RuleDecision,
    /// The rule as it is written.
    pub text: String,
    /// File.
    pub file: String,
    /// Line in the file.
    pub line: usize,
    /// `true` for the settings of the user, whose paths start elsewhere.
    pub of_user: bool,
}

/// Converted permission rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConvertedPermissions {
    /// Text of a native file, as YAML. Empty if no rule was converted.
    pub text: String,
    /// Number of rules in the text.
    pub rules: usize,
    /// Rules that cannot be said, with the reason.
    pub lost: Vec<(Permission, String)>,
    /// Other keys of `permissions`, which have no counterpart.
    pub other_keys: Vec<String>,
}

impl ConvertedPermissions {
    /// Number of lost rules that deny or ask.
    pub fn gates_lost(&self) -> usize {
        self.lost.iter().filter(|(permission, _)| permission.decision != RuleDecision::Allow).count()
    }
}

/// Lists of `permissions`.
const LISTS: [RuleDecision; 3] = [RuleDecision::Deny, RuleDecision::Ask, RuleDecision::Allow];

/// Reads the permission rules of a settings file, and the names of other keys of `permissions`.
///
/// # Errors
/// The text is no JSON, or `permissions` has a wrong type.
pub fn read_permissions(text: &str, file: &str, of_user: bool) -> Result<(Vec<Permission>, Vec<String>), String> {
    let settings: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let Some(permissions) = settings.get("permissions") else { return Ok((Vec::new(), Vec::new())) };
    let Some(members) = permissions.as_object() else { return Err("`permissions` must be an object".to_owned()) };
    let mut all = Vec::new();
    for decision in LISTS {
        let name = decision.name();
        let items = match members.get(name) {
            None => continue,
            Some(Value::Array(items)) => items,
            Some(_) => return Err(format!("`permissions.{name}` must be a list")),
        };
        for item in items {
            let Value::String(rule) = item else {
                return Err(format!("`permissions.{name}` must be a list of strings, not `{item}`"));
            };
            let written = item.to_string();
            let line = text.lines().position(|line| line.contains(&written)).unwrap_or_default() + 1;
            all.push(Permission { decision, text: rule.clone(), file: file.to_owned(), line, of_user });
        }
    }
    let is_other = |key: &&String| !LISTS.iter().any(|decision| decision.name() == key.as_str());
    let others = members.keys().filter(is_other).cloned().collect();
    Ok((all, others))
}

/// Converts permission rules. Equal rules become one.
pub fn convert_permissions(permissions: &[Permission], other_keys: Vec<String>) -> ConvertedPermissions {
    let mut converted = ConvertedPermissions { other_keys, ..ConvertedPermissions::default() };
    let mut rules: Vec<Written> = Vec::new();
    let mut done: Vec<(RuleDecision, &str, bool)> = Vec::new();
    for permission in permissions {
        let key = (permission.decision, permission.text.as_str(), permission.of_user);
        if done.contains(&key) {
            continue;
        }
        done.push(key);
        match convert_one(permission, &rules) {
            Ok(rule) => rules.push(rule),
            Err(why) => converted.lost.push((permission.clone(), why)),
        }
    }
    converted.rules = rules.len();
    if !rules.is_empty() {
        converted.text = file_text(&rules);
    }
    converted
}

fn convert_one(permission: &Permission, before: &[Written]) -> Result<Written, String> {
    if permission.text.chars().any(char::is_control) {
        return Err("the rule has control characters".to_owned());
    }
    let parsed: PermissionRule = permission.text.parse().map_err(|error| format!("{error}"))?;
    let said = rule::say(&parsed, permission)?;
    let mut written = Written::new(permission, said, before);
    verify(&mut written)?;
    Ok(written)
}

/// Runs the tests of a converted rule. It must apply to its own example; other tests that do not hold are removed.
fn verify(written: &mut Written) -> Result<(), String> {
    let text = file_text(std::slice::from_ref(written));
    let decoded = native::DIALECT.decode("rules.yaml", Scope::User, &text, Format::Yaml);
    if let Some(diagnostic) = decoded.diagnostics.first() {
        return Err(format!("the rule would not be valid: {}", diagnostic.message));
    }
    let report = decoded.hooks.first().and_then(|hook| rule_tests::run(hook, false));
    let Some(report) = report else { return Err("the rule would not be valid".to_owned()) };
    if let Some(error) = &report.error {
        return Err(format!("the rule would not be valid: {error}"));
    }
    let mut tests = report.tests.iter();
    written.tests.retain(|_| tests.next().is_some_and(rule_tests::TestResult::is_passed));
    let applies = report.tests.iter().any(|test| test.want != Effect::None && test.is_passed());
    if !applies {
        return Err("checkrein cannot say it: the rule would not apply to its own example".to_owned());
    }
    Ok(())
}
