//! Attributes of hooks in files, and the keys that dialects have for them.
//!
//! Layouts list their keys as [`HookKey`]s. Reading a key sets its attribute in a `HookSpec`.

use std::sync::Arc;
use std::time::Duration;

use checkrein_core::{FailurePolicy, HookInfo, HookState, RawJson};

use super::rule::RuleKey;
use super::{Decoder, HookFileLayout, sandbox, set_enabled};
use crate::spec::{
    BuiltinSpec, CommandLine, CommandSpec, HandlerSpec, HookSpec, HttpSpec, InputPattern, PermissionRule,
};
use checkrein_document::Node;

/// An attribute of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attribute {
    /// Kind of handler.
    Type,
    /// Command: text for a shell, or a list of words.
    Command,
    /// Arguments. The command is then a program.
    Args,
    /// Command on this operating system, instead of `Command`. Ignored and kept on other systems.
    CommandOn(&'static str),
    /// Command as text for a shell, or the name of a builtin.
    ShellCommand,
    /// Arguments of the builtin.
    FunctionArgs,
    /// Name of the shell.
    Shell,
    /// URL.
    Url,
    /// HTTP method.
    Method,
    /// HTTP headers.
    Headers,
    /// Variables of the host that headers may contain.
    HeaderVariables,
    /// Secret that signs requests.
    Secret,
    /// Flag: replies must be signed.
    SignedReply,
    /// File with trusted certificates.
    CaFile,
    /// Name of the builtin.
    Builtin,
    /// Timeout.
    Timeout(TimeUnit),
    /// Timeout in whole seconds. 0 is the default.
    WholeSeconds {
        /// `true` if negative numbers are the default too. Otherwise they are errors.
        negative: bool,
    },
    /// Flag: the hook runs in the background.
    Background,
    /// Flag: the hook runs in the background and its reply wakes the agent.
    Rewake,
    /// Flag: the hook runs once in a session.
    Once,
    /// Permission rule that the tool call must match.
    Rule,
    /// Patterns that fields of the tool's input must match.
    Input,
    /// Pattern that this field of the tool's input must match.
    InputField(&'static str),
    /// Status line while the hook runs.
    Status,
    /// Failure policy, with the words for each.
    OnFailure(&'static [(&'static str, FailurePolicy)]),
    /// Failure policy, and a word for a failure that is open and only logged.
    OnFailureOr(&'static [(&'static str, FailurePolicy)], &'static str),
    /// Flag: the hook fails closed.
    FailClosed,
    /// Policy at a timeout, with the words for each.
    OnTimeout(&'static [(&'static str, FailurePolicy)]),
    /// Name.
    Id,
    /// Description.
    Description,
    /// Flag: the hook is enabled.
    Enabled,
    /// Variables to set.
    Env,
    /// Variables of the host to pass on.
    EnvAllow,
    /// Limit of the output that is read, in bytes.
    OutputCap,
    /// Working directory.
    Cwd,
    /// Sandbox.
    Sandbox,
    /// Use of a warm interpreter.
    Warm,
    /// Order among hooks.
    Order,
    /// Flag: the hook rewrites.
    Rewrites,
    /// Flag: invalid replies fail in all cases.
    Strict,
    /// Flag: the hook is a dry run.
    DryRun,
    /// Flag: words of the command contain variables.
    Variables,
    /// Key of a rule.
    OfRule(RuleKey),
    /// Setting of the handler.
    Setting,
    /// Command for this shell.
    CommandFor(&'static str),
    /// Key for another system or only for the agent. It is kept.
    Elsewhere,
    /// Key without effect, and the reason.
    Nothing(&'static str),
}

impl Attribute {
    /// Noun phrase for messages: "its timeout".
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
            Self::Secret => "its signing secret",
            Self::SignedReply => "that replies must be signed",
            Self::CaFile => "trusted certificates",
            Self::Builtin => "its builtin",
            Self::Timeout(_) | Self::WholeSeconds { .. } => "its timeout",
            Self::Background => "that it runs in the background",
            Self::Rewake => "that it wakes the agent",
            Self::Once => "that it runs once in a session",
            Self::Rule => "its permission rule (`if`)",
            Self::Input | Self::InputField(_) => "its patterns for the tool input",
            Self::Status => "its status message",
            Self::OnFailure(_) | Self::OnFailureOr(..) | Self::FailClosed => "its failure policy",
            Self::OnTimeout(_) => "its timeout policy",
            Self::Id => "its name",
            Self::Description => "its description",
            Self::Enabled => "whether it is enabled",
            Self::Env => "its environment variables",
            Self::EnvAllow => "the host variables that it gets",
            Self::OutputCap => "its output limit",
            Self::Cwd => "its working directory",
            Self::Sandbox => "its sandbox",
            Self::Warm => "its use of warm interpreters",
            Self::Order => "its order",
            Self::Rewrites => "that it rewrites",
            Self::Variables => "the variables in its command",
            Self::DryRun => "that it is a dry run",
            Self::Strict => "that its replies are checked strictly",
            Self::OfRule(key) => key.label(),
            Self::Setting | Self::Elsewhere | Self::Nothing(_) => "a setting",
        }
    }
}

