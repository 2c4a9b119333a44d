//! What would be written.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use checkrein::Scope;
use checkrein::dialects::Dialect;
use checkrein::dialects::agents::native;
use checkrein::hook::TrustLevel;
use serde_json::Value;

use super::super::config::{self, sources};
use super::super::convert;
use crate::starter;

/// A file, before it is one.
pub struct DraftFile {
    pub text: String,
    /// What its format is told by.
    pub extension: &'static str,
    /// What is lost, and what is left out, for people.
    pub notes: Vec<String>,
    /// What is lost, for programs.
    pub lost: Vec<Value>,
    /// How many gates would not guard any more.
    pub gates: usize,
}

impl DraftFile {
    /// The starter set.
    pub fn starter() -> Self {
        Self { text: starter::text(), extension: "yaml", notes: Vec::new(), lost: Vec::new(), gates: 0 }
    }

    /// The hooks that another agent has, of the same scope: what is the user's own must not become everybody's, nor the
    /// other way round. Who names files wants all of them.
    pub fn import(from: &'static Dialect, files: &[PathBuf], dir: &Path, scope: Scope) -> Result<Self> {
        let loaded = sources(from, files, dir)?.without_managed().load();
        config::tell(&loaded);
        let of_user = |scope: Scope| scope.trust_level() >= TrustLevel::User;
        let is_meant = |of: Scope| !files.is_empty() || (of != Scope::Managed && of_user(of) == of_user(scope));
        let (meant, others): (Vec<_>, Vec<_>) = loaded.hooks.iter().partition(|hook| is_meant(hook.info.source.scope));
        let mut notes = Vec::new();
        let mut left_out = |of: Scope, how: &str| {
            let count = others.iter().filter(|hook| hook.info.source.scope == of).count();
            if count > 0 {
                notes.push(format!("left out: {count} of {} hooks are of scope `{of}`{how}", loaded.hooks.len()));
            }
        };
        left_out(Scope::Managed, ", which an administrator sets");
        left_out(Scope::User, "; --user imports those");
        for of in [Scope::Project, Scope::Local, Scope::Plugin] {
            left_out(of, "; without --user those are imported");
        }
        if meant.is_empty() {
            for note in &notes {
                super::super::print_note(note);
            }
            bail!("there are no hooks of {} to import", from.name);
        }
        let encoded = native::DIALECT.encode(&meant).context("checkrein cannot write its own files")?;
        let losses = convert::losses(&meant, &encoded.lost, from, &native::DIALECT);
        notes.extend(losses.iter().map(convert::ReportedLoss::told));
        let gates = losses.iter().filter(|loss| loss.gate).count();
        let lost = losses.iter().map(convert::ReportedLoss::json).collect();
        Ok(Self { text: encoded.text, extension: "json", notes, lost, gates })
    }
}
