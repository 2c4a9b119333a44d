//! The layout of hook files that Claude Code introduced: `hooks → event → group → hooks`.
//!
//! Many agents use it with other keys. Each of them has a [`HookFileLayout`], which decodes and encodes its files.

mod attribute;
mod encode;
mod rule;
mod sandbox;

use std::time::Duration;

use checkrein_core::{EventKind, FailurePolicy, HookState, Matcher, closest_match};

pub(super) use attribute::own_name;
pub use attribute::{Attribute, HookKey, TimeUnit};
pub(crate) use encode::{lost_attributes, unwritable, written_matcher};
pub use rule::RuleKey;
pub(super) use rule::{json, values};
pub use sandbox::{SANDBOX_KEYS, STRICT, SandboxKey, UNLIMITED};

use super::decoder::{Misspelling, current_key, value_of};
use super::{Decoder, Include};
use crate::spec::{HandlerSpec, HookSpec};
use crate::table::Dialect;
use checkrein_document::{Member, Node, Span};

/// Keys of an entry of `include`.
pub const INCLUDE_KEYS: &[&str] = &["dialect", "path", "on_failure", "dry_run", "env_allow", "under_own_agent"];

/// Reads a failure policy. `None` if it is invalid, which is reported.
pub(super) fn failure_policy(decoder: &mut Decoder<'_>, node: &Node<'_>, name: &str) -> Option<FailurePolicy> {
    attribute::effect(decoder, node, name, attribute::EFFECTS).ok()
}

/// Variant of the layout that Claude Code introduced, as one dialect uses it. A group has a matcher and a list of hooks.
#[derive(Debug, Clone, Copy)]
pub struct HookFileLayout {
    /// Path of the object with the events. Dots lead into objects.
    pub root: &'static str,
    /// Known keys beside the first part of `root`. `None`: the file is a program's settings file with other keys too.
    pub file_keys: Option<&'static [&'static str]>,
    /// Keys of a hook.
    pub keys: &'static [HookKey],
    /// Kinds of handlers, by their names in `type`.
    pub handlers: &'static [HandlerRow],
    /// `true` if `type` is optional and follows from the other keys.
    pub infers_type: bool,
    /// `true` if hooks may be in one list, each with its `events`.
    pub flat: bool,
    /// `true` if the list of an event may contain hooks with their own matchers instead of groups.
    pub direct: bool,
    /// Keys of a group that apply to each of its hooks.
    pub group: &'static [HookKey],
    /// Keys of the object with the events that are not events.
    pub beside: &'static [&'static str],
    /// Other dialect whose events a file may contain too. Hooks at these events have that dialect.
    pub sibling: Option<&'static Dialect>,
    /// Shortest and longest timeout. Other values are errors.
    pub timeout_range: Option<(Duration, Duration)>,
    /// Other names of events in files, each with the dialect's own name.
    pub names: &'static [(&'static str, &'static str)],
    /// `true` if names of events are compared without letter case and `_`.
    pub loose_names: bool,
    /// `true` if the events may be at the top level of a file without `root`.
    pub bare: bool,
    /// Members that a file needs besides its hooks, with their values as JSON.
    pub head: &'static [(&'static str, &'static str)],
}

/// A kind of handler.
#[derive(Debug, Clone, Copy)]
pub struct HandlerRow {
    /// Value of `type`.
    pub name: &'static str,
    /// Kind in the registry.
    pub kind: &'static str,
    /// Required keys.
    pub needs: &'static [&'static str],
    /// Events that support it. Empty: all.
    pub at: &'static [EventKind],
    /// `true` if files may contain such hooks, and the agent does not run them.
    pub inert: bool,
}

impl HandlerRow {
    /// A kind of handler that all events support.
    pub const fn new(name: &'static str, kind: &'static str, needs: &'static [&'static str]) -> Self {
        Self { name, kind, needs, at: &[], inert: false }
    }

    /// Marks a handler that the agent does not run.
    #[must_use]
    pub const fn inert(mut self) -> Self {
        self.inert = true;
        self
    }

    /// Limits the handler to these events.
    #[must_use]
    pub const fn at(mut self, at: &'static [EventKind]) -> Self {
        self.at = at;
        self
    }
}

