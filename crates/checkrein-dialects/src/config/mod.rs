//! Hooks in files.

mod audit;
mod decoder;
mod diagnostic;
pub(crate) mod duration;
mod event_filter;
mod format;
mod layout;
mod prefilter;
mod restrict;
mod yaml;

pub use decoder::Decoder;
pub use diagnostic::{Diagnostic, Location, Severity};
pub use duration::parse as parse_duration;
pub use format::FileFormat;
pub(crate) use layout::written_matcher;
pub use layout::{
    Attribute, HandlerRow, HookFileLayout, HookKey, INCLUDE_KEYS, SANDBOX_KEYS, STRICT, SandboxKey, TimeUnit, UNLIMITED,
};
pub(crate) use layout::{unsaid, unwritable};
pub use restrict::{RESTRICT_KEYS, RestrictKey, Restrictions};
pub(crate) use yaml::printable;

use checkrein_core::{EventFilter, Scope};

use crate::spec::HookSpec;
use crate::table::Dialect;
use checkrein_document::{Format, LineColumn};

/// A dialect's files.
#[derive(Debug, Clone, Copy)]
pub struct ConfigTable {
    /// Where they are, in the order in which their hooks run.
    pub files: &'static [FileRow],
    /// The format of the files.
    pub format: FileFormat,
    /// Whether JSON may have comments and trailing commas.
    pub comments: bool,
    /// Where plugins of its agent keep hooks. `None`: nowhere that is known.
    pub plugin: Option<PluginTable>,
    /// When two hooks are the same, so that only one of them runs.
    pub dedup_key: DedupKey,
    /// Patterns with a meaning of their own, and what they are in the dialect's grammar. `None`: there are none.
    pub pattern: Option<fn(&str) -> Option<String>>,
    /// Where a user who adds hooks himself puts what [`Dialect::encode`] writes, in words. `None`: into one of the files.
    pub by_hand: Option<&'static str>,
}

/// A place where files are.
#[derive(Debug, Clone, Copy)]
pub struct FileRow {
    /// Whose they are.
    pub scope: Scope,
    /// Where the path starts.
    pub base: PathBase,
    /// The path. After `/*` at its end, all files of a directory with one of the extensions, by name. `/*/` in it stands for
    /// each directory there, and what is found belongs to the plugin that the directory is.
    pub path: &'static str,
    /// Extensions that it is tried with. Empty: it is complete.
    pub extensions: &'static [&'static str],
    /// Whether what these files say holds for those of all dialects: an administrator's.
    pub rules: bool,
}

impl FileRow {
    /// One file.
    pub const fn new(scope: Scope, base: PathBase, path: &'static str) -> Self {
        Self { scope, base, path, extensions: &[], rules: false }
    }

    /// With one of these extensions.
    #[must_use]
    pub const fn with(mut self, extensions: &'static [&'static str]) -> Self {
        self.extensions = extensions;
        self
    }

    /// With rule over the files of all dialects.
    #[must_use]
    pub const fn ruling(mut self) -> Self {
        self.rules = true;
        self
    }
}

/// Where a path starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathBase {
    /// At the root of the file system.
    Root,
    /// In the user's home directory.
    Home,
    /// In the user's directory for settings, `$XDG_CONFIG_HOME` or `~/.config`.
    Config,
    /// In the directory that a variable names, else in this one of the home directory.
    Variable(&'static str, &'static str),
    /// The same with several variables: the first that is set counts.
    FirstVariable(&'static [&'static str], &'static str),
    /// In the directory where the agent was started.
    Project,
    /// There, or in the nearest directory above it that has the file: so many steps up, and not past the root of the
    /// repository if `within_repository`.
    Upwards {
        /// How many steps.
        steps: usize,
        /// Whether the root of the repository is the last.
        within_repository: bool,
    },
    /// At the root of the repository.
    Repository,
}

/// How plugins of an agent bring hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PluginTable {
    /// The file, from the plugin's own directory.
    pub file: &'static str,
    /// The variable that has the plugin's own directory; `${NAME}` is filled in in words of a command.
    pub root_variable: &'static str,
}

impl PluginTable {
    /// Hooks in `hooks/hooks.json` of the plugin, as Claude Code's plugins have them.
    pub const fn new(root_variable: &'static str) -> Self {
        Self { file: "hooks/hooks.json", root_variable }
    }
}

