//! [`ApprovalStore`]: the files of all approvals.
//!
//! The name of a file has the id and the start of the digest, so that a call finds its approval without reading the others.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use checkrein::internal::line_file::{self, make_private_directory};
use checkrein::internal::{is_private, regular_file};
use checkrein_core::RawJson;
use serde::{Deserialize, Serialize};

use super::approval::{
    Answer, AnswerRecord, Approval, ApprovalReason, ApprovalState, Decision, EditedOutcome, OnExpiry, Scope,
};
use super::call::Call;
use super::id::ApprovalId;
use super::shown::{Shown, short};

/// Time from the request in which a call can be approved and repeated.
pub const LIFETIME: Duration = Duration::from_secs(15 * 60);

/// Time from the answer in which an approval for the session can be used.
pub const SESSION_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// Maximum number of approvals that wait. More are refused, so that a flood removes no question.
pub const MAX_PENDING: usize = 1000;

/// Maximum number of approvals that have ended. The oldest are removed.
const MAX_ENDED: usize = 1000;

/// Time for which ended approvals are kept.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// File whose time is that of the last [`expire`](ApprovalStore::expire).
const EXPIRY_TIME: &str = "expiry";

/// Time between two calls of `expire` by hooks.
const EXPIRY_INTERVAL: Duration = Duration::from_secs(60);

/// Maximum size of a tool input and of an edited input, in bytes.
const MAX_INPUT: usize = 1 << 20;

/// Maximum size of a file, in bytes: two inputs, their rewrites, and the rest.
const MAX_FILE: u64 = 5 << 20;

/// Largest difference between the clocks of two processes, in milliseconds.
const CLOCK_TOLERANCE: u64 = 1000;

/// Number of characters of the digest in a file's name.
const NAME_DIGEST: usize = 32;

/// All approvals of a user, in a directory that only the user can write.
#[derive(Debug, Clone)]
pub struct ApprovalStore {
    dir: PathBuf,
}

/// An approval to request.
#[derive(Debug, Clone)]
pub struct NewApproval {
    /// The call.
    pub call: Call,
    /// Outcome of the call without an answer.
    pub on_expiry: OnExpiry,
    /// Time for which the agent holds the call for an answer. `None`: it does not wait.
    pub waits: Option<Duration>,
}

impl NewApproval {
    /// Approval of a call, which is denied without an answer.
    pub fn new(call: Call) -> Self {
        Self { call, on_expiry: OnExpiry::Deny, waits: None }
    }

    /// Approval of a call that the agent holds for this time.
    #[must_use]
    pub fn waiting(mut self, time: Option<Duration>) -> Self {
        self.waits = time;
        self
    }
}

/// A grant that was used, or a denial.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Grant {
    /// The call passes.
    Pass(Box<Approval>),
    /// The call passes with this input, after the hooks have judged it.
    Edited(Box<Approval>, RawJson),
    /// The user has denied the call.
    Denied(Box<Approval>),
}

/// Content of a file.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Stored {
    approval: Approval,
    /// The exact call. Absent after the end of the approval.
    call: Option<Call>,
    /// Input that replaces the one of the call.
    edited: Option<RawJson>,
}

