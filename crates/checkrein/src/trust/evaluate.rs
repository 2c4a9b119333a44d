//! Decides which hooks of projects may run.
//!
//! The loader of hook files calls [`evaluate`] for all files that it has read. A hook of a project must never stay
//! [`HookState::Ready`] without an approval, a trusted path or a signed lockfile.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use checkrein_core::property::Property;
use checkrein_core::{FailurePolicy, HookInfo, HookState};
use checkrein_dialects::config::{DecodeOptions, Diagnostic, Severity};
use checkrein_dialects::{HandlerSpec, HookSpec, VerifiedScript, VerifiedScripts};

use super::Trust;
use super::approvals::{Approval, Store};
use super::fingerprint::{fingerprint, properties, shown};
use super::lockfile::{LOCKFILE, Lock};
use super::permissions::Refused;
use super::policy::Policy;
use super::project_roots::ProjectRoots;
use super::review::{Reviewed, Status};
use super::script_refs::{CommandContext, ScriptRef, find_scripts};
use crate::hook_files::{Locations, repository, settings_of_user};
use crate::real_path::{real_path, real_path_or_same};

/// Origin of a hook file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A directory of the user or the administrator.
    Discovered,
    /// The caller or a file of the user names it.
    Explicit,
    /// The project, or a file of the project names it. Its hooks need approval.
    Project,
}

/// A file whose hooks are evaluated.
pub(crate) struct FileUnderReview<'a> {
    pub(crate) path: &'a Path,
    pub(crate) origin: Origin,
    /// Start directory of the agent.
    pub(crate) dir: &'a Path,
    pub(crate) place: &'a Locations,
    pub(crate) trust: &'a Trust,
    pub(crate) options: &'a DecodeOptions,
    pub(crate) hooks: &'a mut Vec<HookSpec>,
    /// Reads all hooks of the file again: `hooks` has only those of the current event.
    pub(crate) all_hooks: Box<dyn Fn() -> Vec<HookSpec> + 'a>,
}

/// Result of the evaluation.
#[derive(Debug, Default)]
pub(crate) struct Evaluation {
    pub(crate) reviewed: Vec<Reviewed>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Files of projects without any approved hook.
    pub(crate) untrusted: HashSet<PathBuf>,
    /// Files whose change requires a new evaluation.
    pub(crate) followed: Vec<PathBuf>,
}

/// Evaluates the hooks of files. Sets the state of hooks that may not run, and the verified scripts of those that may.
pub(crate) fn evaluate<'a>(files: impl Iterator<Item = FileUnderReview<'a>>) -> Evaluation {
    let mut evaluator = Evaluator::default();
    for file in files {
        if !file.hooks.is_empty() && !file.trust.is_everything() && file.origin == Origin::Project {
            evaluator.evaluate_file(file);
        }
    }
    evaluator.evaluation
}

#[derive(Default)]
struct Evaluator {
    evaluation: Evaluation,
    projects: HashMap<(PathBuf, Option<PathBuf>), Project>,
}

/// Approvals, policy and lockfile of a project.
struct Project {
    root: PathBuf,
    store: Option<Store>,
    approvals: Vec<Approval>,
    policy: Option<Policy>,
    lock: Option<Option<Lock>>,
}

impl Evaluator {
    fn evaluate_file(&mut self, mut file: FileUnderReview<'_>) {
        let dir = real_path_or_same(file.dir);
        let root = repository(&dir).unwrap_or(&dir).to_owned();
        let store = file.trust.store();
        let key = (root.clone(), store.as_ref().map(|store| store.state().to_owned()));
        let evaluation = &mut self.evaluation;
        let project = self.projects.entry(key).or_insert_with(|| Project::open(root, store, evaluation));
        project.evaluate(&mut file, &dir, evaluation);
    }
}

impl Project {
    fn open(root: PathBuf, store: Option<Store>, evaluation: &mut Evaluation) -> Self {
        let approvals = match store.as_ref().map(|store| store.read(&root)) {
            Some(Ok(approvals)) => approvals,
            Some(Err(why)) => {
                let (file, why): (_, Refused) = (store.as_ref().map(|store| store.file_of(&root)), why);
                let file = file.map(|file| file.display().to_string()).unwrap_or_default();
                let text = format!("approvals are ignored: {why}");
                evaluation.diagnostics.push(Diagnostic::of_file(Severity::Error, "approvals-not-private", file, text));
                Vec::new()
            }
            None => Vec::new(),
        };
        evaluation.followed.extend(store.as_ref().map(|store| store.file_of(&root)));
        Self { root, store, approvals, policy: None, lock: None }
    }

