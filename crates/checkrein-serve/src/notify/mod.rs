//! Notifications about questions that wait for the user: on the desktop, and to a webhook.
//!
//! A notification names the tool and the id, and carries no authority. The webhook can answer on the route of [`callback`], with a
//! signature. A failed notification is reported in the status and changes nothing else: the question waits at the other places.

pub mod callback;
mod desktop;
#[cfg(feature = "http")]
mod webhook;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use checkrein_tools::approvals::{Approval, ApprovalState, ApprovalStore, KnownFiles};
use tokio::sync::{mpsc, watch};

use crate::directory_watch;

/// Wait without a notification of the file system after which the directory is read anyway.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Wait after a change, so that a burst is one notification.
const BURST: Duration = Duration::from_millis(100);

/// Age of a question at the start of the process that is still new: it may have started the process.
const NEW_QUESTION_AGE: Duration = Duration::from_secs(60);

/// Endpoint that gets notifications about questions, with its secret.
#[derive(Clone)]
pub struct Webhook {
    /// URL.
    pub url: String,
    /// Secret of the signatures.
    pub secret: Option<String>,
    /// File with certificates that are trusted in addition.
    pub ca_file: Option<String>,
    /// Reason why the webhook cannot be used. Nothing is sent then.
    pub problem: Option<String>,
}

/// Without the secret, and without the URL, which may contain one.
impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook").field("is_signed", &self.secret.is_some()).finish_non_exhaustive()
    }
}

/// Places that get notifications about questions.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Targets {
    /// `true` if the desktop shows them.
    pub desktop: bool,
    /// Endpoint.
    pub webhook: Option<Webhook>,
}

/// Problem of each target, for the status.
#[derive(Debug, Clone, Default)]
pub(crate) struct Problems(Arc<Mutex<Option<String>>>);

impl Problems {
    fn set(&self, problem: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = problem;
    }

    pub(crate) fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Tells the targets about each question once, when it appears. Never returns.
pub(crate) async fn watch(approvals: ApprovalStore, targets: Targets, problems: Problems) {
    let mut targets = targets;
    if let Some(problem) = targets.webhook.as_ref().and_then(|webhook| webhook.problem.clone()) {
        problems.set(Some(problem));
        targets.webhook = None;
    }
    let (sender, mut changed) = mpsc::channel(1);
    let mut watcher = None;
    let start = SystemTime::now() - NEW_QUESTION_AGE;
    let mut known = HashSet::new();
    let mut files = KnownFiles::default();
    let (waiting, questions) = watch::channel(Vec::new());
    if targets.desktop {
        tokio::spawn(show_on_desktop(questions, problems.clone()));
    }
    loop {
        // The directory appears with the first question.
        if watcher.is_none() {
            let sender = sender.clone();
            watcher = directory_watch::watch(approvals.directory(), move |_| {
                // A full channel has a change already.
                let _ = sender.try_send(());
            });
        }
        let store = approvals.clone();
        let mut read = std::mem::take(&mut files);
        let found = tokio::task::spawn_blocking(move || {
            let found = store.list_changed(&mut read);
            (read, found)
        });
        let found = found.await.map(|(read, found)| {
            files = read;
            found
        });
        if let Ok(Ok((all, _))) = found {
            let pending = all.iter().filter(|approval| approval.state == ApprovalState::Pending);
            let new: Vec<_> = pending.filter(|approval| is_after(approval, start)).cloned().collect();
            for approval in &new {
                if known.insert(approval.id.clone()) {
                    tell(approval, &targets, &approvals, &problems);
                }
            }
            waiting.send_if_modified(|shown| {
                let differs = *shown != new;
                *shown = new;
                differs
            });
            known.retain(|id| all.iter().any(|approval| approval.id == *id));
        }
        let _ = tokio::time::timeout(POLL_INTERVAL, changed.recv()).await;
    }
}

/// A clock that was set back makes a question new: one notification too many is better than none.
fn is_after(approval: &Approval, start: SystemTime) -> bool {
    UNIX_EPOCH.checked_add(Duration::from_millis(approval.created)).is_none_or(|created| created >= start)
}

fn tell(approval: &Approval, targets: &Targets, store: &ApprovalStore, problems: &Problems) {
    #[cfg(feature = "http")]
    if let Some(webhook) = &targets.webhook {
        tokio::spawn(webhook::deliver(webhook.clone(), approval.clone(), store.clone(), problems.clone()));
    }
    #[cfg(not(feature = "http"))]
    let _ = (approval, targets, store, problems);
}

/// Shows one notification about all questions that wait, and closes it when they are answered.
async fn show_on_desktop(mut waiting: watch::Receiver<Vec<Approval>>, problems: Problems) {
    let (mut shown, mut known) = (0, HashSet::new());
    while waiting.changed().await.is_ok() {
        tokio::time::sleep(BURST).await;
        let questions = waiting.borrow_and_update().clone();
        let has_new = questions.iter().any(|approval| !known.contains(&approval.id));
        known = questions.iter().map(|approval| approval.id.clone()).collect();
        if questions.is_empty() {
            if shown != 0 {
                desktop::close(shown).await;
            }
            shown = 0;
        } else if has_new {
            let (title, text) = notification(&questions);
            match desktop::show(shown, &title, &text).await {
                Ok(number) => shown = number,
                Err(error) => problems.set(Some(format!("cannot show a desktop notification: {error}"))),
            }
        }
    }
}

/// Title and text of a notification. The input can have secrets that no format knows, so it is not shown.
fn notification(questions: &[Approval]) -> (String, String) {
    match questions {
        [one] => (
            // The name of the tool has no hidden characters.
            format!("{} waits for your approval", one.shown.tool.chars().take(60).collect::<String>()),
            format!("{} asks. Answer with: checkrein approve {}", one.agent, one.id),
        ),
        _ => (
            format!("{} calls wait for your approval", questions.len()),
            "Show them with: checkrein approvals, or checkrein live".to_owned(),
        ),
    }
}