/// Error of an approval.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApprovalError {
    /// No approval has the id.
    #[error(
        "no approval has the id {0}: the id is wrong, or the approval ended more than a day ago; \
         `checkrein approvals --all` lists those of the last day"
    )]
    Unknown(ApprovalId),
    /// The approval has expired.
    #[error("the approval {id} has expired; let the agent try again, which gives a new id", id = .0.id)]
    Expired(Box<Approval>),
    /// Another answer came first, or the question was cancelled.
    #[error("the approval {id} {outcome}", id = .0.id, outcome = .0.outcome())]
    Answered(Box<Approval>),
    /// Too many approvals wait.
    #[error(
        "{MAX_PENDING} calls wait for an approval already; list them with `checkrein approvals`, then answer them \
         with `checkrein approve` or `checkrein deny`"
    )]
    Full,
    /// The input has too many bytes to be shown and compared.
    #[error("the tool input is larger than 1 MiB, so it cannot be approved; split the call")]
    TooLarge,
    /// The edited input is no JSON object.
    #[error("the edited input is not a JSON object")]
    NotAnObject,
    /// An approval for a session needs a session.
    #[error("the agent does not name its session, so an approval cannot cover a session; approve one call")]
    NoSession,
    /// The audit log cannot be written, and its policy requires it.
    #[error("cannot write to the audit log: {0}")]
    NotRecorded(String),
    /// The directory belongs to others, or others can write it.
    #[error("{0}")]
    NotPrivate(String),
    /// A file cannot be read or written.
    #[error("{path}: {error}", path = .path.display())]
    Io {
        /// File or directory.
        path: PathBuf,
        /// Cause.
        error: io::Error,
    },
}

/// Writes the audit record of a change before it has an effect. An error prevents the change.
pub(super) type RecordChange<'r> = &'r mut dyn FnMut(&Approval) -> Result<(), String>;

impl ApprovalStore {
    /// Uses the directory `approvals` in the user's state directory.
    pub fn in_state_directory(state: &Path) -> Self {
        Self { dir: state.join("approvals") }
    }

    /// Directory of the files. Each change of an approval replaces a file in it.
    pub fn directory(&self) -> &Path {
        &self.dir
    }

    /// Returns all approvals, the newest first. Ended ones are kept for a day. Files that cannot be read are left out.
    ///
    /// # Errors
    /// The directory cannot be read, or others can write it.
    pub fn list(&self) -> Result<Vec<Approval>, ApprovalError> {
        let mut all: Vec<_> = self.read_all(None)?.into_iter().map(|(_, stored)| stored.approval).collect();
        sort(&mut all);
        Ok(all)
    }

    /// Returns an approval. One that has expired has that state, also if its file does not yet.
    ///
    /// # Errors
    /// There is no such approval, or the directory cannot be read.
    pub fn find(&self, id: &ApprovalId) -> Result<Approval, ApprovalError> {
        Ok(self.read(id)?.1.approval)
    }

    /// Returns the exact call of an approval that has not ended. It may have credentials.
    ///
    /// # Errors
    /// As [`find`](Self::find), or the approval has ended.
    pub fn call(&self, id: &ApprovalId) -> Result<Call, ApprovalError> {
        let (_, stored) = self.read(id)?;
        stored.call.ok_or_else(|| refused(stored.approval))
    }

    /// Requests an approval. A call that waits already keeps its approval.
    ///
    /// # Errors
    /// The call is too large, too many calls wait, or the file cannot be written.
    pub fn request(&self, new: NewApproval) -> Result<Approval, ApprovalError> {
        self.request_recorded(new, &mut |_| Ok(()))
    }

