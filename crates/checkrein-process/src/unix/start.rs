use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd as _;
use std::os::fd::OwnedFd;
#[cfg(not(target_os = "linux"))]
use std::os::unix::process::CommandExt as _;
#[cfg(not(target_os = "linux"))]
use std::process::{Command, Stdio};

use rustix::fs::{OFlags, fcntl_setfl};
#[cfg(not(target_os = "linux"))]
use rustix::process::Pid;
use tokio::net::unix::pipe;

use super::child::Child;
#[cfg(target_os = "linux")]
use super::proc;
use super::reader::Reader;
#[cfg(target_os = "linux")]
use super::sandbox::{Cage, Census};
#[cfg(target_os = "linux")]
use super::spawn::{Spawned, Streams, is_there_room, make_ready, spawn};
use super::stdin::Source;
use crate::launch::{Launch, StartError};
#[cfg(not(target_os = "linux"))]
use crate::marker::MARKER;
use crate::stdin::Stdin;

pub(crate) type Writer = pipe::Sender;

/// A process that runs, and our ends of its streams.
pub(crate) struct Started {
    pub(crate) child: Child,
    pub(crate) writer: Option<Writer>,
    pub(crate) stdout: Reader,
    pub(crate) stderr: Reader,
}

#[cfg(target_os = "linux")]
pub(crate) async fn start(launch: &Launch<'_>, stdin: &Stdin) -> Result<Started, StartError> {
    let sandbox = launch.place.sandboxed();
    let cage = sandbox.map(|sandbox| Cage::new(sandbox, launch)).transpose().map_err(StartError::sandbox)?;
    let frame = make_ready(launch, cage)?;
    let (theirs, ends) = streams(stdin, launch.stdout_closed).map_err(StartError::before)?;
    let Spawned { pid, descriptor, frame } = spawn(frame, &theirs, is_there_room())?;
    // From here on, an early return or a panic ends the process: `child` sees to that when it is dropped.
    let mut child = Child::new(pid, launch.marker.clone()).working_on(frame);
    if let Some(sandbox) = sandbox {
        child = child.confined(Census::new(pid, sandbox));
    }
    drop(theirs);
    // While it starts. When it has exited, its host is in a hurry.
    proc::get_ready();
    child.watch(descriptor).map_err(StartError::after)?;
    ends.of(child, stdin).map_err(StartError::after)
}

#[cfg(not(target_os = "linux"))]
pub(crate) async fn start(launch: &Launch<'_>, stdin: &Stdin) -> Result<Started, StartError> {
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

    let mut process = command.spawn().map_err(StartError::before)?;
    let pid = i32::try_from(process.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| StartError::after(io::Error::other("process id out of range")))?;
    // From here on, an early return or a panic ends the process: `child` sees to that when it is dropped.
    let mut child = Child::new(pid, launch.marker.clone());
    let missing = || StartError::after(io::Error::other("stream missing"));
    let stdin_ours = process.stdin.take().map(OwnedFd::from);
    let stdout = process.stdout.take().map(OwnedFd::from);
    let stderr = process.stderr.take().map(OwnedFd::from).ok_or_else(missing)?;
    child.watch(None).map_err(StartError::after)?;
    Ends::new(stdin_ours, stdout, stderr).and_then(|ends| ends.of(child, stdin)).map_err(StartError::after)
}

/// Our ends of a process's streams.
struct Ends {
    stdin: Option<OwnedFd>,
    stdout: Reader,
    stderr: Reader,
}

impl Ends {
    /// Without a stdout, if nobody reads it.
    fn new(stdin: Option<OwnedFd>, stdout: Option<OwnedFd>, stderr: OwnedFd) -> io::Result<Self> {
        let stdout = match stdout {
            Some(stdout) => stdout,
            // Here it is at its end from the start.
            None => OwnedFd::from(io::pipe()?.0),
        };
        Ok(Self {
            stdin,
            stdout: Reader::new(without_blocking(stdout)?),
            stderr: Reader::new(without_blocking(stderr)?),
        })
    }

    /// Ready to be used, of this process.
    fn of(self, child: Child, stdin: &Stdin) -> io::Result<Started> {
        let Self { stdin: end, stdout, stderr } = self;
        let writer = end.map(|end| {
            super::stdin::widen(&end, stdin.len());
            Writer::from_owned_fd_unchecked(without_blocking(end)?)
        });
        Ok(Started { child, writer: writer.transpose()?, stdout, stderr })
    }
}

/// What a process gets as its streams, and our ends of them.
#[cfg(target_os = "linux")]
fn streams(stdin: &Stdin, stdout_closed: bool) -> io::Result<(Streams, Ends)> {
    let (in_theirs, in_ours) = match Source::new(stdin) {
        Source::Null => (OwnedFd::from(std::fs::File::open("/dev/null")?), None),
        Source::File(file) => (file, None),
        Source::Pipe => {
            let (reader, writer) = io::pipe()?;
            (reader.into(), Some(OwnedFd::from(writer)))
        }
    };
    let (out_ours, out_theirs) = io::pipe()?;
    let (err_ours, err_theirs) = io::pipe()?;
    let out_ours = (!stdout_closed).then(|| OwnedFd::from(out_ours));
    let theirs = [in_theirs, out_theirs.into(), err_theirs.into()].map(above_the_usual);
    let [one, two, three] = theirs;
    Ok((Streams([one?, two?, three?]), Ends::new(in_ours, out_ours, err_ours.into())?))
}

/// A host without stdin, stdout or stderr gets new descriptors with their numbers, which would be in each other's way.
#[cfg(target_os = "linux")]
fn above_the_usual(stream: OwnedFd) -> io::Result<OwnedFd> {
    const FIRST: i32 = 3;
    if stream.as_raw_fd() >= FIRST {
        return Ok(stream);
    }
    Ok(rustix::io::fcntl_dupfd_cloexec(&stream, FIRST)?)
}

/// A pipe that nobody reads, from before the process starts: what is printed at once must fail as well.
#[cfg(not(target_os = "linux"))]
fn unread() -> io::Result<Stdio> {
    let (_, writer) = io::pipe()?;
    Ok(writer.into())
}

/// Only our end: the process has one of its own, which must block as usual.
fn without_blocking(end: OwnedFd) -> io::Result<OwnedFd> {
    fcntl_setfl(&end, OFlags::NONBLOCK)?;
    Ok(end)
}
