//! The pool of waiting interpreters.
//!
//! A thread starts interpreters and drops old ones. Each request has a thread of its caller, from the request to the end of the
//! run. An interpreter starts only for a key that was requested before.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use checkrein_process::{Exit, ExitReport};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{PidfdFlags, pidfd_open};

use super::gates::Gates;
use super::interpreter::{Interpreter, loads_gate};
use super::limits::{self, Limit};
use super::message::{Answer, Key, WarmRequest, send_answer};
use super::process_context::{ProcessContext, differences};
use crate::protocol::{ColdScript, WarmStatus};
use crate::runtime_dir::RuntimeDir;

/// Time between a request without an interpreter and the start of one, so that the cold run has the processor.
const START_DELAY: Duration = Duration::from_millis(150);

/// Time between the end of a warm run and the start of the next interpreter, so that the hook can give its answer first.
const REFILL_DELAY: Duration = Duration::from_millis(20);

/// Time after a request without an interpreter in which the key has one more. Events of one turn follow each other closely.
const SPARE_TIME: Duration = Duration::from_secs(60);

/// Minimum time between two starts.
const START_PAUSE: Duration = Duration::from_millis(40);

/// Interval of checks while interpreters wait.
const CHECK_INTERVAL: Duration = Duration::from_secs(2);

/// Number of failed starts after which a key is not started again for [`PoolLimits::age`].
const MAX_FAILURES: u32 = 3;

/// Maximum number of keys with failures, and of keys with a gate, that are remembered.
const MAX_REMEMBERED_KEYS: usize = 64;

/// Maximum number of scripts whose cold runs are remembered.
const MAX_COLD: usize = 16;

/// Failure reason of an interpreter that ended before it got an event.
const REASON_ENDED: &str = "its interpreter ended while it waited";

/// Maximum number of pending starts.
const MAX_PENDING: usize = 64;

/// Limits of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PoolLimits {
    /// Number of waiting interpreters.
    pub idle: usize,
    /// Memory of all waiting interpreters in bytes.
    pub memory: u64,
    /// Time that an interpreter waits.
    pub age: Duration,
}

impl Default for PoolLimits {
    fn default() -> Self {
        Self { idle: 4, memory: 200 << 20, age: Duration::from_secs(600) }
    }
}

/// Pool of waiting interpreters. Dropping it ends those that wait.
#[derive(Debug)]
pub struct Pool {
    shared: Arc<Shared>,
    starts: Sender<Start>,
}

/// A start to do at a time.
#[derive(Debug)]
struct Start {
    key: Key,
    due: Instant,
}

#[derive(Debug)]
struct Shared {
    limits: PoolLimits,
    gates: Gates,
    /// Attributes of this process that its children inherit. `None`: the system does not show them, and all hooks run cold.
    inherited: Option<String>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Oldest first.
    idle: Vec<Interpreter>,
    /// Failed starts by key.
    failures: HashMap<Key, Failures>,
    /// Scripts whose last run was cold for a reason that stays, with that reason. Oldest first.
    cold: Vec<(PathBuf, String)>,
    /// Number of warm runs.
    runs: u64,
    /// Number of requests without an interpreter that waited.
    missed: u64,
    /// Last request of a key that came before its next interpreter was started.
    spares: HashMap<Key, Instant>,
    /// Keys that ran warm.
    used: HashSet<Key>,
    /// Interpreters that load their gate, as keys without a script.
    gated: HashSet<Key>,
    pending: usize,
    is_closed: bool,
}

/// Failed starts of one key.
#[derive(Debug)]
struct Failures {
    count: u32,
    last: Instant,
    reason: String,
}

impl Pool {
    /// Creates an empty pool whose gates are in this directory. The parent of the directory must be private.
    pub fn new(directory: impl Into<PathBuf>, limits: PoolLimits) -> Self {
        let shared = Arc::new(Shared {
            limits,
            gates: Gates::in_directory(directory.into()),
            inherited: ProcessContext::current().map(|context| context.inherited),
            state: Mutex::default(),
        });
        let (starts, queue) = mpsc::channel();
        let worker = Arc::clone(&shared);
        // Without the thread, no interpreter starts, and all hooks run cold.
        let _ = thread::Builder::new().name("checkrein-warm".to_owned()).spawn(move || worker.run(&queue));
        Self { shared, starts }
    }

    /// Creates an empty pool with its gates beside the socket, and default limits.
    pub fn in_runtime_dir(state_dir: &Path) -> Self {
        Self::new(RuntimeDir::path_in(state_dir).join("gates"), PoolLimits::default())
    }

    /// Number of waiting interpreters.
    pub fn idle(&self) -> usize {
        self.shared.lock().idle.len()
    }