    pub(super) fn request_recorded(
        &self,
        new: NewApproval,
        record: RecordChange<'_>,
    ) -> Result<Approval, ApprovalError> {
        let NewApproval { call, on_expiry, waits } = new;
        let waits_until = waits.map(|time| now() + millis(time));
        let rewritten = call.rewritten.as_ref();
        if call.input.as_str().len().max(rewritten.map_or(0, |input| input.as_str().len())) > MAX_INPUT {
            return Err(ApprovalError::TooLarge);
        }
        let digest = call.digest();
        make_private_directory(&self.dir).map_err(|error| failed(&self.dir, error))?;
        let _lock = self.lock()?;
        let of_call = self.read_all(Some(&digest))?;
        if let Some((_, mut stored)) =
            of_call.into_iter().find(|(_, stored)| stored.approval.state == ApprovalState::Pending)
        {
            if waits_until > stored.approval.waits_until {
                stored.approval.waits_until = waits_until;
                self.write(&stored)?;
            }
            return Ok(stored.approval);
        }
        self.make_room()?;
        let shown =
            Shown::new(&call.tool, &call.input).explained(&call.commands, call.more_commands, call.diff.as_deref());
        let created = now();
        let approval = Approval {
            id: ApprovalId::random(),
            state: ApprovalState::Pending,
            created,
            expires: created + millis(LIFETIME),
            changed: created,
            waits_until,
            on_expiry,
            agent: call.agent.clone(),
            session: call.session.clone(),
            subagent: call.subagent.as_deref().map(short),
            tool_call: call.tool_call.as_deref().map(short),
            cwd: call.cwd.as_deref().map(short),
            project: call.project.to_string_lossy().into_owned(),
            event: call.event.clone(),
            tool: short(&call.tool),
            digest,
            shown_digest: shown.digest(),
            shown,
            reasons: call
                .asks
                .iter()
                .map(|ask| ApprovalReason {
                    hook: short(&ask.hook),
                    source: short(&ask.source),
                    text: short(&ask.reason),
                })
                .collect(),
            rewritten: rewritten.map(|input| Shown::new(&call.tool, input)),
            policy_revision: call.policy.clone(),
            uses: 0,
            edited_outcome: None,
            answers: Vec::new(),
        };
        record(&approval).map_err(ApprovalError::NotRecorded)?;
        self.write(&Stored { approval: approval.clone(), call: Some(call), edited: None })?;
        Ok(approval)
    }

    /// Answers an approval. The first answer wins.
    ///
    /// # Errors
    /// The approval has expired, another answer came first, or the file cannot be written. Nothing is answered then.
    pub fn answer(&self, id: &ApprovalId, answer: Answer) -> Result<Approval, ApprovalError> {
        self.answer_recorded(id, answer, &mut |_| Ok(()))
    }

    pub(super) fn answer_recorded(
        &self,
        id: &ApprovalId,
        answer: Answer,
        record: RecordChange<'_>,
    ) -> Result<Approval, ApprovalError> {
        let _lock = self.lock_existing(id)?;
        let (_, mut stored) = self.read(id)?;
        if stored.approval.state != ApprovalState::Pending {
            return Err(refused(stored.approval));
        }
        let Answer { decision, via, by, reason, edited_input, scope } = answer;
        let edited = edited_input.filter(|_| decision == Decision::Approve);
        if edited.as_ref().is_some_and(|input| input.as_str().len() > MAX_INPUT) {
            return Err(ApprovalError::TooLarge);
        }
        if edited.as_ref().is_some_and(|input| input.entries().is_none()) {
            return Err(ApprovalError::NotAnObject);
        }
        if decision == Decision::Approve && scope == Scope::Session && stored.approval.session.is_none() {
            return Err(ApprovalError::NoSession);
        }
        let at = now();
        let approval = &mut stored.approval;
        let shown = edited.as_ref().map(|input| Shown::new(&approval.tool, input));
        let (by, reason) = (short(&by), reason.as_deref().map(short).filter(|reason| !reason.is_empty()));
        approval.answers.push(AnswerRecord { by, via, at, decision, reason, edited_input: shown, scope });
        if decision == Decision::Approve && scope == Scope::Session {
            approval.expires = at + millis(SESSION_LIFETIME);
        }
        stored.edited = edited;
        let next = match decision {
            Decision::Approve => ApprovalState::Approved,
            Decision::Deny => ApprovalState::Denied,
        };
        self.advance(stored, next, record)
    }

    /// Uses the grant of a call. `None`: the user has not answered. Of several processes that try, one gets a grant for one call.
    /// A denial applies to identical calls until the approval would have expired.
    ///
    /// # Errors
    /// The directory cannot be read or written. The call does not pass then.
    pub fn take(&self, call: &Call) -> Result<Option<Grant>, ApprovalError> {
        self.take_recorded(call, &mut |_| Ok(()))
    }

