//! [`HookSelector`]: the part of a configured hook that selection needs.
//!
//! Engines and readers of hook files build selectors; [`HookSet`](crate::HookSet) indexes them.

use std::fmt;
use std::sync::Arc;

use crate::event::Event;
use crate::kind::EventKind;
use crate::matcher::Matcher;
use crate::panic::catch_panic;
use crate::source::HookInfo;

/// The part of a configured hook that selection needs: events, matcher, condition and state.
///
/// [`HookSet`](crate::HookSet) indexes selectors. The handler of a hook is not part of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookSelector {
    /// Name, source and declared properties of the hook.
    pub info: Arc<HookInfo>,
    /// Kinds of events that the hook runs for.
    pub kinds: Vec<EventKind>,
    /// Matcher for the subject of the event.
    pub matcher: Matcher,
    /// Further condition on the event.
    pub condition: Option<Condition>,
    /// `Ready`, or the reason why the hook does not run.
    pub state: HookState,
    /// Position among other hooks: lower numbers run first, equal numbers in config order. Managed hooks run before
    /// all others.
    pub order: i32,
    /// Key that identical hooks share. One hook per key runs: the first ready hook of the highest trust level. `None`: the
    /// hook has no duplicates.
    pub identity: Option<String>,
}

impl HookSelector {
    /// Creates a selector that matches every event of these kinds.
    pub fn new(info: Arc<HookInfo>, kinds: Vec<EventKind>) -> Self {
        Self {
            info,
            kinds,
            matcher: Matcher::everything(),
            condition: None,
            state: HookState::Ready,
            order: 0,
            identity: None,
        }
    }

    /// Creates a selector that matches every event of one kind.
    pub fn for_kind(info: HookInfo, kind: EventKind) -> Self {
        Self::new(Arc::new(info), vec![kind])
    }

    /// Sets the matcher.
    #[must_use]
    pub fn matching(mut self, matcher: Matcher) -> Self {
        self.matcher = matcher;
        self
    }

    /// Adds a condition.
    #[must_use]
    pub fn when(mut self, condition: Condition) -> Self {
        self.condition = Some(condition);
        self
    }

    /// Sets the state.
    #[must_use]
    pub fn in_state(mut self, state: HookState) -> Self {
        self.state = state;
        self
    }

    /// Sets the position among other hooks.
    #[must_use]
    pub fn in_order(mut self, order: i32) -> Self {
        self.order = order;
        self
    }

    /// Sets the key that identical hooks share.
    #[must_use]
    pub fn identified_by(mut self, identity: impl Into<String>) -> Self {
        self.identity = Some(identity.into());
        self
    }

    /// Returns the sort key of config order: managed hooks first, then by [`order`](Self::order).
    pub fn rank(&self) -> (bool, i32) {
        self.info.rank(self.order)
    }

    /// Adds a kind of events.
    #[must_use]
    pub fn also_for(mut self, kind: EventKind) -> Self {
        self.kinds.push(kind);
        self
    }
}

/// State of a hook: ready, or the reason why it does not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookState {
    /// The hook can run.
    Ready,
    /// The hook is disabled. It is not selected, and that is not a failure.
    Disabled,
    /// The hook is skipped for this reason. It is not selected, and that is not a failure.
    Skipped(String),
    /// The user has not approved the hook. It is selected, does not run, and fails as `untrusted`.
    Untrusted,
    /// The user has approved the hook, but it has changed since; the text describes the change. It is selected, does not
    /// run, and fails as `untrusted`. It fails closed, because the approved hook could block.
    Changed(String),
    /// The hook cannot run, for this reason. It is selected and fails: a broken guard must not let operations pass
    /// silently.
    Broken(String),
}

/// Condition for the selection of a hook, in addition to its matcher.
#[derive(Clone)]
pub struct Condition {
    text: String,
    /// `true` if the text is the pattern of a matcher.
    is_matcher: bool,
    test: Test,
}

#[derive(Clone)]
enum Test {
    Event(Arc<dyn Fn(&Event) -> bool + Send + Sync>),
    All(Arc<[Condition]>),
}

impl Condition {
    /// Creates a condition with the text that the user wrote.
    pub fn new(text: impl Into<String>, holds: impl Fn(&Event) -> bool + Send + Sync + 'static) -> Self {
        Self { text: text.into(), is_matcher: false, test: Test::Event(Arc::new(holds)) }
    }

    /// Creates a condition for a matcher that an agent compares with something else than the subject.
    pub fn matcher(pattern: impl Into<String>, holds: impl Fn(&Event) -> bool + Send + Sync + 'static) -> Self {
        Self { is_matcher: true, ..Self::new(pattern, holds) }
    }

    /// Creates a condition that holds if all of these hold.
    pub fn all(conditions: Vec<Self>) -> Self {
        let text = conditions.iter().map(Self::text).collect::<Vec<_>>().join(" and ");
        Self { text, is_matcher: false, test: Test::All(conditions.into()) }
    }

    /// Returns the text that the user wrote.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// `true` if the condition holds for this event, or panics. A guard that runs too often is safer than one that does not
    /// run.
    pub fn holds(&self, event: &Event) -> bool {
        match &self.test {
            Test::Event(holds) => catch_panic(|| holds(event)).unwrap_or(true),
            Test::All(conditions) => conditions.iter().all(|one| one.holds(event)),
        }
    }

    /// Returns the first part that does not hold.
    pub(crate) fn failing(&self, event: &Event) -> Option<&Self> {
        match &self.test {
            Test::Event(_) => {
                if self.holds(event) {
                    None
                } else {
                    Some(self)
                }
            }
            Test::All(conditions) => conditions.iter().find_map(|one| one.failing(event)),
        }
    }

    /// `true` if the text is the pattern of a matcher.
    pub(crate) fn is_matcher(&self) -> bool {
        self.is_matcher
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Condition({:?})", self.text)
    }
}
