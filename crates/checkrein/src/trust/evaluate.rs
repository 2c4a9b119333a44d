//! Which hooks of projects may run.

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
use super::script_refs::{CommandContext, ScriptRef, named};
use crate::hook_files::{Locations, repository, settings_of_user};
use crate::real_path::{real_path, real_path_or_same};

/// How a file came to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// It lies where the user's or the administrator's files are.
    Discovered,
    /// The caller has named it, or a file of the user's own has.
    Explicit,
    /// It came with the project, or a file of the project's has named it. Its hooks need approval.
    Project,
}

/// A file whose hooks are judged.
pub(crate) struct FileUnderReview<'a> {
    pub(crate) path: &'a Path,
    pub(crate) origin: Origin,
    /// The directory that the agent was started in.
    pub(crate) dir: &'a Path,
    pub(crate) place: &'a Locations,
    pub(crate) trust: &'a Trust,
    pub(crate) options: &'a DecodeOptions,
    pub(crate) hooks: &'a mut Vec<HookSpec>,
    /// Reads all hooks of the file again: `hooks` has only those that are wanted now.
    pub(crate) all_hooks: Box<dyn Fn() -> Vec<HookSpec> + 'a>,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct Evaluation {
    pub(crate) reviewed: Vec<Reviewed>,
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Files of projects that nobody has approved anything of.
    pub(crate) untrusted: HashSet<PathBuf>,
    /// Files at which a change may matter.
    pub(crate) followed: Vec<PathBuf>,
}

/// Judges the hooks of files: those that may not run get a state that says so, and scripts of those that may are pinned.
pub(crate) fn judge<'a>(subjects: impl Iterator<Item = FileUnderReview<'a>>) -> Evaluation {
    let mut court = Evaluator::default();
    for subject in subjects {
        if !subject.hooks.is_empty() && !subject.trust.is_everything() && subject.origin == Origin::Project {
            court.file(subject);
        }
    }
    court.judged
}

#[derive(Default)]
struct Evaluator {
    judged: Evaluation,
    projects: HashMap<(PathBuf, Option<PathBuf>), Project>,
}

/// What is known of a project.
struct Project {
    root: PathBuf,
    store: Option<Store>,
    approvals: Vec<Approval>,
    policy: Option<Policy>,
    lock: Option<Option<Lock>>,
}

impl Evaluator {
    fn file(&mut self, mut subject: FileUnderReview<'_>) {
        let dir = real_path_or_same(subject.dir);
        let root = repository(&dir).unwrap_or(&dir).to_owned();
        let store = subject.trust.store();
        let key = (root.clone(), store.as_ref().map(|store| store.state().to_owned()));
        let judged = &mut self.judged;
        let project = self.projects.entry(key).or_insert_with(|| Project::open(root, store, judged));
        project.judge(&mut subject, &dir, judged);
    }
}

impl Project {
    fn open(root: PathBuf, store: Option<Store>, judged: &mut Evaluation) -> Self {
        let approvals = match store.as_ref().map(|store| store.read(&root)) {
            Some(Ok(approvals)) => approvals,
            Some(Err(why)) => {
                let (file, why): (_, Refused) = (store.as_ref().map(|store| store.file_of(&root)), why);
                let file = file.map(|file| file.display().to_string()).unwrap_or_default();
                let text = format!("nothing counts as approved: {why}");
                judged.diagnostics.push(Diagnostic::of_file(Severity::Error, "approvals-not-private", file, text));
                Vec::new()
            }
            None => Vec::new(),
        };
        judged.followed.extend(store.as_ref().map(|store| store.file_of(&root)));
        Self { root, store, approvals, policy: None, lock: None }
    }

    fn policy(&mut self, subject: &FileUnderReview<'_>, judged: &mut Evaluation) -> &Policy {
        let root = &self.root;
        self.policy.get_or_insert_with(|| {
            let files = settings_of_user(subject.dir, subject.place);
            let policy = Policy::of(files, subject.place.home.as_deref(), &ProjectRoots::at(root));
            for (file, why) in &policy.problems {
                let file = file.display().to_string();
                judged.diagnostics.push(Diagnostic::of_file(Severity::Warning, "no-effect", file, why.clone()));
            }
            policy
        })
    }

