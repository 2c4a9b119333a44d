//! An interpreter that waits, as the pool owns it.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use checkrein_process::{Exit, MARKER, new_marker};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open, waitid};

use super::gates::Gates;
use super::message::{Key, STREAMS, identity};

/// Exit status of a probe that no gate stopped.
const UNGATED: i32 = 77;

/// Maximum duration of a probe.
const PROBE_TIMEOUT: Timespec = Timespec { tv_sec: 20, tv_nsec: 0 };

/// A started interpreter. Dropping it kills its process group and reaps it.
#[derive(Debug)]
pub(super) struct Interpreter {
    pub(super) key: Key,
    pub(super) marker: String,
    pub(super) started: Instant,
    child: Child,
}

impl Interpreter {
    /// Starts an interpreter.
    ///
    /// # Errors
    /// The gates are not usable, the program has changed, or it does not start.
    pub(super) fn start(key: Key, gates: &Gates) -> io::Result<Self> {
        gates.check().map_err(io::Error::other)?;
        if identity(&key.program).as_ref() != Some(&key.identity) {
            return Err(io::Error::other("the interpreter has changed"));
        }
        let marker = new_marker().into_string().map_err(|_| io::ErrorKind::InvalidData)?;
        let script = key.argv.get(key.script_index..).unwrap_or_default();
        let child = command(&key, gates, script)?
            .env(MARKER, &marker)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        Ok(Self { key, marker, started: Instant::now(), child })
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn process(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// The pool's ends of its streams.
    pub(super) fn streams(&self) -> Option<[BorrowedFd<'_>; STREAMS]> {
        let Child { stdin, stdout, stderr, .. } = &self.child;
        Some([stdin.as_ref()?.as_fd(), stdout.as_ref()?.as_fd(), stderr.as_ref()?.as_fd()])
    }

    /// Closes the pool's ends of its streams.
    pub(super) fn close_streams(&mut self) {
        (self.child.stdin, self.child.stdout, self.child.stderr) = (None, None, None);
    }

    /// The exit status, if it has exited. It is not reaped.
    pub(super) fn exit(&self) -> io::Result<Option<Exit>> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(self.process()), options)?;
        Ok(status.map(|status| match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Exit::Exited(code),
            (None, signal) => Exit::Signalled(signal.unwrap_or_default()),
        }))
    }

    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.exit(), Ok(None))
    }

    /// Memory that it uses, in bytes.
    pub(super) fn memory(&self) -> u64 {
        let statm = std::fs::read_to_string(format!("/proc/{}/statm", self.pid())).unwrap_or_default();
        let pages: u64 = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or_default();
        pages.saturating_mul(rustix::param::page_size() as u64)
    }

    /// Ends all processes of its group.
    pub(super) fn kill(&self) {
        // An error means that the group is gone.
        let _ = kill_process_group(self.process(), Signal::KILL);
    }

    /// Reaps the process, which has exited. Processes of its group that it left running stay.
    pub(super) fn reap(mut self) {
        if !self.is_waiting() {
            let _ = self.child.wait();
        }
    }
}

/// Returns the command of an interpreter that loads its gate before these words.
fn command(key: &Key, gates: &Gates, words: &[impl AsRef<OsStr>]) -> io::Result<Command> {
    let Some((name, options)) = key.argv.get(..key.script_index).and_then(<[String]>::split_first) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut command = Command::new(&key.program);
    command.arg0(name).args(options);
    if key.is_node {
        command.arg("--require").arg(gates.node());
    }
    command.args(words).env_clear().envs(key.start_env.iter().map(|(name, value)| (name, value)));
    if !key.is_node {
        let own = key.start_env.iter().find(|(name, value)| name == "PYTHONPATH" && !value.is_empty());
        let mut path = gates.python().into_os_string();
        if let Some((_, own)) = own {
            path.push(":");
            path.push(own);
        }
        command.env("PYTHONPATH", path);
    }
    command.current_dir(&key.start_dir).process_group(0);
    Ok(command)
}

/// Returns `true` if an interpreter with these options and variables loads its gate. A special build of Python can ignore `PYTHONPATH`,
/// and would run a script without an event.
///
/// The probe has no script, and its standard input is empty. There a gate exits with 0, and a program without a gate with [`UNGATED`].
///
/// # Errors
/// The program does not start.
pub(super) fn loads_gate(key: &Key, gates: &Gates) -> io::Result<bool> {
    gates.check().map_err(io::Error::other)?;
    let (option, text) = match key.is_node {
        true => ("-e", format!("process.reallyExit({UNGATED})")),
        false => ("-c", format!("import os; os._exit({UNGATED})")),
    };
    let mut command = command(key, gates, &[option, &text])?;
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let process = Pid::from_child(&child);
    let exited = pidfd_open(process, PidfdFlags::empty())?;
    let is_ended = matches!(poll(&mut [PollFd::new(&exited, PollFlags::IN)], Some(&PROBE_TIMEOUT)), Ok(1..));
    if !is_ended {
        let _ = kill_process_group(process, Signal::KILL);
    }
    let status = child.wait()?;
    Ok(is_ended && status.success())
}

impl Drop for Interpreter {
    fn drop(&mut self) {
        // A reaped process has no group of its own any more.
        if self.child.try_wait().is_ok_and(|exit| exit.is_none()) {
            self.kill();
            let _ = self.child.wait();
        }
    }
}
