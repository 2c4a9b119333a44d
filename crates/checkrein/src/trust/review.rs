//! Review of a project's hooks: shows what awaits approval, approves it, revokes it, writes the lockfile.
//!
//! `checkrein trust` and hosts use it. It must approve exactly the bytes that the user has seen.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use checkrein_core::property::Property;
use checkrein_core::{EventKind, HookInfo};
use checkrein_dialects::config::Diagnostic;
use checkrein_dialects::{HookSpec, VerifiedScript, VerifiedWord};

use super::approvals::Approval;
use super::evaluate::{Entry, base_of, name_of_script};
use super::fingerprint::shown;
use super::lockfile::{self, LOCKFILE};
use super::{Trust, TrustError, script_copy};
use crate::hash::{hex, sha256};
use crate::real_path::real_path;

/// All hooks of a project's files with their approval status.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Review {
    /// The hooks, in order.
    pub hooks: Vec<Reviewed>,
    /// Problems of files, of the lockfile, and of the directory for approvals.
    pub diagnostics: Vec<Diagnostic>,
}

/// Approval status of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// The user has approved the hook.
    Approved,
    /// The hook is in this directory, which the user trusts.
    TrustedPath(PathBuf),
    /// A lockfile with a trusted signature approves the hook.
    Lockfile,
    /// The hook is not approved.
    New,
    /// The hook has changed since its approval. The text describes the change.
    Changed(String),
}

impl Status {
    /// `true` if the hook may run.
    pub fn is_trusted(&self) -> bool {
        !matches!(self, Self::New | Self::Changed(_))
    }

    /// Name of the status in JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::TrustedPath(_) => "trusted_path",
            Self::Lockfile => "lockfile",
            Self::New => "new",
            Self::Changed(_) => "changed",
        }
    }
}

/// A hook of a project.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Reviewed {
    /// Id and source of the hook.
    pub hook: Arc<HookInfo>,
    /// Events of the hook.
    pub kinds: Vec<EventKind>,
    /// Approval status.
    pub status: Status,
    /// Properties of the entry that an approval covers.
    pub facts: Vec<Property>,
    /// Approved properties, if the entry has changed since.
    pub before: Option<Vec<Property>>,
    /// Scripts that the command names.
    pub scripts: Vec<ReviewedScript>,
    /// Notes about code that the hook may run and that no approval covers.
    pub notes: Vec<String>,
    /// The project's root.
    pub root: PathBuf,
    /// File of the hook, relative to the root if it is inside.
    pub file: String,
    entry: String,
    trust: Trust,
    approval: Option<Approval>,
}

/// A script that a hook names.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReviewedScript {
    /// The file, relative to the project's root if it is inside.
    pub name: String,
    /// The file, with links resolved.
    pub path: PathBuf,
    /// Current content.
    pub content: Content,
    /// Approved content, if it differs and is stored.
    pub before: Option<Vec<u8>>,
    /// Approved hash. `Some(None)` if the script was approved as missing.
    approved: Option<Option<[u8; 32]>>,
}

/// Content of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// The bytes of the file.
    Bytes(Vec<u8>),
    /// The file does not exist.
    Missing,
    /// The file cannot be read, for this reason.
    Unreadable(String),
}

impl ReviewedScript {
    /// Returns the hash of the content, or `None` without content.
    pub fn sha256(&self) -> Option<String> {
        self.hash().map(|hash| hex(&hash))
    }

    /// `true` if the script differs from the approved one.
    pub fn is_changed(&self) -> bool {
        self.approved.is_some_and(|approved| approved != self.hash())
    }

    fn hash(&self) -> Option<[u8; 32]> {
        match &self.content {
            Content::Bytes(bytes) => Some(sha256(bytes)),
            _ => None,
        }
    }
}

