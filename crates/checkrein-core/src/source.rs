//! Where hooks come from.

use std::fmt;
use std::panic::Location;

use serde::{Deserialize, Serialize};

use crate::failure::FailurePolicy;
use crate::property::Properties;

/// Whose a hook is.
// Scopes have no order of their own. Use `trust_level`, `may_change`, `covers` or `precedence`; rank them nowhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The administrator's.
    Managed,
    /// The user's.
    User,
    /// The repository's.
    Project,
    /// The user's, for one repository.
    Local,
    /// A plugin's.
    Plugin,
    /// The host's own code.
    Code,
}

/// The party that can write files of a scope. A higher level is the wider one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TrustLevel {
    /// A repository, or the author of a plugin. Files of these scopes can come from a stranger.
    Repository,
    /// The user of the machine, or the host's own code.
    User,
    /// The administrator of the machine.
    Administrator,
}

impl Scope {
    /// The party that can write files of this scope.
    ///
    /// `Local` is at the level of the repository: a file beside the project's can be committed, whatever its name says.
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

    /// `true` if settings that a file of this scope has for all hooks apply to hooks of `other`. That is the case for hooks
    /// that it [may change](Self::may_change), except that a file for one clone or one plugin does not speak for the
    /// whole project.
    pub fn covers(self, other: Self) -> bool {
        let is_part = matches!(self, Self::Local | Self::Plugin);
        self.may_change(other) && !(is_part && matches!(other, Self::Project))
    }

    /// Rank of a setting among those of files at the same [trust level](Self::trust_level): the highest one applies.
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

/// Where a hook was written down.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Source {
    /// Whose it is.
    pub scope: Scope,
    /// The file.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<u32>,
    /// The column, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl Source {
    /// In no file.
    pub const fn of(scope: Scope) -> Self {
        Self { scope, file: None, line: None, column: None }
    }

    /// At a place in a file.
    pub fn at(scope: Scope, file: impl Into<String>, line: u32, column: u32) -> Self {
        Self { scope, file: Some(file.into()), line: Some(line), column: Some(column) }
    }

    /// The line of code that calls this.
    #[track_caller]
    pub fn here() -> Self {
        let caller = Location::caller();
        Self::at(Scope::Code, caller.file(), caller.line(), caller.column())
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

/// What all that a hook says is signed with, and what is to be done when it fails.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct HookInfo {
    /// What the hook is called.
    pub id: String,
    /// Where it was written down.
    pub source: Source,
    /// Whether it said beforehand that it rewrites.
    pub declares_rewrites: bool,
    /// Whether it may rewrite without having declared it, because its agent knows no such declaration. What it makes of
    /// the event is brought together with what others make of it.
    pub may_rewrite: bool,
    /// What is done when it fails, whatever its dialect's table says.
    pub on_failure: Option<FailurePolicy>,
    /// What is done when it takes too long, whatever else is said.
    pub on_timeout: Option<FailurePolicy>,
    /// Whether a failure of it that changes nothing is only kept in the record, and not warned of.
    pub log_only_failures: bool,
    /// `true` for a dry run: the hook runs, and its reply or failure is recorded without effect.
    pub dry_run: bool,
}

impl HookInfo {
    /// A hook that leaves failures to the tables.
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

    /// Lists the properties that an entry sets.
    pub fn list_properties(&self, properties: &mut Properties) {
        let Self {
            // Left out: a name and a place say nothing about what the hook does.
            id: _,
            source: _,
            declares_rewrites,
            // Left out: it follows from the dialect.
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

    /// Label of the property that the hook runs without effect.
    pub const DRY_RUN: &'static str = "dry run";

    /// Sort key of config order: managed hooks first, then by `order`.
    pub fn rank(&self, order: i32) -> (bool, i32) {
        (!self.is_managed(), order)
    }

    /// Whether an administrator has set it, so that no other hook can overrule it.
    pub fn is_managed(&self) -> bool {
        self.source.scope == Scope::Managed
    }

    /// The same, declaring that it rewrites.
    #[must_use]
    pub fn rewrites(mut self) -> Self {
        self.declares_rewrites = true;
        self
    }

    /// The same with this done when it fails.
    #[must_use]
    pub fn on_failure(mut self, effect: FailurePolicy) -> Self {
        self.on_failure = Some(effect);
        self
    }

    /// The same without warnings of failures that change nothing.
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

    /// The same with this done when it takes too long.
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

    /// Widest first; scopes of one line are at one trust level.
    const LEVELS: &[&[Scope]] =
        &[&[Scope::Managed], &[Scope::User, Scope::Code], &[Scope::Project, Scope::Local, Scope::Plugin]];

    #[test]
    fn no_scope_changes_a_wider_one() {
        for (wide, wider) in LEVELS.iter().enumerate() {
            for (narrow, narrower) in LEVELS.iter().enumerate() {
                for (one, other) in wider.iter().flat_map(|one| narrower.iter().map(move |other| (*one, *other))) {
                    assert_eq!(one.may_change(other), wide <= narrow, "{one} {other}");
                    assert!(one.may_change(other) || !one.covers(other), "{one} {other}");
                }
            }
        }
    }

    #[test]
    fn a_part_of_a_project_does_not_speak_for_all_of_it() {
        assert!(Scope::Project.covers(Scope::Local) && Scope::Project.covers(Scope::Project));
        assert!(!Scope::Local.covers(Scope::Project) && !Scope::Plugin.covers(Scope::Project));
        assert!(Scope::Local.precedence() > Scope::Project.precedence());
    }
}