impl HookFileLayout {
    /// Default layout: groups under `hooks` in a program's settings file, whose hooks have a `type`.
    pub const USUAL: Self = Self {
        root: "hooks",
        file_keys: None,
        keys: &[],
        handlers: &[],
        infers_type: false,
        flat: false,
        direct: false,
        group: &[],
        beside: &[],
        sibling: None,
        timeout_range: None,
        names: &[],
        loose_names: false,
        bare: false,
        head: &[],
    };

    /// Reads a file.
    pub fn decode(&self, decoder: &mut Decoder<'_>, root: &Node<'_>) {
        let Ok(members) = decoder.object(root, "the file") else {
            let place = decoder.place(root.span);
            decoder.unreadable("the top level of the file is not an object", place);
            return;
        };
        if let Some(known) = self.file_keys {
            let first = self.root.split('.').next().unwrap_or(self.root);
            decoder.check_keys(members, &[&[first], known].concat());
        }
        self.settings(decoder, members);
        self.decode_hooks(decoder, root);
        // After the settings, because `dry_run` applies to the rules of packs too.
        if self.flat
            && let Some(packs) = root.get("packs").filter(|packs| !packs.is_null())
        {
            super::packs::read(self, decoder, packs);
        }
    }

    /// Reads the hooks of a file, without its settings.
    pub(super) fn decode_hooks(&self, decoder: &mut Decoder<'_>, root: &Node<'_>) {
        let members = root.as_object().unwrap_or_default();
        let Some(events) = self.root.split('.').try_fold(root, |node, key| node.get(key)) else {
            if self.bare {
                return self.bare_events(decoder, members);
            }
            return decoder.misplaced(members, self.root.split('.').next().unwrap_or(self.root));
        };
        // A YAML key whose entries are all comments.
        if events.is_null() {
            return;
        }
        match events.as_array() {
            Some(entries) if self.flat => {
                for (at, entry) in entries.iter().enumerate() {
                    self.flat_entry(decoder, entry, at);
                }
            }
            _ => self.decode_events(decoder, events, self.root),
        }
    }

    /// Reads an object with events. `name` is its key.
    pub(crate) fn decode_events(&self, decoder: &mut Decoder<'_>, events: &Node<'_>, name: &str) {
        let Ok(members) = decoder.object(events, name) else {
            let place = decoder.place(events.span);
            decoder.unreadable(&format!("`{name}` is not an object"), place);
            return;
        };
        for event in members.iter().filter(|event| !self.beside.contains(&&*event.key)) {
            self.event(decoder, event);
        }
    }

