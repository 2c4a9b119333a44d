//! Questions that wait for an answer: their list, as it changes, and the answers of the page.

use std::collections::HashMap;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use checkrein::hook_files::Locations;
use checkrein::internal::{branch_name, line_file, redacted_json, user_name};
use checkrein_core::RawJson;
use checkrein_tools::approvals::{
    Answer, Approval, ApprovalError, ApprovalId, ApprovalState, ApprovalStore, Decision, KnownFiles, Scope, Via,
    decide, expire,
};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::WebOptions;
use crate::directory_watch;

/// Wait without a notification after which the directory is read anyway.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Wait after a notification, so that a burst is one change.
const BURST: Duration = Duration::from_millis(20);

/// Time for which an ended question is listed, so that every page learns its outcome.
const ENDED_LISTED_MS: u64 = 60_000;

/// Maximum number of questions in the list.
const MAX_LISTED: usize = 200;

/// Maximum size of an input that the page edits, in bytes.
const MAX_EDITED: usize = 64 << 10;

/// A question, for the page.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Question {
    pub(super) approval: Approval,
    /// `true` if the page can show the whole input.
    editable: bool,
    /// Branch of the project.
    branch: Option<String>,
}

impl Question {
    fn new(approval: Approval) -> Self {
        let branch = branch_name(std::path::Path::new(directory(&approval)));
        Self::on_branch(approval, branch)
    }

    fn on_branch(approval: Approval, branch: Option<String>) -> Self {
        let editable = approval.state == ApprovalState::Pending && !approval.shown.is_partial;
        Self { approval, editable, branch }
    }
}

fn directory(approval: &Approval) -> &str {
    approval.cwd.as_deref().unwrap_or(&approval.project)
}

/// Open questions, and those that have just ended.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct List {
    /// Questions with a waiting agent first, then the oldest.
    approvals: Vec<Question>,
    /// Number of questions that are not in the list.
    hidden: usize,
    /// Reason why the questions cannot be read.
    error: Option<String>,
}

