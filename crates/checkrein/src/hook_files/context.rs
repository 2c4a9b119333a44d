//! Context of a file in the loader: its part of the sources, and the includes that lead to it.

use std::path::Path;

use checkrein_core::Scope;
use checkrein_dialects::Dialect;
use checkrein_dialects::agents::native;
use checkrein_dialects::config::{DecodeOptions, Include};

use super::include::IncludeChain;
use super::{Files, Locations, SourceSet};
use crate::trust::Origin;

/// Dialect of the administrator's files, whose settings apply to the files of all dialects.
pub(super) const POLICY: &Dialect = &native::DIALECT;

/// Context of a file.
#[derive(Clone)]
pub(super) struct LoadContext<'a> {
    pub(super) part: &'a SourceSet,
    /// Index of the part in the sources.
    pub(super) part_index: usize,
    pub(super) dialect: &'static Dialect,
    pub(super) scope: Scope,
    pub(super) origin: Origin,
    /// `true` on the way to an administrator's files that apply to all dialects, and to what those include.
    pub(super) from_policy: bool,
    /// Names of the dialects on the way, the file's own included.
    pub(super) dialect_chain: Vec<&'static str>,
    pub(super) includes: IncludeChain,
}

impl<'a> LoadContext<'a> {
    /// For the files that a part of the sources names or discovers.
    pub(super) fn new(part: &'a SourceSet, part_index: usize) -> Self {
        let (is_explicit, dialect) = (matches!(part.files, Files::Named(..)), part.dialect);
        let origin = match is_explicit {
            true if part.of_project => Origin::Project,
            true => Origin::Explicit,
            false => Origin::Discovered,
        };
        Self {
            part,
            part_index,
            dialect,
            scope: if part.of_project { Scope::Project } else { Scope::User },
            origin,
            from_policy: false,
            dialect_chain: vec![dialect.name],
            includes: IncludeChain::default(),
        }
    }

    /// For the administrator's files that apply to all dialects.
    pub(super) fn policy(part: &'a SourceSet, part_index: usize) -> Self {
        Self {
            dialect: POLICY,
            scope: Scope::Managed,
            origin: Origin::Discovered,
            from_policy: true,
            dialect_chain: vec![POLICY.name],
            ..Self::new(part, part_index)
        }
    }

    /// For a file of another dialect that a file in this context includes. `dry_run`: the including file makes all its hooks
    /// dry runs.
    pub(super) fn included(&self, dialect: &'static Dialect, include: &Include, dry_run: bool) -> Self {
        let mut dialect_chain = self.dialect_chain.clone();
        if !dialect_chain.contains(&dialect.name) {
            dialect_chain.push(dialect.name);
        }
        Self { dialect, dialect_chain, includes: self.includes.with(include, dry_run, self.scope), ..self.clone() }
    }

    /// Returns the directory from which files are searched.
    pub(super) fn dir(&self) -> &'a Path {
        self.part.files.place().0
    }

    /// Returns the locations of the user's and the administrator's files.
    pub(super) fn place(&self) -> &'a Locations {
        self.part.files.place().1
    }

    pub(super) fn options(&self) -> &'a DecodeOptions {
        &self.part.options
    }

    /// `true` if only hooks for one event are wanted. Files are not followed then.
    pub(super) fn is_for_one_event(&self) -> bool {
        self.options().only.is_some()
    }

    /// `true` if the caller named the file, or one that includes it.
    pub(super) fn is_explicit(&self) -> bool {
        matches!(self.part.files, Files::Named(..)) && !self.from_policy
    }

    /// `true` if settings of the file apply to the files of all dialects. Those of a file that it includes do not.
    pub(super) fn is_policy(&self) -> bool {
        self.from_policy && self.includes.depth() == 0
    }

    /// Returns the agent that sent the event. `None` for an administrator's includes, which run under every agent.
    pub(super) fn caller(&self) -> Option<&'static Dialect> {
        if self.from_policy { None } else { self.part.caller }
    }
}
