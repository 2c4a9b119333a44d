//! The resident process: accepts connections, and ends when it is asked to or has nothing to do.
//!
//! It never judges an event. It must survive every input, and a failure of one part must not end the others.

mod connection;
mod events;
mod instance;
mod telemetry;
mod warm;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use checkrein::hook_files::Locations;
use checkrein_tools::approvals::{ApprovalState, ApprovalStore};
use tokio::net::UnixListener;
use tokio::sync::{Notify, Semaphore};

use self::events::Events;
use self::instance::Instance;
use crate::notify::{self, Problems, Targets};
use crate::protocol::ProcessStatus;
use crate::runtime_dir::RuntimeDirError;
use crate::store::Store;
use crate::web::{self, Login, Web, WebOptions};

/// Maximum number of open connections. Others wait in the queue of the socket.
const MAX_CONNECTIONS: usize = 256;

/// Interval of checks: the socket is still in its place, and there is still something to do.
const CHECK: Duration = Duration::from_secs(2);

/// Wait after a failed `accept`, for example without free descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Settings of a process.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// State directory of the user.
    pub state_dir: PathBuf,
    /// Time without work after which the process ends. `None`: it stays.
    pub idle_exit: Option<Duration>,
    /// Places of hook files.
    pub locations: Locations,
    /// Places that get notifications about questions.
    pub notify: Targets,
    /// Base URL of the collector for telemetry. `None`: nothing is exported.
    pub otlp: Option<String>,
}

impl Options {
    /// Settings for the process of this state directory, which stays.
    pub fn new(state_dir: impl Into<PathBuf>) -> Self {
        Self {
            state_dir: state_dir.into(),
            idle_exit: None,
            locations: Locations::default(),
            notify: Targets::default(),
            otlp: None,
        }
    }
}

/// Reason why a process cannot start or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// Another process has the lock.
    #[error(
        "the resident process is already running{}; `checkrein serve status` shows it, `checkrein serve stop` ends it",
        .0.map(|pid| format!(" (pid {pid})")).unwrap_or_default()
    )]
    Running(Option<u32>),
    /// The directory of the socket is not private.
    #[error(transparent)]
    RuntimeDir(#[from] RuntimeDirError),
    /// A file cannot be used.
    #[error("cannot use {}: {error}", .path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// The events cannot be read.
    #[error(transparent)]
    Store(#[from] crate::store::StoreError),
    /// The export of telemetry cannot start.
    #[error("{0}")]
    Telemetry(String),
    /// A thread cannot start.
    #[error("cannot start a thread: {0}")]
    Thread(io::Error),
}

impl StartError {
    fn file(path: &Path, error: io::Error) -> Self {
        Self::File { path: path.to_owned(), error }
    }
}

/// Reason for the end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum End {
    /// A signal, or the end of the caller's future.
    Signal,
    /// A `stop` request.
    Stopped,
    /// There was nothing to do.
    Idle,
    /// Another process has taken the place, after the directory was removed.
    Replaced,
}

/// A process that listens.
#[derive(Debug)]
pub struct Server {
    instance: Instance,
    listener: UnixListener,
    shared: Arc<Shared>,
    options: Options,
}

/// State of all connections.
#[derive(Debug)]
struct Shared {
    uid: u32,
    start: Instant,
    socket: PathBuf,
    idle_exit: Option<Duration>,
    store: Store,
    approvals: ApprovalStore,
    /// The page. An error if it could not start: everything else works without it.
    web: Result<Web, String>,
    events: Events,
    telemetry: Option<Arc<telemetry::Telemetry>>,
    #[cfg(target_os = "linux")]
    warm: Arc<crate::warm::Pool>,
    connections: Arc<Semaphore>,
    refused: AtomicU64,
    activity: Activity,
    stop: Notify,
    notify: Problems,
    /// Problem of the socket, if it is not in its place.
    problem: Mutex<Option<String>>,
}

/// Time of the last work.
#[derive(Debug)]
struct Activity(Mutex<Instant>);

