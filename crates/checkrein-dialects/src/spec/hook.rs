//! One hook as it is configured: events, matcher, handler, limits and failure policy.
//!
//! Readers of hook files and hosts build a [`HookSpec`]; the engine loads it. Nothing here runs a hook.

use std::sync::Arc;
use std::time::Duration;

use checkrein_core::property::Properties;
use checkrein_core::{
    Condition, EventKind, FailureKind, FailurePolicy, HookInfo, HookSelector, HookState, Matcher, Source,
};

use super::handler::text_of;
use super::{BuiltinSpec, CommandSpec, HandlerSpec, PermissionRule, SandboxSpec};
use crate::agents::native;
use crate::table::Dialect;

/// Label of the property that names an event.
const EVENT: &str = "event";
/// Label of the property that is the matcher.
const MATCHER: &str = "matcher";

/// One hook as it is configured.
///
/// ```
/// use std::time::Duration;
/// use checkrein_core::{FailurePolicy, EventKind, Matcher};
/// use checkrein_dialects::HookSpec;
///
/// let guard = HookSpec::shell("guard", EventKind::PreToolUse, "./guard.sh --strict")
///     .matching(Matcher::names(["Bash"]))
///     .timeout(Duration::from_secs(5))
///     .on_timeout(FailurePolicy::Ask);
/// assert_eq!(guard.info.id, "guard");
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HookSpec {
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
    /// Key that identical hooks share. Of those with the same key only one runs. `None`: the hook has no duplicates.
    pub identity: Option<String>,
    /// Handler.
    pub handler: HandlerSpec,
    /// Timeout. `None`: the default of its dialect for the kind of event.
    pub timeout: Option<Duration>,
    /// `true` if the hook runs in the background. It then cannot decide anything.
    pub background: bool,
    /// `true` if the hook runs only once in each session. A failed run is repeated.
    pub once: bool,
    /// Dialect: payload, reading of replies and failure policy.
    pub dialect: &'static Dialect,
    /// `true` if invalid replies fail, even if its dialect ignores them.
    pub strict: bool,
    /// `true` if the reply of a hook in the background wakes the agent.
    pub wake_agent: bool,
    /// Permission rule that the tool call must match.
    pub permission_rule: Option<PermissionRule>,
    /// Patterns that fields of the tool's input must match.
    pub input: Vec<InputPattern>,
    /// Status line while the hook runs.
    pub status: Option<String>,
    /// Description.
    pub description: Option<String>,
    /// Description of the setting that disabled the hook. `None`: its own entry, or the hook is enabled.
    pub disabled_by: Option<String>,
    /// Keys of its entry without effect on its handler, with their values as JSON.
    pub unknown_keys: Vec<(String, String)>,
}

/// A pattern for a field of a tool's input.
#[derive(Debug, Clone)]
pub struct InputPattern {
    /// Field. Dots lead into objects.
    pub field: String,
    /// Matcher for the value.
    pub matcher: Matcher,
}

impl HookSpec {
    /// A hook for one kind of event.
    #[track_caller]
    pub fn new(id: impl Into<String>, kind: EventKind, handler: HandlerSpec) -> Self {
        Self {
            info: Arc::new(HookInfo::new(id, Source::here())),
            kinds: vec![kind],
            matcher: Matcher::everything(),
            condition: None,
            state: HookState::Ready,
            order: 0,
            identity: None,
            handler,
            timeout: None,
            background: false,
            once: false,
            dialect: &native::DIALECT,
            strict: false,
            wake_agent: false,
            permission_rule: None,
            input: Vec::new(),
            status: None,
            description: None,
            disabled_by: None,
            unknown_keys: Vec::new(),
        }
    }

    /// Sort key of config order: managed hooks first, then by [`order`](Self::order).
    pub fn rank(&self) -> (bool, i32) {
        self.info.rank(self.order)
    }

    /// Returns the part of the hook that selection needs.
    pub fn selector(&self) -> HookSelector {
        let mut selector = HookSelector::new(Arc::clone(&self.info), self.kinds.clone());
        selector.matcher = self.matcher.clone();
        selector.condition.clone_from(&self.condition);
        selector.state = self.state.clone();
        selector.order = self.order;
        selector.identity.clone_from(&self.identity);
        selector
    }

    /// `true` if the hook is an HTTP endpoint.
    pub fn is_http(&self) -> bool {
        matches!(self.handler, HandlerSpec::Http(_))
    }

