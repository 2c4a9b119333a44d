//! Origin of hooks: [`Scope`], [`Source`] and [`HookInfo`].
//!
//! All crates use them to rank hooks by trust and to name a hook in messages. The trust order of scopes must be defined
//! only here.

use std::fmt;
use std::panic::Location;

use serde::{Deserialize, Serialize};

use crate::failure::FailurePolicy;
use crate::property::Properties;

/// Owner of a hook.
// Scopes implement no order. Use `trust_level`, `may_change`, `covers` or `precedence`, and do not rank them elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The administrator.
    Managed,
    /// The user.
    User,
    /// The repository.
    Project,
    /// The user, for one repository.
    Local,
    /// A plugin.
    Plugin,
    /// The code of the host.
    Code,
}

/// Trust in the author of a hook file. A higher level is more trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrustLevel {
    /// A repository, or the author of a plugin. Files of these scopes can come from a stranger.
    Repository,
    /// The user of the machine, or the code of the host.
    User,
    /// The administrator of the machine.
    Administrator,
}

impl Scope {
    /// Returns the trust in the authors of files of this scope.
    ///
    /// `Local` is at the level of the repository: a file in the project directory can be committed, whatever its name.
    pub const fn trust_level(self) -> TrustLevel {
        match self {
            Self::Managed => TrustLevel::Administrator,
            Self::User | Self::Code => TrustLevel::User,
            Self::Project | Self::Local | Self::Plugin => TrustLevel::Repository,
        }
    }

    /// `true` if a file of this scope may change hooks of `other`: disable them, put them in dry-run mode, or set their
    /// failure policy, environment or limits. A file never changes anything of a higher trust level.
    ///
    /// ```
    /// use checkrein_core::Scope;
    ///
    /// assert!(Scope::User.may_change(Scope::Project));
    /// assert!(!Scope::Local.may_change(Scope::User));
    /// ```
    pub fn may_change(self, other: Self) -> bool {
        self.trust_level() >= other.trust_level()
    }

    /// `true` if global settings in a file of this scope apply to hooks of `other`. They apply to hooks that the file
    /// [may change](Self::may_change), except that a plugin does not apply to hooks of the project.
    pub fn covers(self, other: Self) -> bool {
        let is_of_project = matches!(other, Self::Project | Self::Local);
        self.may_change(other) && !(self == Self::Plugin && is_of_project)
    }

    /// Returns the rank of a setting among files of the same [trust level](Self::trust_level). The highest rank applies.
    pub const fn precedence(self) -> u8 {
        match self {
            Self::Local => 2,
            Self::Project => 1,
            Self::Managed | Self::User | Self::Plugin | Self::Code => 0,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Managed => "managed",
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
            Self::Plugin => "plugin",
            Self::Code => "code",
        })
    }
}

/// Location where a hook is defined.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Source {
    /// Scope.
    pub scope: Scope,
    /// File.
    pub file: Option<String>,
    /// Line, from 1.
    pub line: Option<u32>,
    /// Column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl Source {
    /// Creates a source without a file.
    pub const fn for_scope(scope: Scope) -> Self {
        Self { scope, file: None, line: None, column: None }
    }

    /// Creates a source at a position in a file.
    pub fn in_file(scope: Scope, file: impl Into<String>, line: u32, column: u32) -> Self {
        Self { scope, file: Some(file.into()), line: Some(line), column: Some(column) }
    }

    /// Creates a source at the line of code that calls this function.
    #[track_caller]
    pub fn here() -> Self {
        let caller = Location::caller();
        Self::in_file(Scope::Code, caller.file(), caller.line(), caller.column())
    }
}

/// `FILE:LINE`, or the scope if there is no file.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}:{line}"),
            (Some(file), None) => f.write_str(file),
            (None, _) => self.scope.fmt(f),
        }
    }
}