/// When two hooks are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DedupKey {
    /// Never.
    Never,
    /// When their handlers are.
    Handler,
    /// When all that is said of them is.
    Everything,
    /// The same, and their names too, if they have any.
    EverythingAndName,
}

impl DedupKey {
    /// What two hooks have in common if they are the same.
    pub(crate) fn identity(self, spec: &HookSpec) -> Option<String> {
        match self {
            Self::Never => None,
            // A copy that nobody waits for, or that fails in another way, is no copy: it must not stand in for a guard.
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

/// What a caller can say about how a file is read.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct DecodeOptions {
    /// Whose hooks are wanted, where a file has those of several agents.
    pub agent: Option<String>,
    /// Only hooks that may run at an event are wanted. What is wrong with others need not be found.
    pub only: Option<EventFilter>,
    /// Dialects of the host, which files can name as they name checkrein's.
    pub dialects: Vec<&'static Dialect>,
}

impl DecodeOptions {
    /// Wants the hooks of this agent.
    #[must_use]
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.agent = Some(name.into());
        self
    }

    /// Wants only the hooks that may run at an event.
    #[must_use]
    pub fn only(mut self, filter: EventFilter) -> Self {
        self.only = Some(filter);
        self
    }

    /// Lets files name this dialect of the host.
    #[must_use]
    pub fn dialect(mut self, dialect: &'static Dialect) -> Self {
        self.dialects.push(dialect);
        self
    }

    /// The dialect that a file means by this name: one of checkrein's, else one of the host's.
    pub fn find_dialect(&self, name: &str) -> Option<&'static Dialect> {
        self.known_dialects().find(|dialect| dialect.name == name)
    }

    /// All dialects that a file can name.
    pub fn known_dialects(&self) -> impl Iterator<Item = &'static Dialect> {
        crate::ALL.iter().chain(&self.dialects).copied()
    }
}

/// What a file says.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Decoded {
    /// Its hooks, in order.
    pub hooks: Vec<HookSpec>,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
    /// What it says about other files.
    pub settings: Settings,
    /// Whether nothing of it can be read. Its hooks are then one that closes all gates which it could have.
    pub unreadable: bool,
}

/// What a file says about hooks of others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// Whether no hooks run, but for those that an administrator has set.
    pub disable_all: Option<bool>,
    /// Whether only those run that an administrator has set.
    pub managed_only: Option<bool>,
    /// Patterns of the URLs that hooks may call.
    pub http_urls: Option<Vec<String>>,
    /// Names of variables that hooks may send.
    pub http_env: Option<Vec<String>>,
    /// Whether an agent's rules are followed where they are not safe.
    pub exact: Option<bool>,
    /// Whether the environment may say that hooks are skipped, also under an agent.
    pub allow_skip: Option<bool>,
    /// Where what hooks decide is written down.
    pub audit: Option<AuditSettings>,
    /// What hooks of others may be, if an administrator's file says so.
    pub restrict: Option<Restrictions>,
    /// Whether checkrein's own files are kept from agents, if an administrator's file says so.
    pub protect_self: Option<bool>,
    /// Names of the host's variables that are passed on to hooks which inherit the environment, whatever they look like.
    pub env_allow: Option<Vec<String>>,
    /// `true` if the hooks of this file and of the files that it includes are dry runs.
    pub dry_run: bool,
    /// Directories whose projects need no approval, as they are written.
    pub trusted_paths: Option<Vec<String>>,
    /// Keys whose owners may approve hooks for this user, in a project's lockfile.
    pub trusted_keys: Option<Vec<String>>,
    /// Files of other dialects whose hooks run as well.
    pub includes: Vec<Include>,
    /// The keys that are said, with their lines. Those in objects as in `restrict.scopes`.
    pub lines: Vec<(String, u32)>,
}

impl Settings {
    /// The line of a key, if it is said.
    pub fn line_of(&self, key: &str) -> Option<u32> {
        self.lines.iter().find(|(said, _)| said == key).map(|(_, line)| *line)
    }
}

