//! Thread that follows the decision log: events of times or programs that did not reach the process.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use checkrein_tools::decision_log::{DecisionLog, Follow};

use super::{Inner, lock};
use crate::directory_watch;

/// Wait without a notification after which the log is read anyway: notifications can be lost.
const POLL_INTERVAL: Duration = Duration::from_secs(5);

/// Wait after a notification, so that a burst of lines is read at once.
const BURST: Duration = Duration::from_millis(20);

/// Reader of new lines.
#[derive(Debug)]
pub(super) struct Tail(Mutex<Follow>);

impl Tail {
    /// Starts at the end of the log.
    pub(super) fn new(log: &DecisionLog) -> Self {
        Self(Mutex::new(log.follow()))
    }

    /// Adds all new lines. Only one thread reads at a time, so lines keep their order.
    pub(super) fn read(&self, inner: &Inner) -> std::io::Result<()> {
        let mut follow = lock(&self.0);
        for entry in follow.poll()? {
            inner.add(&entry, None);
        }
        Ok(())
    }
}

/// Starts the thread. It ends soon after the store is dropped or `stop` is sent.
pub(super) fn start(inner: &Weak<Inner>, log: &DecisionLog) -> std::io::Result<(mpsc::Sender<Wake>, JoinHandle<()>)> {
    let (sender, receiver) = mpsc::channel();
    let notified = sender.clone();
    let name = log.path().file_name().map(std::ffi::OsStr::to_owned);
    // Without notifications, the log is read every few seconds.
    let watcher = log.path().parent().and_then(|directory| {
        directory_watch::watch(directory, move |event| {
            let concerns_log = match &event {
                Ok(event) => event.paths.iter().any(|path| path.file_name() == name.as_deref()),
                Err(_) => true,
            };
            if concerns_log {
                let _ = notified.send(Wake::Changed);
            }
        })
    });
    let inner = Weak::clone(inner);
    let thread = std::thread::Builder::new().name("decision-log".to_owned()).spawn(move || {
        let _watcher = watcher;
        loop {
            match receiver.recv_timeout(POLL_INTERVAL) {
                Ok(Wake::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Wake::Changed) => {
                    std::thread::sleep(BURST);
                    loop {
                        match receiver.try_recv() {
                            Ok(Wake::Changed) => {}
                            Ok(Wake::Stop) => return,
                            Err(_) => break,
                        }
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            let Some(inner) = inner.upgrade() else { return };
            let result = inner.tail.read(&inner);
            inner.note_log_error(result.err());
        }
    })?;
    Ok((sender, thread))
}

/// Message to the thread.
#[derive(Debug)]
pub(super) enum Wake {
    Changed,
    Stop,
}
