//! Rows of the events of a dialect.

use std::time::Duration;

use checkrein_core::{ChainEnd, DecisionRule, EventKind, FailurePolicy, Grammar, RunOrder};

use super::{Evidence, Provenance};
use crate::payload::FieldRow;

/// An event of a dialect: its name and the rules for its hooks. Several rows may have one kind.
#[derive(Debug, Clone)]
pub struct EventRow {
    /// The dialect's name.
    pub name: &'static str,
    /// Kind of event.
    pub kind: EventKind,
    /// `true` if matchers apply here. Otherwise every hook of the event runs.
    pub matched: bool,
    /// Converts the subject to the text that matchers are compared with. If the function returns `None`, every hook matches.
    pub normalize_subject: Option<fn(&str) -> Option<String>>,
    /// Field that matchers are compared with, by checkrein's name. Dots lead into objects. `None`: the subject of the kind.
    pub subject_field: Option<&'static str>,
    /// Grammar of matchers here. `None`: the dialect's.
    pub grammar: Option<Grammar>,
    /// Fixed text that matchers are compared with.
    pub fixed_subject: Option<&'static str>,
    /// `true` if a hook can block here.
    pub blocks: bool,
    /// Use of plain text that is not an answer.
    pub plain: PlainTextUse,
    /// Fields of the payload besides the common ones.
    pub fields: &'static [FieldRow],
    /// Fields of the payload instead of the common ones.
    pub replaces_common_fields: Option<&'static [FieldRow]>,
    /// Field of the payload with the name of the event, and that name. `None`: the dialect's.
    pub event_field: Option<(&'static str, &'static str)>,
    /// Field that payloads of this event have. A payload without it repeats an earlier event. `None`: there are no such payloads.
    pub only_with: Option<&'static str>,
    /// Default timeout here. `None`: the dialect's.
    pub timeout: Option<Duration>,
    /// Maximum timeout here. `None`: the dialect's.
    pub timeout_cap: Option<Duration>,
    /// Policy at a timeout here. `None`: the dialect's.
    pub on_timeout: Option<FailurePolicy>,
    /// Run order here. `None`: the dialect's.
    pub order: Option<RunOrder>,
    /// End of a chain here. `None`: the dialect's.
    pub chain_end: Option<ChainEnd>,
    /// Rule for the final decision here. `None`: the dialect's.
    pub settle: Option<DecisionRule>,
    /// Policy for every failure here. It takes precedence over the dialect and the hook.
    pub failure_policy: Option<FailurePolicy>,
    /// `true` if all hooks run in the background here.
    pub always_background: bool,
    /// `true` if `install` adds the event only on request: it is very frequent, its payload has whole conversations, or some
    /// versions do not have it.
    pub opt_in: bool,
    /// First version of the agent with this event. `None`: not known.
    pub since: Option<&'static str>,
    /// Kind of source of these facts.
    pub known: Provenance,
    /// Source of these facts. `None`: the dialect's source of this kind.
    pub evidence: Option<Evidence>,
}

/// Use of plain text that is not an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PlainTextUse {
    /// None.
    #[default]
    Nothing,
    /// Context for the model.
    Context,
    /// A message for the user.
    Message,
    /// New output of the tool: the last line that is not empty.
    LastLine,
    /// A failure.
    Failure,
}

impl EventRow {
    /// An event at which hooks can only observe.
    pub const fn new(name: &'static str, kind: EventKind) -> Self {
        Self {
            name,
            kind,
            matched: false,
            normalize_subject: None,
            subject_field: None,
            grammar: None,
            fixed_subject: None,
            blocks: false,
            plain: PlainTextUse::Nothing,
            fields: &[],
            replaces_common_fields: None,
            event_field: None,
            only_with: None,
            timeout: None,
            timeout_cap: None,
            on_timeout: None,
            order: None,
            chain_end: None,
            settle: None,
            failure_policy: None,
            always_background: false,
            opt_in: false,
            since: None,
            known: Provenance::Documented,
            evidence: None,
        }
    }

    /// Enables matchers.
    #[must_use]
    pub const fn matched(mut self) -> Self {
        self.matched = true;
        self
    }

    /// Enables matchers, which are compared with the converted subject.
    #[must_use]
    pub const fn matched_as(mut self, normal: fn(&str) -> Option<String>) -> Self {
        self.matched = true;
        self.normalize_subject = Some(normal);
        self
    }

