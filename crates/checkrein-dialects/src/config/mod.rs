//! Hook files: decoding a file to [`HookSpec`]s and settings, and encoding hooks as a file.
//!
//! [`Dialect::decode`] and [`Dialect::encode`] are the entry points. The loader of hook files, `check` and `convert` use
//! them. Decoding never drops a broken hook silently: it reports the hook and closes the gate that the hook guards.

mod audit;
mod decoder;
mod diagnostic;
pub(crate) mod duration;
mod event_filter;
mod format;
mod layout;
mod overrides;
mod packs;
mod prefilter;
mod restrict;
mod yaml;

pub use decoder::Decoder;
pub use diagnostic::{Diagnostic, Location, Severity};
pub use duration::parse as parse_duration;
pub use format::FileFormat;
pub(crate) use layout::written_matcher;
pub use layout::{
    Attribute, HandlerRow, HookFileLayout, HookKey, INCLUDE_KEYS, RuleKey, SANDBOX_KEYS, STRICT, SandboxKey, TimeUnit,
    UNLIMITED,
};
pub(crate) use layout::{lost_attributes, unwritable};
pub use overrides::{HookOverride, OVERRIDE_KEYS};
pub use packs::PACK_KEYS;
pub(crate) use packs::{default_params, rules_of};
pub use restrict::{RESTRICT_KEYS, RestrictKey, Restrictions};
pub(crate) use yaml::printable;

use std::fmt;

use checkrein_core::{EventFilter, Scope};

use crate::spec::HookSpec;
use crate::table::Dialect;
use checkrein_document::{Format, LineColumn};

/// Hook files of a dialect.
#[derive(Debug, Clone, Copy)]
pub struct ConfigTable {
    /// Locations, in the order in which their hooks run.
    pub files: &'static [FileRow],
    /// The format of the files.
    pub format: FileFormat,
    /// `true` if JSON may have comments and trailing commas.
    pub comments: bool,
    /// Location of hooks in plugins of the agent. `None`: not known.
    pub plugin: Option<PluginTable>,
    /// Criterion for duplicate hooks, of which only one runs.
    pub dedup_key: DedupKey,
    /// Translates patterns with a special meaning to the dialect's grammar. `None`: there are none.
    pub pattern: Option<fn(&str) -> Option<String>>,
    /// Description of the place where users insert the output of [`Dialect::encode`] by hand. `None`: one of the files.
    pub by_hand: Option<&'static str>,
    /// `true` if its agent rejects unknown keys. Otherwise it ignores them, so they are no errors.
    pub rejects_unknown_keys: bool,
}

/// A location of hook files.
#[derive(Debug, Clone, Copy)]
pub struct FileRow {
    /// Scope of the files.
    pub scope: Scope,
    /// Start of the path.
    pub base: PathBase,
    /// Path. `/*` at its end matches all files of a directory with one of the extensions, sorted by name. `/*/` inside it
    /// matches each directory there, which is a plugin.
    pub path: &'static str,
    /// Possible extensions. Empty: the path is complete.
    pub extensions: &'static [&'static str],
    /// `true` if the settings of these files apply to all dialects. Only for an administrator's files.
    pub rules: bool,
}

impl FileRow {
    /// A file.
    pub const fn new(scope: Scope, base: PathBase, path: &'static str) -> Self {
        Self { scope, base, path, extensions: &[], rules: false }
    }

    /// Adds possible extensions.
    #[must_use]
    pub const fn with(mut self, extensions: &'static [&'static str]) -> Self {
        self.extensions = extensions;
        self
    }

    /// Makes the settings apply to all dialects.
    #[must_use]
    pub const fn ruling(mut self) -> Self {
        self.rules = true;
        self
    }
}

/// Start of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathBase {
    /// Root of the file system.
    Root,
    /// Home directory of the user.
    Home,
    /// Config directory of the user: `$XDG_CONFIG_HOME` or `~/.config`.
    Config,
    /// Directory in a variable. If it is not set, this directory in the home directory.
    Variable(&'static str, &'static str),
    /// Directory in the first of these variables that is set. If none is set, this directory in the home directory.
    FirstVariable(&'static [&'static str], &'static str),
    /// Directory in which the agent was started.
    Project,
    /// Directory in which the agent was started, or the nearest parent directory that contains the file.
    Upwards {
        /// Maximum number of steps up.
        steps: usize,
        /// `true` if the search ends at the root of the repository.
        within_repository: bool,
    },
    /// Root of the repository.
    Repository,
}

