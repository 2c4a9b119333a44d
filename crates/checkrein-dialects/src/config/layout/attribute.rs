//! What can be said of a hook, and under which keys dialects say it.

use std::sync::Arc;
use std::time::Duration;

use checkrein_core::{FailurePolicy, HookInfo, HookState, RawJson};

use super::{Decoder, HookFileLayout, disabled, sandbox};
use crate::spec::{
    BuiltinSpec, CommandLine, CommandSpec, HandlerSpec, HookSpec, HttpSpec, InputPattern, PermissionRule,
};
use checkrein_document::Node;

/// Something that can be said of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attribute {
    /// What kind of handler it has.
    Type,
    /// Its command: text for a shell, or a list of words.
    Command,
    /// Arguments of the command, which then is a program.
    Args,
    /// Its command on this system, in place of the usual one. Elsewhere it is kept.
    CommandOn(&'static str),
    /// Its command, always text for a shell; or the function of the registry, for a hook that is one.
    ShellCommand,
    /// Arguments of the function.
    FunctionArgs,
    /// Words for the shell by its name.
    Shell,
    /// Its URL.
    Url,
    /// The method of its request.
    Method,
    /// The headers of its request.
    Headers,
    /// Variables of the host that headers may use.
    HeaderVariables,
    /// What its requests are signed with.
    Secret,
    /// Whether answers must be signed.
    SignedReply,
    /// The function of the registry.
    Builtin,
    /// How long it may take.
    Timeout(TimeUnit),
    /// How long it may take, in whole seconds. 0 is the usual time, and so is what is less if `negative` says so.
    WholeSeconds {
        /// Whether less than 0 is the usual time rather than a mistake.
        negative: bool,
    },
    /// Whether nobody waits for it.
    Background,
    /// Whether nobody waits for it, unless it has something to say.
    Rewake,
    /// Whether it runs once in a session.
    Once,
    /// The rule that the tool call must fit.
    Rule,
    /// Patterns that fields of the tool's input must fit.
    Input,
    /// A pattern that this field of the tool's input must fit.
    InputField(&'static str),
    /// What the user is shown while it runs.
    Status,
    /// What is done when it fails, in these words.
    OnFailure(&'static [(&'static str, FailurePolicy)]),
    /// The same, and a word for going on without a warning.
    OnFailureOr(&'static [(&'static str, FailurePolicy)], &'static str),
    /// Whether everything is refused when it fails.
    FailClosed,
    /// What is done when it takes too long, in these words.
    OnTimeout(&'static [(&'static str, FailurePolicy)]),
    /// Its name.
    Id,
    /// What it is for.
    Description,
    /// Whether it runs at all.
    Enabled,
    /// Variables that it gets.
    Env,
    /// Variables of the host that it gets.
    EnvAllow,
    /// How much of its output is read, in bytes.
    OutputCap,
    /// Where it runs.
    Cwd,
    /// What it may do.
    Sandbox,
    /// Where it stands among others.
    Order,
    /// Whether it rewrites.
    Rewrites,
    /// Whether nothing is overlooked in its answers.
    Strict,
    /// Dry run.
    DryRun,
    /// Whether variables stand in the words of its command.
    Variables,
    /// Something that only its handler understands.
    Setting,
    /// Its command for this shell.
    CommandFor(&'static str),
    /// Something that counts elsewhere: on another system, or only in the agent itself. It is kept.
    Elsewhere,
    /// Something that has no effect, and why.
    Nothing(&'static str),
}

impl Attribute {
    /// What it is, in words.
    pub fn label(self) -> &'static str {
        match self {
            Self::Type => "its type",
            Self::Command | Self::ShellCommand | Self::CommandOn(_) | Self::CommandFor(_) => "its command",
            Self::Args | Self::FunctionArgs => "its arguments",
            Self::Shell => "its shell",
            Self::Url => "its URL",
            Self::Method => "the method of its request",
            Self::Headers => "the headers of its request",
            Self::HeaderVariables => "the variables that its headers may use",
            Self::Secret => "the secret that its requests are signed with",
            Self::SignedReply => "that answers must be signed",
            Self::Builtin => "its function",
            Self::Timeout(_) | Self::WholeSeconds { .. } => "its timeout",
            Self::Background => "whether it is waited for",
            Self::Rewake => "that it wakes the agent",
            Self::Once => "that it runs once",
            Self::Rule => "the rule that the tool call must fit",
            Self::Input | Self::InputField(_) => "the patterns that the tool's input must fit",
            Self::Status => "what is shown while it runs",
            Self::OnFailure(_) | Self::OnFailureOr(..) | Self::FailClosed => "what is done when it fails",
            Self::OnTimeout(_) => "what is done when it takes too long",
            Self::Id => "its name",
            Self::Description => "its description",
            Self::Enabled => "that it is switched off",
            Self::Env => "its variables",
            Self::EnvAllow => "the variables of the host that it gets",
            Self::OutputCap => "how much of its output is read",
            Self::Cwd => "where it runs",
            Self::Sandbox => "its sandbox",
            Self::Order => "its place among others",
            Self::Rewrites => "that it rewrites",
            Self::Variables => "that variables stand in its words",
            Self::DryRun => "that it is a dry run",
            Self::Strict => "that nothing is overlooked in its answers",
            Self::Setting | Self::Elsewhere | Self::Nothing(_) => "a setting",
        }
    }
}

