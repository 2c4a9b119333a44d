//! Text of the file that `checkrein init` writes: the starter set, or imported hooks.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use checkrein::Scope;
use checkrein::dialects::Dialect;
use checkrein::dialects::agents::native;
use checkrein::hook::TrustLevel;
use serde_json::Value;

use super::super::config::{self, sources};
use super::super::{convert, pluralize};
use crate::starter;

/// A file that is not yet written.
pub struct DraftFile {
    pub text: String,
    /// Extension of the file, which selects its format.
    pub extension: &'static str,
    /// Losses and skipped hooks, for people.
    pub notes: Vec<String>,
    /// Losses, for JSON.
    pub lost: Vec<Value>,
    /// Number of blocking hooks that would no longer block.
    pub gates: usize,
}

impl DraftFile {
    /// The starter set.
    pub fn starter() -> Self {
        Self { text: starter::TEXT.to_owned(), extension: "yaml", notes: Vec::new(), lost: Vec::new(), gates: 0 }
    }

    /// Imports the hooks of another agent. Without named files, only hooks of the same scope are imported: hooks of the
    /// user must not enter a repository, and hooks of a repository must not apply to all projects.
    pub fn import(from: &'static Dialect, files: &[PathBuf], dir: &Path, scope: Scope) -> Result<Self> {
        let loaded = sources(from, files, dir)?.without_managed().load();
        config::print_diagnostics(&loaded);
        let of_user = |scope: Scope| scope.trust_level() >= TrustLevel::User;
        let is_meant = |own: Scope| !files.is_empty() || (own != Scope::Managed && of_user(own) == of_user(scope));
        let (meant, others): (Vec<_>, Vec<_>) = loaded.hooks.iter().partition(|hook| is_meant(hook.info.source.scope));
        let mut notes = Vec::new();
        let mut add_note = |skipped: Scope, fix: &str| {
            let count = others.iter().filter(|hook| hook.info.source.scope == skipped).count();
            if count > 0 {
                let hooks = pluralize(count, "hook");
                notes.push(format!("skipped {hooks} of scope `{skipped}` (of {}): {fix}", loaded.hooks.len()));
            }
        };
        add_note(Scope::Managed, "only an administrator sets those");
        add_note(Scope::User, "import them with --user");
        for skipped in [Scope::Project, Scope::Local, Scope::Plugin] {
            add_note(skipped, "import them without --user");
        }
        if meant.is_empty() {
            for note in &notes {
                super::super::print_note(note);
            }
            bail!("nothing to import: {} has no hooks here", from.name);
        }
        let encoded = native::DIALECT.encode(&meant).context("cannot write hooks in checkrein's own format")?;
        let losses = convert::losses(&meant, &encoded.lost, from, &native::DIALECT);
        notes.extend(losses.iter().map(convert::ReportedLoss::describe));
        let gates = losses.iter().filter(|loss| loss.gate).count();
        let lost = losses.iter().map(convert::ReportedLoss::json).collect();
        Ok(Self { text: encoded.text, extension: "json", notes, lost, gates })
    }
}
