//! Encoding of hooks as a file in a layout, for `checkrein convert` and `init`.
//!
//! Everything that the file cannot express is reported as a [`ConversionLoss`]. A hook that would run or block although it
//! must not is not written.

use std::time::Duration;

use checkrein_core::{EventKind, FailurePolicy, HookState, RawJson};

use super::attribute::{is_enabled, own_name};
use super::{Attribute, HandlerRow, HookFileLayout, HookKey, TimeUnit, sandbox};
use crate::config::{ConversionLoss, Encoded};
use crate::spec::{CommandLine, HandlerSpec, HookSpec, Warm, shell_text};
use crate::table::Dialect;

impl HookFileLayout {
    /// Encodes hooks as a file.
    pub fn encode(&self, dialect: &Dialect, hooks: &[&HookSpec]) -> Encoded {
        let mut lost = Vec::new();
        if self.flat && hooks.iter().any(|spec| spec.kinds.len() > 1) {
            return self.encode_list(dialect, hooks);
        }
        // Events with their groups, in the order of the hooks.
        let mut events: Vec<(&str, Vec<Group>)> = Vec::new();
        for (at, spec) in hooks.iter().enumerate() {
            // A hook of the sibling dialect keeps its dialect.
            let dialect = self.sibling.filter(|sibling| sibling.name == spec.dialect.name).unwrap_or(dialect);
            let Some(hook) = self.write_hook(dialect, at, spec, &mut lost) else { continue };
            for kind in &spec.kinds {
                let Some(name) = self.event_name(dialect, kind) else {
                    lost.push(ConversionLoss::whole(at, format!("{} has no event for `{kind}`", dialect.title())));
                    continue;
                };
                let Some(matcher) = written_matcher(dialect, spec, kind, at, &mut lost) else { continue };
                let groups = match events.iter_mut().find(|(have, _)| *have == name) {
                    Some((_, groups)) => groups,
                    None => {
                        events.push((name, Vec::new()));
                        let last = events.len() - 1;
                        &mut events[last].1
                    }
                };
                match groups.last_mut().filter(|group| group.matcher == matcher) {
                    Some(group) => group.hooks.push(hook.clone()),
                    None => groups.push(Group { matcher, hooks: vec![hook.clone()] }),
                }
            }
        }
        Encoded { text: self.text(&events), lost }
    }

    /// Encodes hooks as one list, in which a hook can have several events.
    fn encode_list(&self, dialect: &Dialect, hooks: &[&HookSpec]) -> Encoded {
        let mut lost = Vec::new();
        let mut entries = Vec::new();
        for (at, spec) in hooks.iter().enumerate() {
            let names: Vec<_> = spec.kinds.iter().filter_map(|kind| self.event_name(dialect, kind)).collect();
            let Some(hook) = self.write_hook(dialect, at, spec, &mut lost) else { continue };
            let Some(kind) = spec.kinds.iter().find(|kind| dialect.is_matched(kind)).or(spec.kinds.first()) else {
                continue;
            };
            let Some(matcher) = written_matcher(dialect, spec, kind, at, &mut lost) else { continue };
            let names = list(&names.into_iter().map(str::to_owned).collect::<Vec<_>>());
            let matcher = matcher.map(|pattern| format!("\"matcher\": {}, ", text(&pattern))).unwrap_or_default();
            entries.push(format!("    {{ \"events\": {names}, {matcher}{}", hook.trim_start_matches("{ ")));
        }
        Encoded { text: format!("{{\n  \"{}\": [\n{}\n  ]\n}}\n", self.root, entries.join(",\n")), lost }
    }