impl PathBase {
    /// Returns the variables that name the directory, and its usual path in the home directory. Without variables, both are empty.
    pub fn variables(&self) -> (&[&'static str], &'static str) {
        match self {
            Self::Variable(name, usual) => (std::slice::from_ref(name), usual),
            Self::FirstVariable(names, usual) => (names, usual),
            Self::Root | Self::Home | Self::Config | Self::Project | Self::Upwards { .. } | Self::Repository => {
                (&[], "")
            }
        }
    }
}

/// Hooks in plugins of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PluginTable {
    /// Path of the file in the plugin's directory.
    pub file: &'static str,
    /// Variable with the plugin's directory. `${NAME}` in words of a command is replaced by it.
    pub root_variable: &'static str,
}

impl PluginTable {
    /// Hooks in `hooks/hooks.json`, as in Claude Code's plugins.
    pub const fn new(root_variable: &'static str) -> Self {
        Self { file: "hooks/hooks.json", root_variable }
    }
}

/// Criterion for duplicate hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DedupKey {
    /// No hooks are duplicates.
    Never,
    /// Equal handlers and failure policies.
    Handler,
    /// Equal definitions.
    Everything,
    /// Equal definitions and names.
    EverythingAndName,
}

impl DedupKey {
    /// Returns a key that only duplicates share.
    pub(crate) fn identity(self, spec: &HookSpec) -> Option<String> {
        match self {
            Self::Never => None,
            // A copy in the background, or with another failure policy, must not replace a guard.
            Self::Handler => {
                let info = &spec.info;
                let policy = (spec.background, info.on_failure, info.on_timeout, &spec.permission_rule, info.dry_run);
                Some(format!("{:?} {:?} {policy:?}", spec.handler.identity(), spec.unknown_keys))
            }
            Self::Everything => Some(spec.definition()),
            Self::EverythingAndName => Some(format!("{} {:?}", spec.definition(), layout::own_name(spec))),
        }
    }
}

/// Options for decoding a file.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// Agent whose hooks are read, if the file has hooks of several agents.
    pub agent: Option<String>,
    /// Limits the result to hooks that can match an event. Problems of other hooks may stay unreported.
    pub only: Option<EventFilter>,
    /// Dialects of the host, which files can name too.
    pub dialects: Vec<&'static Dialect>,
}

impl DecodeOptions {
    /// Reads the hooks of this agent.
    #[must_use]
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.agent = Some(name.into());
        self
    }

    /// Reads only hooks that can match an event.
    #[must_use]
    pub fn only(mut self, filter: EventFilter) -> Self {
        self.only = Some(filter);
        self
    }

    /// Adds a dialect of the host.
    #[must_use]
    pub fn dialect(mut self, dialect: &'static Dialect) -> Self {
        self.dialects.push(dialect);
        self
    }

    /// Returns the dialect with this name. checkrein's dialects take precedence over those of the host.
    pub fn find_dialect(&self, name: &str) -> Option<&'static Dialect> {
        self.known_dialects().find(|dialect| dialect.name == name)
    }

    /// Lists all dialects that a file can name.
    pub fn known_dialects(&self) -> impl Iterator<Item = &'static Dialect> {
        crate::ALL.iter().chain(&self.dialects).copied()
    }
}

/// Content of a file.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Decoded {
    /// Hooks, in the order of the file.
    pub hooks: Vec<HookSpec>,
    /// Problems of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// Settings that apply to other hooks or files.
    pub settings: Settings,
    /// `true` if the file cannot be read. It then has one broken hook, which closes all gates.
    pub unreadable: bool,
}