/// Where what hooks decide is written down, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditSettings {
    /// The file, as it is written. `None`: the usual one.
    pub path: Option<String>,
    /// Whether gates close if nothing can be written.
    pub closed: bool,
    /// How many bytes a file may have before another is started.
    pub max_size: Option<u64>,
    /// How old its first line may get.
    pub max_age: Option<std::time::Duration>,
}

/// A file of another dialect whose hooks run as well.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Include {
    /// Whose language it is in.
    pub dialect: &'static str,
    /// Its path, as it is written. `None`: all files of that dialect, wherever they are.
    pub path: Option<String>,
    /// What is done when its hooks fail, if it is not as their own dialect says.
    pub on_failure: Option<checkrein_core::FailurePolicy>,
    /// `true` if its hooks are dry runs.
    pub dry_run: bool,
    /// Names of the host's variables that its hooks get, whatever they look like.
    pub env_allow: Vec<String>,
    /// Whether its hooks run also under the agent that the file belongs to, which runs them itself.
    pub under_own_agent: bool,
}

/// Hooks as a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Encoded {
    /// The file.
    pub text: String,
    /// What it cannot say: the place of the hook in the list, and what is lost.
    pub lost: Vec<ConversionLoss>,
}

/// Something about a hook that a dialect has no words for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConversionLoss {
    /// The place of the hook in the list.
    pub hook: usize,
    /// What is lost.
    pub what: String,
    /// Whether the whole hook is.
    pub all: bool,
}

impl ConversionLoss {
    /// Something about a hook.
    pub fn part(hook: usize, what: impl Into<String>) -> Self {
        Self { hook, what: what.into(), all: false }
    }

    /// A whole hook, and why.
    pub fn whole(hook: usize, why: impl Into<String>) -> Self {
        Self { hook, what: why.into(), all: true }
    }
}

impl Dialect {
    /// Reads a file.
    pub fn decode(&'static self, file: &str, scope: Scope, text: &str, format: Format) -> Decoded {
        self.decode_with(file, scope, text, format, &DecodeOptions::default())
    }

    /// Reads a file, with a say in how.
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
        if let Some(filter) = &decoder.filter
            && prefilter::has_no_match(self, text, format, filter)
        {
            return Decoded::default();
        }
        // An empty file says nothing, and that is fine.
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
                // A YAML file in which all is commented out is as good as an empty one.
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

    /// The hook that a program is, by its name.
    pub fn decode_script(&'static self, file: &str, scope: Scope, executable: bool) -> Decoded {
        let options = DecodeOptions::default();
        let mut decoder = Decoder::new(self, file, scope, "", &options);
        decoder.script(executable);
        decoder.finish()
    }

    /// What comes of a file that is there and whose text is not to be had, for this reason: nobody knows which gates it
    /// has, so all that it could have are closed.
    pub fn unreadable(&'static self, file: &str, scope: Scope, why: Diagnostic) -> Decoded {
        let options = DecodeOptions::default();
        let mut decoder = Decoder::new(self, file, scope, "", &options);
        let place = why.at.as_ref().map_or(LineColumn { line: 1, column: 1 }, |at| at.place);
        decoder.unreadable(&why.message, place);
        let mut decoded = decoder.finish();
        decoded.diagnostics.push(why);
        decoded
    }

    /// The layout by which the prefilter reads files of this dialect. `None`: files are read in full.
    ///
    /// The prefilter compares matchers by the dialect's own grammar, so that no event may have another one.
    fn prefilter_layout(&self) -> Option<&'static HookFileLayout> {
        let is_plain = self.config.pattern.is_none() && self.events.iter().all(|row| row.grammar.is_none());
        match self.config.format {
            FileFormat::Layout(layout) if is_plain => Some(layout),
            _ => None,
        }
    }

    /// Writes hooks as a file of this dialect.
    pub fn encode(&self, hooks: &[&HookSpec]) -> Option<Encoded> {
        self.config.format.encode(self, hooks)
    }
}

/// The language of a file that agents read and checkrein does not, by its extension.
fn unread_language(file: &str) -> Option<&'static str> {
    const UNREAD: [(&str, &str); 1] = [("hcl", "HCL")];
    let extension = std::path::Path::new(file).extension()?;
    UNREAD.iter().find(|(unread, _)| extension.eq_ignore_ascii_case(unread)).map(|(_, language)| *language)
}
