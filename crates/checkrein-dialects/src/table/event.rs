//! The events of a dialect.

use std::time::Duration;

use checkrein_core::{ChainEnd, DecisionRule, EventKind, FailurePolicy, Grammar, RunOrder};

use super::Provenance;
use crate::payload::FieldRow;

/// What a dialect calls an event, and what its hooks may do there. Several names may stand for one kind.
#[derive(Debug, Clone)]
pub struct EventRow {
    /// The dialect's name.
    pub name: &'static str,
    /// The kind that it stands for.
    pub kind: EventKind,
    /// Whether matchers count here. If not, every hook of the event fits.
    pub matched: bool,
    /// What makes the subject into what matchers are compared with, if that is not the subject itself. `None` of it: nobody
    /// knows, and every hook fits.
    pub normalize_subject: Option<fn(&str) -> Option<String>>,
    /// The field that matchers are compared with, under checkrein's name, if it is not the kind's; dots lead into objects.
    pub subject_field: Option<&'static str>,
    /// How matchers are written here, if it is not as everywhere.
    pub grammar: Option<Grammar>,
    /// What matchers are compared with, if it is always the same.
    pub fixed_subject: Option<&'static str>,
    /// Whether a hook can stop something here.
    pub blocks: bool,
    /// What text that is no answer is taken for.
    pub plain: PlainTextUse,
    /// What the payload has here besides what all have.
    pub fields: &'static [FieldRow],
    /// What the payload has here instead of what all have.
    pub replaces_common_fields: Option<&'static [FieldRow]>,
    /// The field that names the event in its payload, and the name there, if it is not as everywhere.
    pub event_field: Option<(&'static str, &'static str)>,
    /// How long hooks may take here, if it is not the usual time.
    pub timeout: Option<Duration>,
    /// The most that a hook may ask for here, if it is not as everywhere.
    pub timeout_cap: Option<Duration>,
    /// What is done about a hook that takes too long here, if it is not as everywhere.
    pub on_timeout: Option<FailurePolicy>,
    /// How hooks run here, if it is not as everywhere.
    pub order: Option<RunOrder>,
    /// What ends the chain here, if it is not as everywhere.
    pub chain_end: Option<ChainEnd>,
    /// Which decision wins here, if it is not as everywhere.
    pub settle: Option<DecisionRule>,
    /// What is done about every failure here, whatever the dialect's table and the hook itself say.
    pub failure_policy: Option<FailurePolicy>,
    /// Whether hooks run in the background here, whatever they say.
    pub always_background: bool,
    /// Whether a program should be called here only if somebody asks for it: it comes very often, has whole conversations
    /// with it, or not every version knows its name.
    pub opt_in: bool,
    /// Where all this comes from.
    pub known: Provenance,
}

/// What text that is no answer is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PlainTextUse {
    /// Nothing.
    #[default]
    Nothing,
    /// Context for the model.
    Context,
    /// A message for the user.
    Message,
    /// What the hook made: the last line that has something in it.
    LastLine,
    /// A failure.
    Failure,
}

impl EventRow {
    /// An event at which hooks can only watch.
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
            timeout: None,
            timeout_cap: None,
            on_timeout: None,
            order: None,
            chain_end: None,
            settle: None,
            failure_policy: None,
            always_background: false,
            opt_in: false,
            known: Provenance::Documented,
        }
    }

    /// Matchers count here.
    #[must_use]
    pub const fn matched(mut self) -> Self {
        self.matched = true;
        self
    }

    /// Matchers count here, and are compared with what this makes of the subject.
    #[must_use]
    pub const fn matched_as(mut self, normal: fn(&str) -> Option<String>) -> Self {
        self.matched = true;
        self.normalize_subject = Some(normal);
        self
    }

    /// Matchers count here, and are compared with this field.
    #[must_use]
    pub const fn subject_field(mut self, field: &'static str) -> Self {
        self.matched = true;
        self.subject_field = Some(field);
        self
    }

    /// Matchers count here, and are written so.
    #[must_use]
    pub const fn matched_by(mut self, grammar: Grammar) -> Self {
        self.matched = true;
        self.grammar = Some(grammar);
        self
    }

    /// Matchers count here, and are always compared with this.
    #[must_use]
    pub const fn fixed_subject(mut self, subject: &'static str) -> Self {
        self.matched = true;
        self.fixed_subject = Some(subject);
        self
    }

    /// Hooks can stop something here.
    #[must_use]
    pub const fn blocks(mut self) -> Self {
        self.blocks = true;
        self
    }

    /// Text is taken for this.
    #[must_use]
    pub const fn plain(mut self, plain: PlainTextUse) -> Self {
        self.plain = plain;
        self
    }

    /// The payload has these as well.
    #[must_use]
    pub const fn fields(mut self, fields: &'static [FieldRow]) -> Self {
        self.fields = fields;
        self
    }

    /// The payload has these instead of what all have.
    #[must_use]
    pub const fn replaces_common_fields(mut self, fields: &'static [FieldRow]) -> Self {
        self.replaces_common_fields = Some(fields);
        self
    }

    /// The payload names the event in this field, by this name.
    #[must_use]
    pub const fn event_field(mut self, field: &'static str, name: &'static str) -> Self {
        self.event_field = Some((field, name));
        self
    }

    /// Hooks run in the background here.
    #[must_use]
    pub const fn always_background(mut self) -> Self {
        self.always_background = true;
        self
    }

    /// A program should be called here only if somebody asks for it.
    #[must_use]
    pub const fn opt_in(mut self) -> Self {
        self.opt_in = true;
        self
    }

    /// The agent was seen doing it.
    #[must_use]
    pub const fn observed(mut self) -> Self {
        self.known = Provenance::Observed;
        self
    }

    /// Others say so, or sources differ.
    #[must_use]
    pub const fn uncertain(mut self) -> Self {
        self.known = Provenance::Uncertain;
        self
    }

    /// Hooks may take so many milliseconds at most, whatever they ask for.
    #[must_use]
    pub const fn at_most_ms(mut self, ms: u64) -> Self {
        self.timeout_cap = Some(Duration::from_millis(ms));
        self
    }

    /// Hooks may take so many milliseconds.
    #[must_use]
    pub const fn within_ms(mut self, ms: u64) -> Self {
        self.timeout = Some(Duration::from_millis(ms));
        self
    }

    /// This is done about a hook that takes too long.
    #[must_use]
    pub const fn on_timeout(mut self, effect: FailurePolicy) -> Self {
        self.on_timeout = Some(effect);
        self
    }

    /// Hooks run in this order.
    #[must_use]
    pub const fn order(mut self, order: RunOrder) -> Self {
        self.order = Some(order);
        self
    }

    /// This ends the chain.
    #[must_use]
    pub const fn chain_end(mut self, end: ChainEnd) -> Self {
        self.chain_end = Some(end);
        self
    }

    /// This decision wins.
    #[must_use]
    pub const fn settle(mut self, settle: DecisionRule) -> Self {
        self.settle = Some(settle);
        self
    }

    /// This is done about every failure, whatever the hook itself says.
    #[must_use]
    pub const fn failure_policy(mut self, effect: FailurePolicy) -> Self {
        self.failure_policy = Some(effect);
        self
    }
}