/// A key of a hook.
#[derive(Debug, Clone, Copy)]
pub struct HookKey {
    /// The key.
    pub name: &'static str,
    /// What it says.
    pub says: Attribute,
}

/// In what times are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Seconds, whole ones. 0 is the usual time.
    WholeSeconds,
    /// Seconds, whole ones. 0 is one.
    WholeSecondsFromOne,
    /// Milliseconds for commands, seconds for all else.
    MillisecondsForCommands,
}

impl TimeUnit {
    fn duration(self, handler: &HandlerSpec) -> Duration {
        match (self, handler) {
            (Self::Milliseconds, _) | (Self::MillisecondsForCommands, HandlerSpec::Command(_)) => {
                Duration::from_millis(1)
            }
            _ => Duration::from_secs(1),
        }
    }
}

/// checkrein's own words for what is done about failures.
pub(super) const EFFECTS: &[(&str, FailurePolicy)] =
    &[("open", FailurePolicy::Open), ("closed", FailurePolicy::Closed), ("ask", FailurePolicy::Ask)];

impl HookKey {
    /// A key.
    pub const fn new(name: &'static str, says: Attribute) -> Self {
        Self { name, says }
    }

    /// Reads its value.
    pub(super) fn read(
        &self,
        shape: &HookFileLayout,
        decoder: &mut Decoder<'_>,
        node: &Node<'_>,
        spec: &mut HookSpec,
    ) -> Result<(), String> {
        if node.is_null() {
            return Ok(());
        }
        let name = self.name;
        match self.says {
            Attribute::Type => {}
            Attribute::Timeout(TimeUnit::WholeSeconds) if node.as_number() == Some("0") => {}
            Attribute::Timeout(TimeUnit::WholeSecondsFromOne) if node.as_number() == Some("0") => {
                spec.timeout = Some(Duration::from_secs(1));
            }
            Attribute::Timeout(TimeUnit::WholeSeconds | TimeUnit::WholeSecondsFromOne)
                if node.as_number().is_some_and(|number| number.parse::<i64>().is_err()) =>
            {
                return Err(decoder.wrong_type(node, name, "a whole number of seconds"));
            }
            Attribute::Timeout(unit) => {
                let time = decoder.time(node, name, unit.duration(&spec.handler))?;
                if let Some((least, most)) = shape.timeout_range
                    && !(least..=most).contains(&time)
                {
                    let why = format!("`{name}` should be between {least:?} and {most:?}, but is {time:?}");
                    decoder.error("bad-time", node.span, why.clone());
                    return Err(why);
                }
                spec.timeout = Some(time);
            }
            Attribute::WholeSeconds { negative } => {
                let Some(number) = node.as_number().and_then(|number| number.parse::<i64>().ok()) else {
                    return Err(decoder.wrong_type(node, name, "a whole number of seconds"));
                };
                spec.timeout = match u64::try_from(number) {
                    Ok(0) => None,
                    Ok(seconds) => Some(Duration::from_secs(seconds)),
                    Err(_) if negative => None,
                    Err(_) => {
                        let why = format!("`{name}` should not be less than 0, but is {number}");
                        decoder.error("bad-time", node.span, why.clone());
                        return Err(why);
                    }
                };
            }
            Attribute::Background => spec.background = decoder.flag(node, name)?,
            Attribute::Rewake => {
                spec.wake_agent = decoder.flag(node, name)?;
                spec.background |= spec.wake_agent;
            }
            Attribute::Once => spec.once = decoder.flag(node, name)?,
            Attribute::Strict => spec.strict = decoder.flag(node, name)?,
            Attribute::DryRun => {
                let dry_run = decoder.flag(node, name)?;
                info(spec, |info| info.dry_run = dry_run);
            }
            Attribute::Enabled => disabled(spec, decoder.flag(node, name)?),
            Attribute::Status => spec.status = Some(decoder.text(node, name)?),
            Attribute::Description => spec.description = Some(decoder.text(node, name)?),
            Attribute::Rule => {
                let text = decoder.text(node, name)?;
                spec.permission_rule = Some(text.parse::<PermissionRule>().map_err(|error| {
                    decoder.error("bad-rule", node.span, error.to_string());
                    error.to_string()
                })?);
            }
            Attribute::Input => {
                for (field, pattern) in decoder.pairs(node, name)? {
                    let matcher = decoder.pattern(&pattern, node.span)?;
                    spec.input.push(InputPattern { field, matcher });
                }
            }
            Attribute::Id => {
                let id = decoder.text(node, name)?;
                info(spec, |info| info.id = id);
            }
            Attribute::Order => {
                let order = node.as_number().and_then(|text| text.parse::<i32>().ok());
                spec.order = order.ok_or_else(|| decoder.wrong_type(node, name, "a whole number"))?;
            }
            Attribute::Rewrites => {
                let rewrites = decoder.flag(node, name)?;
                info(spec, |info| info.declares_rewrites = rewrites);
            }
            Attribute::OnFailure(words) => {
                let effect = effect(decoder, node, name, words)?;
                info(spec, |info| info.on_failure = Some(effect));
            }
            Attribute::InputField(field) => {
                let pattern = decoder.text(node, name)?;
                let matcher = decoder.pattern(&pattern, node.span)?;
                spec.input.push(InputPattern { field: field.to_owned(), matcher });
            }
            Attribute::FailClosed => {
                let effect = if decoder.flag(node, name)? { FailurePolicy::Closed } else { FailurePolicy::Open };
                info(spec, |info| info.on_failure = Some(effect));
            }
            Attribute::CommandOn(system) if system != std::env::consts::OS => {
                spec.unknown_keys.push((name.to_owned(), node.to_json()));
            }
            Attribute::OnFailureOr(words, quiet) => {
                let all: Vec<_> = words.iter().copied().chain([(quiet, FailurePolicy::Open)]).collect();
                let effect = effect(decoder, node, name, &all)?;
                let is_quiet = node.as_str() == Some(quiet);
                info(spec, |info| (info.on_failure, info.log_only_failures) = (Some(effect), is_quiet));
            }
            Attribute::OnTimeout(words) => {
                let effect = effect(decoder, node, name, words)?;
                info(spec, |info| info.on_timeout = Some(effect));
            }
            Attribute::Elsewhere => spec.unknown_keys.push((name.to_owned(), node.to_json())),
            Attribute::Nothing(why) => {
                decoder.warning("no-effect", node.span, format!("`{name}` has no effect: {why}"));
            }
            _ => return self.read_handler(decoder, node, spec),
        }
        Ok(())
    }