    /// Numbers and problems for the user.
    pub fn status(&self) -> WarmStatus {
        let state = self.shared.lock();
        let cold = state
            .cold
            .iter()
            .map(|(script, reason)| ColdScript { script: script.display().to_string(), reason: reason.clone() });
        WarmStatus { waiting: state.idle.len() as u64, runs: state.runs, missed: state.missed, cold: cold.collect() }
    }

    /// Process ids of the waiting interpreters.
    pub fn idle_pids(&self) -> Vec<u32> {
        self.shared.lock().idle.iter().map(Interpreter::pid).collect()
    }

    /// Answers a request. Blocks until the run has ended.
    ///
    /// The caller must have checked that the peer of the connection is the user of this process.
    pub fn serve(&self, connection: &UnixStream, request: WarmRequest) {
        let WarmRequest { key, inherited, limits } = request;
        if let Err(reason) = self.shared.check_attributes(&inherited, &limits) {
            self.shared.lock().ran_cold(&key, reason.clone());
            let _ = send_answer(connection, &Answer::Cold(reason), &[]);
            return;
        }
        let Some(mut interpreter) = self.shared.take(&key) else {
            let failed = self.shared.lock().missed(&key);
            let _ = send_answer(connection, &Answer::Cold(failed.unwrap_or("no interpreter waits".to_owned())), &[]);
            self.start_later(key, START_DELAY);
            return;
        };
        if let Err(error) = limits::apply(interpreter.process(), &limits, key.is_node) {
            let reason = format!("the interpreter cannot have the limits of the hook: {error}");
            self.shared.lock().ran_cold(&key, reason.clone());
            let _ = send_answer(connection, &Answer::Cold(reason), &[]);
            return;
        }
        let answer = Answer::Taken { pid: interpreter.pid(), marker: interpreter.marker.clone() };
        let sent = interpreter.streams().map(|streams| send_answer(connection, &answer, &streams));
        interpreter.close_streams();
        if !matches!(sent, Some(Ok(()))) {
            drop(interpreter);
            self.start_later(key, START_DELAY);
            return;
        }
        self.shared.lock().ran_warm(&key);
        supervise(interpreter, connection);
        self.start_later(key, REFILL_DELAY);
    }