    /// Reads events at the top level of a file. Other keys are settings, or misspelt events.
    fn bare_events(&self, decoder: &mut Decoder<'_>, members: &[Member<'_>]) {
        let first = self.root.split('.').next().unwrap_or(self.root);
        for member in members.iter().filter(|member| !self.beside.contains(&&*member.key)) {
            let is_event = decoder.dialect().kind_of(self.own_name(decoder, &member.key)).is_ok();
            let is_misspelt = member.value.as_array().is_some()
                && closest_match(&member.key, decoder.dialect().events.iter().map(|row| row.name)).is_some();
            if is_event || is_misspelt {
                self.event(decoder, member);
            } else if closest_match(&member.key, [first]).is_some() {
                decoder.misplaced(std::slice::from_ref(member), first);
            }
        }
    }

    fn event(&self, decoder: &mut Decoder<'_>, event: &Member<'_>) {
        let is_own = decoder.dialect().kind_of(&event.key).is_ok();
        match self.sibling.filter(|sibling| !is_own && sibling.kind_of(&event.key).is_ok()) {
            Some(sibling) => decoder.with_dialect(sibling, |decoder| self.own_event(decoder, event)),
            None => self.own_event(decoder, event),
        }
    }

    fn own_event(&self, decoder: &mut Decoder<'_>, event: &Member<'_>) {
        let kind = match decoder.event_or_misspelling(self.own_name(decoder, &event.key), event.key_span) {
            Ok(kind) => kind,
            Err(Some(misspelt)) => return self.misspelt_event(decoder, event, &misspelt),
            Err(None) => return,
        };
        if event.value.is_null() || !decoder.wants(&kind) {
            return;
        }
        let groups = match (event.value.as_array(), event.value.as_object()) {
            (Some(groups), _) => groups,
            // A single group instead of a list is accepted.
            (None, Some(_)) if self.flat => std::slice::from_ref(&event.value),
            _ => {
                let why = decoder.wrong_type(&event.value, &event.key, "an array");
                decoder.broken(event.key.clone(), &kind, None, event.value.span, &why);
                return;
            }
        };
        for (at, group) in groups.iter().enumerate() {
            let id = format!("{}[{at}]", event.key);
            if let Err((why, span)) = self.group(decoder, group, &kind, &id) {
                let matcher = decoder.matcher_of(group, &kind);
                decoder.broken(id, &kind, matcher, span, &why);
            }
        }
    }

    /// Adds a broken hook for each hook of a misspelt event, or one for all if they cannot be read.
    fn misspelt_event(&self, decoder: &mut Decoder<'_>, event: &Member<'_>, misspelt: &Misspelling) {
        let Misspelling { meant, why } = misspelt;
        let mut hooks = Vec::new();
        for (at, group) in event.value.as_array().unwrap_or_default().iter().enumerate() {
            let id = format!("{}[{at}]", event.key);
            match group.get("hooks").map(|hooks| hooks.as_array().unwrap_or_default()) {
                Some(inner) => {
                    hooks.extend(inner.iter().enumerate().map(|(n, hook)| (group, hook, format!("{id}.hooks[{n}]"))));
                }
                None => hooks.push((group, group, id)),
            }
        }
        if hooks.is_empty() {
            decoder.broken(event.key.clone(), meant, None, event.key_span, why);
        }
        for (group, hook, id) in hooks {
            let (id, matcher) = (self.name_of(hook).unwrap_or(&id), decoder.matcher_of(group, meant));
            let dry_run = self.is_dry_run(decoder, hook);
            decoder.with_dry_run(dry_run, |decoder| decoder.broken(id, meant, matcher, event.key_span, why));
        }
    }

    /// `true` if an entry is a rule.
    fn is_rule(&self, entry: &Node<'_>) -> bool {
        let when = self.keys.iter().find(|key| key.says == Attribute::OfRule(RuleKey::When));
        when.is_some_and(|key| entry.get(key.name).is_some())
    }

    /// `true` for a rule that has notes for the model or the user only, so that it cannot guard anything.
    fn is_note(&self, entry: &Node<'_>) -> bool {
        let has = |is: &dyn Fn(RuleKey) -> bool| {
            self.keys.iter().any(|key| match key.says {
                Attribute::OfRule(own) => is(own) && entry.get(key.name).is_some(),
                _ => false,
            })
        };
        let members = entry.as_object().unwrap_or_default();
        let is_known = |name: &str| name == "event" || name == "events" || self.keys.iter().any(|key| key.name == name);
        self.is_rule(entry)
            // A misspelt key could be a decision.
            && members.iter().all(|member| is_known(&member.key))
            && has(&|key| matches!(key, RuleKey::Context | RuleKey::Message))
            && !has(&|key| matches!(key, RuleKey::Decision(_) | RuleKey::Rewrite | RuleKey::Label))
    }

    /// `true` for an entry with a decision of a rule, and neither a condition nor another handler.
    fn lacks_condition(&self, entry: &Node<'_>) -> bool {
        let is_decision = |key: &HookKey| matches!(key.says, Attribute::OfRule(RuleKey::Decision(_)));
        let has_handler = self
            .handlers
            .iter()
            .any(|row| !row.needs.is_empty() && row.needs.iter().all(|key| entry.get(key).is_some()));
        !has_handler
            && entry.get("type").is_none()
            && self.keys.iter().any(|key| is_decision(key) && entry.get(key.name).is_some())
    }

    /// Name of a hook, if it has one.
    fn name_of<'n>(&self, hook: &'n Node<'_>) -> Option<&'n str> {
        let key = self.keys.iter().find(|key| matches!(key.says, Attribute::Id))?;
        hook.get(key.name)?.as_str().filter(|name| !name.is_empty())
    }

    /// Returns the dialect's own name for an event, which may have another name in the file.
    fn own_name<'n>(&self, decoder: &Decoder<'_>, name: &'n str) -> &'n str {
        let plain = |name: &str| name.replace('_', "").to_ascii_lowercase();
        let other = || self.names.iter().find(|(other, _)| *other == name).map(|(_, own)| *own);
        let loose = || {
            let mut rows = decoder.dialect().events.iter().filter(|_| self.loose_names);
            rows.find(|row| plain(row.name) == plain(name)).map(|row| row.name)
        };
        other().or_else(loose).unwrap_or(name)
    }

    fn group(
        &self,
        decoder: &mut Decoder<'_>,
        group: &Node<'_>,
        kind: &EventKind,
        id: &str,
    ) -> Result<(), (String, Span)> {
        let members = decoder.object(group, id).map_err(|why| (why, group.span))?;
        let is_hook = (self.flat || self.direct) && group.get("hooks").is_none();
        if is_hook {
            self.hook(decoder, group, std::slice::from_ref(kind), None, id);
            return Ok(());
        }
        let keys: Vec<_> = ["matcher", "hooks"].into_iter().chain(self.group.iter().map(|key| key.name)).collect();
        decoder.check_keys(members, &keys);
        let matcher = decoder.matcher(group.get("matcher"), kind).map_err(|why| (why, group.span))?;
        let Some(hooks) = group.get("hooks") else {
            let why = "this group has no `hooks`; add a list of hooks".to_owned();
            decoder.error("missing-key", group.span, why.clone());
            return Err((why, group.span));
        };
        let hooks = decoder.array(hooks, "hooks").map_err(|why| (why, hooks.span))?;
        if !decoder.wants_matcher(kind, &matcher) {
            return Ok(());
        }
        if hooks.is_empty() {
            decoder.warning("no-hooks", group.span, "`hooks` of this group is empty");
        }
        for (at, hook) in hooks.iter().enumerate() {
            let id = format!("{id}.hooks[{at}]");
            let read = self.read_hook(decoder, hook, std::slice::from_ref(kind), Some(&matcher), &id);
            let read = read.and_then(|mut spec| {
                for key in self.group {
                    if let Some(value) = group.get(key.name) {
                        key.read(self, decoder, value, &mut spec)?;
                    }
                }
                Ok(spec)
            });
            match read {
                Ok(spec) => decoder.push(spec),
                Err(why) => {
                    let (dry_run, matcher) = (self.is_dry_run(decoder, hook), Some(matcher.clone()));
                    decoder.with_dry_run(dry_run, |decoder| decoder.broken(id, kind, matcher, hook.span, &why));
                }
            }
        }
        Ok(())
    }

    /// Reads a hook in a list, which has its own `events`.
    fn flat_entry(&self, decoder: &mut Decoder<'_>, entry: &Node<'_>, at: usize) {
        let id = format!("hooks[{at}]");
        if let Err(why) = decoder.object(entry, &id) {
            decoder.broken_somewhere(id, entry.span, &why);
            return;
        }
        let names = match (entry.get("events"), entry.get("event")) {
            (Some(events), _) | (None, Some(events)) if events.as_str().is_none() => {
                match decoder.array(events, "events") {
                    Ok(names) => names.iter().collect(),
                    Err(why) => {
                        decoder.broken_somewhere(id, entry.span, &why);
                        return;
                    }
                }
            }
            (Some(event), _) | (None, Some(event)) => vec![event],
            // Rules are for tool calls by default.
            (None, None) if self.is_rule(entry) || self.lacks_condition(entry) => {
                if decoder.wants(&EventKind::PreToolUse) {
                    self.hook(decoder, entry, &[EventKind::PreToolUse], None, &id);
                }
                return;
            }
            (None, None) => {
                let why = "this hook has no `events`; add the events that it runs for";
                decoder.error("missing-key", entry.span, why);
                decoder.broken_somewhere(id, entry.span, why);
                return;
            }
        };
        let mut kinds = Vec::new();
        for name in names {
            if let Ok(text) = decoder.text(name, "events") {
                match decoder.event_or_misspelling(&text, name.span) {
                    Ok(kind) if decoder.wants(&kind) => kinds.push(kind),
                    Ok(_) | Err(None) => {}
                    Err(Some(Misspelling { meant, why })) => {
                        let (id, matcher) = (self.name_of(entry).unwrap_or(&id), decoder.matcher_of(entry, &meant));
                        let dry_run = self.is_dry_run(decoder, entry);
                        decoder.with_dry_run(dry_run, |decoder| decoder.broken(id, &meant, matcher, name.span, &why));
                    }
                }
            }
        }
        // A hook for events with and without matchers becomes two hooks.
        let (matched, others): (Vec<_>, Vec<_>) =
            kinds.into_iter().partition(|kind| decoder.dialect().is_matched(kind));
        for kinds in [matched, others].iter().filter(|kinds| !kinds.is_empty()) {
            self.hook(decoder, entry, kinds, None, &id);
        }
    }

    fn hook(
        &self,
        decoder: &mut Decoder<'_>,
        hook: &Node<'_>,
        kinds: &[EventKind],
        matcher: Option<&Matcher>,
        id: &str,
    ) {
        match self.read_hook(decoder, hook, kinds, matcher, id) {
            Ok(spec) => decoder.push(spec),
            Err(why) => {
                // Diagnostics show the name of the hook, if it has one.
                let id = self.name_of(hook).unwrap_or(id);
                if self.is_note(hook) {
                    decoder.error("not-loaded", hook.span, "this rule cannot be loaded").help =
                        Some("fix or remove it".to_owned());
                    return;
                }
                let dry_run = self.is_dry_run(decoder, hook);
                for kind in kinds {
                    let matcher = matcher.cloned().or_else(|| decoder.matcher_of(hook, kind));
                    decoder.with_dry_run(dry_run, |decoder| decoder.broken(id, kind, matcher, hook.span, &why));
                }
            }
        }
    }

    /// `true` if a hook that cannot be loaded is a dry run.
    fn is_dry_run(&self, decoder: &Decoder<'_>, hook: &Node<'_>) -> bool {
        let key = self.keys.iter().find(|key| key.says == Attribute::DryRun);
        match key.and_then(|key| value_of(hook, key.name)) {
            Some(value) => value.as_bool() == Some(true),
            None => decoder.settings.dry_run,
        }
    }

    /// Reads a hook for these events.
    ///
    /// # Errors
    /// The reason why it cannot be loaded, which is already reported.
    pub(crate) fn read_hook(
        &self,
        decoder: &mut Decoder<'_>,
        hook: &Node<'_>,
        kinds: &[EventKind],
        matcher: Option<&Matcher>,
        id: &str,
    ) -> Result<HookSpec, String> {
        let members = decoder.object(hook, id)?;
        let first = kinds.first().cloned().unwrap_or(EventKind::PreToolUse);
        let handler = self.handler(decoder, hook, kinds)?;
        let mut spec = decoder.start(id, first, handler, hook.span);
        spec.kinds = kinds.to_vec();
        spec.background = spec.is_http() && decoder.dialect().http.in_background;
        if let Some(matcher) = matcher {
            spec.matcher = matcher.clone();
        } else if let Some(kind) = kinds.first() {
            spec.matcher = decoder.matcher(hook.get("matcher"), kind)?;
        }
        let own = |key: &str| match key {
            "matcher" => self.flat || (self.direct && matcher.is_none()),
            "event" | "events" => self.flat,
            _ => false,
        };
        for member in members.iter().filter(|member| !own(&member.key)) {
            match self.keys.iter().find(|key| key.name == member.key) {
                Some(key) => key.read(self, decoder, &member.value, &mut spec)?,
                None => {
                    let known: Vec<_> = self.keys.iter().map(|key| key.name).collect();
                    decoder.check_keys(std::slice::from_ref(member), &known);
                    let current = current_key(&member.key, &known).filter(|current| hook.get(current).is_none());
                    if let Some(key) = self.keys.iter().find(|key| Some(key.name) == current) {
                        key.read(self, decoder, &member.value, &mut spec)?;
                    }
                }
            }
        }
        let gate = kinds.iter().any(|kind| decoder.dialect().is_gate(kind));
        if gate && spec.is_http() && !decoder.dialect().http.decides {
            let text = format!("{} ignores HTTP responses, so this hook cannot block", decoder.dialect().name);
            decoder.warning("cannot-decide", hook.span, text);
        } else if gate && spec.background {
            let text = "this hook runs in the background, so it cannot block";
            decoder.warning("background-gate", hook.span, text).help =
                Some("remove `async` if it must block".to_owned());
        }
        if let HandlerSpec::Command(command) = &spec.handler {
            let key = self.keys.iter().filter(|key| matches!(key.says, Attribute::Command | Attribute::ShellCommand));
            let written = key.filter_map(|key| hook.get(key.name)).next();
            decoder.check_command(command, written.map_or(hook.span, |node| node.span))?;
        }
        if let HandlerSpec::Rule(own) = &spec.handler {
            rule::check(decoder, own, hook.span)?;
        }
        Ok(spec)
    }

    fn handler(&self, decoder: &mut Decoder<'_>, hook: &Node<'_>, kinds: &[EventKind]) -> Result<HandlerSpec, String> {
        let has = |row: &&HandlerRow| row.needs.iter().all(|key| hook.get(key).is_some());
        let has_values =
            |row: &&HandlerRow| has(row) && !row.needs.iter().any(|key| hook.get(key).is_some_and(Node::is_null));
        let row = match hook.get("type") {
            Some(node) => {
                let name = decoder.text(node, "type")?;
                let found = self.handlers.iter().find(|row| row.name.eq_ignore_ascii_case(&name));
                match found {
                    Some(row) => row,
                    None => {
                        let known: Vec<_> = self.handlers.iter().map(|row| row.name).collect();
                        decoder.unknown("unknown-handler", node.span, "hook type", &name, &known);
                        return Err(format!("unknown hook type `{name}`"));
                    }
                }
            }
            None if self.infers_type && self.handlers.iter().any(|row| has(&row)) => {
                self.handlers.iter().find(has_values).or_else(|| self.handlers.iter().find(has)).ok_or("no type")?
            }
            None if self.lacks_condition(hook) => {
                let why = "this rule has no `when`".to_owned();
                decoder.error("missing-key", hook.span, why.clone()).help =
                    Some("add its condition; `when: true` applies to every event".to_owned());
                return Err(why);
            }
            None => {
                let why = "this hook has no `type`".to_owned();
                let known: Vec<_> = self.handlers.iter().map(|row| row.name).collect();
                decoder.error("missing-key", hook.span, why.clone()).help =
                    Some(format!("use one of: {}", known.join(", ")));
                return Err(why);
            }
        };
        for key in row.needs {
            let is_blank = |node: &Node<'_>| node.is_null() || node.as_str().is_some_and(|text| text.trim().is_empty());
            if hook.get(key).is_none_or(is_blank) {
                let why = format!("this `{}` hook has no `{key}`", row.name);
                let span = hook.get(key).map_or(hook.span, |node| node.span);
                decoder.error("missing-key", span, why.clone());
                return Err(why);
            }
        }
        if !row.at.is_empty()
            && let Some(kind) = kinds.iter().find(|kind| !row.at.contains(kind))
        {
            let name = decoder.dialect().name_of(kind).unwrap_or(kind.name()).to_owned();
            let why = format!("`{}` hooks do not run at `{name}`; use another type or event", row.name);
            let span = hook.get("type").map_or(hook.span, |node| node.span);
            decoder.error("handler-not-here", span, why.clone());
            return Err(why);
        }
        Ok(attribute::empty_handler(row.kind))
    }

    /// Reads the settings that apply to other hooks or files.
    fn settings(&self, decoder: &mut Decoder<'_>, members: &[Member<'_>]) {
        for member in members {
            let node = &member.value;
            let current = current_key(&member.key, self.file_keys.unwrap_or_default());
            if current.is_some_and(|current| members.iter().any(|other| other.key == current)) {
                continue;
            }
            let key = current.unwrap_or(&member.key);
            let is_ours = self.file_keys.is_some_and(|keys| keys.contains(&key));
            if is_ours || self.file_keys.is_none() && crate::config::prefilter::SETTINGS.contains(&key) {
                let line = decoder.place(member.key_span).line;
                decoder.settings.lines.push((key.to_owned(), line));
            }
            match key {
                "disableAllHooks" => decoder.settings.disable_all = decoder.flag(node, &member.key).ok(),
                // An invalid value has the stricter meaning.
                "allowManagedHooksOnly" => {
                    decoder.settings.managed_only = Some(decoder.flag(node, &member.key).unwrap_or(true));
                }
                "allowedHttpHookUrls" => {
                    decoder.settings.http_urls = Some(decoder.texts(node, &member.key).unwrap_or_default());
                }
                "httpHookAllowedEnvVars" => {
                    decoder.settings.http_env = Some(decoder.texts(node, &member.key).unwrap_or_default());
                }
                "compat" if self.flat => {
                    decoder.settings.exact = match decoder.text(node, "compat").as_deref() {
                        Ok("exact") => Some(true),
                        Ok("safe") => Some(false),
                        Ok(other) => {
                            decoder.unknown("unknown-value", node.span, "value", other, &["safe", "exact"]);
                            None
                        }
                        Err(_) => None,
                    };
                }
                "allow_skip" if self.flat => {
                    decoder.settings.allow_skip = Some(decoder.flag(node, &member.key).unwrap_or(false));
                }
                "unguarded_subagents" if self.flat => {
                    decoder.settings.unguarded_subagents = match decoder.text(node, &member.key).as_deref() {
                        Ok("allow") => Some(true),
                        Ok("ask") => Some(false),
                        Ok(other) => {
                            decoder.unknown("unknown-value", node.span, "value", other, &["ask", "allow"]);
                            None
                        }
                        Err(_) => None,
                    };
                }
                "deny_by_command" if self.flat => {
                    decoder.settings.deny_by_command = Some(decoder.flag(node, &member.key).unwrap_or(true));
                }
                "approvals" if self.flat => {
                    decoder.settings.approvals_wait = match decoder.text(node, &member.key).as_deref() {
                        Ok("wait") => Some(true),
                        Ok("deny") => Some(false),
                        Ok(other) => {
                            decoder.unknown("unknown-value", node.span, "value", other, &["deny", "wait"]);
                            None
                        }
                        Err(_) => None,
                    };
                }
                "restrict" if self.flat => decoder.settings.restrict = Some(super::restrict::read(decoder, node)),
                // An invalid value has the stricter meaning.
                "protect_self" if self.flat => {
                    decoder.settings.protect_self = Some(decoder.flag(node, &member.key).unwrap_or(true));
                }
                "env_allow" if self.flat => {
                    decoder.settings.env_allow = Some(decoder.texts(node, &member.key).unwrap_or_default());
                }
                "warm" if self.flat => decoder.settings.warm = decoder.warm(node, &member.key).ok(),
                // An invalid value leaves the hooks in force.
                "dry_run" if self.flat => decoder.settings.dry_run = decoder.flag(node, &member.key).unwrap_or(false),
                "trusted_paths" if self.flat => {
                    decoder.settings.trusted_paths = Some(decoder.texts(node, &member.key).unwrap_or_default());
                }
                "trusted_keys" if self.flat => {
                    decoder.settings.trusted_keys = Some(trusted_keys(decoder, node));
                }
                "disable" if self.flat => {
                    decoder.settings.disable = decoder.texts(node, &member.key).unwrap_or_default();
                }
                "override" if self.flat => decoder.settings.overrides = super::overrides::read(decoder, node),
                // An invalid value leaves the log on.
                "log" if self.flat => decoder.settings.log = Some(decoder.flag(node, &member.key).unwrap_or(true)),
                "approval_webhook" if self.flat => {
                    decoder.settings.approval_webhook = webhook(decoder, node);
                }
                "resident" if self.flat => {
                    decoder.settings.resident = Some(decoder.flag(node, &member.key).unwrap_or(false));
                }
                "audit" if self.flat => decoder.settings.audit = super::audit::read(decoder, node),
                "include" if self.flat => self.includes(decoder, node),
                _ => {}
            }
        }
    }

    fn includes(&self, decoder: &mut Decoder<'_>, node: &Node<'_>) {
        let items = node.as_array().unwrap_or(std::slice::from_ref(node));
        for item in items {
            let name = match item.as_str() {
                Some(name) => Some((name.to_owned(), item.span)),
                None => match decoder.object(item, "include") {
                    Ok(members) => {
                        decoder.check_keys(members, INCLUDE_KEYS);
                        let is_known =
                            |key: &str| INCLUDE_KEYS.contains(&key) || current_key(key, INCLUDE_KEYS).is_some();
                        if members.iter().any(|member| !is_known(&member.key)) {
                            decoder.broken_somewhere("include", item.span, "the include has an unknown key");
                            continue;
                        }
                        let dialect = item.get("dialect");
                        if dialect.is_none() {
                            let why = "this include has no `dialect`; add the agent whose files to include";
                            decoder.error("missing-key", item.span, why);
                            decoder.broken_somewhere("include", item.span, why);
                        }
                        dialect.and_then(|node| Some((decoder.text(node, "dialect").ok()?, node.span)))
                    }
                    Err(why) => {
                        decoder.broken_somewhere("include", item.span, &why);
                        None
                    }
                },
            };
            let Some((name, span)) = name else { continue };
            let Some(dialect) = decoder.options().find_dialect(&name) else {
                let known: Vec<_> = decoder.options().known_dialects().map(|dialect| dialect.name).collect();
                decoder.unknown("unknown-dialect", span, "dialect", &name, &known);
                decoder.broken_somewhere("include", span, &format!("unknown dialect `{name}`"));
                continue;
            };
            if !dialect.config.format.is_known() {
                let why = format!("checkrein cannot read files of `{name}` yet");
                decoder.error("no-files", span, why.clone());
                decoder.broken_somewhere("include", span, &why);
                continue;
            }
            let path = item.get("path").map(|node| decoder.text(node, "path")).transpose();
            let on_failure = item
                .get("on_failure")
                .map(|node| attribute::effect(decoder, node, "on_failure", attribute::EFFECTS))
                .transpose();
            let flag = |decoder: &mut Decoder<'_>, key: &str| -> Result<bool, String> {
                value_of(item, key).map_or(Ok(false), |node| decoder.flag(node, key))
            };
            let flags = flag(decoder, "dry_run").and_then(|dry_run| Ok((dry_run, flag(decoder, "under_own_agent")?)));
            // An invalid list passes no variables on.
            let env_allow = item.get("env_allow").and_then(|node| decoder.texts(node, "env_allow").ok());
            let env_allow = env_allow.unwrap_or_default();
            let (path, on_failure, (dry_run, under_own_agent)) = match (path, on_failure, flags) {
                (Ok(path), Ok(on_failure), Ok(flags)) => (path, on_failure, flags),
                (Err(why), ..) | (_, Err(why), _) | (.., Err(why)) => {
                    decoder.broken_somewhere("include", item.span, &why);
                    continue;
                }
            };
            let dialect = dialect.name;
            let include = Include { dialect, path, on_failure, dry_run, env_allow, under_own_agent };
            decoder.settings.includes.push(include);
        }
    }
}

