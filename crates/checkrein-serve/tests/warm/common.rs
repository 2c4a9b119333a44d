//! A resident process in this test, and hooks that use it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use checkrein::core::Captured;
use checkrein::dialects::HookSpec;
use checkrein::dialects::agents::native;
use checkrein::handler::warm::{InterpreterCommand, WarmInterpreter, WarmInterpreters};
use checkrein::handler::{Call, HandlerEnv, HandlerFactory, ProcessExit, Reply};
use checkrein::internal::CommandFactory;
use checkrein::payload::{JsonPiece, ToolCall};
use checkrein::{Event, EventKind, Failure, RawJson, Registry};
use checkrein_serve::server::{Options, Server};
use checkrein_serve::warm::WarmClient;

/// Longest wait for an interpreter.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns a real interpreter: `PATH` may have a script that selects one.
pub(crate) fn interpreter(name: &str, print_path: &str) -> Option<String> {
    let output = Command::new(name).args(["-c", print_path]).output();
    let output = match name {
        "node" => Command::new(name).args(["-p", print_path]).output(),
        _ => output,
    };
    let path = String::from_utf8(output.ok()?.stdout).ok()?.trim().to_owned();
    let real = std::fs::canonicalize(&path).ok()?;
    Some(real.to_string_lossy().into_owned())
}

pub(crate) fn python() -> Option<&'static str> {
    static PATH: OnceLock<Option<String>> = OnceLock::new();
    let path = PATH.get_or_init(|| interpreter("python3", "import sys; print(sys.executable)")).as_deref();
    if path.is_none() {
        println!("skipped: there is no Python");
    }
    path
}

pub(crate) fn node() -> Option<&'static str> {
    static PATH: OnceLock<Option<String>> = OnceLock::new();
    let path = PATH.get_or_init(|| interpreter("node", "process.execPath")).as_deref();
    if path.is_none() {
        println!("skipped: there is no Node");
    }
    path
}

/// The streams and the exit of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) bytes: (u64, u64),
    pub(crate) exit: ProcessExit,
    pub(crate) timed_out: bool,
}

/// A client that counts the interpreters that it got.
#[derive(Debug)]
pub(crate) struct Counting {
    client: WarmClient,
    pub(crate) taken: AtomicUsize,
}

impl WarmInterpreters for Counting {
    fn take(&self, command: &InterpreterCommand) -> Option<WarmInterpreter> {
        let taken = self.client.take(command)?;
        self.taken.fetch_add(1, Ordering::SeqCst);
        Some(taken)
    }
}

/// A resident process with its own state directory, and a directory for scripts.
pub(crate) struct World {
    pub(crate) dir: tempfile::TempDir,
    pub(crate) state: tempfile::TempDir,
    pub(crate) client: Arc<Counting>,
    pub(crate) vars: Vec<(String, String)>,
    runtime: Option<tokio::runtime::Runtime>,
}

impl World {
    pub(crate) fn new() -> Self {
        let mut world = Self::without_process();
        world.start();
        world
    }

    pub(crate) fn without_process() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let state = tempfile::tempdir().unwrap();
        let client = Counting { client: WarmClient::of_user(state.path()), taken: AtomicUsize::new(0) };
        let vars = [("PATH", "/usr/bin:/bin"), ("HOME", "/nonexistent"), ("LANG", "C.UTF-8"), ("TZ", "UTC")];
        let vars = vars.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Self { dir, state, client: Arc::new(client), vars, runtime: None }
    }

    /// Uses the resident process of another test process.
    pub(crate) fn of(mut self, client: WarmClient) -> Self {
        self.client = Arc::new(Counting { client, taken: AtomicUsize::new(0) });
        self
    }

    pub(crate) fn start(&mut self) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let server = runtime.block_on(async { Server::start(Options::new(self.state.path())).await.unwrap() });
        runtime.spawn(server.run(std::future::pending()));
        self.runtime = Some(runtime);
    }

    pub(crate) fn stop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(5));
        }
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Warm interpreters, as the process reports them.
    pub(crate) fn status(&self) -> checkrein_serve::protocol::WarmStatus {
        let mut client = checkrein_serve::client::Client::connect(self.state.path()).unwrap();
        client.status(PATIENCE).unwrap().warm.unwrap()
    }

    pub(crate) fn taken(&self) -> usize {
        self.client.taken.load(Ordering::SeqCst)
    }

    pub(crate) fn call(&self, spec: &HookSpec, cwd: &Path, payload: &str, is_warm: bool) -> Result<Outcome, Failure> {
        self.call_for(spec, cwd, payload, is_warm, Duration::from_secs(50))
    }

    pub(crate) fn call_for(
        &self,
        spec: &HookSpec,
        cwd: &Path,
        payload: &str,
        is_warm: bool,
        time: Duration,
    ) -> Result<Outcome, Failure> {
        let vars = self.vars.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let mut env = HandlerEnv::new(cwd, vars, Registry::empty());
        if is_warm {
            env = env.interpreters(Arc::clone(&self.client) as _);
        }
        let handler = CommandFactory.build(spec, &env)?;
        let event = Event::pre_tool_use(ToolCall::new("Bash", RawJson::default()));
        let call = Call::new(Arc::clone(&spec.info), &native::DIALECT, event, Instant::now() + time);
        let call = call.with_payload(vec![JsonPiece::Text(payload.to_owned())], false);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        match runtime.block_on(handler.call(&call))? {
            Reply::Process(reply) => {
                let text = |captured: &Captured| String::from_utf8_lossy(&captured.bytes).into_owned();
                Ok(Outcome {
                    stdout: text(&reply.stdout),
                    stderr: text(&reply.stderr),
                    bytes: (reply.stdout.total, reply.stderr.total),
                    exit: reply.exit,
                    timed_out: reply.timed_out,
                })
            }
            _ => panic!("not a process"),
        }
    }

    /// Runs a hook until an interpreter of the pool ran it. Returns that result.
    pub(crate) fn warm(&self, spec: &HookSpec, cwd: &Path, payload: &str) -> Outcome {
        let begun = Instant::now();
        loop {
            let before = self.taken();
            let outcome = self.call(spec, cwd, payload, true).unwrap();
            if self.taken() > before {
                return outcome;
            }
            assert!(begun.elapsed() < PATIENCE, "no interpreter for {spec:?}: {outcome:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn cold(&self, spec: &HookSpec, cwd: &Path, payload: &str) -> Outcome {
        self.call(spec, cwd, payload, false).unwrap()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop();
    }
}

pub(crate) fn argv(words: &[&str]) -> HookSpec {
    with_warm(HookSpec::argv("h", EventKind::PreToolUse, words.iter().copied()))
}

pub(crate) fn shell(text: &str) -> HookSpec {
    with_warm(HookSpec::shell("h", EventKind::PreToolUse, text))
}

/// The scripts of these tests look at what `auto` excludes.
fn with_warm(mut spec: HookSpec) -> HookSpec {
    if let checkrein::hook::HandlerSpec::Command(command) = &mut spec.handler {
        command.warm = Some(checkrein::dialects::Warm::On);
    }
    spec
}
