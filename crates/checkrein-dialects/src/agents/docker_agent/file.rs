//! Decoder of the files, all in YAML.
//!
//! Three kinds of files have hooks. The keys at the top level select the kind:
//!
//! | top level | kind of file | hooks |
//! |---|---|---|
//! | `agents` | an agent's file | `agents.NAME.hooks` |
//! | `settings` | settings of the user | `settings.hooks` |
//! | `hooks` | a file in `hooks.d` | `hooks` |
//! | an event, or a similar name | a file in `hooks.d` | the whole file |
//! | none of these | settings without hooks | none |

use checkrein_core::{EventKind, FailurePolicy, Matcher, closest_match};

use crate::config::{Attribute, Decoder, HandlerRow, HookFileLayout, HookKey};
use crate::spec::HookSpec;
use crate::table::Dialect;
use checkrein_document::{Member, Node, Span};

/// Differences between the files of the generations.
pub(super) struct Files {
    /// Keys of a hook.
    pub(super) hook: HookFileLayout,
    /// Events whose groups can have [`LANE`].
    lanes: &'static [EventKind],
}

/// The default agent.
const ROOT: &str = "root";

/// The key of a group whose hooks the agent runs before its own permission rules.
const LANE: &str = "preempt_yolo";

const ON_ERROR: Attribute =
    Attribute::OnFailureOr(&[("warn", FailurePolicy::Open), ("block", FailurePolicy::Closed)], "ignore");

/// Files of the newest generation.
pub(super) const NEWEST: Files = Files {
    hook: layout(
        &[
            HookKey::new("type", Attribute::Type),
            HookKey::new("command", Attribute::ShellCommand),
            HookKey::new("args", Attribute::FunctionArgs),
            HookKey::new("timeout", Attribute::WholeSeconds { negative: false }),
            HookKey::new("name", Attribute::Id),
            HookKey::new("env", Attribute::Env),
            HookKey::new("working_dir", Attribute::Cwd),
            HookKey::new("on_error", ON_ERROR),
            HookKey::new("model", Attribute::Setting),
            HookKey::new("prompt", Attribute::Setting),
            HookKey::new("schema", Attribute::Setting),
            HookKey::new("strict_output", Attribute::Strict),
        ],
        &[
            HandlerRow::new("command", "command", &["command"]),
            HandlerRow::new("builtin", "builtin", &["command"]),
            HandlerRow::new("model", "model", &["model", "prompt"]),
        ],
    ),
    lanes: &[EventKind::PreToolUse],
};

/// Files of the generation with twelve events.
pub(super) const G2: Files = Files {
    hook: layout(
        &[
            HookKey::new("type", Attribute::Type),
            HookKey::new("command", Attribute::ShellCommand),
            HookKey::new("args", Attribute::FunctionArgs),
            HookKey::new("timeout", Attribute::WholeSeconds { negative: true }),
        ],
        &[HandlerRow::new("command", "command", &["command"]), HandlerRow::new("builtin", "builtin", &["command"])],
    ),
    lanes: &[],
};

const fn layout(keys: &'static [HookKey], handlers: &'static [HandlerRow]) -> HookFileLayout {
    HookFileLayout { keys, handlers, ..HookFileLayout::USUAL }
}

/// The reason why an entry cannot be loaded, and its position.
type Broken = (String, Span);