    fn event_name(&self, dialect: &Dialect, kind: &EventKind) -> Option<&'static str> {
        dialect.name_of(kind).or_else(|| {
            let own = EventKind::ALL.iter().find(|own| *own == kind)?;
            dialect.has_all_events.then(|| own.name())
        })
    }

    fn text(&self, events: &[(&str, Vec<Group>)]) -> String {
        let events: Vec<_> = events
            .iter()
            .map(|(name, groups)| {
                let text = |group: &Group| if self.direct { group.entries() } else { group.text() };
                let groups: Vec<_> = groups.iter().map(text).collect();
                format!("{}: [\n{}\n    ]", RawJson::string(name), groups.join(",\n"))
            })
            .collect();
        let mut text = format!("{{\n    {}\n  }}", events.join(",\n    "));
        if events.is_empty() {
            text = "{}".to_owned();
        }
        let head: String =
            self.head.iter().map(|(key, value)| format!("  {}: {value},\n", RawJson::string(key))).collect();
        for key in self.root.rsplit('.') {
            let head = if self.root.starts_with(key) { head.as_str() } else { "" };
            text = format!("{{\n{head}  {}: {text}\n}}", RawJson::string(key));
        }
        text + "\n"
    }

    /// Encodes a hook as JSON. `None`: the layout cannot express the hook, and the loss is reported.
    pub(crate) fn write_hook(
        &self,
        dialect: &Dialect,
        at: usize,
        spec: &HookSpec,
        lost: &mut Vec<ConversionLoss>,
    ) -> Option<String> {
        let kind = spec.handler.kind();
        if let Some(why) = unwritable(spec, |attribute| self.keys.iter().any(|key| key.says == attribute)) {
            lost.push(ConversionLoss::whole(at, why));
            return None;
        }
        // A hook that no agent runs may stay in its own format.
        let is_run = |row: &HandlerRow| !row.inert || spec.dialect.name == dialect.name;
        let Some(row) = self.handlers.iter().find(|row| row.kind == kind.name() && is_run(row)) else {
            lost.push(ConversionLoss::whole(at, format!("{} has no `{kind}` hooks", dialect.title())));
            return None;
        };
        let says_type = self.keys.iter().any(|key| key.says == Attribute::Type);
        let mut members: Vec<_> =
            says_type.then(|| format!("\"type\": {}", RawJson::string(row.name))).into_iter().collect();
        let mut written = Vec::new();
        let adapted = self.adapt(at, spec, lost);
        let spec = adapted.as_ref().unwrap_or(spec);
        if spec.is_http() && spec.dialect.http.decides && !dialect.http.decides {
            lost.push(ConversionLoss::part(
                at,
                format!("the replies of its endpoint, which {} ignores", dialect.title()),
            ));
        }
        for HookKey { name, says } in self.keys {
            // Each attribute is written under one key.
            let is_command = says.label() == Attribute::Command.label();
            let is_written = written.contains(says) || (is_command && written.contains(&Attribute::Command));
            if is_written {
                continue;
            }
            if let Some(value) = value(*says, spec, dialect) {
                members.push(format!("{}: {value}", RawJson::string(name)));
                written.push(*says);
                // The text of the command contains its arguments.
                if *says == Attribute::ShellCommand {
                    written.push(Attribute::Args);
                }
                if matches!(says, Attribute::CommandFor(_)) {
                    written.extend([Attribute::Command, Attribute::Shell]);
                }
            }
        }
        if let HandlerSpec::Other { settings, .. } = &spec.handler {
            for entry in settings.entries().into_iter().flatten() {
                // A key with another meaning in the layout would change the hook.
                if self.keys.iter().any(|key| key.name == entry.key() && key.says == Attribute::Setting) {
                    members.push(format!("{}: {}", RawJson::string(&entry.key()), entry.value()));
                } else {
                    lost.push(ConversionLoss::part(at, format!("its setting `{}`", entry.key())));
                }
            }
        }
        let known = |name: &str| self.keys.iter().any(|key| key.name == name);
        members.extend(
            spec.unknown_keys
                .iter()
                .filter(|(name, _)| known(name))
                .map(|(name, value)| format!("{}: {value}", RawJson::string(name))),
        );
        let of_group = spec.unknown_keys.iter().filter(|(name, _)| self.group.iter().any(|key| key.name == name));
        lost.extend(of_group.map(|(name, _)| ConversionLoss::part(at, format!("`{name}` of its group"))));
        lost.extend(lost_attributes(at, spec, dialect, &written));
        Some(format!("{{ {} }}", members.join(", ")))
    }

    /// Returns an adapted hook if the layout cannot express its timeout or its argument list.
    fn adapt(&self, at: usize, spec: &HookSpec, lost: &mut Vec<ConversionLoss>) -> Option<HookSpec> {
        let mut adapted = spec.clone();
        let mut is_adapted = false;
        if let (Some((least, most)), Some(time)) = (self.timeout_range, spec.timeout)
            && !(least..=most).contains(&time)
        {
            let cut = time.clamp(least, most);
            lost.push(ConversionLoss::part(at, format!("its timeout of {time:?}, which becomes {cut:?}")));
            adapted.timeout = Some(cut);
            is_adapted = true;
        }
        let has_args = self.keys.iter().any(|key| key.says == Attribute::Args);
        if let HandlerSpec::Command(command) = &mut adapted.handler
            && let CommandLine::Argv(words) = &command.run
            && !has_args
        {
            command.run = CommandLine::Shell { text: shell_text(words), shell: None };
            is_adapted = true;
        }
        if is_adapted { Some(adapted) } else { None }
    }
}

