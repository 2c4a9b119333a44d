//! Runs a hook once, with whatever input.

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

/// Where a hook is probed.
pub(super) struct ProbeContext {
    pub(super) scratch: Scratch,
    /// As it runs there.
    hook: HookSpec,
    vars: Vec<(OsString, OsString)>,
}

impl ProbeContext {
    pub(super) fn new(trials: &TestRunner, hook: &HookSpec) -> io::Result<Self> {
        let scratch = trials.scratch(std::slice::from_ref(hook))?;
        let vars = trials.variables(&[], &scratch);
        Ok(Self { hook: trials.in_scratch(hook, &scratch), scratch, vars })
    }
}

/// What the hook is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProbeInput {
    /// The event.
    Payload,
    /// An empty standard input.
    Nothing,
    /// An object that has only the event's name.
    OnlyTheName,
    /// The event, and no variables but `PATH`.
    NoEnvironment,
    /// The event, and nobody who reads what it prints.
    NoReader,
}

/// What came of a run.
pub(super) struct ProbeResult {
    pub(super) result: Result<Opinion, Failure>,
    pub(super) exit: Option<ProcessExit>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: Vec<u8>,
    pub(super) took: Duration,
    pub(super) limit: Duration,
    pub(super) own_limit: Duration,
    pub(super) unheard: bool,
    pub(super) dialect: &'static Dialect,
}

impl ProbeResult {
    pub(super) fn decision(&self) -> Option<Decision> {
        self.result.as_ref().ok().map(Opinion::decision)
    }
}

pub(super) async fn fire(
    hook: &HookSpec,
    place: &ProbeContext,
    event: &Event,
    given: ProbeInput,
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
        unheard: given == ProbeInput::NoReader,
        dialect: hook.dialect,
    };
    let vars = place.vars.iter().filter(|(name, _)| given != ProbeInput::NoEnvironment || name == "PATH");
    let env = HandlerEnv::new(place.scratch.path(), vars.cloned(), Registry::empty());
    let begun = Instant::now();
    outcome.result = match CommandFactory.build(&place.hook, &env) {
        _ if matches!(place.hook.state, HookState::Changed(_)) => {
            Err(Failure::new(FailureKind::Untrusted, "its script is not what was approved"))
        }
        Ok(handler) => call(&*handler, hook, event, given, limit, &mut outcome).await,
        Err(failure) => Err(failure),
    };
    outcome.took = begun.elapsed();
    outcome
}

async fn call(
    handler: &dyn Handler,
    hook: &HookSpec,
    event: &Event,
    given: ProbeInput,
    limit: Duration,
    outcome: &mut ProbeResult,
) -> Result<Opinion, Failure> {
    let too_long = || Failure::new(FailureKind::Timeout, "did not end in time");
    let payload = payload(hook.dialect, event, given);
    let deadline = Instant::now() + limit;
    let call =
        Call::new(Arc::clone(&hook.info), hook.dialect, event.clone(), deadline).with_payload(payload, outcome.unheard);
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

fn payload(dialect: &Dialect, event: &Event, given: ProbeInput) -> Vec<JsonPiece> {
    let pieces = dialect.payload(event, None);
    match given {
        ProbeInput::Payload | ProbeInput::NoEnvironment | ProbeInput::NoReader => pieces,
        ProbeInput::Nothing => Vec::new(),
        ProbeInput::OnlyTheName => {
            let bytes: Vec<u8> = pieces.iter().flat_map(|piece| piece.as_ref().to_vec()).collect();
            let name = dialect.payload.event.split('.').next().unwrap_or_default();
            let kept = RawJson::parse_bytes(&bytes).ok().and_then(|json| json.field(name));
            let text = kept.map_or_else(String::new, |value| format!("{}:{value}", RawJson::string(name)));
            vec![JsonPiece::Text(format!("{{{text}}}"))]
        }
    }
}