    /// Enables matchers, which are compared with this field.
    #[must_use]
    pub const fn subject_field(mut self, field: &'static str) -> Self {
        self.matched = true;
        self.subject_field = Some(field);
        self
    }

    /// Enables matchers with this grammar.
    #[must_use]
    pub const fn matched_by(mut self, grammar: Grammar) -> Self {
        self.matched = true;
        self.grammar = Some(grammar);
        self
    }

    /// Enables matchers, which are always compared with this text.
    #[must_use]
    pub const fn fixed_subject(mut self, subject: &'static str) -> Self {
        self.matched = true;
        self.fixed_subject = Some(subject);
        self
    }

    /// Lets hooks block here.
    #[must_use]
    pub const fn blocks(mut self) -> Self {
        self.blocks = true;
        self
    }

    /// Sets the use of plain text.
    #[must_use]
    pub const fn plain(mut self, plain: PlainTextUse) -> Self {
        self.plain = plain;
        self
    }

    /// Adds fields to the payload.
    #[must_use]
    pub const fn fields(mut self, fields: &'static [FieldRow]) -> Self {
        self.fields = fields;
        self
    }

    /// Replaces the common fields of the payload.
    #[must_use]
    pub const fn replaces_common_fields(mut self, fields: &'static [FieldRow]) -> Self {
        self.replaces_common_fields = Some(fields);
        self
    }

    /// Sets the field with the name of the event, and that name.
    #[must_use]
    pub const fn event_field(mut self, field: &'static str, name: &'static str) -> Self {
        self.event_field = Some((field, name));
        self
    }

    /// Sets the field without which a payload repeats an earlier event.
    #[must_use]
    pub const fn only_with(mut self, field: &'static str) -> Self {
        self.only_with = Some(field);
        self
    }

    /// Runs all hooks in the background.
    #[must_use]
    pub const fn always_background(mut self) -> Self {
        self.always_background = true;
        self
    }

    /// Makes `install` add the event only on request.
    #[must_use]
    pub const fn opt_in(mut self) -> Self {
        self.opt_in = true;
        self
    }

    /// Sets the first version of the agent with this event.
    #[must_use]
    pub const fn since(mut self, version: &'static str) -> Self {
        self.since = Some(version);
        self
    }

    /// Marks the facts as observed with the agent.
    #[must_use]
    pub const fn observed(mut self) -> Self {
        self.known = Provenance::Observed;
        self
    }

    /// Marks the facts as uncertain.
    #[must_use]
    pub const fn uncertain(mut self) -> Self {
        self.known = Provenance::Uncertain;
        self
    }

    /// Sets the source of the facts, if it is not one of the dialect's.
    #[must_use]
    pub const fn evidence(mut self, evidence: Evidence) -> Self {
        self.known = evidence.known;
        self.evidence = Some(evidence);
        self
    }

    /// Sets the maximum timeout in milliseconds.
    #[must_use]
    pub const fn at_most_ms(mut self, ms: u64) -> Self {
        self.timeout_cap = Some(Duration::from_millis(ms));
        self
    }

    /// Sets the default timeout in milliseconds.
    #[must_use]
    pub const fn within_ms(mut self, ms: u64) -> Self {
        self.timeout = Some(Duration::from_millis(ms));
        self
    }

    /// Sets the policy at a timeout.
    #[must_use]
    pub const fn on_timeout(mut self, effect: FailurePolicy) -> Self {
        self.on_timeout = Some(effect);
        self
    }

    /// Sets the run order.
    #[must_use]
    pub const fn order(mut self, order: RunOrder) -> Self {
        self.order = Some(order);
        self
    }

    /// Sets the end of a chain.
    #[must_use]
    pub const fn chain_end(mut self, end: ChainEnd) -> Self {
        self.chain_end = Some(end);
        self
    }

    /// Sets the rule for the final decision.
    #[must_use]
    pub const fn settle(mut self, settle: DecisionRule) -> Self {
        self.settle = Some(settle);
        self
    }

    /// Sets the policy for every failure, which takes precedence over the hook.
    #[must_use]
    pub const fn failure_policy(mut self, effect: FailurePolicy) -> Self {
        self.failure_policy = Some(effect);
        self
    }
}