impl Reviewed {
    pub(super) fn new(
        spec: &HookSpec,
        trust: &Trust,
        root: PathBuf,
        file: &str,
        entry: Entry,
        status: Status,
        approval: Option<Approval>,
    ) -> Self {
        let script = |path: &PathBuf| ReviewedScript {
            name: name_of_script(&root, path),
            path: path.clone(),
            content: Content::Missing,
            before: None,
            approved: None,
        };
        let mut scripts: Vec<ReviewedScript> = Vec::new();
        for named in &entry.named.scripts {
            if !scripts.iter().any(|known| known.path == named.path) {
                scripts.push(script(&named.path));
            }
        }
        let before = approval.as_ref().filter(|approval| approval.entry != entry.hash && !approval.facts.is_empty());
        Self {
            hook: Arc::clone(&spec.info),
            kinds: spec.kinds.clone(),
            status,
            before: before.map(|approval| shown(&approval.facts)),
            facts: shown(&entry.facts),
            scripts,
            notes: entry.named.notes,
            file: file.to_owned(),
            entry: entry.hash,
            trust: trust.clone(),
            approval,
            root,
        }
    }

    /// Reads the scripts and sets the status to changed if one differs from the approved one.
    pub(crate) fn verify_scripts(&mut self) {
        let store = self.trust.store();
        for script in &mut self.scripts {
            script.content = match script_copy::read(&script.path) {
                Ok(bytes) => Content::Bytes(bytes),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Content::Missing,
                Err(error) => Content::Unreadable(error.to_string()),
            };
            let known = self.approval.iter().flat_map(|approval| &approval.scripts);
            script.approved = known.into_iter().find(|(name, _)| *name == script.name).map(|(_, hash)| *hash);
            if script.is_changed() {
                let hash = script.approved.flatten();
                script.before = hash.and_then(|hash| store.as_ref()?.stored_contents(&hash));
                if self.status.is_trusted() {
                    let path = script.path.display();
                    self.status = Status::Changed(format!("{path} has changed since it was approved"));
                }
            }
            // The user sees the file that runs, not a link to it.
            if let Ok(real) = real_path(&script.path) {
                script.path = real;
            }
        }
    }

    fn approval(&self) -> Result<Approval, TrustError> {
        let script = |script: &ReviewedScript| match &script.content {
            Content::Unreadable(why) => {
                Err(TrustError::Script { id: self.hook.id.clone(), path: script.path.clone(), why: why.clone() })
            }
            _ => Ok((script.name.clone(), script.hash())),
        };
        Ok(Approval {
            file: self.file.clone(),
            id: self.hook.id.clone(),
            entry: self.entry.clone(),
            scripts: self.scripts.iter().map(script).collect::<Result<_, _>>()?,
            facts: self.facts.clone(),
        })
    }
}

impl Review {
    pub(crate) fn new(mut hooks: Vec<Reviewed>, diagnostics: Vec<Diagnostic>) -> Self {
        hooks.iter_mut().for_each(Reviewed::verify_scripts);
        Self { hooks, diagnostics }
    }

    /// Returns the hooks that may not run: not approved, or changed since.
    pub fn awaiting(&self) -> Vec<&Reviewed> {
        self.hooks.iter().filter(|hook| !hook.status.is_trusted()).collect()
    }