    pub(super) fn take_recorded(&self, call: &Call, record: RecordChange<'_>) -> Result<Option<Grant>, ApprovalError> {
        let digest = call.digest();
        // Most calls have no approval, and need no lock.
        if self.names(Some(&digest))?.is_empty() {
            return Ok(None);
        }
        let _lock = self.lock()?;
        let mut of_call = self.read_all(Some(&digest))?;
        of_call.sort_by_key(|(_, stored)| std::cmp::Reverse(stored.approval.changed));
        let is_granted = |stored: &Stored| stored.approval.state == ApprovalState::Approved && stored.call.is_some();
        if let Some(at) = of_call.iter().position(|(_, stored)| is_granted(stored)) {
            let (_, mut stored) = of_call.swap_remove(at);
            stored.approval.uses += 1;
            let edited = stored.edited.clone();
            let is_for_session = stored.approval.winner().is_some_and(|answer| answer.scope == Scope::Session);
            let approval = if is_for_session {
                record(&stored.approval).map_err(ApprovalError::NotRecorded)?;
                self.write(&stored)?;
                stored.approval
            } else {
                self.advance(stored, ApprovalState::Consumed, record)?
            };
            let approval = Box::new(approval);
            return Ok(Some(match edited {
                Some(input) => Grant::Edited(approval, input),
                None => Grant::Pass(approval),
            }));
        }
        let newest = of_call.into_iter().map(|(_, stored)| stored.approval).next();
        let is_denied = |approval: &Approval| {
            approval.state == ApprovalState::Denied && is_current(approval.created, approval.expires, now())
        };
        Ok(newest.filter(is_denied).map(|approval| Grant::Denied(Box::new(approval))))
    }

    /// Sets the result of an edited call, after the hooks have judged it.
    ///
    /// # Errors
    /// No approval has the id, or its file cannot be written.
    pub fn set_edited_outcome(&self, id: &ApprovalId, outcome: &EditedOutcome) -> Result<(), ApprovalError> {
        let _lock = self.lock_existing(id)?;
        let (_, mut stored) = self.read(id)?;
        stored.approval.edited_outcome =
            Some(EditedOutcome { text: short(&outcome.text), has_passed: outcome.has_passed });
        stored.approval.changed = now();
        self.write(&stored)
    }

    /// Cancels an approval that waits: nothing needs its answer any more.
    ///
    /// # Errors
    /// The approval does not wait, or its file cannot be written.
    pub fn cancel(&self, id: &ApprovalId) -> Result<Approval, ApprovalError> {
        self.cancel_recorded(id, &mut |_| Ok(()))
    }

    pub(super) fn cancel_recorded(&self, id: &ApprovalId, record: RecordChange<'_>) -> Result<Approval, ApprovalError> {
        let _lock = self.lock_existing(id)?;
        let (_, stored) = self.read(id)?;
        if stored.approval.state != ApprovalState::Pending {
            return Err(refused(stored.approval));
        }
        self.advance(stored, ApprovalState::Cancelled, record)
    }

    /// Writes the state of approvals that have expired, and removes old ones. Returns those that expired since the last call.
    ///
    /// # Errors
    /// The directory cannot be read or written.
    pub fn expire(&self) -> Result<Vec<Approval>, ApprovalError> {
        self.expire_recorded(&mut |_| Ok(()))
    }

    pub(super) fn expire_recorded(&self, record: RecordChange<'_>) -> Result<Vec<Approval>, ApprovalError> {
        if self.names(None)?.is_empty() {
            return Ok(Vec::new());
        }
        let _lock = self.lock()?;
        // An error only makes the next process do the same again.
        let _ = line_file::private(&self.dir.join(EXPIRY_TIME), OpenOptions::new().write(true).truncate(true))
            .and_then(|file| file.set_modified(SystemTime::now()));
        let mut expired = Vec::new();
        let mut ended = Vec::new();
        for (path, mut stored) in self.read_all(None)? {
            // The file still has the old state if the call is there.
            if stored.approval.state == ApprovalState::Expired && stored.call.is_some() {
                // The log of an expiry has no effect on it.
                let _ = record(&stored.approval);
                stored.approval.changed = now();
                (stored.call, stored.edited) = (None, None);
                self.write(&stored)?;
                expired.push(stored.approval.clone());
            }
            if stored.call.is_none() {
                ended.push((stored.approval.changed, path));
            }
        }
        let oldest = now().saturating_sub(millis(KEPT));
        ended.sort_unstable();
        let surplus = ended.len().saturating_sub(MAX_ENDED);
        for (index, (changed, path)) in ended.iter().enumerate() {
            if index < surplus || *changed < oldest || *changed > now() + CLOCK_TOLERANCE {
                let _ = fs::remove_file(path);
            }
        }
        for Name { id, path } in self.names(None)? {
            if matches!(read_file(&path, &id), Ok(None)) && is_old(&path) {
                let _ = fs::remove_file(&path);
            }
        }
        Ok(expired)
    }

