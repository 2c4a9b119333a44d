//! Decoder and encoder of Kiro's files:
//! `{"version": "v1", "hooks": [{"name", "trigger", "matcher", "action", "timeout", "enabled"}]}`.

use std::time::Duration;

use checkrein_core::{EventKind, HookState, RawJson};

use crate::config::{
    Attribute, ConversionLoss, Decoder, Encoded, TimeUnit, lost_attributes, unwritable, written_matcher,
};
use crate::spec::{CommandLine, CommandSpec, HandlerSpec, HookSpec, shell_text};
use crate::table::Dialect;
use checkrein_document::Node;

const KEYS: &[&str] = &["name", "description", "trigger", "matcher", "action", "timeout", "enabled"];
const ACTIONS: &[&str] = &["command", "agent"];

/// Timeout for the value 0, which means no limit.
const NO_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);

pub(super) fn decode(decoder: &mut Decoder<'_>, root: &Node<'_>) {
    let Ok(members) = decoder.object(root, "the file") else {
        let place = decoder.place(root.span);
        return decoder.unreadable("the top level of the file is not an object", place);
    };
    decoder.check_keys(members, &["version", "hooks"]);
    let Some(hooks) = root.get("hooks") else { return decoder.misplaced(members, "hooks") };
    if let Some(version) = root.get("version").filter(|version| version.as_str() != Some("v1")) {
        let text = format!("unknown version `{}`; the supported version is `\"v1\"`", version.to_json());
        decoder.warning("unknown-version", version.span, text);
    }
    let Ok(hooks) = decoder.array(hooks, "hooks") else {
        let place = decoder.place(hooks.span);
        return decoder.unreadable("`hooks` is not an array", place);
    };
    for (at, hook) in hooks.iter().enumerate() {
        read(decoder, hook, &format!("hooks[{at}]"));
    }
}

/// Decodes one entry. If it cannot be loaded, the events that it could have blocked are blocked.
fn read(decoder: &mut Decoder<'_>, hook: &Node<'_>, id: &str) {
    let trigger = decoder.object(hook, id).and_then(|members| {
        decoder.check_keys(members, KEYS);
        match hook.get("trigger") {
            Some(trigger) => Ok((decoder.text(trigger, "trigger")?, trigger.span)),
            None => {
                let why = "this hook has no `trigger`; add the name of an event".to_owned();
                decoder.error("missing-key", hook.span, why.clone());
                Err(why)
            }
        }
    });
    let (name, span) = match trigger {
        Ok(trigger) => trigger,
        Err(why) => return decoder.broken_somewhere(id, hook.span, &why),
    };
    let Some(kind) = decoder.event(&name, span) else { return };
    let matcher = decoder.matcher(hook.get("matcher"), &kind);
    let read = matcher.clone().and_then(|matcher| Ok(spec(decoder, hook, &kind, id)?.matching(matcher)));
    match read {
        Ok(spec) => decoder.push(spec),
        Err(why) => decoder.broken(id, &kind, matcher.ok(), hook.span, &why),
    }
}

fn spec(decoder: &mut Decoder<'_>, hook: &Node<'_>, kind: &EventKind, id: &str) -> Result<HookSpec, String> {
    let handler = action(decoder, hook)?;
    let id = match hook.get("name") {
        Some(name) => decoder.text(name, "name")?,
        None => id.to_owned(),
    };
    let mut spec = decoder.start(id, kind.clone(), handler, hook.span);
    spec.timeout = match hook.get("timeout").filter(|timeout| !timeout.is_null()) {
        None => None,
        Some(timeout) if timeout.as_number().is_some_and(|number| number.parse() == Ok(0.0)) => Some(NO_LIMIT),
        Some(timeout) => Some(decoder.time(timeout, "timeout", Duration::from_secs(1))?),
    };
    if let Some(description) = hook.get("description") {
        spec.description = Some(decoder.text(description, "description")?);
    }
    if let Some(enabled) = hook.get("enabled")
        && !decoder.flag(enabled, "enabled")?
    {
        spec.state = HookState::Disabled;
    }
    Ok(spec)
}