    /// Approves hooks as they were read for this review. Later changes are not approved.
    ///
    /// # Errors
    /// Fails if a script cannot be read, or if the directory for approvals cannot be written or is not private. Then no hook
    /// of that project is approved.
    pub fn approve(&self, hooks: &[&Reviewed]) -> Result<(), TrustError> {
        for hook in hooks {
            let store = hook.trust.store().ok_or(TrustError::NoDirectory)?;
            let same_project: Vec<_> =
                hooks.iter().filter(|other| other.root == hook.root && other.trust == hook.trust).collect();
            // The first hook of a project approves all of them in one change.
            if !same_project.first().is_some_and(|first| std::ptr::eq(**first, *hook)) {
                continue;
            }
            let new: Vec<_> = same_project.iter().map(|hook| hook.approval()).collect::<Result<_, _>>()?;
            let replaced = store.change(&hook.root, |all| {
                let is_replaced = |old: &Approval| {
                    new.iter().any(|new| old.file == new.file && (old.entry == new.entry || old.id == new.id))
                };
                let (replaced, mut kept): (Vec<_>, Vec<_>) = std::mem::take(all).into_iter().partition(is_replaced);
                kept.extend(new.iter().cloned());
                *all = kept;
                replaced
            })?;
            for script in same_project.iter().flat_map(|hook| &hook.scripts) {
                if let Content::Bytes(bytes) = &script.content {
                    store.store_contents(bytes);
                }
            }
            let is_used = |script: &(String, Option<[u8; 32]>)| new.iter().any(|new| new.scripts.contains(script));
            let unused = replaced.iter().flat_map(|old| &old.scripts).filter(|script| !is_used(script));
            forget(&hook.root, unused, store.state());
        }
        Ok(())
    }

    /// Writes the approvals of a project as a lockfile, to be signed. Returns its path and the number of hooks in it.
    ///
    /// # Errors
    /// Fails if a hook is not approved or the file cannot be written.
    pub fn lock(&self) -> Result<Option<(PathBuf, usize)>, TrustError> {
        let Some(root) = self.hooks.first().map(|hook| &hook.root) else { return Ok(None) };
        let mut approvals = Vec::new();
        for hook in self.hooks.iter().filter(|hook| hook.root == *root) {
            if !hook.status.is_trusted() {
                return Err(TrustError::NotApproved(hook.hook.id.clone()));
            }
            approvals.push(hook.approval()?);
        }
        let path = root.join(LOCKFILE);
        let text = lockfile::text(&approvals);
        super::permissions::replace(&path, text.as_bytes(), 0o644)
            .map_err(|source| TrustError::Io { path: path.clone(), source })?;
        Ok(Some((path, approvals.len())))
    }

    /// Returns the hooks whose current version is not in the project's lockfile, with or without a signature. Returns `None`
    /// if there is no lockfile.
    pub fn not_locked(&self) -> Option<Vec<&Reviewed>> {
        let root = self.hooks.first().map(|hook| &hook.root)?;
        let lock = lockfile::Lock::read(root, &[])?;
        let is_locked = |hook: &&Reviewed| {
            let now = hook.approval().ok();
            now.is_some_and(|now| lock.approvals.iter().any(|locked| locked.line(false) == now.line(false)))
        };
        Some(self.hooks.iter().filter(|hook| !is_locked(hook)).collect())
    }
}

/// Revokes the approvals that `is_selected` accepts by file and id. Returns the file and id of each.
pub(crate) fn revoke(
    trust: &Trust,
    root: &Path,
    is_selected: impl Fn(&str, &str) -> bool,
) -> Result<Vec<(String, String)>, TrustError> {
    let store = trust.store().ok_or(TrustError::NoDirectory)?;
    let (revoked, kept) = store.change(root, |all| {
        let (revoked, kept): (Vec<_>, Vec<_>) =
            std::mem::take(all).into_iter().partition(|approval| is_selected(&approval.file, &approval.id));
        *all = kept.clone();
        (revoked, kept)
    })?;
    let is_used = |script: &(String, Option<[u8; 32]>)| kept.iter().any(|approval| approval.scripts.contains(script));
    let unused = revoked.iter().flat_map(|approval| &approval.scripts).filter(|script| !is_used(script));
    forget(root, unused, store.state());
    Ok(revoked.into_iter().map(|approval| (approval.file, approval.id)).collect())
}

fn forget<'a>(root: &Path, scripts: impl Iterator<Item = &'a (String, Option<[u8; 32]>)>, store: &Path) {
    for (name, hash) in scripts {
        let path = root.join(name);
        let base = base_of(root, &path);
        let script = VerifiedScript { word: VerifiedWord::Argv(0), named: path.clone(), path, base, sha256: *hash };
        script_copy::forget(&script, store);
    }
}