    /// `true` if no process has ended expired approvals in the last minute.
    pub(super) fn is_expiry_due(&self) -> bool {
        let modified = self.dir.join(EXPIRY_TIME).symlink_metadata().and_then(|metadata| metadata.modified());
        // After a jump of the clock into the past, the time is in the future.
        let age = modified.ok().and_then(|time| time.elapsed().ok());
        age.is_none_or(|age| age >= EXPIRY_INTERVAL)
    }

    /// Returns all approvals as [`list`](Self::list) does. Reads only files that have changed since the last call with these `known`
    /// files. The second value is `true` if [`expire`](Self::expire) has something to do.
    ///
    /// # Errors
    /// See [`list`](Self::list).
    pub fn list_changed(&self, known: &mut KnownFiles) -> Result<(Vec<Approval>, bool), ApprovalError> {
        let mut files = HashMap::new();
        for Name { id, path } in self.names(None)? {
            let Ok(stamp) = path.symlink_metadata().map(|metadata| Stamp::from_metadata(&metadata)) else { continue };
            let old = known.0.remove(&path).filter(|file| file.stamp == stamp);
            let file = match old {
                Some(file) => file,
                None => {
                    let Ok(Some(stored)) = read_file(&path, &id) else { continue };
                    KnownFile { stamp, approval: stored.approval, has_call: stored.call.is_some() }
                }
            };
            files.insert(path, file);
        }
        known.0 = files;
        let oldest = now().saturating_sub(millis(KEPT));
        let mut is_due = false;
        let mut all = Vec::with_capacity(known.0.len());
        for file in known.0.values_mut() {
            expire_by_time(&mut file.approval);
            let is_old = !file.has_call && file.approval.changed < oldest;
            is_due |= is_old || (file.has_call && file.approval.state == ApprovalState::Expired);
            all.push(file.approval.clone());
        }
        sort(&mut all);
        Ok((all, is_due))
    }

    /// Returns the id in this text, if an approval with that id waits or is approved.
    pub fn id_in(&self, text: &str) -> Option<ApprovalId> {
        let names = self.names(None).ok().filter(|names| !names.is_empty())?;
        let text = text.to_ascii_uppercase();
        let is_in = |id: &ApprovalId| text.contains(&id.to_string()) || text.contains(id.characters());
        let ids: HashSet<_> = names.into_iter().map(|name| name.id).collect();
        let is_open = |id: &ApprovalId| {
            let state = self.find(id).map(|approval| approval.state);
            matches!(state, Ok(ApprovalState::Pending | ApprovalState::Approved))
        };
        ids.into_iter().find(|id| is_in(id) && is_open(id))
    }

    /// Writes an approval with its next state.
    fn advance(
        &self,
        mut stored: Stored,
        next: ApprovalState,
        record: RecordChange<'_>,
    ) -> Result<Approval, ApprovalError> {
        let approval = &mut stored.approval;
        if !approval.state.can_become(next) {
            return Err(refused(stored.approval));
        }
        (approval.state, approval.changed) = (next, now());
        if next != ApprovalState::Approved {
            (stored.call, stored.edited) = (None, None);
        }
        record(&stored.approval).map_err(ApprovalError::NotRecorded)?;
        self.write(&stored)?;
        Ok(stored.approval)
    }