    /// `true` if the answers of the hook count: the agent waits for them, and the hook is no dry run.
    pub fn decides(&self) -> bool {
        !self.background && !self.info.dry_run
    }

    /// `true` unless the hook is a rule with notes only, which cannot keep a call from running.
    pub fn can_guard(&self) -> bool {
        match &self.handler {
            HandlerSpec::Rule(rule) => rule.can_guard(),
            _ => true,
        }
    }

    /// `true` if the hook guards events of this kind: the agent waits for its permission.
    pub fn guards(&self, kind: &EventKind) -> bool {
        self.decides() && self.dialect.is_gate(kind)
    }

    /// Returns the timeout at events of this kind.
    pub fn timeout_for(&self, kind: &EventKind) -> Duration {
        let handler = self.handler.kind().name();
        let mut in_background =
            self.dialect.time.in_background.iter().filter(|(kind, _)| self.background && *kind == handler);
        let usual = || in_background.next().map_or_else(|| self.dialect.timeout(kind, handler), |(_, time)| *time);
        let time = self.timeout.unwrap_or_else(usual);
        let of_event = self.dialect.row(kind).and_then(|row| row.timeout_cap);
        of_event.or(self.dialect.time.cap).map_or(time, |cap| time.min(cap))
    }

    /// Returns the effect of a failure of this kind at events of this kind.
    pub fn failure_effect(&self, kind: &EventKind, failure: FailureKind) -> FailurePolicy {
        let fixed = self.dialect.row(kind).and_then(|row| row.failure_policy);
        let on_timeout = if failure == FailureKind::Timeout { self.info.on_timeout } else { None };
        let own = fixed.or(on_timeout).or(self.info.on_failure);
        let effect = match own {
            Some(effect) => effect,
            None if !self.can_guard() => FailurePolicy::Open,
            None => self.dialect.failure_effect(kind, failure),
        };
        self.dialect.rules.blocks.possible_effect(effect, kind.contract())
    }

    /// Returns the sandbox of its command, if it has one.
    pub fn sandbox(&self) -> Option<&SandboxSpec> {
        match &self.handler {
            HandlerSpec::Command(command) => command.sandbox.as_ref(),
            _ => None,
        }
    }

    /// Lists all properties that its entry sets, in one form. `path` rewrites texts that can be paths: words, directories and
    /// values of variables.
    ///
    /// An approval covers these properties: after a change of any of them, the hook needs a new approval. Values can be secrets.
    pub fn properties(&self, path: &dyn Fn(&str) -> String) -> Properties {
        let Self {
            info,
            kinds,
            matcher,
            // Omitted: a host adds conditions in code. The engine builds others from `permission_rule` and `input`.
            condition: _,
            // Omitted: it reports whether the hook can run now.
            state: _,
            order,
            // Omitted: it is computed from these properties.
            identity: _,
            handler,
            timeout,
            background,
            once,
            dialect,
            strict,
            wake_agent,
            permission_rule,
            input,
            // Omitted: texts for people, without effect.
            status: _,
            description: _,
            // Omitted: it reports why the hook does not run now.
            disabled_by: _,
            unknown_keys,
        } = self;
        let mut properties = Properties::new();
        properties.add("dialect", dialect.name);
        properties.add_each(EVENT, kinds.iter().map(EventKind::name));
        if !matcher.pattern().is_empty() {
            properties.add(MATCHER, matcher.pattern());
        }
        if *order != 0 {
            properties.add("order", order.to_string());
        }
        info.list_properties(&mut properties);
        properties.add_set("if", permission_rule.as_ref());
        for InputPattern { field, matcher } in input {
            properties.add("input", format!("{field}: {}", matcher.pattern()));
        }
        handler.list_properties(path, &mut properties);
        properties.add_set("timeout", timeout.map(|timeout| format!("{} s", timeout.as_secs_f64())));
        properties.add_flag("in the background", *background);
        properties.add_flag("once in a session", *once);
        properties.add_flag("strict", *strict);
        properties.add_flag("wakes the agent", *wake_agent);
        for (name, value) in unknown_keys {
            properties.add(name, value);
        }
        properties
    }

    /// Returns a text with all properties but name, source, events and matcher. It is equal for equal hooks. It may contain
    /// secrets, so it must not be shown.
    pub fn definition(&self) -> String {
        let mut properties = self.properties(&str::to_owned).into_vec();
        properties.retain(|property| property.label != EVENT && property.label != MATCHER);
        text_of(&properties)
    }