    fn policy(&mut self, file: &FileUnderReview<'_>, evaluation: &mut Evaluation) -> &Policy {
        let root = &self.root;
        self.policy.get_or_insert_with(|| {
            let files = settings_of_user(file.dir, file.place);
            let policy = Policy::new(
                files,
                file.place.home.as_deref(),
                &ProjectRoots::for_root(root).with_home(file.place.known_home()),
            );
            for (file, why) in &policy.problems {
                let file = file.display().to_string();
                evaluation.diagnostics.push(Diagnostic::of_file(Severity::Warning, "no-effect", file, why.clone()));
            }
            policy
        })
    }

    fn lock(&mut self, evaluation: &mut Evaluation) -> Option<&Lock> {
        let keys = self.policy.as_ref().map(|policy| policy.keys.as_slice()).unwrap_or_default();
        let root = &self.root;
        let lock = self.lock.get_or_insert_with(|| {
            let lock = Lock::read(root, keys)?;
            if let Err(why) = &lock.signed_by {
                let file = root.join(LOCKFILE).display().to_string();
                let text = format!("the lockfile is ignored: {why}");
                evaluation.diagnostics.push(Diagnostic::of_file(Severity::Warning, "lockfile-not-trusted", file, text));
            }
            Some(lock)
        });
        lock.as_ref().filter(|lock| lock.signed_by.is_ok())
    }

    fn evaluate(&mut self, reviewed: &mut FileUnderReview<'_>, dir: &Path, evaluation: &mut Evaluation) {
        let file = name_in(&self.root, reviewed.path);
        let context = CommandContext { dir, home: reviewed.place.home.as_deref() };
        let hooks = std::mem::take(reviewed.hooks);
        let mut entries: Vec<_> = hooks.iter().map(|spec| Entry::new(spec, &self.root, context)).collect();
        let is_approved = |entry: &Entry| self.approvals.iter().any(|approval| approval.covers(&file, entry));
        let all_approved =
            hooks.iter().zip(&entries).all(|(spec, entry)| spec.state == HookState::Ready && is_approved(entry));
        // The policy and the lockfile are more files to read. Most runs do not need them.
        let (mut trusted_path, mut locked) = (None, Vec::new());
        if !all_approved {
            trusted_path = self.policy(reviewed, evaluation).covers(reviewed.path).cloned();
            if trusted_path.is_none()
                && let Some(lock) = self.lock(evaluation)
            {
                locked = lock.approvals.iter().filter(|approval| approval.is_in(&file)).cloned().collect();
            }
        }
        let approved: Vec<_> = self.approvals.iter().filter(|approval| approval.is_in(&file)).cloned().collect();
        let is_trusted = trusted_path.is_some() || !approved.is_empty() || !locked.is_empty();
        if !is_trusted {
            evaluation.untrusted.insert(reviewed.path.to_owned());
        }
        let mut present: Option<HashSet<String>> = None;
        let mut done = Vec::new();
        for (mut spec, entry) in hooks.into_iter().zip(entries.drain(..)) {
            match &spec.state {
                HookState::Broken(why) if !is_trusted => {
                    let why = format!("{why}; ignored: this file has no approved hooks (details: `checkrein check`)");
                    spec.state = HookState::Broken(why);
                    Arc::make_mut(&mut spec.info).on_failure = Some(FailurePolicy::Open);
                }
                HookState::Ready => {
                    let found = (find(&approved, &file, &entry), find(&locked, &file, &entry));
                    let (status, before) = match (&trusted_path, found) {
                        (Some(path), _) => (Status::TrustedPath(path.clone()), None),
                        (None, (Some(approval), _)) => (Status::Approved, Some(approval)),
                        (None, (None, Some(approval))) => (Status::Lockfile, Some(approval)),
                        (None, (None, None)) => {
                            let present =
                                present.get_or_insert_with(|| self.present_entries(reviewed, &done, &spec, context));
                            let id = &spec.info.id;
                            let is_earlier =
                                |approval: &&Approval| approval.id == *id && !present.contains(&approval.entry);
                            match approved.iter().chain(&locked).find(is_earlier) {
                                Some(earlier) => {
                                    let changes = describe_changes(&earlier.facts, &shown(&entry.facts));
                                    (Status::Changed(changes), Some(earlier))
                                }
                                None => (Status::New, None),
                            }
                        }
                    };
                    let status = self.set_verified_scripts(&mut spec, &entry, status, before);
                    match &status {
                        Status::New => spec.state = HookState::Untrusted,
                        Status::Changed(changes) => {
                            spec.state = HookState::Changed(changes.clone());
                            // A guard that was approved as enforcing denies, even if its entry is a dry run now.
                            if before.is_some_and(|before| before.entry != entry.hash && !before.is_dry_run()) {
                                Arc::make_mut(&mut spec.info).dry_run = false;
                            }
                        }
                        _ => {}
                    }
                    if reviewed.options.only.is_none() {
                        evaluation.reviewed.push(Reviewed::new(
                            &spec,
                            reviewed.trust,
                            self.root.clone(),
                            &file,
                            entry,
                            status,
                            before.cloned(),
                        ));
                    }
                }
                _ => {}
            }
            done.push(spec);
        }
        *reviewed.hooks = done;
    }