    /// Refuses a new approval if too many wait. Removes files of ended ones if the directory is large.
    fn make_room(&self) -> Result<(), ApprovalError> {
        // Reading all files is needed only if there are many.
        if self.names(None)?.len() < MAX_PENDING {
            return Ok(());
        }
        let mut ended: Vec<_> = Vec::new();
        let mut open = 0;
        for (path, stored) in self.read_all(None)? {
            match stored.approval.state {
                ApprovalState::Pending | ApprovalState::Approved => open += 1,
                _ => ended.push((stored.approval.changed, path)),
            }
        }
        if open >= MAX_PENDING {
            return Err(ApprovalError::Full);
        }
        ended.sort_unstable();
        let surplus = ended.len().saturating_sub(MAX_ENDED - 1);
        for (_, path) in ended.into_iter().take(surplus) {
            fs::remove_file(&path).map_err(|error| failed(&path, error))?;
        }
        Ok(())
    }

    /// Locks the directory for a change.
    fn lock(&self) -> Result<File, ApprovalError> {
        let path = self.dir.join("lock");
        let mut options = OpenOptions::new();
        let locked = line_file::private(&path, options.read(true).write(true)).and_then(|file| {
            line_file::lock(&file, line_file::PATIENCE)?;
            Ok(file)
        });
        locked.map_err(|error| failed(&path, error))
    }

    /// As [`lock`](Self::lock), without creating the directory.
    fn lock_existing(&self, id: &ApprovalId) -> Result<File, ApprovalError> {
        self.read(id)?;
        self.lock()
    }

    /// Reads one approval.
    fn read(&self, id: &ApprovalId) -> Result<(PathBuf, Stored), ApprovalError> {
        let unknown = || ApprovalError::Unknown(id.clone());
        let name = self.names(None)?.into_iter().find(|name| name.id == *id).ok_or_else(unknown)?;
        let path = name.path;
        match read_file(&path, id) {
            Ok(Some(stored)) => Ok((path, stored)),
            Ok(None) => Err(unknown()),
            Err(error) => Err(failed(&path, error)),
        }
    }

    /// Reads all approvals, or those of a digest.
    fn read_all(&self, digest: Option<&str>) -> Result<Vec<(PathBuf, Stored)>, ApprovalError> {
        let read = |name: Name| Some((name.path.clone(), read_file(&name.path, &name.id).ok()??));
        let all = self.names(digest)?.into_iter().filter_map(read);
        Ok(all.filter(|(_, stored)| digest.is_none_or(|digest| stored.approval.digest == digest)).collect())
    }

    /// Returns the names of all files, or of those of a digest. A missing directory has none.
    fn names(&self, digest: Option<&str>) -> Result<Vec<Name>, ApprovalError> {
        if !is_private(&self.dir).map_err(ApprovalError::NotPrivate)? {
            return Ok(Vec::new());
        }
        let digest = digest.map(name_digest);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(|error| failed(&self.dir, error))? {
            let path = entry.map_err(|error| failed(&self.dir, error))?.path();
            let Some((id, of)) = path.file_name().and_then(|name| name.to_str()).and_then(parse_name) else { continue };
            if digest.is_none_or(|digest| digest == of) {
                names.push(Name { id, path });
            }
        }
        Ok(names)
    }

    /// Replaces the file of an approval.
    fn write(&self, stored: &Stored) -> Result<(), ApprovalError> {
        let approval = &stored.approval;
        let name = format!("{}.{}.json", approval.id.characters(), name_digest(&approval.digest));
        let path = self.dir.join(name);
        let new = self.dir.join(format!("{}.new", approval.id.characters()));
        let text = serde_json::to_string(stored).map_err(|error| failed(&path, error.into()))?;
        let write = || {
            let mut file = line_file::private(&new, OpenOptions::new().write(true).truncate(true))?;
            file.write_all(text.as_bytes())?;
            fs::rename(&new, &path)
        };
        write().map_err(|error| {
            let _ = fs::remove_file(&new);
            failed(&path, error)
        })
    }
}