fn action(decoder: &mut Decoder<'_>, hook: &Node<'_>) -> Result<HandlerSpec, String> {
    let missing = |decoder: &mut Decoder<'_>, span, why: &str| {
        decoder.error("missing-key", span, why);
        Err(why.to_owned())
    };
    let Some(action) = hook.get("action") else {
        return missing(decoder, hook.span, "this hook has no `action`; add one");
    };
    let members = decoder.object(action, "action")?;
    decoder.check_keys(members, &["type", "command", "prompt"]);
    let Some(node) = action.get("type") else {
        return missing(decoder, action.span, "this action has no `type`; add `command` or `agent`");
    };
    let name = decoder.text(node, "action.type")?;
    match name.as_str() {
        "command" => {
            let Some(command) = action.get("command") else {
                return missing(decoder, action.span, "an action of type `command` needs the key `command`");
            };
            let spec = CommandSpec::shell(decoder.text(command, "action.command")?);
            decoder.check_command(&spec, command.span)?;
            Ok(HandlerSpec::Command(spec))
        }
        "agent" => {
            let Some(prompt) = action.get("prompt") else {
                return missing(decoder, action.span, "an action of type `agent` needs the key `prompt`");
            };
            let prompt = RawJson::string(&decoder.text(prompt, "action.prompt")?);
            let settings = RawJson::parse(format!("{{\"prompt\":{prompt}}}")).map_err(|error| error.to_string())?;
            Ok(HandlerSpec::Other { kind: "agent".to_owned(), settings })
        }
        _ => {
            decoder.unknown("unknown-handler", node.span, "action type", &name, ACTIONS);
            Err(format!("unknown action type `{name}`"))
        }
    }
}

pub(super) fn encode(dialect: &Dialect, hooks: &[&HookSpec]) -> Encoded {
    let mut lost = Vec::new();
    let mut entries = Vec::new();
    for (at, spec) in hooks.iter().enumerate() {
        for kind in &spec.kinds {
            match entry(dialect, at, spec, kind, &mut lost) {
                Ok(entry) => entries.extend(entry),
                Err(why) => lost.push(ConversionLoss::whole(at, why)),
            }
        }
        lost.extend(lost_attributes(at, spec, dialect, EXPRESSIBLE));
    }
    let hooks = if entries.is_empty() { "[]".to_owned() } else { format!("[\n{}\n  ]", entries.join(",\n")) };
    Encoded { text: format!("{{\n  \"version\": \"v1\",\n  \"hooks\": {hooks}\n}}\n"), lost }
}

const EXPRESSIBLE: &[Attribute] = &[
    Attribute::Command,
    Attribute::Args,
    Attribute::Timeout(TimeUnit::Seconds),
    Attribute::Description,
    Attribute::Enabled,
    Attribute::Id,
];

/// One entry, or the reason why the file cannot express it. `None` if the loss of its matcher is already reported.
fn entry(
    dialect: &Dialect,
    at: usize,
    spec: &HookSpec,
    kind: &EventKind,
    lost: &mut Vec<ConversionLoss>,
) -> Result<Option<String>, String> {
    if let Some(why) = unwritable(spec, |attribute| attribute == Attribute::Enabled) {
        return Err(why.to_owned());
    }
    let Some(trigger) = dialect.name_of(kind) else {
        return Err(format!("{} has no event for `{kind}`", dialect.title()));
    };
    let action = match &spec.handler {
        HandlerSpec::Command(command) => {
            let text = match &command.run {
                CommandLine::Shell { text, .. } => text.clone(),
                CommandLine::Argv(words) => shell_text(words),
            };
            format!("{{ \"type\": \"command\", \"command\": {} }}", RawJson::string(&text))
        }
        HandlerSpec::Other { kind, settings } if kind == "agent" => {
            let prompt = settings.field("prompt").ok_or("the agent hook has no prompt")?;
            format!("{{ \"type\": \"agent\", \"prompt\": {prompt} }}")
        }
        other => return Err(format!("{} has no `{}` hooks", dialect.title(), other.kind())),
    };
    let Some(matcher) = written_matcher(dialect, spec, kind, at, lost) else { return Ok(None) };
    let mut members = vec![format!("\"name\": {}", RawJson::string(&spec.info.id))];
    members.extend(spec.description.as_deref().map(|text| format!("\"description\": {}", RawJson::string(text))));
    members.push(format!("\"trigger\": {}", RawJson::string(trigger)));
    members.extend(matcher.map(|pattern| format!("\"matcher\": {}", RawJson::string(&pattern))));
    members.push(format!("\"action\": {action}"));
    members.extend(spec.timeout.map(|time| {
        let seconds = if time == NO_LIMIT { 0.0 } else { time.as_secs_f64() };
        format!("\"timeout\": {seconds}")
    }));
    if spec.state == HookState::Disabled {
        members.push("\"enabled\": false".to_owned());
    }
    Ok(Some(format!("    {{ {} }}", members.join(", "))))
}