/// Start of the encoded part of every Ed25519 key: the name of the algorithm and the length of the key.
const ED25519: &str = "AAAAC3NzaC1lZDI1NTE5AAAAI";

/// Number of characters of the encoded part of an Ed25519 key.
const ED25519_LENGTH: usize = 68;

/// Reads public keys, and reports those that no signature can match.
fn trusted_keys(decoder: &mut Decoder<'_>, node: &Node<'_>) -> Vec<String> {
    let is_key = |line: &str| {
        let mut words = line.split_whitespace();
        let is_encoded = |word: &str| {
            word.len() == ED25519_LENGTH
                && word.starts_with(ED25519)
                && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
        };
        words.next() == Some("ssh-ed25519") && words.next().is_some_and(is_encoded)
    };
    for item in node.as_array().unwrap_or_default() {
        if item.as_str().is_some_and(|line| !is_key(line)) {
            let text = "this is not an Ed25519 public key, so it approves nothing";
            decoder.error("bad-key", item.span, text).help =
                Some("copy the line of the `.pub` file: `ssh-ed25519 AAAA… NAME`".to_owned());
        }
    }
    decoder.texts(node, "trusted_keys").unwrap_or_default()
}

/// Disables a hook unless `enabled`.
pub(super) fn set_enabled(spec: &mut HookSpec, enabled: bool) {
    if !enabled {
        spec.state = HookState::Disabled;
    }
}

