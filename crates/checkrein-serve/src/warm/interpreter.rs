//! An interpreter that waits, as the pool owns it.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use checkrein_process::{Exit, MARKER, new_marker};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::gates::Gates;
use super::message::{Key, STREAMS, identity};

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
        let (Some(name), Some(options), Some(script)) =
            (key.argv.first(), key.argv.get(1..key.script_index), key.argv.get(key.script_index..))
        else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let mut command = Command::new(&key.program);
        command.arg0(name).args(options);
        if key.is_node {
            command.arg("--require").arg(gates.node());
        }
        command.args(script).env_clear().envs(key.start_env.iter().map(|(name, value)| (name, value)));
        if !key.is_node {
            let own = key.start_env.iter().find(|(name, value)| name == "PYTHONPATH" && !value.is_empty());
            let mut path = gates.python().into_os_string();
            if let Some((_, own)) = own {
                path.push(":");
                path.push(own);
            }
            command.env("PYTHONPATH", path);
        }
        let child = command
            .env(MARKER, &marker)
            .current_dir(&key.start_dir)
            .process_group(0)
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

impl Drop for Interpreter {
    fn drop(&mut self) {
        // A reaped process has no group of its own any more.
        if self.child.try_wait().is_ok_and(|exit| exit.is_none()) {
            self.kill();
            let _ = self.child.wait();
        }
    }
}