/// Name, source and declared properties of a hook. Messages, records and failures refer to it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct HookInfo {
    /// Id of the hook.
    pub id: String,
    /// Location where the hook is defined.
    pub source: Source,
    /// `true` if the hook declares that it rewrites.
    pub declares_rewrites: bool,
    /// `true` if the hook may rewrite without a declaration, because its agent has none. Its rewrites are composed with
    /// those of other hooks.
    pub may_rewrite: bool,
    /// Policy for failures. Overrides the table of the dialect.
    pub on_failure: Option<FailurePolicy>,
    /// Policy for timeouts. Overrides `on_failure`.
    pub on_timeout: Option<FailurePolicy>,
    /// `true` if failures without effect on the verdict are only recorded and cause no warning.
    pub log_only_failures: bool,
    /// `true` for a dry run: the hook runs, and its reply or failure is recorded without effect.
    pub dry_run: bool,
}

impl HookInfo {
    /// Creates a hook without declared properties.
    pub fn new(id: impl Into<String>, source: Source) -> Self {
        Self {
            id: id.into(),
            source,
            declares_rewrites: false,
            may_rewrite: false,
            on_failure: None,
            on_timeout: None,
            log_only_failures: false,
            dry_run: false,
        }
    }

    /// Adds the properties that the hook's entry sets.
    pub fn list_properties(&self, properties: &mut Properties) {
        let Self {
            // Excluded: name and location do not affect the behaviour of the hook.
            id: _,
            source: _,
            declares_rewrites,
            // Excluded: it follows from the dialect.
            may_rewrite: _,
            on_failure,
            on_timeout,
            log_only_failures: quiet,
            dry_run,
        } = self;
        properties.add_set("on_failure", on_failure.as_ref());
        properties.add_set("on_timeout", on_timeout.as_ref());
        properties.add_flag("rewrites", *declares_rewrites);
        properties.add_flag("quiet", *quiet);
        properties.add_flag(Self::DRY_RUN, *dry_run);
    }

    /// Label of the dry-run property.
    pub const DRY_RUN: &'static str = "dry run";

    /// Returns the sort key of config order: managed hooks first, then by `order`.
    pub fn rank(&self, order: i32) -> (bool, i32) {
        (!self.is_managed(), order)
    }

    /// `true` if an administrator defined the hook. No other hook can overrule it.
    pub fn is_managed(&self) -> bool {
        self.source.scope == Scope::Managed
    }

    /// Declares that the hook rewrites.
    #[must_use]
    pub fn rewrites(mut self) -> Self {
        self.declares_rewrites = true;
        self
    }

    /// Sets the policy for failures.
    #[must_use]
    pub fn on_failure(mut self, effect: FailurePolicy) -> Self {
        self.on_failure = Some(effect);
        self
    }

    /// Omits warnings about failures without effect on the verdict.
    #[must_use]
    pub fn quiet(mut self) -> Self {
        self.log_only_failures = true;
        self
    }

    /// Makes the hook a dry run.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.dry_run = true;
        self
    }

    /// Sets the policy for timeouts.
    #[must_use]
    pub fn on_timeout(mut self, effect: FailurePolicy) -> Self {
        self.on_timeout = Some(effect);
        self
    }
}

/// ``hook `ID` (FILE:LINE)``.
impl fmt::Display for HookInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hook `{}` ({})", self.id, self.source)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Scopes by trust level, highest first.
    const LEVELS: &[&[Scope]] =
        &[&[Scope::Managed], &[Scope::User, Scope::Code], &[Scope::Project, Scope::Local, Scope::Plugin]];

    #[test]
    fn no_scope_may_change_a_more_trusted_one() {
        for (level, scopes) in LEVELS.iter().enumerate() {
            for (other_level, other_scopes) in LEVELS.iter().enumerate() {
                for (one, other) in scopes.iter().flat_map(|one| other_scopes.iter().map(move |other| (*one, *other))) {
                    assert_eq!(one.may_change(other), level <= other_level, "{one} {other}");
                    assert!(one.may_change(other) || !one.covers(other), "{one} {other}");
                }
            }
        }
    }

    #[test]
    fn local_files_cover_project_hooks_and_plugins_do_not() {
        assert!(Scope::Project.covers(Scope::Local) && Scope::Project.covers(Scope::Project));
        assert!(Scope::Local.covers(Scope::Project) && !Scope::Local.covers(Scope::User));
        assert!(!Scope::Plugin.covers(Scope::Project) && !Scope::Plugin.covers(Scope::Local));
        assert!(Scope::Local.precedence() > Scope::Project.precedence());
    }
}
