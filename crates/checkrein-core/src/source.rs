//! Where hooks come from.

use std::fmt;
use std::panic::Location;

use serde::{Deserialize, Serialize};

use crate::failure::Effect;

/// Whose a hook is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
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
    pub on_failure: Option<Effect>,
    /// What is done when it takes too long, whatever else is said.
    pub on_timeout: Option<Effect>,
    /// Whether a failure of it that changes nothing is only kept in the record, and not warned of.
    pub quiet: bool,
    /// Whether it runs in the shadow: what it says, or that it fails, is recorded and has no effect.
    pub shadow: bool,
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
            quiet: false,
            shadow: false,
        }
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
    pub fn on_failure(mut self, effect: Effect) -> Self {
        self.on_failure = Some(effect);
        self
    }

    /// The same without warnings of failures that change nothing.
    #[must_use]
    pub fn quiet(mut self) -> Self {
        self.quiet = true;
        self
    }

    /// The same in the shadow.
    #[must_use]
    pub fn in_shadow(mut self) -> Self {
        self.shadow = true;
        self
    }

    /// The same with this done when it takes too long.
    #[must_use]
    pub fn on_timeout(mut self, effect: Effect) -> Self {
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
