//! Keys of rules: the condition, the texts, the parameters and the tests.

use checkrein_core::{FailurePolicy, RawJson};
use checkrein_document::{Node, Span};

use super::Decoder;
use super::attribute::{EFFECTS, effect};
use crate::spec::{RuleDecision, RuleSpec, RuleTest};

/// A key of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleKey {
    /// Condition.
    When,
    /// Named expressions.
    Vars,
    /// Constants.
    Params,
    /// Decision, with its reason.
    Decision(RuleDecision),
    /// Context for the model.
    Context,
    /// Message to the user.
    Message,
    /// Label of the session.
    Label,
    /// New values of fields of the tool input.
    Rewrite,
    /// Effect if the condition is unknown.
    Unknown,
    /// Tests.
    Tests,
}

impl RuleKey {
    /// Noun phrase for messages: "its condition".
    pub fn label(self) -> &'static str {
        match self {
            Self::When => "its condition",
            Self::Vars => "its variables",
            Self::Params => "its parameters",
            Self::Decision(_) => "its decision",
            Self::Context => "its context",
            Self::Message => "its message",
            Self::Label => "its label",
            Self::Rewrite => "its rewrite",
            Self::Unknown => "the effect of unknown facts",
            Self::Tests => "its tests",
        }
    }

    /// Reads the value of the key into a rule.
    pub(super) fn read(
        self,
        decoder: &mut Decoder<'_>,
        node: &Node<'_>,
        name: &str,
        rule: &mut RuleSpec,
    ) -> Result<(), String> {
        match self {
            Self::When => {
                // YAML reads `when: true` as a bool.
                rule.when = match node.as_bool() {
                    Some(flag) => flag.to_string(),
                    None => decoder.text(node, name)?,
                };
            }
            Self::Vars => rule.vars = decoder.pairs(node, name)?,
            Self::Params => rule.params = values(decoder, node, name)?,
            Self::Decision(decision) => {
                if let Some((other, _)) = &rule.decision {
                    let why = format!("a rule has one decision, and this one has `{other}` and `{name}`");
                    decoder.error("two-decisions", node.span, why.clone()).help =
                        Some("write two rules, or remove one of the keys".to_owned());
                    return Err(why);
                }
                rule.decision = Some((decision, decoder.text(node, name)?));
            }
            Self::Context => rule.context = Some(decoder.text(node, name)?),
            Self::Message => rule.message = Some(decoder.text(node, name)?),
            Self::Label => {
                let label = decoder.text(node, name)?;
                let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
                if label.is_empty() || label.len() > MAX_LABEL || !label.chars().all(is_word) {
                    let why = format!("`{name}` should be a word of letters, digits, `_`, `-` and `.`");
                    decoder.error("bad-label", node.span, why.clone());
                    return Err(why);
                }
                rule.label = Some(label);
            }
            Self::Rewrite => rule.rewrite = values(decoder, node, name)?,
            Self::Unknown => rule.unknown = Some(effect(decoder, node, name, EFFECTS)?),
            Self::Tests => {
                for test in decoder.array(node, name)? {
                    if test.as_object().is_none() {
                        let why = format!("an entry of `{name}` is {}", test.type_name());
                        decoder.error("wrong-type", test.span, why.clone()).help =
                            Some("write `{ command: …, want: … }`".to_owned());
                        return Err(why);
                    }
                    let line = decoder.place(test.span).line;
                    rule.tests.push(RuleTest { json: json(test)?, line });
                }
            }
        }
        Ok(())
    }

    /// Returns the value of the key as JSON. `None`: the rule does not have it.
    pub(super) fn value(self, rule: &RuleSpec) -> Option<String> {
        let text = |text: &str| RawJson::string(text).as_str().to_owned();
        match self {
            Self::When => Some(text(&rule.when)),
            Self::Vars => object(rule.vars.iter().map(|(name, own)| (name.as_str(), text(own)))),
            Self::Params => object(rule.params.iter().map(|(name, value)| (name.as_str(), value.to_string()))),
            Self::Decision(decision) => {
                let (own, reason) = rule.decision.as_ref()?;
                if *own == decision { Some(text(reason)) } else { None }
            }
            Self::Context => rule.context.as_deref().map(text),
            Self::Message => rule.message.as_deref().map(text),
            Self::Label => rule.label.as_deref().map(text),
            Self::Rewrite => object(rule.rewrite.iter().map(|(name, value)| (name.as_str(), value.to_string()))),
            Self::Unknown => rule.unknown.map(|policy: FailurePolicy| text(&policy.to_string())),
            Self::Tests if rule.tests.is_empty() => None,
            Self::Tests => {
                let tests: Vec<_> = rule.tests.iter().map(|test| test.json.to_string()).collect();
                Some(format!("[{}]", tests.join(", ")))
            }
        }
    }
}

/// Maximum length of a label.
const MAX_LABEL: usize = 64;

/// Reports a rule without an effect.
pub(super) fn check(decoder: &mut Decoder<'_>, rule: &RuleSpec, span: Span) -> Result<(), String> {
    if rule.has_effect() {
        return Ok(());
    }
    let why = "this rule has no effect: it has no decision, text, label or rewrite";
    decoder.error("missing-key", span, why).help =
        Some("add one of: deny, ask, allow, halt, context, message, label, rewrite".to_owned());
    Err(why.to_owned())
}

/// Returns a value as JSON.
pub(in crate::config) fn json(node: &Node<'_>) -> Result<RawJson, String> {
    RawJson::parse(node.to_json()).map_err(|error| error.to_string())
}

/// Reads the members of an object as JSON.
pub(in crate::config) fn values(
    decoder: &mut Decoder<'_>,
    node: &Node<'_>,
    name: &str,
) -> Result<Vec<(String, RawJson)>, String> {
    let members = decoder.object(node, name)?;
    members.iter().map(|member| Ok((member.key.to_string(), json(&member.value)?))).collect()
}

fn object<'a>(members: impl Iterator<Item = (&'a str, String)>) -> Option<String> {
    let members: Vec<_> = members.map(|(name, value)| format!("{}: {value}", RawJson::string(name))).collect();
    if members.is_empty() { None } else { Some(format!("{{ {} }}", members.join(", "))) }
}
