use std::fmt;
use std::sync::Arc;

use crate::event::Event;
use crate::kind::EventKind;
use crate::matcher::Matcher;
use crate::property::Properties;
use crate::shield::shielded;
use crate::source::HookInfo;

/// One configured entry, as far as choosing it goes: which events, which matcher, which condition. What it does is
/// its handler's business.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Hook {
    /// What it is called and where it comes from.
    pub info: Arc<HookInfo>,
    /// The kinds of events that it is for.
    pub kinds: Vec<EventKind>,
    /// What the event's subject must be.
    pub matcher: Matcher,
    /// What must hold besides.
    pub condition: Option<Condition>,
    /// Whether it can run.
    pub state: HookState,
    /// Hooks with lower ones come first; those with the same, in the order in which they are given. An administrator's
    /// come before all others.
    pub order: i32,
    /// The key of identical hooks, of which only one runs: of those that can, one of the widest trust level, and of
    /// these the first. `None`: this one is always its own.
    pub identity: Option<String>,
}

impl Hook {
    /// A hook for one kind that fits every event of it.
    pub fn new(info: HookInfo, kind: EventKind) -> Self {
        Self {
            info: Arc::new(info),
            kinds: vec![kind],
            matcher: Matcher::everything(),
            condition: None,
            state: HookState::Ready,
            order: 0,
            identity: None,
        }
    }

    /// Lists the properties that an entry sets: its events and its matcher first.
    pub fn list_properties(&self, properties: &mut Properties) {
        let Self {
            info,
            kinds,
            matcher,
            // Left out: a host adds conditions in code, and the engine makes them of the rule and the input patterns of an
            // entry, which are listed with it.
            condition: _,
            // Left out: it tells whether the hook can run now.
            state: _,
            order,
            // Left out: it is made of these properties.
            identity: _,
        } = self;
        properties.add_each(Self::EVENT, kinds.iter().map(EventKind::name));
        if !matcher.pattern().is_empty() {
            properties.add(Self::MATCHER, matcher.pattern());
        }
        if *order != 0 {
            properties.add("order", order.to_string());
        }
        info.list_properties(properties);
    }

    /// Label of the property that names an event.
    pub const EVENT: &'static str = "event";
    /// Label of the property that is the matcher.
    pub const MATCHER: &'static str = "matcher";

    /// The same with another matcher.
    #[must_use]
    pub fn matching(mut self, matcher: Matcher) -> Self {
        self.matcher = matcher;
        self
    }

    /// The same with something that must hold besides.
    #[must_use]
    pub fn when(mut self, condition: Condition) -> Self {
        self.condition = Some(condition);
        self
    }

    /// The same in another state.
    #[must_use]
    pub fn in_state(mut self, state: HookState) -> Self {
        self.state = state;
        self
    }

    /// The same in another place of the order.
    #[must_use]
    pub fn in_order(mut self, order: i32) -> Self {
        self.order = order;
        self
    }

    /// The same with what makes it the same as another.
    #[must_use]
    pub fn identified_by(mut self, identity: impl Into<String>) -> Self {
        self.identity = Some(identity.into());
        self
    }

    /// What hooks are sorted by: an administrator's come first, whatever order others give themselves.
    pub fn rank(&self) -> (bool, i32) {
        (!self.info.is_managed(), self.order)
    }

    /// The same for one more kind.
    #[must_use]
    pub fn also_for(mut self, kind: EventKind) -> Self {
        self.kinds.push(kind);
        self
    }
}

/// Whether a hook can run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookState {
    /// It can.
    Ready,
    /// It is switched off. It takes no part, and no failure comes of that.
    Disabled,
    /// It is left out this time, as this says. It takes no part, and no failure comes of that.
    Skipped(String),
    /// Its user has not approved it. It is chosen, does not run, and fails as `untrusted`.
    Untrusted,
    /// Its user has approved it, and it has changed since, as this says. It is chosen, does not run, and fails as
    /// `untrusted`: it was a gate of its user, so that is closed.
    Changed(String),
    /// It cannot be run, for this reason. It is chosen and fails: a broken gate must not stand open unseen.
    Broken(String),
}

/// Something that must hold for a hook to be chosen, besides its matcher.
#[derive(Clone)]
pub struct Condition {
    text: String,
    holds: Arc<dyn Fn(&Event) -> bool + Send + Sync>,
}

impl Condition {
    /// A condition, with the words in which its user wrote it.
    pub fn new(text: impl Into<String>, holds: impl Fn(&Event) -> bool + Send + Sync + 'static) -> Self {
        Self { text: text.into(), holds: Arc::new(holds) }
    }

    /// The words.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it holds for this event. One that panics holds: a guard that runs too often is better than one that does
    /// not run.
    pub fn holds(&self, event: &Event) -> bool {
        shielded(|| (self.holds)(event)).unwrap_or(true)
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Condition({:?})", self.text)
    }
}
