//! Messages between a hook and the pool, and the control message for the gates.

use std::fs::Metadata;
use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use checkrein::handler::warm::{InterpreterCommand, Language};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags,
    recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

use super::process_context::ProcessContext;
use crate::protocol;

/// Number of handed-over descriptors: stdin, stdout and stderr.
pub(super) const STREAMS: usize = 3;

/// Longest answer in bytes.
const LONGEST: usize = 4096;

/// Request of a hook for an interpreter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarmRequest {
    /// The interpreter.
    pub(super) key: Key,
    /// Attributes of the hook that the interpreter must share.
    pub(super) inherited: String,
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
        Some(Self { key, inherited: context.inherited })
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

/// Receives an answer and its descriptors.
pub(super) fn receive_answer(connection: &mut UnixStream) -> io::Result<(Answer, Vec<OwnedFd>)> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let mut length = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(STREAMS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
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
    connection.read_exact(&mut length[received.bytes..])?;
    let length = usize::try_from(u32::from_le_bytes(length)).map_err(|_| invalid())?;
    if length > LONGEST {
        return Err(invalid());
    }
    let mut json = vec![0; length];
    connection.read_exact(&mut json)?;
    Ok((serde_json::from_slice(&json).map_err(|_| invalid())?, streams))
}
