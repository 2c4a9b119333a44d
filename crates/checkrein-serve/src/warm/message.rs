//! Messages between a hook and the pool, and the control message for the gates.

use std::fs::Metadata;
use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Instant;

use checkrein::handler::warm::{InterpreterCommand, Language};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

use super::limits::Limit;
use super::process_context::ProcessContext;
use crate::protocol;

/// Number of handed-over descriptors: stdin, stdout and stderr.
pub(super) const STREAMS: usize = 3;

/// Longest answer in bytes.
const MAX_ANSWER_BYTES: usize = 4096;

/// Request of a hook for an interpreter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmRequest {
    /// The interpreter.
    pub(super) key: Key,
    /// Attributes of the hook that the interpreter must share.
    pub(super) inherited: String,
    /// Limits of the hook that the interpreter takes over.
    pub(super) limits: Vec<Limit>,
}

/// Everything that is fixed when an interpreter starts. An interpreter serves requests with an equal key only.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Key {
    pub(super) is_node: bool,
    pub(super) program: PathBuf,
    /// Identity of the program's file, and of the file that makes it a virtual environment.
    pub(super) identity: String,
    pub(super) argv: Vec<String>,
    pub(super) script_index: usize,
    pub(super) start_dir: PathBuf,
    pub(super) start_env: Vec<(String, String)>,
}

impl Key {
    /// Returns the path of the script.
    pub(super) fn script(&self) -> PathBuf {
        self.start_dir.join(self.argv.get(self.script_index).map_or("", String::as_str))
    }

    /// Returns the part that decides whether the interpreter loads its gate.
    pub(super) fn without_script(&self) -> Self {
        let argv = self.argv.iter().take(self.script_index).cloned().collect();
        Self { argv, ..self.clone() }
    }
}

impl WarmRequest {
    /// Creates the request for a command. `None` if a part cannot be sent, or the system does not show the attributes of processes.
    pub(super) fn new(command: &InterpreterCommand, context: ProcessContext) -> Option<Self> {
        let key = Key {
            is_node: command.language == Language::Node,
            identity: identity(&command.program)?,
            program: command.program.clone(),
            argv: command.argv.clone(),
            script_index: command.script_index,
            start_dir: command.start_dir.clone(),
            start_env: command.start_env.clone(),
        };
        Some(Self { key, inherited: context.inherited, limits: context.limits })
    }
}

/// Returns the identity of an interpreter's files. `None` if the interpreter does not exist.
pub(super) fn identity(program: &Path) -> Option<String> {
    let of = |metadata: Metadata| {
        format!(
            "{}:{}:{}:{}.{}",
            metadata.dev(),
            metadata.ino(),
            metadata.size(),
            metadata.mtime(),
            metadata.mtime_nsec()
        )
    };
    let directory = program.parent()?;
    let configs = [directory.join("pyvenv.cfg"), directory.parent().unwrap_or(directory).join("pyvenv.cfg")];
    let config = configs.iter().find_map(|path| path.metadata().ok()).map(of).unwrap_or_default();
    Some(format!("{} {config}", of(program.metadata().ok()?)))
}

/// Control message of a gate.
#[derive(Debug, Serialize)]
struct Control<'a> {
    cwd: &'a Path,
    umask: u32,
    env: Vec<(&'a str, &'a str)>,
    script: &'a Path,
    program: &'a Path,
    argv: &'a [String],
}

/// Encodes the control message: its length, and JSON.
pub(super) fn control(command: &InterpreterCommand, marker: (&str, &str), umask: u32) -> Option<Vec<u8>> {
    let mut env: Vec<_> = command.env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    env.push(marker);
    env.sort_unstable();
    let control = Control {
        cwd: &command.cwd,
        umask,
        env,
        script: &command.script,
        program: &command.program,
        argv: &command.argv,
    };
    frame(&control)
}

fn frame(message: &impl Serialize) -> Option<Vec<u8>> {
    Some(protocol::frame(&serde_json::to_string(message).ok()?))
}

/// Answer of the pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Answer {
    /// An interpreter. Its streams are attached.
    Taken {
        /// Its process id.
        pid: u32,
        /// Value of the marker in its environment.
        marker: String,
    },
    /// The hook must run cold, for this reason.
    Cold(String),
}

/// Sends an answer with descriptors.
pub(super) fn send_answer(connection: &UnixStream, answer: &Answer, streams: &[BorrowedFd<'_>]) -> io::Result<()> {
    let bytes = frame(answer).ok_or(io::ErrorKind::InvalidInput)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(STREAMS))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !streams.is_empty() && !ancillary.push(SendAncillaryMessage::ScmRights(streams)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let sent = sendmsg(connection.as_fd(), &[IoSlice::new(&bytes)], &mut ancillary, SendFlags::NOSIGNAL)?;
    // The descriptors are sent with the first byte.
    let mut connection = connection;
    connection.write_all(&bytes[sent..])
}

/// Receives an answer and its descriptors, before the deadline.
pub(super) fn receive_answer(connection: &mut UnixStream, deadline: Instant) -> io::Result<(Answer, Vec<OwnedFd>)> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(STREAMS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    wait_until(connection, deadline)?;
    let received =
        recvmsg(connection.as_fd(), &mut [IoSliceMut::new(&mut length)], &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    let mut streams = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(descriptors) = message {
            streams.extend(descriptors);
        }
    }
    if received.bytes == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    read_before(connection, &mut length[received.bytes..], deadline)?;
    let length = usize::try_from(u32::from_le_bytes(length)).map_err(|_| invalid())?;
    if length > MAX_ANSWER_BYTES {
        return Err(invalid());
    }
    let mut json = vec![0; length];
    read_before(connection, &mut json, deadline)?;
    Ok((serde_json::from_slice(&json).map_err(|_| invalid())?, streams))
}

/// Limits the next read of a connection to the time that is left.
fn wait_until(connection: &UnixStream, deadline: Instant) -> io::Result<()> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    connection.set_read_timeout(Some(left))
}

/// Fills a buffer. The deadline applies to all reads together.
fn read_before(connection: &mut UnixStream, mut bytes: &mut [u8], deadline: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        wait_until(connection, deadline)?;
        match connection.read(bytes) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => bytes = &mut bytes[read..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn slow_answer_ends_at_the_deadline() {
        let (mut own, other) = UnixStream::pair().unwrap();
        let answer = frame(&Answer::Cold("x".repeat(500))).unwrap();
        let writer = std::thread::spawn(move || {
            for byte in answer {
                std::thread::sleep(Duration::from_millis(10));
                if (&other).write_all(&[byte]).is_err() {
                    return;
                }
            }
        });
        let start = Instant::now();
        let received = receive_answer(&mut own, start + Duration::from_millis(100));
        assert!(received.is_err() && start.elapsed() < Duration::from_secs(2), "{received:?} {:?}", start.elapsed());
        drop(own);
        writer.join().unwrap();
    }
}
