//! The shape that Claude Code made known, `hooks → event → group → hooks`, which many agents have with other keys.

mod attribute;
mod encode;
mod sandbox;

use std::time::Duration;

use checkrein_core::{EventKind, HookState, Matcher, closest_match};

pub(super) use attribute::own_name;
pub use attribute::{Attribute, HookKey, TimeUnit};
pub(crate) use encode::{unsaid, unwritable, written_matcher};
pub use sandbox::{SANDBOX_KEYS, STRICT, SandboxKey, UNLIMITED};

use super::decoder::{current_key, value_of};
use super::{Decoder, Include};
use crate::spec::{HandlerSpec, HookSpec};
use crate::table::Dialect;
use checkrein_document::{Member, Node, Span};

/// Keys of an entry of `include`.
pub const INCLUDE_KEYS: &[&str] = &["dialect", "path", "on_failure", "dry_run", "env_allow", "under_own_agent"];

/// What is particular about one dialect's use of the shape.
#[derive(Debug, Clone, Copy)]
pub struct HookFileLayout {
    /// Where the events stand; dots lead into objects.
    pub root: &'static str,
    /// Other keys beside the first part of `root` that are known. `None`: the file is a program's settings, of which hooks
    /// are a part, and has keys of its own.
    pub file_keys: Option<&'static [&'static str]>,
    /// The keys of a hook.
    pub keys: &'static [HookKey],
    /// The kinds of handlers, by the names that `type` has for them.
    pub handlers: &'static [HandlerRow],
    /// Whether `type` may be left out, and follows from the other keys then.
    pub infers_type: bool,
    /// Whether hooks may stand in one list, each with its `events`.
    pub flat: bool,
    /// Whether a hook may stand where a group does, with a matcher of its own.
    pub direct: bool,
    /// Keys of a group besides its matcher and its hooks, which say something of each of them.
    pub group: &'static [HookKey],
    /// Keys beside the events that are none.
    pub beside: &'static [&'static str],
    /// Whose names of events may stand beside the dialect's own. Hooks there speak that dialect.
    pub sibling: Option<&'static Dialect>,
    /// The shortest and the longest time that may be asked for; what lies outside is an error.
    pub timeout_range: Option<(Duration, Duration)>,
    /// Other names that files have for events, and the dialect's own.
    pub names: &'static [(&'static str, &'static str)],
    /// Whether upper case, lower case and `_` make no difference in the names of events.
    pub loose_names: bool,
    /// Whether the events may stand in the file itself, where it has no `root`.
    pub bare: bool,
    /// Members that a file must have besides its hooks, with their values as JSON.
    pub head: &'static [(&'static str, &'static str)],
}

/// A kind of handler.
#[derive(Debug, Clone, Copy)]
pub struct HandlerRow {
    /// What `type` calls it.
    pub name: &'static str,
    /// The kind by which the registry finds it.
    pub kind: &'static str,
    /// Keys that it must have.
    pub needs: &'static [&'static str],
    /// Events at which it can be used. Empty: all.
    pub at: &'static [EventKind],
}

impl HandlerRow {
    /// A kind of handler that can be used at all events.
    pub const fn new(name: &'static str, kind: &'static str, needs: &'static [&'static str]) -> Self {
        Self { name, kind, needs, at: &[] }
    }

    /// Only at these events.
    #[must_use]
    pub const fn at(mut self, at: &'static [EventKind]) -> Self {
        self.at = at;
        self
    }
}

