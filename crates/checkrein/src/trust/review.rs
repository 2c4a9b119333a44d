//! What awaits approval, for people to look at, and approving it.

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

/// All hooks of a project's files, as they are now, and what of them was approved.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Review {
    /// The hooks, in order.
    pub hooks: Vec<Reviewed>,
    /// What is wrong with files, with the lockfile, and with the place where approvals are kept.
    pub diagnostics: Vec<Diagnostic>,
}

/// Whether a hook may run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// Its user has approved it.
    Approved,
    /// It lies in this directory, which its user trusts.
    TrustedPath(PathBuf),
    /// Somebody whom its user trusts has approved it.
    Lockfile,
    /// Nobody has approved it.
    New,
    /// It was approved, and is another one now, as this says.
    Changed(String),
}

impl Status {
    /// Whether it may run.
    pub fn is_trusted(&self) -> bool {
        !matches!(self, Self::New | Self::Changed(_))
    }

    /// The name, as in JSON.
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
    /// What it is called and where it stands.
    pub hook: Arc<HookInfo>,
    /// The events that it is for.
    pub kinds: Vec<EventKind>,
    /// Whether it may run.
    pub status: Status,
    /// All that matters of what its file says.
    pub facts: Vec<Property>,
    /// What its file said when it was approved, if it has changed since.
    pub before: Option<Vec<Property>>,
    /// The scripts that it names.
    pub scripts: Vec<ReviewedScript>,
    /// What it may run besides, which no approval covers.
    pub notes: Vec<String>,
    /// The project's root.
    pub root: PathBuf,
    /// Its file, from the root if it lies there.
    pub file: String,
    entry: String,
    trust: Trust,
    approval: Option<Approval>,
}

/// A script that a hook names.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReviewedScript {
    /// The file, from the project's root if it lies there.
    pub name: String,
    /// The file without links.
    pub path: PathBuf,
    /// What is there now.
    pub content: Content,
    /// What was there when it was approved, if that was something else and is still known.
    pub before: Option<Vec<u8>>,
    /// The hash that was approved.
    approved: Option<Option<[u8; 32]>>,
}

/// What a script is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// These bytes.
    Bytes(Vec<u8>),
    /// There is no such file.
    Missing,
    /// It cannot be read, for this reason.
    Unreadable(String),
}

impl ReviewedScript {
    /// Its hash, if there is one.
    pub fn sha256(&self) -> Option<String> {
        self.hash().map(|hash| hex(&hash))
    }

    /// Whether it is not what was approved.
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

    /// Reads its scripts, and tells whether they are what was approved.
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
                script.before = hash.and_then(|hash| store.as_ref()?.kept(&hash));
                if self.status.is_trusted() {
                    let path = script.path.display();
                    self.status = Status::Changed(format!("{path} has changed since it was approved"));
                }
            }
            // The user shall see what is run, not what leads there.
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
    pub(crate) fn of(mut hooks: Vec<Reviewed>, diagnostics: Vec<Diagnostic>) -> Self {
        hooks.iter_mut().for_each(Reviewed::verify_scripts);
        Self { hooks, diagnostics }
    }

    /// The hooks that may not run: never approved, or changed since.
    pub fn awaiting(&self) -> Vec<&Reviewed> {
        self.hooks.iter().filter(|hook| !hook.status.is_trusted()).collect()
    }

    /// Approves hooks, as they were when they were looked at: what has changed since then is not approved.
    ///
    /// # Errors
    /// A script that cannot be read, or a place for approvals that cannot be written or believed. Then nothing of that
    /// project is approved.
    pub fn approve(&self, hooks: &[&Reviewed]) -> Result<(), TrustError> {
        for hook in hooks {
            let store = hook.trust.store().ok_or(TrustError::NoDirectory)?;
            let of_project = hooks.iter().filter(|other| other.root == hook.root && other.trust == hook.trust);
            let mut of_project = of_project.peekable();
            // All of a project at one stroke, when the first of them comes.
            if !of_project.peek().is_some_and(|first| std::ptr::eq(**first, *hook)) {
                continue;
            }
            let of_project: Vec<_> = of_project.collect();
            let new: Vec<_> = of_project.iter().map(|hook| hook.approval()).collect::<Result<_, _>>()?;
            let replaced = store.change(&hook.root, |all| {
                let is_replaced = |own: &Approval| {
                    new.iter().any(|new| own.file == new.file && (own.entry == new.entry || own.id == new.id))
                };
                let (replaced, mut kept): (Vec<_>, Vec<_>) = std::mem::take(all).into_iter().partition(is_replaced);
                kept.extend(new.iter().cloned());
                *all = kept;
                replaced
            })?;
            for script in of_project.iter().flat_map(|hook| &hook.scripts) {
                if let Content::Bytes(bytes) = &script.content {
                    store.keep(bytes);
                }
            }
            let still = |script: &(String, Option<[u8; 32]>)| new.iter().any(|new| new.scripts.contains(script));
            let gone = replaced.iter().flat_map(|own| &own.scripts).filter(|script| !still(script));
            forget(&hook.root, gone, store.state());
        }
        Ok(())
    }

    /// Writes what was approved of a project's own files as a lockfile, to be signed. Gives its path, and how many hooks are
    /// in it.
    ///
    /// # Errors
    /// A hook that was not approved, or a file that cannot be written.
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

    /// The hooks that the project's lockfile does not have as they are now, whoever has signed it. `None`: there is none.
    pub fn not_locked(&self) -> Option<Vec<&Reviewed>> {
        let root = self.hooks.first().map(|hook| &hook.root)?;
        let lock = lockfile::Lock::read(root, &[])?;
        let is_locked = |hook: &&Reviewed| {
            let now = hook.approval().ok();
            now.is_some_and(|now| lock.approvals.iter().any(|own| own.line(false) == now.line(false)))
        };
        Some(self.hooks.iter().filter(|hook| !is_locked(hook)).collect())
    }
}

/// Takes approvals back. Gives the names of the hooks whose approvals are gone, with their files.
pub(crate) fn revoke(
    trust: &Trust,
    root: &Path,
    is_meant: impl Fn(&str, &str) -> bool,
) -> Result<Vec<(String, String)>, TrustError> {
    let store = trust.store().ok_or(TrustError::NoDirectory)?;
    let (gone, kept) = store.change(root, |all| {
        let (gone, kept): (Vec<_>, Vec<_>) =
            std::mem::take(all).into_iter().partition(|own| is_meant(&own.file, &own.id));
        *all = kept.clone();
        (gone, kept)
    })?;
    let still = |script: &(String, Option<[u8; 32]>)| kept.iter().any(|own| own.scripts.contains(script));
    forget(root, gone.iter().flat_map(|own| &own.scripts).filter(|script| !still(script)), store.state());
    Ok(gone.into_iter().map(|own| (own.file, own.id)).collect())
}

fn forget<'a>(root: &Path, scripts: impl Iterator<Item = &'a (String, Option<[u8; 32]>)>, store: &Path) {
    for (name, hash) in scripts {
        let path = root.join(name);
        let base = base_of(root, &path);
        let script = VerifiedScript { word: VerifiedWord::Argv(0), named: path.clone(), path, base, sha256: *hash };
        script_copy::forget(&script, store);
    }
}