impl Activity {
    fn touch(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn idle(&self) -> Duration {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

impl Shared {
    fn status(&self) -> ProcessStatus {
        let counts = self.events.counts();
        let store = self.store.status();
        let mut problems: Vec<String> = self.web.as_ref().err().cloned().into_iter().collect();
        let (pending, approvals_error) = match self.pending() {
            Ok(count) => (count, None),
            Err(error) => (0, Some(error)),
        };
        problems.extend(approvals_error);
        problems.extend(self.problem.lock().unwrap_or_else(PoisonError::into_inner).clone());
        problems.extend(self.notify.get());
        problems.extend(store.record_error.map(|error| format!("cannot keep the records of events: {error}")));
        problems.extend(store.log_error.map(|error| format!("cannot read the decision log: {error}")));
        ProcessStatus {
            pid: std::process::id(),
            checkrein: env!("CARGO_PKG_VERSION").to_owned(),
            uptime: self.start.elapsed().as_secs(),
            socket: self.socket.display().to_string(),
            page: self.web.as_ref().ok().map(|web| format!("http://{}/", web.address())),
            events: store.events as u64,
            received: counts.received.load(Ordering::Relaxed),
            refused: self.refused.load(Ordering::Relaxed) + counts.invalid.load(Ordering::Relaxed),
            // Without the connection that asks.
            connections: (MAX_CONNECTIONS - self.connections.available_permits()).saturating_sub(1) as u64,
            viewers: self.store.viewers() as u64,
            pending_approvals: pending as u64,
            idle_exit: self.idle_exit.map(|time| time.as_secs()),
            telemetry: self.telemetry.as_ref().map(|telemetry| telemetry.status()),
            #[cfg(target_os = "linux")]
            warm: Some(self.warm.status()),
            #[cfg(not(target_os = "linux"))]
            warm: None,
            problems,
        }
    }

    fn login(&self) -> Result<Login, String> {
        self.web.as_ref().map_err(String::clone)?.login().map_err(|error| error.to_string())
    }

    /// Returns the number of questions that wait for an answer.
    fn pending(&self) -> Result<usize, String> {
        let all = self.approvals.list().map_err(|error| format!("cannot read the approvals: {error}"))?;
        Ok(all.iter().filter(|approval| approval.state == ApprovalState::Pending).count())
    }

    /// Returns `true` if the process has nothing to do, for longer than the user allows.
    fn is_idle(&self) -> bool {
        if self.idle_exit.is_none_or(|limit| self.activity.idle() < limit) {
            return false;
        }
        if self.store.viewers() > 0 || self.pending() != Ok(0) {
            // The time starts when the last viewer leaves and the last question is answered.
            self.activity.touch();
            return false;
        }
        true
    }
}

impl Server {
    /// Starts to listen. From now on, the process answers. Must be called in a runtime.
    ///
    /// # Errors
    /// Another process runs, or the directories of the user cannot be used.
    pub async fn start(options: Options) -> Result<Self, StartError> {
        // A wrong setting must not leave a socket behind.
        let telemetry = options.otlp.as_deref().map(telemetry::start).transpose()?;
        let (instance, listener) = Instance::start(&options.state_dir)?;
        let store = Store::open(&options.state_dir)?;
        let mut page = WebOptions::new(store.clone(), &options.state_dir, instance.directory());
        page.locations = options.locations.clone();
        #[cfg(feature = "http")]
        if let Some(secret) = options.notify.webhook.as_ref().and_then(|webhook| webhook.secret.as_ref()) {
            let approvals = ApprovalStore::in_state_directory(&options.state_dir);
            page.callback = Some(notify::callback::router(secret, approvals, options.locations.clone()));
        }
        let web = web::start(page).await.map_err(|error| format!("cannot start the page: {error}"));
        let events = Events::start(store.clone(), telemetry.clone()).map_err(StartError::Thread)?;
        let shared = Arc::new(Shared {
            uid: rustix::process::geteuid().as_raw(),
            start: Instant::now(),
            socket: instance.socket(),
            idle_exit: options.idle_exit,
            store,
            approvals: ApprovalStore::in_state_directory(&options.state_dir),
            web,
            events,
            telemetry,
            #[cfg(target_os = "linux")]
            warm: Arc::new(crate::warm::Pool::in_runtime_dir(&options.state_dir)),
            connections: Arc::new(Semaphore::new(MAX_CONNECTIONS)),
            refused: AtomicU64::new(0),
            activity: Activity(Mutex::new(Instant::now())),
            stop: Notify::new(),
            notify: Problems::default(),
            problem: Mutex::default(),
        });
        Ok(Self { instance, listener, shared, options })
    }

    /// Facts about this process.
    pub fn status(&self) -> ProcessStatus {
        self.shared.status()
    }

    /// Serves until `shutdown` is ready, a client asks for the end, or there is nothing to do. Removes the socket.
    pub async fn run(mut self, shutdown: impl Future<Output = ()>) -> End {
        let end = self.serve(shutdown).await;
        if let Some(telemetry) = self.shared.telemetry.clone() {
            // The last spans and metrics. It takes a few seconds at most.
            let _ = tokio::task::spawn_blocking(move || telemetry.stop()).await;
        }
        end
    }

    async fn serve(&mut self, shutdown: impl Future<Output = ()>) -> End {
        let mut shutdown = std::pin::pin!(shutdown);
        let shared = &self.shared;
        tokio::spawn(notify::watch(shared.approvals.clone(), self.options.notify.clone(), shared.notify.clone()));
        let mut check = tokio::time::interval(CHECK);
        check.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = &mut shutdown => return End::Signal,
                () = self.shared.stop.notified() => return End::Stopped,
                _ = check.tick() => {
                    if !self.keep_place() {
                        return End::Replaced;
                    }
                    if self.shared.is_idle() {
                        return End::Idle;
                    }
                }
                () = accept(&self.listener, &self.shared) => {}
            }
        }
    }

    /// Listens again if the directory was removed. Returns `false` if another process has taken the place.
    fn keep_place(&mut self) -> bool {
        let problem = if self.instance.is_current() {
            None
        } else {
            match self.instance.restart(&self.options.state_dir) {
                Ok(listener) => {
                    self.listener = listener;
                    let web = self.shared.web.as_ref().map_err(String::clone);
                    let written = web.and_then(|web| {
                        web.write_port_file(&self.instance.directory()).map_err(|error| error.to_string())
                    });
                    written.err()
                }
                Err(StartError::Running(_)) => return false,
                Err(error) => Some(format!("cannot listen again after the socket was removed: {error}")),
            }
        };
        *self.shared.problem.lock().unwrap_or_else(PoisonError::into_inner) = problem;
        true
    }
}

/// Accepts one connection when the number of open ones allows it.
async fn accept(listener: &UnixListener, shared: &Arc<Shared>) {
    // The semaphore is never closed.
    let Ok(permit) = Arc::clone(&shared.connections).acquire_owned().await else { return };
    match listener.accept().await {
        Ok((stream, _)) => {
            let shared = Arc::clone(shared);
            tokio::spawn(async move {
                connection::serve(stream, &shared).await;
                drop(permit);
            });
        }
        Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
    }
}
