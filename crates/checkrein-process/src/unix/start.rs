use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::{self, Command, Stdio};

use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::Pid;
use tokio::net::unix::pipe;

use super::child::Child;
use super::stdin::Source;
use crate::launch::{Launch, StartError};
use crate::marker::MARKER;
use crate::stdin::Stdin;

pub(crate) type Reader = pipe::Receiver;
pub(crate) type Writer = pipe::Sender;

/// A process that runs, and our ends of its streams.
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) writer: Option<Writer>,
    pub(crate) stdout: Reader,
    pub(crate) stderr: Reader,
}

pub(crate) fn start(launch: &Launch<'_>, stdin: &Stdin) -> Result<Started, StartError> {
    // Nothing here may keep `std` from posix_spawn: a path instead of a name, and no `pre_exec`. A fork would copy the
    // host's page tables.
    let mut command = Command::new(launch.program);
    command
        .arg0(launch.arg0)
        .args(launch.args.iter())
        .current_dir(launch.place.cwd())
        .env_clear()
        .envs(launch.place.variables().iter().map(|(name, value)| (name, value)))
        .env(MARKER, launch.marker.value())
        .process_group(0)
        .stdout(if launch.stdout_closed { unread().map_err(StartError::before)? } else { Stdio::piped() })
        .stderr(Stdio::piped());
    if let Some(pwd) = launch.pwd {
        command.env("PWD", pwd);
    }
    command.stdin(match Source::new(stdin) {
        Source::Null => Stdio::null(),
        Source::File(file) => file.into(),
        Source::Pipe => Stdio::piped(),
    });

    let process = command.spawn().map_err(StartError::before)?;
    let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| StartError::after(io::Error::other("process id out of range")))?;
    // From here on, an early return or a panic ends the process: `child` sees to that when it is dropped.
    let child = Child::new(pid, launch.marker.clone());
    connect(child, process, stdin).map_err(StartError::after)
}

fn connect(mut child: Child, mut process: process::Child, stdin: &Stdin) -> io::Result<Started> {
    child.watch()?;
    let missing = || io::Error::other("stream missing");
    let stdout = match process.stdout.take() {
        Some(stdout) => OwnedFd::from(stdout),
        // Nobody reads it: here it is at its end from the start.
        None => OwnedFd::from(io::pipe()?.0),
    };
    let stderr = OwnedFd::from(process.stderr.take().ok_or_else(missing)?);
    let writer = process.stdin.take().map(OwnedFd::from).map(|end| {
        super::stdin::widen(&end, stdin.len());
        Writer::from_owned_fd_unchecked(without_blocking(end)?)
    });
    Ok(Started {
        child,
        writer: writer.transpose()?,
        stdout: Reader::from_owned_fd_unchecked(without_blocking(stdout)?)?,
        stderr: Reader::from_owned_fd_unchecked(without_blocking(stderr)?)?,
    })
}

/// A pipe that nobody reads, from before the process starts: what is printed at once must fail as well.
fn unread() -> io::Result<Stdio> {
    let (_, writer) = io::pipe()?;
    Ok(writer.into())
}

/// Only our end: the process has one of its own, which must block as usual.
fn without_blocking(end: OwnedFd) -> io::Result<OwnedFd> {
    fcntl_setfl(&end, OFlags::NONBLOCK)?;
    Ok(end)
}