/// A key of a hook.
#[derive(Debug, Clone, Copy)]
pub struct HookKey {
    /// Name of the key.
    pub name: &'static str,
    /// Attribute that the key sets.
    pub says: Attribute,
}

/// Unit of timeouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Whole seconds. 0 is the default.
    WholeSeconds,
    /// Whole seconds. 0 means 1.
    WholeSecondsFromOne,
    /// Milliseconds for commands, seconds for other handlers.
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

/// checkrein's own words for failure policies.
pub(super) const EFFECTS: &[(&str, FailurePolicy)] =
    &[("open", FailurePolicy::Open), ("closed", FailurePolicy::Closed), ("ask", FailurePolicy::Ask)];

impl HookKey {
    /// A key.
    pub const fn new(name: &'static str, says: Attribute) -> Self {
        Self { name, says }
    }

    /// Reads the value of the key into a hook.
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
                    let why = format!("`{name}` should be between {least:?} and {most:?}, but is `{time:?}`");
                    decoder.error("bad-time", node.span, why.clone());
                    return Err(why);
                }
                spec.timeout = Some(time);
            }
            Attribute::WholeSeconds { negative } => {
                // The agent accepts a number in quotes.
                let written = node.as_number().or_else(|| node.as_str());
                let Some(number) = written.and_then(|number| number.parse::<i64>().ok()) else {
                    return Err(decoder.wrong_type(node, name, "a whole number of seconds"));
                };
                spec.timeout = match u64::try_from(number) {
                    Ok(0) => None,
                    Ok(seconds) => Some(Duration::from_secs(seconds)),
                    Err(_) if negative => None,
                    Err(_) => {
                        let why =
                            format!("`{name}` should not be below 0, but is `{number}`; omit it to use the default");
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
            Attribute::Enabled => set_enabled(spec, decoder.flag(node, name)?),
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
                    let matcher = decoder.text_pattern(&pattern, node.span)?;
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
                let matcher = decoder.text_pattern(&pattern, node.span)?;
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
            (HandlerSpec::Command(command), Attribute::Warm) => command.warm = Some(decoder.warm(node, name)?),
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
                    // The message must not contain the value, which may have secrets.
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
            (HandlerSpec::Http(http), Attribute::CaFile) => {
                let file = decoder.text(node, name)?;
                if !file.starts_with('/') && !file.starts_with("~/") && !std::path::Path::new(&file).is_absolute() {
                    let why = format!("`{name}` is `{file}`; write an absolute path, or one that starts with `~/`");
                    decoder.error("bad-path", node.span, why.clone());
                    return Err(why);
                }
                http.ca_file = Some(file);
            }
            (HandlerSpec::Builtin(builtin), Attribute::Builtin) => builtin.name = decoder.text(node, name)?,
            (HandlerSpec::Builtin(builtin), Attribute::Args | Attribute::FunctionArgs) => {
                builtin.args = decoder.texts(node, name)?;
            }
            (HandlerSpec::Rule(rule), Attribute::OfRule(key)) => key.read(decoder, node, name, rule)?,
            (HandlerSpec::Other { settings, .. }, _) => {
                let mut members: Vec<String> = settings
                    .entries()
                    .into_iter()
                    .flatten()
                    .map(|entry| format!("{}:{}", RawJson::string(&entry.key()), entry.value()))
                    .collect();
                members.push(format!("{}:{}", RawJson::string(name), node.to_json()));
                *settings = RawJson::parse(format!("{{{}}}", members.join(","))).map_err(|error| error.to_string())?;
            }
            // The guard that its author expects would be missing.
            (_, Attribute::OfRule(_)) => {
                let why = format!("`{name}` is a key of rules, and this hook is a `{}` hook", spec.handler.kind());
                decoder.error("rule-key", node.span, why.clone()).help =
                    Some("write two hooks, or remove the key".to_owned());
                return Err(why);
            }
            _ => {
                let kind = spec.handler.kind();
                let text = format!("`{name}` has no effect on a `{kind}` hook");
                decoder.warning("no-effect", node.span, text);
                spec.unknown_keys.push((name.to_owned(), node.to_json()));
            }
        }
        Ok(())
    }
}

/// Returns a handler of this kind without any settings.
pub(super) fn empty_handler(kind: &'static str) -> HandlerSpec {
    match kind {
        "command" => HandlerSpec::Command(CommandSpec::shell("")),
        "http" => HandlerSpec::Http(HttpSpec::new("")),
        "builtin" => HandlerSpec::Builtin(BuiltinSpec { name: String::new(), args: Vec::new() }),
        "rule" => HandlerSpec::Rule(Box::default()),
        other => HandlerSpec::Other { kind: other.to_owned(), settings: RawJson::default() },
    }
}

/// Returns the shell with this name and its arguments before the command text.
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

/// `true` if the hook is not disabled.
pub(super) fn is_enabled(spec: &HookSpec) -> bool {
    spec.state != HookState::Disabled
}

/// Name of the hook in its file. The default names of hooks without one contain brackets.
pub(in crate::config) fn own_name(spec: &HookSpec) -> Option<&str> {
    Some(spec.info.id.as_str()).filter(|id| !id.contains('['))
}