    /// Sets the scripts of an approved hook that are verified before each run.
    fn set_verified_scripts(
        &self,
        spec: &mut HookSpec,
        entry: &Entry,
        status: Status,
        before: Option<&Approval>,
    ) -> Status {
        let (Status::Approved | Status::Lockfile, Some(before)) = (&status, before) else { return status };
        let HandlerSpec::Command(command) = &mut spec.handler else { return status };
        let Some(store) = &self.store else { return status };
        if entry.named.scripts.is_empty() {
            return status;
        }
        let has_directory = command.script_dir.is_some();
        let mut scripts = Vec::new();
        for script in &entry.named.scripts {
            let name = name_of_script(&self.root, &script.path);
            let known = before.scripts.iter().find(|(path, _)| *path == name);
            let sha256 = match known {
                Some((_, sha256)) => *sha256,
                // A missing script cannot run.
                None if script.path.symlink_metadata().is_err() => None,
                None => {
                    let path = script.path.display();
                    return Status::Changed(format!("the command now runs {path}, which was not approved"));
                }
            };
            scripts.push(VerifiedScript {
                word: script.word.clone(),
                // The working directory does not matter for a script of a known directory.
                named: if has_directory { script.path.clone() } else { script.named.clone() },
                base: base_of(&self.root, &script.path),
                path: script.path.clone(),
                sha256,
            });
        }
        command.verified_scripts = Some(Box::new(VerifiedScripts { scripts, store: store.state().to_owned() }));
        status
    }

    /// Returns the hashes of all entries of the file. A hook is the changed version of an approved one only if the approved
    /// entry is no longer among them.
    fn present_entries(
        &self,
        file: &FileUnderReview<'_>,
        done: &[HookSpec],
        this: &HookSpec,
        context: CommandContext<'_>,
    ) -> HashSet<String> {
        let entries = |hooks: &[HookSpec]| -> HashSet<String> {
            hooks.iter().map(|spec| Entry::new(spec, &self.root, context).hash).collect()
        };
        // `file.hooks` may have only the hooks of one event.
        let mut present = entries(&(file.all_hooks)());
        present.extend(entries(done));
        present.extend(entries(std::slice::from_ref(this)));
        present
    }
}

/// Parts of a hook that an approval covers.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) facts: Vec<Property>,
    pub(super) hash: String,
    pub(super) named: ScriptRef,
}

impl Entry {
    fn new(spec: &HookSpec, root: &Path, context: CommandContext<'_>) -> Self {
        let facts = properties(spec, root);
        Self { hash: fingerprint(&facts), facts, named: find_scripts(spec, context) }
    }
}

impl Approval {
    /// `true` if the hook was approved as a dry run. Always `false` for a lockfile, which has no properties.
    fn is_dry_run(&self) -> bool {
        self.facts.iter().any(|property| property.label == HookInfo::DRY_RUN)
    }

    /// `true` for an approval of this file. If `file` is a directory that cannot be listed, also for one of a file in it.
    fn is_in(&self, file: &str) -> bool {
        self.file.strip_prefix(file).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    fn covers(&self, file: &str, entry: &Entry) -> bool {
        self.entry == entry.hash && self.file == file
    }
}

fn find<'a>(approvals: &'a [Approval], file: &str, entry: &Entry) -> Option<&'a Approval> {
    approvals.iter().find(|approval| approval.covers(file, entry))
}

/// Describes the changes of an entry, as a clause.
fn describe_changes(before: &[Property], now: &[Property]) -> String {
    let labels = |one: &[Property], other: &[Property]| -> Vec<String> {
        one.iter().filter(|fact| !other.contains(fact)).map(|fact| format!("`{}`", fact.label)).collect()
    };
    let mut changed = labels(before, now);
    changed.extend(labels(now, before));
    changed.sort();
    changed.dedup();
    // An approval from a lockfile has no properties.
    let subject = if before.is_empty() || changed.is_empty() { "the entry".to_owned() } else { changed.join(", ") };
    format!("{subject} changed since it was approved")
}

/// Returns the name of a file in approvals: relative to the project's root if it is inside.
fn name_in(root: &Path, path: &Path) -> String {
    // Links in the directories are resolved. The file itself may be a link, which has its own name.
    let real = path.parent().and_then(|parent| real_path(parent).ok()).zip(path.file_name());
    let real = real.map_or_else(|| path.to_owned(), |(parent, name)| parent.join(name));
    name_of_script(root, &real)
}

pub(super) fn name_of_script(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

/// Returns the directory up to which the files around a script are linked around its copy: the project's root, or the
/// parent of the script's directory.
pub(super) fn base_of(root: &Path, path: &Path) -> PathBuf {
    if path.starts_with(root) {
        return root.to_owned();
    }
    let parent = path.parent().unwrap_or(path);
    parent.parent().unwrap_or(parent).to_owned()
}
