//! Single run of a hook with a probe's input.

use std::ffi::OsString;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use checkrein_core::payload::JsonPiece;
use checkrein_core::{Decision, Event, Failure, FailureKind, HookState, Opinion, ProcessExit, RawJson, Reply};
use checkrein_dialects::{Dialect, HookSpec};

use super::super::run::TestRunner;
use super::super::scratch::Scratch;
use checkrein::Handler;
use checkrein::Registry;
use checkrein::handler::{Call, HandlerEnv, HandlerFactory as _};
use checkrein::internal::CommandFactory;

/// Scratch directory and environment of a probe.
pub(super) struct ProbeContext {
    pub(super) scratch: Scratch,
    /// The hook for a run in the scratch directory.
    hook: HookSpec,
    vars: Vec<(OsString, OsString)>,
}

impl ProbeContext {
    pub(super) fn new(runner: &TestRunner, hook: &HookSpec) -> io::Result<Self> {
        let scratch = runner.scratch(std::slice::from_ref(hook))?;
        let vars = runner.variables(&[], &scratch);
        Ok(Self { hook: runner.in_scratch(hook, &scratch), scratch, vars })
    }
}

/// Input of the hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProbeInput {
    /// The event.
    Payload,
    /// An empty standard input.
    Nothing,
    /// An object with only the event's name.
    OnlyTheName,
    /// The event, and no variables except `PATH`.
    NoEnvironment,
    /// The event, and a closed stdout.
    ClosedStdout,
}

/// Result of a run.
pub(super) struct ProbeResult {
    pub(super) result: Result<Opinion, Failure>,
    pub(super) exit: Option<ProcessExit>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) took: Duration,
    pub(super) limit: Duration,
    pub(super) own_limit: Duration,
    pub(super) stdout_closed: bool,
    pub(super) dialect: &'static Dialect,
}

impl ProbeResult {
    pub(super) fn decision(&self) -> Option<Decision> {
        self.result.as_ref().ok().map(Opinion::decision)
    }
}

pub(super) async fn fire(
    hook: &HookSpec,
    context: &ProbeContext,
    event: &Event,
    input: ProbeInput,
    limit: Duration,
) -> ProbeResult {
    let mut outcome = ProbeResult {
        result: Ok(Opinion::none()),
        exit: None,
        stdout: Vec::new(),
        stderr: Vec::new(),
        took: Duration::ZERO,
        limit,
        own_limit: hook.timeout_for(&event.kind()),
        stdout_closed: input == ProbeInput::ClosedStdout,
        dialect: hook.dialect,
    };
    let vars = context.vars.iter().filter(|(name, _)| input != ProbeInput::NoEnvironment || name == "PATH");
    let mut env = HandlerEnv::new(context.scratch.path(), vars.cloned(), Registry::empty());
    env.program = crate::own_program::path();
    let start = Instant::now();
    outcome.result = match CommandFactory.build(&context.hook, &env) {
        _ if matches!(context.hook.state, HookState::Changed(_)) => {
            Err(Failure::new(FailureKind::Untrusted, "its script differs from the approved one"))
        }
        Ok(handler) => call(&*handler, hook, event, input, limit, &mut outcome).await,
        Err(failure) => Err(failure),
    };
    outcome.took = start.elapsed();
    outcome
}

async fn call(
    handler: &dyn Handler,
    hook: &HookSpec,
    event: &Event,
    input: ProbeInput,
    limit: Duration,
    outcome: &mut ProbeResult,
) -> Result<Opinion, Failure> {
    let too_long = || Failure::new(FailureKind::Timeout, "timed out");
    let payload = payload(hook.dialect, event, input);
    let deadline = Instant::now() + limit;
    let call = Call::new(Arc::clone(&hook.info), hook.dialect, event.clone(), deadline)
        .with_payload(payload, outcome.stdout_closed);
    let last = deadline + handler.shutdown_grace();
    let reply = tokio::time::timeout_at(last.into(), handler.call(&call)).await.map_err(|_| too_long())??;
    if let Reply::Process(process) = &reply {
        outcome.exit = Some(process.exit);
        outcome.stdout.clone_from(&process.stdout.bytes);
        outcome.stderr.clone_from(&process.stderr.bytes);
        if process.timed_out {
            return Err(too_long());
        }
    }
    hook.dialect.read(event, reply, hook.strict)
}

fn payload(dialect: &Dialect, event: &Event, input: ProbeInput) -> Vec<JsonPiece> {
    let pieces = dialect.payload(event, None);
    match input {
        ProbeInput::Payload | ProbeInput::NoEnvironment | ProbeInput::ClosedStdout => pieces,
        ProbeInput::Nothing => Vec::new(),
        ProbeInput::OnlyTheName => {
            let bytes: Vec<u8> = pieces.iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
            let name = dialect.payload.event.split('.').next().unwrap_or_default();
            let value = RawJson::parse_bytes(&bytes).ok().and_then(|json| json.field(name));
            let text = value.map_or_else(String::new, |value| format!("{}:{value}", RawJson::string(name)));
            vec![JsonPiece::Text(format!("{{{text}}}"))]
        }
    }
}