    /// Makes the hook a dry run: it runs and is recorded, and its reply or failure has no effect.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.set_dry_run();
        self
    }

    /// Makes the hook a dry run, in place.
    pub fn set_dry_run(&mut self) {
        Arc::make_mut(&mut self.info).dry_run = true;
        if self.identity.is_some() {
            self.identity = self.dialect.config.dedup_key.identity(self);
        }
    }

    /// Sets the dialect.
    #[must_use]
    pub fn dialect(mut self, dialect: &'static Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// Runs for events of this kind too.
    #[must_use]
    pub fn also_for(mut self, kind: EventKind) -> Self {
        self.kinds.push(kind);
        self
    }

    /// Runs only if this condition is true.
    #[must_use]
    pub fn when(mut self, condition: Condition) -> Self {
        self.condition = Some(condition);
        self
    }

    /// Runs before hooks with a higher number, independent of the order in files. The default is 0.
    #[must_use]
    pub fn order(mut self, order: i32) -> Self {
        self.order = order;
        self
    }

    /// Disables the hook.
    #[must_use]
    pub fn disabled(mut self) -> Self {
        self.state = HookState::Disabled;
        self
    }

    /// A hook that runs a shell command.
    #[track_caller]
    pub fn shell(id: impl Into<String>, kind: EventKind, command: impl Into<String>) -> Self {
        Self::new(id, kind, HandlerSpec::Command(CommandSpec::shell(command)))
    }

    /// A hook that runs a program with these arguments, without a shell.
    #[track_caller]
    pub fn argv<A: Into<String>>(id: impl Into<String>, kind: EventKind, argv: impl IntoIterator<Item = A>) -> Self {
        Self::new(id, kind, HandlerSpec::Command(CommandSpec::argv(argv)))
    }

    /// A hook that calls a builtin of the registry.
    #[track_caller]
    pub fn builtin(id: impl Into<String>, kind: EventKind, name: impl Into<String>) -> Self {
        Self::new(id, kind, HandlerSpec::Builtin(BuiltinSpec { name: name.into(), args: Vec::new() }))
    }

    /// Runs only for matching subjects.
    #[must_use]
    pub fn matching(mut self, matcher: Matcher) -> Self {
        self.matcher = matcher;
        self
    }

    /// Sets the timeout.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the failure policy, which takes precedence over that of its dialect.
    #[must_use]
    pub fn on_failure(self, effect: FailurePolicy) -> Self {
        self.change_info(|info| info.on_failure = Some(effect))
    }

    /// Sets the policy at a timeout, which takes precedence over the failure policy.
    #[must_use]
    pub fn on_timeout(self, effect: FailurePolicy) -> Self {
        self.change_info(|info| info.on_timeout = Some(effect))
    }

    /// Declares that it rewrites: it runs before hooks that do not, and they see its rewrites.
    #[must_use]
    pub fn rewrites(self) -> Self {
        self.change_info(|info| info.declares_rewrites = true)
    }

    /// Declares that it never rewrites: it runs in parallel with other hooks, after all rewrites.
    #[must_use]
    pub fn without_rewrites(self) -> Self {
        self.change_info(|info| info.declares_rewrites = false)
    }

    /// Runs in the background: the host does not wait for it, and it cannot decide anything.
    #[must_use]
    pub fn in_background(mut self) -> Self {
        self.background = true;
        self
    }

    /// Runs only once in each session. A failed run is repeated.
    #[must_use]
    pub fn once(mut self) -> Self {
        self.once = true;
        self
    }

    /// Changes the command. Other handlers stay unchanged.
    #[must_use]
    pub fn command(mut self, change: impl FnOnce(CommandSpec) -> CommandSpec) -> Self {
        if let HandlerSpec::Command(command) = self.handler {
            self.handler = HandlerSpec::Command(change(command));
        }
        self
    }

    /// Sets the arguments of a builtin. Other handlers stay unchanged.
    #[must_use]
    pub fn args<A: Into<String>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        if let HandlerSpec::Builtin(builtin) = &mut self.handler {
            builtin.args = args.into_iter().map(Into::into).collect();
        }
        self
    }

    fn change_info(mut self, change: impl FnOnce(&mut HookInfo)) -> Self {
        change(Arc::make_mut(&mut self.info));
        self
    }
}