    fn lock(&mut self, judged: &mut Evaluation) -> Option<&Lock> {
        let keys = self.policy.as_ref().map(|policy| policy.keys.as_slice()).unwrap_or_default();
        let root = &self.root;
        let lock = self.lock.get_or_insert_with(|| {
            let lock = Lock::read(root, keys)?;
            if let Err(why) = &lock.signed_by {
                let file = root.join(LOCKFILE).display().to_string();
                let text = format!("this lockfile approves nothing: {why}");
                judged.diagnostics.push(Diagnostic::of_file(Severity::Warning, "lockfile-not-trusted", file, text));
            }
            Some(lock)
        });
        lock.as_ref().filter(|lock| lock.signed_by.is_ok())
    }

    fn judge(&mut self, subject: &mut FileUnderReview<'_>, dir: &Path, judged: &mut Evaluation) {
        let file = name_in(&self.root, subject.path);
        let around = CommandContext { dir, home: subject.place.home.as_deref() };
        let hooks = std::mem::take(subject.hooks);
        let mut entries: Vec<_> = hooks.iter().map(|spec| Entry::of(spec, &self.root, around)).collect();
        let is_approved = |entry: &Entry| self.approvals.iter().any(|own| own.is_of(&file, entry));
        let all_approved =
            hooks.iter().zip(&entries).all(|(spec, entry)| spec.state == HookState::Ready && is_approved(entry));
        // Most runs end here: what follows reads more files.
        let (mut covered, mut locked) = (None, Vec::new());
        if !all_approved {
            covered = self.policy(subject, judged).covers(subject.path).cloned();
            if covered.is_none() {
                let of_file = |lock: &Lock| lock.approvals.iter().filter(|own| own.file == file).cloned().collect();
                locked = self.lock(judged).map(of_file).unwrap_or_default();
            }
        }
        let approved: Vec<_> = self.approvals.iter().filter(|own| own.file == file).cloned().collect();
        let is_trusted = covered.is_some() || !approved.is_empty() || !locked.is_empty();
        if !is_trusted {
            judged.untrusted.insert(subject.path.to_owned());
        }
        let mut present: Option<HashSet<String>> = None;
        let mut done = Vec::new();
        for (mut spec, entry) in hooks.into_iter().zip(entries.drain(..)) {
            match &spec.state {
                HookState::Broken(why) if !is_trusted => {
                    let why = format!(
                        "{why}; nobody has approved anything of this file, so nothing is refused for that (`checkrein check` \
                         and `checkrein trust` tell more)"
                    );
                    spec.state = HookState::Broken(why);
                    Arc::make_mut(&mut spec.info).on_failure = Some(FailurePolicy::Open);
                }
                HookState::Ready => {
                    let (status, before) =
                        match (&covered, find(&approved, &file, &entry), find(&locked, &file, &entry)) {
                            (Some(path), ..) => (Status::TrustedPath(path.clone()), None),
                            (None, Some(own), _) => (Status::Approved, Some(own)),
                            (None, None, Some(own)) => (Status::Lockfile, Some(own)),
                            (None, None, None) => {
                                let present =
                                    present.get_or_insert_with(|| self.present(subject, &done, &spec, around));
                                let id = &spec.info.id;
                                let was = |own: &&Approval| own.id == *id && !present.contains(&own.entry);
                                match approved.iter().chain(&locked).find(was) {
                                    Some(own) => {
                                        (Status::Changed(changes(&own.facts, &shown(&entry.facts))), Some(own))
                                    }
                                    None => (Status::New, None),
                                }
                            }
                        };
                    let status = self.pin(&mut spec, &entry, status, before);
                    match &status {
                        Status::New => spec.state = HookState::Untrusted,
                        Status::Changed(what) => {
                            spec.state = HookState::Changed(what.clone());
                            // A guard that was approved in force closes what it guards, also if its entry says otherwise now.
                            if before.is_some_and(|before| before.entry != entry.hash && !before.is_dry_run()) {
                                Arc::make_mut(&mut spec.info).dry_run = false;
                            }
                        }
                        _ => {}
                    }
                    if subject.options.only.is_none() {
                        judged.reviewed.push(Reviewed::new(
                            &spec,
                            subject.trust,
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
        *subject.hooks = done;
    }

    /// Pins the scripts of a hook that was approved.
    fn pin(&self, spec: &mut HookSpec, entry: &Entry, status: Status, before: Option<&Approval>) -> Status {
        let (Status::Approved | Status::Lockfile, Some(before)) = (&status, before) else { return status };
        let HandlerSpec::Command(command) = &mut spec.handler else { return status };
        let Some(store) = self.store.as_ref().filter(|_| !entry.named.scripts.is_empty()) else { return status };
        let mut scripts = Vec::new();
        for script in &entry.named.scripts {
            let name = name_of_script(&self.root, &script.path);
            let known = before.scripts.iter().find(|(path, _)| *path == name);
            let sha256 = match known {
                Some((_, sha256)) => *sha256,
                // One that is not there cannot run.
                None if script.path.symlink_metadata().is_err() => None,
                None => {
                    return Status::Changed(format!(
                        "it was approved, and runs {} now, which was not approved with it",
                        script.path.display()
                    ));
                }
            };
            scripts.push(VerifiedScript {
                word: script.word.clone(),
                named: script.named.clone(),
                base: base_of(&self.root, &script.path),
                path: script.path.clone(),
                sha256,
            });
        }
        command.verified_scripts = Some(Box::new(VerifiedScripts { scripts, store: store.state().to_owned() }));
        status
    }

    /// The entries that the file has now, all of them.
    fn present(
        &self,
        subject: &FileUnderReview<'_>,
        done: &[HookSpec],
        this: &HookSpec,
        around: CommandContext<'_>,
    ) -> HashSet<String> {
        let entries = |hooks: &[HookSpec]| -> HashSet<String> {
            hooks.iter().map(|spec| Entry::of(spec, &self.root, around).hash).collect()
        };
        // Where only some hooks are wanted the others were not read: a hook that has only moved has not changed.
        let mut present = entries(&(subject.all_hooks)());
        present.extend(entries(done));
        present.extend(entries(std::slice::from_ref(this)));
        present
    }
}

/// A hook as it is approved.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) facts: Vec<Property>,
    pub(super) hash: String,
    pub(super) named: ScriptRef,
}

impl Entry {
    fn of(spec: &HookSpec, root: &Path, around: CommandContext<'_>) -> Self {
        let facts = properties(spec, root);
        Self { hash: fingerprint(&facts), facts, named: named(spec, around) }
    }
}

impl Approval {
    /// `true` if the hook was approved as a dry run. A lockfile does not say so.
    fn is_dry_run(&self) -> bool {
        self.facts.iter().any(|property| property.label == HookInfo::DRY_RUN)
    }

    fn is_of(&self, file: &str, entry: &Entry) -> bool {
        self.entry == entry.hash && self.file == file
    }
}

fn find<'a>(approvals: &'a [Approval], file: &str, entry: &Entry) -> Option<&'a Approval> {
    approvals.iter().find(|own| own.is_of(file, entry))
}

/// What has changed in an entry, in words.
fn changes(before: &[Property], now: &[Property]) -> String {
    let labels = |one: &[Property], other: &[Property]| -> Vec<String> {
        one.iter().filter(|fact| !other.contains(fact)).map(|fact| format!("`{}`", fact.label)).collect()
    };
    let mut changed = labels(before, now);
    changed.extend(labels(now, before));
    changed.sort();
    changed.dedup();
    // A lockfile does not say what an entry was.
    let what = if before.is_empty() || changed.is_empty() { "its entry".to_owned() } else { changed.join(", ") };
    format!("{what} changed since it was approved")
}

/// A file as it is named in approvals: from the root of the project if it lies there.
fn name_in(root: &Path, path: &Path) -> String {
    // Links above it are not part of its name; a link that it is itself is.
    let real = path.parent().and_then(|parent| real_path(parent).ok()).zip(path.file_name());
    let real = real.map_or_else(|| path.to_owned(), |(parent, name)| parent.join(name));
    name_of_script(root, &real)
}

pub(super) fn name_of_script(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned()
}

/// How far up a script finds around its copy what it would find around itself: in the project, up to its root.
pub(super) fn base_of(root: &Path, path: &Path) -> PathBuf {
    if path.starts_with(root) {
        return root.to_owned();
    }
    let parent = path.parent().unwrap_or(path);
    parent.parent().unwrap_or(parent).to_owned()
}
