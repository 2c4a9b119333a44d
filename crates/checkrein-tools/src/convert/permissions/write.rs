//! Text of converted rules.

use std::fmt::Write as _;

use super::Permission;

/// Condition of a converted rule, and its tests without their results.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// The condition: an expression.
    pub(super) when: String,
    /// Keys of a call to which the rule applies, as YAML.
    pub(super) example: String,
    /// Keys of a call to which it does not apply, as YAML.
    pub(super) counterexample: String,
}

/// A rule of the new file.
#[derive(Debug)]
pub(super) struct Written {
    id: String,
    description: String,
    when: String,
    decision: &'static str,
    reason: String,
    /// Tests, as YAML.
    pub(super) tests: Vec<String>,
}

/// Maximum length of an id, in characters.
const MAX_ID: usize = 48;

impl Written {
    pub(super) fn new(permission: &Permission, said: Said, before: &[Self]) -> Self {
        let decision = permission.decision.name();
        let text = &permission.text;
        let tests = vec![
            format!("{{ {}, want: {decision} }}", said.example),
            format!("{{ {}, want: none }}", said.counterexample),
        ];
        Self {
            id: unique_id(decision, text, before),
            description: format!("{text} of permissions.{decision}"),
            when: said.when,
            decision,
            // `$${` is a literal `${`.
            reason: format!("the permission rule `{text}` applies").replace("${", "$${"),
            tests,
        }
    }
}

/// Returns an id with the words of the rule that no earlier rule has.
fn unique_id(decision: &str, text: &str, before: &[Written]) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut id = decision.to_owned();
    for word in words {
        if id.len() + word.len() < MAX_ID {
            id = format!("{id}-{}", word.to_ascii_lowercase());
        }
    }
    let is_used = |id: &str| before.iter().any(|rule| rule.id == id);
    let numbered = (2_usize..).map(|number| format!("{id}-{number}"));
    std::iter::once(id.clone()).chain(numbered).find(|id| !is_used(id)).unwrap_or(id)
}

/// Returns a YAML string in single quotes.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns the text of a file with these rules.
pub(super) fn file_text(rules: &[Written]) -> String {
    let mut text =
        "# Rules for permission rules of Claude Code. `checkrein test` runs their tests.\nhooks:\n".to_owned();
    for rule in rules {
        let Written { id, description, when, decision, reason, tests } = rule;
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  - id: {id}\n    description: {}", quoted(description));
        let _ = writeln!(text, "    when: {}\n    {decision}: {}\n    tests:", quoted(when), quoted(reason));
        for test in tests {
            let _ = writeln!(text, "      - {test}");
        }
    }
    text
}