/// Returns the reason why a hook must not be written: the file cannot express that the hook is disabled, a dry run or
/// conditional, or the hook is broken. `can_say`: `true` for attributes that the file can express.
pub(crate) fn unwritable(spec: &HookSpec, can_say: impl Fn(Attribute) -> bool) -> Option<&'static str> {
    match spec.state {
        HookState::Disabled if !can_say(Attribute::Enabled) => Some("it is disabled, which the file cannot express"),
        HookState::Broken(_) => Some("it is broken"),
        _ if spec.info.dry_run && !can_say(Attribute::DryRun) => Some("it is a dry run, which the file cannot express"),
        // Without its condition, the hook would block more than it should.
        _ if spec.permission_rule.is_some() && !can_say(Attribute::Rule) => Some("the file cannot express its `if`"),
        _ if !spec.input.is_empty() && !can_say(Attribute::Input) => Some("the file cannot express its `input`"),
        _ => None,
    }
}

/// Returns the attributes of a hook that were not written.
pub(crate) fn lost_attributes(
    at: usize,
    spec: &HookSpec,
    dialect: &Dialect,
    written: &[Attribute],
) -> Vec<ConversionLoss> {
    let is_written = |attribute: Attribute| written.iter().any(|written| written.label() == attribute.label());
    let lost =
        ALL.into_iter().filter(|attribute| !is_written(*attribute) && value(*attribute, spec, dialect).is_some());
    let expands = matches!(&spec.handler, HandlerSpec::Command(command) if command.expands);
    let variables = (expands && !is_written(Attribute::Variables)).then_some(Attribute::Variables);
    lost.chain(variables).map(|attribute| ConversionLoss::part(at, attribute.label())).collect()
}

struct Group {
    matcher: Option<String>,
    hooks: Vec<String>,
}

impl Group {
    /// Encodes each hook with its own matcher.
    fn entries(&self) -> String {
        let matcher =
            self.matcher.as_ref().map(|pattern| format!("\"matcher\": {}, ", text(pattern))).unwrap_or_default();
        let hooks = self.hooks.iter().map(|hook| format!("      {{ {matcher}{}", hook.trim_start_matches("{ ")));
        hooks.collect::<Vec<_>>().join(",\n")
    }

    fn text(&self) -> String {
        let matcher =
            self.matcher.as_ref().map(|text| format!("\"matcher\": {}, ", RawJson::string(text))).unwrap_or_default();
        let hooks: Vec<_> = self.hooks.iter().map(|hook| format!("          {hook}")).collect();
        format!("      {{ {matcher}\"hooks\": [\n{}\n      ] }}", hooks.join(",\n"))
    }
}

/// Returns the matcher in the dialect's own grammar. The outer `None`: the grammar cannot express it. The inner `None`: the hook
/// needs no matcher.
#[expect(clippy::option_option, reason = "no matcher and an inexpressible matcher differ")]
pub(crate) fn written_matcher(
    dialect: &Dialect,
    spec: &HookSpec,
    kind: &EventKind,
    at: usize,
    lost: &mut Vec<ConversionLoss>,
) -> Option<Option<String>> {
    let matcher = &spec.matcher;
    if matcher.is_everything() {
        return Some(None);
    }
    if !dialect.is_matched(kind) {
        lost.push(ConversionLoss::part(at, format!("its matcher `{}`, because `{kind}` has none", matcher.pattern())));
        return Some(None);
    }
    match matcher.in_grammar(dialect.grammar(kind)) {
        Some(pattern) => Some(Some(pattern)),
        None => {
            lost.push(ConversionLoss::whole(
                at,
                format!("{} cannot express its matcher `{}`", dialect.title(), matcher.pattern()),
            ));
            None
        }
    }
}