impl HookFileLayout {
    /// What is usual: groups under `hooks`, in a program's settings, of hooks that say their type.
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
            decoder.unreadable("it is no object", place);
            return;
        };
        if let Some(known) = self.file_keys {
            let first = self.root.split('.').next().unwrap_or(self.root);
            decoder.check_keys(members, &[&[first], known].concat());
        }
        self.settings(decoder, members);
        let Some(events) = self.root.split('.').try_fold(root, |node, key| node.get(key)) else {
            if self.bare {
                return self.bare_events(decoder, members);
            }
            decoder.misplaced(members, self.root.split('.').next().unwrap_or(self.root));
            return;
        };
        // In YAML, a key whose entries are all commented out.
        if events.is_null() {
            return;
        }
        match events.as_array() {
            Some(entries) if self.flat => {
                for (at, entry) in entries.iter().enumerate() {
                    self.flat_entry(decoder, entry, at);
                }
            }
            _ => {
                let Ok(events) = decoder.object(events, self.root) else {
                    let place = decoder.place(events.span);
                    decoder.unreadable("its hooks are no object", place);
                    return;
                };
                for event in events.iter().filter(|event| !self.beside.contains(&&*event.key)) {
                    self.event(decoder, event);
                }
            }
        }
    }

    /// A file whose events stand in it directly. What is no event may be another setting, or a slip of the pen.
    fn bare_events(&self, decoder: &mut Decoder<'_>, members: &[Member<'_>]) {
        let first = self.root.split('.').next().unwrap_or(self.root);
        for member in members.iter().filter(|member| !self.beside.contains(&&*member.key)) {
            let is_event = decoder.dialect().kind_of(self.own_name(decoder, &member.key)).is_ok();
            let is_slip = member.value.as_array().is_some()
                && closest_match(&member.key, decoder.dialect().events.iter().map(|row| row.name)).is_some();
            if is_event || is_slip {
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
        let Some(kind) = decoder.event(self.own_name(decoder, &event.key), event.key_span) else { return };
        if event.value.is_null() || !decoder.wants(&kind) {
            return;
        }
        let groups = match (event.value.as_array(), event.value.as_object()) {
            (Some(groups), _) => groups,
            // One instead of a list of one is no mistake that matters.
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

    /// The dialect's own name for an event that a file may call otherwise.
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
            let why = "a group needs `hooks`, a list of them".to_owned();
            decoder.error("missing-key", group.span, why.clone());
            return Err((why, group.span));
        };
        let hooks = decoder.array(hooks, "hooks").map_err(|why| (why, hooks.span))?;
        if !decoder.wants_matcher(kind, &matcher) {
            return Ok(());
        }
        if hooks.is_empty() {
            decoder.warning("no-hooks", group.span, "this group has no hooks");
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

    /// A hook of a list that says itself which events it is for.
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
            (None, None) => {
                let why = "a hook needs `events`, the names of those that it is for";
                decoder.error("missing-key", entry.span, why);
                decoder.broken_somewhere(id, entry.span, why);
                return;
            }
        };
        let mut kinds = Vec::new();
        for name in names {
            if let Ok(text) = decoder.text(name, "events") {
                kinds.extend(decoder.event(&text, name.span).filter(|kind| decoder.wants(kind)));
            }
        }
        // One matcher for events at which it counts and others at which it does not is two hooks.
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
                // Its user knows it by its own name, if it has one.
                let name = self.keys.iter().find(|key| matches!(key.says, Attribute::Id));
                let name = name.and_then(|key| hook.get(key.name)?.as_str()).filter(|name| !name.is_empty());
                let id = name.unwrap_or(id);
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

    /// Reads a hook that stands under these events.
    ///
    /// # Errors
    /// Why it cannot be loaded; it has been reported.
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
            let text = "what endpoints answer does not count, so this hook cannot stop anything here";
            decoder.warning("cannot-decide", hook.span, text);
        } else if gate && spec.background {
            let text = "a hook in the background cannot stop anything here";
            decoder.warning("background-gate", hook.span, text).help = Some("take `async` out if it shall".to_owned());
        }
        if let HandlerSpec::Command(command) = &spec.handler {
            decoder.check_command(command, hook.span)?;
        }
        Ok(spec)
    }

    fn handler(&self, decoder: &mut Decoder<'_>, hook: &Node<'_>, kinds: &[EventKind]) -> Result<HandlerSpec, String> {
        let has = |row: &&HandlerRow| row.needs.iter().all(|key| hook.get(key).is_some());
        let row = match hook.get("type") {
            Some(node) => {
                let name = decoder.text(node, "type")?;
                let found = self.handlers.iter().find(|row| row.name.eq_ignore_ascii_case(&name));
                match found {
                    Some(row) => row,
                    None => {
                        let known: Vec<_> = self.handlers.iter().map(|row| row.name).collect();
                        decoder.unknown("unknown-handler", node.span, "type of hook", &name, &known);
                        return Err(format!("unknown type of hook `{name}`"));
                    }
                }
            }
            None if self.infers_type && self.handlers.iter().any(|row| has(&row)) => {
                self.handlers.iter().find(has).ok_or("no type")?
            }
            None => {
                let why = "a hook needs a `type`".to_owned();
                let known: Vec<_> = self.handlers.iter().map(|row| row.name).collect();
                decoder.error("missing-key", hook.span, why.clone()).help =
                    Some(format!("one of {}", known.join(", ")));
                return Err(why);
            }
        };
        for key in row.needs {
            let empty = hook.get(key).is_none_or(|node| node.as_str().is_some_and(|text| text.trim().is_empty()));
            if empty {
                let why = format!("a hook of type `{}` needs `{key}`", row.name);
                decoder.error("missing-key", hook.span, why.clone());
                return Err(why);
            }
        }
        if !row.at.is_empty()
            && let Some(kind) = kinds.iter().find(|kind| !row.at.contains(kind))
        {
            let name = decoder.dialect().name_of(kind).unwrap_or(kind.name()).to_owned();
            let why = format!("hooks of type `{}` do not run at `{name}`", row.name);
            decoder.error("handler-not-here", hook.span, why.clone());
            return Err(why);
        }
        Ok(attribute::empty_handler(row.kind))
    }

    /// What the file says about others.
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
                // What cannot be read is taken for the stricter.
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
                "restrict" if self.flat => decoder.settings.restrict = Some(super::restrict::read(decoder, node)),
                // What cannot be read is taken for the stricter.
                "protect_self" if self.flat => {
                    decoder.settings.protect_self = Some(decoder.flag(node, &member.key).unwrap_or(true));
                }
                "env_allow" if self.flat => {
                    decoder.settings.env_allow = Some(decoder.texts(node, &member.key).unwrap_or_default());
                }
                // What cannot be read leaves them in force.
                "dry_run" if self.flat => decoder.settings.dry_run = decoder.flag(node, &member.key).unwrap_or(false),
                "trusted_paths" if self.flat => {
                    decoder.settings.trusted_paths = Some(decoder.texts(node, &member.key).unwrap_or_default());
                }
                "trusted_keys" if self.flat => {
                    decoder.settings.trusted_keys = Some(decoder.texts(node, &member.key).unwrap_or_default());
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
                            decoder.broken_somewhere("include", item.span, "an include with a key that nobody knows");
                            continue;
                        }
                        let dialect = item.get("dialect");
                        if dialect.is_none() {
                            let why = "an include needs a `dialect`";
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
                let why = format!("checkrein cannot read files of {name} yet");
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
            // Without a list that can be read, nothing more is passed on.
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

/// A hook that is switched off.
pub(super) fn disabled(spec: &mut HookSpec, enabled: bool) {
    if !enabled {
        spec.state = HookState::Disabled;
    }
}