    fn start_later(&self, key: Key, delay: Duration) {
        let mut state = self.shared.lock();
        if state.pending < MAX_PENDING && !state.is_closed {
            state.pending += 1;
            // An error means that the thread has ended.
            let _ = self.starts.send(Start { key, due: Instant::now() + delay });
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.is_closed = true;
        state.idle.clear();
    }
}

/// Reports the exit of a process that a hook has taken over, and reaps it when the hook has finished.
fn supervise(interpreter: Interpreter, connection: &UnixStream) {
    let Ok(exited) = pidfd_open(interpreter.process(), PidfdFlags::empty()) else { return };
    loop {
        let mut waited =
            [PollFd::new(&exited, PollFlags::IN), PollFd::from_borrowed_fd(connection.as_fd(), PollFlags::IN)];
        match poll(&mut waited, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
        let has_exited = !waited[0].revents().is_empty();
        if has_exited {
            break;
        }
        if !waited[1].revents().is_empty() {
            // The hook has ended, or it has killed the processes and does not wait for the report. Dropping kills them too.
            return;
        }
    }
    let exit = interpreter.exit().ok().flatten().unwrap_or(Exit::Signalled(9));
    let mut connection = connection;
    let report = ExitReport(exit).to_bytes();
    if io::Write::write_all(&mut connection, &report).is_ok() {
        // The hook signals the group until it closes the connection, so its id must stay in use.
        let _ = connection.set_read_timeout(Some(Duration::from_secs(60)));
        while matches!(connection.read(&mut [0; 64]), Ok(1..)) {}
    }
    interpreter.reap();
}

impl Shared {
    /// Checks that an interpreter of the pool can have the attributes of a hook.
    fn check_attributes(&self, inherited: &str, limits: &[Limit]) -> Result<(), String> {
        let Some(own) = &self.inherited else {
            return Err("the system does not show the attributes of processes".to_owned());
        };
        if own != inherited {
            let names = differences(own, inherited);
            return Err(format!("the hook has other attributes than the resident process: {names}"));
        }
        limits::check(limits)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a waiting interpreter with this key.
    fn take(&self, key: &Key) -> Option<Interpreter> {
        let mut dropped = Vec::new();
        let mut state = self.lock();
        while let Some(index) = state.idle.iter().position(|interpreter| interpreter.key == *key) {
            let found = state.idle.remove(index);
            if !found.is_waiting() {
                state.failed(key, REASON_ENDED);
                dropped.push(found);
            } else if found.started.elapsed() > self.limits.age {
                dropped.push(found);
            } else {
                return Some(found);
            }
        }
        None
    }

    /// Starts interpreters and drops old ones, until the pool is dropped.
    fn run(&self, queue: &Receiver<Start>) {
        loop {
            match queue.recv_timeout(CHECK_INTERVAL) {
                Ok(start) => {
                    let wait = start.due.saturating_duration_since(Instant::now());
                    thread::sleep(wait.max(START_PAUSE));
                    self.lock().pending -= 1;
                    while self.start(&start.key) {
                        thread::sleep(START_PAUSE);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.drop_old();
        }
    }

    /// Starts an interpreter if the key needs one. Returns `true` if it needs another one.
    fn start(&self, key: &Key) -> bool {
        {
            let mut state = self.lock();
            let age = self.limits.age;
            state.failures.retain(|_, failures| failures.last.elapsed() < age);
            let has_failed = state.failures.get(key).is_some_and(|failures| failures.count >= MAX_FAILURES);
            if state.is_closed || has_failed || state.is_enough(key) || self.limits.idle == 0 {
                return false;
            }
        }
        match self.start_gated(key) {
            Ok(interpreter) => {
                let mut state = self.lock();
                if !state.is_closed {
                    state.idle.push(interpreter);
                }
                !state.is_closed && !state.is_enough(key) && state.idle.len() < self.limits.idle
            }
            Err(error) => {
                self.lock().failed(key, &error.to_string());
                false
            }
        }
    }

    /// Starts an interpreter. The first start of a program with these options and variables proves that it loads its gate.
    fn start_gated(&self, key: &Key) -> io::Result<Interpreter> {
        let without_script = key.without_script();
        if !self.lock().gated.contains(&without_script) {
            if !loads_gate(key, &self.gates)? {
                return Err(io::Error::other("the interpreter does not load the startup module of checkrein"));
            }
            let mut state = self.lock();
            if state.gated.len() >= MAX_REMEMBERED_KEYS {
                state.gated.clear();
            }
            state.gated.insert(without_script);
        }
        Interpreter::start(key.clone(), &self.gates)
    }

    /// Ends interpreters above the limits, the oldest first.
    fn drop_old(&self) {
        let mut state = self.lock();
        let age = self.limits.age;
        let mut dropped: Vec<_> =
            state.idle.extract_if(.., |idle| idle.started.elapsed() > age || !idle.is_waiting()).collect();
        for idle in dropped.iter().filter(|idle| !idle.is_waiting()) {
            let key = idle.key.clone();
            state.failed(&key, REASON_ENDED);
        }
        let mut memory: u64 = state.idle.iter().map(Interpreter::memory).sum();
        while state.idle.len() > self.limits.idle || (memory > self.limits.memory && !state.idle.is_empty()) {
            let oldest = state.idle.remove(0);
            memory = memory.saturating_sub(oldest.memory());
            dropped.push(oldest);
        }
        // The wait for their ends needs no lock.
        drop(state);
        drop(dropped);
    }
}

impl State {
    fn failed(&mut self, key: &Key, reason: &str) {
        if self.failures.len() >= MAX_REMEMBERED_KEYS {
            self.failures.clear();
        }
        let count = self.failures.get(key).map_or(0, |failures| failures.count) + 1;
        self.failures.insert(key.clone(), Failures { count, last: Instant::now(), reason: reason.to_owned() });
        self.ran_cold(key, reason.to_owned());
    }

    /// Notes a request without an interpreter. Returns the reason if the interpreter cannot start.
    fn missed(&mut self, key: &Key) -> Option<String> {
        let failure = self.failures.get(key).map(|failures| failures.reason.clone());
        if failure.is_none() {
            self.missed += 1;
            self.spares.retain(|_, last| last.elapsed() < SPARE_TIME);
            if self.used.contains(key) && self.spares.len() < MAX_REMEMBERED_KEYS {
                self.spares.insert(key.clone(), Instant::now());
            }
        }
        failure
    }

    /// `true` if as many interpreters wait as the key needs.
    fn is_enough(&self, key: &Key) -> bool {
        let has_spare = self.spares.get(key).is_some_and(|last| last.elapsed() < SPARE_TIME);
        let waiting = self.idle.iter().filter(|interpreter| interpreter.key == *key).count();
        waiting >= if has_spare { 2 } else { 1 }
    }

    fn ran_cold(&mut self, key: &Key, reason: String) {
        let script = key.script();
        self.cold.retain(|(known, _)| *known != script);
        if self.cold.len() >= MAX_COLD {
            self.cold.remove(0);
        }
        self.cold.push((script, reason));
    }

    fn ran_warm(&mut self, key: &Key) {
        let script = key.script();
        self.cold.retain(|(known, _)| *known != script);
        if self.used.len() >= MAX_REMEMBERED_KEYS {
            self.used.clear();
        }
        self.used.insert(key.clone());
        self.runs += 1;
    }
}