/// Keys of `approval_webhook`.
const WEBHOOK_KEYS: &[&str] = &["url", "secret", "secret_file", "ca_file", "allowedEnvVars"];

/// Reads `approval_webhook`. An invalid one has no effect: questions then wait at the other places.
fn webhook(decoder: &mut Decoder<'_>, node: &Node<'_>) -> Option<super::WebhookSettings> {
    let members = decoder.object(node, "approval_webhook").ok()?;
    decoder.check_keys(members, WEBHOOK_KEYS);
    let mut settings = super::WebhookSettings::default();
    for member in members {
        let node = &member.value;
        match &*member.key {
            "url" => settings.url = decoder.text(node, "url").ok()?,
            "secret" => settings.secret = Some(decoder.text(node, "secret").ok()?),
            "secret_file" => settings.secret_file = Some(decoder.text(node, "secret_file").ok()?),
            "ca_file" => settings.ca_file = Some(decoder.text(node, "ca_file").ok()?),
            "allowedEnvVars" => settings.env = decoder.texts(node, "allowedEnvVars").ok()?,
            _ => {}
        }
    }
    if settings.url.is_empty() {
        decoder.error("bad-url", node.span, "`approval_webhook` needs a `url`");
        return None;
    }
    if !settings.url.starts_with("https://") && !settings.url.starts_with("http://") {
        decoder.error("bad-url", node.span, "the `url` of `approval_webhook` must start with `https://` or `http://`");
        return None;
    }
    Some(settings)
}
