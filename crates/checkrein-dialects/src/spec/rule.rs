//! Rules: hooks that are expressions over facts about an event.
//!
//! A [`RuleSpec`] has the texts of a rule as written. The `checkrein` crate compiles and evaluates them.

use std::fmt;

use checkrein_core::property::Properties;
use checkrein_core::{Decision, FailurePolicy, RawJson};

/// A rule: a condition, and the effects if it holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleSpec {
    /// Condition: an expression.
    pub when: String,
    /// Named expressions, which others use as `vars.NAME`.
    pub vars: Vec<(String, String)>,
    /// Constants, which expressions use as `params.NAME`.
    pub params: Vec<(String, RawJson)>,
    /// Decision, with the text of its reason.
    pub decision: Option<(RuleDecision, String)>,
    /// Text of the context for the model.
    pub context: Option<String>,
    /// Text of the message to the user.
    pub message: Option<String>,
    /// Label that the session gets.
    pub label: Option<String>,
    /// Fields of the tool input, with their new values. Strings may have expressions in `${…}`.
    pub rewrite: Vec<(String, RawJson)>,
    /// Effect if the value of the condition is unknown. `None`: ask at gates, nothing elsewhere.
    pub unknown: Option<FailurePolicy>,
    /// Tests, as in the file. They have no effect on events.
    pub tests: Vec<RuleTest>,
    /// Id of the rule in its pack. `None`: a file has the rule itself.
    pub pack_rule: Option<String>,
}

/// A test of a rule, as in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleTest {
    /// The test: an object.
    pub json: RawJson,
    /// Line in the file.
    pub line: u32,
}

/// Decision of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleDecision {
    /// The event is denied.
    Deny,
    /// The user is asked.
    Ask,
    /// The event is allowed.
    Allow,
    /// The agent is halted.
    Halt,
}

impl RuleDecision {
    /// All decisions.
    pub const ALL: [Self; 4] = [Self::Deny, Self::Ask, Self::Allow, Self::Halt];

    /// Returns the key in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Allow => "allow",
            Self::Halt => "halt",
        }
    }

    /// Returns the decision of an opinion.
    pub fn decision(self) -> Decision {
        match self {
            Self::Deny => Decision::Deny,
            Self::Ask => Decision::Ask,
            Self::Allow => Decision::Allow,
            Self::Halt => Decision::Halt,
        }
    }
}

impl fmt::Display for RuleDecision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl RuleSpec {
    /// `true` if the rule has an effect besides its condition.
    pub fn has_effect(&self) -> bool {
        self.decision.is_some()
            || self.context.is_some()
            || self.message.is_some()
            || self.label.is_some()
            || !self.rewrite.is_empty()
    }

    /// `true` if the rule can keep a call from running as it is, alone or by its label. A rule with notes only cannot.
    pub fn can_guard(&self) -> bool {
        self.label.is_some()
            || !self.rewrite.is_empty()
            || self.decision.as_ref().is_some_and(|(decision, _)| *decision != RuleDecision::Allow)
    }

    /// `true` if the rule sets a label or a text has the name `history`. Events are then recorded.
    pub fn uses_history(&self) -> bool {
        self.label.is_some() || self.mentions("history") || self.mentions("session.turn")
    }

    /// Returns all expressions and texts with their keys: `when`, `vars.NAME`, `deny`.
    pub fn texts(&self) -> Vec<(String, &str)> {
        let vars = self.vars.iter().map(|(name, text)| (format!("vars.{name}"), text.as_str()));
        let mut texts: Vec<_> = vars.collect();
        texts.push(("when".to_owned(), &self.when));
        texts.extend(self.decision.iter().map(|(decision, text)| (decision.name().to_owned(), text.as_str())));
        texts.extend(self.context.iter().map(|text| ("context".to_owned(), text.as_str())));
        texts.extend(self.message.iter().map(|text| ("message".to_owned(), text.as_str())));
        texts
    }

    /// Returns `true` if a text of the rule contains this word, such as the name of a parameter.
    pub(crate) fn mentions(&self, word: &str) -> bool {
        let vars = self.vars.iter().map(|(_, text)| text);
        let decision = self.decision.iter().map(|(_, text)| text);
        let texts = vars.chain([&self.when]).chain(decision).chain(&self.context).chain(&self.message);
        let rewrites = self.rewrite.iter().map(|(_, value)| value.as_str());
        texts.map(String::as_str).chain(rewrites).any(|text| text.contains(word))
    }

    pub(super) fn list_properties(&self, properties: &mut Properties) {
        let Self {
            when: _,
            vars: _,
            params,
            decision,
            context: _,
            message: _,
            label,
            rewrite,
            unknown,
            // Omitted: tests have no effect on events.
            tests: _,
            pack_rule,
        } = self;
        properties.add_set("rule of a pack", pack_rule.as_ref());
        // The texts of a pack are part of the program, as the code of a builtin is. An update must not need new approvals.
        if pack_rule.is_some() {
            properties.add_set("decision", decision.as_ref().map(|(decision, _)| decision));
        } else {
            properties.add_each("rule", self.texts().into_iter().map(|(key, text)| format!("{key}: {text}")));
            properties.add_set("label", label.as_ref());
            properties.add_each("rewrites", rewrite.iter().map(|(field, value)| format!("{field}: {value}")));
        }
        properties.add_each("parameter", params.iter().map(|(name, value)| format!("{name}: {value}")));
        properties.add_set("if unknown", unknown.as_ref());
    }
}