impl Files {
    pub(super) fn decode(&self, decoder: &mut Decoder<'_>, root: &Node<'_>) {
        let Ok(members) = decoder.object(root, "the file") else {
            unreadable(decoder, root, "the top level of the file is not an object");
            return;
        };
        if let Some(agents) = root.get("agents") {
            if let Some(hooks) = hooks_of_agent(decoder, agents) {
                self.events(decoder, hooks);
            }
        } else if let Some(settings) = root.get("settings").filter(|settings| !settings.is_null()) {
            match decoder.object(settings, "settings") {
                Ok(members) => match settings.get("hooks") {
                    Some(hooks) => self.events(decoder, hooks),
                    None => decoder.misplaced(members, "hooks"),
                },
                Err(_) => unreadable(decoder, settings, "`settings` is not an object"),
            }
        } else if let Some(hooks) = root.get("hooks") {
            decoder.check_keys(members, &["hooks", "version"]);
            self.events(decoder, hooks);
        } else if members.iter().any(|member| is_similar_to_an_event(decoder.dialect(), &member.key)) {
            self.events(decoder, root);
        } else {
            ["agents", "settings", "hooks"].iter().for_each(|root| decoder.misplaced(members, root));
        }
    }

    fn events(&self, decoder: &mut Decoder<'_>, node: &Node<'_>) {
        if node.is_null() {
            return;
        }
        let Ok(events) = decoder.object(node, "hooks") else {
            unreadable(decoder, node, "`hooks` is not an object");
            return;
        };
        for event in events {
            self.event(decoder, event);
        }
    }

    fn event(&self, decoder: &mut Decoder<'_>, event: &Member<'_>) {
        let Some(kind) = decoder.event(&event.key, event.key_span) else { return };
        let entries = match (event.value.as_array(), event.value.as_object()) {
            _ if event.value.is_null() => return,
            (Some(entries), _) => entries,
            // A single entry instead of a list.
            (None, Some(_)) => std::slice::from_ref(&event.value),
            (None, None) => {
                let why = decoder.wrong_type(&event.value, &event.key, "a list");
                decoder.broken(event.key.clone(), &kind, None, event.value.span, &why);
                return;
            }
        };
        let matched = decoder.dialect().is_matched(&kind);
        for (at, entry) in entries.iter().enumerate() {
            let id = format!("{}[{at}]", event.key);
            let read = if matched {
                self.group(decoder, entry, &kind, &id)
            } else {
                self.hook_without_matcher(decoder, entry, &kind, &event.key, &id)
            };
            if let Err((why, span)) = read {
                decoder.broken(id, &kind, None, span, &why);
            }
        }
    }

    fn group(&self, decoder: &mut Decoder<'_>, group: &Node<'_>, kind: &EventKind, id: &str) -> Result<(), Broken> {
        let with_span = |why| (why, group.span);
        let members = decoder.object(group, id).map_err(with_span)?;
        let has_lane = self.lanes.contains(kind);
        decoder.check_keys(members, if has_lane { &["matcher", "hooks", LANE] } else { &["matcher", "hooks"] });
        if has_lane
            && let Some(lane) = group.get(LANE)
            && decoder.flag(lane, LANE).unwrap_or(true)
        {
            let text = format!("`{LANE}` has no effect in checkrein; these hooks run with the others of the event");
            decoder.warning("no-lane", lane.span, text).help =
                Some("to run hooks before the permission rules of the agent, use `tool_guard`".to_owned());
        }
        let matcher = decoder.matcher(group.get("matcher"), kind).map_err(with_span)?;
        let Some(hooks) = group.get("hooks").filter(|hooks| !hooks.is_null()) else {
            return Err(no_hooks(decoder, group));
        };
        let hooks = match hooks.as_object() {
            Some(_) => std::slice::from_ref(hooks),
            None => decoder.array(hooks, "hooks").map_err(|why| (why, hooks.span))?,
        };
        if hooks.is_empty() {
            return Err(no_hooks(decoder, group));
        }
        for (at, hook) in hooks.iter().enumerate() {
            self.hook(decoder, hook, kind, &matcher, &format!("{id}.hooks[{at}]"));
        }
        Ok(())
    }