impl List {
    /// JSON for the page, with the time of the process.
    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::json!({ "now": now(), "approvals": self.approvals, "hidden": self.hidden, "error": self.error })
    }

    /// Number of open questions per agent and session.
    pub(super) fn by_session(&self) -> HashMap<(String, String), usize> {
        let mut counts = HashMap::new();
        for Question { approval, .. } in &self.approvals {
            if let (ApprovalState::Pending, Some(session)) = (approval.state, &approval.session) {
                *counts.entry((approval.agent.clone(), session.clone())).or_default() += 1;
            }
        }
        counts
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// The questions of a user.
#[derive(Debug)]
pub(super) struct Questions {
    store: ApprovalStore,
    locations: Locations,
    list: watch::Receiver<List>,
    wake: mpsc::Sender<Wake>,
}

#[derive(Debug)]
enum Wake {
    Changed,
    Stop,
}

impl Drop for Questions {
    fn drop(&mut self) {
        let _ = self.wake.send(Wake::Stop);
    }
}

/// An answer of the page.
#[derive(Debug, Deserialize)]
pub(super) struct Request {
    decision: Decision,
    /// Digest of what the page shows.
    shown_digest: String,
    #[serde(default)]
    scope: Scope,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    input: Option<RawJson>,
}

/// Reason why an answer is not accepted.
#[derive(Debug)]
pub(super) enum Refusal {
    /// The id is no id, or unknown.
    Unknown(String),
    /// Another answer came first, or the time is up.
    TooLate(String, Box<Question>),
    /// The answer is not valid.
    Invalid(String),
    /// The process cannot answer.
    Failed(String),
}

impl From<ApprovalError> for Refusal {
    fn from(error: ApprovalError) -> Self {
        let text = error.to_string();
        match error {
            ApprovalError::Unknown(_) => Self::Unknown(text),
            ApprovalError::Expired(approval) | ApprovalError::Answered(approval) => {
                Self::TooLate(text, Box::new(Question::new(*approval)))
            }
            ApprovalError::TooLarge | ApprovalError::NotAnObject | ApprovalError::NoSession => Self::Invalid(text),
            _ => Self::Failed(text),
        }
    }
}

impl Questions {
    /// Reads the questions and starts a thread that watches them.
    pub(super) fn start(options: &WebOptions) -> std::io::Result<Self> {
        let store = ApprovalStore::in_state_directory(&options.state_dir);
        line_file::make_private_directory(store.directory())?;
        let mut known = KnownFiles::default();
        let (sender, list) = watch::channel(read(&store, &options.locations, &mut known));
        let (wake, woken) = mpsc::channel();
        let notified = wake.clone();
        // Without notifications, the directory is read every few seconds.
        let watcher = directory_watch::watch(store.directory(), move |_| drop(notified.send(Wake::Changed)));
        let (own, locations) = (store.clone(), options.locations.clone());
        std::thread::Builder::new().name("questions".to_owned()).spawn(move || {
            let _watcher = watcher;
            loop {
                match woken.recv_timeout(POLL_INTERVAL) {
                    Ok(Wake::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                    Ok(Wake::Changed) => {
                        std::thread::sleep(BURST);
                        while let Ok(wake) = woken.try_recv() {
                            if matches!(wake, Wake::Stop) {
                                return;
                            }
                        }
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                }
                let new = read(&own, &locations, &mut known);
                sender.send_if_modified(|known| {
                    let differs = *known != new;
                    *known = new;
                    differs
                });
            }
        })?;
        Ok(Self { store, locations: options.locations.clone(), list, wake })
    }

    /// The current list.
    pub(super) fn list(&self) -> List {
        self.list.borrow().clone()
    }

    /// Receives every new list.
    pub(super) fn subscribe(&self) -> watch::Receiver<List> {
        self.list.clone()
    }

    fn find(&self, id: &str) -> Result<(ApprovalId, Approval), Refusal> {
        let id: ApprovalId =
            id.parse().map_err(|_| Refusal::Unknown("there is no question with this id".to_owned()))?;
        let approval = self.store.find(&id)?;
        Ok((id, approval))
    }

    /// Returns the whole input of an open question.
    pub(super) fn input(&self, id: &str) -> Result<RawJson, Refusal> {
        let (id, _) = self.find(id)?;
        let input = self.store.call(&id)?.input;
        if redacted_json(&input).is_some() {
            let text = format!("the input has a secret; edit it with `checkrein approve {id} --edit`");
            return Err(Refusal::Invalid(text));
        }
        if input.as_str().len() > MAX_EDITED {
            let text = format!("the input is too large for the page; edit it with `checkrein approve {id} --edit`");
            return Err(Refusal::Invalid(text));
        }
        Ok(input)
    }

    /// Answers a question. The first answer wins.
    pub(super) fn answer(&self, id: &str, request: Request) -> Result<Question, Refusal> {
        let (id, approval) = self.find(id)?;
        if approval.shown_digest != request.shown_digest {
            return Err(Refusal::Invalid("the page shows another call than the one that waits; reload it".to_owned()));
        }
        let mut answer = match request.decision {
            Decision::Approve => Answer::approve(Via::Page, user_name()),
            Decision::Deny => Answer::deny(Via::Page, user_name(), request.reason),
        };
        answer.scope = request.scope;
        answer.edited_input = request.input;
        let answered = decide(&self.store, &self.locations, &id, answer)?;
        let _ = self.wake.send(Wake::Changed);
        Ok(Question::new(answered))
    }
}

/// Reads the list. Ends questions whose time is up. Of the files, it reads only those that have changed: each question of an agent
/// is a change, and hooks use the same directory.
fn read(store: &ApprovalStore, locations: &Locations, known: &mut KnownFiles) -> List {
    let mut ended = None;
    let listed = match store.list_changed(known) {
        Ok((_, true)) => {
            ended = expire(store, locations).err();
            store.list_changed(known)
        }
        listed => listed,
    };
    let all = match listed {
        Ok((all, _)) => all,
        Err(error) => return List { error: Some(error.to_string()), ..List::default() },
    };
    let recent = now().saturating_sub(ENDED_LISTED_MS);
    let mut approvals: Vec<_> =
        all.into_iter().filter(|one| one.state == ApprovalState::Pending || one.changed >= recent).collect();
    approvals.sort_by_key(|one| (one.state != ApprovalState::Pending, one.waits().is_none(), one.created));
    let hidden = approvals.iter().skip(MAX_LISTED).filter(|one| one.state == ApprovalState::Pending).count();
    approvals.truncate(MAX_LISTED);
    let mut branches = HashMap::new();
    let mut question = |approval: Approval| {
        let read = || branch_name(std::path::Path::new(directory(&approval)));
        let branch = branches.entry(directory(&approval).to_owned()).or_insert_with(read).clone();
        Question::on_branch(approval, branch)
    };
    List {
        approvals: approvals.into_iter().map(&mut question).collect(),
        hidden,
        error: ended.map(|error| error.to_string()),
    }
}