    fn read_handler(&self, decoder: &mut Decoder<'_>, node: &Node<'_>, spec: &mut HookSpec) -> Result<(), String> {
        let name = self.name;
        match (&mut spec.handler, self.says) {
            (HandlerSpec::Command(command), Attribute::Command) => match node.as_array() {
                Some(_) => command.run = CommandLine::Argv(decoder.texts(node, name)?),
                None => command.put_text(decoder.text(node, name)?),
            },
            (HandlerSpec::Command(command), Attribute::CommandOn(_)) => command.put_text(decoder.text(node, name)?),
            (HandlerSpec::Command(command), Attribute::OutputCap) => {
                let cap = node.as_number().and_then(|number| number.parse().ok());
                command.output_cap =
                    Some(cap.ok_or_else(|| decoder.wrong_type(node, name, "a whole number of bytes"))?);
            }
            (HandlerSpec::Command(command), Attribute::ShellCommand) => command.put_text(decoder.text(node, name)?),
            (HandlerSpec::Builtin(builtin), Attribute::ShellCommand) => builtin.name = decoder.text(node, name)?,
            (HandlerSpec::Command(command), Attribute::CommandFor(shell)) => {
                command.put_text(decoder.text(node, name)?);
                command.put_shell(shell_named(shell).unwrap_or_default());
            }
            (HandlerSpec::Command(command), Attribute::Args) => command.put_args(decoder.texts(node, name)?),
            (HandlerSpec::Command(command), Attribute::Shell) => {
                let shell = decoder.text(node, name)?;
                let Some(words) = shell_named(&shell) else {
                    decoder.unknown("unknown-shell", node.span, "shell", &shell, &["bash", "sh", "zsh", "powershell"]);
                    return Err(format!("unknown shell `{shell}`"));
                };
                command.put_shell(words);
            }
            (HandlerSpec::Command(command), Attribute::Env) => command.env_set = decoder.pairs(node, name)?,
            (HandlerSpec::Command(command), Attribute::EnvAllow) => command.env_allow = decoder.texts(node, name)?,
            (HandlerSpec::Command(command), Attribute::Cwd) => command.cwd = Some(decoder.text(node, name)?.into()),
            (HandlerSpec::Command(command), Attribute::Sandbox) => {
                command.sandbox = sandbox::read(decoder, node, name)?;
            }
            (HandlerSpec::Http(http), Attribute::Url) => {
                let url = decoder.text(node, name)?;
                let has_host = url.split_once("://").is_some_and(|(scheme, rest)| {
                    matches!(scheme.to_ascii_lowercase().as_str(), "http" | "https")
                        && !rest.is_empty()
                        && !rest.starts_with('/')
                });
                if !has_host {
                    // The text may hold secrets, so it is not repeated.
                    let why = format!("`{name}` should be an http or https URL");
                    decoder.error("bad-url", node.span, why.clone());
                    return Err(why);
                }
                http.url = url;
            }
            (HandlerSpec::Http(http), Attribute::Method) => http.method = decoder.text(node, name)?,
            (HandlerSpec::Http(http), Attribute::Headers) => http.headers = decoder.pairs(node, name)?,
            (HandlerSpec::Http(http), Attribute::HeaderVariables) => http.env_allow = decoder.texts(node, name)?,
            (HandlerSpec::Http(http), Attribute::Secret) => http.secret = Some(decoder.text(node, name)?),
            (HandlerSpec::Http(http), Attribute::SignedReply) => {
                http.require_signed_reply = decoder.flag(node, name)?;
            }
            (HandlerSpec::Builtin(builtin), Attribute::Builtin) => builtin.name = decoder.text(node, name)?,
            (HandlerSpec::Builtin(builtin), Attribute::Args | Attribute::FunctionArgs) => {
                builtin.args = decoder.texts(node, name)?;
            }
            (HandlerSpec::Other { settings, .. }, says) => {
                let _ = says;
                let mut members: Vec<String> = settings
                    .entries()
                    .into_iter()
                    .flatten()
                    .map(|entry| format!("{}:{}", RawJson::string(&entry.key()), entry.value()))
                    .collect();
                members.push(format!("{}:{}", RawJson::string(name), node.to_json()));
                *settings = RawJson::parse(format!("{{{}}}", members.join(","))).map_err(|error| error.to_string())?;
            }
            _ => {
                let kind = spec.handler.kind();
                let text = format!("`{name}` means nothing for a hook of type `{kind}`");
                decoder.warning("no-effect", node.span, text);
                spec.unknown_keys.push((name.to_owned(), node.to_json()));
            }
        }
        Ok(())
    }
}