/// Attributes that can be lost.
const ALL: [Attribute; 28] = [
    Attribute::Args,
    Attribute::Shell,
    Attribute::Method,
    Attribute::Headers,
    Attribute::HeaderVariables,
    Attribute::Secret,
    Attribute::SignedReply,
    Attribute::CaFile,
    Attribute::Timeout(TimeUnit::Seconds),
    Attribute::Background,
    Attribute::Rewake,
    Attribute::Once,
    Attribute::Rule,
    Attribute::Input,
    Attribute::Status,
    Attribute::OnFailure(&[]),
    Attribute::OnTimeout(&[]),
    Attribute::Description,
    Attribute::Enabled,
    Attribute::Env,
    Attribute::EnvAllow,
    Attribute::Cwd,
    Attribute::Sandbox,
    Attribute::Warm,
    Attribute::Order,
    Attribute::Rewrites,
    Attribute::Strict,
    Attribute::DryRun,
];

/// Returns the value of an attribute as JSON. `None`: the default of the dialect.
fn value(attribute: Attribute, spec: &HookSpec, dialect: &Dialect) -> Option<String> {
    let info = &spec.info;
    let yes = |flag: bool| flag.then(|| "true".to_owned());
    let word = |effect: Option<FailurePolicy>, words: &[(&str, FailurePolicy)]| {
        let effect = effect?;
        // Without words, the caller needs only to know that there is a value.
        let word = words.iter().find(|(_, have)| *have == effect).map(|(word, _)| *word);
        word.or(words.is_empty().then_some("")).map(text)
    };
    match attribute {
        Attribute::Timeout(unit) => spec.timeout.map(|time| number(time, unit, &spec.handler)),
        // Rounded up, so that a hook does not lose time.
        Attribute::WholeSeconds { .. } => spec.timeout.map(|time| (time.as_millis().div_ceil(1000)).to_string()),
        Attribute::Background if spec.is_http() && dialect.http.in_background => {
            (!spec.background).then(|| "false".to_owned())
        }
        Attribute::Background => yes(spec.background && !spec.wake_agent),
        Attribute::Rewake => yes(spec.wake_agent),
        Attribute::Once => yes(spec.once),
        Attribute::Strict => yes(spec.strict),
        Attribute::DryRun => yes(info.dry_run),
        Attribute::Enabled => (!is_enabled(spec)).then(|| "false".to_owned()),
        Attribute::Status => spec.status.as_deref().map(text),
        Attribute::Description => spec.description.as_deref().map(text),
        Attribute::Rule => spec.permission_rule.as_ref().map(|rule| text(&rule.to_string())),
        Attribute::Input => {
            let input = spec.input.iter().map(|input| (input.field.as_str(), input.matcher.pattern()));
            pairs(input)
        }
        Attribute::Id => own_name(spec).map(text),
        Attribute::Order => (spec.order != 0).then(|| spec.order.to_string()),
        Attribute::Rewrites => yes(info.declares_rewrites),
        Attribute::OnFailure(words) => word(info.on_failure, words),
        Attribute::OnFailureOr(_, quiet) if info.log_only_failures => Some(text(quiet)),
        Attribute::OnFailureOr(words, _) => word(info.on_failure, words),
        // The dialect has no `ask`, so it becomes closed.
        Attribute::FailClosed => info.on_failure.map(|effect| (effect != FailurePolicy::Open).to_string()),
        Attribute::OnTimeout(words) => word(info.on_timeout, words),
        _ => of_handler(attribute, &spec.handler),
    }
}