/// Settings of a file that apply to other hooks or files.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// `true` if the file disables all hooks that it [covers](Scope::covers) (`disableAllHooks`).
    pub disable_all: Option<bool>,
    /// Ids of hooks to disable, of those that the file covers.
    pub disable: Vec<String>,
    /// Changes of hooks that the file covers.
    pub overrides: Vec<HookOverride>,
    /// `true` if only managed hooks run (`allowManagedHooksOnly`).
    pub managed_only: Option<bool>,
    /// Patterns of the URLs that HTTP hooks may call.
    pub http_urls: Option<Vec<String>>,
    /// Names of variables that HTTP hooks may send.
    pub http_env: Option<Vec<String>>,
    /// `true` if an agent's rules apply even where they let a later allow cancel a deny.
    pub exact: Option<bool>,
    /// `true` if environment variables may skip hooks, also under an agent.
    pub allow_skip: Option<bool>,
    /// `true` if an agent may start sub-agents whose tools run without any hook. `false`: the user is asked.
    pub unguarded_subagents: Option<bool>,
    /// `true` if a denied command becomes one that prints the reason and fails, under agents that show no reasons.
    pub deny_by_command: Option<bool>,
    /// `true` if a call that hooks ask about waits for the user's approval, under agents that cannot ask.
    pub approvals_wait: Option<bool>,
    /// `false` turns the decision log off.
    pub log: Option<bool>,
    /// Endpoint that gets notifications about questions that wait for the user.
    pub approval_webhook: Option<WebhookSettings>,
    /// `true` if `checkrein hook` starts the resident process when it does not run.
    pub resident: Option<bool>,
    /// Audit log.
    pub audit: Option<AuditSettings>,
    /// Restrictions of hooks that are not managed. Only in an administrator's file.
    pub restrict: Option<Restrictions>,
    /// `true` if agents may not change checkrein's own files. Only in an administrator's file.
    pub protect_self: Option<bool>,
    /// Names of the host's variables that hooks with the host's environment get, even if the names look like secrets.
    pub env_allow: Option<Vec<String>>,
    /// Use of warm interpreters by the hooks of this file.
    pub warm: Option<crate::spec::Warm>,
    /// `true` if the hooks of this file and of the files that it includes are dry runs.
    pub dry_run: bool,
    /// Directories whose projects need no approval, as written.
    pub trusted_paths: Option<Vec<String>>,
    /// Keys whose signatures in a project's lockfile approve hooks.
    pub trusted_keys: Option<Vec<String>>,
    /// `true` if a rule of the file may use the history of its session. The rule can be for other events.
    pub uses_history: bool,
    /// Included files of other dialects.
    pub includes: Vec<Include>,
    /// Keys in the file with their lines. Keys in objects have paths such as `restrict.scopes`.
    pub lines: Vec<(String, u32)>,
}

impl Settings {
    /// Returns the line of a key, if the file has it.
    pub fn line_of(&self, key: &str) -> Option<u32> {
        self.lines.iter().find(|(name, _)| name == key).map(|(_, line)| *line)
    }
}

/// Endpoint that gets notifications about questions that wait for the user.
#[derive(Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebhookSettings {
    /// URL of the endpoint.
    pub url: String,
    /// Secret of the signatures. Without one, requests are not signed, and no answer is accepted.
    pub secret: Option<String>,
    /// File with the secret. Only the user can read it.
    pub secret_file: Option<String>,
    /// File with certificates that are trusted in addition.
    pub ca_file: Option<String>,
    /// Names of variables that `$NAME` in the secret may name.
    pub env: Vec<String>,
}

/// Without the secret, and without the URL, which may contain one.
impl fmt::Debug for WebhookSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebhookSettings").field("ca_file", &self.ca_file).finish_non_exhaustive()
    }
}

/// Settings of the audit log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditSettings {
    /// Path of the log, as written. `None`: the default path.
    pub path: Option<String>,
    /// `true` if gates close when the log cannot be written.
    pub closed: bool,
    /// Size in bytes at which a new file is started.
    pub max_size: Option<u64>,
    /// Age of the first line at which a new file is started.
    pub max_age: Option<std::time::Duration>,
}

/// An include of files of another dialect.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Include {
    /// Dialect of the files.
    pub dialect: &'static str,
    /// Path, as written. `None`: all files of that dialect.
    pub path: Option<String>,
    /// Failure policy of the hooks. `None`: that of their dialect.
    pub on_failure: Option<checkrein_core::FailurePolicy>,
    /// `true` if the hooks are dry runs.
    pub dry_run: bool,
    /// Names of the host's variables that the hooks get, even if the names look like secrets.
    pub env_allow: Vec<String>,
    /// `true` if the hooks also run under their own agent, which runs them itself.
    pub under_own_agent: bool,
}

/// Hooks encoded as a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Encoded {
    /// Text of the file.
    pub text: String,
    /// Everything that the file cannot express.
    pub lost: Vec<ConversionLoss>,
}

/// A hook, or a part of it, that a dialect cannot express.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConversionLoss {
    /// Index of the hook.
    pub hook: usize,
    /// The lost part, or the reason for losing the whole hook.
    pub what: String,
    /// `true` if the whole hook is lost.
    pub all: bool,
}