/// A handler of this kind about which nothing is known yet.
pub(super) fn empty_handler(kind: &'static str) -> HandlerSpec {
    match kind {
        "command" => HandlerSpec::Command(CommandSpec::shell("")),
        "http" => HandlerSpec::Http(HttpSpec::new("")),
        "builtin" => HandlerSpec::Builtin(BuiltinSpec { name: String::new(), args: Vec::new() }),
        other => HandlerSpec::Other { kind: other.to_owned(), settings: RawJson::default() },
    }
}

/// A shell and the words before the text.
fn shell_named(name: &str) -> Option<Vec<String>> {
    let words: &[&str] = match name {
        "sh" | "bash" | "zsh" | "dash" | "fish" => &["-c"],
        "powershell" | "pwsh" => &["-NoProfile", "-NonInteractive", "-Command"],
        "cmd" => &["/C"],
        _ => return None,
    };
    let program = if name == "powershell" && cfg!(not(windows)) { "pwsh" } else { name };
    Some(std::iter::once(program).chain(words.iter().copied()).map(str::to_owned).collect())
}

pub(super) fn effect(
    decoder: &mut Decoder<'_>,
    node: &Node<'_>,
    name: &str,
    words: &[(&str, FailurePolicy)],
) -> Result<FailurePolicy, String> {
    let word = decoder.text(node, name)?;
    words.iter().find(|(have, _)| *have == word).map(|(_, effect)| *effect).ok_or_else(|| {
        let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        decoder.unknown("unknown-value", node.span, &format!("value of `{name}`"), &word, &known);
        format!("unknown value `{word}` of `{name}`")
    })
}

fn info(spec: &mut HookSpec, change: impl FnOnce(&mut HookInfo)) {
    change(Arc::make_mut(&mut spec.info));
}

/// All attributes that a hook can have beside its handler's own, for what a dialect cannot say.
pub(super) fn is_enabled(spec: &HookSpec) -> bool {
    spec.state != HookState::Disabled
}

/// The name that its file gives it. Hooks without one are called by their place, which has brackets.
pub(in crate::config) fn own_name(spec: &HookSpec) -> Option<&str> {
    Some(spec.info.id.as_str()).filter(|id| !id.contains('['))
}