/// Files that [`ApprovalStore::list_changed`] has read.
#[derive(Debug, Default)]
pub struct KnownFiles(HashMap<PathBuf, KnownFile>);

#[derive(Debug)]
struct KnownFile {
    stamp: Stamp,
    approval: Approval,
    has_call: bool,
}

/// Values that differ after each change: a change replaces the file.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    size: u64,
    inode: u64,
}

impl Stamp {
    fn from_metadata(metadata: &fs::Metadata) -> Self {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(metadata);
        #[cfg(not(unix))]
        let inode = 0;
        Self { modified: metadata.modified().ok(), size: metadata.len(), inode }
    }
}

/// Name of a file.
struct Name {
    id: ApprovalId,
    path: PathBuf,
}

/// Returns the part of a digest that file names have.
fn name_digest(digest: &str) -> &str {
    let hex = digest.strip_prefix("sha256:").unwrap_or(digest);
    hex.get(..NAME_DIGEST).unwrap_or(hex)
}

fn parse_name(name: &str) -> Option<(ApprovalId, &str)> {
    let mut parts = name.split('.');
    let (id, digest, end) = (parts.next()?.parse().ok()?, parts.next()?, parts.next()?);
    if end == "json" && parts.next().is_none() { Some((id, digest)) } else { None }
}

/// Reads a file. `None`: it is not what the store wrote, so it grants nothing.
fn read_file(path: &Path, id: &ApprovalId) -> io::Result<Option<Stored>> {
    let text = match regular_file::read_text(path, MAX_FILE) {
        Ok(text) => text,
        Err(error) if error.is_missing() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let Ok(mut stored) = serde_json::from_str::<Stored>(&text) else { return Ok(None) };
    let approval = &mut stored.approval;
    let is_of_call = stored.call.as_ref().is_none_or(|call| call.digest() == approval.digest);
    let is_named = approval.id == *id
        && path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(parse_name)
            .is_some_and(|(_, of)| of == name_digest(&approval.digest));
    if !is_of_call || !is_named {
        return Ok(None);
    }
    expire_by_time(approval);
    Ok(Some(stored))
}

/// Sets the state of an approval whose time is over.
fn expire_by_time(approval: &mut Approval) {
    let is_open = matches!(approval.state, ApprovalState::Pending | ApprovalState::Approved);
    if is_open && !is_current(approval.created, approval.expires, now()) {
        approval.state = ApprovalState::Expired;
    }
}

/// Sorts approvals, the newest first.
fn sort(all: &mut [Approval]) {
    all.sort_by(|one, other| other.created.cmp(&one.created).then_with(|| one.digest.cmp(&other.digest)));
}

/// `true` if an approval with these times is valid. After a jump of the clock into the past, its request is in the future, and it
/// is not valid.
fn is_current(created: u64, expires: u64, now: u64) -> bool {
    let longest = millis(LIFETIME) + millis(SESSION_LIFETIME);
    created <= now + CLOCK_TOLERANCE && now < expires && expires.saturating_sub(created) <= longest
}

/// `true` if a file was last written more than a day ago.
fn is_old(path: &Path) -> bool {
    let age = path.symlink_metadata().and_then(|metadata| metadata.modified()).ok().map(|time| time.elapsed());
    age.is_some_and(|age| age.is_ok_and(|age| age > KEPT))
}

fn refused(approval: Approval) -> ApprovalError {
    let approval = Box::new(approval);
    match approval.state {
        ApprovalState::Expired => ApprovalError::Expired(approval),
        _ => ApprovalError::Answered(approval),
    }
}

/// Milliseconds since 1970.
pub(super) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, millis)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn failed(path: &Path, error: io::Error) -> ApprovalError {
    ApprovalError::Io { path: path.to_owned(), error }
}