impl ConversionLoss {
    /// Loss of a part of a hook.
    pub fn part(hook: usize, what: impl Into<String>) -> Self {
        Self { hook, what: what.into(), all: false }
    }

    /// Loss of a whole hook, with the reason.
    pub fn whole(hook: usize, why: impl Into<String>) -> Self {
        Self { hook, what: why.into(), all: true }
    }
}

impl Dialect {
    /// Decodes a file.
    pub fn decode(&'static self, file: &str, scope: Scope, text: &str, format: Format) -> Decoded {
        self.decode_with(file, scope, text, format, &DecodeOptions::default())
    }

    /// Decodes a file with options.
    pub fn decode_with(
        &'static self,
        file: &str,
        scope: Scope,
        text: &str,
        format: Format,
        options: &DecodeOptions,
    ) -> Decoded {
        let format = if format == Format::Json && self.config.comments { Format::Jsonc } else { format };
        let mut decoder = Decoder::new(self, file, scope, text, options);
        // Events are recorded for rules at other events too.
        decoder.settings.uses_history = self.has_all_events && mentions_history(text);
        if let Some(filter) = &decoder.filter
            && !decoder.settings.uses_history
            && prefilter::has_no_match(self, text, format, filter)
        {
            return Decoded::default();
        }
        // An empty file has no hooks and is valid.
        if text.trim_start_matches('\u{feff}').trim().is_empty() {
            return decoder.finish();
        }
        if let Some(language) = unread_language(file) {
            decoder.not_read(language);
            return decoder.finish();
        }
        match checkrein_document::parse(text, format) {
            Ok(parsed) => {
                for problem in &parsed.problems {
                    decoder.warning("suspicious-document", problem.span(), problem.to_string());
                }
                // A YAML file with only comments is empty.
                if format != Format::Yaml || !parsed.root.is_null() {
                    self.config.format.decode(&mut decoder, &parsed.root);
                }
            }
            Err(error) => {
                decoder.error("not-readable", error.span, error.message.clone());
                decoder.unreadable(&error.message, error.place);
            }
        }
        decoder.finish()
    }

    /// Decodes a program that is a hook. Its name is the event.
    pub fn decode_script(&'static self, file: &str, scope: Scope, executable: bool) -> Decoded {
        let options = DecodeOptions::default();
        let mut decoder = Decoder::new(self, file, scope, "", &options);
        decoder.script(executable);
        decoder.finish()
    }

    /// Returns the result for a file that exists and cannot be read, for this reason. All gates are closed, because the file
    /// could guard any of them.
    pub fn unreadable(&'static self, file: &str, scope: Scope, why: Diagnostic) -> Decoded {
        let options = DecodeOptions::default();
        let mut decoder = Decoder::new(self, file, scope, "", &options);
        let place = why.at.as_ref().map_or(LineColumn { line: 1, column: 1 }, |at| at.place);
        decoder.unreadable(&why.message, place);
        let mut decoded = decoder.finish();
        decoded.diagnostics.push(why);
        decoded
    }

    /// Layout for the prefilter. `None`: files of this dialect are parsed in full.
    ///
    /// The prefilter compares matchers by the dialect's own grammar, so no event may have another one.
    fn prefilter_layout(&self) -> Option<&'static HookFileLayout> {
        let is_plain = self.config.pattern.is_none() && self.events.iter().all(|row| row.grammar.is_none());
        match self.config.format {
            FileFormat::Layout(layout) if is_plain => Some(layout),
            _ => None,
        }
    }

    /// Encodes hooks as a file of this dialect. `None`: the dialect has no such files.
    pub fn encode(&self, hooks: &[&HookSpec]) -> Option<Encoded> {
        self.config.format.encode(self, hooks)
    }
}

/// `true` if a text with rules has a word that rules need to use the history. A text that has it otherwise only costs the time to
/// record events.
fn mentions_history(text: &str) -> bool {
    ["history", "label", "session.turn"].iter().any(|word| text.contains(word))
}

/// Returns the language of a file that checkrein does not read, by its extension.
fn unread_language(file: &str) -> Option<&'static str> {
    const UNREAD: [(&str, &str); 1] = [("hcl", "HCL")];
    let extension = std::path::Path::new(file).extension()?;
    UNREAD.iter().find(|(unread, _)| extension.eq_ignore_ascii_case(unread)).map(|(_, language)| *language)
}
