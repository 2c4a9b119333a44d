//! The side of `checkrein hook`: asks the pool for an interpreter.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use checkrein::handler::warm::{InterpreterCommand, WarmInterpreter, WarmInterpreters};
use checkrein_process::{Handover, MARKER};

use super::message::{Answer, STREAMS, WarmRequest, control, receive_answer};
use super::process_context::ProcessContext;
use crate::client::Client;
use crate::protocol::{Kind, Request};

/// Maximum time for a request and its answer. After it, the hook runs cold.
const REQUEST_TIMEOUT: Duration = Duration::from_millis(20);

/// Client of the pool in the resident process.
#[derive(Debug)]
pub struct WarmClient {
    state_dir: PathBuf,
}

impl WarmClient {
    /// Creates a client of the resident process with this state directory.
    pub fn of_user(state_dir: impl Into<PathBuf>) -> Self {
        Self { state_dir: state_dir.into() }
    }
}

impl WarmInterpreters for WarmClient {
    fn take(&self, command: &InterpreterCommand) -> Option<WarmInterpreter> {
        // A process of an outer run must be found by the marker of that run, and a waiting interpreter does not have it.
        if std::env::var_os(MARKER).is_some() || !command.cwd.is_dir() {
            return None;
        }
        let deadline = Instant::now() + REQUEST_TIMEOUT;
        // Most users have no resident process.
        let mut client = Client::connect(&self.state_dir).ok()?;
        let context = ProcessContext::current()?;
        let umask = context.umask;
        let request = Request::with_body(Kind::Warm, &WarmRequest::new(command, context)?).ok()?;
        client.send(&request, deadline).ok()?;
        let mut connection = client.into_stream();
        connection.set_nonblocking(false).ok()?;
        let (answer, streams) = receive_answer(&mut connection, deadline).ok()?;
        let Answer::Taken { pid, marker } = answer else { return None };
        let control = control(command, (MARKER, &marker), umask)?;
        let [stdin, stdout, stderr] = <[_; STREAMS]>::try_from(streams).ok()?;
        let program = command.program.clone();
        let handover = Handover { program, pid, marker: marker.into(), stdin, stdout, stderr, parent: connection };
        Some(WarmInterpreter { handover, control })
    }
}