    /// Reads a hook of an event without matchers.
    fn hook_without_matcher(
        &self,
        decoder: &mut Decoder<'_>,
        hook: &Node<'_>,
        kind: &EventKind,
        event: &str,
        id: &str,
    ) -> Result<(), Broken> {
        if hook.get("hooks").is_some() && hook.get("type").is_none() {
            let why = format!("`{event}` has no matchers, so its hooks cannot be in groups");
            let help = format!("move the hooks out of the group, directly into the list of `{event}`");
            decoder.error("no-groups", hook.span, why.clone()).help = Some(help);
            return Err((why, hook.span));
        }
        self.hook(decoder, hook, kind, &Matcher::everything(), id);
        Ok(())
    }

    fn hook(&self, decoder: &mut Decoder<'_>, hook: &Node<'_>, kind: &EventKind, matcher: &Matcher, id: &str) {
        let read = self
            .hook
            .read_hook(decoder, hook, std::slice::from_ref(kind), Some(matcher), id)
            .and_then(|spec| check_failure_policy(decoder, hook, kind, spec));
        match read {
            Ok(spec) => decoder.push(spec),
            Err(why) => decoder.broken(id, kind, Some(matcher.clone()), hook.span, &why),
        }
    }
}

/// Checks that the event supports the failure policy of a hook.
fn check_failure_policy(
    decoder: &mut Decoder<'_>,
    hook: &Node<'_>,
    kind: &EventKind,
    spec: HookSpec,
) -> Result<HookSpec, String> {
    let dialect = decoder.dialect();
    let (Some(policy), Some(on_error)) = (spec.info.on_failure, hook.get("on_error")) else { return Ok(spec) };
    let Some(row) = dialect.row(kind) else { return Ok(spec) };
    if policy == FailurePolicy::Closed && !row.blocks {
        let why = format!("hooks cannot block `{}`, so `on_error` cannot be `block`; use `warn` or `ignore`", row.name);
        decoder.error("cannot-block", on_error.span, why.clone());
        return Err(why);
    }
    if row.failure_policy.is_some_and(|fixed| fixed != policy) {
        let text = format!("`on_error` has no effect: every failure at `{}` blocks", row.name);
        decoder.warning("no-effect", on_error.span, text);
    }
    Ok(spec)
}

/// Returns the hooks of the selected agent, or else of the only one, or else of `root`.
fn hooks_of_agent<'n, 't>(decoder: &mut Decoder<'_>, agents: &'n Node<'t>) -> Option<&'n Node<'t>> {
    let Ok(members) = decoder.object(agents, "agents") else {
        unreadable(decoder, agents, "`agents` is not an object");
        return None;
    };
    let find = |name: &str| members.iter().find(|agent| agent.key == name);
    let (found, why) = match (decoder.options().agent.as_deref(), members) {
        (Some(name), _) => (find(name), format!("the file has no agent `{name}`")),
        (None, [only]) => (Some(only), String::new()),
        (None, _) => (find(ROOT), format!("the file has several agents but no `{ROOT}`, and no agent is selected")),
    };
    let Some(agent) = found else {
        // Not an error if no agent has hooks.
        if members.iter().any(|agent| agent.value.get("hooks").is_some_and(|hooks| !hooks.is_null())) {
            let names: Vec<_> = members.iter().map(|agent| &*agent.key).collect();
            let help = format!("select one of: {}", names.join(", "));
            decoder.error("unknown-agent", agents.span, why.clone()).help = Some(help);
            unreadable(decoder, agents, &why);
        }
        return None;
    };
    agent.value.get("hooks")
}

fn is_similar_to_an_event(dialect: &Dialect, key: &str) -> bool {
    closest_match(key, dialect.events.iter().map(|row| row.name)).is_some()
        || dialect.events.iter().any(|row| row.name == key)
}

fn no_hooks(decoder: &mut Decoder<'_>, group: &Node<'_>) -> Broken {
    let why = "this group has no hooks; add at least one to `hooks`".to_owned();
    decoder.error("no-hooks", group.span, why.clone());
    (why, group.span)
}

fn unreadable(decoder: &mut Decoder<'_>, node: &Node<'_>, why: &str) {
    let place = decoder.place(node.span);
    decoder.unreadable(why, place);
}