fn of_handler(attribute: Attribute, handler: &HandlerSpec) -> Option<String> {
    match (handler, attribute) {
        (HandlerSpec::Command(command), Attribute::Command) => match &command.run {
            CommandLine::Shell { text: command, .. } => Some(text(command)),
            CommandLine::Argv(argv) => argv.first().map(|program| text(program)),
        },
        // A command for another shell has its own key.
        (HandlerSpec::Command(command), Attribute::CommandFor(name)) => match &command.run {
            CommandLine::Shell { text: command, shell: Some(shell) } if is_shell(shell, name) => Some(text(command)),
            _ => None,
        },
        (HandlerSpec::Command(command), Attribute::ShellCommand) => Some(match &command.run {
            CommandLine::Shell { text: command, .. } => text(command),
            CommandLine::Argv(argv) => text(&argv.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")),
        }),
        (HandlerSpec::Builtin(builtin), Attribute::ShellCommand) => Some(text(&builtin.name)),
        (HandlerSpec::Command(command), Attribute::Args) => match &command.run {
            CommandLine::Shell { .. } => None,
            CommandLine::Argv(argv) => Some(list(argv.get(1..).unwrap_or_default())),
        },
        (HandlerSpec::Command(command), Attribute::Shell) => match &command.run {
            CommandLine::Shell { shell: Some(shell), .. } => shell.first().map(|program| text(program)),
            _ => None,
        },
        (HandlerSpec::Command(command), Attribute::Env) => {
            pairs(command.env_set.iter().map(|(name, value)| (name.as_str(), value.as_str())))
        }
        (HandlerSpec::Command(command), Attribute::EnvAllow) => {
            (!command.env_allow.is_empty()).then(|| list(&command.env_allow))
        }
        (HandlerSpec::Command(command), Attribute::OutputCap) => command.output_cap.map(|cap| cap.to_string()),
        (HandlerSpec::Command(command), Attribute::Cwd) => command.cwd.as_ref().map(|cwd| text(&cwd.to_string_lossy())),
        (HandlerSpec::Command(command), Attribute::Warm) => command.warm.map(|warm| match warm {
            Warm::Auto => text(warm.name()),
            Warm::On | Warm::Off => warm.name().to_owned(),
        }),
        (HandlerSpec::Command(command), Attribute::Sandbox) => command.sandbox.as_ref().map(sandbox::write),
        (HandlerSpec::Http(http), Attribute::Url) => Some(text(&http.url)),
        (HandlerSpec::Http(http), Attribute::Method) => (http.method != "POST").then(|| text(&http.method)),
        (HandlerSpec::Http(http), Attribute::Headers) => {
            pairs(http.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())))
        }
        (HandlerSpec::Http(http), Attribute::HeaderVariables) => {
            (!http.env_allow.is_empty()).then(|| list(&http.env_allow))
        }
        (HandlerSpec::Http(http), Attribute::Secret) => http.secret.as_deref().map(text),
        (HandlerSpec::Http(http), Attribute::CaFile) => http.ca_file.as_deref().map(text),
        (HandlerSpec::Http(http), Attribute::SignedReply) => http.require_signed_reply.then(|| "true".to_owned()),
        (HandlerSpec::Builtin(builtin), Attribute::Builtin) => Some(text(&builtin.name)),
        (HandlerSpec::Builtin(builtin), Attribute::Args | Attribute::FunctionArgs) => {
            (!builtin.args.is_empty()).then(|| list(&builtin.args))
        }
        (HandlerSpec::Rule(rule), Attribute::OfRule(key)) => key.value(rule),
        _ => None,
    }
}

fn is_shell(words: &[String], name: &str) -> bool {
    words.first().is_some_and(|program| program == name)
}

fn text(text: &str) -> String {
    RawJson::string(text).as_str().to_owned()
}

/// Quotes a word for a shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn list(texts: &[String]) -> String {
    format!("[{}]", texts.iter().map(|one| text(one)).collect::<Vec<_>>().join(", "))
}

fn pairs<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> Option<String> {
    let pairs: Vec<_> = pairs.map(|(name, value)| format!("{}: {}", text(name), text(value))).collect();
    (!pairs.is_empty()).then(|| format!("{{ {} }}", pairs.join(", ")))
}

fn number(time: Duration, unit: TimeUnit, handler: &HandlerSpec) -> String {
    let count = match (unit, handler) {
        (TimeUnit::WholeSeconds | TimeUnit::WholeSecondsFromOne, _) => time.as_secs_f64().ceil(),
        (TimeUnit::Milliseconds, _) | (TimeUnit::MillisecondsForCommands, HandlerSpec::Command(_)) => {
            time.as_secs_f64() * 1000.0
        }
        (TimeUnit::Seconds | TimeUnit::MillisecondsForCommands, _) => time.as_secs_f64(),
    };
    format!("{count}")
}
